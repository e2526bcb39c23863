"""Links nodes by hand."""

from __future__ import annotations

from dataclasses import astuple
from typing import TYPE_CHECKING, Any

from core.rag.arguments import check_flags, check_text, one_line
from core.rag.dbhandler.checks import MAX_PATH_CHARS
from core.rag.dbhandler.knowledge.entities import FROM_CALLER
from core.rag.dbhandler.knowledge.operations import positive
from core.rag.dbhandler.knowledge.periods import Time, end_of, period_of
from core.rag.dbhandler.knowledge.placing import Statement
from core.rag.dbhandler.knowledge.validity import period_in
from core.rag.errors import InvalidInputError, NotFoundError
from core.rag.extraction.words import normalize_name
from core.rag.graph.finding import find
from core.rag.graph.parts import GraphEdge, GraphNode
from core.rag.identity import entity_id, link_id
from core.rag.schema import Label

if TYPE_CHECKING:
    from core.rag.dbhandler import MemGraphClient

#: The default relation of a link.
DEFAULT_RELATION = "related"

_MAX_RELATION_CHARS = 200


async def link(
    client: MemGraphClient,
    source: str,
    target: str,
    relation: str,
    *,
    fact: str,
    weight: float,
    create: bool,
    valid_from: Time | None,
    valid_to: Time | None,
) -> GraphEdge:
    """See :meth:`core.rag.KnowledgeBase.link`."""
    check_flags(create=create)
    relation = one_line(relation, "The relation", _MAX_RELATION_CHARS)
    fact = one_line(fact, "The fact", MAX_PATH_CHARS) if fact else ""
    weight = positive(weight, "The weight")
    period = period_of(valid_from, valid_to)
    (a, is_new_a), (b, is_new_b) = [await _end(client, name, create=create) for name in (source, target)]
    if a.id == b.id:
        raise InvalidInputError(
            f"{source[:200]!r} and {target[:200]!r} are the same node, which cannot be linked to itself."
        )
    if a.label == b.label == Label.ENTITY:
        for end, is_new in ((a, is_new_a), (b, is_new_b)):
            if is_new:
                await client.make_entity(end.name)
        words = f"{a.name} {relation} {b.name}"
        props: dict[str, Any] = {"fact": fact, "weight": weight, "chunk_ids": []}
        edge = await client.link_entities(Statement(a.id, b.id, relation, words, period, props))
        stored = period_in(edge["props"])
        return GraphEdge(a.id, b.id, relation, edge["link"], fact, weight, FROM_CALLER, *astuple(stored))
    if a.label == b.label == Label.CONCEPT:
        if fact or period or relation != DEFAULT_RELATION:
            raise InvalidInputError(
                f"{a.name[:200]!r} and {b.name[:200]!r} are concepts, whose links have no relation and no fact, and no"
                " times: leave these out, or link two entities."
            )
        await client.link_concepts([(a.id, b.id, weight)])
        first, second = sorted((a.id, b.id))
        return GraphEdge(first, second, "RELATED_TO", link_id(first, second, ""), "", weight, FROM_CALLER)
    raise InvalidInputError(
        f"{a.name[:200]!r} is a {a.label} and {b.name[:200]!r} a {b.label}: only two entities or two concepts"
        " can be linked."
    )


async def unlink(
    client: MemGraphClient,
    source: str,
    target: str | None,
    relation: str | None,
    ended: Time | None,
) -> int:
    """See :meth:`core.rag.KnowledgeBase.unlink`."""
    end = "" if ended is None else end_of(ended, "ended")
    identifier: str | None = None
    if target is None:
        check_text("A link", source)
        identifier, parts = source, source.split("/")
        if len(parts) != 3 or not all(parts):
            raise InvalidInputError(f"{source[:200]!r} is not the id of a link: name both of its ends, or its id.")
        source, target = parts[:2]
    a, b = await find(client, source), await find(client, target)
    if a.label == b.label == Label.CONCEPT:
        if end:
            raise InvalidInputError("Links between concepts have no times: leave out ended to remove this one.")
        return await client.unlink_concepts([(a.id, b.id)])
    return await client.unlink_entities(a.id, b.id, relation=relation, link=identifier, ended=end)


async def _end(client: MemGraphClient, name: str, *, create: bool) -> tuple[GraphNode, bool]:
    """Return a node, and whether it is an entity that has to be created."""
    if row := await client.named_node(name):
        return GraphNode.of(row), False
    if not create:
        try:
            return await find(client, name), False
        except NotFoundError as error:
            raise NotFoundError(f"{error} To link an entity that does not exist yet: --create (create=True).") from None
    text = one_line(name, "The name of an entity", _MAX_RELATION_CHARS)
    return GraphNode(entity_id(client.namespace, normalize_name(text)), text, Label.ENTITY), True
