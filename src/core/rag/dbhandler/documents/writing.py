"""Writes documents with their chunks, vectors and links: units of work within an open transaction.

All of them may be repeated, and together they keep these promises: a document is replaced as a whole; a chunk whose
text did not change keeps its node and its vector; equal texts share a vector; no vector or resource outlives the last
thing that needed it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from core.rag.dbhandler.batches import batches, run_for_ids, run_for_rows
from core.rag.dbhandler.documents.contents import without_former
from core.rag.dbhandler.documents.creating import create_chunks, create_documents, create_vectors
from core.rag.dbhandler.documents.linking import LinkRow, relink_incoming, write_links
from core.rag.dbhandler.documents.removing import detach_vectors, existing_chunks, remove_chunks, remove_unused_vectors
from core.rag.dbhandler.knowledge.mentioned import Mentioned
from core.rag.dbhandler.knowledge.records import RecordRow
from core.rag.dbhandler.knowledge.supporting import Support
from core.rag.dbhandler.lines import EACH_ID, packed
from core.rag.dbhandler.store import Row, Transaction
from core.rag.extraction.mentions import Title
from core.rag.extraction.symbols import CodeFacts
from core.rag.times import utc_now

if TYPE_CHECKING:
    from core.rag.dbhandler.vectors import VectorStoreInfo

#: Properties of a document that tell whether it is stored as it would be now.
_CONTENT = ("state_hash", "pipeline", "path")
_STATE = (*_CONTENT, "fingerprint", "source_id")


@dataclass(slots=True)
class ChunkRow:
    """A chunk to write.

    Attributes:
        id: Its id.
        properties: Its properties; see :class:`core.rag.schema.Label`.
        vector_id: Id of the vector of its text; ``None`` if it gets none.
        embedding: The vector itself, if it is not in the graph yet; a memoryview has 32-bit floats.
        mentions: The entities that it mentions.
    """

    id: str
    properties: dict[str, Any]
    vector_id: str | None = None
    embedding: tuple[float, ...] | memoryview | None = None
    mentions: Mentioned = field(default_factory=Mentioned)


@dataclass(slots=True)
class DocumentRow:
    """A complete document to write.

    Attributes:
        id: Its id.
        properties: Its properties; see :class:`core.rag.schema.Label`.
        source_id: Id of its Source, which exists.
        chunks: Its chunks, in order.
        links: Its links to documents and resources.
        titles: The names in its title.
        records: Its rows, as records.
        code: Its symbols and calls, if it is source code.
    """

    id: str
    properties: dict[str, Any]
    source_id: str | None
    chunks: list[ChunkRow] = field(default_factory=list)
    links: list[LinkRow] = field(default_factory=list)
    titles: list[Title] = field(default_factory=list)
    records: list[RecordRow] = field(default_factory=list)
    code: CodeFacts | None = None


@dataclass(slots=True)
class WriteOutcome:
    """The outcome of a write.

    Attributes:
        added: Ids of new documents.
        updated: Ids of documents that were replaced.
        unchanged: Ids of documents that were left alone: somebody else has written the same meanwhile.
        missing_vectors: Vectors that were to be reused but no longer exist. The caller rolls back, embeds the texts and
            writes again.
    """

    added: set[str]
    updated: set[str]
    unchanged: set[str]
    missing_vectors: set[str]


async def write_documents(
    tx: Transaction,
    documents: Sequence[DocumentRow],
    *,
    namespace: str,
    store: VectorStoreInfo | None,
    text_label: str,
    record_label: str,
) -> WriteOutcome:
    """Write complete documents; each replaces its earlier version, unless that is the same.

    Args:
        tx: The transaction.
        documents: Documents with distinct ids.
        namespace: The namespace.
        store: The vector store of their vectors.
        text_label: ``:Label`` that chunks need to be in the keyword index, or an empty string.
        record_label: The same for records.

    Returns:
        The outcome.
    """
    now = utc_now()
    vector_store = None if store is None else store.id
    existing = await existing_chunks(tx, [document.id for document in documents])
    stored = await _stored_alike(tx, documents, existing)
    unchanged = {d.id for d in documents if d.id in stored and _is_stored(d, stored[d.id], vector_store)}
    documents = [
        _with_stores(document, stored.get(document.id)) for document in documents if document.id not in unchanged
    ]
    existing = {identifier: chunks for identifier, chunks in existing.items() if identifier not in unchanged}
    support = Support(namespace, now)
    await support.read(tx, existing)
    added = [document for document in documents if document.id not in existing]
    replaced = [document for document in documents if document.id in existing]
    outcome = WriteOutcome(
        added={document.id for document in added},
        updated={document.id for document in replaced},
        unchanged=unchanged,
        missing_vectors=set(),
    )
    changes = _ChunkChanges()
    for document in documents:
        changes.add(document.chunks, existing.get(document.id, {}), vector_store)

    await _create_documents(tx, added, namespace, now)
    await merge_documents(tx, replaced, namespace, now)
    maybe_unused = await changes.write(tx, text_label, namespace, now)
    next_edges = [{"a": a.id, "b": b.id} for document in documents for a, b in pairwise(document.chunks)]
    await chain_chunks(tx, [document.id for document in replaced], next_edges)
    if store is not None:
        outcome.missing_vectors = await attach_vectors(tx, changes.unembedded, store, now)
    if not outcome.missing_vectors:
        await remove_unused_vectors(tx, maybe_unused)
        await write_links(tx, [(d.id, d.links) for d in documents], namespace, now, outcome.updated)
        await relink_incoming(tx, [(d.id, d.properties["uri"]) for d in added], namespace)
        await support.write(tx, documents, record_label)
    return outcome


async def _stored_alike(
    tx: Transaction, documents: Sequence[DocumentRow], existing: Mapping[str, Mapping[str, Row]]
) -> dict[str, Row]:
    """Return the stored state of those documents, by id, whose content and chunks are the same as given here."""
    compared = [document for document in documents if document.id in existing and document.properties["state_hash"]]
    rows = await run_for_ids(
        tx,
        "UNWIND $ids AS i MATCH (d:Document {id: i}) RETURN d.id AS id, d.embedded_in AS embedded_in, "
        + ", ".join(f"d.{name} AS {name}" for name in _STATE),
        [document.id for document in compared],
    )
    stored = {row["id"]: row for row in rows}
    return {
        document.id: row
        for document in compared
        if (row := stored.get(document.id)) is not None
        and existing[document.id].keys() == {chunk.id for chunk in document.chunks}
        and all(row[name] == document.properties.get(name) for name in _CONTENT)
    }


def _is_stored(document: DocumentRow, row: Row, vector_store: str | None) -> bool:
    """Return whether a document is stored as it is given here: another ingest of it was faster.

    An ingest does not write what it finds unchanged. But of two that run at once, both find the documents missing; on a
    server that lets the later one fail, it comes back to write all of them again.
    """
    same = all(row[name] == document.properties.get(name) for name in _STATE)
    return same and vector_store in (row["embedded_in"] or ())


def _with_stores(document: DocumentRow, row: Row | None) -> DocumentRow:
    """Return a document with the vector stores of its stored version, which keep the vectors of the same content."""
    if row is None or not row["embedded_in"]:
        return document
    stores = dict.fromkeys([*row["embedded_in"], *document.properties.get("embedded_in", ())])
    return replace(document, properties={**document.properties, "embedded_in": list(stores)})


@dataclass(slots=True)
class _ChunkChanges:
    """The changes after which documents have exactly the given chunks.

    Attributes:
        created: New chunks.
        changed: ``id`` of chunks whose properties change, and the new properties as ``props``.
        removed: Ids of chunks to remove.
        unembedded: Chunks that are not linked to their vector yet.
        stale: ``chunk_id`` of chunks that have another vector in the vector store, and its ``id``.
    """

    created: list[ChunkRow] = field(default_factory=list)
    changed: list[Row] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    unembedded: list[ChunkRow] = field(default_factory=list)
    stale: list[Row] = field(default_factory=list)

    def add(self, chunks: Sequence[ChunkRow], before: Mapping[str, Row], vector_store: str | None) -> None:
        """Compare the chunks of a document with its stored ones, which :func:`existing_chunks` returned."""
        kept = {chunk.id for chunk in chunks}
        self.removed += [identifier for identifier in before if identifier not in kept]
        for chunk in chunks:
            vectors: set[str] = set()
            was = before.get(chunk.id)
            if was is None:
                self.created.append(chunk)
            else:
                props = {key: value for key, value in chunk.properties.items() if was["props"].get(key) != value}
                if props:
                    self.changed.append({"id": chunk.id, "props": props})
                vectors = {edge["vector"] for edge in was["edges"] if edge["store"] == vector_store}
                self.stale += [{"id": v, "chunk_id": chunk.id} for v in vectors if v != chunk.vector_id]
            if chunk.vector_id and chunk.vector_id not in vectors:
                self.unembedded.append(chunk)

    async def write(self, tx: Transaction, text_label: str, namespace: str, now: str) -> set[str]:
        """Write everything except the new vectors; return the ids of vectors that may be unused now."""
        maybe_unused = await remove_chunks(tx, self.removed)
        await detach_vectors(tx, self.stale)
        await create_chunks(tx, ({"id": c.id, **c.properties} for c in self.created), text_label, namespace, now)
        await run_for_rows(
            tx,
            "UNWIND $rows AS row MATCH (c:DocumentChunk {id: row.id}) SET c += row.props, c.updated_at = $now",
            self.changed,
            now=now,
        )
        return maybe_unused | {row["id"] for row in self.stale}


async def _create_documents(tx: Transaction, documents: Sequence[DocumentRow], namespace: str, now: str) -> None:
    by_source: dict[str | None, list[Row]] = {}
    for document in documents:
        by_source.setdefault(document.source_id, []).append({"id": document.id, **document.properties})
    for source, rows in by_source.items():
        await create_documents(tx, rows, source, namespace, now)


async def merge_documents(tx: Transaction, documents: Sequence[DocumentRow], namespace: str, now: str) -> None:
    """Write properties and source of documents; their chunks and links do not change."""
    parts = await _content_parts(tx, [document.id for document in documents])
    by_source: dict[str | None, list[Row]] = {}
    for document in documents:
        row = {"id": document.id, "props": without_former(document.properties, parts.get(document.id))}
        by_source.setdefault(document.source_id, []).append(row)
    for source, all_rows in by_source.items():
        match, edge = ("", "")
        if source is not None:
            match, edge = "MATCH (s:Source {id: $source}) ", " MERGE (d)-[:SOURCED_FROM]->(s)"
        await run_for_rows(
            tx,
            f"{match}UNWIND $rows AS row MERGE (d:Document {{id: row.id}}) "
            "ON CREATE SET d.namespace = $namespace, d.created_at = $now "
            f"SET d += row.props, d.updated_at = $now{edge}",
            all_rows,
            source=source,
            namespace=namespace,
            now=now,
        )


async def _content_parts(tx: Transaction, documents: Sequence[str]) -> dict[str, int]:
    """Return in how many properties the text of each document is that needs more than one."""
    rows = await run_for_ids(
        tx,
        "UNWIND $ids AS i MATCH (d:Document {id: i}) WHERE d.content_parts IS NOT NULL "
        "RETURN d.id AS id, d.content_parts AS parts",
        documents,
    )
    return {row["id"]: row["parts"] for row in rows}


async def chain_chunks(tx: Transaction, replaced: Sequence[str], wanted: Sequence[Row]) -> None:
    """Create the NEXT edges in ``wanted``, and remove all others; only replaced documents can have others."""
    rows = await run_for_ids(
        tx,
        "UNWIND $ids AS i MATCH (d:Document {id: i})<-[:CHUNK_OF]-(a:DocumentChunk) "
        "MATCH (a)-[:NEXT]->(b:DocumentChunk) RETURN a.id AS a, b.id AS b",
        replaced,
    )
    there = {(row["a"], row["b"]) for row in rows}
    pairs = {(row["a"], row["b"]) for row in wanted}
    await run_for_rows(
        tx,
        "UNWIND $rows AS row MATCH (a:DocumentChunk {id: row.a})-[r:NEXT]->(b:DocumentChunk {id: row.b}) DELETE r",
        [{"a": a, "b": b} for a, b in sorted(there - pairs)],
    )
    await run_for_rows(
        tx,
        "UNWIND $rows AS row MATCH (a:DocumentChunk {id: row.a}) MATCH (b:DocumentChunk {id: row.b}) "
        "MERGE (a)-[:NEXT]->(b)",
        [row for row in wanted if (row["a"], row["b"]) not in there],
    )


async def attach_vectors(tx: Transaction, chunks: Sequence[ChunkRow], store: VectorStoreInfo, now: str) -> set[str]:
    """Link existing chunks to their vectors: new ones are stored, others are reused.

    Returns:
        Ids of vectors that were to be reused but do not exist.
    """
    fresh: dict[str, Row] = {}
    reused: list[Row] = []
    stored: set[str] = set()
    brought = {chunk.vector_id for chunk in chunks if chunk.vector_id and chunk.embedding is not None}
    for lines in packed(sorted(brought)):
        rows = await tx.run(f"{EACH_ID}MATCH (v:Vector {{id: i}}) RETURN v.id AS id", lines)
        stored.update(row["id"] for row in rows)
    for chunk in chunks:
        assert chunk.vector_id is not None
        if chunk.embedding is not None and chunk.vector_id not in fresh and chunk.vector_id not in stored:
            fresh[chunk.vector_id] = {"id": chunk.vector_id, "chunk_id": chunk.id, "embedding": chunk.embedding}
        else:
            reused.append({"id": chunk.vector_id, "chunk_id": chunk.id})
    await create_vectors(tx, list(fresh.values()), store.id, store.index().label, store.namespace, now)
    missing: set[str] = set()
    for rows in batches(reused):
        # From the chunk, which has an edge or two, while very many chunks may share the text of a vector.
        found = await tx.run(
            "UNWIND $rows AS row MATCH (c:DocumentChunk {id: row.chunk_id}) MATCH (v:Vector {id: row.id}) "
            "MERGE (c)<-[:EMBEDDING_OF]-(v) RETURN v.id AS id",
            {"rows": rows},
        )
        missing |= {row["id"] for row in rows} - {row["id"] for row in found}
    return missing
