"""Finds the entities of a graph that are the same, from their names, their chunks and the vectors of their names."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from itertools import batched
from typing import TYPE_CHECKING

from core.rag.embedder import embed_texts
from core.rag.embedder.likeness import likeness, usual_cosine
from core.rag.extraction.resolution import Candidate, Sameness, abbreviations, alike, comparable, resolve
from core.rag.keyed import Plain
from core.rag.unit_vectors import unit_vectors

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from core.rag.dbhandler import MemGraphClient
    from core.rag.embedder import EmbeddingService

#: Up to this many chunks, reading all names takes a few milliseconds.
_ALWAYS_CHUNKS = 2_000

#: In a larger graph, at least one chunk in this many must have changed.
_WORTHWHILE_SHARE = 100

#: Number of names that are embedded together: enough to be fast, few enough to save memory.
_NAMES_AT_ONCE = 10_000


@dataclass(frozen=True, slots=True)
class Same:
    """Two names of one entity.

    Attributes:
        alias: The name with fewer mentions.
        entity: The other name.
        method: ``alias``, ``acronym``, ``fuzzy`` or ``vector``.
        score: 0 to 1.
    """

    alias: str
    entity: str
    method: str
    score: float


@dataclass(slots=True)
class ResolutionReport(Plain):
    """The result of entity resolution.

    Attributes:
        same: All pairs that were found.
        added: How many of these are new.
        removed: How many earlier connections are no longer valid.
    """

    same: list[Same] = field(default_factory=list)
    added: int = 0
    removed: int = 0


async def resolve_names_after(client: MemGraphClient, changed: int) -> None:
    """Connect entities that are the same by spelling or initials, if enough has changed.

    This reads the names of all entities, which is too expensive after a few documents in a large graph; the next large
    ingest or :func:`resolve_all` covers these.

    Args:
        client: The graph.
        changed: How many chunks an ingest added, changed or, at least, removed.
    """
    chunks = await client.count_chunks()
    if chunks <= _ALWAYS_CHUNKS or changed * _WORTHWHILE_SHARE >= chunks:
        await resolve_names(client)


async def resolve_names(client: MemGraphClient) -> ResolutionReport:
    """Connect entities that are the same by spelling or initials.

    Connections that :func:`resolve_all` found by other rules stay.
    """
    names = await client.entity_names()
    maybe = await asyncio.to_thread(alike, names, await client.acronym_names())
    candidates = await client.resolution_candidates(maybe)
    together = await client.mentioned_together(abbreviations(candidates))
    found = resolve(candidates, fuzzy=False, together=lambda asked: together & set(asked))
    return await _written(client, candidates, found, methods=("alias", "acronym"))


async def resolve_all(client: MemGraphClient, embedder: EmbeddingService | None) -> ResolutionReport:
    """Update the SAME_AS edges of all rules; see :meth:`core.rag.KnowledgeBase.resolve_entities`."""
    candidates = await client.resolution_candidates()
    together = await client.mentioned_together(await asyncio.to_thread(abbreviations, candidates))
    found = await asyncio.to_thread(
        resolve,
        candidates,
        together=lambda asked: together & set(asked),
        similarities=None if embedder is None else await _likenesses(embedder, candidates),
    )
    return await _written(client, candidates, found)


async def _written(
    client: MemGraphClient,
    candidates: Sequence[Candidate],
    found: Sequence[Sameness],
    methods: Collection[str] | None = None,
) -> ResolutionReport:
    """Store what was found, except for pairs that a person separated."""
    apart = await client.distinct_entities()
    kept = [same for same in found if (min(same.alias, same.entity), max(same.alias, same.entity)) not in apart]
    added, removed = await client.write_sameness(kept, methods)
    texts = {candidate.id: candidate.text for candidate in candidates}
    return ResolutionReport([_named(same, texts) for same in kept], added, removed)


def _named(same: Sameness, texts: dict[str, str]) -> Same:
    return Same(texts[same.alias], texts[same.entity], same.method, same.score)


async def _likenesses(
    embedder: EmbeddingService, candidates: Sequence[Candidate]
) -> Callable[[Sequence[tuple[Candidate, Candidate]]], list[float]]:
    """Embed the names of candidates, and return a function that tells how alike pairs of them are."""
    import numpy as np

    rows: dict[str, NDArray[np.float32]] = {}
    for part in batched(await asyncio.to_thread(comparable, candidates), _NAMES_AT_ONCE):
        texts = [candidate.text for candidate in part]
        vectors = unit_vectors(await embed_texts(embedder, texts, texts))
        rows.update(zip((candidate.id for candidate in part), vectors, strict=True))

    usual = await usual_cosine(embedder)

    def similarities(pairs: Sequence[tuple[Candidate, Candidate]]) -> list[float]:
        cosines = np.vecdot([rows[a.id] for a, _ in pairs], [rows[b.id] for _, b in pairs])
        found: list[float] = likeness(cosines, usual).tolist()
        return found

    return similarities
