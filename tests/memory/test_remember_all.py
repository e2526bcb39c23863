"""A whole session in one call: the same as message by message, but all of it or nothing."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.rag import KnowledgeBase
from core.rag.dbhandler.messages import remembering
from core.rag.errors import InvalidInputError, StoreError
from tests.dbhandler.kit import Engine

TALK: list[dict[str, Any]] = [
    {"role": "user", "content": "I live in Ulm.", "user_id": "ann", "tags": ["home"]},
    {"role": "assistant", "content": "Noted."},
    {"role": "user", "content": "I live in Jena.", "user_id": "ann", "metadata": {"source": "phone"}},
    {"role": "assistant", "content": "Noted."},
    {"role": "user", "content": "I live in Ulm.", "user_id": "ann", "tags": ["again"]},
    {"role": "user", "content": "I live in Ulm.", "user_id": "bob"},
]


async def stored(kb: KnowledgeBase, session: str) -> list[tuple[Any, ...]]:
    return [
        (memory.role, memory.content, memory.user_id, memory.count, memory.tags, memory.metadata)
        for memory in await kb.memories(session)
    ]


async def test_a_session_is_remembered_in_its_order_and_repeats_are_counted(kb: KnowledgeBase) -> None:
    ids = await kb.remember_all("s", TALK)
    assert ids[0] == ids[4] != ids[5] and ids[1] == ids[3]
    assert await stored(kb, "s") == [
        ("user", "I live in Jena.", "ann", 1, (), {"source": "phone"}),
        ("assistant", "Noted.", "ann", 2, (), {}),
        ("user", "I live in Ulm.", "ann", 2, ("home", "again"), {}),
        ("user", "I live in Ulm.", "bob", 1, (), {}),
    ]
    assert (await kb.doctor()).healthy


async def given_times(kb: KnowledgeBase, session: str) -> list[list[str]]:
    """When each memory was said for the first and the last time, unless that is the time of the test."""
    return [
        [time for time in (memory.created_at, memory.last_said_at) if time.startswith("2024-")]
        for memory in await kb.memories(session)
    ]


MESSAGES = st.lists(
    st.fixed_dictionaries(
        {"role": st.sampled_from(["user", "assistant"]), "content": st.sampled_from(["Ulm", "Jena", "Bonn"])},
        optional={
            "user_id": st.sampled_from([None, "ann", "bob"]),
            "timestamp": st.sampled_from(["2024-01-01", "2024-01-02", "2024-01-03"]),
            "tags": st.sampled_from([["a"], ["b", "a"]]),
            "metadata": st.sampled_from([{"a": 1}, {"b": 2}]),
        },
    ),
    max_size=12,
)


@settings(max_examples=25)
@given(before=MESSAGES, messages=MESSAGES)
async def test_all_at_once_is_the_same_as_one_by_one(
    before: list[dict[str, Any]], messages: list[dict[str, Any]]
) -> None:
    async with Engine("embedded::memory:").knowledge() as kb:
        for session in ("one by one", "at once"):
            for message in before:
                await kb.remember(session, **message)
        for message in messages:
            await kb.remember("one by one", **message)
        await kb.remember_all("at once", messages)
        assert await stored(kb, "at once") == await stored(kb, "one by one")
        assert await given_times(kb, "at once") == await given_times(kb, "one by one")
        owners = [row["user_id"] for row in await kb.client.list_conversations()]
        assert len(set(owners)) <= 1
        assert (await kb.doctor()).healthy


async def test_what_a_summary_replaced_and_is_said_again_counts_again(kb: KnowledgeBase) -> None:
    facts = ["The mill turns with the ebb.", "The cat sleeps.", "Invoices are sent on Monday.", "Ada is here."]
    await kb.remember_all("s", [{"role": "user", "content": fact} for fact in facts])
    await kb.compact("s", keep=1)
    await kb.remember_all("s", [{"role": "user", "content": fact} for fact in facts[:2]])
    found = {memory.content for memory in await kb.memories("s") if memory.role != "summary"}
    assert found == {*facts[:2], facts[3]}
    assert (await kb.recall(query="When does the mill turn?", session_id="s"))[0].content == facts[0]
    assert (await kb.doctor()).healthy


async def test_a_user_is_whose_what_names_nobody_is(kb: KnowledgeBase) -> None:
    await kb.remember_all("s", TALK[:2], user_id="eve")
    assert [memory.user_id for memory in await kb.memories("s")] == ["ann", "eve"]


@pytest.mark.parametrize(
    "messages, told",
    [
        ("text", "sequence of messages"),
        ({"role": "user", "content": "x"}, "sequence of messages"),
        (7, "sequence of messages"),
        (["text"], "Message 1 is a str"),
        ([TALK[0], {"role": "user"}], "Message 2 has no content"),
        ([TALK[0], {"content": "x"}], "Message 2 has no role"),
        ([{**TALK[0], "time": "now"}], "Message 1 has 'time'"),
        ([TALK[0], {"role": "user", "content": " "}], "Message 2: There is nothing to remember"),
        ([TALK[0], {"role": "user", "content": "x", "timestamp": "soon"}], "Message 2: 'soon'"),
        ([TALK[0], {"role": "user", "content": ["x"]}], "Message 2: "),
    ],
)
async def test_a_message_that_is_invalid_is_named_and_nothing_is_stored(
    kb: KnowledgeBase, messages: Any, told: str
) -> None:
    with pytest.raises(InvalidInputError, match=told):
        await kb.remember_all("s", messages)
    assert await kb.client.list_conversations() == []


async def test_nothing_to_remember_begins_no_session(kb: KnowledgeBase) -> None:
    assert await kb.remember_all("s", []) == []
    assert await kb.client.find_conversation("s") is None


async def test_a_failure_amid_a_session_leaves_nothing_of_it(
    kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fails(*_: Any) -> None:
        raise StoreError("The disk is on fire.")

    monkeypatch.setattr(remembering, "move_to_end", fails)  # of a repeat, after messages that were written
    with pytest.raises(StoreError):
        await kb.remember_all("s", TALK)
    assert await kb.memories("s") == []
    monkeypatch.undo()
    await kb.remember_all("s", TALK)
    assert [count for *_, count, _, _ in await stored(kb, "s")] == [1, 2, 2, 1]


async def test_what_is_stored_and_then_repeated_by_the_engine_counts_once(
    kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = kb.client._write

    async def twice(work: Any) -> Any:
        await write(work)
        return await write(work)

    monkeypatch.setattr(kb.client, "_write", twice)
    ids = await kb.remember_all("s", TALK)
    assert [count for *_, count, _, _ in await stored(kb, "s")] == [1, 2, 2, 1]
    assert set(ids) == {memory.id for memory in await kb.memories("s")}


async def test_it_counts_once_also_where_the_same_words_were_revised_before(
    kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    for city in ("Bonn", "Jena"):  # both ids that the words may have are those of other words then
        memory = await kb.remember("s", "user", "I live in Ulm.")
        await kb.revise(memory, content=f"I live in {city}.")
    write = kb.client._write

    async def twice(work: Any) -> Any:
        await write(work)
        return await write(work)

    monkeypatch.setattr(kb.client, "_write", twice)
    await kb.remember("s", "user", "I live in Ulm.")
    assert [(memory.content, memory.count) for memory in await kb.memories("s")] == [
        ("I live in Bonn.", 1),
        ("I live in Jena.", 1),
        ("I live in Ulm.", 1),
    ]


async def test_sessions_that_are_remembered_at_the_same_time_are_each_in_order(kb: KnowledgeBase) -> None:
    talks = [[{"role": "user", "content": f"{who} says {number}."} for number in range(20)] for who in "abc"]
    await asyncio.gather(*(kb.remember_all("s", talk) for talk in talks))
    said = [memory.content for memory in await kb.memories("s")]
    assert len(said) == 60
    for talk in talks:
        contents = [message["content"] for message in talk]
        assert sorted(contents, key=said.index) == contents
    assert (await kb.doctor()).healthy
