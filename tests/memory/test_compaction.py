"""Where a summary stands, what it stands for, and what others may do meanwhile."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Sequence
from itertools import pairwise
from typing import Any

import pytest

from core.rag import KnowledgeBase
from core.rag.errors import StoreConflictError, StoreUnavailableError
from core.rag.memory.compaction import TRIES
from core.rag.memory.forgetting import traces


class Joined:
    """The texts themselves, without who said them; somebody may do something meanwhile."""

    def __init__(self, meanwhile: Callable[[], Awaitable[object]] | None = None) -> None:
        self.calls = 0
        self._meanwhile = meanwhile

    async def summarize(self, texts: Sequence[str]) -> str:
        self.calls += 1
        if self._meanwhile is not None:
            await self._meanwhile()
        return "(" + " ".join(text.partition(": ")[2] for text in texts) + ")"


async def say(kb: KnowledgeBase, *numbers: int) -> list[str]:
    return [await kb.remember("s", "user", str(number)) for number in numbers]


async def live(kb: KnowledgeBase, **how: Any) -> list[str]:
    return [memory.content for memory in await kb.memories("s", **how)]


async def check_order(kb: KnowledgeBase) -> list[str]:
    """One chain through all messages in the order of their numbers, of which no two are the same."""
    messages = await kb.client.get_conversation_messages("s")
    numbers = [message["sequence"] for message in messages]
    assert all(a < b for a, b in pairwise(numbers))
    rows = await kb.client.read(
        "MATCH (a:Interaction)-[:FOLLOWS]->(b:Interaction) WHERE a.namespace = $namespace RETURN a.id AS a, b.id AS b"
    )
    assert sorted((row["b"], row["a"]) for row in rows) == sorted(pairwise(message["id"] for message in messages))
    row = await kb.client.find_conversation("s")
    assert row is not None
    assert row["message_count"] == len(messages)
    recent = await kb.client.recent_messages("s", 100)
    assert [message["id"] for message in recent] == [message["id"] for message in messages]
    return [message["content"] for message in messages]


async def test_a_summary_stands_where_that_stood_which_it_replaces(kb: KnowledgeBase) -> None:
    await say(kb, *range(1, 7))
    await kb.compact("s", keep=3, summarizer=Joined())
    assert await live(kb) == ["(1 2 3)", "4", "5", "6"]
    assert await live(kb, limit=3) == ["4", "5", "6"]
    assert await check_order(kb) == ["1", "2", "3", "(1 2 3)", "4", "5", "6"]
    assert await kb.compact("s", keep=3, summarizer=Joined()) is None
    await say(kb, *range(7, 13))
    await kb.compact("s", keep=3, summarizer=Joined())
    assert await live(kb) == ["((1 2 3) 4 5 6 7 8 9)", "10", "11", "12"]
    await kb.compact("s", keep=2, summarizer=Joined())
    assert await live(kb) == ["(((1 2 3) 4 5 6 7 8 9) 10)", "11", "12"]
    assert (await check_order(kb))[-3:] == ["(((1 2 3) 4 5 6 7 8 9) 10)", "11", "12"]
    await kb.compact("s", keep=0, summarizer=Joined())
    assert await live(kb) == ["((((1 2 3) 4 5 6 7 8 9) 10) 11 12)"]
    await say(kb, 13)
    assert (await check_order(kb))[-2:] == ["((((1 2 3) 4 5 6 7 8 9) 10) 11 12)", "13"]


async def test_what_is_said_again_goes_into_the_next_summary(kb: KnowledgeBase) -> None:
    await say(kb, 1, 2, 3, 4, 5)
    await kb.compact("s", keep=2, summarizer=Joined())
    await say(kb, 1)
    assert await live(kb) == ["(1 2 3)", "4", "5", "1"]
    await kb.compact("s", keep=2, summarizer=Joined())
    assert await live(kb) == ["((1 2 3) 4)", "5", "1"]
    await kb.compact("s", keep=0, summarizer=Joined())
    assert await live(kb) == ["(((1 2 3) 4) 5 1)"]
    await check_order(kb)


async def test_what_is_said_again_is_the_last_that_was_said(kb: KnowledgeBase) -> None:
    homes = [f"I live in {town}." for town in ("Ulm", "Jena", "Graz", "Ulm", "Ulm", "Jena", "Ulm")]
    for day, home in enumerate(homes, 1):
        await kb.remember("s", "user", home, timestamp=f"2026-03-{day:02d}")
    assert await check_order(kb) == ["I live in Graz.", "I live in Jena.", "I live in Ulm."]
    await kb.remember("s", "user", "I live in Graz.", timestamp="2026-03-03")  # the same once more: nothing new
    assert await live(kb, limit=2) == ["I live in Jena.", "I live in Ulm."]
    summary = await kb.compact("s", keep=1, summarizer=Joined())
    assert await live(kb) == ["(I live in Graz. I live in Jena.)", "I live in Ulm."]
    [stands, _] = await kb.memories("s")
    assert (stands.id, stands.created_at) == (summary, (await kb.memories("s", compacted=True))[1].last_said_at)
    await kb.forget(memory_id=stands.id)
    assert await check_order(kb) == ["I live in Graz.", "I live in Jena.", "I live in Ulm."]


async def test_a_summary_without_the_memory_behind_it_goes_and_all_is_as_before(kb: KnowledgeBase) -> None:
    ids = await say(kb, 1, 2, 3, 4)
    await kb.compact("s", keep=1, summarizer=Joined())
    await kb.forget(memory_id=ids[3])
    assert await check_order(kb) == ["1", "2", "3", "(1 2 3)"]
    await kb.forget(memory_id=ids[0])
    assert await live(kb) == await check_order(kb) == ["2", "3"]


async def test_what_is_forgotten_meanwhile_is_in_no_summary(kb: KnowledgeBase) -> None:
    ids = await say(kb, 1, 2, 3, 4, 5)
    joined = Joined(lambda: kb.forget(memory_id=ids[1]))
    await kb.compact("s", keep=2, summarizer=joined)
    assert joined.calls == 2
    assert await live(kb) == ["(1 3)", "4", "5"]
    await check_order(kb)


async def test_what_others_compact_meanwhile_is_not_said_twice(kb: KnowledgeBase) -> None:
    await say(kb, 1, 2, 3, 4, 5)
    joined = Joined(lambda: kb.compact("s", keep=3, summarizer=Joined()))
    await kb.compact("s", keep=2, summarizer=joined)
    assert await live(kb) == ["((1 2) 3)", "4", "5"]
    await check_order(kb)


async def test_memories_that_change_all_the_time_are_left(kb: KnowledgeBase) -> None:
    await say(kb, *range(10))

    async def forget_the_first() -> None:
        await kb.forget(memory_id=(await kb.memories("s"))[0].id)

    joined = Joined(forget_the_first)
    with pytest.raises(StoreConflictError):
        await kb.compact("s", keep=2, summarizer=joined)
    assert joined.calls == TRIES
    assert await live(kb) == await check_order(kb) == [str(number) for number in range(TRIES, 10)]


async def test_writers_and_compaction_at_once_keep_one_chain(kb: KnowledgeBase) -> None:
    await say(kb, *range(8))
    await asyncio.gather(
        *(kb.remember("s", "user", f"later {number}") for number in range(6)),
        *(kb.compact("s", keep=4, summarizer=Joined()) for _ in range(2)),
        *(kb.client.add_message("s", f"added {number}", "assistant") for number in range(6)),
    )
    there = await check_order(kb)
    for said in (*map(str, range(8)), *(f"{what} {number}" for what in ("later", "added") for number in range(6))):
        assert there.count(said) == 1


async def test_what_a_forgotten_summary_stood_for_comes_back(kb: KnowledgeBase) -> None:
    await say(kb, *range(1, 7))
    summary = await kb.compact("s", keep=3, summarizer=Joined())
    assert summary is not None
    assert (await kb.forget(memory_id=summary)).memories == 1
    assert await live(kb) == ["1", "2", "3", "4", "5", "6"]
    assert [memory.content for memory in await kb.recall("s", "2", limit=1)] == ["2"]
    inner = await kb.compact("s", keep=4, summarizer=Joined())
    outer = await kb.compact("s", keep=2, summarizer=Joined())
    assert outer is not None
    assert (await kb.forget(memory_id=outer)).memories == 1
    assert await live(kb) == ["(1 2)", "3", "4", "5", "6"]
    assert inner in {memory.id for memory in await kb.recall("s", "1", limit=9)}


async def test_a_summary_is_of_one_person_as_the_memories_were(kb: KnowledgeBase) -> None:
    said = {"ann": ("I like titanium spoons.", "I like iridium cups."), "bob": ("I like bismuth forks.", "I hate tin.")}
    for mine, guests in zip(*said.values(), strict=True):
        await kb.remember("s", "user", mine, user_id="ann")
        await kb.remember("s", "user", guests, user_id="bob")
        await kb.remember("s", "assistant", f"Noted: {mine}")
    await kb.remember("s", "user", "I am Cid.", user_id="cid")
    last = await kb.compact("s", keep=0, sentences=9)
    assert await live(kb) == [
        "I like bismuth forks. I hate tin.",
        "I like titanium spoons. Noted: I like titanium spoons. I like iridium cups. Noted: I like iridium cups.",
        "I am Cid.",
    ]
    assert await check_order(kb)
    assert await kb.compact("s", keep=0, sentences=9) is None
    for person, own in said.items():
        found = await kb.recall(user_id=person, query="What do I like and hate?", limit=9)
        assert [all(remark in memory.content for remark in own) for memory in found] == [True]
        exported = str(await kb.export_user(person))
        assert [what in exported for what in ("titanium", "bismuth")] == [person == "ann", person == "bob"]
    await kb.forget(user_id="bob")
    assert [memory.id for memory in (await kb.memories("s"))[:-1]] == [last]
    assert await traces(kb.client, ["bob", "bismuth", "tin."]) == []


async def test_remarks_without_a_full_stop_stay_apart(kb: KnowledgeBase) -> None:
    for remark in ("I live in Paris", "I moved to Berlin", "Dr. Weber called. It rains!", "bye"):
        await kb.remember("s", "user", remark)
    await kb.compact("s", keep=0, sentences=9)
    assert await live(kb) == ["I live in Paris\nI moved to Berlin\nDr. Weber called. It rains! bye"]


@pytest.mark.parametrize("sentences", [3, 40])
async def test_a_summary_of_very_much_is_about_all_of_it(kb: KnowledgeBase, sentences: int) -> None:
    for day in range(12):
        await kb.remember("s", "user", " ".join(f"On day {day} train {day}x{n} came late." for n in range(100)))
    await kb.compact("s", keep=0, sentences=sentences)
    (summary,) = await live(kb)
    days = [int(said.split()[2]) for said in summary.split(". ")]
    assert len(days) == sentences
    assert days == sorted(days)
    assert {day // 4 for day in days} == {0, 1, 2}


async def test_what_people_say_of_themselves_is_in_a_summary_though_nothing_else_is_like_it(kb: KnowledgeBase) -> None:
    said = ["I am allergic to nuts.", "Our budget ends on 12 May.", "Ich wohne jetzt in Jena."]
    turns = []
    for number in range(12):
        turns += [
            ("user", f"Which mills stand by river {number}?"),
            ("assistant", f"Several mills stand by river {number}. The oldest mill by river {number} grinds wheat."),
            ("user", f"I wonder what the mills by river {number} grind."),
            ("user", said[number // 4])
            if number % 4 == 1
            else ("assistant", f"The mills by river {number} grind rye."),
        ]
    await kb.client.create_conversation(conversation_id="s")
    for role, text in turns:
        await kb.client.add_message("s", text, role)
    await kb.compact("s", keep=4)
    [summary] = [memory.content for memory in await kb.memories("s") if memory.role == "summary"]
    assert all(sentence in summary for sentence in said)


async def test_the_last_memories_reach_beyond_what_a_summary_stands_for(kb: KnowledgeBase) -> None:
    await say(kb, 1)
    await kb.remember("s", "user", "Hi.", user_id="bob")  # of one remark there is no summary
    await say(kb, *range(2, 41))
    await kb.compact("s", keep=0, summarizer=Joined())
    await say(kb, 41, 42)
    everything = await live(kb)
    assert [content[-3:] for content in everything] == ["Hi.", "40)", "41", "42"]
    for limit in (1, 2, 3, 4, 5, 10**30):
        assert await live(kb, limit=limit) == everything[-limit:]


async def test_what_is_summarised_while_it_is_forgotten_is_gone(
    kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = await say(kb, *range(1, 5))
    summaries_of = kb.client.summaries_of

    async def until_others_compact(*args: Any) -> list[str]:
        monkeypatch.undo()
        found = await summaries_of(*args)
        await kb.compact("s", keep=1, summarizer=Joined())
        return found

    monkeypatch.setattr(kb.client, "summaries_of", until_others_compact)
    assert (await kb.forget(memory_id=ids[1])).memories == 2
    assert await live(kb) == ["1", "3", "4"]
    assert [memory.content for memory in await kb.recall("s", "3", limit=1)] == ["3"]


async def test_what_ends_while_it_forgets_has_forgotten_all_or_nothing(
    kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = await say(kb, *range(1, 5))
    await kb.compact("s", keep=1, summarizer=Joined())
    before = await live(kb)
    write, written = kb.client._write, 0

    async def dies(work: Any) -> Any:
        nonlocal written
        written += 1
        if written > 1:
            raise StoreUnavailableError("The server is gone.")
        return await write(work)

    monkeypatch.setattr(kb.client, "_write", dies)
    with contextlib.suppress(StoreUnavailableError):
        await kb.forget(memory_id=ids[1])
    monkeypatch.undo()
    assert await live(kb) in (before, ["1", "3", "4"])


async def test_the_order_of_a_session_is_that_of_storing_and_recall_goes_by_time(kb: KnowledgeBase) -> None:
    now = await kb.remember("s", "user", "I live in Jena.", timestamp="2026-02-01")
    then = await kb.remember("s", "user", "I live in Graz.", timestamp="2026-01-01")
    assert [memory.id for memory in await kb.memories("s")] == [now, then]
    assert [memory.id for memory in await kb.recall("s", "Where do I live?")] == [now, then]
    assert [memory.id for memory in await kb.recall("s", "Where do I live?", before="2026-01-15")] == [then]
    assert (await kb.forget(before="2026-01-15")).memories == 1
    for day in (3, 2, 1):
        await kb.remember("s", "user", str(day), timestamp=f"2025-01-0{day}")
    await kb.compact("s", keep=2, summarizer=Joined())
    assert await check_order(kb) == ["I live in Jena.", "3", "(I live in Jena. 3)", "2", "1"]
