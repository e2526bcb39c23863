"""What a KnowledgeBase knows of the people who use it: what they viewed and rated, and what is kept of them."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any

from core.rag.errors import InvalidInputError, NotFoundError

if TYPE_CHECKING:
    from core.rag.dbhandler import MemGraphClient
    from core.rag.dbhandler.store import Row
    from core.rag.memory.anonymizing import Anonymizer


class People:
    """The part of :class:`core.rag.KnowledgeBase` that has to do with its users."""

    _client: MemGraphClient

    async def feedback(
        self, target: str, value: float, query: str | None = None, user_id: str | None = None
    ) -> list[str]:
        """Say how helpful a passage was; later rankings regard it gently.

        Args:
            target: Id of a chunk; or path, URL or id of a document, for all of its chunks.
            value: From -1 (wrong) to 1 (just right); 0 takes an earlier rating back.
            query: What was asked.
            user_id: Who says so.

        Returns:
            Ids of the chunks.

        Raises:
            InvalidInputError: on a value out of range.
            NotFoundError: when there is no such chunk or document.
        """
        return await self._client.rate(target, value, query=query, user_id=user_id)

    async def history(self, user_id: str) -> list[dict[str, Any]]:
        """The documents that a user viewed: ``document_id, path, title, count, first_at, last_at``, latest first."""
        return await self._client.viewed_documents(user_id)

    async def export_user(self, user_id: str) -> dict[str, Any]:
        """Everything that is stored of a person, ready for JSON.

        Returns:
            ``user``, ``conversations`` (each with its ``messages``), ``messages`` said elsewhere, ``viewed``,
            ``ratings``.

        Raises:
            NotFoundError: when nothing is known of that person.
        """
        user = await self._client.find_user(user_id)
        external = user["external_id"] if user else user_id
        conversations = []
        for row in await self._client.conversations_of_person(external):
            found = await self._client.find_conversation(row["id"])
            conversations.append({**(found or {}), "messages": await self._client.get_conversation_messages(row["id"])})
        own = {conversation["id"] for conversation in conversations}
        elsewhere = [
            row["id"] for row in await self._client.messages_of_person(external) if row["session_id"] not in own
        ]
        messages = await self._client.messages_by_id(elsewhere)
        if user is None and not conversations and not messages:
            raise NotFoundError(f"Nothing is known of a user {user_id!r}.")
        return {
            "user": user,
            "conversations": sorted(conversations, key=lambda row: row["created_at"]),
            "messages": sorted(messages.values(), key=lambda row: row["timestamp"]),
            "viewed": await self._client.viewed_documents(external),
            "ratings": await self._client.ratings_of_user(external),
        }

    async def anonymize(
        self, *, user_id: str | None = None, conversation_id: str | None = None, region: str | None = None
    ) -> dict[str, Any]:
        """Replace names, addresses and numbers in what was said, consistently, and cut the link to who said it.

        The messages are written anew, under new ids and with new vectors, and the old ones removed. Messages that a
        summary stands for are removed without being written anew. Views and ratings go to a user without a name.

        Args:
            user_id: All conversations of this user.
            conversation_id: This conversation.
            region: Where phone numbers without a country code are from, such as ``DE``.

        Returns:
            ``conversations`` (the new ids) and ``replaced`` (how many different things of each kind).

        Raises:
            InvalidInputError: unless one of the two is given.
            NotFoundError: when it is not there.
        """
        from core.rag.memory.anonymizing import Anonymizer

        client = self._client
        if (user_id is None) == (conversation_id is None):
            raise InvalidInputError("Say what to anonymize: either user_id or conversation_id.")
        user: Row | None = None
        rows: list[Row] = []
        if user_id is not None:
            user = await client.find_user(user_id)
            rows = await client.conversations_of_person(user["external_id"] if user else user_id)
            if user is None and not rows:
                raise NotFoundError(f"Nothing is known of a user {user_id!r}.")
        elif conversation_id is not None:
            row = await client.conversation_row(conversation_id)
            if row is None:
                raise NotFoundError(f"There is no conversation {conversation_id!r}.")
            rows = [row]
        ids = {row["user_id"] for row in rows if row["user_id"]} | ({user["external_id"]} if user else set())
        anonymizer = Anonymizer([*await client.known_names(), *sorted(ids)], region)
        talks = []
        for row in rows:
            messages = await client.get_conversation_messages(row["id"])
            talks.append((row, [message for message in messages if not message["compacted_into"]]))
        for _, messages in talks:
            for message in messages:
                anonymizer.learn(message["content"])
        new = [await self._rewrite(anonymizer, row, messages) for row, messages in talks]
        if user is not None:
            await client.move_user(user["id"], f"anonymous-{uuid.uuid4().hex}", anonymizer.text)
        return {"conversations": new, "replaced": anonymizer.replaced}

    async def _rewrite(self, anonymizer: Anonymizer, row: Row, messages: list[dict[str, Any]]) -> str:
        from core.rag.dbhandler.interactions import InteractionRow
        from core.rag.dbhandler.message_rows import message_properties

        client = self._client
        talk = await client.create_conversation(anonymizer.text(row["title"]) or None)
        node = await client.conversation_row(talk)
        assert node is not None
        links = await client.message_links([message["id"] for message in messages])
        rewritten = []
        for message in messages:
            properties = message_properties(
                anonymizer.text(message["content"]),
                message["role"],
                timestamp=message["timestamp"],
                tags=[anonymizer.text(tag) for tag in message["tags"]],
                metadata=anonymizer.value(message["metadata"]),
            )
            properties["count"] = message["count"]
            properties["summary"] = message["summary"]
            link = links.get(message["id"], {"documents": [], "resources": [], "retrieved": []})
            rewritten.append(
                InteractionRow(
                    uuid.uuid4().hex,
                    properties,
                    documents=link["documents"],
                    resources=[uri for uri in link["resources"] if anonymizer.text(uri) == uri],
                    retrieved=link["retrieved"],
                )
            )
        if rewritten:
            await client.append_interactions(node["node_id"], rewritten)
        await client.delete_conversation(row["id"])
        return talk
