"""Filters of memories: those of documents, but memories have no fields besides their metadata."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from core.rag.errors import FilterError
from core.rag.retrieval.filter_tree import METADATA
from core.rag.retrieval.filters import Filter, parse_filter


def memory_filter(given: str | Mapping[str, Any] | None) -> Filter:
    """Parse a filter of memories; see :mod:`core.rag.retrieval.filters` for the grammar.

    Raises:
        FilterError: if it does not parse, or tests anything but metadata.
    """
    try:
        found = parse_filter(given)
    except FilterError as error:
        raise FilterError(f"{error}\nOf memories, only metadata.KEY can be tested.") from error
    others = sorted(field for field in found.fields() if not field.startswith(METADATA))
    if others:
        raise FilterError(
            f"{others[0]!r} is a field of documents; memories are filtered by metadata.KEY, and what was said when, by"
            " whom and with which tags by since, before, user_id and tags."
        )
    return found
