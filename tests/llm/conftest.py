"""What the tests of language models share: an environment without keys, a server that chats, a clock."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from core.rag.llm.openai_model import OpenAICompatibleModel
from tests.dbhandler.kit import make_settings
from tests.fakes.clock import Clock
from tests.fakes.openai_chat import Chat
from tests.fakes.openai_server import OpenAIServer

KEY = "sk-secret-0123456789abcdef"
MakeModel = Callable[..., OpenAICompatibleModel]


@pytest.fixture(autouse=True)
def bare_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """No test sees the keys, proxies and settings of whoever runs it."""
    for name in list(os.environ):
        if name.upper().startswith(("OPENAI_", "AZURE_OPENAI_", "MGRAG_")) or "_PROXY" in name.upper():
            monkeypatch.delenv(name)


@pytest.fixture
async def server() -> AsyncIterator[OpenAIServer]:
    async with OpenAIServer() as running:
        yield running


@pytest.fixture
def chat(server: OpenAIServer) -> Chat:
    return Chat(server)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def model(server: OpenAIServer) -> AsyncIterator[MakeModel]:
    """Make models that talk to the server; variables are settings."""
    made: list[OpenAICompatibleModel] = []

    def make(clock: Clock | None = None, **variables: Any) -> OpenAICompatibleModel:
        variables = {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": server.url} | variables
        settings = make_settings(**variables)
        timing = clock.timing(0.0, 0.0) if clock else None
        made.append(OpenAICompatibleModel("m", settings=settings, _timing=timing))
        return made[-1]

    yield make
    for one in made:
        await one.close()
