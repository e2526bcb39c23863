"""Writes a part of the graph as GraphML (http://graphml.graphdrawing.org), for Gephi, yEd, igraph and networkx."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from core.rag.dbhandler.knowledge.periods import Period
from core.rag.graph.drawing.texts import printable
from core.rag.graph.parts import Piece

if TYPE_CHECKING:
    import networkx


def to_graphml(piece: Piece) -> str:
    """Write GraphML: nodes with ``name, label, type, distance``, and edges with ``type, fact, weight`` and times."""
    import networkx

    buffer = io.BytesIO()
    networkx.write_graphml_lxml(to_networkx(piece), buffer, encoding="utf-8", prettyprint=True)
    return buffer.getvalue().decode()


def to_networkx(piece: Piece) -> networkx.MultiDiGraph:
    """Return a piece of the graph as a networkx graph, for all that networkx can compute."""
    import networkx

    graph: networkx.MultiDiGraph = networkx.MultiDiGraph()
    for node in (piece.start, *piece.nodes):
        graph.add_node(
            node.id, name=printable(node.name), label=node.label, type=printable(node.type), distance=node.distance
        )
    for edge in piece.edges:
        if edge.source in graph and edge.target in graph:
            times = Period(edge.valid_from, edge.valid_to).stored
            graph.add_edge(
                edge.source,
                edge.target,
                type=printable(edge.type),
                fact=printable(edge.fact),
                weight=edge.weight,
                **times,
            )
    return graph
