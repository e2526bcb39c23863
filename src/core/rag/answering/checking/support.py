"""Decides whether a passage supports a sentence, by the words they share and by their vectors.

A sentence is supported by what it cites if enough of its words are there, names and numbers counting double. Where
fewer are, it may say the same in other words: then its vector has to be near that of a sentence of the passage. A
number that no cited passage has is never supported, and neither is a name that only other passages have, nor what the
passage says the opposite of, or of another name, in the same words. Where another passage says it much better than what
is cited, the citation is swapped.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import lru_cache
from itertools import chain
from typing import TYPE_CHECKING

from core.rag.analysis import analyze
from core.rag.analysis.language import detect_language, sure_language
from core.rag.answering.checking.figures import Figure, figures_in, has_numbers, numbers_of, with_plain_numbers
from core.rag.answering.checking.negation import Statement, contradicts, statement_of
from core.rag.answering.checking.opposites import is_reversed
from core.rag.answering.checking.rows import Row, is_misplaced, rows_of
from core.rag.answering.checking.swapping import (
    CAPITALISED,
    NOUNS_ARE_CAPITALISED,
    is_swapped,
    number_values,
    wording_of,
)
from core.rag.answering.understanding.written_times import outermost, written_times
from core.rag.extraction.initials import ACRONYM, with_initials
from core.rag.indexing.splitting.sentences import sentence_spans
from libs.regexes import regex

if TYPE_CHECKING:
    from core.rag.answering.types import Passage

#: Share of a sentence's words that a passage has, from which on it supports it.
ENOUGH_WORDS = 0.6
#: The same where the vectors are near, and how near (likeness).
SOME_WORDS = 0.25
NEAR = 0.5
#: How much better another passage fits, for a citation to be swapped.
SWAPPED = 0.25
#: What each of several passages that are cited together adds at least.
ADDED = 0.1
#: Share of the names of a sentence that may be nowhere.
UNKNOWN_NAMES = 0.34

_WEIGHT = 2.0
#: Of a longer time, a date within it is only a part.
_MONTH = timedelta(days=31)
_SHORTEST_STEM = 4
#: A label in bold before what it labels: "**Material:** larch", "**Material**: larch".
_LABEL = regex(r"\W{0,3}(?:\*\*|__)[^*\n]{1,80}?(?::(?:\*\*|__)|(?:\*\*|__)\s*:)\W*")


#: A day, a month or a year: its start and end, and how it is written.
type Date = tuple[datetime, datetime, str]


@dataclass(frozen=True, slots=True)
class Source:
    """A passage, or several, prepared for comparison.

    Attributes:
        terms: Its words, those of its title and heading included.
        numbers: Its numbers in digits, in all ways in which they may be meant.
        names: Its capitalised words, as terms.
        language: Its language, for the stems of words.
        spoken: Its language or script, if it is sure (:func:`core.rag.analysis.language.sure_language`).
        given: The words of its title and heading.
        said: Its sentences.
        texts: The same as they stand there.
        rows: The rows of its tables.
        prose: Its numbers outside of these.
        dates: The dates in it: start, end, and how they are written.
        figures: Its numbers with what they come to.
        acronyms: Its words that may be acronyms.
        initials: What acronyms may stand for: names in it by their initials.
    """

    terms: frozenset[str]
    numbers: frozenset[str]
    names: frozenset[str]
    language: str
    given: frozenset[str] = frozenset()
    said: tuple[Statement, ...] = ()
    texts: tuple[str, ...] = ()
    rows: tuple[Row, ...] = ()
    prose: frozenset[str] = frozenset()
    dates: tuple[Date, ...] = ()
    figures: tuple[Figure, ...] = ()
    acronyms: frozenset[str] = frozenset()
    initials: Mapping[str, str] = field(default_factory=dict)
    spoken: str = ""

    def has(self, name: str) -> bool:
        """Return whether it has a word, or one of the same stem (German, Germany)."""
        size = max(_SHORTEST_STEM, len(name) - 3)
        return name in self.terms or (
            len(name) > size - 1
            and any(term.startswith(name[:size]) and abs(len(term) - len(name)) <= 3 for term in self.terms)
        )


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the check of a sentence gave.

    Attributes:
        supported: Whether what it cites says so.
        better: Passages that say so, though it does not cite them.
        useless: Of several passages cited together, those that say nothing of it.
        untold: Whether that cannot be told: they are in another language, and have its names and numbers.
    """

    supported: bool
    better: tuple[int, ...] = ()
    useless: tuple[int, ...] = ()
    untold: bool = False


