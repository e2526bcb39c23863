"""Finds nodes by what callers call them, and lists entities and edges page by page."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from core.rag.arguments import check_number, check_optional, check_text
from core.rag.dbhandler.documents.naming import document_named
from core.rag.dbhandler.knowledge.periods import Time
from core.rag.dbhandler.knowledge.traversal import Followed
from core.rag.dbhandler.knowledge.validity import valid_at
from core.rag.dbhandler.messages.rows import beginning_of
from core.rag.dbhandler.store import Row
from core.rag.errors import InvalidInputError, NotFoundError
from core.rag.extraction.records import record_name
from core.rag.extraction.words import normalize_name, normalized_words
from core.rag.graph.paging import MAX_VISITED, NO_PAGE, cursor
from core.rag.graph.parts import EdgePage, GraphEdge, GraphNode
from core.rag.graph.spelling import similar_names
from core.rag.retrieval.as_read import as_read
from core.rag.schema import EdgeType, Label

if TYPE_CHECKING:
    from core.rag.dbhandler import MemGraphClient

#: The order of a list of entities.
Order = Literal["name", "mentions"]

_COUNT_DIGITS = 19  # of a number that no engine takes any more
_MOST = 10 ** (_COUNT_DIGITS - 1)

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


async def list_entities(
    client: MemGraphClient, kind: str | None, limit: int, after: str, order: Order
) -> tuple[list[GraphNode], str]:
    """See :meth:`core.rag.KnowledgeBase.entities`."""
    limit = check_number("limit", limit, 1, MAX_VISITED)
    check_optional(type=kind)
    if order not in ("name", "mentions"):
        raise InvalidInputError(f"order is {repr(order)[:100]}, but has to be 'name' or 'mentions'.")
    mentions, name, identifier = cursor(after, 3)
    if mentions and not (mentions.isascii() and mentions.isdigit() and len(mentions) < _COUNT_DIGITS):
        raise InvalidInputError(NO_PAGE)
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
    found = await client.edge_page(listed, cursor(after, 3), limit + 1)
    rows = found[:limit]
    names = {row[end]: row[f"{end}_name"] for row in rows for end in ("source", "target")}
    edges = [GraphEdge.of({**row, "here": row["source"], "id": row["target"], "outward": True}) for row in rows]
    last = rows[-1] if len(found) > limit else None
    return EdgePage(edges, names, json.dumps([last["source"], last["target"], last["key"]]) if last else "")


async def with_names(client: MemGraphClient, nodes: list[GraphNode]) -> list[GraphNode]:
    """Return the nodes, with records and messages named by their contents, as they have no name."""
    records = await client.records_by_id([node.id for node in nodes if node.label == Label.RECORD])
    names = {key: record_name(record["data"]) for key, record in records.items()}
    messages = await client.messages_by_id([node.id for node in nodes if node.label == Label.INTERACTION])
    names |= {key: beginning_of(message["content"]) for key, message in messages.items()}
    return [replace(node, name=names[node.id]) if names.get(node.id) else node for node in nodes]


async def _only_symbol(client: MemGraphClient, name: str, *, in_full: bool = False) -> GraphNode | None:
    symbols = await client.symbols_called(name, _SUGGESTED + 1, in_full=in_full)
    if len(symbols) > 1:
        several = ", ".join(f"{row['id']} ({row['path']})" for row in symbols[:_SUGGESTED])
        more = " and more" if len(symbols) > _SUGGESTED else ""
        raise NotFoundError(f"Several symbols are called {name[:200]!r}; name one by its id: {several}{more}.")
    return GraphNode.of(symbols[0]) if symbols else None


def _has_all(name: str, words: Iterable[str]) -> bool:
    """Return whether words of a name begin with each of these, which are normalised."""
    parts = normalize_name(name).split()
    return all(any(part.startswith(word) for part in parts) for word in words)


async def _not_found(client: MemGraphClient, name: str) -> str:
    where = f"in namespace {client.namespace!r}"
    message = f"There is no entity, concept, topic, document or symbol {name[:200]!r} {where}."
    similar = await search_nodes(client, name[:500], _SUGGESTED)
    if similar:
        return f"{message} Similar: {', '.join(node.name for node in similar)}."
    return f"{message} See: mgrag graph entities."
