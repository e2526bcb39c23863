"""The first chunks of documents, which stand for the whole: they have its fields, and a citation can name them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from core.rag.dbhandler import MemGraphClient


async def first_chunks(client: MemGraphClient, documents: Iterable[str]) -> dict[str, str]:
    """Return the ids of the first chunks of documents, by the ids of these; those without text are left out."""
    rows = await client.read_for_ids(
        "UNWIND $ids AS i MATCH (d:Document {id: i})<-[:CHUNK_OF]-(c:DocumentChunk) WHERE d.namespace = $namespace "
        "AND c.chunk_index = 0 RETURN i AS document, c.id AS chunk",
        list(documents),
    )
    return {row["document"]: row["chunk"] for row in rows}
