"""DRIFT RAG as an answering strategy of a knowledge base."""

from __future__ import annotations

import contextlib
import time
from collections.abc import AsyncGenerator
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from core.rag.answering.admission import Admission
from core.rag.answering.drift.cache import PathCache
from core.rag.answering.drift.drift import DRIFTRAG
from core.rag.answering.drift.knowledge import knowledge_of, mixed, replaced
from core.rag.answering.events import AnalysisEvent, Event
from core.rag.answering.metrics import Metrics
from core.rag.answering.of_records import with_records
from core.rag.answering.pipeline import answered
from core.rag.answering.reaching import tried_once
from core.rag.answering.record_passages import merged, record_passages
from core.rag.answering.relevance.judging import judge
from core.rag.answering.relevance.scores import matches, scored, search_terms
from core.rag.answering.types import Knowledge
from core.rag.answering.understanding.analysis import analyze_query
from core.rag.answering.understanding.asked_times import of_times_asked
from core.rag.dbhandler.store import GraphStore
from core.rag.errors import EmptyGraphError, NoEntryPointsError

if TYPE_CHECKING:
    from core.rag.answering.services import Services
    from core.rag.retrieval.hits import Hit


#: For each open graph, the paths of the latest questions.
_caches: WeakKeyDictionary[GraphStore, PathCache] = WeakKeyDictionary()


async def drift_events(question: str, services: Services) -> AsyncGenerator[Event, None]:
    """Answer a question along the edges of the graph, step by step.

    Passages on the best paths and of a plain search are mixed in turn, so that an answer never has less information
    than one without the graph. If the graph is empty, or nothing matches, the answer says so.

    Args:
        question: The question.
        services: The services that make the answer.

    Yields:
        The same events as every strategy; the details of the answer hold paths, inferences, gaps and limits.
    """
    metrics, started = Metrics(), time.monotonic()
    services = tried_once(services)
    client, filters = services.kb.client, services.search.get("filters")
    analysis = await analyze_query(question, client, services.model, metrics, services.dialogue, services.before)
    yield AnalysisEvent(analysis)

    async def search(text: str, k: int) -> list[Hit]:
        return await services.kb.search(text, k, "auto", **services.search)

    since = time.monotonic()
    records = [] if filters else await record_passages(client, analysis, services.before, services.passages)
    details: dict[str, Any] = {}
    knowledge = Knowledge()
    cache = _caches.setdefault(await client.connect(), PathCache())
    drift = DRIFTRAG(client, language_model=services.model, cache=cache)
    try:
        found = await drift.explore(question, search=search, filters=filters)
    except (EmptyGraphError, NoEntryPointsError) as error:
        details["notes"] = [str(error)]
    else:
        details = found.details()
        limit = max(services.passages, 1)
        knowledge = await knowledge_of(client, found.paths, limit=limit)
        knowledge.facts = of_times_asked(knowledge.facts, question)
        knowledge.hits = mixed(found.hits[:limit], knowledge.hits, 2 * limit)
        terms = search_terms(analysis.entities)
        if filters:
            knowledge = await Admission(client, filters).narrowed(knowledge)
        named = [one for one in knowledge.entities if matches(one.name, terms)]
        scored(named, terms)  # the others have the scores of their paths
        if not filters:
            told = {record.chunk_id for record in records}
            knowledge.entities = replaced(knowledge.entities, await with_records(client, named, told))
    knowledge.hits = await merged(client, analysis, services.before, knowledge.hits, records)
    await judge(analysis, knowledge, client, services.before)
    metrics.search_metrics.passages = len(knowledge.hits)
    metrics.search_metrics.total_retrieval_time = time.monotonic() - since
    events = answered("drift", services, analysis, knowledge, metrics, started, details)
    async with contextlib.aclosing(events):
        async for event in events:
            yield event
