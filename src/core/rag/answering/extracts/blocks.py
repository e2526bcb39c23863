"""Blocks of code in a passage, as an answer shows them: a line within its text, more of them as a block below it."""

from __future__ import annotations

import re
from textwrap import dedent, indent
from typing import NamedTuple

from core.rag.answering.extracts.code_spans import Span, nested_end
from core.rag.answering.extracts.showing import INCLUDES, code_lines, cut
from core.rag.answering.markers import is_in_block
from libs.regexes import regex

#: A line that opens or closes a block (group 2: what it says of the language).
_FENCE = regex(r"^[ \t]*(`{3,})([^`\n]*)$", re.MULTILINE)
_BEHIND = regex(r"\s*\n(?=[ \t]*`{3})")
_LANGUAGE = regex(r"[ \t{.]*([A-Za-z][\w+#-]*)")
#: A block is shown up to so many lines and characters.
_MOST_LINES = 20
_MOST_CHARACTERS = 1200
_LONGEST_LINE = 200
_LEFT_OUT = "…"


class Block(NamedTuple):
    """A block of code in a text.

    Attributes:
        start: Where its first line begins, behind the one that opens it.
        end: Where its last line ends.
        language: As the opening line says; may be empty.
    """

    start: int
    end: int
    language: str


class Shown(NamedTuple):
    """A block as it is shown; one of both is empty.

    Attributes:
        inline: A single line of code, to be said within a text.
        below: Several lines, to be put below an item of a list: they begin with a line end, and are indented.
    """

    inline: str
    below: str


def block_at(text: str, place: int) -> Block | None:
    """Return the block of code that a place is in, which may begin before the text and end behind it."""
    if not is_in_block(text, place):
        return None
    opening = None
    for fence in _FENCE.finditer(text, 0, place):
        opening = fence
    return _block(text, 0 if opening is None else opening.end() + 1, opening)


def lines_at(text: str, place: Span, language: str) -> Block | None:
    """Return a statement of several lines in a configuration, or a name with what stands below it, as a block.

    ``None`` for a single line with nothing below it, and for comments.
    """
    begin = text.rfind("\n", 0, place.start) + 1
    if place.said or text[begin : place.start].strip():
        return None
    end = max(place.end, nested_end(text, begin, _MOST_LINES))
    return Block(begin, end, language) if "\n" in text[place.start : end] else None


def block_behind(text: str, end: int) -> Block | None:
    """Return the block of code that begins right behind a place, which is in none."""
    between = _BEHIND.match(text, end)
    opening = _FENCE.match(text, between.end()) if between is not None else None
    if opening is None or is_in_block(text, end):
        return None
    return _block(text, opening.end() + 1, opening)


def show(text: str, block: Block, place: int | None = None, depth: int = 1) -> Shown:
    """Return a block as it is shown.

    Args:
        text: The passage.
        block: A block in it.
        place: What must be shown of a block that is too long to be shown whole; ``None``: its beginning.
        depth: How deep the item is below which it stands.
    """
    code = text[block.start : block.end]
    kept = [line for line in code.expandtabs(4).split("\n") if not INCLUDES.fullmatch(line)]
    lines = dedent("\n".join(kept)).strip("\n").rstrip().split("\n")
    line = code_lines("\n".join(lines))
    if len(line) <= _LONGEST_LINE and "` `" not in line and "`" not in line[1:-1]:
        return Shown(line, "")
    first = 0
    if place is not None:
        before = len(text[block.start : place].lstrip("\n").split("\n")) - 1
        first = before if before >= _MOST_LINES and before < len(lines) else 0
    shown = _fitting(lines[first:])
    parts = [*([_LEFT_OUT] if first else []), *shown, *([_LEFT_OUT] if first + len(shown) < len(lines) else [])]
    whole = "\n".join([f"```{block.language}", *parts, "```"])
    return Shown("", "\n" + indent(whole, "  " * depth))


def _block(text: str, start: int, opening: re.Match[str] | None) -> Block:
    closing = _FENCE.search(text, start)
    language = _LANGUAGE.match(opening[2]) if opening is not None else None
    return Block(
        min(start, len(text)),
        len(text) if closing is None else max(closing.start(), start),
        "" if language is None else language[1],
    )


def _fitting(lines: list[str]) -> list[str]:
    """Return as many of the first lines as are shown, at least one."""
    shown: list[str] = []
    room = _MOST_CHARACTERS
    for line in lines[:_MOST_LINES]:
        if shown and len(line) > room:
            break
        shown.append(cut(line, _MOST_CHARACTERS))
        room -= len(line) + 1
    return shown
