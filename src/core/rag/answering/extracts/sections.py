"""Sentences of sections that a question asks for by what they are for, and of those whose headings ask the same.

"What do I need …?" asks for "Ingredients", and "How do I make a backup?" stands above its answer.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from pathlib import PurePosixPath

from core.rag.analysis import analyze, asked_dates, date_words, document_words
from core.rag.analysis.filler_phrases import without_asking
from core.rag.analysis.joined_words import Together
from core.rag.analysis.purposes import Purpose, purpose_asked
from core.rag.answering.extracts.called import Source
from core.rag.answering.extracts.code_spans import Span
from core.rag.answering.extracts.headed import asks_how_to, words_asked
from core.rag.answering.extracts.sentence_ends import ASKS
from core.rag.headings import headings_of
from core.rag.retrieval.ordering.asked_sections import WITHIN
from libs.regexes import regex

#: What the names of a passage have to have of the question, and of what those of the best one have.
_LEAST = 0.25
_OF_BEST = 0.7
#: What the words of the passages count beside those of their names.
_TOLD = 1 / 3
#: Characters of a section that are its beginning; and how much further down a sentence counts half.
_BEGINNING = 200
_HALF = 1000
#: The same where a way to do something is asked: the command often comes behind some paragraphs.
_HALF_OF_WAY = 4000
#: What share of the words of the question another one has that is nearly the same.
_NEARLY = 0.6
#: And what share of its own words these are: "You delivered it to Barrymore, did you?" is not "Who is Barrymore?".
_PARTLY = 0.4
#: What is between several questions in a heading, or two halves of one; what it says in brackets is left out.
_NEXT = regex(r"[?？؟]\s+|\s*\([^()]*\)\W*|[,;]\s+(?:and|or|und|oder|et|ou|y|e|o)\s+")


class Sections:
    """The sections of the passages that a question asks for by what they are for."""

    def __init__(self, question: str, sources: Sequence[Source]) -> None:
        """Find out whether it does, and which passages are about the rest of it."""
        self._purpose = purpose_asked(question)
        self._sources = sources
        self._of_way = asks_how_to(question) and self._purpose is None
        self._together = Together(question)
        self._asked = [words_asked(without_asking(question), source.language) for source in sources]
        self._below: dict[tuple[int, str], float] = {}
        self._shares: list[float] = []
        if self._purpose is not None:
            rest = self._purpose.rest(question)
            told = _told_beside(self._purpose, sources)
            self._shares = [_share(rest, *pair) for pair in zip(sources, told, strict=True)]
        hits = [source.passage.hit for source in sources]
        self._later = {
            index
            for index, hit in enumerate(hits)
            if any(
                (hit.path, hit.heading) == (other.path, other.heading) and other.chunk_index < hit.chunk_index
                for other in hits
            )
        }
        best = max(self._shares, default=0.0)
        self._shares = [share / best if share >= max(_LEAST, _OF_BEST * best) else 0.0 for share in self._shares]

    def share(self, index: int, place: Span) -> float:
        """Return how much of the rest of a question a passage is about whose sentence is in such a section; at most 1.

        0 for other sentences. The further down in the section, the less: it begins with what matters most, and its
        words are seldom those of the question. A line may say itself what it is for: "Cook time: 10 min".
        """
        purpose, source = self._purpose, self._sources[index]
        if purpose is None or not self._shares[index]:
            return 0.0
        label, colon, _ = source.text[place.start : place.end].partition(":")
        above = source.headings.above(place.start)
        if colon and purpose.is_of(label):
            return self._shares[index]
        if not any(map(purpose.is_of, above)):
            return 0.0
        start = source.headings.end_above(place.start, purpose.is_of)
        is_below = start is None and not purpose.is_of(above[0])
        return self._shares[index] * (WITHIN if is_below else 1.0) * self._near(index, place.start - (start or 0))

    def answers(self, index: int, place: Span) -> float:
        """Return how much of the question the heading above a sentence asks, at most 1; 0 if it asks another one.

        Of a heading with several questions, one of them may be it: "What is a namespace? How do I make one?". The
        further down, the less, as above.
        """
        name = self._sources[index].headings.over(place.start)
        if (share := self._below.get((index, name))) is None:
            is_question = ASKS.search(name) is not None or asks_how_to(name)
            parts = _NEXT.split(name) if is_question else ()
            share = max((self._same(index, part) for part in parts), default=0.0)
            if self._of_way and not is_question and self._sources[index].headings.above(place.start):
                share = self._done(index, name)
            self._below[index, name] = share
        return share and share * self.nearness(index, place, _HALF_OF_WAY if self._of_way else _HALF)

    def _same(self, index: int, question: str) -> float:
        asked = self._asked[index]
        own = self._words(index, without_asking(question))
        return len(own & asked) / len(asked) if asks_nearly(own, asked) else 0.0

    def _words(self, index: int, name: str) -> set[str]:
        own = words_asked(name, self._sources[index].language)
        return own | self._together.terms(name, own)

    def _done(self, index: int, name: str) -> float:
        """Return how much of a question for a way to do something is what a heading calls it: "Renewing a badge"."""
        source, asked = self._sources[index], self._asked[index]
        own = self._words(index, name)
        share = len(asked & (own | source.names)) / (len(asked) or 1)
        return share if share >= _NEARLY and len(own & asked) >= max(_NEARLY * len(own), 1) else 0.0

    def nearness(self, index: int, place: Span, half: float = _HALF) -> float:
        """Return how near a sentence is to the beginning of its section: from 1 there to 0; 1 without headings."""
        source = self._sources[index]
        start = source.headings.end_above(place.start)
        return (
            1.0
            if start is None and not source.passage.hit.heading
            else self._near(index, place.start - (start or 0), half)
        )

    def _near(self, index: int, characters: int, half: float = _HALF) -> float:
        return 1.0 / (1.0 + max(0, characters - _BEGINNING) / half + (index in self._later))

    def share_of_heading(self, index: int, name: str) -> float:
        """Return how much of the rest of a question a passage is about if a heading in it is for what is asked."""
        return self._shares[index] if self._purpose is not None and self._purpose.is_of(name) else 0.0


def asks_nearly(own: Set[str], asked: Set[str]) -> bool:
    """Return whether a question of a passage, by its words, is nearly the one that is asked."""
    return len(own & asked) >= max(_NEARLY * len(asked), _PARTLY * len(own), 1)


def _told_beside(purpose: Purpose, sources: Sequence[Source]) -> list[set[str]]:
    """Return the words of each passage and of those beside or around its section: "Solution" is about "Symptoms"."""
    parts = [headings_of(source.passage.hit.heading) for source in sources]
    over = [purpose.above(own) or () for own in parts]
    words = [set(analyze(source.text, source.language)) for source in sources]
    return [
        set().union(
            *(
                told
                for other, names, told in zip(sources, parts, words, strict=True)
                if other.passage.hit.path == source.passage.hit.path and names[: len(above)] == list(above)
            )
        )
        for source, above in zip(sources, over, strict=True)
    ]


def _share(rest: str, source: Source, told: set[str]) -> float:
    """Return how much of a question the names of a passage have, and what is told there or beside it."""
    hit, days = source.passage.hit, set(asked_dates(rest))
    dates = {word for name in headings_of(hit.heading) for word in date_words(name)}
    dates.update(document_words(hit.title, hit.path))
    if days and days.isdisjoint(dates):
        return 0.0  # the minutes of another day
    words = set(analyze(rest, source.language)) | days
    names = source.names | set(analyze(PurePosixPath(hit.path).stem, source.language)) | dates
    share = (1.0 - _TOLD) * len(words & names) + _TOLD * len(words & (names | told))
    return share / len(words) if words else 0.0
