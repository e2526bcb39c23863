"""Finds tables on a page of a PDF: those that its tags tell, and those that are ruled."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property, partial
from math import pi
from typing import Any

from libs.dataloader.formats.pdf_grids import Grid, find_grids
from libs.dataloader.formats.pdf_layout import Table
from libs.dataloader.formats.pdf_lines import HYPHEN, run_text
from libs.dataloader.formats.pdf_open_tables import open_grids, stacks
from libs.dataloader.formats.pdf_rules import Rules, merged, read_rules
from libs.dataloader.formats.pdf_shapes import Cell, NoTableError, Shape, Word, checked, read_rows
from libs.dataloader.formats.pdf_tags import TaggedTable, arranged, read_tags
from libs.regexes import regex

_WORD = regex(rf"[^\s{HYPHEN}]+{HYPHEN}?|{HYPHEN}")
_PART = 0.8  # of the words of a tagged table: as many have to be in ruled ones for these to be preferred
_FEWEST = 3  # words of a table, and cells with words
_FEW_CELLS = 12
_MOST_GRIDS = 50  # of a page
_EDGE = 0.1  # points from the edge of a letter to what is surely within it
_OVER = 1.5  # points that a letter may reach over a rule


def find_tables(page: Any, textpage: Any, text: str, *, is_tagged: bool) -> list[tuple[int, int, Table]]:
    """Return where the words of tables begin and end in the text of a page, in order, each with its table.

    Args:
        page: The page.
        textpage: What PDFium found on it.
        text: Its text; the places of its letters are those that PDFium knows.
        is_tagged: Whether the file tells its structure.
    """
    tagged = [table for table in read_tags(page) if len(table) > 1] if is_tagged else []
    lines, edges = read_rules(page)
    level = merged(lines.level)
    grids = find_grids(Rules(level, merged(lines.upright)))
    coloured: list[Grid] = []
    if edges.level and edges.upright:
        both = Rules(merged(lines.level + edges.level), merged(lines.upright + edges.upright))
        coloured = [grid for grid in find_grids(both) if grid not in grids]
    grids, coloured = (
        [grid for grid in kind[:_MOST_GRIDS] if _has_words(textpage, grid)] for kind in (grids, coloured)
    )
    between = stacks(level, [*grids, *coloured])
    if not tagged and not grids and not coloured and not between:
        return []
    finder = _Finder(textpage, text)
    grids += [grid for stack in between for grid in open_grids(stack, level, finder.words)]
    return finder.find(tagged, grids, coloured)


class _Finder:
    """Finds the words of tables, and tells what they say."""

    def __init__(self, textpage: Any, text: str) -> None:
        from pypdfium2 import raw

        self._raw = raw
        self._textpage = textpage
        self._text = text
        self._rect = raw.FS_RECTF()
        self._is_numbered_alike = textpage.count_chars() == len(text)

    def find(
        self, tagged: Sequence[TaggedTable], grids: Sequence[Grid], coloured: Sequence[Grid]
    ) -> list[tuple[int, int, Table]]:
        found: dict[int, tuple[int, int, Table]] = {}
        ruled = [(grid, shape) for grid in grids if (shape := _sure(self._ruled, grid)) is not None]
        for grid in coloured:
            if (shape := _sure(self._ruled, grid, is_coloured=True)) is not None:
                same = [one for one in ruled if one[0].overlaps(grid)]
                if not same or (len(same) == 1 and _has_more_rows(shape, same[0][1])):
                    ruled = [*(one for one in ruled if one not in same), (grid, shape)]
        shapes = [shape for _, shape in sorted(ruled, key=lambda one: one[0].area)]
        write = partial(run_text, self._textpage, self._text)
        for shape in _without_parts(shapes, [*self._tagged(tagged)]):
            if any(word.start in found for word in shape.words()):
                continue  # a table within a cell: the cell is a frame
            parts = _sure(read_rows, shape, self._text, write)
            if parts is not None:
                table = Table(tuple(parts), shape.xs)
                found.update((word.start, (word.start, word.end, table)) for word in shape.words())
        return [found[start] for start in sorted(found)]

    def _ruled(self, grid: Grid, *, is_coloured: bool = False) -> Shape:
        cells: dict[Cell, list[Word]] = {}
        left, right, bottom, top = grid.xs[0], grid.xs[-1], grid.ys[-1], grid.ys[0]
        for whole in self.words:
            if not bottom < whole.middle < top or whole.right < left or whole.left > right:
                continue
            for word in self._cut(grid, whole):
                number = grid.at((word.left + word.right) / 2, word.middle)
                if number < 0:
                    continue
                cell = grid.spans[number]
                if cell is None:
                    raise NoTableError
                over = max(grid.xs[cell.column] - word.left, word.right - grid.xs[cell.column + cell.columns])
                if over > _OVER:
                    raise NoTableError
                cells.setdefault(cell, []).append(word)
        if any(self._quarter(words[0].start) == 2 for words in cells.values()):
            raise NoTableError  # upside down
        return checked(Shape(len(grid.ys) - 1, tuple(grid.xs), cells), is_coloured=is_coloured)

    def _cut(self, grid: Grid, word: Word) -> list[Word]:
        """Return a word, or its parts in different cells."""
        if grid.at(word.left + _EDGE, word.middle) == grid.at(word.right - _EDGE, word.middle):
            return [word]

        def place(at: int) -> int:
            box = self._box(at)
            return -1 if box is None else grid.at((box[0] + box[2]) / 2, (box[1] + box[3]) / 2)

        parts = (self._word(*part) for part in self._parts(word.start, word.end, place))
        return [part for part in parts if part is not None]

    @cached_property
    def words(self) -> list[Word]:
        places = (match.span() for match in _WORD.finditer(self._text))
        return [word for start, end in places if (word := self._word(start, end)) is not None]

    def _tagged(self, tables: Sequence[TaggedTable]) -> Iterator[Shape]:
        marks = {mark for table in tables for row in table for cell in row for mark in cell.marks}
        if not marks:
            return
        places = [match.span() for match in _WORD.finditer(self._text)]
        begins = [self._mark(start) for start, _ in places]
        words: dict[int, list[Word]] = {}
        for (start, end), mark, following in zip(places, begins, [*begins[1:], -2], strict=True):
            # Only where the mark changes, a word may be of two cells.
            parts = [(start, end)] if mark == following else self._parts(start, end, self._mark)
            for begin, finish in parts:
                number = self._mark(begin) if begin > start else mark
                if number in marks and (word := self._word(begin, finish)) is not None:
                    words.setdefault(number, []).append(word)
        for table in tables:
            shape = _sure(arranged, table, words)
            if shape is not None and (shape := _sure(checked, shape)) is not None:
                yield shape

    def _parts(self, start: int, end: int, place: Callable[[int], int]) -> Iterator[tuple[int, int]]:
        """Yield the parts of a word in different cells: PDFium sees no space between what is close together."""
        begin, current = start, place(start)
        if end - start > 1 and place(end - 1) != current:
            for at in range(start + 1, end):
                if (number := place(at)) != current:
                    yield begin, at
                    begin, current = at, number
        yield begin, end

    def _word(self, start: int, end: int) -> Word | None:
        """Return the word between two places of the text; ``None`` where PDFium does not know its place."""
        first = self._box(start)
        last = self._box(end - 1) if end - start > 1 else first
        if first is None or last is None:
            return None
        left, right = min(first[0], last[0]), max(first[2], last[2])
        bottom, top = min(first[1], last[1]), max(first[3], last[3])
        return Word(start, end, left, bottom, right, top, self._text[start:end])

    def _index(self, place: int) -> int:
        """Return the number that PDFium gives to the letter at a place of the text; -1 if there is none."""
        if self._is_numbered_alike:
            return place
        index: int = self._raw.FPDFText_GetCharIndexFromTextIndex(self._textpage, place)
        return index

    def _box(self, place: int) -> tuple[float, float, float, float] | None:
        raw, index, rect = self._raw, self._index(place), self._rect
        if index < 0 or not raw.FPDFText_GetLooseCharBox(self._textpage, index, rect):
            return None
        return (rect.left, rect.bottom, rect.right, rect.top)

    def _quarter(self, place: int) -> int:
        """Return how many quarters of a turn the letter at a place is turned."""
        raw, index = self._raw, self._index(place)
        return round(float(raw.FPDFText_GetCharAngle(self._textpage, index)) * 2 / pi) % 4

    def _mark(self, place: int) -> int:
        """Return the number that what a letter is part of is marked with; -1 if it is not."""
        raw, index = self._raw, self._index(place)
        one = raw.FPDFText_GetTextObject(self._textpage, index) if index >= 0 else None
        number: int = raw.FPDFPageObj_GetMarkedContentID(one) if one else -1
        return number


def _has_words(textpage: Any, grid: Grid) -> bool:
    """Return whether enough cells hold words, as PDFium tells soon: most grids are frames and marks for cutting."""
    if len(grid.spans) > _FEW_CELLS:
        words = textpage.get_text_bounded(grid.xs[0], grid.ys[-1], grid.xs[-1], grid.ys[0])
        return len(words.split()) >= _FEWEST
    filled = 0
    for cell in filter(None, grid.spans):
        left, right = grid.xs[cell.column], grid.xs[cell.column + cell.columns]
        filled += bool(textpage.get_text_bounded(left, grid.ys[cell.row + cell.rows], right, grid.ys[cell.row]).strip())
    return filled >= _FEWEST


def _sure[**P, T](find: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T | None:
    """Return what is found, ``None`` if it is more likely no table."""
    try:
        return find(*args, **kwargs)
    except NoTableError:
        return None


def _without_parts(ruled: Sequence[Shape], tagged: Sequence[Shape]) -> list[Shape]:
    """Return tables: ruled ones, and tagged ones that are not ruled, or only in parts.

    Programs that guess the tags of a file take each line for a row; rules are where rows end.
    """
    starts = [{word.start for word in shape.words()} for shape in ruled]
    kept: set[int] = set(range(len(ruled)))
    added: list[Shape] = []
    for shape in tagged:
        own = {word.start for word in shape.words()}
        shared = [number for number, inside in enumerate(starts) if own & inside]
        if sum(len(own & starts[number]) for number in shared) < _PART * len(own):
            kept -= {number for number in shared if starts[number] <= own}
            added.append(shape)
    return [*(shape for number, shape in enumerate(ruled) if number in kept), *added]


def _has_more_rows(shape: Shape, other: Shape) -> bool:
    """Return whether cells are those of another table, and rows above or below that only colours make."""
    columns = [len({cell.column for cell in one.cells}) for one in (shape, other)]
    rows = [len({cell.row for cell in one.cells}) for one in (shape, other)]
    return columns[0] == columns[1] and rows[0] > rows[1]
