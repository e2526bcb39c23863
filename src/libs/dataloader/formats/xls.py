"""Binary Excel workbooks (xls), from xlrd: each sheet as tables and text."""

from __future__ import annotations

import io
import struct
from collections.abc import Iterator
from typing import Any

from libs.dataloader.formats.base import Content, FileData, UnreadableError
from libs.dataloader.formats.compound import SIGNATURE, CompoundFile
from libs.dataloader.formats.number_formats import EPOCH, MAC_EPOCH, NumberFormat, by_code, number_text
from libs.dataloader.formats.registry import Format
from libs.dataloader.formats.sheet_cells import Cells, cell_note, column_name
from libs.dataloader.formats.sheets import Sheet, write_sheets
from libs.dataloader.formats.xls_records import SheetRecords, WorkbookRecords
from libs.dataloader.text import clean_text

_EMPTY, _TEXT, _NUMBER, _DATE, _BOOLEAN, _ERROR = range(6)


def read(file: FileData, _kind: Format) -> Content:
    """Convert each sheet to Markdown tables (records if very wide), its notes and the text of its shapes."""
    properties: tuple[str | None, dict[str, Any]] = (None, {})
    stream = file.data
    if stream.startswith(SIGNATURE):
        container = CompoundFile(stream)
        if "encryptedpackage" in container.names:
            raise UnreadableError("it is encrypted (a password is needed)")
        stream = container.stream("workbook") or container.stream("book")
        properties = container.properties()
    return write_sheets(_sheets(WorkbookRecords(stream)), properties)


class _Silent(io.StringIO):
    """Takes what xlrd has to say about a file, which can be very much."""

    def write(self, text: str, /) -> int:
        return len(text)


def _sheets(records: WorkbookRecords) -> Iterator[Sheet]:
    import xlrd

    broken = (xlrd.XLRDError, struct.error, AssertionError, ArithmeticError, LookupError, TypeError, ValueError)
    try:
        book = xlrd.open_workbook(
            file_contents=records.stream, logfile=_Silent(), formatting_info=True, on_demand=True, ragged_rows=True
        )
    except broken as error:
        what = f"{type(error).__name__}: {error}"
        if isinstance(error, xlrd.XLRDError):
            what = str(error)
        elif isinstance(error, struct.error):
            what = "it ends within a record"
        raise UnreadableError(f"it is damaged: {what}") from error
    reader = _Reader(book)
    failed = 0
    for number, name in enumerate(book.sheet_names()):
        try:
            sheet = book.sheet_by_index(number)
        except broken:
            failed += 1  # one damaged sheet costs only itself
            continue
        beside = records.sheets[number] if number < len(records.sheets) else SheetRecords()
        yield reader.sheet(sheet, clean_text(name), beside)
        book.unload_sheet(number)
    if failed and failed == book.nsheets:
        raise UnreadableError("it is damaged: none of its sheets can be read")


class _Reader:
    def __init__(self, book: Any) -> None:
        self._book = book
        self._epoch = MAC_EPOCH if book.datemode else EPOCH
        self._formats: dict[int, NumberFormat] = {}
        self._cells = Cells()

    def sheet(self, sheet: Any, name: str, records: SheetRecords) -> Sheet:
        """Read a sheet."""
        for number in range(sheet.nrows):
            kinds = sheet.row_types(number)
            if not any(kinds):
                continue
            values = sheet.row_values(number)
            cells: dict[int, str] = {}
            for column, kind in enumerate(kinds):
                if kind in (_NUMBER, _DATE):
                    form = self._format(sheet.cell_xf_index(number, column))
                    cells[column + 1] = number_text(values[column], form, self._epoch)
                elif kind and (text := _text(kind, values[column])):
                    cells[column + 1] = text
            self._cells.add(number + 1, cells)
        for first_row, end_row, first_column, end_column in sheet.merged_cells:
            self._cells.merge((first_row + 1, first_column + 1), (end_row, end_column))
        older = (
            clean_text(cell_note(f"{column_name(column + 1)}{row + 1}", note.author or "", note.text))
            for (row, column), note in sorted(sheet.cell_note_map.items())
        )
        notes = "\n".join(filter(None, (*records.notes, *older)))
        return Sheet(name, self._cells.sheet(), [text for text in (notes, *records.shapes) if text])

    def _format(self, style: int) -> NumberFormat:
        if style not in self._formats:
            styles = self._book.xf_list
            known = self._book.format_map.get(styles[style].format_key) if 0 <= style < len(styles) else None
            self._formats[style] = by_code(known.format_str or "") if known is not None else NumberFormat()
        return self._formats[style]


def _text(kind: int, value: Any) -> str:
    if kind == _TEXT:
        return clean_text(value).strip()
    if kind == _BOOLEAN:
        return "TRUE" if value else "FALSE"
    if kind == _ERROR:
        import xlrd

        return str(xlrd.error_text_from_code.get(value, "#N/A"))
    return ""
