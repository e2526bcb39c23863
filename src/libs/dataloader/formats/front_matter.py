"""The fields at the top of a Markdown file, between lines of dashes (YAML) or plus signs (TOML)."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from datetime import date, time
from typing import Any, Final

from libs.dataloader.formats.yaml_data import parse_yaml
from libs.dataloader.notes import without_brackets
from libs.regexes import regex

_FENCED: Final = regex(
    r"\A(?P<fence>---|\+\+\+)[ \t]*\n(?P<body>.*?)^(?P=fence)[ \t]*(?:\n|\Z)", re.DOTALL | re.MULTILINE
)
_FIELD: Final = regex(r"^([^\W\d_](?:[\w -]{0,60}?|[\w.-]{0,60}))\s*[:=]\s*(.*)$")
_BLOCK_SCALAR: Final = regex(r"[|>][+\-1-9]{0,2}")
_ITEM: Final = regex(r"^\s+-\s+(.+)$|^-\s+(.+)$")
#: Fields at the top by the names that they have in the metadata; others keep their own.
COMMON_FIELDS: Final = {
    "author": "author",
    "authors": "author",
    "date": "created",
    "created": "created",
    "lastmod": "modified",
    "updated": "modified",
    "modified": "modified",
    "description": "description",
    "summary": "description",
    "alias": "aliases",
    "aliases": "aliases",
    "tags": "tags",
    "keywords": "keywords",
    "categories": "categories",
    "lang": "language",
    "language": "language",
}
#: Longest text that is taken for fields, and the deepest that they are nested.
_LONGEST: Final = 100_000
_DEEPEST: Final = 10


def split_front_matter(text: str) -> tuple[dict[str, Any], str, str]:
    """Return the fields at the top of a text, their source, and the text after them.

    Values are texts (as they are written), ``true`` and ``false``, lists and maps of these, and of TOML also integers.
    What is no YAML after all, such as ``title: One: two``, is read line by line.

    Returns:
        No fields, an empty source and the whole text if there are none.
    """
    match = _FENCED.match(text) if text.startswith(("---", "+++")) else None
    if match is None:
        return {}, "", text
    body = match["body"]
    fields = _toml(body) if match["fence"] == "+++" else _yaml(body)
    if fields is None:
        fields = _by_line(body)
    if not fields:
        return {}, "", text
    return fields, body, text[match.end() :].lstrip("\n")


def fields_metadata(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the metadata that fields are, without the title; a field that is there twice counts as it is first."""
    metadata: dict[str, Any] = {}
    for name, value in fields.items():
        if value not in ("", None) and name.lower() != "title":
            metadata.setdefault(COMMON_FIELDS.get(name.lower(), name), value)
    return metadata


def _toml(body: str) -> dict[str, Any] | None:
    try:
        return _plain_map(tomllib.loads(body, parse_float=str))
    except (tomllib.TOMLDecodeError, RecursionError):
        return None


def _yaml(body: str) -> dict[str, Any] | None:
    found = parse_yaml(body, deepest=_DEEPEST) if len(body) <= _LONGEST else None
    return _plain_map(found) if isinstance(found, dict) else None


def _plain_map(found: Mapping[Any, Any], depth: int = 0) -> dict[str, Any]:
    """Return what can be stored: without empty values, and without what is nested too deeply."""
    plain = {_key(key): _plain(value, depth) for key, value in found.items()}
    return {key: value for key, value in plain.items() if value not in (None, "", [], {})}


def _key(key: Any) -> str:
    return key.strip() if isinstance(key, str) else str(key).lower()


def _plain(value: Any, depth: int) -> Any:
    if isinstance(value, Mapping):
        return _plain_map(value, depth + 1) if depth < _DEEPEST else None
    if isinstance(value, list | tuple | set):
        items = [_plain(item, depth + 1) for item in value] if depth < _DEEPEST else []
        flat = [part for item in items for part in (item if isinstance(item, list) else [item])]  # [[Name]] is a link
        return [item for item in flat if item not in (None, "", {})]
    if isinstance(value, date | time):  # includes datetime
        return value.isoformat()
    return without_brackets(" ".join(value.split())) if isinstance(value, str) else value


def _by_line(body: str) -> dict[str, Any]:
    """Return the ``key: value`` fields, whose values may be lists; nested structures are left out."""
    parts: dict[str, list[str]] = {}
    lists: set[str] = set()
    current: str | None = None
    in_block = False
    for line in body.split("\n"):
        if in_block and current is not None and (not line.strip() or line.startswith((" ", "\t"))):
            parts[current].append(line.strip())
        elif (item := _ITEM.match(line)) and current is not None:
            if current not in lists:
                lists.add(current)
                parts[current].clear()
            parts[current].append(item[1] or item[2])
        elif match := _FIELD.match(line):
            current, value = match[1].strip(), match[2].strip()
            in_block = _BLOCK_SCALAR.fullmatch(value) is not None
            parts[current] = [] if in_block or not value else [value]
            lists.discard(current)
        elif line.startswith((" ", "\t", "]", "}")):
            if current is not None and current not in lists and parts[current]:
                parts[current].append(line.strip())  # the value goes on
        elif line.startswith("["):
            break  # a table of TOML, whose fields are not the document's
        elif line.strip() and not line.startswith("#"):
            return {}  # not front matter after all
    found = {
        name: [_scalar(value) for value in values] if name in lists else _value(" ".join(filter(None, values)))
        for name, values in parts.items()
    }
    return {name: value for name, value in found.items() if value}


def _value(text: str) -> str | list[str]:
    if text.startswith("[") and text.endswith("]"):
        return [_scalar(part) for part in text[1:-1].split(",") if part.strip()]
    return _scalar(text)


def _scalar(value: str) -> str:
    value = value.strip()
    if len(value) < 2 or value[0] != value[-1] or value[0] not in "\"'":
        return value
    return value[1:-1].replace("''", "'") if value[0] == "'" else value[1:-1].replace('\\"', '"')
