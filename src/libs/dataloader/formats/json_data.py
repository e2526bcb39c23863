"""JSON and JSON Lines."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from functools import cache, partial
from typing import Any

from libs.dataloader.epochs import with_times
from libs.dataloader.formats.api_description import read_description
from libs.dataloader.formats.base import Content, FileData, TextBuilder, escaped
from libs.dataloader.formats.canvas import read_canvas
from libs.dataloader.formats.chats import read_chats
from libs.dataloader.formats.json_outline import indented, outline
from libs.dataloader.formats.keep import read_keep
from libs.dataloader.formats.postman import read_collection
from libs.dataloader.formats.records import add_record, content_of_records, text_of_record
from libs.dataloader.formats.registry import JSONL, Format
from libs.dataloader.formats.rows import Records
from libs.dataloader.formats.trello import read_trello
from libs.dataloader.rich_text import texts_for_trees
from libs.dataloader.text import clean_text

_MOSTLY = 0.8
#: The share of a text that may be beside a list of objects: else that is not what the text is about.
_MOST_BESIDE = 0.5
#: What is longer is a text that an object holds, not a field of a record.
_LONGEST_FIELD = 500
_CLOSING = {"{": "}", "[": "]"}
_LONGEST_WORD = 5  # false, of which half may be there


def read(file: FileData, kind: Format) -> Content:
    """One paragraph of ``name: value`` lines per record where it is a list of objects, or one object; else an outline.

    Of an object with several such lists, each stands below its name.

    Exports of conversations, boards of cards and notes become these.
    What is not JSON after all stays as it is: it is still text. If that is because the file was cut short, the metadata
    ``cut_short_in_line`` says where.
    """
    text = file.text()
    if kind is JSONL:
        return _lines(text) or Content(text)
    try:
        data = _loads(text)
    except (ValueError, RecursionError):  # comments, several values, nested too deeply, a half file
        return _lines(text) or Content(text, metadata=_cut_short(text, text.count("\n", 0, len(text.rstrip())) + 1))
    known = read_chats(data, file) or read_canvas(data, file) or read_keep(data)
    known = known or read_description(data) or read_collection(data) or read_trello(data)
    if known is not None:
        return known
    if (records := _list_of_objects(data)) is not None:
        return content_of_records(range(1, len(records) + 1), records.__getitem__)
    title = _title(data)
    if isinstance(data, dict):
        if _is_record(data):
            content = content_of_records((1,), (data,).__getitem__)
            content.title = _one_line(_named(data, ("name", "title")))  # the title of a person says what they do
            return content
        lists = {
            name: items
            for name, value in data.items()
            if (items := _list_of_objects(value)) is not None and (len(items) > 1 or len(data) == 1)
        }
        if len(lists) == 1:
            ((name, items),) = lists.items()
            intro = indented({key: value for key, value in data.items() if key != name})
            if len(intro) <= _MOST_BESIDE * len(text):
                content = content_of_records(range(1, len(items) + 1), items.__getitem__, intro)
                content.title = title
                return content
        if len(lists) > 1 and all(map(_are_records, lists.values())):
            intro = indented({key: value for key, value in data.items() if key not in lists})
            if len(intro) <= _MOST_BESIDE * len(text):
                return _several(lists, title, intro)
    made, form = outline(data)
    return Content(clean_text(made), form, title)


def _loads(text: str) -> Any:
    """Parse JSON, with texts in place of the trees of editors, and times in place of their numbers.

    Numbers are as they are written that are none in JSON or anywhere else: ``NaN``, ``1e999``.
    """
    return _decoder().decode(text)


@cache
def _decoder() -> json.JSONDecoder:
    return json.JSONDecoder(object_hook=_as_read, parse_constant=str, parse_float=_number)


def _as_read(node: dict[str, Any]) -> Any:
    return texts_for_trees(with_times(node))


def _number(text: str) -> float | str:
    value = float(text)
    return value if math.isfinite(value) else text


def _title(data: Any) -> str | None:
    """Return the title that an object has, or the only one that an object in it has: ``{"info": {"title": …}}``."""
    if not isinstance(data, dict):
        return None
    own = _named(data)
    inner = [name for value in data.values() if isinstance(value, dict) and (name := _named(value))]
    return _one_line(own if own or len(inner) != 1 else inner[0])


def _named(data: Mapping[str, Any], fields: Sequence[str] = ("title", "name")) -> str | None:
    return next((data[name] for name in fields if isinstance(data.get(name), str)), None)


def _cut_short(text: str, line: int) -> dict[str, Any]:
    """Return as metadata that a text ends in a line, if it is not JSON but would be if it went on."""
    text = text.strip()
    try:
        json.loads(text)
    except json.JSONDecodeError as error:
        left = len(text) - error.pos
        unfinished = error.msg.startswith("Unterminated") or (left < _LONGEST_WORD and "Extra data" not in error.msg)
        closing = _CLOSING.get(text[:1])
        if closing and (left <= 0 or (unfinished and not text.endswith(closing))):
            return {"cut_short_in_line": line}
    except (ValueError, RecursionError):  # a number of more digits than Python reads, nested too deeply
        pass
    return {}


def _lines(text: str) -> Content | None:
    """Convert JSON Lines; ``None`` unless most lines are objects."""
    lines: list[str] = []
    numbers: list[int] = []
    good = 0
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            lines.append(line)
            numbers.append(number)
            good += isinstance(_parse(line), dict)
    if not lines or good < _MOSTLY * len(lines):
        return None
    content = content_of_records(numbers, partial(_record, lines))
    content.metadata |= _cut_short(lines[-1], numbers[-1])
    return content


def _record(lines: Sequence[str], index: int) -> Mapping[str, Any]:
    value = _parse(lines[index])
    return value if isinstance(value, dict) else {"value": value if value is not None else lines[index]}


def _parse(line: str) -> Any:
    try:
        return _loads(line)
    except (ValueError, RecursionError):
        return None


def _list_of_objects(data: Any) -> list[dict[str, Any]] | None:
    if isinstance(data, list) and data and all(isinstance(item, dict) for item in data):
        return data
    return None


def _is_record(data: Mapping[str, Any]) -> bool:
    """Return whether an object is like a row: several values, each of them or of their items a short one."""
    items = [item for value in data.values() for item in (value if isinstance(value, list) else [value])]
    if len(data) == 1 or sum(item not in (None, "") for item in items) <= 1:
        return False
    return all(
        len(item) <= _LONGEST_FIELD and "\n" not in item if isinstance(item, str) else not isinstance(item, dict | list)
        for item in items
    )


def _are_records(items: Sequence[Mapping[str, Any]]) -> bool:
    return sum(map(_is_record, items)) >= _MOSTLY * len(items)


def _several(lists: Mapping[str, Sequence[Mapping[str, Any]]], title: str | None, intro: str) -> Content:
    """Return several lists of records, each below its name."""
    builder = TextBuilder()
    builder.add(escaped(clean_text(intro).strip()))
    starts: list[int] = []
    kept: list[Mapping[str, Any]] = []
    for name, items in lists.items():
        builder.separate()
        builder.mark("list", name)
        builder.block(f"## {escaped(clean_text(' '.join(name.split())))}")
        for number, item in enumerate(items, 1):
            if text := text_of_record(item):
                starts.append(add_record(builder, number, escaped(text)))
                kept.append(item)
    return Content(
        builder.text(),
        "markdown",
        title,
        {"row_count": len(starts)},
        locations=builder.locations,
        records=Records(starts, kept.__getitem__),
    )


def _one_line(text: str | None) -> str | None:
    return (clean_text(" ".join(text.split()))[:500] or None) if text else None
