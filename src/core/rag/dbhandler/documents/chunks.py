"""Chunks of documents: list, add one, and add many."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from core.rag.arguments import check_mapping, check_number, check_text
from core.rag.dbhandler.batches import MAX_ROWS
from core.rag.dbhandler.documents.adding import add_chunks
from core.rag.dbhandler.documents.operations import DocumentOperations, give_vector
from core.rag.dbhandler.documents.removing import release_vectors
from core.rag.dbhandler.documents.rows import CHUNK_COLUMNS, as_found, chunk_rows
from core.rag.dbhandler.documents.writing import ChunkRow
from core.rag.dbhandler.store import Transaction
from core.rag.embedder.base import embed_texts
from core.rag.errors import InvalidInputError
from core.rag.schema import Label
from libs.dataloader import ChunkMetadata, DocumentChunk


class ChunkOperations(DocumentOperations):
    """Listing the chunks of a document, and adding chunks to documents that exist."""

    async def get_document_chunks(self, path: str) -> list[dict[str, Any]]:
        """Return all chunks of a document, in order.

        Args:
            path: Path, URL, name or id of the document.

        Raises:
            NotFoundError: if there is no such document.
        """
        document = await self._require(path)
        rows = await self.read(
            f"MATCH (d:Document {{id: $id}})<-[:CHUNK_OF]-(c:DocumentChunk) RETURN {CHUNK_COLUMNS}", id=document["id"]
        )
        rows.sort(key=lambda row: (row["chunk_index"], row["start_char"], row["chunk_id"]))
        return [as_found(row) for row in rows]

    async def create_document_chunk(
        self,
        document: str,
        content: str,
        chunk_index: int | None = None,
        *,
        embedding: Sequence[float] | None = None,
        start_char: int | None = None,
        heading: str = "",
        metadata: Mapping[str, Any] | None = None,
    ) -> str:
        """Add one chunk to a document; for many, :meth:`process_chunks` is much faster.

        Each call counts and chains all chunks of the document anew: a loop takes time by the square of their number.

        Args:
            document: Path, URL, name or id of the document.
            content: Text of the chunk.
            chunk_index: Its position from 0; ``None`` or -1: after the last one.
            embedding: Its vector; ``None``: made by the client's embedder, if it has one.
            start_char: Its position in the document; ``None``: the first place of the text there, else 0.
            heading: Heading path.
            metadata: JSON-serialisable; dates and times in it become ISO 8601 text.

        Returns:
            The id of the chunk. The same text at the same position is the same chunk.

        Raises:
            NotFoundError: if there is no such document.
            InvalidInputError: if the content is blank, or a position is below 0.
        """
        _check_content(content)
        if start_char is not None:
            start_char = check_number("start_char", start_char, 0)
        given = {} if metadata is None else check_mapping("The metadata of a chunk", metadata)
        parent = await self._require(document)
        start = max(parent["content"].find(content), 0) if start_char is None else start_char
        chunk = DocumentChunk(
            path=parent["path"],
            content=content,
            title=parent["title"],
            metadata=ChunkMetadata(given, parent_id=parent["id"], parent_document_path=parent["path"]),
            start_char=start,
            end_char=start + len(content),
            heading=heading,
        )
        if chunk_index is not None:
            chunk.metadata["chunk_index"] = chunk_index
        return (await self.process_chunks([chunk], embeddings=None if embedding is None else [embedding]))[0]

    async def process_chunks(
        self, chunks: Sequence[DocumentChunk], *, embeddings: Sequence[Sequence[float]] | None = None
    ) -> list[str]:
        """Embed and store many chunks of existing documents, which keep their other chunks.

        Args:
            chunks: With ``metadata["parent_id"]``, or else the path, of a document in this namespace, and
                ``metadata["chunk_index"]`` if their position matters.
            embeddings: One vector for each; ``None``: made by the client's embedder, if it has one.

        Returns:
            The ids, in the same order.

        Raises:
            NotFoundError: naming the first document that does not exist; nothing is stored then.
            InvalidInputError: if an item is not a chunk, is blank, or has fields of the wrong type.
        """
        places = _check_chunks(chunks)
        if embeddings is not None and not hasattr(embeddings, "__len__"):
            raise InvalidInputError(f"embeddings must be a sequence of vectors, not {type(embeddings).__name__}.")
        if embeddings is not None and len(embeddings) != len(chunks):
            raise InvalidInputError(f"There are {len(chunks)} chunks but {len(embeddings)} embeddings.")
        if embeddings is None and self._embedder is not None and chunks:
            names = [f"{chunk.path} (chunk {position} of those given)" for position, chunk in enumerate(chunks)]
            embeddings = (await embed_texts(self._embedder, [chunk.content for chunk in chunks], names)).tolist()
        # Test the length: an array, which an embedder may return, has no truth value.
        store = await self._store_for(embeddings[0]) if embeddings is not None and len(embeddings) else None
        text_label = await self._text_label(Label.CHUNK)
        parents: dict[str, dict[str, Any]] = {}
        rows: list[ChunkRow] = []
        of_parent: dict[str, list[int]] = {}
        for position, chunk in enumerate(chunks):
            key = chunk.metadata.get("parent_id") or chunk.path
            parent = parents.get(key)
            if parent is None:
                parent = parents[key] = await self._parent(chunk)
            row = chunk_rows(parent["id"], parent["title"], [chunk])[0]
            row.properties |= places[position]
            if embeddings is not None and store is not None:
                give_vector(row, embeddings[position], store)
            rows.append(row)
            of_parent.setdefault(parent["id"], []).append(position)
        ids: dict[int, str] = {}
        for part in _whole_documents(of_parent.values()):

            async def work(tx: Transaction, part: list[int] = part) -> list[str]:
                chosen = [rows[position] for position in part]
                added = await add_chunks(tx, chosen, namespace=self._namespace, store=store, text_label=text_label)
                if store is not None:
                    await release_vectors(tx, {row.id: row.vector_id for row in chosen}, store.id)
                return added

            ids.update(zip(part, await self._write(work), strict=True))
        return [ids[position] for position in range(len(rows))]

    async def _parent(self, chunk: DocumentChunk) -> dict[str, Any]:
        """Return the document of a chunk, by its path where a TextSplitter derived the id for another namespace."""
        identifier = chunk.metadata.get("parent_id")
        found = await self.find_document(identifier) if identifier else None
        return found or await self._require(chunk.path)


def _check_content(content: str) -> None:
    if not check_text("The content of a chunk", content).strip():
        raise InvalidInputError("The content of a chunk is empty.")


def _check_chunks(chunks: Sequence[DocumentChunk]) -> list[dict[str, int]]:
    """Refuse anything that is not a chunk.

    Returns:
        The positions of each chunk, as numbers that every engine stores.
    """
    if not isinstance(chunks, Sequence):
        raise InvalidInputError(f"chunks must be a sequence of DocumentChunk, not {type(chunks).__name__}.")
    places = []
    for chunk in chunks:
        if not isinstance(chunk, DocumentChunk):
            raise InvalidInputError(f"chunks must be a sequence of DocumentChunk, but {str(chunk)[:50]!r} is not one.")
        _check_content(chunk.content)
        check_text("The heading of a chunk", chunk.heading)
        index = chunk.metadata.get("chunk_index", -1)
        places.append(
            {
                "start_char": check_number("start_char", chunk.start_char, 0),
                "end_char": check_number("end_char", chunk.end_char, 0),
                "chunk_index": check_number("chunk_index (-1: behind the last one)", index, -1),
            }
        )
    return places


def _whole_documents(of_parent: Iterable[list[int]]) -> Iterator[list[int]]:
    """Group the positions of chunks for one transaction each, about ``MAX_ROWS`` at a time.

    All chunks of a document stay together, because adding any renumbers all of them.
    """
    part: list[int] = []
    for positions in of_parent:
        part += positions
        if len(part) >= MAX_ROWS:
            yield part
            part = []
    if part:
        yield part
