"""The results of memory operations."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from core.rag.dbhandler.messages.rows import speaker_of
from core.rag.keyed import Plain


@dataclass(frozen=True, slots=True)
class RecallReason:
    """Why a memory was recalled.

    Attributes:
        reason: ``words`` (its words, who said it, or when), ``tags`` (the question names one), ``meaning``,
            ``near``: what was said right before or after it fits the question more than twice as well; or ``later``:
            the same person said it after the best statement, and about the same, so it may have replaced that.
        memory_id: The memory that it stands near to, or that it may have replaced; empty for other reasons.
    """

    reason: Literal["words", "tags", "meaning", "near", "later"]
    memory_id: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Convert to plain values that JSON can hold."""
        return {"reason": self.reason, "memoryId": self.memory_id or None}


@dataclass(frozen=True, slots=True)
class Memory:
    """A memory: a message of a session.

    Attributes:
        id: Its id.
        session_id: The session, which is a conversation.
        role: Who said it: ``user``, ``assistant``, ``summary`` …
        content: The text.
        keywords: Its words of more than 3 characters, without function words.
        tags: Words that also find it.
        metadata: Metadata stored with it by the caller.
        count: How often exactly this was remembered.
        sequence: Its number in the session.
        created_at: When it was said: UTC, ISO 8601.
        last_said_at: When it was said for the last time; later than ``created_at`` if it was repeated.
        last_accessed_at: When it was last recalled, else when it was said.
        revised_at: When it was last revised; empty if it never was.
        relevance: How well it fits the question, 0 to 1; ``None`` if it was not recalled by one.
        compacted_into: Id of the summary that replaced it; empty if none did.
        user_id: Whose memory it is: the user who said it, else the owner of the session; empty if there is none.
        because: Why it was recalled; ``None`` if it was not recalled by a question.
    """

    id: str
    session_id: str
    role: str
    content: str
    keywords: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    metadata: dict[str, Any] = field(default_factory=dict)
    count: int = 1
    sequence: int = 0
    created_at: str = ""
    last_said_at: str = ""
    last_accessed_at: str = ""
    revised_at: str = ""
    relevance: float | None = None
    compacted_into: str = ""
    user_id: str = ""
    because: RecallReason | None = None

    @classmethod
    def of(
        cls,
        message: dict[str, Any],
        owner: str | None = None,
        relevance: float | None = None,
        accessed: str = "",
        because: RecallReason | None = None,
    ) -> Memory:
        """Make a memory from a message row of the graph; ``owner`` is the user of its conversation."""
        return cls(
            id=message["id"],
            session_id=message.get("session_id") or message.get("conversation_id") or "",
            role=message["role"],
            content=message["content"],
            keywords=tuple(message["keywords"]),
            tags=tuple(message["tags"]),
            metadata=message["metadata"],
            count=message["count"],
            sequence=message["sequence"],
            created_at=message["timestamp"],
            last_said_at=message["last_said_at"],
            last_accessed_at=accessed or message["last_accessed_at"],
            revised_at=message["revised_at"] or "",
            relevance=relevance,
            compacted_into=message["compacted_into"] or "",
            user_id=speaker_of(message, owner),
            because=because,
        )

    def to_dict(self) -> dict[str, Any]:
        """Convert to plain values that JSON can hold, under the names that agents expect."""
        return {
            "memoryId": self.id,
            "sessionId": self.session_id,
            "userId": self.user_id or None,
            "role": self.role,
            "type": "summary" if self.role == "summary" else "conversation",
            "content": self.content,
            "keywords": list(self.keywords),
            "tags": list(self.tags),
            "metadata": self.metadata,
            "count": self.count,
            "createdAt": self.created_at,
            "lastSaidAt": self.last_said_at,
            "lastAccessedAt": self.last_accessed_at,
            "revisedAt": self.revised_at or None,
            "relevance": self.relevance,
            "because": None if self.because is None else self.because.to_dict(),
            "compactedInto": self.compacted_into or None,
        }


@dataclass(frozen=True, slots=True)
class Forgotten(Plain):
    """What was removed.

    Attributes:
        memories: Number of messages and memories.
        sessions: Number of conversations that were removed as a whole.
        users: Number of users.
    """

    memories: int = 0
    sessions: int = 0
    users: int = 0

    def __add__(self, other: Forgotten) -> Forgotten:
        return Forgotten(self.memories + other.memories, self.sessions + other.sessions, self.users + other.users)
