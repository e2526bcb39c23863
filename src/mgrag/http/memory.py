"""Routes for conversations, memories, feedback and the people behind them."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from operator import itemgetter
from typing import Annotated, Any, cast

from fastapi import APIRouter, Query, Request
from pydantic import AliasChoices, BeforeValidator, Discriminator, Field, Tag

from core.rag.dbhandler.messages.rows import mark_of
from core.rag.errors import NotFoundError
from core.rag.knowledge_base import KnowledgeBase
from core.rag.memory.records import Forgotten
from core.rag.memory.records import Memory as Recalled
from core.rag.times import moment
from mgrag.http.bases import After, Body, Filters, Moment, Reading, Short, User, Words, Writing, caller_of
from mgrag.http.details import ListedConversation, ListedUser, PersonalData, View, WholeConversation
from mgrag.http.results import (
    Anonymized,
    Compacted,
    Conversations,
    Deleted,
    Memories,
    Memory,
    NewConversationId,
    NewMessageId,
    Rated,
    Remembered,
    RememberedAll,
    Users,
    Views,
)
from mgrag.messages import nothing_to_forget
from mgrag.pages import page

router = APIRouter(tags=["memory"])

_AT_ONCE = 1000
_DIGITS = 18  # what 64 bits hold
_Limit = Annotated[int | None, Query(ge=1, le=10_000)]
_Before = Annotated[str | None, Query(description="Id of a memory: only those before it.")]
_Compacted = Annotated[bool, Query(description="Also those that a summary has replaced.")]


def _as_stored(value: object) -> object:
    """A text as the library reads it: to pydantic, "2024" and "20240131" are seconds of the year 1970."""
    return moment(value) if isinstance(value, str) else value


_Time = Annotated[datetime, BeforeValidator(_as_stored)]
_ROLE = "Who said it: user, assistant or another."
_WHEN = "When it was said (ISO 8601); now by default."
_Session = AliasChoices("sessionId", "session_id", "agentId", "agent_id")


class NewMemory(Body):
    """What to remember in the session of the path."""

    role: Short = Field(default="user", description=_ROLE)
    content: Words = Field(description="What was said.")
    tags: list[Short] = Field(default_factory=list, description="Words by which to find it.")
    metadata: dict[str, Any] | None = Field(default=None, description="Values for the filters of recall.")
    user_id: User | None = Field(default=None, description="To recall it in other sessions.")
    timestamp: _Time | None = Field(default=None, description=_WHEN)


def _number(body: object) -> str:
    return "memories" if isinstance(body, list) else "memory"


#: One, or several; which one is meant is told first, so that an error is about that one only.
_NewMemories = Annotated[
    Annotated[NewMemory, Tag("memory")]
    | Annotated[list[NewMemory], Field(min_length=1, max_length=_AT_ONCE), Tag("memories")],
    Discriminator(_number),
]


class SessionMemory(NewMemory):
    """What to remember, and where."""

    session_id: Short = Field(validation_alias=_Session, description="Begins with its first memory.")


class Recall(Body):
    """What to recall."""

    query: str = Field(default="", description="Without one: what the rest says, the latest first.")
    limit: int = Field(default=5, ge=1, le=1000, description="Maximum number of memories.")
    user_id: User | None = Field(default=None, description="Only of this user.")
    tags: list[Short] = Field(default_factory=list, description="Only what has all of these tags.")
    since: Moment | None = Field(
        default=None, description="Only what was said then or later (ISO 8601); a year or month: from its first day on."
    )
    before: Moment | None = Field(default=None, description="Only what was said before (ISO 8601).")
    filters: Filters | None = Field(default=None, description="Only what has such metadata: metadata.project=mill.")


class SessionRecall(Recall):
    """What to recall, and from where; without a session: of the user, or everything."""

    session_id: Short | None = Field(default=None, validation_alias=_Session, description="Only of this session.")


class Revision(Body):
    """What a memory says from now on; what is left out stays as it is."""

    memory_id: Words = Field(description="Its memoryId.")
    content: Words | None = Field(default=None, description="Instead of its text.")
    tags: list[Short] | None = Field(default=None, description="Instead of those that it has.")
    metadata: dict[str, Any] | None = Field(default=None, description="Instead of those that it has.")


class Compaction(Body):
    """The session whose older memories a summary replaces."""

    session_id: Short = Field(validation_alias=_Session, description="A session, or the id of a conversation.")
    keep: int = Field(default=20, ge=0, description="How many of the last memories stay as they are.")


class Anonymizing(Body):
    """How to find what identifies somebody."""

    region: str | None = Field(default=None, description="Country of phone numbers without a country code: DE.")


class NewTitle(Body):
    """How a conversation is called from now on."""

    title: Short = Field(description="Its title.")


class Feedback(Body):
    """How helpful something was."""

    target: Words = Field(description="Id of a chunk, or path of a document.")
    value: float = Field(ge=-1, le=1, description="From -1 (wrong) to 1 (exactly right); 0 withdraws a rating.")
    query: str | None = Field(default=None, description="The question that it was found for.")
    user_id: User | None = Field(default=None, description="Who says so: for them, it counts more.")


class Viewed(Body):
    """What somebody viewed."""

    document: Words = Field(description="Path, URL or id.")


class NewConversation(Body):
    """A conversation to begin."""

    title: Short | None = Field(default=None, description="Without one, its first message stands for it in lists.")
    user_id: User | None = Field(default=None, description="Whose it is.")
    conversation_id: Short | None = Field(default=None, description="Its id; without one, it gets a new one.")


class NewMessage(Body):
    """A message of a conversation."""

    content: str = Field(description="What was said.")
    role: Short = Field(default="user", description=_ROLE)
    user_id: User | None = Field(default=None, description="Who said it, in a conversation of several people.")
    timestamp: _Time | None = Field(default=None, description=_WHEN)
    references: list[Words] = Field(default_factory=list, description="Documents or resources that it refers to.")


#: Bodies that may be missing, but are not null: generators of clients get that wrong.
_ANY_REGION = Anonymizing()
_UNTITLED = NewConversation()


@router.post("/memory/remember")
async def remember(kb: Writing, body: SessionMemory) -> Remembered:
    """Remember something; exact repeats are counted, not stored again."""
    return {"memoryId": await kb.remember(**body.model_dump())}


@router.post("/memory/recall")
async def recall(kb: Reading, body: SessionRecall, request: Request) -> Memories:
    """Search memories: of a session, of a user, or all."""
    # That something was recalled is noted, which a caller who only reads may not do.
    found = await kb.recall(**body.model_dump(), touch=caller_of(request).writes)
    return _told(found)


@router.post("/memory/revise")
async def revise(kb: Writing, body: Revision) -> Memory:
    """Correct a memory in place: it keeps its id, its time and its place; what it said before is gone."""
    return cast("Memory", (await kb.revise(**body.model_dump())).to_dict())


@router.post("/memory/compact")
async def compact(kb: Writing, body: Compaction) -> Compacted:
    """Replace the older memories of a session by a summary; they are kept, but no longer searched."""
    return {"memoryId": await kb.compact(body.session_id, body.keep)}


@router.delete("/memory/forget")
async def forget(
    kb: Writing,
    session_id: Annotated[Short | None, Query(validation_alias=_Session)] = None,
    memory_id: Annotated[Short | None, Query(validation_alias=AliasChoices("memoryId", "memory_id"))] = None,
    user_id: Annotated[User | None, Query(validation_alias=AliasChoices("userId", "user_id"))] = None,
    before: Annotated[Moment | None, Query(description="ISO 8601.")] = None,
) -> Forgotten:
    """Forget a memory, a session, a user, or what is older than a time; that nothing is so old is no error."""
    if before is None:
        return await _forget(kb, session_id=session_id, memory_id=memory_id, user_id=user_id)
    return await kb.forget(session_id=session_id, memory_id=memory_id, user_id=user_id, before=before)


@router.get("/memory/list")
async def list_memories(
    kb: Reading,
    session_id: Annotated[Short, Query(validation_alias=_Session)],
    limit: _Limit = None,
    before: _Before = None,
    compacted: _Compacted = False,
) -> Memories:
    """List the memories of a session in order; with a limit, the latest."""
    return _told(await kb.memories(session_id, limit=limit, before=before, compacted=compacted))


# Sessions, conversations and users may have any name, such as that of another system, with slashes in it.
@router.post("/memory/{session:name}/recall")
async def recall_in(kb: Reading, session: str, body: Recall, request: Request) -> Memories:
    """Search the memories of a session."""
    found = await kb.recall(session, **body.model_dump(), touch=caller_of(request).writes)
    return _told(found)


@router.post("/memory/{session:session}")
async def remember_in(kb: Writing, session: str, body: _NewMemories) -> Remembered | RememberedAll:
    """Remember something in a session; or an array of up to 1,000 in their order, all of them or none."""
    if isinstance(body, list):
        return {"memoryIds": await kb.remember_all(session, [memory.model_dump() for memory in body])}
    return {"memoryId": await kb.remember(session, **body.model_dump())}


@router.get("/memory/{session:session}")
async def memories_of(
    kb: Reading, session: str, limit: _Limit = None, before: _Before = None, compacted: _Compacted = False
) -> Memories:
    """List the memories of a session in order; with a limit, the latest."""
    return _told(await kb.memories(session, limit=limit, before=before, compacted=compacted))


@router.delete("/memory/{session:session}")
async def forget_session(kb: Writing, session: str) -> Forgotten:
    """Forget a session."""
    return await _forget(kb, session_id=session)


@router.post("/feedback")
async def feedback(kb: Writing, body: Feedback) -> Rated:
    """Rate how helpful a passage or document was; later searches take it into account."""
    return {"rated": await kb.feedback(**body.model_dump())}


@router.get("/users")
async def list_users(
    kb: Reading,
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
    after: After = "",
) -> Users:
    """List the users of whom anything is stored, by id."""
    shown, more = page(await kb.users(limit + 1, after=after), limit, itemgetter("id"))
    return {"users": cast("list[ListedUser]", shown), "next": more}


@router.get("/users/{user:name}/export")
async def export_user(kb: Reading, user: str) -> PersonalData:
    """Everything that is stored about a user."""
    return cast("PersonalData", await kb.export_user(user))


@router.get("/users/{user:name}/history")
async def history(kb: Reading, user: str) -> Views:
    """List the documents that a user viewed, the latest first."""
    return {"viewed": cast("list[View]", await kb.history(user))}


@router.post("/users/{user:name}/history")
async def view(kb: Writing, user: str, body: Viewed) -> Views:
    """Record that a user viewed a document, and return the history."""
    await kb.client.track_user_viewed_document(user, body.document)
    return {"viewed": cast("list[View]", await kb.history(user))}


@router.post("/users/{user:name}/anonymize")
async def anonymize_user(kb: Writing, user: str, body: Anonymizing = _ANY_REGION) -> Anonymized:
    """Keep what a user said, without a name and without what identifies them. This cannot be undone."""
    return cast("Anonymized", await kb.anonymize(user_id=user, region=body.region))


@router.delete("/users/{user:user}")
async def forget_user(kb: Writing, user: str) -> Forgotten:
    """Forget everything about a user; documents stay."""
    return await _forget(kb, user_id=user)


@router.get("/conversations")
async def list_conversations(
    kb: Reading,
    user_id: Annotated[User | None, Query(validation_alias=AliasChoices("userId", "user_id"))] = None,
    limit: Annotated[int, Query(ge=1, le=1000)] = 50,
    after: After = "",
) -> Conversations:
    """List conversations, the latest first."""
    shown, more = page(await kb.client.list_conversations(user_id, limit + 1, after=after), limit, mark_of)
    return {"conversations": cast("list[ListedConversation]", shown), "next": more}


@router.post("/conversations")
async def create_conversation(kb: Writing, body: NewConversation = _UNTITLED) -> NewConversationId:
    """Begin a conversation."""
    return {"conversationId": await kb.client.create_conversation(**body.model_dump())}


@router.get("/conversations/{conversation:conversation}")
async def read_conversation(
    kb: Reading,
    conversation: str,
    limit: _Limit = None,
    before: Annotated[str | None, Query(description="Sequence or id of a message: those before it.")] = None,
) -> WholeConversation:
    """A conversation with its messages in order; with a limit, the latest."""
    found = await kb.client.find_conversation(conversation)
    if found is None:
        raise NotFoundError(f"There is no conversation {conversation[:200]!r}.")
    # More digits are no position: an id, if anything.
    position = int(before) if before is not None and before.isdecimal() and len(before) <= _DIGITS else before
    messages = await kb.client.get_conversation_messages(conversation, limit, before=position)
    return cast("WholeConversation", {**found, "messages": messages})


@router.post("/conversations/{conversation:name}/messages")
async def add_message(kb: Writing, conversation: str, body: NewMessage) -> NewMessageId:
    """Add a message to a conversation."""
    return {"messageId": await kb.client.add_message(conversation, **body.model_dump())}


@router.post("/conversations/{conversation:name}/anonymize")
async def anonymize_conversation(kb: Writing, conversation: str, body: Anonymizing = _ANY_REGION) -> Anonymized:
    """Rewrite a conversation without what identifies anybody, and without its user. This cannot be undone."""
    return cast("Anonymized", await kb.anonymize(conversation_id=conversation, region=body.region))


@router.patch("/conversations/{conversation:conversation}")
async def rename_conversation(kb: Writing, conversation: str, body: NewTitle) -> NewConversationId:
    """Give a conversation another title."""
    await kb.client.rename_conversation(conversation, body.title)
    return {"conversationId": conversation}


@router.delete("/conversations/{conversation:conversation}")
async def delete_conversation(kb: Writing, conversation: str) -> Deleted:
    """Delete a conversation with its messages."""
    if not await kb.client.delete_conversation(conversation):
        raise NotFoundError(f"There is no conversation {conversation[:200]!r}.")
    return {"deleted": conversation}


async def _forget(kb: KnowledgeBase, **named: str | None) -> Forgotten:
    """Forget what is named; a slip in a name must not look as if somebody were forgotten."""
    gone = await kb.forget(**named)
    if not any(gone.to_dict().values()):
        raise NotFoundError(nothing_to_forget(**named))
    return gone


def _told(memories: Iterable[Recalled]) -> Memories:
    return cast("Memories", {"memories": [memory.to_dict() for memory in memories]})
