"""Personalised PageRank between passages and entities, pulled back to the question in every round.

    passages = (1 - c) * restart + c * (entities -> passages), times the similarity to the question, renormalised
    entities = (1 - c) * restart + c * (passages -> entities)

A passage hands on its mass by (1 + ln count) * ln(1 + N / n), an entity by the same, ``TITLE_BOOST`` times as much to
the passages that it is the title of. T. Haveliwala, "Topic-sensitive PageRank", WWW 2002; used for multi-hop questions
by B. Gutiérrez et al., "HippoRAG", arXiv:2405.14831. Measured here in docs/adr/0013-graph-retrieval.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain
from typing import TYPE_CHECKING, Final

import numpy as np

from core.rag.retrieval.graph.neighbourhood import Neighbourhood

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: Share of the mass that moves on in each round; the rest restarts.
CONTINUATION: Final = 0.8
ROUNDS: Final = 20
TITLE_BOOST: Final = 20.0
#: Minimum similarity of a passage, so that it never blocks the walk.
_LEAST_SIMILARITY: Final = 1e-3


def pagerank(
    around: Neighbourhood,
    entities: Mapping[str, float],
    passages: Mapping[str, float],
    similarity: Mapping[str, float],
) -> dict[str, float]:
    """Compute how much of a random walk that starts at the question is at each passage.

    Args:
        around: The neighbourhood to walk in.
        entities: Start weights of entities, not negative; together half of the start.
        passages: Start weights of passages; the whole start if no entity has a weight.
        similarity: Similarity of each passage to the question, not negative.

    Returns:
        Mass by passage, with the sum 1; empty if there is nothing to start from.
    """
    names = sorted(around.mentions)
    things = sorted({*entities, *chain.from_iterable(around.mentions.values())})
    begin_there = _shares(things, entities)
    begin_here = _shares(names, passages)
    if not names or not (begin_there.any() or begin_here.any()):
        return {}
    if begin_there.any() and begin_here.any():
        begin_there, begin_here = begin_there / 2, begin_here / 2
    rows, columns, weights, boosts = _edges(around, names, things)
    boosted = weights * boosts

    # Products with a sparse matrix. Importing SciPy takes 0.2 s and 15 MB, and is not faster for so few edges.
    def to_passages(mass: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.bincount(rows, weights=boosted * mass[columns], minlength=len(names))

    def to_entities(mass: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.bincount(columns, weights=weights * mass[rows], minlength=len(things))

    leaving = 1 / np.maximum(np.bincount(rows, weights=weights, minlength=len(names)), 1e-12)
    arriving = 1 / np.maximum(np.bincount(columns, weights=boosted, minlength=len(things)), 1e-12)
    like = np.array([max(similarity.get(name, 0.0), _LEAST_SIMILARITY) for name in names])
    here, there = begin_here.copy(), begin_there.copy()
    for _ in range(ROUNDS):
        moved = (1 - CONTINUATION) * begin_here + CONTINUATION * to_passages(there * arriving)
        there = (1 - CONTINUATION) * begin_there + CONTINUATION * to_entities(here * leaving)
        liked = moved * like
        here = liked * (moved.sum() / liked.sum()) if liked.sum() > 0 else moved
    mass = here.sum()
    return {name: float(share / mass) for name, share in zip(names, here, strict=True)} if mass > 0 else {}


def _edges(
    around: Neighbourhood, names: list[str], things: list[str]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]:
    """Return, for each mention, row (passage), column (entity), weight, and factor of the weight on the way back."""
    held = [around.mentions[name] for name in names]
    number = sum(map(len, held))
    place = {entity: column for column, entity in enumerate(things)}
    columns = np.fromiter(map(place.__getitem__, chain.from_iterable(held)), np.int64, number)
    counts = np.fromiter(chain.from_iterable(mentions.values() for mentions in held), np.float64, number)
    rows = np.repeat(np.arange(len(names)), [len(mentions) for mentions in held])
    edges = rows * len(things) + columns
    order = np.argsort(edges)  # a fixed order, since sums depend on it
    row_of = {name: row for row, name in enumerate(names)}
    titles = [
        row_of[passage] * len(things) + place[entity]
        for entity, passages in around.subjects.items()
        for passage in passages
    ]
    boosts = np.where(np.isin(edges, np.array(titles, dtype=np.int64)), TITLE_BOOST, 1.0)
    rarities = np.array([around.rarity(entity) for entity in things], dtype=np.float64)
    weights = (1 + np.log(np.maximum(counts, 1.0))) * rarities[columns]
    return rows[order], columns[order], weights[order], boosts[order]


def _shares(keys: list[str], weights: Mapping[str, float]) -> NDArray[np.float64]:
    values = np.array([max(weights.get(key, 0.0), 0.0) for key in keys], dtype=np.float64)
    total = values.sum()
    return values / total if total > 0 else values
