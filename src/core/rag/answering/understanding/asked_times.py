"""The times that a question names, and the facts that held then."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Final, NamedTuple

from core.rag.analysis.relative_times import relative_times
from core.rag.answering.types import FoundFact
from core.rag.answering.understanding.written_times import outermost, written_times
from core.rag.times import here_and_now, iso
from libs.regexes import regex

#: Where a time begins that has no beginning, and ends that has no end.
FIRST: Final = datetime.min.replace(tzinfo=UTC)
LAST: Final = datetime.max.replace(tzinfo=UTC)
_ARTICLE: Final = r"(?:(?:the|dem|der|den|el|la|los|le|les)\s+|l['’])?(?:(?:year|jahr|année|an|año)\s+)?"

#: How far from a time the words are looked for that stand before it, in characters.
_REACH: Final = 40


def _behind(words: str) -> Callable[[str, int], int | None]:
    """Return what tells where one of the words stands before a place in a question; ``None``: none does."""
    pattern = re.compile(rf"\b(?:{words})\s+{_ARTICLE}\Z".replace(" ", r"\s+"), re.IGNORECASE)

    def find(question: str, place: int) -> int | None:
        match = pattern.search(question, max(place - _REACH, 0), place)
        return None if match is None else match.start()

    return find


#: What stands before a time from which on, until or before which, or after which something is asked.
_SINCE: Final = _behind("since|seit|ab|depuis|à partir de|desde|a partir de")
_UNTIL: Final = _behind("until|till|up to|through|bis|bis zum|jusqu['’]en|jusqu['’]à|hasta")
_BEFORE: Final = _behind("before|prior to|earlier than|vor|avant|antes de")
_AFTER: Final = _behind("after|later than|nach|après|después de|tras")

#: What stands before and between two times that are the ends of one.
_RANGES: Final = tuple(
    (_behind(before), regex(rf"\s*(?:{between})\s+{_ARTICLE}", re.IGNORECASE))
    for before, between in (
        ("between", "and"),
        ("from|since", "to|until|till|through"),
        ("zwischen", "und"),
        ("von|vom|seit", "bis|bis zum"),
        ("entre", "et|y"),
        ("de|du|depuis|desde", "à|au|jusqu['’]en|a|hasta"),
    )
)


class AskedTime(NamedTuple):
    """A time in a question.

    Attributes:
        place: Where it begins there.
        stop: Where it ends there.
        start: Its beginning; ``FIRST``: it has none.
        end: Its end, which is not part of it; ``LAST``: it has none.
        word: Where the word begins that stands before it ("since"); without one, where it begins itself.
    """

    place: int
    stop: int
    start: datetime
    end: datetime
    word: int


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


def periods_asked(question: str) -> list[AskedTime]:
    """Return the times in a question in order, as :func:`times_asked`; behind "since" and "after" without an end."""
    return list(_meant(question, list(_named(question, here_and_now())), LAST))


def _named(question: str, now: datetime) -> Iterator[AskedTime]:
    """Yield the times that a question names, in order, without those that are part of others (the year of a day)."""
    # The days of facts are those of calendars: midnight in UTC. So is yesterday, wherever it is asked for.
    today = now.replace(tzinfo=UTC)
    for place, text, (start, end) in outermost([*written_times(question), *relative_times(question, today)]):
        yield AskedTime(place, place + len(text), start, end, place)


def _meant(question: str, times: Sequence[AskedTime], latest: datetime) -> Iterator[AskedTime]:
    """Yield what is meant by the times: by two ends ("between 2015 and May 2018") all that is between."""
    following = iter(range(len(times)))
    for number in following:
        time = times[number]
        word = _word_before_ends(question, *times[number : number + 2])
        if word is not None:
            last = times[next(following)]
            yield AskedTime(time.place, last.stop, time.start, last.end, word)
        else:
            yield _reaching(question, time, latest)


def _word_before_ends(question: str, first: AskedTime, last: AskedTime | None = None) -> int | None:
    """Return where the word before two times stands, if they are the ends of one; else ``None``."""
    if last is None or first.start >= last.end:
        return None
    words = (
        before(question, first.place)
        for before, between in _RANGES
        if between.fullmatch(question, first.stop, last.place)
    )
    return next((word for word in words if word is not None), None)


def _reaching(question: str, time: AskedTime, latest: datetime) -> AskedTime:
    """Return the time, as far as the word before it reaches, and at most until the latest one."""
    if time.start < latest and (word := _SINCE(question, time.place)) is not None:
        return time._replace(end=max(time.end, latest), word=word)
    if time.end < latest and (word := _AFTER(question, time.place)) is not None:
        return time._replace(start=time.end, end=latest, word=word)
    if (word := _BEFORE(question, time.place)) is not None:
        return time._replace(start=FIRST, end=time.start, word=word)
    if (word := _UNTIL(question, time.place)) is not None:
        return time._replace(start=FIRST, word=word)
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
