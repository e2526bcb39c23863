"""PowerPoint presentations (pptx), read from the XML directly: python-pptx would add two imaging packages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

from libs.dataloader.form_tables import guessed_table
from libs.dataloader.formats.archive import Archive, attribute, child, children, local
from libs.dataloader.formats.base import Content, FileData, UnreadableError, escaped, squeezed
from libs.dataloader.formats.drawings import chart_blocks, diagram_texts
from libs.dataloader.formats.omml import equation_text
from libs.dataloader.formats.ooxml import core_properties, main_part, relationships
from libs.dataloader.formats.registry import Format
from libs.dataloader.formats.slide_comments import comment_authors, slide_comments
from libs.dataloader.formats.slide_text import Slides
from libs.dataloader.formats.symbols import shown
from libs.dataloader.links import LinkCollector
from libs.dataloader.text import raised

if TYPE_CHECKING:
    from lxml.etree import _Element

_TITLES = frozenset(("title", "ctrTitle"))
_DECORATION = frozenset(("dt", "ftr", "sldNum", "hdr", "sldImg"))


def read(file: FileData, _kind: Format) -> Content:
    """Convert each slide: its title as a heading, text, lists, tables and diagrams, then its notes and comments."""
    archive = Archive(file, "a PowerPoint presentation")
    part = main_part(archive, "ppt/presentation.xml")
    relations = relationships(archive, part)
    authors = comment_authors(archive, relations)
    collector = LinkCollector(file.uri, file.root_uri)
    slides = Slides()
    count = failed = 0
    shown: set[str] = set()
    for number, entry in enumerate(children(child(archive.xml(part), "sldIdLst"), "sldId"), 1):
        count = number
        _, target, _ = relations.get(_relation_id(entry), ("", "", False))
        if target in shown:
            continue  # a slide is in one place, while a few bytes can show it a million times
        shown.add(target)
        try:
            slide = _Slide(archive, target, collector, authors)
        except UnreadableError:
            failed += 1  # one damaged slide costs only itself
            continue
        slides.add(number, slide)
    if failed and failed == len(shown):
        raise UnreadableError("it is damaged: none of its slides can be read")
    title, metadata = core_properties(archive)
    return slides.content(title, metadata, count, collector)


class _Paragraph(NamedTuple):
    """A paragraph: how deep it is in a list, and its number in a numbered one, else 0."""

    level: int
    text: str
    number: int


class _Slide:
    def __init__(self, archive: Archive, part: str, collector: LinkCollector, authors: Mapping[str, str]) -> None:
        self._archive = archive
        self._relations = relationships(archive, part)
        self._collector = collector
        self.title: str | None = None
        self.blocks: list[str] = []
        tree = child(archive.xml(part), "cSld", "spTree")
        if tree is not None:
            self._shapes(tree)
        self.notes = list(self._read_notes())
        self.comments = list(slide_comments(archive, self._relations, authors))

    def _shapes(self, tree: _Element) -> None:
        waiting = [*reversed(tree)]  # no recursion: in a large slide nothing limits how deep groups nest
        while waiting:
            node = waiting.pop()
            name = local(node)
            if name == "sp":
                self._shape(node)
            elif name == "graphicFrame":
                self._graphic(node)
            elif name in ("grpSp", "AlternateContent", "Choice"):
                waiting += reversed(node)

    def _shape(self, node: _Element) -> None:
        placeholder = child(node, "nvSpPr", "nvPr", "ph")
        kind = placeholder.get("type", "body") if placeholder is not None else ""
        body = child(node, "txBody")
        if body is None or kind in _DECORATION:
            return
        paragraphs = [paragraph for paragraph in self._paragraphs(body) if paragraph.text]
        if not paragraphs:
            return
        several = kind in ("body", "obj") and len(paragraphs) > 1
        is_list = several or any(level or number for level, _, number in paragraphs)
        if kind in _TITLES and self.title is None:
            self.title = " ".join(" ".join(text for _, text, _ in paragraphs).split())
        elif is_list:
            self.blocks.append(
                "\n".join(
                    f"{'  ' * level}{f'{number}.' if number else '-'} " + text.replace("\n", "\n" + "  " * (level + 1))
                    for level, text, number in paragraphs
                )
            )
        else:
            self.blocks.append("\n\n".join(escaped(text) for _, text, _ in paragraphs))

    def _paragraphs(self, body: _Element) -> Iterator[_Paragraph]:
        numbers: dict[int, tuple[str, int]] = {}  # how the latest numbered item is numbered, and its number, by level
        for paragraph in children(body, "p"):
            parts: list[str] = []
            for node in paragraph:
                name = local(node)
                if name == "br":
                    parts.append("\n")
                elif name in ("r", "fld"):
                    text = "".join(run.text or "" for run in children(node, "t"))
                    text = _symbol(node, text)
                    if (_baseline(node) or "-").isdecimal():
                        text = raised(text, "".join(parts[-1:]))
                    parts.append(text)
                    link = child(node, "rPr", "hlinkClick")
                    relation = self._relations.get(_relation_id(link)) if link is not None else None
                    if relation is not None and relation[2]:
                        self._collector.add(relation[1], text)
                elif name in ("m", "AlternateContent"):
                    parts.append(equation_text(node))
            properties = child(paragraph, "pPr")
            told = properties.get("lvl", "0") if properties is not None else "0"
            level = int(told) if told in tuple("012345678") else 0
            text = squeezed("".join(parts).replace("\x0b", "\n"))
            if text:
                form, first = _numbering(properties)
                before, latest = numbers.get(level, ("", 0))
                numbers = {other: numbered for other, numbered in numbers.items() if other < level}
                if form:
                    numbers[level] = form, latest + 1 if form == before else first
            yield _Paragraph(level, text, numbers[level][1] if text and level in numbers else 0)

    def _graphic(self, node: _Element) -> None:
        data = child(node, "graphic", "graphicData")
        if data is None:
            return
        for table in children(data, "tbl"):
            rows: list[list[str]] = []
            for row in children(table, "tr"):
                cells: list[str] = []
                for column, cell in enumerate(children(row, "tc")):
                    body = child(cell, "txBody")
                    text = (
                        " ".join(" ".join(paragraph.text for paragraph in self._paragraphs(body)).split())
                        if body is not None
                        else ""
                    )
                    if cell.get("vMerge") and rows and column < len(rows[-1]):
                        text = rows[-1][column]
                    cells.append(text)
                rows.append(cells)
            if any(any(row) for row in rows):
                self.blocks.append(guessed_table(rows))
        for chart in children(data, "chart"):
            relation = self._relations.get(_relation_id(chart))
            if relation is not None and (root := self._archive.take(relation[1])) is not None:
                self.blocks += chart_blocks(root)
        for diagram in children(data, "relIds"):
            relation = self._relations.get(attribute(diagram, "dm") or "")
            if relation is not None and (root := self._archive.take(relation[1])) is not None:
                texts = diagram_texts(root)
                self.blocks.append("\n".join(f"- {text}" for text in texts))

    def _read_notes(self) -> Iterator[str]:
        for kind, target, _ in self._relations.values():
            notes = self._archive.take(target) if kind == "notesSlide" else None
            for node in children(child(notes, "cSld", "spTree"), "sp"):
                placeholder = child(node, "nvSpPr", "nvPr", "ph")
                body = child(node, "txBody")
                if placeholder is not None and placeholder.get("type") == "body" and body is not None:
                    yield from (paragraph.text for paragraph in self._paragraphs(body) if paragraph.text)


def _baseline(run: _Element) -> str:
    """Return by how much text is raised (in thousandths of a percent), or lowered; empty if it is neither."""
    properties = child(run, "rPr")
    value = properties.get("baseline", "") if properties is not None else ""
    return "" if value == "0" else value


def _symbol(run: _Element, text: str) -> str:
    """Return the text of a run; what is in a font of symbols as what it is: an arrow for ``à``."""
    font = None if text.isascii() else child(run, "rPr", "sym")
    return text if font is None else shown(text, font.get("typeface", ""))


def _numbering(properties: _Element | None) -> tuple[str, int]:
    """Return how a numbered list is numbered, and what it begins with; an empty form for other paragraphs."""
    numbered = child(properties, "buAutoNum")
    if numbered is None:
        return "", 0
    start = numbered.get("startAt", "1")
    return numbered.get("type", "arabicPeriod"), int(start) if start.isdecimal() and len(start) < 6 else 1


def _relation_id(node: _Element) -> str:
    """Return the ``r:id`` of an element, which may also have an ``id`` without a namespace."""
    return next((str(value) for key, value in node.attrib.items() if str(key).endswith("}id")), "")
