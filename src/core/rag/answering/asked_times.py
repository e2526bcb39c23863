"""The times that a question names, and the facts that held then."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Final, NamedTuple

from core.rag.answering.relative_times import relative_times
from core.rag.answering.types import FoundFact
from core.rag.answering.written_times import written_times
from core.rag.times import iso

_FIRST: Final = datetime.min.replace(tzinfo=UTC)
_ARTICLE: Final = r"(?:(?:the|dem|der|den|el|la|los|le|les)\s+|l['’])?"


def _behind(words: str) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{words})\s+{_ARTICLE}\Z".replace(" ", r"\s+"), re.IGNORECASE)


#: What stands before a time from which on, until or before which, or after which something is asked.
_SINCE: Final = _behind("since|ever since|seit|depuis|desde")
_UNTIL: Final = _behind("until|till|up to|through|bis|bis zum|jusqu['’]en|jusqu['’]à|hasta")
_BEFORE: Final = _behind("before|prior to|earlier than|vor|avant|antes de")
_AFTER: Final = _behind("after|later than|nach|après|después de|tras")

#: What stands before and between two times that are the ends of one.
_RANGES: Final = tuple(
    (_behind(before), re.compile(rf"\s*(?:{between})\s+{_ARTICLE}", re.IGNORECASE))
    for before, between in (
        ("between", "and"),
        ("from", "to|until|till|through"),
        ("zwischen", "und"),
        ("von|vom", "bis|bis zum"),
        ("entre", "et|y"),
        ("de|du|desde", "à|au|jusqu['’]en|a|hasta"),
    )
)


class _Time(NamedTuple):
    """A time in a question: where it begins and ends there, and its own start and end (exclusive)."""

    place: int
    stop: int
    start: datetime
    end: datetime


def times_asked(question: str, now: datetime | None = None) -> dict[str, tuple[str, str]]:
    """Return the times in a question; by how it names them, their first and last moment.

    Args:
        question: The question. It may name years, months and days in figures, by name, and as seen from today, in
            English, German, French or Spanish; also two as the ends of a period, and one before, until or after which
            something is asked. Behind "since" and "after", the time lasts until now.
        now: The current time; ``None``: that of the clock.

    >>> times_asked("Who owned the mill in 2019?")
    {'2019': ('2019-01-01T00:00:00.000000Z', '2019-12-31T23:59:59.999999Z')}
    """
    now = datetime.now(UTC) if now is None else now
    found = {}
    for time in _joined(question, list(_named(question, now))):
        start, end = _reaching(question, time, now)
        if start < end:
            found[question[time.place : time.stop]] = (iso(start), iso(end - timedelta(microseconds=1)))
    return found


def _named(question: str, now: datetime) -> Iterator[_Time]:
    """Yield the times that a question names, in order, without those that are part of others (the year of a day)."""
    named = [
        _Time(place, place + len(text), start, end)
        for times in (written_times(question), relative_times(question, now))
        for place, text, (start, end) in times
    ]
    reached = 0
    for time in sorted(named, key=lambda time: (time.place, -time.stop)):
        if time.place >= reached:
            yield time
            reached = time.stop


def _joined(question: str, times: Sequence[_Time]) -> Iterator[_Time]:
    """Yield the times, the two ends of a period ("between 2015 and May 2018") as one."""
    following = iter(range(len(times)))
    for number in following:
        time = times[number]
        if number + 1 < len(times) and _are_ends(question, time, times[number + 1]):
            last = times[next(following)]
            yield _Time(time.place, last.stop, time.start, last.end)
        else:
            yield time


def _are_ends(question: str, first: _Time, last: _Time) -> bool:
    return first.start < last.end and any(
        before.search(question, 0, first.place) and between.fullmatch(question, first.stop, last.place)
        for before, between in _RANGES
    )


def _reaching(question: str, time: _Time, now: datetime) -> tuple[datetime, datetime]:
    """Return what is meant by a time with the word before it."""
    if time.start < now and _SINCE.search(question, 0, time.place):
        return time.start, max(time.end, now)
    if time.end < now and _AFTER.search(question, 0, time.place):
        return time.end, now
    if _BEFORE.search(question, 0, time.place):
        return _FIRST, time.start
    if _UNTIL.search(question, 0, time.place):
        return _FIRST, time.end
    return time.start, time.end


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
