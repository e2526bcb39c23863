"""Tables of AsciiDoc."""

from __future__ import annotations

import re
from typing import NamedTuple

from libs.regexes import regex

_COLUMNS = regex(r"""\bcols=(?:"([^"\]]{1,500})"|([^"\],]{1,50}))""")
# What is between cells: how many cells or columns the next one takes, how it is aligned, and what it holds.
_CELL = regex(
    r"(?:(?:^|(?<=\s))(?:(?P<count>\d{0,3})(?P<rows>\.\d{1,3})?(?P<kind>[+*]))?[<^>]?(?:\.[<^>])?[adehlmsv]?)?(?<!\\)\|"
)
#: What says that the first row names the columns, or (group 1) that it does not.
_HEADER = regex(r"(?:%|\b(?:options|opts)=[\"']?[\w,%]{0,100}?)\b(no)?header\b")
_MOST_CELLS = 1_000_000


class _Cell(NamedTuple):
    """A cell.

    Attributes:
        text: What it says.
        columns: How many columns it takes,
        rows: and how many rows.
    """

    text: str
    columns: int = 1
    rows: int = 1


def columns_of(attributes: str) -> int:
    """Return the number of columns that the line of attributes above a table states; 0 if it states none."""
    told = _COLUMNS.search(attributes)
    return _count(told[1] or told[2]) if told is not None else 0


def _count(told: str) -> int:
    """Return the number of columns that the ``cols`` of a table states: ``1,2a`` or ``3*``."""
    counts = (part.strip().partition("*") for part in re.split("[,;]", told))
    # Of a number with more digits the first ones are far too many, too.
    return sum(int(count[:9]) if star and count.isdecimal() else 1 for count, star, _ in counts)


def has_header(attributes: str) -> bool | None:
    """Return whether the line of attributes above a table says that its first row names the columns; else ``None``."""
    told = _HEADER.search(attributes)
    return None if told is None else not told[1]


def begins_with_header(lines: list[str], columns: int) -> bool:
    """Return whether the first row names the columns though nothing says so: it stands apart, and the next does not."""
    return _stands_apart(lines, 0, columns) and not _stands_apart(lines, 2, columns)


def _stands_apart(lines: list[str], place: int, columns: int) -> bool:
    """Return whether a line is a whole row, with an empty line below."""
    if place + 1 >= len(lines) or lines[place + 1].strip():
        return False
    return sum(cell.columns for cell in _cells(lines[place])) == columns


def rows_of(lines: list[str], columns: int) -> list[list[str]]:
    """Return the rows of a table; none if its cells do not fill them.

    A cell that spans rows is repeated in each, one that spans columns is not.
    """
    columns = columns or sum(cell.columns for cell in _cells(next((line for line in lines if line.strip()), "")))
    if not 0 < columns <= _MOST_CELLS:
        return []
    rows: list[list[str]] = []
    row: list[str] = []
    below = [(0, "")] * columns  # how many rows a cell above takes, and its text

    def fill() -> None:
        nonlocal row
        while len(row) == columns or below[len(row)][0]:
            if len(row) == columns:
                rows.append(row)
                row = []
            else:
                left, text = below[len(row)]
                below[len(row)] = (left - 1, text)
                row.append(text)

    for cell in _cells("\n".join(lines)):
        fill()
        if len(row) + cell.columns > columns or len(rows) * columns > _MOST_CELLS:
            return []
        for text in (cell.text, *[""] * (cell.columns - 1)):
            below[len(row)] = (cell.rows - 1, text)
            row.append(text)
    while row and len(row) < columns and below[len(row)][0]:
        row.append(below[len(row)][1])
    return [*rows, row] if len(row) == columns else []


def _cells(text: str) -> list[_Cell]:
    """Return the cells in order; none if there is text before the first, or far too many are repeated."""
    found = list(_CELL.finditer(text))
    if not found or text[: found[0].start()].strip():
        return []
    cells: list[_Cell] = []
    for match, end in zip(found, [*(following.start() for following in found[1:]), len(text)], strict=True):
        if len(cells) > _MOST_CELLS:
            return []
        cell = " ".join(text[match.end() : end].replace("\\|", "|").split())
        count, down = int(match["count"] or 1), int((match["rows"] or ".1")[1:])
        if match["kind"] == "*":
            cells += [_Cell(cell)] * count
        else:
            cells.append(_Cell(cell, max(count, 1), max(down, 1)))
    return cells
