"""Documents: create, replace, find, list and delete."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from core.rag.arguments import check_limit, check_mapping, check_text, check_texts
from core.rag.dbhandler.batches import batches, run_for_rows
from core.rag.dbhandler.checks import check_characters
from core.rag.dbhandler.documents.contents import CONTENT_COLUMNS, with_content
from core.rag.dbhandler.documents.indexed import indexed_texts
from core.rag.dbhandler.documents.ingestion import IngestOperations
from core.rag.dbhandler.documents.removing import remove_documents
from core.rag.dbhandler.documents.rows import (
    DOCUMENT_COLUMNS,
    as_found,
    chunk_rows,
    chunk_terms,
    display_title,
    document_row,
)
from core.rag.dbhandler.documents.writing import ChunkRow, DocumentRow, merge_documents
from core.rag.dbhandler.json_texts import from_json
from core.rag.dbhandler.locking import lock
from core.rag.dbhandler.store import Row, Transaction
from core.rag.dbhandler.text_order import comparable
from core.rag.dbhandler.vector_checks import check_vector
from core.rag.dbhandler.vectors import VectorStoreInfo
from core.rag.embedder.base import dimension_of
from core.rag.errors import ConfigurationError, InvalidInputError, NotFoundError
from core.rag.identity import (
    content_hash,
    document_id,
    standardize_resource_uri,
    uris_of,
    vector_id,
)
from core.rag.schema import Label
from core.rag.times import utc_now
from libs.dataloader import Document, DocumentChunk, SourceInfo

#: How many documents of one path an error names.
_NAMESAKES = 10


class DocumentOperations(IngestOperations):
    """Creating, finding and deleting documents."""

    async def create_document(
        self,
        path: str,
        content: str,
        title: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        *,
        embedding: Sequence[float] | None = None,
        source: SourceInfo | None = None,
        mime_type: str | None = None,
    ) -> str:
        """Create a document.

        Args:
            path: A file path, URL or name; with the namespace it identifies the document.
            content: The whole text. It is stored without being split: see :meth:`create_document_chunk`,
                :meth:`process_chunks`, and ``KnowledgeBase.ingest``, which does all of it.
            title: ``None``: the last part of the path.
            metadata: JSON-serialisable; dates and times in it become ISO 8601 text.
            embedding: Vector of the whole text; the document then has a single chunk, which searches find.
            source: The source of the document.
            mime_type: Media type.

        Returns:
            The id of the document. Creating the same document again changes nothing.

        Raises:
            InvalidInputError: if a document with this path exists with another content, and as
                :meth:`upsert_document`.
        """
        check_text("The content of a document", content)
        existing = await self.find_document(document_id(self._namespace, standardize_resource_uri(path)))
        if existing is not None and existing["content"] != content:
            raise InvalidInputError(
                f"The document {path!r} already exists with other content; use upsert_document to replace it."
            )
        return await self.upsert_document(
            path, content, title, metadata, embedding=embedding, source=source, mime_type=mime_type
        )

    async def upsert_document(
        self,
        path: str,
        content: str,
        title: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        *,
        embedding: Sequence[float] | None = None,
        source: SourceInfo | None = None,
        mime_type: str | None = None,
    ) -> str:
        """Create a document, or replace the one with this path as a whole.

        The text is neither split nor searched for names: add chunks with :meth:`create_document_chunk` or
        :meth:`process_chunks`, or use :meth:`core.rag.KnowledgeBase.ingest`, which does all of this.

        If the content changed, the document's chunks are removed with their vectors. Otherwise they stay, and keyword
        search finds them by the words of a new title; vectors that include the title are recreated by the next ingest.
        See :meth:`create_document` for the arguments.

        Returns:
            The id of the document.

        Raises:
            InvalidInputError: if an argument that must be text is not, the path is empty or too long, or the metadata
                cannot be stored.
        """
        check_text("The path of a document", path)
        check_text("The content of a document", content)
        for name, text in (("title", title), ("mime_type", mime_type)):
            if text is not None:
                check_text(f"The {name} of a document", text)
        if source is not None and not isinstance(source, SourceInfo):
            raise InvalidInputError(f"source must be a SourceInfo (name, type, uri), not {type(source).__name__}.")
        given = {} if metadata is None else dict(check_mapping(f"The metadata of {path}", metadata))
        document = Document(path=path, content=content, title=title, metadata=given, mime_type=mime_type)
        store = await self._store_for(embedding) if embedding is not None else None
        source_node = None
        if source is not None:
            source_node = self.id_of_source(source)
            await self.ensure_sources([source])
        row = document_row(document, namespace=self._namespace, source_id=source_node, chunks=[])
        if embedding is not None and store is not None and content.strip():
            chunk = DocumentChunk(path=path, content=content, start_char=0, end_char=len(content))
            row.chunks = chunk_rows(row.id, display_title(document), [chunk])
            give_vector(row.chunks[0], embedding, store)
        if embedding is not None or not await self._write(partial(_update, row=row, namespace=self._namespace)):
            await self.write_documents([row], store, [source] if source is not None else ())
        return row.id

    async def find_document(self, path: str) -> dict[str, Any] | None:
        """Return the document with this path, URL, name or id.

        Returns:
            A dict with ``id, path, uri, title, content, content_hash, source_id, mime_type, metadata, status,
            created_at, updated_at``, or ``None``.

        Raises:
            InvalidInputError: if ``path`` is not text, or has a lone surrogate.
            NotFoundError: if several documents have this path, as when folders were ingested by relative paths from
                different places, and none of them is in the working directory.
        """
        check_characters(check_text("The path, URL, name or id of a document", path), "path")
        known = [*(document_id(self._namespace, uri) for uri in uris_of(path)), path]
        rows = await self.read(
            f"UNWIND $ids AS i MATCH (d:Document {{id: i}}) RETURN {DOCUMENT_COLUMNS}, {CONTENT_COLUMNS}, "
            "d.namespace AS namespace",
            ids=list(dict.fromkeys(known)),
        )
        rows = [row for row in rows if row["namespace"] == self._namespace]
        rows = sorted(rows, key=lambda row: known.index(row["id"]))[:1]
        if not rows:
            rows = await self.read(
                "MATCH (d:Document {path: $path}) WHERE d.namespace = $namespace "
                f"RETURN {DOCUMENT_COLUMNS}, {CONTENT_COLUMNS}, d.namespace AS namespace LIMIT {_NAMESAKES}",
                path=path,
            )
        if len(rows) > 1:
            uris = ", ".join(sorted(row["uri"] for row in rows))
            raise NotFoundError(f"Several documents have the path {path[:200]!r}; name one by its URI or id: {uris}.")
        if not rows:
            return None
        [found] = await with_content(rows, self.read)
        del found["namespace"]
        return as_found(found)

    async def list_documents(self, *, prefix: str = "", limit: int = 1000, after: str = "") -> list[dict[str, Any]]:
        """List documents by path, without their content.

        Args:
            prefix: Only paths that begin with it.
            limit: Maximum number to return.
            after: Only paths after this one; pass the last path of a page to get the next page.

        Returns:
            Dicts as from :meth:`find_document`, with ``chunk_count`` instead of ``content``.

        Raises:
            InvalidInputError: if an argument has the wrong type.
        """
        limit = check_limit(limit, 1)
        check_text("prefix", prefix)
        check_text("after", after)
        if comparable(after) != after:
            paths = await self.document_paths(prefix=prefix, after=after)
            return list((await self.documents_by_id([row["id"] for row in paths[:limit]])).values())
        rows = await self.read(
            "MATCH (d:Document) WHERE d.namespace = $namespace AND d.path > $after AND d.path STARTS WITH $prefix "
            f"WITH d ORDER BY d.path LIMIT {limit} RETURN {DOCUMENT_COLUMNS}",
            after=after,
            prefix=prefix,
        )
        return sorted(await self._counted(rows), key=lambda row: row["path"])

    async def document_paths(self, *, prefix: str = "", after: str = "") -> list[dict[str, Any]]:
        """List ``id`` and ``path`` of the documents whose path has a prefix and comes after ``after``, by path."""
        check_text("prefix", prefix)
        check_text("after", after)
        rows = await self.read(
            "MATCH (d:Document) WHERE d.namespace = $namespace AND d.path > $start AND d.path STARTS WITH $prefix "
            "RETURN d.id AS id, d.path AS path",
            start=comparable(after),
            prefix=prefix,
        )
        return sorted((row for row in rows if row["path"] > after), key=lambda row: (row["path"], row["id"]))

    async def documents_by_id(self, ids: Sequence[str]) -> dict[str, dict[str, Any]]:
        """Return documents of the namespace by id, with ``chunk_count`` but no ``content``, except unknown ids."""
        rows = await self.read_for_ids(
            f"UNWIND $ids AS i MATCH (d:Document {{id: i}}) WHERE d.namespace = $namespace RETURN {DOCUMENT_COLUMNS}",
            ids,
        )
        return {row["id"]: row for row in await self._counted(rows)}

    async def _counted(self, rows: Sequence[Row]) -> list[dict[str, Any]]:
        """Make documents with their ``chunk_count`` from rows of ``DOCUMENT_COLUMNS``."""
        counts = await self._chunk_counts(row["id"] for row in rows)
        return [as_found({**row, "chunk_count": counts.get(row["id"], 0)}) for row in rows]

    async def _chunk_counts(self, ids: Iterable[str]) -> dict[str, int]:
        """Return how many chunks documents have, by id; documents without chunks are left out.

        This is a separate statement because OPTIONAL MATCH scans every edge of the graph on the embedded engine.
        """
        rows = await self.read_for_ids(
            "UNWIND $ids AS i MATCH (d:Document {id: i})<-[:CHUNK_OF]-(c:DocumentChunk) "
            "RETURN d.id AS id, count(c) AS n",
            ids,
        )
        return {row["id"]: row["n"] for row in rows}

    async def delete_document(self, path: str) -> bool:
        """Remove a document with its chunks, and everything that only it referred to.

        Args:
            path: Path, URL, name or id.

        Returns:
            Whether it existed.

        Raises:
            NotFoundError: if several documents have this path; see :meth:`find_document`.
        """
        document = await self.find_document(path)
        return document is not None and await self.delete_documents([document["id"]]) == 1

    async def delete_documents(self, ids: Sequence[str]) -> int:
        """Remove documents by id, a few hundred per transaction; those of other namespaces stay.

        Returns:
            How many existed.

        Raises:
            InvalidInputError: on a single string instead of several ids, and on anything that is not text.
        """
        unique = sorted(set(check_texts("ids", ids)))
        count = 0

        async def number(label: Label) -> int:
            return len(await self.read_for_ids(indexed_texts(label, "n.id AS id"), unique))

        async with self.removing_texts(number):
            for part in batches(unique, max_rows=200):
                count += await self._write(partial(remove_documents, ids=part, namespace=self._namespace))
        return count

    async def _require(self, path: str) -> dict[str, Any]:
        document = await self.find_document(path)
        if document is None:
            raise NotFoundError(f"There is no document {path[:200]!r} in namespace {self._namespace!r}.")
        return document

    async def _store_for(self, embedding: Sequence[float]) -> VectorStoreInfo:
        """Return the vector store for a vector: that of the embedder, else the active one."""
        if self._embedder is not None:
            return await self.ensure_vector_store(self._embedder.model, await dimension_of(self._embedder))
        stores = await self.vector_stores()
        if stores:
            return stores[0]
        raise ConfigurationError(
            f"Namespace {self._namespace!r} has no vector store for {len(embedding)} dimensions yet: give the client an"
            " embedder, or call ensure_vector_store(model, dimension) first."
        )


async def _update(tx: Transaction, row: DocumentRow, namespace: str) -> bool:
    """Write a document that has the same text already, and leave its chunks; return whether there was such."""
    await lock(tx, Label.DOCUMENT, [row.id])
    stored = await tx.run(
        "MATCH (d:Document {id: $id}) RETURN d.content_hash AS content_hash, d.title AS title", {"id": row.id}
    )
    if not stored or stored[0]["content_hash"] != row.properties["content_hash"]:
        return False
    await merge_documents(tx, [row], namespace, utc_now())
    if stored[0]["title"] != row.properties["title"]:
        await _retitle(tx, row.id, row.properties["title"])
    return True


async def _retitle(tx: Transaction, document: str, title: str) -> None:
    """Update the keyword index entries of the chunks of a document for its new title."""
    rows = await tx.run(
        "MATCH (d:Document {id: $id})<-[:CHUNK_OF]-(c:DocumentChunk) RETURN c.id AS id, c.path AS path, "
        "c.heading AS heading, c.metadata AS metadata, c.content AS content",
        {"id": document},
    )
    terms = [
        {
            "id": row["id"],
            "terms": chunk_terms(row["path"], title, row["heading"], from_json(row["metadata"]), row["content"]),
        }
        for row in rows
    ]
    await run_for_rows(
        tx,
        "UNWIND $rows AS row MATCH (c:DocumentChunk {id: row.id}) SET c.terms = row.terms, c.updated_at = $now",
        terms,
        now=utc_now(),
    )


def give_vector(row: ChunkRow, embedding: Sequence[float], store: VectorStoreInfo) -> None:
    """Attach an embedding to a chunk, refusing one of another dimension than the store."""
    row.embedding = check_vector(embedding, store.dimension, "The embedding")
    row.vector_id = vector_id(store.id, content_hash("given", *map(repr, row.embedding)))