def source_of(passage: Passage) -> Source:
    """Prepare a passage."""
    hit = passage.hit
    head = f"{hit.title}\n{hit.heading}\n{hit.path}\n{hit.table_header}\n{hit.fields}"
    return _source(head, hit.content, hit.table_header)


def judge(
    sentence: str,
    cited: Collection[int],
    sources: Mapping[int, Source],
    nearness: Mapping[int, float],
    spoken: str = "",
) -> Verdict:
    """Check one sentence.

    Args:
        sentence: It, without markers.
        cited: The numbers that it cites, at least one, all of them known.
        sources: All passages by number.
        nearness: By number, the likeness of the sentence and the nearest sentence of the passage; may lack some.
        spoken: The language of the answer, if it is sure.
    """
    check = _Check(sentence, sources, nearness)
    together = check.fit(cited)
    others = [number for number in sources if number not in cited]
    better = tuple(number for number in others if check.says([number]))
    rival = max((check.fit([number]) for number in better), default=0.0)
    supported = check.says(cited) and not rival - together >= SWAPPED
    if not supported and not better and check.is_translated(cited, spoken):
        return Verdict(supported=check.is_near(cited), untold=not check.is_near(cited))
    if not supported:
        return Verdict(supported=False, better=better)
    useless = tuple(number for number in cited if len(cited) > 1 and check.adds_nothing(number, cited))
    # Of two that say the same each is superfluous beside the other, but not both.
    return Verdict(supported=True, useless=useless if len(useless) < len(cited) else ())


