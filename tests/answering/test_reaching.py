"""A model that nobody can reach is waited for once for each question, however many steps would ask it."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import AsyncIterator
from typing import Any

import pytest

from core.rag import KnowledgeBase, KnowledgeRAGFlow
from core.rag.answering.events import DoneEvent
from core.rag.errors import LanguageModelError, LanguageModelUnreachableError
from core.rag.llm.base import Message
from core.rag.llm.openai_model import OpenAICompatibleModel
from tests.answering.people import fill
from tests.dbhandler.kit import make_settings
from tests.fakes.clock import Clock
from tests.fakes.openai_chat import Chat
from tests.fakes.openai_server import OpenAIServer, drop, fail
from tests.servers.ports import HOST, free_port

#: Requests until a call gives up.
TRIES = 6
QUESTION = "Where did Bob live before, and who leads Lighthouse?"


@contextlib.asynccontextmanager
async def model_at(url: str) -> AsyncIterator[OpenAICompatibleModel]:
    """A model whose time passes only when it sleeps."""
    settings = make_settings(OPENAI_API_KEY="k", OPENAI_BASE_URL=url)
    model = OpenAICompatibleModel("m", settings=settings, _timing=Clock().timing())
    try:
        yield model
    finally:
        await model.close()


@contextlib.asynccontextmanager
async def asking(url: str) -> AsyncIterator[tuple[KnowledgeBase, OpenAICompatibleModel]]:
    async with model_at(url) as model, KnowledgeBase.open("embedded::memory:", language_model=model) as kb:
        await fill(kb)
        yield kb, model


@pytest.mark.parametrize("strategy", ["flow", "drift", "basic"])
async def test_a_server_that_is_down_is_tried_by_one_step_only(strategy: Any) -> None:
    async with asking(f"http://{HOST}:{free_port()}/v1") as (kb, model):
        with pytest.raises(LanguageModelUnreachableError, match=f"cannot be reached .* {TRIES} times in a row"):
            await kb.ask(QUESTION, strategy)
        assert model.usage.requests == TRIES
        with pytest.raises(LanguageModelUnreachableError):
            await kb.ask(QUESTION, strategy)
        assert model.usage.requests == 2 * TRIES, "the next question tries again"


async def test_the_flow_as_one_object_tries_once_too() -> None:
    async with asking(f"http://{HOST}:{free_port()}/v1") as (kb, model):
        with pytest.raises(LanguageModelUnreachableError):
            await KnowledgeRAGFlow(kb).run({"query": QUESTION})
        assert model.usage.requests == TRIES


@pytest.mark.parametrize("fault", [fail(500), drop()])
async def test_a_server_that_fails_is_asked_for_the_answer_all_the_same(fault: Any) -> None:
    async with OpenAIServer() as server, asking(server.url) as (kb, model):
        chat = Chat(server)
        server.then(*[fault] * TRIES)
        chat.default = "Bob lived in Oslo [1]."
        events = [event async for event in kb.ask_stream("Where did Bob live before?", "flow")]
        assert isinstance(events[-1], DoneEvent)
        assert model.usage.requests == TRIES + 1


async def test_only_a_connection_that_was_never_made_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = [Message("user", "Does it rain?")]
    async with OpenAIServer() as server, model_at(server.url) as model:
        server.then(*[drop()] * TRIES)
        with pytest.raises(LanguageModelError) as caught:
            await model.complete(asked, temperature=0, max_tokens=9)
        assert not isinstance(caught.value, LanguageModelUnreachableError)

    def unknown(*_: object, **__: object) -> None:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    async with model_at("http://nowhere.invalid/v1") as model:
        with pytest.raises(LanguageModelUnreachableError):
            await model.complete(asked, temperature=0, max_tokens=9)


async def test_a_model_for_one_question_is_the_model_in_all_else() -> None:
    from core.rag.answering.reaching import tried_once
    from core.rag.answering.services import Services

    async with OpenAIServer() as server, asking(server.url) as (kb, model):
        chat = Chat(server)
        chat.default = "It rains."
        assert tried_once(Services(kb)).model is None
        once = tried_once(Services(kb, model)).model
        assert once is not None
        asked = [Message("user", "Does it rain?")]
        assert (await once.complete(asked, temperature=0, max_tokens=9)).text == "It rains."
        parts = [part.text async for part in once.stream(asked, temperature=0, max_tokens=9)]
        assert "".join(parts).strip() == "It rains."
        assert (once.model, once.usage) == (model.model, model.usage)
