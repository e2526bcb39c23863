"""JSON that is no list of records, as text: an indented outline, or with headings where that would be long."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from libs.dataloader.formats.base import escaped, join_lines

#: Deeper values are written as JSON.
MAX_DEPTH = 50
_LONGEST_LINE = 500
#: An object of more characters gets a heading: a passage from its middle would not say what it is about.
_LONGEST_BLOCK = 600
_LOWEST_HEADING = 6
#: What converters call the text of an element of XML that has nothing else, and interfaces a value that may have more.
_ONLY_VALUE = frozenset({"text", "value", "#text", "_text", "$t"})
#: What tells an item of a list from the others.
_NAMES = ("title", "name", "label", "id")


def outline(value: Any) -> tuple[str, str]:
    """Return a value as text, and the format of that.

    Short ones become indented lines without brackets and quotes. A long one becomes Markdown, in which long objects are
    sections. Short ones are paragraphs of lines of the form ``a.b: value``, each of which says by itself what it is.
    """
    value = _unwrapped(value)
    if isinstance(value, dict) and _is_long(value):
        return join_lines(_sections(value, 1)).strip("\n") + "\n", "markdown:lines"
    return indented(value), "text"


def indented(value: Any) -> str:
    """Return a value as indented lines."""
    return join_lines(_outline(value))


def flat(value: Any, name: str = "", depth: int = 0) -> Iterator[str]:
    """Yield a value as lines of the form ``a.b: value``."""
    if isinstance(value, dict | Mapping) and depth < MAX_DEPTH:  # of a dict, Mapping alone is slow to tell
        for key, inner in value.items():
            path = f"{name}.{key}" if name else str(key)
            if isinstance(inner, str | int | float) and path:  # a generator for each would take half of the time
                if inner != "":
                    yield f"{path}: {_scalar(inner)}"
            else:
                yield from flat(inner, path, depth + 1)
    elif isinstance(value, list) and depth < MAX_DEPTH and any(isinstance(item, dict | list) for item in value):
        for number, inner in enumerate(value, 1):
            yield from flat(inner, f"{name}[{number}]", depth + 1)
    elif value is not None and value != "" and value != [] and value != {}:
        yield f"{name}: {_scalar(value)}" if name else _scalar(value)


def _unwrapped(value: Any, depth: int = 0) -> Any:
    """Return a value with the texts themselves in place of objects that have nothing else."""
    if depth >= MAX_DEPTH:
        return value
    if isinstance(value, dict):
        if len(value) == 1 and depth:
            ((key, inner),) = value.items()
            if key in _ONLY_VALUE and not isinstance(inner, dict | list):
                return inner
        return {key: _unwrapped(inner, depth + 1) for key, inner in value.items()}
    return [_unwrapped(inner, depth + 1) for inner in value] if isinstance(value, list) else value


def _sections(value: Mapping[str, Any], level: int) -> Iterator[str]:
    """Yield the lines of an object: what is short, then the sections."""
    nested = {key: inner for key, inner in value.items() if not _is_simple(inner)}
    long = {key: inner for key, inner in nested.items() if level <= _LOWEST_HEADING and _is_long(inner)}
    if long and level == 1:
        long = nested  # the text begins with what the file begins with
    together = False  # simple values are one paragraph
    for key, inner in value.items():
        for lines in _paragraphs(inner, key) if key not in long else ():
            yield from [] if together and key not in nested else [""]
            yield from map(escaped, lines)
            together = key not in nested
    for key, inner in long.items():
        yield from ("", _heading(key, level))
        if isinstance(inner, dict):
            yield from _sections(inner, level + 1)
        else:
            yield from _items(inner, key, level + 1)


def _paragraphs(value: Any, name: str, depth: int = 0) -> Iterator[list[str]]:
    """Yield the lines of a value: one paragraph, or one for each object in a long one that can have no headings."""
    if isinstance(value, dict) and depth < MAX_DEPTH and _is_long(value):
        simple = {key: inner for key, inner in value.items() if _is_simple(inner)}
        yield from _paragraph(flat(simple, name))
        for key, inner in value.items():
            if key not in simple:
                yield from _paragraphs(inner, f"{name}.{key}", depth + 1)
    else:
        yield from _paragraph(flat(value, name))


def _paragraph(lines: Iterable[str]) -> Iterator[list[str]]:
    if said := [line for line in lines if line.strip()]:
        yield said


def _items(items: Iterable[Any], name: str, level: int) -> Iterator[str]:
    """Yield the lines of a list: an item each, a paragraph, or a section if it is long."""
    for number, item in enumerate(items, 1):
        if level <= _LOWEST_HEADING and isinstance(item, dict) and _is_long(item):
            named = next((item[key] for key in _NAMES if isinstance(item.get(key), str | int) and item[key]), "")
            yield from ("", _heading(str(named) or f"{name} {number}", level))
            yield from _sections(item, level + 1)
        elif isinstance(item, dict | list):
            yield ""
            yield from (escaped(line) for line in flat(item, "" if isinstance(item, dict) else name) if line.strip())
        elif item is not None and item != "":
            yield f"- {_scalar(item)}"


def _heading(name: str, level: int) -> str:
    return f"{'#' * level} {' '.join(name.split()) or '-'}"


def _is_long(value: Any) -> bool:
    """Return whether a value has more characters than a passage should have without a heading of its own."""
    chars = 0
    for line in flat(value):
        chars += len(line)
        if chars > _LONGEST_BLOCK:
            return True
    return False


def _outline(value: Any, depth: int = 0) -> Iterator[str]:
    """Yield a value as indented lines, without brackets and quotes."""
    indent = "  " * depth
    if depth >= MAX_DEPTH:
        yield indent + _scalar(value)
    elif isinstance(value, dict):
        for key, inner in value.items():
            if _is_simple(inner):
                yield f"{indent}{key}: {_scalar(inner)}".rstrip()
            else:
                yield f"{indent}{key}:"
                yield from _outline(inner, depth + 1)
    elif isinstance(value, list):
        for inner in value:
            if _is_simple(inner):
                yield f"{indent}- {_scalar(inner)}"
            else:
                lines = _outline(inner, depth + 1)
                yield f"{indent}- {next(lines, '').lstrip()}"
                yield from lines
    else:
        yield indent + _scalar(value)


def _is_simple(value: Any) -> bool:
    if isinstance(value, dict):
        return not value
    if isinstance(value, list):
        return (
            all(not isinstance(item, dict | list) for item in value)
            and sum(len(str(item)) for item in value) < _LONGEST_LINE
        )
    return True


def _scalar(value: Any) -> str:
    if isinstance(value, str):
        if "\n" not in value:
            return value.rstrip()
        return "\n".join(line.rstrip() for line in value.split("\n") if line.strip())
    if isinstance(value, list):
        return ", ".join(_scalar(item) for item in value)
    if isinstance(value, bool) or value is None:
        return "" if value is None else str(value).lower()
    return json.dumps(value, ensure_ascii=False) if isinstance(value, dict) else str(value)
