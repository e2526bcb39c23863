"""Remember, recall, forget, compact."""

from __future__ import annotations

import asyncio
import gc
from datetime import date, datetime
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core.rag import KnowledgeBase, MemGraphClient
from core.rag.errors import FilterError, InvalidInputError, NotFoundError
from core.rag.memory import recall as recalling
from core.rag.memory.forgetting import traces
from core.rag.memory.sessions import Session
from tests.dbhandler.kit import Engine
from tests.embedders import HashEmbedder
from tests.graphs import orphans, snapshot

FACTS = [
    "Bob Smith is tech lead on Platform Core.",
    "The cat sleeps on the red sofa.",
    "Invoices are sent on the first Monday.",
    "The tide mill turns with the ebb.",
]


async def test_what_was_remembered_is_recalled_with_its_relevance(kb: KnowledgeBase) -> None:
    for fact in FACTS:
        await kb.remember("s", "user", fact)
    found = await kb.recall("s", "Platform Core team", limit=2)
    assert found[0].content == FACTS[0]
    assert all(0 <= (memory.relevance or -1) <= 1 for memory in found)
    assert (found[0].relevance or 0) > 0.5
    assert found[0].keywords == ("smith", "tech", "lead", "platform", "core")
    row = found[0].to_dict()
    assert row["memoryId"] == found[0].id
    assert {"relevance", "createdAt", "lastAccessedAt", "tags", "type"} <= row.keys()


async def test_recalling_marks_what_was_recalled_and_nothing_else(kb: KnowledgeBase) -> None:
    for fact in FACTS:
        await kb.remember("s", "user", fact, timestamp="2020-01-01T00:00:00Z")
    [found] = await kb.recall("s", "tide mill", limit=1)
    after = {memory.content: memory for memory in await kb.memories("s")}
    assert after[FACTS[3]].last_accessed_at == found.last_accessed_at > after[FACTS[3]].created_at
    assert after[FACTS[0]].last_accessed_at == after[FACTS[0]].created_at == "2020-01-01T00:00:00.000000Z"


async def test_a_tag_is_a_bonus(kb: KnowledgeBase) -> None:
    tagged = await kb.remember("s", "user", "It was agreed upon.", tags=["budget"])
    for number in range(5):
        await kb.remember("s", "user", f"Something else entirely, number {number}.")
    both = await kb.remember("s", "user", "They spoke of the budget on Monday.", tags=["Budget"])
    word = await kb.remember("s", "user", "They spoke of the budget on Sunday.")
    found = [memory.id for memory in await kb.recall("s", "budget", limit=3)]
    assert set(found) == {both, tagged, word}
    assert found[0] == both


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("Bob's e-mail is well-known, the e-mail of Bob", ("bob's", "e-mail", "well-known")),
        ("Meine Tochter wohnt und arbeitet nicht in München.", ("tochter", "wohnt", "arbeitet", "münchen")),
        ("मैं दिल्ली में रहता हूँ।", ("दिल्ली", "रहता")),
        ("ฉันอาศัยอยู่ในกรุงเทพ", ("ฉันอาศัยอยู่ในกรุงเทพ",)),
        ("أنا أعيش في القاهرة", ("أعيش", "القاهرة")),
    ],
)
async def test_keywords_are_whole_words_in_any_script(
    kb: KnowledgeBase, content: str, expected: tuple[str, ...]
) -> None:
    await kb.remember("s", "user", content)
    assert [memory.keywords for memory in await kb.memories("s")] == [expected]


@pytest.mark.parametrize("all_turns", [recalling.ALL_TURNS, 0])
async def test_tags_are_words_to_find_it_by(kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch, all_turns: int) -> None:
    """Also those of several words by one of them, and where the indexes say which sessions to look at."""
    monkeypatch.setattr(recalling, "ALL_TURNS", all_turns)
    for number in range(20):
        await kb.remember(f"s{number}", "user", f"Something else entirely, number {number}.")
    zeus = await kb.remember("t", "user", "It was agreed upon.", tags=["project-zeus"])
    budget = await kb.remember("t", "user", "They spoke of that.", tags=["The budget"])

    async def first(query: str) -> str:
        return (await kb.recall(query=query, limit=1))[0].id

    assert [await first("zeus"), await first("project zeus")] == [zeus, zeus]
    assert await first("budgets") == budget
    await kb.remember("t", "user", "They spoke of that.", tags=["Holidays"])
    assert [await first("budget"), await first("holiday")] == [budget, budget]
    summary = await kb.compact("t", keep=0)
    assert summary is not None
    await kb.forget(memory_id=summary)
    assert [await first("holiday"), await first("zeus")] == [budget, zeus]


async def test_exact_repeats_are_one_memory_with_a_count(kb: KnowledgeBase) -> None:
    first = await kb.remember("s", "user", FACTS[0], tags=["a"], metadata={"x": 1})
    others = await asyncio.gather(
        *(kb.remember("s", "user", FACTS[0], tags=["b"], metadata={"y": 2}) for _ in range(9))
    )
    assert set(others) == {first}
    [memory] = await kb.memories("s")
    assert (memory.count, memory.tags, memory.metadata) == (10, ("a", "b"), {"x": 1, "y": 2})
    assert await kb.remember("s", "assistant", FACTS[0]) != first
    assert await kb.remember("t", "user", FACTS[0]) != first


