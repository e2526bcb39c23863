"""In-memory indexes of entity names and words of relations, for searches that no graph engine has an index for.

Made when first needed, and kept for each open graph and namespace. When entities changed, only these are read and
prepared again; when relations changed, all relations are.
"""

from __future__ import annotations

import asyncio
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
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
_ENTITIES = "MATCH (e:Entity) WHERE e.namespace = $namespace"
_NAMED = "RETURN e.id AS id, e.name AS name"
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
        called: Their names, in the same order.
        names: The same, prepared.
        facts: Relations.
    """

    entity_ids: list[str]
    called: list[str]
    names: Texts
    facts: FactTable


_kept: Kept[GraphIndex] = Kept(
    {Label.ENTITY},
    f"{_ENTITIES} RETURN count(e) AS n, max(e.updated_at) AS last",
    "MATCH (a:Entity)-[r:RELATED]->(:Entity) WHERE a.namespace = $namespace "
    f"RETURN count(r) AS n, sum(r.weight) AS weight, max(r.updated_at) AS last, {microseconds('r')} AS microseconds",
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
    entities = await client.read(f"{_ENTITIES} {_NAMED}")
    entities.sort(key=itemgetter("id"))
    ids, names = _columns(entities)
    del entities
    facts = await _facts(client, ids, names)
    return GraphIndex(ids, names, await asyncio.to_thread(Texts, names), facts)


async def _renewed(client: MemGraphClient, before: GraphIndex, was: list[Row], now: list[Row]) -> GraphIndex:
    (entities_were, facts_were), (entities, facts) = was, now
    # What was written while the index was made is read again.
    rows = await client.read(f"{_ENTITIES} AND e.updated_at >= $last {_NAMED}", last=entities_were["last"] or "")
    if 2 * len(rows) > len(before.entity_ids):
        return await _made(client)
    rows.sort(key=itemgetter("id"))
    changed, new_names = _columns(rows)
    old = before.entity_ids
    nexts = [bisect_left(old, identifier) for identifier in changed]
    known = {place for place, identifier in zip(nexts, changed, strict=True) if old[place : place + 1] == [identifier]}
    gone = set(known)
    # What was written since the entities were counted makes the difference larger, never smaller.
    if len(old) - len(known) + len(rows) != entities["n"]:
        there = {row["id"] for row in await client.read(f"{_ENTITIES} RETURN e.id AS id")}
        if not there.issubset({*old, *changed}):  # one without a time, not written by this program
            return await _made(client)
        gone.update(place for place, identifier in enumerate(old) if identifier not in there)
    texts = await asyncio.to_thread(before.names.renewed, list(gone), new_names, nexts)
    called = dict(zip(old, before.called, strict=True)) | dict(zip(changed, new_names, strict=True))
    for place in gone - known:
        del called[old[place]]
    ids = sorted(called)  # nearly sorted already
    names = [called[identifier] for identifier in ids]
    if facts == facts_were:
        table = before.facts.renamed(dict(zip(changed, new_names, strict=True)))
    else:
        table = await _facts(client, ids, names)
    return GraphIndex(ids, names, texts, table)


def _columns(entities: Sequence[Row]) -> tuple[list[str], list[str]]:
    return [row["id"] for row in entities], [row["name"] or "" for row in entities]


async def _facts(client: MemGraphClient, ids: list[str], names: list[str]) -> FactTable:
    counted = await client.read(f"{_FACTS} WHERE a.namespace = $namespace RETURN count(r) AS n")
    columns = FactColumns(ids)
    read = _COLUMNS + Validity(dated=await is_marked(client)).columns
    if counted[0]["n"] <= _FACTS_AT_ONCE:
        columns.add(_in_order(await client.read(f"{_FACTS} WHERE a.namespace = $namespace {read}")))
    else:
        for part in batches(ids, max_rows=_ENTITIES_AT_ONCE):
            rows = await client.read(f"UNWIND $ids AS i {_FACTS_OF} {read}", ids=part)
            await asyncio.to_thread(columns.add, _in_order(rows))
    return await asyncio.to_thread(FactTable, columns, ids, names)


def _in_order(relations: list[Row]) -> list[Row]:
    """Return relations by the ids of their ends: every engine reads them in an order of its own."""
    return sorted(
        relations, key=lambda row: (row["source_id"], row["target_id"], row["type"] or "", row.get("valid_from") or "")
    )
