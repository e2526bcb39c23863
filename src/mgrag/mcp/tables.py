"""Tables as an agent reads them: a page at a time, as models pay for every character."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from mgrag.mcp.remembered import PAGE_CHARS

if TYPE_CHECKING:
    from core.rag.retrieval.tables.table import RecordTable

#: An id, with its quotation marks.
_ID_CHARS = 40


def page_of(table: RecordTable, start: int) -> dict[str, Any]:
    """The rows from a number on, as many as fit, and at which to go on: ``next_start``, null at the end.

    Of a row that is longer than a page by itself, the beginnings of its texts are given.
    """
    rows: list[dict[str, Any]] = []
    room = PAGE_CHARS
    for row in table.rows[start:]:
        room -= len(json.dumps(row, ensure_ascii=False)) + _ID_CHARS
        if room < 0 and rows:
            break
        rows.append(row if room >= 0 else {name: _beginning(value, len(row)) for name, value in row.items()})
    end = start + len(rows)
    more = end if rows and end < table.total else None
    return {**table.to_dict(), "rows": rows, "ids": table.ids[start:end], "next_start": more}


def _beginning(value: Any, columns: int) -> Any:
    width = PAGE_CHARS // columns
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return value if len(text) <= width else f"{text[:width]}…"
