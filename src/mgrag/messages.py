"""Messages that several doors tell people in the same words."""

from __future__ import annotations


def not_added_by_hand(entity: str) -> str:
    """Return why an entity was not removed."""
    return f"{entity[:200]!r} was not added by hand; it disappears with the documents and records that mention it."


def nothing_to_forget(
    *, memory_id: str | None = None, session_id: str | None = None, user_id: str | None = None
) -> str:
    """Return why nothing was forgotten, of the one that is named."""
    named = (("memory", memory_id), ("session", session_id), ("user", user_id))
    kind, name = next((kind, name) for kind, name in named if name is not None)
    return f"Nothing is stored of the {kind} {name[:200]!r}, so nothing was forgotten."
