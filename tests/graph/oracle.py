"""A plain graph in memory, as simple as can be: what the graph in the database has to agree with."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from core.rag import UndirectedNode


@dataclass
class Plain:
    """Nodes by id, and a set of neighbours for each.

    Attributes:
        nodes: Content and label by id.
        edges: Ids of neighbours by id.
    """

    nodes: dict[str, tuple[str, str]] = field(default_factory=dict)
    edges: dict[str, set[str]] = field(default_factory=dict)

    def add(self, node: UndirectedNode) -> str:
        if node.id in self.nodes:
            return node.id
        for key, there in self.nodes.items():
            if there == (node.content, node.label):
                return key
        self.nodes[node.id] = (node.content, node.label)
        self.edges[node.id] = set()
        return node.id

    def link(self, a: str, b: str) -> None:
        if a != b:
            self.edges[a].add(b)
            self.edges[b].add(a)

    def remove(self, key: str) -> None:
        self.nodes.pop(key, None)
        for other in self.edges.pop(key, set()):
            self.edges[other].discard(key)

    def within(self, start: str, steps: int, labels: list[str] | None = None, block: bool = False) -> list[str]:
        """Breadth-first search, one node at a time; neighbours in the order of their contents."""
        if start not in self.nodes:
            return []
        queue = deque([(start, 0)])
        visited: list[str] = []
        while queue:
            key, step = queue.popleft()
            if step > steps:
                break
            if key in visited:
                continue
            visited.append(key)
            for other in sorted(self.edges[key], key=lambda k: self.nodes[k][0]):
                if not (block and labels and self.nodes[other][1] not in labels):
                    queue.append((other, step + 1))
        return [key for key in visited if key != start and (not labels or self.nodes[key][1] in labels)]

    def distance(self, start: str) -> dict[str, int]:
        reached, frontier, step = {start: 0}, {start}, 0
        while frontier:
            step += 1
            frontier = {b for a in frontier for b in self.edges.get(a, ())} - set(reached)
            reached.update(dict.fromkeys(frontier, step))
        return reached
