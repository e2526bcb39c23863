"""Excel workbooks (xlsx), by openpyxl."""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime, time, timedelta
from operator import itemgetter
from typing import Any, NamedTuple

from libs.dataloader.formats.archive import Archive
from libs.dataloader.formats.base import Content, FileData, TextBuilder, UnreadableError
from libs.dataloader.formats.ooxml import core_properties
from libs.dataloader.formats.registry import Format
from libs.dataloader.formats.rows import (
    Records,
    column_names,
    has_header,
    is_number,
    is_wide,
    split_captions,
    write_table,
)
from libs.dataloader.text import clean_text

_LAST_ROW = 1_048_576  # of any sheet, as Excel has it
_MOST_BLANK_ROWS = 50_000_000
_SPARSE = 100


class Row(NamedTuple):
    """The cells of a row that are not empty.

    Attributes:
        number: Which row of the sheet it is, from 1.
        columns: Where each cell stands, from 1.
        cells: What is shown in it.
    """

    number: int
    columns: tuple[int, ...]
    cells: list[str]

    def under(self, columns: Sequence[int]) -> list[str]:
        """What stands in these columns, which are all that it has cells in and others."""
        if len(columns) == len(self.columns):
            return self.cells
        found = dict(zip(self.columns, self.cells, strict=True))
        return [found.get(column, "") for column in columns]


def read(file: FileData, _kind: Format) -> Content:
    """Each sheet as a Markdown table (records where it is very wide); formulas show the value that Excel stored."""
    from openpyxl.reader.excel import ExcelReader

    archive = Archive(file, "an Excel workbook")
    archive.check()
    # What load_workbook() does; but it fails at a sheet for a chart that has none yet, and such sheets have no cells.
    reader = ExcelReader(io.BytesIO(file.data), read_only=True, data_only=True, keep_links=False)
    reader.read_chartsheet = lambda *_: None
    reader.read()
    blank = _Blank()
    try:
        sheets = [(sheet.title, list(_rows(sheet, blank))) for sheet in reader.wb.worksheets]
    finally:
        reader.wb.close()
    sheets = [(clean_text(name), rows) for name, rows in sheets if rows]
    writer = _Writer()
    for name, rows in sheets:
        writer.sheet(name, rows, named=len(sheets) > 1)
    found, metadata = core_properties(archive)
    metadata |= {"sheets": [name for name, _ in sheets][:100], "row_count": len(writer.starts)}

    return Content(
        writer.builder.text(),
        writer.format(),
        found or writer.title,
        metadata,
        locations=writer.builder.locations,
        records=Records(writer.starts, writer.record),
    )


class _Writer:
    def __init__(self) -> None:
        self.builder = TextBuilder()
        self.starts: list[int] = []
        self.title: str | None = None
        self._records: list[tuple[list[str], list[int], Row]] = []  # names of columns, which ones they are, the row
        self._kinds: list[str] = []

    def sheet(self, name: str, rows: Sequence[Row], *, named: bool) -> None:
        """Append a sheet, under its name where there are several."""
        self.builder.separate()
        self.builder.mark("sheet", name)
        if named:
            self.builder.block(f"## {name}")
            self._kinds.append("markdown")
        for block in _blocks(rows):
            captions, skipped = split_captions([row.cells for row in block[:10]])
            self.title = self.title or (captions[0] if captions else None)
            body = block[skipped:]
            # Text, or so few cells so far apart that a table would be nothing but empty ones.
            if len(body) == 1 or all(row.columns == (1,) for row in body) or _is_sparse(body):
                captions += [" ".join(row.cells) for row in body]
                body = []
            for caption in captions:
                if named and caption == name:
                    continue
                self.builder.block(caption)
                self._kinds.append("markdown")
            if body:
                self.builder.separate()
                self._table(body)

    def _table(self, rows: Sequence[Row]) -> None:
        used = _used(rows)
        head = [row.under(used) for row in rows[:30]]
        named = has_header(head)
        names = column_names(head[0] if named else [], len(used))
        wide = is_wide(names)
        self._kinds.append("records" if wide else "table")
        rest = rows[named:]
        header = head[0] if named and not wide else names
        cells = ((row.number, row.under(used)) for row in rest)
        write_table(self.builder, header, cells, self.starts.append, as_records=wide)
        self._records += [(names, used, row) for row in rest]

    def format(self) -> str:
        """How the whole is to be split."""
        return self._kinds[0] if len(self._kinds) == 1 else "markdown"

    def record(self, index: int) -> Mapping[str, Any]:
        """A row by its number."""
        names, used, row = self._records[index]
        return dict(zip(names, row.under(used), strict=True))


