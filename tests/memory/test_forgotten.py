"""After forgetting somebody, nothing of them is in any node, edge, vector or index, and the others lack nothing."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from core.rag import KnowledgeBase, MemGraphClient
from core.rag.memory.forgetting import traces
from core.rag.memory.records import Forgotten
from core.rag.schema import Label
from libs.dataloader import Document
from tests.dbhandler.kit import Engine
from tests.embedders import HashEmbedder
from tests.graphs import orphans, snapshot

SAID = "Zanzibar cinnamon harvest, remark {n}."


async def _indexed(kb: KnowledgeBase) -> set[str]:
    """What the indexes over messages find, by word and by vector."""
    client = kb.client
    words = await client.match_terms({"zanzibar": 1.0, "cinnamon": 1.0, "harvest": 1.0}, 1000, Label.INTERACTION)
    vector = await HashEmbedder().get_embedding("Zanzibar cinnamon harvest")
    vectors = await client.match_vectors((await client.vector_stores())[0], vector, 1000, Label.INTERACTION)
    return {match.id for match in [*words, *vectors]}


async def _vectors(kb: KnowledgeBase) -> list[dict[str, Any]]:
    return await kb.client.read(
        "MATCH (v:Vector) WHERE v.namespace = $namespace RETURN v.id AS id, v.chunk_id AS target"
    )


def _others(lines: list[str]) -> list[str]:
    """All but conversations, which count the messages that they ever had."""
    return [line for line in lines if '"node": "Conversation"' not in line]


async def test_no_index_and_no_vector_knows_somebody_who_was_forgotten(engine: Engine) -> None:
    async with engine.knowledge() as kb:
        await kb.ingest([Document(path="a", content="Spices grow on islands.", title="Spices")])
        await kb.remember("bob", "user", "The tide mill turns.", user_id="bob")
        await kb.client.add_message("bob", "It does.", "assistant", references=["a", "https://example.org/mill"])
        await kb.feedback("a", 1, "spices", "bob")
        before, kept = await snapshot(kb.client), await _indexed(kb)

        ids = [await kb.remember("ann", "user", SAID.format(n=n), user_id="ann", tags=["clove"]) for n in range(8)]
        ids.append(await kb.client.add_message("bob", SAID.format(n=9), "user", user_id="ann", message_id="m"))
        await kb.client.add_message("ann", "See there.", "assistant", references=["a", "https://example.org/ann"])
        await kb.client.record_retrieved(ids[0], [hit.chunk_id for hit in await kb.search("spices", k=1)])
        await kb.compact("ann", keep=3)
        await kb.feedback("a", -1, "cinnamon", "ann")
        await kb.client.track_user_viewed_document("ann", "a")
        node = await kb.client.create_or_get_user("ann", "Ann Harrow")
        clues = ["Zanzibar", "zanzibar", "cinnamon", "clove", "Harrow", "example.org/ann", node, *ids]
        assert await traces(kb.client, clues)
        assert await _indexed(kb) > kept

        gone = await kb.forget(user_id="ann")

        assert (gone.sessions, gone.users) == (1, 1)
        assert await traces(kb.client, clues) == []
        assert await _indexed(kb) == kept
        assert not set(ids) & {row["target"] for row in await _vectors(kb)}
        assert _others(await snapshot(kb.client)) == _others(before)
        hanging = await orphans(kb.client)
        assert not any(hanging.values())
        assert (await kb.doctor()).healthy


async def test_what_was_forgotten_is_not_kept_by_recall(engine: Engine) -> None:
    async with engine.knowledge() as kb:
        kept = await kb.remember("s", "user", "The tide mill turns.", user_id="bob")
        gone = await kb.remember("s", "user", SAID.format(n=1), user_id="bob")
        assert {memory.id for memory in await kb.recall(query="cinnamon mill", limit=9)} == {kept, gone}
        await kb.forget(memory_id=gone)
        assert {memory.id for memory in await kb.recall(query="cinnamon mill", limit=9)} <= {kept}
        assert [row["target"] for row in await _vectors(kb)] == [kept]


async def test_a_summary_goes_with_what_it_was_made_of_and_the_rest_comes_back(engine: Engine) -> None:
    async with engine.knowledge() as kb:
        await kb.remember("team", "user", "The tide mill turns.", user_id="bob")
        gone = []
        for number in range(4):
            gone.append(await kb.client.add_message("team", SAID.format(n=number), "assistant"))
            await kb.client.add_message("team", f"Noted, says Bob for the time {number}.", "user", user_id="bob")
        first = await kb.compact("team", keep=5)
        second = await kb.compact("team", keep=2)
        assert await traces(kb.client, ["Zanzibar"])
        for memory in gone:
            await kb.forget(memory_id=memory)
        assert await traces(kb.client, ["Zanzibar", "zanzibar", first or "-", second or "-"]) == []
        left = await kb.memories("team", compacted=True)
        assert [memory.content for memory in left] == [
            "The tide mill turns.",
            *(f"Noted, says Bob for the time {number}." for number in range(4)),
        ]
        assert all(not memory.compacted_into for memory in left)
        assert (await kb.recall("team", "tide mill", limit=1))[0].content == "The tide mill turns."
        assert len(await _vectors(kb)) == len(left)
        assert "SUMMARIZES" not in (await kb.client.counts())["edges"]


async def test_a_session_that_is_forgotten_while_something_is_remembered_begins_anew(
    kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    await kb.remember("s", "user", "The tide mill turns.")
    real = MemGraphClient.message_indexes
    forgotten: list[Forgotten] = []

    async def forget_first(self: MemGraphClient, *arguments: Any) -> Any:
        if not forgotten:
            forgotten.append(await kb.forget(session_id="s"))
        return await real(self, *arguments)

    monkeypatch.setattr(MemGraphClient, "message_indexes", forget_first)
    await kb.remember("s", "user", "The tide turns.")
    assert forgotten
    assert [memory.content for memory in await kb.memories("s")] == ["The tide turns."]


@pytest.mark.parametrize("how", [{"user_id": "ann"}, {"before": "2026-02-01"}])
async def test_what_somebody_says_while_a_session_is_forgotten_stays(
    kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch, how: dict[str, Any]
) -> None:
    await kb.remember("s", "user", "The tide mill turns.", user_id="ann", timestamp="2026-01-01")
    real = MemGraphClient.messages_said
    said: list[str] = []

    async def say_then(self: MemGraphClient, node: str) -> Any:
        rows = await real(self, node)
        if not said:
            said.append(await kb.remember("s", "user", "The tide is late.", user_id="bob", timestamp="2026-03-01"))
        return rows

    monkeypatch.setattr(MemGraphClient, "messages_said", say_then)
    assert (await kb.forget(**how)).memories == 1
    assert said
    assert [(memory.content, memory.user_id) for memory in await kb.memories("s")] == [("The tide is late.", "bob")]
    assert (await kb.doctor()).healthy


async def test_what_is_said_for_the_owner_while_a_session_is_forgotten_is_forgotten_too(
    kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    for session in ("own", "shared"):
        await kb.remember(session, "user", "The tide mill turns.", user_id="ann")
    await kb.remember("shared", "user", "The tide is late.", user_id="bob")
    real = MemGraphClient.messages_said
    said: list[str] = []

    async def say_then(self: MemGraphClient, node: str) -> Any:
        rows = await real(self, node)
        for session in {"own", "shared"} - set(said):
            if node == (await kb.client.conversation_row(session) or {}).get("node_id"):
                said.append(session)
                await kb.remember(session, "assistant", "Ann lives by the mill.")
        return rows

    monkeypatch.setattr(MemGraphClient, "messages_said", say_then)
    await kb.forget(user_id="ann")
    assert sorted(said) == ["own", "shared"]
    assert await kb.memories("own") == []
    assert [memory.content for memory in await kb.memories("shared")] == ["The tide is late."]
    assert await traces(kb.client, ["ann", "Ann lives"]) == []


async def test_a_session_that_is_forgotten_as_soon_as_it_begins_begins_anew(
    kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    await kb.remember("other", "user", "The tide mill turns.", user_id="ann")
    require = MemGraphClient._require_conversation
    forgotten: list[Forgotten] = []

    async def forget_first(self: MemGraphClient, conversation_id: str) -> Any:
        if not forgotten:
            forgotten.append(await kb.forget(session_id=conversation_id))
        return await require(self, conversation_id)

    monkeypatch.setattr(MemGraphClient, "_require_conversation", forget_first)
    await kb.remember("s", "user", "The tide turns.", user_id="ann")
    assert forgotten[0].sessions == 1
    assert [memory.content for memory in await kb.memories("s")] == ["The tide turns."]


async def test_a_user_can_be_forgotten_by_several_at_once(kb: KnowledgeBase) -> None:
    for number in range(3):
        await kb.remember(f"own {number}", "user", f"The tide mill turns {number}.", user_id="ann")
        await kb.client.create_conversation(conversation_id=f"free {number}")
        await kb.remember(f"free {number}", "user", f"The tide is late {number}.", user_id="ann")
        await kb.remember(f"of bob {number}", "user", f"The ebb is early {number}.", user_id="bob")
        await kb.remember(f"of bob {number}", "user", f"The mill stands {number}.", user_id="ann")
    parts = await asyncio.gather(*(kb.forget(user_id="ann") for _ in range(4)))
    assert sum(part.memories for part in parts) == 9
    assert sum(part.users for part in parts) == 1
    assert {row["id"] for row in await kb.client.list_conversations()} == {f"of bob {number}" for number in range(3)}
    assert (await kb.doctor()).healthy
