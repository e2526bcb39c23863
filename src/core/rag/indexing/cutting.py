"""From documents to rows that can be written, all but their vectors: work that another process can do as well."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from core.rag.dbhandler.rows import chunk_rows, display_title, document_row, uri_of
from core.rag.dbhandler.writing import DocumentRow
from core.rag.identity import content_hash, document_id, vector_id
from core.rag.indexing.facts import add_facts
from core.rag.indexing.splitter import TextSplitter
from core.rag.indexing.state import state_hash
from core.rag.indexing.texts import embedding_text
from core.rag.indexing.title_finder import TitleFinder
from libs.dataloader import Document


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


@dataclass(frozen=True, slots=True)
class Cutter:
    """What rows follow from, apart from the documents.

    Attributes:
        namespace: Where they go.
        splitter: How documents are cut.
        title_weight: How often a title is put before the text that is embedded.
        vector_store: Id of the vector store.
        pipeline: Names all of this in one hash; it is stored with a document.
        hints: The fields of records that are entities; ``None``: nothing is extracted.
    """

    namespace: str
    splitter: TextSplitter
    title_weight: int
    vector_store: str
    pipeline: str
    hints: Mapping[str, str] | None

    def cut(self, documents: Sequence[Document], source_id: str, finder: TitleFinder | None) -> Prepared:
        """Cut documents and analyse their words.

        Args:
            documents: With different URIs.
            source_id: Id of the Source that they come from.
            finder: Finds what their chunks mention; ``None``: nobody does.

        Raises:
            InvalidInputError: when one of them cannot be stored as it is.
        """
        prepared = Prepared([])
        for document in documents:
            identifier = document_id(self.namespace, uri_of(document))
            chunks = self.splitter.split(document, parent_id=identifier)
            cut = chunk_rows(identifier, display_title(document), chunks)
            for chunk_row, chunk in zip(cut, chunks, strict=True):
                text = embedding_text(document.title, chunk, self.title_weight)
                name = f"{document.path} (chunk {chunk_row.properties['chunk_index']})"
                chunk_row.vector_id = vector_id(self.vector_store, content_hash(text))
                prepared.texts[chunk_row.vector_id] = (text, name)
            row = document_row(
                document,
                namespace=self.namespace,
                source_id=source_id,
                chunks=cut,
                state_hash=state_hash(document),
                embedded_in=[self.vector_store],
            )
            row.properties["pipeline"] = self.pipeline
            if self.hints is not None:
                add_facts(row, document, self.namespace, self.hints)
            prepared.rows.append(row)
        if finder is not None:
            finder.fill(prepared.rows, self.namespace)
        return prepared
