"""Traverses the graph from entry points, breadth first, keeping only the best paths of each level.

A beam search: of each entry point the ``beam_width`` best paths of a length are extended, each node's strongest edges
are looked at, and the whole is bounded by a budget of edges, so that the cost grows with the depth, not exponentially
with it. Everything that was left out for that is said in the statistics.
"""

from __future__ import annotations

import heapq
from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from core.rag.analysis import analyze
from core.rag.answering.drift.config import Direction
from core.rag.answering.drift.paths import TEXTS, Edge, Node, Path, TraversalStats
from core.rag.answering.drift.reader import PathReader, Reads
from core.rag.answering.drift.scoring import CONTENT_SHARE, EDGE_SHARE, LENGTH_SHARE, length_penalty, order
from core.rag.answering.drift.words import QueryWords
from core.rag.graph.hops import by_label
from core.rag.schema import Label

NodeFilter = Callable[[Node], bool]

#: Those of some ids of texts that may be visited.
Admits = Callable[[Mapping[Label, Sequence[str]]], Awaitable[Collection[str]]]

#: For each path that is followed, so many nodes that are not known yet are read.
_NEW_NODES_PER_PATH = 4
_LIKED_FIRST = 0.3
_FIRST_STATEMENT = 16


@dataclass(frozen=True, slots=True)
class Limits:
    """How far a traversal goes; see :class:`core.rag.answering.drift.config.DRIFTRAGConfig`."""

    beam_width: int
    max_edges_per_node: int
    max_visited_edges: int


@dataclass(slots=True)
class _Walk:
    """A path under way; ``parent`` shares what it has in common with others."""

    node: Node
    parent: _Walk | None
    edge: Edge | None
    ids: frozenset[str]
    covered: int
    weights: float
    length: int
    score: float


