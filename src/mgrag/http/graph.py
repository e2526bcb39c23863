"""Routes for the knowledge graph: records, entities, their connections, and context for a language model."""

from __future__ import annotations

from typing import Annotated, cast

from fastapi import APIRouter, Query
from pydantic import AliasChoices, Field

from core.rag.errors import InvalidInputError, NotFoundError
from core.rag.graph.finding import Order
from core.rag.graph.parts import EdgePage, GraphEdge, GraphStats, NeighbourPage, Piece
from core.rag.graph.searching import KnowledgeMode
from core.rag.graph.traversing import Direction
from core.rag.indexing.resolving import ResolutionReport
from core.rag.schema import EdgeType
from mgrag.http.bases import After, Body, Filters, Name, Reading, Words, Writing, check_model, described
from mgrag.http.results import Collections, Context, Deleted, ExtractedFacts, FoundWay, NodePage, Nodes, Results, Way
from mgrag.messages import not_added_by_hand

router = APIRouter(tags=["graph"])

#: Of entities and edges in a page.
_Limit = Annotated[int, Query(ge=1, le=1000)]
_WHEN = "Facts that held then (ISO 8601, UTC; also a year or month), or ever for all; now by default."
_At = Annotated[str | None, Query(description=_WHEN)]
_WHICH = "Only documents that pass, records read from these, and facts that one of them states."
_VALID_FROM = "Since when it holds: ISO 8601, UTC; a date is enough, and so is a year or month, for its first day."
_VALID_TO = "Since when it does not hold any more."
_EdgeTypes = Annotated[list[Annotated[str, described(enum=sorted(EdgeType))]], described(minItems=1)]
_Relations = Annotated[list[str], described(minItems=1)]


class KnowledgeSearch(Body):
    """What to search records and documents for."""

    query: Words = Field(description="A question, words or names.")
    mode: KnowledgeMode = Field(default="hybrid", description="By words, by the graph around what is named, or both.")
    limit: int = Field(default=10, ge=1, le=1000, description="Maximum number of results.")
    at: str | None = Field(default=None, description=_WHEN)
    filters: Filters | None = Field(default=None, description=_WHICH)


class ContextQuestion(Body):
    """A question for a language model of the caller's."""

    question: Words = Field(description="A question, or the names that it is about.")
    context_depth: int = Field(default=2, ge=0, le=4, description="How many steps to follow in the graph.")
    limit: int = Field(default=5, ge=1, le=100, description="Maximum number of passages and records.")
    at: str | None = Field(default=None, description=_WHEN)
    filters: Filters | None = Field(default=None, description=_WHICH)


class Walk(Body):
    """Where to walk."""

    start: Words = Field(description="Name or id.", validation_alias=AliasChoices("start", "startNode", "nodeId"))
    depth: int = Field(
        default=2,
        ge=1,
        le=64,
        validation_alias=AliasChoices("depth", "maxDepth"),
        description="Maximum number of steps.",
    )
    edge_types: _EdgeTypes | None = Field(default=None, description="Only these edges.")
    relations: _Relations | None = Field(default=None, description="Only edges of these relations.")
    direction: Direction = Field(default="both", description="Edges that lead away from a node, to it, or both.")
    limit: int = Field(default=100, ge=1, le=10_000, description="Maximum number of nodes.")
    after: str = Field(default="", description="The next of the page before.")
    at: str | None = Field(default=None, description=_WHEN)


class Ends(Body):
    """The ends of a path."""

    start: Words = Field(description="Name or id.", validation_alias=AliasChoices("start", "from", "source"))
    end: Words = Field(description="Name or id.", validation_alias=AliasChoices("end", "to", "target"))
    weighted: bool = Field(default=False, description="Each edge counts 1 / weight, so that heavy edges are short.")
    max_depth: int = Field(
        default=6,
        ge=1,
        le=64,
        validation_alias=AliasChoices("maxDepth", "max_depth", "depth"),
        description="Maximum number of edges.",
    )
    edge_types: _EdgeTypes | None = Field(default=None, description="Only these edges.")
    relations: _Relations | None = Field(default=None, description="Only edges of these relations.")
    at: str | None = Field(default=None, description=_WHEN)


