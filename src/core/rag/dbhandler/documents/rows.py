"""Converts documents and chunks into the rows that are written, and rows that were read into dicts."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import chain
from typing import Any
from urllib.parse import unquote, urlsplit

from core.rag.analysis import (
    TITLE_WEIGHT,
    date_words,
    defined_words,
    document_numbers,
    document_words,
    file_word,
    heading_numbers,
    index_terms,
)
from core.rag.dbhandler.checks import MAX_PATH_CHARS
from core.rag.dbhandler.documents.contents import content_properties
from core.rag.dbhandler.documents.linking import LinkRow
from core.rag.dbhandler.documents.writing import ChunkRow, DocumentRow
from core.rag.dbhandler.json_texts import from_json, metadata_json, to_json
from core.rag.dbhandler.resources import resource_type
from core.rag.dbhandler.store import Row
from core.rag.errors import InvalidInputError
from core.rag.extraction.code_definitions import code_definitions
from core.rag.headings import headings_of, last_heading
from core.rag.identity import chunk_id, content_hash, document_id, has_scheme, standardize_resource_uri, uri_of_name
from libs.dataloader import Document, DocumentChunk
from libs.dataloader.types import STRUCTURAL_KEYS

#: How often more the innermost number of a heading counts than those above it.
_NUMBERED = 2

#: The end of every statement that finds chunks; ``c`` is the chunk and ``d`` its document.
CHUNK_COLUMNS = (
    "c.id AS chunk_id, d.id AS document_id, d.path AS path, d.title AS title, c.heading AS heading, "
    "c.content AS content, c.chunk_index AS chunk_index, c.chunk_count AS chunk_count, "
    "c.start_char AS start_char, c.end_char AS end_char, c.metadata AS metadata"
)

#: The same for what searches find, which comes with the metadata of the document.
FOUND_COLUMNS = f"{CHUNK_COLUMNS}, d.metadata AS document_metadata"

#: The end of every statement that finds documents, except for the content.
DOCUMENT_COLUMNS = (
    "d.id AS id, d.path AS path, d.uri AS uri, d.title AS title, d.content_hash AS content_hash, "
    "d.source_id AS source_id, d.mime_type AS mime_type, d.metadata AS metadata, d.status AS status, "
    "d.created_at AS created_at, d.updated_at AS updated_at"
)


def uri_of(document: Document) -> str:
    """Return the standardized URI that identifies a document."""
    return document.uri or standardize_resource_uri(document.path)


def display_title(document: Document) -> str:
    """Return the title, or the last part of the path for a document without one."""
    if document.title and document.title.strip():
        return " ".join(document.title.split())
    path = document.path
    if path.startswith(("http://", "https://")):
        parts = urlsplit(path)
        path = unquote(parts.path).rstrip("/") or parts.netloc
    return posixpath.basename(path.replace("\\", "/").rstrip("/")) or document.path


def fingerprint_json(document: Document) -> str:
    """Return the fingerprint of a document as JSON.

    Raises:
        InvalidInputError: if it is not JSON.
    """
    return to_json(dict(document.fingerprint), f"The fingerprint of {document.path}")


def checked_metadata(document: Document) -> str:
    """Return the metadata of a document as JSON, checking that the document can be stored.

    Raises:
        InvalidInputError: on a path that is empty or too long, or metadata that is not JSON.
    """
    if not document.path or len(document.path) > MAX_PATH_CHARS:
        raise InvalidInputError(
            f"The path of a document must have 1 to {MAX_PATH_CHARS} characters, not {len(document.path)}."
        )
    return metadata_json(document.metadata, f"The metadata of {document.path}")


def document_row(
    document: Document,
    *,
    namespace: str,
    source_id: str | None,
    chunks: list[ChunkRow],
    state_hash: str = "",
    embedded_in: Sequence[str] = (),
) -> DocumentRow:
    """Return the row of a document.

    Args:
        document: What was loaded.
        namespace: Where it goes.
        source_id: Id of its Source.
        chunks: Rows of its chunks.
        state_hash: A hash that stays the same if the document is unchanged; empty if it is never compared.
        embedded_in: Ids of the vector stores that hold vectors of all of its chunks.

    Raises:
        InvalidInputError: on a path that is empty or too long, or metadata that is not JSON.
    """
    metadata = checked_metadata(document)
    uri = uri_of(document)
    standardize = standardize_resource_uri if has_scheme(uri) else uri_of_name  # a name links to names
    links = [
        LinkRow(uri=link_uri, type=resource_type(link_uri), text=link.text[:500])
        for link in document.links
        if len(link_uri := standardize(link.target)) <= MAX_PATH_CHARS
    ]
    return DocumentRow(
        id=document_id(namespace, uri),
        properties={
            "path": document.path,
            "uri": uri,
            "title": display_title(document),
            **content_properties(document.content),
            "content_hash": content_hash(document.content),
            "state_hash": state_hash,
            "embedded_in": list(embedded_in),
            "source_id": source_id or "",
            "mime_type": document.mime_type or "text/plain",
            "metadata": metadata,
            "fingerprint": fingerprint_json(document),
            "status": "ready",
        },
        source_id=source_id,
        chunks=chunks,
        links=links,
    )


def chunk_ids(document: str, contents: Sequence[str]) -> list[str]:
    """Return the ids of all chunks of a document, whose texts may be equal."""
    ids = []
    occurrences: dict[str, int] = {}
    for content in contents:
        occurrence = occurrences.get(content, 0)
        occurrences[content] = occurrence + 1
        ids.append(chunk_id(document, content, occurrence))
    return ids


def chunk_terms(path: str, title: str, heading: str, metadata: Mapping[str, Any], content: str) -> str:
    """Return the words that find a chunk: of its title, heading, table header and content, and for what it defines.

    The name of its file is one word, which counts like those of a title, and so does its number ("RFC 9110"). The first
    chunk of a document has the words of its fields, too. The number of a heading ("§ 433") is one word with what is
    numbered, and so is a date of the title, the file or a heading.
    """
    above = " ".join(str(part) for part in (heading, metadata.get("table_header"), metadata.get("fields")) if part)
    words = index_terms(title, above, content)
    defined = (*defined_words(content, last_heading(heading) or title), *code_definitions(content, path, heading))
    return " ".join((words, *_numbers_of(heading), *_names_of(path, title), *defined))


@lru_cache(maxsize=256)
def _numbers_of(heading: str) -> tuple[str, ...]:
    parts = [(*date_words(part), *heading_numbers(part)) for part in headings_of(heading)]
    return (*chain.from_iterable(parts), *parts[-1] * _NUMBERED)


@lru_cache(maxsize=256)
def _names_of(path: str, title: str) -> tuple[str, ...]:
    called = (*document_numbers(title, path), *file_word(path))
    return (*document_words(title, path), *called * TITLE_WEIGHT)


def chunk_rows(
    document: str, title: str, chunks: Sequence[DocumentChunk], terms: Sequence[str] | None = None
) -> list[ChunkRow]:
    """Return the rows of the chunks of a document, without vectors.

    Args:
        document: Id of the document.
        title: Its title, which is searched with every chunk.
        chunks: All chunks of the document, in order.
        terms: What :func:`chunk_terms` gives for each, where it is known.
    """
    if terms is None:
        terms = [chunk_terms(chunk.path, title, chunk.heading, chunk.metadata, chunk.content) for chunk in chunks]
    rows = []
    ids = chunk_ids(document, [chunk.content for chunk in chunks])
    for index, (identifier, chunk, words) in enumerate(zip(ids, chunks, terms, strict=True)):
        extra = {key: value for key, value in chunk.metadata.items() if key not in STRUCTURAL_KEYS}
        rows.append(
            ChunkRow(
                id=identifier,
                properties={
                    "path": chunk.path,
                    "content": chunk.content,
                    "terms": words,
                    "content_hash": content_hash(chunk.content),
                    "parent_id": document,
                    "chunk_index": index,
                    "chunk_count": len(chunks),
                    "start_char": chunk.start_char,
                    "end_char": chunk.end_char,
                    "heading": chunk.heading,
                    "metadata": metadata_json(extra, f"The metadata of a chunk of {chunk.path}"),
                },
            )
        )
    return rows


def as_found(row: Row, score: float | None = None) -> dict[str, Any]:
    """Return a chunk or document as users get it: metadata as dicts, and a score if it was searched for."""
    found = dict(row)
    found["metadata"] = from_json(row.get("metadata"))
    if "document_metadata" in row:
        found["document_metadata"] = from_json(row["document_metadata"])
    if score is not None:
        found["score"] = score
    return found
