"""A language model whose answers are queued, and a knowledge base of people that asks it."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from core.rag import KnowledgeBase
from tests.answering.models import Talking, talking
from tests.answering.people import fill
from tests.dbhandler.kit import Engine


@pytest.fixture
async def said() -> AsyncIterator[Talking]:
    async with talking() as opened:
        yield opened


@pytest.fixture
async def talker(engine: Engine, said: Talking) -> AsyncIterator[KnowledgeBase]:
    """A knowledge base with a language model."""
    async with engine.knowledge(language_model=said.model) as opened:
        await fill(opened)
        yield opened
