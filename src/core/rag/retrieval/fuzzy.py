"""Typo-tolerant search in titles, headings and names.

A name is compared word by word, so the order of words does not matter and part of a name is enough. Two words are as
similar as one minus the share of letters to insert, delete, replace or swap with a neighbour (optimal string alignment,
RapidFuzz); what is less similar than 0.7 does not count, so short words have to be right. A query word that begins a
word of the name, or nearly, counts almost fully. Words run together or torn apart are caught by comparing the whole
names as well.

    score = r * (0.7 + 0.3 * p), or the similarity of the whole names without spaces if that is higher

with r the share of the query found in the name and p the share of the name found in the query. A word counts by its
length and its rarity among the names; function words a quarter.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from core.rag.analysis.language import DEFAULT_LANGUAGE
from core.rag.analysis.words import fold, is_stop_word

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

#: Names scored lower than this are not found.
CUTOFF: Final = 0.3

_WORD_CUTOFF: Final = 0.7
_WHOLE_CUTOFF: Final = 0.8
_PREFIX_FACTOR: Final = 0.9
_SHORTEST_PREFIX: Final = 3
_SHORTEST_WHOLE: Final = 5
_STOP_WORD_WEIGHT: Final = 0.25
_MAX_QUERY_WORDS: Final = 32
_MAX_QUERY_CHARACTERS: Final = 2_000
_MAX_NAME_CHARACTERS: Final = 400

_MAX_WORD_CHARACTERS: Final = 40

# Scripts without spaces are compared in pairs of characters.
_UNSPACED: Final = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\ud7ff"
_WORD: Final = re.compile(rf"[^\W_{_UNSPACED}]+|[{_UNSPACED}]+")
_UNSPACED_WORD: Final = re.compile(f"[{_UNSPACED}]")


# An index is made anew from all names, in the same order, so one more name than are kept and none is found again.
# A document has two names or more, headings beside.
@lru_cache(maxsize=200_000)
def _words(text: str) -> tuple[str, ...]:
    """The different words of a name, folded."""
    words: list[str] = []
    for word in _WORD.findall(fold(text)):
        if len(word) > 2 and _UNSPACED_WORD.match(word):
            words.extend(word[start : start + 2] for start in range(len(word) - 1))
        else:
            words.append(word[:_MAX_WORD_CHARACTERS])
    return tuple(dict.fromkeys(words))


def _weight(word: str) -> float:
    return len(word) * (_STOP_WORD_WEIGHT if is_stop_word(word, DEFAULT_LANGUAGE) else 1.0)


class FuzzyIndex:
    """Names prepared for fuzzy search. Keep it as long as the names stay the same."""

    def __init__(self, names: Iterable[tuple[str, str]]) -> None:
        """Prepare the index.

        Args:
            names: Pairs of a key and a name; a key may have several names.
        """
        import numpy as np

        self._keys: list[str] = []
        self._whole: list[str] = []
        vocabulary: dict[str, int] = {}
        rows: list[int] = []
        columns: list[int] = []
        for key, name in names:
            words = _words(name[:_MAX_NAME_CHARACTERS])
            if words:
                rows.extend([len(self._keys)] * len(words))
                columns.extend([vocabulary.setdefault(word, len(vocabulary)) for word in words])
                self._keys.append(key)
                self._whole.append("".join(words))
        self._vocabulary = list(vocabulary)
        self._initials: dict[str, list[int]] = {}
        for index, word in enumerate(self._vocabulary):
            self._initials.setdefault(word[0], []).append(index)
        of_word = np.array(columns, dtype=np.int64)
        of_name = np.array(rows, dtype=np.int64)
        counts = np.bincount(of_word, minlength=len(vocabulary))
        self._names = of_name[np.argsort(of_word, kind="stable")]
        self._starts = np.concatenate([[0], np.cumsum(counts)])
        self._weights = np.array([_weight(word) for word in vocabulary]) * self._rarity(counts)
        self._totals = np.bincount(of_name, weights=self._weights[of_word], minlength=len(self._keys))

    def __len__(self) -> int:
        """How many names there are."""
        return len(self._keys)

    def rank(self, query: str, k: int, cutoff: float = CUTOFF) -> dict[str, float]:
        """The keys whose names are most like the query.

        Args:
            query: What was typed.
            k: How many at most.
            cutoff: Names scored lower are left out.

        Returns:
            Score by key, best first (equal ones by key): over 0, at most 1; the best of a key's names.
        """
        import numpy as np

        words = list(_words(query[:_MAX_QUERY_CHARACTERS]))[:_MAX_QUERY_WORDS]
        if not words or not self._keys or k < 1:
            return {}
        similar = self._similarities(words)
        found = np.zeros(len(self._keys))
        total = 0.0
        for word, row in zip(words, similar, strict=True):
            best = np.zeros(len(self._keys))
            for other in np.flatnonzero(row).tolist():
                names = self._postings(other)
                best[names] = np.maximum(best[names], row[other])
            weight = _weight(word) * float(self._rarity(np.count_nonzero(best)))
            found += weight * best
            total += weight
        said = np.zeros(len(self._keys))
        likeness = similar.max(axis=0)
        for other in np.flatnonzero(likeness).tolist():
            said[self._postings(other)] += likeness[other] * self._weights[other]
        scores = found / total * (0.7 + 0.3 * said / self._totals)
        return self._best(np.maximum(scores, self._whole_similarities("".join(words))), k, cutoff)

    def _rarity(self, count: Any) -> Any:
        """Between 0 and 1: how few of the names have a word that ``count`` of them have."""
        import numpy as np

        return np.log1p(len(self._keys) / np.maximum(count, 1)) / np.log1p(max(len(self._keys), 1))

    def _similarities(self, words: list[str]) -> NDArray[np.float32]:
        """How similar each query word is to each word of the names; 0 below the cutoff."""
        import numpy as np
        from rapidfuzz.distance import OSA
        from rapidfuzz.process import cdist

        similar: NDArray[np.float32] = cdist(
            words, self._vocabulary, scorer=OSA.normalized_similarity, score_cutoff=_WORD_CUTOFF, dtype=np.float32
        )
        for index, word in enumerate(words):
            if len(word) < _SHORTEST_PREFIX or is_stop_word(word, DEFAULT_LANGUAGE):
                continue
            longer = [other for other in self._initials.get(word[0], ()) if len(self._vocabulary[other]) > len(word)]
            beginnings = [self._vocabulary[other][: len(word)] for other in longer]
            begun = cdist([word], beginnings, scorer=OSA.normalized_similarity, score_cutoff=_WORD_CUTOFF)[0]
            similar[index, longer] = np.maximum(similar[index, longer], _PREFIX_FACTOR * begun)
        return similar

    def _whole_similarities(self, query: str) -> NDArray[np.float32]:
        import numpy as np
        from rapidfuzz.distance import OSA
        from rapidfuzz.process import cdist

        if len(query) < _SHORTEST_WHOLE:
            return np.zeros(len(self._whole), dtype=np.float32)
        whole: NDArray[np.float32] = cdist(
            [query], self._whole, scorer=OSA.normalized_similarity, score_cutoff=_WHOLE_CUTOFF, dtype=np.float32
        )[0]
        return whole

    def _postings(self, word: int) -> NDArray[np.int64]:
        return self._names[self._starts[word] : self._starts[word + 1]]

    def _best(self, scores: NDArray[np.float64], k: int, cutoff: float) -> dict[str, float]:
        import numpy as np

        best: dict[str, float] = {}
        for index in np.flatnonzero((scores >= cutoff) & (scores > 0)).tolist():
            key = self._keys[index]
            best[key] = max(best.get(key, 0.0), min(float(scores[index]), 1.0))
        return dict(sorted(best.items(), key=lambda item: (-item[1], item[0]))[:k])


def fuzzy_rank(query: str, names: Iterable[tuple[str, str]], k: int, cutoff: float = CUTOFF) -> dict[str, float]:
    """The keys whose names are most like the query; :class:`FuzzyIndex` for more than one query.

    Args:
        query: What was typed.
        names: Pairs of a key and a name; a key may have several names.
        k: How many at most.
        cutoff: Names scored lower are left out.

    Returns:
        Score by key, best first: over 0, at most 1.
    """
    return FuzzyIndex(names).rank(query, k, cutoff)
