"""The tables of reStructuredText: drawn ones, and those that are lists or CSV."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

#: The lines of a simple table.
SIMPLE = re.compile(r"^\s*=+(?:[ \t]+=+)+[ \t]*$")

_BULLET = re.compile(r"[*+-](?:\s+|$)")
_NAMED_CHARACTERS = {"space": " "}  # and "tab"; but tabs are blanks by now, in docutils as well


def grid_rows(lines: Sequence[str]) -> list[list[str]]:
    """The cells of a table drawn with ``+``, ``-`` and ``|``."""
    margin = indent(lines[0])
    bounds = sorted(
        {place for line in lines if line.lstrip().startswith("+") for place, char in enumerate(line) if char == "+"}
    )
    rows: list[list[str]] = []
    current = [""] * (len(bounds) - 1)
    for line in lines[1:]:
        if line[margin : margin + 1] == "+" and set(line.strip()) <= set("+-="):
            rows.append(current)
            current = [""] * (len(bounds) - 1)
            continue
        for column, (left, right) in enumerate(pairwise(bounds)):
            current[column] = f"{current[column]} {line[left + 1 : right].strip(' |')}".strip()
    return rows


def simple_rows(lines: Sequence[str]) -> list[list[str]]:
    """The cells of a table whose columns are those of its lines of ``=``."""
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
    """The cells of a ``list-table``, each as lines: a list of lists.

    Args:
        lines: Its body, without options and indentation.

    Returns:
        The rows; none where the body is something else.
    """
    rows = [list(_items(item)) for item in _items(lines)]
    return rows if all(rows) else []


def csv_rows(lines: Sequence[str], options: Mapping[str, str]) -> list[list[list[str]]]:
    """The cells of a ``csv-table``, each as lines, with those of its option ``header`` above them.

    Args:
        lines: Its body, without options and indentation.
        options: Its options by name.

    Returns:
        The rows; none where the body cannot be read.
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
    """How many blanks a line begins with."""
    return len(line) - len(line.lstrip(" "))


def dedented(lines: Sequence[str]) -> list[str]:
    """Lines without the indentation that all of them have, and without empty ones around them."""
    margin = min((indent(line) for line in lines if line.strip()), default=0)
    found = [line[margin:].rstrip() for line in lines]
    start, end = 0, len(found)
    while start < end and not found[start]:
        start += 1
    while end > start and not found[end - 1]:
        end -= 1
    return found[start:end]


def _items(lines: Sequence[str]) -> Iterator[list[str]]:
    """The items of a list, without bullets and indentation; nothing if there is more than the list."""
    items: list[list[str]] = []
    for line in lines:
        if bullet := _BULLET.match(line):
            items.append([" " * bullet.end() + line[bullet.end() :]])
        elif items and (not line or line.startswith(" ")):
            items[-1].append(line)
        elif line:
            return
    yield from map(dedented, items)
