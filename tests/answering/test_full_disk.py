"""A question in a conversation is answered though there is no room to store it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from core.rag import KnowledgeBase
from core.rag.settings import Settings
from libs.dataloader import Document
from tests.disk import full_disk
from tests.embedders import HashEmbedder

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there, the size of files cannot be limited")

QUESTION = "Who owns the mill?"


def opened(file: Path, **settings: Any) -> KnowledgeBase:
    return KnowledgeBase.open(f"embedded:{file}", embedder=HashEmbedder(), settings=Settings(**settings))


async def said(kb: KnowledgeBase) -> list[str]:
    return [message["content"] for message in await kb.client.get_conversation_messages("talk")]


async def test_a_full_disk_costs_no_answer(tmp_path: Path) -> None:
    async with opened(tmp_path / "graph") as kb:
        await kb.ingest([Document(path="mill", content="Ada owns the mill. It turns with the ebb.")])
        before = await kb.ask(QUESTION, conversation_id="talk")
        with full_disk(1000):
            for conversation in ("talk", "new"):
                answer = await kb.ask("When does it turn?", conversation_id=conversation)
                assert "turns with the ebb" in answer.text
                assert "the disk is full" in answer.details["not_recorded"]
                assert answer.message_id is None
            events = [event.type async for event in kb.ask_stream(QUESTION, conversation_id="new")]
            assert events[-1] == "done"
        assert await said(kb) == [QUESTION, before.text]
        assert await kb.client.find_conversation("new") is None
        after = await kb.ask("When does it turn?", conversation_id="talk")
        assert "not_recorded" not in after.details
        assert await said(kb) == [QUESTION, before.text, "When does it turn?", after.text]


async def test_so_is_one_where_nothing_may_be_stored(tmp_path: Path) -> None:
    async with opened(tmp_path / "graph") as kb:
        await kb.ingest([Document(path="mill", content="Ada owns the mill. It turns with the ebb.")])
        await kb.ask(QUESTION, conversation_id="talk")
    async with opened(tmp_path / "graph", MGRAG_READ_ONLY=True) as kb:
        answer = await kb.ask("When does it turn?", conversation_id="talk")
        assert "turns with the ebb" in answer.text
        assert "MGRAG_READ_ONLY" in answer.details["not_recorded"]
        assert len(await said(kb)) == 2
