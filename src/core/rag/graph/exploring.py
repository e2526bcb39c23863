"""Explores the graph: neighbours, nodes within some steps, and paths. All results are bounded, and say so."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import pairwise
from math import isqrt
from typing import TYPE_CHECKING, Literal

from core.rag.dbhandler.checks import check_flags, check_number, check_optional, check_text
from core.rag.dbhandler.documents.naming import document_named
from core.rag.dbhandler.knowledge.periods import Time
from core.rag.dbhandler.knowledge.traversal import Followed, strength
from core.rag.dbhandler.knowledge.validity import valid_at
from core.rag.dbhandler.messages.rows import beginning_of
from core.rag.dbhandler.store import MAX_DEPTH, Row
from core.rag.errors import InvalidInputError, NotFoundError
from core.rag.extraction.records import record_name
from core.rag.extraction.words import normalize_name, normalized_words
from core.rag.graph.following import begin_at, concept_instead, edges_between, through_texts
from core.rag.graph.hops import by_label, ring
from core.rag.graph.lightest import Found, Search
from core.rag.graph.parts import EdgePage, GraphEdge, GraphNode, GraphStats, NeighbourPage, Path, Piece
from core.rag.graph.spelling import similar_names
from core.rag.retrieval.as_read import as_read
from core.rag.schema import EdgeType, Label

if TYPE_CHECKING:
    from core.rag.dbhandler import MemGraphClient

#: The direction in which edges are followed.
Direction = Literal["both", "out", "in"]

#: The order of a list of entities.
Order = Literal["name", "mentions"]

_NO_PAGE = "after must be the value of next from an earlier page."
_COUNT_DIGITS = 19  # of a number that no engine takes any more
_MOST = 10 ** (_COUNT_DIGITS - 1)

#: Maximum number of nodes of a traversal, on all of its pages together.
MAX_VISITED = 10_000

#: Of a node with more edges than this, a traversal only follows the heaviest.
FAN_OUT = 1_000

#: Of the passages that mention an entity, and of what each of these mentions, so many are drawn at least.
_FEWEST_DRAWN = 5

#: Edges between entities.
_LISTED = (EdgeType.RELATED, EdgeType.SAME_AS)

_SUGGESTED = 3


async def find(client: MemGraphClient, name: str) -> GraphNode:
    """Find the node with a name or id, the document with a path, or the symbol with a name.

    Raises:
        NotFoundError: suggesting similar names, or naming the ids of several symbols of that name.
    """
    row = await client.named_node(name)
    if row is None and name.strip():
        row = await client.node_in_any_case(name)
    if row is not None:
        return GraphNode.of(row)
    document = await client.find_document(name) if name.strip() else None
    if document is not None:
        return GraphNode(document["id"], document["title"] or document["path"], Label.DOCUMENT)
    if symbol := await _only_symbol(client, name, in_full=True):
        return symbol
    raise NotFoundError(await _not_found(client, name))


async def look_up(client: MemGraphClient, name: str) -> GraphNode:
    """Find a node as :func:`find` does, and else the only document with this file name, end of a path, or title.

    A method is found without the name of its class, too, if only one has its name. For viewing only: what is changed
    has to be named in full.

    Raises:
        NotFoundError: as from :func:`find`, or naming the documents or symbols if there are several.
    """
    try:
        return await find(client, name)
    except NotFoundError:
        if document := await document_named(client, name):
            return await find(client, document)
        symbol = await _only_symbol(client, name) if name.strip() else None
        if symbol is None:
            raise
        return symbol


async def _only_symbol(client: MemGraphClient, name: str, *, in_full: bool = False) -> GraphNode | None:
    symbols = await client.symbols_called(name, _SUGGESTED + 1, in_full=in_full)
    if len(symbols) > 1:
        several = ", ".join(f"{row['id']} ({row['path']})" for row in symbols[:_SUGGESTED])
        more = " and more" if len(symbols) > _SUGGESTED else ""
        raise NotFoundError(f"Several symbols are called {name[:200]!r}; name one by its id: {several}{more}.")
    return GraphNode.of(symbols[0]) if symbols else None


async def search_nodes(client: MemGraphClient, query: str, limit: int, kind: str | None = None) -> list[GraphNode]:
    """See :meth:`core.rag.KnowledgeBase.search_nodes`."""
    limit = check_number("limit", limit, 1, MAX_VISITED)
    query = as_read(check_text("A query", query))
    check_optional(type=kind)
    words = list(dict.fromkeys(normalized_words(query)))[:50]
    whole = normalize_name(query)
    if not words:  # a name of signs alone: 😀
        return [GraphNode.of(row) for row in await client.entities_called([whole] if whole else [], kind)]
    rows = await client.nodes_with_words(words, max(10 * limit, 200), kind)

    def rank(row: Row) -> tuple[float, int, str, str]:
        name = normalize_name(row["name"])
        parts = set(name.split())
        exact = sum(word in parts for word in words)
        begun = sum(any(part.startswith(word) for part in parts) for word in words)
        score = (exact + 0.5 * (begun - exact)) / len(words) + 0.5 * exact / max(len(parts), 1) + (name == whole)
        return (-score, -row["mentions"], row["name"], row["id"])

    found = sorted(rows, key=rank)
    if not any(_has_all(row["name"], words) for row in found):
        alike = await client.entities_called(await similar_names(client, query, limit), kind)
        found = [*alike, *(row for row in found if row["id"] not in {one["id"] for one in alike})]
    return [GraphNode.of(row) for row in found[:limit]]


def _has_all(name: str, words: Iterable[str]) -> bool:
    """Return whether words of a name begin with each of these, which are normalised."""
    parts = normalize_name(name).split()
    return all(any(part.startswith(word) for part in parts) for word in words)


async def list_entities(
    client: MemGraphClient, kind: str | None, limit: int, after: str, order: Order
) -> tuple[list[GraphNode], str]:
    """See :meth:`core.rag.KnowledgeBase.entities`."""
    limit = check_number("limit", limit, 1, MAX_VISITED)
    check_optional(type=kind)
    if order not in ("name", "mentions"):
        raise InvalidInputError(f"order is {repr(order)[:100]}, but has to be 'name' or 'mentions'.")
    mentions, name, identifier = _cursor(after, 3)
    if mentions and not (mentions.isascii() and mentions.isdigit() and len(mentions) < _COUNT_DIGITS):
        raise InvalidInputError(_NO_PAGE)
    place = (int(mentions) if mentions else _MOST, name, identifier)
    rows = await client.list_entities(kind=kind, after=place, limit=limit + 1, by_mentions=order == "mentions")
    last = rows[limit - 1] if len(rows) > limit else None
    key = [str(last["mentions"]), last["name"], last["id"]] if last else None
    return [GraphNode.of(row) for row in rows[:limit]], json.dumps(key, ensure_ascii=False) if key else ""


async def list_edges(
    client: MemGraphClient,
    relation: str | None,
    limit: int,
    after: str,
    at: Time | None,
) -> EdgePage:
    """See :meth:`core.rag.KnowledgeBase.edges`."""
    limit = check_number("limit", limit, 1, MAX_VISITED)
    check_optional(relation=relation)
    listed = Followed(_LISTED, () if relation is None else (relation,), await valid_at(client, at))
    found = await client.edge_page(listed, _cursor(after, 3), limit + 1)
    rows = found[:limit]
    names = {row[end]: row[f"{end}_name"] for row in rows for end in ("source", "target")}
    edges = [GraphEdge.of({**row, "here": row["source"], "id": row["target"], "outward": True}) for row in rows]
    last = rows[-1] if len(found) > limit else None
    return EdgePage(edges, names, json.dumps([last["source"], last["target"], last["key"]]) if last else "")


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
    rows = await client.neighbour_page(label, node.id, edges, _cursor(after), limit + 1)
    page = rows[:limit]
    ends = by_label((row["id"], row["label"]) for row in page)
    lines = await client.edges_between(label, node.id, ends, edges)
    order = {row["id"]: place for place, row in enumerate(page)}
    symbols = await client.symbols_called(name, _SUGGESTED) if label == Label.ENTITY else []
    return NeighbourPage(
        node,
        await _with_names(client, [GraphNode.of(row, 1) for row in page]),
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
    skipped = _offset(after)
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
    nodes = await _with_names(client, list(seen.values())[1 + skipped :])
    shown = {node.id for node in nodes}
    return Piece(
        begin,
        nodes,
        sorted((e for e in lines.values() if e.source in shown or e.target in shown), key=lambda e: e.key),
        overflow or cut or bool(hubs),
        str(wanted) if overflow and wanted < MAX_VISITED else "",
        hubs,
    )


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
    nodes = await _with_names(
        client, [GraphNode.of(rows[key], step) for step, key in enumerate(found.ids) if key in rows]
    )
    steps: list[GraphEdge] = []
    for here, there in pairwise(nodes):
        between = await client.edges_between(Label(here.label), here.id, {Label(there.label): [there.id]}, edges)
        steps += [GraphEdge.of(row) for row in sorted(between, key=strength)[:1]]
    cost = sum(1 / edge.weight for edge in steps) if weighted else float(len(steps))
    return Path(nodes, steps, cost, found.exact)


async def stats(client: MemGraphClient) -> GraphStats:
    """See :meth:`core.rag.KnowledgeBase.graph_stats`."""
    return GraphStats.of(await client.entity_graph_counts(await valid_at(client)))


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


async def _with_names(client: MemGraphClient, nodes: list[GraphNode]) -> list[GraphNode]:
    """Return the nodes, with records and messages named by their contents, as they have no name."""
    records = await client.records_by_id([node.id for node in nodes if node.label == Label.RECORD])
    names = {key: record_name(record["data"]) for key, record in records.items()}
    messages = await client.messages_by_id([node.id for node in nodes if node.label == Label.INTERACTION])
    names |= {key: beginning_of(message["content"]) for key, message in messages.items()}
    return [replace(node, name=names[node.id]) if names.get(node.id) else node for node in nodes]


async def _not_found(client: MemGraphClient, name: str) -> str:
    where = f"in namespace {client.namespace!r}"
    message = f"There is no entity, concept, topic, document or symbol {name[:200]!r} {where}."
    similar = await search_nodes(client, name[:500], _SUGGESTED)
    if similar:
        return f"{message} Similar: {', '.join(node.name for node in similar)}."
    return f"{message} See: mgrag graph entities."


def _labels(nodes: Iterable[GraphNode]) -> dict[str, Label]:
    return {node.id: Label(node.label) for node in nodes}


def _cursor(after: str, parts: int = 2) -> tuple[str, ...]:
    if not check_text("after", after):
        return ("",) * parts
    try:
        found = json.loads(after)
    except ValueError:
        found = None
    if not isinstance(found, list) or len(found) != parts or not all(isinstance(part, str) for part in found):
        raise InvalidInputError(_NO_PAGE)
    return tuple(found)


def _offset(after: str) -> int:
    if check_text("after", after) and not (after.isascii() and after.isdigit() and int(after) <= MAX_VISITED):
        raise InvalidInputError(_NO_PAGE)
    return int(after or 0)
