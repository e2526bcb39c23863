"""Blocks of code in a passage, as an answer shows them: a line within its text, more of them as a block below it.

What code printed is shown with it: a block right behind it that names no language, as notebooks and manuals have it.
"""

from __future__ import annotations

import re
from collections import deque
from textwrap import dedent, indent
from typing import NamedTuple

from core.rag.answering.extracts.code_spans import Span, nested_end
from core.rag.answering.extracts.showing import INCLUDES, code_lines, cut
from core.rag.answering.extracts.table_rows import is_row
from core.rag.answering.markers import is_in_block
from libs.regexes import regex

#: A line that opens or closes a block (group 2: what it says of the language).
_FENCE = regex(r"^[ \t]*(`{3,})([^`\n]*)$", re.MULTILINE)
#: Between a sentence and its block there may be what shows the block in a box or as a tab: ``<Tabs>``, ``:::note``.
_BEHIND = regex(r"\s*\n(?:[ \t]*(?:<[^<>\n]{1,200}>|:{3,}[ \t]*\w[^\n]{0,100})[ \t]*\n\s*){0,5}(?=[ \t]*`{3})")
_LANGUAGE = regex(r"[ \t{.]*([A-Za-z][\w+#-]*)")
#: A block is shown up to so many lines and characters.
_MOST_LINES = 20
_MOST_CHARACTERS = 1200
_LONGEST_LINE = 200
_LEFT_OUT = "…"
#: What blocks are called that have what code printed, and not more code.
_OUTPUT = ("", "output", "text", "txt")
_TO = " → "
#: So many characters of what code printed are looked at for words of the question.
_SAID = 400


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
    opening = _fence_above(text, place)
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


def printed(text: str, code: Block) -> Block | None:
    """Return the block of what a block of code printed; ``None`` if there is none, or that is not told."""
    closing = _FENCE.match(text, code.end)
    if closing is None or (not code.language and code.start > 0):
        return None
    behind = block_behind(text, closing.end())
    return behind if behind is not None and behind.language in _OUTPUT else None


def code_above(text: str, place: int) -> Block | None:
    """Return the block of code that ends right above a place, such as the fence that opens what it printed."""
    closing = _fence_above(text, place)
    if closing is None or text[closing.end() : place].strip():
        return None
    return block_at(text, closing.start())


def cell_at(text: str, place: int) -> Block | None:
    """Return the block of code that a place is in; if it is in what code printed, the block of that code."""
    block = block_at(text, place)
    if block is None or block.language not in _OUTPUT or block.start == 0:
        return block
    code = code_above(text, text.rfind("\n", 0, block.start - 1) + 1)
    return code if code is not None and printed(text, code) == block else block


def as_cell(text: str, start: int, end: int) -> str:
    """Return a piece of a block of code with what that printed, if it is its end; of that, with the end of the code.

    A number that code printed does not say what it is, and its code not which one. An empty text for other places.
    """
    block = block_at(text, start) if "```" in text else None
    if block is None:
        return ""
    output = printed(text, block)
    if output is not None:
        return "" if text[end : block.end].strip() else f"{text[start:end]}\n{text[output.start : output.end][:_SAID]}"
    code = cell_at(text, start)
    return "" if code is None or code == block else f"{last_line(text, code)}\n{text[start:end]}"


def made_by(text: str, place: int) -> str | None:
    """Return the last line of the code that printed the table of the row at a place, which may be empty.

    ``None`` for other places.
    """
    if not is_row(text, place):
        return None
    head = text.rfind("\n\n", 0, place) + 2
    code = code_above(text, head) if head > 1 and text.startswith("|", head) else None
    return last_line(text, code).strip() if code is not None else None


def last_line(text: str, code: Block) -> str:
    """Return the last line of a block of code, whose value notebooks show; empty if it goes on with one above."""
    line = text[code.start : code.end].rstrip().rpartition("\n")[2]
    return line if len(line) <= _LONGEST_LINE and line[:1].strip(")]}") and "`" not in line else ""


def show(text: str, block: Block, place: int | None = None, depth: int = 1) -> Shown:
    """Return a block as it is shown, with what it printed.

    Args:
        text: The passage.
        block: A block in it.
        place: What must be shown of a block that is too long to be shown whole; ``None``: its beginning.
        depth: How deep the item is below which it stands.
    """
    output = printed(text, block)
    parts = [part for part in (block, output) if part is not None]
    lines = [_lines(text, part) for part in parts]
    inline = [code_lines("\n".join(part)) for part in lines]
    if all(len(line) <= _LONGEST_LINE and "` `" not in line and "`" not in line[1:-1] for line in inline):
        return Shown(_TO.join(filter(None, inline)), "")
    shown = (_below(text, part, own, place, depth) for part, own in zip(parts, lines, strict=True))
    return Shown("", "".join(shown))


def _below(text: str, block: Block, lines: list[str], place: int | None, depth: int) -> str:
    first = 0
    if place is not None and block.start <= place < block.end:
        before = len(text[block.start : place].lstrip("\n").split("\n")) - 1
        first = before if before >= _MOST_LINES and before < len(lines) else 0
    shown = _fitting(lines[first:])
    parts = [*([_LEFT_OUT] if first else []), *shown, *([_LEFT_OUT] if first + len(shown) < len(lines) else [])]
    whole = "\n".join([f"```{block.language}", *parts, "```"])
    return "\n" + indent(whole, "  " * depth)


def _lines(text: str, block: Block) -> list[str]:
    code = text[block.start : block.end]
    kept = [line for line in code.expandtabs(4).split("\n") if not INCLUDES.fullmatch(line)]
    return dedent("\n".join(kept)).strip("\n").rstrip().split("\n")


def _fence_above(text: str, place: int) -> re.Match[str] | None:
    """Return the last line above a place that opens or closes a block."""
    return next(iter(deque(_FENCE.finditer(text, 0, place), maxlen=1)), None)


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
