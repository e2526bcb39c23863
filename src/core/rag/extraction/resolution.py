"""Finds names that mean the same, by spelling, initials and vectors; when in doubt, keeps them apart.

Nothing is compared with everything: names are put into blocks that any two which may be the same share.
"""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import batched, combinations
from typing import Final

from rapidfuzz.distance import DamerauLevenshtein

from core.rag.analysis.words import fold
from core.rag.extraction.names import type_of
from libs.regexes import regex

#: Words of a company's name that only denote its legal form.
_LEGAL: Final = frozenset("inc incorporated ltd limited llc llp plc gmbh ag sa sarl bv nv corp corporation co".split())
_CORPORATION: Final = "corporation"
_HYPHENATED: Final = regex(r"[-‐‑]\w+$")
_ARTICLES: Final = frozenset({"the", "a", "an"})
# What commands, paths, addresses and signatures have, and other names do not.
_OF_IDENTIFIER: Final = regex(r"[/\\=<>{}\[\]_|@#]|:(?=\S)|\w\(|[a-z]\.\w\w")
_BEGINNINGS: Final = tuple(f"{article} " for article in sorted(_ARTICLES))
_UMLAUT: Final = "\u0308"
_SMALL: Final = frozenset("of the and for in on at to de d la l le du des von und für et y".split())
_ROMAN: Final = frozenset("i ii iii iv v vi vii viii ix x xi xii xiii xiv xv xvi jr sr".split())

_SHORTEST_KEY: Final = 4
_SHORTEST_ACRONYM: Final = 3
_SHORTEST_FUZZY_WORD: Final = 6
_TWO_EDITS_FROM: Final = 11
_LARGEST_BLOCK: Final = 60
_LIKENESS: Final = 0.95
#: Number of pairs that are checked together: there are several for each name, too many to keep all.
_PAIRS_AT_ONCE: Final = 5_000


@dataclass(frozen=True, slots=True)
class Candidate:
    """An entity that may be the same as another.

    Attributes:
        id: Its id.
        name: Its normalised name.
        text: Its displayed name.
        type: Its type.
        mentions: Number of chunks that mention it.
        titled: Whether it is the title of a document.
    """

    id: str
    name: str
    text: str
    type: str
    mentions: int = 0
    titled: bool = False

    @property
    def is_acronym(self) -> bool:
        """Whether it is spelt as an acronym; its type may differ, by a record (``company``) or a language model."""
        return type_of(self.text) == "acronym"


@dataclass(frozen=True, slots=True)
class Sameness:
    """Two entities that are the same.

    Attributes:
        alias: Id of the entity with fewer mentions.
        entity: Id of the entity with more mentions.
        method: ``alias``, ``acronym``, ``fuzzy``, ``vector`` or ``caller``.
        score: Confidence, 0 to 1.
    """

    alias: str
    entity: str
    method: str
    score: float


def alike(names: Iterable[str], acronyms: Iterable[str]) -> set[str]:
    """Those of many names that are spelt like another, or have initials that an acronym is; quick, as :func:`resolve`
    is not.

    Args:
        names: Normalised names of entities.
        acronyms: Those of them that are acronyms.
    """
    first: dict[str, str] = {}
    short: dict[str, list[str]] = {}  # RAF and R.A.F. have the same letters
    for acronym in acronyms:
        short.setdefault(acronym.replace(" ", ""), []).append(acronym)
    found: set[str] = set()
    for name in names:
        for key in _spellings(name):
            other = first.setdefault(key, name)
            if other is not name:
                found.update((name, other))
        if short and name.count(" ") >= 2:
            for initials in _initials_of(name):
                if initials in short:
                    found.update((name, *short[initials]))
    return found


