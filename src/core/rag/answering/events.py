"""The events that are streamed while a question is answered."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from core.rag.answering.types import Analysis, Answer, Citation, FoundEntity, FoundFact, Passage


@dataclass(frozen=True, slots=True)
class AnalysisEvent:
    """The question was understood.

    Attributes:
        analysis: What it names and wants.
    """

    analysis: Analysis
    type: Literal["analysis"] = field(default="analysis", init=False)


@dataclass(frozen=True, slots=True)
class RetrievalEvent:
    """Something was found, or nothing.

    Attributes:
        passages: Passages, by the numbers that they are cited by.
        entities: Entities.
        facts: Relations.
        mermaid: A diagram of them.
    """

    passages: tuple[Passage, ...] = ()
    entities: tuple[FoundEntity, ...] = ()
    facts: tuple[FoundFact, ...] = ()
    mermaid: str = ""
    type: Literal["retrieval"] = field(default="retrieval", init=False)


@dataclass(frozen=True, slots=True)
class TokenEvent:
    """The next part of the answer.

    Attributes:
        text: It; markers ``[n]`` are of passages that exist.
    """

    text: str
    type: Literal["token"] = field(default="token", init=False)


@dataclass(frozen=True, slots=True)
class CitationEvent:
    """A source of the answer, after the check.

    Attributes:
        citation: It.
    """

    citation: Citation
    type: Literal["citation"] = field(default="citation", init=False)


@dataclass(frozen=True, slots=True)
class DoneEvent:
    """The end.

    Attributes:
        answer: The whole answer after the check.
    """

    answer: Answer
    type: Literal["done"] = field(default="done", init=False)


Event = AnalysisEvent | RetrievalEvent | TokenEvent | CitationEvent | DoneEvent
