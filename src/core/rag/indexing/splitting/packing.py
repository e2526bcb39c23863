"""Packs atoms into chunks of limited size in tokens, each ending at the best possible place."""

from __future__ import annotations

import re
import zlib
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

from core.rag.indexing.splitting.breaks import SENTENCE_END, Breaks, Level, inside_cluster, piece_breaks
from core.rag.indexing.splitting.tokens import TokenCounter
from libs.regexes import regex

# Share of a chunk from which on a better place to end counts more than a fuller chunk. A larger share makes chunks
# fuller, but leaves fewer places to choose from, so that after an edit it takes longer to return to the old places.
_FULL_ENOUGH = 0.5
_DIGESTED = 48  # characters
_TOKEN_LENGTH = 8  # characters per token, at most, when looking for the start of an overlap
_BALANCED = (0.6, 1.25)  # allowed size of the last but one chunk, relative to half of the remaining text

_SENTENCE_START = regex(SENTENCE_END + r"|\n[ \t\r]*+\n\s*+|\n(?=[ \t]*+(?:[-*+•]|\d{1,3}[.)])\s)")
_LINE_START = regex(r"\n(?:[ \t\r]*\n)*")
_WORD_START = regex(r"\s+")


@dataclass(frozen=True, slots=True)
class Table:
    """A table that is cut into several chunks.

    Attributes:
        start: Where its header begins.
        body: Where its first row begins.
        end: Where its last row ends.
        header: The text of the header, one line.
        reserve: Tokens to leave free in chunks of later rows for the header.
    """

    start: int
    body: int
    end: int
    header: str
    reserve: int = 0


def table_at(tables: Sequence[Table], place: int) -> Table | None:
    """Return the table whose rows, without the header, contain a place."""
    index = bisect_right(tables, place, key=lambda table: table.body) - 1
    return tables[index] if index >= 0 and place < tables[index].end else None


