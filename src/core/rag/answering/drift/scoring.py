"""Path scoring: pure functions, independent of the graph.

``score = 0.5 * content_relevance + 0.3 * edge_weight + 0.2 * length_penalty``, clamped to 0 to 1, where
content_relevance is the share of the words of the query that the path contains, edge_weight the mean weight of its
edges (0 without any), and length_penalty ``1 / (1 + 0.1 * number of nodes)``. An inferred connection at one of its
nodes adds up to 0.1, by its confidence.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from core.rag.answering.drift.paths import InferredConnection, Path
from core.rag.schema import EdgeType

CONTENT_SHARE = 0.5
EDGE_SHARE = 0.3
LENGTH_SHARE = 0.2
LENGTH_STEP = 0.1

#: What an inference of confidence 1 adds to the score of a path that it touches.
INFERENCE_BONUS = 0.1

#: Edges that say where a name stands, and nothing about what it names.
_ABOUT_TEXTS = frozenset({EdgeType.MENTIONS, EdgeType.TITLED, EdgeType.CHUNK_OF, EdgeType.NEXT})


def clamp(value: float) -> float:
    """Return the value, or the nearer of 0 and 1; 0 for NaN."""
    return min(max(value, 0.0), 1.0) if value == value else 0.0


def length_penalty(num_nodes: int) -> float:
    """Less than 1, and less the longer the path is."""
    return 1.0 / (1.0 + num_nodes * LENGTH_STEP)


def mean_weight(weights: Sequence[float]) -> float:
    """Return the mean of the weights, each clamped; 0 without edges."""
    return sum(map(clamp, weights)) / len(weights) if weights else 0.0


def path_score(content_relevance: float, weights: Sequence[float], num_nodes: int) -> float:
    """Return the score of a path without inferences.

    Args:
        content_relevance: 0 to 1.
        weights: Of its edges.
        num_nodes: How many nodes it has, at least 1.

    Returns:
        0 to 1.

    Example:
        >>> round(path_score(1.0, [0.9], 2), 4)
        0.9367
    """
    return clamp(
        CONTENT_SHARE * clamp(content_relevance)
        + EDGE_SHARE * mean_weight(weights)
        + LENGTH_SHARE * length_penalty(num_nodes)
    )


def scored(path: Path, inferences: Sequence[InferredConnection] = ()) -> Path:
    """Return the path with its score and bonus."""
    base = path_score(path.content_relevance, [edge.weight for edge in path.edges], len(path.nodes))
    ids = set(path.ids)
    touching = [item.confidence for item in inferences if item.source in ids or item.target in ids]
    score = clamp(base + INFERENCE_BONUS * clamp(max(touching, default=0.0)))
    return replace(path, score=score, bonus=score - base)


def rank(
    paths: Iterable[Path], inferences: Sequence[InferredConnection], *, top_k: int, min_score: float
) -> list[Path]:
    """Score paths anew and keep the best.

    A path that was found twice, from either end, counts once. A path that is part of a better one says nothing new, and
    neither does one that goes on from a better one only to names that a text mentions, none of them in the query.

    Args:
        paths: In any order.
        inferences: Valid ones; they raise the scores of the paths that they touch.
        top_k: Maximum number to return.
        min_score: Paths below are dropped.

    Returns:
        Best first; equal ones shorter first, then by their ids.
    """
    kept: list[Path] = []
    seen: set[tuple[tuple[str, str], ...]] = set()
    for path in sorted((scored(path, inferences) for path in paths), key=order):
        if len(kept) == top_k or path.score < min_score:
            break
        if path.key not in seen and not any(_contains(better, path) or _adds_nothing(better, path) for better in kept):
            kept.append(path)
        seen.add(path.key)
    return kept


def order(path: Path) -> tuple[float, int, tuple[str, ...]]:
    """Return the key that sorts paths best first."""
    return (-path.score, len(path.nodes), path.ids)


def _adds_nothing(better: Path, path: Path) -> bool:
    size = len(better.nodes)
    return (
        size < len(path.nodes)
        and path.ids[:size] == better.ids
        and path.covered <= better.covered
        and all(node.content in ("", node.name) for node in path.nodes[size:])
        and all(edge.kind in _ABOUT_TEXTS for edge in path.edges[size - 1 :])
    )


def _contains(longer: Path, path: Path) -> bool:
    size = len(path.edges)
    ids, types = path.ids, tuple(edge.type for edge in path.edges)
    long_ids, long_types = longer.ids, tuple(edge.type for edge in longer.edges)
    for start in range(len(long_ids) - size):
        part, between = long_ids[start : start + size + 1], long_types[start : start + size]
        if (part, between) == (ids, types) or (part[::-1], between[::-1]) == (ids, types):
            return True
    return False
