"""What the tests of embedders share: an environment without keys, a server, a clock that does not wait."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Callable

import pytest

from core.rag.settings import Settings
from tests.dbhandler.kit import make_settings
from tests.fakes.clock import Clock
from tests.fakes.openai_server import OpenAIServer


@pytest.fixture(autouse=True)
def bare_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """No test sees the keys, proxies and settings of whoever runs it."""
    for name in list(os.environ):
        if name.upper().startswith(("OPENAI_", "AZURE_OPENAI_", "MGRAG_", "TIKTOKEN_")) or "_PROXY" in name.upper():
            monkeypatch.delenv(name)


@pytest.fixture
def settings() -> Callable[..., Settings]:
    return make_settings


@pytest.fixture
async def server() -> AsyncIterator[OpenAIServer]:
    async with OpenAIServer(dimension=1536) as running:
        yield running


@pytest.fixture
def clock() -> Clock:
    return Clock()
