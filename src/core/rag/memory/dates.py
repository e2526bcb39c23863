"""The words that find what was said on a day."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from core.rag.analysis import index_terms
from core.rag.analysis.months import MONTHS, SHORT_MONTHS

_NUMBERS: Final = SHORT_MONTHS | MONTHS
#: In English, as the first ones of the list are.
_WORDS: Final = tuple(MONTHS)[:12]
_NAMES: Final = "|".join(sorted(_NUMBERS, key=len, reverse=True))
_DAY: Final = r"(?<![\w.,:/-])(?P<day>\d{1,2})(?:\.|st|nd|rd|th|er)?"
_DAY_BEHIND: Final = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?(?![\w:/-])"
_DATES: Final = (
    re.compile(rf"{_DAY}\s+(?:of\s+|de\s+)?(?P<month>{_NAMES})\b", re.IGNORECASE),
    re.compile(rf"\b(?P<month>{_NAMES})\b\.?\s+(?:the\s+)?{_DAY_BEHIND}", re.IGNORECASE),
    re.compile(r"(?<!\d)\d{4}-(?P<month>\d{2})-(?P<day>\d{2})(?!\d)"),
)
_LAST_DAY: Final = 31


@lru_cache(maxsize=4096)
def date_words(day: str) -> tuple[str, ...]:
    """Return the analysed words of a day: its month and year, and :func:`days_named` of it.

    Its number alone is no word: whoever asks for 2 cats does not ask for what was said on the 2nd.

    Args:
        day: As ``2026-04-08``.
    """
    year, month, number = day.split("-")
    return (*index_terms(None, None, f"{_WORDS[int(month) - 1]} {year}").split(), _term(int(month), int(number)))


def days_named(question: str) -> list[str]:
    """Return a word for each day of a month that a question names, such as 8 April: no other word is like it."""
    return list(dict.fromkeys(_named(question)))


def _named(question: str) -> Iterator[str]:
    for pattern in _DATES:
        for match in pattern.finditer(question):
            name = match["month"].lower()
            month, day = int(name) if name.isdigit() else _NUMBERS[name], int(match["day"])
            if 1 <= month <= len(_WORDS) and 1 <= day <= _LAST_DAY:
                yield _term(month, day)


def _term(month: int, day: int) -> str:
    # With a sign that no analysed word has.
    return f"{month}/{day}"
