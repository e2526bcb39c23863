"""In-memory indexes of entity names and words of relations, for searches that no graph engine has an index for.

Made when first needed, kept for each open graph and namespace, and recreated when entities or relations changed.
"""

from __future__ import annotations

import asyncio
from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from core.rag.answering.graph_index.fact_table import NO_TYPE, FactColumns, FactTable
from core.rag.answering.graph_index.texts import Texts
from core.rag.answering.types import FoundFact
from core.rag.dbhandler.batches import batches
from core.rag.dbhandler.kept import Kept, microseconds
from core.rag.dbhandler.knowledge.validity import Validity, is_marked
from core.rag.schema import Label

if TYPE_CHECKING:
    from core.rag.dbhandler import MemGraphClient
    from core.rag.dbhandler.store import Row

#: The columns of a relation ``r`` from ``a`` to ``b``.
FACT_COLUMNS = (
    "a.id AS source_id, a.name AS source, b.id AS target_id, b.name AS target, r.type AS type, r.fact AS fact, "
    "r.weight AS weight, r.chunk_ids AS chunk_ids"
)
#: Above this number, relations are read in parts (those of this many entities at a time), as a row takes 1.5 kB.
_FACTS_AT_ONCE = 10_000
_ENTITIES_AT_ONCE = 1_000
_FACTS = "MATCH (a:Entity)-[r:RELATED]->(b:Entity)"
_FACTS_OF = "MATCH (a:Entity {id: i})-[r:RELATED]->(b:Entity)"
_COLUMNS = (
    "RETURN a.id AS source_id, b.id AS target_id, r.type AS type, r.fact AS fact, r.weight AS weight, "
    "r.chunk_ids AS chunk_ids"
)


@dataclass(frozen=True, slots=True)
class GraphIndex:
    """The entities and relations of one namespace, prepared for search.

    Attributes:
        entity_ids: Ids of entities, sorted.
        names: Their names, in the same order.
        facts: Relations.
    """

    entity_ids: list[str]
    names: Texts
    facts: FactTable

    def has(self, entity: str) -> bool:
        """Return whether there is an entity with this id."""
        place = bisect_left(self.entity_ids, entity)
        return place < len(self.entity_ids) and self.entity_ids[place] == entity


_kept: Kept[GraphIndex] = Kept(
    {Label.ENTITY},
    "MATCH (e:Entity) WHERE e.namespace = $namespace RETURN count(e) AS n, max(e.updated_at) AS last",
    "MATCH (a:Entity)-[r:RELATED]->(:Entity) WHERE a.namespace = $namespace "
    f"RETURN count(r) AS n, sum(r.weight) AS weight, max(r.updated_at) AS last, {microseconds('r')} AS microseconds",
)


async def graph_index(client: MemGraphClient) -> GraphIndex:
    """Return the up-to-date index of the client's namespace."""
    return await _kept.get(client, lambda: _made(client))


def fact_of(row: Mapping[str, Any], method: str, similarity: float = 0.0) -> FoundFact:
    """Make a relation from a row of ``FACT_COLUMNS``."""
    return FoundFact(
        source_id=row["source_id"],
        source=row["source"] or "",
        target_id=row["target_id"],
        target=row["target"] or "",
        type=row["type"] or NO_TYPE,
        fact=row["fact"] or "",
        weight=1.0 if row["weight"] is None else float(row["weight"]),
        chunk_ids=tuple(row["chunk_ids"] or ()),
        similarity=similarity,
        method=method,
        valid_from=row.get("valid_from") or "",
        valid_to=row.get("valid_to") or "",
    )


async def _made(client: MemGraphClient) -> GraphIndex:
    counted = await client.read(f"{_FACTS} WHERE a.namespace = $namespace RETURN count(r) AS n")
    entities = await client.read("MATCH (e:Entity) WHERE e.namespace = $namespace RETURN e.id AS id, e.name AS name")
    entities.sort(key=itemgetter("id"))
    ids = [row["id"] for row in entities]
    names = [row["name"] or "" for row in entities]
    del entities
    columns = FactColumns(ids)
    read = _COLUMNS + Validity(dated=await is_marked(client)).columns
    if counted[0]["n"] <= _FACTS_AT_ONCE:
        columns.add(_in_order(await client.read(f"{_FACTS} WHERE a.namespace = $namespace {read}")))
    else:
        for part in batches(ids, max_rows=_ENTITIES_AT_ONCE):
            rows = await client.read(f"UNWIND $ids AS i {_FACTS_OF} {read}", ids=part)
            await asyncio.to_thread(columns.add, _in_order(rows))
    facts = await asyncio.to_thread(FactTable, columns, ids, names)
    return GraphIndex(ids, await asyncio.to_thread(Texts, names), facts)


def _in_order(relations: list[Row]) -> list[Row]:
    """Return relations by the ids of their ends: every engine reads them in an order of its own."""
    return sorted(
        relations, key=lambda row: (row["source_id"], row["target_id"], row["type"] or "", row.get("valid_from") or "")
    )
