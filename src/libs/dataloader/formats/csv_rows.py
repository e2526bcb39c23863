"""Rows of CSV and TSV, where a quote may open a quoted cell or be an ordinary character."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice
from threading import Lock
from typing import Any, NamedTuple

from libs.regexes import regex

_MANY = 8  # so many lines that all look like rows are rows, even where the quotes around them make sense
_MISFITS = 10  # one line in so many may have another width than the table
_DIALECTS: tuple[dict[str, Any], ...] = ({}, {"strict": True}, {"quoting": csv.QUOTE_NONE})
_ESCAPED_QUOTE = regex(r'(?<!\\)((?:\\\\)*)\\"')
_JUDGED = 1000  # lines with such a quote
_LARGEST_LIMIT = 2**31 - 1  # a C long
_limit_lock = Lock()


class CsvRow(NamedTuple):
    """A row.

    Attributes:
        first: Index of its first line.
        last: Index of the line after its last one.
        cells: Its cells.
        plain: Whether its quotes are ordinary characters.
    """

    first: int
    last: int
    cells: list[str]
    plain: bool = False


class CsvRows:
    """Iterates over the rows that are not empty.

    A quote at the beginning of a cell opens a quoted cell, which may span several lines. But some programs write CSV
    without quoting, and then such a quote (as in a title that begins with one) would swallow all lines up to the next
    quote. This is recognised by the number of cells: each of the swallowed lines, read alone, has as many as the table
    has columns.

    Args:
        lines: The lines, without their ends.
        delimiter: The character between cells.
    """

    def __init__(self, lines: Sequence[str], delimiter: str) -> None:
        _allow_cells(sum(map(len, lines)) + len(lines))
        self._lines = lines
        self.delimiter = delimiter
        self._quoted, self._strict, self._plain = (
            csv.reader((), delimiter=delimiter, skipinitialspace=True, **options).dialect for options in _DIALECTS
        )

    def __reduce__(self) -> tuple[type[CsvRows], tuple[Sequence[str], str]]:
        return CsvRows, (self._lines, self.delimiter)  # dialects cannot be pickled

    def __iter__(self) -> Iterator[CsvRow]:
        widths: Counter[int] = Counter()  # of the rows so far that stand in one line
        width = 0  # the commonest of them
        start = 0
        while start < len(self._lines):
            # Lines come without their ends; inside quotes the reader wants them back.
            lines = map(self._lines.__getitem__, range(start, len(self._lines)))
            reader = csv.reader((line + "\n" for line in lines), self._quoted)
            last, begun, start = start, start, len(self._lines)
            for cells in reader:
                first, last = last, begun + reader.line_num
                row = CsvRow(first, last, cells)
                if last - first == 1:
                    # Too few or too many cells, or a quote that nothing closes until the end of the file.
                    if width and (len(cells) != width or cells[-1][-1:] == "\n"):
                        row = self._line(first, width)
                    found = len(row.cells)
                    if found > 1:
                        widths[found] += 1
                        if found != width and widths[found] > widths[width]:
                            width = found
                elif self._is_stray(first, last, width or len(self._line(first, 0).cells)):
                    start = last - 1  # the last line may open a cell that goes on
                    for at in range(first, start):
                        row = self._line(at, width)
                        if any(map(str.strip, row.cells)):
                            yield row
                    break
                if any(map(str.strip, row.cells)):
                    yield row

    def cells(self, first: int, last: int, *, plain: bool) -> list[str]:
        """Return the cells of a row again; the arguments are the attributes of its :class:`CsvRow`."""
        lines = [line + "\n" for line in self._lines[first:last]]
        return next(csv.reader(lines, self._plain if plain else self._quoted), [])

    def _is_stray(self, first: int, last: int, width: int) -> bool:
        """Return whether the quote that joins several lines to one row is an ordinary character."""
        swallowed = [at for at in range(first + 1, last) if self._lines[at].strip()]
        misfits = 0
        for at in swallowed:
            misfits += len(self._line(at, width).cells) != width
            if misfits * _MISFITS > len(swallowed):
                return False
        if width < 2 or not swallowed:
            return False
        if self._is_well_formed(first, last) and (
            # A table within the cell cannot make its first and its last line as wide as the others, unless either has
            # nothing of it.
            misfits or len(swallowed) < _MANY or self._lines[first][-1:] == '"' or self._lines[last - 1][:1] == '"'
        ):
            return False
        # A few lines of text with a comma in each look like rows of two cells; but something has to end the text.
        if width > 2 or self.delimiter != "," or len(swallowed) >= _MANY:
            return True
        return not any('"' in self._lines[at] for at in swallowed)

    def _line(self, at: int, width: int) -> CsvRow:
        """Return a line as a row of its own; its quotes are ordinary characters if the row would not fit otherwise."""
        line = self._lines[at]
        cells = self.cells(at, at + 1, plain=False)
        if '"' in line and (len(cells) != width or cells[-1][-1:] == "\n") and not self._is_well_formed(at, at + 1):
            plain = self.cells(at, at + 1, plain=True)
            if len(plain) == width or cells[-1][-1:] == "\n":
                return CsvRow(at, at + 1, plain, plain=True)
        return CsvRow(at, at + 1, cells)

    def _is_well_formed(self, first: int, last: int) -> bool:
        """Return whether every quote that opens a cell is closed at the end of the cell."""
        return _is_well_formed(self._lines[first:last], self._strict)


def with_doubled_quotes(lines: list[str], delimiters: str) -> list[str]:
    """Return lines with quotes doubled, as is usual in CSV, if the file escapes them by a backslash instead.

    Args:
        lines: All lines of the file.
        delimiters: Characters that may be between cells.

    Returns:
        The lines; unchanged if a backslash before a quote is an ordinary character, the last one of a cell.
    """
    judged = list(islice((line for line in lines if '\\"' in line), _JUDGED))
    if not judged:
        return lines
    _allow_cells(max(map(len, judged)) * 2)
    gained = 0  # how many lines more are well-formed
    for delimiter in delimiters:
        strict = csv.reader((), delimiter=delimiter, skipinitialspace=True, strict=True).dialect
        for line in judged:
            gained += _is_well_formed([_ESCAPED_QUOTE.sub(r'\1""', line)], strict) - _is_well_formed([line], strict)
    return [_ESCAPED_QUOTE.sub(r'\1""', line) for line in lines] if gained > 0 else lines


def _is_well_formed(lines: Sequence[str], strict: Any) -> bool:
    try:
        for _ in csv.reader((line + "\n" for line in lines), strict):
            pass
    except csv.Error:
        return False
    return True


def _allow_cells(length: int) -> None:
    """Allow the csv module to read cells of this many characters.

    The limit applies to the whole process, so it is only ever raised: another thread may be reading.
    """
    with _limit_lock:
        if csv.field_size_limit() < length:
            csv.field_size_limit(min(length, _LARGEST_LIMIT))
