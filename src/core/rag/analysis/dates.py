"""Dates in titles, headings and file names: minutes of 2024-05-15 are found by "15 May 2024", "15.05." and "May 2024".

Written in figures and by name, a date has no word in common but its year. So it is one more index word, the same
for all ways of writing it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from core.rag.analysis.months import ANY_MONTH, NUMBERS
from libs.regexes import matched_as, regex

_YEAR: Final = r"(?P<year>(?:19|20)\d\d)"
_OF_YEAR: Final = rf"(?:,?\s+(?:of\s+|del?\s+)?{_YEAR}(?!\d))"
_DAY: Final = r"(?<![\w.,:/-])(?P<day>\d{1,2})(?:\.|st|nd|rd|th|er)?\s+(?:of\s+|de\s+)?"
_DAY_BEHIND: Final = r"\s+(?:the\s+)?(?P<day>\d{1,2})(?:st|nd|rd|th)?(?![\w:/-])"
_MONTH: Final = rf"(?<!\w)(?P<month>{ANY_MONTH})\b\.?"
_PATTERNS: Final = tuple(
    regex(pattern, re.IGNORECASE)
    for pattern in (
        rf"(?<!\d){_YEAR}(?P<sign>[-_./]?)(?P<month>[01]\d)(?P=sign)(?P<day>[0-3]\d)(?!\d)",
        rf"(?<![\d-]){_YEAR}-(?P<month>[01]\d)(?![\d-])",
        rf"(?<![\w.])(?P<day>[0-3]?\d)\.\s?(?P<month>[01]?\d)\.\s?{_YEAR}(?!\d)",
        r"(?<![\w.])(?P<day>[0-3]\d)\.\s?(?P<month>[01]\d)\.(?!\s?\d)",
        rf"(?<![\w/])(?P<day>[0-3]?\d)/(?P<month>[01]?\d)/{_YEAR}(?![\d/])",
        rf"(?<![\w/])(?P<month>[01]?\d)/(?P<day>[0-3]?\d)/{_YEAR}(?![\d/])",
        rf"{_YEAR}年\s?(?P<month>[01]?\d)月(?:\s?(?P<day>[0-3]?\d)日)?",
        rf"{_DAY}{_MONTH}{_OF_YEAR}?",
        rf"{_MONTH}{_DAY_BEHIND}{_OF_YEAR}?",
        rf"{_MONTH}{_OF_YEAR}",
    )
)
#: A folder of a year or of its month, and the day in the name of the file: "2021/board-02-28.md", "2022-03/mar-28".
_IN_FOLDER: Final = regex(
    rf"(?:\A|/){_YEAR}(?:[-_. ]?[01]\d)?/(?:[^/]*/)?[^/]*?(?<![^\W_])(?:"
    rf"(?P<month>[01]\d)[-_.](?P<day>[0-3]\d)(?![\d-])"
    rf"|(?P<named>{ANY_MONTH})[-_. ]{{1,2}}(?P<after>\d{{1,2}})(?!\d)"
    rf"|(?P<before>\d{{1,2}})[-_. ]{{1,2}}(?P<behind>{ANY_MONTH}))"
    rf"(?![^\W_])[^/]*\Z",
    re.IGNORECASE,
)
#: Without one of these, a text has no date; looked for first, as most have none.
_LIKELY: Final = regex(rf"(?:19|20)\d\d|[0-3]\d\.\s?[01]\d\.|\b(?:{ANY_MONTH})\b", re.IGNORECASE)
_LONGEST_NAME: Final = 200
#: Dates of a question; more are data.
_MOST_ASKED: Final = 4


def dates_in(text: str) -> Iterator[tuple[int | None, int, int | None]]:
    """Yield the dates of a text: year (if it is written), month, and day (if it is written).

    Of what may be 5 June or 6 May (5/6/2024), both.
    """
    for _, date in _found(text):
        yield date


def days_of_any_year(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield where a text names a day without its year, and the day: ``05-15``.

    Example:
        >>> list(days_of_any_year("Who came on May 3, and who on 4 May 2024?"))
        [(12, 17, '05-03')]
    """
    for (start, end), (year, month, day) in _found(text):
        if day and not year:
            yield start, end, f"{month:02}-{day:02}"


def _found(text: str) -> Iterator[tuple[tuple[int, int], tuple[int | None, int, int | None]]]:
    for pattern in _PATTERNS if _LIKELY.search(text) is not None else ():
        for found in pattern.finditer(text):
            parts = found.groupdict()
            name, day, year = matched_as(parts["month"]), parts.get("day"), parts.get("year")
            month = int(name) if name.isdigit() else NUMBERS[name]
            if 1 <= month <= 12 and (day is None or 1 <= int(day) <= 31):
                yield found.span(), (int(year) if year else None, month, int(day) if day else None)


@lru_cache(maxsize=4096)
def date_words(name: str) -> tuple[str, ...]:
    """Return the index words for the dates of a title, heading or path: the day, also without its year, and the month.

    Args:
        name: The name; of a longer one than 200 characters, nothing.

    Example:
        >>> date_words("Minutes 2024-05-15")
        ('date20240515', 'date0515', 'date202405')
    """
    words: dict[str, None] = {}
    for year, month, day in dates_in(name) if len(name) <= _LONGEST_NAME else ():
        if year and day:
            words[_word(year, month, day)] = None
        if day:
            words[_word(None, month, day)] = None
        if year:
            words[_word(year, month, None)] = None
    return tuple(words)


def path_dates(path: str) -> tuple[str, ...]:
    """Return the index words for the dates in the name of a file and the folders that it is in.

    Example:
        >>> path_dates("board/2021/minutes-02-28.md")
        ('date20210228', 'date0228', 'date202102')
    """
    end = "/".join(path.split("/")[-3:])
    words, found = date_words(end), _IN_FOLDER.search(end)
    if found is None or any(len(word) == len("date20210228") for word in words):
        return words
    month = found["month"] or found["named"] or found["behind"]
    day = found["day"] or found["after"] or found["before"]
    number = int(month) if month.isdigit() else NUMBERS[matched_as(month)]
    return date_words(f"{found['year']}-{number:02}-{int(day):02}")


def asked_dates(question: str) -> list[str]:
    """Return the index words for the dates that a question names.

    Example:
        >>> asked_dates("Who came on 15 May 2024?"), asked_dates("minutes of May 2024"), asked_dates("am 15.05.")
        (['date20240515'], ['date202405'], ['date0515'])
    """
    dates = dict.fromkeys(dates_in(question))
    # "15 May" of "15 May 2024", and "May 2024", are not asked for by themselves.
    parts = {part for year, month, day in dates if year and day for part in ((None, month, day), (year, month, None))}
    words = [_word(*date) for date in dates if date not in parts]
    return words if len(words) <= _MOST_ASKED else []


def _word(year: int | None, month: int, day: int | None) -> str:
    return f"date{'' if year is None else year}{month:02}{'' if day is None else f'{day:02}'}"
