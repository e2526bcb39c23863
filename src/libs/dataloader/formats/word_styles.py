"""The styles and the numbering of a Word document: names, outline levels, and the labels of numbered paragraphs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from libs.dataloader.formats.archive import Archive, attribute, child, children

if TYPE_CHECKING:
    from lxml.etree import _Element

_HEADING_NAME = re.compile(r"heading\s*([1-9])$", re.IGNORECASE)
_MAX_LEVEL = 9
_BOXES = frozenset("☐☑☒")  # of lists of tasks


@dataclass(slots=True)
class _Style:
    name: str = ""
    based_on: str = ""
    outline: int | None = None
    number: tuple[str, int] | None = None
    bold: bool | None = None


@dataclass(slots=True)
class _List:
    """A list definition: format, label and start of each level."""

    formats: dict[int, tuple[str, str, int]] = field(default_factory=dict)


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
        number = _number_of(child(properties, "numPr"))
        if number is None:
            number = next((found.number for found in self._chain(style) if found.number is not None), None)
        if number is None or number[0] == "0":
            name = self.name(style).lower()
            return ("-", 0) if name.startswith("list bullet") else ("", 0)
        key, level = number
        formats = self._lists.get(key, _List()).formats
        kind, pattern, start = formats.get(level, ("bullet", "", 1))
        counters = self._counters.setdefault(key, [])
        while len(counters) <= level:
            counters.append(formats.get(len(counters), ("decimal", "", 1))[2] - (1 if len(counters) == level else 0))
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
        abstract: dict[str, _List] = {}
        for node in children(root, "abstractNum"):
            made = abstract.setdefault(attribute(node, "abstractNumId") or "", _List())
            for level in children(node, "lvl"):
                index, start = attribute(level, "ilvl") or "0", value_of(child(level, "start")) or "1"
                if index.isdecimal() and int(index) < _MAX_LEVEL:
                    made.formats[int(index)] = (
                        value_of(child(level, "numFmt")) or "decimal",
                        value_of(child(level, "lvlText")) or "",
                        int(start) if start.isdecimal() and len(start) < 9 else 1,
                    )
        lists: dict[str, _List] = {}
        for node in children(root, "num"):
            lists[attribute(node, "numId") or ""] = abstract.get(value_of(child(node, "abstractNumId")) or "", _List())
        return lists


def is_on(node: _Element | None) -> bool:
    """Return whether a property exists and is not switched off."""
    return node is not None and (attribute(node, "val") or "1").lower() not in ("0", "false", "off")


def value_of(node: _Element | None) -> str | None:
    """Return the ``val`` of a property; ``None`` if the property is missing."""
    return attribute(node, "val") if node is not None else None


def _number_of(node: _Element | None) -> tuple[str, int] | None:
    if node is None:
        return None
    key, level = value_of(child(node, "numId")), value_of(child(node, "ilvl")) or "0"
    return (key, min(int(level), _MAX_LEVEL - 1)) if key is not None and level.isdecimal() else None


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
