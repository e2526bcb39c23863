"""Joins the lines of hard-wrapped text, so that names that run over a line end are found.

A paragraph is broken at a width where nearly all of its lines end because the first word of the next one had no room.
Lists, verse and rows of tables are not, and stay as they are; so do paragraphs of two lines, of which nobody can tell.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Final

#: Widths at which people and editors wrap lines; shorter lines are lists, longer ones whole paragraphs.
_NARROWEST: Final = 50
_WIDEST: Final = 130
#: So many lines at least, and so large a share of those that a word follows, have to be full.
_FEWEST: Final = 2
_SHARE: Final = 0.75
_ENDS: Final = frozenset(",;–—)”’'\"")


def unwrapped(text: str) -> str:
    """Return the text with a space instead of each line end that is only due to wrapping."""
    blocks = text.split("\n\n")
    for number, block in enumerate(blocks):
        if block.count("\n") >= _FEWEST:
            blocks[number] = _unwrapped(block)
    return "\n\n".join(blocks)


def _unwrapped(block: str) -> str:
    lines = block.split("\n")
    width = max(map(len, lines))
    if not _NARROWEST <= width <= _WIDEST:
        return block
    parts = [lines[0]]
    full = could = 0
    for before, line in pairwise(lines):
        rest = line.lstrip(" ")
        end = "\n"
        if rest[:1].isalpha() and not before.startswith("#") and "\t" not in before and " | " not in before:
            could += 1
            if len(before) + 1 + len(rest.partition(" ")[0]) > width:
                full += 1
                if before[-1:].isalnum() or before[-1:] in _ENDS or _goes_on(before, rest):
                    end, line = " ", rest
        parts += (end, line)
    return "".join(parts) if full >= max(_FEWEST, _SHARE * could) else block


def _goes_on(before: str, rest: str) -> bool:
    """Return whether a line ends in the middle of ``Patent- und Markenamt``."""
    return before[-1:] == "-" and before[-2:-1].isalpha() and rest.startswith(("und ", "oder "))
