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

from collections.abc import Collection, Iterable
from functools import cache
from itertools import compress
from typing import TYPE_CHECKING, Any, Final

from core.rag.analysis.language import DEFAULT_LANGUAGE
from core.rag.analysis.words import fold, is_stop_word
from libs.regexes import regex

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

#: Names with a lower score are not found.
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
_WORD: Final = regex(rf"[^\W_{_UNSPACED}]+|[{_UNSPACED}]+")
_UNSPACED_WORD: Final = regex(f"[{_UNSPACED}]")


def _words(text: str) -> tuple[str, ...]:
    """Return the distinct words of a name, folded."""
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

    def __init__(
        self,
        names: Iterable[tuple[str, str]],
        *,
        previous: FuzzyIndex | None = None,
        without: Collection[str] = frozenset(),
    ) -> None:
        """Prepare the index.

        Args:
            names: Pairs of a key and a name; a key may have several names.
            previous: An index whose names are taken over, which takes much less time than to prepare them again. Ranks
                are the same, to the last bit.
            without: Keys whose names are not taken over.
        """
        import numpy as np

        self._keys: list[str] = []
        self._whole: list[str] = []
        self._vocabulary: list[str] = []
        self._plain = np.zeros(0)
        self._sizes = np.zeros(0, dtype=np.int64)
        self._words = np.zeros(0, dtype=np.int64)
        if previous is not None:
            self._take_over(previous, without)
        self._add(names)
        self._initials: dict[str, list[int]] = {}
        for index, word in enumerate(self._vocabulary):
            self._initials.setdefault(word[0], []).append(index)
        of_name = np.repeat(np.arange(len(self._keys)), self._sizes)
        counts = np.bincount(self._words, minlength=len(self._vocabulary))
        self._names = of_name[np.argsort(self._words, kind="stable")]
        self._starts = np.concatenate([[0], np.cumsum(counts)])
        self._weights = self._plain * self._rarity(counts)
        self._totals = np.bincount(of_name, weights=self._weights[self._words], minlength=len(self._keys))

    def _take_over(self, previous: FuzzyIndex, without: Collection[str]) -> None:
        """Take over names of another index, and those of its words that these have."""
        import numpy as np

        stay = np.array([key not in without for key in previous._keys], dtype=np.bool_)
        words = previous._words[np.repeat(stay, previous._sizes)]
        used = np.zeros(len(previous._vocabulary), dtype=np.bool_)
        used[words] = True
        self._keys = list(compress(previous._keys, stay))
        self._whole = list(compress(previous._whole, stay))
        self._vocabulary = list(compress(previous._vocabulary, used))
        self._plain = previous._plain[used]
        self._sizes = previous._sizes[stay]
        self._words = (np.cumsum(used) - 1)[words]

    def _add(self, names: Iterable[tuple[str, str]]) -> None:
        import numpy as np

        numbers = {word: number for number, word in enumerate(self._vocabulary)}
        known = len(numbers)
        sizes: list[int] = []
        columns: list[int] = []
        words_of = cache(_words)  # many sections of a corpus have the same heading
        for key, name in names:
            words = words_of(name[:_MAX_NAME_CHARACTERS])
            if words:
                sizes.append(len(words))
                columns.extend([numbers.setdefault(word, len(numbers)) for word in words])
                self._keys.append(key)
                self._whole.append("".join(words))
        self._vocabulary = list(numbers)
        plain = np.array([_weight(word) for word in self._vocabulary[known:]])
        self._plain = np.concatenate([self._plain, plain])
        self._sizes = np.concatenate([self._sizes, np.array(sizes, dtype=np.int64)])
        self._words = np.concatenate([self._words, np.array(columns, dtype=np.int64)])

    def __len__(self) -> int:
        """Return the number of names."""
        return len(self._keys)

    def rank(self, query: str, k: int, cutoff: float = CUTOFF) -> dict[str, float]:
        """Return the keys whose names are most similar to the query.

        Args:
            query: The text that was typed.
            k: Maximum number of keys.
            cutoff: Names with a lower score are left out.

        Returns:
            Score by key, best first, ties by key: above 0, at most 1; the best of a key's names counts.
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
        # In the order of the words, as sums depend on theirs in the last bit.
        for other in sorted(np.flatnonzero(likeness).tolist(), key=self._vocabulary.__getitem__):
            said[self._postings(other)] += likeness[other] * self._weights[other]
        scores = found / total * (0.7 + 0.3 * said / self._totals)
        return self._best(np.maximum(scores, self._whole_similarities("".join(words))), k, cutoff)

    def _rarity(self, count: Any) -> Any:
        """Return the rarity, 0 to 1, of a word that ``count`` of the names have."""
        import numpy as np

        return np.log1p(len(self._keys) / np.maximum(count, 1)) / np.log1p(max(len(self._keys), 1))

    def _similarities(self, words: list[str]) -> NDArray[np.float32]:
        """Return the similarity of each query word to each word of the names; 0 below the cutoff."""
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
