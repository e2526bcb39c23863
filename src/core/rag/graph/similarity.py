"""Finds nodes by meaning. Vectors are created in batches when a search first needs them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

from core.rag.arguments import as_float
from core.rag.dbhandler.batches import batches
from core.rag.dbhandler.deeper import deeper
from core.rag.dbhandler.knowledge.concepts import VectorRow
from core.rag.dbhandler.scan import cosine_similarity
from core.rag.dbhandler.vector_checks import check_vector
from core.rag.embedder.base import dimension_of
from core.rag.encodable import encodable
from core.rag.errors import ConfigurationError, InvalidInputError, NotFoundError
from core.rag.schema import Label

if TYPE_CHECKING:
    from core.rag.dbhandler import MemGraphClient
    from core.rag.dbhandler.vectors import VectorStoreInfo
    from core.rag.embedder import EmbeddingService

#: Number of nodes that are embedded together.
_BATCH = 256

#: Number of vectors that are requested first; four times as many, and so on, if these are not enough.
_FIRST_MATCHES = 64
_FIRST_MATCHES_MOST = 1_000


class Similarity:
    """The vectors of the Concepts of a namespace."""

    def __init__(self, client: MemGraphClient, embedder: EmbeddingService | None) -> None:
        """Prepare a search.

        Args:
            client: The graph.
            embedder: Of the model of the namespace; ``None``: there is no semantic search.
        """
        self._client = client
        self._embedder = embedder
        self._store: VectorStoreInfo | None = None
        self._embedding = asyncio.Lock()

    @property
    def embedder(self) -> EmbeddingService:
        """The embedding service.

        Raises:
            ConfigurationError: if there is none.
        """
        if self._embedder is None:
            raise ConfigurationError(
                "Finding nodes by meaning needs an embedding service: pass an embedder to the knowledge graph."
            )
        return self._embedder

    async def store(self) -> VectorStoreInfo:
        """Return the vector store of the model, creating it if the namespace has none.

        Raises:
            ModelMismatchError: if the namespace was built with another model.
        """
        if self._store is None:
            dimension = await dimension_of(self.embedder)
            self._store = await self._client.ensure_vector_store(self.embedder.model, dimension)
        return self._store

    async def embed_pending(self) -> int:
        """Embed the nodes that have no vectors yet.

        Returns:
            The number of these nodes.
        """
        from core.rag.embedder.base import embed_long_texts

        count = 0
        async with self._embedding:
            store = await self.store()
            rows = await self._client.pending_concepts(store, _BATCH)
            if rows is None:  # the namespace was emptied
                self._store = None
                store = await self.store()
                rows = await self._client.pending_concepts(store, _BATCH)
            while rows:
                parts = [(row["id"], part, text) for row in rows for part, text in enumerate(_texts(row))]
                vectors = await embed_long_texts(self.embedder, [text for _, _, text in parts])
                await self._client.attach_concept_vectors(
                    [
                        VectorRow(node, part, tuple(vector))
                        for (node, part, _), vector in zip(parts, vectors.tolist(), strict=True)
                    ],
                    store,
                )
                count += len(rows)
                rows = await self._client.pending_concepts(store, _BATCH)
        return count

    async def checked(
        self, vectors: Sequence[tuple[str, Sequence[float], Sequence[Sequence[float]], int]]
    ) -> list[VectorRow]:
        """Check vectors of callers: id of a node, vector of its content, vectors and number of its trunks.

        Returns:
            The rows for :meth:`keep`. Nodes with trunks that have no vectors are left to be embedded.

        Raises:
            InvalidVectorError: if a vector has another dimension, is not finite, or is all zeros.
        """
        if not vectors:
            return []
        store = await self.store()
        return [
            VectorRow(node, part, check_vector(vector, store.dimension, "The embedding of a node"))
            for node, content, trunks, number in vectors
            if len(trunks) == number
            for part, vector in enumerate((content, *trunks))
        ]

    async def keep(self, vectors: Sequence[VectorRow]) -> None:
        """Store checked vectors."""
        if not vectors:
            return
        try:
            await self._client.attach_concept_vectors(vectors, await self.store())
        except NotFoundError:  # the namespace was emptied
            self._store = None
            await self._client.attach_concept_vectors(vectors, await self.store())

    async def ranked(
        self,
        text: str,
        embedding: Sequence[float] | None,
        k: int,
        threshold: float,
        labels: Collection[str] | None,
        *,
        is_query: bool,
    ) -> list[tuple[str, float]]:
        """Return the nodes most similar to a text.

        Args:
            text: The search text.
            embedding: Its vector, if known.
            k: Maximum number to return.
            threshold: Only those more similar than this.
            labels: Only nodes with one of these; ``None``: any.
            is_query: Whether it asks for nodes, which some models have to be told, or is the content of one itself.

        Returns:
            Ids and cosines, best first, ties by id. The most similar part of a node counts.

        Raises:
            InvalidInputError: if the threshold is not a number from -1 to 1.
        """
        from core.rag.embedder.base import embed_long_texts, is_blank

        check_cosine("similarity_threshold", threshold)
        text = encodable(text)
        if embedding is None and is_blank(text):
            return []
        await self.embed_pending()
        store = await self.store()
        if embedding is None:
            embedding = (await embed_long_texts(self.embedder, [text], as_queries=is_query))[0].tolist()
        query = check_vector(embedding, store.dimension)
        for size in deeper(min(max(2 * k, _FIRST_MATCHES), _FIRST_MATCHES_MOST), 4):
            matches = await self._client.match_vectors(store, query, size, Label.CONCEPT)
            nodes = await self._client.concepts_of_vectors([match.id for match in matches])
            best: dict[str, float] = {}
            for match in matches:
                node, label = nodes.get(match.id, ("", ""))
                if node and (labels is None or label in labels):
                    best.setdefault(node, match.score)
            enough = len(best) >= k and _is_settled(best, k, matches[-1].score)
            below = bool(matches) and matches[-1].score <= threshold
            if enough or below or len(matches) < size:
                break
        else:
            if labels is not None:
                best = await self._of_labels(store, query, labels)
        found = [(node, score) for node, score in best.items() if score > threshold]
        return sorted(found, key=lambda item: (-item[1], item[0]))[:k]

    async def _of_labels(
        self, store: VectorStoreInfo, query: tuple[float, ...], labels: Collection[str]
    ) -> dict[str, float]:
        """Return the similarity of every node with one of the labels; for labels that are rare among many nodes."""
        best: dict[str, float] = {}
        for part in batches(await self._client.concept_ids(list(labels))):
            for row in await self._client.concept_vectors(part, store):
                score = cosine_similarity(row["embedding"], query)
                best[row["id"]] = max(score, best.get(row["id"], -1.0))
        return best


def _is_settled(best: dict[str, float], k: int, last: float) -> bool:
    """Return whether the k-th best is better than anything not fetched, so that ties are not cut off arbitrarily."""
    return sorted(best.values(), reverse=True)[k - 1] > last


def _texts(row: dict[str, Any]) -> list[str]:
    return [row["content"], *(json.loads(row["trunks"]) if row["trunks"] else ())]


def check_cosine(name: str, value: float) -> None:
    """Refuse what is not a number from -1 to 1."""
    if not -1 <= as_float(value) <= 1:
        raise InvalidInputError(f"{name} is {repr(value)[:100]}, but has to be a number from -1 to 1.")
