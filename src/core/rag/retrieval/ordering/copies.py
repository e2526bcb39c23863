"""Passages that say the same, word for word: of copies and versions of a file, of pages with a part in common."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from core.rag.retrieval.hits import Hit
from core.rag.retrieval.ordering.quotations import quoted_first, quoting

#: A shorter text ("Closed on Mondays.") also says something of the document that it is in.
_ENOUGH: Final = 200


def apart(hits: Iterable[Hit]) -> tuple[list[Hit], list[Hit]]:
    """Tell copies of better hits from the others.

    Args:
        hits: The hits, best first.

    Returns:
        The hits but those that say what a better one says, or only quote another one, each with the paths of its
        copies in ``also_in``; and these copies, in order. What others only quote comes before them.
    """
    return _apart(quoted_first(list(hits)))


def _apart(hits: list[Hit]) -> tuple[list[Hit], list[Hit]]:
    sources = quoting(hits)
    first: dict[tuple[str, ...], Hit] = {}
    copies: list[Hit] = []
    paths: dict[str, list[str]] = {}
    for hit in hits:
        source = sources.get(hit.chunk_id, hit)
        if (same := first.setdefault(_said(source), source)) is not hit:
            copies.append(hit)
            also = paths.setdefault(same.chunk_id, list(same.also_in))
            also += (path for path in dict.fromkeys((hit.path, *hit.also_in)) if path not in (same.path, *also))
    return [replace(hit, also_in=paths.get(hit.chunk_id, hit.also_in)) for hit in first.values()], copies


def preferring_others(hits: Iterable[Hit], k: int) -> list[Hit]:
    """Return the best ``k`` hits, in order; copies of better ones are among them only if there are too few others."""
    hits = quoted_first(list(hits))
    others, copies = _apart(hits)
    best = {hit.chunk_id: hit for hit in [*others, *copies][:k]}
    return [best[hit.chunk_id] for hit in hits if hit.chunk_id in best]


def _said(hit: Hit) -> tuple[str, ...]:
    """Return what is equal for copies. "None." below another heading says something else."""
    text = " ".join(hit.content.split())
    said = (text, hit.heading, hit.table_header)
    return said if len(text) >= _ENOUGH else (*said, hit.title)
