"""Adds chunks to documents that exist: units of work within an open transaction, which may be repeated."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING

from core.rag.dbhandler.batches import run_for_ids, run_for_rows
from core.rag.dbhandler.documents.writing import ChunkRow, attach_vectors, chain_chunks
from core.rag.dbhandler.store import Row, Transaction
from core.rag.identity import chunk_id
from core.rag.schema import check_name, text_partition
from core.rag.times import utc_now

if TYPE_CHECKING:
    from core.rag.dbhandler.vectors import VectorStoreInfo


async def add_chunks(
    tx: Transaction,
    chunks: Sequence[ChunkRow],
    *,
    namespace: str,
    store: VectorStoreInfo | None,
    text_label: str,
) -> list[str]:
    """Add chunks to documents, keeping their existing ones, and number and chain all of them again.

    A chunk with ``chunk_index`` -1 goes after the last one, unless the document has one with the same text. Ids are
    made here, and not set in the given rows: the same text at the same index is the same chunk.

    Returns:
        The ids, in the order of the chunks.
    """
    now = utc_now()
    documents = sorted({chunk.properties["parent_id"] for chunk in chunks})
    # Before anything of them is read, so that concurrent writers wait, or try again
    await run_for_ids(tx, "UNWIND $ids AS i MATCH (d:Document {id: i}) SET d.updated_at = $now", documents, now=now)
    there = {document: _Siblings(rows) for document, rows in (await _chunk_positions(tx, documents)).items()}
    chunks = [there[chunk.properties["parent_id"]].place(chunk) for chunk in chunks]
    await _merge_chunks(tx, chunks, namespace, text_label, now)
    counts: list[Row] = []
    edges: list[Row] = []
    for document, siblings in there.items():
        order = sorted(siblings.rows, key=lambda row: (row["index"], row["start"], row["id"]))
        counts.append({"id": document, "count": len(order)})
        edges += [{"a": a["id"], "b": b["id"]} for a, b in pairwise(order)]
    await run_for_rows(
        tx,
        "UNWIND $rows AS row MATCH (d:Document {id: row.id})<-[:CHUNK_OF]-(c:DocumentChunk) "
        "SET c.chunk_count = row.count",
        counts,
    )
    await chain_chunks(tx, documents, edges)
    if store is not None:
        await attach_vectors(tx, [chunk for chunk in chunks if chunk.vector_id], store, now)
    return [chunk.id for chunk in chunks]


class _Siblings:
    """The chunks of a document to which chunks are added."""

    def __init__(self, rows: list[Row]) -> None:
        """Take the rows that :func:`_chunk_positions` returned."""
        self.rows = rows
        self._next = max((row["index"] for row in rows), default=-1) + 1
        self._alike: dict[str, dict[int, Row]] = {}
        for row in rows:
            self._alike.setdefault(row["hash"], {})[row["index"]] = row

    def place(self, chunk: ChunkRow) -> ChunkRow:
        """Return a chunk with its id and its index in the document."""
        index, text_hash = chunk.properties["chunk_index"], chunk.properties["content_hash"]
        alike = self._alike.setdefault(text_hash, {})
        row = alike.get(index) if index >= 0 else next(iter(alike.values()), None)
        if row is None:
            row = {
                "id": chunk_id(chunk.properties["parent_id"], chunk.properties["content"], len(alike)),
                "index": index if index >= 0 else self._next,
                "start": chunk.properties["start_char"],
                "hash": text_hash,
            }
            self._next = max(self._next, row["index"] + 1)
            self.rows.append(row)
            alike[row["index"]] = row
        return replace(chunk, id=row["id"], properties={**chunk.properties, "chunk_index": row["index"]})


async def _chunk_positions(tx: Transaction, documents: Sequence[str]) -> dict[str, list[Row]]:
    positions: dict[str, list[Row]] = {identifier: [] for identifier in documents}
    rows = await run_for_ids(
        tx,
        "UNWIND $ids AS i MATCH (d:Document {id: i})<-[:CHUNK_OF]-(c:DocumentChunk) RETURN d.id AS document, "
        "c.id AS id, c.chunk_index AS index, c.start_char AS start, c.content_hash AS hash",
        documents,
    )
    for row in rows:
        positions[row.pop("document")].append(row)
    return positions


async def _merge_chunks(tx: Transaction, chunks: Sequence[ChunkRow], namespace: str, text_label: str, now: str) -> None:
    label = f"c:{check_name(text_label[1:])}, " if text_label else ""
    all_rows = [
        {"id": chunk.id, "parent": chunk.properties["parent_id"], "props": chunk.properties} for chunk in chunks
    ]
    await run_for_rows(
        tx,
        "UNWIND $rows AS row MATCH (d:Document {id: row.parent}) MERGE (c:DocumentChunk {id: row.id}) "
        "ON CREATE SET c.namespace = $namespace, c.partition = $partition, c.created_at = $now "
        f"SET {label}c += row.props, c.updated_at = $now MERGE (c)-[:CHUNK_OF]->(d)",
        all_rows,
        namespace=namespace,
        partition=text_partition(namespace),
        now=now,
    )
