"""The words that find what was said on a day."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from core.rag.analysis import index_terms
from core.rag.analysis.dates import dates_in
from core.rag.analysis.months import MONTHS

#: In English, as the first ones of the list are.
_WORDS: Final = tuple(MONTHS)[:12]


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
    return list(dict.fromkeys(_term(month, day) for _, month, day in dates_in(question) if day is not None))


def _term(month: int, day: int) -> str:
    # With a sign that no analysed word has.
    return f"{month}/{day}"
