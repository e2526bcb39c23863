"""Tells why nothing passes a filter: it names metadata that no document has."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from core.rag.dbhandler.json_texts import from_json
from core.rag.retrieval.filter_tree import METADATA, has_metadata
from core.rag.retrieval.filters import parse_filter

if TYPE_CHECKING:
    from core.rag.dbhandler import MemGraphClient

#: So many names of metadata that there is are told, of those that are near or else of the most frequent.
_TOLD = 5


async def unknown_keys(client: MemGraphClient, filters: str | Mapping[str, Any] | None) -> str:
    """Return a message about the metadata in a filter that no document has, with the nearest that there is.

    Args:
        client: The graph.
        filters: The filter; see :func:`core.rag.retrieval.filters.parse_filter`.

    Returns:
        The message; empty where the documents have all of it, or there are none.

    Raises:
        FilterError: if the filter does not parse.
    """
    fields = parse_filter(filters).fields()
    wanted = sorted(field.removeprefix(METADATA) for field in fields if field.startswith(METADATA))
    if not wanted:
        return ""
    rows = await client.read("MATCH (d:Document) WHERE d.namespace = $namespace RETURN d.metadata AS metadata")
    there: dict[str, int] = {}
    for row in rows:
        metadata = from_json(row["metadata"])
        wanted = [key for key in wanted if not has_metadata(metadata, key)]
        if not wanted:
            return ""
        for key in _keys(metadata):
            there[key] = there.get(key, 0) + 1
    often = sorted(there, key=lambda key: (-there[key], key))
    told = (_told(key, difflib.get_close_matches(key, often, _TOLD) or often[:_TOLD]) for key in wanted)
    return " ".join(told) if rows else ""


def _told(key: str, others: list[str]) -> str:
    rest = f"; there is {', '.join(METADATA + other for other in others)}" if others else ", or any other metadata"
    return f"No document has {METADATA}{key[:100]}{rest}."


def _keys(metadata: Mapping[str, Any], above: str = "") -> Iterator[str]:
    for key, value in metadata.items():
        if isinstance(value, dict):
            yield from _keys(value, f"{above}{key}.")
        else:
            yield f"{above}{key}"
