"""The sheets of a spreadsheet as tables and text, whatever format they come from."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from typing import Any, NamedTuple

from libs.dataloader.form_tables import MOST_FIELDS, field_lines, fields_of
from libs.dataloader.formats.base import Content, TextBuilder
from libs.dataloader.formats.rows import (
    Records,
    column_names,
    has_header,
    is_amount,
    is_number,
    is_wide,
    split_captions,
    write_table,
)
from libs.dataloader.formats.sheet_cells import Row
from libs.dataloader.links import LinkCollector
from libs.dataloader.tables import joined_header

_SPARSE = 100


class Sheet(NamedTuple):
    """A sheet.

    Attributes:
        name: Its name.
        rows: Its rows that are not empty.
        beside: Texts that are not in cells: notes, and what drawings say.
    """

    name: str
    rows: Sequence[Row]
    beside: Sequence[str]


def write_sheets(
    sheets: Iterable[Sheet], properties: tuple[str | None, dict[str, Any]], collector: LinkCollector | None = None
) -> Content:
    """Return the sheets that are not empty as Markdown tables (records if very wide).

    Args:
        sheets: The sheets, in order.
        properties: Title and metadata of the file.
        collector: The links in it.
    """
    kept = [sheet for sheet in sheets if sheet.rows or sheet.beside]
    writer = _Writer()
    for sheet in kept:
        writer.sheet(sheet, named=len(kept) > 1)
    title, metadata = properties
    return Content(
        writer.builder.text(),
        writer.format(),
        title or writer.title,
        {**metadata, "sheets": [sheet.name for sheet in kept][:100], "row_count": len(writer.starts)},
        collector.links() if collector is not None else (),
        locations=writer.builder.locations,
        records=Records(writer.starts, partial(_record, writer.records)),
    )


#: Names of columns, which ones they are, the row.
_Record = tuple[list[str], list[int], Row]


def _record(records: Sequence[_Record], index: int) -> Mapping[str, Any]:
    names, used, row = records[index]
    return dict(zip(names, row.under(used), strict=True))


class _Writer:
    def __init__(self) -> None:
        self.builder = TextBuilder()
        self.starts: list[int] = []
        self.title: str | None = None
        self.records: list[_Record] = []
        self._kinds: list[str] = []

    def sheet(self, sheet: Sheet, *, named: bool) -> None:
        """Append a sheet, below its name if ``named``."""
        name, rows, beside = sheet
        self.builder.separate()
        self.builder.mark("sheet", name)
        if named:
            self.builder.block(f"## {name}")
            self._kinds.append("markdown")
        for block in chain.from_iterable(map(_side_by_side, _blocks(rows))):
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
            if body and (fields := _fields(body)):
                self.builder.block(fields)
                self._kinds.append("markdown")
            elif body:
                self.builder.separate()
                self._table(body)
        for text in beside:
            self.builder.block(text)
            self._kinds.append("markdown")

    def _table(self, rows: Sequence[Row]) -> None:
        used = _used(rows)
        if (above := _grouped_header(rows, used)) is not None:
            rows = [Row(rows[1].number, tuple(used), above), *rows[2:]]
        head = [row.under(used) for row in rows[:30]]
        named = above is not None or has_header(head)
        names = column_names(head[0] if named else [], len(used))
        wide = is_wide(names)
        self._kinds.append("records" if wide else "table")
        rest = rows[named:]
        header = head[0] if named and not wide else names
        cells = ((row.number, row.under(used)) for row in rest)
        write_table(self.builder, header, cells, self.starts.append, as_records=wide)
        self.records += [(names, used, row) for row in rest]

    def format(self) -> str:
        """Return the format of the whole text, which decides how it is split."""
        return self._kinds[0] if len(self._kinds) == 1 else "markdown"


def _fields(rows: Sequence[Row]) -> str:
    """Return a table as lines of names and values, if that is what it has in place of columns with a header."""
    if len(rows) > MOST_FIELDS:
        return ""
    used = _used(rows)
    return field_lines(fields_of([row.under(used) for row in rows]))


def _used(rows: Sequence[Row]) -> list[int]:
    """Return the columns that have a cell in any of the rows."""
    return sorted(set().union(*{row.columns for row in rows}))


def _grouped_header(rows: Sequence[Row], used: Sequence[int]) -> list[str] | None:
    """Return the names of the columns where the first row names groups of those that the second one names.

    Groups are cells that are merged across columns. A first row of no more than the unit and the period says what all
    columns are: the first one, which has no name of its own, is named by both.
    """
    if len(rows) < 3:
        return None
    if _is_above_names(*rows[:3]):
        both = Row(rows[0].number, rows[0].columns[:1], [" ".join(rows[0].cells)])
        return joined_header([both.under(used), rows[1].under(used)])
    if not rows[0].spans or any(map(is_amount, (*rows[0].cells, *rows[1].cells))):
        return None
    groups = dict(zip(rows[0].columns, rows[0].cells, strict=True))
    if len(groups) < 2:
        return None  # a title
    names = dict(zip(rows[1].columns, rows[1].cells, strict=True))
    for first, last in rows[0].spans:
        columns = used[bisect_left(used, first) : bisect_right(used, last)]
        if first not in groups or not all(column in names for column in columns):
            return None
        groups |= dict.fromkeys(columns, groups[first])
    return joined_header([[row.get(column, "") for column in used] for row in (groups, names)])


def _is_above_names(top: Row, names: Row, below: Row) -> bool:
    """Return whether a row is above the names of columns: ``In millions | | June 2023`` above `` | Sales | Profit``."""
    numbers = {column for column, cell in zip(below.columns, below.cells, strict=True) if is_number(cell)}
    named = set(names.columns)
    return (
        len(top.cells) == 2 < len(names.cells)
        and top.columns[0] == below.columns[0] < names.columns[0]
        and not any(map(is_number, (*top.cells, *names.cells)))
        and numbers | set(top.columns[1:]) <= named
        and 2 * len(numbers) > len(named)
    )


def _is_sparse(rows: Sequence[Row]) -> bool:
    """Return whether a table is large and nearly all of its places are empty."""
    taken = sum(len(row.cells) for row in rows)
    return len(rows) * len(_used(rows)) > 1_000_000 + _SPARSE * taken


def _blocks(rows: Sequence[Row]) -> Iterator[list[Row]]:
    """Yield the tables below one another; a new one begins after an empty row, with what looks like a header."""
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
    if len(cells) == 1 or (index + 2 < len(rows) and _is_above_names(*rows[index : index + 3])):
        return True
    below = rows[index + 1].cells
    return not any(is_number(cell) for cell in cells) and any(is_number(cell) for cell in below)


def _side_by_side(rows: list[Row]) -> list[list[Row]]:
    """Tables beside one another, with an empty column between them; the rows as they are where these are one table.

    An empty column may as well be there for looks. What is told apart begins with a column of its own that is filled
    and holds no numbers, and ends in another row than its neighbour, or has the same header.
    """
    groups: list[list[int]] = []
    for column in _used(rows):
        if groups and column == groups[-1][-1] + 1:
            groups[-1].append(column)
        else:
            groups.append([column])
    if len(groups) < 2 or min(map(len, groups)) < 2:
        return [rows]
    number_of = {column: number for number, columns in enumerate(groups) for column in columns}
    tables: list[list[Row]] = [[] for _ in groups]
    for row in rows:
        for number in dict.fromkeys(map(number_of.__getitem__, row.columns)):
            tables[number].append(_part(row, groups[number]))
    headers: list[list[str]] = []
    for columns, table in zip(groups, tables, strict=True):
        _, skipped = split_captions([row.cells for row in table[:10]])
        header, *body = table[skipped:]
        if (
            not body
            or len(header.cells) < len(columns)
            or any(map(is_number, header.cells))
            or any(row.columns[0] != columns[0] or is_number(row.cells[0]) for row in body)
        ):
            return [rows]
        headers.append(header.cells)
    same = all(header == headers[0] for header in headers)
    return tables if same or len({table[-1].number for table in tables}) == len(tables) else [rows]


def _part(row: Row, columns: Sequence[int]) -> Row:
    first, last = bisect_left(row.columns, columns[0]), bisect_right(row.columns, columns[-1])
    spans = tuple((left, right) for left, right in row.spans if columns[0] <= left and right <= columns[-1])
    return Row(row.number, row.columns[first:last], row.cells[first:last], spans)
