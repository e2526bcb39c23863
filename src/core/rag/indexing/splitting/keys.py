"""Finds the keys of a YAML file, and the sections of INI and TOML files, which are their headings."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from core.rag.headings import heading_path
from core.rag.indexing.splitting.sections import MAX_NESTING, Mark, shortened
from core.rag.indexing.splitting.tokens import TokenCounter
from libs.regexes import regex

# Read by line, as templates (Helm, Ansible) and several documents in a file are no YAML for a parser.
_KEY = r"\"[^\"\n]{1,200}\"|'[^'\n]{1,200}'|[^\s#&*!|>%@`\"',\[\]{}-][^\n#]{0,200}?"
_LINE = regex(rf"(?P<item>[ ]*-[ ]+)?(?:[ ]*(?P<key>{_KEY})[ ]*:(?:[ ]+(?P<value>[^\n]*))?$)?")
_COMMENT = regex(r"[ ]*#")
_NEXT_DOCUMENT = regex(r"^---(?=\s|$)", re.MULTILINE)
_VALUE = regex(r"(?P<quote>[\"'])(?P<quoted>.*?)(?P=quote)|(?P<plain>[^\s#&*!|>{\[\"'][^{}]*?)(?:\s+#.*)?$")
_TABLE = regex(r"\[{1,2}[ \t]*(?P<name>[^\s\[\],][^\[\],]*)\]{1,2}[ \t]*(?:[#;].*)?")
_BLOCK = regex(r"(?:[&!]\S+[ ]+)*[|>][-+\d]{0,2}[ ]*(?:#.*)?")
#: What tells an item of a list from the others.
NAMES = frozenset(("name", "title", "id", "label"))


#: What tells a document of YAML from others, if that is read.
_OBJECT_KEYS = frozenset(("kind", "name"))
_LONGEST_VALUE = 300

#: What holds fewer characters is read with what stands around it.
_SHORTEST = 200


class _Entry(NamedTuple):
    start: int
    depth: int  # twice the indentation, and one more for an item: that of a list may be that of its key
    name: str  # empty for an item without one
    block: bool  # whether its text is in the lines below
    value: str = ""  # of the keys that tell what an object is


def yaml_marks(text: str, counter: TokenCounter, size: int) -> Iterator[Mark]:
    """Yield where the larger keys and named items of YAML begin, with their path, such as "jobs > test".

    Those inside of one are looked for if it does not fit into a chunk. A file that does is one passage. What describes
    an object of Kubernetes or the like is called by that: "Deployment shop > spec".
    """
    entries = _entries(text)
    if counter.fits(text, size):
        if _NEXT_DOCUMENT.search(text, 3) is None and (path := _object(entries)):
            yield 0, heading_path(path)
        return
    begin, first = 0, 0
    for end in [*(match.start() for match in _NEXT_DOCUMENT.finditer(text)), len(text)]:
        last = bisect_left(entries, end, first, key=lambda entry: entry.start)
        path = _object(entries[first:last])
        marks: list[Mark] = [(begin, heading_path(path))] if begin or path else []
        if not path or not counter.fits(text[begin:end], size):
            marks += _within(text, entries[first:last], end, path, counter, size)
            if path and len(marks) > 1 and marks[1][0] - begin < _SHORTEST:
                marks[:2] = [(begin, marks[1][1])]  # its name alone would be found in place of what it has
        yield from marks
        begin, first = end, last


def section_marks(text: str, counter: TokenCounter, size: int) -> Iterator[Mark]:
    """Yield where the larger sections of INI and TOML begin, with their names.

    A file that fits into a chunk is one passage.
    """
    if counter.fits(text, size):
        return
    found: list[tuple[int, str]] = []
    comments = -1  # where those above the line begin
    position = 0
    for line in text.splitlines(keepends=True):
        start, position = position, position + len(line)
        if line[0] in "#;":
            comments = start if comments < 0 else comments
            continue
        if line[0] == "[" and (match := _TABLE.fullmatch(line.rstrip())) is not None:
            found.append((start if comments < 0 else comments, shortened(match["name"].strip())))
        comments = -1
    named = True
    for (start, name), (stop, _) in pairwise([*found, (len(text), "")]):
        if stop - start >= _SHORTEST:
            yield start, name
            named = False
        elif not named:
            yield start, ""
            named = True


def _object(entries: Sequence[_Entry]) -> tuple[str, ...]:
    """Return the kind and name of the object that a document describes; nothing if it does not tell its kind."""
    kind, name, above, depth = "", "", "", 0
    for entry in entries:
        if entry.depth == 0:
            above, depth = entry.name, 0
            kind = kind or (entry.value if above == "kind" else "")
        elif above == "metadata":
            depth = depth or entry.depth
            name = name or (entry.value if entry.depth == depth and entry.name == "name" else "")
    return (shortened(f"{kind} {name}".rstrip()),) if kind else ()


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
            name = value.strip("\"'") if key.lower() in NAMES else ""
            found.append(_Entry(begin, 2 * indent + 1, shortened(name), block=False))
        elif key:
            said = _VALUE.match(value[:_LONGEST_VALUE]) if key in _OBJECT_KEYS else None
            told = (said["quoted"] or said["plain"] or "") if said is not None else ""
            found.append(_Entry(begin, 2 * indent, shortened(key), is_block, told))
    return found
