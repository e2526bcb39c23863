"""Where the nodes of a drawing stand: by springs, or by their distance from the start if they are many."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Final

from core.rag.graph.drawing.graphml import to_networkx
from core.rag.graph.parts import Piece

Point = tuple[float, float]

#: The most nodes that springs are computed for: every node is compared with every other one in each of the rounds. For
#: more, networkx would need SciPy.
MOST_WITH_SPRINGS: Final = 499

_ROUNDS: Final = 80
_GOLDEN: Final = (math.sqrt(5) - 1) / 2


def places(piece: Piece) -> dict[str, Point]:
    """Return where the nodes of a piece stand in a square with sides of 1, the same every time."""
    if not piece.nodes:
        return {piece.start.id: (0.5, 0.5)}
    found = _by_springs(piece) if len(piece.nodes) + 1 <= MOST_WITH_SPRINGS else _by_distance(piece)
    low = (min(x for x, _ in found.values()), min(y for _, y in found.values()))
    reach = (max(x for x, _ in found.values()) - low[0] or 1.0, max(y for _, y in found.values()) - low[1] or 1.0)
    return {key: ((x - low[0]) / reach[0], (y - low[1]) / reach[1]) for key, (x, y) in found.items()}


def _by_springs(piece: Piece) -> dict[str, Point]:
    """Fruchterman and Reingold 1991."""
    import networkx

    graph = networkx.Graph(to_networkx(piece))
    found: Mapping[str, Any] = networkx.spring_layout(graph, seed=7, k=2.2 / math.sqrt(len(graph)), iterations=_ROUNDS)
    return {key: (float(x), float(y)) for key, (x, y) in found.items()}


def _by_distance(piece: Piece) -> dict[str, Point]:
    """Around the start, the nearer to it the further in; what is reached through a node is on its side."""
    order = list(dict.fromkeys(node.id for node in (piece.start, *piece.nodes)))
    distance = {node.id: node.distance for node in piece.nodes} | {piece.start.id: 0}
    parents = _parents(piece, order, distance)
    below = dict.fromkeys(order, 1)
    for key in reversed(order[1:]):
        below[parents[key]] += below[key]
    begins = {piece.start.id: 0.0}  # of the part of the circle that is left for what is reached through a node
    angles: dict[str, float] = {}
    for key in order[1:]:
        begin, parent = begins[parents[key]], parents[key]
        share = below[key] / len(order)
        begins[parent] = begin + share
        begins[key] = begin
        angles[key] = 2 * math.pi * (begin + share / 2)
    found = {piece.start.id: (0.0, 0.0)}
    inside = 1
    for far in sorted({distance[key] for key in angles}):
        ring = sorted((key for key in angles if distance[key] == far), key=lambda key: (angles[key], key))
        for number, key in enumerate(ring):
            # Spread evenly between the rings before and after this one, so that neighbours do not cover each other.
            part = inside + len(ring) * (number * _GOLDEN % 1.0)
            radius = math.sqrt(part / len(order))
            found[key] = (radius * math.cos(angles[key]), radius * math.sin(angles[key]))
        inside += len(ring)
    return found


def _parents(piece: Piece, order: list[str], distance: Mapping[str, int]) -> dict[str, str]:
    """Return for each node but the start a nearer one that it is connected with; the start if none is drawn."""
    rank = {key: number for number, key in enumerate(order)}
    found: dict[str, str] = {}
    for edge in piece.edges:
        for key, nearer in ((edge.source, edge.target), (edge.target, edge.source)):
            if key in rank and nearer in rank and distance[nearer] < distance[key]:
                known = found.get(key)
                if known is None or rank[nearer] < rank[known]:
                    found[key] = nearer
    return {key: found.get(key, piece.start.id) for key in order[1:]}
