"""The results of loaders: documents, unchanged items, and failures."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, cast, runtime_checkable


class DocumentMetadata(dict[str, Any]):
    """Metadata of a document; JSON-serialisable, except for dates and times. A plain ``dict`` works as well.

    Loaders fill in what they find: ``author``, ``created``, ``modified``, ``language``, ``page_count`` …
    ``pages_without_text`` are the numbers of the pages of a PDF file that are images; ``cut_short_in_line`` is the last
    line of a JSON or XML file that ends in the middle of its data.
    """


class ChunkMetadata(DocumentMetadata):
    """Metadata of a chunk: its document and its position there.

    Besides the keys below, a chunk has ``page``, ``slide``, ``sheet``, ``list``, ``row``, ``cell`` or ``time`` if the
    format has these, and ``table_header`` if it has later rows of a table. The first chunk of a document in the graph
    has ``fields``, a line with those of its fields that name something: ``author: Ada Lane; tags: tides``.
    """

    @property
    def chunk_index(self) -> int:
        """Position among the chunks of the document, from 0."""
        return cast(int, self["chunk_index"])

    @property
    def chunk_count(self) -> int:
        """Number of chunks of the document."""
        return cast(int, self["chunk_count"])

    @property
    def parent_id(self) -> str:
        """Id of the document."""
        return cast(str, self["parent_id"])

    @property
    def parent_document_path(self) -> str:
        """Path of the document."""
        return cast(str, self["parent_document_path"])

    @property
    def is_chunk(self) -> bool:
        """Always true; distinguishes chunks from documents."""
        return cast(bool, self["is_chunk"])


#: Metadata of a chunk that follow from its document and its position there; a graph stores them in other forms.
STRUCTURAL_KEYS = frozenset({"chunk_index", "chunk_count", "parent_id", "parent_document_path", "is_chunk"})

#: Kinds of places in a document, by which its locations and the metadata of its chunks are called.
PLACES = ("page", "slide", "sheet", "list", "row", "cell", "time")


def table_places(locations: Mapping[str, Sequence[tuple[int, int | str]]]) -> Sequence[tuple[int, int | str]]:
    """Return where the tables of a document begin, and their names: its sheets, or the lists of a JSON file."""
    return locations.get("sheet") or locations.get("list", ())


@dataclass(frozen=True, slots=True)
class Link:
    """A link found in a document.

    Attributes:
        target: Absolute URL, ``file://`` URI or path, without fragment.
        text: The text of the link.
    """

    target: str
    text: str = ""


@dataclass(frozen=True, slots=True)
class SourceInfo:
    """Where documents come from.

    Attributes:
        name: Short name for people.
        type: ``folder``, ``file``, ``web``, ``documents``, or the name that a loader uses.
        uri: Standardized URI of the root.
    """

    name: str
    type: str
    uri: str


@dataclass(slots=True)
class Document:
    """A text with a name.

    Attributes:
        path: The name shown to people: a file path, a URL, or any name that is unique in its namespace.
        content: The whole text; Markdown if the source has structure (``mime_type`` is the type of the source).
        title: Title from the document itself; ``None`` if it has none (the last part of ``path`` is shown then). That
            of Markdown that is passed to ``ingest`` without one is the heading above all of it.
        metadata: JSON-serialisable; dates and times in it become ISO 8601 text.
        uri: Standardized URI that identifies the document; ``None``: derived from ``path``.
        mime_type: Media type of the source, e.g. ``application/pdf``.
        format: How to split ``content``: ``text``, ``markdown``, ``markdown:lines`` (each of which says something by
            itself), ``table``, ``records`` or ``code:<language>``. A text that is passed to ``ingest`` is Markdown by
            its ``mime_type``, too, or without one by the end of its path.
        links: Links found in it, in order, each target once; of Markdown that is passed without any, those in its text.
        locations: For each kind of place (``page``, ``slide``, ``sheet``, ``list``, ``row``, ``cell``, ``time``) the
            ascending ``(start_char, value)`` pairs where a new one begins.
        fingerprint: By which the loader recognises an unchanged source (hash of the bytes, ETag …).
        records: For a table or a list of objects, ``(start_char, record)`` for each row, in order.
    """

    path: str
    content: str
    title: str | None = None
    metadata: dict[str, Any] = field(default_factory=DocumentMetadata)
    uri: str | None = None
    mime_type: str | None = None
    format: str = "text"
    links: tuple[Link, ...] = ()
    locations: Mapping[str, Sequence[tuple[int, int | str]]] = field(default_factory=dict)
    fingerprint: Mapping[str, str] = field(default_factory=dict)
    records: Sequence[tuple[int, Mapping[str, Any]]] = ()


@dataclass(slots=True)
class DocumentChunk(Document):
    """A part of a document: ``document.content[start_char:end_char] == content``.

    Attributes:
        start_char: Where it begins in the document's content.
        end_char: Where it ends (exclusive).
        heading: Heading path, outermost first, joined by `` > ``; empty if there is none.
    """

    metadata: ChunkMetadata = field(default_factory=ChunkMetadata)
    start_char: int = 0
    end_char: int = 0
    heading: str = ""


@dataclass(frozen=True, slots=True)
class Unchanged:
    """A document that did not change since it was last loaded; its text was not read again."""

    path: str
    uri: str


@dataclass(frozen=True, slots=True)
class LoadFailure:
    """A file or page that could not be loaded, and why.

    Attributes:
        path: The path or URL.
        reason: What happened, for people to read.
        gone: Whether it certainly no longer exists (HTTP 404 or 410) or only leads to another page, so that its stored
            version is outdated.
    """

    path: str
    reason: str
    gone: bool = False


LoadResult = Document | Unchanged | LoadFailure


@dataclass(frozen=True, slots=True)
class KnownDocument:
    """The stored state of a document from an earlier load.

    Attributes:
        fingerprint: The fingerprint that the loader gave it.
        links: Targets of its links (a crawler follows them without fetching the page again).
    """

    fingerprint: Mapping[str, str]
    links: tuple[str, ...] = ()


#: Takes URIs, and returns those documents that are stored completely, with the current settings.
Known = Callable[[Sequence[str]], Awaitable[Mapping[str, KnownDocument]]]


@runtime_checkable
class Loader(Protocol):
    """A source of documents."""

    @property
    def source(self) -> SourceInfo:
        """The source that the documents will be ``SOURCED_FROM``."""
        ...

    def load(self, known: Known | None = None) -> AsyncIterator[LoadResult]:
        """Yield documents one by one, never all at once.

        Args:
            known: Returns what is already stored. If a loader can tell that a document did not change, it yields
                :class:`Unchanged` instead of reading, converting or transferring it again.

        Raises:
            LoadError: if nothing can be loaded at all.
        """
        ...
