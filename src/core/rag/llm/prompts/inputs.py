"""The prompts of the model layer itself."""

from __future__ import annotations

from typing import ClassVar

from core.rag.llm.prompts import Plain, Prompt


class RepairPrompt(Prompt):
    """Sends a structured answer back.

    Attributes:
        problem: What is wrong with it; may repeat parts of it.
        schema_text: The JSON schema.
    """

    prompt: ClassVar[str] = "repair"
    problem: str
    schema_text: Plain


class SchemaPrompt(Prompt):
    """Asks for JSON where the server cannot be told the schema.

    Attributes:
        schema_text: The JSON schema.
    """

    prompt: ClassVar[str] = "schema"
    schema_text: Plain
