"""Recognises headings and paragraphs of a PDF by the size, weight and position of its lines."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from libs.dataloader.formats.pdf_continued import tables_of
from libs.dataloader.formats.pdf_running import running_lines
from libs.dataloader.formats.pdf_shapes import Rows
from libs.regexes import regex

_NUMBERED = regex(r"(?:\d{1,3}(?:\.\d{1,3}){0,4}\.?|[A-Z]\.|[IVX]{1,5}\.|§ ?\d+)\s+\S", re.ASCII)
_NUMBER = regex(
    r"^\W*(?:(?:chapter|section|appendix|part)\s+)?(?:\d+(?:\.\d+)*|[A-Z](?:\.\d+)*)[.:)]?\s+", re.IGNORECASE
)
_OPENING = "\"'“„«‘¿¡([§「『《"
_RUNS_ON = (",", ";", ":", "-", "\ufffe")
_ENDS = (".", "!", "?", "。", "！", "？", "؟", "।")
_SYNTAX = regex(r"^(?=#{1,6}\s|```|~~~|(?:-{2,}|=+)$)")  # what would be Markdown by chance
_DIGITS = regex(r"\d+")
_LONGEST = 150  # characters of a heading
_SHORTEST_RUNNING = 40
_LESS = 0.15  # how much smaller an abstract may be
_LARGER = 1.2  # how much larger than running text a heading is
_LARGER_BOLD = 1.08
_SAME = 0.04  # how much letters of one size may differ


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """A table of a page: what it says, and where its columns begin and the last one ends, in points from the left."""

    parts: tuple[Rows, ...]
    columns: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a page.

    Attributes:
        text: Its text.
        size: Height of a line of its letters in points; 0 where they are of several sizes, or lie on their side.
        bold: Whether all of it is bold.
        left: Where it begins, in points from the left edge.
        bottom: Where its first letters stand, in points from the lower edge.
        last_bottom: Where its last letters stand: a word that is divided at the end of a line makes two lines one.
        table: The table that it belongs to; its text is in a cell of it, too.
    """

    text: str
    size: float = 0.0
    bold: bool = False
    left: float = 0.0
    bottom: float = 0.0
    last_bottom: float = 0.0
    table: Table | None = None


@dataclass(frozen=True, slots=True)
class Bookmark:
    """An entry of the outline (bookmarks) of the file: its words, the number of its page and its level, both from 0."""

    words: str
    page: int
    level: int


@dataclass(frozen=True, slots=True)
class _Heading:
    """A heading of one or more lines of a page: its first line, their number, and its level in the outline."""

    page: int
    index: int
    count: int
    line: Line
    words: str
    level: int | None = None


def to_markdown(pages: Sequence[Sequence[Line]], outline: Iterable[Bookmark]) -> tuple[list[str], bool]:
    """Return the texts of the pages, with empty lines between paragraphs and headings marked by ``#``.

    Args:
        pages: Their lines, in reading order.
        outline: The outline of the file: lines with the words of an entry are headings, whatever they look like.

    Returns:
        A text for each page, without what runs along the heads and feet of most, and whether it is Markdown: without
        headings and tables nothing but empty lines is added.
    """
    heads_and_feet = _repeated(pages)
    running = running_lines(pages, _LARGER * _running_text(pages)[0])
    headings = _headings(pages, outline, heads_and_feet)
    marked: dict[int, dict[int, tuple[int, _Heading]]] = {}
    for heading, level in zip(headings, _levels(headings), strict=True):
        marked.setdefault(heading.page, {})[heading.index] = (level, heading)
    is_markdown = bool(marked) or any(line.table is not None for lines in pages for line in lines)
    written = tables_of(pages, running)
    texts = [
        _page(lines, marked.get(number, {}), running.get(number, frozenset()), written, is_markdown)
        for number, lines in enumerate(pages)
    ]
    return texts, is_markdown


