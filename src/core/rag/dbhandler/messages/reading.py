"""Reads conversations: lists them, and returns their messages in order with what these refer to."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from core.rag.arguments import check_kind, check_limit, check_number, check_text, check_texts
from core.rag.dbhandler.checks import MAX_PATH_CHARS, check_characters
from core.rag.dbhandler.messages.rows import MESSAGE_COLUMNS, beginning_of, found_message
from core.rag.dbhandler.messages.users import UserOperations
from core.rag.dbhandler.store import Row
from core.rag.dbhandler.vectors import VectorStoreInfo
from core.rag.errors import InvalidInputError, NotFoundError
from core.rag.identity import document_id, stable_id, standardize_resource_uri
from core.rag.schema import Label
from core.rag.times import moment

#: The end of every statement that reads conversations; ``c`` is the conversation.
CONVERSATION_COLUMNS = (
    "c.id AS node_id, c.session_id AS id, c.title AS title, c.user_id AS user_id, "
    "coalesce(c.message_count, 0) AS message_count, c.created_at AS created_at, c.updated_at AS updated_at, "
    "c.revision AS revision, c.last_id AS last_id"
)

#: Higher than the number of any message.
_MAX_SEQUENCE = 2**53
#: Up to this many of the last messages are found along their chain, in a time that does not depend on all others.
_LONGEST_WALK = 100

_PUBLIC = ("id", "title", "user_id", "message_count", "created_at", "updated_at")


class MessageReading(UserOperations):
    """Finding conversations and their messages."""

    async def find_conversation(self, conversation_id: str) -> dict[str, Any] | None:
        """Return a conversation (``id, title, user_id, message_count, created_at, updated_at``) or ``None``."""
        row = await self.conversation_row(conversation_id)
        return None if row is None else {key: row[key] for key in _PUBLIC}

    async def list_conversations(
        self, user_id: str | None = None, limit: int = 50, offset: int = 0, *, after: str = ""
    ) -> list[dict[str, Any]]:
        """List conversations, the most recently changed first.

        Args:
            user_id: Only conversations of this user.
            limit: Maximum number to return.
            offset: How many to skip at the beginning.
            after: Only those after the last one of the page before: its ``updated_at`` and ``id`` with a space
                between (:func:`~core.rag.dbhandler.messages.rows.mark_of`).
                Unlike with ``offset``, none comes twice or is passed over when others are begun or deleted meanwhile.

        Returns:
            Dicts as from :meth:`find_conversation`, with ``beginning``: if there is no title, the beginning of the
            first message, in one line.
        """
        limit = check_limit(limit, 1)
        offset = check_number("offset", offset, 0)
        time, _, last = check_text("after", after).partition(" ")
        mark = (moment(time), last) if after else None
        newest = offset + limit + 1
        while True:
            there = await self.conversations_of(user_id, newest, mark[0] if mark else "")
            rows = [row for row in there if mark is None or (row["updated_at"], row["id"]) < mark]
            rows.sort(key=lambda row: (row["updated_at"], row["id"]), reverse=True)
            if len(there) == newest:  # of those that changed when the last one did, there may be more
                rows = [row for row in rows if row["updated_at"] > there[-1]["updated_at"]]
            if len(there) < newest or len(rows) >= offset + limit:
                break
            newest *= 4
        rows = rows[offset : offset + limit]
        beginnings = await self._beginnings([row["node_id"] for row in rows if not row["title"]])
        return [{**{key: row[key] for key in _PUBLIC}, "beginning": beginnings.get(row["node_id"], "")} for row in rows]

    async def get_conversation_messages(
        self,
        conversation_id: str,
        limit: int | None = None,
        *,
        before: int | str | None = None,
        after: int | str | None = None,
    ) -> list[dict[str, Any]]:
        """Return messages of a conversation, in order.

        Args:
            conversation_id: The conversation.
            limit: Maximum number to return: with ``after`` the first ones after it, else the last ones. ``None``: all.
            before: Only messages before this one (its ``sequence`` or id).
            after: Only messages after this one (its ``sequence`` or id).

        Returns:
            Dicts with ``id, conversation_id, role, content, timestamp, sequence, references, keywords, tags, metadata,
            user_id, created_at …``; ``references`` are paths and URLs.

        Raises:
            NotFoundError: if there is no such conversation, or no such message.
        """
        if limit is not None:
            limit = check_limit(limit, 1)
        conversation = await self._require_conversation(conversation_id)
        if limit is not None and limit <= _LONGEST_WALK and before is None and after is None:
            rows = await self._last_messages(conversation, limit)
            # else another client has just removed some, or the chain is broken
            if rows and len(rows) == min(limit, conversation["message_count"]):
                return await self._messages(conversation["id"], rows)
        low = 0 if after is None else await self._sequence_of(conversation, after)
        high = _MAX_SEQUENCE if before is None else await self._sequence_of(conversation, before)
        order = "" if after is not None else " DESC"
        rows = await self.read(
            "MATCH (c:Conversation {id: $id})<-[:PART_OF]-(m:Interaction) "
            f"WHERE m.sequence > $low AND m.sequence < $high RETURN {MESSAGE_COLUMNS}"
            + ("" if limit is None else f" ORDER BY sequence{order} LIMIT {limit}"),
            id=conversation["node_id"],
            low=low,
            high=high,
        )
        rows.sort(key=lambda row: row["sequence"])
        return await self._messages(conversation["id"], rows)

    async def recent_messages(self, conversation_id: str, limit: int = 10) -> list[dict[str, Any]]:
        """Return the last messages of a conversation, in order; up to 100, the time does not depend on its length.

        Raises:
            NotFoundError: if there is no such conversation.
        """
        limit = check_limit(limit)
        if limit > _LONGEST_WALK:
            return await self.get_conversation_messages(conversation_id, limit)
        conversation = await self._require_conversation(conversation_id)
        return await self._messages(conversation["id"], await self._last_messages(conversation, limit))

    async def _last_messages(self, conversation: Row, limit: int) -> list[Row]:
        """Return the rows of the last messages, at most ``_LONGEST_WALK``, in order: walks the chain from its end."""
        if limit < 1 or not conversation["last_id"]:
            return []
        rows = await self.read(
            f"MATCH (l:Interaction {{id: $last}})-[:FOLLOWS*0..{int(limit) - 1}]->(m:Interaction) "
            f"WHERE m.session_id = $session RETURN {MESSAGE_COLUMNS}",
            last=conversation["last_id"],
            session=conversation["id"],
        )
        return sorted(rows, key=lambda row: row["sequence"])

    async def conversations_of(
        self, user_id: str | None = None, newest: int | None = None, until: str = ""
    ) -> list[Row]:
        """Return conversations with ``node_id``, ``revision`` and ``last_id``; not sorted.

        Args:
            user_id: Those of this user; ``None``: of anybody.
            newest: Only so many of them, those that changed last, in this order; ``None``: all.
            until: Only those that have not changed since this time; empty: all.
        """
        user = None if user_id is None else await self.find_user(user_id)
        if user_id is not None and user is None:
            return []
        of_user = "(u:User {id: $user})-[:STARTED]->"
        return await self.read(
            f"MATCH {'' if user is None else of_user}(c:Conversation) WHERE c.namespace = $namespace "
            f"{'AND c.updated_at <= $until ' if until else ''}RETURN {CONVERSATION_COLUMNS}"
            f"{'' if newest is None else f' ORDER BY updated_at DESC LIMIT {check_limit(newest, 1)}'}",
            user="" if user is None else user["id"],
            until=until,
        )

    async def conversations_with(self, user_id: str) -> list[Row]:
        """Return conversations that a user owns or has spoken in, as from :meth:`conversations_of`."""
        user = await self.find_user(user_id)
        if user is None:
            return []
        return await self.read(
            "MATCH (u:User {id: $id})-[:STARTED|SPOKE_IN]->(c:Conversation) WITH DISTINCT c "
            f"RETURN {CONVERSATION_COLUMNS}",
            id=user["id"],
        )

    async def _beginnings(self, nodes: Sequence[str]) -> dict[str, str]:
        """Return the beginnings of the first messages of conversations; not stored, to not outlive the message."""
        if not nodes:
            return {}
        numbered = await self.read(
            "UNWIND $ids AS i MATCH (c:Conversation {id: i})<-[:PART_OF]-(m:Interaction) "
            "RETURN c.id AS conversation, m.id AS id, m.sequence AS sequence",
            ids=check_texts("nodes", nodes),
        )
        numbered.sort(key=lambda row: row["sequence"], reverse=True)
        first = {row["conversation"]: row["id"] for row in numbered}
        said = await self.read(
            "UNWIND $ids AS i MATCH (m:Interaction {id: i}) RETURN m.id AS id, m.content AS content",
            ids=list(first.values()),
        )
        texts = {row["id"]: beginning_of(row["content"]) for row in said}
        return {node: texts[message] for node, message in first.items() if message in texts}

    async def conversation_row(self, conversation_id: str) -> Row | None:
        """Return a conversation with ``node_id``, ``revision`` and ``last_id``, or ``None``."""
        if not check_text("The id of a conversation", conversation_id):
            raise InvalidInputError("The id of the conversation is empty.")
        check_characters(conversation_id, "the id of the conversation")
        own = self._conversation_node(conversation_id)
        rows = await self.read(
            "UNWIND $ids AS i MATCH (c:Conversation {id: i}) WHERE c.namespace = $namespace "
            f"RETURN {CONVERSATION_COLUMNS}",
            ids=[own, conversation_id],
        )
        rows.sort(key=lambda row: row["node_id"] != own)
        return rows[0] if rows else None

    async def _require_conversation(self, conversation_id: str) -> Row:
        row = await self.conversation_row(conversation_id)
        if row is None:
            raise NotFoundError(
                f"There is no conversation {conversation_id[:200]!r} in namespace {self._namespace!r}; start it with"
                " create_conversation."
            )
        return row

    async def message_vectors(self, ids: Sequence[str], store: VectorStoreInfo) -> dict[str, list[float]]:
        """Return the vectors of messages in a vector store, by id of the message."""
        check_kind("store", store, VectorStoreInfo)
        label = store.index(Label.INTERACTION).label
        rows = await self.read(
            f"UNWIND $ids AS i MATCH (m:Interaction {{id: i}})<-[:EMBEDDING_OF]-(v:{label}) "
            "RETURN m.id AS id, v.embedding AS embedding",
            ids=check_texts("ids", ids),
        )
        return {row["id"]: row["embedding"] for row in rows}

    async def chunks_of_messages(self, ids: Sequence[str]) -> list[Row]:
        """Return the chunks that were found for messages, and the chunks of the documents that they refer to.

        Args:
            ids: The messages.

        Returns:
            ``id`` of the message, ``chunk``, and ``place``: position from 0 of the chunk among the search results, or
            of its document among the references. At most 500 chunks of documents.
        """
        found = await self.read(
            "UNWIND $ids AS i MATCH (m:Interaction {id: i})-[r:RETRIEVED]->(c:DocumentChunk) "
            "RETURN m.id AS id, c.id AS chunk, r.rank - 1 AS place",
            ids=check_texts("ids", ids),
        )
        referred = await self.read(
            "UNWIND $ids AS i MATCH (m:Interaction {id: i})-[r:REFERENCES]->(d:Document) "
            "MATCH (d)<-[:CHUNK_OF]-(c:DocumentChunk) RETURN m.id AS id, c.id AS chunk, r.position AS place "
            "LIMIT 500",
            ids=check_texts("ids", ids),
        )
        return [*found, *referred]

    async def references_of_messages(self, ids: Sequence[str]) -> dict[str, list[str]]:
        """Return the paths and URLs that messages refer to, in order, by id of the message."""
        found = await self.read(
            "UNWIND $ids AS i MATCH (m:Interaction {id: i})-[r:REFERENCES]->(t) "
            "RETURN m.id AS id, coalesce(t.path, t.uri) AS target, r.position AS position",
            ids=list(ids),
        )
        targets: dict[str, list[str]] = {}
        for row in sorted(found, key=lambda row: (row["position"], row["target"])):
            targets.setdefault(row["id"], []).append(row["target"])
        return targets

    async def _messages(self, conversation_id: str, rows: Sequence[Row]) -> list[dict[str, Any]]:
        references = await self.references_of_messages([row["id"] for row in rows])
        messages = []
        for row in rows:
            message = found_message(row)
            del message["session_id"]
            message["conversation_id"] = conversation_id
            message["references"] = references.get(row["id"], [])
            messages.append(message)
        return messages

    async def _sequence_of(self, conversation: Row, message: int | str) -> int:
        if isinstance(message, int) and not isinstance(message, bool):
            return message
        rows = await self.read(
            "UNWIND [$id] AS i MATCH (m:Interaction {id: i}) WHERE m.namespace = $namespace "
            "AND m.session_id = $session RETURN m.sequence AS sequence",
            id=str(message) or "-",
            session=conversation["id"],
        )
        if not rows:
            raise NotFoundError(
                f"There is no message {str(message)[:200]!r} in the conversation {conversation['id']!r}."
            )
        return int(rows[0]["sequence"])

    async def _resolved(self, references: Iterable[str] | None) -> tuple[list[str], list[str]]:
        """Resolve references to ids of documents, and URIs of everything else.

        Raises:
            InvalidInputError: if they are not several texts, or one is blank or too long.
        """
        given = list(dict.fromkeys(check_texts("references", references or ())))
        for reference in given:
            if not reference.strip() or len(reference) > MAX_PATH_CHARS:
                raise InvalidInputError(f"{reference[:50]!r} is not a valid reference: give a path, a URL or an id.")
        uris = {reference: standardize_resource_uri(reference) for reference in given}
        found: dict[str, str] = {}
        ways = (
            ("MATCH (d:Document {id: row.document})", "d.id"),
            ("MATCH (d:Document {id: row.given})", "d.id"),
            ("MATCH (d:DocumentChunk {id: row.given})", "d.parent_id"),
            ("MATCH (d:Document {path: row.given})", "d.id"),
        )
        for match, result in ways:
            rows = [
                {"given": reference, "document": document_id(self._namespace, uris[reference])}
                for reference in given
                if reference not in found
            ]
            if rows:
                for row in await self.read(
                    f"UNWIND $rows AS row {match} WHERE d.namespace = $namespace "
                    f"RETURN row.given AS given, {result} AS id",
                    rows=rows,
                ):
                    found.setdefault(row["given"], row["id"])
        rest = [reference for reference in given if reference not in found]
        if rest:
            for row in await self.read(
                "UNWIND $ids AS i MATCH (t:Resource {id: i}) WHERE t.namespace = $namespace "
                "RETURN t.id AS id, t.uri AS uri",
                ids=rest,
            ):
                uris[row["id"]] = row["uri"]
        documents = [found[reference] for reference in given if reference in found]
        return list(dict.fromkeys(documents)), list(dict.fromkeys(uris[reference] for reference in rest))

    def _conversation_node(self, conversation_id: str) -> str:
        return stable_id(Label.CONVERSATION, self._namespace, conversation_id)
