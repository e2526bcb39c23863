"""The results of exploring the graph: nodes, edges, and parts of it."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from core.rag.keyed import Keyed

if TYPE_CHECKING:
    from core.rag.dbhandler.store import Row


@dataclass(frozen=True, slots=True)
class GraphNode:
    """A node.

    Attributes:
        id: Its id.
        name: What it is called.
        label: ``Entity``, ``Concept``, ``Topic`` …
        type: What kind of entity it is, by field or rule; the label of a node of a KnowledgeGraph.
        distance: Edges from where the walk began.
        mentions: How often chunks mention it, where that was asked for.
    """

    id: str
    name: str
    label: str
    type: str = ""
    distance: int = 0
    mentions: int | None = None

    @classmethod
    def of(cls, row: Row, distance: int = 0) -> GraphNode:
        """From a row of :mod:`core.rag.dbhandler.traversal`."""
        return cls(row["id"], row["name"], str(row["label"]), row["kind"], distance, row.get("mentions"))


@dataclass(frozen=True, slots=True)
class GraphEdge:
    """An edge.

    Attributes:
        source: Id of the node that it leads from.
        target: Id of the node that it leads to.
        type: What it says: the relation (``works_at``), or the type of the edge (``SAME_AS``).
        id: Its id, where it has one: that of a link made by hand.
        fact: The relation in words, where it is known.
        weight: How much it counts; 1 unless it says otherwise.
        origin: ``caller`` for a link made by hand.
    """

    source: str
    target: str
    type: str
    id: str = ""
    fact: str = ""
    weight: float = 1.0
    origin: str = ""

    @classmethod
    def of(cls, row: Row) -> GraphEdge:
        """From a row of :mod:`core.rag.dbhandler.traversal`."""
        ends = (row["here"], row["id"]) if row["outward"] else (row["id"], row["here"])
        return cls(
            *ends,
            type=row["relation"] or str(row["edge"]),
            id=row["edge_id"] or "",
            fact=row["fact"] or "",
            weight=weight_of(row),
            origin=row["origin"] or "",
        )

    @property
    def key(self) -> tuple[str, str, str, str]:
        """What tells it from other edges."""
        return (self.source, self.target, self.type, self.id)


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of the graph.

    Attributes:
        start: Where the walk began.
        nodes: Without the start, nearest first; among equals the order of the walk.
        edges: Those between all of these nodes that the walk saw.
        truncated: Whether there is more than this.
        next: What to give as ``after`` to go on; empty at the end.
        hubs: Nodes with so many edges that only the heaviest were followed, with the number of all of them.
    """

    start: GraphNode
    nodes: list[GraphNode] = field(default_factory=list)
    edges: list[GraphEdge] = field(default_factory=list)
    truncated: bool = False
    next: str = ""
    hubs: dict[str, int] = field(default_factory=dict)

    @property
    def names(self) -> dict[str, str]:
        """Names by id, the start included."""
        return {node.id: node.name for node in (self.start, *self.nodes)}

    def to_dict(self) -> dict[str, Any]:
        """Convert to plain values that JSON can hold."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class EdgePage:
    """Edges of the entity graph.

    Attributes:
        edges: By the ids of their ends, at most as many as were asked for.
        names: What the entities at their ends are called, by id.
        next: What to give as ``after`` to go on; empty at the end.
    """

    edges: list[GraphEdge]
    names: dict[str, str]
    next: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Convert to plain values that JSON can hold."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class NeighbourPage:
    """The neighbours of a node.

    Attributes:
        node: The node.
        nodes: Neighbours by name, at most as many as were asked for.
        edges: The edges to them.
        degree: How many edges the node has in all.
        truncated: Whether there are more neighbours.
        next: What to give as ``after`` to go on; empty at the end.
        symbols: Where the node is an entity, what source code defines under the name that was asked for.
    """

    node: GraphNode
    nodes: list[GraphNode]
    edges: list[GraphEdge]
    degree: int
    truncated: bool = False
    next: str = ""
    symbols: list[GraphNode] = field(default_factory=list)

    def to_dict(self) -> dict[str, Any]:
        """Convert to plain values that JSON can hold."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Path:
    """A path.

    Attributes:
        nodes: From one end to the other; ``distance`` counts edges.
        edges: One for each step, the heaviest where there are several.
        cost: The number of edges; the sum of ``1 / weight`` where weights count.
        exact: Whether no other path is shorter. Where weights count, and there are hubs of which only the heaviest
            edges were followed, there may be one.
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
        nodes_by_type: Entities by their type.
        edges_by_type: Edges by relation; ``SAME_AS`` for merged entities.
        mentions: Edges from chunks to the entities that they mention.
        records: Records.
        concepts: Nodes of the KnowledgeGraph, concepts included.
        concept_edges: Edges between these.
        topics: Topics.
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

    @classmethod
    def of(cls, counts: dict[str, Any]) -> GraphStats:
        """From :meth:`~core.rag.dbhandler.traversal.TraversalOperations.entity_graph_counts`."""
        rest = dict(counts)
        nodes = dict(sorted(rest.pop("nodes").items()))
        edges = rest.pop("edges")
        if same := rest.pop("same_as"):
            edges["SAME_AS"] = same
        return cls(sum(nodes.values()), sum(edges.values()), nodes, dict(sorted(edges.items())), **rest)


def weight_of(row: Row) -> float:
    """The weight of the edge in a row; 1 where it has none that makes sense."""
    weight = row["weight"] if row["weight"] is not None else row["count"]
    return float(weight) if weight is not None and weight > 0 else 1.0