def _page(
    lines: Sequence[Line],
    headings: Mapping[int, tuple[int, _Heading]],
    running: Collection[int],
    tables: Mapping[Table, str],
    is_markdown: bool,
) -> str:
    parts: list[str] = []
    done: set[Table] = set()
    ends = _ends_of_paragraphs(lines)
    index = 0
    while index < len(lines):
        if index in headings:
            level, heading = headings[index]
            parts += ["", f"{'#' * level} {heading.words}", ""]
            index += heading.count
            continue
        table = lines[index].table
        if index in running or table is not None:
            if table is not None and table in tables and table not in done:
                done.add(table)
                parts += ["", tables[table], ""]
            index += 1
            continue
        parts.append(_SYNTAX.sub(r"\\", lines[index].text) if is_markdown else lines[index].text)
        if index in ends:
            parts.append("")
        index += 1
    return "\n".join(parts)


def _ends_of_paragraphs(lines: Sequence[Line]) -> set[int]:
    """Return the indexes of the lines followed by more space than other lines there, or by an indented line."""
    steps = [line.last_bottom - following.bottom for line, following in pairwise(lines)]
    found = set()
    for index, step in enumerate(steps):
        line, following = lines[index], lines[index + 1]
        if not line.size or not following.size:
            continue
        if step > 0:
            near = [other for other in steps[max(index - 1, 0) : index + 2] if other > line.size / 2]
            is_apart = step > 1.3 * max(line.size, min(near, default=0.0))
            behind = lines[index + 2].left if index + 2 < len(lines) else line.left
            is_indented = (
                0.7 < (following.left - line.left) / line.size < 4 and abs(behind - line.left) < 0.4 * line.size
            )
            if is_apart or (is_indented and line.text.endswith(_ENDS)):
                found.add(index)
        elif line.text.endswith(_ENDS):  # the next column, or a box
            found.add(index)
    return found


def _headings(
    pages: Sequence[Sequence[Line]], outline: Iterable[Bookmark], heads_and_feet: Collection[tuple[str, int]]
) -> list[_Heading]:
    """Return the headings: lines that the outline names, and short ones that are larger or bolder than running text.

    None of the latter if most lines are such, as in a form or on a poster, and none that look like sentences.
    """
    named = _named(pages, outline, heads_and_feet)
    found: list[_Heading] = []
    chars: Counter[tuple[int, bool]] = Counter()
    others: Counter[tuple[int, bool]] = Counter()
    begin = _begin_of_text(pages)
    for block in _blocks(pages, named, heads_and_feet):
        if block.level is not None or _reads_like_a_heading(block.words):
            found.append(block)
            chars[_look(block.line)] += len(block.words)
        elif block.page or block.index > begin:  # names of authors often look like headings
            others[_look(block.line)] += len(block.words)
    kept = [one for one in found if one.level is not None or others[_look(one.line)] * 2 <= chars[_look(one.line)]]
    if sum(one.count for one in kept if one.level is None) * 2 > sum(map(len, pages)):
        return [one for one in kept if one.level is not None]
    return kept


def _begin_of_text(pages: Sequence[Sequence[Line]]) -> int:
    """Return the index of the first line of running text on the first page."""
    body, is_bold = _running_text(pages)
    for index, line in enumerate(pages[0] if pages else ()):
        is_text = line.bold == is_bold and line.size <= (1 + _SAME) * body and len(line.text) >= _SHORTEST_RUNNING
        if is_text and line.size >= (1 - _LESS) * body:
            return index
    return 0


