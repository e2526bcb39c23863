"""Finds entities by names that are written in another way: with typing errors, and without accents.

The names are read when first needed, and again after entities changed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from functools import partial
from typing import TYPE_CHECKING, Final

from core.rag.dbhandler.kept import Kept, microseconds
from core.rag.extraction.words import folded
from core.rag.retrieval.fuzzy import FuzzyIndex
from core.rag.schema import Label

if TYPE_CHECKING:
    from core.rag.dbhandler import MemGraphClient

#: How similar a name is at least; see :mod:`core.rag.retrieval.fuzzy`.
_SIMILAR: Final = 0.6
_STATE: Final = (
    "MATCH (e:Entity) WHERE e.namespace = $namespace "
    f"RETURN count(e) AS n, max(e.updated_at) AS last, {microseconds('e')} AS microseconds"
)
_similar: Final[Kept[FuzzyIndex]] = Kept({Label.ENTITY}, _STATE)
_accented: Final[Kept[dict[str, str]]] = Kept({Label.ENTITY}, _STATE)


async def similar_names(client: MemGraphClient, written: str, limit: int) -> list[str]:
    """Return the normalised names of entities that are most similar to what is written, best first."""
    index = await _similar.get(client, partial(_index_of, client))
    return list(await asyncio.to_thread(index.rank, written, limit, _SIMILAR))


async def with_other_accents(client: MemGraphClient, written: Collection[str]) -> dict[str, str]:
    """Return which of these normalised names may be those of entities but for their accents; by name, the other one."""
    accented = await _accented.get(client, partial(_with_accents, client))
    return {name: other for name in written if (other := accented.get(folded(name), folded(name))) != name}


async def _index_of(client: MemGraphClient) -> FuzzyIndex:
    names = await client.entity_names()
    return await asyncio.to_thread(FuzzyIndex, [(name, name) for name in names])


async def _with_accents(client: MemGraphClient) -> dict[str, str]:
    """Return the names that have accents, by what they are without."""
    names = (name for name in await client.entity_names() if not name.isascii())
    return {plain: name for name in sorted(names, reverse=True) if (plain := folded(name)) != name}