async def test_a_date_is_its_midnight(kb: KnowledgeBase) -> None:
    await kb.remember("s", "user", FACTS[0], timestamp=date(2024, 5, 1))
    await kb.remember("s", "user", FACTS[1], timestamp=datetime(2024, 5, 1))
    first, second = await kb.memories("s")
    assert first.created_at == second.created_at


async def test_a_repeat_is_the_last_time_that_it_was_said(kb: KnowledgeBase) -> None:
    times = [f"2026-0{month}-01T00:00:00.000000Z" for month in (1, 5, 3)]
    for time in times:
        await kb.remember("s", "user", FACTS[0], timestamp=time)
    [memory] = await kb.memories("s")
    assert (memory.count, memory.created_at, memory.last_accessed_at) == (3, times[0], times[1])
    assert memory.last_said_at == times[1]


async def test_what_was_said_again_later_is_not_forgotten_with_what_is_older(kb: KnowledgeBase) -> None:
    for number, month in enumerate((1, 2, 6)):
        await kb.remember("s", "user", FACTS[number % 2], timestamp=f"2026-0{month}-01T00:00:00Z")
    assert (await kb.forget(before="2026-05-01T00:00:00Z")).memories == 1
    assert [memory.content for memory in await kb.memories("s")] == [FACTS[0]]
    assert (await kb.forget(before="2026-07-01T00:00:00Z")).memories == 1


async def test_a_memory_is_found_through_what_surrounds_it(kb: KnowledgeBase) -> None:
    for number in range(30):
        await kb.remember("s", "user", f"Small talk number {number} about nothing much.")
    await kb.remember("s", "user", "Where did Margaret spend her holidays?")
    answer = await kb.remember("s", "assistant", "In a hut by the lake.")
    for number in range(30, 60):
        await kb.remember("s", "user", f"Small talk number {number} about nothing much.")
    found = await kb.recall("s", "Margaret's holidays", limit=3)
    assert answer in [memory.id for memory in found]


async def test_of_equal_ones_the_latest_comes_first(kb: KnowledgeBase) -> None:
    for month in (3, 1, 6, 2, 5, 4):
        said = f"2026-0{month}-01T00:00:00Z"
        await kb.remember(f"s{month}", "user", "The build passed.", user_id=f"bot {month}", timestamp=said)
    found = [memory.session_id for memory in await kb.recall(query="did the build pass?", limit=6)]
    assert found == ["s6", "s5", "s4", "s3", "s2", "s1"]


@pytest.mark.parametrize("facts", [("red", "blue"), ("blue", "red")])
@pytest.mark.parametrize("later", ["s", "t"])
async def test_of_facts_that_changed_the_latest_comes_first(
    kb: KnowledgeBase, facts: tuple[str, str], later: str
) -> None:
    old = await kb.remember("s", "user", f"My favourite colour is {facts[0]}.", timestamp="2026-01-01")
    for number in range(4):
        await kb.remember("s", "user", f"Small talk {number} about nothing much.", timestamp="2026-01-02")
    new = await kb.remember(later, "user", f"My favourite colour is {facts[1]}.", timestamp="2026-02-01")
    await kb.remember(later, "assistant", "Noted.", timestamp="2026-02-01")
    found = await kb.recall(query="What is my favourite colour?")
    assert [memory.id for memory in found][:2] == [new, old]
    assert found == sorted(found, key=lambda memory: -(memory.relevance or 0))


async def test_only_the_beginning_of_a_very_long_question_counts(kb: KnowledgeBase) -> None:
    memory = await kb.remember("s", "user", "The cat sleeps.", timestamp="2026-04-08T12:00:00Z")

    async def by_words(query: str) -> list[str]:
        return [one.id for one in await kb.recall("s", query) if one.because and one.because.reason == "words"]

    assert await by_words("What was it? " * 100 + "I mean 8 April.") == [memory]
    assert await by_words("What was it? " * 2_000 + "I mean 8 April.") == []


async def test_what_is_said_in_many_sessions_takes_one_place(kb: KnowledgeBase) -> None:
    asked = "What should I cook tonight?"
    for day in range(1, 9):
        await kb.remember(f"s{day}", "user", asked, user_id="ada", timestamp=f"2026-03-0{day}")
    await kb.remember("s3", "user", "I cannot cook anything with mushrooms.", user_id="ada", timestamp="2026-03-03")
    await kb.remember("bob", "user", asked, user_id="bob", timestamp="2026-03-02")
    for session, user in ((None, "ada"), (None, None)):
        found = await kb.recall(session, asked, 3, user_id=user)
        said = [(memory.user_id, memory.session_id) for memory in found if memory.content == asked]
        assert said == ([("ada", "s8")] if user else [("ada", "s8"), ("bob", "bob")])
        assert found[0].content == "I cannot cook anything with mushrooms."
    assert [memory.session_id for memory in await kb.recall("s2", asked)] == ["s2"]


