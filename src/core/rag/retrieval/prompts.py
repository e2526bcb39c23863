"""The prompts of searching; their files are in ``core.rag.llm.prompts``."""

from __future__ import annotations

from typing import ClassVar

from core.rag.llm.prompts import Prompt


class RewritePrompt(Prompt):
    """Asks the model to rewrite a question so that it can be understood alone.

    Attributes:
        question: The last question of a conversation.
        dialogue: The messages before it.
    """

    prompt: ClassVar[str] = "rewrite"
    question: str
    dialogue: str
