"""Answers tell facts that hold, and since when; those of another time only where a question asks for it."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from core.rag import KnowledgeBase
from core.rag.answering.answers import StrategyName
from core.rag.answering.understanding.asked_times import times_asked
from libs.dataloader import Document
from tests.dbhandler.kit import Engine

SOLD = "Ada Lane owns Harrow Mill (from 2018-01-01 until 2021-05-01)"
HERS = "Bob Reed bought Harrow Mill with his wife (since 2021-05-01)."
ALWAYS = "Harrow Mill stands in Wells"


@pytest.fixture
async def mill(engine: Engine) -> AsyncIterator[KnowledgeBase]:
    async with engine.knowledge() as kb:
        await kb.add_triples(
            [
                {
                    "subject": "Ada Lane",
                    "relation": "owns",
                    "object": "Harrow Mill",
                    "valid_from": "2018-01-01",
                    "valid_to": "2021-05-01",
                },
                {
                    "subject": "Bob Reed",
                    "relation": "owns",
                    "object": "Harrow Mill",
                    "fact": "Bob Reed bought Harrow Mill with his wife.",
                    "valid_from": "2021-05-01",
                },
                ("Harrow Mill", "stands_in", "Wells"),
            ]
        )
        yield kb


@pytest.mark.parametrize("strategy", ["flow", "drift"])
@pytest.mark.parametrize(
    ("question", "told", "untold"),
    [
        ("Who owns Harrow Mill?", HERS, SOLD),
        ("Who owned Harrow Mill in 2019?", SOLD, HERS),
        ("Who owned Harrow Mill on 2021-04-30?", SOLD, HERS),
        ("Who owned Harrow Mill in 2021-05?", HERS, SOLD),
        ("Who owned Harrow Mill before May 2021?", SOLD, HERS),
        ("Who owned Harrow Mill between 2015 and 2018?", SOLD, HERS),
        ("Who owned Harrow Mill after June 1, 2021?", HERS, SOLD),
        ("Who owned Harrow Mill in 2999?", HERS, SOLD),
        ("Who owned Harrow Mill in 1801?", HERS, SOLD),
    ],
)
async def test_what_holds_is_told_unless_a_question_asks_for_another_time(
    mill: KnowledgeBase, question: str, told: str, untold: str, strategy: StrategyName
) -> None:
    answer = await mill.ask(question, strategy=strategy)
    assert answer.found
    assert told in answer.text and untold not in answer.text
    period = told[told.index("(") : told.index(")") + 1]
    assert period in answer.context and untold[untold.index("(") :] not in answer.context
    (fact,) = [fact for fact in answer.facts if fact.type == "owns"]
    assert f"({fact.period})" == period


async def test_both_owners_of_a_year_are_told(mill: KnowledgeBase) -> None:
    text = (await mill.ask("Who owned Harrow Mill in 2021?")).text
    assert SOLD in text and HERS in text


async def test_what_has_no_times_is_told_of_every_year(mill: KnowledgeBase) -> None:
    for question in ("Where does Harrow Mill stand?", "Where did Harrow Mill stand in 2019?"):
        assert ALWAYS in (await mill.ask(question)).text


async def test_the_last_change_is_seen_at_once(mill: KnowledgeBase) -> None:
    assert HERS in (await mill.ask("Who owns Harrow Mill?")).text
    assert await mill.unlink("Bob Reed", "Harrow Mill", ended="2024-01-01") == 1
    answer = await mill.ask("Who owns Harrow Mill?")
    assert "Bob" not in answer.text and "Ada" not in answer.text
    await mill.link("Bob Reed", "Harrow Mill", "owns", valid_from="2025-01-01")
    assert "Bob Reed owns Harrow Mill (since 2025-01-01)" in (await mill.ask("Who owns Harrow Mill?")).text


async def test_what_is_only_known_of_other_times_is_no_answer(engine: Engine) -> None:
    async with engine.knowledge() as kb:
        await kb.ingest(Document("mill.md", "Harrow Mill turns with the ebb, and belongs to Ada Lane."))
        await kb.link("Ada Lane", "Tide Café", "runs", valid_from="2019", create=True)
        assert (await kb.ask("Who runs Tide Café?")).found
        await kb.unlink("Ada Lane", "Tide Café", ended="2023-01-01")
        now, then = await kb.ask("Who runs Tide Café?"), await kb.ask("Who ran Tide Café in 2020?")
    assert not now.found
    assert then.found
    assert "- Ada Lane runs Tide Café (from 2019-01-01 until 2023-01-01)" in then.text


async def test_an_overview_tells_what_holds(engine: Engine) -> None:
    async with engine.knowledge() as kb:
        text = "In Wells, Ada Lane wrote of Harrow Mill, and of {}."
        await kb.ingest(Document(f"{place}.md", text.format(place)) for place in ("Bath", "Hull", "York"))
        await kb.link("Ada Lane", "Harrow Mill", "owns", fact="She has the mill.", valid_from="2018-01-01")
        await kb.link("Ada Lane", "Wells", "lives_in", fact="She has a house there.", valid_to="2018-01-01")
        context = (await kb.ask("What are these documents about?", strategy="overview")).context
    assert "She has the mill (since 2018-01-01)" in context and "She has a house there" not in context


@pytest.mark.parametrize(
    ("question", "times"),
    [
        ("Who owned it in 2019?", ["2019"]),
        ("Who, on 2019-06-01, or in 2020-02, owned it?", ["2019-06-01", "2020-02"]),
        ("What does chapter 2019.3 of RFC-2822 say of 12019 and 2019/5?", []),
        ("Was there a 2019-13-45?", []),
        ("Who was it in 3019, 2,019 or 1e2019?", []),
    ],
)
def test_years_and_dates_are_told_from_other_numbers(question: str, times: list[str]) -> None:
    assert list(times_asked(question)) == times