class Traversal:
    """One traversal, from any number of entry points at once."""

    def __init__(
        self,
        reader: PathReader,
        words: QueryWords,
        limits: Limits,
        *,
        direction: Direction,
        edge_types: Sequence[str] | None,
        node_filter: NodeFilter | None,
        admits: Admits | None,
        liked: Sequence[str],
        ahead: Reads | None,
    ) -> None:
        """Prepare a traversal.

        Args:
            reader: The graph.
            words: Of the query.
            limits: How far it goes.
            direction: Which edges are followed.
            edge_types: Only edges of these types; ``None``: all.
            node_filter: Nodes for which this is false are neither visited nor passed through; the entry points are.
            admits: Asks which chunks, documents and records may be visited; ``None``: all.
            liked: Ids of nodes that fit the query; edges to them come first.
            ahead: What was read already, just now.
        """
        self._reader = reader
        self._words = words
        self._limits = limits
        self._direction = direction
        self._edge_types = edge_types
        self._filter = node_filter
        self._admits = admits
        self._liked = frozenset(liked)
        self.stats = TraversalStats()
        self._ahead = ahead or Reads()
        self._nodes: dict[str, tuple[Node, int] | None] = {}
        self._share = CONTENT_SHARE / max(len(words.words), 1)
        self.reads = Reads()

    async def run(self, starts: Sequence[Node], max_depth: int) -> list[Path]:
        """Return all paths that were followed, including the entry points themselves, best first."""
        await self._read_nodes([(node.id, Label(node.label)) for node in starts])
        beams: dict[str, list[_Walk]] = {}
        done: list[_Walk] = []
        for start in starts:
            covered = self._covered(start)
            walk = _Walk(start, None, None, frozenset({start.id}), covered, 0.0, 1, self._score(covered, 0.0, 1))
            beams[start.id] = [walk]
            done.append(walk)
        for depth in range(1, max_depth + 1):
            frontier = [walk for beam in beams.values() for walk in beam]
            if not frontier or not await self._expand(frontier):
                break
            beams = await self._extended(beams)
            followed = [walk for beam in beams.values() for walk in beam]
            if followed:
                self.stats.depth = max(self.stats.depth, depth)
            done += followed
        self.stats.visited_nodes += sum(entry is not None for entry in self._nodes.values())
        paths = [self._path(walk) for walk in done]
        return sorted(paths, key=order)

    async def _expand(self, frontier: Sequence[_Walk]) -> bool:
        """Read the edges of the last nodes of paths, those of the best paths first.

        Returns:
            Whether anything is known about any of them.
        """
        wanted: dict[str, Label] = {}
        for walk in sorted(frontier, key=lambda walk: (-walk.score, walk.node.id)):
            if walk.node.id not in self.reads.hops:
                wanted.setdefault(walk.node.id, Label(walk.node.label))
        limit = self._limits.max_edges_per_node
        names = list(wanted)
        directions = 2 if self._direction == "bidirectional" else 1
        while names:
            budget = self._limits.max_visited_edges - self.stats.visited_edges
            if budget <= 0:
                self.stats.limited(f"The budget of {self._limits.max_visited_edges} edges was used up.")
                break
            # Nobody knows how many edges nodes have: look at as many nodes as surely fit, but not one by one.
            size = max(budget // (limit * directions), _FIRST_STATEMENT)
            part, names = names[:size], names[size:]
            unread = {name: wanted[name] for name in part if name not in self._ahead.hops}
            found = await self._reader.both_ways(
                by_label(unread.items()), self._direction, limit=limit, edge_types=self._edge_types, liked=self._liked
            )
            for name in part:
                hops = found.get(name, ()) if name in unread else self._ahead.hops[name]
                self.reads.labels[name] = wanted[name]
                self.reads.hops[name] = hops
                self.stats.visited_edges += len(hops)
                if len(hops) >= limit:
                    self.stats.limited(f"Of nodes with many edges only the strongest {limit} in a direction count.")
        return any(self.reads.hops.get(walk.node.id) for walk in frontier)

    async def _extended(self, beams: dict[str, list[_Walk]]) -> dict[str, list[_Walk]]:
        """Return the next beam of each entry point."""
        await self._read_promising([walk for beam in beams.values() for walk in beam])
        width = self._limits.beam_width
        extended: dict[str, list[_Walk]] = {}
        for start, beam in beams.items():
            steps = list(self._steps(beam))
            if len(steps) > width:
                self.stats.limited(f"Of the paths of a length only the best {width} per entry point were followed.")
            best = heapq.nsmallest(width, steps)
            extended[start] = [self._longer(beam[walk], hop) for _, _, walk, hop in best]
        return extended

    def _steps(self, beam: Sequence[_Walk]) -> Iterator[tuple[float, str, int, int]]:
        """Every way to make one of the paths longer: negative score, id of the node, and positions of path and edge."""
        for position, walk in enumerate(beam):
            for number, (edge, other, _) in enumerate(self.reads.hops.get(walk.node.id, ())):
                known = self._nodes.get(other)
                if known is not None and other not in walk.ids:
                    score = self._score(walk.covered | known[1], walk.weights + edge.weight, walk.length + 1)
                    yield -score, other, position, number

    def _longer(self, walk: _Walk, number: int) -> _Walk:
        edge, other, _ = self.reads.hops[walk.node.id][number]
        known = self._nodes[other]
        assert known is not None
        node, covered = known[0], walk.covered | known[1]
        weights, length = walk.weights + edge.weight, walk.length + 1
        score = self._score(covered, weights, length)
        return _Walk(node, walk, edge, walk.ids | {other}, covered, weights, length, score)

    async def _read_promising(self, walks: Sequence[_Walk]) -> None:
        """Read the nodes that these paths may go on to, the most promising ones where there are many."""
        promise: dict[str, tuple[float, Label]] = {}
        for walk in walks:
            for edge, other, label in self.reads.hops.get(walk.node.id, ()):
                if other in self._nodes or other in walk.ids:
                    continue
                value = self._score(walk.covered, walk.weights + edge.weight, walk.length + 1)
                value += _LIKED_FIRST * (other in self._liked)
                if other not in promise or value > promise[other][0]:
                    promise[other] = (value, label)
        size = _NEW_NODES_PER_PATH * max(len(walks), self._limits.beam_width)
        if len(promise) > size:
            self.stats.limited(f"Of the neighbours of a level only the most promising {size} were read.")
        chosen = heapq.nsmallest(size, promise, key=lambda name: (-promise[name][0], name))
        await self._read_nodes([(name, promise[name][1]) for name in chosen])

    async def _read_nodes(self, wanted: Sequence[tuple[str, Label]]) -> None:
        new = {name: label for name, label in wanted if name not in self._nodes}
        found = await self._reader.nodes(by_label(item for item in new.items() if item[0] not in self._ahead.nodes))
        texts = {name: label for name, label in new.items() if label in TEXTS}
        admitted = await self._admits(by_label(texts.items())) if self._admits is not None and texts else texts
        for name, label in new.items():
            read = found.get(name) or self._ahead.nodes.get(name)
            if name in texts and name not in admitted:
                read = None
            self.reads.labels[name] = label
            self.reads.nodes[name] = read
            if read is None:  # not admitted, or removed meanwhile
                self._nodes[name] = None
                continue
            node, terms = read
            covered = self._words.mask(terms.split() if terms else analyze(f"{node.name} {node.content}"))
            passes = self._filter is None or bool(self._filter(node))
            self._nodes[name] = (node, covered) if passes else None

    def _covered(self, start: Node) -> int:
        known = self._nodes.get(start.id)
        return known[1] if known else self._words.mask(analyze(f"{start.name} {start.content}"))

    def _score(self, covered: int, weights: float, length: int) -> float:
        """Return the same as :func:`core.rag.answering.drift.scoring.path_score`, for tens of thousands of paths."""
        mean = weights / (length - 1) if length > 1 else 0.0
        return self._share * covered.bit_count() + EDGE_SHARE * mean + LENGTH_SHARE * length_penalty(length)

    def _path(self, walk: _Walk) -> Path:
        nodes, edges = [walk.node], []
        step: _Walk | None = walk
        while step is not None and step.parent is not None and step.edge is not None:
            edges.append(step.edge)
            nodes.append(step.parent.node)
            step = step.parent
        covered = self._words.named(walk.covered)
        return Path(
            nodes=tuple(reversed(nodes)),
            edges=tuple(reversed(edges)),
            covered=covered,
            content_relevance=self._words.relevance(covered),
            score=walk.score,
        )
