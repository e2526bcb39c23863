"""A question, taken apart into words, cues and comparisons."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Final

from core.rag.analysis import analyze
from core.rag.analysis.dates import days_of_any_year
from core.rag.answering.computing.cues import ASKING, COMPARISONS, MONEY, OF_TIME, Comparison, Cue, Language, languages
from core.rag.answering.understanding.asked_times import FIRST, LAST, AskedTime, periods_asked
from core.rag.extraction.amounts import amount, plain_number
from libs.regexes import regex

#: A longer question asks for more than a number.
MAX_WORDS: Final = 40
#: Maximum number of words of a value that is looked for.
MAX_VALUE_WORDS: Final = 8

#: Signs without which a value is another one (-5, .5, A+, C#), also those that lead on (2024-03, 1.5).
_BEFORE: Final = regex(r"(?:[<>!]=|[-\u2212+#@&*/%^~<>]|(?<!\w)\.|(?<=\d)[.,:])+\Z")
_BEHIND: Final = regex(r"(?:[-\u2212+#@&*/^~<>]|[.,:](?=\d))+")
#: Points between thousands, or before decimals.
_EITHER: Final = regex(r"[-\u2212]?\d{1,3}[.,]\d{3}")
_WORD: Final = regex(r"[^\W_]+")
YEAR: Final = regex(r"[12]\d{3}", re.ASCII)
_MERE_YEARS: Final = regex(r"[12]\d{3}(?:(?P<word>\D*[^\W\d]\D*)?\W*[12]\d{3})?", re.ASCII)
#: Of two numbers these are years, unless their field is named, or they are amounts ("between 2019 and 2022").
_YEARS: Final = range(1900, 2100)
#: Fewest letters of a word that may be the plural of another one.
_PLURAL_LETTERS: Final = 4
#: Characters of a day and a month in ISO 8601.
_DAY: Final = 10
_MONTH: Final = 7
_NAME_WORD: Final = regex(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[^\W\d_]+|\d+")


@dataclass(frozen=True, order=True, slots=True)
class Span:
    """Some words of a question: the first, and the one behind the last."""

    start: int
    stop: int

    def __len__(self) -> int:
        return self.stop - self.start

    @property
    def first(self) -> Span:
        """The first word alone."""
        return Span(self.start, self.start + 1)

    def is_within(self, other: Span) -> bool:
        """Whether the other has all of its words, and more."""
        return other.start <= self.start and self.stop <= other.stop and len(self) < len(other)

    def meets(self, other: Span) -> bool:
        """Whether the two share a word."""
        return self.start < other.stop and other.start < self.stop


class DayOfAnyYear(str):
    """A month and a day, ``05-03``, without a year: it is one of the year of the records, if they have only one."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class FoundCue:
    """A cue, and where it stands."""

    cue: Cue
    span: Span


@dataclass(frozen=True, slots=True)
class Compared:
    """A comparison.

    Attributes:
        tests: Signs and what stands behind them: a number, or a month or a day as ISO 8601 text; all have to hold.
        span: Where it stands.
        of_time: Whether it is about time ("since").
        of_money: Whether it is about an amount of money ("over 500 euros").
    """

    tests: tuple[tuple[Comparison, int | float | str], ...]
    span: Span
    of_time: bool
    of_money: bool = False


