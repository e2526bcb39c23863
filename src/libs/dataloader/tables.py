"""Formats rows as Markdown tables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from libs.dataloader.formats.base import check_length
from libs.regexes import regex

#: Between the cells of a row; a bar that belongs to the text is escaped.
BAR = regex(r"(?<!\\)\|")
_PREFIXES = frozenset(("$", "€", "£", "¥", "(", "$(", "US$"))
_SUFFIXES = frozenset((")", "%", ")%", "%)"))


def table_row(cells: Iterable[str]) -> str:
    """Return a row, ``| a | b |``; pipes are escaped, line ends inside a cell become blanks."""
    return "| " + " | ".join(_cell(cell) for cell in cells) + " |"


def row_cells(row: str) -> list[str]:
    """Return the cells of a row, as they are written there; it may lack the bars at its ends."""
    cells = [cell.strip() for cell in BAR.split(row.strip())]
    if len(cells) > 1 and not cells[0]:
        del cells[0]
    if len(cells) > 1 and not cells[-1]:
        del cells[-1]
    return cells


def separator_row(columns: int) -> str:
    """Return the row below the header."""
    return "|" + " --- |" * columns


def markdown_table(rows: Sequence[Sequence[str]]) -> str:
    """Return a Markdown table whose first row is the header; short rows are filled with empty cells.

    Raises:
        UnreadableError: if it becomes too long.
    """
    filled = rectangular(rows)
    width = len(filled[0])
    check_length(sum(3 * width + sum(map(len, row)) for row in filled))
    lines = [table_row(filled[0]), separator_row(width), *(table_row(row) for row in filled[1:])]
    return "\n".join(lines)


def rectangular(rows: Sequence[Sequence[str]]) -> list[list[str]]:
    """Return rows of one length; short ones are filled with empty cells.

    Raises:
        UnreadableError: if the table becomes too long: one very long row, and very many short ones, fill the memory.
    """
    width = max(map(len, rows), default=0)
    check_length(3 * width * len(rows))
    return [[*row, *[""] * (width - len(row))] for row in rows]


def joined_header(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return one header for several, one above the other: ``Income`` above ``Plan`` is ``Income Plan``.

    What stands above several columns must be in each of them; what is there twice is said once.
    """
    return [" ".join(dict.fromkeys(filter(None, column))) for column in zip(*rows, strict=True)]


def _cell(text: str) -> str:
    if "|" in text:
        text = text.replace("|", "\\|")
    return " ".join(text.split()) if "\n" in text or "\t" in text or "  " in text else text.strip()


def join_symbols(rows: list[list[str]]) -> list[list[str]]:
    """Put currency signs, brackets and per cent signs that have cells of their own back to their number.

    Financial reports have such cells. Columns and rows that are empty then are dropped.
    """
    for row in rows:
        for column in range(len(row)):
            if row[column] in _PREFIXES:
                target = next((later for later in range(column + 1, min(column + 3, len(row))) if row[later]), None)
                if target is not None:
                    row[target], row[column] = row[column] + row[target], ""
            elif row[column] in _SUFFIXES:
                target = next((earlier for earlier in range(column - 1, max(column - 3, -1), -1) if row[earlier]), None)
                if target is not None:
                    row[target], row[column] = row[target] + row[column], ""
    kept = [column for column in range(max(map(len, rows), default=0)) if any(row[column] for row in rows)]
    return [[row[column] for column in kept] for row in rows if any(row)]
