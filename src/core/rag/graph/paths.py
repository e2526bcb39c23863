"""The shortest path between two nodes, or the one with the heaviest edges."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING

from core.rag.arguments import check_flags, check_number
from core.rag.dbhandler.knowledge.periods import Time
from core.rag.dbhandler.knowledge.traversal import Followed, strength
from core.rag.dbhandler.knowledge.validity import valid_at
from core.rag.dbhandler.store import MAX_DEPTH
from core.rag.errors import InvalidInputError
from core.rag.graph.finding import look_up, with_names
from core.rag.graph.following import concept_instead, edges_between, through_texts
from core.rag.graph.lightest import Found, Search
from core.rag.graph.parts import GraphEdge, GraphNode, Path
from core.rag.graph.traversing import FAN_OUT
from core.rag.schema import Label

if TYPE_CHECKING:
    from core.rag.dbhandler import MemGraphClient


async def shortest_path(
    client: MemGraphClient,
    start: str,
    end: str,
    *,
    weighted: bool,
    max_depth: int,
    edge_types: Sequence[str] | None,
    relations: Sequence[str] | None,
    at: Time | None,
) -> Path | None:
    """See :meth:`core.rag.KnowledgeBase.shortest_path`."""
    check_flags(weighted=weighted)
    max_depth = check_number("max_depth", max_depth, 1, MAX_DEPTH)
    a, b = await look_up(client, start), await look_up(client, end)
    if edge_types is None and Label.SYMBOL in (a.label, b.label):
        # What calls a function is asked of the function, not of what texts mention under its name.
        a, b = await _as_symbol(client, start, a), await _as_symbol(client, end, b)
    validity = await valid_at(client, at)
    edges = edges_between(a, b, edge_types, relations, validity)
    found = await _path(client, a, b, edges, max_depth, weighted=weighted)
    if found is None and edge_types is None and relations is None:
        concepts = await concept_instead(client, start, a, validity), await concept_instead(client, end, b, validity)
        if concepts != (a, b):
            found = await _path(client, *concepts, edges, max_depth, weighted=weighted)
        if found is None:
            edges = through_texts(a, b, validity)
            found = await _path(client, a, b, edges, max_depth, weighted=weighted)
    if found is None:
        return None
    rows = await client.nodes_by_id(found.ids, tuple(Label))
    nodes = await with_names(
        client, [GraphNode.of(rows[key], step) for step, key in enumerate(found.ids) if key in rows]
    )
    steps: list[GraphEdge] = []
    for here, there in pairwise(nodes):
        between = await client.edges_between(Label(here.label), here.id, {Label(there.label): [there.id]}, edges)
        steps += [GraphEdge.of(row) for row in sorted(between, key=strength)[:1]]
    cost = sum(1 / edge.weight for edge in steps) if weighted else float(len(steps))
    return Path(nodes, steps, cost, found.exact)


async def _path(
    client: MemGraphClient, a: GraphNode, b: GraphNode, edges: Followed, max_depth: int, *, weighted: bool
) -> Found | None:
    # No engine's own search knows weights, relations and times. What it finds may hold by chance.
    if not weighted and not edges.relations:
        found = await _engines_path(client, a, b, edges, max_depth)
        if found is None or not edges.validity.condition or await _holds(client, found.ids, edges):
            return found
    search = Search(client, edges, max_depth, FAN_OUT, weighted=weighted)
    found = await search.run((a.id, Label(a.label)), (b.id, Label(b.label)))
    if found is not None or search.exact:
        return found
    if edges.narrowed("WHERE"):
        advice = "Search without relations, or name one" if edges.relations else "Name relations"
        raise InvalidInputError(
            f"No path was found, but there may be one: of nodes with more than {FAN_OUT:,} edges only the heaviest were"
            f" followed. {advice} with fewer edges."
        )
    found = await _engines_path(client, a, b, edges, max_depth)
    return None if found is None else replace(found, exact=False)


async def _engines_path(
    client: MemGraphClient, a: GraphNode, b: GraphNode, edges: Followed, max_depth: int
) -> Found | None:
    store = await client.connect()
    ids = await store.shortest_path(a.id, b.id, edge_types=edges.types, max_depth=max_depth, namespace=client.namespace)
    return None if ids is None else Found(ids, float(len(ids) - 1))


async def _holds(client: MemGraphClient, ids: Sequence[str], edges: Followed) -> bool:
    """Return whether each step of a path has an edge that is to be followed."""
    rows = await client.nodes_by_id(ids, tuple(Label))
    for here, there in pairwise(rows[key] for key in ids if key in rows):
        ends = {Label(there["label"]): [there["id"]]}
        if not await client.edges_between(Label(here["label"]), here["id"], ends, edges):
            return False
    return True


async def _as_symbol(client: MemGraphClient, name: str, node: GraphNode) -> GraphNode:
    """Return the only symbol with the name of an entity; any other node as it is."""
    symbols = await client.symbols_called(name, 2) if node.label == Label.ENTITY else []
    return GraphNode.of(symbols[0]) if len(symbols) == 1 else node
