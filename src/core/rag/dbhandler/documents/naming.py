"""Finds documents by informal names (the last part of a path, or a title), for viewing but never for deleting."""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.rag.errors import NotFoundError

if TYPE_CHECKING:
    from core.rag.dbhandler.base import ClientBase
    from core.rag.dbhandler.store import Row

#: How many of several documents an error names.
_NAMESAKES = 10


async def document_named(client: ClientBase, name: str) -> str | None:
    """Return the id of the only document of a name, if there is one.

    Raises:
        NotFoundError: if there are several, naming them.
    """
    found = await _documents_named(client, name)
    if len(found) > 1:
        paths = ", ".join(row["path"] for row in found[:_NAMESAKES]) + (" …" if len(found) > _NAMESAKES else "")
        raise NotFoundError(f"{name[:200]!r} matches {len(found)} documents: {paths}. Use the full path of one.")
    return found[0]["id"] if found else None


async def _documents_named(client: ClientBase, name: str) -> list[Row]:
    """Return documents whose path ends with a name, or, if there are none, those that have it as their title.

    Case only matters if it distinguishes one document from several. This scans all documents, so try exact paths and
    ids first.

    Returns:
        ``id`` and ``path`` of each, in the order of paths.
    """
    wanted = name.strip().strip("/")
    if not wanted:
        return []
    spellings = _spellings(wanted)
    rows = await client.read(
        "MATCH (d:Document) WHERE d.namespace = $namespace "
        "AND any(name IN $names WHERE toLower(d.path) ENDS WITH ('/' + name) OR toLower(d.title) = name) "
        "RETURN d.id AS id, d.path AS path, d.title AS title",
        names=spellings,
    )
    by_path = [row for row in rows if row["path"].lower().endswith(f"/{wanted.lower()}")]
    same_case = [row for row in by_path if row["path"].endswith(f"/{wanted}")]
    if not by_path:
        by_path, same_case = rows, [row for row in rows if row["title"] == wanted]
    found = same_case if len(same_case) == 1 else by_path
    return sorted(({"id": row["id"], "path": row["path"]} for row in found), key=lambda row: (row["path"], row["id"]))


def _spellings(name: str) -> list[str]:
    """Return a name as toLower() may return it: most engines convert all letters, Memgraph only ASCII."""
    written = (name.lower(), *(_lower_ascii(text) for text in (name, name.lower(), name.title(), name.upper())))
    return list(dict.fromkeys(written))


def _lower_ascii(text: str) -> str:
    return "".join(letter.lower() if letter.isascii() else letter for letter in text)
