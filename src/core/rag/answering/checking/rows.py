"""Tells a sentence that takes a number from another row or column of a table than the one that it is about."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from core.rag.analysis import analyze
from core.rag.answering.checking.figures import numbers_of
from core.rag.answering.extracts.table_rows import is_head, is_row, with_head
from libs.regexes import regex

_NUMBER: Final = regex(r"\d+(?:[.,]\d+)*")
#: The same, or a date.
_FIGURE: Final = regex(r"\d+(?:[.,-]\d+)*")
_WORD: Final = regex(r"[^\W\d_]+")
#: A number and its unit: 130 EUR, 24 hours, €5. A date or the number of a thing (INV-1004) measures nothing.
_MEASURE: Final = regex(r"\W{0,2}\d+(?:[.,' ]\d+)*\W{0,2}[^\W\d_]{0,12}")
#: Where two are compared, a number may be of the one that is named by another sentence.
_COMPARES: Final = regex(
    r"\b(?:than|compared|versus|vs|unlike|whereas|als|gegenüber|que|contre|frente)\b", re.IGNORECASE
)


#: A number, or those of a date, each in all ways in which it may be meant.
type _Figure = tuple[frozenset[str], ...]


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell of a row.

    Attributes:
        column: The words of the name of its column.
        numbers: Its numbers, in all ways in which they may be meant.
        measures: Whether it is a number, perhaps with its unit, and nothing else.
    """

    column: frozenset[str]
    numbers: frozenset[str]
    measures: bool

    def has(self, figure: _Figure) -> bool:
        """Return whether it has a number."""
        return all(not numbers.isdisjoint(self.numbers) for numbers in figure)


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a table: the words of its cells, and these themselves."""

    terms: frozenset[str]
    cells: tuple[Cell, ...]

    def has(self, figure: _Figure) -> bool:
        """Return whether a cell has a number."""
        return any(cell.has(figure) for cell in self.cells)


def rows_of(text: str, spans: Iterable[tuple[int, int]], header: str, language: str) -> tuple[tuple[Row, ...], str]:
    """Return the rows of the tables in a passage, and the rest of its text.

    Args:
        text: The passage.
        spans: Where its sentences are.
        header: The head of the table that it begins within; may be empty.
        language: Its language.
    """
    rows: list[Row] = []
    prose: list[str] = []
    for start, end in spans:
        if not is_row(text, start):
            prose.append(text[start:end])
        elif not is_head(text, start):
            rows.append(_row(with_head(text, start, end, header), language))
    return tuple(rows), "\n".join(prose)


def _row(shown: str, language: str) -> Row:
    cells: list[Cell] = []
    terms: set[str] = set()
    for part in shown.split(" | "):
        column, _, value = part.rpartition(": ")
        terms.update(analyze(value, language))
        measures = _MEASURE.fullmatch(value.strip()) is not None
        cells.append(Cell(frozenset(analyze(column, language)), numbers_of(value), measures))
    return Row(frozenset(terms), tuple(cells))


def is_misplaced(claim: str, rows: Sequence[Row], elsewhere: frozenset[str], language: str) -> bool:
    """Return whether a number of a claim is that of another row, or of another column, than the claim is about.

    It is of another row if some row has all words of the claim that each row with the number has, and more of them. It
    is of another column if the claim names one before each number, or behind each, and that has another number.

    Args:
        claim: What is claimed.
        rows: The rows of the tables of a source.
        elsewhere: The numbers that the source has outside of its tables: of these nothing is judged.
        language: The language of the source.
    """
    figures = [(match, _figure(match[0])) for match in _FIGURE.finditer(claim)]
    told = [(match, figure) for match, figure in figures if any(row.has(figure) for row in rows)]
    of_prose = any(not numbers.isdisjoint(elsewhere) for _, figure in told for numbers in figure)
    if not told or of_prose or _COMPARES.search(claim):
        return False
    terms = frozenset(analyze(claim, language))
    for match, figure in told:
        rest = terms.difference(analyze(match[0], language))
        having = [row for row in rows if row.has(figure)]
        if all(any(row.terms & rest < other.terms & rest for other in rows) for row in having):
            return True
    whole = [row for row in rows if all(row.has(figure) for _, figure in told)]
    placed = [(match.start(), figure) for match, figure in told]
    return bool(whole) and all(_is_crossed(claim, row, placed, terms, language) for row in whole)


def _figure(text: str) -> _Figure:
    return tuple(numbers_of(number) for number in _NUMBER.findall(text))


def _is_crossed(
    claim: str, row: Row, told: Sequence[tuple[int, _Figure]], terms: frozenset[str], language: str
) -> bool:
    """Return whether columns and numbers take turns in a claim, and a number is not that of its column."""
    words = [(match.start(), frozenset(analyze(match[0], language))) for match in _WORD.finditer(claim)]
    named = [
        (min(place for place, word in words if word & cell.column), cell)
        for cell in row.cells
        if cell.measures and cell.column and cell.column <= terms
    ]
    turns = sorted([*((place, cell) for place, cell in named), *told], key=lambda turn: turn[0])
    if len(named) != len(told) or any(
        isinstance(first, Cell) == isinstance(second, Cell)
        for (_, first), (_, second) in zip(turns[::2], turns[1::2], strict=True)
    ):
        return False
    columns = [one for _, one in turns if isinstance(one, Cell)]
    return any(not column.has(figure) for column, (_, figure) in zip(columns, told, strict=True))
