"""Finds tables of a PDF with rules above, below and under the names of the columns only, as articles have them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from statistics import median

from libs.dataloader.formats.pdf_grids import Grid, find_grids
from libs.dataloader.formats.pdf_rules import Rule, Rules, clusters
from libs.dataloader.formats.pdf_shapes import Word, lines_of

_SAME = 3.0  # points between the ends of rules of one table
_OVER = 2.0  # points that words may reach over the ends of the rules
_FEWEST_LINES = 2
_GAP = 0.6  # of the height of a line: the least between columns; a blank between words has less
_APART = 1.5  # of it, between what is above a rule: these are several names
_ODD = 8  # lines, of which one may be across columns
_MOST_NAMES = 4  # lines of names of columns
_SURE = 20  # lines; where the columns of so many are, those of more are
_MOST_LINES = 200
_MOST_STARTS = 4
_MOST_STACKS = 10
_MOST_WORDS = 3_000
_LEFT = 2 / 3  # of the columns that have to be left if the lines down to the next rule belong to a table
_FILLED = 2 / 3  # of their cells there
_FEW_WORDS = 3  # in a cell on average; more are running text in columns, where no column has amounts

type _Line = list[Word]


def stacks(level: Sequence[Rule], grids: Sequence[Grid]) -> list[list[Rule]]:
    """Return rules of the same width that are above each other, three at least, from top to bottom.

    Args:
        level: The rules.
        grids: Tables that were found; what is in these is none.
    """
    free = [rule for rule in level if not any(_is_in(rule, grid) for grid in grids)]
    found: list[list[Rule]] = []
    for near in clusters(sorted(free, key=lambda rule: rule.start), lambda rule: rule.start, _SAME):
        found += clusters(sorted(near, key=lambda rule: rule.end), lambda rule: rule.end, _SAME)
    return [sorted(same, key=lambda rule: -rule.at) for same in found if len(same) > 2][:_MOST_STACKS]


def open_grids(stack: Sequence[Rule], level: Sequence[Rule], words: Sequence[Word]) -> Iterator[Grid]:
    """Yield the tables between rules, with rules where white space divides columns and lines.

    Args:
        stack: See :func:`stacks`.
        level: All level rules of the page; shorter ones divide groups of columns.
        words: The words of the page.
    """
    left, right = min(rule.start for rule in stack), max(rule.end for rule in stack)
    inside = [word for word in words if word.right > left and word.left < right]
    if len(inside) > _MOST_WORDS:
        return
    regions = [
        lines_of((word for word in inside if below.at < word.middle < above.at), lambda word: word.left)
        for above, below in pairwise(stack)
    ]
    place = 0
    while place + 2 < len(stack):
        last, named = _end(regions, place, left, right)
        first = place
        is_head = not any(word.middle > stack[place].at for word in words)
        for start in range(place + 1, min(place + _MOST_STARTS, last - 1)):
            end, found = _end(regions, start, left, right)
            # What stands between rules above a table names fewer columns, or is the head of the page or a title.
            if (
                end == last
                and found
                and (found > named or is_head or all(len(line) > 2 * found for line in regions[first]))
            ):
                first, named = start, found
        if last:
            parts = [rule.at for rule in stack[first : last + 1]]
            inner = [rule for rule in level if parts[1] < rule.at < parts[0]]
            partial = [rule for rule in inner if rule.start >= left - _SAME and rule.end <= right + _SAME]
            yield from _grid(parts, regions[first:last], partial, left, right)
        place = last or place + 1


def _end(regions: Sequence[Sequence[_Line]], place: int, left: float, right: float) -> tuple[int, int]:
    """Return the number of the rule that a table ends with, and how many columns have names; 0 if there is no table.

    Args:
        regions: The lines below each rule.
        place: The number of the rule that it begins with.
        left: Where the rules begin.
        right: Where they end.
    """
    if not 0 < len(regions[place]) <= _MOST_NAMES:
        return 0, 0
    last = columns = names = 0
    body: list[_Line] = []
    cuts: list[float] = []
    for number in range(place + 1, len(regions)):
        lines = [*body, *regions[number]]
        if len(lines) == len(body) or len(lines) > _MOST_LINES:
            break
        if len(lines) < _FEWEST_LINES:
            body = lines
            continue
        if any(line[0].left < left - _OVER or line[-1].right > right + _OVER for line in lines):
            break
        if len(body) > _SURE and not any(_is_across(line, cuts) for line in regions[number]):
            body, last = lines, number + 1
            continue
        cuts = [sum(gap) / 2 for gap in _gaps(lines)]
        if not cuts or len(cuts) + 1 < _LEFT * columns or not _is_table(lines, cuts):
            break
        if not (named := _named(regions[place], cuts)):
            break
        body, columns, last, names = lines, len(cuts) + 1, number + 1, named
    return last, names


def _grid(
    rules: Sequence[float], regions: Sequence[Sequence[_Line]], partial: Sequence[Rule], left: float, right: float
) -> Iterator[Grid]:
    names, level = list(regions[0]), [Rule(at, left, right) for at in rules]
    body = [line for region in regions[1:] for line in region]
    gaps = _gaps(body)
    least = _GAP * median(word.height for line in body for word in line)
    # A name may be wider than what it names, and one of a group is.
    cuts = [_free(gap, names, least) or _free(gap, names[-1:], 0) or sum(gap) / 2 for gap in gaps]
    if partial:  # drawn as wide as the words of their columns, say
        edges = (left, *cuts, right)
        level += [Rule(rule.at, _nearest(edges, rule.start), _nearest(edges, rule.end)) for rule in partial]
    else:  # lines with names of groups are rows of their own
        level += [
            Rule(_between(*pair), left, right)
            for pair in pairwise(names)
            if any(_is_across(line, cuts) for line in pair)
        ]
    for region in regions[1:]:
        for above, below in pairwise(region):
            own = {sum(cut < word.left + _OVER for cut in cuts) for word in below}
            if 0 in own or 2 * len(own) > len(cuts):  # else the line goes on with what is above
                level.append(Rule(_between(above, below), left, right))
    places = sorted({rule.at for rule in level}, reverse=True)
    upright = [Rule(side, places[-1], places[0]) for side in (left, right)]
    words = [word for region in regions for line in region for word in line]
    for top, bottom in pairwise(places):
        within = sorted((word for word in words if bottom < word.middle < top), key=lambda word: word.left)
        across = [(word.left, word.right) for word in within]
        across += [(rule.start, rule.end) for rule in partial if rule.at == bottom and _is_one(within, rule)]
        upright += [Rule(cut, bottom, top) for cut in cuts if not any(start < cut < end for start, end in across)]
    yield from find_grids(Rules(level, upright))[-1:]


def _gaps(lines: Sequence[_Line]) -> list[tuple[float, float]]:
    """Return where white space divides the columns of lines: the parts of it that the fewest of them reach into."""
    least = _GAP * median(word.height for line in lines for word in line)
    edges = sorted(
        (place, step) for line in lines for word in line for place, step in ((word.left, 1), (word.right, -1))
    )
    allowed = len(lines) // _ODD
    gaps: list[tuple[float, float]] = []
    covered = 0
    begun: float | None = None
    best = (0, 0.0, (0.0, 0.0))
    for (place, step), (following, _) in pairwise(edges):
        covered += step
        if covered > allowed:
            if begun is not None and place - begun >= least:
                gaps.append(best[2])
            begun = None
            continue
        if begun is None:
            begun, best = place, (covered, 0.0, (place, place))
        best = min(best, (covered, place - following, (place, following)))
    return gaps


def _free(gap: tuple[float, float], lines: Sequence[_Line], least: float) -> float:
    """Return the middle of the widest part of a gap that lines leave free; 0 if that is less than so wide."""
    place, end = gap
    widest, middle = least, 0.0
    inside = [word for line in lines for word in line if word.right > place and word.left < end]
    for left, right in [*sorted((word.left, word.right) for word in inside), (end, end)]:
        if left - place > widest:
            widest, middle = left - place, (left + place) / 2
        place = max(place, right)
    return middle


def _is_table(lines: Sequence[_Line], cuts: Sequence[float]) -> bool:
    """Return whether a column other than the first has amounts, or cells have few words: it is no text in columns."""
    cells: dict[int, list[list[Word]]] = {}
    for line in lines:
        own: dict[int, list[Word]] = {}
        for word in line:
            own.setdefault(sum(cut < (word.left + word.right) / 2 for cut in cuts), []).append(word)
        for column, found in own.items():
            cells.setdefault(column, []).append(found)
    amounts = [sum(all(word.is_amount for word in cell) for cell in found) for column, found in cells.items() if column]
    if any(2 * count > len(lines) for count in amounts):
        return True
    every = [cell for found in cells.values() for cell in found]
    if len(every) < _FILLED * len(lines) * (len(cuts) + 1):
        return False
    return len(cells) > 2 and sum(map(len, every)) <= _FEW_WORDS * len(every)


def _nearest(places: Sequence[float], place: float) -> float:
    return min(places, key=lambda other: abs(other - place))


def _named(lines: Sequence[_Line], cuts: Sequence[float]) -> int:
    """Return how many columns lines name: nearly each, but for the first, and not with amounts; else 0."""
    least = _GAP * median(word.height for line in lines for word in line)
    if not any(after.left - before.right > least for line in lines for before, after in pairwise(line)):
        return 0  # a title, or other text
    named: set[int] = set()
    for line in lines:
        amounts = others = 0
        for word in line:
            first, last = (sum(cut < place for cut in cuts) for place in (word.left, word.right))
            named.update(range(first, last + 1))
            amounts += first > 0 and word.is_amount and not word.is_year
            others += first > 0
        if amounts and (len(cuts) == 1 or 2 * amounts >= others):
            return 0
    missing = len(cuts) - len(named - {0})
    return len(named) if missing <= (len(cuts) > 2) else 0


def _is_in(rule: Rule, grid: Grid) -> bool:
    return grid.ys[-1] - _SAME <= rule.at <= grid.ys[0] + _SAME and rule.start < grid.xs[-1] and rule.end > grid.xs[0]


def _is_across(line: _Line, cuts: Sequence[float]) -> bool:
    return any(_crosses(word, cut) for word in line for cut in cuts)


def _is_one(words: Sequence[Word], rule: Rule) -> bool:
    """Return whether what stands above a rule is one name."""
    above = [word for word in words if word.right > rule.start and word.left < rule.end]
    return all(after.left - before.right < _APART * before.height for before, after in pairwise(above))


def _crosses(word: Word, cut: float) -> bool:
    return word.left < cut < word.right


def _between(above: _Line, below: _Line) -> float:
    return (min(word.bottom for word in above) + max(word.top for word in below)) / 2