def _blocks(
    pages: Sequence[Sequence[Line]],
    named: Mapping[tuple[int, int], _Heading],
    heads_and_feet: Collection[tuple[str, int]],
) -> Iterator[_Heading]:
    """Yield possible headings: those that the outline names, and lines that stand out with their continuations."""
    body, is_bold = _running_text(pages)
    for number, lines in enumerate(pages):
        outstanding = [
            (number, index) not in named
            and _said(line) not in heads_and_feet
            and _stands_out(lines, index, body, is_bold)
            for index, line in enumerate(lines)
        ]
        index = 0
        while index < len(lines):
            count = 1
            if heading := named.get((number, index)):
                count = heading.count
                yield heading
            elif outstanding[index]:
                while index + count < len(lines) and outstanding[index + count] and _goes_on(lines, index + count):
                    count += 1
                yield _heading(number, lines, index, count)
            index += count


def _heading(page: int, lines: Sequence[Line], index: int, count: int) -> _Heading:
    words = " ".join(line.text for line in lines[index : index + count])
    return _Heading(page, index, count, lines[index], words)


def _named(
    pages: Sequence[Sequence[Line]], outline: Iterable[Bookmark], heads_and_feet: Collection[tuple[str, int]]
) -> dict[tuple[int, int], _Heading]:
    """Return the headings that the outline names, by page and first line: one to three lines with an entry's words."""
    entries: dict[int, dict[str, Bookmark]] = {}
    for bookmark in outline:
        if 0 <= bookmark.page < len(pages) and (whole := _letters(bookmark.words)):
            for key in (whole, _unnumbered(bookmark.words) or whole):
                entries.setdefault(bookmark.page, {}).setdefault(key, bookmark)
    found: dict[tuple[int, int], _Heading] = {}
    done: set[Bookmark] = set()
    for page, named in entries.items():
        lines = pages[page]
        letters = [
            "" if line.table is not None or _said(line) in heads_and_feet else _letters(line.text[: _LONGEST + 1])
            for line in lines
        ]
        for index, line in enumerate(lines):
            if not letters[index] or len(line.text) > _LONGEST:
                continue
            whole, part = letters[index], _unnumbered(line.text)
            for count in range(1, min(4, len(lines) - index + 1)):
                entry = named.get(whole) or named.get(part)
                if entry is not None and entry not in done:
                    done.add(entry)
                    found[page, index] = replace(_heading(page, lines, index, count), level=entry.level)
                    break
                if index + count < len(lines):
                    whole, part = whole + letters[index + count], part + letters[index + count]
    return found


def _unnumbered(words: str) -> str:
    """Return the letters of a heading without its number, which the outline may lack."""
    return _letters(_NUMBER.sub("", words))


def _letters(words: str) -> str:
    return "".join(filter(str.isalnum, words.casefold()))


def _running_text(pages: Sequence[Sequence[Line]]) -> tuple[float, bool]:
    """Return the size of most of the text (infinite if no size is known), and whether most of it is bold."""
    sizes: Counter[float] = Counter()
    bold: Counter[bool] = Counter()
    for line in (line for lines in pages for line in lines if line.size):
        sizes[round(line.size, 1)] += len(line.text)
        bold[line.bold] += len(line.text)
    return sizes.most_common(1)[0][0] if sizes else float("inf"), bold[True] > bold[False]


def _repeated(pages: Sequence[Sequence[Line]]) -> set[tuple[str, int]]:
    """Return lines that three or more pages have at the same place, apart from numbers: heads and feet of pages.

    Headings such as "4.2 Decision" may be at the same place by chance, but not most of them. The title on the first
    page may have the words of the heads, in larger letters.
    """
    places: dict[tuple[str, int], dict[int, set[int]]] = {}
    for number, lines in enumerate(pages):
        for line in lines:
            heights = places.setdefault(_unnumbered_said(line), {})
            heights.setdefault(round(line.bottom / 4), set()).add(number)
    often = {
        said
        for said, heights in places.items()
        if (most := max(map(len, heights.values()))) >= 3 and 2 * most >= sum(map(len, heights.values()))
    }
    return {_said(line) for lines in pages for line in lines if _unnumbered_said(line) in often}


def _said(line: Line) -> tuple[str, int]:
    return line.text, round(line.size)


