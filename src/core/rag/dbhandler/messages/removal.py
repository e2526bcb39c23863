"""Removes messages of conversations: units of work, as in :mod:`core.rag.dbhandler.messages.interactions`."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import pairwise

from core.rag.dbhandler.batches import run_for_ids, run_for_rows
from core.rag.dbhandler.messages.interactions import chain, lock_conversation, set_state
from core.rag.dbhandler.messages.rows import message_terms
from core.rag.dbhandler.resources import remove_unused_resources
from core.rag.dbhandler.store import Transaction
from core.rag.schema import FROM_TEXT


async def remove_messages(tx: Transaction, conversation: str, ids: Sequence[str], namespace: str, now: str) -> int:
    """Remove messages from a conversation; those before and after them are joined, and what they summarised is back.

    Returns:
        How many of them were there.
    """
    await lock_conversation(tx, conversation, namespace, now)
    rows = await tx.run(
        "MATCH (c:Conversation {id: $id})<-[:PART_OF]-(m:Interaction) RETURN m.id AS id, m.sequence AS sequence",
        {"id": conversation},
    )
    rows.sort(key=lambda row: row["sequence"])
    gone = set(ids)
    removed = [row["id"] for row in rows if row["id"] in gone]
    if not removed:
        return 0
    kept = [row["id"] for row in rows if row["id"] not in gone]
    neighbours = set(pairwise(row["id"] for row in rows))
    await _bring_back(tx, removed, now)
    await _remove(tx, removed)
    await chain(tx, [{"a": b, "b": a} for a, b in pairwise(kept) if (a, b) not in neighbours])
    await set_state(tx, conversation, last=kept[-1] if kept else "", count=len(kept))
    return len(removed)


async def remove_conversation(
    tx: Transaction, conversation: str, namespace: str, now: str, only: Collection[str] | None
) -> int | None:
    """Remove a conversation with all of its messages.

    Args:
        tx: The transaction.
        conversation: Id of its node.
        namespace: The namespace.
        now: The time of this write.
        only: Ids of messages; with any other, the conversation stays.

    Returns:
        How many messages it had; ``None`` if it stays.

    Raises:
        NotFoundError: if it does not exist, or is in another namespace.
    """
    await lock_conversation(tx, conversation, namespace, now)
    rows = await tx.run(
        "MATCH (c:Conversation {id: $id})<-[:PART_OF]-(m:Interaction) RETURN m.id AS id", {"id": conversation}
    )
    if only is not None and not {row["id"] for row in rows}.issubset(only):
        return None
    await _remove(tx, [row["id"] for row in rows])
    await tx.run("MATCH (c:Conversation {id: $id}) DETACH DELETE c", {"id": conversation})
    return len(rows)


async def _bring_back(tx: Transaction, ids: Sequence[str], now: str) -> None:
    """Let the messages that summaries replaced be found by their words again, before the summaries are removed."""
    gone = set(ids)
    rows = await run_for_ids(
        tx,
        "UNWIND $ids AS i MATCH (s:Interaction {id: i})-[:SUMMARIZES]->(m:Interaction) WHERE m.compacted_into = i "
        "RETURN m.id AS id, m.content AS content, m.tags AS tags",
        ids,
    )
    await run_for_rows(
        tx,
        "UNWIND $rows AS row MATCH (m:Interaction {id: row.id}) "
        "SET m.terms = row.terms, m.compacted_into = '', m.updated_at = $now",
        [
            {"id": row["id"], "terms": message_terms(row["content"], row["tags"] or ())}
            for row in rows
            if row["id"] not in gone
        ],
        now=now,
    )


async def remove_message_vectors(tx: Transaction, ids: Sequence[str]) -> None:
    """Remove the vectors of messages, which no other message shares."""
    await run_for_ids(
        tx, "UNWIND $ids AS i MATCH (m:Interaction {id: i})<-[:EMBEDDING_OF]-(v:Vector) DETACH DELETE v", ids
    )


async def _remove(tx: Transaction, ids: Sequence[str]) -> None:
    resources = await run_for_ids(
        tx,
        "UNWIND $ids AS i MATCH (m:Interaction {id: i})-[:REFERENCES]->(t:Resource) WHERE t.origin = $origin "
        "RETURN DISTINCT t.id AS id",
        ids,
        origin=FROM_TEXT,
    )
    await remove_message_vectors(tx, ids)
    await run_for_ids(tx, "UNWIND $ids AS i MATCH (m:Interaction {id: i}) DETACH DELETE m", ids)
    await remove_unused_resources(tx, {row["id"] for row in resources})