class Packer:
    """Packs the atoms of one section of text into chunks.

    Every chunk ends at the best place in its second half (or, if there is none, at the last place before); the next
    one begins there or up to ``overlap`` tokens earlier, if possible at the start of a sentence. The rest, when it fits
    two chunks, is balanced between them. The choice among equally good places depends on the text there, not on the
    start of the chunk, so after an edit the old places are soon found again, and only the chunks around it change
    (content-defined chunking, as in Muthitacharoen et al., LBFS, SOSP 2001).

    Args:
        text: The whole text, as something that can be encoded.
        counter: Counts tokens.
        size: Maximum number of tokens in a chunk.
        overlap: Maximum number of tokens that two neighbours share.
        by_lines: Let overlaps be whole lines instead of sentences, or nothing where a line ends that is too long.
    """

    def __init__(self, text: str, counter: TokenCounter, size: int, overlap: int, *, by_lines: bool) -> None:
        self._text = text
        self._counter = counter
        self._size = size
        self._overlap = overlap
        self._by_lines = by_lines
        self._blocks: set[int] = set()
        self._starts: list[int] = []
        self._ends: list[int] = []
        self._levels: list[int] = []
        self._before: list[int] = []  # cumulated weight of all atoms before each one

    def pack(self, breaks: Breaks, tables: Sequence[Table] = ()) -> list[tuple[int, int]]:
        """Return chunks as ``(start, end)``, ascending; together they cover the section.

        A single character that has more than ``size`` tokens is still a chunk.
        """
        self._weigh(breaks)
        self._blocks = breaks.blocks
        spans: list[tuple[int, int]] = []
        begin, done = breaks.start, 0
        while done < len(self._ends):
            table = table_at(tables, begin)
            size = self._size - (table.reserve if table is not None else 0)
            begin, done = self._fill(begin, done, size)
            spans.append((begin, self._ends[done - 1]))
            if done < len(self._ends):
                begin = max(self._overlapping(begin, done), self._line_of_table(tables, self._ends[done - 1]))
        return spans

    def _line_of_table(self, tables: Sequence[Table], cut: int) -> int:
        """Return the start of the row in which a table is cut, else 0: an overlap never includes whole rows."""
        inside = any(table.start < cut <= table.end for table in tables)
        return self._text.rfind("\n", 0, cut) + 1 if inside else 0

    def _weigh(self, breaks: Breaks) -> None:
        ends, levels = breaks.ends, breaks.levels
        starts = [breaks.start, *ends[:-1]] if ends else []
        weights = self._counter.weights([self._text[a:b] for a, b in zip(starts, ends, strict=True)])
        if weights and max(weights) > self._room(self._size):
            atoms = [*self._refined(list(zip(starts, ends, levels, weights, strict=True)))]
            starts = [atom[0] for atom in atoms]
            ends = [atom[1] for atom in atoms]
            levels = [atom[2] for atom in atoms]
            weights = [atom[3] for atom in atoms]
        self._starts, self._ends, self._levels = starts, ends, levels
        self._before = list(accumulate(weights, initial=0))

    def _refined(self, atoms: list[tuple[int, int, int, int]]) -> Iterator[tuple[int, int, int, int]]:
        """Yield atoms; those that are too heavy are replaced by their parts."""
        room = self._room(self._size)
        waiting = atoms[::-1]
        while waiting:
            start, end, level, weight = waiting.pop()
            length = end - start
            if weight <= room or length == 1:
                yield start, end, level, weight
                continue
            longest = min(max(length * room // (2 * weight), 1) if weight else 1, length // 2)
            longest = 1 << (longest.bit_length() - 1)  # few distinct lengths, so few splitters are created
            parts = piece_breaks(self._text, start, end, longest)
            if len(parts.ends) == 1:
                parts = Breaks(start, [start + length // 2, end], [Level.INSIDE, level])
            parts.levels[-1] = level
            starts = [start, *parts.ends[:-1]]
            weights = self._counter.weights([self._text[a:b] for a, b in zip(starts, parts.ends, strict=True)])
            waiting += [*zip(starts, parts.ends, parts.levels, weights, strict=True)][::-1]

    def _room(self, size: int) -> int:
        return size - self._counter.overhead

    def _fill(self, begin: int, done: int, size: int) -> tuple[int, int]:
        """Choose the end of the chunk that begins at ``begin``; it must include more than the first ``done`` atoms.

        Returns:
            Its start (later than ``begin`` if it would not reach far enough), and the number of atoms done after it.
        """
        text, start, room = self._text, self._starts[done], self._room(size)
        base = self._before[done]  # the weight of all that stands before the chunk
        if begin < start:
            base -= self._counter.weights([text[begin:start]])[0]
        last = self._choose(base, done, self._furthest(base, done, room), room)
        while (actual := self._counter.count(text[begin : self._ends[last - 1]])) > size:
            if last - 1 > done:
                # Larger than the weights predicted; shrink in proportion, by at least one atom.
                weight = self._before[last] - base
                upper = min(self._furthest(base, done, weight * size // actual), last - 1)
                last = self._choose(base, done, upper, room)
            elif begin < start:
                begin, base = start, self._before[done]
                last = self._choose(base, done, self._furthest(base, done, room), room)
            elif size < self._size:
                size = self._size  # no room is left for the header of the table
            else:
                break  # one character
        return begin, last

    def _furthest(self, base: int, done: int, room: int) -> int:
        fitting = bisect_right(self._before, base + room) - 1
        return min(max(fitting, done + 1), len(self._ends))

    def _choose(self, base: int, done: int, upper: int, room: int) -> int:
        """Return the best end among those after ``done`` up to ``upper``."""
        before, levels = self._before, self._levels
        if upper == len(self._ends):
            return upper
        left = before[-1] - base
        enough = base + _FULL_ENOUGH * room
        preference: Callable[[int], float] = self._digest
        if left <= 2 * room - self._overlap:
            half = (left + self._overlap) / 2
            upper = min(upper, self._furthest(base, done, int(_BALANCED[1] * half) + 1))
            enough = base + max(_BALANCED[0] * half, 2 * half - room)
            preference = self._distance_from(base + half)
        places = range(upper, bisect_left(before, enough, done + 1, upper + 1) - 1, -1)
        best = max((levels[place - 1] for place in places), default=Level.INSIDE)
        if best > Level.INSIDE:
            return min((place for place in places if levels[place - 1] == best), key=preference)
        return next((place for place in range(upper, done, -1) if levels[place - 1] > Level.INSIDE), upper)

    def _distance_from(self, weight: float) -> Callable[[int], float]:
        return lambda place: abs(self._before[place] - weight)

    def _digest(self, place: int) -> float:
        """Return a hash of the text before a place, which decides between equally good places."""
        end = self._ends[place - 1]
        return zlib.crc32(self._text[max(0, end - _DIGESTED) : end].encode())

    def _overlapping(self, begin: int, done: int) -> int:
        """Return where the next chunk begins: at the first sentence, line or word that shares at most ``overlap``.

        It is searched for in the text before the cut, independently of the atoms.
        """
        text, cut = self._text, self._ends[done - 1]
        if not self._overlap or self._levels[done - 1] == Level.HARD:
            return cut
        earliest = max(begin + 1, cut - _TOKEN_LENGTH * self._overlap)
        starts = []
        for place in range(done - 1, -1, -1):
            if self._starts[place] in self._blocks:
                earliest = self._ends[place]
                break
            if self._starts[place] <= earliest:
                break
            if self._levels[place - 1] == Level.HARD:
                earliest = self._starts[place]
                starts = [earliest]
                break
        if earliest >= cut:
            return cut
        patterns: tuple[re.Pattern[str], ...] = (_SENTENCE_START, _LINE_START, _WORD_START)  # lines: lists in text
        if self._by_lines:
            patterns = (_LINE_START,) if text[cut - 1] == "\n" else (_LINE_START, _SENTENCE_START, _WORD_START)
        for pattern in patterns:
            places = starts + [match.end() for match in pattern.finditer(text, earliest, cut)]
            if (found := self._first_that_fits(places, cut)) is not None:
                return found
        return cut

    def _first_that_fits(self, starts: list[int], cut: int) -> int | None:
        """Return the first of these starts from which the text up to the cut has at most ``overlap`` tokens."""
        text, count = self._text, self._counter.count
        starts = [start for start in starts if start < cut and not inside_cluster(text, start)]
        index = bisect_left(starts, 1, key=lambda start: int(count(text[start:cut]) <= self._overlap))
        return next((start for start in starts[index:] if count(text[start:cut]) <= self._overlap), None)
