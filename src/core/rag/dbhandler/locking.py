"""Locks nodes that are read in order to be changed."""

from __future__ import annotations

from collections.abc import Iterable

from core.rag.dbhandler.batches import run_for_ids
from core.rag.dbhandler.store import Transaction
from core.rag.schema import Label


async def lock(tx: Transaction, label: Label, ids: Iterable[str]) -> None:
    """Keep other transactions from changing nodes until this one ends; call it before they are read.

    Neo4j shows a transaction what others have committed meanwhile, and overwrites it without a word: two that count the
    same thing up would count it once. A node that is written to is locked, even where nothing changes. Memgraph finds
    such conflicts by itself, and the embedded engine has one writer.

    Args:
        tx: The transaction.
        label: Of the nodes.
        ids: Those that are not there are no mistake.
    """
    if tx.locking:
        # Everybody in the same order, so that few wait for each other.
        await run_for_ids(
            tx, f"UNWIND $ids AS i MATCH (n:{label} {{id: i}}) SET n.updated_at = n.updated_at", sorted(set(ids))
        )
