"""Checks the consistency of the documents of a namespace, and repairs it."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import AsyncIterator, Iterable, Sequence
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING

from core.rag.dbhandler.batches import batches, run_for_ids, run_for_rows
from core.rag.dbhandler.documents.removing import remove_strays, remove_unused_sources, remove_unused_vectors
from core.rag.dbhandler.documents.writing import chain_chunks
from core.rag.dbhandler.json_texts import from_json
from core.rag.dbhandler.locking import lock
from core.rag.dbhandler.resources import remove_unused_resources
from core.rag.dbhandler.store import Row, Transaction
from core.rag.indexing.cutting import PREPARED
from core.rag.maintenance.flaws import Checks, Flaw, Look, seen_twice, some
from core.rag.schema import FROM_TEXT, Label, check_name
from libs.dataloader.reading import READERS_VERSION

if TYPE_CHECKING:
    from core.rag.dbhandler.vectors import VectorStoreInfo

#: Edges that there is never a reason to have twice, with the labels that they connect.
_SINGLE_EDGES: tuple[tuple[str, Label, Label], ...] = (
    ("CHUNK_OF", Label.CHUNK, Label.DOCUMENT),
    ("NEXT", Label.CHUNK, Label.CHUNK),
    ("EMBEDDING_OF", Label.VECTOR, Label.CHUNK),
    ("STORED_IN", Label.VECTOR, Label.VECTOR_STORE),
    ("SOURCED_FROM", Label.DOCUMENT, Label.SOURCE),
    ("PART_OF", Label.INTERACTION, Label.CONVERSATION),
    ("FOLLOWS", Label.INTERACTION, Label.INTERACTION),
    ("SUMMARIZES", Label.INTERACTION, Label.INTERACTION),
    ("EMBEDDING_OF", Label.VECTOR, Label.INTERACTION),
    ("MENTIONS", Label.CHUNK, Label.ENTITY),
    ("TITLED", Label.DOCUMENT, Label.ENTITY),
    ("HAS_ENTITY", Label.RECORD, Label.ENTITY),
)


class Soundness(Checks):
    """Checks of what documents consist of, and of what stands around them."""

    def checks(self) -> list[tuple[str, Look]]:
        """All checks by name, in an order in which mending one may uncover what the next one mends."""
        return [
            ("ids", self._ids),
            ("edges", self._double_edges),
            ("chunks", self._stray_chunks),
            ("documents", self._documents),
            ("vectors", self._vectors),
            ("vector stores", self._stores),
            ("versions", self._versions),
            ("sources and resources", self._leftovers),
        ]

    async def _ids(self) -> AsyncIterator[Flaw]:
        for label in Label:
            rows = await self._read(
                f"MATCH (n:{label}) WHERE n.namespace = $namespace WITH n.id AS id, count(n) AS k WHERE k > 1 "
                "RETURN id, k"
            )
            if rows:
                yield Flaw(
                    f"{len(rows)} ids of {label} exist more than once: {some(row['id'] for row in rows)}.",
                    advice="An export holds each once: mgrag export, mgrag namespaces delete, mgrag import.",
                )
        rows = await self._read(
            "MATCH (d:Document) WHERE d.namespace = $namespace WITH d.uri AS uri, count(DISTINCT d.id) AS k "
            "WHERE k > 1 RETURN uri"
        )
        if rows:
            yield Flaw(
                f"{len(rows)} documents exist twice: {some(row['uri'] for row in rows)}.",
                advice="Delete one of each by its id (mgrag list --json, mgrag delete ID).",
            )

    async def _double_edges(self) -> AsyncIterator[Flaw]:
        for edge, start, end in _SINGLE_EDGES:
            rows = await self._read(
                f"MATCH (a:{start})-[r:{edge}]->(b:{end}) WHERE a.namespace = $namespace "
                "WITH a.id AS a, b.id AS b, count(r) AS k WHERE k > 1 RETURN a, b"
            )
            if rows:
                mend = partial(self._transact, rows, partial(_make_single, edge=edge, start=start, end=end))
                yield Flaw(f"{len(rows)} edges {edge} exist more than once.", mend)

    async def _stray_chunks(self) -> AsyncIterator[Flaw]:
        # Two statements, here as below: an OPTIONAL MATCH looks at every edge of the graph on the embedded engine.
        rows = await self._read(
            "MATCH (c:DocumentChunk) WHERE c.namespace = $namespace AND NOT (c)-[:CHUNK_OF]->(:Document) "
            "RETURN c.id AS id"
        )
        stray = [row["id"] for row in rows]
        if stray:
            yield Flaw(
                f"{len(stray)} chunks do not belong to any document.", lambda: self._transact(stray, remove_strays)
            )
        rows = await self._read(
            "MATCH (c:DocumentChunk)-[r:CHUNK_OF]->(d:Document) WHERE c.namespace = $namespace "
            "WITH c.id AS id, count(r) AS k WHERE k > 1 RETURN id"
        )
        shared = [row["id"] for row in rows]
        if shared:
            yield Flaw(
                f"{len(shared)} chunks belong to more than one document: {some(shared)}.",
                advice="Delete these documents and ingest them again.",
            )

    async def _documents(self) -> AsyncIterator[Flaw]:
        broken = sorted(await seen_twice(self._out_of_order))
        if not broken:
            return
        paths = sorted(row["path"] for row in (await self._client.documents_by_id(broken)).values())
        yield Flaw(
            f"The chunks of {len(broken)} documents are incomplete or out of order: {some(paths)}.",
            lambda: self._transact(broken, _put_in_order),
            "Ingest them again.",
        )

    async def _out_of_order(self) -> dict[str, bool]:
        """Return the ids of documents whose chunks are not chained, have a wrong count, or are all missing."""
        chunks = await self._read_wide(
            "MATCH (c:DocumentChunk)-[:CHUNK_OF]->(d:Document) WHERE c.namespace = $namespace", _PLACE
        )
        edges = await self._read_wide(
            "MATCH (a:DocumentChunk)-[:NEXT]->(b:DocumentChunk) WHERE a.namespace = $namespace",
            {"a": "a.id", "b": "b.id"},
        )
        following = {(row["a"], row["b"]) for row in edges}
        owner = {row["id"]: row["document"] for row in chunks}
        wanted = {document: set(_pairs(parts)) for document, parts in _by_document(chunks).items()}
        unchained = {owner[a] for a, b in following if a in owner and (a, b) not in wanted[owner[a]]}
        unchained |= {document for document, pairs in wanted.items() if not pairs <= following}
        bare = await self._read(
            "MATCH (d:Document) WHERE d.namespace = $namespace AND d.pipeline <> '' AND d.content <> '' "
            "AND NOT (d)<-[:CHUNK_OF]-(:DocumentChunk) RETURN d.id AS id"
        )
        return dict.fromkeys(unchained | _miscounted(chunks) | {row["id"] for row in bare}, True)

    async def _vectors(self) -> AsyncIterator[Flaw]:
        rows = await self._read(
            "MATCH (v:Vector) WHERE v.namespace = $namespace AND NOT (v)-[:EMBEDDING_OF]->() RETURN v.id AS id"
        )
        idle = [row["id"] for row in rows]
        if idle:
            mend = partial(self._transact, idle, remove_unused_vectors)  # a text may have come to share one meanwhile
            yield Flaw(f"{len(idle)} vectors embed nothing.", mend)
        rows = await self._read(
            "MATCH (v:Vector) WHERE v.namespace = $namespace AND NOT (v)-[:STORED_IN]->(:VectorStore) "
            "RETURN v.id AS id, v.vector_store_id AS store"
        )
        known = {store.id for store in await self._client.vector_stores()}
        lost = [row["id"] for row in rows if row["store"] not in known]
        loose = [row for row in rows if row["store"] in known]
        if lost:
            yield Flaw(
                f"{len(lost)} vectors do not belong to any vector store.", lambda: self._delete(Label.VECTOR, lost)
            )
        if loose:
            yield Flaw(
                f"{len(loose)} vectors are not connected to their vector store.",
                lambda: self._in_parts(
                    loose,
                    "UNWIND $rows AS row MATCH (v:Vector {id: row.id}) MATCH (s:VectorStore {id: row.store}) "
                    "MERGE (v)-[:STORED_IN]->(s)",
                ),
            )

    async def _stores(self) -> AsyncIterator[Flaw]:
        for store in await self._client.vector_stores():
            label = check_name(store.index().label)
            outside = sorted(await seen_twice(partial(self._outside, store)))
            if outside:
                yield Flaw(
                    f"{len(outside)} vectors of {store.model} are not in its index.",
                    partial(
                        self._in_parts,
                        [{"id": identifier} for identifier in outside],
                        f"UNWIND $rows AS row MATCH (v:Vector {{id: row.id}}) SET v:{label}",
                    ),
                )
            inside = await self._read_wide(f"MATCH (v:{label})", {"id": "v.id"})
            broken = await self._broken_vectors([row["id"] for row in inside], store)
            if broken:
                yield Flaw(
                    f"{len(broken)} vectors of {store.model} do not have {store.dimension} dimensions.",
                    partial(self._delete, Label.VECTOR, broken),
                )

    async def _outside(self, store: VectorStoreInfo) -> dict[str, bool]:
        """Return the ids of vectors of chunks that lack the label of their vector store."""
        rows = await self._read_wide(
            "MATCH (v:Vector)-[:EMBEDDING_OF]->(c:DocumentChunk) WHERE v.namespace = $namespace "
            "AND v.vector_store_id = $store",
            {"id": "v.id"},
            store=store.id,
        )
        inside = await self._read_wide(f"MATCH (v:{check_name(store.index().label)})", {"id": "v.id"})
        return dict.fromkeys({row["id"] for row in rows} - {row["id"] for row in inside}, True)

    async def _broken_vectors(self, ids: Sequence[str], store: VectorStoreInfo) -> list[str]:
        broken = []
        for part in batches(list(ids)):
            for row in await self._read_wide(
                "MATCH (v:Vector {id: i})", {"id": "v.id", "embedding": "v.embedding"}, part
            ):
                vector = row["embedding"]
                if (
                    vector is None
                    or len(vector) != store.dimension
                    or not math.isfinite(sum(vector))
                    or not any(vector)
                ):
                    broken.append(row["id"])
        return broken

    async def _versions(self) -> AsyncIterator[Flaw]:
        rows = await self._read_wide(
            "MATCH (d:Document) WHERE d.namespace = $namespace AND d.pipeline <> ''",
            {"path": "d.path", "prepared": "d.prepared", "fingerprint": "d.fingerprint"},
        )
        aged = sorted(row["path"] for row in rows if _is_aged(row))
        if aged:
            yield Flaw(
                f"{len(aged)} documents were read, split or analysed by another version of memgraph-rag:"
                f" {some(aged)}. The next ingest brings them up to date; add again those that come from no"
                " source.",
                harmless=True,
            )

    async def _leftovers(self) -> AsyncIterator[Flaw]:
        rows = await self._read(
            "MATCH (t:Resource) WHERE t.namespace = $namespace AND t.origin = $origin AND NOT (t)--() "
            "RETURN t.id AS id",
            origin=FROM_TEXT,
        )
        unused = [row["id"] for row in rows]
        if unused:
            yield Flaw(
                f"{len(unused)} resources are not referred to by anything.",
                lambda: self._transact(unused, remove_unused_resources),
            )
        rows = await self._read(
            "MATCH (s:Source) WHERE s.namespace = $namespace AND NOT (s)--() RETURN s.id AS id, s.name AS name"
        )
        if rows:
            yield Flaw(
                f"Nothing could be ingested from {len(rows)} sources: {some(row['name'] for row in rows)}.",
                lambda: self._transact([row["id"] for row in rows], remove_unused_sources),
                harmless=True,
            )


def _is_aged(document: Row) -> bool:
    """Return whether another version has read or cut a document; one that does not say which is not told."""
    reader = from_json(document["fingerprint"]).get("reader")
    return reader not in (None, READERS_VERSION) or document["prepared"] not in (None, PREPARED)


#: What tells the place of a chunk ``c`` in its document ``d``.
_PLACE = {
    "document": "d.id",
    "id": "c.id",
    "index": "c.chunk_index",
    "start": "c.start_char",
    "count": "c.chunk_count",
}


def _by_document(chunks: Iterable[Row]) -> dict[str, list[Row]]:
    """Return the chunks of each document, in order."""
    found: dict[str, list[Row]] = defaultdict(list)
    for row in sorted(chunks, key=lambda row: (row["index"], row["start"], row["id"])):
        found[row["document"]].append(row)
    return found


def _pairs(chunks: Iterable[Row]) -> list[tuple[str, str]]:
    return [(a["id"], b["id"]) for a, b in pairwise(chunks)]


def _miscounted(chunks: Iterable[Row]) -> set[str]:
    """Return the documents of which a chunk has another number of chunks than there are."""
    return {
        document for document, parts in _by_document(chunks).items() if any(row["count"] != len(parts) for row in parts)
    }


async def _put_in_order(tx: Transaction, documents: Sequence[str]) -> None:
    """Chain and count the chunks of documents, and let the next ingest complete those that lack some."""
    await lock(tx, Label.DOCUMENT, documents)
    place = ", ".join(f"{value} AS {name}" for name, value in _PLACE.items())
    chunks = await run_for_ids(
        tx, f"UNWIND $ids AS i MATCH (d:Document {{id: i}})<-[:CHUNK_OF]-(c:DocumentChunk) RETURN {place}", documents
    )
    by_document = _by_document(chunks)
    await chain_chunks(tx, documents, [{"a": a, "b": b} for parts in by_document.values() for a, b in _pairs(parts)])
    miscounted = _miscounted(chunks)
    await run_for_rows(
        tx,
        "UNWIND $rows AS row MATCH (c:DocumentChunk {id: row.id}) SET c.chunk_count = row.n",
        [{"id": row["id"], "n": len(by_document[d])} for d in sorted(miscounted) for row in by_document[d]],
    )
    # What is missing is in the source only: the next ingest must not take them for unchanged.
    incomplete = miscounted.union(document for document in documents if document not in by_document)
    await run_for_ids(
        tx, "UNWIND $ids AS i MATCH (d:Document {id: i}) SET d.pipeline = '', d.state_hash = ''", sorted(incomplete)
    )


async def _make_single(tx: Transaction, ends: Sequence[Row], *, edge: str, start: Label, end: Label) -> None:
    """Replace the edges between each of these pairs of nodes by one, with the properties that one of them had."""
    pair = f"UNWIND $rows AS row MATCH (a:{start} {{id: row.a}})"
    there = f"{pair}-[r:{edge}]->(b:{end} {{id: row.b}}) "
    found = await tx.run(f"{there}RETURN row.a AS a, row.b AS b, properties(r) AS props", {"rows": list(ends)})
    single = {(row["a"], row["b"]): row for row in found}
    await tx.run(f"{there}DELETE r", {"rows": list(ends)})
    await tx.run(
        f"{pair} MATCH (b:{end} {{id: row.b}}) CREATE (a)-[r:{edge}]->(b) SET r += row.props",
        {"rows": list(single.values())},
    )
