"""Writes inferred connections into the graph, marked as inferred."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from core.rag.answering.drift.paths import InferredConnection
from core.rag.answering.drift.validation import problems_of
from core.rag.dbhandler.knowledge.entities import FROM_CALLER
from core.rag.dbhandler.store import Row
from core.rag.errors import InvalidInputError
from core.rag.identity import link_id

if TYPE_CHECKING:
    from core.rag.dbhandler import MemGraphClient


async def store_inferences(
    client: MemGraphClient, inferences: Sequence[InferredConnection], entities: Collection[str]
) -> int:
    """Write connections between two entities.

    The edge is a link of the caller, who asked for it, so :meth:`core.rag.KnowledgeBase.unlink` takes it back. It has
    ``inferred`` true, ``type``, ``weight`` and ``confidence`` (the same), ``reasoning`` and ``strategy``, and its
    ``fact`` says that it was inferred, for all that show it; it never replaces one that came from a source. Writing the
    same connection again updates it.

    Args:
        client: The graph.
        inferences: Valid ones; those between other nodes are left out.
        entities: Ids of the entities among their ends.

    Returns:
        How many there are in the graph now.

    Raises:
        InvalidInputError: on an invalid one; nothing is written then.
    """
    for inference in inferences:
        if problems := problems_of(inference):
            raise InvalidInputError(f"The inferred connection {inference.type[:80]!r} is refused: {' '.join(problems)}")
    rows: list[Row] = []
    for inference in inferences:
        if inference.source in entities and inference.target in entities:
            link = link_id(inference.source, inference.target, f"inferred {inference.type}")
            properties = {
                "key": link,
                "type": inference.type,
                "fact": f"inferred: {inference.reasoning}",
                "weight": float(inference.confidence),
                "confidence": float(inference.confidence),
                "reasoning": inference.reasoning,
                "strategy": inference.strategy,
                "inferred": True,
                "origin": FROM_CALLER,
            }
            rows.append({"a": inference.source, "b": inference.target, "link": link, "props": properties})
    return await client.write_inferred_links(rows)
