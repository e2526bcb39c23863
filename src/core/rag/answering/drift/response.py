"""Generates an answer from paths, with context, text and checked citations like every other strategy."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from core.rag.answering.context import build_context
from core.rag.answering.drift.knowledge import knowledge_of
from core.rag.answering.drift.paths import Path
from core.rag.answering.metrics import Metrics
from core.rag.answering.pipeline import answer_of
from core.rag.answering.response import Response, generate_response
from core.rag.answering.types import Analysis, Answer
from core.rag.answering.understanding.intents import intent_of

if TYPE_CHECKING:
    from core.rag.dbhandler import MemGraphClient
    from core.rag.llm import LanguageModel

_NAMES = 12


@dataclass(frozen=True, slots=True)
class DRIFTResponse:
    """An answer from paths.

    Attributes:
        text: The answer, with the sources below it where they were asked for.
        answer: The same as every strategy gives it, with citations.
        paths: What it was made of.
        notes: What is to be known of it, one sentence each.
    """

    text: str
    answer: Answer
    paths: tuple[Path, ...]
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        """Return the text."""
        return self.text


async def respond(
    client: MemGraphClient,
    model: LanguageModel | None,
    query: str,
    paths: Sequence[Path],
    *,
    include_provenance: bool,
    instructions: str = "",
) -> DRIFTResponse:
    """Answer a question from paths.

    Args:
        client: The graph, for the passages; its embedder helps to check citations.
        model: Who writes; ``None``: the answer is made of extracts, and says so.
        query: The question.
        paths: Best first; without any the answer says that nothing was found.
        include_provenance: Also list sources and paths below the text.
        instructions: What the model is told besides.

    Returns:
        The answer.

    Raises:
        LanguageModelError: if the model fails.
    """
    metrics, started = Metrics(), time.monotonic()
    knowledge = await knowledge_of(client, paths)
    analysis = Analysis(query, tuple(entity.name for entity in knowledge.entities[:_NAMES]), intent_of(query))
    metrics.search_metrics.passages = len(knowledge.hits)
    context = build_context(knowledge, metrics=metrics)
    response: Response | None = None
    writing = generate_response(
        analysis, context, model, client.embedder, metrics, relevant=bool(paths), instructions=instructions
    )
    async with contextlib.aclosing(writing) as parts:
        async for part in parts:
            if isinstance(part, Response):
                response = part
    assert response is not None
    metrics.total_seconds = time.monotonic() - started
    answer = answer_of("drift", analysis, context, response, metrics)
    text = answer.text
    if include_provenance:
        text = "\n\n".join(part for part in (text, _provenance(answer, paths)) if part)
    notes = ("There is no language model, so the answer consists of extracts.",) if model is None else ()
    return DRIFTResponse(text, answer, tuple(paths), notes)


def _provenance(answer: Answer, paths: Sequence[Path]) -> str:
    lines = [
        f"[{cited.number}] {cited.path}"
        + (f" > {cited.heading}" if cited.heading else "")
        + (f", page {cited.page}" if cited.page is not None else "")
        + f", characters {cited.start_char} to {cited.end_char}"
        for cited in answer.citations
    ]
    sources = ["Sources:", *lines] if lines else []
    walked = ["Paths:", *(f"- {path.score:.2f} {path}" for path in paths)] if paths else []
    return "\n".join([*sources, *walked])
