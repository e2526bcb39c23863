"""Revises messages: what they say changes, and their ids, times, places and connections stay."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from core.rag.dbhandler.messages.interactions import InteractionRow, attach_message_vectors, lock_conversation
from core.rag.dbhandler.messages.remembering import id_of_words
from core.rag.dbhandler.messages.removal import remove_message_vectors
from core.rag.dbhandler.messages.rewriting import RewritingOperations
from core.rag.dbhandler.messages.rows import keywords, message_terms
from core.rag.dbhandler.store import Transaction
from core.rag.errors import NotFoundError
from core.rag.times import utc_now

#: What a revision may change.
_REVISED = "m.content AS content, m.tags AS tags, m.role AS role, coalesce(m.compacted_into, '') AS summary"


class RevisingOperations(RewritingOperations):
    """Revising messages; :meth:`core.rag.KnowledgeBase.revise` does it."""

    async def revise_message(self, message_id: str, changes: Mapping[str, Any]) -> None:
        """Change what a message says, in one transaction. One that a summary replaced stays out of searches.

        Args:
            message_id: The message.
            changes: New values of ``content``, ``tags`` or ``metadata``.

        Raises:
            NotFoundError: if there is no such message.
        """
        rows = await self.read(
            "UNWIND [$id] AS i MATCH (m:Interaction {id: i})-[:PART_OF]->(c:Conversation) "
            f"WHERE m.namespace = $namespace RETURN c.id AS node, {_REVISED}",
            id=message_id or "-",
        )
        if not rows:
            raise NotFoundError(f"There is no memory {message_id[:200]!r} in namespace {self._namespace!r}.")
        node = rows[0]["node"]
        message = InteractionRow(message_id, {"content": changes.get("content", rows[0]["content"])})
        indexes = await self.message_indexes([message] if "content" in changes else [])

        async def work(tx: Transaction) -> None:
            now = utc_now()
            await lock_conversation(tx, node, self._namespace, now)
            found = await tx.run(
                f"UNWIND [$id] AS i MATCH (m:Interaction {{id: i}}) RETURN {_REVISED}", {"id": message_id}
            )
            if not found:
                raise NotFoundError(f"The memory {message_id[:200]!r} is not there any more.")
            now_known = found[0]
            new: dict[str, Any] = {"revised_at": now}
            if "metadata" in changes:
                new["metadata"] = changes["metadata"]
            if "tags" in changes:
                new["tags"] = changes["tags"]
            if "content" in changes:
                said_now = id_of_words(self._namespace, node, now_known["role"], changes["content"])
                new |= {"content": changes["content"], "keywords": keywords(changes["content"]), "words_id": said_now}
            searched = not now_known["summary"]
            if searched:
                said = {**now_known, **new}
                new["terms"] = message_terms(said["content"], said["tags"] or ())
            await tx.run(
                "MATCH (m:Interaction {id: $id}) SET m += $new, m.updated_at = $now",
                {"id": message_id, "new": new, "now": now},
            )
            if searched and "content" in changes:
                await remove_message_vectors(tx, [message_id])
                await attach_message_vectors(tx, [message], namespace=self._namespace, indexes=indexes, now=now)

        await self._write(work)
