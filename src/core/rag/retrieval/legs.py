"""The legs of a search: each gives chunk ids with raw scores, best first, from the graph."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from core.rag.dbhandler.batches import batches
from core.rag.dbhandler.float_rows import float_rows
from core.rag.dbhandler.store import GraphStore, Match
from core.rag.retrieval.fuzzy import FuzzyIndex
from core.rag.unit_vectors import unit_vectors

if TYPE_CHECKING:
    from core.rag.dbhandler import MemGraphClient
    from core.rag.dbhandler.vectors import VectorStoreInfo
    from core.rag.retrieval.filters import Filter

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
        self._total: int | None = None

    async def total(self) -> int:
        """How many chunks there are; counted once for a search."""
        if self._total is None:
            self._total = await self._client.count_chunks()
        return self._total

    async def vector(self, query: Sequence[float] | None, k: int) -> dict[str, float]:
        """Chunks by cosine with the query, at least ``k`` where there are so many; none without a query vector."""
        if self._store is None or query is None:
            return {}
        matches = await self._client.match_vectors(self._store, query, k)
        return await self._chunks_of(matches)

    async def keyword(self, terms: Mapping[str, float], k: int) -> dict[str, float]:
        """Chunks by BM25 over analysed words."""
        return {match.id: match.score for match in await self._client.match_terms(terms, k)}

    async def cosines(self, query: Sequence[float] | None, chunk_ids: Collection[str]) -> dict[str, float]:
        """The exact cosine for given chunks; those without a vector are left out."""
        if self._store is None or query is None or not chunk_ids:
            return {}
        label = self._store.index().label
        found: dict[str, float] = {}
        for part in batches(sorted(chunk_ids), max_rows=1000):
            rows = await self._client.read(
                f"UNWIND $ids AS i MATCH (c:DocumentChunk {{id: i}})<-[:EMBEDDING_OF]-(v:{label}) "
                "RETURN c.id AS id, v.embedding AS embedding",
                ids=part,
            )
            scores = _cosines([row["embedding"] for row in rows], query)
            found.update((row["id"], score) for row, score in zip(rows, scores, strict=True))
        return found

    async def sampled_cosines(self, query: Sequence[float] | None) -> list[float]:
        """Cosines of the query with a random sample of the vectors, which tell how widely they are spread."""
        if self._store is None or query is None:
            return []
        label = self._store.index().label
        graph = await self._client.connect()
        samples = _samples.setdefault(graph, {})
        sample = samples.get(label)
        if sample is None:
            # Ids are hashes, so the first by id are as good as drawn by lot.
            rows = await self._client.read(
                f"MATCH (v:{label}) WITH v.id AS id, v.embedding AS embedding ORDER BY id LIMIT {SAMPLE_SIZE} "
                "RETURN embedding"
            )
            sample = unit_vectors(float_rows([row["embedding"] for row in rows]))
            if len(rows) == SAMPLE_SIZE:  # a smaller one is the whole corpus, which still grows
                samples[label] = sample
        return _dots(sample, query)

    async def sampled_words(self) -> list[frozenset[str]]:
        """The analysed words of a random sample of the chunks, which tell how rare a word is."""
        graph = await self._client.connect()
        samples = _word_samples.setdefault(graph, {})
        sample = samples.get(self._client.namespace)
        if sample is None:
            rows = await self._client.read(
                "MATCH (c:DocumentChunk) WHERE c.namespace = $namespace "
                f"WITH c.id AS id, c.terms AS terms ORDER BY id LIMIT {SAMPLE_SIZE} RETURN terms"
            )
            sample = [frozenset((row["terms"] or "").split()) for row in rows]
            if len(rows) == SAMPLE_SIZE:  # a smaller one is the whole corpus, which still grows
                samples[self._client.namespace] = sample
        return sample

    async def fuzzy_index(self) -> FuzzyIndex:
        """Titles and file names (of first chunks) and headings, prepared; made anew only when documents changed."""
        state = await self._client.read(
            "MATCH (d:Document) WHERE d.namespace = $namespace RETURN count(d) AS n, max(d.updated_at) AS last"
        )
        stamp = (state[0]["n"], state[0]["last"])
        indexes = _fuzzy_indexes.setdefault(await self._client.connect(), {})
        stored = indexes.get(self._client.namespace)
        if stored is None or stored[0] != stamp:
            names = await self._names()
            indexes[self._client.namespace] = stored = (stamp, await asyncio.to_thread(FuzzyIndex, names))
        return stored[1]

    async def _names(self) -> list[tuple[str, str]]:
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

    async def facts(self, chunk_ids: Collection[str]) -> dict[str, dict[str, Any]]:
        """For chunks: what filters look at, of their documents.

        Returns:
            By chunk id: ``path, uri, title, source_names, source_uris, source_id, mime_type, created_at, updated_at,
            metadata`` (JSON).
        """
        facts: dict[str, dict[str, Any]] = {}
        for part in batches(sorted(chunk_ids), max_rows=1000):
            rows = await self._client.read(
                "UNWIND $ids AS i MATCH (c:DocumentChunk {id: i})-[:CHUNK_OF]->(d:Document) "
                f"WITH c.id AS key, d {_FACTS}",
                ids=part,
            )
            facts.update((row.pop("key"), row) for row in rows)
        return facts

    async def terms_where(self, wanted: Filter, limit: int) -> dict[str, str] | None:
        """The analysed words of all chunks whose documents pass a filter, by chunk id; ``None`` if over ``limit``."""
        narrow = wanted.pushdown()
        rows = await self._client.read(
            "MATCH (d:Document) WHERE d.namespace = $namespace AND d.path STARTS WITH $prefix "
            f"WITH d.id AS key, d {_FACTS}",
            prefix=narrow.path_prefix or "",
        )
        texts: dict[str, str] = {}
        for part in batches([row["key"] for row in rows if wanted.matches(row)], max_rows=1000):
            chunks = await self._client.read(
                "UNWIND $ids AS i MATCH (d:Document {id: i})<-[:CHUNK_OF]-(c:DocumentChunk) "
                "RETURN c.id AS id, c.terms AS terms",
                ids=part,
            )
            texts.update((chunk["id"], chunk["terms"]) for chunk in chunks)
            if len(texts) > limit:
                return None
        return texts

    async def _chunks_of(self, matches: Sequence[Match]) -> dict[str, float]:
        scores = {match.id: match.score for match in matches}
        rows = await self._client.read(
            "UNWIND $ids AS i MATCH (v:Vector {id: i})-[:EMBEDDING_OF]->(c:DocumentChunk) "
            "RETURN v.id AS vector, c.id AS chunk",
            ids=list(scores),
        )
        pairs = sorted(((row["chunk"], scores[row["vector"]]) for row in rows), key=lambda item: (-item[1], item[0]))
        return dict(pairs)


#: What filters look at, of a document ``d``, with the ``key`` that asked for it.
_FACTS = (
    "OPTIONAL MATCH (d)-[:SOURCED_FROM]->(s:Source) "
    "RETURN key, d.path AS path, d.uri AS uri, d.title AS title, collect(s.name) AS source_names, "
    "collect(s.uri) AS source_uris, d.source_id AS source_id, d.mime_type AS mime_type, "
    "d.created_at AS created_at, d.updated_at AS updated_at, d.metadata AS metadata"
)

#: For each open graph, its prepared names by namespace, with what tells whether they are outdated.
_fuzzy_indexes: WeakKeyDictionary[GraphStore, dict[str, tuple[tuple[int, str | None], FuzzyIndex]]] = (
    WeakKeyDictionary()
)

#: For each open graph, samples of its vectors by the label of their index.
_samples: WeakKeyDictionary[GraphStore, dict[str, NDArray[np.float32]]] = WeakKeyDictionary()

#: For each open graph, the words of a sample of its chunks by namespace.
_word_samples: WeakKeyDictionary[GraphStore, dict[str, list[frozenset[str]]]] = WeakKeyDictionary()


def _cosines(vectors: Sequence[Sequence[float]], query: Sequence[float]) -> list[float]:
    return _dots(unit_vectors(float_rows(vectors)), query)


def _dots(rows: NDArray[np.float32], query: Sequence[float]) -> list[float]:
    """The cosine of a query with each row of length 1, by one thread: several would wait for each other."""
    scores: list[float] = (
        np.vecdot(rows, unit_vectors(np.asarray(query, dtype=np.float32))).tolist() if len(rows) else []
    )
    return scores
