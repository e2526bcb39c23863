"""In-memory indexes of entity names and words of relations, for searches that no graph engine has an index for.

Made when first needed, and kept for each open graph and namespace. After a change only what changed is read and
prepared again, since all names of a large graph take seconds; where relations were removed, all of these are.
"""

from __future__ import annotations

import asyncio
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from core.rag.answering.graph_index.fact_columns import NO_TYPE, FactColumns, Vocabulary, key_of
from core.rag.answering.graph_index.fact_table import FactTable
from core.rag.answering.graph_index.merging import Merge
from core.rag.answering.graph_index.texts import Texts
from core.rag.answering.types import FoundFact
from core.rag.dbhandler.batches import batches
from core.rag.dbhandler.kept import Kept, microseconds
from core.rag.dbhandler.knowledge.validity import DATED, is_marked
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
#: After so many changes relations are read from the beginning, so that what these replaced takes no more memory.
_MOST_RENEWALS = 500
_ENTITIES = "MATCH (e:Entity) WHERE e.namespace = $namespace"
_NAMED = ("e.id", "e.name")
_FACTS = "MATCH (a:Entity)-[r:RELATED]->(b:Entity) WHERE a.namespace = $namespace"
_FACTS_OF = "MATCH (a:Entity {id: i})-[r:RELATED]->(b:Entity)"
_COLUMNS = {
    "source_id": "a.id",
    "target_id": "b.id",
    "type": "r.type",
    "fact": "r.fact",
    "weight": "r.weight",
    "chunk_ids": "r.chunk_ids",
    "microseconds": "toInteger(substring(r.updated_at, 20, 6))",
}


@dataclass(frozen=True, slots=True)
class GraphIndex:
    """The entities and relations of one namespace, prepared for search.

    Attributes:
        entity_ids: Ids of entities, sorted.
        called: Their names, in the same order.
        names: The same, prepared.
        facts: Relations.
    """

    entity_ids: list[str]
    called: list[str]
    names: Texts
    facts: FactTable

    def has(self, entity: str) -> bool:
        """Return whether there is an entity with this id."""
        place = bisect_left(self.entity_ids, entity)
        return place < len(self.entity_ids) and self.entity_ids[place] == entity


#: Maximum age on a server, where other clients write, too: a question needs it twice, and to ask takes a server longer
#: the more entities there are.
_PATIENCE = 1.0

_kept: Kept[GraphIndex] = Kept(
    {Label.ENTITY},
    f"{_ENTITIES} RETURN count(e) AS n, max(e.updated_at) AS last",
    "MATCH (a:Entity)-[r:RELATED]->(:Entity) WHERE a.namespace = $namespace "
    f"RETURN count(r) AS n, sum(r.weight) AS weight, max(r.updated_at) AS last, {microseconds('r')} AS microseconds",
    patience=_PATIENCE,
)


async def graph_index(client: MemGraphClient) -> GraphIndex:
    """Return the up-to-date index of the client's namespace."""
    return await _kept.get(client, partial(_made, client), renew=partial(_renewed, client))


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
    # In threads, as all that takes long with many entities: others need not wait.
    ids, names = await asyncio.to_thread(_columns, await client.read_lists(_ENTITIES, _NAMED, None))
    facts = await _facts(client, ids, names)
    return GraphIndex(ids, names, await asyncio.to_thread(Texts, names), facts)


async def _renewed(client: MemGraphClient, before: GraphIndex, was: list[Row], now: list[Row]) -> GraphIndex:
    (entities_were, facts_were), (entities, facts) = was, now
    # What was written while the index was made is read again.
    rows = await client.read_lists(
        f"{_ENTITIES} AND e.updated_at >= $last", _NAMED, None, last=entities_were["last"] or ""
    )
    if 2 * len(rows) > len(before.entity_ids):
        return await _made(client)
    changed, new_names = _columns(rows)
    old = before.entity_ids
    nexts = [bisect_left(old, identifier) for identifier in changed]
    gone = {place for place, identifier in zip(nexts, changed, strict=True) if old[place : place + 1] == [identifier]}
    # What was written since the entities were counted makes the difference larger, never smaller.
    if len(old) - len(gone) + len(rows) != entities["n"]:
        known, there = set(old), set((await client.read(f"{_ENTITIES} RETURN collect(e.id) AS ids"))[0]["ids"])
        if there - known - set(changed):  # one without a time, not written by this program
            return await _made(client)
        gone.update(bisect_left(old, identifier) for identifier in known - there)
    merge = Merge(len(old), gone, nexts)
    ids = await asyncio.to_thread(merge.items, old, changed)
    names = await asyncio.to_thread(merge.items, before.called, new_names)
    texts = await asyncio.to_thread(before.names.renewed, merge, new_names)
    table = await _renewed_facts(client, before.facts, facts_were, facts, list(zip(changed, new_names, strict=True)))
    if table is None:  # not one without relations, which is empty
        table = await _facts(client, ids, names)
    return GraphIndex(ids, names, texts, table)


def _columns(entities: list[list[str]]) -> tuple[list[str], list[str]]:
    """Return ids and names, sorted by the ids."""
    entities.sort(key=itemgetter(0))
    return [identifier for identifier, _ in entities], [name or "" for _, name in entities]


async def _facts(client: MemGraphClient, ids: list[str], names: list[str]) -> FactTable:
    counted = await client.read(f"{_FACTS} RETURN count(r) AS n")
    vocabulary = Vocabulary()
    await asyncio.to_thread(vocabulary.add_entities, zip(ids, names, strict=True))
    columns = FactColumns(vocabulary)
    read = await _fact_columns(client)
    if counted[0]["n"] <= _FACTS_AT_ONCE:
        columns.add(sorted(await client.read_together(_FACTS, read, None), key=key_of))
    else:
        for part in batches(ids, max_rows=_ENTITIES_AT_ONCE):
            rows = await client.read_together(_FACTS_OF, read, part)
            await asyncio.to_thread(columns.add, sorted(rows, key=key_of))
    return await asyncio.to_thread(FactTable, columns)


async def _renewed_facts(
    client: MemGraphClient, before: FactTable, was: Row, now: Row, names: Sequence[tuple[str, str]]
) -> FactTable | None:
    """Return the relations after a change; ``None`` if all have to be read: some were removed, or too many changed."""
    if before.renewals == _MOST_RENEWALS:
        return None
    if was == now:
        return before.renewed((), names)
    later = f"{_FACTS} AND r.updated_at >= $last"
    counted = await client.read(f"{later} RETURN count(r) AS n", last=was["last"] or "")
    if counted[0]["n"] > _FACTS_AT_ONCE:
        return None
    rows = await client.read_together(later, await _fact_columns(client), None, last=was["last"] or "")
    table = await asyncio.to_thread(before.renewed, sorted(rows, key=key_of), names)
    return table if (len(table), table.changed) == (now["n"], now["microseconds"]) else None


async def _fact_columns(client: MemGraphClient) -> dict[str, str]:
    return _COLUMNS | (DATED if await is_marked(client) else {})
