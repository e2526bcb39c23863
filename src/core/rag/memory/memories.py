"""The part of a KnowledgeBase that remembers conversations."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from datetime import date, datetime
from typing import TYPE_CHECKING, Any

from core.rag.arguments import check_flags, check_limit, check_number, check_optional, check_text
from core.rag.errors import InvalidInputError, NotFoundError
from core.rag.memory.records import Forgotten, Memory

if TYPE_CHECKING:
    from core.rag.dbhandler import MemGraphClient
    from core.rag.dbhandler.store import Row
    from core.rag.embedder import EmbeddingService
    from core.rag.llm import LanguageModel
    from core.rag.memory.compaction import Summarizer
    from core.rag.memory.ranking import Meaning


class Memories:
    """The part of :class:`core.rag.KnowledgeBase` for agent memory.

    A session is a conversation and its memories are the messages in it; messages added with ``add_message`` are
    recalled, too.
    """

    _client: MemGraphClient
    _embedder: EmbeddingService | None

    if TYPE_CHECKING:

        @property
        def language_model(self) -> LanguageModel | None: ...

    async def remember(
        self,
        session_id: str,
        role: str,
        content: str,
        tags: Iterable[str] | None = (),
        metadata: Mapping[str, Any] | None = None,
        *,
        user_id: str | None = None,
        timestamp: datetime | date | str | None = None,
    ) -> str:
        """Store a memory: something that was said.

        Args:
            session_id: The session, or the id of a conversation; created if missing.
            role: ``user``, ``assistant`` …
            content: The text.
            tags: Words that also find it; ``None``: none.
            metadata: JSON-serialisable; dates and times in it become ISO 8601 text.
            user_id: Who said it; ``None``: the owner of the session, who is the user that started it.
            timestamp: When it was said, with its time zone: a question that names a day finds it by its day there.
                ``None``: now.

        Returns:
            The id of the memory. Storing the same role and content of the same user again in the session increases
            the count of the existing memory and, if it was said later than before, makes it the last one.

        Raises:
            InvalidInputError: if the content is blank or over 1,000,000 characters, or another argument is invalid.
        """
        from core.rag.memory.remembering import memory_properties

        # The analysis of a long text takes seconds, in which a server shall answer others.
        properties = await asyncio.to_thread(memory_properties, role, content, tags, metadata, user_id, timestamp)
        return (await self._client.remember_messages(session_id, [properties]))[0]

    async def remember_all(
        self, session_id: str, messages: Iterable[Mapping[str, Any]], *, user_id: str | None = None
    ) -> list[str]:
        """Store several memories of a session at once: the same as :meth:`remember` one by one, but all or none.

        Args:
            session_id: The session, or the id of a conversation; created if missing.
            messages: What was said, in order: dicts with ``role`` and ``content``, and optionally ``tags``,
                ``metadata``, ``user_id`` and ``timestamp``.
            user_id: Who said those that name nobody; ``None``: the owner of the session.

        Returns:
            The id of each memory, in the order of the messages; that of an exact repeat comes again.

        Raises:
            InvalidInputError: if a message is invalid, which the error names by its number; nothing is stored then.
        """
        from core.rag.memory.remembering import properties_of_all

        properties = await asyncio.to_thread(properties_of_all, messages, user_id)
        return await self._client.remember_messages(session_id, properties)

    async def memory(self, memory_id: str) -> Memory:
        """Return a memory, or any message of a conversation, by its id.

        Raises:
            NotFoundError: if there is none.
        """
        message = (await self._client.messages_by_id([check_text("The id of a memory", memory_id)])).get(memory_id)
        if message is None:
            raise NotFoundError(
                f"There is no memory {memory_id[:200]!r} in namespace {self._client.namespace!r}: recall gives the ids"
                " of those that there are."
            )
        session = await self._client.conversation_row(message["session_id"])
        return Memory.of(message, session["user_id"] if session else None)

    async def memories(
        self, session_id: str, *, limit: int | None = None, before: int | str | None = None, compacted: bool = False
    ) -> list[Memory]:
        """List the memories of a session, in order.

        Args:
            session_id: The session.
            limit: Maximum number to return, the last ones; ``None``: all.
            before: Only memories before this one (its ``sequence`` or id).
            compacted: Include memories that a summary replaced.

        Returns:
            The memories; empty if there is no such session.

        Raises:
            InvalidInputError: if the limit is not a whole number of at least 1.
            NotFoundError: if ``before`` is an id that the session does not have.
        """
        check_flags(compacted=compacted)
        if limit is not None:
            limit = check_limit(limit, 1)
        session = await self._client.find_conversation(session_id)
        if session is None:
            return []
        owner = session["user_id"]
        wanted = limit
        while True:
            messages = await self._client.get_conversation_messages(session_id, wanted, before=before)
            found = [Memory.of(message, owner) for message in messages if compacted or not message["compacted_into"]]
            if wanted is None or limit is None or len(found) >= limit or len(messages) < wanted:
                return found if limit is None else found[-limit:]
            wanted *= 4  # some of these may be replaced by a summary

    async def recall(
        self,
        session_id: str | None = None,
        query: str = "",
        limit: int = 5,
        *,
        user_id: str | None = None,
        tags: Iterable[str] | None = (),
        since: datetime | date | str | None = None,
        before: datetime | date | str | None = None,
        filters: str | Mapping[str, Any] | None = None,
        touch: bool = True,
    ) -> list[Memory]:
        """Recall the memories that fit a question best, or those of a user, with tags or of a time, the latest first.

        Args:
            session_id: Only memories of this session.
            query: The question, of which the first 20,000 characters count. Without one, what the other arguments
                name is listed.
            limit: Maximum number to return, 1 to 1,000.
            user_id: Only what this user said, including messages without a speaker in this user's sessions. Without a
                session and a user, the whole namespace is searched.
            tags: Only memories that have all of these tags, in upper or lower case; ``"a, b"`` is the same as both.
            since: Only what was said at this time or later; a time without a time zone is local time, a date its
                midnight, a year or month its first day. Of a memory that was said several times, the first and the last
                time count.
            before: Only what was said before this time.
            filters: Only memories whose metadata pass, such as ``metadata.project=mill metadata.priority>=2``; see
                :func:`core.rag.retrieval.filters.parse_filter`.
            touch: Whether to record the time of the recall (``last_accessed_at``).

        Returns:
            Memories with their ``relevance`` (0 to 1) and why they were recalled (``because``), best first; of those
            that have the same words of the question and are about as good, the latest first. What somebody said in
            several sessions is returned once, as it was said last. Memories that are only vaguely similar have a low
            relevance; those that share neither words nor meaning are left out. Without a question they have neither
            relevance nor reason, and none is left out.

        Raises:
            InvalidInputError: if nothing says what is wanted, or the limit, a tag or a time is invalid.
            FilterError: if the filter is invalid, or tests anything but metadata.
        """
        from core.rag.dbhandler.messages.rows import checked_tags
        from core.rag.memory.filtering import memory_filter
        from core.rag.memory.period import within
        from core.rag.memory.ranking import Ranked
        from core.rag.memory.recall import latest, recaller_of, said_once
        from core.rag.retrieval.as_read import as_read
        from core.rag.times import utc_now

        query = as_read(check_text("A query", query))
        check_flags(touch=touch)
        tags, asked = checked_tags(tags), bool(query.strip())
        wanted_metadata = memory_filter(filters)
        narrowed = bool(tags or wanted_metadata) or not (user_id is None and since is None and before is None)
        limit = check_number("limit", limit, 1, 1000)
        period = within(since, before)
        scope = await self._scope(session_id, user_id) if asked or narrowed or session_id is not None else []
        if scope is not None and not scope:
            if asked or (narrowed and session_id is None):
                return []
            if session_id is not None:
                raise InvalidInputError(
                    f"Session {session_id!r} has no memories, and the query is empty."
                    " The first argument is the session: recall(query=…)."
                )
            raise InvalidInputError(
                "The query is empty: give one, or say whose memories, with which tags or metadata, or of which time."
            )
        person = None if user_id is None else await self._person(user_id)
        searched, among = scope, None
        if asked and (tags or wanted_metadata):
            said = await latest(self._client, scope, tags, period, person, wanted_metadata)
            searched, among = list({row["node_id"]: row for row in said}.values()), frozenset(row["id"] for row in said)
        meaning = await self._meaning(query) if asked else None
        recaller = await recaller_of(self._client)

        async def ranked(wanted: int) -> list[Ranked]:
            if not asked:
                said = await latest(self._client, scope, tags, period, person, wanted_metadata, wanted)
                return [Ranked(row["id"], None) for row in said[:wanted]]
            return await recaller.recall(self._client, query, meaning, wanted, searched, period, among)

        now = utc_now() if touch else ""
        found = await said_once(self._client, ranked, limit, scope, period, person, now)
        if touch:
            await self._client.touch_messages([memory.id for memory in found], now)
        return found

    async def revise(
        self,
        memory_id: str,
        content: str | None = None,
        *,
        tags: Iterable[str] | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> Memory:
        """Correct a memory in place: it keeps its id, who said it and when, and its place in the session.

        What it said before is gone. A summary that stands for it stays as it is: revise that as well.

        Args:
            memory_id: The memory, or any message of a conversation.
            content: What it says from now on; ``None``: what it says now.
            tags: Instead of those that it has; ``None``: these stay.
            metadata: Instead of those that it has; ``None``: these stay.

        Returns:
            The memory as it is now; ``revised_at`` says when that was.

        Raises:
            NotFoundError: if there is no such memory.
            InvalidInputError: if there is nothing to change, or an argument is invalid as for :meth:`remember`.
        """
        from core.rag.memory.remembering import changes_of

        check_text("The id of a memory", memory_id)
        await self._client.revise_message(memory_id, changes_of(content, tags, metadata))
        return await self.memory(memory_id)

    async def forget(
        self,
        *,
        session_id: str | None = None,
        memory_id: str | None = None,
        user_id: str | None = None,
        before: datetime | date | str | None = None,
    ) -> Forgotten:
        """Delete memories with their vectors, keywords and edges. Nodes that are shared with other memories stay.

        Args:
            session_id: Delete everything in this session.
            memory_id: Delete this memory. Deleting a summary restores the memories that it replaced.
            user_id: Delete everything of this user: what they said, sessions in which nobody else spoke, views,
                ratings, and the user node. What others said in this user's sessions stays; these sessions then have
                no owner, and go with the last who spoke there.
            before: Delete only what was last said before this time, in the session or by the user, else in all
                sessions. What was said before and again after it stays.

        Returns:
            How much was removed; all zero if nothing matched.

        Raises:
            InvalidInputError: if nothing to forget is named, or an argument is not text.
        """
        from core.rag.memory import forgetting

        check_optional(memory_id=memory_id)
        if memory_id is not None:
            if session_id is not None or user_id is not None or before is not None:
                raise InvalidInputError("The id of a memory is enough: name nothing else to forget.")
            return await forgetting.forget_memory(self._client, memory_id)
        if before is not None:
            scope = await self._scope(session_id, user_id)
            if scope is None:
                scope = await self._client.conversations_of(None)
            person = None if user_id is None else await self._person(user_id)
            return await forgetting.forget_before(self._client, scope, before, person)
        if user_id is not None:
            if session_id is not None:
                raise InvalidInputError("forget either a session or a user.")
            return await forgetting.forget_user(self._client, user_id)
        if session_id is None:
            raise InvalidInputError("Name what to forget: session_id, memory_id, user_id or before.")
        return await forgetting.forget_session(self._client, session_id)

    async def compact(
        self, session_id: str, keep: int = 20, *, sentences: int | None = None, summarizer: Summarizer | None = None
    ) -> str | None:
        """Replace the older memories of a session with a summary. They are kept and linked, but no longer searched.

        The summary takes their place before the remaining memories, whose ``sequence`` increases by one. The next
        compaction summarises this summary together with the memories that are old by then. If several people spoke,
        there is a summary for each who said more than one thing, which is theirs as the memories were.

        Args:
            session_id: The session.
            keep: How many of the last memories stay as they are; summaries are not counted.
            sentences: Number of sentences in a summary; ``None``: one for every four memories, at least three.
            summarizer: Writes the summary; ``None``: the language model of the knowledge base, or, without one, a
                selection of the most central sentences.

        Returns:
            The id of the summary, of the last one if there are several; ``None`` if there was nothing to summarise.

        Raises:
            NotFoundError: if there is no such session.
            InvalidInputError: unless ``keep`` is a whole number of at least 0, and ``sentences`` of at least 1;
                or on what is no summarizer.
            LanguageModelError: if the model fails; nothing is replaced then.
            StoreConflictError: if other clients keep changing the same memories; nothing more is replaced then.
        """
        from core.rag.memory.compaction import compact_session

        keep = check_number("keep", keep, 0)
        if summarizer is not None and not callable(getattr(summarizer, "summarize", None)):
            raise InvalidInputError(
                f"A {type(summarizer).__name__} is no summarizer: it needs an asynchronous method summarize(texts)."
            )
        if sentences is not None:
            sentences = check_number("sentences", sentences, 1)
        return await compact_session(self._client, session_id, keep, sentences, summarizer, self.language_model)

    async def _scope(self, session_id: str | None, user_id: str | None) -> list[Row] | None:
        if session_id is not None:
            row = await self._client.conversation_row(session_id)
            return [] if row is None else [row]
        return None if user_id is None else await self._client.conversations_with(user_id)

    async def _person(self, user_id: str) -> str:
        """Return the user's id as messages store it."""
        user = await self._client.find_user(user_id)
        return user["external_id"] if user else user_id

    async def _meaning(self, query: str) -> Meaning | None:
        from core.rag.embedder import embed_queries, is_blank
        from core.rag.embedder.likeness import usual_cosine
        from core.rag.memory.ranking import Meaning

        if self._embedder is None or is_blank(query):
            return None
        store = await self._client.vector_store_for(self._embedder)
        if store is None:
            return None
        (vector,) = (await embed_queries(self._embedder, [query], ["the query"])).tolist()
        return Meaning(store, vector, await usual_cosine(self._embedder))
