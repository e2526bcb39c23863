"""One step from many nodes at once: all edges of most, the heaviest edges of hubs, and a note of what was left out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from core.rag.dbhandler.knowledge.traversal import Followed, strength
from core.rag.schema import Label

if TYPE_CHECKING:
    from core.rag.dbhandler import MemGraphClient
    from core.rag.dbhandler.store import Row

#: Maximum number of edges that are read at once, and for one step in total.
MAX_ROWS = 5_000
_MOST_ROWS = 100_000

#: Maximum number of hubs whose heaviest edges are read in one step; each costs a scan of all of its edges.
_MAX_HUBS = 20


@dataclass(slots=True)
class Ring:
    """The edges of some nodes.

    Attributes:
        rows: Edges by id of the node, heaviest first; see :mod:`core.rag.dbhandler.knowledge.traversal`.
        hubs: Total number of edges of nodes with more than requested, of which only the heaviest are here.
        complete: Whether the edges of all nodes were read.
    """

    rows: dict[str, list[Row]] = field(default_factory=dict)
    hubs: dict[str, int] = field(default_factory=dict)
    complete: bool = True


async def ring(
    client: MemGraphClient,
    nodes: Mapping[str, Label],
    edges: Followed,
    direction: str,
    fan_out: int,
) -> Ring:
    """Read the edges of nodes.

    Args:
        client: The graph.
        nodes: Labels by id, in order of importance.
        edges: Edges to follow.
        direction: ``out``, ``in`` or ``both``.
        fan_out: Maximum number of edges of each node.
    """
    found = Ring()
    rows = await client.hop(by_label(nodes.items()), edges, direction, MAX_ROWS)
    if rows is not None:
        _collect(found, rows)
    else:
        degrees = await client.degrees(by_label(nodes.items()), edges)
        await _in_parts(client, found, nodes, degrees, edges, direction, fan_out)
    for node, there in found.rows.items():
        there.sort(key=strength)
        if len(there) > fan_out:
            found.hubs.setdefault(node, len(there))
            del there[fan_out:]
    return found


async def _in_parts(
    client: MemGraphClient,
    found: Ring,
    nodes: Mapping[str, Label],
    degrees: Mapping[str, int],
    edges: Followed,
    direction: str,
    fan_out: int,
) -> None:
    part: dict[str, Label] = {}
    size = total = 0
    for node, label in nodes.items():
        degree = degrees.get(node, 0)
        if degree > fan_out:
            if len(found.hubs) == _MAX_HUBS:
                found.complete = False
                continue
            found.hubs[node] = degree
            found.rows[node] = await client.strongest(label, node, edges, direction, fan_out)
            continue
        if total + degree > _MOST_ROWS:
            found.complete = False
            continue
        total += degree
        if part and size + degree > MAX_ROWS:
            await _all(client, found, part, size, edges, direction)
            part, size = {}, 0
        part[node] = label
        size += degree
    if part:
        await _all(client, found, part, size, edges, direction)


async def _all(
    client: MemGraphClient,
    found: Ring,
    nodes: Mapping[str, Label],
    size: int,
    edges: Followed,
    direction: str,
) -> None:
    """Read all edges of nodes, whose number was just counted."""
    rows = await client.hop(by_label(nodes.items()), edges, direction, 2 * size + MAX_ROWS)
    found.complete = found.complete and rows is not None
    _collect(found, rows or [])


def _collect(found: Ring, rows: Iterable[Row]) -> None:
    for row in rows:
        found.rows.setdefault(row["here"], []).append(row)


def by_label(nodes: Iterable[tuple[str, Label]]) -> dict[Label, list[str]]:
    """Group ids by label."""
    found: dict[Label, list[str]] = {}
    for node, label in nodes:
        found.setdefault(label, []).append(node)
    return found
