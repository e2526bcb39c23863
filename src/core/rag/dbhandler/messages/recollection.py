"""Messages as memories: read for ranking, marked when recalled, and replaced by summaries."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import Any

from core.rag.arguments import check_flags, check_kind, check_limit, check_texts
from core.rag.dbhandler.batches import batches, run_for_ids
from core.rag.dbhandler.messages.interactions import (
    InteractionRow,
    attach_message_vectors,
    insert_behind,
    lock_conversation,
)
from core.rag.dbhandler.messages.remembering import RememberingOperations
from core.rag.dbhandler.messages.removal import remove_message_vectors, remove_messages
from core.rag.dbhandler.messages.rows import MESSAGE_COLUMNS, found_message
from core.rag.dbhandler.store import Row, Transaction
from core.rag.dbhandler.vectors import VectorStoreInfo
from core.rag.errors import StoreFullError
from core.rag.identity import stable_id
from core.rag.schema import Label, check_name
from core.rag.times import utc_now

_logger = logging.getLogger("mgrag")


class RecollectionOperations(RememberingOperations):
    """Statements of :mod:`core.rag.memory`."""

    async def disown_conversation(self, node: str) -> None:
        """Remove owner and title of a conversation (id of its node); messages and their speakers stay."""

        async def work(tx: Transaction) -> None:
            await lock_conversation(tx, node, self._namespace, utc_now())
            await tx.run("MATCH (c:Conversation {id: $id})<-[r:STARTED]-(u:User) DELETE r", {"id": node})
            await tx.run("MATCH (c:Conversation {id: $id}) SET c.user_id = '', c.title = ''", {"id": node})

        await self._write(work)

    async def messages_by_id(self, ids: Sequence[str]) -> dict[str, dict[str, Any]]:
        """Return messages by id, with ``session_id``; unknown ids are left out."""
        rows = await self.read(
            f"UNWIND $ids AS i MATCH (m:Interaction {{id: i}}) WHERE m.namespace = $namespace RETURN {MESSAGE_COLUMNS}",
            ids=list(dict.fromkeys(check_texts("ids", ids))),
        )
        return {row["id"]: found_message(row) for row in rows}

    async def touch_messages(self, ids: Sequence[str], now: str) -> None:
        """Record that messages were recalled, unless the graph is open for reading only, or has no room for it."""
        if ids and not (await self.connect()).capabilities.read_only:
            try:
                await self._write_one(
                    "UNWIND $ids AS i MATCH (m:Interaction {id: i}) WHERE m.namespace = $namespace "
                    "SET m.last_accessed_at = $now",
                    ids=list(ids),
                    now=now,
                )
            except StoreFullError as error:  # what was recalled is there all the same
                _logger.warning("That memories were recalled is not noted: %s", error)

    async def session_rows(self, nodes: Sequence[str]) -> list[Row]:
        """Return what ranking needs of the messages of conversations (ids of their nodes), except the vectors.

        Returns:
            ``session, owner, id, sequence, terms, tags, role, user_id, timestamp, day, last_said_at, revised_at`` (the
            day if it is another one where it was said than in UTC), and ``asks``: whether the message ends with a
            question mark (Latin, Chinese or Arabic). Compacted messages are left out.
        """
        return await self.read(
            "UNWIND $ids AS i MATCH (c:Conversation {id: i})<-[:PART_OF]-(m:Interaction) "
            "WHERE c.namespace = $namespace AND coalesce(m.compacted_into, '') = '' "
            "RETURN c.id AS session, c.user_id AS owner, m.id AS id, m.sequence AS sequence, "
            "m.terms AS terms, m.tags AS tags, m.role AS role, m.user_id AS user_id, m.timestamp AS timestamp, "
            "m.day AS day, m.last_said_at AS last_said_at, m.revised_at AS revised_at, "
            "m.content ENDS WITH '?' OR m.content ENDS WITH '？' OR m.content ENDS WITH '؟' AS asks",
            ids=check_texts("nodes", nodes),
        )

    async def said_in(
        self, nodes: Sequence[str] | None, *, metadata: bool = False, newest: int | None = None
    ) -> list[Row]:
        """Return what tells which messages are wanted, without their texts.

        Args:
            nodes: Ids of the nodes of the conversations; ``None``: of all.
            metadata: Whether their metadata are wanted, too.
            newest: Only so many of them, those that were said last; ``None``: all.

        Returns:
            ``id, tags, timestamp, last_said_at, user_id`` and if wanted ``metadata`` (JSON), and of their conversations
            ``owner, node_id, revision, message_count``; compacted messages are left out.
        """
        check_flags(metadata=metadata)
        everywhere = "MATCH (c:Conversation) WHERE c.namespace = $namespace MATCH (c)"
        begin = everywhere if nodes is None else "UNWIND $ids AS i MATCH (c:Conversation {id: i})"
        said = "WITH c, m, coalesce(m.last_said_at, m.timestamp) AS said ORDER BY said DESC LIMIT "
        return await self.read(
            f"{begin}<-[:PART_OF]-(m:Interaction) "
            "WHERE c.namespace = $namespace AND coalesce(m.compacted_into, '') = '' "
            f"{'' if newest is None else f'{said}{check_limit(newest, 1)} '}"
            "RETURN m.id AS id, m.tags AS tags, m.timestamp AS timestamp, m.last_said_at AS last_said_at, "
            "m.user_id AS user_id, c.user_id AS owner, c.id AS node_id, "
            f"c.revision AS revision, c.message_count AS message_count{', m.metadata AS metadata' if metadata else ''}",
            ids=[] if nodes is None else check_texts("nodes", nodes),
        )

    async def session_vectors(self, nodes: Sequence[str], store: VectorStoreInfo) -> dict[str, list[float]]:
        """Return the vectors of the messages of conversations (ids of their nodes), by id of the message."""
        check_kind("store", store, VectorStoreInfo)
        label = check_name(store.index(Label.INTERACTION).label)
        rows = await self.read(
            "UNWIND $ids AS i MATCH (c:Conversation {id: i})<-[:PART_OF]-(m:Interaction) "
            f"WHERE c.namespace = $namespace MATCH (m)<-[:EMBEDDING_OF]-(v:{label}) "
            "RETURN m.id AS id, v.embedding AS embedding",
            ids=check_texts("nodes", nodes),
        )
        return {row["id"]: row["embedding"] for row in rows}

    async def sessions_of_messages(self, ids: Sequence[str]) -> dict[str, Row]:
        """Return ``node_id, revision, message_count, user_id`` of the conversations of messages, by message id.

        With each are the ``timestamp`` and ``last_said_at`` of the message.
        """
        rows = await self.read_together(
            "MATCH (m:Interaction {id: i})-[:PART_OF]->(c:Conversation) WHERE c.namespace = $namespace",
            {
                "id": "m.id",
                "node_id": "c.id",
                "revision": "c.revision",
                "message_count": "c.message_count",
                "user_id": "c.user_id",
                "timestamp": "m.timestamp",
                "last_said_at": "m.last_said_at",
            },
            ids,
        )
        return {row.pop("id"): row for row in rows}

    async def messages_of_vectors(self, ids: Sequence[str]) -> dict[str, str]:
        """Return the messages that vectors embed, by id of the vector."""
        match = "MATCH (v:Vector {id: i})-[:EMBEDDING_OF]->(m:Interaction)"
        rows = await self.read_together(match, {"vector": "v.id", "id": "m.id"}, ids)
        return {row["vector"]: row["id"] for row in rows}

    async def compact_messages(
        self, session_id: str, replaced: Mapping[str, str | None], properties: Mapping[str, Any]
    ) -> str | None:
        """Replace messages with a summary: they stay, linked from it, but are no longer searched.

        Args:
            session_id: The session.
            replaced: Ids of the messages, none of which a summary has replaced yet; and when each had been revised as
                it was read.
            properties: Properties of the summary, which goes right after the last of them.

        Returns:
            The id of the summary; ``None``, and nothing is done, if another client has removed, revised or compacted
            one of the messages in the meantime: the summary would contain content that is not there any more, or is in
            another summary.
        """
        session = await self._require_conversation(session_id)
        node = session["node_id"]
        summary = InteractionRow(
            stable_id(Label.INTERACTION, self._namespace, node, "summary", *replaced),
            {**properties, "summary": True},
        )
        indexes = await self.message_indexes([summary])

        async def work(tx: Transaction) -> bool:
            now = utc_now()
            if not await insert_behind(
                tx, node, summary, replaced, namespace=self._namespace, indexes=indexes, now=now
            ):
                return False
            for part in batches(list(replaced)):
                # MERGE looks through the edges of its left node: of a message, which has few; the summary may have any.
                await tx.run(
                    "MATCH (s:Interaction {id: $summary}) UNWIND $ids AS i MATCH (m:Interaction {id: i}) "
                    "MERGE (m)<-[:SUMMARIZES]-(s)",
                    {"summary": summary.id, "ids": part},
                )
                await tx.run(
                    "UNWIND $ids AS i MATCH (m:Interaction {id: i}) SET m.compacted_into = $summary, m.terms = '', "
                    "m.updated_at = $now",
                    {"ids": part, "summary": summary.id, "now": now},
                )
            await remove_message_vectors(tx, list(replaced))
            return True

        return summary.id if await self._write(work) else None

    async def summaries_of(self, ids: Sequence[str]) -> list[str]:
        """Return the ids of the summaries of any of these messages, of the summaries of those, and so on."""
        found: dict[str, None] = {}
        wanted = check_texts("ids", ids)
        while wanted:
            rows = await self.read_for_ids(
                "UNWIND $ids AS i MATCH (m:Interaction {id: i})<-[:SUMMARIZES]-(s:Interaction) "
                "RETURN DISTINCT s.id AS id",
                wanted,
            )
            wanted = [summary for summary in dict.fromkeys(row["id"] for row in rows) if summary not in found]
            found.update(dict.fromkeys(wanted))
        return list(found)

    async def remove_with_summaries(self, session_id: str, ids: Sequence[str]) -> int:
        """Remove messages of a session and all summaries of them, in one transaction.

        What else these summaries, or others among the messages, had replaced is a memory again, found by its words and
        its vector.

        Returns:
            How many messages and summaries there were.

        Raises:
            NotFoundError: if there is no such session.
        """
        session = await self._require_conversation(session_id)
        gone = [*check_texts("ids", ids), *await self.summaries_of(ids)]
        rows = await self.read_for_ids(
            "UNWIND $ids AS i MATCH (s:Interaction {id: i})-[:SUMMARIZES]->(m:Interaction) RETURN m.id AS id", gone
        )
        messages = await self.messages_by_id([row["id"] for row in rows if row["id"] not in set(gone)])
        restored = [InteractionRow(key, {"content": message["content"]}) for key, message in messages.items()]
        indexes = await self.message_indexes(restored)

        async def work(tx: Transaction) -> int:
            now = utc_now()
            number = await remove_messages(tx, session["node_id"], gone, self._namespace, now)
            there = await run_for_ids(
                tx,
                "UNWIND $ids AS i MATCH (m:Interaction {id: i}) WHERE m.compacted_into = '' "
                "RETURN m.id AS id, m.revised_at AS revised_at",
                list(messages),
            )
            # One that was revised since it was read has the vector of its new words.
            same = {row["id"] for row in there if row["revised_at"] == messages[row["id"]]["revised_at"]}
            back = [message for message in restored if message.id in same]
            await attach_message_vectors(tx, back, namespace=self._namespace, indexes=indexes, now=now)
            return number

        return await self._write(work)
