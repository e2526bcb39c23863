"""Graphs with records."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from core.rag import KnowledgeBase
from tests.dbhandler.kit import Engine


@asynccontextmanager
async def with_records(engine: Engine, collections: Mapping[str, list[dict[str, Any]]]) -> AsyncIterator[KnowledgeBase]:
    """A knowledge base with the records of some collections."""
    async with engine.knowledge() as opened:
        for name, records in collections.items():
            await opened.insert_many(name, records)
        yield opened
