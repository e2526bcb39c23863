"""Finds chunks and documents by vector and by keyword."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

from core.rag.arguments import check_kind, check_mapping, check_number, check_text, check_texts
from core.rag.dbhandler.checks import check_k
from core.rag.dbhandler.deeper import deeper
from core.rag.dbhandler.documents.contents import CONTENT_COLUMNS, with_content
from core.rag.dbhandler.documents.rows import CHUNK_COLUMNS, DOCUMENT_COLUMNS, FOUND_COLUMNS, as_found
from core.rag.dbhandler.scan import cosine_similarity, scan_search
from core.rag.dbhandler.store import Match
from core.rag.dbhandler.vector_checks import check_vector
from core.rag.dbhandler.vectors import VectorStoreInfo, VectorStoreOperations
from core.rag.errors import NotFoundError
from core.rag.schema import DEFAULT_VECTOR_INDEX, Label, TextIndex

#: Documents are found through their chunks: this many times the documents wanted are looked at.
_CHUNKS_PER_DOCUMENT = 8


class SearchOperations(VectorStoreOperations):
    """Searching with embeddings that the caller has, and with analysed words."""

    async def search_chunks(
        self, query_vector: Sequence[float], k: int = 5, index_name: str = DEFAULT_VECTOR_INDEX
    ) -> list[dict[str, Any]]:
        """Chunks whose vectors are most similar to a query vector.

        Args:
            query_vector: As long as the vectors of the index.
            k: Maximum number to return, 1 to 10,000.
            index_name: ``index_name`` of a VectorStore; the default stands for the active one of the namespace.

        Returns:
            Dicts with ``chunk_id, document_id, path, title, heading, content, chunk_index, chunk_count, start_char,
            end_char, metadata, score``, best first; ``score`` is the cosine, -1 to 1.

        Raises:
            InvalidVectorError: on a vector of another dimension, one that is not finite, or one of zeros.
            NotFoundError: if nothing has been embedded in this namespace, or there is no such index.
        """
        k = check_k(k)
        store = await self.find_vector_store(index_name)
        return await self.chunks_of_vectors(await self.match_vectors(store, query_vector, k), k)

    async def semantic_search_chunks(self, query_embedding: Sequence[float], limit: int = 5) -> list[dict[str, Any]]:
        """Search as :meth:`search_chunks` does, in the active vector store of the namespace."""
        return await self.search_chunks(query_embedding, limit)

    async def semantic_search_chunks_fallback(
        self, query_embedding: Sequence[float], limit: int = 5, index_name: str = DEFAULT_VECTOR_INDEX
    ) -> list[dict[str, Any]]:
        """Search without the engine's index: vectors are read in pages and compared with NumPy; same result.

        It is used automatically if the engine has no vector search.
        """
        limit = check_k(limit)
        store = await self.find_vector_store(index_name)
        query = check_vector(query_embedding, store.dimension)
        matches = await scan_search(await self.connect(), store.index(), query, limit)
        return await self.chunks_of_vectors(matches, limit)

    async def semantic_search(self, query_embedding: Sequence[float], limit: int = 5) -> list[dict[str, Any]]:
        """Search for documents by their most similar chunk.

        Args:
            query_embedding: As long as the vectors of the active store.
            limit: Maximum number of documents.

        Returns:
            Dicts as from ``find_document``, with ``score`` (the cosine of the best chunk) and ``chunk_id``.
        """
        return await self.documents_by_chunk(lambda wanted: self.search_chunks(query_embedding, wanted), limit)

    async def documents_by_chunk(
        self, search: Callable[[int], Awaitable[list[dict[str, Any]]]], limit: int
    ) -> list[dict[str, Any]]:
        """Return documents in the order of their best chunks.

        Args:
            search: Returns a given number of chunks, best first; called with a larger number if these are from too
                few documents.
            limit: Maximum number of documents.

        Returns:
            Dicts as from ``find_document``, with ``score`` and ``chunk_id`` of the best chunk.
        """
        limit = check_k(limit)
        best: dict[str, dict[str, Any]] = {}
        for wanted in deeper(limit * _CHUNKS_PER_DOCUMENT, 4):
            chunks = await search(wanted)
            for chunk in chunks:
                best.setdefault(chunk["document_id"], chunk)
            if len(best) >= limit or len(chunks) < wanted:
                break
        top = list(best.values())[:limit]
        rows = await self.read(
            f"UNWIND $ids AS i MATCH (d:Document {{id: i}}) RETURN {DOCUMENT_COLUMNS}, {CONTENT_COLUMNS}",
            ids=[chunk["document_id"] for chunk in top],
        )
        by_id = {row["id"]: row for row in await with_content(rows, self.read)}
        return [
            as_found(by_id[chunk["document_id"]], chunk["score"]) | {"chunk_id": chunk["chunk_id"]}
            for chunk in top
            if chunk["document_id"] in by_id
        ]

    async def match_vectors(
        self, store: VectorStoreInfo, query: Sequence[float], k: int, target: Label = Label.CHUNK
    ) -> list[Match]:
        """Return ids of Vector nodes by cosine, best first; computed here if the engine has no vector search."""
        check_kind("store", store, VectorStoreInfo)
        check_kind("target", target, Label)
        vector = check_vector(query, store.dimension)
        graph = await self.connect()
        if graph.capabilities.vector_search:
            return await graph.vector_search(store.index(target), vector, k)
        return await scan_search(graph, store.index(target), vector, k)

    async def match_terms(self, terms: Mapping[str, float], k: int, label: Label = Label.CHUNK) -> list[Match]:
        """Return ids of nodes with these analysed words, by BM25, best first.

        Args:
            terms: Words as from :func:`core.rag.analysis.query_terms`, with their weights.
            k: Maximum number to return, 1 to 10,000.
            label: Label of the nodes.
        """
        k = check_k(k)
        check_mapping("terms", terms)
        check_kind("label", label, Label)
        graph = await self.connect()
        return await graph.text_search(TextIndex(label, self._namespace), terms, k) if terms else []

    async def known_terms(self, terms: Collection[str], label: Label = Label.CHUNK) -> set[str]:
        """Return those of some analysed words that any node with a label has."""
        graph = await self.connect()
        words = check_texts("terms", terms)
        return await graph.known_words(TextIndex(check_kind("label", label, Label), self._namespace), words)

    async def count_chunks(self) -> int:
        """Return how many chunks the namespace has."""
        graph = await self.connect()
        statement = "MATCH (c:DocumentChunk) WHERE c.namespace = $namespace RETURN count(*) AS n"
        if graph.capabilities.text_index_per_namespace:  # the label of one's own is counted much faster
            statement = f"MATCH (c:{TextIndex(Label.CHUNK, self._namespace).partition}) RETURN count(*) AS n"
        return int((await self.read(statement))[0]["n"])

    async def chunks_of_vectors(self, matches: Sequence[Match], k: int) -> list[dict[str, Any]]:
        """Return at most ``k`` chunks that these vectors embed, with the scores of the vectors."""
        rows = await self.read(
            "UNWIND $ids AS i MATCH (v:Vector {id: i})-[:EMBEDDING_OF]->(c:DocumentChunk)-[:CHUNK_OF]->(d:Document) "
            f"RETURN v.id AS vector_id, {FOUND_COLUMNS}",
            ids=[match.id for match in matches],
        )
        scores = {match.id: match.score for match in matches}
        found = [as_found(row, scores[row.pop("vector_id")]) for row in rows]
        found.sort(key=_best_first)
        return found[:k]

    async def chunks_by_id(self, ids: Iterable[str]) -> dict[str, dict[str, Any]]:
        """Return chunks of the namespace by id; unknown ids are left out."""
        unique = list(dict.fromkeys(check_texts("ids", ids)))
        if not unique:
            return {}
        rows = await self.read(
            "UNWIND $ids AS i MATCH (c:DocumentChunk {id: i})-[:CHUNK_OF]->(d:Document) "
            f"WHERE c.namespace = $namespace RETURN {FOUND_COLUMNS}",
            ids=unique,
        )
        return {row["chunk_id"]: as_found(row) for row in rows}

    async def neighbouring_chunks(self, chunk_id: str, reach: int) -> list[dict[str, Any]]:
        """Return a chunk and up to ``reach`` chunks on either side in its document, in order.

        Raises:
            NotFoundError: if there is no such chunk.
        """
        check_text("chunk_id", chunk_id)
        reach = check_number("reach", reach, 0)
        centre = (await self.chunks_by_id([chunk_id])).get(chunk_id)
        if centre is None:
            raise NotFoundError(f"There is no chunk {chunk_id[:200]!r} in namespace {self._namespace!r}.")
        low, high = centre["chunk_index"] - reach, centre["chunk_index"] + reach
        return await self._chunks_between(centre["document_id"], low, high, CHUNK_COLUMNS)

    async def first_chunks(self, document_id: str, count: int) -> list[dict[str, Any]]:
        """Return the chunks with which a document begins, at most ``count``, in order; none of an unknown document."""
        return await self._chunks_between(document_id, 0, check_number("count", count, 1) - 1, FOUND_COLUMNS)

    async def _chunks_between(self, document_id: str, low: int, high: int, columns: str) -> list[dict[str, Any]]:
        rows = await self.read(
            "MATCH (d:Document {id: $id})<-[:CHUNK_OF]-(c:DocumentChunk) WHERE c.namespace = $namespace "
            f"AND c.chunk_index >= $low AND c.chunk_index <= $high RETURN {columns}",
            id=document_id,
            low=low,
            high=high,
        )
        return sorted((as_found(row) for row in rows), key=lambda row: row["chunk_index"])

    @staticmethod
    def _cosine_similarity(a: Sequence[float], b: Sequence[float]) -> float:
        """Return the cosine of the angle between two vectors, -1 to 1; 0 if one is all zeros."""
        return cosine_similarity(a, b)


def _best_first(row: Mapping[str, Any]) -> tuple[float, str, int]:
    return (-row["score"], row["path"], row["chunk_index"])
