"""Symbols of source code: units of work that take an open transaction."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from core.rag.dbhandler.batches import batches
from core.rag.dbhandler.entities import EntityLedger
from core.rag.dbhandler.store import Row, Transaction
from core.rag.identity import stable_id
from core.rag.schema import Label

if TYPE_CHECKING:
    from core.rag.dbhandler.writing import DocumentRow

#: ``origin`` of a symbol that was found in source code.
FROM_CODE = "code"


async def write_symbols(
    tx: Transaction, documents: Sequence[DocumentRow], existing: Sequence[str], ledger: EntityLedger
) -> None:
    """Make the symbols of documents those given; those that callers stated stay.

    Args:
        tx: The transaction.
        documents: With their symbols.
        existing: Ids of documents that may have symbols from before.
        ledger: For namespace and time.
    """
    for part in batches(existing):
        await tx.run(
            "UNWIND $ids AS i MATCH (d:Document {id: i})<-[:DEFINED_IN]-(s:Symbol) WHERE s.origin = $origin "
            "DETACH DELETE s",
            {"ids": part, "origin": FROM_CODE},
        )
    rows: list[Row] = []
    calls: list[Row] = []
    for document in documents:
        if document.code is None:
            continue
        ids: dict[str, str] = {}
        for symbol in document.code.symbols:
            identifier = stable_id(Label.SYMBOL, ledger.namespace, document.id, symbol.kind, symbol.name)
            if identifier in ids.values():
                continue
            ids[symbol.name] = identifier
            rows.append(
                {
                    "id": identifier,
                    "document": document.id,
                    "props": {
                        "name": symbol.name,
                        "kind": symbol.kind,
                        "signature": symbol.signature,
                        "line": symbol.line,
                        "origin": FROM_CODE,
                    },
                }
            )
        by_last = {name.rsplit(".", 1)[-1]: identifier for name, identifier in ids.items()}
        for symbol in document.code.symbols:
            caller = ids[symbol.name]
            callees = {by_last[name] for name in symbol.calls if name in by_last} - {caller}
            calls += [{"a": caller, "b": callee} for callee in sorted(callees)]
    for nodes in batches(rows):
        await tx.run(
            "UNWIND $rows AS row MATCH (d:Document {id: row.document}) MERGE (s:Symbol {id: row.id}) "
            "ON CREATE SET s.namespace = $namespace, s.created_at = $now SET s += row.props, s.updated_at = $now "
            "MERGE (s)-[:DEFINED_IN]->(d)",
            {"rows": nodes, "namespace": ledger.namespace, "now": ledger.now},
        )
    for edges in batches(calls):
        await tx.run(
            "UNWIND $rows AS row MATCH (a:Symbol {id: row.a}) MATCH (b:Symbol {id: row.b}) MERGE (a)-[:CALLS]->(b)",
            {"rows": edges},
        )
