"""OpenDocument spreadsheets (ods), also flat ones (fods): each sheet as tables and text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from libs.dataloader.formats.archive import attribute, child, iter_xml, local
from libs.dataloader.formats.base import Content, FileData
from libs.dataloader.formats.odf import Package, Repeats, number
from libs.dataloader.formats.odf_styles import Styles
from libs.dataloader.formats.odf_text import TextWriter, paragraphs
from libs.dataloader.formats.ods_values import value_text
from libs.dataloader.formats.registry import Format
from libs.dataloader.formats.sheet_cells import Cells, cell_note, column_name
from libs.dataloader.formats.sheets import Sheet, write_sheets
from libs.dataloader.links import LinkCollector
from libs.dataloader.text import clean_text

if TYPE_CHECKING:
    from lxml.etree import _Element

_TAGS = frozenset(("meta", "style", "list-style", "shapes", "table-row"))
_CELLS = frozenset(("table-cell", "covered-table-cell"))
_NO_SHAPES = frozenset(("detective", "dde-source", "p", "h"))
_MAX_REPEAT = 1_000
_MOST_REPEATED = 1_000_000  # cells, and some more in a long file
_REPEATED_PER_BYTE = 1 / 8


def read(file: FileData, _kind: Format) -> Content:
    """Convert each sheet to Markdown tables (records if very wide), its notes and the text of its drawings.

    A formula is shown as the value that the program stored, or as it is if none was stored.
    """
    package = Package(file, "an OpenDocument spreadsheet")
    name = "content.xml" if package.archive is not None else "the XML"
    reader = _Reader(file, package)
    properties = package.properties()
    for node in iter_xml(package.data, name, _TAGS):
        kind = local(node)
        if kind == "meta":
            properties = package.properties(node)
        elif kind in ("style", "list-style"):
            reader.styles.add(node)
        elif (table := _sheet(node)) is not None:
            reader.enter(table)
            if kind == "table-row":
                reader.row(node)
            else:
                reader.shapes(node)
    reader.leave()
    if not reader.sheets:
        package.content("spreadsheet")  # refuses what is none
    return write_sheets(reader.sheets, properties, reader.collector)


class _Reader:
    def __init__(self, file: FileData, package: Package) -> None:
        self.sheets: list[Sheet] = []
        self.collector = LinkCollector(file.uri, file.root_uri)
        self.styles = Styles(package.styles())
        self._writer = TextWriter(self.collector, self.styles, package.archive, of_shapes=True, chart_data=False)
        self._repeats = Repeats(_MAX_REPEAT, _MOST_REPEATED + int(len(package.data) * _REPEATED_PER_BYTE))
        self._cells = Cells()
        self._table: _Element | None = None
        self._is_read = True
        self._number = 0
        self._notes: list[str] = []
        self._beside: list[str] = []

    def enter(self, table: _Element) -> None:
        """Begin a sheet, unless it has begun."""
        if table is not self._table:
            self.leave()
            self._table, self._number = table, 0
            self._is_read = child(table, "table-source") is None  # else it is what a formula needs of another file

    def leave(self) -> None:
        """End a sheet."""
        if self._table is not None and self._is_read:
            self._beside.append(self._writer.taken())  # what was noted in the text of a cell
            beside = ["\n".join(self._notes), *self._beside]
            name = clean_text(attribute(self._table, "name") or "")
            self.sheets.append(Sheet(name, self._cells.sheet(), [text for text in map(clean_text, beside) if text]))
        self._notes, self._beside = [], []

    def shapes(self, parent: _Element) -> None:
        """Read what is drawn on the sheet."""
        for node in parent if self._is_read else ():
            self._shape(node)

    def row(self, node: _Element) -> None:
        """Read a row, and the empty or equal ones that it stands for."""
        first = self._number + 1
        self._number += number(attribute(node, "number-rows-repeated"))
        if not self._is_read:
            return
        cells: dict[int, str] = {}
        column = 0
        for cell in node:
            if local(cell) not in _CELLS:
                continue
            given = {str(name).rpartition("}")[2]: str(value) for name, value in cell.attrib.items()}
            column += 1
            width = number(given.get("number-columns-repeated"))
            if text := clean_text(value_text(given, self._shown(cell, first, column))).strip():
                for place in range(self._repeats.of(cell, "number-columns-repeated") if width > 1 else 1):
                    cells[column + place] = text
            if "number-columns-spanned" in given or "number-rows-spanned" in given:
                self._merge(given, first, column)
            column += width - 1
        for place in range(self._repeats.of(node, "number-rows-repeated", len(cells)) if cells else 0):
            self._cells.add(first + place, cells)

    def _merge(self, given: dict[str, str], row: int, column: int) -> None:
        right = column + number(given.get("number-columns-spanned")) - 1
        lower = row + number(given.get("number-rows-spanned")) - 1
        if (right, lower) != (column, row):
            self._cells.merge((row, column), (lower, right))

    def _shown(self, cell: _Element, row: int, column: int) -> str:
        """Return what the program shows in a cell; keep its notes and what is drawn in it."""
        lines: list[str] = []
        for item in cell:
            name = local(item)
            if name in ("p", "h"):
                lines.append(self._writer.inline(item) if len(item) else item.text or "")
            elif name == "annotation":
                self._note(item, row, column)
            elif name in ("list", "table"):
                lines += map(self._writer.inline, paragraphs(item))
            elif name not in _NO_SHAPES:
                self._shape(item)
        return "\n".join(lines).strip()

    def _note(self, node: _Element, row: int, column: int) -> None:
        author = child(node, "creator")
        words = " ".join(map(self._writer.inline, paragraphs(node)))
        who = "".join(map(str, author.itertext())) if author is not None else ""
        if line := cell_note(f"{column_name(column)}{row}", who, words):
            self._notes.append(line)

    def _shape(self, node: _Element) -> None:
        self._writer.shape(node)
        self._beside.append(self._writer.taken())


def _sheet(node: _Element) -> _Element | None:
    """Return the sheet that a row, or what is drawn, belongs to; ``None`` if it is part of something else."""
    for table in node.iterancestors("{*}table"):
        return table if local(table.getparent()) == "spreadsheet" else None
    return None
