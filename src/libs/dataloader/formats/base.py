"""The interface of readers: what they get, what they return, and how they report failure."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from libs.dataloader.encodings import decode_bytes, looks_binary
from libs.dataloader.text import clean_text
from libs.dataloader.types import Link
from libs.regexes import regex

if TYPE_CHECKING:
    from libs.dataloader.notes import Notes

#: How much more than the limit for a file a compressed one may hold.
EXPANSION = 4
_MAX_CHARS = 100_000_000
_MOST_NESTED = 1000  # files
_NESTED_EXPANSION = 10  # times what one file may expand to
_HEADING = regex(r"^(#{1,5}) ", re.MULTILINE)
_LIKE_MARKUP = regex(r"^(#{1,6} |```|~~~)", re.MULTILINE)
_FENCE_LINE = regex(r"^ {0,3}(`{3,}|~{3,})([^\n]*)$", re.MULTILINE)


class UnreadableError(Exception):
    """A file cannot be converted.

    Attributes:
        reason: The reason, to show to users; without the name of the file.
        gone: Whether its text is certainly no longer there, so that its stored version is outdated.
    """

    def __init__(self, reason: str, *, gone: bool = False) -> None:
        super().__init__(reason)
        self.reason = reason
        self.gone = gone


def check_length(chars: int) -> None:
    """Refuse a text that becomes far longer than its file, for example by repeating one part of it very often.

    Raises:
        UnreadableError: if it is longer than the limit.
    """
    if chars > _MAX_CHARS:
        raise UnreadableError(f"its text is longer than {_MAX_CHARS:,} characters")


def join_lines(lines: Iterable[str]) -> str:
    """Join lines to a text.

    Raises:
        UnreadableError: if it becomes too long.
    """
    kept: list[str] = []
    chars = 0
    for line in lines:
        chars += len(line) + 1
        check_length(chars)
        kept.append(line)
    return "\n".join(kept)


def fenced(text: str, language: str) -> str:
    """Return code as a fenced block of Markdown; the fence is longer than any in the code."""
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}{language}\n{text}\n{fence}"


def escaped(text: str) -> str:
    """Return plain text as Markdown: lines that would be headings or fences there are none."""
    return _LIKE_MARKUP.sub(r"\\\1", text)


def squeezed(text: str) -> str:
    """Return a text with single blanks, and without empty lines."""
    lines = (" ".join(line.split()) for line in text.split("\n"))
    return "\n".join(line for line in lines if line)


def fences(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield the spans of fenced code in Markdown (CommonMark 4.5), each with the fence that is missing at its end."""
    start, fence = -1, ""
    for match in _FENCE_LINE.finditer(text):
        if start < 0:
            if match[1][0] == "~" or "`" not in match[2]:
                start, fence = match.start(), match[1]
        elif match[1].startswith(fence) and not match[2].strip(" \t" + fence[0]):
            yield start, match.end(), ""
            start = -1
    if start >= 0:
        yield start, len(text), fence


def closed(text: str) -> str:
    """Return Markdown with an end to its last block of code, lest that go on in what is written behind the text."""
    missing = "".join(fence for _, _, fence in fences(text))  # only the last one can be without
    return f"{text.rstrip()}\n{missing}" if missing else text


def lowered(text: str) -> str:
    """Return Markdown with each heading one level lower, so that it fits below a heading of the first level.

    Code that does not end within the text does so at its end; see :func:`closed`.
    """
    text = closed(text)
    parts: list[str] = []
    position = 0
    for start, end, _ in fences(text):
        parts += (_HEADING.sub(r"#\1 ", text[position:start]), text[start:end])
        position = end
    return "".join([*parts, _HEADING.sub(r"#\1 ", text[position:])])


class Nested:
    """What was read so far of the files inside a file, and inside these: each may hold a thousand others."""

    def __init__(self) -> None:
        self._left = _MOST_NESTED
        self._room = 0
        self._expanded = 0

    def take(self) -> bool:
        """Count one more file; return whether it may be read."""
        self._left -= 1
        return self._left >= 0

    def expand(self, size: int, limit: int) -> bool:
        """Count the size that a compressed file expands to; return whether all of them together may have so much.

        Args:
            size: That size.
            limit: What the file may expand to; the outermost one may to the most, and all together to ten times that.
        """
        self._room = max(self._room, _NESTED_EXPANSION * limit)
        self._expanded += size
        return self._expanded <= self._room


