"""The relations of a namespace in columns: about 30 bytes each, where objects with strings would take 1,000."""

from __future__ import annotations

from array import array
from collections.abc import Collection, Iterable, Mapping, Sequence
from copy import copy
from typing import TYPE_CHECKING, Any

from core.rag.answering.graph_index.texts import MOST_PLACES, Texts, best_places
from core.rag.answering.types import FoundFact
from core.rag.dbhandler.knowledge.periods import ALWAYS, Period
from core.rag.dbhandler.knowledge.validity import Validity, period_in

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

#: What a relation says where it has no type.
NO_TYPE = "RELATED"


class FactColumns:
    """Relations as they are read, to be made into a :class:`FactTable`.

    Attributes:
        sources: The entity that each goes from, as its place.
        targets: The entity that it goes to.
        said: What it says, as a place in ``sayings``.
        weights: How certain or frequent it is.
        starts: The chunks that say so are those from ``starts[i]`` to ``starts[i + 1]``.
        chunks: Chunks, as places in ``chunk_ids``.
        sayings: Types with facts, each once.
        chunk_ids: Ids of chunks, each once.
        periods: When those hold that have times, by their place.
    """

    def __init__(self, entity_ids: Iterable[str]) -> None:
        """Begin without relations.

        Args:
            entity_ids: The ids of all entities; their order gives their places.
        """
        self._entity = {identifier: place for place, identifier in enumerate(entity_ids)}
        self.sources, self.targets, self.said = array("i"), array("i"), array("i")
        self.weights = array("d")
        self.starts, self.chunks = array("q", [0]), array("i")
        self.sayings: dict[tuple[str, str], int] = {}
        self.chunk_ids: dict[str, int] = {}
        self.periods: dict[int, Period] = {}

    def add(self, rows: Iterable[Mapping[str, Any]]) -> None:
        """Add relations: ``source_id, target_id, type, fact, weight, chunk_ids``, perhaps ``valid_from, valid_to``.

        One whose ends are not known is left out: it was written after the entities were read.
        """
        for row in rows:
            source, target = self._entity.get(row["source_id"]), self._entity.get(row["target_id"])
            if source is None or target is None:
                continue
            if period := period_in(row):
                self.periods[len(self.sources)] = period
            self.sources.append(source)
            self.targets.append(target)
            self.said.append(self.sayings.setdefault((row["type"] or NO_TYPE, row["fact"] or ""), len(self.sayings)))
            self.weights.append(1.0 if row["weight"] is None else row["weight"])
            for chunk in row["chunk_ids"] or ():
                self.chunks.append(self.chunk_ids.setdefault(chunk, len(self.chunk_ids)))
            self.starts.append(len(self.chunks))


class FactTable:
    """Relations to look through by what they say; places are in the order in which they were read."""

    def __init__(self, columns: FactColumns, entity_ids: Sequence[str], names: Sequence[str]) -> None:
        """Prepare the searches.

        Args:
            columns: The relations.
            entity_ids: The ids of all entities, as the columns know them.
            names: What these are called.
        """
        import numpy as np

        self._columns = columns
        self._entity_ids, self._names = entity_ids, names
        self._renamed: Mapping[str, str] = {}
        self._sayings, self._chunk_ids = list(columns.sayings), list(columns.chunk_ids)
        self._words = Texts([f"{type_.replace('_', ' ')} {fact}" for type_, fact in self._sayings])
        self._said: NDArray[np.int32] = np.array(columns.said, dtype=np.int32)
        # Relations that say the same, side by side.
        self._by_saying = np.argsort(self._said, kind="stable").astype(np.int32)
        self._first = np.searchsorted(self._said[self._by_saying], np.arange(len(self._sayings) + 1))

    def renamed(self, names: Mapping[str, str]) -> FactTable:
        """Return the same relations with other names of some entities, by id; the searches do not look at names."""
        table = copy(self)
        table._renamed = {**self._renamed, **names}
        return table

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self._said)

    def fact(self, place: int, method: str, similarity: float = 0.0) -> FoundFact:
        """Return the relation at a place."""
        columns = self._columns
        source, target = columns.sources[place], columns.targets[place]
        type_, fact = self._sayings[columns.said[place]]
        period = columns.periods.get(place, ALWAYS)
        chunks = columns.chunks[columns.starts[place] : columns.starts[place + 1]]
        return FoundFact(
            source_id=self._entity_ids[source],
            source=self._name(source),
            target_id=self._entity_ids[target],
            target=self._name(target),
            type=type_,
            fact=fact,
            weight=columns.weights[place],
            chunk_ids=tuple(self._chunk_ids[chunk] for chunk in chunks),
            similarity=similarity,
            method=method,
            valid_from=period.valid_from,
            valid_to=period.valid_to,
        )

    def _name(self, entity: int) -> str:
        return self._renamed.get(self._entity_ids[entity], self._names[entity])

    def unseen(self, validity: Validity) -> set[int]:
        """Return the places of relations that do not hold."""
        return {place for place, period in self._columns.periods.items() if not validity.sees(period)}

    def weight(self, place: int) -> float:
        """Return how certain or frequent the relation at a place is."""
        return self._columns.weights[place]

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
