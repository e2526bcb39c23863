"""What records say of entities: the other fields of the record that an entity is the name of."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from core.rag.answering.first_chunks import first_chunks
from core.rag.answering.types import FoundEntity
from core.rag.dbhandler.json_texts import from_json
from core.rag.dbhandler.knowledge.record_rows import DOCUMENTS
from core.rag.extraction.records import record_line
from core.rag.retrieval.hits import Hit, hits_of

if TYPE_CHECKING:
    from core.rag.dbhandler import MemGraphClient

#: Fields that say what a record is about.
_NAMES: Final = ("name", "fullname", "full_name", "fullName", "title", "label")
_FIELDS: Final = sorted({form for name in _NAMES for form in (name, name[0].upper() + name[1:], name.upper())})
#: Maximum number of records of an entity, and of characters of each.
_MOST: Final = 3
_LONGEST: Final = 500
#: Maximum number of records that are read.
_ROWS: Final = 200


async def with_records(
    client: MemGraphClient, entities: Iterable[FoundEntity], passages: Collection[str] = ()
) -> list[FoundEntity]:
    """Return entities; those without a summary have the fields of what they are the name of instead: of records, and of
    documents, which may also be called by their number ("EIP-1559").

    Args:
        client: The graph.
        entities: Entities that a question names.
        passages: Ids of records that are told anyway.
    """
    entities = list(entities)
    ids = [entity.id for entity in entities if not entity.summary]
    named = await client.read(
        "UNWIND $ids AS i MATCH (e:Entity {id: i})<-[h:HAS_ENTITY]-(r:Record) WHERE h.field IN $fields "
        "RETURN i AS entity, h.field AS field, r.id AS record, r.data AS data ORDER BY entity, record LIMIT $limit",
        ids=ids,
        fields=_FIELDS,
        limit=_ROWS,
    )
    titled = await client.read(
        "UNWIND $ids AS i MATCH (e:Entity {id: i})<-[:TITLED]-(d:Document)<-[:DEFINED_IN]-(r:Record) "
        "WHERE r.collection = $collection "
        "RETURN i AS entity, r.id AS record, r.data AS data, d.id AS document ORDER BY entity, record LIMIT $limit",
        ids=ids,
        collection=DOCUMENTS,
        limit=_ROWS,
    )
    documents = {(row["entity"], row["record"]): row["document"] for row in titled}
    known = {(row["entity"], row["record"]) for row in named}
    rows = [*named, *(row for row in titled if (row["entity"], row["record"]) not in known)]
    said: dict[str, list[tuple[str, str]]] = {}
    for row in (row for row in rows if row["record"] not in passages):
        fields = from_json(row["data"])
        line = record_line({key: value for key, value in fields.items() if key != row.get("field")})
        if line and len(lines := said.setdefault(row["entity"], [])) < _MOST:
            line = line if len(line) <= _LONGEST else f"{line[:_LONGEST].rsplit(' ', 1)[0]} …"
            lines.append((line, documents.get((row["entity"], row["record"]), "")))
    return [_told(one, said[one.id]) if one.id in said else one for one in entities]


def _told(entity: FoundEntity, lines: Sequence[tuple[str, str]]) -> FoundEntity:
    """Return an entity with what records say of it: lines, each with the document whose fields it has."""
    document = lines[0][1] if len(lines) == 1 else ""
    return replace(entity, summary="; ".join(line for line, _ in lines), document=document)


async def openings(client: MemGraphClient, entities: Iterable[FoundEntity], hits: Iterable[Hit]) -> list[Hit]:
    """Return the first passages of the documents whose fields entities have, which stand for these, if they are not
    there yet.

    Args:
        client: The graph.
        entities: As :func:`with_records` returns them.
        hits: The passages that are there.
    """
    there = {hit.document_id for hit in hits if hit.fields}
    wanted = dict.fromkeys(one.document for one in entities if one.document and one.document not in there)
    first = (await first_chunks(client, list(wanted)[:_MOST])).values()
    return await hits_of(client, first)
