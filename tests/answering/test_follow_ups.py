"""Follow-up questions whose answer is in the graph alone: a fact that was stated, or a record."""

from __future__ import annotations

import pytest

from core.rag import KnowledgeBase
from core.rag.answering.answers import StrategyName
from libs.dataloader import Document

FACTS = [
    ("Harrow Mill", "owned_by", "Ada Lane"),
    ("Ada Lane", "lives_in", "Rochester"),
    ("Ada Lane", "brother", "Tom Lane"),
    ("Tom Lane", "works_at", "Medway Museum"),
]


async def told(kb: KnowledgeBase, *questions: str, strategy: StrategyName = "auto") -> list[str]:
    """Return the last answer to questions of one conversation, by lines."""
    await kb.ingest(Document(path="mill.md", content="Harrow Mill is a water mill in Kent. Its wheel is new."))
    await kb.add_triples(FACTS)
    for question in questions:
        answer = await kb.ask(question, strategy, "talk")
    return answer.text.splitlines()


@pytest.mark.parametrize(
    ("questions", "statement"),
    [
        (("Who owns Harrow Mill?", "Where does she live?"), "- Ada Lane lives in Rochester"),
        (("Who owns Harrow Mill?", "And her brother?"), "- Ada Lane brother Tom Lane"),
        (
            ("Who owns Harrow Mill?", "And her brother?", "Where does he work?"),
            "- Tom Lane works at Medway Museum",
        ),
        (("Tell me about Ada Lane.", "Where does she live?"), "- Ada Lane lives in Rochester"),
    ],
)
async def test_a_pronoun_finds_facts_of_whom_it_stands_for(questions: tuple[str, ...], statement: str) -> None:
    async with KnowledgeBase.open("embedded::memory:") as kb:
        assert any(statement in line for line in await told(kb, *questions))


async def test_a_pronoun_finds_a_field_of_the_record_of_whom_it_stands_for() -> None:
    async with KnowledgeBase.open("embedded::memory:") as kb:
        await kb.insert("staff", {"name": "Bob Reed", "role": "miller", "city": "Maidstone", "company": "Harrow Mill"})
        lines = await told(kb, "Who is the miller at Harrow Mill?", "In which city is he?")
    assert any("city: Maidstone" in line for line in lines)


async def test_drift_states_facts_of_whom_a_pronoun_stands_for() -> None:
    async with KnowledgeBase.open("embedded::memory:") as kb:
        lines = await told(kb, "Who owns Harrow Mill?", "Where does she live?", strategy="drift")
    assert "- Ada Lane lives in Rochester" in lines


async def test_a_question_with_a_name_of_its_own_is_not_about_who_was_named_before() -> None:
    async with KnowledgeBase.open("embedded::memory:") as kb:
        lines = await told(kb, "Who owns Harrow Mill?", "Where does Tom Lane work, and who is his boss?")
    assert any("Tom Lane works at Medway Museum" in line for line in lines)
    assert not any("Rochester" in line for line in lines)
