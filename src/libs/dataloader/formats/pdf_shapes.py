"""The cells of a table of a PDF, with the words in each, and what they say as rows of text."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from libs.dataloader.tables import join_symbols, joined_header
from libs.regexes import regex

_LONGEST_CELL = 1_000  # characters; a longer one is a column of text in a frame
_MOST_HEADERS = 3
#: The least share of cells that hold something, and the most that span others.
_RULED = (0.2, 0.4)
_COLOURED = (0.6, 0.15)
_ENDS = (".", "!", "?", ":", ";")
_RUNNING = 0.2  # of the rows, in which a cell goes on in the next one
_MOST_NAMES = 5  # words of a line that is a row of its own
_BETWEEN = 0.8  # of the height of a line: what is between columns at least
_YEAR = regex(r"\W*(?:19|20)\d\d\W*", re.ASCII)
_AMOUNT = regex(r"[\W_]*\d[\d\W_]*[A-Za-z%]{0,2}\W*|[-–—.*]+|\(?[xX]\)?|n/?a|NA", re.ASCII)


class NoTableError(Exception):
    """What looks like a table may be something else."""


class Cell(NamedTuple):
    """A cell of a table: its first row and column, and how many of them it spans."""

    row: int
    column: int
    rows: int = 1
    columns: int = 1


class Word(NamedTuple):
    """A word: where it begins and ends in the text of the page, its box and its letters."""

    start: int
    end: int
    left: float
    bottom: float
    right: float
    top: float
    text: str = ""

    @property
    def middle(self) -> float:
        return (self.bottom + self.top) / 2

    @property
    def height(self) -> float:
        return self.top - self.bottom

    @property
    def is_amount(self) -> bool:
        """Whether it is a number, or stands for one."""
        return _AMOUNT.fullmatch(self.text) is not None

    @property
    def is_year(self) -> bool:
        return _YEAR.fullmatch(self.text) is not None


class Shape(NamedTuple):
    """The cells of a table.

    Attributes:
        rows: The number of its rows, with those in which nothing is.
        xs: Where its columns begin, and where the last one ends.
        cells: The words of each cell that has any.
        headers: How many rows are known to name the columns; 0 if it has to be seen.
        is_tagged: Whether the file says what is in which cell.
    """

    rows: int
    xs: tuple[float, ...]
    cells: dict[Cell, list[Word]]
    headers: int = 0
    is_tagged: bool = False

    @property
    def columns(self) -> int:
        return len(self.xs) - 1

    def words(self) -> Iterator[Word]:
        """Yield the words of all cells."""
        for words in self.cells.values():
            yield from words


class Rows(NamedTuple):
    """What a table says: the line above all columns, and the rows, the first of which names the columns."""

    caption: str
    rows: list[list[str]]


def checked(shape: Shape, *, is_coloured: bool = False) -> Shape:
    """Return the cells of a table of at least two rows and columns, with a row for each line where rules are missing.

    Args:
        shape: The cells.
        is_coloured: Whether some of its rules are only the edges of colours, so that more has to speak for it.

    Raises:
        NoTableError: if it is more likely a form, a chart, or a frame around text.
    """
    shape = shape if shape.is_tagged else _divided(shape)
    top = next((row for row in range(shape.rows) if sum(cell.row == row for cell in shape.cells) > 1), 0)
    for row in reversed(range(shape.rows)):
        shape = _unstacked(shape, row, is_header=row <= top)
    shape = _without_captions(shape)
    cells = shape.cells
    rows, columns = len({cell.row for cell in cells}), len({cell.column for cell in cells})
    inner = sum(len(words) for words in cells.values() if _is_table(words))
    if rows < 2 or columns < 2 or 2 * inner > sum(map(len, cells.values())):
        raise NoTableError
    filled = len(cells) / (rows * columns)
    spanned = sum(cell.rows > 1 or cell.columns > 1 for cell in cells) / len(cells)
    least, most = _COLOURED if is_coloured else _RULED
    if filled < least or spanned > most or 2 * sum(cell.rows > 1 for cell in cells) > len(cells):
        raise NoTableError
    if rows * columns == 4 and len(cells) < 4:
        raise NoTableError
    return shape


def read_rows(shape: Shape, text: str, write: Callable[[Sequence[tuple[int, int]]], str]) -> list[Rows]:
    """Return what a table says; several ones if a line above all columns is followed by the names of the columns again.

    A cell that spans rows is repeated in each.

    Args:
        shape: The cells.
        text: The text of the page.
        write: Returns the words in parts of the text.

    Raises:
        NoTableError: if it is more likely a frame around text.
    """
    texts = [[""] * shape.columns for _ in range(shape.rows)]
    for cell, words in shape.cells.items():
        written = write([*_runs(words, text)])
        if len(written) > _LONGEST_CELL:
            raise NoTableError
        for row in range(cell.row, cell.row + cell.rows):
            texts[row][cell.column] = written
    spans = [[cell for cell in shape.cells if cell.row == row] for row in range(shape.rows)]
    rows = [row for row in range(shape.rows) if any(texts[row])]
    columns = [column for column in range(shape.columns) if any(row[column] for row in texts)]
    if shape.is_tagged and _runs_on([[texts[row][column] for column in columns] for row in rows]):
        raise NoTableError
    count = shape.headers if 0 < shape.headers < len(rows) else _headers(shape, rows, columns)
    names = [list(texts[row]) for row in rows[:count]]
    if count > 1:
        for row, named in zip(rows, names, strict=False):
            for cell in spans[row]:
                named[cell.column : cell.column + cell.columns] = [texts[row][cell.column]] * cell.columns
    header = joined_header(names)
    found = [Rows("", [header])]
    for place, row in enumerate(rows[count:], count):
        following = texts[rows[place + 1]] if place + 1 < len(rows) else []
        if following == header and _is_one(spans[row], columns):
            found.append(Rows(next(filter(None, texts[row])), []))
        else:
            found[-1].rows.append(texts[row])
    found = [Rows(caption, [[row[column] for column in columns] for row in body]) for caption, body in found]
    if any(len(part.rows) < 2 for part in found):
        raise NoTableError
    return [Rows(caption, join_symbols(body)) for caption, body in found]


def _without_captions(shape: Shape) -> Shape:
    """Return cells without those above all columns of the first rows: titles, which may be headings."""
    columns = sorted({cell.column for cell in shape.cells})
    rows = sorted({cell.row for cell in shape.cells})
    above: list[int] = []
    while len(rows) > 2 and _is_one([cell for cell in shape.cells if cell.row == rows[0]], columns):
        above.append(rows.pop(0))
    return shape._replace(cells={cell: words for cell, words in shape.cells.items() if cell.row not in above})


def is_amount(text: str) -> bool:
    """Return whether a cell holds nothing but numbers, or what stands for one."""
    words = text.split()
    return bool(words) and all(map(_AMOUNT.fullmatch, words))


def _is_one(cells: Sequence[Cell], columns: Sequence[int]) -> bool:
    """Return whether a row is one cell above all columns."""
    if len(cells) != 1 or cells[0].rows > 1:
        return False
    return cells[0].column <= columns[0] and cells[0].column + cells[0].columns > columns[-1]


def _runs_on(rows: Sequence[Sequence[str]]) -> bool:
    """Return whether text runs on from row to row: programs that guess tags take each line of columns for a row."""
    going_on = sum(
        any(
            above and below[:1].islower() and len(below.split()) > 1 and not above.endswith(_ENDS)
            for above, below in zip(*pair, strict=True)
        )
        for pair in pairwise(rows)
    )
    return going_on > _RUNNING * len(rows)


def _headers(shape: Shape, rows: Sequence[int], columns: Sequence[int]) -> int:
    """Return the number of rows that name the columns: those with names of groups, and the one below."""
    row, end = rows[0], rows[0] + 1
    while row < end <= rows[0] + _MOST_HEADERS:
        for cell in (cell for cell in shape.cells if cell.row == row):
            grouped = sum(cell.column <= column < cell.column + cell.columns for column in columns)
            is_group = 1 < grouped < len(columns) and not _has_amounts(shape, cell.row + cell.rows)
            end = max(end, cell.row + cell.rows + is_group)
        row += 1
    count = sum(row < end for row in rows)
    return count if end <= rows[0] + _MOST_HEADERS and count < len(rows) else 1


def _has_amounts(shape: Shape, row: int) -> bool:
    """Return whether most cells of a row are numbers other than years."""
    cells = [words for cell, words in shape.cells.items() if cell.row == row]
    return 2 * sum(_is_amount(words) and not _is_years(words) for words in cells) > len(cells)


def _divided(shape: Shape) -> Shape:
    """Return cells with those divided that have no rules in them, but wide gaps where other rows have rules."""
    cells: dict[Cell, list[Word]] = {}
    for cell, words in shape.cells.items():
        columns: dict[int, list[Word]] = {}
        for word in words if cell.columns > 1 and cell.rows == 1 else ():
            at = [c for c in range(cell.column, cell.column + cell.columns) if word.left < shape.xs[c + 1]]
            if not at or word.right > shape.xs[at[0] + 1]:
                columns.clear()
                break
            columns.setdefault(at[0], []).append(word)
        if len(columns) > 1 and _has_gaps(columns):
            cells.update((Cell(cell.row, column), own) for column, own in columns.items())
        else:
            cells[cell] = words
    return shape._replace(cells=cells)


def _has_gaps(columns: dict[int, list[Word]]) -> bool:
    order = sorted(columns)
    return all(
        min(word.left for word in columns[right]) - max(word.right for word in columns[left])
        > _BETWEEN * columns[left][0].height
        for left, right in pairwise(order)
    )


def _unstacked(shape: Shape, row: int, *, is_header: bool) -> Shape:
    """Return cells with a row for each line of a row in which no rules divide lines that are rows."""
    lines = {cell: lines_of(words, _first) for cell, words in shape.cells.items() if cell.row == row and cell.rows == 1}
    most = max(map(len, lines.values()), default=0)
    if most < 2:
        return shape
    height = max(word.height for found in lines.values() for line in found for word in line)
    places: list[float] = []
    for place in sorted((line[0].middle for found in lines.values() for line in found), reverse=True):
        if not places or places[-1] - place > height / 2:
            places.append(place)
    if is_header and (names := _lines_of_names(lines, places)):
        return _split(shape, row, lines, [[*places[:names]], *([place] for place in places[names:])])
    if is_header and most < 3:
        return shape
    amounts = [cell for cell, found in lines.items() if len(found) > 1 and all(map(_is_amount, found))]
    first = min(lines, key=lambda cell: cell.column)
    if not amounts:
        width = {cell: shape.xs[cell.column + cell.columns] - shape.xs[cell.column] for cell in lines}
        is_even = not is_header and len(lines) > 1 and most > 2 and all(len(found) == most for found in lines.values())
        if not is_even or sum(_is_broken(found, width[cell]) for cell, found in lines.items()) < 2:
            return shape
    elif len(lines[first]) == 1 and len(amounts) == 1:
        return shape
    if len(places) > most:
        raise NoTableError
    return _split(shape, row, lines, [[place] for place in places])


def _lines_of_names(lines: Mapping[Cell, Sequence[Sequence[Word]]], places: Sequence[float]) -> int:
    """Return how many lines of a row name the columns, if amounts follow without a rule between; 0 if none do."""
    height = max(word.height for found in lines.values() for line in found for word in line)
    for count in range(1, len(places)):
        edge = places[count] + height / 4
        below = [[line for line in found if line[0].middle < edge] for found in lines.values()]
        above = [[line for line in found if line[0].middle >= edge] for found in lines.values()]
        named = [
            all(map(_is_amount, own)) and not any(map(_is_amount, names)) and not all(map(_is_years, own))
            for own, names in zip(below, above, strict=True)
            if own and names
        ]
        if sum(named) > 1 and 2 * sum(named) > len(lines) and not all(named):
            return count
    return 0


def _split(
    shape: Shape, row: int, lines: Mapping[Cell, Sequence[Sequence[Word]]], places: Sequence[Sequence[float]]
) -> Shape:
    """Return cells with several rows in place of one, given where the lines of each are."""
    more = len(places) - 1
    numbers = sorted((place, number) for number, group in enumerate(places) for place in group)
    cells: dict[Cell, list[Word]] = {}
    for cell, words in shape.cells.items():
        if cell in lines:
            for line in lines[cell]:
                number = _nearest(numbers, line[0].middle)
                cells.setdefault(cell._replace(row=row + number), []).extend(line)
        elif cell.row > row:
            cells[cell._replace(row=cell.row + more)] = words
        elif cell.row + cell.rows > row:
            cells[cell._replace(rows=cell.rows + more)] = words
        else:
            cells[cell] = words
    return shape._replace(rows=shape.rows + more, cells=cells)


def _nearest(numbers: Sequence[tuple[float, int]], place: float) -> int:
    after = bisect_left(numbers, (place, 0))
    return min(numbers[max(after - 1, 0) : after + 1], key=lambda one: abs(one[0] - place))[1]


def _is_table(words: Sequence[Word]) -> bool:
    """Return whether the lines of a cell have names and amounts themselves."""
    lines = lines_of(words, _first) if len(words) > 5 else []
    both = sum(line[-1].is_amount and not line[0].is_amount for line in lines)
    return both > 2 and both * 5 >= len(lines) * 4


def _first(word: Word) -> int:
    return word.start


def lines_of(words: Iterable[Word], place: Callable[[Word], float]) -> list[list[Word]]:
    """Return words by line, from top to bottom, and within each by their places."""
    found: list[list[Word]] = []
    for word in sorted(words, key=lambda word: -word.middle):
        if found and found[-1][0].middle - word.middle < max(found[-1][0].height, word.height) / 2:
            found[-1].append(word)
        else:
            found.append([word])
    return [sorted(line, key=place) for line in found]


def _is_years(line: Sequence[Word]) -> bool:
    return all(word.is_year for word in line)


def _is_amount(line: Sequence[Word]) -> bool:
    return all(word.is_amount for word in line)


def _is_broken(lines: Sequence[Sequence[Word]], width: float) -> bool:
    """Return whether lines have few words, and most end where the next word would have found room."""
    if any(len(line) > _MOST_NAMES for line in lines):
        return False
    short = 0
    for line, following in pairwise(lines):
        taken = max(word.right for word in line) - min(word.left for word in line)
        needed = following[0].right - following[0].left + following[0].height / 2
        short += taken + needed < width - following[0].height / 2
    return 2 * short > len(lines) - 1


def _runs(words: Sequence[Word], text: str) -> Iterator[tuple[int, int]]:
    """Yield the parts of the text that words make: those of one line of one cell are one part."""
    start = end = -1
    for word in sorted(words):
        if start >= 0 and not text[end : word.start].strip(" "):
            end = word.end
            continue
        if start >= 0:
            yield start, end
        start, end = word.start, word.end
    if start >= 0:
        yield start, end
