"""Finds entities by names that are written in another way: with typing errors, and without accents.

Each search reads all names, so it is for what was not found as it is written.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from typing import TYPE_CHECKING, Final

from core.rag.extraction.words import folded
from core.rag.retrieval.fuzzy import FuzzyIndex

if TYPE_CHECKING:
    from core.rag.dbhandler import MemGraphClient

#: How similar a name is at least; see :mod:`core.rag.retrieval.fuzzy`.
_SIMILAR: Final = 0.6


async def similar_names(client: MemGraphClient, written: str, limit: int) -> list[str]:
    """Return the normalised names of entities that are most similar to what is written, best first."""
    names = await client.entity_names()

    def ranked() -> list[str]:
        return list(FuzzyIndex((name, name) for name in names).rank(written, limit, _SIMILAR))

    return await asyncio.to_thread(ranked)


async def with_other_accents(client: MemGraphClient, written: Collection[str]) -> dict[str, str]:
    """Return which of these normalised names are entities but for their accents; by name, that of the entity."""
    wanted = {folded(name): name for name in written}
    return {wanted[plain]: name for name in await client.entity_names() if (plain := folded(name)) in wanted}
