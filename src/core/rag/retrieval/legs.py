"""The legs of a search: each returns chunk ids with raw scores, best first."""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from core.rag.dbhandler.batches import batches
from core.rag.dbhandler.float_rows import float_rows
from core.rag.dbhandler.kept import Kept
from core.rag.dbhandler.store import Match, Row
from core.rag.retrieval.ordering.asked_sections import Passage
from core.rag.retrieval.ordering.named_documents import OPENING, WholeDocument
from core.rag.schema import Label
from core.rag.unit_vectors import unit_vectors

if TYPE_CHECKING:
    from core.rag.dbhandler import MemGraphClient
    from core.rag.dbhandler.vectors import VectorStoreInfo
    from core.rag.retrieval.filters import Filter

#: Number of stored vectors from which the spread of similarities to a query is estimated.
SAMPLE_SIZE = 512
#: How many chunks on either side of one are near it.
AROUND = 12


class Legs:
    """Searches one namespace with one vector store."""

    def __init__(self, client: MemGraphClient, store: VectorStoreInfo | None) -> None:
        """Prepare the legs.

        Args:
            client: The graph.
            store: The vector store; ``None`` if nothing has been embedded yet.
        """
        self._client = client
        self._store = store
        self._total: int | None = None

    async def total(self) -> int:
        """Return the number of chunks; counted again after a change, on a server once in a while."""
        if self._total is None:  # the same throughout a search
            self._total = await _totals.get(self._client, self._client.count_chunks)
        return self._total

    async def vector(self, query: Sequence[float] | None, k: int) -> dict[str, float]:
        """Return chunks by cosine with the query, at least ``k`` if there are as many; none without a query vector."""
        if self._store is None or query is None:
            return {}
        matches = await self._client.match_vectors(self._store, query, k)
        return await self._chunks_of(matches)

    async def keyword(self, terms: Mapping[str, float], k: int) -> dict[str, float]:
        """Return chunks by BM25 over analysed words."""
        return {match.id: match.score for match in await self._client.match_terms(terms, k)}

    async def cosines(self, query: Sequence[float] | None, chunk_ids: Collection[str]) -> dict[str, float]:
        """Return the exact cosines of given chunks; chunks without a vector are left out."""
        [found] = await self.cosines_of_each([query], chunk_ids)
        return found

    async def cosines_of_each(
        self, queries: Sequence[Sequence[float] | None], chunk_ids: Collection[str]
    ) -> list[dict[str, float]]:
        """Return the exact cosines of given chunks with each of several queries; see :meth:`cosines`."""
        found: list[dict[str, float]] = [{} for _ in queries]
        if self._store is None or not chunk_ids or all(query is None for query in queries):
            return found
        label = self._store.index().label
        for part in batches(sorted(chunk_ids), max_rows=1000):
            rows = await self._client.read_together(
                f"MATCH (c:DocumentChunk {{id: i}})<-[:EMBEDDING_OF]-(v:{label})",
                {"id": "i", "embedding": "v.embedding"},
                part,
            )
            vectors = unit_vectors(float_rows([row["embedding"] for row in rows]))
            for query, scores in zip(queries, found, strict=True):
                if query is not None:
                    scores.update((row["id"], score) for row, score in zip(rows, _dots(vectors, query), strict=True))
        return found

    async def sampled_cosines(self, query: Sequence[float] | None) -> list[float]:
        """Return cosines of the query with a random sample of the vectors, to estimate their spread."""
        if self._store is None or query is None:
            return []
        return _dots(await _vectors.get(self._client, self._sample, store=self._store.id), query)

    async def _sample(self) -> NDArray[np.float32]:
        assert self._store is not None
        # Ids are hashes, so the first ones by id are a random sample. Memgraph has them in order by namespace and id.
        rows = await self._client.read(
            f"MATCH (v:{self._store.index().label}) WHERE v.namespace = $namespace "
            f"WITH v, v.id AS id ORDER BY id LIMIT {SAMPLE_SIZE} RETURN v.embedding AS embedding"
        )
        return unit_vectors(float_rows([row["embedding"] for row in rows]))

    async def passages(self, chunk_ids: Collection[str]) -> dict[str, Passage]:
        """Return what given chunks say, and what they are called."""
        rows = await self._client.read_together(
            "MATCH (c:DocumentChunk {id: i})-[:CHUNK_OF]->(d:Document)",
            {
                "id": "c.id",
                "terms": "c.terms",
                "content": "c.content",
                "heading": "c.heading",
                "title": "d.title",
                "path": "c.path",
                "of": "c.chunk_count",
            },
            chunk_ids,
        )
        return {
            row.pop("id"): Passage(of=row.pop("of") or 0, **{name: value or "" for name, value in row.items()})
            for row in rows
        }

    async def whole(self, path: str) -> WholeDocument | None:
        """Return a document with the analysed words of all its passages; ``None`` if it is not there any more."""
        match = "MATCH (d:Document {path: i})<-[:CHUNK_OF]-(c:DocumentChunk) WHERE d.namespace = $namespace"
        rows = await self._client.read_lists(match, ("c.chunk_index", "c.id", "c.terms"), [path])
        rows.sort(key=lambda row: row[0])
        opening = await self.passages([key for _, key, _ in rows[:OPENING]])
        if not opening:
            return None
        text = "\n\n".join(one.content for one in opening.values())
        title = next(iter(opening.values())).title
        return WholeDocument(path, title, text, {key: terms or "" for _, key, terms in rows})

    async def around(self, chunk_id: str) -> dict[str, Passage]:
        """Return a chunk and those near it in its document, in order, without their analysed words."""
        rows = await self._client.neighbouring_chunks(chunk_id, AROUND)
        return {
            row["chunk_id"]: Passage("", row["content"], row["heading"] or "", row["title"] or "", row["path"])
            for row in rows
        }

    async def sampled_words(self) -> list[frozenset[str]]:
        """Return the analysed words of a random sample of the chunks, to estimate how rare words are."""
        return await _words.get(self._client, self._sampled_words)

    async def _sampled_words(self) -> list[frozenset[str]]:
        rows = await self._client.read(
            "MATCH (c:DocumentChunk) WHERE c.namespace = $namespace "
            f"WITH c.id AS id, c.terms AS terms ORDER BY id LIMIT {SAMPLE_SIZE} RETURN terms"
        )
        return [frozenset((row["terms"] or "").split()) for row in rows]

    async def facts(self, wanted: Filter, chunk_ids: Collection[str]) -> dict[str, dict[str, Any]]:
        """Return the fields that a filter tests, of the documents of chunks, by the ids of the chunks."""
        return await self._facts(wanted, "c.id", "MATCH (c:DocumentChunk {id: i})-[:CHUNK_OF]->(d:Document)", chunk_ids)

    async def _facts(self, wanted: Filter, key: str, match: str, ids: Collection[str]) -> dict[str, dict[str, Any]]:
        async def read(columns: Mapping[str, str], more: str) -> list[Row]:
            return await self._client.read_together(match + more, columns, sorted(ids), at_once=1000)

        return await _facts(wanted, key, read)

    async def passing(self, wanted: Filter, chunk_ids: Collection[str]) -> set[str]:
        """Return those of given chunks whose documents pass a filter."""
        return {key for key, row in (await self.facts(wanted, chunk_ids)).items() if wanted.matches(row)}

    async def documents_passing(self, wanted: Filter, ids: Collection[str]) -> dict[str, bool]:
        """Return whether documents pass a filter, by their ids; what is no document is left out."""
        facts = await self._facts(wanted, "d.id", "MATCH (d:Document {id: i})", ids)
        return {key: wanted.matches(row) for key, row in facts.items()}

    async def documents_where(self, wanted: Filter) -> dict[str, str]:
        """Return the paths of the documents that pass a filter, by their ids."""
        facts = await _facts(wanted, "d.id", lambda columns, more: self._documents(wanted, columns, more))
        return {key: row["path"] for key, row in facts.items() if wanted.matches(row)}

    async def _documents(self, wanted: Filter, columns: Mapping[str, str], more: str) -> list[Row]:
        """Return the documents that may pass a filter, by an index if it names their paths or sources."""
        pushed = wanted.pushdown()
        for field, values in (("path", pushed.paths), ("source_id", pushed.source_ids)):
            if values is not None:
                match = f"MATCH (d:Document {{{field}: i}}) WHERE d.namespace = $namespace"
                return await self._client.read_together(match + more, columns, values)
        found = await self._client.read(
            "MATCH (d:Document) WHERE d.namespace = $namespace AND d.path STARTS WITH $prefix"
            f"{more} RETURN collect([{', '.join(columns.values())}]) AS found",
            prefix=pushed.path_prefix or "",
        )
        return [dict(zip(columns, values, strict=True)) for values in found[0]["found"]]

    async def terms_where(self, wanted: Filter, limit: int) -> dict[str, str] | None:
        """Return the analysed words of chunks whose documents pass a filter, by chunk id; ``None`` over ``limit``."""
        texts: dict[str, str] = {}
        for part in batches(list(await self.documents_where(wanted)), max_rows=1000):
            chunks = await self._client.read_lists(
                "MATCH (d:Document {id: i})<-[:CHUNK_OF]-(c:DocumentChunk)", ("c.id", "c.terms"), part, at_once=1000
            )
            texts.update((identifier, terms) for identifier, terms in chunks)
            if len(texts) > limit:
                return None
        return texts

    async def _chunks_of(self, matches: Sequence[Match]) -> dict[str, float]:
        scores = {match.id: match.score for match in matches}
        rows = await self._client.read_together(
            "MATCH (v:Vector {id: i})-[:EMBEDDING_OF]->(c:DocumentChunk)", {"vector": "i", "chunk": "c.id"}, scores
        )
        pairs = sorted(((row["chunk"], scores[row["vector"]]) for row in rows), key=lambda item: (-item[1], item[0]))
        return dict(pairs)


