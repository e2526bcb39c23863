"""The parsed form of a filter, and its evaluation on a document. The grammar is in ``filters.py``."""

from __future__ import annotations

import json
import math
import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from functools import lru_cache
from operator import ge, gt, le, lt
from typing import Any, Final, Literal

from core.rag.retrieval.tables.dates import Dates
from core.rag.times import span_of
from libs.regexes import regex

type Scalar = str | int | float | bool | None
type Operator = Literal["=", "<", "<=", ">", ">=", "prefix", "contains"]
type Node = Test | Not | All | Either

MAX_DEPTH: Final = 20
MAX_TESTS: Final = 200
MAX_VALUES: Final = 1_000
MAX_VALUE_CHARACTERS: Final = 4_000
MAX_INTEGER: Final = 2**63 - 1

#: Fields besides ``metadata.KEY``.
TEXT_FIELDS: Final = ("path", "uri", "title", "source", "source_id", "mime_type")
DATE_FIELDS: Final = ("created_at", "updated_at")
ALIASES: Final = {"mime": "mime_type", "created": "created_at", "updated": "updated_at"}
METADATA: Final = "metadata."
OPERATORS: Final[tuple[Operator, ...]] = ("=", "<", "<=", ">", ">=", "prefix", "contains")

_SOURCE_KEYS: Final = ("source", "source_names", "source_uris")
_NUMBER: Final = regex(r"-?(?:0|[1-9]\d{0,29})(?:\.\d{1,30})?(?:[eE][+-]?\d{1,3})?", re.ASCII)
_DATES: Final = Dates()
_ORDER: Final[dict[str, Callable[[Any, Any], bool]]] = {"<": lt, "<=": le, ">": gt, ">=": ge}


@dataclass(frozen=True, slots=True)
class Test:
    """Compares a field with one or more values; holds if any of them matches."""

    __test__ = False  # not for pytest to collect

    field: str
    operator: Operator
    values: tuple[Scalar, ...]  # composed

    def holds(self, row: Mapping[str, Any]) -> bool:
        """Return whether a document passes."""
        found = _lookup(row, self.field)
        if self.field in DATE_FIELDS:
            return any(_date_holds(item, self.operator, value) for item in found or [None] for value in self.values)
        if self.field == "mime_type":
            found = [item.lower() if isinstance(item, str) else item for item in found]
        return any(_holds(item, self.operator, value) for item in found or [None] for value in self.values)


@dataclass(frozen=True, slots=True)
class Not:
    """Negation: holds if the part does not."""

    node: Node

    def holds(self, row: Mapping[str, Any]) -> bool:
        """Return whether a document passes."""
        return not self.node.holds(row)


@dataclass(frozen=True, slots=True)
class All:
    """Conjunction: holds if all parts hold, also if there are none."""

    nodes: tuple[Node, ...]

    def holds(self, row: Mapping[str, Any]) -> bool:
        """Return whether a document passes."""
        return all(node.holds(row) for node in self.nodes)


@dataclass(frozen=True, slots=True)
class Either:
    """Disjunction: holds if at least one part holds, so not if there are none."""

    nodes: tuple[Node, ...]

    def holds(self, row: Mapping[str, Any]) -> bool:
        """Return whether a document passes."""
        return any(node.holds(row) for node in self.nodes)


EVERYTHING: Final = All(())
NOTHING: Final = Either(())


def all_of(nodes: Iterable[Node]) -> Node:
    """Return a conjunction in its simplest form."""
    flat = [part for node in nodes for part in (node.nodes if isinstance(node, All) else (node,))]
    if NOTHING in flat:
        return NOTHING
    return flat[0] if len(flat) == 1 else All(tuple(flat))


def any_of(nodes: Iterable[Node]) -> Node:
    """Return a disjunction in its simplest form."""
    flat = [part for node in nodes for part in (node.nodes if isinstance(node, Either) else (node,))]
    if EVERYTHING in flat:
        return EVERYTHING
    return flat[0] if len(flat) == 1 else Either(tuple(flat))


def negation(node: Node) -> Node:
    """Return a negation in its simplest form."""
    if node in (EVERYTHING, NOTHING):
        return NOTHING if node == EVERYTHING else EVERYTHING
    return node.node if isinstance(node, Not) else Not(node)


def allowed_operators(field: str) -> tuple[Operator, ...]:
    """Return the operators that are allowed for a field."""
    if field in TEXT_FIELDS:
        return ("=", "prefix", "contains")
    return OPERATORS if field.startswith(METADATA) else ("=", "<", "<=", ">", ">=")


def natural(field: str, value: Scalar) -> tuple[Operator, Scalar]:
    """Return operator and value of the test that ``field:value`` means."""
    if isinstance(value, str):
        if field in {"path", "uri"}:
            return "prefix", value.removesuffix("*")
        if field == "title":
            return "contains", value
        if field == "mime_type" and value.endswith(("/", "/*")):
            return "prefix", value.removesuffix("*")
    return "=", value


