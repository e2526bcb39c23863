"""The events that are streamed while a question is answered."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field
from typing import Literal

from core.rag.answering.types import Analysis, Answer, Citation, FoundEntity, FoundFact, Passage


@dataclass(frozen=True, slots=True)
class AnalysisEvent:
    """The question was analysed.

    Attributes:
        analysis: The names in it, and its intent.
    """

    analysis: Analysis
    type: Literal["analysis"] = field(default="analysis", init=False)


@dataclass(frozen=True, slots=True)
class RetrievalEvent:
    """Retrieval has ended; it may have found nothing.

    Attributes:
        passages: Passages, by their citation numbers.
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
        text: The text; its markers ``[n]`` refer to passages that exist.
    """

    text: str
    type: Literal["token"] = field(default="token", init=False)


@dataclass(frozen=True, slots=True)
class CitationEvent:
    """A source of the answer, after the check.

    Attributes:
        citation: The citation.
    """

    citation: Citation
    type: Literal["citation"] = field(default="citation", init=False)


@dataclass(frozen=True, slots=True)
class DoneEvent:
    """The answer is complete.

    Attributes:
        answer: The whole answer, with its citations checked.
    """

    answer: Answer
    type: Literal["done"] = field(default="done", init=False)


Event = AnalysisEvent | RetrievalEvent | TokenEvent | CitationEvent | DoneEvent


async def final_answer(events: AsyncGenerator[Event, None]) -> Answer:
    """Run a strategy to its end, and return the answer."""
    async with contextlib.aclosing(events):
        async for event in events:
            if isinstance(event, DoneEvent):
                return event.answer
    raise AssertionError("an answer ends with its end")