def _unnumbered_said(line: Line) -> tuple[str, int]:
    return _DIGITS.sub("0", line.text), round(line.size)


def _stands_out(lines: Sequence[Line], index: int, body: float, is_body_bold: bool) -> bool:
    """Return whether a line is larger than running text, or bold with space above and running text below."""
    line = lines[index]
    if len(line.text) > _LONGEST or not line.size or line.table is not None:
        return False
    if line.size >= _LARGER * body:
        return True
    if not line.bold or is_body_bold or line.size < (1 - _SAME) * body:
        return False
    if line.size >= _LARGER_BOLD * body:
        return True
    if index + 1 == len(lines):
        return False
    following = lines[index + 1]
    below = line.last_bottom - following.bottom
    if not 0 < below < 4 * body or following.bold or len(following.text) < 40:
        return False
    above = lines[index - 1].last_bottom - line.bottom if index else 3 * body
    has_room = above < 0 or above > 1.15 * below or above > 2 * body
    return bool(_NUMBERED.match(line.text)) or (has_room and abs(following.left - line.left) < 3 * body)


def _goes_on(lines: Sequence[Line], index: int) -> bool:
    """Return whether a heading continues from the previous line to this one."""
    before, line = lines[index - 1], lines[index]
    step = before.last_bottom - line.bottom
    return _alike(before, line) and 0 < step < 1.7 * line.size and not _NUMBERED.match(line.text)


def _reads_like_a_heading(words: str) -> bool:
    """Return whether words may be a heading: not a sentence, an unfinished list or a formula."""
    if not 2 <= len(words) <= _LONGEST or words.endswith((*_RUNS_ON, *_ENDS[:1], "。")):
        return False
    first = words[0]
    if first.islower() or not (first.isalnum() or first in _OPENING):
        return False
    return 2 * sum(map(str.isalpha, words)) > sum(not letter.isspace() for letter in words)


def _look(line: Line) -> tuple[int, bool]:
    return round(2 * line.size), line.bold


def _alike(one: Line, other: Line) -> bool:
    return one.bold == other.bold and abs(one.size - other.size) <= _SAME * max(one.size, other.size)


def _levels(headings: Sequence[_Heading]) -> list[int]:
    """Return the level of each heading.

    The title is the largest or else the first one of the first page, if it looks like no other. Below it the larger,
    and of one size the bold, are above the others; what looks like nothing else, as on a cover, makes no level.
    """
    looks: list[list[_Heading]] = []
    for heading in sorted(headings, key=lambda heading: _weight(heading.line), reverse=True):
        alike = next((look for look in reversed(looks) if look[0].line.bold == heading.line.bold), None)
        if alike is not None and _alike(alike[0].line, heading.line):
            alike.append(heading)
        else:
            looks.append([heading])
    once = {id(look[0]) for look in looks if len(look) == 1}
    cover = [heading for heading in headings if heading.page == 0]
    largest = max(cover, key=lambda heading: _weight(heading.line), default=None)
    title = next((heading for heading in (largest, *cover[:1]) if id(heading) in once), None)
    inside = [look for look in looks if len(look) > 1] or [look for look in looks if look[0] is not title]
    first = 1 if title is None or title.level is not None else 2
    told: dict[tuple[int, bool], int] = {}
    for heading in headings:
        if heading.level is not None:
            told.setdefault(_look(heading.line), heading.level + first)
    levels = []
    latest = 0
    for heading in headings:
        if heading.level is not None:
            level = latest = heading.level + first
        elif heading is title:
            level = 1
        elif told:
            level = told.get(_look(heading.line), latest + 1)
        else:
            level = first + sum(
                _weight(look[0].line) > _weight(heading.line) and not _alike(look[0].line, heading.line)
                for look in inside
            )
        levels.append(min(level, 6))
    return levels


def _weight(line: Line) -> tuple[float, bool]:
    return line.size, line.bold
