"""What a query is read for."""

from __future__ import annotations

import unicodedata

from core.rag.analysis import MAX_QUERY_CHARACTERS


def as_read(query: str) -> str:
    """Return the part of a query that counts, with composed accents: those of file names on macOS are apart."""
    return unicodedata.normalize("NFC", query.lstrip()[:MAX_QUERY_CHARACTERS])
