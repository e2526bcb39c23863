"""Replaces the content of messages in place: words, vectors and ids change; order and connections stay."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from core.rag.dbhandler.batches import run_for_rows
from core.rag.dbhandler.json_texts import from_json
from core.rag.dbhandler.messages.erasure import ErasureOperations
from core.rag.dbhandler.messages.interactions import (
    InteractionRow,
    attach_message_vectors,
    lock_conversation,
)
from core.rag.dbhandler.messages.removal import remove_message_vectors
from core.rag.dbhandler.resources import remove_unused_resources
from core.rag.dbhandler.store import Row, Transaction
from core.rag.identity import resource_id
from core.rag.schema import Label
from core.rag.times import utc_now


@dataclass(slots=True)
class Rewritten:
    """A message that is to be rewritten.

    Attributes:
        id: Its id until now.
        properties: The properties that change, with their new values.
        searched: Whether it has words and a vector; those that a summary stands for have none.
        cut: URIs of resources that it no longer refers to.
        new_id: Its id from now on.
    """

    id: str
    properties: dict[str, Any]
    searched: bool = True
    cut: list[str] = field(default_factory=list)
    new_id: str = field(default_factory=lambda: uuid.uuid4().hex)


class RewritingOperations(ErasureOperations):
    """Rewriting messages; :meth:`core.rag.KnowledgeBase.anonymize` does it."""

    async def message_contents(self) -> list[Row]:
        """Return ``id``, ``session_id``, ``content``, ``tags`` and ``metadata`` of all messages of the namespace."""
        rows = await self.read(
            "MATCH (m:Interaction) WHERE m.namespace = $namespace RETURN m.id AS id, m.session_id AS session_id, "
            "m.content AS content, m.tags AS tags, m.metadata AS metadata"
        )
        return [{**row, "metadata": from_json(row["metadata"])} for row in rows]

    async def rewrite_messages(
        self, conversation: str, messages: Sequence[Rewritten], *, title: str | None = None, unlink: bool = False
    ) -> str:
        """Rewrite messages of a conversation, in one transaction.

        All of them get new ids, since the id of a memory is made from what was said.

        Args:
            conversation: The conversation.
            messages: The messages to rewrite, with what changes.
            title: Its new title; ``None``: the one it has.
            unlink: Whether the conversation gets a new id, too, and is nobody's afterwards. Users who said what is
                still theirs have spoken in it.

        Returns:
            The id of the conversation.

        Raises:
            NotFoundError: if it does not exist.
        """
        row = await self._require_conversation(conversation)
        new = {message.id: message.new_id for message in messages}
        rows = [InteractionRow(new[message.id], message.properties) for message in messages if message.searched]
        indexes = await self.message_indexes(rows)
        node = str(uuid.uuid4()) if unlink else row["node_id"]
        session = node if unlink else row["id"]
        props = [{"id": message.id, "props": _properties(message, new, session)} for message in messages]
        cut = [
            {"id": message.id, "resource": resource_id(self._namespace, uri)}
            for message in messages
            for uri in message.cut
        ]

        # The work may be repeated after a commit that succeeded without an answer: if this node is there, it was done.
        label, made = (Label.CONVERSATION, node) if unlink else (Label.INTERACTION, next(iter(new.values()), ""))

        async def work(tx: Transaction) -> None:
            if await tx.run(f"MATCH (n:{label} {{id: $id}}) RETURN n.id AS id", {"id": made}):
                return
            now = utc_now()
            state = await lock_conversation(tx, row["node_id"], self._namespace, now)
            await _cut(tx, cut)
            await remove_message_vectors(tx, [message.id for message in messages])
            await run_for_rows(
                tx,
                "UNWIND $rows AS row MATCH (m:Interaction {id: row.id}) SET m += row.props, m.updated_at = $now",
                props,
                now=now,
            )
            await run_for_rows(
                tx,
                "UNWIND $rows AS row MATCH (s:Interaction {id: row.new})-[:SUMMARIZES]->(m:Interaction) "
                "WHERE m.compacted_into = row.id SET m.compacted_into = row.new",
                [{"id": message.id, "new": message.new_id} for message in messages if message.properties["summary"]],
            )
            await attach_message_vectors(tx, rows, namespace=self._namespace, indexes=indexes, now=now)
            await tx.run(
                "MATCH (c:Conversation {id: $id}) SET c.last_id = $last, c.title = $title",
                {
                    "id": row["node_id"],
                    "last": new.get(state["last_id"], state["last_id"]),
                    "title": row["title"] if title is None else title,
                },
            )
            if unlink:
                await _unlink(tx, row["node_id"], node)

        await self._write(work)
        return str(session)


def _properties(message: Rewritten, new: Mapping[str, str], session: str) -> Row:
    """Return what is written of a message.

    Args:
        message: The message.
        new: The new ids of all messages, by those that they have.
        session: The id of their conversation.
    """
    summary = message.properties["compacted_into"]
    return {
        **message.properties,
        "id": new[message.id],
        "compacted_into": new.get(summary, summary),
        "session_id": session,
        "token": "",
        "words_id": None,
        **({} if message.searched else {"terms": ""}),
    }


async def _cut(tx: Transaction, rows: Sequence[Row]) -> None:
    """Remove the edges from messages (``id``) to resources (``resource``), and resources that nothing needs then."""
    await run_for_rows(
        tx,
        "UNWIND $rows AS row MATCH (m:Interaction {id: row.id})-[r:REFERENCES]->(t:Resource) "
        "WHERE t.id = row.resource DELETE r",
        rows,
    )
    await remove_unused_resources(tx, {row["resource"] for row in rows})


async def _unlink(tx: Transaction, conversation: str, new: str) -> None:
    said = await tx.run(
        "MATCH (c:Conversation {id: $id})<-[:PART_OF]-(m:Interaction) RETURN DISTINCT m.user_id AS user",
        {"id": conversation},
    )
    users = await tx.run(
        "MATCH (c:Conversation {id: $id})<-[:SPOKE_IN]-(u:User) RETURN u.id AS id, u.external_id AS user",
        {"id": conversation},
    )
    gone = [row["id"] for row in users if row["user"] not in {one["user"] for one in said}]
    await tx.run("MATCH (c:Conversation {id: $id})<-[r:STARTED]-(u:User) DELETE r", {"id": conversation})
    await tx.run(
        "UNWIND $gone AS i MATCH (c:Conversation {id: $id})<-[r:SPOKE_IN]-(u:User {id: i}) DELETE r",
        {"id": conversation, "gone": gone},
    )
    await tx.run(
        "MATCH (c:Conversation {id: $id}) SET c.session_id = $new, c.user_id = '', c.id = $new",
        {"id": conversation, "new": new},
    )