async def test_what_was_said_in_a_period(kb: KnowledgeBase) -> None:
    towns = ("Ulm", "Jena", "Graz", "Ulm")
    for month, town in enumerate(towns, 1):
        await kb.remember(f"s{month}", "user", f"I live in {town}.", timestamp=f"2026-0{month}-10T12:00:00Z")

    async def recalled(session: str | None = None, **when: str | date) -> list[str]:
        found = await kb.recall(session, "Where do I live?", 9, **when)  # type: ignore[arg-type]
        return [memory.content.split()[-1] for memory in found]

    assert await recalled() == ["Ulm.", "Graz.", "Jena."]
    assert await recalled(before="2026-03-10T12:00:00Z") == ["Jena.", "Ulm."]
    assert await recalled(since="2026-03-10T12:00:00Z") == ["Ulm.", "Graz."]
    assert await recalled(since=date(2026, 2, 1), before=date(2026, 3, 1)) == ["Jena."]
    assert await recalled("s3", since=date(2026, 2, 1)) == ["Graz."]
    assert await recalled("s1", since=date(2026, 2, 1)) == []
    assert await recalled(since=date(2027, 1, 1)) == []
    # What is repeated later was last said, in this period, when it was said first.
    await kb.remember("s1", "user", "I live in Ulm.", timestamp="2026-05-10T12:00:00Z")
    assert await recalled(before=date(2026, 3, 1)) == ["Jena.", "Ulm."]
    assert await recalled(since=date(2026, 5, 1)) == ["Ulm."]
    for nothing in ({"since": "2026-03-01", "before": "2026-03-01"}, {"since": "May"}, {"before": 5}):
        with pytest.raises(InvalidInputError):
            await kb.recall(query="Where?", **nothing)


async def test_a_period_is_found_among_many_memories(kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recalling, "ALL_TURNS", 5)
    monkeypatch.setattr(recalling, "_FIRST_LOOK", 2)
    for number in range(40):
        said = f"tea tea tea number {number}"
        await kb.remember(f"new {number % 4}", "user", said, user_id="bob", timestamp="2026-06-01T00:00:00Z")
    for number in range(8):
        said = f"Somebody once mentioned tea, remark {number}"
        speaker = ("ann", "bob")[number % 2]
        await kb.remember(f"old {number % 2}", "user", said, user_id=speaker, timestamp="2026-01-01T00:00:00Z")
    found = await kb.recall(query="tea", limit=8, before="2026-02-01")
    assert len(found) == 8
    assert all(memory.session_id.startswith("old") for memory in found)
    assert [memory.user_id for memory in await kb.recall(query="tea", user_id="bob", before="2026-02-01")] == [
        "bob"
    ] * 4


async def test_sessions_users_and_everything(kb: KnowledgeBase) -> None:
    await kb.remember("a1", "user", "Ann likes green tea.", user_id="ann")
    await kb.remember("a2", "user", "Ann drinks tea at five.", user_id="ann")
    await kb.remember("b1", "user", "Bob hates tea.", user_id="bob")

    async def contents(**scope: Any) -> set[str]:
        return {memory.content for memory in await kb.recall(query="tea", limit=10, **scope)}

    assert await contents(session_id="a1") == {"Ann likes green tea."}
    assert await contents(user_id="ann") == {"Ann likes green tea.", "Ann drinks tea at five."}
    assert len(await contents()) == 3
    assert await contents(session_id="a1", user_id="bob") == set()
    assert await contents(session_id="zzz") == await contents(user_id="zzz") == set()


async def test_messages_of_conversations_are_memories(kb: KnowledgeBase) -> None:
    talk = await kb.client.create_conversation(user_id="ann")
    await kb.client.add_message(talk, FACTS[3], "user")
    await kb.remember(talk, "user", FACTS[1])
    assert [memory.content for memory in await kb.recall(talk, "tide mill", limit=1)] == [FACTS[3]]
    assert [message["content"] for message in await kb.client.get_conversation_messages(talk)] == [FACTS[3], FACTS[1]]


@pytest.mark.parametrize(
    "arguments",
    [
        {"query": " "},
        {"query": None},
        {"query": "x", "limit": 0},
        {"query": "x", "limit": True},
        {"query": "x", "session_id": 5},
        {"query": "x", "user_id": 5},
    ],
)
async def test_recalling_nonsense_is_refused(kb: KnowledgeBase, arguments: dict[str, object]) -> None:
    with pytest.raises(InvalidInputError):
        await kb.recall(**arguments)  # type: ignore[arg-type]


async def test_a_question_in_the_place_of_the_session_is_told(kb: KnowledgeBase) -> None:
    with pytest.raises(InvalidInputError, match="first argument is the session"):
        await kb.recall("What did she say about tea?")


@pytest.mark.parametrize("limit", [0, -1, True, 2.5, "3"])
async def test_a_limit_that_is_none_is_refused(kb: KnowledgeBase, limit: object) -> None:
    for number in range(3):
        await kb.remember("s", "user", f"Remark {number}.")
    for session in ("s", "nowhere"):
        with pytest.raises(InvalidInputError, match="limit"):
            await kb.memories(session, limit=limit)  # type: ignore[arg-type]
    with pytest.raises(InvalidInputError, match="limit"):
        await kb.records("h", limit=limit)  # type: ignore[arg-type]
    assert [memory.content for memory in await kb.memories("s", limit=2)] == ["Remark 1.", "Remark 2."]


