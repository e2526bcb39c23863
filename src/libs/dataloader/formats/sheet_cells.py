"""The cells of spreadsheets, gathered row by row from whatever format they come."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from libs.dataloader.formats.base import check_length

_MOST_WIDE = 1_000_000  # columns of cells that are merged
_MOST_REPEATED = 1_000_000  # cells of a sheet


class Row(NamedTuple):
    """The cells of a row that are not empty.

    Attributes:
        number: Number of the row in the sheet, from 1.
        columns: Column of each cell, from 1.
        cells: The displayed text of each cell.
        spans: First and last column of each cell that is merged across columns.
    """

    number: int
    columns: tuple[int, ...]
    cells: list[str]
    spans: tuple[tuple[int, int], ...] = ()

    def cell(self, column: int) -> str:
        """Return the text in a column; empty if there is no cell."""
        place = bisect_left(self.columns, column)
        return self.cells[place] if self.columns[place : place + 1] == (column,) else ""

    def under(self, columns: Sequence[int]) -> list[str]:
        """Return the text in each of these columns, which must include all of the row; empty if there is no cell."""
        if len(columns) == len(self.columns):
            return self.cells
        found = dict(zip(self.columns, self.cells, strict=True))
        return [found.get(column, "") for column in columns]


class _Area(NamedTuple):
    """A merged cell: its first column, and its first and last row."""

    column: int
    first: int
    last: int


class Cells:
    """Gathers the cells of a file, one sheet after the other."""

    def __init__(self) -> None:
        self._chars = 0
        self._begin()

    def _begin(self) -> None:
        self._rows: list[Row] = []
        self._merged: list[_Area] = []
        self._wide: dict[int, list[tuple[int, int]]] = {}  # the cells of each row that are merged across columns
        self._columns = 0  # that they take
        self._patterns: dict[tuple[int, ...], tuple[int, ...]] = {}  # most rows have cells in the same columns

    def add(self, number: int, cells: Mapping[int, str]) -> None:
        """Add the next row.

        Args:
            number: Its number, from 1.
            cells: The texts of its cells that are not empty, by their column.

        Raises:
            UnreadableError: if the cells of all sheets so far contain too much.
        """
        self._chars += sum(map(len, cells.values()))  # a text that the file has once may be in any number of cells
        check_length(self._chars)
        if cells:
            self._rows.append(self._row(number, cells))

    def merge(self, first: tuple[int, int], last: tuple[int, int]) -> None:
        """Note that cells are merged, from a row and column to another row and column."""
        if first[0] != last[0]:
            self._merged.append(_Area(first[1], first[0], last[0]))
        elif last[1] >= first[1] and self._columns < _MOST_WIDE:
            self._columns += last[1] - first[1] + 1
            self._wide.setdefault(first[0], []).append((first[1], last[1]))

    def sheet(self) -> list[Row]:
        """Return the rows of the sheet, and begin the next one.

        The text of a cell that is merged across rows is in each of them that has any cell.

        Raises:
            UnreadableError: if the cells of all sheets so far contain too much.
        """
        self._repeat()
        wide = self._wide
        rows = [row._replace(spans=tuple(wide[row.number])) if row.number in wide else row for row in self._rows]
        self._begin()
        return rows

    def _row(self, number: int, cells: Mapping[int, str]) -> Row:
        columns = tuple(sorted(cells))
        return Row(number, self._patterns.setdefault(columns, columns), [cells[column] for column in columns])

    def _repeat(self) -> None:
        rows = self._rows
        left = _MOST_REPEATED
        repeated: dict[int, dict[int, str]] = {}  # by the index of each row, what its cells get from above
        for area in self._merged:
            first = bisect_left(rows, area.first, key=_number)
            last = bisect_right(rows, area.last, key=_number)
            text = rows[first].cell(area.column) if first < last and rows[first].number == area.first else ""
            left -= last - first
            if left < 0:
                break
            for index in range(first + 1, last) if text else ():
                repeated.setdefault(index, {}).setdefault(area.column, text)
        for index, cells in repeated.items():
            row = rows[index]
            own = dict(zip(row.columns, row.cells, strict=True))
            self._chars += sum(len(text) for column, text in cells.items() if column not in own)
            check_length(self._chars)
            rows[index] = self._row(row.number, {**cells, **own})


def _number(row: Row) -> int:
    return row.number


def column_name(column: int) -> str:
    """Return the letters of a column, which is counted from 1: ``A``, ``AB``."""
    letters = ""
    while column > 0:
        column, rest = divmod(column - 1, 26)
        letters = chr(65 + rest) + letters
    return letters


def cell_note(place: str, author: str, words: str) -> str:
    """Return the line for a note on a cell; empty if it says nothing."""
    author, words = " ".join(author.split()), " ".join(words.split())
    words = words.removeprefix(f"{author}:").strip()  # Excel begins a note with it
    return (f"Note on {place}" + (f" by {author}: " if author else ": ") + words) if words else ""
