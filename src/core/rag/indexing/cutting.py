"""Converts documents into the rows that are written, without vectors. A second process can do this work, too."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Final

from core.rag.analysis import ANALYSIS_VERSION
from core.rag.dbhandler.documents.rows import (
    checked_metadata,
    chunk_ids,
    chunk_rows,
    chunk_terms,
    display_title,
    document_row,
    uri_of,
)
from core.rag.dbhandler.documents.writing import DocumentRow
from core.rag.dbhandler.knowledge.mentioned import Mentioned
from core.rag.errors import InvalidInputError
from core.rag.extraction.document_fields import fields_line, naming_fields
from core.rag.extraction.mentions import EXTRACTION_VERSION, Title
from core.rag.extraction.records import FIELD_HINTS
from core.rag.extraction.source_code import told
from core.rag.identity import content_hash, document_id, vector_id
from core.rag.indexing.facts import Facts, facts_of
from core.rag.indexing.limits import BYTES_PER_CHUNK
from core.rag.indexing.splitting.splitter import SPLITTING_VERSION, Span, TextSplitter
from core.rag.indexing.state import state_hash
from core.rag.indexing.texts import embedding_text
from core.rag.indexing.title_finder import TitleFinder
from libs.dataloader import Document

#: ``prepared`` of a document: the versions of what it was split, analysed and searched for names with.
PREPARED: Final = f"{SPLITTING_VERSION}.{ANALYSIS_VERSION}.{EXTRACTION_VERSION}"


@dataclass(slots=True)
class Prepared:
    """Documents that are prepared for one transaction.

    Attributes:
        rows: The rows to write.
        texts: The text of each vector that the rows name, and what to call it in an error.
        embedded: How many vectors were made for them.
        warnings: Messages for the user about them.
    """

    rows: list[DocumentRow]
    texts: dict[str, tuple[str, str]] = field(default_factory=dict)
    embedded: int = 0
    warnings: list[str] = field(default_factory=list)

    def split(self, chunks: int = 1) -> list[Prepared]:
        """Split it into parts of one document, or of several that together have no more than so many chunks."""
        parts: list[list[DocumentRow]] = []
        size = 0
        for row in self.rows:
            size += max(len(row.chunks), 1)
            if not parts or size > chunks:
                parts.append([])
                size = max(len(row.chunks), 1)
            parts[-1].append(row)
        return list(map(self._part, parts))

    def without(self, ids: Collection[str]) -> Prepared:
        """Leave out documents."""
        return self._part([row for row in self.rows if row.id not in ids]) if ids else self

    def _part(self, rows: list[DocumentRow]) -> Prepared:
        chunks = [chunk for row in rows for chunk in row.chunks]
        ids = {chunk.vector_id for chunk in chunks}
        made = {chunk.vector_id for chunk in chunks if chunk.embedding is not None}
        texts = {key: value for key, value in self.texts.items() if key in ids}
        return Prepared(rows, texts, embedded=len(made))


@dataclass(slots=True)
class Cut:
    """The results of the expensive part of preparing a document.

    Attributes:
        spans: The positions of its chunks.
        terms: The words of each chunk for keyword search.
        mentioned: The mentions of each chunk; empty if extraction is off.
        facts: Titles, records and code of the document.
    """

    spans: list[Span]
    terms: list[str]
    mentioned: list[Mentioned] = field(default_factory=list)
    facts: Facts = field(default_factory=Facts)


@dataclass(frozen=True, slots=True)
class Cutter:
    """Splits documents into chunks and makes the rows to write.

    Attributes:
        namespace: The namespace.
        splitter: Splits documents.
        title_weight: How often the title is repeated before a text that is embedded.
        words_only: Whether only the words of a text are embedded.
        vector_store: Id of the vector store.
        pipeline: A hash of all settings that rows depend on; it is stored with a document, so that a later run knows
            whether to process the document again.
        hints: The fields of records that are entities; ``None``: nothing is extracted.
        max_chunks: Maximum number of chunks of a document; ``None``: any.
    """

    namespace: str
    splitter: TextSplitter
    title_weight: int
    words_only: bool
    vector_store: str
    pipeline: str
    hints: Mapping[str, str] | None
    max_chunks: int | None = None

    def cut(self, documents: Sequence[Document], finder: TitleFinder | None) -> list[Cut]:
        """Find the chunks of documents, their words, and their mentions, which is most of the work.

        Args:
            documents: Documents with distinct URIs.
            finder: Finds the mentions of chunks; ``None``: mentions are not searched for here.

        Raises:
            InvalidInputError: if one of them cannot be stored as it is, or has too many chunks.
        """
        cuts: list[Cut] = []
        for document in documents:
            checked_metadata(document)  # before any state of a document that cannot be stored is kept
            title = display_title(document)
            spans = self.splitter.spans(document)
            if self.max_chunks is not None and len(spans) > self.max_chunks:
                raise InvalidInputError(_too_many(len(spans), self.max_chunks))
            if spans and (fields := naming_fields(document.metadata, self.hints or FIELD_HINTS)):
                spans[0][3]["fields"] = fields_line(fields)
            contents = [document.content[start:end] for start, end, _, _ in spans]
            cut = Cut(
                spans,
                [
                    chunk_terms(document.path, title, heading, extra, content)
                    for (_, _, heading, extra), content in zip(spans, contents, strict=True)
                ],
            )
            if self.hints is not None:
                identifier = document_id(self.namespace, uri_of(document))
                cut.facts = facts_of(document, identifier, self.namespace, self.hints)
            cuts.append(cut)
        if finder is not None:
            take_mentioned(cuts, finder.mentioned(*self.sought(documents, cuts), self.namespace))
        return cuts

    def sought(
        self, documents: Sequence[Document], cuts: Sequence[Cut]
    ) -> tuple[list[Title], list[tuple[str, str, str]]]:
        """Return the arguments of :meth:`TitleFinder.mentioned` for documents that were cut.

        Returns:
            Their titles; id, what it says, and heading of each of their chunks.
        """
        chunks: list[tuple[str, str, str]] = []
        for document, cut in zip(documents, cuts, strict=True):
            contents = [document.content[start:end] for start, end, _, _ in cut.spans]
            ids = chunk_ids(document_id(self.namespace, uri_of(document)), contents)
            chunks += [
                (identifier, told(content, document.path, metadata), heading)
                for identifier, content, (_, _, heading, metadata) in zip(ids, contents, cut.spans, strict=True)
            ]
        return [title for cut in cuts for title in cut.facts.titles], chunks

    def rows(self, documents: Sequence[Document], cuts: Sequence[Cut], sources: Mapping[str, str]) -> Prepared:
        """Make the rows of documents that were cut.

        Args:
            documents: The documents.
            cuts: What :meth:`cut` made of each.
            sources: The id of the Source of each, by its own id.

        Raises:
            InvalidInputError: if one of them cannot be stored as it is.
        """
        prepared = Prepared([])
        for document, cut in zip(documents, cuts, strict=True):
            identifier = document_id(self.namespace, uri_of(document))
            chunks = self.splitter.chunks(document, cut.spans, identifier)
            rows = chunk_rows(identifier, display_title(document), chunks, cut.terms)
            for chunk_row, chunk in zip(rows, chunks, strict=True):
                text = embedding_text(document.title, chunk, self.title_weight, words_only=self.words_only)
                name = f"{document.path} (chunk {chunk_row.properties['chunk_index']})"
                chunk_row.vector_id = vector_id(self.vector_store, content_hash(text))
                prepared.texts[chunk_row.vector_id] = (text, name)
            for chunk_row, mentioned in zip(rows, cut.mentioned, strict=False):  # none where nobody looks for them
                chunk_row.mentions = mentioned
            row = document_row(
                document,
                namespace=self.namespace,
                source_id=sources[identifier],
                chunks=rows,
                state_hash=state_hash(document),
                embedded_in=[self.vector_store],
            )
            row.properties["pipeline"], row.properties["prepared"] = self.pipeline, PREPARED
            row.titles, row.records, row.code = cut.facts.titles, cut.facts.records, cut.facts.code
            prepared.rows.append(row)
            if cut.facts.left_out:
                prepared.warnings.append(_left_out(document.path, len(cut.facts.records), cut.facts.left_out))
        return prepared

    def prepare(
        self, documents: Sequence[Document], sources: Mapping[str, str], finder: TitleFinder | None
    ) -> Prepared:
        """Do both :meth:`cut` and :meth:`rows`."""
        return self.rows(documents, self.cut(documents, finder), sources)


def _too_many(chunks: int, most: int) -> str:
    return (
        f"It has {chunks:,} chunks, which are written together; the limit is {most:,}, since writing them takes about"
        f" {BYTES_PER_CHUNK // 1000} kB of memory each. Split it, or set MGRAG_MAX_CHUNKS if there is more memory."
    )


def _left_out(path: str, kept: int, left_out: int) -> str:
    return (
        f"{path}: only its first {kept:,} of {kept + left_out:,} rows became records with entities, to bound the memory"
        " that it takes to write them together. The text of the others can be found. Split the file to have all."
    )


def take_mentioned(cuts: Sequence[Cut], mentioned: Iterable[Mentioned]) -> None:
    """Distribute mentions to documents; ``mentioned`` has those of the chunks of all documents, in order."""
    rest = iter(mentioned)
    for cut in cuts:
        cut.mentioned = list(islice(rest, len(cut.spans)))
