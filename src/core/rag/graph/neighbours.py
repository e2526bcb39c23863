"""Reads neighbours from the database in as few queries as possible, and never from a cache.

The cache remembers which neighbours nodes had, but only as a guess: it says which nodes a walk will come to, so that
the neighbours of all of these are read in one query before the walk begins. Every walk is computed from what was read
for it. Whoever changes the graph (another client, another process, a statement typed into a console), nothing has to
be told, and nothing stale is ever used; a wrong guess costs one more query.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from core.rag.dbhandler.batches import batches
from core.rag.graph.walk import Adjacency, Neighbour, Walk, in_order, predicted, walk

if TYPE_CHECKING:
    from core.rag.dbhandler import MemGraphClient
    from core.rag.dbhandler.store import Row

#: Maximum number of rows of neighbours that a step reads at once; with more, it reads node after node, and no more
#: neighbours than needed.
MAX_ROWS = 20_000

_AT_ONCE = 100

_REMEMBERED_NODES = 20_000
_REMEMBERED_NEIGHBOURS = 1_000


class Neighbours:
    """Walks over the Concepts of a namespace."""

    def __init__(self, client: MemGraphClient, *, cache: bool) -> None:
        """Prepare a reader.

        Args:
            client: The graph.
            cache: Whether to predict from earlier walks what to read; this costs memory, and saves a query per step.
        """
        self._client = client
        self._cache = cache
        self._guesses: OrderedDict[str, tuple[Neighbour, ...]] = OrderedDict()

    async def walk(self, start: str, steps: int, through: Collection[str] | None, limit: int) -> Walk:
        """Run a breadth-first search from a node; see :func:`core.rag.graph.walk.walk`."""
        read: dict[str, list[Neighbour]] = {}
        if self._cache and steps > 1:
            ahead = predicted(start, steps, through, self._guesses)
            if 1 < len(ahead) <= limit:
                rows = await self._client.concept_neighbours(ahead, MAX_ROWS)
                if rows is not None:
                    read = _grouped(ahead, rows)

        async def fetch(level: Sequence[str], wanted: int) -> tuple[Adjacency, bool]:
            missing = [node for node in level if node not in read]
            if not missing:
                return read, True
            rows = await self._client.concept_neighbours(missing, MAX_ROWS)
            if rows is not None:
                read.update(_grouped(missing, rows))
                return read, True
            return await self._first(level, wanted, through)

        found = await walk(start, steps, through, limit, fetch)
        if self._cache:
            self._remember(read)
        return found

    async def _first(
        self, level: Sequence[str], wanted: int, through: Collection[str] | None
    ) -> tuple[Adjacency, bool]:
        """Return the first neighbours of the first nodes: enough for ``wanted`` new nodes and one more, or all."""
        labels = None if through is None else sorted(through)
        adjacency: dict[str, list[Neighbour]] = {}
        seen: set[str] = set()
        for part in batches(list(level), max_rows=_AT_ONCE):
            rows = await self._client.concept_neighbours(part, MAX_ROWS) if len(part) > 1 else None
            if rows is not None:
                adjacency.update(_grouped(part, rows))
                seen.update(row["id"] for row in rows if through is None or row["label"] in through)
                part = []
            for node in part:
                rows = await self._client.first_concept_neighbours(node, wanted + 1, labels)
                adjacency[node] = in_order([(row["id"], row["label"], row["head"]) for row in rows])
                seen.update(row["id"] for row in rows)
                if len(seen) > wanted:
                    return adjacency, False
            if len(seen) > wanted:
                return adjacency, False
        return adjacency, True

    def _remember(self, read: dict[str, list[Neighbour]]) -> None:
        for node, neighbours in read.items():
            if len(neighbours) <= _REMEMBERED_NEIGHBOURS:
                self._guesses[node] = tuple(neighbours)
                self._guesses.move_to_end(node)
        while len(self._guesses) > _REMEMBERED_NODES:
            self._guesses.popitem(last=False)


def _grouped(nodes: Sequence[str], rows: Sequence[Row]) -> dict[str, list[Neighbour]]:
    found: dict[str, list[Neighbour]] = {node: [] for node in nodes}
    for row in rows:
        found[row["a"]].append((row["id"], row["label"], row["head"]))
    return {node: in_order(neighbours) for node, neighbours in found.items()}
