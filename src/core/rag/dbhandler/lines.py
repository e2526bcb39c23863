"""Packs rows into a single text, for statements that write a great many small rows.

An engine takes a long text, and splits it, in a fraction of the time that it needs for a list of as many maps or texts;
checking and weighing a parameter is then one step, too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from core.rag.arguments import check_texts
from core.rag.dbhandler.batches import MAX_BYTES, batches

FIELD: Final = "\x1f"
_LINE: Final = "\x1e"

# A row is little work for an engine, so a statement may have more of them than of other rows.
_MAX_LINES: Final = 2_000

#: The beginning of a statement over rows; ``part[0]``, ``part[1]`` … are the fields of a row, as strings.
EACH_LINE: Final = "UNWIND split($lines, $line) AS line WITH split(line, $field) AS part "

#: The same for rows that are only an id, ``i``.
EACH_ID: Final = "UNWIND split($lines, $line) AS i "


def is_safe(*fields: str) -> bool:
    """Return whether fields can be part of a row: none may contain a separator."""
    return "".join(fields).isprintable()


def lines_of(rows: Iterable[Sequence[str | int]]) -> list[str]:
    """Join the fields of each row, all with the same number; return no rows if a field contains a separator."""
    lines: list[str] = []
    separators = 0
    for row in rows:
        lines.append(FIELD.join(map(str, row)))
        separators += len(row) - 1
    whole = "".join(lines)
    return lines if whole.count(FIELD) == separators and _LINE not in whole else []


def packed(rows: Sequence[str]) -> Iterator[dict[str, str]]:
    """Yield the parameters of the statements over rows.

    Args:
        rows: Rows whose fields are joined by ``FIELD``.
    """
    rows = check_texts("ids", rows)
    for start in range(0, len(rows), _MAX_LINES):
        part = rows[start : start + _MAX_LINES]
        lines = _LINE.join(part)
        # Measuring every row would take longer than joining them.
        for text in [lines] if len(lines) <= MAX_BYTES else map(_LINE.join, batches(part)):
            yield {"lines": text, "line": _LINE, "field": FIELD}
