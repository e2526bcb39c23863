"""Questions with times as seen from today."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from core.rag.answering.types import FoundFact
from core.rag.answering.understanding.asked_times import of_times_asked
from core.rag.times import iso
from tests.answering.times import NOW, days


@pytest.mark.parametrize(
    ("first", "last", "questions"),
    [
        (
            "2025-01-01",
            "2025-12-31",
            [
                "Who owned the mill last year?",
                "Wem gehörte die Mühle letztes Jahr?",
                "Wem gehörte sie im vergangenen Jahr?",
                "À qui appartenait le moulin l'année dernière ?",
                "Et l’an passé ?",
                "¿De quién era el molino el año pasado?",
                "Who owned it one year ago?",
                "Wem gehörte sie vor einem Jahr?",
                "Il y a un an ?",
                "¿Hace un año?",
            ],
        ),
        ("2024-01-01", "2024-12-31", ["Two years\nago?", "vor 2 Jahren?", "il y a deux ans ?", "hace dos años?"]),
        ("2026-01-01", "2026-12-31", ["This year?", "Dieses Jahr?", "In diesem Jahr?", "Cette année ?", "¿Este año?"]),
        ("2026-02-01", "2026-02-28", ["last month?", "letzten Monat?", "le mois dernier ?", "el mes pasado?"]),
        ("2025-12-01", "2025-12-31", ["3 months ago?", "vor drei Monaten?", "il y a 3 mois ?", "hace tres meses?"]),
        ("2026-03-01", "2026-03-31", ["this month?", "diesen Monat?", "ce mois-ci ?", "este mes?", "in March?"]),
        ("2025-10-01", "2025-12-31", ["last quarter?", "letztes Quartal?", "le trimestre dernier ?"]),
        ("2026-01-01", "2026-03-31", ["this quarter?", "in diesem Quartal?", "ce trimestre ?", "este trimestre?"]),
        ("2026-02-12", "2026-03-13", ["in the last 30 days?", "in den letzten 30 Tagen?", "les 30 derniers jours ?"]),
        (
            "2026-02-28",
            "2026-03-13",
            ["the past two weeks?", "in den letzten zwei Wochen?", "en las últimas 2 semanas?"],
        ),
        ("2025-12-14", "2026-03-13", ["the last 3 months?", "die letzten drei Monate?", "los últimos tres meses?"]),
        ("2024-03-14", "2026-03-13", ["the previous 2 years?", "die letzten zwei Jahre?", "les 2 dernières années ?"]),
        ("2026-03-02", "2026-03-08", ["last week?", "letzte Woche?", "la semaine dernière ?", "la semana pasada?"]),
        ("2026-03-09", "2026-03-15", ["this week?", "diese Woche?", "cette semaine ?", "esta semana?"]),
        ("2026-03-13", "2026-03-13", ["today?", "heute?", "aujourd'hui ?", "aujourd’hui ?", "hoy?"]),
        (
            "2026-03-12",
            "2026-03-12",
            ["Yesterday?", "Gestern?", "À qui était le moulin hier ?", "¿Ayer?", "a day ago?"],
        ),
        ("2026-03-11", "2026-03-11", ["The day before yesterday?", "Vorgestern?", "avant-hier ?", "anteayer?"]),
        ("2025-05-01", "2025-05-31", ["In May?", "Im Mai?", "En mai ?", "¿En mayo?"]),
        ("2025-05-01", "2026-03-13", ["Since May?", "Seit Mai?", "Depuis mai ?", "¿Desde mayo?"]),
        (
            "2025-01-01",
            "2026-03-13",
            ["since last year", "seit letztem Jahr", "depuis l'an dernier", "desde el año pasado"],
        ),
        ("2019-01-01", "2026-03-13", ["Who has owned it since 2019?", "Seit 2019?", "Depuis 2019 ?", "¿Desde 2019?"]),
    ],
)
def test_times_as_seen_from_today(first: str, last: str, questions: list[str]) -> None:
    assert {question: days(question) for question in questions} == {key: [(first, last)] for key in questions}


@pytest.mark.parametrize(
    "question",
    [
        "Who owned it in the last year of the war?",
        "Wem gehörte sie im letzten Jahr des Krieges?",
        "Wer arbeitet hier in der Mühle?",
        "When does the march begin, and what may it cost?",
        "How many years, months and days is it?",
        "What happened in the last years, a long time ago?",
        "Is this an example, or this a yearbook?",
        "Who owned it 999 years before, and 9999 years ago?",
        "What is yesterdays.py?",
    ],
)
def test_what_is_no_time(question: str) -> None:
    assert days(question) == []


def test_a_month_with_a_year_is_that_of_no_other_year() -> None:
    assert days("Who owned it in May 2020?") == [("2020-05-01", "2020-05-31")]


@pytest.mark.parametrize(
    ("now", "question", "first", "last"),
    [
        ("2026-01-01T00:00", "yesterday", "2025-12-31", "2025-12-31"),
        ("2026-01-31T00:00", "last month", "2025-12-01", "2025-12-31"),
        ("2024-02-29T23:59", "a year ago", "2023-01-01", "2023-12-31"),
        ("2026-12-31T23:59", "this month", "2026-12-01", "2026-12-31"),
    ],
)
def test_the_ends_of_years_and_months(now: str, question: str, first: str, last: str) -> None:
    assert days(question, datetime.fromisoformat(now).replace(tzinfo=UTC)) == [(first, last)]


@pytest.mark.parametrize(
    ("now", "day"), [("2026-03-01T00:30+02:00", "2026-02-28"), ("2026-02-28T22:30-07:00", "2026-02-27")]
)
def test_yesterday_is_that_of_whoever_asks(now: str, day: str) -> None:
    assert days("yesterday", datetime.fromisoformat(now)) == [(day, day)]


def test_before_all_dates_there_is_none() -> None:
    assert days("999 years ago", datetime(500, 1, 1, tzinfo=UTC)) == []
    assert days("999 months ago", datetime(50, 1, 1, tzinfo=UTC)) == []


def test_who_owned_it_last_year_is_told_from_what_held_then() -> None:
    sold = datetime(2025, 7, 1, tzinfo=UTC)
    former = FoundFact("a", "Ada", "m", "Mill", "owns", "", valid_to=iso(sold))
    present = FoundFact("b", "Bob", "m", "Mill", "owns", "", valid_from=iso(sold + timedelta(days=365)))
    assert of_times_asked([former, present], "Who owned it last year?", NOW + timedelta(days=200)) == [former]
    assert of_times_asked([former, present], "Who owned it last week?", NOW + timedelta(days=200)) == [former, present]