class _Blank:
    """Counts the empty rows that were skipped."""

    def __init__(self) -> None:
        self._count = 0

    def take(self, count: int) -> None:
        """Skip some more.

        Raises:
            UnreadableError: if they are more than any workbook of people has.
        """
        self._count += count
        if self._count > _MOST_BLANK_ROWS:
            raise UnreadableError(f"its cells are too far apart: over {_MOST_BLANK_ROWS:,} empty rows between them")


def _rows(sheet: Any, blank: _Blank) -> Iterator[Row]:
    """Rows that are not empty."""
    from openpyxl.cell.read_only import ReadOnlyCell

    sheet.reset_dimensions()  # what the file says of its size may be wrong, or a trap
    # Else a row whose only cell is in the last column would come with 16,383 empty ones.
    sheet._get_row = lambda cells, *_: [ReadOnlyCell(sheet, **cell) for cell in cells if cell["value"] is not None]
    patterns: dict[tuple[int, ...], tuple[int, ...]] = {}  # most rows have cells in the same columns: kept once
    before = 0
    # Rows between those that the file has come as empty ones, perhaps a million: they are not to cost anything.
    numbers = iter(range(1, _LAST_ROW + 1))
    for number, row in filter(itemgetter(1), zip(numbers, sheet.iter_rows(), strict=False)):
        blank.take(number - before - 1)
        before = number
        cells = {cell.column: text for cell in row if cell.value is not None and (text := _show(cell))}
        if cells:
            columns = tuple(sorted(cells))
            yield Row(number, patterns.setdefault(columns, columns), [cells[column] for column in columns])
    blank.take(next(numbers, _LAST_ROW) - before)


def _used(rows: Sequence[Row]) -> list[int]:
    """The columns that have a cell in any of the rows."""
    return sorted(set().union(*{row.columns for row in rows}))


def _is_sparse(rows: Sequence[Row]) -> bool:
    """Whether hardly any of the places in a table are taken."""
    taken = sum(len(row.cells) for row in rows)
    return len(rows) * len(_used(rows)) > 1_000_000 + _SPARSE * taken


def _blocks(rows: Sequence[Row]) -> Iterator[list[Row]]:
    """Tables below one another: a new one begins after an empty row with what looks like a header."""
    current: list[Row] = []
    for index, row in enumerate(rows):
        if current and row.number > current[-1].number + 1 and _begins_table(rows, index):
            yield current
            current = []
        current.append(row)
    if current:
        yield current


def _begins_table(rows: Sequence[Row], index: int) -> bool:
    cells = rows[index].cells
    if index + 1 >= len(rows) or rows[index + 1].number != rows[index].number + 1:
        return False
    if len(cells) == 1:
        return True
    below = rows[index + 1].cells
    return not any(is_number(cell) for cell in cells) and any(is_number(cell) for cell in below)


def _show(cell: Any) -> str:
    """The value of a cell as a person would write it."""
    value = cell.value
    if value is None:
        return ""
    if isinstance(value, str):
        return clean_text(value).strip()
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, int | float):
        if "%" in (cell.number_format or ""):
            return f"{value * 100:.10g}%"
        return str(value) if isinstance(value, int) else f"{value:.15g}"
    if isinstance(value, datetime):
        return value.date().isoformat() if value.time() == time() else value.isoformat(" ", "seconds")
    if isinstance(value, date | time):
        return value.isoformat()
    if isinstance(value, timedelta):
        return str(value)
    return clean_text(str(value))
