"""The relations of a namespace in columns: about 40 bytes each, where objects with strings would take 1,000."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Collection, Iterable, Mapping, Sequence
from copy import copy
from typing import TYPE_CHECKING, Any, Final

from core.rag.answering.graph_index.merging import Merge
from core.rag.answering.graph_index.texts import MOST_PLACES, Texts, best_places
from core.rag.answering.types import FoundFact
from core.rag.dbhandler.knowledge.periods import ALWAYS, Period
from core.rag.dbhandler.knowledge.validity import Validity, period_in

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

#: What a relation says where it has no type.
NO_TYPE = "RELATED"

#: ``source_id, target_id, type, fact, weight, chunk_ids, microseconds``, perhaps ``valid_from, valid_to``.
type Relation = Mapping[str, Any]

#: What is known of a relation: the places of its ends and of what it says, how certain or frequent it is, the
#: microseconds of the time when it was changed, and from where to where its chunks are.
_COLUMNS: Final = [
    ("source", "i4"), ("target", "i4"), ("said", "i4"), ("weight", "f8"), ("changed", "i4"), ("start", "i4"),
    ("end", "i4"),
]  # fmt: skip


def key_of(relation: Relation) -> tuple[str, ...]:
    """Return what distinguishes a relation from others, which they are sorted by."""
    return (
        relation["source_id"],
        relation["target_id"],
        relation["type"] or NO_TYPE,
        relation.get("valid_from") or "",
    )


class FactColumns:
    """Relations as they are read, to be made into a :class:`FactTable`.

    Attributes:
        names: What entities are called, by their ids; their order gives their places.
        sayings: Types with facts, each once, with their places.
        chunk_ids: Ids of chunks, each once, with their places.
        chunks: The chunks of all relations, one after the other, as places.
        rows: The relations, in parts.
        periods: When those hold that have times, by their place.
    """

    def __init__(self, names: Mapping[str, str], like: FactColumns | None = None) -> None:
        """Begin without relations.

        Args:
            names: What entities are called, by their ids.
            like: Relations that the new ones are to be put between: all that these name keeps its place.
        """
        self.names: dict[str, str] = {**(like.names if like else {}), **names}
        self.sayings: dict[tuple[str, str], int] = dict(like.sayings if like else {})
        self.chunk_ids: dict[str, int] = dict(like.chunk_ids if like else {})
        self.chunks: array[int] = array("i", like.chunks if like else ())
        self.rows: list[NDArray[np.void]] = []
        self.periods: dict[int, Period] = {}
        self._entity = {identifier: place for place, identifier in enumerate(self.names)}
        self._count = 0

    def add(self, relations: Iterable[Relation]) -> list[Relation]:
        """Add relations that are sorted by :func:`key_of`, and return those that were added.

        One whose ends are not known is left out: it was written after the entities were read.
        """
        import numpy as np

        added = [one for one in relations if one["source_id"] in self._entity and one["target_id"] in self._entity]
        self.rows.append(np.array([self._row(one) for one in added], dtype=_COLUMNS))
        self.periods |= {place: period for place, one in enumerate(added, self._count) if (period := period_in(one))}
        self._count += len(added)
        return added

    def _row(self, relation: Relation) -> tuple[float, ...]:
        start = len(self.chunks)
        for chunk in relation["chunk_ids"] or ():
            self.chunks.append(self.chunk_ids.setdefault(chunk, len(self.chunk_ids)))
        return (
            self._entity[relation["source_id"]],
            self._entity[relation["target_id"]],
            self.sayings.setdefault((relation["type"] or NO_TYPE, relation["fact"] or ""), len(self.sayings)),
            1.0 if relation["weight"] is None else relation["weight"],
            relation["microseconds"] or 0,
            start,
            len(self.chunks),
        )


class FactTable:
    """Relations to look through by what they say; their places are in the order of :func:`key_of`.

    Attributes:
        renewals: How many changes it went through. What they replaced is still held in part.
    """

    renewals = 0

    def __init__(self, columns: FactColumns) -> None:
        """Prepare the searches."""
        import numpy as np

        rows = np.concatenate([np.zeros(0, dtype=_COLUMNS), *columns.rows])
        self._take(columns, rows, columns.periods, Texts([_words(*saying) for saying in columns.sayings]))

    def _take(self, columns: FactColumns, rows: NDArray[np.void], periods: Mapping[int, Period], words: Texts) -> None:
        import numpy as np

        self._columns, self._rows, self._periods, self._words = columns, rows, periods, words
        self._entities = list(columns.names.items())
        self._sayings, self._chunk_ids = list(columns.sayings), list(columns.chunk_ids)
        self._said: NDArray[np.int32] = rows["said"].copy()
        # Relations that say the same, side by side.
        self._by_saying = np.argsort(self._said, kind="stable").astype(np.int32)
        self._first = np.searchsorted(self._said[self._by_saying], np.arange(len(self._sayings) + 1))

    def renewed(self, relations: Sequence[Relation], names: Mapping[str, str]) -> FactTable:
        """Return the same relations with some changes, which takes a fraction of the time.

        Args:
            relations: Those that are new or changed, sorted by :func:`key_of`.
            names: What new entities are called, and others now, by their ids.
        """
        columns = FactColumns(names, self._columns)
        table = copy(self)
        table.renewals += 1
        table._entities = list(columns.names.items())
        if not relations:
            table._columns = columns
            return table
        keys = [key_of(relation) for relation in columns.add(relations)]
        before = [bisect_left(range(len(self)), key, key=self._key) for key in keys]
        gone = [place for place, key in zip(before, keys, strict=True) if place < len(self) and self._key(place) == key]
        merge = Merge(len(self), gone, before)
        known = len(self._sayings)
        new = [_words(*saying) for saying in list(columns.sayings)[known:]]
        periods = {int(merge.places[place]): period for place, period in self._periods.items()}
        periods.pop(-1, None)
        periods |= {int(merge.new_places[place]): period for place, period in columns.periods.items()}
        table._take(
            columns,
            merge.column(self._rows, columns.rows[0]),
            periods,
            self._words.renewed(Merge(known, (), [known] * len(new)), new),
        )
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
        type_, fact = self._sayings[said]
        period = self._periods.get(place, ALWAYS)
        (source_id, source_name), (target_id, target_name) = self._entities[source], self._entities[target]
        return FoundFact(
            source_id=source_id,
            source=source_name,
            target_id=target_id,
            target=target_name,
            type=type_,
            fact=fact,
            weight=weight,
            chunk_ids=tuple(self._chunk_ids[chunk] for chunk in self._columns.chunks[start:end]),
            similarity=similarity,
            method=method,
            valid_from=period.valid_from,
            valid_to=period.valid_to,
        )

    def _key(self, place: int) -> tuple[str, ...]:
        source, target, said, *_ = self._rows[place].item()
        period = self._periods.get(place, ALWAYS)
        return self._entities[source][0], self._entities[target][0], self._sayings[said][0], period.valid_from

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
