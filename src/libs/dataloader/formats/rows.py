"""Rows of cells as text: Markdown tables, or one record per paragraph where a table would be too wide to read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice
from typing import Any, overload

from libs.dataloader.formats.base import TextBuilder
from libs.dataloader.tables import separator_row, table_row
from libs.regexes import regex

#: A header longer than this cannot be repeated in every chunk; each value gets its name instead.
WIDE = 400
_YEARS = range(1900, 2101)
_LOOKED_AT = 30
#: Of a series with a name, or of parts of parts: ``REQ-012``, ``V3.1``, ``1.2.3``.
_SERIES = regex(r"((?:[^\W\d_]{1,8}[-_. #]{0,2})(?=\d)|(?=(?:\d+\.){2}))\d+(?:[.-]\d+)*")
_FEWEST_OF_SERIES = 2
_SIGNS = "%€£¥$₹₽₩₺ "


class Records(Sequence[tuple[int, Mapping[str, Any]]]):
    """Records that are created on access, so that a large table is not held in memory twice.

    Args:
        starts: Where each record begins in the content of the document.
        make: Returns the record with a number (from 0); can be pickled.
    """

    def __init__(self, starts: Sequence[int], make: Callable[[int], Mapping[str, Any]]) -> None:
        self._starts = starts
        self._make = make

    def __len__(self) -> int:
        return len(self._starts)

    @overload
    def __getitem__(self, index: int) -> tuple[int, Mapping[str, Any]]: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[tuple[int, Mapping[str, Any]]]: ...
    def __getitem__(
        self, index: int | slice
    ) -> tuple[int, Mapping[str, Any]] | Sequence[tuple[int, Mapping[str, Any]]]:
        if isinstance(index, slice):
            return [self[number] for number in range(*index.indices(len(self)))]
        number = range(len(self))[index]
        return self._starts[number], self._make(number)


def is_wide(header: Sequence[str]) -> bool:
    """Return whether a table with this header is better written as records."""
    return sum(len(cell) + 3 for cell in header) > WIDE


def column_names(header: Sequence[str], width: int) -> list[str]:
    """Return a name for each column; none is empty, and none occurs twice."""
    names: list[str] = []
    taken: dict[str, int] = {}  # and the number that the last column with this name got
    for number in range(width):
        name = " ".join(header[number].split()) if number < len(header) else ""
        name = name or f"column_{number + 1}"
        unique, count = name, taken.get(name, 1)
        while unique in taken:
            count += 1
            unique = f"{name}_{count}"
        taken[name] = count
        taken.setdefault(unique, 1)
        names.append(unique)
    return names


def has_header(rows: Sequence[Sequence[str]]) -> bool:
    """Return whether the first row names the columns.

    It does unless it looks like all rows below it, with numbers where they have numbers, or one of a series where they
    have others: ``V3.1`` above ``V3.2``.
    """
    if len(rows) < 2:
        return True
    first, below = rows[0], rows[1:_LOOKED_AT]
    if any(goes_on(cell, [row[column] for row in below if column < len(row)]) for column, cell in enumerate(first)):
        return False
    numbers = [column for column, cell in enumerate(first) if is_number(cell)]
    if not numbers or all(is_year(first[column]) for column in numbers):
        return True
    values = [row[column] for row in below for column in numbers if column < len(row) and row[column]]
    return not all(map(is_number, values)) if values else _counts(first)


def _counts(first: Sequence[str]) -> bool:
    """Return whether the numbers of a row count its columns: ``1``, ``2``, ``3`` behind names."""
    numbers = [cell for cell in first if is_number(cell)]
    return len(numbers) > 1 and all(first) and numbers == [str(place) for place in range(1, len(numbers) + 1)]


def goes_on(cell: str, below: Sequence[str]) -> bool:
    """Return whether several others of a series are below a cell, and nothing else."""
    series, others = _SERIES.fullmatch(cell.strip()), [text.strip() for text in below if text.strip()]
    if series is None or len(others) < _FEWEST_OF_SERIES or len({cell, *others}) <= len(others):
        return False
    found = [_SERIES.fullmatch(text) for text in others]
    return all(one is not None and one[1] == series[1] for one in found)


def is_year(text: str) -> bool:
    """Return whether a cell contains a year of this time."""
    return text.isdecimal() and int(text[:6]) in _YEARS


def is_amount(text: str) -> bool:
    """Return whether a cell contains a number that is no year, which may be the name of a column."""
    return is_number(text) and not is_year(text)


def is_number(text: str) -> bool:
    """Return whether a cell contains a number, or an amount of money with the sign of its currency."""
    text = text.strip().strip(_SIGNS).replace(" ", "").replace(",", "").replace("_", "")
    try:
        float(text)
    except ValueError:
        return False
    return True


def split_captions(rows: Sequence[Sequence[str]]) -> tuple[list[str], int]:
    """Return the lines of text above a table (rows with one cell above rows with several) and their number of rows."""
    captions: list[str] = []
    for count, row in enumerate(islice(rows, 10)):
        filled = [cell for cell in row if cell.strip()]
        if len(filled) > 1:
            return captions, count
        captions += filled
    return [], 0


def write_table(
    builder: TextBuilder,
    header: Sequence[str],
    rows: Iterable[tuple[int, Sequence[str]]],
    starts: Callable[[int], object],
    *,
    as_records: bool,
    told: Callable[[Sequence[str]], str] | None = None,
) -> None:
    """Append a table.

    Args:
        builder: What the table is appended to.
        header: Names of the columns.
        rows: ``(row number in the source, cells)``.
        starts: Called with the place where each row begins.
        as_records: Write ``name: value`` lines, one paragraph per row, instead of a Markdown table.
        told: Returns these lines, if it is not the names and values alone.
    """
    width = len(header)
    if not as_records:
        builder.add(f"{table_row(header)}\n{separator_row(width)}")
    for number, cells in rows:
        if as_records:
            text = told(cells) if told is not None else record_text(zip(header, cells, strict=False))
        else:
            text = table_row([*cells[:width], *[""] * (width - len(cells))])
        if not text:
            continue
        builder.separate("\n\n" if as_records else "\n")
        builder.mark("row", number)
        starts(builder.position)
        builder.add(text)


def record_text(items: Iterable[tuple[str, str]]) -> str:
    """Return ``name: value`` lines, without empty values; values alone where there is no name."""
    lines: list[str] = []
    for name, value in items:
        parts = [line.rstrip() for line in value.split("\n") if line.strip()]
        if parts:
            lines.append((f"{name}: " if name else "") + "\n".join(parts).strip())
    return "\n".join(lines)
