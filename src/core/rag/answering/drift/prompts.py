"""The prompts of DRIFT RAG, and the schemas of their answers."""

from __future__ import annotations

from typing import ClassVar

from pydantic import BaseModel, Field

from core.rag.llm.prompts import Prompt


class InferPrompt(Prompt):
    """Asks for connections that are not in the graph.

    Attributes:
        question: What was asked.
        nodes: Numbered nodes, one a line.
        paths: The connections that the graph has, one path a line.
    """

    prompt: ClassVar[str] = "infer_connections"
    question: str
    nodes: str
    paths: str


class ConnectionAnswer(BaseModel):
    """One connection; nothing is checked here but its form."""

    source: int = Field(description="Number of a node")
    target: int = Field(description="Number of another node")
    type: str = Field(description="What the connection is, as one or two words, for example works_for")
    confidence: float = Field(description="0 (a guess) to 1 (certain)")
    reasoning: str = Field(description="One sentence: what in the texts of the two nodes speaks for it")


class ConnectionsAnswer(BaseModel):
    """The answer to :class:`InferPrompt`."""

    connections: list[ConnectionAnswer]


class DecomposePrompt(Prompt):
    """Asks for the parts of a question.

    Attributes:
        question: What was asked.
    """

    prompt: ClassVar[str] = "decompose_question"
    question: str


class PartsAnswer(BaseModel):
    """The answer to :class:`DecomposePrompt`."""

    parts: list[str] = Field(description="Questions that can each be answered without the others")
