"""Makes texts of documents fit for display."""

from __future__ import annotations

import unicodedata


def printable(text: str) -> str:
    """Return text as one line, without control characters, lone surrogates and changes of direction."""
    kept = (c if unicodedata.category(c) not in {"Cc", "Cs", "Cn", "Zl", "Zp"} else " " for c in text)
    flat = "".join(c for c in kept if c not in _DIRECTIONS)
    return " ".join(flat.split())


_DIRECTIONS = frozenset("\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
