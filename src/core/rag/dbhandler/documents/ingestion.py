"""The indexer's operations: looking up what is stored of a document, and writing whole documents."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any

from core.rag.arguments import check_kind, check_texts
from core.rag.dbhandler.batches import run_for_ids, run_for_rows
from core.rag.dbhandler.checks import merge_properties
from core.rag.dbhandler.documents.indexed import indexed_texts
from core.rag.dbhandler.documents.removing import remove_strays, remove_unused_sources
from core.rag.dbhandler.documents.writing import DocumentRow, WriteOutcome, write_documents
from core.rag.dbhandler.lines import EACH_ID, packed
from core.rag.dbhandler.store import Row, Transaction
from core.rag.dbhandler.vectors import VectorStoreInfo, VectorStoreOperations, check_vector_store
from core.rag.errors import StoreConstraintError
from core.rag.identity import source_id, standardize_resource_uri
from core.rag.schema import FROM_TEXT, Label
from core.rag.times import utc_now
from libs.dataloader import SourceInfo


class IngestOperations(VectorStoreOperations):
    """Reading and writing many documents at once."""

    async def write_documents(
        self, documents: Sequence[DocumentRow], store: VectorStoreInfo | None, sources: Iterable[SourceInfo] = ()
    ) -> WriteOutcome:
        """Write documents in one transaction.

        Args:
            documents: Rows; see :mod:`core.rag.dbhandler.documents.writing`.
            store: The vector store for their vectors.
            sources: Their sources, which are created again if another client has removed them, with their last
                documents, since :meth:`ensure_sources` returned.

        Returns:
            The outcome. If it has ``missing_vectors``, nothing was written.

        Raises:
            NotFoundError: if the vector store was removed meanwhile.
        """
        text_label = await self._text_label(Label.CHUNK)
        if store is not None:
            await self._ensure_vector_index(store.index())
        records = any(document.records for document in documents)
        record_label = await self._text_label(Label.RECORD) if records else ""

        async def work(tx: Transaction) -> WriteOutcome:
            if store is not None:
                await check_vector_store(tx, store)
            await self._create_missing(tx, sources)
            outcome = await write_documents(
                tx,
                documents,
                namespace=self._namespace,
                store=store,
                text_label=text_label,
                record_label=record_label,
            )
            if outcome.missing_vectors:
                raise _MissingVectorsError(outcome)
            return outcome

        try:
            try:
                return await self._write(work)
            except StoreConstraintError:
                if not await self._write(partial(remove_strays, ids=[c.id for d in documents for c in d.chunks])):
                    raise
                return await self._write(work)
        except _MissingVectorsError as missing:
            return missing.outcome

    async def replaced_texts(self, label: Label, documents: Sequence[DocumentRow]) -> int:
        """Count the texts that writing these documents removes from a keyword index, or changes there.

        Args:
            label: That of the index: chunks or records.
            documents: What will be written.
        """
        stored = await self.read_for_ids(
            indexed_texts(label, "n.id AS id, n.terms AS terms"), [document.id for document in documents]
        )
        if not stored:
            return 0
        if label is Label.CHUNK:
            terms = {chunk.id: chunk.properties.get("terms") for document in documents for chunk in document.chunks}
        else:
            terms = {record.id: record.terms for document in documents for record in document.records}
        return sum(row["terms"] != terms.get(row["id"]) for row in stored)

    async def ensure_sources(self, sources: Iterable[SourceInfo]) -> None:
        """Create the missing ones of the Source nodes of these origins.

        This is a transaction of its own, so that documents written at the same time do not all wait for it.
        """
        rows = {row["id"]: row for row in map(self._source_row, sources)}
        there = await self.read("UNWIND $ids AS i MATCH (s:Source {id: i}) RETURN s.id AS id", ids=list(rows))
        if missing := list(rows.keys() - {row["id"] for row in there}):
            await self._write(partial(self._merge_sources, rows=[rows[identifier] for identifier in sorted(missing)]))

    def id_of_source(self, source: SourceInfo) -> str:
        """Return the id of the Source node of this origin, which need not be there.

        Raises:
            InvalidInputError: on anything that is no SourceInfo, or one without a name.
        """
        return str(self._source_row(check_kind("source", source, SourceInfo))["id"])

    def _source_row(self, source: SourceInfo) -> Row:
        uri = standardize_resource_uri(source.uri)
        props = merge_properties({"type": source.type}, name=source.name, uri=uri)
        return {"id": source_id(self._namespace, uri), "props": props}

    async def _merge_sources(self, tx: Transaction, rows: Sequence[Row]) -> None:
        await run_for_rows(
            tx,
            "UNWIND $rows AS row MERGE (s:Source {id: row.id}) "
            "ON CREATE SET s.namespace = $namespace, s.created_at = $now SET s += row.props, s.updated_at = $now",
            rows,
            namespace=self._namespace,
            now=utc_now(),
        )

    async def _create_missing(self, tx: Transaction, sources: Iterable[SourceInfo]) -> None:
        rows = {row["id"]: row for row in map(self._source_row, sources)}
        found = await run_for_ids(tx, "UNWIND $ids AS i MATCH (s:Source {id: i}) RETURN s.id AS id", list(rows))
        there = {row["id"] for row in found}
        await self._merge_sources(tx, [row for identifier, row in rows.items() if identifier not in there])

    async def document_states(self, ids: Sequence[str], pipeline: str, vector_store: str) -> list[dict[str, Any]]:
        """Return what decides whether documents changed, for those of the ids that exist.

        Args:
            ids: Ids of documents.
            pipeline: How documents are split and read now.
            vector_store: Id of the vector store that has to hold vectors of every chunk.

        Returns:
            For each its ``id``, ``source_id``, ``state_hash`` and ``fingerprint``, and whether it is ``current``: made
            in this way, and embedded there.
        """
        return [
            row
            for lines in packed(ids)
            for row in await self.read(
                f"{EACH_ID}MATCH (d:Document {{id: i}}) RETURN d.id AS id, d.source_id AS source_id, "
                "d.state_hash AS state_hash, d.fingerprint AS fingerprint, "
                "d.pipeline = $pipeline AND $vector_store IN d.embedded_in AS current",
                pipeline=pipeline,
                vector_store=vector_store,
                **lines,
            )
        ]

    async def document_links(self, ids: Sequence[str]) -> dict[str, tuple[str, ...]]:
        """Return the URIs that the texts of documents refer to, by id of the document."""
        rows = await self.read(
            "UNWIND $ids AS i MATCH (d:Document {id: i})-[r:REFERENCES]->(t) WHERE r.origin = $origin "
            "RETURN d.id AS id, collect(t.uri) AS uris",
            ids=check_texts("ids", ids),
            origin=FROM_TEXT,
        )
        return {row["id"]: tuple(row["uris"]) for row in rows}

    async def existing_vectors(self, ids: Sequence[str]) -> set[str]:
        """Return those of the ids that are Vector nodes."""
        return {
            row["id"]
            for lines in packed(ids)
            for row in await self.read(f"{EACH_ID}MATCH (v:Vector {{id: i}}) RETURN v.id AS id", **lines)
        }

    async def set_fingerprints(self, rows: Sequence[dict[str, Any]]) -> None:
        """Store new fingerprints (``id``, ``fingerprint``) of documents that did not change."""
        statement = "UNWIND $rows AS row MATCH (d:Document {id: row.id}) SET d.fingerprint = row.fingerprint"
        await self._write(partial(run_for_rows, statement=statement, rows=rows))

    async def add_to_source(self, ids: Sequence[str], source: str) -> None:
        """Add documents to a source, in addition to their other sources."""
        rows = await self.read(
            "UNWIND $ids AS i MATCH (d:Document {id: i})-[:SOURCED_FROM]->(s:Source {id: $source}) RETURN d.id AS id",
            ids=check_texts("ids", ids),
            source=source,
        )
        missing = sorted(set(ids) - {row["id"] for row in rows})
        if missing:
            statement = (
                "MATCH (s:Source {id: $source}) UNWIND $ids AS i MATCH (d:Document {id: i}) "
                "MERGE (d)-[:SOURCED_FROM]->(s)"
            )
            await self._write(partial(run_for_ids, statement=statement, ids=missing, source=source))

    async def remove_from_source(self, ids: Sequence[str], source: str) -> None:
        """Remove documents from a source; a source that nothing refers to any more is removed."""

        async def work(tx: Transaction) -> None:
            await run_for_ids(
                tx,
                "UNWIND $ids AS i MATCH (d:Document {id: i})-[r:SOURCED_FROM]->(s:Source {id: $source}) "
                "WHERE s.namespace = $namespace DELETE r",
                ids,
                source=source,
                namespace=self._namespace,
            )
            # By it an ingest knows whether a document comes from its source.
            others = await run_for_ids(
                tx,
                "UNWIND $ids AS i MATCH (d:Document {id: i})-[:SOURCED_FROM]->(s:Source) "
                "WHERE d.namespace = $namespace AND d.source_id = $source RETURN d.id AS id, s.id AS other",
                ids,
                source=source,
                namespace=self._namespace,
            )
            rows = [{"id": key, "other": other} for key, other in {row["id"]: row["other"] for row in others}.items()]
            statement = "UNWIND $rows AS row MATCH (d:Document {id: row.id}) SET d.source_id = row.other"
            await run_for_rows(tx, statement, rows)
            await remove_unused_sources(tx, [source])

        await self._write(work)

    async def count_of_source(self, source: str) -> int:
        """Return the number of documents of a source, given by its id."""
        rows = await self.read(
            "MATCH (s:Source {id: $source})<-[:SOURCED_FROM]-(d:Document) RETURN count(d) AS n", source=source
        )
        return int(rows[0]["n"])

    async def sources_there(self, uris: Iterable[str]) -> list[str]:
        """Return those of the URIs that are sources in the graph."""
        ids = {source_id(self._namespace, standardize_resource_uri(uri)): uri for uri in uris}
        rows = await self.read_for_ids("UNWIND $ids AS i MATCH (s:Source {id: i}) RETURN s.id AS id", ids)
        return [ids[row["id"]] for row in rows]

    async def documents_of_source(self, source: str) -> list[dict[str, Any]]:
        """Return id, URI and the URIs of all sources (``sources``) of the documents of a source."""
        return await self._with_sources(
            await self.read(
                "MATCH (s:Source {id: $source})<-[:SOURCED_FROM]-(d:Document) RETURN d.id AS id, d.uri AS uri",
                source=source,
            )
        )

    async def documents_below(self, folder: str) -> list[dict[str, Any]]:
        """Return the same of the files within a folder that come from sources of their own: files, and folders there.

        Args:
            folder: Its URI.
        """
        inside = folder.rstrip("/") + "/"
        rows = await self.read(
            "MATCH (s:Source) WHERE s.namespace = $namespace AND s.type IN $types AND s.uri STARTS WITH $inside "
            "MATCH (s)<-[:SOURCED_FROM]-(d:Document) RETURN d.id AS id, d.uri AS uri, s.uri AS source, s.type AS type",
            types=["file", "folder"],
            inside=inside,
        )
        # A loader of the caller may have documents of other names, whatever it calls its source.
        return await self._with_sources(
            {"id": row["id"], "uri": row["uri"]}
            for row in rows
            if row["uri"] == row["source"] or (row["type"] == "folder" and row["uri"].startswith(row["source"] + "/"))
        )

    async def _with_sources(self, rows: Iterable[Row]) -> list[dict[str, Any]]:
        found = {row["id"]: {**row, "sources": []} for row in rows}
        for row in await self.read_for_ids(
            "UNWIND $ids AS i MATCH (d:Document {id: i})-[:SOURCED_FROM]->(s:Source) RETURN d.id AS id, s.uri AS uri",
            sorted(found),
        ):
            found[row["id"]]["sources"].append(row["uri"])
        return list(found.values())


class _MissingVectorsError(Exception):
    def __init__(self, outcome: WriteOutcome) -> None:
        super().__init__("vectors to be reused are gone")
        self.outcome = outcome
