"""Stores messages as memories: each once, however often it is repeated."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from core.rag.dbhandler.batches import run_for_ids
from core.rag.dbhandler.json_texts import from_json, to_json
from core.rag.dbhandler.messages.conversations import ConversationOperations
from core.rag.dbhandler.messages.interactions import (
    Indexes,
    InteractionRow,
    append_messages,
    attach_message_vectors,
    lock_conversation,
    move_to_end,
)
from core.rag.dbhandler.messages.rows import MAX_TAGS, checked_tags, last_said, message_terms, speaker_of
from core.rag.dbhandler.store import Row, Transaction
from core.rag.errors import NotFoundError
from core.rag.identity import stable_id, vector_id
from core.rag.schema import Label
from core.rag.times import utc_now

_TRIES = 5

#: What is read of a memory before it is said again; ``m`` is the message.
_KNOWN = (
    "m.id AS id, m.content AS content, m.count AS count, m.tags AS tags, m.metadata AS metadata, m.token AS token, "
    "m.compacted_into AS compacted_into, m.user_id AS user_id, m.last_accessed_at AS last_accessed_at, "
    "m.timestamp AS timestamp, m.last_said_at AS last_said_at"
)


@dataclass(frozen=True, slots=True)
class _Said:
    """Something to remember.

    Attributes:
        message: The message, with the first of the ids.
        ids: The ids that it may have: the first speaker of these words gets the plain one, another speaker's are
            another memory.
        speaker: Whose it is.
    """

    message: InteractionRow
    ids: tuple[str, str]
    speaker: str

    def another_id(self, number: int) -> str:
        """Return one more id that it may have: those before may be of memories that were revised to other words."""
        return stable_id(self.ids[1], str(number))


class RememberingOperations(ConversationOperations):
    """Writing memories."""

    async def remember_messages(self, session_id: str, messages: Sequence[Mapping[str, Any]]) -> list[str]:
        """Store memories in a session, which is created if missing: all of them or none. Exact repeats are counted.

        What is said again later than before becomes the last memory: "I live in Ulm", "I live in Jena", "I live in Ulm"
        ends in Ulm.

        Args:
            session_id: The session.
            messages: What was said, in order: each as from
                :func:`core.rag.dbhandler.messages.rows.message_properties`. The ``user_id`` of the first is also the
                owner of the session if this creates it.

        Returns:
            The id of each memory: the same for the same role, content and speaker in the same session.
        """
        if not messages:
            return []
        tries = 0
        while True:
            tries += 1
            try:
                session = await self.conversation_row(session_id)
                if session is None:
                    session = await self._open_conversation(None, messages[0]["user_id"] or None, session_id)
                return await self._remember_in(session, messages)
            except NotFoundError:  # somebody has forgotten the session since: it begins anew
                if tries == _TRIES:
                    raise

    async def _remember_in(self, session: Row, messages: Sequence[Mapping[str, Any]]) -> list[str]:
        """Store memories in a session.

        Raises:
            NotFoundError: if that is removed meanwhile.
        """
        node, owner = session["node_id"], session["user_id"]
        users = dict.fromkeys(properties["user_id"] for properties in messages)
        names = {user: await self._note_speaker(session, user) for user in users}
        token = uuid.uuid4().hex  # a repeated unit of work must not count twice
        said = []
        for properties in messages:
            given = {**properties, "user_id": names[properties["user_id"]], "token": token}
            speaker = speaker_of(given, owner)
            plain = id_of_words(self._namespace, node, given["role"], given["content"])
            ids = (plain, id_of_words(self._namespace, node, given["role"], given["content"], "said by", speaker))
            said.append(_Said(InteractionRow(ids[0], given), ids, speaker))
        indexes = await self.message_indexes([one.message for one in said])
        possible = list(dict.fromkeys(identifier for one in said for identifier in one.ids))

        async def work(tx: Transaction) -> list[str]:
            now = utc_now()
            await lock_conversation(tx, node, self._namespace, now)
            elsewhere = await _of_words(tx, [one.ids[0] for one in said])
            known = {row["id"]: row for row in elsewhere} | await _known(tx, possible)
            others: dict[str, list[str]] = {}
            for row in elsewhere:
                others.setdefault(row["words_id"], []).append(row["id"])
            stored = False  # whether an earlier attempt has stored all of it
            written: set[str] = set()
            places: list[str] = []
            new: list[InteractionRow] = []

            async def append() -> None:
                if new:
                    await append_messages(tx, node, new, namespace=self._namespace, indexes=indexes, now=now)
                    new.clear()

            for one in said:
                place = await _place(tx, one, known, owner, others.get(one.ids[0], ()))
                own = place in known
                places.append(place)
                stored = stored or (own and place not in written and known[place]["token"] == token)
                if stored:
                    continue
                written.add(place)
                message = _at(one, place, indexes)
                if own:
                    await append()  # it may be among them, and is to come after them
                    known[place] = await self._say_again(tx, node, message, known[place], indexes, now)
                else:
                    new.append(message)
                    known[place] = {**message.properties, "compacted_into": "", "last_said_at": None}
            await append()
            return places

        return await self._write(work)

    async def _say_again(
        self, tx: Transaction, node: str, message: InteractionRow, there: Row, indexes: Indexes, now: str
    ) -> Row:
        """Count the repeat of a memory, and return what is known of it then."""
        tags = checked_tags([*(there["tags"] or []), *message.properties["tags"]][:MAX_TAGS])
        metadata = {**from_json(there["metadata"]), **from_json(message.properties["metadata"])}
        said = message.properties["timestamp"]
        known = {
            "count": (there["count"] or 1) + 1,
            "tags": tags,
            "metadata": to_json(metadata, "The metadata of a memory"),
            "token": message.properties["token"],
            "last_said_at": max(last_said(there), said),
            "last_accessed_at": max(there["last_accessed_at"] or "", said),
            "compacted_into": "",
        }
        await tx.run(
            "MATCH (m:Interaction {id: $id}) SET m += $known, m.terms = $terms, m.updated_at = $now",
            {
                "id": message.id,
                "known": known,
                "terms": message_terms(message.properties["content"], tags),
                "now": now,
            },
        )
        if said > last_said(there):
            await move_to_end(tx, node, message.id, self._namespace, now)
        if there["compacted_into"]:  # said again: it counts as a memory itself again
            await attach_message_vectors(tx, [message], namespace=self._namespace, indexes=indexes, now=now)
        return {**there, **known}


def id_of_words(namespace: str, conversation: str, role: str, content: str, *speaker: str) -> str:
    """Return the id of the memory of what was said in a conversation; one with another id has this as ``words_id``."""
    return stable_id(Label.INTERACTION, namespace, conversation, role, content, *speaker)


async def _known(tx: Transaction, ids: Sequence[str]) -> dict[str, Row]:
    rows = await run_for_ids(tx, f"UNWIND $ids AS i MATCH (m:Interaction {{id: i}}) RETURN {_KNOWN}", ids)
    return {row["id"]: row for row in rows}


async def _of_words(tx: Transaction, words: Sequence[str]) -> list[Row]:
    """Return the memories of these words that have other ids, for they got them by a revision or their own was taken.

    Args:
        tx: The transaction.
        words: The ids of the words, which the rows have as ``words_id``.
    """
    return await run_for_ids(
        tx,
        "UNWIND $ids AS i MATCH (m:Interaction {words_id: i}) WHERE m.token IS NOT NULL "
        f"RETURN m.words_id AS words_id, {_KNOWN}",
        list(dict.fromkeys(words)),
    )


async def _place(tx: Transaction, one: _Said, known: dict[str, Row], owner: str | None, others: Sequence[str]) -> str:
    """Return the id of the memory that has said the same, else one that no memory has.

    Args:
        tx: The transaction.
        one: What is said.
        known: The memories that are there by their ids; others that are looked up are added.
        owner: The user of the conversation.
        others: Ids of memories of these words that have other ids.
    """
    ids = list(one.ids)
    said = one.message.properties["content"]
    while True:
        for place in (*ids, *others):
            if place in known and known[place]["content"] == said and speaker_of(known[place], owner) == one.speaker:
                return place
        if free := next((place for place in ids if place not in known), ""):
            return free
        ids.append(one.another_id(len(ids)))
        known |= await _known(tx, ids[-1:])


def _at(one: _Said, place: str, indexes: Indexes) -> InteractionRow:
    """Return what is said as a message with this id."""
    message = one.message
    if place == message.id:
        return message
    vector = message.vector_id and vector_id(indexes.vector_store, f"{Label.INTERACTION}:{place}")
    words = {} if place in one.ids else {"words_id": one.ids[0]}
    return replace(message, id=place, vector_id=vector, properties={**message.properties, **words})
