"""The data types of a traversal: nodes, edges, paths, and inferred connections."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Node:
    """A node of the knowledge graph.

    Attributes:
        id: Its id.
        label: Its label: ``Entity``, ``DocumentChunk``, ``Document`` …
        name: What it is called: the name of an entity, the title of a document, the heading or path of a chunk.
        content: What is said of it: the text of a chunk, name and summary of an entity.
        metadata: Whatever else it has: ``type`` of an entity, metadata of a document or chunk.
        score: Of an entry point: how well it fits the query, 0 to 1.
    """

    id: str
    label: str
    name: str
    content: str
    metadata: Mapping[str, Any] = field(default_factory=dict, hash=False)
    score: float = field(default=0.0, compare=False)


@dataclass(frozen=True, slots=True)
class Edge:
    """An edge, in the direction that it has in the graph.

    Attributes:
        source: Id of the node that it leaves.
        target: Id of the node that it enters.
        type: What it says: the type of a fact between entities (``works_at``), else the edge type (``MENTIONS``).
        kind: The edge type in the graph.
        weight: How strong it is, 0 to 1.
        fact: A sentence, where it has one.
        chunk_ids: The chunks that say so, where it is known.
        inferred: Whether it was inferred and written back, rather than found in a source.
    """

    source: str
    target: str
    type: str
    kind: str = "RELATED"
    weight: float = 1.0
    fact: str = ""
    chunk_ids: tuple[str, ...] = ()
    inferred: bool = False


@dataclass(frozen=True, slots=True)
class Path:
    """A walk through the graph that visits no node twice.

    Attributes:
        nodes: At least one, the entry point first.
        edges: One fewer than nodes; edge ``i`` joins nodes ``i`` and ``i + 1``, in either direction.
        covered: The words of the query that its nodes contain.
        content_relevance: The share of the words of the query that its nodes contain, 0 to 1.
        score: 0 to 1; see :mod:`core.rag.answering.drift.scoring`.
        bonus: What an inferred connection added to the score.
    """

    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...] = ()
    covered: frozenset[str] = frozenset()
    content_relevance: float = 0.0
    score: float = 0.0
    bonus: float = 0.0

    @property
    def ids(self) -> tuple[str, ...]:
        """Ids of its nodes, in order."""
        return tuple(node.id for node in self.nodes)

    @property
    def key(self) -> tuple[tuple[str, str], ...]:
        """Equal for paths over the same nodes and types of edges, in whichever direction they were walked."""
        steps = tuple(zip((*(edge.type for edge in self.edges), ""), self.ids, strict=True))
        types = (*(edge.type for edge in reversed(self.edges)), "")
        return min(steps, tuple(zip(types, reversed(self.ids), strict=True)))

    def __str__(self) -> str:
        """As ``A -[type]-> B <-[type]- C``."""
        text = self.nodes[0].name
        for node, edge in zip(self.nodes[1:], self.edges, strict=True):
            forward = edge.target == node.id
            text += f" -[{edge.type}]-> {node.name}" if forward else f" <-[{edge.type}]- {node.name}"
        return text

    def to_dict(self) -> dict[str, Any]:
        """Convert to plain values that JSON can hold."""
        return {
            "score": self.score,
            "content_relevance": self.content_relevance,
            "bonus": self.bonus,
            "text": str(self),
            "nodes": [{"id": node.id, "label": node.label, "name": node.name} for node in self.nodes],
            "edges": [
                {
                    "source": edge.source,
                    "target": edge.target,
                    "type": edge.type,
                    "weight": edge.weight,
                    "fact": edge.fact,
                    "inferred": edge.inferred,
                }
                for edge in self.edges
            ],
        }


@dataclass(frozen=True, slots=True)
class InferredConnection:
    """A connection that the graph does not have, but that something speaks for.

    Attributes:
        source: Id of a node.
        target: Id of another node.
        type: What the connection is.
        confidence: 0 to 1.
        reasoning: What speaks for it, in words.
        strategy: How it was inferred; not the one asked for where that was not possible.
    """

    source: str
    target: str
    type: str
    confidence: float
    reasoning: str
    strategy: str = "semantic"

    def to_dict(self) -> dict[str, Any]:
        """Convert to plain values that JSON can hold."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class KnowledgeGap:
    """Something that the paths found leave open.

    Attributes:
        kind: ``missing_words`` (words of the query that no path contains), ``disconnected`` (parts of what was found
            that no path joins), ``weak_link`` (a path that hangs on a weak or inferred edge) or ``no_paths``.
        description: In words.
        node_ids: The nodes that it is about.
        words: The words of the query that it is about.
    """

    kind: str
    description: str
    node_ids: tuple[str, ...] = ()
    words: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Convert to plain values that JSON can hold."""
        return asdict(self)


@dataclass(slots=True)
class TraversalStats:
    """What a traversal did.

    Attributes:
        visited_edges: Edges that were looked at.
        visited_nodes: Nodes that were read.
        statements: Queries sent to the graph.
        depth: Longest path followed, in edges.
        cached: Traversals that were answered from the cache.
        limits: What was left out, one sentence each; empty where everything within reach was looked at.
    """

    visited_edges: int = 0
    visited_nodes: int = 0
    statements: int = 0
    depth: int = 0
    cached: int = 0
    limits: list[str] = field(default_factory=list)

    def limited(self, sentence: str) -> None:
        """Note once that something was left out."""
        if sentence not in self.limits:
            self.limits.append(sentence)

    def add(self, other: TraversalStats, *, cached: bool = False) -> None:
        """Add what another traversal did; one from the cache sent no statements of its own."""
        self.visited_edges += other.visited_edges
        self.visited_nodes += other.visited_nodes
        self.statements += 0 if cached else other.statements
        self.depth = max(self.depth, other.depth)
        self.cached += cached
        for sentence in other.limits:
            self.limited(sentence)
