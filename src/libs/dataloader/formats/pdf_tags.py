"""Reads the tables that the tags of a PDF tell: which marked words are in which cell."""

from __future__ import annotations

import ctypes
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise, takewhile
from math import inf
from typing import Any, NamedTuple

from libs.dataloader.formats.pdf_shapes import Cell, NoTableError, Shape, Word

_DEEPEST = 40
_MOST_ELEMENTS = 20_000  # of a page
_MOST_SPAN = 100
_MOST_HEADERS = 3
_OVER = 2.0  # points that cells may reach into each other
_LONGEST_NAME = 64  # bytes of UTF-16
_WITHOUT_TABLES = ("P", "Span", "Link", "H1", "H2", "H3", "H4", "Figure", "Lbl", "Formula")
_NAMES = {name.encode("utf-16-le") + b"\0\0": name for name in ("Table", "TR", "TH", "TD", *_WITHOUT_TABLES)}


class TaggedCell(NamedTuple):
    """A cell: the numbers of what is marked as its content, how many rows and columns it spans, and if it is a name."""

    marks: tuple[int, ...] = ()
    rows: int = 1
    columns: int = 1
    is_header: bool = False


#: Rows of cells.
type TaggedTable = list[list[TaggedCell]]


def read_tags(page: Any) -> list[TaggedTable]:
    """Return the tables on a page, the inner ones of several before the outer ones."""
    from pypdfium2 import raw

    tree = raw.FPDF_StructTree_GetForPage(page)
    if not tree:
        return []
    try:
        return _Reader(tree).tables
    finally:
        raw.FPDF_StructTree_Close(tree)


class _Reader:
    def __init__(self, tree: Any) -> None:
        from pypdfium2 import raw

        self.tables: list[TaggedTable] = []
        self._raw = raw
        self._left = _MOST_ELEMENTS
        self._buffer = ctypes.create_string_buffer(_LONGEST_NAME)
        for index in range(raw.FPDF_StructTree_CountChildren(tree)):
            if element := raw.FPDF_StructTree_GetChildAtIndex(tree, index):
                self._look(element, 0)

    def _name(self, element: Any) -> str:
        size = self._raw.FPDF_StructElement_GetType(element, self._buffer, _LONGEST_NAME)
        return _NAMES.get(self._buffer.raw[:size], "") if size <= _LONGEST_NAME else ""

    def _children(self, element: Any, depth: int) -> Iterator[tuple[int, Any]]:
        """Yield the parts of an element: those that are on another page, empty or no elements are ``None``."""
        get = self._raw.FPDF_StructElement_GetChildAtIndex
        count = self._raw.FPDF_StructElement_CountChildren(element) if depth < _DEEPEST else 0
        self._left -= count
        for index in range(count if self._left >= 0 else 0):
            yield index, get(element, index)

    def _look(self, element: Any, depth: int) -> None:
        """Look for tables in an element."""
        name = self._name(element)
        if name == "Table":
            rows = [self._row(row, depth) for row in self._rows(element, depth)]
            self.tables.append([row for row in rows if row])
        elif name not in _WITHOUT_TABLES:
            for _, child in self._children(element, depth):
                if child:
                    self._look(child, depth + 1)

    def _rows(self, element: Any, depth: int) -> Iterator[Any]:
        for _, child in self._children(element, depth):
            name = self._name(child) if child else ""
            if name == "TR":
                yield child
            elif child and name not in _WITHOUT_TABLES:
                yield from self._rows(child, depth + 1)

    def _row(self, row: Any, depth: int) -> list[TaggedCell]:
        cells: list[TaggedCell] = []
        for _, child in self._children(row, depth):
            name = self._name(child) if child else ""
            if not child:
                cells.append(TaggedCell())  # empty, so not known to the page
            elif name in ("TH", "TD"):
                marks = tuple(self._marks(child, depth + 1))
                rows, columns = self._span(child, b"RowSpan"), self._span(child, b"ColSpan")
                cells.append(TaggedCell(marks, rows, columns, is_header=name == "TH"))
        return cells

    def _marks(self, element: Any, depth: int) -> Iterator[int]:
        for index, child in self._children(element, depth):
            if not child:
                if (mark := self._raw.FPDF_StructElement_GetChildMarkedContentID(element, index)) >= 0:
                    yield mark
            elif self._name(child) == "Table":
                self._look(child, depth)
            else:
                yield from self._marks(child, depth + 1)

    def _span(self, cell: Any, name: bytes) -> int:
        raw = self._raw
        for index in range(max(raw.FPDF_StructElement_GetAttributeCount(cell), 0)):
            attributes = raw.FPDF_StructElement_GetAttributeAtIndex(cell, index)
            value = raw.FPDF_StructElement_Attr_GetValue(attributes, name) if attributes else None
            number = ctypes.c_float()
            if value and raw.FPDF_StructElement_Attr_GetNumberValue(value, number):
                return max(1, min(int(number.value), _MOST_SPAN))
        return 1


def arranged(table: TaggedTable, words: Mapping[int, Sequence[Word]]) -> Shape:
    """Return the cells of a table with the words that are marked as their content.

    Raises:
        NoTableError: if the words are not arranged in rows and columns, whatever the tags say.
    """
    width = Counter(sum(cell.columns for cell in row) for row in table).most_common(1)[0][0]
    cells: dict[Cell, list[Word]] = {}
    taken: set[tuple[int, int]] = set()
    for number, row in enumerate(table):
        column = 0
        for cell in row:
            while (number, column) in taken:
                column += 1
            columns = width if len(row) == 1 else cell.columns
            rows = min(cell.rows, len(table) - number)
            taken.update((number + down, column + right) for down in range(rows) for right in range(columns))
            if own := sorted(word for mark in set(cell.marks) for word in words.get(mark, ())):
                cells[Cell(number, column, rows, columns)] = own
            column += columns
        while (number, column) in taken:
            column += 1
        if column != width and len(row) > 1:
            raise NoTableError
    headers = sum(1 for _ in takewhile(_names, table))
    headers = headers if headers <= _MOST_HEADERS else 0
    return Shape(len(table), _columns(cells, width), cells, headers, is_tagged=True)


def _names(row: Sequence[TaggedCell]) -> bool:
    return len(row) > 1 and all(cell.is_header or not cell.marks for cell in row)


def _columns(cells: Mapping[Cell, Sequence[Word]], width: int) -> tuple[float, ...]:
    """Return where the columns begin and the last one ends, if rows are below and cells beside each other."""
    heights: dict[int, list[float]] = {}
    sides = {cell: (min(word.left for word in own), max(word.right for word in own)) for cell, own in cells.items()}
    lefts = [inf] * width
    for cell, own in cells.items():
        heights.setdefault(cell.row, []).extend(word.middle for word in own if cell.rows == 1)
        if cell.columns == 1:
            lefts[cell.column] = min(lefts[cell.column], sides[cell][0])
    means = [sum(found) / len(found) for _, found in sorted(heights.items()) if found]
    order = set()
    for (cell, one), (other, following) in pairwise(sorted(sides.items())):
        if cell.row == other.row:
            order.add(1 if one[1] <= following[0] + _OVER else -1 if following[1] <= one[0] + _OVER else 0)
    if len(order) != 1 or 0 in order or any(above <= below for above, below in pairwise(means)):
        raise NoTableError
    end = max((right for _, right in sides.values()), default=0.0)
    return (*sorted(min(left, end) for left in lefts), end)
