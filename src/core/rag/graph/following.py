"""Which edges are followed from a node, or between two: what a caller names, else what suits the kinds of the nodes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from core.rag.arguments import check_texts
from core.rag.dbhandler.knowledge.traversal import DEFINED_EDGES, DOCUMENT_EDGES, GRAPH_EDGES, Followed
from core.rag.dbhandler.knowledge.validity import Validity
from core.rag.errors import InvalidInputError
from core.rag.graph.parts import GraphNode
from core.rag.schema import EdgeType, Label

if TYPE_CHECKING:
    from core.rag.dbhandler import MemGraphClient

#: Edges that say something about a node, unlike SAME_AS.
_SAYING = (EdgeType.RELATED, EdgeType.RELATED_TO)

_LINKED_LABELS = frozenset({Label.ENTITY, Label.CONCEPT})


async def begin_at(
    client: MemGraphClient,
    name: str,
    node: GraphNode,
    edge_types: Sequence[str] | None,
    relations: Sequence[str] | None,
    validity: Validity,
) -> tuple[GraphNode, Followed]:
    """Return the node to begin at, and the edges to follow from there.

    Args:
        client: The graph.
        name: What the caller called the node.
        node: What was found under this name; see :func:`concept_instead`.
        edge_types: Of these types; ``None``: those between entities, and between concepts. For documents and topics,
            their edges are added, for a concept those from documents that explain it, and for source code and tables
            those to what they define; for an entity without relations, the edges of texts that mention it. None of
            these are where relations are named.
        relations: Only of these relations.
        validity: Only facts that hold then.
    """
    if edge_types is not None or relations is not None:
        return node, named_edges(edge_types, relations, validity)
    node = await concept_instead(client, name, node, validity)
    return node, await _edges_from(client, node, validity)


async def _edges_from(client: MemGraphClient, node: GraphNode, validity: Validity) -> Followed:
    if node.label == Label.SYMBOL:
        return Followed((EdgeType.DEFINED_IN, EdgeType.CALLS))
    defining = Followed((EdgeType.DEFINED_IN, EdgeType.IMPORTS))
    if node.label == Label.DOCUMENT and await client.has_edges(Label.DOCUMENT, node.id, defining):
        return Followed((*GRAPH_EDGES, *DOCUMENT_EDGES, *DEFINED_EDGES), validity=validity)
    if node.label == Label.CONCEPT:
        return Followed((*GRAPH_EDGES, EdgeType.EXPLAINS), validity=validity)
    if node.label not in _LINKED_LABELS:
        return Followed((*GRAPH_EDGES, *DOCUMENT_EDGES), validity=validity)
    saying = Followed(_SAYING, validity=validity)
    if node.label == Label.ENTITY and not await client.has_edges(Label.ENTITY, node.id, saying):
        return Followed((*GRAPH_EDGES, EdgeType.MENTIONS, EdgeType.TITLED), validity=validity)
    return Followed(GRAPH_EDGES, validity=validity)


async def concept_instead(client: MemGraphClient, name: str, node: GraphNode, validity: Validity) -> GraphNode:
    """Return the concept with the name of an entity, if it has relations and the entity none; else the node as it is.

    Texts make an entity of nearly every name, which would otherwise hide the concept that a person linked under it.

    Args:
        client: The graph.
        name: What the caller called the node.
        node: What was found under this name.
        validity: Only facts that hold then.
    """
    if node.label != Label.ENTITY or name == node.id:
        return node
    if await client.has_edges(Label.ENTITY, node.id, Followed(_SAYING, validity=validity)):
        return node
    for row in await client.concepts_called([name, node.name]):
        if await client.has_edges(Label.CONCEPT, row["id"], (EdgeType.RELATED_TO,)):
            return GraphNode.of(row)
    return node


def edges_between(
    a: GraphNode,
    b: GraphNode,
    edge_types: Sequence[str] | None,
    relations: Sequence[str] | None,
    validity: Validity,
) -> Followed:
    """Return the edges that a path between two nodes may have; see :func:`begin_at`."""
    edges = named_edges(edge_types, relations, validity)
    if edge_types is not None or relations is not None:
        return edges
    if a.label == b.label == Label.SYMBOL:
        # A path through their common file would be trivial, and shorter than any call.
        return Followed((EdgeType.CALLS,))
    if a.label not in _LINKED_LABELS or b.label not in _LINKED_LABELS:
        return Followed((*GRAPH_EDGES, *DOCUMENT_EDGES, *_code(a, b)), validity=validity)
    return edges


def through_texts(a: GraphNode, b: GraphNode, validity: Validity) -> Followed:
    """Return the edges of a path where there is none of :func:`edges_between`: through texts that mention both."""
    # Two entities are connected by a passage that mentions both, not by a long document.
    through = (EdgeType.MENTIONS,) if a.label == b.label == Label.ENTITY else (EdgeType.MENTIONS, EdgeType.CHUNK_OF)
    return Followed((*GRAPH_EDGES, *DOCUMENT_EDGES, *_code(a, b), *through), validity=validity)


def named_edges(edge_types: Sequence[str] | None, relations: Sequence[str] | None, validity: Validity) -> Followed:
    """Return the edges that a caller names; without types those between entities, and between concepts.

    Raises:
        InvalidInputError: if either is not several strings or is empty, or a type is not in the schema; names the
            valid ones.
    """
    if relations is not None:
        relations = list(dict.fromkeys(check_texts("relations", relations)))
        if not relations:
            raise InvalidInputError("relations is empty: name at least one relation to follow, such as works_at.")
    if edge_types is None:
        return Followed(GRAPH_EDGES, relations or (), validity)
    names = check_texts("edge_types", edge_types)
    if not names:
        raise InvalidInputError("edge_types is empty: name at least one edge type to follow.")
    known = set(EdgeType)
    for name in names:
        if name not in known:
            raise InvalidInputError(
                f"There is no edge type {name[:50]!r}; the edge types are {', '.join(sorted(known))}."
                " Relations such as works_at are those of RELATED edges: name them as relations."
            )
    return Followed(tuple(EdgeType(name) for name in dict.fromkeys(names)), relations or (), validity)


def _code(a: GraphNode, b: GraphNode) -> tuple[EdgeType, ...]:
    return DEFINED_EDGES if Label.SYMBOL in (a.label, b.label) else ()
