"""The times that a question names, and the facts that held then."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Final, NamedTuple

from core.rag.answering.relative_times import relative_times
from core.rag.answering.types import FoundFact
from core.rag.answering.written_times import written_times
from core.rag.times import here_and_now, iso

_FIRST: Final = datetime.min.replace(tzinfo=UTC)
_ARTICLE: Final = r"(?:(?:the|dem|der|den|el|la|los|le|les)\s+|l['’])?(?:(?:year|jahr|année|an|año)\s+)?"

#: How far from a time the words are looked for that stand before it, in characters.
_REACH: Final = 40


def _behind(words: str) -> Callable[[str, int], bool]:
    """Return what tells whether one of the words stands before a place in a question."""
    pattern = re.compile(rf"\b(?:{words})\s+{_ARTICLE}\Z".replace(" ", r"\s+"), re.IGNORECASE)
    return lambda question, place: pattern.search(question, max(place - _REACH, 0), place) is not None


#: What stands before a time from which on, until or before which, or after which something is asked.
_SINCE: Final = _behind("since|seit|ab|depuis|à partir de|desde|a partir de")
_UNTIL: Final = _behind("until|till|up to|through|bis|bis zum|jusqu['’]en|jusqu['’]à|hasta")
_BEFORE: Final = _behind("before|prior to|earlier than|vor|avant|antes de")
_AFTER: Final = _behind("after|later than|nach|après|después de|tras")

#: What stands before and between two times that are the ends of one.
_RANGES: Final = tuple(
    (_behind(before), re.compile(rf"\s*(?:{between})\s+{_ARTICLE}", re.IGNORECASE))
    for before, between in (
        ("between", "and"),
        ("from|since", "to|until|till|through"),
        ("zwischen", "und"),
        ("von|vom|seit", "bis|bis zum"),
        ("entre", "et|y"),
        ("de|du|depuis|desde", "à|au|jusqu['’]en|a|hasta"),
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
        now: The current time, in the time zone in which "yesterday" is meant; ``None``: that of the clock, in the time
            zone of this program.

    >>> times_asked("Who owned the mill in 2019?")
    {'2019': ('2019-01-01T00:00:00.000000Z', '2019-12-31T23:59:59.999999Z')}
    """
    now = here_and_now() if now is None else now
    found = {}
    for time in _meant(question, list(_named(question, now)), now):
        if time.start < time.end:
            found[question[time.place : time.stop]] = (iso(time.start), iso(time.end - timedelta(microseconds=1)))
    return found


def _named(question: str, now: datetime) -> Iterator[_Time]:
    """Yield the times that a question names, in order, without those that are part of others (the year of a day)."""
    # The days of facts are those of calendars: midnight in UTC. So is yesterday, wherever it is asked for.
    today = now.replace(tzinfo=UTC)
    named = [
        _Time(place, place + len(text), start, end)
        for times in (written_times(question), relative_times(question, today))
        for place, text, (start, end) in times
    ]
    reached = 0
    for time in sorted(named, key=lambda time: (time.place, -time.stop)):
        if time.place >= reached:
            yield time
            reached = time.stop


def _meant(question: str, times: Sequence[_Time], now: datetime) -> Iterator[_Time]:
    """Yield what is meant by the times: by two ends ("between 2015 and May 2018") all that is between."""
    following = iter(range(len(times)))
    for number in following:
        time = times[number]
        if number + 1 < len(times) and _are_ends(question, time, times[number + 1]):
            last = times[next(following)]
            yield _Time(time.place, last.stop, time.start, last.end)
        else:
            yield _reaching(question, time, now)


def _are_ends(question: str, first: _Time, last: _Time) -> bool:
    return first.start < last.end and any(
        before(question, first.place) and between.fullmatch(question, first.stop, last.place)
        for before, between in _RANGES
    )


def _reaching(question: str, time: _Time, now: datetime) -> _Time:
    """Return the time, as far as the word before it reaches."""
    if time.start < now and _SINCE(question, time.place):
        return time._replace(end=max(time.end, now))
    if time.end < now and _AFTER(question, time.place):
        return time._replace(start=time.end, end=now)
    if _BEFORE(question, time.place):
        return time._replace(start=_FIRST, end=time.start)
    if _UNTIL(question, time.place):
        return time._replace(start=_FIRST)
    return time


def of_times_asked(facts: Sequence[FoundFact], question: str, now: datetime | None = None) -> list[FoundFact]:
    """Leave out facts with times that did not hold when a question asks about, if others did that do not hold now.

    A number may also be a name. So facts that hold now stay, unless some are found that held only then.
    """
    now = here_and_now() if now is None else now
    asked, present = times_asked(question, now).values(), iso(now)

    def held(fact: FoundFact) -> bool:
        return any(fact.period.holds(*span) for span in asked)

    if not any(held(fact) and not fact.period.holds(present, present) for fact in facts):
        return list(facts)
    return [fact for fact in facts if not fact.period or held(fact)]
