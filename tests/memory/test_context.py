"""Who said it and when are words to find a memory by, and a language model may write summaries."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from core.rag import KnowledgeBase
from core.rag.errors import LanguageModelError
from core.rag.llm.openai_model import OpenAICompatibleModel
from core.rag.memory.dates import days_named
from core.rag.memory.recall import speaker_words
from core.rag.times import here_and_now
from tests.dbhandler.kit import Engine, make_settings
from tests.embedders import HashEmbedder
from tests.fakes.openai_chat import Chat, Stream
from tests.fakes.openai_server import OpenAIServer

#: A Wednesday.
NOW = datetime(2026, 4, 8, 12, tzinfo=UTC)


async def test_who_said_it_is_a_word_to_find_it_by(engine: Engine) -> None:
    async with engine.knowledge() as kb:
        speakers = ("Caroline", "Melanie", "Nina", "Oscar", "Paula", "Quentin")
        for speaker in speakers:
            await kb.remember("s", speaker, "The garden is green.")
        for speaker in speakers:
            [found] = await kb.recall("s", f"What did {speaker} say about the garden?", limit=1)
            assert found.role == speaker
    assert speaker_words("user") == speaker_words("assistant") == ()


async def test_the_day_is_a_word_to_find_it_by(engine: Engine) -> None:
    async with engine.knowledge() as kb:
        for month, year in ((1, 2024), (3, 2025), (7, 2026)):
            await kb.remember(
                f"s{month}", "user", "We talked about the garden.", timestamp=f"{year}-0{month}-04T10:00:00Z"
            )
        [found] = await kb.recall(query="the garden, in March 2025", limit=1)
        assert found.session_id == "s3"


@pytest.mark.parametrize(
    "asked",
    [
        "on April 8",
        "on the 8th of April",
        "on 8 April 2026",
        "2026-04-08",
        "am 8. April",
        "le 8 avril",
        "el 8 de abril",
    ],
)
async def test_a_day_finds_what_was_said_on_it(engine: Engine, asked: str) -> None:
    async with engine.knowledge() as kb:
        for month, day in ((4, 7), (4, 8), (5, 8)):
            said = f"2026-0{month}-0{day}T10:00:00Z"
            await kb.remember("s", f"speaker {month} {day}", "We talked about the garden.", timestamp=said)
        found = await kb.recall("s", f"the garden, {asked}")
    assert found[0].created_at.startswith("2026-04-08")
    assert days_named(asked, NOW) == ["4/8"]


@pytest.mark.parametrize("said", ["2026-04-08T23:30:00-07:00", "2026-04-08T00:30:00+02:00"])
async def test_the_day_is_that_of_whoever_said_it(engine: Engine, said: str) -> None:
    """In UTC, it was another one."""
    async with engine.knowledge() as kb:
        for month, day in ((4, 7), (4, 9), (5, 8)):
            time = f"2026-0{month}-0{day}T10:00:00Z"
            await kb.remember("s", f"speaker {month} {day}", "We talked about the garden.", timestamp=time)
        await kb.remember("s", "she", "We talked about the garden.", user_id="ann", timestamp=said)
        found = await kb.recall("s", "the garden, on 8 April 2026")
        assert found[0].role == "she"
        await kb.anonymize(user_id="ann")
        assert (await kb.recall("s", "the garden, on 8 April 2026"))[0].role == "she"


async def test_what_was_said_twice_is_found_by_both_days(engine: Engine) -> None:
    async with engine.knowledge() as kb:
        for day in (8, 9, 10):
            await kb.remember(
                "s", f"speaker {day}", "We talked about the garden.", timestamp=f"2026-04-{day:02}T10:00:00Z"
            )
        await kb.remember("s", "speaker 8", "We talked about the garden.", timestamp="2026-05-02T10:00:00Z")
        await kb.remember("s", "speaker 3", "We talked about the garden.", timestamp="2026-05-03T10:00:00Z")
        for asked in ("8 April", "2 May"):
            assert (await kb.recall("s", f"the garden, on {asked}"))[0].role == "speaker 8"


@pytest.mark.parametrize("question", ["Who has 2 cats?", "2. What is it?", "May I have 2?", "2026-13-02", "March 2025"])
async def test_a_number_alone_is_no_day(engine: Engine, question: str) -> None:
    assert days_named(question, NOW) == []
    async with engine.knowledge() as kb:
        await kb.remember("s", "user", "It rains.", timestamp="2026-04-02T10:00:00Z")
        await kb.remember("s", "user", "Somebody has 2 cats.", timestamp="2026-04-05T10:00:00Z")
        found = await kb.recall("s", question)
    for_words = [memory.content for memory in found if memory.because and memory.because.reason in ("words", "later")]
    assert for_words != ["It rains."]


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ("What did I say yesterday?", ["4/7"]),
        ("Was habe ich vor zwei Tagen gesagt?", ["4/6"]),
        ("What happened last week?", ["2026/w14"]),
        ("¿Qué dije el mes pasado?", ["march", "2026"]),
        ("What did we plan two years ago?", ["2024"]),
        ("What shall I cook today?", []),
        ("What is planned this week, in March?", []),
    ],
)
async def test_times_that_have_passed_as_seen_from_now_are_words(asked: str, words: list[str]) -> None:
    assert days_named(asked, NOW) == words


async def test_yesterday_finds_what_was_said_yesterday(engine: Engine) -> None:
    async with engine.knowledge() as kb:
        now = here_and_now()
        for days in (12, 1, 4):
            said = (now - timedelta(days=days)).isoformat()
            await kb.remember("s", "user", f"I ran {days} miles along the river.", timestamp=said)
        [first, *_] = await kb.recall("s", "How many miles did I run yesterday?")
        assert first.content == "I ran 1 miles along the river."


def model(server: OpenAIServer) -> OpenAICompatibleModel:
    values: dict[str, Any] = {"OPENAI_API_KEY": "sk-test", "OPENAI_BASE_URL": server.url}
    return OpenAICompatibleModel("m", settings=make_settings(**values))


async def test_a_language_model_writes_the_summary_where_there_is_one() -> None:
    async with OpenAIServer() as server:
        chat = Chat(server)
        chat.then("Bob leads Platform Core. The mill turns with the ebb.")
        async with KnowledgeBase.open("embedded::memory:", embedder=HashEmbedder(), language_model=model(server)) as kb:
            for number, fact in enumerate(("Bob leads Platform Core.", "The mill turns with the ebb.", "Bye.")):
                await kb.remember("s", ("user", "assistant")[number % 2], fact)
            summary = await kb.compact("s", keep=1)
            memories = await kb.memories("s")
            assert [(memory.role, memory.content) for memory in memories] == [
                ("summary", "Bob leads Platform Core. The mill turns with the ebb."),
                ("user", "Bye."),
            ]
            assert memories[0].id == summary
            [body] = chat.bodies
            assert "user: Bob leads Platform Core." in body["messages"][-1]["content"]


@pytest.mark.parametrize("failed", ["", Stream(["Bob leads"], finish_reason="length")])
async def test_a_part_without_a_whole_summary_replaces_nothing(failed: str | Stream) -> None:
    async with OpenAIServer() as server:
        chat = Chat(server)
        async with KnowledgeBase.open("embedded::memory:", embedder=HashEmbedder(), language_model=model(server)) as kb:
            for number in range(2):
                await kb.remember("s", "user", f"Remark {number}: {'so it goes, ' * 4_000}the end.")
            chat.then("The first part.", failed, failed)
            with pytest.raises(LanguageModelError, match="m wrote no whole summary"):
                await kb.compact("s", keep=0)
            assert len(await kb.memories("s")) == 2
            chat.then("The first part.", failed, "The second part.")  # it needs more tokens than others
            chat.bodies.clear()
            await kb.compact("s", keep=0)
            first, *_, second = (body["messages"][-1]["content"] for body in chat.bodies)
            assert (first + second).count("the end.") == 2
            assert [memory.content for memory in await kb.memories("s")] == ["The first part.\nThe second part."]
            assert [body["max_tokens"] for body in chat.bodies[-2:]] == [120, 4_000]
