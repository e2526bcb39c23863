"""Checks what is to be remembered."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import date, datetime
from typing import Any

from core.rag.arguments import check_text
from core.rag.dbhandler.messages.rows import check_length, message_properties
from core.rag.embedder import is_blank
from core.rag.errors import InvalidInputError

_REQUIRED = ("role", "content")
_OPTIONAL = ("tags", "metadata", "user_id", "timestamp")


def memory_properties(
    role: str,
    content: str,
    tags: Iterable[str] | None = (),
    metadata: Mapping[str, Any] | None = None,
    user_id: str | None = None,
    timestamp: datetime | date | str | None = None,
) -> dict[str, Any]:
    """Return the properties of a memory; see :meth:`core.rag.KnowledgeBase.remember`.

    Raises:
        InvalidInputError: if the content is blank or too long, or another argument is invalid.
    """
    check_length(check_text("What is remembered", content))
    properties = message_properties(content, role, timestamp=timestamp, tags=tags, metadata=metadata, user_id=user_id)
    if is_blank(properties["content"]):  # the stored content, without characters that engines refuse
        raise InvalidInputError("There is nothing to remember: the content is empty.")
    return properties


def changes_of(content: str | None, tags: Iterable[str] | None, metadata: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return what a revision changes; see :meth:`core.rag.KnowledgeBase.revise`.

    Raises:
        InvalidInputError: if that is nothing, or invalid.
    """
    given = {"content": content, "tags": tags, "metadata": metadata}
    wanted = {name: value for name, value in given.items() if value is not None}
    if not wanted:
        raise InvalidInputError("Nothing to change is given: content, tags or metadata.")
    checked = memory_properties("user", "-" if content is None else content, tags, metadata)
    return {name: checked[name] for name in wanted}


def properties_of_all(messages: Iterable[Mapping[str, Any]], user_id: str | None) -> list[dict[str, Any]]:
    """Return the properties of several memories; see :meth:`core.rag.KnowledgeBase.remember_all`.

    Raises:
        InvalidInputError: naming the number of the first message that is invalid.
    """
    if isinstance(messages, str | Mapping) or not isinstance(messages, Iterable):
        raise InvalidInputError(
            f"What is remembered is a sequence of messages, not {str(messages)[:50]!r}: give dicts with role, content"
            f" and optionally {', '.join(_OPTIONAL)}."
        )
    found = []
    for number, message in enumerate(messages, start=1):
        if not isinstance(message, Mapping):
            raise InvalidInputError(
                f"Message {number} is a {type(message).__name__}, not a dict with role and content."
            )
        if missing := [name for name in _REQUIRED if name not in message]:
            raise InvalidInputError(f"Message {number} has no {missing[0]}.")
        if unknown := [name for name in message if name not in (*_REQUIRED, *_OPTIONAL)]:
            raise InvalidInputError(
                f"Message {number} has {str(unknown[0])[:50]!r}, which no memory has: there are"
                f" {', '.join((*_REQUIRED, *_OPTIONAL))}."
            )
        given = {**message, "user_id": user_id if message.get("user_id") is None else message["user_id"]}
        try:
            found.append(memory_properties(**given))
        except InvalidInputError as error:
            raise InvalidInputError(f"Message {number}: {error}") from error
    return found
