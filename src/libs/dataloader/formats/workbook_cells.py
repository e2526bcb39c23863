"""The cells of an Excel workbook, read from the XML directly and formatted as Excel displays them.

openpyxl rejects a workbook with a style that it does not know, and cannot read the strict form of the format.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, time, timedelta
from enum import Enum
from typing import TYPE_CHECKING, NamedTuple

from libs.dataloader.formats.archive import Archive, attribute, child, children, iter_xml, local
from libs.dataloader.formats.base import UnreadableError, check_length
from libs.dataloader.formats.ooxml import main_part, relationships
from libs.dataloader.text import clean_text

if TYPE_CHECKING:
    from lxml.etree import _Element

_COLUMN = re.compile(r"[A-Z]{1,3}")
_AREA = re.compile(r"([A-Z]{1,3})([0-9]{1,7}):([A-Z]{1,3})([0-9]{1,7})")
_MOST_WIDE = 10_000  # rows
_MOST_REPEATED = 1_000_000  # cells of a sheet
_ESCAPE = re.compile(r"_x([0-9A-Fa-f]{4})_")
_PERCENT_IDS = frozenset((9, 10))
_DATE_IDS = frozenset((*range(14, 23), *range(27, 37), 45, 47, *range(50, 59)))
_SPAN_IDS = frozenset((46,))
_LITERAL = re.compile(r'"[^"]*"|\\.|_.|\[(?!h+\]|m+\]|s+\])[^\]]*\]', re.IGNORECASE)
_DATE = re.compile(r"[dmhys]", re.IGNORECASE)
_SPAN = re.compile(r"\[(?:h+|m+|s+)\]", re.IGNORECASE)
# A currency in a number format: [$€-407], "CHF", $; [$-409] is only a language.
_CURRENCY = re.compile(r'\[\$([^\]\-]{1,5})(?:-[^\]]*)?\]|"\s*([€£¥$₹₽₩₺]|[A-Z]{3})\s*"|(?<!\[)([€£¥$₹₽₩₺])')
_EPOCH, _MAC_EPOCH = datetime(1899, 12, 30), datetime(1904, 1, 1)
_TRUE = frozenset(("1", "true"))


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
        return self.cells[self.columns.index(column)] if column in self.columns else ""

    def under(self, columns: Sequence[int]) -> list[str]:
        """Return the text in each of these columns, which must include all of the row; empty if there is no cell."""
        if len(columns) == len(self.columns):
            return self.cells
        found = dict(zip(self.columns, self.cells, strict=True))
        return [found.get(column, "") for column in columns]


_Patterns = dict[tuple[int, ...], tuple[int, ...]]


def _row(number: int, cells: Mapping[int, str], patterns: _Patterns) -> Row:
    columns = tuple(sorted(cells))
    return Row(number, patterns.setdefault(columns, columns), [cells[column] for column in columns])


def _number(row: Row) -> int:
    return row.number


class _Area(NamedTuple):
    """A merged cell: its first column, and its first and last row."""

    column: int
    first: int
    last: int


class _Kind(Enum):
    """What a number in a cell means."""

    NUMBER = 0
    PERCENT = 1
    DATE = 2
    SPAN = 3


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
        self.sheets: list[tuple[str, str]] = []
        for sheet in children(child(root, "sheets"), "sheet"):
            kind, target, _ = relations.get(attribute(sheet, "id") or "", ("", "", False))
            if kind != "chartsheet" and archive.has(target):
                self.sheets.append((clean_text(sheet.get("name") or ""), target))
        properties = child(root, "workbookPr")
        mac = properties is not None and properties.get("date1904") in _TRUE
        self._epoch = _MAC_EPOCH if mac else _EPOCH
        parts = {kind: target for kind, target, _ in relations.values() if archive.has(target)}
        self._strings = list(self._shared(parts["sharedStrings"])) if "sharedStrings" in parts else []
        self._kinds = _kinds(archive.xml(parts["styles"])) if "styles" in parts else []
        self._currencies = _currencies(archive.xml(parts["styles"])) if "styles" in parts else {}
        self._chars = 0

    def rows(self, part: str) -> list[Row]:
        """Return the rows of a sheet that are not empty; the text of a cell merged across rows is in each of them.

        Raises:
            UnreadableError: if the sheet is damaged, or the cells of all sheets so far contain too much.
        """
        rows: list[Row] = []
        merged: list[_Area] = []
        wide: dict[int, list[tuple[int, int]]] = {}  # the cells of each row that are merged across columns
        patterns: _Patterns = {}  # most rows have cells in the same columns: kept once
        number = 0
        for node in iter_xml(self._archive.read(part), part, frozenset(("row", "mergeCell"))):
            if local(node) == "mergeCell":
                if (area := _AREA.fullmatch(node.get("ref", ""))) is not None and area[2] != area[4]:
                    merged.append(_Area(_column(area[1]), int(area[2]), int(area[4])))
                elif area is not None and len(wide) < _MOST_WIDE:
                    wide.setdefault(int(area[2]), []).append((_column(area[1]), _column(area[3])))
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
                    self._chars += len(text)  # a text that the file has once may be in any number of cells
                    cells[column] = text
            check_length(self._chars)
            if cells:
                rows.append(_row(number, cells, patterns))
        self._repeat(rows, merged, patterns)
        return [row._replace(spans=tuple(wide[row.number])) if row.number in wide else row for row in rows]

    def _repeat(self, rows: list[Row], merged: Sequence[_Area], patterns: _Patterns) -> None:
        """Copy the text of merged cells to all their rows that have any cell; the file has it in the first row only."""
        left = _MOST_REPEATED
        for area in merged:
            first = bisect_left(rows, area.first, key=_number)
            last = bisect_right(rows, area.last, key=_number)
            text = rows[first].cell(area.column) if first < last and rows[first].number == area.first else ""
            left -= last - first
            if left < 0:
                return
            for index in range(first + 1, last) if text else ():
                row = rows[index]
                if area.column not in row.columns:
                    self._chars += len(text)
                    cells = {**dict(zip(row.columns, row.cells, strict=True)), area.column: text}
                    rows[index] = _row(row.number, cells, patterns)
            check_length(self._chars)

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
        known = style.isdecimal()
        kind = self._kinds[int(style)] if known and int(style) < len(self._kinds) else _Kind.NUMBER
        return _shown(text, kind, self._epoch, self._currencies.get(int(style), ("", "")) if known else ("", ""))


def number_text(text: str, code: str) -> str:
    """Return a number that a chart has stored as people would write it, by the code of its format."""
    return _shown(text, _kind(code), _EPOCH, ("", ""))


def _shown(text: str, kind: _Kind, epoch: datetime, currency: tuple[str, str]) -> str:
    try:
        value = int(text) if text.removeprefix("-").isdecimal() and len(text) < 20 else float(text)
    except ValueError:
        return _clean(text)
    if kind in (_Kind.DATE, _Kind.SPAN):
        try:
            return _moment(value, epoch) if kind is _Kind.DATE else _span(value)
        except (OverflowError, ValueError):
            return "#VALUE!"  # a number that is no date; Excel shows #### then
    if kind is _Kind.PERCENT:
        return f"{value * 100:.10g}%"
    shown = str(value) if isinstance(value, int) else f"{value:.15g}"
    before, after = currency
    return f"-{before}{shown[1:]}{after}" if before and shown.startswith("-") else f"{before}{shown}{after}"


def _currencies(root: _Element) -> dict[int, tuple[str, str]]:
    """Return what stands before and after amounts of money, by style."""
    signs: dict[str, tuple[str, str]] = {}
    for node in children(child(root, "numFmts"), "numFmt"):
        code = node.get("formatCode", "").split(";")[0]
        if (found := _CURRENCY.search(code)) and (sign := (found[1] or found[2] or found[3]).strip()):
            is_before = not any(placeholder in code[: found.start()] for placeholder in "0#?")
            gap = " " if sign.isalpha() else ""
            signs[node.get("numFmtId", "")] = (sign + gap, "") if is_before else ("", f" {sign}")
    styles = enumerate(children(child(root, "cellXfs"), "xf"))
    return {number: signs[key] for number, node in styles if (key := node.get("numFmtId", "0")) in signs}


def _kinds(root: _Element) -> list[_Kind]:
    """Return what numbers mean in each style."""
    codes: dict[str, str] = {}
    for node in children(child(root, "numFmts"), "numFmt"):
        codes[node.get("numFmtId", "")] = node.get("formatCode", "")
    made: Mapping[str, _Kind] = {key: _kind(code) for key, code in codes.items()}
    return [
        made[key] if key in made else _usual_kind(key)
        for key in (node.get("numFmtId", "0") for node in children(child(root, "cellXfs"), "xf"))
    ]


def _kind(code: str) -> _Kind:
    positive = _LITERAL.sub("", code.split(";")[0])
    if _SPAN.search(positive):
        return _Kind.SPAN
    if _DATE.search(positive):
        return _Kind.DATE
    return _Kind.PERCENT if "%" in code else _Kind.NUMBER


def _usual_kind(key: str) -> _Kind:
    number = int(key) if key.isdecimal() else 0
    if number in _PERCENT_IDS:
        return _Kind.PERCENT
    return _Kind.DATE if number in _DATE_IDS else _Kind.SPAN if number in _SPAN_IDS else _Kind.NUMBER


def _moment(value: float, epoch: datetime) -> str:
    """Return a number of days since an epoch as a date, a time, or both.

    Raises:
        OverflowError, ValueError: if there is no such day.
    """
    day, rest = divmod(value, 1)
    clock = timedelta(milliseconds=round(rest * 86_400_000))
    if 0 <= value < 1 and not clock.days:
        return (epoch + clock).time().isoformat()
    if 0 < value < 60 and epoch is _EPOCH:
        day += 1  # Excel's 1900 has a 29th of February
    moment = epoch + timedelta(days=day) + clock
    return moment.date().isoformat() if moment.time() == time() else moment.isoformat(" ", "seconds")


def _span(value: float) -> str:
    """Return a number of days as hours, minutes and seconds."""
    seconds = round(timedelta(days=abs(value)).total_seconds())
    return f"{'-' if value < 0 else ''}{seconds // 3600}:{seconds // 60 % 60:02}:{seconds % 60:02}"


def _iso(text: str) -> str:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:  # a time alone, or a span
        return _clean(text)
    return moment.date().isoformat() if moment.time() == time() else moment.isoformat(" ", "seconds")


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