def resolve(
    candidates: Iterable[Candidate],
    *,
    fuzzy: bool = True,
    together: Callable[[Sequence[tuple[str, str]]], set[tuple[str, str]]] | None = None,
    similarities: Callable[[Sequence[tuple[Candidate, Candidate]]], Sequence[float]] | None = None,
) -> list[Sameness]:
    """Find out which entities are the same.

    Two titles of documents are never the same unless they are spelt alike, and neither are two names that differ in a
    number, nor two commands, paths or other identifiers.

    Args:
        candidates: The entities.
        fuzzy: Whether names that differ by one or two letters are the same.
        together: Returns those of the pairs of ids (acronym, phrase) that a chunk mentions together; without it,
            acronyms are not resolved.
        similarities: Returns how alike pairs are, by their vectors; called for parts, with some pairs more than once,
            and only with entities of :func:`comparable`. Without it, vectors are not compared.

    Returns:
        Each pair once, the same for the same entities in any order.
    """
    usable = _usable(candidates)
    found: dict[tuple[str, str], Sameness] = {}

    def add(a: Candidate, b: Candidate, method: str, score: float) -> None:
        alias, entity = sorted((a, b), key=lambda item: (item.mentions, not item.titled, item.name))
        found.setdefault((min(a.id, b.id), max(a.id, b.id)), Sameness(alias.id, entity.id, method, score))

    for a, b in _spelt_alike(usable):
        add(a, b, "alias", 1.0)
    if together is not None:
        pairs = list(_initials(usable))
        there = together([(a.id, b.id) for a, b in pairs])
        for a, b in pairs:
            if (a.id, b.id) in there:
                add(a, b, "acronym", 0.95)
    for a, b, score in _nearly_alike(usable) if fuzzy else ():
        add(a, b, "fuzzy", score)
    if similarities is not None:
        for close in batched(_sharing_words(usable), _PAIRS_AT_ONCE):
            for (a, b), likeness in zip(close, similarities(close), strict=True):
                if likeness > _LIKENESS:
                    add(a, b, "vector", round(min(likeness, 1.0), 4))
    return sorted(found.values(), key=lambda same: (same.alias, same.entity))


def abbreviations(candidates: Iterable[Candidate]) -> list[tuple[str, str]]:
    """Return the pairs of ids (acronym, phrase) with which :func:`resolve` calls ``together``."""
    return [(acronym.id, phrase.id) for acronym, phrase in _initials(_usable(candidates))]


def comparable(candidates: Iterable[Candidate]) -> list[Candidate]:
    """Return the entities with which :func:`resolve` may call ``similarities``, each once, by id."""
    blocks = _word_blocks(_usable(candidates))
    found = {candidate.id: candidate for block in blocks if len(block) > 1 for candidate in block}
    return [found[identifier] for identifier in sorted(found)]


def _usable(candidates: Iterable[Candidate]) -> list[Candidate]:
    """Return the entities that may be the same as another, in the order of their names."""
    return sorted(
        (candidate for candidate in candidates if candidate.type not in {"year", "code"}), key=lambda item: item.name
    )


def _spellings(name: str, text: str = "") -> Collection[str]:
    """Return the letters of a name, without accents, spaces, an article before and a legal form behind.

    Args:
        name: Normalised.
        text: As it is spelt, if that is known: what follows a hyphen is no legal form (CC BY-SA).
    """
    folded = name if name.isascii() else fold(name)
    if not folded.startswith(_BEGINNINGS) and folded[folded.rfind(" ") + 1 :] not in _LEGAL:  # most are like this
        key = folded.replace(" ", "")
        return (key,) if len(key) >= _SHORTEST_KEY else ()
    words = folded.split(" ")
    # Before a single word, "a" is mostly not an article: A-Team and Team, A level and Level, &'a mut and mut.
    if words[0] in _ARTICLES and len(words) > (1 if words[0] == "the" else 2):
        words = words[1:]
    keys = {"".join(words)}
    if len(words) == 2 and words[1] == _CORPORATION:
        # That of Harvard is not Harvard, nor is that of Dublin: only Acme Corp. is sure to be the same.
        keys.add(f"{words[0]}corp")
        words = words[:1]
    while len(words) > 1 and words[-1] in _LEGAL and not _HYPHENATED.search(text):
        words = words[:-1]
        keys.add("".join(words))
    return {key for key in keys if len(key) >= _SHORTEST_KEY}


def _spelt_alike(candidates: Sequence[Candidate]) -> Iterator[tuple[Candidate, Candidate]]:
    """Yield pairs of names with the same letters."""
    blocks: dict[str, list[Candidate]] = defaultdict(list)
    for candidate in candidates:
        for key in _spellings(candidate.name, candidate.text):
            blocks[key].append(candidate)
    for block in blocks.values():
        yield from (pair for pair in combinations(block, 2) if not _differ_in_umlauts(pair[0].name, pair[1].name))