@pytest.mark.parametrize(
    ("arguments", "named"),
    [({"user_id": "a" * 2001}, "user_id has 2001"), ({"timestamp": "0001-01-01T00:00:00+14:00"}, r"^0001-01-01T00:00")],
)
async def test_errors_name_what_the_caller_gave(kb: KnowledgeBase, arguments: dict[str, Any], named: str) -> None:
    with pytest.raises(InvalidInputError, match=named):
        await kb.remember("s", "user", "The tide was late.", **arguments)


@pytest.mark.parametrize("content", ["", " ", "\0", " \0\n", "\u200b", None, 5])
async def test_what_nothing_is_left_of_is_not_remembered(kb: KnowledgeBase, content: object) -> None:
    with pytest.raises(InvalidInputError):
        await kb.remember("s", "user", content)  # type: ignore[arg-type]
    assert await kb.memories("s") == []


@pytest.mark.parametrize(
    "arguments",
    [
        {"tags": [f"tag {number}" for number in range(1000)]},
        {"user_id": ""},  # the owner of the session would have said it
        {"timestamp": 1767225600},
        {"timestamp": "yesterday"},
        {"timestamp": "0001-01-01T00:00:00+14:00"},  # in UTC, before the first year
    ],
)
async def test_times_tags_and_users_that_no_message_can_have(kb: KnowledgeBase, arguments: dict[str, object]) -> None:
    with pytest.raises(InvalidInputError):
        await kb.remember("s", "user", FACTS[0], **arguments)  # type: ignore[arg-type]
    assert await kb.memories("s") == []


async def test_no_tags_and_tags_that_are_none(kb: KnowledgeBase) -> None:
    await kb.remember("s", "user", FACTS[0], tags=None)
    await kb.client.add_message("s", FACTS[1], "user", tags=None)
    assert [memory.tags for memory in await kb.memories("s")] == [(), ()]
    with pytest.raises(InvalidInputError, match="tags"):
        await kb.remember("s", "user", FACTS[2], tags=5)  # type: ignore[arg-type]


async def test_forgetting_leaves_no_trace_and_the_others_as_they_were(kb: KnowledgeBase) -> None:
    await kb.remember("kept", "user", FACTS[3], user_id="bob", tags=["t"])
    await kb.client.create_document("docs/a", "Alpha.", embedding=await HashEmbedder().get_embedding("alpha"))
    before = await snapshot(kb.client)
    ids = [await kb.remember("gone", "user", fact, user_id="ann@x.org", tags=["secret"]) for fact in FACTS]
    talk = await kb.client.create_conversation("Private", user_id="ann@x.org")
    ids.append(await kb.client.add_message(talk, "My number is QZ-12345.", "user", references=["https://ann.example/"]))
    await kb.client.track_user_viewed_document("ann@x.org", "docs/a")
    await kb.client.rate("docs/a", 1, query="alpha", user_id="ann@x.org")
    user = await kb.client.create_or_get_user("ann@x.org", "Ann Harrow")
    clues = ["ann@x.org", "Ann Harrow", "secret", "QZ-12345", "ann.example", user, talk, *ids]
    assert await traces(kb.client, clues)

    gone = await kb.forget(user_id="ann@x.org")

    assert (gone.memories, gone.sessions, gone.users) == (5, 2, 1)
    assert await traces(kb.client, clues) == []
    assert await snapshot(kb.client) == before
    assert {memory.session_id for memory in await kb.recall(query="Platform Core", limit=5)} <= {"kept"}
    hanging = await orphans(kb.client)
    assert hanging["vectors of nothing"] == hanging["vectors in no store"] == 0


async def test_a_user_is_forgotten_in_the_sessions_of_others_too(kb: KnowledgeBase) -> None:
    await kb.remember("team", "user", "Bob was here.", user_id="bob")
    await kb.client.add_message("team", "Ann was here.", "user", user_id="ann")
    await kb.forget(user_id="ann")
    assert [memory.content for memory in await kb.memories("team")] == ["Bob was here."]


async def test_a_session_of_nobody_goes_with_the_last_who_spoke_there(kb: KnowledgeBase) -> None:
    await kb.remember("s", "user", FACTS[0], user_id="ann")
    await kb.remember("s", "user", FACTS[1], user_id="bob")
    await kb.remember("cid's", "user", FACTS[1], user_id="cid")
    await kb.remember("cid's", "user", FACTS[2], user_id="bob")
    assert (await kb.forget(user_id="ann")).sessions == 0
    await kb.forget(memory_id=(await kb.memories("cid's"))[0].id)
    assert (await kb.forget(user_id="bob")).to_dict() == {"memories": 2, "sessions": 1, "users": 1}
    assert [talk["id"] for talk in await kb.client.list_conversations()] == ["cid's"]


