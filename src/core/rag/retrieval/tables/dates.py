"""Dates as people and programs write them into tables, read as ISO 8601, which sorts and compares."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date
from functools import lru_cache
from typing import Any, Final

from core.rag.analysis.months import ANY_MONTH, NUMBERS
from core.rag.retrieval.tables.values import DATE, fields_of
from libs.regexes import matched_as, regex

_YEAR: Final = r"(?P<year>[12]\d{3})"
_WEEKDAY: Final = r"(?:[^\W\d_]{2,10}\.?,?\s+)?"
_NAME: Final = rf"(?P<month>{ANY_MONTH})\b\.?"
_TIME: Final = (
    r"(?:(?:,?\s+(?:at\s+|um\s+)?|T)(?P<hour>\d{1,2}):(?P<minute>\d\d)(?::(?P<second>\d\d)(?:[.,]\d+)?)?"
    r"(?:\s*(?P<half>[ap])\.?m\.?)?(?:\s*(?P<zone>Z|UTC|GMT|[+-]\d\d:?\d\d))?(?:\s+Uhr)?)?"
)
_CLOCK: Final = r"(?P<hour>\d\d):(?P<minute>\d\d):(?P<second>\d\d)(?:[.,]\d+)?"
#: A day and a month in figures, of which either may be the first.
_EITHER: Final = regex(
    r"(?P<first>\d{1,2})(?:/(?P<last>\d{1,2})/(?:(?P<year>[12]\d{3})|(?P<short>\d\d))"
    rf"|-(?P<last_>\d{{1,2}})-(?P<year_>[12]\d{{3}})){_TIME}",
    re.ASCII | re.IGNORECASE,
)
_CLEAR: Final = tuple(
    regex(pattern + _TIME, re.IGNORECASE)
    for pattern in (
        rf"{_YEAR}(?P<sign>[/.])(?P<month>\d{{1,2}})(?P=sign)(?P<day>\d{{1,2}})",
        rf"(?P<day>\d{{1,2}})\.\s?(?P<month>\d{{1,2}})\.\s?{_YEAR}",
        r"(?P<day>\d\d)\.(?P<month>\d\d)\.(?P<short>\d\d)",
        rf"{_WEEKDAY}(?P<day>\d{{1,2}})(?:\.|st|nd|rd|th|er)?[\s-]+(?:de\s+)?{_NAME},?[\s-]+(?:del?\s+)?"
        rf"(?:{_YEAR}|(?P<short>\d\d))",
        rf"{_WEEKDAY}{_NAME}\s+(?P<day>\d{{1,2}})(?:st|nd|rd|th)?,?\s+{_YEAR}",
        rf"{_NAME}[\s,-]+(?:del?\s+)?{_YEAR}",
        rf"(?P<month>\d\d)/{_YEAR}",
    )
) + tuple(  # as logs have them: "Sun Oct 5 13:55:36 2025", "05/Oct/2025:13:55:36 +0000"
    regex(pattern, re.IGNORECASE)
    for pattern in (
        rf"{_WEEKDAY}{_NAME}\s+(?P<day>\d{{1,2}})\s+{_CLOCK}\s+{_YEAR}",
        rf"(?P<day>\d\d)/{_NAME}/{_YEAR}:{_CLOCK}(?:\s+(?P<zone>[+-]\d\d:?\d\d))?",
    )
)
#: No date is shorter or longer than this; a longer one has more than a date.
_CHARS: Final = range(6, 50)
#: Years of two digits from here on are of the last century, as POSIX has it.
_LAST_CENTURY: Final = 69
_HALF_DAY: Final = 12
_MONTHS: Final = 12


@dataclass(slots=True)
class Dates:
    """How the records of a collection write dates.

    ``3/4/2024`` is in March or in April. One date with a day after the 12th tells for all of them; if there is none, or
    if they do not agree, such dates are texts.
    """

    #: Whether a date of those in which either may be the first has its day there, and its month.
    _firsts: set[bool] = field(default_factory=set)
    _unclear: bool = False

    @property
    def day_first(self) -> bool | None:
        """Whether the day stands before the month; ``None``: it is not known."""
        return next(iter(self._firsts)) if len(self._firsts) == 1 else None

    @property
    def is_waiting(self) -> bool:
        """Whether there was a date that has to be told by another one."""
        return self._unclear and not self._firsts

    def take(self, records: Iterable[Mapping[str, Any]]) -> None:
        """Take note of the dates in some records."""
        for data in records:
            for _, value in fields_of(data):
                for item in value if isinstance(value, list) else (value,):
                    if isinstance(item, str) and len(item) in _CHARS and item[:1].isdecimal():
                        self._take(item)

    def _take(self, text: str) -> None:
        if (found := _EITHER.fullmatch(text)) is not None:
            first, last = int(found["first"]), int(found["last"] or found["last_"])
            self._unclear = True
            if (first > _MONTHS) != (last > _MONTHS):
                self._firsts.add(first > _MONTHS)

    def iso(self, value: Any) -> str | None:
        """Return a date in ISO 8601: its month, day, or time, as far as it is written; ``None``: it is no date.

        Example:
            >>> Dates().iso("15 Mar 2024"), Dates().iso("15.03.2024 9:30"), Dates().iso("March 2024")
            ('2024-03-15', '2024-03-15T09:30:00', '2024-03')
        """
        if not isinstance(value, str) or len(value) not in _CHARS:
            return None
        return value if DATE.fullmatch(value) else _iso(value, self.day_first)


def written_as(records: Iterable[Mapping[str, Any]]) -> Dates:
    """Return how records write dates."""
    dates = Dates()
    dates.take(records)
    return dates


@lru_cache(maxsize=16_384)
def _iso(text: str, day_first: bool | None) -> str | None:
    text = text.strip()
    if day_first is not None and (found := _EITHER.fullmatch(text)):
        first, last = found["first"], found["last"] or found["last_"]
        day, month = (first, last) if day_first else (last, first)
        return _written(found, found["year"] or found["year_"], month, day)
    for pattern in _CLEAR:
        if found := pattern.fullmatch(text):
            parts = found.groupdict()
            return _written(found, parts.get("year"), parts["month"], parts.get("day"))
    return None


def _written(found: re.Match[str], year: str | None, month: str, day: str | None) -> str | None:
    if year is None:
        short = int(found["short"])
        year = str(short + (1900 if short >= _LAST_CENTURY else 2000))
    number = int(month) if month.isdecimal() else NUMBERS[matched_as(month)]
    try:
        there = date(int(year), number, int(day or 1)).isoformat()
    except ValueError:  # the 30th of February
        return None
    return (there if day else there[:7]) + (_time(found) if day else "")


def _time(found: re.Match[str]) -> str:
    """Return the time behind a date, as ISO 8601 has it; empty: there is none."""
    parts = found.groupdict("")
    if not parts.get("hour"):
        return ""
    hour = int(parts["hour"])
    if half := parts.get("half"):
        hour = hour % _HALF_DAY + (_HALF_DAY if half in "pP" else 0)
    zone = parts.get("zone", "").upper()
    return f"T{hour:02}:{parts['minute']}:{parts['second'] or '00'}{'Z' if zone in {'UTC', 'GMT'} else zone}"


#: What dates are grouped by, each from a date in ISO 8601 that is long enough; ``None``: it is not.
UNITS: Final[Mapping[str, Callable[[str], str | None]]] = {
    "year": lambda iso: iso[:4],
    "quarter": lambda iso: f"{iso[:4]}-Q{(int(iso[5:7]) + 2) // 3}" if "01" <= iso[5:7] <= "12" else None,
    "month": lambda iso: iso[:7],
    "week": lambda iso: _week(iso[:10]),
    "day": lambda iso: iso[:10] if len(iso) >= len("2024-03-15") else None,
    "hour": lambda iso: iso[:13].replace(" ", "T") if len(iso) >= len("2024-03-15T09") else None,
}


def _week(day: str) -> str | None:
    try:
        year, week, _ = date.fromisoformat(day).isocalendar()
    except ValueError:  # a month, or no day of the calendar
        return None
    return f"{year}-W{week:02}"
