"""The words that find what was said on a day."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from functools import lru_cache
from typing import Final

from core.rag.analysis import index_terms
from core.rag.analysis.dates import dates_in
from core.rag.analysis.months import MONTHS
from core.rag.analysis.relative_times import relative_times

#: In English, as the first ones of the list are.
_WORDS: Final = tuple(MONTHS)[:12]
_MONTH_DAYS: Final = 30.4


@lru_cache(maxsize=4096)
def date_words(day: str) -> tuple[str, ...]:
    """Return the analysed words of a day: its month and year, and a word of its own for the day and for the week.

    Its number alone is no word: whoever asks for 2 cats does not ask for what was said on the 2nd.

    Args:
        day: As ``2026-04-08``.
    """
    then = date.fromisoformat(day)
    return (*_month_words(then), _week(then), _day(then.month, then.day))


def days_named(question: str, now: datetime) -> list[str]:
    """Return the words of :func:`date_words` for the times that a question names, without those that it has itself.

    These are days of a month, such as 8 April, and times that have passed as seen from now, such as yesterday, last
    week, or two months ago. What is asked of today or this week need not have been said then.
    """
    words = [_day(month, day) for _, month, day in dates_in(question) if day is not None]
    for _, text, (start, end) in relative_times(question, now):
        if end > now or text.lower() in MONTHS:
            continue
        match (end.date() - start.date()) // timedelta(days=1):
            case 1:
                words.append(_day(start.month, start.day))
            case 7:
                words.append(_week(start.date()))
            case 365 | 366:
                words.append(str(start.year))
            case days:  # a month, or the three of a quarter
                for month in range(max(1, round(days / _MONTH_DAYS))):
                    year, number = divmod(start.month - 1 + month, 12)
                    words += _month_words(date(start.year + year, number + 1, 1))
    return list(dict.fromkeys(words))


def _month_words(day: date) -> list[str]:
    return index_terms(None, None, f"{_WORDS[day.month - 1]} {day.year}").split()


# With signs that no analysed word has.
def _day(month: int, day: int) -> str:
    return f"{month}/{day}"


def _week(day: date) -> str:
    year, week, _ = day.isocalendar()
    return f"{year}/w{week}"