async def test_the_same_words_of_two_people_in_a_session_of_nobody_are_two_memories(kb: KnowledgeBase) -> None:
    await kb.client.create_conversation("Team", None, "s")
    ids = [await kb.remember("s", "user", "Same words.", user_id=user) for user in ("ann", "bob", "ann", "bob")]
    assert ids[0] == ids[2] != ids[1] == ids[3]
    assert [message["id"] for message in (await kb.export_user("bob"))["messages"]] == [ids[1]]
    await kb.forget(user_id="ann")
    assert [(memory.id, memory.count) for memory in await kb.memories("s")] == [(ids[1], 2)]
    assert await kb.remember("s", "user", "Same words.", user_id="bob") == ids[1]
    assert await traces(kb.client, ["ann"]) == []
    found = await kb.client.find_conversation("s")
    assert found is not None
    assert (found["title"], found["user_id"]) == ("Team", "")


async def test_what_somebody_says_in_the_session_of_another_is_theirs(kb: KnowledgeBase) -> None:
    await kb.remember("shared", "user", "Ann likes weirs.", user_id="ann")
    await kb.remember("shared", "assistant", "Weirs are noted.")
    await kb.remember("shared", "user", "Bob likes sluices and weirs.", user_id="bob")
    await kb.client.add_message("shared", "Cid likes weirs, too.", "user", user_id="cid")

    async def recalled(user: str, session: str | None = None, limit: int = 9) -> set[str]:
        return {memory.content for memory in await kb.recall(session, "weirs sluices", limit, user_id=user)}

    assert await recalled("ann") == await recalled("ann", "shared") == {"Ann likes weirs.", "Weirs are noted."}
    assert await recalled("bob") == await recalled("bob", "shared", 1) == {"Bob likes sluices and weirs."}
    assert await recalled("cid", limit=1) == {"Cid likes weirs, too."}
    exported = (await kb.export_user("ann"))["conversations"][0]["messages"]
    assert [message["content"] for message in exported] == ["Ann likes weirs.", "Weirs are noted."]

    assert (await kb.forget(user_id="bob", before="2000")).memories == 0
    assert (await kb.forget(user_id="cid", before="2999-01-01")).memories == 1
    gone = await kb.forget(user_id="ann")

    assert (gone.memories, gone.sessions, gone.users) == (2, 0, 1)
    assert [memory.content for memory in await kb.memories("shared")] == ["Bob likes sluices and weirs."]
    assert await recalled("bob") == {"Bob likes sluices and weirs."}
    assert await traces(kb.client, ["ann", "Ann"]) == []


async def test_a_memory_says_whose_it_is(kb: KnowledgeBase) -> None:
    await kb.remember("s", "user", "Ann likes tea.", user_id="ann")
    await kb.remember("s", "assistant", "Noted: tea.")
    await kb.remember("s", "user", "Bob likes tea, too.", user_id="bob")
    await kb.remember("t", "user", "Somebody likes tea.")
    whose = {"Ann likes tea.": "ann", "Noted: tea.": "ann", "Bob likes tea, too.": "bob"}
    everybody = {**whose, "Somebody likes tea.": ""}
    assert {memory.content: memory.user_id for memory in await kb.memories("s")} == whose
    assert {memory.content: memory.user_id for memory in await kb.recall("s", "tea", limit=9)} == whose
    found = await kb.recall(query="tea", limit=9)
    assert {memory.content: memory.user_id for memory in found} == everybody
    assert {memory.to_dict()["userId"] for memory in found} == {"ann", "bob", None}


async def test_a_user_is_the_same_by_the_id_of_the_node(kb: KnowledgeBase) -> None:
    node = await kb.client.create_or_get_user("ann")
    await kb.remember("own", "user", FACTS[0], user_id="ann")
    assert await kb.remember("own", "user", FACTS[0], user_id=node) == await kb.remember("own", "user", FACTS[0])
    talk = await kb.client.create_conversation(user_id="bob")
    await kb.client.add_message(talk, FACTS[3], "user", user_id=node)
    await kb.remember(talk, "user", FACTS[1], user_id=node)
    for user in ("ann", node):
        found = await kb.recall(query="tide mill, sofa, Platform Core", user_id=user, limit=10)
        assert {memory.content for memory in found} == {FACTS[0], FACTS[1], FACTS[3]}
    assert len((await kb.export_user("ann"))["messages"]) == 2
    gone = await kb.forget(user_id="ann")
    assert (gone.memories, gone.sessions, gone.users) == (3, 1, 1)
    assert await kb.memories(talk) == []
    assert await traces(kb.client, ["ann", node, *FACTS]) == []


async def test_others_do_not_crowd_out_what_somebody_said(kb: KnowledgeBase) -> None:
    for number in range(20):
        await kb.remember("s", "user", f"The weir, the weir, weir {number}.", user_id="ann")
    await kb.remember("s", "user", "A long time ago there was some weir or other, I believe.", user_id="bob")
    found = await kb.recall(query="weir", limit=1, user_id="bob")
    assert [memory.content[:6] for memory in found] == ["A long"]


async def test_a_session_that_is_forgotten_keeps_summaries_of_what_others_said(kb: KnowledgeBase) -> None:
    for number in range(3):
        await kb.remember("s", "user", f"Ann said this {number}.", user_id="ann")
        await kb.remember("s", "user", f"Bob said that {number}.", user_id="bob")
    assert await kb.compact("s", keep=2)
    await kb.forget(user_id="ann")
    left = ["Bob said that 0. Bob said that 1.", "Bob said that 2."]
    assert [memory.content for memory in await kb.memories("s")] == left


