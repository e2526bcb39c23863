"""The prompts of answering; their files are in ``core.rag.llm.prompts``."""

from __future__ import annotations

from typing import ClassVar

from core.rag.llm.prompts import Plain, Prompt


class AnalysisPrompt(Prompt):
    """Asks what a question names and wants.

    Attributes:
        question: The question.
        dialogue: What was said before; may be empty.
    """

    prompt: ClassVar[str] = "analysis"
    question: str
    dialogue: str = ""


class AnswerPrompt(Prompt):
    """Asks for an answer from sources.

    Attributes:
        question: The question.
        context: Definitions, facts and numbered passages.
        dialogue: What was said before; may be empty.
        style: How to answer.
    """

    prompt: ClassVar[str] = "answer"
    question: str
    context: str
    dialogue: str = ""
    style: Plain
