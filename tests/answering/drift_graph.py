"""Writing entities and edges for tests of DRIFT RAG, in the form that extraction gives them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from core.rag import identity
from core.rag.dbhandler import MemGraphClient
from core.rag.dbhandler.store import Transaction


@dataclass
class Fact:
    """``(source)-[:RELATED {type, weight, fact}]->(target)`` between entities."""

    source: str
    target: str
    type: str = "related_to"
    weight: float = 0.5
    fact: str = ""
    chunk_ids: Sequence[str] = ()
    more: Mapping[str, Any] = field(default_factory=dict)


async def put_entities(
    client: MemGraphClient, entities: Mapping[str, str], facts: Sequence[Fact] = (), **properties: Mapping[str, Any]
) -> dict[str, str]:
    """Write entities by name with their summaries, and facts between them.

    Args:
        client: The graph.
        entities: Summaries by name.
        facts: Between these names.
        properties: More properties, by name of the entity.

    Returns:
        The id of each entity by its name.
    """
    ids = {name: entity_id(client, name) for name in entities}
    rows = [
        {
            "id": ids[name],
            "props": {
                "namespace": client.namespace,
                "name": name,
                "normalized_name": _normalized(name),
                "type": "thing",
                "summary": summary,
                "mention_count": 1,
                **properties.get(name, {}),
            },
        }
        for name, summary in entities.items()
    ]
    edges = [
        {
            "a": ids[fact.source],
            "b": ids[fact.target],
            "type": fact.type,
            "props": {
                "weight": fact.weight,
                "fact": fact.fact,
                "chunk_ids": list(fact.chunk_ids),
                **fact.more,
            },
        }
        for fact in facts
    ]

    async def work(tx: Transaction) -> None:
        for start in range(0, len(rows), 1000):
            await tx.run(
                "UNWIND $rows AS row MERGE (e:Entity {id: row.id}) SET e += row.props",
                {"rows": rows[start : start + 1000]},
            )
        for start in range(0, len(edges), 1000):
            await tx.run(
                "UNWIND $rows AS row MATCH (a:Entity {id: row.a}) MATCH (b:Entity {id: row.b}) "
                "MERGE (a)-[r:RELATED {type: row.type}]->(b) SET r += row.props",
                {"rows": edges[start : start + 1000]},
            )

    await (await client.connect()).transaction(work)
    return ids


def entity_id(client: MemGraphClient, name: str) -> str:
    """The id of the entity of this name."""
    return identity.entity_id(client.namespace, _normalized(name))


def _normalized(name: str) -> str:
    return " ".join(name.split()).casefold()


async def mention(client: MemGraphClient, mentions: Sequence[tuple[str, str, int]]) -> None:
    """Write MENTIONS edges: id of the chunk, name of the entity, how often."""
    rows = [{"c": chunk, "e": entity_id(client, name), "n": count} for chunk, name, count in mentions]

    async def work(tx: Transaction) -> None:
        for start in range(0, len(rows), 1000):
            await tx.run(
                "UNWIND $rows AS row MATCH (c:DocumentChunk {id: row.c}) MATCH (e:Entity {id: row.e}) "
                "MERGE (c)-[r:MENTIONS]->(e) SET r.count = row.n",
                {"rows": rows[start : start + 1000]},
            )

    await (await client.connect()).transaction(work)


async def write(client: MemGraphClient, statement: str, **parameters: Any) -> None:
    """Run one statement in a transaction, as somebody else might."""

    async def work(tx: Transaction) -> None:
        await tx.run(statement, parameters)

    await (await client.connect()).transaction(work)
