"""Why a memory was recalled: its own words, tags or meaning, or what was said right before or after it."""

from __future__ import annotations

import pytest

from core.rag import KnowledgeBase, RecallReason

TALK = (
    ("user", "Which wifi password does the harbour office use?"),
    ("assistant", "hunter2"),
    ("user", "The ferry leaves at noon."),
    ("user", "Invoices are sent on the first Monday."),
    ("user", "The cat sleeps on the red sofa."),
)


async def reasons(kb: KnowledgeBase, query: str, **options: object) -> dict[str, RecallReason | None]:
    return {memory.content: memory.because for memory in await kb.recall(query=query, limit=10, **options)}  # type: ignore[arg-type]


async def test_an_answer_is_recalled_because_it_stands_near_its_question(kb: KnowledgeBase) -> None:
    question, *_ = [await kb.remember("s", role, text) for role, text in TALK]
    found = await reasons(kb, "harbour wifi password")
    assert found[TALK[0][1]] == RecallReason("words")
    assert found["hunter2"] == RecallReason("near", question)
    [asked, answer, *_] = await kb.recall(query="harbour wifi password")
    assert answer.to_dict()["because"] == {"reason": "near", "memoryId": asked.id}
    assert asked.to_dict()["because"] == {"reason": "words", "memoryId": None}


async def test_who_said_it_and_tags_are_reasons_of_its_own(kb: KnowledgeBase) -> None:
    await kb.remember("s", "Marlene", "We meet on Tuesday.")
    await kb.remember("t", "user", "It was agreed upon.", tags=["budget"])
    assert (await reasons(kb, "Marlene"))["We meet on Tuesday."] == RecallReason("words")
    assert (await reasons(kb, "the budget"))["It was agreed upon."] == RecallReason("tags")


async def test_what_shares_no_word_is_recalled_for_its_meaning() -> None:
    async with KnowledgeBase.open("embedded::memory:") as kb:
        await kb.remember("s", "user", "The cat sleeps on the sofa.")
        assert await reasons(kb, "kitten") == {"The cat sleeps on the sofa.": RecallReason("meaning")}


async def test_what_does_not_count_itself_can_be_what_another_one_stands_near_to(kb: KnowledgeBase) -> None:
    question = await kb.remember("s", *TALK[0], timestamp="2026-01-01")
    await kb.remember("s", *TALK[1], timestamp="2026-02-01")
    found = await reasons(kb, "harbour wifi password", since="2026-01-15")
    assert found == {"hunter2": RecallReason("near", question)}


async def test_another_session_is_not_near(kb: KnowledgeBase) -> None:
    await kb.remember("s", *TALK[0])
    await kb.remember("t", "assistant", "The wifi is slow today.")
    found = await reasons(kb, "harbour office wifi password")
    assert found["The wifi is slow today."] == RecallReason("words")


async def test_a_list_has_no_reasons(kb: KnowledgeBase) -> None:
    await kb.remember("s", "user", "The ferry leaves at noon.", tags=["ferry"])
    assert [memory.because for memory in await kb.recall(tags=["ferry"])] == [None]
    [memory] = await kb.memories("s")
    assert memory.because is None and memory.to_dict()["because"] is None


@pytest.mark.parametrize(
    ("asked", "answer", "query"),
    [
        ("How did you get into painting?", "A friend gave me some advice.", "Who brought Evan to painting?"),
        ("你是怎么开始画水彩画的？", "有个朋友给了我一些建议。", "谁建议你画水彩画？"),
    ],
)
async def test_the_answer_to_a_question_comes_before_what_only_asks(
    kb: KnowledgeBase, asked: str, answer: str, query: str
) -> None:
    for role, text in (("Sam", "The ferry leaves at noon."), ("Sam", asked), ("Evan", answer), TALK[3], TALK[4]):
        await kb.remember("s", role, text)
    assert [memory.content for memory in await kb.recall(query=query, limit=2)] == [answer, asked]


async def test_who_asks_something_does_not_answer_it_in_the_next_message(kb: KnowledgeBase) -> None:
    talk = (("user", "ann", "Does the harbour have wifi?"), ("user", "ann", "I arrive on Monday."))
    for role, person, text in (*talk, ("user", "bob", "Does the office have tea?"), ("user", "eva", "It has none.")):
        await kb.remember("s", role, text, user_id=person)
    assert next(iter(await reasons(kb, "harbour wifi"))) == talk[0][2]
    assert next(iter(await reasons(kb, "office tea"))) == "It has none."


async def test_a_question_that_is_asked_again_comes_after_what_answers_it(kb: KnowledgeBase) -> None:
    await kb.remember("monday", "user", "I live in Jena, near the river.")
    for session in ("tuesday", "wednesday"):
        await kb.remember(session, "user", "Who works on Platform Core?")
        await kb.remember(session, "assistant", "Bob Smith and two others do.")
        await kb.remember(session, "user", "Where do I live?")
        await kb.remember(session, "assistant", "One moment, please.")
    found = [memory.content for memory in await kb.recall(query="Who works on Platform Core?")]
    assert found.index("Bob Smith and two others do.") < found.index("Who works on Platform Core?")
    found = [memory.content for memory in await kb.recall(query="Where do I live?")]
    assert found.index("I live in Jena, near the river.") < found.index("Where do I live?")
