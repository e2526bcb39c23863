"""The way from retrieved knowledge to an answer, shared by all strategies."""

from __future__ import annotations

import contextlib
import time
from collections.abc import AsyncGenerator
from dataclasses import replace
from typing import Any

from core.rag.answering.context import build_context
from core.rag.answering.events import CitationEvent, DoneEvent, Event, RetrievalEvent, TokenEvent
from core.rag.answering.metrics import Metrics
from core.rag.answering.relevance.beyond_names import is_witnessed
from core.rag.answering.response import Response, generate_response
from core.rag.answering.services import Services
from core.rag.answering.types import Analysis, Answer, Context, Knowledge, Strategy
from core.rag.answering.understanding.courtesies import asks_nothing


async def answered(
    strategy: Strategy,
    services: Services,
    analysis: Analysis,
    knowledge: Knowledge,
    metrics: Metrics,
    started: float,
    details: dict[str, Any] | None = None,
) -> AsyncGenerator[Event, None]:
    """Build the context, write the answer, and check its citations.

    Args:
        strategy: How the knowledge was found.
        services: What the answer is made with.
        analysis: The question.
        knowledge: What was found.
        metrics: Where to count.
        started: When the question came (``time.monotonic``).
        details: What only this strategy has.

    Yields:
        A retrieval event, tokens, citations, and the end.
    """
    if services.model is None and asks_nothing(analysis.query):  # a model finds the words for it
        knowledge = Knowledge()
    relevant = knowledge.relevant
    if relevant and services.model is None:  # a model says itself what the passages do not
        relevant = await is_witnessed(analysis, knowledge, services.kb.client, services.before)
    if not (relevant or (knowledge.near and services.model is None and not knowledge.computed)):
        knowledge = Knowledge(computed=knowledge.computed, failure=knowledge.failure)
    elif services.model is None:  # who reads extracts should not have to read what is far from the question
        near = [hit for hit in knowledge.hits if hit.chunk_id not in knowledge.far]
        knowledge = replace(knowledge, hits=near or knowledge.hits)
    context = build_context(knowledge, services.token_budget, metrics)
    written = generate_response(
        analysis,
        context,
        services.model,
        services.kb.embedder,
        metrics,
        relevant=relevant or bool(knowledge.computed),
        dialogue=services.dialogue,
        before=services.before,
        given=services.given,
        asked=services.asked,
        instructions=services.instructions,
    )
    events = finished(strategy, analysis, context, written, metrics, started, details)
    async with contextlib.aclosing(events):
        async for event in events:
            yield event


async def finished(
    strategy: Strategy,
    analysis: Analysis,
    context: Context,
    written: AsyncGenerator[str | Response, None],
    metrics: Metrics,
    started: float,
    details: dict[str, Any] | None = None,
) -> AsyncGenerator[Event, None]:
    """Pass on an answer that is being written from a context; see :func:`answered`.

    Args:
        strategy: How the knowledge was found.
        analysis: The question.
        context: What the answer is written from.
        written: The answer; see :func:`generate_response`.
        metrics: Where to count.
        started: When the question came.
        details: What only this strategy has.
    """
    yield RetrievalEvent(context.passages, context.entities, context.facts, context.mermaid)
    response: Response | None = None
    async with contextlib.aclosing(written) as parts:
        async for part in parts:
            if isinstance(part, Response):
                response = part
            else:
                yield TokenEvent(part)
    assert response is not None
    for citation in response.checked.citations:
        yield CitationEvent(citation)
    metrics.total_seconds = time.monotonic() - started
    metrics.log(strategy)
    yield DoneEvent(answer_of(strategy, analysis, context, response, metrics, details))


def answer_of(
    strategy: Strategy,
    analysis: Analysis,
    context: Context,
    response: Response,
    metrics: Metrics,
    details: dict[str, Any] | None = None,
) -> Answer:
    """Everything about an answer in one object."""
    checked = response.checked
    return Answer(
        text=checked.text,
        citations=checked.citations,
        intent=analysis.intent,
        strategy=strategy,
        context=context.text,
        mermaid=context.mermaid,
        metrics=metrics,
        supported=checked.supported,
        question=analysis.query,
        extracts=response.extracts,
        found=response.found,
        unsupported=checked.unsupported,
        missing=checked.missing,
        dropped=checked.dropped,
        untold=checked.untold,
        entities=context.entities,
        facts=context.facts,
        details=dict(details or {}, **({"cut": response.cut} if response.cut else {})),
    )
