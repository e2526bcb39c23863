"""From loaded documents to rows that can be written: split, analyse, embed what has no vector yet."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from core.rag.dbhandler.rows import chunk_rows, display_title, document_row, uri_of
from core.rag.dbhandler.writing import DocumentRow
from core.rag.embedder import embed_texts
from core.rag.extraction.records import FIELD_HINTS
from core.rag.identity import content_hash, document_id, vector_id
from core.rag.indexing.facts import add_facts
from core.rag.indexing.state import state_hash
from core.rag.indexing.texts import embedding_text
from libs.dataloader import Document

if TYPE_CHECKING:
    from core.rag.dbhandler import MemGraphClient
    from core.rag.dbhandler.vectors import VectorStoreInfo
    from core.rag.embedder import EmbeddingService
    from core.rag.indexing.splitter import TextSplitter
    from core.rag.indexing.titles import TitleLinker

#: So many of the vectors made last are remembered, so that equal texts in documents not yet written are embedded once.
_REMEMBERED = 100_000


@dataclass(slots=True)
class Prepared:
    """Documents on their way into one transaction.

    Attributes:
        rows: What will be written.
        texts: The text behind each vector that the rows name, and what to call it in an error.
        embedded: How many vectors were made for them.
    """

    rows: list[DocumentRow]
    texts: dict[str, tuple[str, str]] = field(default_factory=dict)
    embedded: int = 0

    def split(self) -> list[Prepared]:
        """One of these per document."""
        singles = []
        for row in self.rows:
            ids = {chunk.vector_id for chunk in row.chunks}
            singles.append(Prepared([row], {key: value for key, value in self.texts.items() if key in ids}))
        return singles


class Preparer:
    """Makes rows of documents."""

    def __init__(
        self,
        client: MemGraphClient,
        embedder: EmbeddingService,
        splitter: TextSplitter,
        vector_store: VectorStoreInfo,
        pipeline: str,
        linker: TitleLinker | None = None,
        hints: Mapping[str, str] = FIELD_HINTS,
    ) -> None:
        self._client = client
        self._embedder = embedder
        self._splitter = splitter
        self._vector_store = vector_store
        self._pipeline = pipeline
        self._linker = linker
        self._hints = hints
        self._made: OrderedDict[str, None] = OrderedDict()

    async def split(self, documents: Sequence[Document], source_id: str) -> Prepared:
        """Cut documents and analyse their words, in a worker thread.

        Raises:
            InvalidInputError: when one of them cannot be stored as it is.
        """
        if self._linker is not None:
            await self._linker.load()
        return await asyncio.to_thread(self._split, documents, source_id)

    def _split(self, documents: Sequence[Document], source_id: str) -> Prepared:
        prepared = Prepared([])
        for document in documents:
            identifier = document_id(self._client.namespace, uri_of(document))
            chunks = self._splitter.split(document, parent_id=identifier)
            cut = chunk_rows(identifier, display_title(document), chunks)
            for chunk_row, chunk in zip(cut, chunks, strict=True):
                text = embedding_text(document.title, chunk, self._embedder.title_weight)
                name = f"{document.path} (chunk {chunk_row.properties['chunk_index']})"
                chunk_row.vector_id = vector_id(self._vector_store.id, content_hash(text))
                prepared.texts[chunk_row.vector_id] = (text, name)
            row = document_row(
                document,
                namespace=self._client.namespace,
                source_id=source_id,
                chunks=cut,
                state_hash=state_hash(document),
                embedded_in=[self._vector_store.id],
            )
            row.properties["pipeline"] = self._pipeline
            if self._linker is not None:
                add_facts(row, document, self._client.namespace, self._hints)
            prepared.rows.append(row)
        if self._linker is not None:
            self._linker.fill(prepared.rows)
        return prepared

    async def embed(self, prepared: Prepared) -> None:
        """Embed the texts that have no vector in the graph yet.

        Raises:
            EmbeddingInputError: when the model cannot take one of them.
        """
        wanted = [key for key in prepared.texts if key not in self._made]
        there = await self._client.existing_vectors(wanted) if wanted else set()
        await self._embed(prepared, [key for key in wanted if key not in there])

    async def embed_again(self, prepared: Prepared, ids: Collection[str]) -> None:
        """Embed texts whose vectors were in the graph but are gone."""
        await self._embed(prepared, sorted(ids))

    async def _embed(self, prepared: Prepared, keys: Sequence[str]) -> None:
        if not keys:
            return
        texts = [prepared.texts[key] for key in keys]
        vectors = await embed_texts(self._embedder, [text for text, _ in texts], [name for _, name in texts])
        made = {key: tuple(vector) for key, vector in zip(keys, vectors.tolist(), strict=True)}
        for chunk in (chunk for row in prepared.rows for chunk in row.chunks):
            if chunk.embedding is None and chunk.vector_id in made:
                chunk.embedding = made[chunk.vector_id]
        prepared.embedded += len(keys)
        for key in keys:
            self._made[key] = None
        while len(self._made) > _REMEMBERED:
            self._made.popitem(last=False)
