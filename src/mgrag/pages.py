"""Lists that come in pages, over HTTP and MCP."""

from __future__ import annotations

from collections.abc import Callable, Sequence


def page[Item](found: Sequence[Item], limit: int, mark: Callable[[Item], str]) -> tuple[list[Item], str]:
    """Return a page of a list, and where the next one begins; empty at the end.

    Args:
        found: What was read: one item more than the page takes, if there are so many.
        limit: How many the page takes.
        mark: What tells where an item stands in the list.
    """
    shown = list(found[:limit])
    return shown, mark(shown[-1]) if len(found) > limit else ""
