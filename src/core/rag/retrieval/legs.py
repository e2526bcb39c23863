"""The legs of a search: each gives chunk ids with raw scores, best first, from the graph."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from core.rag.dbhandler.batches import batches
from core.rag.dbhandler.store import Match

if TYPE_CHECKING:
    from core.rag.dbhandler import MemGraphClient
    from core.rag.dbhandler.vectors import VectorStoreInfo

#: How many stored vectors tell how widely the similarities to a query are spread.
SAMPLE_SIZE = 512


class Legs:
    """Searches one namespace with one vector store."""

    def __init__(self, client: MemGraphClient, store: VectorStoreInfo | None) -> None:
        """Prepare the legs.

        Args:
            client: The graph.
            store: Where the vectors are; ``None`` where nothing was embedded yet.
        """
        self._client = client
        self._store = store

    async def vector(self, query: Sequence[float], k: int) -> dict[str, float]:
        """Chunks by cosine with the query, at least ``k`` where there are so many."""
        if self._store is None:
            return {}
        matches = await self._client.match_vectors(self._store, query, k)
        return await self._chunks_of(matches)

    async def keyword(self, terms: Mapping[str, float], k: int) -> dict[str, float]:
        """Chunks by BM25 over analysed words."""
        return {match.id: match.score for match in await self._client.match_terms(terms, k)}

    async def cosines(self, query: Sequence[float], chunk_ids: Collection[str]) -> dict[str, float]:
        """The exact cosine for given chunks; those without a vector are left out."""
        if self._store is None or not chunk_ids:
            return {}
        label = self._store.index().label
        unit = np.asarray(query, dtype=np.float32)
        unit = unit / np.linalg.norm(unit)
        found: dict[str, float] = {}
        for part in batches(sorted(chunk_ids), max_rows=1000):
            rows = await self._client.read(
                f"UNWIND $ids AS i MATCH (c:DocumentChunk {{id: i}})<-[:EMBEDDING_OF]-(v:{label}) "
                "RETURN c.id AS id, v.embedding AS embedding",
                ids=part,
            )
            if rows:
                matrix = np.array([row["embedding"] for row in rows], dtype=np.float32)
                scores = (matrix @ unit) / np.maximum(np.linalg.norm(matrix, axis=1), 1e-30)
                found.update((row["id"], float(score)) for row, score in zip(rows, scores, strict=True))
        return found

    async def sample(self) -> list[list[float]]:
        """Up to ``SAMPLE_SIZE`` vectors; ids are hashes, so the first by id are as good as drawn by lot."""
        if self._store is None:
            return []
        rows = await self._client.read(
            f"MATCH (v:{self._store.index().label}) WITH v ORDER BY v.id LIMIT {SAMPLE_SIZE} RETURN v.embedding AS e"
        )
        return [row["e"] for row in rows]

    async def names(self) -> list[tuple[str, str]]:
        """What the fuzzy leg compares: ids of chunks with the title (first chunks) and heading that stand over them."""
        titles = await self._client.read(
            "MATCH (c:DocumentChunk)-[:CHUNK_OF]->(d:Document) WHERE c.namespace = $namespace AND c.chunk_index = 0 "
            "RETURN c.id AS id, d.title AS title, d.path AS path"
        )
        headings = await self._client.read(
            "MATCH (c:DocumentChunk) WHERE c.namespace = $namespace AND c.heading <> '' "
            "RETURN c.id AS id, c.heading AS heading"
        )
        named = [(row["id"], row["title"]) for row in titles]
        named += [(row["id"], row["path"].rsplit("/", 1)[-1]) for row in titles]
        named += [(row["id"], row["heading"].rsplit(" > ", 1)[-1]) for row in headings]
        return named

    async def _chunks_of(self, matches: Sequence[Match]) -> dict[str, float]:
        scores = {match.id: match.score for match in matches}
        rows = await self._client.read(
            "UNWIND $ids AS i MATCH (v:Vector {id: i})-[:EMBEDDING_OF]->(c:DocumentChunk) "
            "RETURN v.id AS vector, c.id AS chunk",
            ids=list(scores),
        )
        pairs = sorted(((row["chunk"], scores[row["vector"]]) for row in rows), key=lambda item: (-item[1], item[0]))
        return dict(pairs)


async def document_facts(client: MemGraphClient, chunk_ids: Collection[str]) -> dict[str, dict[str, Any]]:
    """For chunks: what filters look at, of their documents.

    Returns:
        By chunk id: ``document_id, path, uri, title, source, source_id, mime_type, created_at, updated_at, metadata``.
    """
    facts: dict[str, dict[str, Any]] = {}
    for part in batches(sorted(chunk_ids), max_rows=1000):
        rows = await client.read(
            f"UNWIND $ids AS i MATCH (c:DocumentChunk {{id: i}})-[:CHUNK_OF]->(d:Document) {_FACTS}", ids=part
        )
        facts.update((row.pop("chunk"), row) for row in rows)
    return facts


_FACTS = (
    "OPTIONAL MATCH (d)-[:SOURCED_FROM]->(s:Source) "
    "RETURN c.id AS chunk, d.id AS document_id, d.path AS path, d.uri AS uri, d.title AS title, "
    "collect(s.name) AS source_names, collect(s.uri) AS source_uris, d.source_id AS source_id, "
    "d.mime_type AS mime_type, d.created_at AS created_at, d.updated_at AS updated_at, d.metadata AS metadata"
)
