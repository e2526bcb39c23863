"""Metadata and records as texts in JSON, as properties hold them: not every engine stores maps."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from datetime import date, time
from decimal import Decimal
from numbers import Integral, Real
from typing import Any
from uuid import UUID

from core.rag.arguments import check_mapping
from core.rag.errors import InvalidInputError


def plain_value(value: Any) -> str | float:
    """Return what rows of databases and tables hold as JSON has it: times as ISO 8601 text, UUIDs as text, numbers.

    Raises:
        TypeError: on anything else.
    """
    if isinstance(value, date | time):  # includes datetime
        return value.isoformat()
    if isinstance(value, UUID):
        return str(value)
    if isinstance(value, Decimal):
        return int(value) if value.as_tuple().exponent == 0 else float(value)
    if isinstance(value, Integral):  # integers of NumPy, for example from a pandas table
        return int(value)
    if isinstance(value, Real):
        return float(value)
    raise TypeError(f"Object of type {type(value).__name__} is not JSON serializable")


#: Deepest that metadata and records are nested. What serialises the responses of the HTTP API ends at 255 levels, in
#: which they are a part, and Python's own encoder and decoder of JSON not much later.
MAX_NESTING = 200

_encode = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False).encode
_encode_metadata = json.JSONEncoder(
    ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False, default=plain_value
).encode


def to_json(value: Any, what: str, encode: Callable[[Any], str] = _encode) -> str:
    """Return a value as compact JSON with sorted keys.

    Raises:
        InvalidInputError: if it is not JSON-serialisable, or nested more deeply than Python's encoder goes.
    """
    if isinstance(value, dict) and not value:  # the usual case
        return "{}"
    try:
        return encode(value)
    except (TypeError, ValueError) as error:
        beside = (item for item in containers(value, what) if isinstance(item, Mapping) and len({*map(type, item)}) > 1)
        odd = [repr(key)[:100] for item in beside for key in item if not isinstance(key, str)]
        why = f"the key {odd[0]} stands beside keys of another type. Write it as text" if odd else error
        raise InvalidInputError(f"{what} cannot be stored as JSON: {why}.") from error
    except RecursionError as error:
        raise InvalidInputError(f"{what} cannot be stored as JSON: it is nested too deeply. Flatten it.") from error


def containers(value: Any, what: str) -> Iterator[Any]:
    """Yield a mapping or list and those in it, however deep, without recursion.

    Raises:
        InvalidInputError: beyond ``MAX_NESTING``: it could not be read again, or holds itself.
    """
    waiting: list[tuple[Any, int]] = [(value, 1)]
    while waiting:
        item, depth = waiting.pop()
        if depth > MAX_NESTING:
            raise InvalidInputError(
                f"{what} is nested more than {MAX_NESTING} levels deep, or holds itself: flatten it, or store what is "
                "deep in it as text."
            )
        yield item
        inside = item.values() if isinstance(item, Mapping) else item
        waiting += [(inner, depth + 1) for inner in inside if isinstance(inner, Mapping | list | tuple)]


def check_nesting(value: Any, what: str) -> None:
    """Make sure that a value is not nested deeper than can be read again, nor within itself.

    Raises:
        InvalidInputError: beyond ``MAX_NESTING``.
    """
    for _ in containers(value, what):
        pass


def metadata_json(metadata: Mapping[str, Any], what: str) -> str:
    """Metadata as compact JSON with sorted keys; dates and times in it become ISO 8601 text.

    Raises:
        InvalidInputError: if it is not a mapping, or as :func:`check_nesting` and :func:`to_json`.
    """
    check_nesting(check_mapping(what, metadata), what)
    return to_json(dict(metadata), what, _encode_metadata)


def from_json(text: str | None) -> dict[str, Any]:
    """Return a stored JSON object; empty if there is none."""
    return json.loads(text) if text else {}
