"""Caches the scores of words on the embedded engine, for processes that search repeatedly.

The engine takes a fifth of a microsecond for each node that has a word of the question, 50,000 chunks have a word like
"film" thirty thousand times, and questions share such words. So from the second search for a word on, its scores are
kept until something is written that may change them. The score of a question is the sum over its words, in their order:
to the last bit what the engine computes for all of them, with equal scores in the engine's order.
"""

from __future__ import annotations

import re
import threading
from collections import OrderedDict
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from core.rag.dbhandler.commits import has_unlabelled
from core.rag.dbhandler.embedded import dialect
from core.rag.schema import Label, TextIndex
from libs.regexes import regex

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    #: Numbers of nodes, and the score of each.
    type Scores = tuple[NDArray[np.int64], NDArray[np.float64]]

#: The words of all indexes take at most this much memory together.
MAX_BYTES: Final = 64 << 20

#: Maximum number of words per index that are remembered as searched for.
MAX_ASKED: Final = 50_000

# Numbers of nodes that are spread wider than this are sorted; others are their own places in an array.
_SPREAD = 8


class _Words:
    """Words of an index as it is now; another one takes its place when something is written."""

    def __init__(self) -> None:
        self.asked: set[str] = set()
        self.scores: OrderedDict[str, Scores] = OrderedDict()


class WordScores:
    """The scores of words in the indexes of one store. Thread-safe."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._indexes: dict[TextIndex, _Words] = {}
        self._changing = 0
        self._bytes = 0

    @contextmanager
    def changing(self, statements: Collection[str] | None) -> Iterator[None]:
        """Discard the scores that a commit may change, and keep none while it runs; hold this during the commit.

        Args:
            statements: The statements of the commit; ``None``: unknown ones.
        """
        with self._guard:
            self._changing += 1
            self._forget(statements)
        try:
            yield
        finally:
            with self._guard:
                self._changing -= 1

    def search(self, db: Any, index: TextIndex, terms: Mapping[str, float], k: int) -> list[tuple[str, float]]:
        """Return nodes by BM25; see :func:`core.rag.dbhandler.embedded.dialect.text_search`."""
        with self._guard:
            words = self._indexes.setdefault(index, _Words())
            known = {term for term in terms if term in words.asked}
            if len(words.asked) < MAX_ASKED:
                words.asked.update(terms)
            quiet = not self._changing
        if known and quiet:
            found = dialect.ids_of(db, self._best(db, index, words, terms, known, k))
            with self._guard:
                if self._is_current(index, words):
                    return found
        return dialect.text_search(db, index, terms, k)

    def _best(
        self, db: Any, index: TextIndex, words: _Words, terms: Mapping[str, float], known: set[str], k: int
    ) -> list[tuple[int, float]]:
        import numpy as np

        by_weight: dict[float, list[Scores]] = {}
        for term, weight in terms.items():
            by_weight.setdefault(weight, []).append(self._scores(db, index, words, term, keep=term in known))
        parts = [scores for group in by_weight.values() for scores in group]
        nodes = np.concatenate([part[0] for part in parts])
        if not len(nodes):
            return []
        low, size = int(nodes.min()), int(np.ptp(nodes)) + 1
        numbers: NDArray[np.int64] | None = None
        places = nodes - low
        if size > _SPREAD * len(nodes):
            numbers, places = np.unique(nodes, return_inverse=True)
            size = len(numbers)
        totals: list[NDArray[np.float64]] = []
        begin = 0
        for weight, group in by_weight.items():
            end = begin + sum(len(part[0]) for part in group)
            # Adds them up in their order, as the engine does.
            added = np.bincount(places[begin:end], np.concatenate([part[1] for part in group]), size)
            totals.append(added if weight == 1.0 else weight * added)
            begin = end
        total = sum(totals[1:], totals[0])
        best = _best_places(places, total, k, len(parts))
        chosen = best + low if numbers is None else numbers[best]
        return list(zip(chosen.tolist(), total[best].tolist(), strict=True))

    def _scores(self, db: Any, index: TextIndex, words: _Words, term: str, *, keep: bool) -> Scores:
        import numpy as np

        with self._guard:
            stored = words.scores.get(term)
            if stored is not None:
                words.scores.move_to_end(term)
                return stored
        found = dialect.word_search(db, index, term)
        nodes = np.fromiter((node for node, _ in found), np.int64, len(found))
        scores = nodes, np.fromiter((score for _, score in found), np.float64, len(found))
        if keep:
            with self._guard:
                if self._is_current(index, words) and term not in words.scores:
                    words.scores[term] = scores
                    self._bytes += _size(scores)
                    self._make_room()
        return scores

    def _is_current(self, index: TextIndex, words: _Words) -> bool:
        return self._indexes.get(index) is words

    def _make_room(self) -> None:
        """Discard the least recently used words, of whichever index has most."""
        while self._bytes > MAX_BYTES:
            fullest = max(self._indexes.values(), key=lambda words: len(words.scores))
            self._bytes -= _size(fullest.scores.popitem(last=False)[1])

    def _forget(self, statements: Collection[str] | None) -> None:
        for index in list(self._indexes):
            if statements is None or any(changes_words(statement, index.label) for statement in statements):
                self._bytes -= sum(map(_size, self._indexes.pop(index).scores.values()))


def _best_places(places: NDArray[np.int64], total: NDArray[np.float64], k: int, times: int) -> NDArray[np.int64]:
    """Return the ``k`` places with the highest totals, best first; equal ones in ascending order.

    Args:
        places: The places to choose from; the same place at most ``times`` times.
        total: The total of each place.
        k: How many to choose.
        times: Maximum number of times that a place is among ``places``.
    """
    import numpy as np

    scores = total[places]
    most = k * times  # of so many, at least k are different
    if len(scores) > most:
        places = places[scores >= np.partition(scores, -most)[-most]]
    there = np.unique(places)
    return there[np.lexsort((there, -total[there]))][:k]


def _size(scores: Scores) -> int:
    return scores[0].nbytes + scores[1].nbytes


@lru_cache(maxsize=1024)
def changes_words(statement: str, label: Label) -> bool:
    """Return whether a statement may change the keyword index of a label.

    It may if it names the label, or a node without any, unless it creates and deletes no nodes and only sets single
    properties other than the words.
    """
    return _CHANGING.search(statement) is not None and (label.value in statement or has_unlabelled(statement))


_CHANGING = regex(
    r"\bterms\b|\+=|\b(?:DELETE|REMOVE|FOREACH|CALL)\b|(?<!\bON )\bCREATE\b|\bMERGE\s*\(\s*\w*\s*:"
    # A label, or all properties at once.
    r"|\bSET\s+\w+\s*[:=]|,\s*\w+\s*[:=]",
    re.IGNORECASE,
)
