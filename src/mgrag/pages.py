"""Lists that come in pages, over HTTP and MCP."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from core.rag import KnowledgeBase


def page[Item](found: Sequence[Item], limit: int, mark: Callable[[Item], str]) -> tuple[list[Item], str]:
    """Return a page of a list, and where the next one begins; empty at the end.

    Args:
        found: What was read: one item more than the page takes, if there are so many.
        limit: How many the page takes.
        mark: What tells where an item stands in the list.
    """
    shown = list(found[:limit])
    return shown, mark(shown[-1]) if len(found) > limit else ""


async def documents_page(kb: KnowledgeBase, prefix: str, limit: int, after: str) -> tuple[list[dict[str, Any]], str]:
    """Return a page of the documents, and where the next one begins; empty at the end.

    Documents of one path stay together, so a page may have more than its limit.

    Args:
        kb: The knowledge base.
        prefix: What their paths begin with.
        limit: How many the page takes.
        after: Where the page begins.
    """
    found = await kb.documents(prefix=prefix, limit=limit, after=after)
    last: str = found[-1]["path"] if len(found) >= limit else ""
    more = last and await kb.documents(prefix=prefix, limit=1, after=last)
    return found, last if more else ""
