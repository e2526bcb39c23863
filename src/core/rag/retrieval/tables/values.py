"""The values of a field of a record, and their order."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from decimal import Decimal
from typing import Any, Final

from core.rag.errors import InvalidInputError
from core.rag.extraction.amounts import amount
from core.rag.extraction.records import is_flat, items_of
from libs.regexes import regex

#: Maximum number of groups that a record may belong to: of lists, each value of one goes with each of the others.
MAX_PARTS: Final = 10_000
#: A date in ISO 8601; its year (group 1) is a number that can be compared, too.
DATE: Final = regex(r"(\d{4})-\d\d(?:-\d\d(?:[T ].*)?)?", re.ASCII | re.DOTALL)


def values_of(record: Any, field: str, *, items: bool = False) -> list[Any] | None:
    """Return what a record has in a field.

    Args:
        record: Its data.
        field: Name of the field; its case does not matter unless two differ in it. ``a.b`` leads into objects, also
            into those of a list.
        items: Whether a text of several, such as ``oak, elm`` in ``tags``, is taken apart as its entities are.

    Returns:
        The values, without those that are missing (null, blank text); a list has several. ``None`` if there is no such
        field at all.
    """
    found = list(_at(record, field))
    if not found:
        return None
    flat: list[Any] = []
    for value in found:
        if isinstance(value, list):
            flat.extend(value)
        else:
            flat.extend(items_of(field, value) if items and isinstance(value, str) else [value])
    return [value for value in flat if not is_missing(value)]


def is_missing(value: Any) -> bool:
    """Return whether a value says nothing, as an empty cell does."""
    return value is None or (isinstance(value, str) and not value.strip())


def fields_of(record: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield each field that is no object with its value; fields of objects as ``a.b``, also of those in lists."""
    if is_flat(record):
        yield from record.items()
        return
    waiting: list[tuple[str, Any]] = [*record.items()][::-1]
    while waiting:
        name, value = waiting.pop()
        objects = [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []
        if isinstance(value, dict):
            objects = [value]
        if not objects:
            yield name, value
        for inner in reversed(objects):
            waiting.extend((f"{name}.{key}", value) for key, value in [*inner.items()][::-1])


def apart(record: dict[str, Any], fields: Iterable[str]) -> list[dict[str, Any]]:
    """Return a record once for each object of the lists that fields lead through, with that object alone.

    So what belongs to one item of an order (``items.sku``) is not taken together with the price of another.

    Raises:
        InvalidInputError: if there are more than ``MAX_PARTS`` of them.
    """
    parts = [record]
    for field in fields:
        pieces: list[dict[str, Any]] = []
        for part in parts:
            pieces += _apart(part, field)
            if len(pieces) > MAX_PARTS:
                raise too_many_parts()
        parts = pieces
    return parts


def too_many_parts() -> InvalidInputError:
    """Return the error for a record that belongs to too many groups."""
    return InvalidInputError(f"A record belongs to more than {MAX_PARTS:,} groups: group by fewer lists.")


def same(value: Any) -> str | Decimal:
    """Return what is equal for values that say the same, however they are written."""
    number = amount(value)
    return shown(value) if number is None else number


def in_order(value: Any, iso: Callable[[Any], str | None]) -> tuple[int, Decimal, str]:
    """Return the key to sort values by: numbers, then texts, of which dates are as ``iso`` has them, then what is
    missing."""
    if is_missing(value):
        return (2, Decimal(0), "")
    number = amount(value)
    return (0, number, "") if number is not None else (1, Decimal(0), (iso(value) or shown(value)).casefold())


def shown(value: Any) -> str:
    """Return a value as text."""
    if isinstance(value, bool):
        return str(value).lower()
    return value if isinstance(value, str) else str(value)


def _at(value: Any, field: str) -> Iterable[Any]:
    if isinstance(value, list):
        return [found for item in value for found in _at(item, field)]
    if not isinstance(value, dict):
        return []
    key = _key(value, field)
    if key is not None:
        return [value[key]]
    for cut, character in enumerate(field):
        if character == "." and (key := _key(value, field[:cut])) is not None:
            found = _at(value[key], field[cut + 1 :])
            if found:
                return found
    return []


def _apart(value: dict[str, Any], field: str) -> list[dict[str, Any]]:
    if _key(value, field) is not None:
        return [value]
    for cut, character in enumerate(field):
        if character == "." and (key := _key(value, field[:cut])) is not None:
            inner = value[key] if isinstance(value[key], list) else [value[key]]
            objects = [item for item in inner if isinstance(item, dict)]
            pieces = [{**value, key: piece} for item in objects for piece in _apart(item, field[cut + 1 :])]
            if pieces:
                return pieces
    return [value]


def _key(value: Mapping[str, Any], field: str) -> str | None:
    """Return the key of an object that a name means."""
    if field in value:
        return field
    folded = field.casefold()
    found = [key for key in value if key.casefold() == folded]
    return found[0] if len(found) == 1 else None
