"""The searches for entities and relations: by pattern, by trigrams, and by the vectors of passages.

Each gives rows, best first, and can fail alone. Patterns are looked for by the engine; trigrams in an index in memory
that is made anew when entities or relations changed. Where an entity has no vector of its own, the passages nearest to
the question stand for it: what they mention, and the relations that they state.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from core.rag.answering.trigrams import TrigramIndex
from core.rag.answering.types import FoundEntity, FoundFact

if TYPE_CHECKING:
    from core.rag.dbhandler import MemGraphClient
    from core.rag.dbhandler.store import GraphStore

#: Trigram similarity from which a name or fact is found.
SIMILARITY_THRESHOLD = 0.1

_ENTITY = "e.id AS id, e.name AS name, e.type AS type, e.summary AS summary, e.mention_count AS mention_count"
_FACT = (
    "a.id AS source_id, a.name AS source, b.id AS target_id, b.name AS target, r.type AS type, r.fact AS fact, "
    "r.weight AS weight, r.chunk_ids AS chunk_ids"
)
#: From an entity whose name is known: planned from the left on, so the known end stands there.
_AT_ENTITY = (
    "UNWIND $terms AS t MATCH (a:Entity {normalized_name: t})-[r:RELATED]->(b:Entity) "
    f"WHERE a.namespace = $namespace RETURN t AS term, {_FACT} ORDER BY r.weight DESC LIMIT $limit",
    "UNWIND $terms AS t MATCH (b:Entity {normalized_name: t})<-[r:RELATED]-(a:Entity) "
    f"WHERE b.namespace = $namespace RETURN t AS term, {_FACT} ORDER BY r.weight DESC LIMIT $limit",
)
#: How many rows a pattern may give for each one that is wanted.
_OVERFETCH = 10
_SHORTEST_PART = 3


@dataclass(frozen=True, slots=True)
class _Indexes:
    stamp: tuple[Any, ...]
    entity_ids: list[str]
    names: TrigramIndex
    facts: list[FoundFact]
    fact_texts: TrigramIndex


class GraphSearch:
    """Searches the entities and relations of one namespace."""

    def __init__(self, client: MemGraphClient) -> None:
        """Prepare.

        Args:
            client: The graph.
        """
        self._client = client

    async def entities_by_pattern(self, terms: Sequence[str], limit: int) -> list[FoundEntity]:
        """Entities whose names are, or contain, one of the terms (normalised names)."""
        if not terms:
            return []
        exact = await self._client.read(
            "UNWIND $terms AS t MATCH (e:Entity {normalized_name: t}) WHERE e.namespace = $namespace "
            f"RETURN {_ENTITY}",
            terms=list(terms),
        )
        rows = await self._client.read(
            "MATCH (e:Entity) WHERE e.namespace = $namespace AND any(t IN $terms WHERE e.normalized_name CONTAINS t) "
            f"RETURN {_ENTITY}, e.normalized_name AS normalized "
            "ORDER BY e.mention_count DESC, e.id LIMIT $limit",
            terms=_parts(terms),
            limit=limit * _OVERFETCH,
        )
        # Of those that contain a term the shortest come first: they are the likest.
        rows.sort(key=lambda row: len(row["normalized"] or ""))
        return list({row["id"]: _entity(row, "pattern") for row in [*exact, *rows]}.values())[:limit]

    async def entities_by_trigram(self, terms: Sequence[str], limit: int) -> list[FoundEntity]:
        """Entities whose names are similar to one of the terms."""
        if not terms:
            return []
        indexes = await self._indexes()
        best = await asyncio.to_thread(_nearest, indexes.names, terms, limit)
        rows = await self._entities([indexes.entity_ids[place] for place in best])
        scores = {indexes.entity_ids[place]: score for place, score in best.items()}
        found = [_entity(row, "trigram", scores[row["id"]]) for row in rows]
        return sorted(found, key=lambda entity: (-entity.similarity, entity.id))

    async def entities_by_vector(self, nearest: Mapping[str, float], limit: int) -> list[FoundEntity]:
        """Entities that the passages nearest to the question mention.

        Args:
            nearest: Ids of chunks and their cosines.
            limit: At most this many.
        """
        rows = await self._client.read(
            "UNWIND $ids AS i MATCH (c:DocumentChunk {id: i})-[:MENTIONS]->(e:Entity) "
            f"RETURN i AS chunk, {_ENTITY} LIMIT $limit",
            ids=list(nearest),
            limit=limit * _OVERFETCH,
        )
        rows.sort(key=lambda row: (-nearest[row["chunk"]], row["id"]))
        found: dict[str, FoundEntity] = {}
        for row in rows:
            found.setdefault(row["id"], _entity(row, "vector", max(nearest[row["chunk"]], 0.0)))
        return list(found.values())[:limit]

    async def facts_by_pattern(self, terms: Sequence[str], limit: int) -> list[FoundFact]:
        """Relations at entities of these names, and those whose words contain one of the terms."""
        if not terms:
            return []
        ends: list[dict[str, Any]] = []
        for statement in _AT_ENTITY:
            ends += await self._client.read(statement, terms=list(terms), limit=limit * _OVERFETCH)
        worded = await self._client.read(
            "MATCH (a:Entity)-[r:RELATED]->(b:Entity) WHERE a.namespace = $namespace "
            f"AND any(t IN $terms WHERE toLower(r.fact) CONTAINS t) RETURN {_FACT} "
            "ORDER BY r.weight DESC LIMIT $limit",
            terms=_parts(terms),
            limit=limit * _OVERFETCH,
        )
        found: dict[tuple[str, str, str, str], FoundFact] = {}
        named: dict[tuple[str, str, str, str], set[str]] = {}
        for row in [*ends, *worded]:
            fact = _fact(row, "pattern")
            found.setdefault(fact.key, fact)
            if "term" in row:
                named.setdefault(fact.key, set()).add(row["term"])
        # Relations between two of the named entities come first, then those at one of them.
        keys = sorted(found, key=lambda key: -len(named.get(key, ())))
        return [found[key] for key in keys[:limit]]

    async def facts_by_trigram(self, terms: Sequence[str], limit: int) -> list[FoundFact]:
        """Relations whose words or type are similar to one of the terms."""
        if not terms:
            return []
        indexes = await self._indexes()
        best = await asyncio.to_thread(_nearest, indexes.fact_texts, terms, limit)
        return [replace(indexes.facts[place], similarity=score) for place, score in best.items()]

    async def facts_by_vector(self, nearest: Mapping[str, float], limit: int) -> list[FoundFact]:
        """Relations that the passages nearest to the question state.

        Args:
            nearest: Ids of chunks and their cosines.
            limit: At most this many.
        """
        rows = await self._client.read(
            "UNWIND $ids AS i MATCH (c:DocumentChunk {id: i})-[:MENTIONS]->(a:Entity)-[r:RELATED]->(b:Entity) "
            f"WHERE i IN r.chunk_ids RETURN i AS chunk, {_FACT} LIMIT $limit",
            ids=list(nearest),
            limit=limit * _OVERFETCH,
        )
        rows.sort(key=lambda row: -nearest[row["chunk"]])
        found: dict[tuple[str, str, str, str], FoundFact] = {}
        for row in rows:
            fact = _fact(row, "vector", max(nearest[row["chunk"]], 0.0))
            found.setdefault(fact.key, fact)
        return list(found.values())[:limit]

    async def entities_by_id(self, ids: Sequence[str]) -> list[FoundEntity]:
        """The ends of relations that were not found themselves."""
        return [_entity(row, "end") for row in await self._entities(ids)] if ids else []

    async def names_in(self, words: Sequence[str]) -> dict[str, str]:
        """Which of these normalised names are entities; by normalised name, the name as it is written."""
        if not words:
            return {}
        rows = await self._client.read(
            "UNWIND $names AS t MATCH (e:Entity {normalized_name: t}) WHERE e.namespace = $namespace "
            "RETURN t AS normalized, e.name AS name ORDER BY e.mention_count DESC",
            names=list(words),
        )
        found: dict[str, str] = {}
        for row in rows:
            found.setdefault(row["normalized"], row["name"])
        return found

    async def _entities(self, ids: Sequence[str]) -> list[dict[str, Any]]:
        return await self._client.read(
            f"UNWIND $ids AS i MATCH (e:Entity {{id: i}}) WHERE e.namespace = $namespace RETURN {_ENTITY}",
            ids=list(dict.fromkeys(ids)),
        )

    async def _indexes(self) -> _Indexes:
        counted = await self._client.read(
            "MATCH (e:Entity) WHERE e.namespace = $namespace RETURN count(e) AS n, max(e.updated_at) AS last"
        )
        related = await self._client.read(
            "MATCH (a:Entity)-[r:RELATED]->(:Entity) WHERE a.namespace = $namespace "
            "RETURN count(r) AS n, sum(r.weight) AS weight"
        )
        stamp = (counted[0]["n"], counted[0]["last"], related[0]["n"], related[0]["weight"])
        known = _known.setdefault(await self._client.connect(), {})
        stored = known.get(self._client.namespace)
        if stored is None or stored.stamp != stamp:
            entities = await self._client.read(
                "MATCH (e:Entity) WHERE e.namespace = $namespace RETURN e.id AS id, e.name AS name"
            )
            facts = [
                _fact(row, "trigram")
                for row in await self._client.read(
                    f"MATCH (a:Entity)-[r:RELATED]->(b:Entity) WHERE a.namespace = $namespace RETURN {_FACT}"
                )
            ]
            stored = await asyncio.to_thread(_prepared, stamp, entities, facts)
            known[self._client.namespace] = stored
        return stored


#: For each open graph, its prepared names and facts by namespace.
_known: WeakKeyDictionary[GraphStore, dict[str, _Indexes]] = WeakKeyDictionary()


def _prepared(stamp: tuple[Any, ...], entities: list[dict[str, Any]], facts: list[FoundFact]) -> _Indexes:
    return _Indexes(
        stamp,
        [row["id"] for row in entities],
        TrigramIndex([row["name"] or "" for row in entities]),
        facts,
        TrigramIndex([f"{fact.type.replace('_', ' ')} {fact.fact}" for fact in facts]),
    )


def _nearest(index: TrigramIndex, terms: Sequence[str], limit: int) -> dict[int, float]:
    """Places in the index and their similarity with the likest term, best first."""
    import numpy as np

    if not len(index):
        return {}
    scores = np.array([index.similarities(term) for term in terms]).max(axis=0)
    order = np.argsort(-scores, kind="stable")[:limit].tolist()
    return {place: float(scores[place]) for place in order if scores[place] >= SIMILARITY_THRESHOLD}


def _parts(terms: Sequence[str]) -> list[str]:
    """Terms long enough to look for anywhere in a text."""
    return [term for term in terms if len(term) >= _SHORTEST_PART or not term.isascii()]


def _entity(row: Mapping[str, Any], method: str, similarity: float = 0.0) -> FoundEntity:
    return FoundEntity(
        id=row["id"],
        name=row["name"] or "",
        type=row["type"] or "",
        summary=row["summary"] or "",
        mention_count=row["mention_count"] or 0,
        similarity=similarity,
        method=method,
    )


def _fact(row: Mapping[str, Any], method: str, similarity: float = 0.0) -> FoundFact:
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
