"""Finds the grids that the rules of tables make on a page of a PDF."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from typing import NamedTuple

from libs.dataloader.formats.pdf_rules import Rule, Rules, clusters
from libs.dataloader.formats.pdf_shapes import Cell

_TOUCH = 3.0  # points between the end of a rule and one that it meets
_OVERHANG = 8.0  # how far rules go on behind the last one that they cross, where the frame is open
_MOST_RULES = 1_000
_MOST_CELLS = 20_000


class Grid(NamedTuple):
    """The cells that rules make.

    Attributes:
        xs: The places of the upright rules, from left to right.
        ys: The places of the level rules, from top to bottom.
        cells: Number of the cell that is at each place, by row and column.
        spans: The cells; ``None`` where rules make another shape than a rectangle.
    """

    xs: list[float]
    ys: list[float]
    cells: list[list[int]]
    spans: list[Cell | None]

    @property
    def area(self) -> float:
        return (self.xs[-1] - self.xs[0]) * (self.ys[0] - self.ys[-1])

    def overlaps(self, other: Grid) -> bool:
        """Return whether another grid is at the same place."""
        beside = self.xs[-1] <= other.xs[0] or other.xs[-1] <= self.xs[0]
        return not beside and self.ys[-1] < other.ys[0] and other.ys[-1] < self.ys[0]

    def at(self, x: float, y: float) -> int:
        """Return the number of the cell at a place, -1 if it is outside."""
        column = bisect_right(self.xs, x) - 1
        row = bisect_left(self.ys, -y, key=float.__neg__) - 1
        if 0 <= column < len(self.xs) - 1 and 0 <= row < len(self.ys) - 1:
            return self.cells[row][column]
        return -1


def find_grids(rules: Rules) -> list[Grid]:
    """Return the grids of at least two rows and columns on a page, the smallest first."""
    level, upright = rules
    if len(level) < 2 or not upright or len(level) + len(upright) > _MOST_RULES:
        return []
    grids = [grid for parts in _connected(level, upright) if (grid := _grid(*parts)) is not None]
    return sorted(grids, key=lambda grid: grid.area)


def _connected(level: Sequence[Rule], upright: Sequence[Rule]) -> list[tuple[list[Rule], list[Rule]]]:
    """Return the groups of rules that meet each other."""
    parents = list(range(len(level) + len(upright)))
    level = sorted(level)
    heights = [rule.at for rule in level]
    for number, rule in enumerate(upright, len(level)):
        first, last = bisect_left(heights, rule.start - _TOUCH), bisect_right(heights, rule.end + _TOUCH)
        for other in range(first, last):
            if level[other].start - _TOUCH <= rule.at <= level[other].end + _TOUCH:
                parents[_root(parents, other)] = _root(parents, number)
    groups: dict[int, tuple[list[Rule], list[Rule]]] = {}
    for number, rule in enumerate((*level, *upright)):
        groups.setdefault(_root(parents, number), ([], []))[number >= len(level)].append(rule)
    return list(groups.values())


def _root(parents: list[int], one: int) -> int:
    while parents[one] != one:
        parents[one] = one = parents[parents[one]]
    return one


def _grid(level: list[Rule], upright: list[Rule]) -> Grid | None:
    if len(level) < 2 or not upright:
        return None
    upright = [*upright, *_open_sides(level, upright)]
    level = [*level, *_open_sides(upright, level)]
    across, down = _by_place(upright), _by_place(level)
    xs, ys = list(across), list(down)[::-1]
    columns, rows = len(xs) - 1, len(ys) - 1
    if columns < 2 or rows < 2 or columns * rows > _MOST_CELLS:
        return None
    parents = list(range(columns * rows))
    for row in range(rows):
        for column in range(columns):
            here = row * columns + column
            if column + 1 < columns and not _covers(across[xs[column + 1]], ys[row + 1], ys[row]):
                parents[_root(parents, here + 1)] = _root(parents, here)
            if row + 1 < rows and not _covers(down[ys[row + 1]], xs[column], xs[column + 1]):
                parents[_root(parents, here + columns)] = _root(parents, here)
    numbers: dict[int, int] = {}
    cells = [
        [numbers.setdefault(_root(parents, row * columns + column), len(numbers)) for column in range(columns)]
        for row in range(rows)
    ]
    places: list[list[tuple[int, int]]] = [[] for _ in numbers]
    for row, numbered in enumerate(cells):
        for column, number in enumerate(numbered):
            places[number].append((row, column))
    return Grid(xs, ys, cells, [_rectangle(place) for place in places])


def _rectangle(places: list[tuple[int, int]]) -> Cell | None:
    (top, left), (bottom, right) = places[0], places[-1]
    height, width = bottom - top + 1, right - left + 1
    is_one = len(places) == height * width and all(left <= column <= right for _, column in places)
    return Cell(top, left, height, width) if is_one else None


def _open_sides(crossing: Sequence[Rule], rules: Sequence[Rule]) -> list[Rule]:
    """Return rules for the sides of a frame that are not drawn: where at least two of those that cross end together."""
    first, last = min(rule.at for rule in rules), max(rule.at for rule in rules)
    start, end = min(rule.start for rule in crossing), max(rule.end for rule in crossing)
    found: list[Rule] = []
    for at, is_open, edge in ((start, start < first - _OVERHANG, 1), (end, end > last + _OVERHANG, 2)):
        meeting = [rule.at for rule in crossing if abs(rule[edge] - at) <= _TOUCH]
        if is_open and len(meeting) > 1:
            found.append(Rule(at, min(meeting), max(meeting)))
    return found


def _by_place(rules: Sequence[Rule]) -> dict[float, list[Rule]]:
    near = clusters(sorted(rules), lambda rule: rule.at, _TOUCH)
    return {sum(rule.at for rule in group) / len(group): group for group in near}


def _covers(rules: Sequence[Rule], start: float, end: float) -> bool:
    """Return whether rules are drawn between two places."""
    middle, reach = (start + end) / 2, max((end - start) / 2 - _TOUCH, 0)
    return any(rule.start <= middle - reach and middle + reach <= rule.end for rule in rules)
