"""Tables of AsciiDoc."""

from __future__ import annotations

import re

_COLUMNS = re.compile(r"""\bcols=(?:"([^"\]]{1,500})"|([^"\],]{1,50}))""")
# What is between cells: how many cells or columns the next one takes, how it is aligned, and what it holds.
_CELL = re.compile(
    r"(?:(?:^|(?<=\s))(?:(?P<count>\d{0,3})(?P<rows>\.\d{1,3})?(?P<kind>[+*]))?[<^>]?(?:\.[<^>])?[adehlmsv]?)?(?<!\\)\|"
)
_MOST_CELLS = 1_000_000


def columns_of(attributes: str) -> int:
    """Return the number of columns that the line of attributes above a table states; 0 if it states none."""
    told = _COLUMNS.search(attributes)
    return _count(told[1] or told[2]) if told is not None else 0


def _count(told: str) -> int:
    """Return the number of columns that the ``cols`` of a table states: ``1,2a`` or ``3*``."""
    counts = (part.strip().partition("*") for part in re.split("[,;]", told))
    return sum(int(count) if star and count.isdecimal() else 1 for count, star, _ in counts)


def rows_of(lines: list[str], columns: int) -> list[list[str]]:
    """Return the rows of a table; none if its cells do not fill them, as when a cell spans two rows."""
    columns = columns or len(_cells(next((line for line in lines if line.strip()), "")) or ())
    cells = _cells("\n".join(lines)) or []
    if not columns or not cells or len(cells) % columns:
        return []
    return [cells[start : start + columns] for start in range(0, len(cells), columns)]


def _cells(text: str) -> list[str] | None:
    """Return the cells in order, with empty ones beside a cell that spans columns; ``None`` if any spans rows."""
    found = list(_CELL.finditer(text))
    if not found or text[: found[0].start()].strip():
        return None
    cells: list[str] = []
    for match, end in zip(found, [*(following.start() for following in found[1:]), len(text)], strict=True):
        if match["rows"] or len(cells) > _MOST_CELLS:
            return None
        cell = " ".join(text[match.end() : end].replace("\\|", "|").split())
        count = int(match["count"] or 1)
        cells += [cell] * count if match["kind"] == "*" else [cell, *[""] * (count - 1)]
    return cells
