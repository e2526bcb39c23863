"""BM25 over analysed words in memory, with the formula of :mod:`core.rag.bm25`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from typing import TYPE_CHECKING

from core.rag.bm25 import K1, B

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Bm25:
    """BM25 over a small corpus in memory."""

    def __init__(
        self,
        texts: Iterable[tuple[str, str]],
        *,
        k1: float = K1,
        b: float = B,
        only: Collection[str] | None = None,
    ) -> None:
        """Index a corpus.

        Args:
            texts: Pairs of an id and analysed words joined by spaces (``analysis.index_terms``).
            k1: Term frequency saturation, at least 0.
            b: Length normalisation, from 0 to 1.
            only: The words that it will be asked for, which takes much less time and memory; ``None``: any.
        """
        import numpy as np

        self.ids: list[str] = []
        vocabulary: dict[str, int] = {}
        rows: list[int] = []
        columns: list[int] = []
        counts: list[int] = []
        lengths: list[int] = []
        for identifier, text in texts:
            held = text.split()
            words = Counter(held if only is None else [word for word in held if word in only])
            rows.extend([len(self.ids)] * len(words))
            columns.extend([vocabulary.setdefault(word, len(vocabulary)) for word in words])
            counts.extend(words.values())
            lengths.append(len(held))
            self.ids.append(identifier)
        self._vocabulary = vocabulary
        total = len(self.ids)
        row, column = np.array(rows, dtype=np.int64), np.array(columns, dtype=np.int64)
        documents = np.bincount(column, minlength=len(vocabulary))
        rarity = np.log1p((total - documents + 0.5) / (documents + 0.5))
        length = np.array(lengths, dtype=np.float64)
        norm = k1 * (1 - b + b * length / (length.mean() if length.sum() else 1.0)) if total else length
        tf = np.array(counts, dtype=np.float64)
        # By word: the rows of the documents that have it, and what it counts there.
        order = np.argsort(column, kind="stable")
        self._ends = np.cumsum(documents)
        self._rows = row[order]
        self._parts = (rarity[column] * tf * (k1 + 1) / (tf + norm[row]))[order]

    def scores(self, terms: Iterable[str] | Mapping[str, float]) -> NDArray[np.float64]:
        """Return the score of every document, in the order of ``ids``.

        Args:
            terms: Words, each counted as often as it is repeated, or weights of words.
        """
        import numpy as np

        weights = terms if isinstance(terms, Mapping) else Counter(terms)
        scores = np.zeros(len(self.ids))
        for word, weight in weights.items():
            if (place := self._vocabulary.get(word)) is not None:
                of_word = slice(self._ends[place - 1] if place else 0, self._ends[place])
                scores[self._rows[of_word]] += self._parts[of_word] * weight
        return scores

    def top(self, terms: Iterable[str] | Mapping[str, float], k: int) -> dict[str, float]:
        """Return the ``k`` best documents with any of the words: score by id, best first, ties by id."""
        import numpy as np

        scores = self.scores(terms)
        found = [(self.ids[index], float(scores[index])) for index in np.flatnonzero(scores > 0).tolist()]
        return dict(sorted(found, key=lambda item: (-item[1], item[0]))[:k])
