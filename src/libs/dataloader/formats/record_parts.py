"""What a record of a service has inside of it, as people see it: persons and labels by their names, comments as said.

In what programs get, a label has an address, a colour and two numbers, and a comment says on different lines who wrote
it, when, and whether it is shown folded.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from libs.dataloader.formats.json_outline import MAX_DEPTH
from libs.regexes import regex

#: What an object is called by, the best first.
_NAMES: Final = (
    *("displayName", "display_name", "fullName", "full_name", "real_name", "name"),
    *("login", "username", "value", "label"),
)
_WHO: Final = (
    *("author", "user", "creator", "created_by", "createdBy", "memberCreator", "from", "sender", "poster", "owner"),
    *("username", "author_name", "login"),
)
_SAID: Final = ("body", "text", "message", "content", "comment", "notes", "note")
_JUDGES: Final = frozenset({"rating", "stars", "score", "points", "votes", "upvotes", "likes"})
_TIME: Final = regex(r"(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d)\S*)?(?: ?[+-]\d\d:?\d\d| UTC)?")
_CHANGED: Final = regex(r"updat|edit|modif|delet|chang", flags=2)
#: The name of a field with what only programs tell things by.
_ID: Final = regex(r"(?:.*(?:_|(?<=[a-z])(?=I)))?(?:id|Id|ID|iid|phid)")
_OPAQUE: Final = regex(r"(?=[^\s@]*\d)[\w=+/:.-]{16,}|(?=\w*\d)(?=\w*[a-z])(?=\w*[A-Z])[\w=]{10,}")
_COLOUR: Final = regex(r"#?[0-9a-fA-F]{6}")
_ADDRESS: Final = "://"


def as_seen(record: Mapping[str, Any]) -> tuple[Mapping[str, Any], list[str]]:
    """Return a record with names in place of the objects that have little else, and its comments apart.

    Args:
        record: The record; it is not changed.

    Returns:
        The record, and a line for each comment in it: ``Ada (2024-03-01 09:00): words``.
    """
    if not any(isinstance(value, dict | list) for value in record.values()):
        return record, []
    said: list[str] = []
    return {name: kept for name, value in record.items() if (kept := _seen(value, said, 0)) is not None}, said


def _seen(value: Any, said: list[str], depth: int) -> Any:
    """Return a value as it is seen; ``None`` if it consists of comments, which are appended to those that were said."""
    if depth >= MAX_DEPTH:
        return value
    if isinstance(value, dict):
        if (called := _called(value)) is not None:
            return called
        return {name: kept for name, inner in value.items() if (kept := _seen(inner, said, depth + 1)) is not None}
    if isinstance(value, list) and value and all(isinstance(item, dict) for item in value):
        lines = [_comment(item) for item in value]
        if None not in lines and any(lines):
            said += filter(None, lines)
            return None
        names = [_called(item) for item in value]
        if None not in names:
            return ", ".join(filter(None, names))
    return [_seen(item, said, depth + 1) for item in value] if isinstance(value, list) else value


def _called(item: Mapping[str, Any]) -> str | None:
    """Return the name of an object, and in brackets what else it has; ``None`` if that is more than its name.

    Only what has an address or a long id is of a service. Of others ("Cable", no. 7, in stock: no) all is told.
    """
    names = [item[key] for key in _NAMES if isinstance(item.get(key), str) and item[key].strip()]
    if not names or not any(map(_is_opaque, item.values())):
        return None
    others: list[str] = []
    beside = 0  # what only programs read
    for key, value in item.items():
        if _is_for_programs(key, value):
            beside += 1
        elif value != names[0]:
            inner = _called(value) if isinstance(value, dict) else value
            if inner is None or isinstance(inner, list) or "\n" in str(inner) or _TIME.fullmatch(str(inner)):
                return None
            others.append(f"{key}: {inner}")
    if not beside or len(others) > beside:
        return None
    name = " ".join(names[0].split())
    return f"{name} ({', '.join(others)})" if others else name


def _is_for_programs(key: str, value: Any) -> bool:
    """Return whether a field of a service tells people nothing: an address, a number, a shade, yes or no."""
    if isinstance(value, dict):
        return all(_is_for_programs(name, inner) for name, inner in value.items())
    if value is None or isinstance(value, bool) or value in ("", []):
        return True
    if _ID.fullmatch(key) is not None and not isinstance(value, list) and str(value).isdigit():
        return True
    return _is_opaque(value) or (key in {"color", "colour"} and _COLOUR.fullmatch(str(value)) is not None)


def _is_opaque(value: Any) -> bool:
    return isinstance(value, str) and (_ADDRESS in value[:10] or _OPAQUE.fullmatch(value) is not None)


def _comment(item: Mapping[str, Any]) -> str | None:
    """Return a comment: who wrote it, when, and what; empty if it says nothing, ``None`` if it is none."""
    who = next((name for key in _WHO if (name := _person(item.get(key)))), "")
    found = (_TIME.fullmatch(value) for key, value in item.items() if isinstance(value, str) and not _changed(key))
    when = next(filter(None, found), None)
    said = next((item[key] for key in _SAID if isinstance(item.get(key), str)), None)
    if not who or when is None or said is None:
        return None
    if not (text := "\n".join(line.rstrip() for line in said.split("\n") if line.strip())):
        return ""
    numbers = "; ".join(_numbers(item))
    return f"{who} ({' '.join(filter(None, when.groups()))}): {text}{f' [{numbers}]' if numbers else ''}"


def _numbers(item: Mapping[str, Any]) -> Iterator[str]:
    """Yield what else a comment tells: its rating, its votes."""
    for key, value in item.items():
        if isinstance(value, int | float) and not isinstance(value, bool) and key.casefold() in _JUDGES:
            yield f"{key}: {value}"


def _changed(key: str) -> bool:
    return _CHANGED.search(key) is not None


def _person(value: Any) -> str:
    if isinstance(value, dict):
        inner = next((value[key] for key in _NAMES if isinstance(value.get(key), str) and value[key].strip()), None)
        value = inner if inner is not None else value.get("user")
        return _person(value)
    return " ".join(value.split())[:80] if isinstance(value, str) else ""
