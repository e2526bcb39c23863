"""Keyword search on a server: the server's index finds the candidates, and their BM25 scores are computed here.

A server ranks with its own constants, with lengths rounded to a byte, and with the words of all namespaces, since one
index holds them all. Computed here from the texts of the candidates, with the numbers of their namespace, a score is
the one that the embedded engine gives, and nothing of another tenant has a part in it (docs/adr/0012-bolt.md).
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from core.rag.dbhandler.batches import batches
from core.rag.dbhandler.bolt.dialect import plain_words
from core.rag.dbhandler.scan import Text, bm25_scores
from core.rag.dbhandler.store import MAX_K, Match
from core.rag.schema import TextIndex
from core.rag.together import together

if TYPE_CHECKING:
    from core.rag.dbhandler.bolt.dialect import Dialect, Runner

#: A server orders a little differently: this many candidates for each result, and so many more.
_FACTOR = 2
_MORE = 100

#: So many more where one of the best may be further down: the lengths of texts in other namespaces, by which a server
#: measures, may be quite different ones.
_MANY_MORE = 1_000

#: A text that was not looked at may gain more by our ranking than any that was: by this factor, it is assumed.
_SLACK = 1.25

#: The average length comes from at most so many texts: the first by id, which are as good as drawn by lot.
_SAMPLE = 20_000

#: Up to so many texts, the numbers are counted anew after each change by this client. More texts hardly change them.
_FEW = 5_000

#: Numbers older than this are counted anew in any case: other clients write, too.
_FRESH_SECONDS = 5.0
_FRESH_SECONDS_OF_MANY = 60.0


@dataclass
class _Numbers:
    """What BM25 needs to know of a namespace."""

    counted: float
    total: int
    average: float
    holding: dict[str, int] = field(default_factory=dict)


class WordSearch:
    """Searches the keyword indexes of one server."""

    def __init__(self, runner: Runner, dialect: Dialect) -> None:
        """Prepare; nothing is asked yet.

        Args:
            runner: For what is portable.
            dialect: For what is not. Its server has text search.
        """
        self._runner = runner
        self._dialect = dialect
        self._numbers: dict[TextIndex, _Numbers] = {}
        self._changes = 0

    async def search(self, index: TextIndex, words: Mapping[str, float], k: int) -> list[Match]:
        """Return the ``k`` best nodes for words as ``plain_words`` gives them; see ``GraphStore.text_search``.

        Raises:
            IndexMissingError: if the server has no such index.
        """
        ranked: list[Match] = []
        texts: dict[str, Text] = {}
        for more in (_MORE, _MANY_MORE):
            wanted = min(MAX_K, _FACTOR * k + more)
            found = await self._dialect.text_candidates(index, words, wanted)
            if not found:
                return []
            new = [key for key in _hopeful(ranked, found, k) if key not in texts]
            complete = len(found) < wanted and len(new) + len(texts) >= len(found)
            more_texts, numbers = await together(
                self._texts(index, new, words), self._of(index, () if complete else words)
            )
            texts |= {text.id: text for text in more_texts}
            ranked = _ranked(list(texts.values()), words, numbers, complete=complete)
            if len(found) < wanted or not _others_may_be_better(ranked, found, k):
                break
        return ranked[:k]

    async def known(self, index: TextIndex, words: Collection[str]) -> set[str]:
        """Return those of some words that any node has; see ``GraphStore.known_words``.

        Raises:
            IndexMissingError: if the server has no such index.
        """
        found: set[str] = set()
        for part in batches(list(words)):
            if plain := plain_words(dict.fromkeys(part, 1.0)):
                counts = await self._dialect.text_counts(index, list(plain), 1)
                found.update(word for word, number in counts.items() if number)
        return found

    def changed(self, statements: Collection[str]) -> None:
        """Take note of a commit: what was counted of the labels that its statements name is outdated."""
        self._changes += 1
        for index, numbers in list(self._numbers.items()):
            if numbers.total <= _FEW and any(f":{index.label}" in statement for statement in statements):
                self._numbers.pop(index, None)

    async def _texts(self, index: TextIndex, found: Sequence[str], words: Mapping[str, float]) -> list[Text]:
        rows = await self._runner.query(
            # In one row: to the driver, a row is far more work than an item of a list.
            f"UNWIND $ids AS i MATCH (n:{index.label} {{id: i}}) WHERE n.terms IS NOT NULL "
            "RETURN collect(i) AS ids, collect(n.terms) AS terms",
            {"ids": found},
            "A keyword search",
        )
        texts = (Text.of(i, terms, words) for row in rows for i, terms in zip(row["ids"], row["terms"], strict=True))
        return [text for text in texts if text.counts]  # else it was changed since

    async def _of(self, index: TextIndex, words: Collection[str]) -> _Numbers:
        """Return the numbers of a namespace, with how many texts hold each of these words."""
        numbers = await self._counted(index)
        if unknown := [word for word in words if word not in numbers.holding]:
            numbers.holding |= dict.fromkeys(unknown, 0) | await self._dialect.text_counts(index, unknown)
        return numbers

    async def _counted(self, index: TextIndex) -> _Numbers:
        now = time.monotonic()
        known = self._numbers.get(index)
        if known is not None:
            fresh = _FRESH_SECONDS if known.total <= _FEW else _FRESH_SECONDS_OF_MANY
            if now - known.counted < fresh:
                return known
        changes = self._changes
        texts = f"MATCH (n:{index.label}) WHERE n.namespace = $namespace AND n.terms IS NOT NULL AND n.terms <> '' "
        rows = await self._runner.query(
            f"{texts}WITH n.id AS id, size(split(n.terms, ' ')) AS length ORDER BY id LIMIT {_SAMPLE} "
            "RETURN count(*) AS n, coalesce(sum(length), 0) AS words",
            {"namespace": index.namespace},
            "A keyword search",
        )
        sampled = rows[0]["n"]
        average = rows[0]["words"] / sampled if sampled else 1.0
        if sampled == _SAMPLE:
            rows = await self._runner.query(f"{texts}RETURN count(n) AS n", {"namespace": index.namespace})
        numbers = _Numbers(now, rows[0]["n"], average)
        if changes == self._changes or numbers.total > _FEW:  # else they may be of before a commit
            self._numbers[index] = numbers
        return numbers


def _ranked(texts: Sequence[Text], words: Mapping[str, float], numbers: _Numbers, *, complete: bool) -> list[Match]:
    """Texts, best first; where these are all that hold any of the words, the words are counted in them."""
    holding = _holding(texts, words) if complete else numbers.holding
    scores = bm25_scores(texts, words, holding, max(numbers.total, len(texts)), numbers.average)
    best = sorted([(-score, text.id) for text, score in zip(texts, scores, strict=True)])
    return [Match(identifier, -score) for score, identifier in best]


def _hopeful(ranked: Sequence[Match], found: Mapping[str, float], k: int) -> list[str]:
    """Return the texts found by a server that may be among the ``k`` best, judging by what was ranked already."""
    if len(ranked) < k:
        return list(found)
    least = ranked[k - 1].score / (_SLACK * _gain(ranked, found) or 1.0)
    return [key for key, score in found.items() if score >= least]


def _others_may_be_better(ranked: Sequence[Match], found: Mapping[str, float], k: int) -> bool:
    """Return whether a text that the server ranks below all that it gave may be among the ``k`` best of our ranking."""
    if len(ranked) < k:
        return True
    return ranked[k - 1].score < _SLACK * _gain(ranked, found) * min(found.values())


def _gain(ranked: Iterable[Match], found: Mapping[str, float]) -> float:
    """By how much, at most, our score of a text is above the server's."""
    return max((match.score / found[match.id] for match in ranked if found.get(match.id, 0.0) > 0), default=0.0)


def _holding(texts: Sequence[Text], words: Collection[str]) -> dict[str, int]:
    """Return how many of the texts hold each of the words."""
    return {word: sum(word in text.counts for text in texts) for word in words}
