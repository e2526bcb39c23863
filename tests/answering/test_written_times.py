"""Questions with times in figures and by name, and with words that reach beyond them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.rag.answering.types import FoundFact
from core.rag.answering.understanding.asked_times import of_times_asked, times_asked
from tests.answering.times import NOW, days

EVER = "0001-01-01"


@pytest.mark.parametrize(
    ("first", "last", "questions"),
    [
        (
            "2020-05-01",
            "2020-05-31",
            [
                "Who owned it in May 2020?",
                "in may of 2020",
                "In May, 2020?",
                "Wem gehörte sie im Mai 2020?",
                "en mai 2020 ?",
                "¿En mayo de 2020?",
                "¿mayo del 2020?",
            ],
        ),
        (
            "2024-01-01",
            "2024-03-31",
            [
                "between January and March 2024?",
                "from Jan to Mar 2024",
                "January-March 2024",
                "in Q1 2024",
                "Q1/2024",
                "2024-Q1",
                "in the first quarter of 2024",
                "zwischen Januar und März 2024",
                "im 1. Quartal 2024",
                "au premier trimestre de 2024",
                "entre enero y marzo de 2024",
            ],
        ),
        ("2023-11-01", "2024-02-29", ["from November to February 2024"]),
        (
            "2024-05-03",
            "2024-05-10",
            ["from 3 to 10 May 2024", "3-10 May 2024", "between May 3 and May 10, 2024", "vom 3. bis 10. Mai 2024"],
        ),
        ("2019-09-01", "2019-09-30", ["in Sept. 2019", "Sep 2019?", "septembre 2019"]),
        (
            "2020-05-05",
            "2020-05-05",
            [
                "Who owned it on 5 May 2020?",
                "on May 5, 2020?",
                "on May 5th 2020",
                "on the 5th of May 2020",
                "am 5. Mai 2020?",
                "am 5.5.2020?",
                "am 05.05.2020",
                "am 5. 5. 2020",
                "le 5 mai 2020 ?",
                "¿El 5 de mayo de 2020?",
            ],
        ),
        ("2020-01-01", "2020-01-01", ["le 1er janvier 2020"]),
        (
            "1990-01-01",
            "1999-12-31",
            ["in the 1990s?", "in den 1990er Jahren", "dans les années 1990", "los años 1990"],
        ),
        (
            "2015-01-01",
            "2018-12-31",
            [
                "Who owned it between 2015 and 2018?",
                "from 2015 to 2018",
                "from 2015 until 2018",
                "since 2015 until the year 2018",
                "in 2015-2018",
                "in 2015 – 2018",
                "zwischen 2015 und 2018",
                "von 2015 bis 2018",
                "entre 2015 et 2018",
                "entre 2015 y 2018",
                "de 2015 à 2018",
                "de 2015 a 2018",
            ],
        ),
        ("2015-05-01", "2018-06-03", ["between May 2015 and 3 June 2018?", "vom Mai 2015 bis zum 3.6.2018"]),
        (EVER, "2018-12-31", ["Who owned it before 2019?", "vor 2019", "avant 2019", "antes de 2019", "until 2018"]),
        (EVER, "2018-12-31", ["bis 2018", "jusqu'en 2018", "hasta 2018", "prior to 2019", "before January 2019"]),
        (EVER, "2024-12-31", ["before last year", "vor dem letzten Jahr", "avant l'an dernier"]),
        ("2020-01-01", "2026-03-13", ["Who owned it after 2019?", "nach 2019", "après 2019", "después de 2019"]),
        ("2020-01-01", "2026-03-13", ["ab 2020", "seit dem Jahr 2020", "à partir de 2020", "since the year 2020"]),
    ],
)
def test_times_in_figures_and_by_name(first: str, last: str, questions: list[str]) -> None:
    assert {question: days(question) for question in questions} == {key: [(first, last)] for key in questions}


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("In 2015 and 2018?", [("2015-01-01", "2015-12-31"), ("2018-01-01", "2018-12-31")]),
        ("May 2019, June 2020?", [("2019-05-01", "2019-05-31"), ("2020-06-01", "2020-06-30")]),
        ("between 2018 and 2015", [("2015-01-01", "2015-12-31"), ("2018-01-01", "2018-12-31")]),
        ("between 2015 and 2016, or in 2018", [("2015-01-01", "2016-12-31"), ("2018-01-01", "2018-12-31")]),
        ("between 2015 and the mill", [("2015-01-01", "2015-12-31")]),
        ("the mill and 2015", [("2015-01-01", "2015-12-31")]),
        ("on 31 February 2020", [("2020-01-01", "2020-12-31")]),
        ("after 2050", [("2050-01-01", "2050-12-31")]),
        ("In May?", [("2025-05-01", "2025-05-31")]),
        ("the mill may cost 2000 pounds in 2020s style", [("2000-01-01", "2000-12-31"), ("2020-01-01", "2029-12-31")]),
    ],
)
def test_times_apart(question: str, expected: list[tuple[str, str]]) -> None:
    assert days(question) == expected


@pytest.mark.parametrize(
    "question",
    ["What is version 1.5.2020.3?", "Part 2018-2015?", "the mayor 20201", "Who came before Ada, after Bob?", "2019er"],
)
def test_what_is_none(question: str) -> None:
    assert days(question) == []


def test_before_and_after_are_told_from_what_held_then() -> None:
    first = FoundFact("a", "Ada", "m", "Mill", "owns", "", valid_to="2015-01-01T00:00:00.000000Z")
    second = FoundFact("b", "Bob", "m", "Mill", "owns", "", valid_from=first.valid_to, valid_to="2020-01-01")
    third = FoundFact("c", "Cid", "m", "Mill", "owns", "", valid_from="2020-01-01")
    facts = [first, second, third]
    assert of_times_asked(facts, "Who owned the mill before 2015?", NOW) == [first]
    assert of_times_asked(facts, "Who owned the mill until 2015?", NOW) == [first, second]
    assert of_times_asked(facts, "Who owned the mill between 2014 and 2016?", NOW) == [first, second]
    assert of_times_asked(facts, "Who owned the mill after 2016?", NOW) == [second, third]


PIECES = """
2015 2018 0000 May mai 5 31. 1.2.2019 2019-02 2015-2018 1990s between and from to von bis before after since the vor
letztes Jahr two years ago in , ? yesterday
"""


@given(st.lists(st.sampled_from(PIECES.split()), max_size=10))
def test_any_question_has_times_with_a_beginning_and_an_end(pieces: list[str]) -> None:
    question = " ".join(pieces)
    for text, (first, last) in times_asked(question, NOW).items():
        assert text in question
        assert first <= last
