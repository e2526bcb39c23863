"""Searches for entities and relations: by pattern, by trigram, and by the vectors of passages.

Each gives rows, best first, and can fail alone. Names that are the same are looked up in the engine, parts of names and
similar ones in ``index.py``. Where an entity has no vector of its own, the passages nearest to the question stand for
it: what they mention, and the relations that they state.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from core.rag.answering.graph_index.index import FACT_COLUMNS, GraphIndex, fact_of, graph_index
from core.rag.answering.types import FoundEntity, FoundFact
from core.rag.dbhandler.knowledge.validity import Validity, valid_at
from core.rag.extraction.words import folded
from core.rag.identity import entity_id

if TYPE_CHECKING:
    from core.rag.dbhandler import MemGraphClient

#: Trigram similarity from which a name or fact is found.
SIMILARITY_THRESHOLD = 0.1

_ENTITY = {name: f"e.{name}" for name in ("id", "name", "type", "summary", "mention_count")}
#: What chunks (``$ids``) mention; :func:`entity_of` makes an entity of a row.
MENTIONED = ("MATCH (c:DocumentChunk {id: i})-[:MENTIONS]->(e:Entity)", {"chunk": "i", **_ENTITY})
#: The heaviest, and of those that weigh the same always the same ones, on every engine.
_FIRST = "ORDER BY weight DESC, source_id, target_id, type LIMIT $limit"
#: The same of the relations at one entity.
_FIRST_AT_ENTITY = "ORDER BY weight DESC, source, target, type, source_id, target_id LIMIT $limit"
#: From an entity whose name is known: planned from the left on, so the known end stands there.
_AT_ENTITY = (
    ("(n)-[r:RELATED]->(m:Entity) WITH n AS a, r, m AS b", "a"),
    ("(n)<-[r:RELATED]-(m:Entity) WITH m AS a, r, n AS b", "b"),
)
_FACT_NAMES = tuple(column.rpartition(" AS ")[2] for column in FACT_COLUMNS.split(", "))
#: How many rows a search may give for each one that is wanted.
_OVERFETCH = 10
_SHORTEST_PART = 3


class IndexSearch:
    """Searches the entities and relations of one namespace, for one question."""

    def __init__(self, client: MemGraphClient, periods: Sequence[tuple[str, str]] = ()) -> None:
        """Prepare.

        Args:
            client: The graph.
            periods: Relations are found that hold now, or at some time of these; see :func:`valid_at`.
        """
        self._client = client
        self._periods = periods
        self._opened: asyncio.Future[GraphIndex] | None = None

    async def entities_by_pattern(self, terms: Sequence[str], limit: int) -> list[FoundEntity]:
        """Entities whose names are, or contain, one of the terms (normalised names)."""
        if not terms:
            return []
        exact = await self._entities(self._ids(terms))
        index = await self._index()
        places = {place for term in _parts(terms) for place in index.names.containing(term)}
        # Of those that contain a term the shortest come first: they are the likest.
        likely = sorted(places, key=lambda place: (index.names.lengths[place], index.entity_ids[place]))
        known = {row["id"] for row in exact}
        ids = [index.entity_ids[place] for place in likely if index.entity_ids[place] not in known][:limit]
        rows = {row["id"]: row for row in [*exact, *await self._entities(ids)]}
        order = [*dict.fromkeys(row["id"] for row in exact), *ids]
        return [entity_of(rows[identifier], "pattern") for identifier in order if identifier in rows][:limit]

    async def entities_by_trigram(self, terms: Sequence[str], limit: int) -> list[FoundEntity]:
        """Entities whose names are similar to one of the terms."""
        if not terms:
            return []
        index = await self._index()
        best = await asyncio.to_thread(index.names.similar, terms, limit, SIMILARITY_THRESHOLD)
        scores = {index.entity_ids[place]: score for place, score in best.items()}
        found = [entity_of(row, "trigram", scores[row["id"]]) for row in await self._entities(list(scores))]
        return sorted(found, key=lambda entity: (-entity.similarity, entity.id))

    async def entities_by_vector(self, nearest: Mapping[str, float], limit: int) -> list[FoundEntity]:
        """Entities that the passages nearest to the question mention.

        Args:
            nearest: Ids of chunks and their cosines.
            limit: Maximum number to return.
        """
        rows = await self._client.read_together(*MENTIONED, nearest)
        rows.sort(key=lambda row: (-nearest[row["chunk"]], row["id"]))
        found: dict[str, FoundEntity] = {}
        for row in rows:
            found.setdefault(row["id"], entity_of(row, "vector", max(nearest[row["chunk"]], 0.0)))
        return list(found.values())[:limit]

    async def facts_by_pattern(self, terms: Sequence[str], limit: int) -> list[FoundFact]:
        """Relations at entities of these names, and those whose words contain one of the terms."""
        if not terms:
            return []
        validity, index = await self._validity(), await self._index()
        ids = list(dict.fromkeys(identifier for term in terms for identifier in self._called(term, index)))
        ends = await self._between(ids, limit, validity) + await self._at(ids, limit, validity)
        places = {place for term in _parts(terms) for place in index.facts.containing(term)}
        places -= index.facts.unseen(validity)
        found: dict[tuple[str, ...], FoundFact] = {}
        named: dict[tuple[str, ...], set[str]] = {}
        for row in ends:
            fact = fact_of(row, "pattern")
            found.setdefault(fact.key, fact)
            named.setdefault(fact.key, set()).add(row["term"])
        for place in sorted(places, key=lambda place: (-index.facts.weight(place), place)):
            if len(found) >= limit:
                break
            fact = index.facts.fact(place, "pattern")
            found.setdefault(fact.key, fact)
        # Relations between two of the named entities come first, then those at one of them.
        keys = sorted(found, key=lambda key: -len(named.get(key, ())))
        return [found[key] for key in keys[:limit]]

    async def _between(self, ids: Sequence[str], limit: int, validity: Validity) -> list[dict[str, Any]]:
        """Return rows of the relations between some entities, each with a ``term`` for either end."""
        rows = await self._client.read(
            "UNWIND $ids AS i MATCH (a:Entity {id: i})-[r:RELATED]->(b:Entity) "
            f"WHERE b.id IN $ids {validity.narrowed('AND')}"
            f"RETURN a.normalized_name AS a_term, b.normalized_name AS b_term, {FACT_COLUMNS}{validity.columns} "
            f"{_FIRST}",
            ids=list(ids),
            limit=limit * _OVERFETCH,
            **validity.parameters,
        )
        return [{**row, "term": row[term]} for row in rows for term in ("a_term", "b_term")]

    async def _at(self, ids: Sequence[str], limit: int, validity: Validity) -> list[dict[str, Any]]:
        """Return rows of the heaviest relations at some entities, with its name as ``term``: in turn, one of each.

        Of each at most ``limit`` in either direction, so that one with thousands leaves room for the others.
        """
        found: list[tuple[int, dict[str, Any]]] = []
        for pattern, end in _AT_ENTITY:
            rows = await self._client.read(
                f"UNWIND $ids AS i MATCH (n:Entity {{id: i}}) CALL {{ WITH n MATCH {pattern} "
                f"{validity.narrowed('WHERE')}"
                f"RETURN {end}.normalized_name AS term, {FACT_COLUMNS}{validity.columns} {_FIRST_AT_ENTITY} }} "
                f"RETURN i, term, {', '.join(_FACT_NAMES)}{', valid_from, valid_to' if validity.columns else ''}",
                ids=list(ids),
                limit=limit,
                **validity.parameters,
            )
            rows.sort(key=_place)
            turns: dict[str, int] = {}
            for row in rows:
                turns[row["i"]] = turns.get(row["i"], 0) + 1
                found.append((turns[row["i"]], row))
        place = {identifier: number for number, identifier in enumerate(ids)}
        found.sort(key=lambda item: (item[0], place[item[1]["i"]]))
        return [row for _, row in found]

    async def facts_by_trigram(self, terms: Sequence[str], limit: int) -> list[FoundFact]:
        """Relations whose words or type are similar to one of the terms."""
        if not terms:
            return []
        index = await self._index()
        unseen = index.facts.unseen(await self._validity())
        best = await asyncio.to_thread(index.facts.similar, terms, limit, SIMILARITY_THRESHOLD, unseen)
        return [index.facts.fact(place, "trigram", score) for place, score in best.items()]

    async def facts_by_vector(self, nearest: Mapping[str, float], limit: int) -> list[FoundFact]:
        """Relations that the passages nearest to the question state.

        Args:
            nearest: Ids of chunks and their cosines.
            limit: Maximum number to return.
        """
        validity = await self._validity()
        rows = await self._client.read(
            "UNWIND $ids AS i MATCH (c:DocumentChunk {id: i})-[:MENTIONS]->(a:Entity)-[r:RELATED]->(b:Entity) "
            f"WHERE i IN r.chunk_ids {validity.narrowed('AND')}"
            f"RETURN i AS chunk, {FACT_COLUMNS}{validity.columns} {_FIRST}",
            ids=list(nearest),
            limit=limit * _OVERFETCH,
            **validity.parameters,
        )
        rows.sort(key=lambda row: (-nearest[row["chunk"]], row["chunk"]))
        found: dict[tuple[str, ...], FoundFact] = {}
        for row in rows:
            fact = fact_of(row, "vector", max(nearest[row["chunk"]], 0.0))
            found.setdefault(fact.key, fact)
        return list(found.values())[:limit]

    async def entities_by_id(self, ids: Sequence[str]) -> list[FoundEntity]:
        """Return the ends of relations that were not found themselves."""
        return [entity_of(row, "end") for row in await self._entities(ids)] if ids else []

    async def names_in(self, words: Sequence[str]) -> dict[str, str]:
        """Return which of these normalised names are entities; by normalised name, the name as it is written."""
        if not words:
            return {}
        index = await self._index()
        called = {word: self._called(word, index) for word in words}
        rows = await self._client.read(
            "UNWIND $ids AS i MATCH (e:Entity {id: i}) RETURN e.id AS id, e.name AS name",
            ids=list(dict.fromkeys(identifier for ids in called.values() for identifier in ids)),
        )
        names = {row["id"]: row["name"] for row in rows}
        found = {word: [names[i] for i in ids if i in names] for word, ids in called.items()}
        return {word: own[0] for word, own in found.items() if own}

    def _called(self, name: str, index: GraphIndex) -> list[str]:
        """Return the id of the entity with a normalised name; if there is none, of those with other accents."""
        [written] = self._ids([name])
        if index.has(written):
            return [written]
        plain = self._ids([folded(name)])
        return [*filter(index.has, plain), *(index.entity_ids[place] for place in index.names.with_accents(name))]

    def _ids(self, names: Sequence[str]) -> list[str]:
        """Return the ids that entities with these normalised names have."""
        return [entity_id(self._client.namespace, name) for name in names]

    async def _entities(self, ids: Sequence[str]) -> list[dict[str, Any]]:
        """Return the entities with these ids that there are, in this order."""
        order = {identifier: place for place, identifier in enumerate(dict.fromkeys(ids))}
        match = "MATCH (e:Entity {id: i}) WHERE e.namespace = $namespace"
        rows = await self._client.read_together(match, _ENTITY, order)
        return sorted(rows, key=lambda row: order[row["id"]])

    async def _validity(self) -> Validity:
        return await valid_at(self._client, None, *self._periods)

    async def _index(self) -> GraphIndex:
        """Return the index, looked at once for all searches of this object."""
        if self._opened is None:
            self._opened = asyncio.ensure_future(graph_index(self._client))
        return await self._opened


def _place(row: Mapping[str, Any]) -> tuple[Any, ...]:
    return -(row["weight"] or 0.0), row["source"] or "", row["target"] or "", row["type"] or ""


def _parts(terms: Sequence[str]) -> list[str]:
    """Terms long enough to look for anywhere in a text."""
    return [term for term in terms if len(term) >= _SHORTEST_PART or not term.isascii()]


def entity_of(row: Mapping[str, Any], method: str, similarity: float = 0.0) -> FoundEntity:
    """Make an entity from a row of :data:`MENTIONED`, or of other statements with its columns."""
    return FoundEntity(
        id=row["id"],
        name=row["name"] or "",
        type=row["type"] or "",
        summary=row["summary"] or "",
        mention_count=row["mention_count"] or 0,
        similarity=similarity,
        method=method,
    )
