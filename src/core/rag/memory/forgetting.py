"""Removes every trace of what people said, and verifies that none is left."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Sequence
from datetime import date, datetime
from typing import TYPE_CHECKING

from core.rag.dbhandler.messages.rows import last_said, speaker_of
from core.rag.errors import NotFoundError
from core.rag.memory.records import Forgotten
from core.rag.times import first_day, moment

if TYPE_CHECKING:
    from core.rag.dbhandler import MemGraphClient
    from core.rag.dbhandler.store import Row

#: How often a session is looked at again because somebody has spoken in it meanwhile.
_TRIES = 10


async def forget_messages(client: MemGraphClient, session_id: str, ids: Sequence[str]) -> Forgotten:
    """Remove messages of a session and all summaries of them; other messages that these replaced are restored."""
    before = await _summaries(client, session_id)
    try:
        gone = Forgotten(memories=await client.remove_with_summaries(session_id, ids))
    except NotFoundError:  # the whole session has been forgotten since
        return Forgotten()
    # A summary that another client was just writing may contain what was forgotten; later ones cannot.
    if meanwhile := await _summaries(client, session_id) - before:
        gone += await forget_messages(client, session_id, sorted(meanwhile))
    return gone


async def _summaries(client: MemGraphClient, session_id: str) -> set[str]:
    row = await client.conversation_row(session_id)
    return (
        set() if row is None else {said["id"] for said in await client.messages_said(row["node_id"]) if said["summary"]}
    )


async def forget_session(client: MemGraphClient, session_id: str) -> Forgotten:
    """Remove a session."""
    row = await client.conversation_row(session_id)
    return Forgotten() if row is None else await _forget_whole(client, row) or Forgotten()


async def _forget_whole(client: MemGraphClient, session: Row, only: Iterable[Row] | None = None) -> Forgotten | None:
    """Remove a session; ``None`` if it stays, because it has messages that are not among these."""
    try:
        number = await client.remove_session(session["node_id"], None if only is None else {one["id"] for one in only})
    except NotFoundError:  # another client was faster
        return Forgotten()
    return None if number is None else Forgotten(memories=number, sessions=1)


async def forget_memory(client: MemGraphClient, memory_id: str) -> Forgotten:
    """Remove one memory."""
    found = (await client.messages_by_id([memory_id])).get(memory_id)
    if found is None:
        return Forgotten()
    return await forget_messages(client, found["session_id"], [memory_id])


async def forget_before(
    client: MemGraphClient, scope: Sequence[Row], before: datetime | date | str, user: str | None = None
) -> Forgotten:
    """Remove what was said before a time in these sessions, and sessions that are empty then.

    Args:
        client: The graph.
        scope: The sessions.
        before: The time.
        user: Only what this user said; ``None``: everything.
    """
    limit = moment(first_day(before))
    gone = Forgotten()
    for row in scope:
        said = await client.messages_said(row["node_id"])
        old = [
            message["id"]
            for message in said
            if last_said(message) < limit and user in (None, speaker_of(message, row["user_id"]))
        ]
        whole = await _forget_whole(client, row, said) if old and len(old) == len(said) else None
        if whole is not None:
            gone += whole
        elif old:
            gone += await forget_messages(client, row["id"], old)
    return gone


async def forget_user(client: MemGraphClient, user_id: str) -> Forgotten:
    """Remove a user, all data about them, and what they said in sessions of others; what others said stays.

    Sessions that are empty then, and have no owner, are removed, too.
    """
    user = await client.find_user(user_id)
    external = user["external_id"] if user else user_id
    gone = Forgotten()
    for row in await client.conversations_of_person(external):
        gone += await _forget_own(client, row, external)
    elsewhere: dict[str, list[str]] = {}
    for message in await client.messages_of_person(external):
        elsewhere.setdefault(message["session_id"], []).append(message["id"])
    for session, ids in elsewhere.items():
        gone += await forget_messages(client, session, ids)
        left = await client.conversation_row(session)
        if left is not None and not left["user_id"]:
            gone += await _forget_whole(client, left, ()) or Forgotten()
    if user is not None and await client.delete_user(user["id"]):
        gone += Forgotten(users=1)
    return gone


async def _forget_own(client: MemGraphClient, session: Row, user: str) -> Forgotten:
    """Remove a session of a user; if others spoke in it, only the user's messages, and the session loses its owner."""
    gone = Forgotten()
    for _ in range(_TRIES):
        every = await client.messages_said(session["node_id"])
        said = [message for message in every if not message["summary"]]
        own = [message["id"] for message in said if speaker_of(message, user) == user]
        if len(own) < len(said) and not own:
            break
        if len(own) < len(said):
            gone += await forget_messages(client, session["id"], own)
        elif (whole := await _forget_whole(client, session, every)) is not None:
            return gone + whole
        # Somebody may have spoken since: also whoever names nobody, and so speaks for the owner.
    with contextlib.suppress(NotFoundError):
        await client.disown_conversation(session["node_id"])
    return gone


async def traces(client: MemGraphClient, texts: Sequence[str]) -> list[str]:
    """Find where any of these texts (ids, names, messages) still occurs in the nodes and edges of the graph.

    Returns:
        One line per place; empty if nothing is left.
    """
    wanted = [text for text in texts if text]
    found: list[str] = []
    if wanted:
        async for place, properties in client.everything():
            for key, value in properties.items():
                if key != "embedding" and any(text in str(value) for text in wanted):
                    found.append(f"{place} {key}")
    return found
