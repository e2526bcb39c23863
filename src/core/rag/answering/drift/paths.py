"""The data types of a traversal: nodes, edges, paths, and inferred connections."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from core.rag.dbhandler.knowledge.periods import ALWAYS, Period
from core.rag.keyed import Plain
from core.rag.schema import Label

#: Nodes that are of a document, so that a filter applies to them.
TEXTS = frozenset({Label.CHUNK, Label.DOCUMENT, Label.RECORD})


@dataclass(frozen=True, slots=True)
class Node:
    """A node of the knowledge graph.

    Attributes:
        id: Its id.
        label: Its label: ``Entity``, ``DocumentChunk``, ``Document`` …
        name: The name of an entity, the title of a document, the heading or path of a chunk.
        content: The text of a chunk, name and summary of an entity.
        metadata: Other properties: ``type`` of an entity, metadata of a document or chunk.
        score: How well an entry point matches the query, 0 to 1.
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
        source: Id of the start node.
        target: Id of the end node.
        type: The relation of a fact between entities (``works_at``), else the edge type (``MENTIONS``).
        kind: The edge type in the graph.
        weight: Its strength, 0 to 1.
        fact: The relation as a sentence, if it has one.
        chunk_ids: Ids of the chunks that support it, if known.
        inferred: Whether it was inferred and stored, not found in a source.
        period: When a fact holds.
    """

    source: str
    target: str
    type: str
    kind: str = "RELATED"
    weight: float = 1.0
    fact: str = ""
    chunk_ids: tuple[str, ...] = ()
    inferred: bool = False
    period: Period = ALWAYS


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
        """A key that is equal for paths over the same nodes and types of edges, in either direction."""
        steps = tuple(zip((*(edge.type for edge in self.edges), ""), self.ids, strict=True))
        types = (*(edge.type for edge in reversed(self.edges)), "")
        return min(steps, tuple(zip(types, reversed(self.ids), strict=True)))

    def __str__(self) -> str:
        """Return the path as ``A -[type]-> B <-[type]- C``."""
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
class InferredConnection(Plain):
    """A likely connection that the graph does not have.

    Attributes:
        source: Id of a node.
        target: Id of another node.
        type: The kind of connection.
        confidence: 0 to 1.
        reasoning: The evidence for it, in words.
        strategy: How it was inferred; not the requested strategy if that was not possible.
    """

    source: str
    target: str
    type: str
    confidence: float
    reasoning: str
    strategy: str = "semantic"


@dataclass(frozen=True, slots=True)
class KnowledgeGap(Plain):
    """A gap in the paths that were found.

    Attributes:
        kind: ``missing_words`` (words of the query that no path contains), ``disconnected`` (parts of the results that
            no path joins), ``weak_link`` (a path that depends on a weak or inferred edge) or ``no_paths``.
        description: The gap in words.
        node_ids: The nodes concerned.
        words: The words of the query concerned.
    """

    kind: str
    description: str
    node_ids: tuple[str, ...] = ()
    words: tuple[str, ...] = ()


@dataclass(slots=True)
class TraversalStats:
    """Statistics of a traversal.

    Attributes:
        visited_edges: Number of edges that were read.
        visited_nodes: Number of nodes that were read.
        statements: Number of statements sent to the graph.
        depth: Length of the longest path followed, in edges.
        cached: Number of traversals that were answered from the cache.
        limits: What was left out, one sentence each; empty if everything within reach was read.
    """

    visited_edges: int = 0
    visited_nodes: int = 0
    statements: int = 0
    depth: int = 0
    cached: int = 0
    limits: list[str] = field(default_factory=list)

    def limited(self, sentence: str) -> None:
        """Record, only once, that something was left out."""
        if sentence not in self.limits:
            self.limits.append(sentence)

    def add(self, other: TraversalStats, *, cached: bool = False) -> None:
        """Add the statistics of another traversal; one from the cache has sent no statements itself."""
        self.visited_edges += other.visited_edges
        self.visited_nodes += other.visited_nodes
        self.statements += 0 if cached else other.statements
        self.depth = max(self.depth, other.depth)
        self.cached += cached
        for sentence in other.limits:
            self.limited(sentence)