async def test_forgetting_by_memory_session_and_time(kb: KnowledgeBase) -> None:
    ids = [
        await kb.remember("s", "user", fact, timestamp=f"2026-01-0{day}T00:00:00Z") for day, fact in enumerate(FACTS, 1)
    ]
    assert (await kb.forget(memory_id=ids[1])).memories == 1
    assert (await kb.forget(memory_id=ids[1])).memories == 0
    assert (await kb.forget(session_id="s", before="2026-01-03T12:00:00Z")).memories == 2
    assert [memory.id for memory in await kb.memories("s")] == [ids[3]]
    assert (await kb.forget(before="2027-01-01T00:00:00Z")).sessions == 1
    assert await kb.memories("s") == []
    assert (await kb.forget(session_id="s")).sessions == 0
    with pytest.raises(InvalidInputError):
        await kb.forget()


async def test_times_long_ago_are_before_all_others(kb: KnowledgeBase) -> None:
    await kb.remember("s", "user", FACTS[0], timestamp="2026-01-01T00:00:00Z")
    assert (await kb.forget(before="0500-01-01T00:00:00Z")).memories == 0
    await kb.remember("s", "user", FACTS[1], timestamp="0079-08-24T12:00:00Z")
    assert [memory.created_at for memory in await kb.memories("s")][1] == "0079-08-24T12:00:00.000000Z"
    assert (await kb.forget(before="1000-01-01T00:00:00Z")).memories == 1
    assert [memory.content for memory in await kb.memories("s")] == [FACTS[0]]


async def test_compacting_keeps_links_and_the_latest(kb: KnowledgeBase) -> None:
    for number in range(12):
        await kb.remember("s", "user", f"Day {number}: the tide mill turned well and ground the corn.", tags=["mill"])
    summary = await kb.compact("s", keep=4)
    assert summary is not None
    live = await kb.memories("s")
    assert len(live) == 5
    assert [memory.role for memory in live] == ["summary"] + ["user"] * 4
    assert live[0].tags == ("mill",)
    everything = await kb.memories("s", compacted=True)
    assert [memory.compacted_into for memory in everything[:8]] == [summary] * 8
    counts = await kb.client.counts()
    assert counts["edges"]["SUMMARIZES"] == 8
    assert counts["nodes"]["Vector"] == 5
    found = await kb.recall("s", "tide mill corn", limit=20)
    assert {memory.id for memory in found} <= {memory.id for memory in live}
    assert summary in {memory.id for memory in found}
    again = await kb.remember("s", "user", everything[0].content)
    assert again in {memory.id for memory in await kb.memories("s")}
    assert await kb.compact("s", keep=100) is None
    with pytest.raises(NotFoundError):
        await kb.compact("nowhere")
    await kb.forget(session_id="s")
    assert "Interaction" not in (await kb.client.counts())["nodes"]


class OneLine:
    async def summarize(self, texts: object) -> str:
        return "All went well."


async def test_a_summarizer_is_used_where_there_is_one(kb: KnowledgeBase) -> None:
    for fact in FACTS:
        await kb.remember("s", "user", fact)
    await kb.compact("s", keep=1, summarizer=OneLine())
    assert [memory.content for memory in await kb.memories("s")] == ["All went well.", FACTS[3]]


async def test_a_small_session_is_found_among_many_memories(kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recalling, "ALL_TURNS", 5)
    monkeypatch.setattr(recalling, "_FIRST_LOOK", 2)
    for number in range(40):
        await kb.remember(f"big {number % 4}", "user", f"tea tea tea number {number}", user_id="bob")
    for number in range(8):
        await kb.remember(f"ann {number % 2}", "user", f"Ann once mentioned tea, remark {number}", user_id="ann")
    found = await kb.recall(query="tea", limit=4, user_id="ann")
    assert len(found) == 4
    assert all(memory.session_id.startswith("ann") for memory in found)
    assert all(memory.session_id == "ann 1" for memory in await kb.recall("ann 1", "tea", limit=10))


