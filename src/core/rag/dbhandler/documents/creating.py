"""Creates documents, chunks and vectors that are known not to exist yet."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from core.rag.dbhandler.batches import run_for_rows
from core.rag.dbhandler.creating import in_parts
from core.rag.dbhandler.store import Row, Transaction
from core.rag.schema import check_name, text_partition


async def create_documents(tx: Transaction, rows: Sequence[Row], source: str | None, namespace: str, now: str) -> None:
    """Create documents of one source.

    Args:
        tx: The transaction.
        rows: Their properties, ``id`` among them.
        source: Id of their Source, which exists.
        namespace: Where they go.
        now: The time of the write.
    """
    match, edge = "", ""
    if source is not None:
        match, edge = "MATCH (s:Source {id: $of_source}) ", "-[:SOURCED_FROM]->(s)"
    for part in in_parts(rows, {"namespace": namespace, "created_at": now, "updated_at": now}):
        await tx.run(
            f"{part.each}{match}CREATE (d:Document {part.map()}){edge}", {"of_source": source, **part.parameters}
        )


async def create_chunks(tx: Transaction, rows: Iterable[Row], text_label: str, namespace: str, now: str) -> None:
    """Create chunks of documents that exist.

    Args:
        tx: The transaction.
        rows: Their properties, ``id`` and ``parent_id`` among them.
        text_label: ``:Label`` that they need to be in the keyword index, or nothing.
        namespace: Where they go.
        now: The time of the write.
    """
    label = f":{check_name(text_label[1:])}" if text_label else ""
    shared = {
        "namespace": namespace,
        "partition": text_partition(namespace),
        "created_at": now,
        "updated_at": now,
    }
    for part in in_parts(rows, shared):
        await tx.run(
            f"{part.each}MATCH (d:Document {{id: {part.values['parent_id']}}}) "
            f"CREATE (c:DocumentChunk{label} {part.map()})-[:CHUNK_OF]->(d)",
            part.parameters,
        )


async def create_vectors(
    tx: Transaction, rows: Sequence[Row], store: str, label: str, namespace: str, now: str
) -> None:
    """Create vectors of chunks that exist.

    Args:
        tx: The transaction.
        rows: ``id``, ``chunk_id`` and ``embedding`` of each.
        store: Id of the VectorStore, which exists.
        label: Their second label.
        namespace: Where they go.
        now: The time of the write.
    """
    check_name(label)
    await run_for_rows(
        tx,
        "MATCH (s:VectorStore {id: $store}) UNWIND $rows AS row MATCH (c:DocumentChunk {id: row.chunk_id}) "
        f"CREATE (v:Vector:{label} {{id: row.id, embedding: row.embedding, chunk_id: row.chunk_id, "
        "namespace: $namespace, vector_store_id: $store, created_at: $now, updated_at: $now}) "
        "CREATE (v)-[:EMBEDDING_OF]->(c) CREATE (v)-[:STORED_IN]->(s)",
        rows,
        store=store,
        namespace=namespace,
        now=now,
    )