@dataclass(frozen=True, slots=True)
class Question:
    """A question as one language reads it.

    Attributes:
        text: As it was asked.
        language: The language.
        words: Its words, casefolded.
        places: Where each begins and ends in the text.
        cues: The cues in it, in order.
        comparisons: The comparisons in it.
    """

    text: str
    language: Language
    words: tuple[str, ...]
    places: tuple[tuple[int, int], ...]
    cues: tuple[FoundCue, ...] = ()
    comparisons: tuple[Compared, ...] = ()
    _senses: dict[int, frozenset[str]] = field(default_factory=dict)
    _spelled: dict[str, dict[str, list[Span]]] = field(default_factory=dict)
    _named: dict[str, tuple[Span, ...]] = field(default_factory=dict)

    def spelled(self, span: Span) -> str:
        """Return words as they stand in the text, with what is between them, and signs that are part of them (C++)."""
        start, end = self.places[span.start][0], self.places[span.stop - 1][1]
        before, behind = _BEFORE.search(self.text, max(0, start - 10), start), _BEHIND.match(self.text, end)
        return self.text[before.start() if before else start : behind.end() if behind else end]

    def spellings(self) -> dict[str, list[Span]]:
        """Return all runs of up to ``MAX_VALUE_WORDS`` words, casefolded, and where each stands."""
        return self._once("spellings", self._find_spellings)

    def _find_spellings(self) -> dict[str, list[Span]]:
        found: dict[str, list[Span]] = {}
        for start in range(len(self.words)):
            for stop in range(start + 1, min(start + MAX_VALUE_WORDS, len(self.words)) + 1):
                span = Span(start, stop)
                found.setdefault(self.spelled(span).casefold(), []).append(span)
        return found

    def singulars(self) -> dict[str, list[Span]]:
        """Return what may be one of the things that words name in the plural, and where these stand."""
        return self._once("singulars", self._find_singulars)

    def _find_singulars(self) -> dict[str, list[Span]]:
        found: dict[str, list[Span]] = {}
        for spelled, places in self.spellings().items():
            last = self.words[places[0].stop - 1]
            for ending, instead in self.language.plurals:
                if len(last) >= _PLURAL_LETTERS and last.isalpha() and spelled.endswith(ending):
                    found.setdefault(spelled.removesuffix(ending) + instead, []).extend(places)
        return found

    def _once(self, key: str, find: Callable[[], dict[str, list[Span]]]) -> dict[str, list[Span]]:
        if key not in self._spelled:  # each collection and table is looked through with the same
            self._spelled[key] = find()
        return self._spelled[key]

    def named(self, name: str) -> Sequence[Span]:
        """Return where a name of a collection or a field stands, in any form of its words."""
        if name not in self._named:
            self._named[name] = tuple(self._find_named(name))
        return self._named[name]

    def _find_named(self, name: str) -> Iterator[Span]:
        # ``unitPrice`` has two words, and McDonald one.
        for words in dict.fromkeys((tuple(name_words(name)), tuple(_WORD.findall(name.casefold())))):
            for start in range(len(self.words) - len(words) + 1 if words else 0):
                if all(self._is_word(start + i, word) for i, word in enumerate(words)):
                    yield Span(start, start + len(words))

    def _is_word(self, place: int, word: str) -> bool:
        """Whether a word of the question is a form of another."""
        asked = self.words[place]
        is_form = not self._senses_of(place).isdisjoint(senses(word, self.language.name))
        return is_form and not (_does(asked, word) or _does(word, asked))

    def _senses_of(self, place: int) -> frozenset[str]:
        if place not in self._senses:
            self._senses[place] = senses(self.words[place], self.language.name)
        return self._senses[place]


def questions(text: str) -> list[Question]:
    """Return a question as each language reads it in which it counts or compares; none: it does not.

    Args:
        text: The question.
    """
    return [one for one in read(text) if one.comparisons or any(found.cue in ASKING for found in one.cues)]


def read(text: str) -> list[Question]:
    """Return a question as each language reads it, whatever it asks; none, if it is too long."""
    places = [match.span() for match in _WORD.finditer(text)]
    if not places or len(places) > MAX_WORDS:
        return []
    words = tuple(text[start:end].casefold() for start, end in places)
    times = list(_times(text, places))
    found = []
    for language in languages():
        numbers = [
            one for one in _comparisons(text, language, places) if not any(one.span.meets(t.span) for t in times)
        ]
        comparisons = tuple(sorted((*times, *numbers), key=lambda one: one.span))
        cues = tuple(_cues(text, language, places, comparisons))
        found.append(Question(text, language, words, tuple(places), cues, comparisons))
    return found


def chained(text: str, earlier: Iterable[str]) -> tuple[list[Question], list[list[Question]]]:
    """Return the question to work out, and the later ones that go on with it ("And in Ulm?"), each in all readings.

    Args:
        text: The question that is asked.
        earlier: The questions before it, the newest first.
    """
    later: list[list[Question]] = []
    for asked in (text, *earlier):
        if not any(language.following.match(asked.lstrip()) for language in languages()):
            return questions(asked), later[::-1]
        later.append(read(asked))
    return questions(text), []


def name_words(name: str) -> list[str]:
    """Return the words of the name of a collection or field: ``unitPrice`` and ``unit_price`` have two."""
    return [word.casefold() for word in _NAME_WORD.findall(name)]


