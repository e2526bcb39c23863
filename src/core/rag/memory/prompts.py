"""The prompts of memory; their files are in ``core.rag.llm.prompts``."""

from __future__ import annotations

from typing import ClassVar

from core.rag.llm.prompts import Plain, Prompt


class SummaryPrompt(Prompt):
    """Asks for a summary of memories.

    Attributes:
        texts: The memories, one to a line.
        sentences: Maximum number of sentences in the summary.
    """

    prompt: ClassVar[str] = "summary"
    texts: str
    sentences: Plain
