"""Excel workbooks (xlsx), by openpyxl."""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime, time, timedelta
from typing import Any

from libs.dataloader.formats.archive import Archive
from libs.dataloader.formats.base import Content, FileData, TextBuilder
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

_MAX_BLANK_ROWS = 10_000
_MAX_COLUMNS = 2_000

Row = tuple[int, list[str]]


def read(file: FileData, _kind: Format) -> Content:
    """Each sheet as a Markdown table (records where it is very wide); formulas show the value that Excel stored."""
    from openpyxl import load_workbook

    archive = Archive(file, "an Excel workbook")
    archive.check()
    book = load_workbook(io.BytesIO(file.data), read_only=True, data_only=True, keep_links=False)
    try:
        sheets = [(sheet.title, list(_rows(sheet))) for sheet in book.worksheets]
    finally:
        book.close()
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
        self._records: list[tuple[list[str], list[str]]] = []  # header and cells
        self._kinds: list[str] = []

    def sheet(self, name: str, rows: Sequence[Row], *, named: bool) -> None:
        """Append a sheet, under its name where there are several."""
        self.builder.separate()
        self.builder.mark("sheet", name)
        if named:
            self.builder.block(f"## {name}")
            self._kinds.append("markdown")
        for block in _blocks(rows):
            captions, skipped = split_captions([cells for _, cells in block])
            self.title = self.title or (captions[0] if captions else None)
            body = block[skipped:]
            if len(body) == 1 or max(len(cells) for _, cells in body) == 1:  # text, not a table
                captions += [" ".join(filter(None, cells)) for _, cells in body]
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
        width = max(len(row) for _, row in rows)
        used = [column for column in range(width) if any(len(row) > column and row[column] for _, row in rows)]
        rows = [(number, [row[column] if len(row) > column else "" for column in used]) for number, row in rows]
        cells = [row for _, row in rows]
        named = has_header(cells)
        names = column_names(cells[0] if named else [], len(used))
        wide = is_wide(names)
        self._kinds.append("records" if wide else "table")
        rest = rows[named:]
        header = cells[0] if named and not wide else names
        write_table(self.builder, header, rest, self.starts.append, as_records=wide)
        self._records += [(names, row) for _, row in rest if any(row)]

    def format(self) -> str:
        """How the whole is to be split."""
        return self._kinds[0] if len(self._kinds) == 1 else "markdown"

    def record(self, index: int) -> Mapping[str, Any]:
        """A row by its number."""
        header, cells = self._records[index]
        return dict(zip(header, [*cells, *[""] * (len(header) - len(cells))], strict=False))


def _rows(sheet: Any) -> Iterator[Row]:
    """Rows that are not empty, without empty cells at their end."""
    sheet.reset_dimensions()  # what the file says of its size may be wrong, or a trap
    blank = 0
    for number, row in enumerate(sheet.iter_rows(), 1):
        cells = [_show(cell) for cell in row[:_MAX_COLUMNS]]
        while cells and not cells[-1]:
            cells.pop()
        if cells:
            blank = 0
            yield number, cells
        else:
            blank += 1
            if blank > _MAX_BLANK_ROWS:
                return


def _blocks(rows: Sequence[Row]) -> Iterator[list[Row]]:
    """Tables below one another: a new one begins after an empty row with what looks like a header."""
    current: list[Row] = []
    for index, row in enumerate(rows):
        if current and row[0] > current[-1][0] + 1 and _begins_table(rows, index):
            yield current
            current = []
        current.append(row)
    if current:
        yield current


def _begins_table(rows: Sequence[Row], index: int) -> bool:
    cells = rows[index][1]
    if index + 1 >= len(rows) or rows[index + 1][0] != rows[index][0] + 1:
        return False
    if sum(map(bool, cells)) == 1:
        return True
    below = rows[index + 1][1]
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
