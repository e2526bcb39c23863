"""How much to ask an index for, where only some of what it finds is of use."""

from __future__ import annotations

from collections.abc import Iterator

from core.rag.dbhandler.store import MAX_K


def deeper(first: int, factor: int) -> Iterator[int]:
    """Yield how many results to ask for, more each time, up to what an index gives; leave when there are enough."""
    wanted = min(first, MAX_K)
    while wanted < MAX_K:
        yield wanted
        wanted = min(factor * wanted, MAX_K)
    yield MAX_K