async def _facts(
    wanted: Filter, key: str, read: Callable[[Mapping[str, str], str], Awaitable[list[Row]]]
) -> dict[str, dict[str, Any]]:
    """Return the path of documents and what else a filter tests, by ``key``.

    Args:
        wanted: The filter. What it does not test is not read: of all documents of a namespace, that takes long.
        key: What the result is by.
        read: Returns these columns of documents ``d``, after more of a statement.
    """
    tested = {field.split(".", 1)[0] for field in wanted.fields()}
    columns = {name: f"d.{name}" for name in sorted({"path"} | tested - {"source"})}
    facts = {row["key"]: row for row in await read({"key": key, **columns}, "")}
    if "source" in tested:
        # A separate statement: OPTIONAL MATCH scans every edge of the graph on the embedded engine.
        for row in await read({"key": key, "name": "s.name", "uri": "s.uri"}, " MATCH (d)-[:SOURCED_FROM]->(s:Source)"):
            if row["key"] in facts:
                facts[row["key"]].setdefault("source_names", []).append(row["name"])
                facts[row["key"]].setdefault("source_uris", []).append(row["uri"])
    return facts


def _sampled(rows: list[Row]) -> list[Any]:
    """Return the state for which a sample is valid: when it changes, the sample is drawn again.

    Drawing a sample sorts all chunks, which is too expensive after every small change. So for a large corpus the
    state has the number of chunks in steps of a tenth, and the first chunk by id, which changes when texts are
    replaced. For a corpus that fits into the sample, every change counts.

    Args:
        rows: The results of the statements ``_CHUNKS``, and of further ones.
    """
    chunks, *more = rows
    return rows if chunks["n"] <= SAMPLE_SIZE else [int(math.log(chunks["n"], _GROWTH)), *more]


