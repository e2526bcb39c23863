"""A question, taken apart into words, cues and comparisons."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

from core.rag.analysis import analyze
from core.rag.answering.computing.cues import ASKING, COMPARISONS, OF_TIME, Comparison, Cue, Language, languages
from core.rag.retrieval.tables.amounts import amount, plain_number

#: A longer question asks for more than a number.
MAX_WORDS: Final = 40
#: Maximum number of words of a value that is looked for.
MAX_VALUE_WORDS: Final = 8

#: Signs without which a value is another one (-5, .5, A+, C#), also those that lead on (2024-03, 1.5).
_BEFORE: Final = re.compile(r"(?:[<>!]=|[-\u2212+#@&*/%^~<>]|(?<!\w)\.|(?<=\d)[.,:])+\Z")
_BEHIND: Final = re.compile(r"(?:[-\u2212+#@&*/^~<>]|[.,:](?=\d))+")
#: Points between thousands, or before decimals.
_EITHER: Final = re.compile(r"[-\u2212]?\d{1,3}[.,]\d{3}")
_WORD: Final = re.compile(r"[^\W_]+")
_NAME_WORD: Final = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[^\W\d_]+|\d+")


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


@dataclass(frozen=True, slots=True)
class FoundCue:
    """A cue, and where it stands."""

    cue: Cue
    span: Span


@dataclass(frozen=True, slots=True)
class Compared:
    """A comparison with a number, where it stands, and whether its words are about time ("since")."""

    sign: Comparison
    number: int | float
    span: Span
    of_time: bool


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

    def spelled(self, span: Span) -> str:
        """Return words as they stand in the text, with what is between them, and signs that are part of them (C++)."""
        start, end = self.places[span.start][0], self.places[span.stop - 1][1]
        before, behind = _BEFORE.search(self.text, max(0, start - 10), start), _BEHIND.match(self.text, end)
        return self.text[before.start() if before else start : behind.end() if behind else end]

    def spellings(self) -> dict[str, list[Span]]:
        """Return all runs of up to ``MAX_VALUE_WORDS`` words, casefolded, and where each stands."""
        found: dict[str, list[Span]] = {}
        for start in range(len(self.words)):
            for stop in range(start + 1, min(start + MAX_VALUE_WORDS, len(self.words)) + 1):
                span = Span(start, stop)
                found.setdefault(self.spelled(span).casefold(), []).append(span)
        return found

    def named(self, name: str) -> Iterator[Span]:
        """Yield where a name of a collection or a field stands, in any form of its words."""
        wanted = [senses(word, self.language.name) for word in name_words(name)]
        for start in range(len(self.words) - len(wanted) + 1 if wanted else 0):
            if all(not self._senses_of(start + i).isdisjoint(sense) for i, sense in enumerate(wanted)):
                yield Span(start, start + len(wanted))

    def _senses_of(self, place: int) -> frozenset[str]:
        if place not in self._senses:
            self._senses[place] = senses(self.words[place], self.language.name)
        return self._senses[place]


def questions(text: str) -> list[Question]:
    """Return a question as each language reads it in which it counts or compares; none: it does not.

    Args:
        text: The question.
    """
    places = [match.span() for match in _WORD.finditer(text)]
    if not places or len(places) > MAX_WORDS:
        return []
    found = []
    for language in languages():
        comparisons = tuple(_comparisons(text, language, places))
        cues = tuple(_cues(text, language, places, comparisons))
        if comparisons or any(one.cue in ASKING for one in cues):
            words = tuple(text[start:end].casefold() for start, end in places)
            found.append(Question(text, language, words, tuple(places), cues, comparisons))
    return found


def name_words(name: str) -> list[str]:
    """Return the words of the name of a collection or field: ``unitPrice`` and ``unit_price`` have two."""
    return [word.casefold() for word in _NAME_WORD.findall(name)]


@lru_cache(maxsize=4096)
def senses(word: str, language: str) -> frozenset[str]:
    """Return what is equal for forms of a word: the word and its stems."""
    return frozenset({word, *analyze(word, "english"), *analyze(word, language)})


def _comparisons(text: str, language: Language, places: list[tuple[int, int]]) -> Iterator[Compared]:
    for match in language.comparing.finditer(text):
        number = None if language.name != "english" and _EITHER.fullmatch(match["number"]) else amount(match["number"])
        sign = next(sign for group, sign in COMPARISONS.items() if match[group])
        if number is not None:
            yield Compared(sign, plain_number(number), _span(match, places), OF_TIME.match(match[0]) is not None)


def _cues(
    text: str, language: Language, places: list[tuple[int, int]], comparisons: tuple[Compared, ...]
) -> Iterator[FoundCue]:
    for match in language.cues.finditer(text):
        span = _span(match, places)
        cue: Cue = match.lastgroup  # type: ignore[assignment]  # the groups are cues
        if not any(span.meets(one.span) for one in comparisons):
            yield FoundCue(cue, span)


def _span(match: re.Match[str], places: list[tuple[int, int]]) -> Span:
    """Return the words that a match covers."""
    covered = [i for i, (start, end) in enumerate(places) if start < match.end() and end > match.start()]
    return Span(covered[0], covered[-1] + 1)