class _Check:
    """One sentence against any of the passages."""

    def __init__(self, sentence: str, sources: Mapping[int, Source], nearness: Mapping[int, float]) -> None:
        sentence = with_plain_numbers(sentence)
        self._sentence = sentence
        self._sources = sources
        self._nearness = nearness
        self._known = _merged(sources.values())
        self._dates = _dates(sentence)
        in_dates = [range(place, place + len(date[2])) for place, date in self._dates]
        self._figures = [one for one in figures_in(sentence) if not any(one.place in date for date in in_dates)]

    def fit(self, numbers: Collection[int]) -> float:
        """Return how much of it is in passages: the share of its words, raised where the vectors are near."""
        source = _merged(self._sources[number] for number in numbers)
        sentence = self._as_in(source)
        names = self._names(sentence, source.language)
        share = _share(analyze(sentence, source.language), names, source)
        return max(share, ENOUGH_WORDS) if share >= SOME_WORDS and self.is_near(numbers) else share

    def is_near(self, numbers: Collection[int]) -> bool:
        """Return whether its vector is near that of a sentence of passages."""
        return max((self._nearness.get(number, 0.0) for number in numbers), default=0.0) >= NEAR

    def is_translated(self, numbers: Collection[int], spoken: str) -> bool:
        """Return whether passages are in other languages, and have its dates, its numbers and the names of passages."""
        if not spoken or any(self._sources[number].spoken in ("", spoken) for number in numbers):
            return False
        source = _merged(self._sources[number] for number in numbers)
        sentence = self._as_in(source)
        if self._lacks_date(source) or not has_numbers(source.numbers, sentence):
            return False
        named = {term for word in CAPITALISED.findall(sentence) for term in analyze(word, source.language)}
        return all(source.has(name) for name in named & self._known.names)

    def says(self, numbers: Collection[int]) -> bool:
        """Return whether passages support it: enough words, every number, every name that any passage has."""
        source = _merged(self._sources[number] for number in numbers)
        sentence = self._as_in(source)
        if self._lacks_date(source) or self._is_of_another_magnitude(source):
            return False
        if not has_numbers(source.numbers, sentence) or self.fit(numbers) < ENOUGH_WORDS:
            return False
        stated = statement_of(sentence, source.language)
        if contradicts(stated, source.said, source.given):
            return False
        if is_reversed(stated, source.said, source.given, source.language):
            return False
        if source.rows and is_misplaced(sentence, source.rows, source.prose, source.language):
            return False
        names = self._names(sentence, source.language)
        lacking = {name for name in names if not source.has(name)}
        if any(self._known.has(name) for name in lacking) or len(lacking) > UNKNOWN_NAMES * len(names):
            return False
        claim = wording_of(sentence, source.language)
        said = (wording_of(text, source.language) for text in source.texts)
        names = frozenset() if source.language == NOUNS_ARE_CAPITALISED else source.names
        return not is_swapped(claim, said, source.has, names, source.numbers, source.given)

    def adds_nothing(self, number: int, cited: Collection[int]) -> bool:
        """Return whether one of several citations says nothing that the others do not say, nor the whole by itself."""
        rest = [other for other in cited if other != number]
        if self.says([number]) or not self.says(rest):
            return False
        return self.fit(cited) - self.fit(rest) < ADDED

    def _as_in(self, source: Source) -> str:
        """Return the sentence with dates and numbers as the source writes them: 2024-03-05, 1,200,000."""
        text = self._sentence
        dates = [(place, written, there[0]) for place, (_, _, written), there in self._dates_in(source) if there]
        for place, written, there in sorted([*dates, *self._figures_in(source)], reverse=True):
            text = f"{text[:place]}{there}{text[place + len(written) :]}"
        return _with_acronyms_of(text, source)

    def _figures_in(self, source: Source) -> Iterator[tuple[int, str, str]]:
        """Yield place and text of numbers that the source writes in another way, and how it writes them."""
        for figure in self._figures:
            if figure.written in source.numbers:
                continue
            there = [one.written for one in source.figures if one.values & figure.values]
            if there and figure.written not in there:
                yield figure.place, figure.written, there[0]

    def _is_of_another_magnitude(self, source: Source) -> bool:
        """Return whether a number is millions here and thousands there; a bare one may be in millions, as in tables."""
        for figure in self._figures:
            if not figure.is_scaled or any(one.values & figure.values for one in source.figures):
                continue
            alike = [one for one in source.figures if one.digits & figure.digits]
            if alike and all(one.is_scaled for one in alike):
                return True
        return False

    def _lacks_date(self, source: Source) -> bool:
        """Return whether a source has a day or month of the sentence in no way in which it could be written."""
        return any(not there for _, _, there in self._dates_in(source))

    def _dates_in(self, source: Source) -> list[tuple[int, Date, list[str]]]:
        """Return the days and months that a source does not write as the sentence does, and how it writes them."""
        return [
            (place, date, [written for first, last, written in source.dates if date[0] <= first and last <= date[1]])
            for place, date in self._dates
            if date[1] - date[0] <= _MONTH
            and not (
                has_numbers(source.numbers, date[2]) and source.terms.issuperset(analyze(date[2], source.language))
            )
        ]

    def _names(self, sentence: str, language: str) -> frozenset[str]:
        """Its names; its first word, and those of a label and behind it, are some only if they are in a passage."""
        words = [*CAPITALISED.finditer(sentence)]
        label = _LABEL.match(sentence)
        begun = 1 if label is None else label.end()
        names = {term for word in words if word.start() > begun for term in analyze(word[0], language)}
        first = {term for word in words if word.start() <= begun for term in analyze(word[0], language)}
        # A function word by itself is taken for a word that means something, but not in its sentence.
        return frozenset((names | (first & self._known.names)) & set(analyze(sentence, language)))