class Link(Body):
    """A link between two entities."""

    source: Name = Field(description="Name or id.", validation_alias=AliasChoices("source", "from"))
    target: Name = Field(description="Name or id.", validation_alias=AliasChoices("target", "to"))
    relation: Name = Field(default="related", description="Such as works_at.")
    fact: str = Field(default="", description="The same in words.")
    weight: float = Field(default=1.0, gt=0, description="How strong it is.")
    create: bool = Field(default=False, description="Make entities that are not there.")
    valid_from: str | None = Field(default=None, description=_VALID_FROM)
    valid_to: str | None = Field(default=None, description=_VALID_TO)


class Resolution(Body):
    """How to find entities that are the same."""

    vectors: bool = Field(default=True, description="Also compare the meanings of names.")


class Extraction(Body):
    """What the language model is to find, and in how many passages."""

    entity_types: list[str] | None = Field(default=None, description="Only these; by default as the server is set.")
    relations: list[str] | None = Field(
        default=None, description="Only these: owns, or person > owns > building; by default as the server is set."
    )
    again: bool = Field(default=False, description="Also passages that were read before.")
    limit: int = Field(default=100, ge=1, le=1000, description="Call it again, without again, for the rest.")


class Merge(Body):
    """Two entities that are the same."""

    alias: Name = Field(description="Name or id.")
    entity: Name = Field(description="Name or id of the one whose name stands for both.")


class Split(Body):
    """An entity that is not what it was merged with."""

    entity: Name = Field(description="Name or id.")
    other: Name | None = Field(default=None, description="What it is not; without it, all that it was merged with.")


class Triple(Body):
    """A fact."""

    subject: Name = Field(description="Name of an entity.")
    relation: Name = Field(description="Such as works_at.")
    object: Name = Field(description="Name of another entity.")
    subject_type: str = Field(default="", description="Type of the subject; without one, an entity keeps its own.")
    object_type: str = Field(default="", description="Type of the object, likewise.")
    fact: str = Field(default="", description="The same in words.")
    weight: float = Field(default=1.0, gt=0, description="How strong it is.")
    chunk_ids: list[str] = Field(default_factory=list, description="It is removed with the last of these chunks.")
    valid_from: str | None = Field(default=None, description=_VALID_FROM)
    valid_to: str | None = Field(default=None, description=_VALID_TO)


class Triples(Body):
    """Facts to be stored."""

    triples: list[Triple] = Field(min_length=1, max_length=1000, description="Entities that are not there are made.")


#: A body that may be missing, but is not null.
_ANY_WAY = Resolution()
_ANY_FACTS = Extraction()


@router.post("/search")
async def search(kb: Reading, body: KnowledgeSearch) -> Results:
    """Find records and documents; for passages see ``/chunks/search``."""
    found = await kb.search_knowledge(body.query, body.mode, body.limit, at=body.at, filters=body.filters)
    return {"results": found, "total": len(found)}


@router.post("/ask")
async def context(kb: Reading, body: ContextQuestion) -> Context:
    """Collect facts, records and passages for a language model; ``/answer`` gives an answer."""
    found = await kb.ask_context(body.question, body.context_depth, body.limit, at=body.at, filters=body.filters)
    return cast("Context", found.to_dict())


@router.get("/graph/stats")
async def stats(kb: Reading) -> GraphStats:
    """Count entities and their edges, by type."""
    return await kb.graph_stats()


@router.get("/graph/search")
async def search_nodes(
    kb: Reading,
    q: str,
    limit: _Limit = 20,
    type: str | None = None,  # noqa: A002
) -> Nodes:
    """Find entities by name."""
    return {"nodes": await kb.search_nodes(q, limit, type=type)}


@router.get("/graph/nodes")
async def nodes(
    kb: Reading,
    type: str | None = None,  # noqa: A002
    limit: _Limit = 100,
    after: After = "",
    order: Order = "name",
) -> NodePage:
    """List entities by name, or the most mentioned first."""
    found, more = await kb.entities(type=type, limit=limit, after=after, order=order)
    return {"nodes": found, "next": more}


@router.get("/graph/edges")
async def edges(
    kb: Reading, relation: str | None = None, limit: _Limit = 100, after: After = "", at: _At = None
) -> EdgePage:
    """List the edges between entities."""
    return await kb.edges(relation=relation, limit=limit, after=after, at=at)


