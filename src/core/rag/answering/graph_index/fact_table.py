"""The relations of a namespace, to look through by what they say."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Iterable, Mapping, Sequence
from copy import copy
from typing import TYPE_CHECKING

from core.rag.answering.graph_index.fact_columns import FactColumns, Key, Relation
from core.rag.answering.graph_index.merging import Merge
from core.rag.answering.graph_index.texts import MOST_PLACES, Texts, best_places
from core.rag.answering.types import FoundFact
from core.rag.dbhandler.knowledge.periods import ALWAYS, Period
from core.rag.dbhandler.knowledge.validity import Validity

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from core.rag.answering.graph_index.fact_columns import Rows


class FactTable:
    """Relations to look through by what they say; their places are in the order of :func:`key_of`.

    Attributes:
        renewals: How many changes it went through. What they replaced is still held in part.
    """

    renewals = 0

    def __init__(self, columns: FactColumns) -> None:
        """Prepare the searches."""
        self._vocabulary = columns.vocabulary
        words = Texts([_words(*saying) for saying in self._vocabulary.sayings])
        self._take(columns.rows(), columns.periods, words)

    def _take(self, rows: Rows, periods: Mapping[int, Period], words: Texts) -> None:
        import numpy as np

        self._rows, self._periods, self._words = rows, periods, words
        self._said: NDArray[np.int32] = rows["said"].copy()
        # Relations that say the same, side by side.
        self._by_saying = np.argsort(self._said, kind="stable").astype(np.int32)
        self._first = np.searchsorted(self._said[self._by_saying], np.arange(len(words) + 1))

    def renewed(self, relations: Sequence[Relation], names: Iterable[tuple[str, str]]) -> FactTable:
        """Return the same relations with some changes, which takes a fraction of the time.

        Args:
            relations: Those that are new or changed, sorted by :func:`key_of`.
            names: What new entities are called, and others now: ids and names.
        """
        with self._vocabulary.guard:
            self._vocabulary.add_entities(names)
            columns = FactColumns(self._vocabulary)
            keys = columns.add(relations)
            new = [_words(*saying) for saying in self._vocabulary.sayings[len(self._words) :]]
        table = copy(self)
        table.renewals += 1
        if not keys:
            return table
        count, known = len(self), len(self._words)
        before = [bisect_left(range(count), key, key=self._key) for key in keys]
        gone = [place for place, key in zip(before, keys, strict=True) if place < count and self._key(place) == key]
        merge = Merge(count, gone, before)
        periods = {int(merge.places[place]): period for place, period in self._periods.items()}
        periods.pop(-1, None)
        periods |= {int(merge.new_places[place]): period for place, period in columns.periods.items()}
        words = self._words.renewed(Merge(known, (), [known] * len(new)), new)
        table._take(merge.column(self._rows, columns.rows()), periods, words)
        return table

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self._rows)

    @property
    def changed(self) -> int:
        """The microseconds of the times when the relations were changed, added up."""
        return int(self._rows["changed"].sum(dtype="i8"))

    def fact(self, place: int, method: str, similarity: float = 0.0) -> FoundFact:
        """Return the relation at a place."""
        source, target, said, weight, _, start, end = self._rows[place].item()
        known = self._vocabulary
        type_, fact = known.sayings[said]
        period = self._periods.get(place, ALWAYS)
        return FoundFact(
            source_id=known.entity_ids[source],
            source=known.names[source],
            target_id=known.entity_ids[target],
            target=known.names[target],
            type=type_,
            fact=fact,
            weight=weight,
            chunk_ids=tuple(known.chunk_ids[chunk] for chunk in known.chunks[start:end]),
            similarity=similarity,
            method=method,
            valid_from=period.valid_from,
            valid_to=period.valid_to,
        )

    def _key(self, place: int) -> Key:
        source, target, said, *_ = self._rows[place].item()
        known, period = self._vocabulary, self._periods.get(place, ALWAYS)
        return known.entity_ids[source], known.entity_ids[target], known.sayings[said][0], period.valid_from

    def unseen(self, validity: Validity) -> set[int]:
        """Return the places of relations that do not hold."""
        return {place for place, period in self._periods.items() if not validity.sees(period)}

    def weight(self, place: int) -> float:
        """Return how certain or frequent the relation at a place is."""
        return float(self._rows["weight"][place])

    def containing(self, part: str) -> list[int]:
        """Places of relations whose words contain a normalised part anywhere, in order; at most 2,000."""
        import numpy as np

        sayings = self._words.containing(part)
        places = [self._by_saying[self._first[saying] : self._first[saying + 1]] for saying in sayings]
        found: list[int] = np.sort(np.concatenate(places))[:MOST_PLACES].tolist() if places else []
        return found

    def similar(
        self, parts: Sequence[str], limit: int, threshold: float, unseen: Collection[int] = ()
    ) -> dict[int, float]:
        """Places of the relations whose words are most similar to any of the parts, with the similarity, best first.

        Args:
            parts: Any texts.
            limit: Maximum number to return.
            threshold: Least similarity.
            unseen: Places to leave out.
        """
        if not len(self) or not parts:
            return {}
        scores = self._words.similarities(parts)[self._said]
        if unseen:
            scores[list(unseen)] = -1.0
        return best_places(scores, limit, threshold)


def _words(type_: str, fact: str) -> str:
    return f"{type_.replace('_', ' ')} {fact}"
