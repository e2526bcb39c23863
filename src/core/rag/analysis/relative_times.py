"""Times as seen from today ("last year", "vor zwei Monaten", "hier"), in English, German, French and Spanish."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Final

from core.rag.analysis.language import detect_language
from core.rag.analysis.months import MONTHS
from core.rag.analysis.numerals import FROM_TWO
from libs.regexes import matched_as

#: Numbers as words, by what they count; the articles are one.
_COUNTS: Final = dict.fromkeys("a an one ein eine einem einer un une una".split(), 1) | {
    word: count for count, words in enumerate(zip(*FROM_TWO.values(), strict=False), 2) for word in words if count <= 10
}
_COUNT: Final = rf"(?P<count>\d{{1,3}}|{'|'.join(_COUNTS)})"

#: Patterns of years, months and weeks, by how many of them have passed since. ("The last year of the war" is none.)
_PASSED: Final = {
    0: (
        r"this (?:(?P<year>year)|(?P<quarter>quarter)|(?P<month>month)|(?P<week>week))",
        r"diese[smnr]? (?:(?P<year>jahr(?:es)?)|(?P<quarter>quartals?)|(?P<month>monat(?:e?s)?)|(?P<week>woche))",
        r"(?:(?P<year>cette année)|(?P<quarter>ce trimestre)|(?P<month>ce mois)|(?P<week>cette semaine))",
        r"(?:(?P<year>este año)|(?P<quarter>este trimestre)|(?P<month>este mes)|(?P<week>esta semana))",
    ),
    1: (
        r"last (?:(?P<year>year)|(?P<quarter>quarter)|(?P<month>month)|(?P<week>week))(?! of\b)",
        r"(?:letzt|vorig|vergangen)e[smnr]? "
        r"(?:(?P<year>jahr(?:es)?)|(?P<quarter>quartals?)|(?P<month>monat(?:e?s)?)|(?P<week>woche))"
        r"(?! (?:de[sr]|vor)\b)",
        r"(?:(?P<year>année|an)|(?P<quarter>trimestre)|(?P<month>mois)|(?P<week>semaine)) (?:dernier|dernière|passée?)",
        r"(?:(?P<year>año)|(?P<quarter>trimestre)|(?P<month>mes)|(?P<week>semana)) pasad[oa]",
    ),
}
_AGO: Final = (
    rf"{_COUNT} (?:(?P<year>years?)|(?P<month>months?)|(?P<week>weeks?)|(?P<day>days?)) ago",
    rf"vor {_COUNT} (?:(?P<year>jahr(?:en)?)|(?P<month>monat(?:en)?)|(?P<week>wochen?)|(?P<day>tag(?:en)?))",
    rf"il y a {_COUNT} (?:(?P<year>ans?|années?)|(?P<month>mois)|(?P<week>semaines?)|(?P<day>jours?))",
    rf"hace {_COUNT} (?:(?P<year>años?)|(?P<month>mes(?:es)?)|(?P<week>semanas?)|(?P<day>días?))",
)
#: Some time until now, in days or more.
_LATELY: Final = (
    rf"(?:last|past|previous) {_COUNT} (?:(?P<year>years)|(?P<month>months)|(?P<week>weeks)|(?P<day>days))(?! of\b)",
    rf"(?:letzt|vergangen)en {_COUNT} (?:(?P<year>jahren?)|(?P<month>monaten?)|(?P<week>wochen)|(?P<day>tagen?))",
    rf"{_COUNT} derni(?:ers|ères) (?:(?P<year>ans|années)|(?P<month>mois)|(?P<week>semaines)|(?P<day>jours))",
    rf"últim[oa]s {_COUNT} (?:(?P<year>años)|(?P<month>meses)|(?P<week>semanas)|(?P<day>días))",
)
_DAYS: Final = {
    day: passed
    for passed, days in enumerate(
        (
            ("today", "heute", "aujourd'hui", "aujourd’hui", "hoy"),
            ("yesterday", "gestern", "hier", "ayer"),
            ("the day before yesterday", "vorgestern", "avant-hier", "anteayer"),
        )
    )
    for day in days
}
_HERE: Final = "hier"  # in German


def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(rf"\b{pattern}\b".replace(" ", r"\s+"), re.IGNORECASE)


_PHRASES: Final = [
    (passed, _compiled(pattern)) for passed, patterns in ((None, _AGO), *_PASSED.items()) for pattern in patterns
]
_UNTIL_NOW: Final = [_compiled(pattern) for pattern in _LATELY]
_DAY: Final = _compiled(f"(?:{'|'.join(sorted(_DAYS, key=len, reverse=True))})")
#: A month behind a preposition, and without a year or day behind it.
_MONTH: Final = _compiled(
    rf"(?:in|im|en|since|seit|depuis|desde) (?P<name>{'|'.join(MONTHS)})\b(?!,? (?:\d|(?:of|del?) \d))"
)


def relative_times(question: str, now: datetime) -> Iterator[tuple[int, str, tuple[datetime, datetime]]]:
    """Yield the times that a question names as seen from now: place, text, and start and end (exclusive).

    Whole years, quarters, months, weeks (from Monday) or days: "two years ago" is the whole year. A month without a
    year is the last one of the name that has begun. "The last 30 days" are today and those before it.
    """
    for passed, phrase in _PHRASES:
        for match in phrase.finditer(question):
            count = _number(match["count"]) if passed is None else passed
            if (span := _span(match.lastgroup or "", count, now)) is not None:
                yield match.start(), match[0], span
    for phrase in _UNTIL_NOW:
        for match in phrase.finditer(question):
            if (span := _until_now(match.lastgroup or "", _number(match["count"]), now)) is not None:
                yield match.start(), match[0], span
    for match in _DAY.finditer(question):
        if matched_as(match[0]) == _HERE and detect_language(question.split()) != "french":
            continue
        day = " ".join(matched_as(match[0]).split())
        if (span := _span("day", _DAYS[day], now)) is not None:
            yield match.start(), match[0], span
    for match in _MONTH.finditer(question):
        if (span := _span("month", (now.month - MONTHS[matched_as(match["name"])]) % 12, now)) is not None:
            yield match.start("name"), match["name"], span


def _number(text: str) -> int:
    return int(text) if text.isdigit() else _COUNTS[matched_as(text)]


def _span(unit: str, passed: int, now: datetime) -> tuple[datetime, datetime] | None:
    """Return the start and end of a year, month, week or day; ``None`` if it is before all dates."""
    today = now.replace(hour=0, minute=0, second=0, microsecond=0)
    try:
        if unit == "year":
            start = today.replace(year=today.year - passed, month=1, day=1)
            return start, start.replace(year=start.year + 1)
        if unit == "month":
            return _month(today, passed), _month(today, passed - 1)
        if unit == "quarter":
            first = _month(today, 3 * passed + (today.month - 1) % 3)
            return first, _month(first, -3)
        days = 7 if unit == "week" else 1
        start = today - timedelta(days=days * passed + (today.weekday() if unit == "week" else 0))
        return start, start + timedelta(days=days)
    except (ValueError, OverflowError):
        return None


def _until_now(unit: str, count: int, now: datetime) -> tuple[datetime, datetime] | None:
    """Return some days, weeks, months or years up to the end of today; ``None`` if they begin before all dates."""
    tomorrow = now.replace(hour=0, minute=0, second=0, microsecond=0) + timedelta(days=1)
    try:
        if unit in {"day", "week"}:
            return tomorrow - timedelta(days=count * (7 if unit == "week" else 1)), tomorrow
        first = _month(tomorrow, 12 * count if unit == "year" else count)
        return first + timedelta(days=tomorrow.day - 1), tomorrow  # of a shorter month, some days later
    except (ValueError, OverflowError):
        return None


def _month(today: datetime, passed: int) -> datetime:
    year, month = divmod(12 * today.year + today.month - 1 - passed, 12)
    return today.replace(year=year, month=month + 1, day=1)
