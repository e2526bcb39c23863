"""Splits a document into chunks."""

from __future__ import annotations

import hashlib
import importlib.metadata
import math
from collections.abc import Callable, Sequence
from functools import cached_property, partial
from typing import Any

from core.rag.arguments import check_number, check_text
from core.rag.errors import InvalidInputError
from core.rag.headings import heading_path
from core.rag.indexing.splitting.breaks import Breaks, line_breaks, prose_breaks, record_breaks, without_surrogates
from core.rag.indexing.splitting.clauses import numbered_headings, with_clauses
from core.rag.indexing.splitting.code import code_sections
from core.rag.indexing.splitting.grammars import grammar_versions
from core.rag.indexing.splitting.long_rows import Columns, stretches
from core.rag.indexing.splitting.markdown import Outline, markdown_breaks, outline, table_breaks
from core.rag.indexing.splitting.outdented import outdented_headings
from core.rag.indexing.splitting.packing import Packer, Table, table_at
from core.rag.indexing.splitting.places import Rows, add_places, add_table
from core.rag.indexing.splitting.sections import RUNNING, Section, cut_sections, sections_of
from core.rag.indexing.splitting.tokens import EvenTokens, FunctionTokens, TokenCounter, WordLlamaTokens
from core.rag.indexing.splitting.turns import Speakers, turns_of, with_turns
from core.rag.indexing.splitting.underlined import underlined_headings
from libs.dataloader.formats.program_logs import is_log
from libs.dataloader.types import STRUCTURAL_KEYS, ChunkMetadata, Document, DocumentChunk

DEFAULT_CHUNK_SIZE = 1024
DEFAULT_CHUNK_OVERLAP = 200

#: ``(start, end, heading, metadata)`` of a chunk; the metadata depend on its position in the document.
type Span = tuple[int, int, str, dict[str, Any]]

#: Raised whenever the same settings begin to give other chunks.
SPLITTING_VERSION = 22
_SECTION_PLACES = ("slide", "sheet", "list")  # nothing runs on from one of these into the next
_SAMPLE = 512  # characters by which the length of a token is told
_PIECES_PER_CHUNK = 4
_PIECE = (4, 256)  # characters, at least and at most

_wordllama_tokens = WordLlamaTokens()  # loads nothing before it is asked


