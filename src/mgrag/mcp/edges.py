"""Edges as an agent reads them: ids cost a model more than all the rest, and tell it nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from core.rag.graph.parts import GraphEdge, GraphNode


def named(edges: Iterable[GraphEdge], nodes: Iterable[GraphNode]) -> list[dict[str, Any]]:
    """Edges with the names of their ends, and what else is known of them.

    Args:
        edges: The edges.
        nodes: Their ends. Of several with the same name, each is told by its id.
    """
    names = {node.id: node.name for node in nodes}
    shared = Counter(names.values())
    told = {identifier: name if shared[name] == 1 else identifier for identifier, name in names.items()}
    rest = ("fact", "origin", "valid_from", "valid_to")
    return [
        {"source": told[edge.source], "type": edge.type, "target": told[edge.target]}
        | ({"weight": edge.weight} if edge.weight != 1 else {})
        | {name: value for name in rest if (value := getattr(edge, name))}
        for edge in edges
    ]
