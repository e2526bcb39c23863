"""Converts messages from callers' arguments to stored rows, and from stored rows to the dicts that users get."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime
from functools import cache, lru_cache
from typing import Any

from core.rag.analysis import analyze, index_terms, letters, query_terms
from core.rag.arguments import check_optional, check_text, check_texts
from core.rag.dbhandler.json_texts import from_json, metadata_json
from core.rag.dbhandler.store import Row
from core.rag.encodable import encodable
from core.rag.errors import InvalidInputError
from core.rag.times import day_there, moment
from libs.regexes import regex

MAX_NAME_CHARS = 500
#: A message is one text with one vector; what is longer is a document.
MAX_CONTENT_CHARS = 1_000_000
MAX_TAGS = 100
MAX_KEYWORDS = 100

#: How much of a message replaces the missing title of its conversation.
_BEGINNING_CHARS = 60
#: Shorter words say little about the subject of a message.
_SHORTEST_KEYWORD = 4
_ASCII_WORD = regex(r"[A-Za-z0-9]+(?:[-'][A-Za-z0-9]+)*")

#: The end of every statement that reads messages; ``m`` is the message.
MESSAGE_COLUMNS = (
    "m.id AS id, m.session_id AS session_id, m.role AS role, m.content AS content, m.timestamp AS timestamp, "
    "m.sequence AS sequence, m.keywords AS keywords, m.tags AS tags, m.metadata AS metadata, m.user_id AS user_id, "
    "m.count AS count, m.summary AS summary, m.compacted_into AS compacted_into, m.created_at AS created_at, "
    "m.updated_at AS updated_at, m.last_said_at AS last_said_at, m.last_accessed_at AS last_accessed_at, "
    "m.revised_at AS revised_at"
)


def message_properties(
    content: str,
    role: str,
    *,
    timestamp: datetime | date | str | None = None,
    tags: Iterable[str] | None = (),
    metadata: Mapping[str, Any] | None = None,
    user_id: str | None = None,
) -> dict[str, Any]:
    """Return the properties of a message, except those that depend on its conversation.

    Raises:
        InvalidInputError: if the content is not text, the role or the user is empty, the time is invalid, a tag is not
            text, or the metadata is not a JSON object.
    """
    text = encodable(check_text("The content of a message", content))
    if "\0" in text:
        text = text.replace("\0", "")
    said, day = moment(timestamp), day_there(timestamp)
    check_optional(user_id=user_id)
    if user_id == "":  # by mistake, and the owner of the session would have said it
        raise InvalidInputError("The id of the user is empty.")
    role, words = checked_name(role, "The role"), checked_tags(tags)
    return {
        "content": text,
        "role": role,
        "timestamp": said,
        "terms": message_terms(text, words),
        "keywords": keywords(text),
        "tags": words,
        "metadata": metadata_json({} if metadata is None else metadata, "The metadata of a message"),
        "user_id": user_id or "",
        "count": 1,
        "summary": False,
        "last_accessed_at": said,
        # Of whoever said it; in UTC, it may have been the day before or after.
        **({} if said.startswith(day) else {"day": day}),
    }


def message_terms(content: str, tags: Sequence[str]) -> str:
    """Return the words that a message is found by: those of its tags and its content."""
    return index_terms(None, " ".join(tags), content)


def check_length(content: str) -> None:
    """Check the length of a new message; an existing one may become longer when it is rewritten.

    Raises:
        InvalidInputError: if it is too long.
    """
    if isinstance(content, str) and len(content) > MAX_CONTENT_CHARS:
        raise InvalidInputError(
            f"A message can have at most {MAX_CONTENT_CHARS} characters, not {len(content)}: ingest a text of this"
            " length as a document, and refer to it."
        )


def checked_name(name: str, what: str) -> str:
    """Return a short text, checking that it is not blank.

    Raises:
        InvalidInputError: if it is.
    """
    if not check_text(what, name).strip() or len(name) > MAX_NAME_CHARS:
        raise InvalidInputError(f"{what} has 1 to {MAX_NAME_CHARS} characters; {name[:50]!r} cannot be one.")
    return encodable(name)


def checked_tags(tags: Iterable[str] | None) -> list[str]:
    """Return tags in order without repetitions; empty for ``None``.

    Raises:
        InvalidInputError: if they are a single string or not a sequence, one is blank, or there are too many.
    """
    if tags is None:
        return []
    unique = list(dict.fromkeys(checked_name(tag, "A tag").strip() for tag in check_texts("tags", tags)))
    if len(unique) > MAX_TAGS:
        raise InvalidInputError(f"A message can have at most {MAX_TAGS} tags, not {len(unique)}.")
    return unique


def keywords(text: str) -> list[str]:
    """Return the words of a text that have more than 3 characters, without function words, each once and in order."""
    counted = set(analyze(text))
    found: list[str] = []
    seen: set[str] = set()
    for match in (_ASCII_WORD if text.isascii() else _any_word()).finditer(text):
        word = match[0].casefold()
        if len(word) < _SHORTEST_KEYWORD or word in seen:
            continue
        seen.add(word)
        if not (counted.isdisjoint(analyze(word)) and counted.isdisjoint(_stems(word))):
            found.append(word)
            if len(found) == MAX_KEYWORDS:
                break
    return found


@cache
def _any_word() -> re.Pattern[str]:
    return re.compile(rf"{letters()}(?:[-'’]{letters()})*")


@lru_cache(maxsize=4096)
def _stems(word: str) -> Sequence[str]:
    """Return the stems of a word in any language; the same words come again and again."""
    return query_terms(word)


def found_message(row: Row) -> dict[str, Any]:
    """Return the public form of a message row: ``MESSAGE_COLUMNS`` with ``metadata`` as a dict."""
    found = dict(row)
    found["metadata"] = from_json(row.get("metadata"))
    found["keywords"] = list(row.get("keywords") or [])
    found["tags"] = list(row.get("tags") or [])
    found["count"] = row.get("count") or 1
    found["last_said_at"] = last_said(row)
    found["summary"] = bool(row.get("summary"))
    return found


def last_said(message: Mapping[str, Any]) -> str:
    """Return when a message was said for the last time: a repeat of it is no message of its own."""
    said: str = message.get("last_said_at") or message["timestamp"]
    return said


def beginning_of(content: str) -> str:
    """Return the beginning of a message in one line, cut after a word."""
    line = " ".join(content.split())
    if len(line) <= _BEGINNING_CHARS:
        return line
    return f"{line[: _BEGINNING_CHARS + 1].rsplit(' ', 1)[0][:_BEGINNING_CHARS]} …"


def speaker_of(message: Mapping[str, Any], owner: str | None) -> str:
    """Return who a message belongs to: its speaker, or the owner of the conversation if it names none.

    Args:
        message: A message with ``user_id``.
        owner: The user of the conversation.

    Returns:
        The id of the user; empty if there is none.
    """
    return message["user_id"] or owner or ""


def retrieved_rows(hits: Iterable[Any]) -> list[Row]:
    """Return ``{"chunk", "rank", "score"}`` of search results, in their order.

    Args:
        hits: Ids of chunks, or hits or dicts with ``chunk_id`` and optionally ``score``.

    Raises:
        InvalidInputError: on anything else.
    """
    if isinstance(hits, str) or not isinstance(hits, Iterable):
        raise InvalidInputError(f"What was retrieved is a sequence of hits or ids of chunks, not {str(hits)[:50]!r}.")
    rows: dict[str, Row] = {}
    for hit in hits:
        score = 0.0
        if isinstance(hit, str):
            chunk: Any = hit
        else:
            try:
                chunk = hit["chunk_id"]
                score = _finite(hit["score"])
            except KeyError as error:
                if error.args != ("score",):
                    raise InvalidInputError(f"A hit has a chunk_id; {json.dumps(str(hit)[:50])} has none.") from error
            except TypeError as error:
                raise InvalidInputError(f"{str(hit)[:50]!r} is not a hit: give ids of chunks, or hits.") from error
        if not isinstance(chunk, str) or not chunk:
            raise InvalidInputError(f"{str(chunk)[:50]!r} is not the id of a chunk.")
        rows.setdefault(chunk, {"chunk": chunk, "rank": len(rows) + 1, "score": score})
    return list(rows.values())


def _finite(score: Any) -> float:
    """Return a score as a float that every engine stores; 0 if it is not a number."""
    return float(score) if isinstance(score, int | float) and math.isfinite(score) else 0.0


def mark_of(conversation: Mapping[str, Any]) -> str:
    """Return where a conversation stands in the list of all, from which the next page of the list goes on."""
    return f"{conversation['updated_at']} {conversation['id']}"
