"""Reads what has or mentions entities; where that is too much, of the nearest and rarest entities first."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Final

from core.rag.graph.proximity import Surroundings
from core.rag.schema import EdgeType, Label

if TYPE_CHECKING:
    from core.rag.dbhandler import MemGraphClient
    from core.rag.dbhandler.store import Row

#: Maximum number of records and documents that are read for the entities around a question.
MAX_ATTACHED: Final = 20_000
#: How many of these, the nearest ones, and how many of the entities that were not read, are looked at once more.
_MOST_FOUND: Final = 2_000
_MOST_LEFT: Final = 100

#: The edges from records and documents to what they have or mention.
ATTACHING: Final = (EdgeType.HAS_ENTITY, EdgeType.MENTIONS)
_OF_FOUND: Final = (
    (Label.RECORD, "(n:Record {id: i})-[:HAS_ENTITY]->(e:Entity)"),
    (Label.DOCUMENT, "(n:Document {id: i})<-[:CHUNK_OF]-(c:DocumentChunk)-[:MENTIONS]->(e:Entity)"),
)


async def attached(client: MemGraphClient, around: Surroundings, found: Collection[str]) -> list[Row]:
    """Return the records and documents that have or mention the entities around a question.

    Args:
        client: The graph.
        around: The entities.
        found: Ids of records and documents that were found by words.

    Returns:
        Rows of ``entity``, ``label`` and ``id``, some of them twice. If there are more than ``MAX_ATTACHED``, those of
        the nearest entities, and of these the rarest first: of a country that all records have, only some. The nearest
        of them, and what was found by words, come with all the entities that they have.
    """
    entities = list(around.nodes)
    degrees = await client.degrees({Label.ENTITY: entities}, ATTACHING)
    if sum(degrees.values()) <= MAX_ATTACHED:
        return await client.attached(entities, MAX_ATTACHED)
    order = sorted(entities, key=lambda key: (-around.closeness([key]), degrees.get(key, 0), key))
    room, whole = MAX_ATTACHED, 0
    while degrees.get(order[whole], 0) <= room:
        room -= degrees.get(order[whole], 0)
        whole += 1
    rest = order[whole:]
    rows = await client.attached(order[:whole], MAX_ATTACHED)
    if room:
        rows += await client.attached(rest[:1], room)
    return rows + await having(client, [*found, *_nearest(around, rows)], rest[:_MOST_LEFT])


def _nearest(around: Surroundings, rows: Sequence[Row]) -> list[str]:
    """Return the ids of the records and documents in rows that are nearest to the question."""
    entities: dict[str, list[str]] = {}
    for row in rows:
        entities.setdefault(row["id"], []).append(row["entity"])
    return sorted(entities, key=lambda key: (-around.closeness(entities[key]), key))[:_MOST_FOUND]


async def having(client: MemGraphClient, ids: Sequence[str], entities: Sequence[str]) -> list[Row]:
    """Return which of some entities some records and documents have or mention; rows as from :func:`attached`."""
    rows: list[Row] = []
    for label, pattern in _OF_FOUND:
        statement = f"UNWIND $ids AS i MATCH {pattern} WHERE e.id IN $entities RETURN DISTINCT e.id AS entity, i AS id"
        rows += [{**row, "label": label} for row in await client.read_for_ids(statement, ids, entities=entities)]
    return rows
