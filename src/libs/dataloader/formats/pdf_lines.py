"""The lines of a page of a PDF."""

from __future__ import annotations

import ctypes
import math
import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any, NamedTuple

from libs.dataloader.formats.pdf_layout import Line, Table
from libs.dataloader.text import raised
from libs.regexes import regex

HYPHEN = "\ufffe"  # how PDFium marks the hyphen at the end of a line whose word goes on
_RAISED = frozenset("0123456789+-\u2212–")
_LONGEST_RAISED = 6
_FIRST_NUMBER = regex(r"\d+")
_BOLD = regex(rb"bold|black|heavy|demi|[a-z]bx\d|-medi$", re.IGNORECASE)
_BLANK = 0.12  # of the size of letters: what is between words at least
_WIDEST = 0.6  # and at most; more is between columns
_LEVEL = 0.005
_SMALLER = 0.9  # of the size of a letter: how large a raised one beside it is at most


class _Letter(NamedTuple):
    """The box and font of the first or last letter of a line, and its number on the page."""

    left: float
    bottom: float
    right: float
    top: float
    bold: bool
    number: int

    @property
    def size(self) -> float:
        return self.top - self.bottom


def read_lines(textpage: Any, text: str, tables: Sequence[tuple[int, int, Table]]) -> list[Line]:
    """Return the lines of a page.

    PDFium begins a new line after a raised or lowered letter; such a line is joined again to the one that it continues.

    Args:
        textpage: What PDFium found on the page.
        text: Its text; the places of its letters are those that PDFium knows.
        tables: Where words of tables begin and end, in order: a line that goes on outside of a table is two.
    """
    runs: list[tuple[int, int, Table | None]] = []
    place = 0
    for full in text.split("\n"):
        runs += _runs(text, place, place + len(full), tables)
        place += len(full) + 1
    if not tables:
        return [_line(words, ends) for words, *ends in _joined_runs(textpage, text, runs)]
    found: list[Line] = []
    for table, own in groupby(runs, key=lambda run: run[2]):
        found += (_line(words, ends, table) for words, *ends in _joined_runs(textpage, text, own))
    return found


def run_text(textpage: Any, text: str, runs: Sequence[tuple[int, int]]) -> str:
    """Return the words in parts of the text of a page, such as those in one cell of a table."""
    if len(runs) == 1 and text[runs[0][1] - 1] not in _RAISED:
        words = text[runs[0][0] : runs[0][1]].strip()
        return f"{words[:-1]}-" if words.endswith(HYPHEN) else words
    joined = _joined_runs(textpage, text, ((start, end, None) for start, end in runs), with_font=False)
    words = " ".join(words for words, _, _ in joined)
    return f"{words[:-1]}-" if words.endswith(HYPHEN) else words


def _runs(
    text: str, start: int, end: int, tables: Sequence[tuple[int, int, Table]]
) -> Iterator[tuple[int, int, Table | None]]:
    """Yield the parts of a line that are in different tables, or in none."""
    first = bisect_left(tables, start, key=lambda span: span[0])
    last = bisect_left(tables, end, key=lambda span: span[0])
    if first == last:
        yield start, end, None
        return
    for table, spans in groupby(tables[first:last], key=lambda span: span[2]):
        own = list(spans)
        parts = [own[:1]]
        for span in own[1:]:
            if text[parts[-1][-1][1] : span[0]].strip():
                parts.append([])  # other words are between
            parts[-1].append(span)
        for part in parts:
            if text[start : part[0][0]].strip():
                yield start, part[0][0], None
            yield part[0][0], part[-1][1], table
            start = part[-1][1]
    if text[start:end].strip():
        yield start, end, None


