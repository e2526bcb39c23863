"""Messages that several doors tell people in the same words."""

from __future__ import annotations


def not_added_by_hand(entity: str) -> str:
    """Return why an entity was not removed."""
    return f"{entity[:200]!r} was not added by hand; it disappears with the documents and records that mention it."
