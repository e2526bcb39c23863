"""The text of a document as properties: a long one is kept in several, as an engine may bound the size of one.

The first part is ``content``; if there are others, ``content_parts`` tells how many parts there are, and they are
``content_2``, ``content_3`` and so on. All engines keep it in the same way, so that a graph can move between them.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

from core.rag.dbhandler.store import Row

#: The embedded engine keeps 16 MiB in a property, and UTF-8 has up to four bytes for a character.
PART_CHARS: Final = 4_000_000

#: What a statement returns of a document ``d`` whose text is wanted; see :func:`with_content`.
CONTENT_COLUMNS: Final = "d.content AS content, d.content_parts AS content_parts"


def _names(parts: int | None) -> list[str]:
    return [f"content_{number}" for number in range(2, int(parts or 1) + 1)]


def content_properties(content: str) -> dict[str, Any]:
    """Return the properties that hold a text."""
    first, *others = [content[at : at + PART_CHARS] for at in range(0, len(content), PART_CHARS)] or [""]
    if not others:
        return {"content": first}
    parts = len(others) + 1
    return {"content": first, "content_parts": parts, **dict(zip(_names(parts), others, strict=True))}


def without_former(properties: Mapping[str, Any], parts: int | None) -> dict[str, Any]:
    """Return the properties of a document with those as ``None`` in which only its former, longer text goes on.

    Args:
        properties: What is to be written.
        parts: ``content_parts`` of what is stored.
    """
    former = ("content_parts", *_names(parts)) if parts else ()
    return {**dict.fromkeys(former), **properties}


async def with_content(rows: list[Row], read: Callable[..., Awaitable[list[Row]]]) -> list[Row]:
    """Complete the texts of documents.

    Args:
        rows: Rows with ``id`` and :data:`CONTENT_COLUMNS`.
        read: Runs a statement that reads, with parameters by name.

    Returns:
        The same rows, each with the whole text as ``content`` and without ``content_parts``.
    """
    for row in rows:
        if names := _names(row.pop("content_parts")):
            columns = ", ".join(f"d.{name} AS {name}" for name in names)
            statement = f"UNWIND $ids AS i MATCH (d:Document {{id: i}}) RETURN {columns}"
            for others in await read(statement, ids=[row["id"]]):
                row["content"] += "".join(others[name] or "" for name in names)
    return rows