def _joined_runs(
    textpage: Any, text: str, runs: Iterable[tuple[int, int, Table | None]], *, with_font: bool = True
) -> list[tuple[str, _Letter | None, _Letter | None]]:
    """Return the words of each run, with its first and last letter; those that continue others are joined."""
    found: list[tuple[str, _Letter | None, _Letter | None]] = []
    for place, end, _ in runs:
        full = text[place:end]
        words = full.strip()
        start = place + full.find(words)
        first = _letter(textpage, start, with_font=with_font) if words else None
        last = _letter(textpage, start + len(words) - 1, with_font=with_font) if words else None
        if last is not None:
            words = _with_raised_end(textpage, start, words, last)
        before = found[-1][2] if found else None
        if before is not None and first is not None and _are_in_a_row(before, first):
            found[-1] = (_joined(textpage, found[-1][0], before, words, first), found[-1][1], last)
        else:
            found.append((words, first, last))
    return found


def _letter(textpage: Any, place: int, *, with_font: bool) -> _Letter | None:
    """Return the letter at a place of the text; ``None`` if PDFium does not know its box."""
    from pypdfium2 import raw

    rect = raw.FS_RECTF()
    index = raw.FPDFText_GetCharIndexFromTextIndex(textpage, place)
    if index < 0 or not raw.FPDFText_GetLooseCharBox(textpage, index, rect):
        return None
    if not with_font:
        return _Letter(rect.left, rect.bottom, rect.right, rect.top, number=index, bold=False)
    flags, name = ctypes.c_int(), ctypes.create_string_buffer(100)
    raw.FPDFText_GetFontInfo(textpage, index, name, len(name), flags)
    bold = raw.FPDFText_GetFontWeight(textpage, index) >= 600 or bool(_BOLD.search(name.value))
    return _Letter(rect.left, rect.bottom, rect.right, rect.top, number=index, bold=bold)


def _are_in_a_row(letter: _Letter, following: _Letter) -> bool:
    """Return whether a letter is on the same line as another one, and directly after it."""
    beside = min(letter.top, following.top) - max(letter.bottom, following.bottom)
    gap = following.left - letter.right
    size = max(letter.size, following.size)
    return beside > min(letter.size, following.size) / 2 and -_BLANK * size <= gap <= _WIDEST * size


def _with_raised_end(textpage: Any, start: int, words: str, last: _Letter) -> str:
    """Return a line with a raised number at its end written as such: ``10^6``."""
    for count in range(1, min(_LONGEST_RAISED, len(words) - 1) + 1):
        if words[-count] not in _RAISED:
            break
        letter = _letter(textpage, start + len(words) - count - 1, with_font=False)
        if letter is None:
            break
        if _is_raised(textpage, last, letter):
            return words[:-count] + raised(words[-count:], words[:-count])
    return words


def _is_raised(textpage: Any, letter: _Letter, before: _Letter) -> bool:
    if letter.size >= _SMALLER * before.size or letter.bottom <= before.bottom:
        return False
    if abs(letter.top - before.top) > _LEVEL * before.size:
        return True
    # Digits of the old style, of which some hang down, are level above, too.
    return _height(textpage, letter.number) < _SMALLER * _height(textpage, before.number)


def _height(textpage: Any, index: int) -> float:
    """Return the size of the font of a letter, as it is drawn."""
    from pypdfium2 import raw

    matrix = raw.FS_MATRIX()
    raw.FPDFText_GetMatrix(textpage, index, matrix)
    return float(raw.FPDFText_GetFontSize(textpage, index)) * math.hypot(matrix.c, matrix.d)


def _joined(textpage: Any, words: str, letter: _Letter, more: str, following: _Letter) -> str:
    """Join two parts of a line, given the last letter of the first part and the first letter of the second."""
    if following.left - letter.right > _BLANK * max(letter.size, following.size):
        return f"{words} {more}"
    number = _FIRST_NUMBER.match(more)
    if number is None or not _is_raised(textpage, following, letter):
        return words + more
    return f"{words}{raised(number[0], words)}{more[number.end() :]}"


def _line(words: str, found: Iterable[_Letter | None], table: Table | None = None) -> Line:
    ends = [letter for letter in found if letter is not None]
    if not ends:
        return Line(words, table=table)
    sizes = [letter.size for letter in ends]
    even = 0 < max(sizes) < 1.1 * min(sizes)
    bold = even and all(letter.bold for letter in ends)
    return Line(words, max(sizes) if even else 0.0, bold, ends[0].left, ends[0].bottom, ends[-1].bottom, table)
