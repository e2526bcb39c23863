"""What is around a node: its neighbours, and what is within some steps. All results are bounded, and say so."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from math import isqrt
from typing import TYPE_CHECKING, Literal

from core.rag.arguments import check_flags, check_number
from core.rag.dbhandler.knowledge.periods import Time
from core.rag.dbhandler.knowledge.validity import valid_at
from core.rag.dbhandler.store import MAX_DEPTH
from core.rag.errors import InvalidInputError
from core.rag.graph.finding import look_up, with_names
from core.rag.graph.following import begin_at
from core.rag.graph.hops import by_label, ring
from core.rag.graph.paging import MAX_VISITED, cursor, offset
from core.rag.graph.parts import GraphEdge, GraphNode, NeighbourPage, Piece
from core.rag.schema import EdgeType, Label

if TYPE_CHECKING:
    from core.rag.dbhandler import MemGraphClient

#: The direction in which edges are followed.
Direction = Literal["both", "out", "in"]

#: Of a node with more edges than this, a traversal only follows the heaviest.
FAN_OUT = 1_000

#: Of the passages that mention an entity, and of what each of these mentions, so many are drawn at least.
_FEWEST_DRAWN = 5

#: Symbols that have the name of an entity, too, and are told of with its neighbours.
_MOST_SYMBOLS = 3


async def neighbours(
    client: MemGraphClient,
    name: str,
    edge_types: Sequence[str] | None,
    limit: int,
    after: str,
    relations: Sequence[str] | None,
    at: Time | None,
) -> NeighbourPage:
    """See :meth:`core.rag.KnowledgeBase.neighbors`."""
    limit = check_number("limit", limit, 1, MAX_VISITED)
    found = await look_up(client, name)
    node, edges = await begin_at(client, name, found, edge_types, relations, await valid_at(client, at))
    label = Label(node.label)
    rows = await client.neighbour_page(label, node.id, edges, cursor(after), limit + 1)
    page = rows[:limit]
    ends = by_label((row["id"], row["label"]) for row in page)
    lines = await client.edges_between(label, node.id, ends, edges)
    order = {row["id"]: place for place, row in enumerate(page)}
    symbols = await client.symbols_called(name, _MOST_SYMBOLS) if label == Label.ENTITY else []
    return NeighbourPage(
        node,
        await with_names(client, [GraphNode.of(row, 1) for row in page]),
        sorted(
            {GraphEdge.of(row) for row in lines},
            key=lambda edge: (order[edge.target if edge.source == node.id else edge.source], edge.key),
        ),
        await client.degree(label, node.id, edges),
        len(rows) > limit,
        json.dumps([page[-1]["shown"], page[-1]["id"]], ensure_ascii=False) if len(rows) > limit else "",
        [GraphNode.of(row) for row in symbols],
    )


async def traverse(
    client: MemGraphClient,
    start: str,
    depth: int = 2,
    *,
    edge_types: Sequence[str] | None = None,
    direction: Direction = "both",
    limit: int = 100,
    after: str = "",
    fan_out: int = FAN_OUT,
    induced: bool = False,
    relations: Sequence[str] | None = None,
    at: Time | None = None,
) -> Piece:
    """See :meth:`core.rag.KnowledgeBase.traverse`."""
    check_flags(induced=induced)
    depth = check_number("depth", depth, 1, MAX_DEPTH)
    limit = check_number("limit", limit, 1, MAX_VISITED)
    fan_out = check_number("fan_out", fan_out, 1, FAN_OUT)
    if direction not in ("both", "out", "in"):
        raise InvalidInputError(f"direction is {repr(direction)[:100]}, but has to be 'both', 'out' or 'in'.")
    skipped = offset(after)
    wanted = min(skipped + limit, MAX_VISITED)
    found = await look_up(client, start)
    begin, edges = await begin_at(client, start, found, edge_types, relations, await valid_at(client, at))
    if induced and edge_types is None and EdgeType.MENTIONS in edges.types:
        fan_out = min(fan_out, max(_FEWEST_DRAWN, isqrt(limit)))
    seen: dict[str, GraphNode] = {begin.id: begin}
    lines: dict[tuple[str, str, str, str], GraphEdge] = {}
    hubs: dict[str, int] = {}
    level = [begin]
    overflow = cut = False
    for step in range(1, depth + 1):
        if not level or overflow:
            break
        below: list[GraphNode] = []
        around = await ring(client, _labels(level), edges, direction, fan_out)
        hubs |= around.hubs
        cut = cut or not around.complete
        for here in level:
            for row in around.rows.get(here.id, ()):
                if row["id"] not in seen:
                    if len(seen) > wanted:
                        overflow = True
                        continue
                    seen[row["id"]] = GraphNode.of(row, step)
                    below.append(seen[row["id"]])
                edge = GraphEdge.of(row)
                lines[edge.key] = edge
        level = below
    if induced and level:
        for rows in (await ring(client, _labels(level), edges, direction, fan_out)).rows.values():
            inner = (GraphEdge.of(row) for row in rows if row["id"] in seen)
            lines.update((edge.key, edge) for edge in inner)
    nodes = await with_names(client, list(seen.values())[1 + skipped :])
    shown = {node.id for node in nodes}
    return Piece(
        begin,
        nodes,
        sorted((e for e in lines.values() if e.source in shown or e.target in shown), key=lambda e: e.key),
        overflow or cut or bool(hubs),
        str(wanted) if overflow and wanted < MAX_VISITED else "",
        hubs,
    )


def _labels(nodes: Iterable[GraphNode]) -> dict[str, Label]:
    return {node.id: Label(node.label) for node in nodes}
