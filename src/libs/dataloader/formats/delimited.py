"""CSV and TSV."""

from __future__ import annotations

import csv
import re
from array import array
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from libs.dataloader.formats.base import Content, FileData, TextBuilder
from libs.dataloader.formats.chat_pages import chat_of_rows
from libs.dataloader.formats.csv_columns import Columns
from libs.dataloader.formats.csv_rows import CsvRows, with_doubled_quotes
from libs.dataloader.formats.registry import Format
from libs.dataloader.formats.rows import (
    Records,
    column_names,
    has_header,
    is_wide,
    record_text,
    split_captions,
    write_table,
)
from libs.dataloader.table_heads import grouped_names
from libs.dataloader.tables import rectangular
from libs.regexes import regex

_DELIMITERS = ",;\t|"
_TOLD = regex(r'"?sep=([^\w\s"]|\t)"?', re.IGNORECASE)  # Excel's first line, which it does not show
_COMMENT = regex(r"#+(?:\s+|$)|##+")
_FIRST_LINES = 30
_SAMPLE_LINES = 200
_SAMPLE_CHARS = 100_000
_LONGEST_NAME = 1000


def read(file: FileData, kind: Format) -> Content:
    """Convert to a Markdown table, or to records if it is very wide; text that is not rows is kept as it is."""
    text = file.text()
    lines = text.split("\n")
    if lines and not lines[-1]:
        lines.pop()
    if lines and (told := _TOLD.fullmatch(lines[0])):
        delimiter = told[1]
        del lines[0]
    else:
        delimiter = "\t" if kind.mime_type == "text/tab-separated-values" else ""
    lines = with_doubled_quotes(lines, delimiter or _DELIMITERS)
    comments = _comments(lines, delimiter)
    try:
        return _Table(CsvRows(lines, delimiter or _delimiter(lines)), comments).content()
    except csv.Error:  # a cell is enormous, and other code has lowered the limit
        return Content(text)


class _Table:
    def __init__(self, rows: CsvRows, comments: Sequence[str]) -> None:
        self._rows = rows
        self._comments = comments
        self._names: list[str] = []
        self._wide = False
        self._columns: Columns | None = None
        self._from = array("Q")  # per record, the lines that it stands in
        self._to = array("Q")
        self._plain: set[int] = set()  # records whose quotes are characters like any other

    def content(self) -> Content:
        """Convert the table.

        Raises:
            csv.Error: if it cannot be read as rows.
        """
        head = [row.cells for row in islice(self._rows, 40)]
        captions, skipped = split_captions(head)
        head = head[skipped:]
        captions = [*filter(None, (_COMMENT.sub("", line).rstrip(_DELIMITERS) for line in self._comments)), *captions]
        if not head:
            return Content("")
        if names := grouped_names(rectangular(head[:3])):
            head, skipped = [names, *head[2:]], skipped + 1
        named = bool(names) or has_header(head)
        self._names = column_names(head[0] if named else [], max(map(len, head)))
        columns = Columns(head[0], head[1:]) if named else None
        if max(map(len, self._names)) > _LONGEST_NAME or (named and len(head) == 1):
            return Content("\n".join("\n".join(cell for cell in row.cells if cell.strip()) for row in self._rows))
        if (chat := chat_of_rows(self._names, self._said(skipped + named))) is not None:
            return chat
        # A column without a name gets one in the records only.
        header = [*head[0], *[""] * (len(self._names) - len(head[0]))] if named else self._names
        if columns is not None and not columns.plain and len(head[0]) == len(self._names):
            self._columns, header = columns, columns.names
            self._names = column_names(header, len(header))
            for row in islice(self._rows, skipped + named, None):
                columns.learn(row.cells)
        builder = TextBuilder()
        for caption in captions:
            builder.block(caption)
        builder.separate()
        starts = array("Q")
        self._wide = wide = is_wide(self._names)
        rows = self._body(skipped + named)
        write_table(builder, self._names if wide else header, rows, starts.append, as_records=wide, told=self._told)
        return Content(
            builder.text(),
            "markdown" if captions else "records" if wide else "table",
            captions[0] if captions else None,
            {"row_count": len(starts), "columns": self._names[:100]},
            locations=builder.locations,
            records=Records(starts, self._record),
        )

    def _body(self, skipped: int) -> Iterator[tuple[int, list[str]]]:
        # As a spreadsheet numbers them: lines without cells are rows, too, and a row of several lines is one.
        further = -len(self._comments)
        for index, row in enumerate(self._rows):
            number = row.first + 1 - further
            further += row.last - row.first - 1
            if index >= skipped and any(row.cells):
                if row.plain:
                    self._plain.add(len(self._from))
                self._from.append(row.first)
                self._to.append(row.last)
                yield number, self._fitted(row.cells)

    def _told(self, row: Sequence[str]) -> str:
        """Return the text of a row of a wide table."""
        return record_text(zip(self._names, row, strict=False) if self._columns is None else self._columns.shown(row))

    def _said(self, skipped: int) -> Iterator[Mapping[str, str]]:
        """Yield the rows by the names of their columns."""
        for row in islice(self._rows, skipped, None):
            yield dict(zip(self._names, [*row.cells, *[""] * (len(self._names) - len(row.cells))], strict=False))

    def _fitted(self, row: list[str]) -> list[str]:
        """Return a row with one cell for each column; surplus cells are joined to the last one.

        In a very wide table, a short row stays short: very many of them may be in it.
        """
        width = len(self._names)
        if self._columns is not None:
            return row if self._wide else self._columns.cells(row)
        if len(row) > width:
            return [*row[: width - 1], self._rows.delimiter.join(row[width - 1 :])]
        return row if self._wide else [*row, *[""] * (width - len(row))]

    def _record(self, index: int) -> Mapping[str, Any]:
        row = self._rows.cells(self._from[index], self._to[index], plain=index in self._plain)
        if self._columns is not None:
            return self._columns.record(row, self._names)
        return dict(zip(self._names, self._fitted(row), strict=False))


def _comments(lines: list[str], delimiter: str) -> list[str]:
    """Remove and return the comments at the top of a file; if the last one is the header, it stays, uncommented."""
    count = next((number for number, line in enumerate(lines) if _COMMENT.match(line) is None), 0)
    if count:
        header, first = _COMMENT.sub("", lines[count - 1]), lines[count : count + _FIRST_LINES]
        named, *rows = [row.cells for row in CsvRows([header, *first], delimiter or _delimiter(first))] or [[]]
        if header and rows and len(named) == len(rows[0]) > 1 and not has_header(rows):
            count -= 1
            lines[count] = header
    comments = lines[:count]
    del lines[:count]
    return comments


def _delimiter(lines: list[str]) -> str:
    """Return the character that splits the most lines into the same number of cells, at least two."""
    sample: list[str] = []
    size = 0
    for line in lines[:_SAMPLE_LINES]:
        sample.append(line[:_SAMPLE_CHARS])
        size += len(sample[-1])
        if size > _SAMPLE_CHARS:
            break
    best, best_score = ",", (0.0, 0)
    for delimiter in _DELIMITERS:
        widths = [len(row.cells) for row in CsvRows(sample, delimiter)]
        if not widths:
            continue
        width, count = Counter(widths).most_common(1)[0]
        score = (count / len(widths) if width > 1 else 0.0, width)
        if score > best_score:
            best, best_score = delimiter, score
    return best
