"""The strategy ``overview``: answers from the beginnings of documents that stand for all, or from parts of one."""

from __future__ import annotations

import contextlib
import time
from collections.abc import AsyncGenerator
from typing import Any

from core.rag.answering.admission import Admission
from core.rag.answering.context import build_context
from core.rag.answering.events import AnalysisEvent, Event
from core.rag.answering.extracts.composing import NOT_ASKED, NOT_SET
from core.rag.answering.flow import flow_events
from core.rag.answering.metrics import Metrics
from core.rag.answering.overview.parts import parts_of
from core.rag.answering.overview.recognising import asks_for_overview, documents_asked
from core.rag.answering.overview.survey import Survey, survey
from core.rag.answering.overview.telling import told
from core.rag.answering.pipeline import finished
from core.rag.answering.response import Response, generate_response
from core.rag.answering.services import Services
from core.rag.answering.types import Analysis, Context, Knowledge
from core.rag.retrieval.hits import hits_of

#: An overview has so many times as many passages as other answers.
PASSAGES_TIMES = 2


async def overview_events(
    question: str, services: Services, *, only_if_asked: bool = False
) -> AsyncGenerator[Event, None]:
    """Answer a question about all documents together, or about one that it names, step by step.

    Without documents and records, and if the question points at what was said before, it is answered as ``flow`` does.

    Args:
        question: The question.
        services: What the answer is made with.
        only_if_asked: Answer as ``flow`` does, too, if the question is about neither.
    """
    started, metrics = time.monotonic(), Metrics()
    client = services.kb.client
    filters = services.search.get("filters")
    found = await _found(question, services, filters, only_if_asked=only_if_asked)
    if found is None or not found.about:
        async with contextlib.aclosing(flow_events(question, services)) as events:
            async for event in events:
                yield event
        return
    analysis = Analysis(question, (), "summary")
    metrics.analysis_metrics.intent_classification = analysis.intent
    yield AnalysisEvent(analysis)
    hits = await hits_of(client, found.chunks)
    metrics.search_metrics.passages = len(hits)
    metrics.search_metrics.total_retrieval_time = time.monotonic() - started
    knowledge = Knowledge(list(found.names), list(found.facts), hits, relevant=True)
    if filters:
        knowledge = await Admission(client, filters).narrowed(knowledge)
    knowledge.about = found.about
    context = build_context(knowledge, services.token_budget, metrics)
    events = finished(
        "overview", analysis, context, _written(analysis, context, found, services, metrics), metrics, started
    )
    async with contextlib.aclosing(events):
        async for event in events:
            yield event


async def _found(question: str, services: Services, filters: Any, *, only_if_asked: bool) -> Survey | None:
    client, most = services.kb.client, PASSAGES_TIMES * services.passages
    if names := documents_asked(question):
        tokens = services.token_budget if services.model is not None else 0
        if (parts := await parts_of(client, names, most, filters, tokens)) is not None:
            return parts
    asks = asks_for_overview(question)
    points_back = asks and bool(services.before) and not asks_for_overview(question, alone=False)
    if points_back or (only_if_asked and not asks):
        return None
    return await survey(client, most, filters)


async def _written(
    analysis: Analysis, context: Context, found: Survey, services: Services, metrics: Metrics
) -> AsyncGenerator[str | Response, None]:
    if services.model is None or not found.chunks:
        checked = told(found, context.passages, NOT_SET if services.asked else NOT_ASKED)
        yield checked.text
        yield Response(checked, extracts=True)
        return
    written = generate_response(
        analysis,
        context,
        services.model,
        services.kb.embedder,
        metrics,
        dialogue=services.dialogue,
        instructions=services.instructions,
    )
    async with contextlib.aclosing(written) as parts:
        async for part in parts:
            yield part
