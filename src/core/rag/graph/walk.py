"""Breadth-first search that fetches neighbours as it goes; it decides on the order, the caller provides the graph."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field

#: A neighbour: ``(id, label, head)``.
Neighbour = tuple[str, str, str]

#: The neighbours of nodes, by id, in order; nodes that are not in the graph may be missing.
Adjacency = Mapping[str, Sequence[Neighbour]]


@dataclass(slots=True)
class Walk:
    """The nodes that a walk reached.

    Attributes:
        steps: Distance from the start by id, in the order of arrival; the start comes first, with 0.
        labels: Labels by id, except for the start.
        truncated: Whether it ended at its limit.
    """

    steps: dict[str, int]
    labels: dict[str, str] = field(default_factory=dict)
    truncated: bool = False


def in_order(neighbours: Collection[Neighbour]) -> list[Neighbour]:
    """Sort neighbours by content, then id, so that the order does not depend on the engine."""
    return sorted(set(neighbours), key=lambda item: (item[2], item[0]))


def predicted(start: str, steps: int, through: Collection[str] | None, known: Adjacency) -> list[str]:
    """Return the nodes whose neighbours a walk will probably request, according to what is known already."""
    level, seen = [start], {start}
    asked: list[str] = []
    for _ in range(steps):
        asked += level
        below = []
        for node in level:
            for key, label, _ in known.get(node, ()):
                if key not in seen and (through is None or label in through):
                    seen.add(key)
                    below.append(key)
        level = below
    return asked


async def walk(
    start: str,
    steps: int,
    through: Collection[str] | None,
    limit: int,
    fetch: Callable[[Sequence[str], int], Awaitable[tuple[Adjacency, bool]]],
) -> Walk:
    """Run a breadth-first search.

    Args:
        start: Where to begin.
        steps: Maximum number of edges away.
        through: A node is only entered if it has one of these labels; ``None``: any.
        limit: Maximum number of nodes, without the start.
        fetch: For nodes in order and a number, returns their neighbours in order, and whether these are all. If not,
            they are those of the first nodes, enough to reach that number of new nodes.

    Returns:
        The first ``limit`` nodes in the order of an unlimited search.
    """
    found = Walk({start: 0})
    level = [start]
    for step in range(1, steps + 1):
        if not level or found.truncated:
            break
        adjacency, complete = await fetch(level, len(found.steps) + limit)
        below: list[str] = []
        for node in level:
            for key, label, _ in adjacency.get(node, ()):
                if key in found.steps or not (through is None or label in through):
                    continue
                if len(found.steps) > limit:
                    found.truncated = True
                    break
                found.steps[key] = step
                found.labels[key] = label
                below.append(key)
            if found.truncated:
                break
        found.truncated = found.truncated or not complete
        level = below
    return found
