"""Names of entities and words of relations in memory, for what no engine of a graph has an index for.

Made when first needed, kept for each open graph and namespace, and made anew when entities or relations changed: their
numbers, the time of the last change, and the sum of all weights tell.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from core.rag.answering.trigrams import TrigramIndex
from core.rag.answering.types import FoundFact
from core.rag.extraction.words import normalized_words

if TYPE_CHECKING:
    from core.rag.dbhandler import MemGraphClient
    from core.rag.dbhandler.store import GraphStore

#: What describes a relation ``r`` from ``a`` to ``b``.
FACT_COLUMNS = (
    "a.id AS source_id, a.name AS source, b.id AS target_id, b.name AS target, r.type AS type, r.fact AS fact, "
    "r.weight AS weight, r.chunk_ids AS chunk_ids"
)
#: A term that stands in more texts than this says nothing.
_MOST_PLACES = 2_000


class Texts:
    """Short texts to look through, for parts of them and for similar ones."""

    def __init__(self, texts: Sequence[str]) -> None:
        """Prepare them; results are places in this order."""
        import numpy as np

        self.trigrams = TrigramIndex(texts)
        normalized = [" ".join(normalized_words(text)) for text in texts]
        self.lengths = [len(text) for text in normalized]
        self._joined = "\n".join(normalized)
        self._starts = np.cumsum([0, *(length + 1 for length in self.lengths[:-1])]) if normalized else np.zeros(0)

    def __len__(self) -> int:
        """How many there are."""
        return len(self.lengths)

    def containing(self, part: str) -> list[int]:
        """Places of texts that contain a normalised part anywhere, in order; at most 2,000."""
        import numpy as np

        places: list[int] = []
        at = self._joined.find(part) if part else -1
        while at >= 0 and len(places) < _MOST_PLACES:
            place = int(np.searchsorted(self._starts, at, side="right")) - 1
            places.append(place)
            at = self._joined.find(part, int(self._starts[place]) + self.lengths[place])
        return places

    def similar(self, parts: Sequence[str], limit: int, threshold: float) -> dict[int, float]:
        """Places of the texts most like one of the parts, and how like, best first."""
        import numpy as np

        if not len(self) or not parts:
            return {}
        scores = np.array([self.trigrams.similarities(part) for part in parts]).max(axis=0)
        order = np.argsort(-scores, kind="stable")[:limit].tolist()
        return {place: float(scores[place]) for place in order if scores[place] >= threshold}


@dataclass(frozen=True, slots=True)
class GraphIndex:
    """What one namespace knows.

    Attributes:
        stamp: Tells whether it is outdated.
        entity_ids: Ids of entities.
        names: Their names, in the same order.
        facts: Relations.
        words: Their types and facts, in the same order.
    """

    stamp: tuple[Any, ...]
    entity_ids: list[str]
    names: Texts
    facts: list[FoundFact]
    words: Texts


#: For each open graph, its indexes by namespace.
_known: WeakKeyDictionary[GraphStore, dict[str, GraphIndex]] = WeakKeyDictionary()


async def graph_index(client: MemGraphClient) -> GraphIndex:
    """The index of the client's namespace, up to date."""
    counted = await client.read(
        "MATCH (e:Entity) WHERE e.namespace = $namespace RETURN count(e) AS n, max(e.updated_at) AS last"
    )
    related = await client.read(
        "MATCH (a:Entity)-[r:RELATED]->(:Entity) WHERE a.namespace = $namespace "
        "RETURN count(r) AS n, sum(r.weight) AS weight"
    )
    stamp = (counted[0]["n"], counted[0]["last"], related[0]["n"], related[0]["weight"])
    indexes = _known.setdefault(await client.connect(), {})
    stored = indexes.get(client.namespace)
    if stored is None or stored.stamp != stamp:
        entities = await client.read(
            "MATCH (e:Entity) WHERE e.namespace = $namespace RETURN e.id AS id, e.name AS name"
        )
        rows = await client.read(
            f"MATCH (a:Entity)-[r:RELATED]->(b:Entity) WHERE a.namespace = $namespace RETURN {FACT_COLUMNS}"
        )
        stored = await asyncio.to_thread(_made, stamp, entities, rows)
        indexes[client.namespace] = stored
    return stored


def fact_of(row: Mapping[str, Any], method: str, similarity: float = 0.0) -> FoundFact:
    """A relation from ``FACT_COLUMNS``."""
    return FoundFact(
        source_id=row["source_id"],
        source=row["source"] or "",
        target_id=row["target_id"],
        target=row["target"] or "",
        type=row["type"] or "RELATED",
        fact=row["fact"] or "",
        weight=1.0 if row["weight"] is None else float(row["weight"]),
        chunk_ids=tuple(row["chunk_ids"] or ()),
        similarity=similarity,
        method=method,
    )


def _made(stamp: tuple[Any, ...], entities: list[dict[str, Any]], rows: list[dict[str, Any]]) -> GraphIndex:
    facts = [fact_of(row, "trigram") for row in rows]
    return GraphIndex(
        stamp=stamp,
        entity_ids=[row["id"] for row in entities],
        names=Texts([row["name"] or "" for row in entities]),
        facts=facts,
        words=Texts([f"{fact.type.replace('_', ' ')} {fact.fact}" for fact in facts]),
    )