def _does(word: str, other: str) -> bool:
    """Whether the other is who does it: reports are no reporters, though their stem is one."""
    done = word.removesuffix("s")
    return other.removesuffix("s") in {f"{done}er", f"{done}or", f"{done}r"}


@lru_cache(maxsize=4096)
def senses(word: str, language: str) -> frozenset[str]:
    """Return what is equal for forms of a word: the word and its stems."""
    return frozenset({word, *analyze(word, "english"), *analyze(word, language)})


def _comparisons(text: str, language: Language, places: list[tuple[int, int]]) -> Iterator[Compared]:
    for match in language.comparing.finditer(text):
        found = {name: value for name, value in match.groupdict().items() if value is not None}
        ends = [value for name, value in found.items() if name.startswith(("first", "last"))]
        numbers = [number for value in ends or [found["number"]] if (number := _number(value, language)) is not None]
        if not numbers or len(numbers) < len(ends) or sorted(numbers) != numbers:
            continue
        signs: list[Comparison] = [">=", "<="] if ends else [COMPARISONS[name] for name in COMPARISONS if name in found]
        of_money = MONEY.search(match[0]) is not None
        of_time = (
            not of_money and all(one in _YEARS for one in numbers) if ends else OF_TIME.match(match[0]) is not None
        )
        yield Compared(tuple(zip(signs, numbers, strict=True)), _span(match.span(), places), of_time, of_money)


def _number(text: str, language: Language) -> int | float | None:
    number = None if language.name != "english" and _EITHER.fullmatch(text) else amount(text)
    return None if number is None else plain_number(number)


def _times(text: str, places: list[tuple[int, int]]) -> Iterator[Compared]:
    """Yield the times that are no mere years: these are numbers, too."""
    named = periods_asked(text)
    for start, end, day in days_of_any_year(text):
        if not any(time.place < end and start < time.stop for time in named):
            yield Compared((("in", DayOfAnyYear(day)),), _span((start, end), places), of_time=True)
    for time in named:
        years = [int(year) for year in YEAR.findall(text, time.place, time.stop)]
        mere = _MERE_YEARS.fullmatch(text, time.place, time.stop)
        if mere and (mere["word"] or len(years) == 1 or any(year not in _YEARS for year in years)):
            continue
        if tests := _tests(time):
            yield Compared(tests, _span((time.word, time.stop), places), of_time=True)


def _tests(time: AskedTime) -> tuple[tuple[Comparison, int | str], ...]:
    """Return what a date in a time has to fulfil: in years, or else in months, or else in days, as these have it."""
    start = None if time.start == FIRST else time.start
    end = None if time.end == LAST else time.end
    if start and end and (whole := _whole(start, end)):
        return (whole,)
    ends = [one for one in (start, end) if one]
    signs: tuple[Comparison, ...] = (">=", "<") if start and end else (">=",) if start else ("<",)
    if all(one.day == one.month == 1 for one in ends):
        return tuple(zip(signs, (one.year for one in ends), strict=True))
    length = _DAY if any(one.day > 1 for one in ends) else _MONTH
    return tuple(zip(signs, (one.isoformat()[:length] for one in ends), strict=True))


def _whole(start: datetime, end: datetime) -> tuple[Comparison, int | str] | None:
    """Return the test of a single day, month or year."""
    if end - start == timedelta(days=1):
        return "in", start.isoformat()[:_DAY]
    months = 12 * (end.year - start.year) + end.month - start.month
    if start.day == end.day == 1 and months == 1:
        return "in", start.isoformat()[:_MONTH]
    is_year = start.day == end.day == start.month == end.month == 1 and end.year == start.year + 1
    return ("=", start.year) if is_year else None


def _cues(
    text: str, language: Language, places: list[tuple[int, int]], comparisons: tuple[Compared, ...]
) -> Iterator[FoundCue]:
    for match in language.cues.finditer(text):
        span = _span(match.span(), places)
        cue: Cue = match.lastgroup  # type: ignore[assignment]  # the groups are cues
        if not any(span.meets(one.span) for one in comparisons):
            yield FoundCue(cue, span)


def _span(place: tuple[int, int], places: list[tuple[int, int]]) -> Span:
    """Return the words between two places in a text."""
    covered = [i for i, (start, end) in enumerate(places) if start < place[1] and end > place[0]]
    return Span(covered[0], covered[-1] + 1)
