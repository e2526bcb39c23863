"""The names of the columns of a table whose first rows have cells over several columns: groups of names, or a title."""

from __future__ import annotations

from collections.abc import Sequence

from libs.dataloader.formats.rows import is_amount, is_number, is_year
from libs.dataloader.tables import joined_header, markdown_table, rectangular
from libs.regexes import regex

_FEWEST_TITLED = 3  # columns; of two, what stands above may be the name of the first
_NEARLY = 0.9  # of the cells below a name
_DIGIT = regex(r"\d")
_LONGEST_GROUP = 100  # characters; longer is text, which is not said again in each column


def data_table(rows: Sequence[Sequence[str]]) -> str:
    """Return a Markdown table whose first row names the columns, below what stands above all of them.

    Args:
        rows: The cells. Of one over several columns, the others are empty; one over several rows is in the first of
            them, or in each.

    Raises:
        UnreadableError: if it becomes too long.
    """
    title, cells = "", rectangular(rows)
    if _has_title(cells):
        title, cells = " ".join(cells[0][0].split()), cells[1:]
    if names := grouped_names(cells):
        cells = [names, *cells[2:]]
    return "\n\n".join(filter(None, (title, markdown_table(cells))))


def grouped_names(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return the names of the columns if the first row names groups of those that the second one names; else none.

    A group is a name with empty cells behind it, below which the second row has names. The first column is in none, for
    a name above that is one of all columns; its own name, and that of any other, is in one of the two rows, or in both.

    Args:
        rows: The cells; rows of the same length. Of fewer than three, none are names.
    """
    if len(rows) < 3 or not any(rows[0]):
        return []
    first, second = rows[0], rows[1]
    above = _spread(first, second)
    inner = [place for place, name in enumerate(above) if name and not first[place]]
    members = {*inner, *(place - 1 for place in inner)}
    others = [place for place in range(len(first)) if place not in members]
    if not members or 0 in members or not all(second[place] for place in members):
        return []
    if any(len(first[place]) > _LONGEST_GROUP for place in members):
        return []
    if any(first[place] and second[place] and first[place] != second[place] for place in others):
        return []
    if any(not first[place] and is_number(second[place]) for place in others):
        return []
    if 2 * sum(is_amount(second[place]) for place in members) >= len(members):
        return []
    return joined_header([above, second])


def _has_title(rows: Sequence[Sequence[str]]) -> bool:
    """Return whether the first row is one cell above all columns, which the next one names."""
    if len(rows) < 4 or len(rows[0]) < _FEWEST_TITLED or not rows[0][0] or any(rows[0][1:]):
        return False
    return bool(grouped_names(rows[1:])) or _are_names(rows[1], rows[2:])


def _are_names(row: Sequence[str], below: Sequence[Sequence[str]]) -> bool:
    """Return whether a row surely names columns: all but the first, none by an amount, and cells below one have digits,
    which its name has not, or are no years as that is."""
    if not all(row[1:]) or len(set(row)) < len(row) or any(map(is_amount, row)):
        return False
    for name, *column in list(zip(row, *below, strict=True))[1:]:
        told = [cell for cell in column if cell and not is_year(cell)]
        if (is_year(name) or not _has_digit(name)) and sum(map(_has_digit, told)) > _NEARLY * len(told):
            return True
    return False


def _has_digit(text: str) -> bool:
    return _DIGIT.search(text) is not None


def _spread(groups: Sequence[str], names: Sequence[str]) -> list[str]:
    """Return the first row with the name of each group above all of its columns."""
    spread: list[str] = []
    for place, name in enumerate(groups):
        spread.append(name or (spread[-1] if place and names[place] else ""))
    return spread
