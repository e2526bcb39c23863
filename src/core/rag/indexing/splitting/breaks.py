"""Finds where a text may be split, and how good each place is.

Paragraphs, lines and sentences are found here, by nothing but the characters around a place, so that an edit elsewhere
does not move them. What is longer goes to ``semantic-text-splitter`` (sentences, words and grapheme clusters of Unicode
Standard Annex 29, words of Thai, Chinese or Japanese by dictionary). It takes quadratic time where it finds nothing to
hold on to, so it is given bounded windows, each beginning at a boundary that it found itself.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import IntEnum
from functools import lru_cache
from typing import TYPE_CHECKING

from libs.regexes import regex

if TYPE_CHECKING:
    from semantic_text_splitter import TextSplitter as PieceSplitter


class Level(IntEnum):
    """How good a place to cut is; higher is better."""

    INSIDE = -1  # within a grapheme cluster
    CHARACTER = 0  # within a word
    WORD = 1
    SENTENCE = 2
    LINE = 3
    PARAGRAPH = 4
    SEPARATOR = 5  # after a separator that the caller set, or before a definition
    HARD = 6  # between records or rows; chunks never overlap here


@dataclass(slots=True)
class Breaks:
    """A stretch of text, divided into atoms that are not cut; each atom ends at a possible place to cut.

    Attributes:
        start: Where the stretch begins.
        ends: Where each atom ends, ascending; the last is the end of the stretch.
        levels: How good it is to cut after each atom.
        blocks: Where the atoms begin that are blocks (fenced code, tables), which are never repeated in part.
    """

    start: int
    ends: list[int] = field(default_factory=list)
    levels: list[int] = field(default_factory=list)
    blocks: set[int] = field(default_factory=set)

    @property
    def end(self) -> int:
        """The end of the last atom, or the start of the stretch."""
        return self.ends[-1] if self.ends else self.start

    def add(self, end: int, level: int) -> None:
        """Append an atom; an empty one only raises the level of the place."""
        if end > self.end:
            self.ends.append(end)
            self.levels.append(level)
        elif self.levels:
            self.levels[-1] = max(self.levels[-1], level)

    def extend_last(self, end: int, level: int) -> None:
        """Extend the last atom, because whitespace belongs to what precedes it."""
        if self.ends:
            self.ends[-1] = end
            self.levels[-1] = max(self.levels[-1], level)
        else:
            self.add(end, level)

    def mark(self, level: int) -> None:
        """Raise the level of the end of the last atom to at least this one."""
        if self.levels:
            self.levels[-1] = max(self.levels[-1], level)


# A line with such an end does not continue in the next one.
_TERMINAL = frozenset(".!?:;…。！？：；।॥؟۔።᠃⁇⁈⁉‽|>}]")
_CLOSING = "\"'”’»)]}」』）】*_`"
# The dot of a German date, "am 30. Juni", does not end a sentence.
_DATE = (
    r"(?<=\d\.\s)(?:Januar|Jänner|Februar|März|April|Mai|Juni|Juli|August|September|Oktober|November|Dezember"
    r"|Jahrhunderts?|Jahrtausends?)\b"
)
# After UAX 29, rules SB6 to SB11: not before a small letter ("e.g. this"), but after an abbreviation before a capital.
SENTENCE_END = (
    rf"(?<![.!?…।॥؟۔።])[.!?…।॥؟۔።]++[\"'”’»)\]}}*_`]*+\s++(?![a-zß-öø-ÿа-яα-ω]|{_DATE})|[。！？｡]++[」』）】”’]*+\s*+"
)
_SENTENCE_END = regex(SENTENCE_END)
# What continues no line before it: items of lists, headings, quotations, and the lines of logs, which begin with a
# time, an address (web servers), or seconds in brackets (kernels).
_NEW_LINE = regex(
    r"[ \t]*(?:[-*+•·‣▪#>|~=]|\d{1,3}[.)]|[A-Za-z][.)]\s|`{3})"
    r"|[\[(]?\d{1,4}[-/:.]\d{1,3}[-/:.]\d|\[ *\d+\.\d|\[?[A-Z][a-z]{2} (?:[A-Z][a-z]{2} )?[ \d]\d \d\d:\d\d"
)
# Between two rows of SQL, outside of the texts in them; a text that does not end goes on to the end of the line.
_TUPLE_END = regex(r"'(?:[^'\\]++|\\.|'')*+(?:'|\\?\Z)|(\)\s*,\s*)(?=\()", re.DOTALL)
_WRAPPED_AT_LEAST = 40  # characters; a shorter line was not wrapped
_WINDOW = 8  # number of pieces that are found at once
_LONGEST_SPACE = 64  # characters of whitespace that belong to what precedes them

# Grapheme_Cluster_Break=Extend without being a mark, and =Prepend (Unicode 16, GraphemeBreakProperty.txt).
_EXTENDING = frozenset("\u200c\u200d\uff9e\uff9f")
_PREPENDED = frozenset(
    "\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u0890\u0891\u08e2\u0d4e"
    "\U000110bd\U000110cd\U000111c2\U000111c3\U000113d1\U0001193f\U00011941\U00011a84\U00011a85\U00011a86"
    "\U00011a87\U00011a88\U00011a89\U00011d46\U00011f02"
)

_SURROGATE_PAIR = regex("([\ud800-\udbff])([\udc00-\udfff])")
_SURROGATE = regex("[\ud800-\udfff]")


def without_surrogates(text: str) -> str:
    """Return the text with its surrogates replaced, one character for each, so that it can be encoded.

    A surrogate becomes U+FFFD, the second half of a pair a combining mark, so that pairs stay together.
    """
    if text.isascii() or _SURROGATE.search(text) is None:
        return text
    return _SURROGATE.sub("\ufffd", _SURROGATE_PAIR.sub("\ufffd\u0301", text))


def prose_breaks(text: str, start: int, end: int, separator: str, piece: int) -> Breaks:
    """Find the places to cut in running text: after paragraphs, lines, sentences, words.

    Args:
        text: A text that can be encoded.
        start: Where the stretch begins in it.
        end: Where it ends.
        separator: A preferred place to cut after.
        piece: Length in characters up to which atoms are left whole.
    """
    breaks = Breaks(start)
    wanted = separator_ends(text, start, end, separator)
    blocks: list[tuple[int, int, int]] = []
    for stop in [*wanted, end]:
        blocks += _paragraph_lines(text, blocks[-1][1] if blocks else start, stop)
        if blocks and stop != end:
            blocks[-1] = (*blocks[-1][:2], Level.SEPARATOR)
    _add_pieces(breaks, text, _sentences(text, blocks, piece), piece)
    return breaks


def line_breaks(text: str, start: int, end: int, piece: int, *, indented: bool = False, tuples: bool = False) -> Breaks:
    """Find the places to cut in text where every line counts, such as code.

    Args:
        text: A text that can be encoded.
        start: Where the stretch begins in it.
        end: Where it ends.
        piece: Length in characters up to which a line is left whole.
        indented: Whether a blank line before a line that is indented no deeper than the first one is a better place.
        tuples: Whether a longer line is rows of SQL, ``(…),(…)``, between which it is cut.
    """
    breaks = Breaks(start)
    blocks: list[tuple[int, int, int]] = []
    outermost = -1
    position = start
    for line in text[start:end].splitlines(keepends=True):
        after = position + len(line)
        if line.isspace():
            if blocks:
                blocks[-1] = (blocks[-1][0], after, Level.PARAGRAPH)
            else:
                blocks.append((position, after, Level.PARAGRAPH))
        else:
            depth = len(line) - len(line.lstrip()) if indented else 0
            if outermost < 0:
                outermost = depth
            elif indented and depth <= outermost and blocks[-1][2] == Level.PARAGRAPH:
                blocks[-1] = (*blocks[-1][:2], Level.SEPARATOR)
            for match in _TUPLE_END.finditer(line) if tuples and len(line) > piece else ():
                if match[1]:
                    blocks.append((position, after - len(line) + match.end(), Level.HARD))
                    position = blocks[-1][1]
            blocks.append((position, after, Level.LINE))
        position = after
    _add_pieces(breaks, text, blocks, piece)
    return breaks


def record_breaks(text: str, start: int, end: int) -> Breaks:
    """Find the places between records, that is, after blank lines."""
    breaks = Breaks(start)
    for match in re.compile(r"\n[ \t\r]*\n\s*").finditer(text, start, end):
        breaks.add(match.end(), Level.HARD)
    breaks.add(end, Level.HARD)
    return breaks


def row_breaks(text: str, start: int, end: int) -> Breaks:
    """Find the places between the rows of a table, one per line."""
    breaks = Breaks(start)
    position = start
    for line in text[start:end].splitlines(keepends=True):
        position += len(line)
        if line.isspace():
            breaks.extend_last(position, Level.HARD)
        else:
            breaks.add(position, Level.HARD)
    return breaks


def piece_breaks(text: str, start: int, end: int, piece: int) -> Breaks:
    """Find places inside one atom that is too large, at most ``piece`` characters apart.

    The best ones are between its lines: those of a record are its fields, of which a half says little.
    """
    breaks = Breaks(start)
    lines: list[tuple[int, int, int]] = []
    for line in text[start:end].splitlines(keepends=True):
        lines.append((start, start + len(line), Level.LINE))
        start += len(line)
    lines[-1] = (*lines[-1][:2], Level.CHARACTER)
    _add_pieces(breaks, text, _sentences(text, lines, piece), piece)
    return breaks


def separator_ends(text: str, start: int, end: int, separator: str) -> list[int]:
    """Return where a separator other than whitespace ends (whitespace has its own levels)."""
    if not separator or separator.isspace():
        return []
    found = (match.end() for match in re.compile(re.escape(separator)).finditer(text, start, end))
    return [place for place in found if place < end and not inside_cluster(text, place)]


def inside_cluster(text: str, place: int) -> bool:
    """Return whether a place is within a grapheme cluster (UAX 29, without the rarer rules for Indic conjuncts)."""
    if not 0 < place < len(text):
        return False
    before, after = text[place - 1], text[place]
    if after == "\n":
        return before == "\r"
    if after < "\u0300" or before in "\r\n":
        return False
    if after in _EXTENDING or "\U0001f3fb" <= after <= "\U0001f3ff" or "\U000e0020" <= after <= "\U000e007f":
        return True
    if before in _PREPENDED:
        return unicodedata.category(after)[0] != "C"
    if unicodedata.category(after)[0] == "M":
        return True
    if before == "\u200d":
        return unicodedata.category(after) in {"So", "Sm", "Po", "Ps", "Cn"}
    if _is_flag_half(after) and _is_flag_half(before):
        first = place - 1
        while first > 0 and _is_flag_half(text[first - 1]):
            first -= 1
        return (place - first) % 2 == 1
    return "\u1100" <= after <= "\ud7fb" and _joins_hangul(before, after)


def _is_flag_half(character: str) -> bool:
    return "\U0001f1e6" <= character <= "\U0001f1ff"


def _joins_hangul(before: str, after: str) -> bool:
    leading = "\u1100" <= before <= "\u115f" or "\ua960" <= before <= "\ua97c"
    vowel = "\u1160" <= after <= "\u11a7" or "\ud7b0" <= after <= "\ud7c6"
    trailing = "\u11a8" <= after <= "\u11ff" or "\ud7cb" <= after <= "\ud7fb"
    if leading:
        return vowel or "\u1100" <= after <= "\u115f" or "\uac00" <= after <= "\ud7a3" or "\ua960" <= after <= "\ua97c"
    return (vowel or trailing) and ("\u1160" <= before <= "\u11ff" or "\uac00" <= before <= "\ud7fb")


def _paragraph_lines(text: str, start: int, end: int) -> list[tuple[int, int, int]]:
    """Return lines as ``(start, end, level)``; lines of one wrapped paragraph are joined."""
    blocks: list[tuple[int, int, int]] = []
    position = start
    wrapped = False  # whether the last line may continue in the next
    for line in text[start:end].splitlines(keepends=True):
        after = position + len(line)
        if line.isspace():
            level = Level.PARAGRAPH if line[-1] in "\r\n\f\v\x85\u2028\u2029" else Level.WORD
            if blocks:
                blocks[-1] = (blocks[-1][0], after, max(level, blocks[-1][2]))
            else:
                blocks.append((position, after, level))
            wrapped = False
        else:
            if wrapped and not line[0].isspace() and _NEW_LINE.match(line) is None:
                blocks[-1] = (blocks[-1][0], after, Level.LINE)
            else:
                blocks.append((position, after, Level.LINE))
            wrapped = len(line) > _WRAPPED_AT_LEAST and line.rstrip().rstrip(_CLOSING)[-1:] not in _TERMINAL
        position = after
    return blocks


def _sentences(text: str, blocks: Iterable[tuple[int, int, int]], piece: int) -> list[tuple[int, int, int]]:
    """Return the blocks, dividing those longer than ``piece`` into sentences."""
    result: list[tuple[int, int, int]] = []
    for start, end, level in blocks:
        if end - start > piece:
            for match in _SENTENCE_END.finditer(text, start, end):
                place = match.end()
                if place < end and not inside_cluster(text, place):
                    result.append((start, place, Level.SENTENCE))
                    start = place
        result.append((start, end, level))
    return result


def _add_pieces(breaks: Breaks, text: str, blocks: Iterable[tuple[int, int, int]], piece: int) -> None:
    """Append blocks; those longer than ``piece`` are divided into pieces."""
    blocks = list(blocks)
    window = max(_WINDOW * piece, 256)
    splitter = _piece_splitter(piece)
    short = [text[first:last] for first, last, _ in blocks if piece < last - first <= window]
    ready = iter(splitter.chunk_all_indices([_as_one_line(block) for block in short]) if short else ())
    for first, last, level in blocks:
        if last - first <= piece:
            breaks.add(last, level)
        elif last - first <= window:
            places = [first + offset for offset, _ in next(ready)[1:]]
            _add_places(breaks, text, places, last, level)
        else:
            _add_places(breaks, text, _windowed(text, first, last, piece, window), last, level)


def _windowed(text: str, start: int, end: int, piece: int, window: int) -> list[int]:
    """Find places in a long block. The last piece of each window is found again in the next one, with more after it."""
    splitter = _piece_splitter(piece)
    places: list[int] = []
    while start < end:
        stop = min(start + window, end)
        found = [start + offset for offset, _ in splitter.chunk_indices(_as_one_line(text[start:stop]))[1:]]
        places += found
        if stop == end or not found:
            start = stop
            if stop < end:
                places.append(stop)
        else:
            start = found[-1]
    return places


def _as_one_line(block: str) -> str:
    """Replace the line ends inside a block by spaces, because they are no better places to cut than other spaces."""
    return block if block.isspace() else block.replace("\n", " ").replace("\r", " ")


def _add_places(breaks: Breaks, text: str, places: list[int], end: int, level: int) -> None:
    for place in places:
        if text[place].isspace() and not text[place - 1].isspace():
            place = _after_space(text, place, end)  # the space belongs to what precedes it
        cluster = _cluster_start(text, breaks.end, place)
        if cluster > breaks.end:
            breaks.add(cluster, _level_at(text, cluster))
        if place > cluster:
            breaks.add(place, Level.INSIDE if place < end else level)
    breaks.add(end, level)


def _cluster_start(text: str, start: int, place: int) -> int:
    while place > start and inside_cluster(text, place):
        place -= 1
    return place


def _after_space(text: str, place: int, end: int) -> int:
    after, last = place, min(end, place + _LONGEST_SPACE)
    while after < last and text[after].isspace():
        after += 1
    return _cluster_start(text, place, after)


def _level_at(text: str, place: int) -> int:
    return Level.WORD if text[place - 1].isspace() else Level.CHARACTER


@lru_cache(maxsize=64)
def _piece_splitter(piece: int) -> PieceSplitter:
    from semantic_text_splitter import TextSplitter as PieceSplitter

    return PieceSplitter(piece, trim=False)
