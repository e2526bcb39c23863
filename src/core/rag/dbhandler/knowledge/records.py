"""Records, their entities, and the links between these: units of work within an open transaction."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from operator import attrgetter, itemgetter

from core.rag.dbhandler.batches import run_for_ids, run_for_rows
from core.rag.dbhandler.creating import in_parts
from core.rag.dbhandler.knowledge.edge_direction import RELATED, directed
from core.rag.dbhandler.knowledge.entities import EntityLedger
from core.rag.dbhandler.lines import EACH_ID, packed
from core.rag.dbhandler.locking import lock
from core.rag.dbhandler.store import Row, Transaction
from core.rag.extraction.records import RecordEntity, Relation, relations_of
from core.rag.identity import content_hash
from core.rag.schema import Label, check_name, text_partition

#: ``origin`` of an edge between entities of one record.
FROM_RECORD = "record"


@dataclass(slots=True)
class RecordRow:
    """A record to write.

    Attributes:
        id: Its id.
        collection: What it belongs to.
        data: It, as JSON.
        terms: Its analysed words.
        entities: Its entities.
        document: Id of the document that it is a row of, or ``None``.
    """

    id: str
    collection: str
    data: str
    terms: str
    entities: list[RecordEntity] = field(default_factory=list)
    document: str | None = None

    @property
    def properties(self) -> dict[str, str]:
        """Return what is stored in its node."""
        return {"collection": self.collection, "data": self.data, "terms": self.terms}


def relation_id(source: str, target: str, origin: str, relation: str) -> str:
    """Return the id of an extracted RELATED edge: the ids of its ends, and a hash of its origin and type."""
    return f"{source}/{target}/{content_hash(origin, relation)[:12]}"


class RecordChanges:
    """Updates records within a transaction: :meth:`read`, :meth:`set`, settle the ledger, :meth:`apply`."""

    def __init__(self, ledger: EntityLedger) -> None:
        """Prepare an update; ``ledger`` is told of the entities that records have."""
        self._ledger = ledger
        self._before: dict[str, list[RecordEntity]] = {}
        self._stored: dict[str, dict[str, str]] = {}
        self._relations: Counter[Relation] = Counter()
        self._rows: list[RecordRow] = []
        self._gone: list[str] = []
        # By field and type of the entity: record and entity. There are several for a record, so not as dicts.
        self._edges: dict[tuple[str, str], list[tuple[str, RecordEntity]]] = {}
        self._stale: list[Row] = []
        #: Relations whose edges :meth:`apply` made.
        self.made: set[Relation] = set()

    async def read_documents(self, tx: Transaction, documents: Sequence[str]) -> None:
        """Note the records that are rows of existing documents."""
        rows = await run_for_ids(
            tx, "UNWIND $ids AS i MATCH (d:Document {id: i})<-[:DEFINED_IN]-(r:Record) RETURN r.id AS id", documents
        )
        await self.read(tx, [row["id"] for row in rows])

    async def read(self, tx: Transaction, records: Sequence[str]) -> None:
        """Note what existing records have, before they are changed or removed; unknown ids are left out."""
        await lock(tx, Label.RECORD, records)
        rows = await run_for_ids(
            tx,
            "UNWIND $ids AS i MATCH (r:Record {id: i}) "
            "RETURN r.id AS id, r.collection AS collection, r.data AS data, r.terms AS terms",
            records,
        )
        for row in rows:
            identifier = row.pop("id")
            self._before.setdefault(identifier, [])
            self._stored[identifier] = row
        rows = await run_for_ids(
            tx,
            "UNWIND $ids AS i MATCH (r:Record {id: i})-[h:HAS_ENTITY]->(e:Entity) RETURN r.id AS record, "
            "h.field AS field, h.type AS type, h.text AS text, e.normalized_name AS name",
            records,
        )
        for row in rows:
            entity = RecordEntity(row["field"], row["type"], row["name"], row["text"])
            self._before[row["record"]].append(entity)

    def set(self, rows: Iterable[RecordRow]) -> None:
        """Tell the ledger which records there will be; what was read and is not given is removed."""
        for row in rows:
            self._rows.append(row)
            before = {entity.name: entity for entity in self._before.get(row.id, ())}
            for entity in row.entities:
                was = before.pop(entity.name, None)
                if was == entity:
                    continue
                if was is not None:
                    self._withdraw(row.id, was)
                self._ledger.record(entity.name, entity.text, entity.type, 1)
                self._edges.setdefault((entity.field, entity.type), []).append((row.id, entity))
            for was in before.values():
                self._withdraw(row.id, was)
            self._relations.update(relations_of(row.entities))
            self._relations.subtract(relations_of(self._before.pop(row.id, ())))
        for record, entities in self._before.items():
            self._gone.append(record)
            for entity in entities:
                self._ledger.record(entity.name, entity.text, entity.type, -1)
            self._relations.subtract(relations_of(entities))
        self._before = {}
        for relation, number in self._relations.items():
            if number:  # a record may leave one of the two as it is
                self._ledger.hold(relation.source)
                self._ledger.hold(relation.target)

    def _withdraw(self, record: str, entity: RecordEntity) -> None:
        self._ledger.record(entity.name, entity.text, entity.type, -1)
        self._stale.append({"r": record, "e": self._ledger.id(entity.name)})

    async def apply(self, tx: Transaction, text_label: str) -> None:
        """Write records and edges; the ledger is settled, and documents are there.

        Args:
            tx: The transaction.
            text_label: ``:Label`` that records need to be in the keyword index, or nothing.
        """
        await run_for_ids(tx, "UNWIND $ids AS i MATCH (r:Record {id: i}) DETACH DELETE r", self._gone)
        await run_for_rows(
            tx,
            "UNWIND $rows AS row MATCH (r:Record {id: row.r})-[h:HAS_ENTITY]->(e:Entity {id: row.e}) DELETE h",
            self._stale,
        )
        if self._rows:
            await self._write(tx, text_label)
        for part in in_parts(self._edge_rows(), {}):
            r, e = part.values["r"], part.values["e"]
            await tx.run(
                f"{part.each}MATCH (r:Record {{id: {r}}}) MATCH (e:Entity {{id: {e}}}) "
                f"CREATE (r)-[:HAS_ENTITY {part.map(without=('r', 'e'))}]->(e)",
                part.parameters,
            )
        await self._relate(tx)

    def _edge_rows(self) -> Iterator[Row]:
        """Yield the edges to entities, sorted: what is the same in all rows of a statement is sent once."""
        for (path, kind), edges in sorted(self._edges.items()):
            for record, entity in edges:
                yield {
                    "r": record,
                    "e": self._ledger.id(entity.name),
                    "field": path,
                    "type": kind,
                    "text": entity.text,
                }

    async def _write(self, tx: Transaction, text_label: str) -> None:
        """Write the records that differ from what is stored: to write the same text anew is dear, too."""
        label = check_name(text_label[1:]) if text_label else ""
        rows = [row for row in self._rows if row.properties != self._stored.get(row.id)]
        there = await self._existing(tx, rows)
        changed = [{"id": row.id, "props": row.properties} for row in rows if row.id in there]
        await run_for_rows(
            tx,
            f"UNWIND $rows AS row MATCH (r:Record {{id: row.id}}) SET {f'r:{label}, ' if label else ''}"
            "r += row.props, r.updated_at = $now",
            changed,
            now=self._ledger.now,
        )
        await run_for_rows(
            tx,
            "UNWIND $rows AS row MATCH (r:Record {id: row.id}) MATCH (d:Document {id: row.document}) "
            "MERGE (r)-[:DEFINED_IN]->(d)",
            [{"id": row.id, "document": row.document} for row in rows if row.document and row.id in there],
        )
        await self._create(tx, [row for row in rows if row.id not in there], f"Record:{label}" if label else "Record")

    async def _existing(self, tx: Transaction, rows: Sequence[RecordRow]) -> frozenset[str]:
        """Return the ids of those records that are stored already, also of those that no document is known to have."""
        there = {row.id for row in rows if row.id in self._stored}
        for lines in packed([row.id for row in rows if row.id not in there]):
            there.update(
                row["id"] for row in await tx.run(f"{EACH_ID}MATCH (r:Record {{id: i}}) RETURN r.id AS id", lines)
            )
        return frozenset(there)

    async def _create(self, tx: Transaction, rows: Sequence[RecordRow], labels: str) -> None:
        ledger = self._ledger
        shared = {
            "namespace": ledger.namespace,
            "partition": text_partition(ledger.namespace),
            "created_at": ledger.now,
            "updated_at": ledger.now,
        }
        nodes = ({"id": row.id, **row.properties} for row in rows if not row.document)
        for part in in_parts(nodes, shared):
            await tx.run(f"{part.each}CREATE (r:{labels} {part.map()})", part.parameters)
        nodes = ({"id": row.id, "document": row.document, **row.properties} for row in rows if row.document)
        for part in in_parts(nodes, shared):
            await tx.run(
                f"{part.each}MATCH (d:Document {{id: {part.values['document']}}}) "
                f"CREATE (r:{labels} {part.map(without=('document',))})-[:DEFINED_IN]->(d)",
                part.parameters,
            )

    async def _relate(self, tx: Transaction) -> None:
        """Update the weights of RELATED edges: how many records have both of the entities, in such fields."""
        wanted: list[Row] = []
        new: list[Relation] = []
        relations: dict[str, Relation] = {}
        new_names = self._ledger.made
        for relation, number in self._relations.items():
            if number > 0 and (relation.source in new_names or relation.target in new_names):
                new.append(relation)  # what is new has no edges
            elif number:
                row = self._link_row(relation)
                wanted.append({**row, "n": number})
                relations[row["link"]] = relation
        self.made.update(new)
        new.sort(key=attrgetter("type"))
        await self._create_links(tx, (_link(self._link_row(one), self._relations[one]) for one in new))
        async for backward, rows in directed(tx, RELATED, wanted):
            await self._weigh(tx, rows, relations, backward=backward)

    def _link_row(self, relation: Relation) -> Row:
        a, b = self._ledger.id(relation.source), self._ledger.id(relation.target)
        return {"a": a, "b": b, "link": relation_id(a, b, FROM_RECORD, relation.type), "type": relation.type}

    async def _weigh(
        self, tx: Transaction, rows: list[Row], relations: Mapping[str, Relation], *, backward: bool
    ) -> None:
        pattern = f"UNWIND $rows AS row MATCH {RELATED.there(backward=backward)} "
        stored = {
            row["link"]: row["weight"]
            for row in await tx.run(f"{pattern}RETURN r.id AS link, r.weight AS weight", {"rows": rows})
        }
        changed: list[Row] = []
        gone: list[Row] = []
        created: list[Row] = []
        for row in rows:
            weight = stored.get(row["link"], 0.0) + row["n"]
            if weight > 0 and row["link"] not in stored:
                created.append(_link(row, weight))
                self.made.add(relations[row["link"]])
            else:
                (gone if weight <= 0 else changed).append({**row, "weight": float(weight)})
        await run_for_rows(tx, f"{pattern}DELETE r", gone)
        await run_for_rows(
            tx, f"{pattern}SET r.weight = row.weight, r.updated_at = $now", changed, now=self._ledger.now
        )
        await self._create_links(tx, sorted(created, key=itemgetter("type")))

    async def _create_links(self, tx: Transaction, rows: Iterable[Row]) -> None:
        """Create edges; of sorted rows, the type is sent once."""
        shared = {"updated_at": self._ledger.now, "origin": FROM_RECORD}
        for part in in_parts(rows, shared):
            a, b = part.values["a"], part.values["b"]
            await tx.run(
                f"{part.each}MATCH (a:Entity {{id: {a}}}) MATCH (b:Entity {{id: {b}}}) "
                f"CREATE (a)-[:RELATED {part.map(without=('a', 'b'), copies={'key': 'id'})}]->(b)",
                part.parameters,
            )


def _link(row: Row, weight: float) -> Row:
    """Return the row of an edge to create."""
    return {"a": row["a"], "b": row["b"], "id": row["link"], "type": row["type"], "weight": float(weight)}
