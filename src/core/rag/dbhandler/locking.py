"""Locks nodes that are read in order to be changed."""

from __future__ import annotations

from collections.abc import Iterable

from core.rag.dbhandler.batches import run_for_ids
from core.rag.dbhandler.store import Transaction
from core.rag.schema import Label


async def lock(tx: Transaction, label: Label, ids: Iterable[str]) -> None:
    """Lock nodes against changes by other transactions until this one ends; call it before reading them.

    Neo4j transactions see what others have committed meanwhile, and overwrite it silently: two that increase the same
    counter would count once. Writing to a node locks it, even if nothing changes. Memgraph detects such conflicts
    itself, and the embedded engine has only one writer.

    Args:
        tx: The transaction.
        label: Label of the nodes.
        ids: Ids of the nodes. Those of missing nodes are locked, too (by the constraint on ids): of two transactions
            that are about to create the same node, the second one waits here.
    """
    if tx.locking:
        # All transactions use the same order, so that few wait for each other.
        await run_for_ids(
            tx, f"UNWIND $ids AS i MATCH (n:{label} {{id: i}}) SET n.updated_at = n.updated_at", sorted(set(ids))
        )


async def lock_documents_of(tx: Transaction, chunks: Iterable[str]) -> None:
    """Lock the documents of chunks, as whoever changes or removes chunks does; call it before reading the chunks.

    Args:
        tx: The transaction.
        chunks: Ids of the chunks; missing ones are ignored.
    """
    if tx.locking:
        rows = await run_for_ids(
            tx,
            "UNWIND $ids AS i MATCH (c:DocumentChunk {id: i})-[:CHUNK_OF]->(d:Document) RETURN DISTINCT d.id AS id",
            sorted(set(chunks)),
        )
        await lock(tx, Label.DOCUMENT, [row["id"] for row in rows])
