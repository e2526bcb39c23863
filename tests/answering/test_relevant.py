"""Whether what was found has to do with the question."""

from __future__ import annotations

import pytest

from core.rag.answering.relevant import LENIENT, STRICT, Gate, is_relevant
from core.rag.answering.types import Analysis, FoundEntity, FoundFact, Knowledge
from core.rag.retrieval.hits import Hit

MILL = "The tide mill of Kestrel Bay was built in 1612. Its wheel turns with the ebb and grinds wheat for the villages."


def hit(content: str = MILL, vector: float = 0.0) -> Hit:
    return Hit(
        chunk_id="c", document_id="d", path="mill.md", title="", heading="", content=content, chunk_index=0,
        start_char=0, end_char=len(content), score=1.0, scores={"vector": vector},
    )  # fmt: skip


def asked(question: str, *entities: str, by_model: bool = False) -> Analysis:
    return Analysis(question, entities, "factual", fallback=not entities, by_model=by_model)


@pytest.mark.parametrize("gate", [STRICT, LENIENT])
@pytest.mark.parametrize(
    "question, relevant",
    [
        ("When was the tide mill built?", True),
        ("when does the wheel turn", True),
        ("Is Kestrel Bay nice?", True),
        ("Which enzyme fixes carbon in photosynthesis?", False),
        ("What is the airspeed of an unladen swallow?", False),
        ("Who was Ada Lovelace?", False),
        ("?", False),
        ("🦀", False),
    ],
)
def test_words_and_names_tell(gate: Gate, question: str, relevant: bool) -> None:
    assert is_relevant(asked(question), Knowledge(hits=[hit()]), gate=gate) is relevant


@pytest.mark.parametrize("gate", [STRICT, LENIENT])
def test_a_near_passage_in_other_words_is_relevant(gate: Gate) -> None:
    question = asked("Wann entstand die Anlage?")
    assert is_relevant(question, Knowledge(hits=[hit(vector=0.6)]), gate=gate)
    assert not is_relevant(question, Knowledge(hits=[hit(vector=0.1)]), gate=gate)


def test_a_model_is_asked_later_than_extracts_are_shown() -> None:
    question = asked("how long would one person have to walk through several villages until evening comes")
    found = Knowledge(hits=[hit("From the villages one sees the river.")])
    assert is_relevant(question, found, gate=LENIENT)
    assert not is_relevant(question, found, gate=STRICT)


def test_entities_and_relations_that_the_question_names_are_relevant() -> None:
    alice = FoundEntity("1", "Alice Smith", score=3)
    works = FoundFact("1", "Alice", "2", "Google", "WORKS_FOR", "Alice started in 2020", score=2)
    question = asked("Who is Alice?", "Alice")
    assert is_relevant(question, Knowledge(entities=[alice]), gate=STRICT)
    assert is_relevant(question, Knowledge(facts=[works]), gate=STRICT)
    assert is_relevant(asked("Who is Alise Smith?", "Alise Smith"), Knowledge(entities=[FoundEntity("1", "Alice Smith",
                       similarity=0.6)]), gate=STRICT)  # fmt: skip
    assert not is_relevant(question, Knowledge(entities=[FoundEntity("2", "Bob", score=1)]), gate=STRICT)


def test_a_title_that_is_an_ordinary_word_of_the_question_is_not_enough() -> None:
    heat = Knowledge(entities=[FoundEntity("1", "Heat", score=3)])
    question = "how does heat flow through the wall of a slender cone at hypersonic speed"
    assert not is_relevant(asked(question, "Heat"), heat, gate=STRICT)
    assert is_relevant(asked(question, "Heat", by_model=True), heat, gate=STRICT)
    assert is_relevant(asked("Who directed Heat in the year 1995 with two famous actors?", "Heat"), heat, gate=STRICT)


def test_what_was_said_before_counts_for_a_question_without_words_of_its_own() -> None:
    found = Knowledge(hits=[hit()])
    assert not is_relevant(asked("And why?"), found, gate=STRICT)
    assert is_relevant(asked("And why?"), found, "user: When does the wheel of the mill turn?", STRICT)


def test_nothing_is_not_relevant() -> None:
    assert not is_relevant(asked("When was the tide mill built?"), Knowledge(), gate=LENIENT)
