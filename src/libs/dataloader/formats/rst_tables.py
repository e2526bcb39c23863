"""The tables of reStructuredText: drawn ones, list tables and CSV tables."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Mapping, Sequence
from unicodedata import east_asian_width

from libs.regexes import regex

#: The lines of a simple table.
SIMPLE = regex(r"^\s*=+(?:[ \t]+=+)+[ \t]*$")

#: Characters of a cell that are said again in every row that it goes over; a long one would be said thousands of times.
_LONGEST_REPEATED = 200
#: Lines times columns: a row of a few characters may go over as many columns as any other line has.
_MOST_PLACES = 2_000_000
_BULLET = regex(r"[*+-](?:\s+|$)")
_NAMED_CHARACTERS = {"space": " "}  # and "tab"; but tabs are blanks by now, in docutils as well


def grid_rows(lines: Sequence[str]) -> list[list[str]]:
    """Return the cells of a table drawn with ``+``, ``-`` and ``|``.

    The text of a cell that spans rows is repeated in each of them, if it is short; that of a cell that spans columns is
    in the first.
    """
    bounds = sorted(
        {place for line in lines if line.lstrip().startswith("+") for place, char in enumerate(line) if char == "+"}
    )
    if len(bounds) * len(lines) > _MOST_PLACES:
        return []
    rows: list[list[list[str]]] = []
    current: list[list[str]] = [[] for _ in bounds[1:]]
    for line in lines[1:]:
        cells = list(_grid_cells(line, bounds))
        ruled = {column for columns, _, rule in cells if rule for column in columns}
        if ruled:
            rows.append(current)
            # A cell without a rule below it goes on, and is the same one in both rows.
            current = [[] if column in ruled else cell for column, cell in enumerate(current)]
        for columns, text, rule in cells:
            if text and not rule:
                current[columns[0]].append(text)
    texts: dict[int, str] = {}
    found: list[list[str]] = []
    for row in rows:
        found.append([])
        for cell in row:
            again = texts.get(id(cell))
            text = texts[id(cell)] = " ".join(cell) if again is None else again
            found[-1].append(text if again is None or len(text) <= _LONGEST_REPEATED else "")
    return found


def _grid_cells(line: str, bounds: Sequence[int]) -> Iterator[tuple[range, str, bool]]:
    """Yield for each cell that a line crosses its columns, the text, and whether the line is the rule below it."""
    wide = "".join(f"{char}\0" if east_asian_width(char) in "WF" else char for char in line)  # as wide as it is shown
    first = 0
    for last, right in enumerate(bounds[1:]):
        if wide[right : right + 1] not in ("|", "+") and last + 2 < len(bounds):
            continue  # a cell over several columns
        left = bounds[first]
        text = wide[left + 1 : right].replace("\0", "")
        rule = bool(text) and not text.strip("-=") and "+" in (wide[left], wide[right : right + 1])
        yield range(first, last + 1), text.strip(" |"), rule
        first = last + 1


def simple_rows(lines: Sequence[str]) -> list[list[str]]:
    """Return the cells of a table whose columns are given by its lines of ``=``."""
    starts = [match.start() for match in re.finditer(r"=+", lines[0])]
    rows: list[list[str]] = []
    for line in lines[1:]:
        if SIMPLE.match(line) or not line.strip() or set(line.strip()) <= set("- "):
            continue
        cells = [line[left:right].strip() for left, right in zip(starts, [*starts[1:], None], strict=True)]
        if rows and not cells[0]:  # goes on from the line above
            rows[-1] = [f"{above} {cell}".strip() for above, cell in zip(rows[-1], cells, strict=True)]
        else:
            rows.append(cells)
    return rows


def list_rows(lines: Sequence[str]) -> list[list[list[str]]]:
    """Return the cells of a ``list-table`` (a list of lists), each as lines.

    Args:
        lines: Its body, without options and indentation.

    Returns:
        The rows; none if the body is something else.
    """
    rows = [list(_items(item)) for item in _items(lines)]
    return rows if all(rows) else []


def csv_rows(lines: Sequence[str], options: Mapping[str, str]) -> list[list[list[str]]]:
    """Return the cells of a ``csv-table``, each as lines, with those of its option ``header`` above them.

    Args:
        lines: Its body, without options and indentation.
        options: Its options by name.

    Returns:
        The rows; none if the body cannot be read.
    """
    delimiter, quote, escape = (
        _NAMED_CHARACTERS.get(options.get(name, ""), options.get(name) or usual)
        for name, usual in (("delim", ","), ("quote", '"'), ("escape", None))
    )
    header = options.get("header", "").split("\n")
    rows: list[list[str]] = []
    for part, between in (
        (header, delimiter if delimiter and delimiter in header[0] else ","),
        (lines, delimiter),
    ):
        try:
            rows += csv.reader(
                (line + "\n" for line in part),
                delimiter=between or ",",
                quotechar=quote,
                escapechar=escape,
                # A blank that is skipped cannot be a delimiter.
                skipinitialspace=between != " ",
            )
        except (csv.Error, TypeError, ValueError):  # an enormous cell, or a delimiter that is none
            return []
    return [[cell.split("\n") for cell in row] for row in rows if any(cell.strip() for cell in row)]


def indent(line: str) -> int:
    """Return the number of blanks at the beginning of a line."""
    return len(line) - len(line.lstrip(" "))


def dedented(lines: Sequence[str]) -> list[str]:
    """Return lines without their common indentation, and without empty lines around them."""
    margin = min((indent(line) for line in lines if line.strip()), default=0)
    found = [line[margin:].rstrip() for line in lines]
    start, end = 0, len(found)
    while start < end and not found[start]:
        start += 1
    while end > start and not found[end - 1]:
        end -= 1
    return found[start:end]


def _items(lines: Sequence[str]) -> Iterator[list[str]]:
    """Yield the items of a list, without bullets and indentation; nothing if there is anything but the list."""
    items: list[list[str]] = []
    for line in lines:
        if bullet := _BULLET.match(line):
            items.append([" " * bullet.end() + line[bullet.end() :]])
        elif items and (not line or line.startswith(" ")):
            items[-1].append(line)
        elif line:
            return
    yield from map(dedented, items)
