"""A slide as Markdown, whatever format it is from."""

from __future__ import annotations

from collections.abc import Sequence


def slide_text(
    number: int, title: str | None, blocks: Sequence[str], notes: Sequence[str], comments: Sequence[str]
) -> str:
    """Return a slide with its notes and comments below its title, or its number; empty if it has no text."""
    if not (title or blocks or notes or comments):
        return ""
    below = ["Notes: " + "\n".join(notes)] if notes else []
    return "\n\n".join([f"## {title or f'Slide {number}'}", *blocks, *below, *comments])


def comment_text(author: str, words: str) -> str:
    """Return a comment on a slide, with who wrote it, if that is known."""
    return f"Comment by {author}: {words}" if author else f"Comment: {words}"
