"""Writes the tables of a PDF, with their header again where they go on on the next page."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

from libs.dataloader.form_tables import OF_FIELD, field_lines, fields_of
from libs.dataloader.formats.pdf_shapes import is_amount
from libs.dataloader.tables import markdown_table
from libs.regexes import regex

if TYPE_CHECKING:
    from libs.dataloader.formats.pdf_layout import Line, Table

_DIGITS = regex(r"\d+")
_SAME_PLACE = 3.0  # points


def tables_of(pages: Sequence[Sequence[Line]], running: Mapping[int, Collection[int]]) -> dict[Table, str]:
    """Return the tables as Markdown, but none of those that run along the heads and feet of the pages.

    Args:
        pages: The lines of the pages.
        running: Numbers of the lines that run along the heads and feet, by number of the page.
    """
    found: dict[Table, str] = {}
    last: Table | None = None  # at the end of the page before
    names: list[str] = []
    form: list[Sequence[str]] = []  # the rows of one, which may go on
    amounts: list[int] = []
    for number, lines in enumerate(pages):
        shown = [line for index, line in enumerate(lines) if line.text and index not in running.get(number, ())]
        before = pages[number - 1] if number else []
        following = pages[number + 1] if number + 1 < len(pages) else []
        # What is first and last is seen from the places: titles may be drawn after all else.
        placed = sorted((line for line in shown if line.size), key=lambda line: -line.bottom)
        first, end = _at_edge(placed, before), _at_edge(placed[::-1], following)
        for table in dict.fromkeys(line.table for line in shown):
            if table is None:
                continue
            goes_on = last is not None and table is first and _are_alike(last, table)
            rows = table.parts[0].rows
            begun = form if goes_on else []
            fields = fields_of([*begun, *rows])[len(begun) :] if len(table.parts) == 1 else []
            if fields:
                form, names = ([*begun, *rows] if len(rows[0]) == OF_FIELD else []), []
                found[table] = "\n\n".join(filter(None, (table.parts[0].caption, field_lines(fields))))
                continue
            form = []
            if goes_on and len(names) == len(rows[0]) and _is_body(rows[0], names, amounts):
                rows = [names, *rows]
            else:
                names = table.parts[-1].rows[0]
                amounts = _amounts(table.parts[-1].rows[1:])
            blocks = [table.parts[0].caption, markdown_table(rows)]
            for part in table.parts[1:]:
                blocks += [part.caption, markdown_table(part.rows)]
            found[table] = "\n\n".join(filter(None, blocks))
        last = end
    return found


def _at_edge(lines: Sequence[Line], beside: Sequence[Line]) -> Table | None:
    """Return the table at the beginning of lines, but for those that the page beside has at the same place."""
    for line in lines:
        if line.table is not None:
            return line.table
        said = _DIGITS.sub("0", line.text)
        if not any(
            said == _DIGITS.sub("0", other.text) and abs(other.bottom - line.bottom) < _SAME_PLACE for other in beside
        ):
            return None
    return None


def _are_alike(table: Table, other: Table) -> bool:
    return len(table.columns) == len(other.columns) and all(
        abs(one - two) < _SAME_PLACE for one, two in zip(table.columns, other.columns, strict=True)
    )


def _is_body(row: Sequence[str], names: Sequence[str], amounts: Sequence[int]) -> bool:
    """Return whether a row goes on below names: not if it is these, or has other words where there are amounts."""
    filled = [column for column in amounts if row[column]]
    return row != names and (not filled or any(is_amount(row[column]) for column in filled))


def _amounts(rows: Sequence[Sequence[str]]) -> list[int]:
    """Return the columns with amounts."""
    return [
        column
        for column in range(len(rows[0]))
        if 2 * sum(is_amount(row[column]) for row in rows) > sum(bool(row[column]) for row in rows)
    ]
