"""The times that a question names, and the facts that held then."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Final

from core.rag.answering.relative_times import relative_times
from core.rag.answering.types import FoundFact
from core.rag.retrieval.filter_tree import period
from core.rag.times import iso

#: A year of four digits, also with month and day in ISO 8601, that is no part of a larger number or name.
_TIME: Final = re.compile(r"(?<![\w.,:/-])[12]\d{3}(?:-\d{2}(?:-\d{2})?)?(?![\w/-]|[.,:]\d)")

#: What stands before a time from which on something is asked.
_SINCE: Final = re.compile(r"\b(?:since|seit|depuis|desde)\s+(?:(?:the|dem|der|el|la|le)\s+|l['’])?\Z", re.IGNORECASE)


def times_asked(question: str, now: datetime | None = None) -> dict[str, tuple[str, str]]:
    """Return the times in a question; by how it names them, their first and last moment.

    Args:
        question: The question. It may name years, months and days as numbers, and as seen from today in English,
            German, French or Spanish; behind "since", the time lasts until now.
        now: The current time; ``None``: that of the clock.

    >>> times_asked("Who owned the mill in 2019?")
    {'2019': ('2019-01-01T00:00:00.000000Z', '2019-12-31T23:59:59.999999Z')}
    """
    now = datetime.now(UTC) if now is None else now
    found = {}
    for place, text, (start, end) in _named(question, now):
        if start < now and _SINCE.search(question, 0, place):
            end = max(end, now)
        found[text] = (iso(start), iso(end - timedelta(microseconds=1)))
    return found


def _named(question: str, now: datetime) -> Iterator[tuple[int, str, tuple[datetime, datetime]]]:
    for match in _TIME.finditer(question):
        if (span := period(match[0])) is not None:
            yield match.start(), match[0], span
    yield from relative_times(question, now)


def of_times_asked(facts: Sequence[FoundFact], question: str, now: datetime | None = None) -> list[FoundFact]:
    """Leave out facts with times that did not hold when a question asks about, if others did that do not hold now.

    A number may also be a name. So facts that hold now stay, unless some are found that held only then.
    """
    now = datetime.now(UTC) if now is None else now
    asked, present = times_asked(question, now).values(), iso(now)

    def held(fact: FoundFact) -> bool:
        return any(fact.period.holds(*span) for span in asked)

    if not any(held(fact) and not fact.period.holds(present, present) for fact in facts):
        return list(facts)
    return [fact for fact in facts if not fact.period or held(fact)]
