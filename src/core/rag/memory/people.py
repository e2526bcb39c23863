"""The part of a KnowledgeBase that concerns its users: viewed documents, ratings, and what is stored about them."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from core.rag.errors import InvalidInputError, NotFoundError

if TYPE_CHECKING:
    from core.rag.dbhandler import MemGraphClient
    from core.rag.dbhandler.messages.rewriting import Rewritten
    from core.rag.dbhandler.store import Row
    from core.rag.memory.anonymizing import Anonymizer


@dataclass(frozen=True, slots=True)
class _Whose:
    """What is to be anonymized.

    Attributes:
        id: The user's id as messages store it; empty if a single conversation is anonymized.
        user: The user, if there is one.
        conversations: The conversations.
        elsewhere: Ids of the user's messages in conversations of others.
    """

    id: str
    user: Row | None
    conversations: Sequence[Row]
    elsewhere: Sequence[str]

    def ids(self) -> set[str]:
        """Return the ids of the users who own these conversations."""
        return {row["user_id"] for row in self.conversations if row["user_id"]} | ({self.id} if self.id else set())

    def is_of_another(self, message: dict[str, Any]) -> bool:
        """Return whether a message names a user who is not to be anonymized."""
        own = {"", self.id, self.user["id"] if self.user else ""}
        return bool(self.id) and message["user_id"] not in own

    def names(self) -> list[str]:
        """Return the ids of the users, then their names."""
        return [*sorted(self.ids()), *([self.user["name"]] if self.user and self.user["name"] else [])]


class People:
    """The part of :class:`core.rag.KnowledgeBase` about its users."""

    _client: MemGraphClient

    async def feedback(
        self, target: str, value: float, query: str | None = None, user_id: str | None = None
    ) -> list[str]:
        """Rate how helpful a passage was; ratings have a small influence on later rankings.

        Args:
            target: Id of a chunk; or path, URL or id of a document, for all of its chunks.
            value: From -1 (wrong) to 1 (exactly right); 0 withdraws an earlier rating.
            query: The question that the passage was found for.
            user_id: Who gives the rating.

        Returns:
            Ids of the rated chunks.

        Raises:
            InvalidInputError: if the value is out of range.
            NotFoundError: if there is no such chunk or document.
        """
        try:
            return await self._client.rate(target, value, query=query, user_id=user_id)
        except NotFoundError:
            from core.rag.maintenance.overview import not_found

            raise NotFoundError(await not_found(self._client, target, "chunk and no document")) from None

    async def users(self, limit: int = 100, *, after: str = "") -> list[dict[str, Any]]:
        """List users by their ids: ``id`` (of the caller), ``name``, ``created_at``, ``updated_at``, ``conversations``.

        The last is how many conversations they own or have spoken in.

        Args:
            limit: Maximum number to return, 1 to 10,000.
            after: The id of the last user of the page before.
        """
        return await self._client.list_users(limit, after=after)

    async def history(self, user_id: str) -> list[dict[str, Any]]:
        """List documents that a user viewed: ``document_id, path, title, count, first_at, last_at``, latest first."""
        return await self._client.viewed_documents(user_id)

    async def export_user(self, user_id: str) -> dict[str, Any]:
        """Export everything that is stored about a person, ready for JSON.

        Returns:
            ``user``, ``conversations`` (each with its ``messages``), ``messages`` in conversations of others,
            ``viewed`` and ``ratings``. Each message has its ``references`` and what was ``retrieved`` for it.

        Raises:
            NotFoundError: if nothing is stored about that person.
        """
        from core.rag.dbhandler.messages.rows import speaker_of

        user = await self._client.find_user(user_id)
        external = user["external_id"] if user else user_id
        conversations = []
        for row in await self._client.conversations_of_person(external):
            found = await self._client.find_conversation(row["id"])
            messages = await self._client.get_conversation_messages(row["id"])
            said = [message for message in messages if speaker_of(message, external) == external]
            conversations.append({**(found or {}), "messages": said})
        own = {conversation["id"] for conversation in conversations}
        elsewhere = [
            row["id"] for row in await self._client.messages_of_person(external) if row["session_id"] not in own
        ]
        messages_elsewhere = await self._client.messages_by_id(elsewhere)
        references = await self._client.references_of_messages(elsewhere)
        for identifier, message in messages_elsewhere.items():
            message["references"] = references.get(identifier, [])
        every = {message["id"]: message for conversation in conversations for message in conversation["messages"]}
        every |= messages_elsewhere
        retrieved = await self._client.retrieved_of_messages(list(every))
        for identifier, message in every.items():
            message["retrieved"] = retrieved.get(identifier, [])
        if user is None and not conversations and not messages_elsewhere:
            raise NotFoundError(f"Nothing is known about a user {user_id[:200]!r}.")
        return {
            "user": user,
            "conversations": sorted(conversations, key=lambda row: row["created_at"]),
            "messages": sorted(messages_elsewhere.values(), key=lambda row: row["timestamp"]),
            "viewed": await self._client.viewed_documents(external),
            "ratings": await self._client.ratings_of_user(external),
        }

    async def anonymize(
        self, *, user_id: str | None = None, conversation_id: str | None = None, region: str | None = None
    ) -> dict[str, Any]:
        """Consistently replace names, addresses and numbers in messages, and remove the link to their writer.

        Messages keep their order and references, but get new ids and vectors; so do messages that a summary replaced.
        Conversations get new ids. For a user, this also covers what they said in conversations of others; their names
        are replaced wherever others mention them (in messages, titles, and the questions of ratings), and their views
        and ratings move to a user without a name. What others said stays theirs, with all other names, also in
        conversations of the user. Documents are not changed.

        Args:
            user_id: Anonymize all conversations of this user.
            conversation_id: Anonymize this conversation.
            region: Country of phone numbers that have no country code, such as ``DE``.

        Returns:
            ``conversations`` (their new ids), ``elsewhere`` (how many messages in conversations of others were
            changed) and ``replaced`` (how many distinct values of each kind).

        Raises:
            InvalidInputError: unless exactly one of the two is given.
            NotFoundError: if the user or conversation does not exist.
        """
        from core.rag.memory.anonymizing import Anonymizer

        client = self._client
        whose = await self._whose(user_id, conversation_id)
        own_names = whose.names()
        anonymizer = Anonymizer(await client.known_names(), region, same=own_names)
        talks = [(row, await client.get_conversation_messages(row["id"])) for row in whose.conversations]
        elsewhere = await client.messages_by_id(whose.elsewhere)
        speaker = anonymizer.word_for(whose.id) if whose.id else ""
        ids = whose.ids()

        def learn(messages: Iterable[dict[str, Any]]) -> None:
            for message in messages:
                themselves = message["role"] == "user" and message["user_id"] in {"", *ids}
                anonymizer.learn(message["content"], speaker if themselves else "")

        # Long conversations take seconds, in which a server shall answer others; so does rewriting them below.
        await asyncio.to_thread(
            learn, [*(message for _, messages in talks for message in messages), *elsewhere.values()]
        )

        def naming(text: str) -> str:
            words = {anonymizer.word_for(name) for name in own_names} - {""}
            return anonymizer.only(text, words=words)

        async def rewritten_in(messages: Sequence[dict[str, Any]]) -> list[Rewritten]:
            own = [message for message in messages if not whose.is_of_another(message)]
            of_others = [message for message in messages if whose.is_of_another(message)]
            found = await self._rewritten(anonymizer.text, own)
            return found + await self._rewritten(naming, of_others, keep_user=True)

        new = []
        for row, messages in talks:
            rewritten = await rewritten_in(messages)
            title = anonymizer.text(row["title"] or "")
            talk = await client.rewrite_messages(row["id"], rewritten, title=title, unlink=True)
            # The new id is unknown to others, so nothing is added from now on; but messages may have been until now.
            known = {message.new_id for message in rewritten}
            late = [message for message in await client.get_conversation_messages(talk) if message["id"] not in known]
            if late:
                await asyncio.to_thread(learn, late)
                await client.rewrite_messages(talk, await rewritten_in(late))
            new.append(talk)
        changed = 0
        if user_id is not None:
            changed = await self._rewrite_elsewhere(anonymizer, naming, set(elsewhere))
        if whose.user is not None:
            await client.move_user(whose.user["id"], f"anonymous-{uuid.uuid4().hex}", anonymizer.text)
        return {"conversations": new, "elsewhere": changed, "replaced": anonymizer.replaced}

    async def _whose(self, user_id: str | None, conversation_id: str | None) -> _Whose:
        """Find what is to be anonymized.

        Raises:
            InvalidInputError: unless exactly one of the two is given.
            NotFoundError: if the user or conversation does not exist.
        """
        client = self._client
        if user_id is not None and conversation_id is None:
            user = await client.find_user(user_id)
            external = user["external_id"] if user else user_id
            rows, said = await client.conversations_of_person(external), await client.messages_of_person(external)
            if user is None and not rows and not said:
                raise NotFoundError(f"Nothing is known about a user {user_id[:200]!r}.")
            own = {row["id"] for row in rows}
            return _Whose(external, user, rows, [row["id"] for row in said if row["session_id"] not in own])
        if conversation_id is not None and user_id is None:
            row = await client.conversation_row(conversation_id)
            if row is None:
                raise NotFoundError(f"There is no conversation {conversation_id[:200]!r}.")
            return _Whose("", None, [row], [])
        raise InvalidInputError("Name what to anonymize: either user_id or conversation_id.")

    async def _rewrite_elsewhere(self, anonymizer: Anonymizer, naming: Callable[[str], str], said: set[str]) -> int:
        """Rewrite what a person said in conversations of others, and their names in what others wrote."""
        from core.rag.memory.anonymizing import in_texts

        client = self._client
        for conversation in await client.conversations_of(None):
            title = conversation["title"] or ""
            if (anonymous := naming(title)) != title:
                await client.rename_conversation(conversation["id"], anonymous)
        await client.rewrite_rated_questions(naming)

        def by_session(rows: Sequence[Row]) -> dict[str, list[str]]:
            found: dict[str, list[str]] = {}
            for row in rows:
                written = [row["content"], row["tags"], row["metadata"]]
                if row["id"] in said or in_texts(written, naming) != written:
                    found.setdefault(row["session_id"], []).append(row["id"])
            return found

        found = await asyncio.to_thread(by_session, await client.message_contents())
        for session, ids in found.items():
            messages = await client.messages_by_id(ids)
            parts = ([messages[i] for i in ids if i in said], [messages[i] for i in ids if i not in said])
            rewritten = await self._rewritten(anonymizer.text, parts[0])
            rewritten += await self._rewritten(naming, parts[1], keep_user=True)
            await client.rewrite_messages(session, rewritten)
        return sum(map(len, found.values()))

    async def _rewritten(
        self, rewrite: Callable[[str], str], messages: Sequence[dict[str, Any]], *, keep_user: bool = False
    ) -> list[Rewritten]:
        from core.rag.dbhandler.messages.rewriting import Rewritten
        from core.rag.dbhandler.messages.rows import message_properties
        from core.rag.memory.anonymizing import in_texts

        resources = await self._client.resources_of_messages([message["id"] for message in messages])

        def rewritten(message: dict[str, Any]) -> Rewritten:
            properties = message_properties(
                rewrite(message["content"]),
                message["role"],
                timestamp=message["timestamp"],
                tags=[rewrite(tag) for tag in message["tags"]],
                metadata=in_texts(message["metadata"], rewrite),
                user_id=(keep_user and message["user_id"]) or None,
            )
            kept = {key: message[key] for key in ("count", "summary", "last_said_at", "last_accessed_at")}
            kept["compacted_into"] = message["compacted_into"] or ""
            return Rewritten(
                message["id"],
                {**properties, **kept},
                searched=not message["compacted_into"],
                cut=[uri for uri in resources.get(message["id"], ()) if rewrite(uri) != uri],
            )

        return await asyncio.to_thread(lambda: [rewritten(message) for message in messages])
