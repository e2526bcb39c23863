"""Years, months and days in figures and by name ("2019-06", "5 May 2019", "15.3.2019", "the 1990s")."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Final

from core.rag.analysis.months import ANY_MONTH, NUMBERS
from core.rag.times import span_of
from libs.regexes import matched_as, regex

#: No part of a larger number or name.
_FREE: Final = r"(?<![\w.,:/-])"
_END: Final = r"(?![\w/-]|[.,:]\d)"
_YEAR: Final = r"[12]\d{3}"

_FIGURES: Final = regex(rf"{_FREE}{_YEAR}(?:-\d{{2}}(?:-\d{{2}})?)?{_END}")
_DOTTED: Final = regex(rf"{_FREE}(?P<day>\d{{1,2}})\.\s?(?P<month>\d{{1,2}})\.\s?(?P<year>{_YEAR}){_END}")
_BY_NAME: Final = regex(
    rf"{_FREE}(?:(?P<day>\d{{1,2}})(?:\.|st|nd|rd|th|er)?\s+(?:of\s+|de\s+)?)?(?P<month>{ANY_MONTH})\b\.?"
    rf"(?:\s+(?P<day_behind>\d{{1,2}})(?:st|nd|rd|th)?)?,?\s+(?:of\s+|del?\s+)?(?P<year>{_YEAR}){_END}",
    re.IGNORECASE,
)
_DAY: Final = r"\d{1,2}(?:\.|st|nd|rd|th|er)?"
#: Two times of which only the second has a year: "between January and March 2024", "3-10 May 2024".
_SHARING: Final = regex(
    rf"{_FREE}(?P<first>(?:(?P<day>{_DAY})\s+(?:of\s+|de\s+)?)?(?P<month>{ANY_MONTH})\b\.?(?:\s+(?P<behind>{_DAY}))?"
    rf"|(?P<only>{_DAY}))(?:(?P<dash>\s?[-–—]\s?)|\s+(?:and|to|until|till|through|und|bis|et|y|à|au|al?|hasta)\s+)"
    rf"(?:(?:the|zum|den|el|le)\s+)?(?:(?P<last_day>{_DAY})\s+(?:of\s+|de\s+)?)?(?P<last_month>{ANY_MONTH})\b\.?"
    rf"(?:\s+(?P<last_behind>{_DAY}))?,?\s+(?:of\s+|del?\s+)?(?P<year>{_YEAR}){_END}",
    re.IGNORECASE,
)
_DECADE: Final = regex(
    rf"{_FREE}(?:(?P<behind>[12]\d{{2}})0(?:s|er)|(?:années|años)\s+(?P<before>[12]\d{{2}})0){_END}", re.IGNORECASE
)
_QUARTER: Final = regex(
    rf"{_FREE}(?:Q(?P<number>[1-4])|(?:(?P<digit>[1-4])(?:\.|st|nd|rd|th|er|e|º)?"
    r"|(?P<first>first|erste[ns]?|premier|primer)|(?P<second>second|zweite[ns]?|deuxième|segundo)"
    r"|(?P<third>third|dritte[ns]?|troisième|tercer)|(?P<fourth>fourth|last|vierte[ns]?|quatrième|cuarto))"
    rf"\s+(?:quarter|quartal|trimestre))(?:\s*[/,-])?\s*(?:of\s+|del?\s+)?(?P<year>{_YEAR}){_END}"
    rf"|{_FREE}(?P<year_before>{_YEAR})[\s-]?Q(?P<behind>[1-4]){_END}",
    re.IGNORECASE,
)
_YEARS: Final = regex(rf"{_FREE}(?P<first>{_YEAR})\s?[-–—]\s?(?P<last>{_YEAR}){_END}")


#: A time in a text: its place, how it is written, and its start and end (exclusive).
type WrittenTime = tuple[int, str, tuple[datetime, datetime]]


def outermost(times: Iterable[WrittenTime]) -> Iterator[WrittenTime]:
    """Yield times in the order of their places, without those that are parts of others: the year of a day."""
    reached = 0
    for place, written, span in sorted(times, key=lambda time: (time[0], -len(time[1]))):
        if place >= reached:
            yield place, written, span
            reached = place + len(written)


def written_times(question: str) -> Iterator[WrittenTime]:
    """Yield the times in a question, some of which may be parts of others."""
    for match in _FIGURES.finditer(question):
        yield from _time(match, match[0])
    for match in _DOTTED.finditer(question):
        yield from _time(match, f"{match['year']}-{match['month']:0>2}-{match['day']:0>2}")
    for match in _BY_NAME.finditer(question):
        day = match["day"] or match["day_behind"]
        month = f"{match['year']}-{NUMBERS[matched_as(match['month'])]:02}"
        yield from _time(match, f"{month}-{day:0>2}" if day else month)
    for match in _SHARING.finditer(question):
        yield from _sharing(match)
    for match in _QUARTER.finditer(question):
        yield from _quarter(match)
    for match in _DECADE.finditer(question):
        decade = match["behind"] or match["before"]
        yield from _time(match, f"{decade}0", f"{decade}9")
    for match in _YEARS.finditer(question):
        yield from _time(match, match["first"], match["last"])


def _sharing(match: re.Match[str]) -> Iterator[WrittenTime]:
    """Yield the first of two times that share a year, or all that is between them behind a dash."""
    day, last_day = match["day"] or match["behind"] or match["only"], match["last_day"] or match["last_behind"]
    if (day is None) != (last_day is None):
        return
    last_month = NUMBERS[matched_as(match["last_month"])]
    month = NUMBERS[matched_as(match["month"])] if match["month"] else last_month
    first = _written(int(match["year"]) - (month > last_month), month, day)  # November to February
    last = _written(int(match["year"]), last_month, last_day)
    start, end = span_of(first), span_of(last)
    if start is None or end is None or start[0] >= end[0]:
        return
    if match["dash"]:
        yield match.start(), match[0], (start[0], end[1])
    else:
        yield match.start(), match["first"], start


def _quarter(match: re.Match[str]) -> Iterator[WrittenTime]:
    by_name = next((i for i, name in enumerate(("first", "second", "third", "fourth"), 1) if match[name]), 0)
    number = by_name or int(match["number"] or match["digit"] or match["behind"])
    year = int(match["year"] or match["year_before"])
    yield from _time(match, _written(year, 3 * number - 2, None), _written(year, 3 * number, None))


def _written(year: int, month: int, day: str | None) -> str:
    return f"{year}-{month:02}" + (f"-{int(''.join(filter(str.isdecimal, day))):02}" if day else "")


def _time(match: re.Match[str], first: str, last: str | None = None) -> Iterator[WrittenTime]:
    """Yield from the start of the first to the end of the last one, if these are dates in this order."""
    start, end = span_of(first), span_of(last or first)
    if start is not None and end is not None and start[0] < end[1]:
        yield match.start(), match[0], (start[0], end[1])
