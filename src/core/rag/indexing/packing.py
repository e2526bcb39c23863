"""Put atoms together to chunks of at most so many tokens, each ending at the best place there is."""

from __future__ import annotations

import zlib
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

from core.rag.indexing.breaks import Breaks, Level, piece_breaks
from core.rag.indexing.tokens import TokenCounter

# Of a chunk: from here on a better place to end is worth more than a fuller chunk. A larger share makes chunks fuller,
# but leaves fewer places to choose from, and so takes longer to find the old ones again after an edit.
_FULL_ENOUGH = 0.5
_DIGESTED = 48  # characters
_BALANCED = (0.6, 1.25)  # of half of what is left: how far the last but one chunk may be from it


@dataclass(frozen=True, slots=True)
class Table:
    """A table that had to be cut.

    Attributes:
        start: Where its header begins.
        body: Where its first row begins.
        end: Where its last row ends.
        header: The text of the header, one line.
        reserve: Tokens to leave free in chunks of later rows, so that the header fits beside them.
    """

    start: int
    body: int
    end: int
    header: str
    reserve: int = 0


def table_at(tables: Sequence[Table], place: int) -> Table | None:
    """The table in whose rows a place is, not counting the header."""
    index = bisect_right(tables, place, key=lambda table: table.body) - 1
    return tables[index] if index >= 0 and place < tables[index].end else None


class Packer:
    """Packs the atoms of one stretch of text.

    Every chunk ends at the best place in its second half (or, where there is none, the last place before); the next
    begins there or up to ``overlap`` tokens earlier, at the start of a sentence where possible. What is left for two
    chunks is shared between them. Which of several equally good places is taken depends on
    the text there, not on where the chunk began; so after an edit the old places are soon found again, and only the
    chunks around it change (content-defined chunking, as in Muthitacharoen et al., LBFS, SOSP 2001).

    Args:
        text: The whole text, as something that can be encoded.
        counter: What counts.
        size: Tokens per chunk at most.
        overlap: Tokens that two neighbours share at most.
    """

    def __init__(self, text: str, counter: TokenCounter, size: int, overlap: int) -> None:
        self._text = text
        self._counter = counter
        self._size = size
        self._overlap = overlap
        self._starts: list[int] = []
        self._ends: list[int] = []
        self._levels: list[int] = []
        self._before: list[int] = []  # weight of all atoms before each

    def pack(self, breaks: Breaks, tables: Sequence[Table] = ()) -> list[tuple[int, int]]:
        """Chunks as ``(start, end)``, ascending; together they cover the stretch.

        A single character that has more than ``size`` tokens is a chunk all the same.
        """
        self._weigh(breaks)
        spans: list[tuple[int, int]] = []
        first = done = 0
        while done < len(self._ends):
            table = table_at(tables, self._starts[first])
            size = self._size - (table.reserve if table is not None else 0)
            first, done = self._fill(first, done, size)
            spans.append((self._starts[first], self._ends[done - 1]))
            if done < len(self._ends):
                first = self._overlapping(first, done)
        return spans

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
        """Atoms, those that are too heavy replaced by their parts."""
        room = self._room(self._size)
        waiting = atoms[::-1]
        while waiting:
            start, end, level, weight = waiting.pop()
            length = end - start
            if weight <= room or length == 1:
                yield start, end, level, weight
                continue
            longest = min(max(length * room // (2 * weight), 1) if weight else 1, length // 2)
            longest = 1 << (longest.bit_length() - 1)  # few different lengths, few different splitters
            parts = piece_breaks(self._text, start, end, longest)
            if len(parts.ends) == 1:
                parts = Breaks(start, [start + length // 2, end], [Level.INSIDE, level])
            parts.levels[-1] = level
            starts = [start, *parts.ends[:-1]]
            weights = self._counter.weights([self._text[a:b] for a, b in zip(starts, parts.ends, strict=True)])
            waiting += [*zip(starts, parts.ends, parts.levels, weights, strict=True)][::-1]

    def _room(self, size: int) -> int:
        return size - self._counter.overhead

    def _fill(self, first: int, done: int, size: int) -> tuple[int, int]:
        """Choose where the chunk that begins with atom ``first`` ends; it has to reach beyond atom ``done``.

        Returns:
            Where it begins (later than asked for if it would not reach far enough), and where it ends.
        """
        count, text = self._counter.count, self._text
        room = self._room(size)
        last = self._choose(first, done, self._furthest(first, done, room), room)
        while (actual := count(text[self._starts[first] : self._ends[last - 1]])) > size:
            if last - 1 > done:
                # Not what the weights promised; shrink in proportion, by one atom at least.
                weight = self._before[last] - self._before[first]
                upper = min(self._furthest(first, done, weight * size // actual), last - 1)
                last = self._choose(first, done, upper, room)
            elif first < done:
                first = done
                last = self._choose(first, done, self._furthest(first, done, room), room)
            elif size < self._size:
                size = self._size  # the header of the table has to stay outside
            else:
                break  # one character
        return first, last

    def _furthest(self, first: int, done: int, room: int) -> int:
        fitting = bisect_right(self._before, self._before[first] + room) - 1
        return min(max(fitting, done + 1), len(self._ends))

    def _choose(self, first: int, done: int, upper: int, room: int) -> int:
        """The best end among those after ``done`` up to ``upper``."""
        before, levels = self._before, self._levels
        if upper == len(self._ends):
            return upper
        left = before[-1] - before[first]
        enough = before[first] + _FULL_ENOUGH * room
        preference: Callable[[int], float] = self._digest
        if left <= 2 * room - self._overlap:
            half = (left + self._overlap) / 2
            upper = min(upper, self._furthest(first, done, int(_BALANCED[1] * half) + 1))
            enough = before[first] + max(_BALANCED[0] * half, 2 * half - room)
            preference = self._distance_from(before[first] + half)
        places = range(upper, bisect_left(before, enough, done + 1, upper + 1) - 1, -1)
        best = max((levels[place - 1] for place in places), default=Level.INSIDE)
        if best > Level.INSIDE:
            return min((place for place in places if levels[place - 1] == best), key=preference)
        return next((place for place in range(upper, done, -1) if levels[place - 1] > Level.INSIDE), upper)

    def _distance_from(self, weight: float) -> Callable[[int], float]:
        return lambda place: abs(self._before[place] - weight)

    def _digest(self, place: int) -> float:
        """A number made of the text before a place: equally good ones are told apart by it."""
        end = self._ends[place - 1]
        return zlib.crc32(self._text[max(0, end - _DIGESTED) : end].encode())

    def _overlapping(self, first: int, done: int) -> int:
        """Where the next chunk begins."""
        before, levels = self._before, self._levels
        if not self._overlap or levels[done - 1] == Level.HARD:
            return done
        earliest = max(first + 1, bisect_left(before, before[done] - self._overlap))
        sentences: list[int] = []
        words: list[int] = []
        for place in range(done - 1, earliest - 1, -1):
            if before[done + 1] - before[place] > self._room(self._size):
                break
            if levels[place - 1] >= Level.SENTENCE:
                sentences.append(place)
            elif levels[place - 1] == Level.WORD:
                words.append(place)
            if levels[place - 1] == Level.HARD:
                break
        end = self._ends[done - 1]
        for candidates in (sentences, words):
            for place in reversed(candidates):
                shared = self._text[self._starts[place] : end]
                if not shared.isspace() and self._counter.count(shared) <= self._overlap:
                    return place
        return done
