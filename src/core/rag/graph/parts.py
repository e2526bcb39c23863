"""The results of exploring the graph: nodes, edges, and parts of it."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from core.rag.dbhandler.knowledge.periods import Period
from core.rag.keyed import Keyed, Plain

if TYPE_CHECKING:
    from core.rag.dbhandler.store import Row


@dataclass(frozen=True, slots=True)
class GraphNode(Plain):
    """A node of the graph.

    Attributes:
        id: Its id.
        name: Its name.
        label: ``Entity``, ``Concept``, ``Topic`` …
        type: Type of an entity; the label of a node of a KnowledgeGraph.
        distance: Number of edges from the start of the traversal.
        mentions: How often chunks mention it, if that was asked for.
    """

    id: str
    name: str
    label: str
    type: str = ""
    distance: int = 0
    mentions: int | None = None

    @classmethod
    def of(cls, row: Row, distance: int = 0) -> GraphNode:
        """From a row of :mod:`core.rag.dbhandler.knowledge.nodes`."""
        return cls(row["id"], row["name"], str(row["label"]), row["kind"], distance, row.get("mentions"))


@dataclass(frozen=True, slots=True)
class GraphEdge(Plain):
    """An edge of the graph.

    Attributes:
        source: Id of the start node.
        target: Id of the end node.
        type: The relation (``works_at``), or the type of the edge (``SAME_AS``).
        id: Id of an edge between entities, by which a link made by hand is removed; other edges have none.
        fact: The relation as a sentence, if known.
        weight: Its weight; 1 by default.
        origin: ``caller`` for a link made by hand.
        valid_from: When it began to hold, if that was stated: UTC, ISO 8601.
        valid_to: When it ceased to hold, likewise.
    """

    source: str
    target: str
    type: str
    id: str = ""
    fact: str = ""
    weight: float = 1.0
    origin: str = ""
    valid_from: str = ""
    valid_to: str = ""

    @classmethod
    def of(cls, row: Row) -> GraphEdge:
        """From a row of :mod:`core.rag.dbhandler.knowledge.traversal`."""
        ends = (row["here"], row["id"]) if row["outward"] else (row["id"], row["here"])
        return cls(
            *ends,
            type=row["relation"] or str(row["edge"]),
            id=row["edge_id"] or "",
            fact=row["fact"] or "",
            weight=weight_of(row),
            origin=row["origin"] or "",
            valid_from=row.get("valid_from") or "",
            valid_to=row.get("valid_to") or "",
        )

    @property
    def key(self) -> tuple[str, str, str, str]:
        """The fields that identify an edge."""
        return (self.source, self.target, self.type, self.id)

    @property
    def said(self) -> str:
        """The relation, as a sentence if it has one, and the period in which it holds."""
        period = str(Period(self.valid_from, self.valid_to))
        return f"{self.fact or self.type} ({period})" if period else self.fact or self.type


@dataclass(frozen=True, slots=True)
class Piece(Plain):
    """A part of the graph.

    Attributes:
        start: The node where the traversal started.
        nodes: The other nodes, nearest first, then in the order of the traversal.
        edges: The edges between these nodes that the traversal saw.
        truncated: Whether there is more than this.
        next: The ``after`` of the next page; empty at the end.
        hubs: Nodes with so many edges that only the heaviest were followed, with their total number of edges.
    """

    start: GraphNode
    nodes: list[GraphNode] = field(default_factory=list)
    edges: list[GraphEdge] = field(default_factory=list)
    truncated: bool = False
    next: str = ""
    hubs: dict[str, int] = field(default_factory=dict)

    @property
    def names(self) -> dict[str, str]:
        """Return the names of all nodes, including the start, by id."""
        return {node.id: node.name for node in (self.start, *self.nodes)}


@dataclass(frozen=True, slots=True)
class EdgePage(Plain):
    """Edges of the entity graph.

    Attributes:
        edges: Edges in the order of the ids of their ends.
        names: Names of the entities at their ends, by id.
        next: The ``after`` of the next page; empty at the end.
    """

    edges: list[GraphEdge]
    names: dict[str, str]
    next: str = ""


@dataclass(frozen=True, slots=True)
class NeighbourPage(Plain):
    """The neighbours of a node.

    Attributes:
        node: The node.
        nodes: Neighbours, in the order of their names.
        edges: The edges to them.
        degree: Total number of edges of the node.
        truncated: Whether there are more neighbours.
        next: The ``after`` of the next page; empty at the end.
        symbols: If the node is an entity: symbols that source code defines under the requested name.
    """

    node: GraphNode
    nodes: list[GraphNode]
    edges: list[GraphEdge]
    degree: int
    truncated: bool = False
    next: str = ""
    symbols: list[GraphNode] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Path:
    """A path between two nodes.

    Attributes:
        nodes: From one end to the other; ``distance`` counts edges.
        edges: One for each step; of parallel edges the heaviest.
        cost: The number of edges; for a weighted path the sum of ``1 / weight``.
        exact: Whether no path can be shorter. False for a weighted path if hubs were met, of which only the heaviest
            edges were followed.
    """

    nodes: list[GraphNode]
    edges: list[GraphEdge]
    cost: float
    exact: bool = True

    @property
    def length(self) -> int:
        """The number of edges."""
        return len(self.edges)

    def to_dict(self) -> dict[str, Any]:
        """Convert to plain values that JSON can hold."""
        return {**asdict(self), "length": self.length}


@dataclass(frozen=True, slots=True)
class GraphStats(Keyed):
    """Counts of the entity graph.

    Attributes:
        nodes: Entities.
        edges: Edges between entities.
        nodes_by_type: Entities by type.
        edges_by_type: Edges by relation; ``SAME_AS`` for merged entities.
        mentions: Edges from chunks to the entities that they mention.
        records: Records.
        concepts: Nodes of the KnowledgeGraph, including concepts.
        concept_edges: Edges between nodes of the KnowledgeGraph.
        topics: Topics.
        past: Facts that do not hold now: they ended, or begin later. They are not among the edges.
    """

    nodes: int
    edges: int
    nodes_by_type: dict[str, int]
    edges_by_type: dict[str, int]
    mentions: int = 0
    records: int = 0
    concepts: int = 0
    concept_edges: int = 0
    topics: int = 0
    past: int = 0

    @classmethod
    def of(cls, counts: dict[str, Any]) -> GraphStats:
        """From :meth:`~core.rag.dbhandler.knowledge.traversal.TraversalOperations.entity_graph_counts`."""
        rest = dict(counts)
        nodes = dict(sorted(rest.pop("nodes").items()))
        edges = rest.pop("edges")
        if same := rest.pop("same_as"):
            edges["SAME_AS"] = same
        return cls(sum(nodes.values()), sum(edges.values()), nodes, dict(sorted(edges.items())), **rest)


def weight_of(row: Row) -> float:
    """Return the weight of the edge in a row; 1 if it has no valid one."""
    weight = row["weight"] if row["weight"] is not None else row["count"]
    return float(weight) if weight is not None and weight > 0 else 1.0