def _with_acronyms_of(text: str, source: Source) -> str:
    """Return a text with acronyms spelt out, and names abbreviated, if a source has them only so."""
    reached = len(text)
    for initials, start, end in sorted(with_initials(text), key=lambda name: (name[2], -name[1]), reverse=True):
        if initials in source.acronyms and end <= reached:
            if not source.terms.issuperset(analyze(text[start:end], source.language)):
                text = f"{text[:start]}{initials}{text[end:]}"
            reached = start
    for match in reversed([*ACRONYM.finditer(text)]):
        if match[0] in source.initials and match[0] not in source.acronyms:
            text = f"{text[: match.start()]}{source.initials[match[0]]}{text[match.end() :]}"
    return text


def _dates(text: str) -> list[tuple[int, Date]]:
    """Return the dates in a text, in order, with their places; none that is a part of another one."""
    return [(place, (*span, written)) for place, written, span in outermost(written_times(text))]


@lru_cache(maxsize=512)
def _source(head: str, content: str, table_header: str) -> Source:
    head, content = with_plain_numbers(head), with_plain_numbers(content)
    language = detect_language(content.split())
    names: set[str] = set()
    spans = sentence_spans(content)
    for start, end in spans:
        names.update(word[0] for word in CAPITALISED.finditer(content, start + 1, end))
    names.update(CAPITALISED.findall(head))
    given, values = frozenset(analyze(head, language)), number_values(language)
    rows, prose = rows_of(content, spans, table_header, language)
    terms = given.union(analyze(content, language))
    return Source(
        terms=terms,
        numbers=numbers_of(f"{head} {content}").union(values[term] for term in terms if term in values),
        names=frozenset(term for name in names for term in analyze(name, language)),
        language=language,
        given=given,
        said=tuple(statement_of(content[start:end], language) for start, end in spans),
        texts=tuple(content[start:end] for start, end in spans),
        rows=rows,
        prose=numbers_of(f"{head} {prose}"),
        dates=tuple(date for _, date in _dates(f"{head}\n{content}")),
        figures=tuple(figures_in(f"{head}\n{content}")),
        acronyms=frozenset(match[0] for match in ACRONYM.finditer(f"{head}\n{content}")),
        initials={initials: content[start:end] for initials, start, end in with_initials(content)},
        spoken=sure_language(content),
    )


def _merged(sources: Iterable[Source]) -> Source:
    given = list(sources)
    return Source(
        terms=frozenset().union(*(source.terms for source in given)),
        numbers=frozenset().union(*(source.numbers for source in given)),
        names=frozenset().union(*(source.names for source in given)),
        language=given[0].language if given else "english",
        given=frozenset().union(*(source.given for source in given)),
        said=tuple(chain.from_iterable(source.said for source in given)),
        texts=tuple(chain.from_iterable(source.texts for source in given)),
        rows=tuple(chain.from_iterable(source.rows for source in given)),
        prose=frozenset().union(*(source.prose for source in given)),
        dates=tuple(chain.from_iterable(source.dates for source in given)),
        figures=tuple(chain.from_iterable(source.figures for source in given)),
        acronyms=frozenset().union(*(source.acronyms for source in given)),
        initials=dict(item for source in given for item in source.initials.items()),
    )


def _share(terms: Iterable[str], names: Collection[str], source: Source) -> float:
    """Share of different words that a source has; names and numbers count double."""
    values = number_values(source.language)
    weights = {term: _WEIGHT if term in names or term.isdigit() else 1.0 for term in terms}
    total = sum(weights.values())
    # Four of one may be 4 of the other: the numbers of a source are those that it has in words, too.
    had = (
        weight for term, weight in weights.items() if term in source.terms or values.get(term, term) in source.numbers
    )
    return sum(had, 0.0) / total if total else 0.0
