"""Finds the record or document that an edge comes from."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from core.rag.dbhandler.knowledge.entities import FROM_RULE
from core.rag.dbhandler.knowledge.records import FROM_RECORD
from core.rag.extraction.records import RecordEntity, relations_of
from core.rag.graph.attaching import ATTACHING, having
from core.rag.graph.parts import GraphEdge
from core.rag.schema import Label

if TYPE_CHECKING:
    from core.rag.dbhandler import MemGraphClient
    from core.rag.dbhandler.store import Row
    from core.rag.graph.passing import Passing

_MAX_ATTACHED = 10_000
#: Maximum number of the chunks of a fact that a filter is applied to.
_MOST_CHUNKS = 50

Key = tuple[str, str, str, str]


async def sources_of(
    client: MemGraphClient, edges: Sequence[GraphEdge], shown: Collection[str], passing: Passing | None = None
) -> dict[Key, str]:
    """Return ids of records and documents by the ``key`` of the edges that they state.

    Args:
        client: The graph.
        edges: Edges between entities.
        shown: Ids of records that are preferred to others, as they are shown anyway.
        passing: The only sources that are wanted, which those that are shown are among; ``None``: all.

    Returns:
        Of a link between fields, a record that has both in such fields; of a fact, a document of its chunks; of names
        that a rule found to be the same, what has or mentions both. Links made by hand without chunks are left out.
    """
    from_records = [edge for edge in edges if edge.origin == FROM_RECORD]
    found = _stated(from_records, await client.entities_of_records(sorted(shown)))
    rest = [edge for edge in from_records if edge.key not in found]
    rows = await client.records_of_both([(edge.source, edge.target) for edge in rest])
    found |= _stated(rest, rows if passing is None else await passing.only(rows, "record"))
    others = [edge for edge in edges if edge.origin != FROM_RECORD]
    supported = await client.chunks_of_facts([(edge.source, edge.target) for edge in others])
    if passing is None:
        first = {link: chunks[0] for link, chunks in supported.items()}
    else:
        first = await passing.first_chunks({link: chunks[:_MOST_CHUNKS] for link, chunks in supported.items()})
    read = await client.chunks_by_id(list(first.values()))
    chunk_of = {edge.key: first.get(edge.id, "") for edge in others}
    found |= {key: read[chunk]["document_id"] for key, chunk in chunk_of.items() if chunk in read}
    rest = [edge for edge in others if edge.origin == FROM_RULE]
    return found | await _with_both(client, rest, shown, passing)


def _stated(edges: Sequence[GraphEdge], rows: Sequence[Row]) -> dict[Key, str]:
    """Return the first record by id that states each edge, of those whose entities are in the rows."""
    entities: dict[str, dict[str, RecordEntity]] = {}
    for row in rows:
        entity = RecordEntity(row["field"], row["type"], row["name"], row["text"])
        entities.setdefault(row["record"], {})[row["entity"]] = entity
    found: dict[Key, str] = {}
    for record, of_it in sorted(entities.items()):
        for edge in edges:
            if edge.key not in found and edge.source in of_it and edge.target in of_it:
                a, b = of_it[edge.source], of_it[edge.target]
                [relation] = relations_of([a, b])
                if (relation.source, relation.target, relation.type) == (a.name, b.name, edge.type):
                    found[edge.key] = record
    return found


async def _with_both(
    client: MemGraphClient, edges: Sequence[GraphEdge], shown: Collection[str], passing: Passing | None
) -> dict[Key, str]:
    ends = sorted({end for edge in edges for end in (edge.source, edge.target)})
    degrees = await client.degrees({Label.ENTITY: ends}, ATTACHING)
    ends.sort(key=lambda end: (degrees.get(end, 0), end))
    # Of a name that ten thousand documents have, only those are read that have the other one, too.
    rarer = {min(edge.source, edge.target, key=ends.index) for edge in edges}
    whole: list[str] = []
    room = _MAX_ATTACHED
    for end in filter(rarer.__contains__, ends):
        if whole and degrees.get(end, 0) > room:
            break
        whole.append(end)
        room -= degrees.get(end, 0)
    rows = await client.attached(whole, _MAX_ATTACHED)
    if passing is not None:
        rows = await passing.only(rows, "id")
    rows += await having(client, list({row["id"] for row in rows}), [end for end in ends if end not in whole])
    holders: dict[str, set[str]] = {}
    for row in rows:
        holders.setdefault(row["entity"], set()).add(row["id"])
    found: dict[Key, str] = {}
    for edge in edges:
        if both := holders.get(edge.source, set()) & holders.get(edge.target, set()):
            found[edge.key] = min(both, key=lambda key: (key not in shown, key))
    return found
