"""Where in its document a chunk begins: the row of a table, the page, the sheet, the time."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from typing import Any

from core.rag.indexing.splitting.long_rows import Columns
from core.rag.indexing.splitting.packing import Table
from libs.dataloader.types import PLACES, table_places


class Rows:
    """Numbers of rows in tables; of places in ascending order, each row is counted once."""

    def __init__(self, content: str) -> None:
        self._content = content
        self._body = self._place = self._before = 0

    def number(self, body: int, place: int) -> int:
        """Return the number (from 1) of the row at a place in a table whose rows begin at ``body``."""
        if body != self._body or place < self._place:
            self._body, self._place, self._before = body, body, 0
        self._before += self._content.count("\n", self._place, place)
        self._place = place
        return self._before + 1


def add_table(metadata: dict[str, Any], rows: Rows, columns: Columns, start: int, table: Table, kind: str) -> None:
    """Add the header of the table in whose rows a chunk begins, and the number of its row."""
    if start >= table.body and (header := columns.header_from(table.header, start)):
        metadata["table_header"] = header
    if table.header or kind == "table":
        metadata["row"] = rows.number(table.body, max(start, table.body))


def add_places(
    metadata: dict[str, Any],
    locations: Mapping[str, Sequence[tuple[int, int | str]]],
    content: str,
    start: int,
    end: int,
) -> None:
    """Add the location of the first visible character, and for pages also that of the last one."""
    chunk = content[start:end]
    first = start + len(chunk) - len(chunk.lstrip())
    last = start + len(chunk.rstrip()) - 1
    if first >= end:
        first = last = start
    sheets = table_places(locations)
    sheet = sheets[at - 1][0] if (at := bisect_right(sheets, first, key=_start)) else 0
    for name in PLACES:
        starts = locations.get(name)
        if not starts:
            continue
        index = bisect_right(starts, first, key=_start) - 1
        if index < 0 and name in metadata and isinstance(row := starts[0][1], int):
            metadata[name] = max(row - 1, 1)  # that of the header, wherever on its sheet the table is
        if index < 0 or (name == "row" and starts[index][0] < sheet):
            continue  # a row number of the previous sheet does not apply to this one
        metadata[name] = starts[index][1]
        if name == "page" and (index_end := bisect_right(starts, last, key=_start) - 1) > index:
            metadata["page_end"] = starts[index_end][1]


def _start(place: tuple[int, Any]) -> int:
    return place[0]