class TextSplitter:
    """Splits documents along their structure into chunks with a maximum number of tokens.

    For the chunks of a document: ``document.content[chunk.start_char:chunk.end_char] == chunk.content``; they are in
    order, each begins after the one before, and together they hold every character. None has more than ``chunk_size``
    tokens (save for a single character that alone has more; see ``whole_size``), and no grapheme cluster is cut unless
    it is larger than a chunk. Neighbours share up to ``chunk_overlap`` tokens, whole sentences or lines where possible,
    but nothing is shared across headings, definitions, table rows and records.

    How a document is split depends on its ``format``:

    - ``markdown``: along headings; ``heading`` is the path of headings, ``"Guide > Install > Linux"`` (without the
      title of the document, unless that is all). Fenced code and tables are kept whole if they fit.
      ``markdown:lines``: the same, of lines that each say something by itself, as in outlines of JSON.
    - ``code:<language>``: along definitions; ``heading`` is ``"class Foo > def bar"``.
    - ``table``: by rows. Chunks after the first have the header line in ``metadata["table_header"]``, also for tables
      in Markdown. One that begins within a row has the columns from there on.
    - ``records``: between paragraphs, which are not cut if they fit.
      A row or record longer than a chunk is cut by itself; what it is called (by its ``title``, ``name`` …, else by its
      first field) ends the ``heading`` of all its chunks.
    - ``rst``: along underlined headings.
    - anything else: paragraphs, lines, sentences, words; where most lines are indented, along the headings at the
      margin, else along numbered ones (``CHAPTER IV``, ``2.1 Term.``).

    Where text or Markdown consists of turns (``Ida: …``), ``metadata["speaker"]`` is who speaks first in a chunk, and
    the heading of a turn longer than a chunk ends with their name.

    Args:
        chunk_size: Maximum number of tokens in a chunk.
        chunk_overlap: Maximum number of tokens that two neighbouring chunks share; less than ``chunk_size``.
        separator: Text after which to prefer to cut. Blank lines are preferred to line ends, and these to sentence
            ends, in any case; a separator that is not whitespace is preferred to all of them.
        whole_size: Maximum number of tokens of a document that is one chunk, although it has more than ``chunk_size``:
            one of running text, without parts of its own (several headings, definitions, rows, records, slides).
            ``None``: none is. So many tokens have the chunks of a log, too, whose lines say little by themselves.
        count_tokens: Counts the tokens of a text; ``None``: as the default embedder does; ``even_tokens``: alike in all
            scripts, as knowledge bases do. For OpenAI's models:
            ``lambda text: len(tiktoken.get_encoding("cl100k_base").encode_ordinary(text))``.

    Raises:
        InvalidInputError: if the sizes are invalid.

    Example:
        >>> splitter = TextSplitter(chunk_size=64, chunk_overlap=0)
        >>> document = Document(path="guide.md", content="# Guide\\n\\n## Install\\n\\nRun it.\\n", format="markdown")
        >>> [chunk.heading for chunk in splitter.split(document)]
        ['Guide > Install']
    """

    def __init__(
        self,
        chunk_size: int = DEFAULT_CHUNK_SIZE,
        chunk_overlap: int = DEFAULT_CHUNK_OVERLAP,
        separator: str = "\n",
        *,
        whole_size: int | None = None,
        count_tokens: Callable[[str], int] | None = None,
    ) -> None:
        chunk_size = check_number("chunk_size", chunk_size, 1)
        chunk_overlap = check_number("chunk_overlap", chunk_overlap, 0)
        if chunk_overlap >= chunk_size:
            raise InvalidInputError(
                f"chunk_overlap ({chunk_overlap}) must be less than chunk_size ({chunk_size}): "
                "each chunk has to hold something that the one before does not."
            )
        whole_size = chunk_size if whole_size is None else check_number("whole_size", whole_size, 1)
        if whole_size < chunk_size:
            raise InvalidInputError(f"whole_size ({whole_size}) must not be less than chunk_size ({chunk_size}).")
        if not isinstance(separator, str):
            raise InvalidInputError(f"separator must be a string, not {separator!r}.")
        if count_tokens is not None and not callable(count_tokens):
            raise InvalidInputError("count_tokens must be a function from a text to its number of tokens.")
        self.chunk_size = chunk_size
        self.chunk_overlap = chunk_overlap
        self.separator = separator
        self.whole_size = whole_size
        self._counter: TokenCounter = _wordllama_tokens
        if count_tokens is not None:
            self._counter = count_tokens if isinstance(count_tokens, EvenTokens) else FunctionTokens(count_tokens)

    def with_sizes(self, chunk_size: int, chunk_overlap: int) -> TextSplitter:
        """Return a copy of this splitter with other sizes; no document is kept whole beyond these."""
        other = TextSplitter(chunk_size, chunk_overlap, self.separator)
        other._counter = self._counter
        return other

    def __reduce__(self) -> tuple[Any, ...]:
        count: Callable[[str], int] | None = None
        if isinstance(self._counter, FunctionTokens):
            count = self._counter.function
        elif isinstance(self._counter, EvenTokens):
            count = self._counter
        settings = (self.chunk_size, self.chunk_overlap, self.separator)
        return partial(type(self), whole_size=self.whole_size, count_tokens=count), settings

    def __repr__(self) -> str:
        return f"TextSplitter({self.chunk_size}, {self.chunk_overlap}, {self.separator!r})"

    @cached_property
    def fingerprint(self) -> str:
        """Text that changes whenever a document may be split differently: settings, tokenizer, versions."""
        parts = (
            str(SPLITTING_VERSION),
            str(self.chunk_size),
            str(self.chunk_overlap),
            self.separator,
            *([str(self.whole_size)] if self.whole_size > self.chunk_size else []),
            self._counter.fingerprint,
            importlib.metadata.version("semantic-text-splitter"),
            grammar_versions(),
        )
        digest = hashlib.sha256("\x1f".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:16]
        return f"split{SPLITTING_VERSION}-{self.chunk_size}-{self.chunk_overlap}-{digest}"

    def count_tokens(self, text: str) -> int:
        """Return the number of tokens of a text, as this splitter counts."""
        return self._counter.count(without_surrogates(text))

    def exceeds_size(self, chunks: Sequence[str]) -> bool:
        """Return whether one of some chunks has more than ``chunk_size`` tokens; see ``whole_size``."""
        return any(not self._counter.fits(without_surrogates(chunk), self.chunk_size) for chunk in chunks)

    def split_text(self, text: str) -> list[str]:
        """Split plain text, and return the texts of its chunks, in order; see :meth:`split`."""
        if not check_text("The text to split", text):
            return []
        return [text[start:end] for start, end, _, _ in self._spans(Document(path="", content=text))[0]]

    def split(self, document: Document, parent_id: str | None = None) -> list[DocumentChunk]:
        """Split a document.

        Args:
            document: The document.
            parent_id: Id of the document in the graph; ``None``: derived from its URI or path in the default
                namespace.

        Returns:
            The chunks in order; none for an empty document. Their metadata describe their position (``chunk_index``,
            ``chunk_count``, ``parent_id``, ``parent_document_path``, ``is_chunk``, and, where they apply, ``page``,
            ``page_end``, ``slide``, ``sheet``, ``list``, ``row``, ``cell``, ``time``, ``table_header``, ``speaker``).
        """
        return self.chunks(document, self.spans(document), parent_id)

    def spans(self, document: Document) -> list[Span]:
        """Return where the chunks of a document begin and end: all of :meth:`split` that takes long."""
        if type(self).split is not TextSplitter.split:
            return list(map(_span_of, self.split(document)))  # that of a subclass, which may know better
        if not isinstance(document, Document):
            raise InvalidInputError(
                f"A Document is split, not a {type(document).__name__}: make one (Document(path=…, content=…)), or use"
                " split_text."
            )
        content = document.content
        if not content:
            return []
        spans: list[Span] = []
        rows, columns = Rows(content), Columns(content)
        found, speakers = self._spans(document)
        for start, end, heading, table in found:
            speaker = speakers.first(start, end)
            extra: dict[str, Any] = {"speaker": speaker} if speaker else {}
            if table is not None:
                add_table(extra, rows, columns, start, table, document.format)
            if document.locations:
                add_places(extra, document.locations, content, start, end)
            spans.append((start, end, heading, extra))
        return spans

    def chunks(self, document: Document, spans: Sequence[Span], parent_id: str | None = None) -> list[DocumentChunk]:
        """Return the chunks of a document with these spans; see :meth:`split`."""
        content = document.content
        if parent_id is None:
            parent_id = _default_id(document)
        chunks: list[DocumentChunk] = []
        for index, (start, end, heading, extra) in enumerate(spans):
            metadata = ChunkMetadata(
                chunk_index=index,
                chunk_count=len(spans),
                parent_id=parent_id,
                parent_document_path=document.path,
                is_chunk=True,
                **extra,
            )
            chunks.append(
                DocumentChunk(
                    path=document.path,
                    content=content[start:end],
                    title=document.title,
                    metadata=metadata,
                    uri=document.uri,
                    mime_type=document.mime_type,
                    format=document.format,
                    start_char=start,
                    end_char=end,
                    heading=heading,
                )
            )
        return chunks

    def _spans(self, document: Document) -> tuple[list[tuple[int, int, str, Table | None]], Speakers]:
        """Return ``(start, end, heading, table)`` of each chunk, the table being the one in whose rows it begins."""
        text = without_surrogates(document.content)
        begin = len(text) - len(text.lstrip())
        places = sorted(
            start
            for name in _SECTION_PLACES
            for start, _ in document.locations.get(name, ())
            if begin < start < len(text)
        )
        sections, structure = self._sections(document, text, places)
        undivided = len(sections) == 1 and self._counter.fits(text, self.whole_size)
        speaks = any(section.kind in RUNNING for section in sections)
        turns = turns_of(text, structure.fences) if speaks else []
        speakers = Speakers(turns, sections)
        if turns and not undivided:
            sections = with_turns(text, sections, turns, self._counter.fits, self.chunk_size)
        if places:
            sections = cut_sections(sections, places)
        if undivided and len(sections) == 1 and sections[0].kind in RUNNING and document.format != "markdown:lines":
            return [(sections[0].start, sections[0].end, sections[0].heading, None)], speakers
        spans: list[tuple[int, int, str, Table | None]] = []
        for section in sections:
            within = text[section.start : section.end]
            size = self.whole_size if section.kind == "table" and is_log(within) else self.chunk_size
            if self._counter.fits(within, size):
                spans.append((section.start, section.end, section.heading, _whole_table(section)))
                continue
            breaks, tables = self._breaks(text, section, structure)
            by_lines = section.kind == "code" or document.format == "markdown:lines"
            packer = Packer(text, self._counter, size, self.chunk_overlap, by_lines=by_lines)
            whole = tables[0] if section.kind == "table" else None
            fits = partial(self._fits, size=size)
            for stretch, name in stretches(text, breaks, tables, records=section.kind == "records", fits=fits):
                heading = heading_path((section.heading, name))
                packed = packer.pack(stretch, tables)
                spans += [(start, end, heading, whole or table_at(tables, start)) for start, end in packed]
        return spans, speakers

    def _sections(self, document: Document, text: str, places: Sequence[int]) -> tuple[list[Section], Outline]:
        kind, _, language = document.format.partition(":")
        structure = Outline()
        if kind == "markdown":
            structure = outline(text)
            headings = with_clauses(text, structure.headings, structure.fences)
            return sections_of(text, headings, document.title, "markdown", places), structure
        if kind == "code":
            return code_sections(text, language, self._counter, self.chunk_size), structure
        if kind == "rst":
            return sections_of(text, underlined_headings(text), document.title, "prose", places), structure
        if kind == "text" and (headings := outdented_headings(text) or numbered_headings(text)):
            return sections_of(text, headings, document.title, "prose", places), structure
        if kind == "table":
            return [Section(0, len(text), "", "table")], structure
        return [Section(0, len(text), "", "records" if kind == "records" else "prose")], structure

    def _breaks(self, text: str, section: Section, structure: Outline) -> tuple[Breaks, Sequence[Table]]:
        start, end, piece = section.start, section.end, self._piece(text, section)
        match section.kind:
            case "markdown":
                return markdown_breaks(
                    text, start, end, structure.fences, self.separator, piece, self._counter, self.chunk_size
                )
            case "code":
                tuples = section.heading.startswith(("insert ", "replace "))
                return line_breaks(text, start, end, piece, indented=True, tuples=tuples), ()
            case "records":
                return record_breaks(text, start, end), ()
            case "table":
                breaks, table = table_breaks(text, start, end, self._counter, self.chunk_size)
                return breaks, (table,)
            case _:
                return prose_breaks(text, start, end, self.separator, piece), ()

    def _fits(self, text: str, size: int) -> bool:
        # Hardly any tokenizer has more tokens than characters, and asking it about every row of a table takes time.
        return len(text) <= size or self._counter.fits(text, size)

    def _piece(self, text: str, section: Section) -> int:
        """Return the number of characters up to which running text is not searched for places to cut.

        It is a fraction of a chunk, estimated from the length of tokens in this text, and a power of two, so that it
        (and with it the places) seldom changes when the text changes.
        """
        sample = text[section.start : min(section.end, section.start + _SAMPLE)]
        per_token = len(sample) / max(self._counter.count(sample), 1)
        length = min(max(self.chunk_size / _PIECES_PER_CHUNK * per_token, _PIECE[0]), _PIECE[1])
        return 1 << round(math.log2(length))


def _default_id(document: Document) -> str:
    from core.rag.identity import document_id, standardize_resource_uri
    from core.rag.settings import DEFAULT_NAMESPACE

    return document_id(DEFAULT_NAMESPACE, document.uri or standardize_resource_uri(document.path))


def _span_of(chunk: DocumentChunk) -> Span:
    extra = {key: value for key, value in chunk.metadata.items() if key not in STRUCTURAL_KEYS}
    return chunk.start_char, chunk.end_char, chunk.heading, extra


def _whole_table(section: Section) -> Table | None:
    return Table(section.start, section.start, section.end, "") if section.kind == "table" else None
