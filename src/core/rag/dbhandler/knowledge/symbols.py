"""Updates symbols of source code, their calls and imports, in the transaction that writes documents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from core.rag.dbhandler.batches import run_for_ids, run_for_rows
from core.rag.dbhandler.resources import remove_unused_resources
from core.rag.dbhandler.store import Row, Transaction
from core.rag.extraction.symbols import CodeFacts
from core.rag.identity import resource_id, stable_id
from core.rag.schema import FROM_TEXT, Label

#: ``origin`` of a symbol that was found in source code.
FROM_CODE = "code"

#: ``type`` of the Resource that an imported module is; its URI is ``module:NAME``.
MODULE = "module"


class SymbolChanges:
    """Updates symbols within a transaction: :meth:`read`, then :meth:`write`. Those that callers stated stay."""

    def __init__(self, namespace: str, now: str) -> None:
        """Prepare an update.

        Args:
            namespace: Where the documents are.
            now: The time of the write.
        """
        self._namespace = namespace
        self._now = now
        self._existing: list[str] = []
        self._modules: set[str] = set()

    async def read(self, tx: Transaction, documents: Sequence[str]) -> None:
        """Note what existing documents import, before they are changed or removed."""
        self._existing = list(documents)
        rows = await run_for_ids(
            tx,
            "UNWIND $ids AS i MATCH (d:Document {id: i})-[:IMPORTS]->(t:Resource) RETURN DISTINCT t.id AS id",
            self._existing,
        )
        self._modules = {row["id"] for row in rows}

    async def write(self, tx: Transaction, documents: Mapping[str, CodeFacts]) -> None:
        """Give documents these symbols and imports; documents that were read and are not among them get none."""
        await run_for_ids(
            tx,
            "UNWIND $ids AS i MATCH (d:Document {id: i})<-[:DEFINED_IN]-(s:Symbol) WHERE s.origin = $origin "
            "DETACH DELETE s",
            self._existing,
            origin=FROM_CODE,
        )
        await run_for_ids(tx, "UNWIND $ids AS i MATCH (d:Document {id: i})-[r:IMPORTS]->() DELETE r", self._existing)
        await self._define(tx, documents)
        await self._import(tx, documents)
        await remove_unused_resources(tx, self._modules)

    async def _define(self, tx: Transaction, documents: Mapping[str, CodeFacts]) -> None:
        symbols: list[Row] = []
        calls: list[Row] = []
        for document, code in documents.items():
            ids = [
                stable_id(Label.SYMBOL, self._namespace, document, symbol.kind, symbol.name) for symbol in code.symbols
            ]
            for identifier, symbol in zip(ids, code.symbols, strict=True):
                props = {"name": symbol.name, "kind": symbol.kind, "signature": symbol.signature, "origin": FROM_CODE}
                symbols.append({"id": identifier, "d": document, "props": {**props, "line": symbol.line}})
            for identifier, symbol in zip(ids, code.symbols, strict=True):
                calls += [{"a": identifier, "b": callee} for callee in sorted({ids[place] for place in symbol.calls})]
        await run_for_rows(
            tx,
            "UNWIND $rows AS row MATCH (d:Document {id: row.d}) MERGE (s:Symbol {id: row.id}) "
            "ON CREATE SET s.namespace = $namespace, s.created_at = $now SET s += row.props, s.updated_at = $now "
            "MERGE (s)-[:DEFINED_IN]->(d)",
            symbols,
            namespace=self._namespace,
            now=self._now,
        )
        await run_for_rows(
            tx,
            "UNWIND $rows AS row MATCH (a:Symbol {id: row.a}) MATCH (b:Symbol {id: row.b}) MERGE (a)-[:CALLS]->(b)",
            calls,
        )

    async def _import(self, tx: Transaction, documents: Mapping[str, CodeFacts]) -> None:
        rows: list[Row] = []
        for document, code in documents.items():
            for name in code.imports:
                uri = f"{MODULE}:{name}"
                rows.append({"d": document, "id": resource_id(self._namespace, uri), "uri": uri})
        await run_for_rows(
            tx,
            "UNWIND $rows AS row MATCH (d:Document {id: row.d}) MERGE (t:Resource {id: row.id}) "
            "ON CREATE SET t.namespace = $namespace, t.uri = row.uri, t.type = $type, t.origin = $origin, "
            "t.created_at = $now, t.updated_at = $now MERGE (d)-[:IMPORTS]->(t)",
            rows,
            namespace=self._namespace,
            type=MODULE,
            origin=FROM_TEXT,
            now=self._now,
        )
