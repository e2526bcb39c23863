"""Correcting memories in place: what changes with them, and what stays."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from core.rag import KnowledgeBase
from core.rag.errors import InvalidInputError, NotFoundError
from core.rag.memory import recall as recalling
from core.rag.memory.forgetting import traces
from tests.dbhandler.kit import Engine
from tests.embedders import HashEmbedder
from tests.graphs import orphans


async def contents(kb: KnowledgeBase, session: str = "s") -> list[str]:
    return [memory.content for memory in await kb.memories(session)]


async def by_words(kb: KnowledgeBase, query: str) -> list[str]:
    """The ids of what the words of a query find."""
    return [one.id for one in await kb.recall("s", query) if one.because and one.because.reason == "words"]


async def first(kb: KnowledgeBase, query: str) -> str:
    found = await kb.recall("s", query, limit=1)
    return found[0].content if found else ""


@pytest.mark.parametrize("all_turns", [recalling.ALL_TURNS, 0])
async def test_a_revised_memory_is_found_by_what_it_says_now(
    kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch, all_turns: int
) -> None:
    monkeypatch.setattr(recalling, "ALL_TURNS", all_turns)
    await kb.remember("s", "user", "The cat sleeps on the red sofa.", user_id="ada")
    lives = await kb.remember(
        "s", "user", "Bob lives in Jena.", ["home"], {"sure": True}, user_id="bob", timestamp="2020-01-01T00:00:00Z"
    )
    await kb.remember("s", "assistant", "Invoices are sent on the first Monday.")
    before = (await kb.memories("s"))[1]
    assert await first(kb, "Jena") == "Bob lives in Jena."  # whoever recalls keeps what was read of the session
    revised = await kb.revise(lives, "Bob moved to Ulm.")
    assert revised.revised_at > revised.created_at
    assert revised == replace(
        before,
        content="Bob moved to Ulm.",
        keywords=("moved",),
        revised_at=revised.revised_at,
        last_accessed_at=revised.last_accessed_at,
    )
    assert (await kb.memories("s"))[1] == revised
    assert await first(kb, "Ulm") == "Bob moved to Ulm."
    assert await by_words(kb, "Jena") == []
    assert [memory.id for memory in await kb.recall("s", "home", user_id="bob")] == [lives]
    row = revised.to_dict()
    assert (row["revisedAt"], row["createdAt"]) == (revised.revised_at, "2020-01-01T00:00:00.000000Z")
    assert before.to_dict()["revisedAt"] is None
    assert not any((await orphans(kb.client)).values())


async def test_a_revised_memory_is_found_by_what_it_means_now(engine: Engine) -> None:
    """Its vector is that of the new text, for those who have recalled before and for those who have not."""
    async with engine.knowledge() as kb:
        memory = await kb.remember("s", "user", "alpha beta")
        store = await kb.client.vector_store_for(HashEmbedder())
        assert store is not None
        assert [one.id for one in await kb.recall("s", "alpha beta")] == [memory]
        await kb.revise(memory, "gamma delta")
        vectors = await kb.client.message_vectors([memory], store)
        [expected] = (await HashEmbedder().get_embeddings(["gamma delta"])).tolist()
        assert vectors[memory] == pytest.approx(expected, abs=1e-6)
        [found] = await kb.recall("s", "gamma delta")
        assert found.id == memory


async def test_tags_and_metadata_are_replaced_and_what_is_not_named_stays(kb: KnowledgeBase) -> None:
    memory = await kb.remember("s", "user", "Ada likes tea.", ["taste", "drink"], {"sure": True, "by": "Ada"})
    revised = await kb.revise(memory, tags=["preference"])
    assert (revised.tags, revised.metadata) == (("preference",), {"sure": True, "by": "Ada"})
    assert revised.content == "Ada likes tea."
    assert [one.id for one in await kb.recall("s", "preference")] == [memory]
    assert await by_words(kb, "drink") == []
    assert await kb.recall(tags=["drink"]) == []
    revised = await kb.revise(memory, metadata={})
    assert (revised.tags, revised.metadata) == (("preference",), {})
    assert (await kb.revise(memory, tags=[])).tags == ()


async def test_a_vector_is_made_for_new_words_alone(engine: Engine) -> None:
    embedder = HashEmbedder()
    async with engine.knowledge(embedder=embedder) as kb:
        memory = await kb.remember("s", "user", "Ada likes tea.")
        embedder.embedded.clear()
        await kb.revise(memory, tags=["taste"])
        assert embedder.embedded == []
        await kb.revise(memory, "Ada likes coffee.")
        assert embedder.embedded == ["Ada likes coffee."]


async def test_what_was_said_before_a_revision_can_be_said_again(kb: KnowledgeBase) -> None:
    """The id of a memory comes from its words; what was revised is another memory than these words."""
    home = await kb.remember("s", "user", "I live in Jena.", user_id="ada")
    await kb.revise(home, "I live in Ulm.")
    again = await kb.remember("s", "user", "I live in Jena.", user_id="ada")
    assert again != home
    assert await kb.remember("s", "user", "I live in Jena.", user_id="ada") == again
    assert [(one.content, one.count) for one in await kb.memories("s")] == [
        ("I live in Ulm.", 1),
        ("I live in Jena.", 2),
    ]
    await kb.revise(again, "I live in Bonn.")
    third, same = await kb.remember_all("s", [{"role": "user", "content": "I live in Jena.", "user_id": "ada"}] * 2)
    assert third == same
    assert await contents(kb) == ["I live in Ulm.", "I live in Bonn.", "I live in Jena."]
    assert (await kb.memories("s"))[-1].count == 2
    assert await kb.remember("s", "user", "I live in Jena.", user_id="ada") == third
    await kb.revise(home, "I live in Jena.")
    assert await kb.remember("s", "user", "I live in Jena.", user_id="ada") == home


async def test_messages_and_summaries_can_be_revised_and_what_a_summary_stands_for_stays_behind_it(
    kb: KnowledgeBase,
) -> None:
    conversation = await kb.client.create_conversation("Talk", conversation_id="s")
    message = await kb.client.add_message(conversation, "The mill is read.", "user")
    assert (await kb.revise(message, "The mill is red.")).content == "The mill is red."
    for number in range(4):
        await kb.remember("s", "user", f"The sluice {number} opens in May.")
    summary = await kb.compact("s", keep=1)
    assert summary is not None
    hidden = await kb.revise(message, "The mill is green.")
    assert hidden.compacted_into == summary
    assert [memory.id for memory in await kb.recall("s", "green mill") if memory.id == message] == []
    await kb.revise(summary, "The mill is green, and sluices open in May.")
    assert (await kb.recall("s", "green mill"))[0].id == summary
    await kb.forget(memory_id=summary)
    assert (await kb.recall("s", "green mill"))[0].content == "The mill is green."
    assert not any((await orphans(kb.client)).values())


async def test_what_is_revised_while_a_summary_is_written_is_in_it_as_it_is_now(kb: KnowledgeBase) -> None:
    memories = [await kb.remember("s", "user", f"Fact {number}.") for number in range(4)]

    class Slow:
        calls = 0

        async def summarize(self, texts: Sequence[str]) -> str:
            Slow.calls += 1
            if Slow.calls == 1:
                await kb.revise(memories[0], "Fact of gold.")
            return " ".join(texts)

    await kb.compact("s", keep=1, summarizer=Slow())
    assert Slow.calls == 2
    assert (await contents(kb))[0] == "user: Fact of gold. user: Fact 1. user: Fact 2."


async def test_revisions_at_the_same_time_leave_one_text_with_its_words_and_its_vector(kb: KnowledgeBase) -> None:
    memory = await kb.remember("s", "user", "nothing yet")
    texts = [f"only word{number}" for number in range(6)]
    await asyncio.gather(*(kb.revise(memory, text) for text in texts))
    [now] = await contents(kb)
    assert now in texts
    assert [one.content for one in await kb.recall("s", now.split()[1])] == [now]
    rows = await kb.client.read(
        "MATCH (m:Interaction {id: $id})<-[:EMBEDDING_OF]-(v:Vector) RETURN count(v) AS n", id=memory
    )
    assert rows[0]["n"] == 1


async def test_an_export_has_what_was_revised(kb: KnowledgeBase, tmp_path: Path) -> None:
    memory = await kb.remember("s", "user", "Ada lives in Jena.", user_id="ada")
    old, new = tmp_path / "old.jsonl.gz", tmp_path / "new.jsonl.gz"
    await kb.export(old)
    await kb.revise(memory, "Ada lives in Ulm.")
    await kb.export(new)
    exported = await kb.export_user("ada")
    assert [one["content"] for one in exported["conversations"][0]["messages"]] == ["Ada lives in Ulm."]
    async with KnowledgeBase.open("embedded::memory:", namespace=kb.namespace, embedder=HashEmbedder()) as other:
        for file, city, gone in ((old, "Jena", "Ulm"), (new, "Ulm", "Jena"), (old, "Jena", "Ulm")):
            await other.import_(file)
            [found] = await other.recall("s", "Where does Ada live?")
            assert (found.id, found.content) == (memory, f"Ada lives in {city}.")
            assert bool(found.revised_at) == (city == "Ulm")
            assert (await by_words(other, city), await by_words(other, gone)) == ([memory], [])
            assert await other.remember("s", "user", f"Ada lives in {city}.", user_id="ada") == memory


async def test_what_a_memory_says_since_a_revision_is_the_same_memory_when_it_is_said_again(kb: KnowledgeBase) -> None:
    first = await kb.remember("s", "user", "I live in Ulm.", user_id="ada")
    await kb.revise(first, "I live in Jena.")
    await kb.remember("s", "user", "I like tea.", user_id="ada")
    bob = await kb.remember("s", "user", "I live in Jena.", user_id="bob")
    assistant = await kb.remember("s", "assistant", "I live in Jena.", user_id="ada")
    other = await kb.remember("t", "user", "I live in Jena.", user_id="ada")
    assert len({first, bob, assistant, other}) == 4
    again = {"role": "user", "content": "I live in Jena.", "user_id": "ada"}
    assert await kb.remember_all("s", [again, again]) == [first, first]
    found = await kb.memories("s")
    assert [(one.content, one.user_id, one.count) for one in found] == [
        ("I like tea.", "ada", 1),
        ("I live in Jena.", "bob", 1),
        ("I live in Jena.", "ada", 1),
        ("I live in Jena.", "ada", 3),
    ]
    await kb.revise(first, "I live in Ulm.")  # as at first
    assert await kb.remember("s", "user", "I live in Ulm.", user_id="ada") == first
    moved = await kb.remember("s", "user", "I live in Jena.", user_id="ada")
    assert moved not in {first, bob, assistant}
    assert not any((await orphans(kb.client)).values())


async def test_a_memory_whose_id_was_taken_is_the_same_when_that_is_free_again(kb: KnowledgeBase) -> None:
    taken = [await kb.remember("s", "user", "I live in Ulm.", user_id=user) for user in ("ada", "bob", "ada")]
    assert taken[0] == taken[2] != taken[1]
    for number, memory in enumerate(taken[:2]):
        await kb.revise(memory, f"I live in town {number}.")
    bob = await kb.remember("s", "user", "I live in Ulm.", user_id="bob")
    await kb.forget(memory_id=taken[0])
    assert await kb.remember("s", "user", "I live in Ulm.", user_id="bob") == bob
    assert [(one.id, one.count) for one in await kb.memories("s")] == [(taken[1], 1), (bob, 2)]


async def test_what_was_revised_and_anonymized_is_no_memory_of_what_is_said_again(kb: KnowledgeBase) -> None:
    """An id that is made of what was said would be a trace."""
    memory = await kb.remember("s", "user", "My neighbour is loud.", user_id="ada")
    await kb.revise(memory, "My neighbour is Bob Harlow.")
    nodes = [properties async for _, properties in kb.client.everything()]
    [words] = [one["words_id"] for one in nodes if one.get("words_id")]
    await kb.anonymize(user_id="ada")
    assert await traces(kb.client, [words, "Harlow"]) == []


async def test_what_cannot_be_revised_is_said(kb: KnowledgeBase) -> None:
    memory = await kb.remember("s", "user", "Ada likes tea.")
    with pytest.raises(NotFoundError, match="There is no memory 'nope' in namespace"):
        await kb.revise("nope", "x")
    with pytest.raises(NotFoundError, match="There is no memory ''"):
        await kb.revise("", "x")
    with pytest.raises(NotFoundError):
        await kb.in_namespace(f"{kb.namespace}-other").revise(memory, "x")
    with pytest.raises(InvalidInputError, match="Nothing to change is given: content, tags or metadata"):
        await kb.revise(memory)
    with pytest.raises(InvalidInputError, match="the content is empty"):
        await kb.revise(memory, " ")
    with pytest.raises(InvalidInputError, match="at most 1000000 characters"):
        await kb.revise(memory, "x" * 1_000_001)
    with pytest.raises(InvalidInputError, match="tags"):
        await kb.revise(memory, tags="tea")
    with pytest.raises(InvalidInputError, match="must be text, not int"):
        await kb.revise(5, "x")  # type: ignore[arg-type]
    assert await contents(kb) == ["Ada likes tea."]
