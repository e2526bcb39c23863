"""Finds the lines that are drawn on a page of a PDF: the rules of tables."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

_THIN = 3.5  # points: a bar that is no thicker is a line
_SHORTEST = 4.0  # points of a line that may be a rule
_GAP = 3.0  # between parts of one rule, as of a dashed one
_STRAIGHT = 0.5  # how far the ends of a level line may differ
_MOST_OBJECTS = 30_000  # of a page that is looked at; more draw a map
_MOST_SEGMENTS = 20_000
_MOST_SLANTED = 12  # parts of a path that are curves or slanted lines
_FORMS_IN_FORMS = 5
_SEGMENTS_OF_BOX = 5

#: a, b, c, d, e, f of what places an object on its page.
type _Matrix = tuple[float, float, float, float, float, float]


class Rule(NamedTuple):
    """A level or upright line: its distance from the lower or left edge of the page, and where it begins and ends."""

    at: float
    start: float
    end: float


class Rules(NamedTuple):
    """The level and the upright lines of a page, or the edges of what is coloured on it."""

    level: list[Rule]
    upright: list[Rule]


def read_rules(page: Any) -> tuple[Rules, Rules]:
    """Return the lines that are drawn on a page, and the edges of what is coloured; none of a page with very many."""
    paths = _Paths()
    return (paths.lines, paths.edges) if paths.read(page) else (Rules([], []), Rules([], []))


class _Paths:
    def __init__(self) -> None:
        from pypdfium2 import raw

        self.lines = Rules([], [])
        self.edges = Rules([], [])
        self._raw = raw
        self._objects = _MOST_OBJECTS
        self._segments = _MOST_SEGMENTS
        self._box = tuple(ctypes.c_float() for _ in range(4))
        self._modes = (ctypes.c_int(), ctypes.c_int())

    def read(self, page: Any) -> bool:
        """Read the paths of a page; return whether they were not too many."""
        return self._read(page, self._raw.FPDFPage_CountObjects(page), self._raw.FPDFPage_GetObject, None, 0)

    def _read(self, holder: Any, count: int, get: Callable[[Any, int], Any], outer: _Matrix | None, depth: int) -> bool:
        raw, kind = self._raw, self._raw.FPDFPageObj_GetType
        self._objects -= count
        if self._objects < 0:
            return False
        for index in range(count):
            one = get(holder, index)
            found = kind(one)
            if found == raw.FPDF_PAGEOBJ_PATH:
                if not self._path(one, outer):
                    return False
            elif found == raw.FPDF_PAGEOBJ_FORM and depth < _FORMS_IN_FORMS:
                inner, matrix = raw.FPDFFormObj_CountObjects(one), _times(_matrix(one), outer)
                if not self._read(one, inner, raw.FPDFFormObj_GetObject, matrix, depth + 1):
                    return False
        return True

    def _path(self, path: Any, outer: _Matrix | None) -> bool:
        raw = self._raw
        filled, stroked = self._modes
        raw.FPDFPath_GetDrawMode(path, filled, stroked)
        if not filled.value and not stroked.value:
            return True
        count = raw.FPDFPath_CountSegments(path)
        self._segments -= count
        if self._segments < 0:
            return False
        if count <= _SEGMENTS_OF_BOX and outer is None and raw.FPDFPageObj_GetBounds(path, *self._box):
            left, bottom, right, top = (side.value for side in self._box)
            if min(right - left, top - bottom) <= _THIN:
                self._fill(((left, bottom), (right, top)))
                return True
            if max(right - left, top - bottom) < 2 * _SHORTEST:
                return True  # a mark in a chart
        matrix = _times(_matrix(path), outer)
        for points, is_curved in _subpaths(path, count, matrix):
            if stroked.value:
                _add(self.lines, points)
            elif not is_curved:
                self._fill(points)
        return True

    def _fill(self, points: Sequence[tuple[float, float]]) -> None:
        xs, ys = [x for x, _ in points], [y for _, y in points]
        left, right, bottom, top = min(xs), max(xs), min(ys), max(ys)
        if top - bottom <= _THIN < right - left:
            self.lines.level.append(Rule((bottom + top) / 2, left, right))
        elif right - left <= _THIN < top - bottom:
            self.lines.upright.append(Rule((left + right) / 2, bottom, top))
        elif right - left > _THIN and top - bottom > _THIN:
            _add(self.edges, [*points, points[0]])


def _add(found: Rules, points: Sequence[tuple[float, float]]) -> None:
    x, y = points[0]
    for right, top in points[1:]:
        if abs(top - y) <= _STRAIGHT < abs(right - x):
            found.level.append(Rule((y + top) / 2, min(x, right), max(x, right)))
        elif abs(right - x) <= _STRAIGHT < abs(top - y):
            found.upright.append(Rule((x + right) / 2, min(y, top), max(y, top)))
        x, y = right, top


def _subpaths(path: Any, count: int, matrix: _Matrix) -> Iterator[tuple[list[tuple[float, float]], bool]]:
    """Yield the points of the parts of a path, and whether it has curves, whose ends are not joined by lines.

    What begins as a drawing is left: most of the time would be spent on the outlines of maps and charts.
    """
    from pypdfium2 import raw

    get, kind_of, point_of = raw.FPDFPath_GetPathSegment, raw.FPDFPathSegment_GetType, raw.FPDFPathSegment_GetPoint
    a, b, c, d, e, f = matrix
    x, y = ctypes.c_float(), ctypes.c_float()
    points: list[tuple[float, float]] = []
    curves = slanted = 0
    last: Any = None
    for index in range(count):
        segment = get(path, index)
        kind = kind_of(segment)
        point_of(segment, x, y)
        point = (a * x.value + c * y.value + e, b * x.value + d * y.value + f)
        if kind == raw.FPDF_SEGMENT_MOVETO:
            if len(points) > 1:
                yield _closed(last, points, curves), curves > 0
            points, curves = [point], 0
        elif kind == raw.FPDF_SEGMENT_BEZIERTO:
            curves += 1
            slanted += 1
            if curves % 3 == 0:  # the other points draw the curve
                if len(points) > 1:
                    yield points, True
                points = [point]
        else:
            before = points[-1] if points else point
            slanted += min(abs(before[0] - point[0]), abs(before[1] - point[1])) > _STRAIGHT
            points.append(point)
        if slanted > _MOST_SLANTED and 2 * slanted > index:
            return
        last = segment
    if len(points) > 1:
        yield _closed(last, points, curves), curves > 0


def _closed(last: Any, points: list[tuple[float, float]], curves: int) -> list[tuple[float, float]]:
    from pypdfium2 import raw

    return [*points, points[0]] if not curves and raw.FPDFPathSegment_GetClose(last) else points


def _matrix(one: Any) -> _Matrix:
    from pypdfium2 import raw

    found = raw.FS_MATRIX()
    if not raw.FPDFPageObj_GetMatrix(one, found):
        return (1, 0, 0, 1, 0, 0)
    return (found.a, found.b, found.c, found.d, found.e, found.f)


def _times(inner: _Matrix, outer: _Matrix | None) -> _Matrix:
    if outer is None:
        return inner
    a, b, c, d, e, f = inner
    g, h, i, j, k, l = outer  # noqa: E741
    return (a * g + b * i, a * h + b * j, c * g + d * i, c * h + d * j, e * g + f * i + k, e * h + f * j + l)


def merged(rules: list[Rule]) -> list[Rule]:
    """Return rules without those that repeat or continue another one."""
    found: list[Rule] = []
    for near in clusters(sorted(rules), lambda rule: rule.at):
        at = sum(rule.at for rule in near) / len(near)
        start, end = None, 0.0
        for rule in sorted(near, key=lambda rule: rule.start):
            if start is not None and rule.start <= end + _GAP:
                end = max(end, rule.end)
                continue
            if start is not None and end - start >= _SHORTEST:
                found.append(Rule(at, start, end))
            start, end = rule.start, rule.end
        if start is not None and end - start >= _SHORTEST:
            found.append(Rule(at, start, end))
    return found


def clusters[T](ordered: Sequence[T], place: Any, width: float = 2.5) -> Iterator[list[T]]:
    """Yield groups of neighbours that are no more than so many points away from the first of them."""
    near: list[T] = []
    for one in ordered:
        if near and place(one) - place(near[0]) > width:
            yield near
            near = []
        near.append(one)
    if near:
        yield near
