"""Vectors of nodes: stored ones are read, missing ones are computed from the nodes' texts, all in batches."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from core.rag.answering.drift.paths import Node
from core.rag.dbhandler.batches import batches
from core.rag.embedder.base import embed_long_texts
from core.rag.schema import Label
from core.rag.unit_vectors import unit_vectors

if TYPE_CHECKING:
    from core.rag.dbhandler import MemGraphClient
    from core.rag.dbhandler.vectors import VectorStoreInfo

_ROWS = 500
#: Vectors that are kept for further questions, the latest ones.
KEPT = 5_000


class Vectors:
    """Unit vectors of nodes, in the embedding model of the graph; the latest ones are not made again."""

    def __init__(self, client: MemGraphClient) -> None:
        """Prepare; nothing is read before it is asked for."""
        self._client = client
        self._known: dict[tuple[str, str], NDArray[np.float32]] = {}
        self._store: VectorStoreInfo | None = None

    @property
    def available(self) -> bool:
        """Whether texts can be embedded here."""
        return self._client.embedder is not None

    async def store(self) -> VectorStoreInfo | None:
        """Return the vector store of the embedder's model; ``None`` if nothing was embedded with it yet."""
        embedder = self._client.embedder
        if self._store is None and embedder is not None:
            self._store = await self._client.vector_store_for(embedder)
        return self._store

    async def of_nodes(self, nodes: Iterable[Node]) -> dict[str, NDArray[np.float32]]:
        """Return the unit vector of each node by its id; empty without an embedding service."""
        embedder = self._client.embedder
        if embedder is None:
            return {}
        wanted = {node.id: node for node in nodes}
        # What is known now may be dropped by another question while texts are embedded for this one.
        found = {
            node.id: self._known[node.id, node.content]
            for node in wanted.values()
            if (node.id, node.content) in self._known
        }
        missing = [node for node in wanted.values() if node.id not in found]
        stored = await self._stored([node.id for node in missing if node.label == Label.CHUNK])
        texts = [node for node in missing if node.id not in stored]
        rows = await embed_long_texts(embedder, [node.content or node.name for node in texts])
        vectors = stored | {node.id: row for node, row in zip(texts, rows, strict=True)}
        for node in missing:
            found[node.id] = self._known[node.id, node.content] = unit_vectors(vectors[node.id])
        for key in list(self._known)[: max(len(self._known) - KEPT, 0)]:
            del self._known[key]
        return found

    async def _stored(self, chunk_ids: list[str]) -> dict[str, NDArray[np.float32]]:
        store = await self.store()
        if store is None:
            return {}
        found: dict[str, NDArray[np.float32]] = {}
        for part in batches(chunk_ids, max_rows=_ROWS):
            rows = await self._client.read(
                f"UNWIND $ids AS i MATCH (c:DocumentChunk {{id: i}})<-[:EMBEDDING_OF]-(v:{store.index().label}) "
                "RETURN c.id AS id, v.embedding AS embedding",
                ids=part,
            )
            found.update((row["id"], np.asarray(row["embedding"], dtype=np.float32)) for row in rows)
        return found
