"""What records say of entities: the other fields of the record that an entity is the name of."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from core.rag.answering.types import FoundEntity
from core.rag.dbhandler.documents.rows import from_json
from core.rag.extraction.records import record_line

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
    """Return entities; those without a summary have the fields of the records that they are the name of instead.

    Args:
        client: The graph.
        entities: Entities that a question names.
        passages: Ids of records that are told anyway.
    """
    entities = list(entities)
    rows = await client.read(
        "UNWIND $ids AS i MATCH (e:Entity {id: i})<-[h:HAS_ENTITY]-(r:Record) WHERE h.field IN $fields "
        "RETURN i AS entity, h.field AS field, r.id AS record, r.data AS data ORDER BY entity, record LIMIT $limit",
        ids=[entity.id for entity in entities if not entity.summary],
        fields=_FIELDS,
        limit=_ROWS,
    )
    said: dict[str, list[str]] = {}
    for row in (row for row in rows if row["record"] not in passages):
        fields = from_json(row["data"])
        line = record_line({key: value for key, value in fields.items() if key != row["field"]})
        if line and len(lines := said.setdefault(row["entity"], [])) < _MOST:
            lines.append(line if len(line) <= _LONGEST else f"{line[:_LONGEST].rsplit(' ', 1)[0]} …")
    return [replace(one, summary="; ".join(said[one.id])) if one.id in said else one for one in entities]
