"""Records inserted by callers: KnowledgeDB's collections on the graph."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from core.rag.arguments import check_limit, check_text, check_texts
from core.rag.dbhandler.base import ClientBase
from core.rag.dbhandler.batches import batches
from core.rag.dbhandler.json_texts import from_json
from core.rag.dbhandler.knowledge.entities import EntityLedger
from core.rag.dbhandler.knowledge.record_rows import MAX_COLLECTION_CHARS, record_row
from core.rag.dbhandler.knowledge.records import RecordChanges, RecordRow
from core.rag.dbhandler.store import Row, Transaction
from core.rag.encodable import encodable
from core.rag.errors import InvalidInputError
from core.rag.extraction.records import FIELD_HINTS, Relation, relations_of
from core.rag.keyed import Plain
from core.rag.schema import Label, TextIndex
from core.rag.times import utc_now

#: The collections of a namespace, and how many records each has.
COLLECTIONS: Final = (
    "MATCH (r:Record) WHERE r.namespace = $namespace RETURN r.collection AS collection, count(r) AS records"
)


@dataclass(frozen=True, slots=True)
class Inserted(Plain):
    """The result of inserting a record.

    Attributes:
        id: Id of the record.
        collection: The collection that it belongs to.
        entities: Names of the entities in it, in the order of its fields.
        nodes: How many of the entities are new.
        edges: How many links between them are new.
    """

    id: str
    collection: str
    entities: list[str] = field(default_factory=list)
    nodes: int = 0
    edges: int = 0


class RecordOperations(ClientBase):
    """Inserting, reading and removing records."""

    async def insert_records(
        self, collection: str, records: Iterable[Mapping[str, Any]], hints: Mapping[str, str] = FIELD_HINTS
    ) -> list[Inserted]:
        """Insert records, or replace those with the same ``_id`` or ``id``, a few hundred per transaction.

        Raises:
            InvalidInputError: if the collection has no name, or a record is not a JSON object.
        """
        _check_collection(collection)
        if not isinstance(records, Iterable) or isinstance(records, Mapping | str):
            raise InvalidInputError(
                f"records must be a sequence of objects, not {type(records).__name__}; insert takes a single one."
            )
        rows: dict[str, RecordRow] = {}
        order = []
        for number, record in enumerate(records, 1):
            if not isinstance(record, Mapping):
                raise InvalidInputError(
                    f"A record must be a mapping of fields, but record {number} of {collection[:50]!r} is a"
                    f" {type(record).__name__}. insert takes a single record, insert_many several."
                )
            row = record_row(self._namespace, collection, record, hints)
            rows[row.id] = row
            order.append(row.id)
        label = await self._text_label(Label.RECORD)
        done: dict[str, Inserted] = {}
        for part in batches(list(rows.values()), max_rows=200):

            async def work(tx: Transaction, part: list[RecordRow] = part) -> dict[str, Inserted]:
                ledger = EntityLedger(self._namespace, utc_now())
                changes = RecordChanges(ledger)
                await changes.read(tx, [row.id for row in part])
                changes.set(part)
                await ledger.settle(tx)
                await changes.apply(tx, label)
                await ledger.remove_unused(tx)
                return _inserted(part, ledger.made, changes.made)

            done |= await self._write(work)
        return [done[identifier] for identifier in order]

    async def delete_records(self, ids: Sequence[str]) -> int:
        """Remove records by id, and the entities that nothing else supports.

        Returns:
            How many existed.

        Raises:
            InvalidInputError: on a single string instead of several ids, and on anything that is not text.
        """
        unique = sorted(set(check_texts("ids", ids)))
        graph = await self.connect()

        async def records() -> int:
            return len(unique)

        async with graph.removing_texts(TextIndex(Label.RECORD, self._namespace), records):
            return await self._delete_records(unique)

    async def _delete_records(self, ids: Sequence[str]) -> int:
        count = 0
        for part in batches(ids, max_rows=200):

            async def work(tx: Transaction, part: list[str] = part) -> int:
                ledger = EntityLedger(self._namespace, utc_now())
                changes = RecordChanges(ledger)
                rows = await tx.run(
                    "UNWIND $ids AS i MATCH (r:Record {id: i}) WHERE r.namespace = $namespace RETURN r.id AS id",
                    {"ids": part, "namespace": self._namespace},
                )
                await changes.read(tx, [row["id"] for row in rows])
                changes.set([])
                await ledger.settle(tx)
                await changes.apply(tx, "")
                await ledger.remove_unused(tx)
                return len(rows)

            count += await self._write(work)
        return count

    async def list_records(self, collection: str, *, limit: int = 100, after: str = "") -> list[dict[str, Any]]:
        """List the records of a collection by id: ``id``, ``collection`` and ``data``.

        Args:
            collection: Its name.
            limit: Maximum number to return.
            after: Only ids after this one; pass the last id of a page to get the next page.

        Raises:
            InvalidInputError: if the limit is not a whole number of at least 1, or another argument is not text.
        """
        limit = check_limit(limit, 1)
        check_text("collection", collection)
        check_text("after", after)
        rows = await self.read(
            "MATCH (r:Record) WHERE r.namespace = $namespace AND r.collection = $collection AND r.id > $after "
            f"RETURN r.id AS id, r.collection AS collection, r.data AS data ORDER BY id LIMIT {limit}",
            collection=encodable(collection),
            after=after,
        )
        return [{**row, "data": from_json(row["data"])} for row in rows]

    async def record_ids(self, collection: str) -> list[str]:
        """Return the ids of all records of a collection, in order."""
        rows = await self.read(
            "MATCH (r:Record) WHERE r.namespace = $namespace AND r.collection = $collection "
            "RETURN collect(r.id) AS ids",
            collection=encodable(check_text("collection", collection)),
        )
        return sorted(rows[0]["ids"])

    async def collections(self) -> dict[str, int]:
        """Return the names of all collections in order, with the number of their records."""
        rows = await self.read(COLLECTIONS)
        return {row["collection"]: row["records"] for row in sorted(rows, key=lambda row: str(row["collection"]))}

    async def documents_of_records(self, ids: Sequence[str]) -> list[dict[str, Any]]:
        """Return the documents of records: ``id`` and ``collection`` of a record, ``document`` (an id) and ``path``.

        Records that were inserted, and unknown ids, are left out.
        """
        return await self.read_for_ids(
            "UNWIND $ids AS i MATCH (r:Record {id: i})-[:DEFINED_IN]->(d:Document) WHERE r.namespace = $namespace "
            "RETURN r.id AS id, r.collection AS collection, d.id AS document, d.path AS path",
            ids,
        )

    async def entities_of_records(self, ids: Sequence[str]) -> list[Row]:
        """Return the entities of records: ``record``, ``entity`` (ids), ``name``, ``field``, ``type`` and ``text``."""
        return await self.read_for_ids(
            "UNWIND $ids AS i MATCH (n:Record {id: i})-[h:HAS_ENTITY]->(e:Entity) WHERE n.namespace = $namespace "
            "RETURN i AS record, e.id AS entity, e.normalized_name AS name, h.field AS field, h.type AS type, "
            "h.text AS text",
            ids,
        )

    async def records_of_both(self, pairs: Iterable[tuple[str, str]]) -> list[Row]:
        """Return records that have two entities, as from :meth:`entities_of_records`, with these two entities only.

        Args:
            pairs: Ids of two entities each. Of each pair at most 200 records are returned.
        """
        rows = await self.read_for_pairs(
            "UNWIND $rows AS row MATCH (a:Entity {id: row.a}) MATCH (b:Entity {id: row.b}) "
            "CALL { WITH a, b MATCH (a)<-[x:HAS_ENTITY]-(n:Record)-[y:HAS_ENTITY]->(b) "
            "WITH n, x, y LIMIT 200 RETURN n.id AS record, x.field AS fx, x.type AS tx, "
            "x.text AS sx, y.field AS fy, y.type AS ty, y.text AS sy } "
            "RETURN record, a.id AS a, a.normalized_name AS na, fx, tx, sx, b.id AS b, b.normalized_name AS nb, "
            "fy, ty, sy",
            pairs,
            at_once=100,
        )
        names = ("entity", "name", "field", "type", "text")
        return [
            {"record": row["record"], **dict(zip(names, (row[key] for key in keys), strict=True))}
            for row in rows
            for keys in (("a", "na", "fx", "tx", "sx"), ("b", "nb", "fy", "ty", "sy"))
        ]


def _inserted(rows: Sequence[RecordRow], names: set[str], relations: set[Relation]) -> dict[str, Inserted]:
    """Return what each record added; what several records share is counted for the first one."""
    inserted = {}
    for row in rows:
        own, links = {entity.name for entity in row.entities} & names, set(relations_of(row.entities)) & relations
        texts = [entity.text for entity in row.entities]
        inserted[row.id] = Inserted(row.id, row.collection, texts, len(own), len(links))
        names -= own
        relations -= links
    return inserted


def _check_collection(collection: str) -> None:
    if not isinstance(collection, str) or not collection.strip() or len(collection) > MAX_COLLECTION_CHARS:
        raise InvalidInputError(f"The name of a collection must have 1 to {MAX_COLLECTION_CHARS} characters.")