async def test_recall_after_a_change_is_that_of_somebody_who_reads_all_anew(
    kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def change(number: int) -> object:
        match number % 5:
            case 0:
                return await kb.compact("s", keep=4)
            case 1:
                return await kb.remember("s", "user", "Tea and a remark of 2.", tags=[f"tag {number}"])
            case 2:
                return await kb.forget(memory_id=(await kb.memories("s"))[0].id)
            case 3:
                return await kb.client.add_message("s", "", "assistant")  # it has no vector
        return await kb.remember("s", "user", f"The mill and remark {number}.")

    for number in range(8):
        await kb.remember("s", "user", f"Tea and a remark of {number}.")

    async def recalled() -> list[list[tuple[str, float | None]]]:
        return [
            [(memory.id, memory.relevance) for memory in await kb.recall("s", question, limit=50)]
            for question in ("tea remark 2", "the mill", "nothing of it")
        ]

    async def new_recaller(_: MemGraphClient) -> recalling.Recaller:
        return recalling.Recaller()

    for number in range(12):
        own = await recalled()
        with monkeypatch.context() as patch:
            patch.setattr(recalling, "recaller_of", new_recaller)
            assert await recalled() == own
        await change(number)


async def test_recalls_at_once_do_not_take_sessions_from_each_other(
    kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recalling, "_CACHED_TURNS", 6)
    users = [f"user {number}" for number in range(5)]
    for user in users:
        for number in range(4):
            await kb.remember(f"{user}, {number % 2}", "user", f"tea, remark {number}", user_id=user)
    for number in range(6):
        await kb.remember(f"user {number % 5}, 0", "user", f"tea again, remark {number}", user_id=f"user {number % 5}")
        found = await asyncio.gather(*(kb.recall(query="tea", user_id=user, limit=20) for user in users))
        expected = [4 + (number >= position) + (number >= position + 5) for position in range(5)]
        assert [len(memories) for memories in found] == expected


async def test_the_sessions_of_many_namespaces_are_not_all_kept(
    kb: KnowledgeBase, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recalling, "_CACHED_TURNS", 6)
    homes = [kb.in_namespace(engine.namespace()) for _ in range(5)]
    for number, home in enumerate(homes):
        for turn in range(3):
            await home.remember("s", "user", f"Tea of {number}, remark {turn}.")
    gc.freeze()  # what other tests have left is not looked at
    for number, home in enumerate(homes):
        (first, *others) = await home.recall(query="tea")
        assert f"Tea of {number}" in first.content
        assert len(others) == 2
    gc.collect()
    assert len([each for each in gc.get_objects() if isinstance(each, Session)]) == 2


words = st.sampled_from(["tea", "mill", "tide", "lake", "invoice", "budget", "ann", "bob"])
texts = st.lists(words, min_size=1, max_size=6).map(" ".join)


@given(
    st.lists(st.tuples(st.integers(0, 1), st.integers(0, 2), st.integers(0, 1), texts), min_size=1, max_size=12),
    texts,
    st.integers(0, 4),
)
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
async def test_nothing_of_another_session_user_or_namespace_comes_back(
    said: list[tuple[int, int, int, str]], query: str, most: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(recalling, "ALL_TURNS", most)
        async with KnowledgeBase.open("embedded::memory:", namespace="n0", embedder=HashEmbedder()) as kb:
            other = KnowledgeBase(kb.client.in_namespace("n1"), kb.embedder, settings=kb._settings)
            homes = [kb, other]
            expected: dict[tuple[int, int], set[str]] = {}
            for namespace, session, role, content in said:
                identifier = await homes[namespace].remember(
                    f"s{session}", ("user", "assistant")[role], content, user_id=f"u{session % 2}"
                )
                expected.setdefault((namespace, session), set()).add(identifier)
            for namespace, home in enumerate(homes):
                for session in range(3):
                    found = {memory.id for memory in await home.recall(f"s{session}", query, limit=50)}
                    assert found <= expected.get((namespace, session), set())
                for user in range(2):
                    own = {
                        identifier
                        for (place, session), ids in expected.items()
                        if place == namespace and session % 2 == user
                        for identifier in ids
                    }
                    found = {memory.id for memory in await home.recall(query=query, user_id=f"u{user}", limit=50)}
                    assert found <= own
                everything = {i for (place, _), ids in expected.items() if place == namespace for i in ids}
                assert {memory.id for memory in await home.recall(query=query, limit=50)} <= everything


async def test_memories_with_tags_are_searched_alone(kb: KnowledgeBase) -> None:
    await kb.remember("s1", "user", "The boat needs paint.", tags=["todo", "boat"], user_id="ann")
    await kb.remember("s1", "user", "The boat is white.", tags=["boat"], user_id="ann")
    await kb.remember("s2", "user", "Buy oil for the boat.", tags=["todo", "boat"], user_id="bob")
    await kb.remember("s2", "user", "The boat is in the harbour.", user_id="bob")

    async def found(*tags: str, **options: Any) -> list[str]:
        return [memory.content for memory in await kb.recall(query="boat", tags=tags, **options)]

    assert sorted(await found("todo")) == ["Buy oil for the boat.", "The boat needs paint."]
    assert sorted(await found("Boat", "todo")) == sorted(await found("todo"))
    assert sorted(await found("boat", user_id="ann")) == ["The boat is white.", "The boat needs paint."]
    assert await found("todo", session_id="s2", limit=1) == ["Buy oil for the boat."]
    assert await found("harbour") == []
    with pytest.raises(InvalidInputError, match="not one text"):
        await kb.recall(query="boat", tags="todo")


async def test_memories_are_filtered_by_their_metadata(kb: KnowledgeBase) -> None:
    metadata: dict[str, Any] = {"project": "mill", "priority": 2, "topics": ["boat", "oil"]}
    await kb.remember("s1", "user", "Buy oil for the boat.", metadata=metadata, user_id="ann", tags=["todo"])
    await kb.remember("s1", "user", "The boat is white.", metadata={"project": "mill", "priority": 1}, user_id="ann")
    await kb.remember("s2", "user", "The boat needs paint.", metadata={"project": "house"}, user_id="bob")
    await kb.remember("s2", "user", "The boat is in the harbour.", user_id="bob")

    async def found(filters: Any, query: str = "boat", **options: Any) -> list[str]:
        return sorted(memory.content for memory in await kb.recall(query=query, filters=filters, **options))

    assert await found("metadata.project=mill") == ["Buy oil for the boat.", "The boat is white."]
    assert await found({"metadata.project": "mill"}, user_id="bob") == []
    assert await found("metadata.priority>=2 or metadata.project=house", limit=1) != []
    assert await found("metadata.topics:(oil, paint)", query="") == ["Buy oil for the boat."]
    assert await found("metadata.project!=mill", session_id="s2") == [
        "The boat is in the harbour.",
        "The boat needs paint.",
    ]
    assert await found("metadata.project=mill", tags=["todo"]) == ["Buy oil for the boat."]
    assert len(await found("")) == 4
    for wrong, said in (
        ("path:docs/", "'path' is a field of documents"),
        ("metadata.x", "expected one of"),
        (5, "a text"),
    ):
        with pytest.raises(FilterError, match=said):
            await found(wrong)


async def test_without_a_question_the_latest_memories_are_listed(kb: KnowledgeBase) -> None:
    await kb.remember("s1", "user", "First.", user_id="ann", timestamp="2026-01-01T00:00Z")
    await kb.remember("s2", "user", "Third.", tags=["odd"], user_id="ann", timestamp="2026-03-01T00:00Z")
    await kb.remember("s1", "assistant", "Second.", timestamp="2026-02-01T00:00Z")
    await kb.remember("s3", "user", "Another's.", tags=["odd"], user_id="bob", timestamp="2026-02-02T00:00Z")
    await kb.remember("s2", "user", "First.", user_id="ann", timestamp="2026-01-15T00:00Z")

    async def found(**options: Any) -> list[str]:
        return [memory.content for memory in await kb.recall(**options)]

    assert await found(user_id="ann") == ["Third.", "Second.", "First."]
    assert await found(user_id="ann", limit=2) == ["Third.", "Second."]
    assert await found(since="2026-01-20", before="2026-02-15") == ["Another's.", "Second."]
    assert await found(tags=["odd"]) == ["Third.", "Another's."]
    assert await found(session_id="s1", tags=["odd"]) == await found(user_id="nobody") == []
    assert await found(session_id="s1") == ["Second.", "First."]
    assert await found(since="2026-02", before="2026-03") == ["Another's.", "Second."]
    assert await found(since="2027") == []
    assert [memory.relevance for memory in await kb.recall(user_id="bob")] == [None]
    with pytest.raises(InvalidInputError, match="The query is empty: give one, or say whose"):
        await found()
    # A question without its name is taken for a session: no empty list, and no message that asks whose memories.
    for user in (None, "ann"):
        with pytest.raises(InvalidInputError, match=r"^Session 'What did Ann say\?' has no memories, and the query is"):
            await found(session_id="What did Ann say?", user_id=user)


async def test_memories_with_a_tag_are_found_among_very_many(
    kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recalling, "ALL_TURNS", 10)
    monkeypatch.setattr(recalling, "MOST_SESSIONS", 2)
    for number in range(30):
        await kb.remember(f"s{number}", "user", f"Tea {number} with tea and more tea.")
    await kb.remember("last", "user", "A pot of tea.", tags=["wish"])
    assert [memory.content for memory in await kb.recall(query="tea", tags=["wish"])] == ["A pot of tea."]


async def test_tags_in_one_text_are_several() -> None:
    async with KnowledgeBase.open("embedded::memory:") as kb:
        both = await kb.remember("monday", "user", "The ferry to Harrow leaves at nine.", ["Travel", "work"])
        one = await kb.remember("monday", "user", "The kiln is cold on Fridays.", ["work"])
        written = await kb.remember("monday", "user", "The toll is four pounds.", ["work, travel"])
        assert {memory.id for memory in await kb.recall(tags=["travel, work"])} == {both, written}
        assert {memory.id for memory in await kb.recall(tags=["work"])} == {both, one, written}
        assert {memory.id for memory in await kb.recall(query="What of the ferry?", tags=["work,travel"])} >= {both}
        assert await kb.recall(tags=["work, garden"]) == []


async def test_a_list_is_exact_where_very_much_was_said_at_the_same_time() -> None:
    async with KnowledgeBase.open("embedded::memory:") as kb:
        said: list[tuple[str, str]] = []
        for session, day in (("first", "2026-03-02"), ("second", "2026-03-01")):
            notes = [{"role": "user", "content": f"{session} {n}", "timestamp": day} for n in range(150)]
            said += [(day, stored) for stored in await kb.remember_all(session, notes, user_id="ada")]
        wanted = [stored for _, stored in sorted(said, reverse=True)]
        for limit in (1, 5, 149, 150, 151, 400):
            assert [memory.id for memory in await kb.recall(user_id="ada", limit=limit)] == wanted[:limit]
        early = await kb.recall(before="2026-03-02", limit=7)
        assert [memory.id for memory in early] == wanted[150:157]
