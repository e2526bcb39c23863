"""Finds the keys of a YAML file, which are its headings."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from core.rag.headings import heading_path
from core.rag.indexing.splitting.sections import MAX_NESTING, Mark, shortened
from core.rag.indexing.splitting.tokens import TokenCounter

# Read by line, as templates (Helm, Ansible) and several documents in a file are no YAML for a parser.
_KEY = r"\"[^\"\n]{1,200}\"|'[^'\n]{1,200}'|[^\s#&*!|>%@`\"',\[\]{}-][^\n#]{0,200}?"
_LINE = re.compile(rf"(?P<item>[ ]*-[ ]+)?(?:[ ]*(?P<key>{_KEY})[ ]*:(?:[ ]+(?P<value>[^\n]*))?$)?")
_COMMENT = re.compile(r"[ ]*#")
_BLOCK = re.compile(r"(?:[&!]\S+[ ]+)*[|>][-+\d]{0,2}[ ]*(?:#.*)?")
#: What tells an item of a list from the others.
_NAMES = frozenset(("name", "title", "id", "label"))


#: What holds fewer characters is read with what stands around it.
_SHORTEST = 200


class _Entry(NamedTuple):
    start: int
    depth: int  # twice the indentation, and one more for an item: that of a list may be that of its key
    name: str  # empty for an item without one
    block: bool  # whether its text is in the lines below


def yaml_marks(text: str, counter: TokenCounter, size: int) -> Iterator[Mark]:
    """Yield where the larger keys and named items of YAML begin, with their path, such as "jobs > test".

    Those inside of one are looked for if it does not fit into a chunk. A file that does is one passage.
    """
    if not counter.fits(text, size):
        yield from _within(text, _entries(text), len(text), (), counter, size)


def _within(
    text: str, entries: Sequence[_Entry], end: int, path: tuple[str, ...], counter: TokenCounter, size: int
) -> Iterator[Mark]:
    named = True  # whether the text here is already under the heading of `path`
    index = 0
    while index < len(entries):
        entry = entries[index]
        following = index + 1
        while following < len(entries) and entries[following].depth > entry.depth:
            following += 1
        stop = entries[following].start if following < len(entries) else end
        inner = entries[index + 1 : following]
        if entry.name and (inner or entry.block) and stop - entry.start >= _SHORTEST:
            below = (*path, entry.name)
            yield entry.start, heading_path(below)
            if len(below) < MAX_NESTING and not counter.fits(text[entry.start : stop], size):
                yield from _within(text, inner, stop, below, counter, size)
            named = False
        elif not named:
            yield entry.start, heading_path(path)
            named = True
        index = following


def _entries(text: str) -> list[_Entry]:
    """Return the keys and items of a text, each from the comments directly above."""
    found: list[_Entry] = []
    comments = -1  # where those above the line begin
    block = -1  # the indentation of a key whose text is in the lines below
    position = 0
    for line in text.splitlines(keepends=True):
        start, position = position, position + len(line)
        if not line.strip():
            comments = -1
            continue
        indent = len(line) - len(line.lstrip(" "))
        if block >= 0 and indent > block:
            continue
        block = -1
        if _COMMENT.match(line):
            comments = start if comments < 0 else comments
            continue
        match = _LINE.match(line.rstrip())
        begin, comments = start if comments < 0 else comments, -1
        if match is None or (match["item"] is None and match["key"] is None):
            continue
        key = (match["key"] or "").strip("\"' ")
        value = (match["value"] or "").strip()
        is_block = _BLOCK.fullmatch(value) is not None
        if is_block:
            block = indent if match["item"] is None else len(match["item"])
        if match["item"] is not None:
            name = value.strip("\"'") if key.lower() in _NAMES else ""
            found.append(_Entry(begin, 2 * indent + 1, shortened(name), block=False))
        elif key:
            found.append(_Entry(begin, 2 * indent, shortened(key), is_block))
    return found
