"""A language model that rewrites questions: one more leg, off by default."""

from __future__ import annotations

from typing import Any

import pytest

from core.rag import KnowledgeBase
from core.rag.llm.openai_model import OpenAICompatibleModel
from libs.dataloader import Document
from tests.dbhandler.kit import make_settings
from tests.embedders import HashEmbedder
from tests.fakes.openai_chat import Chat
from tests.fakes.openai_server import OpenAIServer, fail


def model(server: OpenAIServer) -> OpenAICompatibleModel:
    values: dict[str, Any] = {"OPENAI_API_KEY": "sk-test", "OPENAI_BASE_URL": server.url}
    return OpenAICompatibleModel("m", settings=make_settings(**values))


def knowledge(server: OpenAIServer) -> KnowledgeBase:
    return KnowledgeBase.open("embedded::memory:", embedder=HashEmbedder(64), language_model=model(server))


async def _talk(kb: KnowledgeBase) -> str:
    await kb.ingest(
        [
            Document(path="mill", content="The tide mill of Carew was built in granite.", title="a"),
            Document(path="church", content="The church of Saint Mary has a spire of slate.", title="b"),
            *(Document(path=f"x{n}", content=f"Filler number {n} says nothing at all.", title="x") for n in range(9)),
        ]
    )
    talk = await kb.client.create_conversation()
    await kb.client.add_message(talk, "What stands in the village?", "user")
    await kb.client.add_message(talk, "A house of prayer, old and tall.", "assistant")
    return talk


async def test_the_rewritten_question_is_searched_for_where_it_is_asked_for() -> None:
    async with OpenAIServer() as server:
        chat = Chat(server)
        chat.default = "What is the spire of the church of Saint Mary made of?"
        async with knowledge(server) as kb:
            talk = await _talk(kb)
            question = "And what is its top made of?"
            await kb.search(question, k=1, conversation_id=talk)
            assert chat.bodies == [], "off by default"
            hits = await kb.search(question, k=3, conversation_id=talk, rewrite=True)
            assert hits[0].path == "church"
            assert hits[0].scores["rewritten"] == pytest.approx(1.0)
            [body] = chat.bodies
            assert "A house of prayer" in body["messages"][-1]["content"]
            plain = await kb.search(question, k=3)
            assert await kb.search(question, k=3, rewrite=True) == plain, "no conversation, nothing to rewrite"
            first = await kb.client.create_conversation()
            assert await kb.search(question, k=3, rewrite=True, conversation_id=first) == plain
            assert len(chat.bodies) == 1


async def test_the_rewritten_question_is_searched_for_where_few_documents_pass_a_filter() -> None:
    async with OpenAIServer() as server:
        chat = Chat(server)
        chat.default = "What is the spire of the church of Saint Mary made of?"
        async with knowledge(server) as kb:
            talk = await _talk(kb)
            await kb.ingest(
                Document(path=f"y{n}", content=f"The top of house {n} is old and tall.") for n in range(1_000)
            )
            filters = "path:(mill, church, x)"
            hits = await kb.search(
                "And what is its top made of?", k=20, conversation_id=talk, rewrite=True, filters=filters
            )
            assert len(hits) == 11
            assert hits[0].path == "church"
            assert hits[0].scores["rewritten"] == pytest.approx(1.0)


async def test_a_model_that_fails_costs_nothing_but_time() -> None:
    async with OpenAIServer() as server:
        server.then(fail(401), fail(401))
        async with knowledge(server) as kb:
            talk = await _talk(kb)
            question = "And what is its top made of?"
            without = await kb.search(question, k=3, conversation_id=talk)
            assert await kb.search(question, k=3, conversation_id=talk, rewrite=True) == without
