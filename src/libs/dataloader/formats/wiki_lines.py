"""The lines of a page of MediaWiki as blocks of HTML: paragraphs, lists, and what begins with a blank."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from libs.regexes import regex

#: Signs for what cannot be told from words afterwards: the marks of items, blocks, and notes.
ITEM_MARKS: Final = {"*": "\ue001", "#": "\ue002", ":": "\ue003", ";": "\ue004"}
_ITEM, _NUMBERED, _INDENTED, _TERM = ITEM_MARKS.values()
_BLOCK: Final = "\ue005"
_LINE_OF_BLOCK: Final = "\ue006"  # a line break in one
NOTE: Final = "\ue007"
_PARTS = regex(f"{_BLOCK}([^{_BLOCK}]*){_BLOCK}")
_NOTES = regex(f"{NOTE}([^{NOTE}]*){NOTE}")
_MARKS = regex(f"[{_ITEM}{_NUMBERED}{_INDENTED}{_TERM}]+")
_BLANK_END = regex(r"\s+</p>$")
_SIGNS = regex(f"[{_BLOCK}{NOTE}]")
_LISTS: Final = {_ITEM: "ul", _NUMBERED: "ol"}
_DEEPEST: Final = 10


def as_block(html: str) -> str:
    """Return HTML of a block as it stands among the lines of a page."""
    inner = html.replace(_BLOCK, "").replace("\n", _LINE_OF_BLOCK)
    return f"{_BLOCK}{inner}{_BLOCK}" if html else ""


def flat(text: str) -> str:
    """Return lines as words within a line."""
    return " ".join(_MARKS.sub(" ", _SIGNS.sub("", text).replace(_LINE_OF_BLOCK, " ")).split())


def blocks(text: str, *, in_cell: bool = False) -> str:
    """Return lines as blocks.

    Args:
        text: Words as HTML, with signs for marks of items, blocks and notes.
        in_cell: Whether they are in a cell or an item, where one paragraph is none.
    """
    parts: list[str] = []
    for number, part in enumerate(_PARTS.split(text.lstrip(" \t") if in_cell else text)):
        if number % 2:
            parts.append(part)
        else:
            parts += _of_lines(part.lstrip(" \t") if number else part)  # behind a block is no beginning of a line
    made = "".join(_with_notes(parts)).replace(_LINE_OF_BLOCK, "\n")
    if in_cell and made.startswith("<p>") and made.count("<p>") == 1 and made.endswith("</p>"):
        return made[3:-4]
    return made


def _with_notes(parts: Iterable[str]) -> Iterator[str]:
    """Yield blocks, each with its notes behind it; what a paragraph announces comes before these."""
    notes: list[str] = []
    for part in parts:
        body, found = _without_notes(part)
        body = _BLANK_END.sub("</p>", body) if found else body
        if notes and body.startswith("<p>"):
            yield from notes
            notes = []
        yield body
        notes += (f"<p>{note}</p>" for note in found)
        if not body.endswith(":</p>"):
            yield from notes
            notes = []
    yield from notes


def _of_lines(text: str) -> Iterator[str]:
    items: list[tuple[str, str]] = []
    words: list[str] = []
    code: list[str] = []
    for line in [*_joined(text), ""]:
        marks = _MARKS.match(line)
        if words and (marks or not line.strip() or line[:1] == " "):
            yield f"<p>{' '.join(words)}</p>"
            words = []
        if items and not marks:
            yield from _lists(items)
            items = []
        if code and not (line[:1] == " " and line.strip()):
            yield f"<pre>{_LINE_OF_BLOCK.join(code)}</pre>"
            code = []
        if marks:
            items += _items(marks[0][:_DEEPEST], line[marks.end() :])
        elif line[:1] == " " and line.strip() and not words:
            code.append(line[1:].rstrip())
        elif line.strip():
            words.append(line.strip())


def _joined(text: str) -> list[str]:
    """Return the lines; those that a note goes over are one."""
    return _NOTES.sub(lambda found: found[0].replace("\n", " "), text).split("\n")


def _without_notes(text: str) -> tuple[str, list[str]]:
    notes = [found[1].strip() for found in _NOTES.finditer(text)]
    return (_NOTES.sub("", text), notes) if notes else (text, [])


def _items(marks: str, text: str) -> Iterator[tuple[str, str]]:
    """Yield the item of a line; a term may have what is said of it behind it."""
    text, notes = _without_notes(text)
    term, mark, said = text.partition(_INDENTED)
    said = " ".join((said if mark else term, *notes)).strip()
    if mark:
        yield marks, term.strip()
        marks = f"{marks[:-1]}{_INDENTED}"
    yield marks, said


def _lists(items: Sequence[tuple[str, str]]) -> Iterator[str]:
    """Yield lists; one within another is in the item above it."""
    at = 0
    while at < len(items):
        kind = items[at][0][0]
        same = _LISTS.get(kind)
        end = at
        while end < len(items) and (items[end][0][0] == kind if same else items[end][0][0] not in _LISTS):
            end += 1
        yield (f"<{same}>{''.join(_entries(items[at:end]))}</{same}>" if same else "".join(_said(items[at:end])))
        at = end


def _entries(items: Sequence[tuple[str, str]]) -> Iterator[str]:
    at = 0
    while at < len(items):
        end = at + 1
        while end < len(items) and len(items[end][0]) > 1:
            end += 1
        first = [] if len(items[at][0]) > 1 else [items[at][1]]
        inner = [(marks[1:], text) for marks, text in items[at + len(first) : end]]
        yield f"<li>{''.join(first)}{''.join(_lists(inner))}</li>"
        at = end


def _said(items: Sequence[tuple[str, str]]) -> Iterator[str]:
    """Yield terms with what is said of them; lines that are only indented are paragraphs."""
    terms = any(marks[0] == _TERM for marks, _ in items)
    at = 0
    parts: list[str] = []
    while at < len(items):
        marks, text = items[at]
        tag = "dt" if marks[0] == _TERM else "dd" if terms else "p"
        end = at + 1
        while end < len(items) and len(items[end][0]) > 1:
            end += 1
        deeper = [(other[1:], words) for other, words in items[at + 1 : end]]
        if len(marks) > 1:
            deeper, text = [(marks[1:], text), *deeper], ""
        nested = "".join(_lists(deeper)) if deeper else ""
        if tag == "p":
            parts.append((f"<p>{text}</p>" if text else "") + nested)
        else:
            parts.append(f"<{tag}>{text}{nested}</{tag}>")
        at = end
    made = "".join(parts)
    yield f"<dl>{made}</dl>" if terms else made
