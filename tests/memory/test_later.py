"""What was said later about the same as the statement that fits a question best comes right behind it."""

from __future__ import annotations

from datetime import date, timedelta

import pytest

from core.rag import KnowledgeBase, RecallReason

TALK = (
    "The weather was awful today, rain from morning to night.",
    "I baked a loaf of sourdough and it came out dense.",
    "The neighbours had a barbecue and it smelled great.",
    "My back hurts from sitting all day.",
    "I finally repaired the squeaky door.",
    "The train was late again, forty minutes.",
    "I need to buy a present for a colleague.",
    "The pull request for the pagination got approved.",
    "The printer jams whenever I print double-sided.",
    "I ran five kilometres this morning.",
)
CHANGES = (
    ("I live in Hamburg.", "I moved to Berlin last weekend.", "Where do I live?"),
    ("My girlfriend is called Sofia.", "Sofia and I broke up, I'm seeing Marta now.", "What is my girlfriend's name?"),
    ("The billing service is called ledgerd.", "We renamed ledgerd to coinbox.", "What is the billing service called?"),
    ("Logging is done with log4j.", "We replaced log4j with logback.", "What do we log with?"),
    ("Mein Hausarzt ist Dr. Krämer.", "Dr. Krämer ist in Rente, ich gehe nun zu Dr. Yildiz.", "Wer ist mein Hausarzt?"),
    ("Mon médecin est M. Morel.", "M. Morel est parti, je vois désormais M. Haddad.", "Qui est mon médecin ?"),
)


async def said(kb: KnowledgeBase, *turns: tuple[str, str], between: int = 5) -> list[str]:
    """The ids of what was said by whom, with so much of other talk before, between and after, on following days."""
    ids, day = [], date(2026, 1, 1)
    for user, text in [*turns, ("", "")]:
        for other in TALK[:between]:
            day += timedelta(days=1)
            await kb.remember(f"{day:%Y-%m}", "user", f"{other} ({day})", user_id="ada", timestamp=day)
        if text:
            day += timedelta(days=1)
            ids.append(await kb.remember(f"{day:%Y-%m}, {user}", "user", text, user_id=user, timestamp=day))
    return ids


@pytest.mark.parametrize(("before", "after", "question"), CHANGES)
async def test_what_was_said_later_about_the_same_comes_next(before: str, after: str, question: str) -> None:
    async with KnowledgeBase.open("embedded::memory:") as kb:
        earlier, later = await said(kb, ("ada", before), ("ada", after), between=10)
        first, second, *rest = await kb.recall(query=question, user_id="ada", limit=5)
        assert (first.id, second.id) == (earlier, later)
        assert second.because == RecallReason("later", earlier)
        relevances = [memory.relevance for memory in (first, second, *rest)]
        assert relevances == sorted(relevances, key=lambda one: one or 0, reverse=True)
        assert [memory.content for memory in await kb.recall(query=question, user_id="ada", limit=1)] == [before]


@pytest.mark.parametrize("again", ["Lately I only drink rooibos tea.", "Lately I only drink green tea."])
async def test_of_changes_in_a_row_the_last_comes_next(again: str) -> None:
    async with KnowledgeBase.open("embedded::memory:") as kb:
        turns = ("My favourite tea is Earl Grey.", "Lately I only drink green tea.", again)
        earlier, _, last = await said(kb, *(("ada", text) for text in turns), between=10)
        first, second = (await kb.recall(query="What is my favourite tea?", user_id="ada", limit=5))[:2]
        assert (first.id, second.id) == (earlier, last)
        assert second.because == RecallReason("later", earlier)


async def test_it_is_the_same_person_who_says_it_later_and_in_the_period_that_is_asked_for() -> None:
    before, after, question = CHANGES[0]
    async with KnowledgeBase.open("embedded::memory:") as kb:
        earlier, later = await said(kb, ("ada", before), ("bob", after))
        found = {memory.id: memory.because for memory in await kb.recall(query=question, limit=20)}
        assert found.get(later) != RecallReason("later", earlier)
    async with KnowledgeBase.open("embedded::memory:") as kb:
        earlier, later = await said(kb, ("ada", before), ("ada", after))
        until = await kb.recall(query=question, user_id="ada", before="2026-01-09", limit=5)
        assert until[0].id == earlier and later not in {memory.id for memory in until}
    async with KnowledgeBase.open("embedded::memory:") as kb:
        _, last = await said(kb, ("ada", after), ("ada", before))
        assert all(memory.because != RecallReason("later", last) for memory in await kb.recall(query=question))


async def test_what_nothing_replaced_has_nothing_behind_it() -> None:
    async with KnowledgeBase.open("embedded::memory:") as kb:
        (home,) = await said(kb, ("ada", "I live in Hamburg."), between=10)
        first, *rest = await kb.recall(query="Where do I live?", user_id="ada")
        assert first.id == home
        assert all(memory.because is None or memory.because.reason != "later" for memory in rest)
