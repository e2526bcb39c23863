"""Holds many short texts in memory, to search them by substring and by similarity."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from core.rag.answering.graph_index.merging import Merge
from core.rag.answering.graph_index.trigrams import TrigramIndex
from core.rag.extraction.words import folded, normalized_words

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

#: A term that stands in more texts than this says nothing.
MOST_PLACES = 2_000


class Texts:
    """Short texts to look through, for parts of them and for similar ones."""

    def __init__(self, texts: Sequence[str]) -> None:
        """Prepare them; results are places in this order."""
        written = [" ".join(normalized_words(text)) for text in texts]
        self._take(written, [folded(text) for text in written], TrigramIndex(texts))

    def _take(self, written: list[str], plain: list[str], trigrams: TrigramIndex) -> None:
        import numpy as np

        self._written, self._plain, self._trigrams = written, plain, trigrams
        self._accented: dict[str, list[int]] = {}
        for place, (text, without) in enumerate(zip(written, plain, strict=True)):
            if text != without:
                self._accented.setdefault(without, []).append(place)
        self.lengths = [len(text) for text in plain]
        self._joined = "\n".join(plain)
        self._starts = np.cumsum([0, *(length + 1 for length in self.lengths[:-1])]) if plain else np.zeros(0)

    def renewed(self, merge: Merge, texts: Sequence[str]) -> Texts:
        """Return these texts with some changes, which takes a fraction of the time.

        Args:
            merge: Which texts go, and where others come.
            texts: The others.
        """
        renewed = object.__new__(Texts)
        written = [" ".join(normalized_words(text)) for text in texts]
        renewed._take(
            merge.items(self._written, written),
            merge.items(self._plain, [folded(text) for text in written]),
            self._trigrams.renewed(merge, texts),
        )
        return renewed

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self.lengths)

    def containing(self, part: str) -> list[int]:
        """Places of texts that contain a normalised part anywhere, with or without accents, in order; at most 2,000."""
        import numpy as np

        part = folded(part)
        places: list[int] = []
        at = self._joined.find(part) if part else -1
        while at >= 0 and len(places) < MOST_PLACES:
            place = int(np.searchsorted(self._starts, at, side="right")) - 1
            places.append(place)
            at = self._joined.find(part, int(self._starts[place]) + self.lengths[place])
        return places

    def with_accents(self, name: str) -> list[int]:
        """Places of texts that are a normalised name but for their accents."""
        return self._accented.get(folded(name), [])

    def similarities(self, parts: Sequence[str]) -> NDArray[np.float64]:
        """For each text its highest similarity to any of the parts, 0 to 1. ``parts`` is not empty."""
        import numpy as np

        best = self._trigrams.similarities(parts[0])
        for part in parts[1:]:
            np.maximum(best, self._trigrams.similarities(part), out=best)
        return best

    def similar(self, parts: Sequence[str], limit: int, threshold: float) -> dict[int, float]:
        """Places of the texts that are most similar to any of the parts, with the similarity, best first."""
        return best_places(self.similarities(parts), limit, threshold) if len(self) and parts else {}


def best_places(scores: NDArray[np.float64], limit: int, threshold: float) -> dict[int, float]:
    """Return the places with the highest scores from a threshold on, best first, equal ones in order."""
    import numpy as np

    places = np.flatnonzero(scores >= threshold)
    best = places[np.argsort(-scores[places], kind="stable")[:limit]]
    return dict(zip(best.tolist(), scores[best].tolist(), strict=True))