@router.get("/graph/node/{node:name}")
async def neighbors(
    kb: Reading,
    node: str,
    relation: Annotated[list[str] | None, Query(description="Only edges of this relation; repeatable.")] = None,
    edge_type: Annotated[
        list[str] | None,
        Query(
            validation_alias=AliasChoices("edgeType", "edge_type"),
            description="Only these edges, such as MENTIONS; repeatable.",
        ),
    ] = None,
    limit: _Limit = 100,
    after: After = "",
    at: _At = None,
) -> NeighbourPage:
    """Show a node (name or id; path of a document) and its neighbours."""
    return await kb.neighbors(node, edge_types=edge_type, relations=relation, limit=limit, after=after, at=at)


@router.delete("/graph/node/{node:name}")
async def remove(kb: Writing, node: str) -> Deleted:
    """Remove an entity that was added by hand (by a link or triples), and its links; what else names it keeps it."""
    if not await kb.remove_entity(node):
        raise NotFoundError(not_added_by_hand(node))
    return {"deleted": node}


@router.post("/graph/traverse")
async def traverse(kb: Reading, body: Walk) -> Piece:
    """List what is within some steps of a node, nearest first."""
    return await kb.traverse(**body.model_dump())


@router.post("/graph/path")
async def path(kb: Reading, body: Ends) -> FoundWay:
    """Find the shortest path between two nodes; ``null`` where there is none."""
    found = await kb.shortest_path(**body.model_dump())
    return {"path": None if found is None else cast("Way", found.to_dict())}


@router.post("/graph/link")
async def link(kb: Writing, body: Link) -> GraphEdge:
    """Link two entities by hand."""
    return await kb.link(**body.model_dump())


@router.delete("/graph/link/{edge_id:name}")
async def unlink(
    kb: Writing,
    edge_id: str,
    ended: Annotated[str | None, Query(description="Keep it as history: it held until then (ISO 8601, UTC).")] = None,
) -> dict[str, int]:
    """Remove a link that was added by hand, or say until when it held."""
    held = "" if ended is None else " and held then"
    missing = NotFoundError(f"No link has the id {edge_id[:200]!r}{held}.")
    try:
        count = await kb.unlink(edge_id, ended=ended)
    except InvalidInputError as error:  # the id of none: what the library says is for who may name two ends instead
        if ended is not None:
            raise
        raise missing from error
    if not count:
        raise missing
    return {"removed" if ended is None else "ended": count}


@router.post("/graph/resolve")
async def resolve(kb: Writing, body: Resolution = _ANY_WAY) -> ResolutionReport:
    """Find entities that have several names, and connect these."""
    return await kb.resolve_entities(vectors=body.vectors)


@router.post("/graph/extract")
async def extract(kb: Writing, body: Extraction = _ANY_FACTS) -> ExtractedFacts:
    """Have the language model read passages that it has not read yet, and add the entities and facts in them."""
    check_model(kb)
    report = await kb.extract_facts(
        entity_types=body.entity_types, relations=body.relations, again=body.again, limit=body.limit
    )
    counts = await kb.client.fact_counts()
    return cast("ExtractedFacts", report.to_dict() | {"waiting": counts["waiting"]})


@router.post("/graph/merge")
async def merge(kb: Writing, body: Merge) -> Merge:
    """Declare two entities to be the same; both stay, and a split undoes it."""
    await kb.merge_entities(body.alias, body.entity)
    return body


@router.post("/graph/split")
async def split(kb: Writing, body: Split) -> dict[str, int]:
    """Undo merges of an entity, whoever made them, and keep them from being made again."""
    return {"split": await kb.split_entity(body.entity, body.other)}


@router.get("/collections", tags=["records"])
async def collections(kb: Reading) -> Collections:
    """List the collections of records, also those from files, by name."""
    found = await kb.collections()
    return {"collections": [{"name": name, "records": records} for name, records in found.items()]}


@router.post("/graph/triples")
async def add_triples(kb: Writing, body: Triples) -> dict[str, int]:
    """State facts about entities; those that are not there are made."""
    return {"stored": await kb.add_triples([triple.model_dump() for triple in body.triples])}
