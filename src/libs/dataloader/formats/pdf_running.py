"""Finds what runs along the heads and feet of the pages of a PDF."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import takewhile
from math import inf
from typing import TYPE_CHECKING

from libs.regexes import regex

if TYPE_CHECKING:
    from libs.dataloader.formats.pdf_layout import Line

_DIGITS = regex(r"\d+")
_FEW_PAGES = 5  # in fewer, nothing is taken for a running head
_OFTEN = 3
_MOST = 0.6
_OUTERMOST = 3  # lines of a page that may be its head, and its foot
_SAME_PLACE = 3.0  # points


def running_lines(pages: Sequence[Sequence[Line]], large: float) -> dict[int, set[int]]:
    """Return the running heads and feet by page, and its number among them.

    These are lines near the edge that most pages have at one place, or most on the left or on the right, as in a book.
    They differ in the number of the page at most: "Question 7" at the top of a page is none. Where words are among
    them the first one stays, since it may be the only place with the name of the whole. In a short file all stay.
    Heads that name the chapter differ from chapter to chapter: most pages have one at the same place that a page
    beside them has too.

    Args:
        pages: The lines of the pages.
        large: Size in points of what is no running head.

    Returns:
        Numbers of lines by number of the page, both from 0.
    """
    counts = [sum(any(map(_is_placed, lines)) for lines in pages[side::2]) for side in (0, 1)]
    if sum(counts) < _FEW_PAGES:
        return {}
    places: dict[tuple[str, bool], list[tuple[int, int]]] = {}
    edges: list[tuple[int, list[int]]] = []
    for number, lines in enumerate(pages):
        order = sorted((i for i, line in enumerate(lines) if _is_placed(line)), key=lambda i: -lines[i].bottom)
        for is_foot, inwards in ((False, order[:_OUTERMOST]), (True, order[: -_OUTERMOST - 1 : -1])):
            edges.append((number, inwards))
            for index in inwards:
                places.setdefault((_DIGITS.sub("0", lines[index].text), is_foot), []).append((number, index))
    repeated: set[tuple[int, int]] = set()
    first: set[tuple[int, int]] = set()
    for (text, is_foot), found in places.items():
        height = Counter(round(pages[number][index].bottom) for number, index in found).most_common(1)[0][0]
        found = [(number, index) for number, index in found if abs(pages[number][index].bottom - height) < _SAME_PLACE]
        sides = [len({number for number, _ in found if number % 2 == side}) for side in (0, 1)]
        is_running = any(count >= _MOST * all_of for count, all_of in zip(sides, counts, strict=True) if all_of > 1)
        if sum(sides) >= _OFTEN and is_running and _counts_pages(pages, found, inf if is_foot else large):
            repeated.update(found)
            first.update(found[:1] if any(map(str.isalpha, text)) else ())
    heads = {number: inwards[0] for number, inwards in edges[::2] if inwards and pages[number][inwards[0]].size < large}
    heights = Counter(round(pages[number][index].bottom) for number, index in heads.items()).most_common(1)
    level = {n: i for n, i in heads.items() if abs(pages[n][i].bottom - heights[0][0]) < _SAME_PLACE}
    named, begun = _chapters(pages, level)
    repeated.update((number, level[number]) for number in named)
    first.update(
        (number, level[number]) for number in begun if any(map(str.isalpha, pages[number][level[number]].text))
    )
    running: dict[int, set[int]] = {}
    for number, inwards in edges:
        # Behind a line of the page's own nothing runs any more.
        for place in takewhile(repeated.__contains__, ((number, index) for index in inwards)):
            if place not in first:
                running.setdefault(number, set()).add(place[1])
    return running


def _is_placed(line: Line) -> bool:
    return bool(line.text) and (line.left, line.bottom) != (0.0, 0.0)


def _chapters(pages: Sequence[Sequence[Line]], heads: Mapping[int, int]) -> tuple[set[int], set[int]]:
    """Return the pages whose first line names a chapter, and those of them that begin one; none if they are few.

    Args:
        pages: The lines of the pages.
        heads: Number of the first line of each page that may be a running head.
    """
    texts = {number: pages[number][index].text for number, index in heads.items()}
    before = {n: {m for m in (n - 1, n - 2) if m in texts and _is_one(texts[m], texts[n], n - m)} for n in texts}
    named = {n for n, earlier in before.items() if earlier}.union(*before.values())
    return (named, {n for n in named if not before[n]}) if len(named) >= _MOST * len(pages) else (set(), set())


def _is_one(text: str, later: str, pages: int) -> bool:
    """Return whether lines are equal, or differ in a number that counts the pages between them."""
    if text == later:
        return True
    numbers = zip(_DIGITS.findall(text), _DIGITS.findall(later), strict=False)
    same_words = _DIGITS.sub("0", text) == _DIGITS.sub("0", later)
    return same_words and all(int(b[:9]) - int(a[:9]) in (0, pages) for a, b in numbers)


def _counts_pages(pages: Sequence[Sequence[Line]], found: Sequence[tuple[int, int]], large: float) -> bool:
    """Return whether lines that only differ in numbers are equal, or differ in one that follows the page number."""
    if len({pages[number][index].text for number, index in found}) == 1:
        return True
    offsets = Counter(
        offset
        for number, index in found
        for offset in {int(digits[:9]) - number for digits in _DIGITS.findall(pages[number][index].text)}
    )
    is_large = any(pages[number][index].size >= large for number, index in found)
    return not is_large and offsets.most_common(1)[0][1] >= _MOST * len(found)
