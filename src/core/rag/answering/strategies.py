"""Chooses the strategy that answers a question."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncGenerator
from functools import partial
from typing import TYPE_CHECKING

from core.rag.answering.basic import basic_events
from core.rag.answering.drift.events import drift_events
from core.rag.answering.flow import flow_events
from core.rag.answering.overview.events import overview_events
from core.rag.answering.overview.recognising import asks_for_overview, documents_asked
from core.rag.answering.understanding.intents import has_parts

if TYPE_CHECKING:
    from core.rag.answering.events import Event
    from core.rag.answering.recording import Strategy
    from core.rag.answering.services import Services
    from core.rag.dbhandler import MemGraphClient


async def chosen_events(name: str, question: str, services: Services) -> AsyncGenerator[Event, None]:
    """Answer a question by the strategy of this name, which ``auto`` chooses by the question."""
    strategy = await _chosen(name, question, services.kb.client)
    async with contextlib.aclosing(strategy(question, services)) as events:
        async for event in events:
            yield event


async def _chosen(name: str, question: str, client: MemGraphClient) -> Strategy:
    """Return the strategy of this name.

    Args:
        name: ``auto``, ``flow``, ``basic``, ``drift`` or ``overview``. ``auto`` is ``flow``, unless the question is
            about all documents together, or about one that it names (``overview``), or has several parts and the
            graph has relations to follow from one to the next (``drift``).
        question: The question.
        client: The graph.
    """
    if name == "auto" and (asks_for_overview(question) or documents_asked(question)):
        return partial(overview_events, only_if_asked=True)
    if name == "auto":
        name = "drift" if has_parts(question) and await _has_relations(client) else "flow"
    return _EVENTS[name]


_EVENTS: dict[str, Strategy] = {
    "flow": flow_events,
    "basic": basic_events,
    "drift": drift_events,
    "overview": overview_events,
}


async def _has_relations(client: MemGraphClient) -> bool:
    return bool(
        await client.read(
            "MATCH (a:Entity)-[r:RELATED]->(:Entity) WHERE a.namespace = $namespace RETURN r.type AS type LIMIT 1"
        )
    )
