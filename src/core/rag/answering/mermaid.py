"""Draws entities and relations as a Mermaid diagram that is valid whatever their names contain."""

from __future__ import annotations

from collections.abc import Sequence

from core.rag.answering.types import FoundEntity, FoundFact
from core.rag.graph.drawing.mermaid import mermaid_label

MAX_LABEL_CHARS = 60
MAX_NODES = 40


def mermaid_diagram(nodes: Sequence[FoundEntity], edges: Sequence[FoundFact]) -> str:
    """Draw a flowchart of at most ``MAX_NODES`` nodes; edges to others are left out.

    Args:
        nodes: Entities, the most important first; those at the ends of edges need not be among them.
        edges: Relations, the most important first.

    Returns:
        Mermaid source; empty without nodes and edges. Names are labels
        (:func:`core.rag.graph.drawing.mermaid.mermaid_label`), ids are ``n0``, ``n1`` …

    Example:
        >>> print(mermaid_diagram([], [FoundFact("1", "Alice", "2", "Google", "WORKS_FOR", "")]))
        graph LR
            n0["Alice"]
            n1["Google"]
            n0 -->|"WORKS_FOR"| n1
    """
    names: dict[str, str] = {}
    for edge in edges:
        names.setdefault(edge.source_id, edge.source)
        names.setdefault(edge.target_id, edge.target)
    for node in nodes:
        names.setdefault(node.id, node.name)
    keys = {identifier: f"n{index}" for index, identifier in enumerate(list(names)[:MAX_NODES])}
    if not keys:
        return ""
    lines = ["graph LR"]
    lines += [f'    {key}["{mermaid_label(names[identifier], MAX_LABEL_CHARS)}"]' for identifier, key in keys.items()]
    drawn = {
        (edge.source_id, edge.type, edge.target_id): None
        for edge in edges
        if edge.source_id in keys and edge.target_id in keys
    }
    lines += [f'    {keys[a]} -->|"{mermaid_label(kind, MAX_LABEL_CHARS)}"| {keys[b]}' for a, kind, b in drawn]
    return "\n".join(lines)