def _differ_in_umlauts(a: str, b: str) -> bool:
    """Return whether two single words differ in an umlaut: Worth and Wörth, Michael and Michaël are two.

    Other accents are left out by many, on capitals above all (Etat), and so are these in names of several words.
    """
    if " " in a or " " in b or (a.isascii() and b.isascii()) or len(a) != len(b):
        return False
    return any(x != y and _UMLAUT in (unicodedata.normalize("NFD", x + y)) for x, y in zip(a, b, strict=True))


def _initials_of(name: str) -> set[str]:
    """Return the initials of a phrase, with and without its function words, if their number is that of an acronym."""
    words = name.split(" ")
    kept = {"".join([word[0] for word in words]), "".join([word[0] for word in words if word not in _SMALL])}
    return {initials for initials in kept if len(initials) >= _SHORTEST_ACRONYM}


def _initials(candidates: Sequence[Candidate]) -> Iterator[tuple[Candidate, Candidate]]:
    """Acronyms with the only phrase that has these initials, and with themselves spelt letter by letter: ``U.S.A.``"""
    acronyms = {candidate.name.replace(" ", ""): candidate for candidate in candidates if candidate.is_acronym}
    phrases: dict[str, list[Candidate]] = defaultdict(list)
    for candidate in candidates:
        for initials in _initials_of(candidate.name) & acronyms.keys():
            acronym, words = acronyms[initials], candidate.name.split(" ")
            if candidate is acronym or initials in words:
                continue  # GSA's AB does not spell out GSA
            if all(len(word) == 1 for word in words):
                yield acronym, candidate
            else:
                phrases[initials].append(candidate)
    for initials, block in sorted(phrases.items()):
        if len(block) == 1:
            yield acronyms[initials], block[0]


def _nearly_alike(candidates: Sequence[Candidate]) -> Iterator[tuple[Candidate, Candidate, float]]:
    """Yield pairs of names of several words that differ by one or two letters of a long word."""
    blocks: dict[tuple[str, ...], list[tuple[str, Candidate]]] = defaultdict(list)
    for candidate in candidates:
        words = candidate.name.split(" ")
        if not 2 <= len(words) <= 8 or _is_identifier(candidate.text):
            continue
        for place, word in enumerate(words):
            if len(word) >= _SHORTEST_FUZZY_WORD and word.isalpha():
                blocks[(*words[:place], "", *words[place + 1 :])].append((word, candidate))
    for block in blocks.values():
        if len(block) > _LARGEST_BLOCK:
            continue
        for (word, a), (other, b) in combinations(block, 2):
            if a.titled and b.titled:
                continue
            allowed = 2 if min(len(word), len(other)) >= _TWO_EDITS_FROM else 1
            distance = DamerauLevenshtein.distance(word, other, score_cutoff=allowed)
            # The first letter is hardly ever wrong: Mulder and Fulder are not a pair.
            if 0 < distance <= allowed and word[0] == other[0]:
                yield a, b, round(1 - distance / max(len(a.name), len(b.name)), 4)


def _sharing_words(candidates: Sequence[Candidate]) -> Iterator[tuple[Candidate, Candidate]]:
    """Yield pairs that share a rare word and have the same numbers, once for each such word."""
    for block in _word_blocks(candidates):
        for a, b in combinations(block, 2):
            if not (a.titled and b.titled):
                yield a, b


def _word_blocks(candidates: Iterable[Candidate]) -> Iterator[list[Candidate]]:
    """Yield groups of names of several words that share a rare word and have the same numbers."""
    blocks: dict[str, dict[frozenset[str], list[Candidate]]] = defaultdict(lambda: defaultdict(list))
    for candidate in candidates:
        words = set(candidate.name.split(" "))
        if len(words) > 1 and not (candidate.is_acronym or _is_identifier(candidate.text)):
            numbers = _numbers(words)
            for word in words - _SMALL:
                blocks[word][numbers].append(candidate)
    for block in blocks.values():
        if sum(map(len, block.values())) <= _LARGEST_BLOCK:
            yield from block.values()


def _is_identifier(text: str) -> bool:
    """Return whether a name means something else with each letter: ``get-object``, ``put-object``."""
    return bool(_OF_IDENTIFIER.search(text)) or ("-" in text and text.islower())


def _numbers(words: Iterable[str]) -> frozenset[str]:
    """Return the words that distinguish items of a series: digits, Roman numerals, single letters."""
    return frozenset(word for word in words if word in _ROMAN or len(word) == 1 or any(map(str.isdigit, word)))