def composed(value: Scalar) -> Scalar:
    """Return a text with its accents in one form: file names of macOS have them apart, and look the same."""
    return unicodedata.normalize("NFC", value) if isinstance(value, str) else value


def field_name(name: str, *, of_records: bool = False) -> str | None:
    """Return the full name of a field, or None if there is no such field; records have any field, as metadata."""
    if of_records:
        return METADATA + name if name else None
    lowered = name.lower()
    if lowered.startswith(METADATA) and len(name) > len(METADATA):
        return METADATA + name[len(METADATA) :]
    lowered = ALIASES.get(lowered, lowered)
    return lowered if lowered in TEXT_FIELDS or lowered in DATE_FIELDS else None


def as_number(value: object) -> float | int | None:
    """Return ``value`` as a number if it is one or a string that represents one, else None."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return value if isinstance(value, int) or math.isfinite(value) else None
    if isinstance(value, str) and len(value) <= 40 and _NUMBER.fullmatch(value):
        if value.removeprefix("-").isdigit():  # an id may have more digits than a float
            return int(value)
        number = float(value)
        return number if math.isfinite(number) else None
    return None


def _lookup(row: Mapping[str, Any], field: str) -> list[Any]:
    """Return the values of a field; a list has several."""
    if field == "source":
        found: list[Any] = [row.get(key) for key in _SOURCE_KEYS]
    elif field.startswith(METADATA):
        found = [_metadata(row.get("metadata"), field.removeprefix(METADATA))]
    else:
        found = [row.get(field)]
    flat: list[Any] = []
    for item in found:
        flat.extend(item) if isinstance(item, list | tuple) else flat.append(item)
    return [item for item in flat if item is not None]


def has_metadata(metadata: Mapping[str, Any], key: str) -> bool:
    """Return whether there is a value for a key, as filters know it."""
    return _metadata(metadata, key) is not None


def _metadata(metadata: object, key: str) -> object:
    """Return the value of a key, which may contain dots or be a path through nested maps."""
    if isinstance(metadata, str):
        try:
            metadata = json.loads(metadata)
        except ValueError:
            return None
    if not isinstance(metadata, Mapping):
        return None
    if key in metadata:
        return metadata[key]
    for cut, character in enumerate(key):
        if character == "." and isinstance(metadata.get(key[:cut]), Mapping):
            found = _metadata(metadata[key[:cut]], key[cut + 1 :])
            if found is not None:
                return found
    return None


def _holds(item: object, operator: Operator, value: Scalar) -> bool:
    if item is None or value is None:
        return operator == "=" and item is None and value is None
    if isinstance(item, str):
        item = composed(item)
    if operator == "prefix":
        return isinstance(item, str) and item.startswith(str(value))
    if operator == "contains":
        return isinstance(item, str) and _folded(str(value)) in _folded(item)
    if operator == "=" and isinstance(item, str) and isinstance(value, str):
        return item == value
    left: Any = as_number(item)
    right: Any = as_number(value)
    if left is None or right is None:
        left, right = item, value
        if isinstance(left, bool) and isinstance(right, bool):
            return operator == "=" and left is right
        if operator != "=" and (there := _span(left)) is not None and (asked := _span(right)) is not None:
            return _is_then(there[0], operator, asked)
        if not (isinstance(left, str) and isinstance(right, str)):
            return False
    return bool(left == right if operator == "=" else _ORDER[operator](left, right))


@lru_cache(maxsize=16_384)
def _span(value: object) -> tuple[datetime, datetime] | None:
    """Return the period that a value in metadata denotes, in whatever form its date is written; a number is a year."""
    return span_of(_DATES.iso(value) or str(value))


def _folded(text: str) -> str:
    return unicodedata.normalize("NFC", text.casefold())


def _date_holds(item: object, operator: Operator, value: Scalar) -> bool:
    if item is None or value is None:
        return operator == "=" and item is None and value is None
    moment = _moment(item)
    span = span_of(str(value))
    return moment is not None and span is not None and _is_then(moment, operator, span)


def _is_then(moment: datetime, operator: Operator, span: tuple[datetime, datetime]) -> bool:
    start, end = span
    return {
        "=": start <= moment < end,
        "<": moment < start,
        "<=": moment < end,
        ">": moment >= end,
        ">=": moment >= start,
    }[operator]


def _moment(item: object) -> datetime | None:
    if isinstance(item, str):
        try:
            item = datetime.fromisoformat(item)
        except ValueError:
            return None
    if isinstance(item, date) and not isinstance(item, datetime):
        item = datetime(item.year, item.month, item.day, tzinfo=UTC)
    if not isinstance(item, datetime):
        return None
    try:
        return item.replace(tzinfo=UTC) if item.tzinfo is None else item.astimezone(UTC)
    except (ValueError, OverflowError):
        return None
