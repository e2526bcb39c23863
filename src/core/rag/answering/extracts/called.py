"""What passages are called, and which of them are called what a question asks for."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence, Set
from dataclasses import dataclass
from typing import TYPE_CHECKING

from core.rag.analysis import analyze, asked_name, asked_numbers, heading_numbers, without_number
from core.rag.analysis.filler_phrases import without_asking
from core.rag.analysis.language import DEFAULT_LANGUAGE, passage_language
from core.rag.answering.extracts.subjects import Headings
from core.rag.answering.types import Passage
from core.rag.headings import headings_of, last_heading, without_distinction
from libs.regexes import regex

if TYPE_CHECKING:
    from core.rag.answering.extracts.sentence import Sentence

#: Words of so many letters are alike if one begins with the other.
_LONG = 5
#: What a number stands for.
_NUMBER_OF = regex(r"\W*\d+\s+(?:for|is|means)\b", re.IGNORECASE)
#: Shorter ones are labels.
_FEWEST_WORDS = 5
#: What a question quotes.
_QUOTED = regex(r"[\"“”„«»「『`]([^\"“”„«»「」『』`\n]{3,200})[\"“”«»」』`]")


@dataclass(frozen=True, slots=True)
class Source:
    """A passage that sentences are taken from, with what each comparison with the question needs to know of it.

    Attributes:
        passage: The passage.
        language: Its language.
        names: The words of its title and headings, analysed.
        headings: Its headings.
    """

    passage: Passage
    language: str
    names: frozenset[str]
    headings: Headings

    @classmethod
    def of(cls, passage: Passage, asked_in: str = DEFAULT_LANGUAGE) -> Source:
        """Read a passage, with the language of the question."""
        language = passage_language(passage.hit.content, asked_in)
        parts = (passage.hit.title, *headings_of(passage.hit.heading))
        names = ", ".join(dict.fromkeys(part.strip() for part in parts if part.strip()))
        return cls(passage, language, frozenset(analyze(names, language)), Headings(passage, language))

    @property
    def text(self) -> str:
        """The text of the passage."""
        return self.passage.hit.content


def entitled(question: str, sources: Sequence[Source]) -> list[bool]:
    """Return which passages are called what is asked for: their sentences need not repeat it.

    One is by the number of a section above it ("§ 433 BGB"): of several, by those with most of the question in their
    names. Else by its title, by its heading if that is one name, as of a setting, or by all its names, if the heading
    is part of the question ("the Force parameter of Copy-Item"); or by a heading that has what the question quotes, as
    it does the message of an error. Source code says more than its comments.
    """
    numbers, bare = set(asked_numbers(question)), asked_name(question) or without_asking(question)
    quoted = [analyze(phrase) for phrase in _QUOTED.findall(question)]
    called, shared = [], []
    for source in sources:
        hit, language = source.passage.hit, source.language
        asked, headings = set(analyze(bare, language)), headings_of(hit.heading)
        title, own = set(analyze(hit.title, language)), set(analyze(without_number(headings[-1]), language))
        is_part = bool(own) and own.issubset(asked) and not hit.is_code
        by_heading = len(headings[-1].split()) == 1 and own.issuperset(asked)
        by_quotation = any(len(words) > 1 and _has_run(analyze(headings[-1]), words) for words in quoted)
        called.append(
            title.issuperset(asked) or by_heading or by_quotation or (is_part and source.names.issuperset(asked))
        )
        has_number = any(not numbers.isdisjoint(heading_numbers(heading)) for heading in headings)
        shared.append(1 + len(source.names & asked) if has_number else 0)
    most = max(shared, default=0)
    return [by_name or 0 < share == most for by_name, share in zip(called, shared, strict=True)]


def explaining(names: Sequence[str], sources: Sequence[Source], sentences: Sequence[Sentence]) -> set[int]:
    """Return the numbers of the sentences that begin a section which is called what is to be explained.

    They say what it is without its name: below "5.29. Termination-Action", "This attribute indicates what to do then."

    Args:
        names: What is to be explained may be called so.
        sources: The passages.
        sentences: Their sentences, in the order of their texts.
    """
    found: set[int] = set()
    seen: set[int] = set()
    for number, one in enumerate(sentences):
        source = sources[one.passage]
        if source.passage.hit.metadata.get("speaker"):  # below "Ida", or a topic, people say anything
            continue
        if one.passage in seen or len(one.text.split()) < _FEWEST_WORDS:
            continue
        seen.add(one.passage)
        name = without_number(last_heading(source.passage.hit.heading))
        own, asked = set(analyze(name, source.language)), [set(analyze(known, source.language)) for known in names]
        is_called = own in asked and len(asked[0] - source.names) <= 1  # "the Class attribute" below "Class"
        if own and is_called and one.place.said and name in source.text[: one.place.start]:
            found.add(number)
    return found


def is_number_of(one: Sentence, wanted: Set[str]) -> bool:
    """Return whether a sentence only says which number has what is asked about: "29 for Termination-Action."."""
    return _NUMBER_OF.match(one.text) is not None and all(map(str.isdecimal, one.words - wanted))


def _has_run(words: Sequence[str], run: Sequence[str]) -> bool:
    """Return whether words have others, in their order and next to each other."""
    return any(list(words[place : place + len(run)]) == list(run) for place in range(len(words) - len(run) + 1))


def names_not_asked(source: Source, wanted: set[str]) -> list[re.Pattern[str]]:
    """Return patterns for the title and the heading of a passage, but not of what the question names itself.

    Args:
        source: The passage.
        wanted: The words of the question, analysed.
    """
    names = (source.passage.hit.title, last_heading(source.passage.hit.heading))
    known_as = dict.fromkeys(without_distinction(name.strip()) for name in names)
    return [
        re.compile(rf"(?<!\w){re.escape(name)}(?!\w)")
        for name in known_as
        if not wanted.issuperset(analyze(name, source.language))
    ]


def has_alike(words: Collection[str], term: str) -> bool:
    """Return whether a word is among others, or one that begins with it, or it with that: "director" and "direct"."""
    return term in words or any(
        len(word) >= _LONG and len(term) >= _LONG and (word.startswith(term) or term.startswith(word)) for word in words
    )
