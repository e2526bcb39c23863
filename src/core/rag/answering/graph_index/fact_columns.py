"""Relations as they are read: a row of numbers for each, where objects with strings would take 1,000 bytes."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping
from threading import Lock
from typing import TYPE_CHECKING, Any, Final

from core.rag.dbhandler.knowledge.periods import Period
from core.rag.dbhandler.knowledge.validity import period_in

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    type Rows = NDArray[np.void]

#: What a relation says where it has no type.
NO_TYPE = "RELATED"

#: ``source_id, target_id, type, fact, weight, chunk_ids, microseconds``, perhaps ``valid_from, valid_to``.
type Relation = Mapping[str, Any]
type Key = tuple[str, str, str, str]

#: What is known of a relation: the places of its ends and of what it says, how certain or frequent it is, the
#: microseconds of the time when it was changed, and from where to where its chunks are.
_COLUMNS: Final = [
    ("source", "i4"), ("target", "i4"), ("said", "i4"), ("weight", "f8"), ("changed", "i4"), ("start", "i4"),
    ("end", "i4"),
]  # fmt: skip


def key_of(relation: Relation) -> Key:
    """Return what distinguishes a relation from others, which they are sorted by."""
    return (
        relation["source_id"],
        relation["target_id"],
        relation["type"] or NO_TYPE,
        relation.get("valid_from") or "",
    )


class Vocabulary:
    """What relations name: each thing once, at a place that stays its own. Tables of several moments can share it.

    Attributes:
        entity_ids: Ids of entities.
        names: What these are called.
        sayings: Types with facts.
        chunk_ids: Ids of chunks.
        chunks: The chunks of one relation after the other, as places.
        guard: Hold it while adding: a change whose reader went away is still prepared while the next one begins.
    """

    def __init__(self) -> None:
        """Begin empty."""
        self.guard = Lock()
        self.entity_ids: list[str] = []
        self.names: list[str] = []
        self.sayings: list[tuple[str, str]] = []
        self.chunk_ids: list[str] = []
        self.chunks: array[int] = array("i")
        self._entities: dict[str, int] = {}
        self._sayings: dict[tuple[str, str], int] = {}
        self._chunks: dict[str, int] = {}

    def add_entities(self, names: Iterable[tuple[str, str]]) -> None:
        """Add entities, or names that they have now: ids and names."""
        for identifier, name in names:
            place = self._entities.setdefault(identifier, len(self._entities))
            if place < len(self.names):
                self.names[place] = name
            else:
                self.entity_ids.append(identifier)
                self.names.append(name)

    def row(self, relation: Relation) -> tuple[float, ...] | None:
        """Return the row of a relation.

        ``None`` for one whose ends are not known: it was written after the entities were read.
        """
        source, target = self._entities.get(relation["source_id"]), self._entities.get(relation["target_id"])
        if source is None or target is None:
            return None
        start = len(self.chunks)
        for chunk in relation["chunk_ids"] or ():
            self.chunks.append(_place(chunk, self._chunks, self.chunk_ids))
        saying = (relation["type"] or NO_TYPE, relation["fact"] or "")
        weight = 1.0 if relation["weight"] is None else relation["weight"]
        said = _place(saying, self._sayings, self.sayings)
        return source, target, said, weight, relation["microseconds"] or 0, start, len(self.chunks)


def _place[T](thing: T, places: dict[T, int], things: list[T]) -> int:
    place = places.setdefault(thing, len(things))
    if place == len(things):
        things.append(thing)
    return place


class FactColumns:
    """Relations as they are read, to be made into a :class:`FactTable`.

    Attributes:
        vocabulary: What they name.
        periods: When those hold that have times, by their place.
    """

    def __init__(self, vocabulary: Vocabulary) -> None:
        """Begin without relations.

        Args:
            vocabulary: It has all entities.
        """
        self.vocabulary = vocabulary
        self.periods: dict[int, Period] = {}
        self._parts: list[Rows] = []
        self._count = 0

    def add(self, relations: Iterable[Relation]) -> list[Key]:
        """Add relations that are sorted by :func:`key_of`, and return what distinguishes those that were added."""
        import numpy as np

        rows: list[tuple[float, ...]] = []
        keys: list[Key] = []
        for relation in relations:
            if (row := self.vocabulary.row(relation)) is None:
                continue
            if period := period_in(relation):
                self.periods[self._count + len(rows)] = period
            rows.append(row)
            keys.append(key_of(relation))
        self._parts.append(np.array(rows, dtype=_COLUMNS))
        self._count += len(rows)
        return keys

    def rows(self) -> Rows:
        """Return all of them."""
        import numpy as np

        return np.concatenate([np.zeros(0, dtype=_COLUMNS), *self._parts])
