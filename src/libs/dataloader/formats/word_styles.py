"""The styles and the numbering of a Word document: names, outline levels, and the labels of numbered paragraphs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from libs.dataloader.formats.archive import Archive, attribute, child, children
from libs.regexes import regex

if TYPE_CHECKING:
    from lxml.etree import _Element

_HEADING_NAME = regex(r"heading\s*([1-9])$", re.IGNORECASE)
_MAX_LEVEL = 9
_BOXES = frozenset("☐☑☒")  # of lists of tasks


@dataclass(slots=True)
class _Style:
    name: str = ""
    based_on: str = ""
    outline: int | None = None
    number: tuple[str | None, int | None] | None = None
    bold: bool | None = None


@dataclass(slots=True)
class _List:
    """A list: format, label and start of each level; its definition, whose numbers go on in all lists made by it."""

    formats: dict[int, tuple[str, str, int]] = field(default_factory=dict)
    definition: str = ""
    restarts: dict[int, int] = field(default_factory=dict)  # by level, the number that it begins with all the same


class Styles:
    """The styles of a document. It counts the numbered paragraphs, so it must be asked for each of them in order."""

    def __init__(self, archive: Archive) -> None:
        self._archive = archive
        self._styles = self._read_styles()
        self._lists = self._read_lists()
        self._counters: dict[str, list[int]] = {}

    def name(self, style: str) -> str:
        """Return the name of a style by its id; the id if there is no such style."""
        found = self._styles.get(style)
        return found.name if found is not None else style

    def outline(self, properties: _Element | None, style: str) -> int | None:
        """Return the heading level of a paragraph, from 1; ``None`` for text."""
        own = value_of(child(properties, "outlineLvl"))
        if own is not None and own.isdecimal():
            return int(own) + 1 if int(own) < _MAX_LEVEL else None
        for found in self._chain(style):
            if match := _HEADING_NAME.match(found.name):
                return int(match[1])
            if found.outline is not None:
                return found.outline + 1 if found.outline < _MAX_LEVEL else None
        match = _HEADING_NAME.match(style) if style not in self._styles else None
        return int(match[1]) if match else None

    def is_bold(self, style: str) -> bool:
        """Return whether a style has bold letters."""
        return next((found.bold for found in self._chain(style) if found.bold is not None), False)

    def number(self, properties: _Element | None, style: str) -> tuple[str, int]:
        """Count a numbered paragraph or list item, and return its label and depth; an empty label if it is neither."""
        key, level = self._list_of(properties, style)
        if key is None or key == "0":
            name = self.name(style).lower()
            return ("-", 0) if name.startswith("list bullet") else ("", 0)
        found = self._lists.get(key, _List())
        formats = found.formats
        kind, pattern, start = formats.get(level, ("bullet", "", 1))
        counters = self._counters.setdefault(found.definition, [])
        if level in found.restarts:
            del counters[level:]
            start = found.restarts.pop(level)
        while len(counters) < level:
            counters.append(formats.get(len(counters), ("decimal", "", 1))[2])
        if len(counters) == level:
            counters.append(start - 1)
        counters[level] += 1
        del counters[level + 1 :]
        if kind in ("bullet", "none"):
            # A blank as the bullet: the paragraph belongs to the item before it.
            shown = kind == "bullet" and (not pattern or bool(pattern.strip()))
            return (f"- {pattern}" if pattern in _BOXES else "-") if shown else "", level
        label = re.sub(
            r"%([1-9])",
            lambda match: _format(
                counters[int(match[1]) - 1] if int(match[1]) <= len(counters) else start,
                formats.get(int(match[1]) - 1, (kind, "", 1))[0],
            ),
            pattern or f"%{level + 1}.",
        )
        return label, level

    def _list_of(self, properties: _Element | None, style: str) -> tuple[str | None, int]:
        """Return the list that a paragraph is in, by its id, and its level; either may be told by one of its styles."""
        told = (_number_of(child(properties, "numPr")), *(found.number for found in self._chain(style)))
        level: int | None = None
        for key, depth in filter(None, told):
            level = depth if level is None else level
            if key is not None:
                return key, level or 0
        return None, 0

    def _chain(self, style: str) -> Iterator[_Style]:
        for _ in range(20):
            found = self._styles.get(style)
            if found is None:
                return
            yield found
            style = found.based_on

    def _read_styles(self) -> dict[str, _Style]:
        styles: dict[str, _Style] = {}
        if not self._archive.has("word/styles.xml"):
            return styles
        for node in children(self._archive.xml("word/styles.xml"), "style"):
            properties = child(node, "pPr")
            outline = value_of(child(properties, "outlineLvl"))
            styles[attribute(node, "styleId") or ""] = _Style(
                value_of(child(node, "name")) or "",
                value_of(child(node, "basedOn")) or "",
                int(outline) if outline and outline.isdecimal() else None,
                _number_of(child(properties, "numPr")),
                is_on(bold) if (bold := child(child(node, "rPr"), "b")) is not None else None,
            )
        return styles

    def _read_lists(self) -> dict[str, _List]:
        if not self._archive.has("word/numbering.xml"):
            return {}
        root = self._archive.xml("word/numbering.xml")
        abstract: dict[str, dict[int, tuple[str, str, int]]] = {}
        linked: dict[str, str] = {}  # definitions that a style has, by the one that refers to it
        for node in children(root, "abstractNum"):
            name = attribute(node, "abstractNumId") or ""
            abstract.setdefault(name, {}).update(_levels(node))
            if (link := value_of(child(node, "numStyleLink"))) is not None:
                linked[name] = link
        numbered = {attribute(node, "numId") or "": node for node in children(root, "num")}
        lists: dict[str, _List] = {}
        for key, node in numbered.items():
            definition = value_of(child(node, "abstractNumId")) or ""
            style = self._styles.get(linked.get(definition, ""))
            if style is not None and style.number is not None:
                definition = value_of(child(numbered.get(style.number[0] or ""), "abstractNumId")) or definition
            made = _List(dict(abstract.get(definition, {})), definition)
            for override in children(node, "lvlOverride"):
                made.formats |= _levels(override)
                level, start = attribute(override, "ilvl") or "0", value_of(child(override, "startOverride")) or ""
                if start.isdecimal() and len(start) < 9 and level.isdecimal():
                    made.restarts[int(level)] = int(start)
            lists[key] = made
        return lists


def _levels(node: _Element) -> dict[int, tuple[str, str, int]]:
    """Return format, label and start of each level that a definition, or an exception from it, describes."""
    found: dict[int, tuple[str, str, int]] = {}
    for level in children(node, "lvl"):
        index, start = attribute(level, "ilvl") or "0", value_of(child(level, "start")) or "1"
        if index.isdecimal() and int(index) < _MAX_LEVEL:
            found[int(index)] = (
                value_of(child(level, "numFmt")) or "decimal",
                value_of(child(level, "lvlText")) or "",
                int(start) if start.isdecimal() and len(start) < 9 else 1,
            )
    return found


def is_on(node: _Element | None) -> bool:
    """Return whether a property exists and is not switched off."""
    return node is not None and (attribute(node, "val") or "1").lower() not in ("0", "false", "off")


def value_of(node: _Element | None) -> str | None:
    """Return the ``val`` of a property; ``None`` if the property is missing."""
    return attribute(node, "val") if node is not None else None


def _number_of(node: _Element | None) -> tuple[str | None, int | None] | None:
    """Return the id of a list and the level in it that the properties of a paragraph or a style have, if any."""
    if node is None:
        return None
    key, level = value_of(child(node, "numId")), value_of(child(node, "ilvl"))
    if level is not None and not level.isdecimal():
        return None
    return key, None if level is None else min(int(level), _MAX_LEVEL - 1)


def _format(number: int, kind: str) -> str:
    if kind in ("lowerLetter", "upperLetter") and number > 0:
        letters = chr(ord("a") + (number - 1) % 26) * min((number - 1) // 26 + 1, 10)
        return letters.upper() if kind == "upperLetter" else letters
    if kind in ("lowerRoman", "upperRoman") and 0 < number < 4000:
        roman = ""
        for value, sign in zip(
            (1000, 900, 500, 400, 100, 90, 50, 40, 10, 9, 5, 4, 1),
            ("m", "cm", "d", "cd", "c", "xc", "l", "xl", "x", "ix", "v", "iv", "i"),
            strict=True,
        ):
            roman += sign * (number // value)
            number %= value
        return roman.upper() if kind == "upperRoman" else roman
    return str(number)
