"""Creates nodes in bulk that are known not to exist yet, in the fastest form that every engine supports.

``MERGE`` and ``SET n += row.props`` cost half as much again: they look for what was just found to be missing, and check
the constraints of a node again for each property. So properties are named in the statement; those that are the same in
every row are sent once, the others as lines of text if possible. If another client creates the same node meanwhile, the
constraint on its id refuses the second one, and the unit of work is repeated.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from core.rag.dbhandler.batches import batches, run_for_rows
from core.rag.dbhandler.lines import EACH_LINE, lines_of, packed
from core.rag.dbhandler.store import Row, Transaction
from core.rag.schema import check_name, text_partition

#: How a property is read from a line, by the type that all rows have there.
_FORMS = {str: "part[{}]", int: "toInteger(part[{}])"}


@dataclass(frozen=True, slots=True)
class _Part:
    """Rows of one statement.

    Attributes:
        each: The clause that goes over the rows.
        values: The expression of each property.
        parameters: The parameters that the clause and the expressions use.
    """

    each: str
    values: dict[str, str]
    parameters: dict[str, Any]

    @property
    def map(self) -> str:
        """Return the properties as a Cypher map."""
        return "{" + ", ".join(f"{check_name(name)}: {value}" for name, value in self.values.items()) + "}"


def _parts(rows: Sequence[Row], shared: Mapping[str, Any]) -> Iterator[_Part]:
    """Divide rows into statements, grouped by their properties."""
    by_names: dict[tuple[str, ...], list[Row]] = {}
    for row in rows:
        by_names.setdefault(tuple(row), []).append(row)
    for names, alike in by_names.items():
        for part in batches(alike):
            yield from _part(names, part, shared)


def _part(names: Sequence[str], rows: list[Row], shared: Mapping[str, Any]) -> Iterator[_Part]:
    first = rows[0]
    same = {name for name in names if name != "id" and all(row[name] == first[name] for row in rows)}
    common = {**shared, **{name: first[name] for name in names if name in same}}
    values = {name: f"${name}" for name in common}
    differing = [name for name in names if name not in same]
    forms = [
        _FORMS.get(kind.pop()) if len(kind := {type(row[name]) for row in rows}) == 1 else None for name in differing
    ]
    lines = [] if None in forms else lines_of([row[name] for name in differing] for row in rows)
    if not lines:
        rows = [{name: row[name] for name in differing} for row in rows] if same else rows
        values |= {name: f"row.{name}" for name in differing}
        yield _Part("UNWIND $rows AS row ", values, {"rows": rows, **common})
        return
    values |= {name: str(form).format(index) for index, (name, form) in enumerate(zip(differing, forms, strict=True))}
    for parameters in packed(lines):
        yield _Part(EACH_LINE, values, {**parameters, **common})


async def create_documents(tx: Transaction, rows: Sequence[Row], source: str | None, namespace: str, now: str) -> None:
    """Create documents of one source.

    Args:
        tx: The transaction.
        rows: Their properties, ``id`` among them.
        source: Id of their Source, which exists.
        namespace: Where they go.
        now: The time of the write.
    """
    match, edge = "", ""
    if source is not None:
        match, edge = "MATCH (s:Source {id: $of_source}) ", "-[:SOURCED_FROM]->(s)"
    for part in _parts(rows, {"namespace": namespace, "created_at": now, "updated_at": now}):
        await tx.run(
            f"{part.each}{match}CREATE (d:Document {part.map}){edge}", {"of_source": source, **part.parameters}
        )


async def create_chunks(tx: Transaction, rows: Sequence[Row], text_label: str, namespace: str, now: str) -> None:
    """Create chunks of documents that exist.

    Args:
        tx: The transaction.
        rows: Their properties, ``id`` and ``parent_id`` among them.
        text_label: ``:Label`` that they need to be in the keyword index, or nothing.
        namespace: Where they go.
        now: The time of the write.
    """
    label = f":{check_name(text_label[1:])}" if text_label else ""
    shared = {
        "namespace": namespace,
        "partition": text_partition(namespace),
        "created_at": now,
        "updated_at": now,
    }
    for part in _parts(rows, shared):
        await tx.run(
            f"{part.each}MATCH (d:Document {{id: {part.values['parent_id']}}}) "
            f"CREATE (c:DocumentChunk{label} {part.map})-[:CHUNK_OF]->(d)",
            part.parameters,
        )


async def create_vectors(
    tx: Transaction, rows: Sequence[Row], store: str, label: str, namespace: str, now: str
) -> None:
    """Create vectors of chunks that exist.

    Args:
        tx: The transaction.
        rows: ``id``, ``chunk_id`` and ``embedding`` of each.
        store: Id of the VectorStore, which exists.
        label: Their second label.
        namespace: Where they go.
        now: The time of the write.
    """
    check_name(label)
    await run_for_rows(
        tx,
        "MATCH (s:VectorStore {id: $store}) UNWIND $rows AS row MATCH (c:DocumentChunk {id: row.chunk_id}) "
        f"CREATE (v:Vector:{label} {{id: row.id, embedding: row.embedding, chunk_id: row.chunk_id, "
        "namespace: $namespace, vector_store_id: $store, created_at: $now, updated_at: $now}) "
        "CREATE (v)-[:EMBEDDING_OF]->(c) CREATE (v)-[:STORED_IN]->(s)",
        rows,
        store=store,
        namespace=namespace,
        now=now,
    )
