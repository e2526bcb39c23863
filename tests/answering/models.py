"""Language models that talk to a server of the test."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from core.rag.llm.openai_model import OpenAICompatibleModel
from tests.dbhandler.kit import make_settings
from tests.fakes.openai_chat import Chat
from tests.fakes.openai_server import OpenAIServer


@dataclass
class Talking:
    """A model and the server behind it."""

    model: OpenAICompatibleModel
    chat: Chat
    server: OpenAIServer


@asynccontextmanager
async def talking(**variables: Any) -> AsyncIterator[Talking]:
    """A model whose answers are queued at ``chat``."""
    async with OpenAIServer() as server:
        settings = make_settings(**({"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": server.url} | variables))
        model = OpenAICompatibleModel("m", settings=settings)
        try:
            yield Talking(model, Chat(server), server)
        finally:
            await model.close()
