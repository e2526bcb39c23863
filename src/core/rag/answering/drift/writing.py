"""Writing inferred connections into the graph, marked as what they are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from core.rag.answering.drift.paths import InferredConnection
from core.rag.answering.drift.validation import problems_of
from core.rag.dbhandler.batches import batches
from core.rag.dbhandler.store import Row, Transaction
from core.rag.errors import InvalidInputError
from core.rag.schema import EdgeType, Label
from core.rag.times import utc_now

if TYPE_CHECKING:
    from core.rag.dbhandler import MemGraphClient

#: Which edges may be inferred: those between things, not those that say what a text contains.
_EDGES = {Label.ENTITY: EdgeType.RELATED, Label.CONCEPT: EdgeType.RELATED_TO}


async def store_inferences(
    client: MemGraphClient, inferences: Sequence[InferredConnection], labels: Mapping[str, Label]
) -> int:
    """Write connections between two entities, or two concepts.

    The edge has ``inferred`` true, ``type``, ``weight`` and ``confidence`` (the same), ``reasoning`` and ``strategy``;
    it never replaces one that came from a source. Writing the same connection again updates it.

    Args:
        client: The graph.
        inferences: Valid ones; those between other nodes are left out.
        labels: The label of each node by its id.

    Returns:
        How many there are in the graph now.

    Raises:
        InvalidInputError: on an invalid one; nothing is written then.
    """
    for inference in inferences:
        if problems := problems_of(inference):
            raise InvalidInputError(f"The inferred connection {inference.type[:80]!r} is refused: {' '.join(problems)}")
    rows: dict[Label, list[Row]] = {}
    for inference in inferences:
        label = labels.get(inference.source)
        if label in _EDGES and labels.get(inference.target) == label:
            properties = {
                "weight": float(inference.confidence),
                "confidence": float(inference.confidence),
                "reasoning": inference.reasoning,
                "strategy": inference.strategy,
            }
            rows.setdefault(label, []).append(
                {"a": inference.source, "b": inference.target, "type": inference.type, "props": properties}
            )

    async def work(tx: Transaction) -> int:
        written = 0
        for label, some in sorted(rows.items()):
            for part in batches(some):
                found = await tx.run(
                    f"UNWIND $rows AS row MATCH (a:{label} {{id: row.a}}) MATCH (b:{label} {{id: row.b}}) "
                    "WHERE a.namespace = $namespace AND b.namespace = $namespace "
                    f"MERGE (a)-[r:{_EDGES[label]} {{type: row.type, inferred: true}}]->(b) "
                    "ON CREATE SET r.created_at = $now SET r += row.props RETURN a.id AS id",
                    {"rows": part, "namespace": client.namespace, "now": utc_now()},
                )
                written += len(found)
        return written

    return await (await client.connect()).transaction(work)