#: Growth of a corpus after which a sample is drawn again.
_GROWTH = 1.1

#: Maximum age of samples on a server, where other clients write, too.
_SAMPLED_SECONDS = 60.0
#: Maximum age of the number of chunks on a server, which scans all of them to count.
_COUNTED_SECONDS = 10.0

# Apart: the embedded engine takes five times as long for all three at once.
_CHUNKS = (
    "MATCH (c:DocumentChunk) WHERE c.namespace = $namespace RETURN count(c) AS n, max(c.updated_at) AS last",
    "MATCH (c:DocumentChunk) WHERE c.namespace = $namespace RETURN min(c.id) AS first",
)

# Chunks are never written without their document. Another vector store also becomes active only with a write to
# documents, while messages name their vector store with each vector.
_totals: Kept[int] = Kept({Label.DOCUMENT}, patience=_COUNTED_SECONDS)
_words: Kept[list[frozenset[str]]] = Kept({Label.DOCUMENT}, *_CHUNKS, state=_sampled, patience=_SAMPLED_SECONDS)
_vectors: Kept[NDArray[np.float32]] = Kept(
    {Label.DOCUMENT},
    *_CHUNKS,
    "MATCH (s:VectorStore {id: $store}) RETURN s.updated_at AS last",
    state=_sampled,
    patience=_SAMPLED_SECONDS,
)


def _dots(rows: NDArray[np.float32], query: Sequence[float]) -> list[float]:
    """Return the cosine of a query with each row; rows have length 1.

    ``vecdot`` computes in one thread. A matrix product would use several, for which concurrent searches would wait.
    """
    scores: list[float] = (
        np.vecdot(rows, unit_vectors(np.asarray(query, dtype=np.float32))).tolist() if len(rows) else []
    )
    return scores
