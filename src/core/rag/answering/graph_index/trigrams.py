"""Trigram similarity of one text with very many, as defined by PostgreSQL's ``pg_trgm``.

Words are folded, padded with two spaces before and one behind, and cut into all runs of three characters; two texts are
as similar as the share of different trigrams that they have in common (documentation of ``pg_trgm``).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from core.rag.analysis.words import fold
from core.rag.answering.graph_index.merging import Merge

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    type _Codes = NDArray[np.int64]
    type _Places = NDArray[np.int32]

#: Of longer texts only the beginning counts.
MAX_CHARS = 500
#: So many texts are cut into trigrams at once, which takes some 100 bytes for each character.
_AT_ONCE = 4_096
_SPACE: Final = 32
#: For each ASCII character: whether it is one of a word.
_ASCII: Final = tuple(chr(code).isalnum() for code in range(128))


class TrigramIndex:
    """Texts prepared for many comparisons.

    Example:
        >>> TrigramIndex(["two words"]).similarities("word").round(3).tolist()
        [0.364]
    """

    def __init__(self, texts: Sequence[str]) -> None:
        """Prepare the index.

        Args:
            texts: The texts; results are in their order.
        """
        import numpy as np

        parts = [_trigrams(texts[start : start + _AT_ONCE]) for start in range(0, len(texts), _AT_ONCE)]
        parts = parts or [_trigrams(())]
        grams = np.concatenate([part for part, _ in parts])
        rows = np.concatenate([own + np.int32(number * _AT_ONCE) for number, (_, own) in enumerate(parts)])
        del parts
        # Sorted by trigram and text (they are in the order of texts already); each pair once.
        order = np.argsort(grams, kind="stable")
        grams, rows = grams[order], rows[order]
        if len(grams):
            new = np.append([True], (np.diff(grams) != 0) | (np.diff(rows) != 0))
            grams, rows = grams[new], rows[new]
        self._take(grams, rows, len(texts))

    def renewed(self, merge: Merge, texts: Sequence[str]) -> TrigramIndex:
        """Return an index of the same texts and others, without cutting the same ones into trigrams again.

        Args:
            merge: Which texts go, and where others come.
            texts: The others.
        """
        import numpy as np

        added = TrigramIndex(texts)
        rows = np.concatenate([merge.places[self._rows], merge.new_places[added._rows]])
        grams = np.concatenate([self._pairs(), added._pairs()])
        order = np.argsort(grams, kind="stable")  # two sorted runs, which it merges
        order = order[rows[order] >= 0]
        index = object.__new__(TrigramIndex)
        index._take(grams[order], rows[order], len(merge))
        return index

    def _take(self, grams: _Codes, rows: _Places, count: int) -> None:
        """Take over pairs of trigram and text, each once, sorted by trigram."""
        import numpy as np

        begins = np.flatnonzero(np.append([True], np.diff(grams) != 0)) if len(grams) else np.zeros(0, dtype=np.int64)
        self._count = count
        self._rows = rows
        self._grams = grams[begins]
        self._starts = np.append(begins, len(grams))
        self._sizes = np.bincount(rows, minlength=count)

    def _pairs(self) -> _Codes:
        """Return the trigram of each pair."""
        import numpy as np

        return np.repeat(self._grams, np.diff(self._starts))

    def __len__(self) -> int:
        """Return how many texts there are."""
        return self._count

    def similarities(self, text: str) -> NDArray[np.float64]:
        """Return how similar a text is to each of the texts, 0 to 1."""
        import numpy as np

        wanted = np.unique(_trigrams([text])[0])
        places = np.searchsorted(self._grams, wanted)
        known = [
            place
            for place, gram in zip(places.tolist(), wanted.tolist(), strict=True)
            if place < len(self._grams) and self._grams[place] == gram
        ]
        common = np.zeros(self._count)
        for place in known:
            common[self._rows[self._starts[place] : self._starts[place + 1]]] += 1
        return common / np.maximum(self._sizes + len(wanted) - common, 1)


def _trigrams(texts: Sequence[str]) -> tuple[_Codes, _Places]:
    """Return the trigrams of texts as numbers, and the text of each, in the order of texts; with repetitions."""
    import numpy as np

    folded = [fold(text[:MAX_CHARS]) for text in texts]
    joined = "\n".join([*folded, "\n"])  # so that no word is the last thing
    codes = np.frombuffer(joined.encode("utf-32-le", "surrogatepass"), dtype="<u4").astype(np.int64)
    in_word = _in_words(codes)
    # Two characters of space before everything: what stands before the first two.
    last = np.concatenate([[_SPACE, _SPACE], np.where(in_word, codes, _SPACE)])
    middle, first = last[1:-1], last[:-2]
    first = np.where(middle == _SPACE, _SPACE, first)  # of the word before
    # A run ends at each character of a word, and at the space behind it.
    ends = in_word | np.append([False], in_word[:-1])
    rows = np.repeat(np.arange(len(texts) + 1, dtype=np.int32), [*map(_length, folded), 1])
    return ((first << 42) | (middle << 21) | last[2:])[ends], rows[ends]


def _length(text: str) -> int:
    return len(text) + 1


def _in_words(codes: _Codes) -> NDArray[np.bool_]:
    """Return which characters are those of words: letters and digits of any script."""
    import numpy as np

    ascii_, others = codes < len(_ASCII), np.unique(codes[codes >= len(_ASCII)])
    in_words = np.array(_ASCII)[np.where(ascii_, codes, _SPACE)]
    letters = others[[chr(code).isalnum() for code in others.tolist()]]
    in_words[~ascii_] = np.isin(codes[~ascii_], letters)
    return in_words
