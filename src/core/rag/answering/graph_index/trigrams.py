"""Trigram similarity of one text with very many, as defined by PostgreSQL's ``pg_trgm``.

Words are folded, padded with two spaces before and one behind, and cut into all runs of three characters; two texts are
as similar as the share of different trigrams that they have in common (documentation of ``pg_trgm``).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from core.rag.analysis.words import fold

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

#: Of longer texts only the beginning counts.
MAX_CHARS = 500
#: So many texts are cut into trigrams at once, which takes some 50 bytes for each character.
_AT_ONCE = 4_096

_WORD = re.compile(r"[^\W_]+")


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
        rows = np.concatenate([own + number * _AT_ONCE for number, (_, own) in enumerate(parts)])
        del parts
        # Sorted by trigram and text (they are in the order of texts already); each pair once.
        order = np.argsort(grams, kind="stable")
        grams, rows = grams[order], rows[order]
        if len(grams):
            new = np.append([True], (np.diff(grams) != 0) | (np.diff(rows) != 0))
            grams, rows = grams[new], rows[new]
        self._count = len(texts)
        self._rows = rows
        begins = np.flatnonzero(np.append([True], np.diff(grams) != 0)) if len(grams) else np.zeros(0, dtype=np.int64)
        self._grams = grams[begins]
        self._starts = np.append(begins, len(grams))
        self._sizes = np.bincount(self._rows, minlength=self._count)

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


def _trigrams(texts: Sequence[str]) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Return the trigrams of texts as numbers, and the text of each; with repetitions."""
    import numpy as np

    padded = ["".join(f"  {word} " for word in _WORD.findall(fold(text[:MAX_CHARS]))) for text in texts]
    codes = np.frombuffer("".join(padded).encode("utf-32-le", "surrogatepass"), dtype="<u4").astype(np.int64)
    row_of = np.repeat(np.arange(len(texts), dtype=np.int32), [len(text) for text in padded])
    if len(codes) < 3:
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int32)
    first, middle, last = codes[:-2], codes[1:-1], codes[2:]
    # Two spaces at the end: over the edge of a word. No other run reaches over an edge.
    inside = (middle != 32) | (last != 32)
    return ((first << 42) | (middle << 21) | last)[inside], row_of[:-2][inside]
