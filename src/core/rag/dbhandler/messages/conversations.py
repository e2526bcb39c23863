"""Conversations: their messages in order, what these refer to, and what was retrieved for them."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import date, datetime
from typing import Any

from core.rag.arguments import check_text
from core.rag.dbhandler.messages.interactions import (
    Indexes,
    InteractionRow,
    append_messages,
    refer,
)
from core.rag.dbhandler.messages.reading import MessageReading
from core.rag.dbhandler.messages.removal import remove_conversation
from core.rag.dbhandler.messages.rows import check_length, checked_name, message_properties, retrieved_rows
from core.rag.dbhandler.store import Row, Transaction
from core.rag.dbhandler.vector_checks import check_vector
from core.rag.embedder.base import embed_long_texts, is_blank
from core.rag.errors import NotFoundError
from core.rag.identity import stable_id, vector_id
from core.rag.schema import Label
from core.rag.times import utc_now


class ConversationOperations(MessageReading):
    """Writing conversations. A conversation is identified by the id that ``create_conversation`` returned."""

    async def create_conversation(
        self, title: str | None = None, user_id: str | None = None, conversation_id: str | None = None
    ) -> str:
        """Start a conversation, or continue the one with this id.

        Args:
            title: Its title.
            user_id: The user who owns it; created if missing.
            conversation_id: A custom id, such as a session's; ``None``: a new one.

        Returns:
            The id. An existing conversation keeps its title and user; missing ones are set.
        """
        return str((await self._open_conversation(title, user_id, conversation_id))["id"])

    async def rename_conversation(self, conversation_id: str, title: str) -> None:
        """Change the title of a conversation.

        Raises:
            NotFoundError: if it does not exist.
        """
        row = await self._require_conversation(conversation_id)
        text = checked_name(title, "The title")
        await self._write_one(
            "MATCH (c:Conversation {id: $id}) SET c.title = $title, c.updated_at = $now",
            id=row["node_id"],
            title=text,
            now=utc_now(),
        )

    async def delete_conversation(self, conversation_id: str) -> bool:
        """Remove a conversation with its messages, their vectors and edges, and resources only they referred to.

        Returns:
            Whether it existed.
        """
        row = await self.conversation_row(conversation_id)
        if row is None:
            return False
        try:
            await self.remove_session(row["node_id"])
        except NotFoundError:  # another client was faster
            return False
        return True

    async def remove_session(self, node: str, only: Collection[str] | None = None) -> int | None:
        """Remove a conversation by the id of its node.

        Args:
            node: The id.
            only: Ids of messages; if it has any other, as somebody has just added one, it stays.

        Returns:
            How many messages it had; ``None`` if it stays.

        Raises:
            NotFoundError: if there is no such conversation (any more).
        """
        return await self._write(lambda tx: remove_conversation(tx, node, self._namespace, utc_now(), only))

    async def add_message(
        self,
        conversation_id: str,
        content: str,
        role: str,
        timestamp: datetime | date | str | None = None,
        references: Iterable[str] | None = (),
        *,
        embedding: Sequence[float] | None = None,
        retrieved: Iterable[Any] = (),
        user_id: str | None = None,
        tags: Iterable[str] | None = (),
        metadata: Mapping[str, Any] | None = None,
        message_id: str | None = None,
    ) -> str:
        """Append a message to a conversation.

        Args:
            conversation_id: The conversation.
            content: The text.
            role: ``user``, ``assistant``, ``system``, ``tool`` …
            timestamp: When it was said; ``None``: now. A time without a time zone is local time. A question that names
                a day finds it by its day in its own time zone.
            references: Paths, URLs or ids of documents, ids of chunks, or other URLs, which become resources.
            embedding: Vector of the content; ``None``: made by the client's embedder, if it has one.
            retrieved: What a search for this message returned: hits, or ids of chunks, best first.
            user_id: Who said it, if the conversation has several users.
            tags: Words that also find it.
            metadata: JSON-serialisable; dates and times in it become ISO 8601 text.
            message_id: A custom id; the same again adds nothing. ``None``: a new one.

        Returns:
            The id of the message.

        Raises:
            NotFoundError: if there is no such conversation.
            InvalidInputError: if the content is over 1,000,000 characters, or a role, time, tag or reference invalid.
        """
        check_length(content)
        if message_id is not None:
            check_text("The id of a message", message_id)
        # The analysis of a long text takes seconds, in which a server shall answer others.
        properties = await asyncio.to_thread(
            message_properties, content, role, timestamp=timestamp, tags=tags, metadata=metadata, user_id=user_id
        )
        identifier = (
            uuid.uuid4().hex
            if message_id is None
            else stable_id(Label.INTERACTION, self._namespace, conversation_id, message_id)
        )
        message = InteractionRow(identifier, properties, retrieved=retrieved_rows(retrieved))
        message.documents, message.resources = await self._resolved(references)
        conversation = await self._require_conversation(conversation_id)
        properties["user_id"] = await self._note_speaker(conversation, user_id)
        await self.append_interactions(conversation["node_id"], [message], embedding=embedding)
        return identifier

    async def record_retrieved(self, message_id: str, hits: Iterable[Any]) -> None:
        """Record what a search returned for a message.

        Args:
            message_id: The message.
            hits: Hits, or ids of chunks, best first.

        Raises:
            NotFoundError: if there is no such message.
        """
        rows = await self.read(
            "UNWIND [$id] AS i MATCH (m:Interaction {id: i}) WHERE m.namespace = $namespace RETURN m.id AS id",
            id=check_text("The id of a message", message_id) or "-",
        )
        if not rows:
            raise NotFoundError(f"There is no message {message_id[:200]!r} in namespace {self._namespace!r}.")
        message = InteractionRow(message_id, {}, retrieved=retrieved_rows(hits))
        await self._write(lambda tx: refer(tx, [message], namespace=self._namespace, now=utc_now()))

    async def append_interactions(
        self, conversation: str, messages: Sequence[InteractionRow], *, embedding: Sequence[float] | None = None
    ) -> None:
        """Embed messages and append them to a conversation (id of its node) in one transaction."""
        indexes = await self.message_indexes(messages, embedding=embedding)
        await self._write(
            lambda tx: append_messages(
                tx, conversation, messages, namespace=self._namespace, indexes=indexes, now=utc_now()
            )
        )

    async def message_indexes(
        self, messages: Sequence[InteractionRow], *, embedding: Sequence[float] | None = None
    ) -> Indexes:
        """Embed messages, and make sure that their indexes exist."""
        text_label = await self._text_label(Label.INTERACTION)
        spoken = [message for message in messages if not is_blank(message.properties["content"])]
        vectors: list[Sequence[float]] = []
        if embedding is not None:
            vectors, spoken = [embedding], list(messages)
        elif self._embedder is not None and spoken:
            texts = [message.properties["content"] for message in spoken]
            embedded = await embed_long_texts(self._embedder, texts, [f"the message {text[:50]!r}" for text in texts])
            vectors = embedded.tolist()
        if not vectors:
            return Indexes(text_label)
        store = await self._store_for(vectors[0])
        for message, vector in zip(spoken, vectors, strict=True):
            message.embedding = check_vector(vector, store.dimension, "The embedding")
            message.vector_id = vector_id(store.id, f"{Label.INTERACTION}:{message.id}")
        index = store.index(Label.INTERACTION)
        await self._ensure_vector_index(index)
        return Indexes(text_label, store.id, index.label)

    async def _note_speaker(self, conversation: Row, user_id: str | None) -> str:
        """Link a user who speaks in a conversation that is not theirs to this conversation.

        Returns:
            The user's id as messages store it, also if the id of the node was given; empty if there is no user.
        """
        if not user_id or user_id == conversation["user_id"]:
            return user_id or ""
        known = await self.find_user(user_id)
        user = known["id"] if known else await self.create_or_get_user(user_id)
        external = str(known["external_id"]) if known else user_id
        node = conversation["node_id"]
        if external == conversation["user_id"] or await self.read(
            "MATCH (u:User {id: $user})-[:SPOKE_IN]->(c:Conversation) WHERE c.id = $id RETURN c.id AS id LIMIT 1",
            user=user,
            id=node,
        ):
            return external
        await self._write_one(
            "MATCH (u:User {id: $user}) MATCH (c:Conversation {id: $id}) MERGE (c)<-[:SPOKE_IN]-(u)", user=user, id=node
        )
        return external

    async def _open_conversation(self, title: str | None, user_id: str | None, conversation_id: str | None) -> Row:
        """Return the conversation with this id, created if missing."""
        if title is not None:
            title = checked_name(title, "The title")
        existing: Row | None = None
        if conversation_id is not None:
            checked_name(conversation_id, "The id of the conversation")
            existing = await self.conversation_row(conversation_id)
            if existing and (title is None or existing["title"]) and (user_id is None or existing["user_id"]):
                return existing
        user: Row | None = None
        if user_id is not None:
            await self.create_or_get_user(user_id)
            user = await self.find_user(user_id)
        if existing is not None:
            node, session = existing["node_id"], existing["id"]
        elif conversation_id is not None:
            node, session = self._conversation_node(conversation_id), conversation_id
        else:
            node = session = str(uuid.uuid4())

        async def work(tx: Transaction) -> None:
            now = utc_now()
            await tx.run(
                "MERGE (c:Conversation {id: $id}) ON CREATE SET c.namespace = $namespace, c.session_id = $session, "
                "c.title = '', c.user_id = '', c.sequence = 0, c.message_count = 0, c.last_id = '', "
                "c.revision = '', c.created_at = $now SET c.updated_at = $now",
                {"id": node, "namespace": self._namespace, "session": session, "now": now},
            )
            if title is not None:
                await tx.run(
                    "UNWIND [$id] AS i MATCH (c:Conversation {id: i}) WHERE c.title = '' SET c.title = $title",
                    {"id": node, "title": title},
                )
            if user is not None:
                await tx.run(
                    "UNWIND [$id] AS i MATCH (c:Conversation {id: i}) WHERE c.user_id = '' SET c.user_id = $user",
                    {"id": node, "user": user["external_id"]},
                )
                await tx.run(
                    "UNWIND [$id] AS i MATCH (c:Conversation {id: i}) MATCH (u:User {id: $node}) "
                    "WHERE c.user_id = u.external_id MERGE (c)<-[:STARTED]-(u)",
                    {"id": node, "node": user["id"]},
                )

        await self._write(work)
        return await self._require_conversation(session)