@dataclass(frozen=True, slots=True)
class FileData:
    """A file in memory.

    Attributes:
        path: Its path as shown to users; the extension tells the format.
        data: Its bytes.
        uri: ``file://`` URI or URL, for resolving relative links; ``None`` if it has none.
        root_uri: ``file://`` URI of the folder that links beginning with ``/`` start from.
        encoding: Encoding that the user has set; ``None``: detected.
        declared: Encoding that was declared outside of the file (in an HTTP header).
        notes: The files that ``[[Name]]`` in it may refer to; ``None`` if there are no such links.
        in_vault: Whether it is in a folder of Obsidian.
        persons: In an export of a conversation, the names of those who wrote, by their ids.
        max_bytes: Limit for the size of a file; what is compressed may expand to :data:`EXPANSION` times as much.
        nested: Counts the files inside of it, for all of these, too.
    """

    path: str
    data: bytes
    uri: str | None = None
    root_uri: str | None = None
    encoding: str | None = None
    declared: str | None = None
    notes: Notes | None = None
    in_vault: bool = False
    persons: Mapping[str, str] = field(default_factory=dict)
    max_bytes: int = 50_000_000
    nested: Nested = field(default_factory=Nested, repr=False, compare=False)

    @property
    def name(self) -> str:
        """The last part of the path."""
        return posixpath.basename(self.path.replace("\\", "/"))

    @property
    def extension(self) -> str:
        """The file extension in lower case, with its dot; empty if there is none."""
        return posixpath.splitext(self.name)[1].lower()

    def text(self) -> str:
        """Decode the bytes as clean text.

        Raises:
            UnreadableError: if they are not text, or not in the encoding that the user has set.
        """
        return clean_text(self._decoded())

    def pages(self) -> list[str]:
        """Decode the bytes as clean text, apart at form feeds; see :meth:`text`."""
        return list(map(clean_text, self._decoded().split("\f")))

    def _decoded(self) -> str:
        if self.encoding is not None:
            try:
                return self.data.decode(self.encoding)
            except UnicodeError as error:
                raise UnreadableError(f"it is not {self.encoding} text: {error}") from error
        if looks_binary(self.data):
            raise UnreadableError("it is binary, not text")
        return decode_bytes(self.data, declared=self.declared).text


_NO_TITLE = regex(
    r"""^(?:
      untitled.* | no\s+title | [(\[](?:no\s+title|untitled|anonymous)[)\]] | title | word\s+document
    | (?:document|dokument|documento|документ|文档|文書)\d*
    # What Google Docs calls a new document.
    | document(?:o|\s)?\s*(?:sans\s+titre|sin\s+título|sem\s+título|senza\s+titolo) | unbenanntes\s+dokument
    | документ\s+без\s+названия | naamloos\s+document | dokument\s+bez\s+tytułu | 無題のドキュメント | 无标题文档
    | 제목\s+없는\s+문서
    # What PowerPoint calls a new presentation, and the first slide of it.
    | presentation\d* | powerpoint[- ]\w+ | (?:a?pr[eé][sz]enta\w+|презентац\w+)(?:\s+\w+){0,2}\s+powerpoint
    | (?:slide|folie|diapositiv[ae]|dia|слайд|slajd|snímek|幻灯片|スライド|슬라이드)\s*1
    | microsoft\s+(?:word|powerpoint|excel)\b.*
    | [^\s]+\.(?:doc[xm]?|ppt[xm]?|xls[xm]?|od[tpsg]|pdf|dvi|ps|tex|indd|rtf|html?|txt|qxd|p65|pmd|wpd|cdr|ai)
    | [\d\W_]*
    )$""",
    re.IGNORECASE | re.VERBOSE,
)


def sensible_title(title: str) -> str | None:
    """Return the title from a file's properties; ``None`` if it is empty or a placeholder that a program filled in."""
    title = " ".join(title.split())
    return None if _NO_TITLE.match(title) else title[:500]


_NO_AUTHOR = regex(
    r"""(?:
      openpyxl | python-(?:docx|pptx) | apache\s+poi | docx4j | xlsxwriter | pptxgenjs | sheetjs | un-?named
    | (?:microsoft\ office|windows|default)\ (?:user|anwender|benutzer) | utilisateur\ windows | usuario\ de\ windows
    | administrator | admin | user | author | unknown | \(?anonymous\)? | unspecified | \W*
    )""",
    re.IGNORECASE | re.VERBOSE,
)


def sensible_author(name: str) -> str:
    """Return the author from a file's properties; empty if a program filled in its own name, or that of anybody."""
    name = " ".join(name.split())
    return "" if _NO_AUTHOR.fullmatch(name) else name


_CODE_STYLE = regex(
    r"(?:source ?|program ?)?code|html preformatted|preformatted text|verbatim|macro text", re.IGNORECASE
)


def is_code_style(name: str) -> bool:
    """Return whether the name of a paragraph style of a word processor is that of a style for code."""
    return _CODE_STYLE.fullmatch(name) is not None


Locations = Mapping[str, Sequence[tuple[int, int | str]]]


@dataclass(slots=True)
class Content:
    """The result of a reader; the attributes are those of :class:`libs.dataloader.Document`."""

    text: str
    format: str = "text"
    title: str | None = None
    metadata: dict[str, Any] = field(default_factory=dict)
    links: tuple[Link, ...] = ()
    locations: Locations = field(default_factory=dict)
    records: Sequence[tuple[int, Mapping[str, Any]]] = ()
    mime_type: str | None = None


class TextBuilder:
    """Builds a text from parts, and records where pages, rows and the like begin."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._separated = True
        self.position = 0
        self.locations: dict[str, list[tuple[int, int | str]]] = {}

    def add(self, text: str) -> None:
        """Append text, which must be clean already.

        Raises:
            UnreadableError: if the whole text becomes too long.
        """
        if text:
            self.position += len(text)
            check_length(self.position)
            self._parts.append(text)
            self._separated = False

    def block(self, text: str, separator: str = "\n\n") -> None:
        """Append a block, separated from the previous one."""
        if text:
            self.separate(separator)
            self.add(text)

    def separate(self, separator: str = "\n\n") -> None:
        """Append a separator, unless nothing was added since the last one."""
        if not self._separated:
            self.add(separator)
            self._separated = True

    def mark(self, kind: str, value: int | str) -> None:
        """Record that a new place (see ``PLACES``) begins here; ``value`` is its number or name."""
        self.locations.setdefault(kind, []).append((self.position, value))

    def text(self) -> str:
        """Return the whole text."""
        return "".join(self._parts)
