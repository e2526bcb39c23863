"""What is read of a query and its filter."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from core.rag.analysis import MAX_QUERY_CHARACTERS

if TYPE_CHECKING:
    from core.rag.retrieval.filters import Filter


def as_read(query: str) -> str:
    """Return the part of a query that counts, with composed accents: those of file names on macOS are apart."""
    return unicodedata.normalize("NFC", query.lstrip()[:MAX_QUERY_CHARACTERS])


def filter_of(filters: str | Mapping[str, Any] | None) -> Filter | None:
    """Return a filter, parsed; ``None`` if it is empty. Only where there is one, its grammar is loaded.

    Raises:
        FilterError: if it does not parse.
    """
    if filters is None or filters in ("", {}):
        return None
    from core.rag.retrieval.filters import parse_filter

    return parse_filter(filters) or None
