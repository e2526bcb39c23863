"""Word documents (docx).

The XML is read directly: python-docx leaves out text in content controls, text boxes and tracked insertions, and does
not know the numbers of numbered paragraphs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING

from libs.dataloader.form_tables import guessed_table
from libs.dataloader.formats import read_file
from libs.dataloader.formats.archive import Archive, attribute, child, children, iter_xml, local
from libs.dataloader.formats.base import (
    EXPANSION,
    Content,
    FileData,
    UnreadableError,
    check_length,
    closed,
    escaped,
    fenced,
    is_code_style,
    squeezed,
)
from libs.dataloader.formats.bold_headings import Block, with_bold_headings
from libs.dataloader.formats.drawings import chart_blocks, diagram_texts
from libs.dataloader.formats.markdown import first_heading
from libs.dataloader.formats.omml import equation_text
from libs.dataloader.formats.ooxml import core_properties, main_part, relationships
from libs.dataloader.formats.registry import Format
from libs.dataloader.formats.symbols import shown, symbol
from libs.dataloader.formats.word_styles import Styles, is_on, value_of
from libs.dataloader.links import LinkCollector
from libs.dataloader.table_heads import data_table
from libs.dataloader.text import clean_text, raised
from libs.regexes import regex

if TYPE_CHECKING:
    from lxml.etree import _Element

_BLOCKS = frozenset(("p", "tbl"))
_IMPORTED = "altChunk"
_SKIPPED = frozenset("del moveFrom instrText delText pPr rPr Fallback tblPr tblGrid trPr sdtPr sdtEndPr".split())
_CODE = regex(r"[0-9A-Fa-f]{1,6}")
_FIELD_LINK = regex(r'HYPERLINK\s+"([^"]+)"')


def read(file: FileData, _kind: Format) -> Content:
    """Convert to Markdown, with headings, lists and tables; footnotes and comments follow at the end."""
    archive = Archive(file, "a Word document")
    part = main_part(archive, "word/document.xml")
    reader = _Reader(file, archive, part)
    blocks: list[Block] = []
    chars = 0
    for node in iter_xml(archive.read(part), part, _BLOCKS | {_IMPORTED}):
        known = len(blocks)
        reader.block(node, blocks)
        chars += sum(len(block.text) for block in blocks[known:])
        check_length(chars)
    if not reader.has_headings:
        blocks = with_bold_headings(blocks)
        reader.first_heading = reader.first_heading or first_heading("\n".join(block.text for block in blocks))
    blocks += (Block(note) for note in reader.notes())
    title, metadata = core_properties(archive)
    return Content(
        clean_text(_join(blocks)),
        "markdown",
        reader.title or title or reader.first_heading,
        metadata,
        reader.collector.links(),
    )


class _Reader:
    def __init__(self, file: FileData, archive: Archive, part: str) -> None:
        self.collector = LinkCollector(file.uri, file.root_uri)
        self._file = file
        self.title: str | None = None
        self.first_heading: str | None = None
        self.has_headings = False  # but for the title
        self._archive = archive
        self._relations = relationships(archive, part)
        self._styles = Styles(archive)
        self._notes: dict[tuple[str, str], int] = {}
        self._boxes: list[_Element] = []
        self._drawings: list[_Element] = []

    # -- blocks --------------------------------------------------------------------------------------------------

    def block(self, node: _Element, out: list[Block]) -> None:
        """Write a paragraph or table, and the text boxes, charts and diagrams anchored in it."""
        if any(local(above) in ("del", "Fallback") for above in node.iterancestors()):
            return
        kind = local(node)
        if kind == "tbl":
            self._table(node, out)
        elif kind == _IMPORTED:
            self._import(node, out)
        else:
            self._paragraph(node, out)
        boxes, self._boxes = self._boxes, []
        for box in boxes:
            for inner in _content(box):
                self.block(inner, out)
        drawings, self._drawings = self._drawings, []
        for drawing in drawings:
            out += map(Block, self._drawn(drawing))

    def _import(self, node: _Element, out: list[Block]) -> None:
        """Write another document, of any format, that this one has whole: programs leave it to Word to convert it."""
        relation = self._relations.get(attribute(node, "id") or "")
        if relation is None or not self._archive.has(relation[1]) or not self._file.nested.take():
            return
        # Of one inside of another and so on, each may hold less: a container can hold itself.
        limit = self._file.max_bytes // EXPANSION
        try:
            data = self._archive.read(relation[1])
            content, _ = read_file(
                replace(self._file, path=relation[1], data=data, encoding=None, declared=None, max_bytes=limit)
            )
        except UnreadableError:
            return  # it costs only itself
        is_markup = content.format == "markdown"
        out.append(Block(closed(content.text) if is_markup else escaped(content.text)))
        self.first_heading = self.first_heading or (first_heading(content.text) if is_markup else None)
        self.collector.extend((link.target, link.text) for link in content.links)

    def _drawn(self, drawing: _Element) -> Iterator[str]:
        """Yield what a chart or a diagram says, which is in a part of its own."""
        kind = local(drawing)
        relation = self._relations.get(attribute(drawing, "id" if kind == "chart" else "dm") or "")
        try:
            root = self._archive.take(relation[1]) if relation is not None else None
        except UnreadableError:
            return  # a damaged one costs only itself
        if root is None:
            return
        if kind == "chart":
            yield from chart_blocks(root)
        elif texts := list(diagram_texts(root)):
            yield "\n".join(f"- {text}" for text in texts)

    def _paragraph(self, node: _Element, out: list[Block]) -> None:
        raw = self._text(node)
        properties = child(node, "pPr")
        style = _style_of(node)
        if is_code_style(self._styles.name(style)):
            out.append(Block(raw.rstrip(), "code"))
            return
        text = squeezed(raw)
        level = self._styles.outline(properties, style)
        label, depth = self._styles.number(properties, style)
        if not text:
            return
        if self.title is None and self._styles.name(style).lower() == "title":
            self.title, level = text.replace("\n", " "), 1
        elif level is not None:
            self.has_headings = True
        if level is not None:
            heading = f"{label} {text}".strip().replace("\n", " ") if label != "-" else text.replace("\n", " ")
            self.first_heading = self.first_heading or heading
            out.append(Block(f"{'#' * min(level, 6)} {heading}"))
            return
        may_head = not (self.has_headings or label.startswith("-"))
        bold = f"{label} {text}".strip() if may_head and self._is_bold(node, style) else ""
        if label:
            indent = "  " * depth
            out.append(Block(f"{indent}{label} " + text.replace("\n", f"\n{indent}  "), "item", bold, depth))
        else:
            out.append(Block(escaped(text), bold=bold))

    def _is_bold(self, node: _Element, style: str) -> bool:
        """Return whether all letters of a paragraph are bold."""
        of_style = self._styles.is_bold(style)
        runs = [
            run
            for run in node.iter()
            if local(run) == "r" and any((text.text or "").strip() for text in children(run, "t"))
        ]
        for run in runs:
            own = child(run, "rPr", "b")
            if not (of_style if own is None else is_on(own)):
                return False
        return bool(runs)

    def _table(self, node: _Element, out: list[Block]) -> None:
        rows: list[list[str]] = []
        cells: list[_Element] = []
        for row in _rows(node):
            before = value_of(child(row, "trPr", "gridBefore")) or ""
            texts = [""] * (int(before) if before.isdecimal() and len(before) < 3 else 0)
            for cell in (found for found in _through(row) if local(found) == "tc"):
                properties = child(cell, "tcPr")
                cells.append(cell)
                merge = child(properties, "vMerge")
                if merge is not None and attribute(merge, "val") != "restart" and rows and len(texts) < len(rows[-1]):
                    texts.append(rows[-1][len(texts)])
                else:
                    texts.append(self._cell_text(cell))
                span = child(properties, "gridSpan")
                width = attribute(span, "val") if span is not None else None
                texts += [""] * (min(int(width), 64) - 1 if width and width.isdecimal() and len(width) < 4 else 0)
            if any(texts):
                rows.append(texts)
        if len(rows) > 1 and max(map(len, rows)) > 1:
            head = next(_rows(node))
            named = child(head, "trPr", "tblHeader") is not None
            out.append(Block(data_table(rows) if named else guessed_table(rows, labelled=self._is_labelled(node))))
            return
        self._drawings.clear()  # they are met again
        for cell in cells:  # a table around text: a frame, not data
            for inner in _content(cell):
                self.block(inner, out)

    def _is_labelled(self, table: _Element) -> bool:
        """Return whether the first cell of each row is in bold letters, and the second one is not."""
        for row in _rows(table):
            cells = [found for found in _through(row) if local(found) == "tc"][:2]
            if len(cells) < 2 or [self._is_bold_cell(cell) for cell in cells] != [True, False]:
                return False
        return True

    def _is_bold_cell(self, cell: _Element) -> bool:
        said = [node for node in cell.iter() if local(node) == "p" and any(node.itertext())]
        return bool(said) and all(self._is_bold(node, _style_of(node)) for node in said)

    def _cell_text(self, cell: _Element) -> str:
        parts = [
            self._text(node)
            for node in cell.iter()
            if local(node) == "p" and not any(local(above) in ("Fallback", "del") for above in node.iterancestors())
        ]
        self._boxes.clear()  # their paragraphs have been met already
        return " ".join(" ".join(parts).split())

    # -- text ----------------------------------------------------------------------------------------------------

    def _text(self, node: _Element) -> str:
        parts: list[str] = []
        self._collect(node, parts, 0)
        return "".join(parts)

    def _collect(self, node: _Element, parts: list[str], depth: int) -> None:
        if depth > 100:
            return
        for item in node:
            name = local(item)
            if name == "t":
                text = item.text or ""
                font = None if text.isascii() else child(node, "rPr", "rFonts")
                parts.append(text if font is None else shown(text, attribute(font, "ascii") or ""))
            elif name in _SKIPPED:
                if name == "instrText" and (match := _FIELD_LINK.search(item.text or "")):
                    self.collector.add(match[1])
            elif name in ("tab", "ptab"):
                parts.append("\t")
            elif name in ("br", "cr"):
                parts.append("\n")
            elif name == "sym":
                code = attribute(item, "char") or ""
                parts.append(symbol(attribute(item, "font") or "", int(code, 16)) if _CODE.fullmatch(code) else "")
            elif name == "noBreakHyphen":
                parts.append("-")
            elif name in ("footnoteReference", "endnoteReference", "commentReference"):
                key = (name[:-9], attribute(item, "id") or "")
                parts.append(f"[{self._notes.setdefault(key, len(self._notes) + 1)}]")
            elif name == "r" and is_on(child(item, "rPr", "vanish")):
                continue  # hidden text, which Word does not show
            elif name == "r" and value_of(child(child(item, "rPr"), "vertAlign")) == "superscript":
                run: list[str] = []
                self._collect(item, run, depth + 1)
                parts.append(raised("".join(run), parts[-1] if parts else ""))
            elif name == "checkBox":
                parts.append("\u2612" if _is_checked(item) else "\u2610")
            elif name == "ddList":
                parts.append(_chosen(item))
            elif name == "txbxContent":
                self._boxes.append(item)
            elif name in ("chart", "relIds"):
                self._drawings.append(item)
            elif name == "hyperlink":
                start = len(parts)
                self._collect(item, parts, depth + 1)
                relation = self._relations.get(attribute(item, "id") or "")
                if relation is not None and relation[2]:
                    self.collector.add(relation[1], "".join(parts[start:]))
            elif name == "oMath":
                if parts and local(item.getprevious()) == "oMath":
                    parts.append("\n")  # an equation of its own
                parts.append(equation_text(item))
            else:
                self._collect(item, parts, depth + 1)

    def notes(self) -> Iterator[str]:
        """Yield the footnotes, endnotes and comments that were referred to, each with its number."""
        for kind in ("footnote", "endnote", "comment"):
            wanted = {key[1]: number for key, number in self._notes.items() if key[0] == kind}
            name = f"word/{kind}s.xml"
            if not wanted or not self._archive.has(name):
                continue
            for node in children(self._archive.xml(name), kind):
                number = wanted.get(attribute(node, "id") or "")
                text = " ".join(" ".join(self._text(part) for part in _content(node)).split())
                if number is not None and text:
                    author = " ".join((attribute(node, "author") or "").split()) if kind == "comment" else ""
                    yield f"[{number}] {author}: {text}" if author else f"[{number}] {text}"


def _content(node: _Element) -> Iterator[_Element]:
    """Yield the outermost paragraphs and tables in a cell, box or note."""
    for item in _through(node):
        if local(item) in _BLOCKS:
            yield item


def _style_of(paragraph: _Element) -> str:
    """Return the identifier of the style of a paragraph; empty if it has none of its own."""
    found = child(child(paragraph, "pPr"), "pStyle")
    return (attribute(found, "val") or "") if found is not None else ""


def _rows(table: _Element) -> Iterator[_Element]:
    return (node for node in _through(table) if local(node) == "tr")


def _through(node: _Element) -> Iterator[_Element]:
    """Yield the children of an element, with those of content controls and the like in place of these."""
    for item in node:
        if local(item) in ("sdt", "sdtContent", "customXml", "ins", "moveTo", "smartTag"):
            yield from _through(item)
        else:
            yield item


def _is_checked(box: _Element) -> bool:
    """Return whether a checkbox of a form is checked; by default if nobody has used it."""
    state = child(box, "checked")
    if state is None:
        state = child(box, "default")
    return is_on(state)


def _chosen(choice: _Element) -> str:
    """Return the selected entry of a drop-down list of a form; empty if there is none."""
    entries = [attribute(entry, "val") or "" for entry in children(choice, "listEntry")]
    number = value_of(child(choice, "result")) or value_of(child(choice, "default")) or "0"
    return entries[int(number)] if number.isdecimal() and len(number) < 5 and int(number) < len(entries) else ""


def _join(blocks: Iterable[Block]) -> str:
    """Join blocks by empty lines, but items of a list by line ends; adjacent lines of code become one block."""
    parts: list[str] = []
    before = ""
    for kind, group in groupby(blocks, key=lambda block: block.kind):
        texts = [block.text for block in group]
        if kind == "code":
            code = "\n".join(texts).strip("\n")
            texts = [fenced(code, "")] if code.strip() else []
        if texts:
            parts += ["\n\n" if before else "", ("\n" if kind == "item" else "\n\n").join(texts)]
            before = kind or "text"
    return "".join(parts)
