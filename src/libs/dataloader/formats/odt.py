"""OpenDocument text (odt, and fodt, its form without a container)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from libs.dataloader.formats.archive import Archive, attribute, child, local, parse_xml
from libs.dataloader.formats.base import (
    Content,
    FileData,
    UnreadableError,
    escaped,
    fenced,
    is_code_style,
    sensible_author,
    sensible_title,
    squeezed,
)
from libs.dataloader.formats.odt_styles import hiding_styles, ordered_lists, raising_styles, style_parents
from libs.dataloader.formats.registry import Format
from libs.dataloader.links import LinkCollector
from libs.dataloader.mathml import formula
from libs.dataloader.tables import join_symbols, markdown_table
from libs.dataloader.text import clean_text, raised

if TYPE_CHECKING:
    from lxml.etree import _Element

_META = {
    "creator": "author",
    "initial-creator": "author",
    "subject": "subject",
    "keyword": "keywords",
    "description": "description",
    "creation-date": "created",
    "date": "modified",
    "language": "language",
}
_SKIPPED = frozenset(
    (
        "tracked-changes",
        "annotation-end",
        "sequence-decls",
        "forms",
        "table-of-content-source",
        "title",
        "desc",
        "ruby-text",
        "index-title-template",
    )
)
_MAX_REPEAT = 100
_MAX_DEPTH = 100


def read(file: FileData, _kind: Format) -> Content:
    """Convert to Markdown, with headings, lists and tables; footnotes and comments follow at the end."""
    archive = None
    if file.data.lstrip()[:1] == b"<":
        content = meta = parse_xml(file.data)
    else:
        archive = Archive(file, "an OpenDocument text")
        if archive.has("META-INF/manifest.xml") and b"encryption-data" in archive.read("META-INF/manifest.xml"):
            raise UnreadableError("it is encrypted (a password is needed)")
        content = archive.xml("content.xml")
        meta = archive.xml("meta.xml") if archive.has("meta.xml") else content
    body = child(content, "body", "text")
    if body is None:
        raise UnreadableError("it is not an OpenDocument text, despite its name")
    _drop_hidden(body, hiding_styles(content))
    writer = _Writer(LinkCollector(file.uri, file.root_uri), content, archive)
    writer.blocks(body, 0)
    title, metadata = _properties(meta)
    return Content(
        clean_text(writer.text()),
        "markdown",
        writer.title or title or writer.first_heading,
        metadata,
        writer.collector.links(),
    )


class _Writer:
    def __init__(self, collector: LinkCollector, content: _Element, archive: Archive | None) -> None:
        self.collector = collector
        self._archive = archive
        self.title: str | None = None
        self.first_heading: str | None = None
        self._ordered = ordered_lists(content)
        self._parents: Mapping[str, str] = style_parents(content)
        self._raising = raising_styles(content)
        self._numbers: dict[str | tuple[str, int], int] = {}  # where lists ended: by their id, by style and level
        self._parts: list[str] = []
        self._notes: list[str] = []
        self._in_list = False
        self._code: list[str] = []

    def text(self) -> str:
        """Return everything that was written, with the footnotes and comments at the end."""
        self._end_code()
        notes = [f"[{number}] {note}" for number, note in enumerate(self._notes, 1)]
        return "".join(self._parts) + "".join(f"\n\n{note}" for note in notes)

    def blocks(self, parent: _Element, depth: int) -> None:
        """Write the blocks below an element."""
        if depth > _MAX_DEPTH:
            self._add(squeezed("".join(parent.itertext())))
            return
        for node in parent:
            name = local(node)
            if name in _SKIPPED or name == "annotation":
                continue
            if name == "h":
                heading = squeezed(self._inline(node)).replace("\n", " ")
                level = attribute(node, "outline-level") or "1"
                if heading:
                    self.first_heading = self.first_heading or heading
                    self._add(f"{'#' * min(max(int(level), 1), 6) if level.isdecimal() else '#'} {heading}")
            elif name == "p":
                self._paragraph(node)
                self._frames(node, depth)
            elif name == "list":
                self._list(node, 0, attribute(node, "style-name") or "")
                self._in_list = False
            elif name == "table":
                self._table(node, depth)
            else:
                self.blocks(node, depth + 1)

    def _add(self, block: str, *, item: bool = False) -> None:
        if block:
            self._end_code()
            if self._parts:
                self._parts.append("\n" if item and self._in_list else "\n\n")
            self._parts.append(block)
            self._in_list = item

    def _end_code(self) -> None:
        """Write the consecutive lines of code collected so far as one block."""
        code, self._code = "\n".join(self._code).strip("\n"), []
        if code.strip():
            self._add(fenced(code, ""))

    def _paragraph(self, node: _Element) -> None:
        style = attribute(node, "style-name") or ""
        if is_code_style(self._parents.get(style, style).replace("_20_", " ")):
            self._code.append(self._inline(node).rstrip())
            return
        text = squeezed(self._inline(node))
        if self.title is None and text and style == "Title":
            self.title = text.replace("\n", " ")
            self._add(f"# {self.title}")
        else:
            self._add(escaped(text))

    def _frames(self, node: _Element, depth: int) -> None:
        waiting = [node]
        while waiting:
            item = waiting.pop()
            if local(item) == "text-box":
                self.blocks(item, depth + 1)  # with the boxes inside of it
            else:
                waiting += reversed(item)

    def _list(self, node: _Element, level: int, style: str) -> None:
        if level > 20:
            return
        style = attribute(node, "style-name") or style
        number = 0
        if attribute(node, "continue-numbering") == "true":
            number = self._numbers.get((style, level), 0)
        elif (before := attribute(node, "continue-list")) is not None:
            number = self._numbers.get(before, 0)
        for item in node:
            if local(item) not in ("list-item", "list-header"):
                continue
            if local(item) == "list-item":
                start = attribute(item, "start-value") or ""
                number = int(start) if start.isdecimal() and len(start) < 9 else number + 1
            label = f"{number}." if style in self._ordered and local(item) == "list-item" else "-"
            indent = "  " * level
            first = True
            for block in item:
                name = local(block)
                if name == "list":
                    self._list(block, level + 1, style)
                elif name in ("p", "h"):
                    text = squeezed(self._inline(block)).replace("\n", f"\n{indent}  ")
                    if text:
                        self._add(f"{indent}{label} {text}" if first else f"{indent}  {text}", item=True)
                        first = False
                    self._frames(block, level)
                elif name == "table":  # by pandoc
                    self._table(block, level)
        self._numbers[style, level] = number
        if (own := attribute(node, "id")) is not None:
            self._numbers[own] = number

    def _table(self, node: _Element, depth: int) -> None:
        rows: list[list[str]] = []
        cells: list[_Element] = []
        for row in _table_rows(node):
            texts: list[str] = []
            for cell in row:
                if local(cell) not in ("table-cell", "covered-table-cell"):
                    continue
                text = " ".join(squeezed(self._inline(block)) for block in _paragraphs(cell))
                cells.append(cell)
                texts += [" ".join(text.split())] * (_repeat(cell, "number-columns-repeated") if text else 1)
            rows += [texts] * (_repeat(row, "number-rows-repeated") if any(texts) else 1)
        width = max(map(len, rows), default=0)
        rows = join_symbols([[*row, *[""] * (width - len(row))] for row in rows])
        if len(rows) > 1 and len(rows[0]) > 1:
            self._add(markdown_table(rows))
            return
        for cell in cells:  # a table around text: a frame, not data
            self.blocks(cell, depth + 1)

    def _inline(self, node: _Element) -> str:
        parts: list[str] = []
        self._collect(node, parts, 0)
        return "".join(parts)

    def _collect(self, node: _Element, parts: list[str], depth: int) -> None:
        parts.append(_blanks(node.text))
        for item in node:
            name = local(item)
            if name == "s":
                parts.append(" " * _repeat(item, "c"))
            elif name == "tab":
                parts.append("\t")
            elif name == "line-break":
                parts.append("\n")
            elif name == "note":
                body = child(item, "note-body")
                if body is not None:
                    parts.append(self._note(self._said(body) or self._inline(body)))
            elif name == "annotation":
                author = child(item, "creator")
                name = " ".join("".join(author.itertext()).split()) if author is not None else ""
                if said := self._said(item):
                    parts.append(self._note(f"{name}: {said}" if name else said))
            elif name == "a":
                start = len(parts)
                self._collect(item, parts, depth + 1)
                self.collector.add(attribute(item, "href") or "", "".join(parts[start:]))
            elif name == "span" and attribute(item, "style-name") in self._raising and depth < _MAX_DEPTH:
                run: list[str] = []
                self._collect(item, run, depth + 1)
                parts.append(raised("".join(run), "".join(parts[-1:])))
            elif name == "frame":
                parts.append(self._formula(item))
            elif name not in _SKIPPED and name != "custom-shape":
                if depth < _MAX_DEPTH:
                    self._collect(item, parts, depth + 1)
                else:
                    parts.append(_blanks("".join(item.itertext())))
            parts.append(_blanks(item.tail))

    def _said(self, note: _Element) -> str:
        return " ".join(self._inline(block) for block in _paragraphs(note))

    def _note(self, text: str) -> str:
        """Keep a footnote or a comment for the end of the text, and return its number as it stands in the text."""
        self._notes.append(" ".join(text.split()))
        return f"[{len(self._notes)}]"

    def _formula(self, frame: _Element) -> str:
        """Return the formula that a frame shows; empty if it shows something else."""
        shown = child(frame, "object")
        if shown is None:
            return ""
        math = child(shown, "math")
        part = f"{(attribute(shown, 'href') or '').removeprefix('./').rstrip('/')}/content.xml"
        if math is None and self._archive is not None and self._archive.has(part):
            root = self._archive.xml(part)
            math = root if local(root) == "math" else None
        return formula(math) if math is not None else ""


def _properties(root: _Element) -> tuple[str | None, dict[str, Any]]:
    meta = child(root, "meta")
    title: str | None = None
    found: dict[str, Any] = {}
    for node in meta if meta is not None else ():
        value = clean_text(" ".join("".join(node.itertext()).split()))
        if local(node) == "title":
            title = sensible_title(value)
        elif value and (name := _META.get(local(node))):
            if name == "author" and not sensible_author(value):
                continue
            found[name] = f"{found[name]}, {value}" if name == "keywords" and name in found else value
    return title, found


def _drop_hidden(body: _Element, styles: frozenset[str]) -> None:
    """Take out what the program does not show: text, paragraphs and sections that are hidden."""
    hidden: list[_Element] = []
    for node in body.iter():
        name = local(node)
        if name in ("p", "h", "span"):
            if attribute(node, "style-name") in styles:
                hidden.append(node)
        elif name in ("section", "hidden-text", "hidden-paragraph") and (
            # Of a condition, the program writes what came of it.
            attribute(node, "is-hidden") == "true" or attribute(node, "display") == "none"
        ):
            paragraph = node.getparent() if name == "hidden-paragraph" else None
            hidden.append(node if paragraph is None else paragraph)
    for node in hidden:
        parent = node.getparent()
        if parent is None:
            continue  # a field said it before
        before = node.getprevious()
        if before is None:
            parent.text = (parent.text or "") + (node.tail or "")
        else:
            before.tail = (before.tail or "") + (node.tail or "")
        parent.remove(node)


def _table_rows(node: _Element) -> list[_Element]:
    rows: list[_Element] = []
    for item in node:
        if local(item) == "table-row":
            rows.append(item)
        elif local(item) in ("table-rows", "table-header-rows", "table-row-group"):
            rows += _table_rows(item)
    return rows


def _paragraphs(cell: _Element) -> list[_Element]:
    """Return the paragraphs of a cell or a note, but for those of notes in it."""
    found: list[_Element] = []
    waiting = [*reversed(cell)]
    while waiting:
        node = waiting.pop()
        name = local(node)
        if name in ("p", "h"):
            found.append(node)
        if name not in ("note", "annotation"):
            waiting += reversed(node)
    return found


def _repeat(node: _Element, name: str) -> int:
    value = attribute(node, name) or "1"
    return min(int(value), _MAX_REPEAT) if value.isdecimal() and len(value) < 9 else 1


def _blanks(text: str | None) -> str:
    """Return a text of the XML, where a line end means a blank."""
    return text.replace("\n", " ") if text else ""
