"""The cells of an Excel workbook, read from the XML directly and formatted as Excel displays them.

openpyxl rejects a workbook with a style that it does not know, and cannot read the strict form of the format.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import TYPE_CHECKING

from libs.dataloader.formats.archive import Archive, attribute, child, children, iter_xml, local
from libs.dataloader.formats.base import UnreadableError
from libs.dataloader.formats.number_formats import (
    EPOCH,
    MAC_EPOCH,
    NumberFormat,
    by_code,
    by_number,
    moment_text,
    number_text,
    parse_number,
)
from libs.dataloader.formats.ooxml import main_part, relationships
from libs.dataloader.formats.sheet_cells import Cells, Row
from libs.dataloader.text import clean_text
from libs.regexes import regex

if TYPE_CHECKING:
    from lxml.etree import _Element

_COLUMN = regex(r"[A-Z]{1,3}")
_AREA = regex(r"([A-Z]{1,3})([0-9]{1,7}):([A-Z]{1,3})([0-9]{1,7})")
_ESCAPE = regex(r"_x([0-9A-Fa-f]{4})_")
_TRUE = frozenset(("1", "true"))


class Workbook:
    """The sheets of a workbook.

    Args:
        archive: The file.

    Attributes:
        sheets: Name and part of each sheet, in order; without chart sheets, which have no cells.

    Raises:
        UnreadableError: if it is damaged.
    """

    def __init__(self, archive: Archive) -> None:
        self._archive = archive
        part = main_part(archive, "xl/workbook.xml")
        root = archive.xml(part)
        relations = relationships(archive, part)
        parts: dict[str, str] = {}  # and the name of the sheet that each is
        for sheet in children(child(root, "sheets"), "sheet"):
            kind, target, _ = relations.get(attribute(sheet, "id") or "", ("", "", False))
            if kind != "chartsheet" and archive.has(target):
                parts.setdefault(target, clean_text(sheet.get("name") or ""))
        self.sheets = [(name, target) for target, name in parts.items()]
        properties = child(root, "workbookPr")
        mac = properties is not None and properties.get("date1904") in _TRUE
        self._epoch = MAC_EPOCH if mac else EPOCH
        others = {kind: target for kind, target, _ in relations.values() if archive.has(target)}
        self._strings = list(self._shared(others["sharedStrings"])) if "sharedStrings" in others else []
        self._formats = _formats(archive.xml(others["styles"])) if "styles" in others else []
        self._cells = Cells()

    def rows(self, part: str) -> list[Row]:
        """Return the rows of a sheet that are not empty; the text of a cell merged across rows is in each of them.

        Raises:
            UnreadableError: if the sheet is damaged, or the cells of all sheets so far contain too much.
        """
        number = 0
        for node in iter_xml(self._archive.read(part), part, frozenset(("row", "mergeCell"))):
            if local(node) == "mergeCell":
                if (area := _AREA.fullmatch(node.get("ref", ""))) is not None:
                    self._cells.merge((int(area[2]), _column(area[1])), (int(area[4]), _column(area[3])))
                continue
            if local(node.getparent()) != "sheetData":
                continue
            given = node.get("r", "")
            number = int(given) if given.isdecimal() and len(given) < 8 else number + 1
            cells: dict[int, str] = {}
            column = 0
            for cell in node.iterchildren("{*}c"):
                place = _COLUMN.match(cell.get("r", ""))
                column = _column(place[0]) if place else column + 1
                if text := self._show(cell):
                    cells[column] = text
            self._cells.add(number, cells)
        return self._cells.sheet()

    def _shared(self, part: str) -> Iterator[str]:
        for node in iter_xml(self._archive.read(part), part, frozenset(("si",))):
            yield _rich(node)

    def _show(self, cell: _Element) -> str:
        """Return the value of a cell as people would write it."""
        kind = cell.get("t", "n")
        if kind == "inlineStr":
            inline = child(cell, "is")
            return _rich(inline) if inline is not None else ""
        text = cell.findtext("{*}v", "").strip()
        if not text:
            formula = cell.findtext("{*}f", "").strip() if kind == "n" else ""
            return _clean(f"={formula}") if formula else ""
        if kind == "s":
            try:
                return self._strings[int(text)]
            except (ValueError, IndexError) as error:
                raise UnreadableError(f"it is damaged: it has no text number {text[:20]}") from error
        if kind == "n":
            return self._number(text, cell.get("s", "0"))
        if kind == "b":
            return "TRUE" if text in _TRUE else "FALSE"
        return _iso(text) if kind == "d" else _clean(text)

    def _number(self, text: str, style: str) -> str:
        known = style.isdecimal() and int(style) < len(self._formats)
        return _shown(text, self._formats[int(style)] if known else NumberFormat(), self._epoch)


def chart_number(text: str, code: str) -> str:
    """Return a number that a chart has stored as people would write it, by the code of its format."""
    return _shown(text, NumberFormat(by_code(code).kind))


def _shown(text: str, form: NumberFormat, epoch: datetime = EPOCH) -> str:
    try:
        return number_text(parse_number(text), form, epoch)
    except ValueError:
        return _clean(text)


def _formats(root: _Element) -> list[NumberFormat]:
    """Return how numbers are displayed in each style."""
    made = {
        node.get("numFmtId", ""): by_code(node.get("formatCode", ""))
        for node in children(child(root, "numFmts"), "numFmt")
    }
    return [
        made[key] if key in made else by_number(int(key) if key.isdecimal() and len(key) < 9 else 0)
        for key in (node.get("numFmtId", "0") for node in children(child(root, "cellXfs"), "xf"))
    ]


def _iso(text: str) -> str:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:  # a time alone, or a span
        return _clean(text)
    return moment_text(moment)


def _rich(node: _Element) -> str:
    """Return the text of a string item, without phonetic hints."""
    parts = [run.text or "" for run in children(node, "t")]
    parts += (text.text or "" for run in children(node, "r") for text in children(run, "t"))
    return _clean("".join(parts))


def _clean(text: str) -> str:
    if "_x" in text:
        text = _ESCAPE.sub(lambda match: chr(int(match[1], 16)), text)
    return clean_text(text).strip()


def _column(letters: str) -> int:
    number = 0
    for letter in letters:
        number = number * 26 + ord(letter) - 64
    return number
