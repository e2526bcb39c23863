"""A knowledge base of one's own, on every engine."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from core.rag import KnowledgeBase
from dbhandler.kit import Engine


@pytest.fixture
async def kb(engine: Engine) -> AsyncIterator[KnowledgeBase]:
    """Connected, empty, with an embedder that needs no model."""
    async with engine.knowledge() as opened:
        yield opened
