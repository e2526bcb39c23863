"""The lightest path: bidirectional Dijkstra search on edges of length ``1 / weight``, or 1."""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from core.rag.errors import InvalidInputError
from core.rag.graph.hops import ring
from core.rag.graph.parts import weight_of
from core.rag.schema import Label

if TYPE_CHECKING:
    from core.rag.dbhandler import MemGraphClient
    from core.rag.dbhandler.knowledge.traversal import Followed
    from core.rag.dbhandler.store import Row

#: Maximum number of nodes that are visited, from both ends together.
MAX_SETTLED = 20_000

_ASKED_AT_ONCE = 64


@dataclass(slots=True)
class Found:
    """A path.

    Attributes:
        ids: Ids of its nodes.
        cost: The sum of ``1 / weight``, or the number of edges.
        exact: Whether all edges were read; otherwise there may be a lighter path.
    """

    ids: list[str]
    cost: float
    exact: bool = True


@dataclass(slots=True)
class _Side:
    """A search from one end. A longer way to a node may have a lower cost, so several ways are kept."""

    most_steps: int
    heap: list[tuple[float, int, str, tuple[str, ...]]] = field(default_factory=list)
    reached: dict[str, list[tuple[float, int, tuple[str, ...]]]] = field(default_factory=dict)


class Search:
    """Finds the lightest path between two nodes with a maximum number of edges."""

    def __init__(
        self, client: MemGraphClient, edges: Followed, max_depth: int, fan_out: int, *, weighted: bool
    ) -> None:
        """Prepare a search along some edges, which count ``1 / weight`` or 1."""
        self._weighted = weighted
        self._client = client
        self._edges = edges
        self._fan_out = fan_out
        self._sides = (_Side((max_depth + 1) // 2), _Side(max_depth // 2))
        self._labels: dict[str, Label] = {}
        self._around: dict[str, list[Row]] = {}
        self._best: Found | None = None
        self._settled = 0
        self.exact = True

    async def run(self, start: tuple[str, Label], end: tuple[str, Label]) -> Found | None:
        """Return the path, or ``None`` if none was found.

        Raises:
            InvalidInputError: if there are more nodes nearby than can be visited.
        """
        for side, (node, label) in zip(self._sides, (start, end), strict=True):
            side.heap = [(0.0, 0, node, (node,))]
            self._labels[node] = label
        while any(side.heap for side in self._sides):
            least, number = min((side.heap[0][0], n) for n, side in enumerate(self._sides) if side.heap)
            # Each side takes only half of the steps, so one half of a lighter path may still be missing.
            if self._best is not None and least >= self._best.cost:
                break
            await self._settle(number)
        if self._best is not None:
            self._best.exact = self.exact
        return self._best

    async def _settle(self, number: int) -> None:
        side, other = self._sides[number], self._sides[1 - number]
        cost, steps, node, path = heapq.heappop(side.heap)
        there = side.reached.setdefault(node, [])
        if any(known <= steps for _, known, _ in there):
            return  # it was reached before at no higher cost and in no more steps
        there.append((cost, steps, path))
        self._settled += 1
        if self._settled > MAX_SETTLED:
            raise InvalidInputError(
                f"More than {MAX_SETTLED:,} nodes lie between the two ends: lower max_depth, or search for a path"
                " without weights and relations."
            )
        for rest, _, back in other.reached.get(node, ()):
            if self._best is None or cost + rest < self._best.cost:
                whole = (*path, *reversed(back[:-1]))
                self._best = Found(list(whole if number == 0 else reversed(whole)), cost + rest)
        if steps == side.most_steps:
            return
        for row in await self._edges_of(node, side):
            length = 1.0 / weight_of(row) if self._weighted else 1.0
            heapq.heappush(side.heap, (cost + length, steps + 1, row["id"], (*path, row["id"])))

    async def _edges_of(self, node: str, side: _Side) -> list[Row]:
        if node not in self._around:
            soon = [key for _, _, key, _ in heapq.nsmallest(_ASKED_AT_ONCE, side.heap) if key not in self._around]
            asked = {key: self._labels[key] for key in (node, *soon)}
            found = await ring(self._client, asked, self._edges, "both", self._fan_out)
            self.exact = self.exact and found.complete and not found.hubs
            for key in asked:
                self._around[key] = found.rows.get(key, [])
                self._labels.update((row["id"], row["label"]) for row in self._around[key])
        return self._around[node]
