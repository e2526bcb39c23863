"""Validates values before they reach an engine, some of which would silently accept wrong ones."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from core.rag.arguments import check_number, check_optional, check_text
from core.rag.dbhandler.store import MAX_DEPTH, MAX_K, Parameters
from core.rag.dbhandler.vector_checks import check_embedding, check_floats
from core.rag.errors import InvalidInputError, QueryError
from core.rag.schema import check_name
from libs.regexes import regex

#: Paths, URIs and names are indexed, and an index of Neo4j holds at most 8 kB: four bytes for each character.
MAX_PATH_CHARS = 2000


def check_k(k: int) -> int:
    """Check the number of results asked for.

    Raises:
        InvalidInputError: unless it is a whole number from 1 to ``MAX_K``.
    """
    return check_number("k", k, 1, MAX_K)


def check_parameters(parameters: Parameters) -> None:
    """Refuse values that some engine would silently store as something else.

    Allowed are ``None``, ``bool``, ``int`` of 64 bits, ``float``, ``str``, ``list`` and ``dict`` of these, and an
    embedding as a ``tuple`` of floats or a ``memoryview`` of 32-bit floats. A ``list`` that has only floats would
    become a 32-bit vector on Grafeo, so such lists are stored as JSON instead. ``id`` values must be non-empty strings,
    because MERGE would otherwise create a node without an id.

    Raises:
        InvalidVectorError: if an embedding is empty, not finite, all zeros, or has items that are not floats.
        InvalidInputError: on any other value of this kind, naming its place.
    """
    for name, value in parameters.items():
        _check_value(name, value, is_id=name == "id")


def _check_value(place: str, value: Any, *, is_id: bool = False) -> None:
    if is_id and (not isinstance(value, str) or not value):
        raise InvalidInputError(f"The id at {place} is {value!r}, but ids are non-empty strings.")
    if value is None or isinstance(value, str | bool | float):
        return
    if isinstance(value, tuple):
        check_embedding(place, value)
    elif isinstance(value, memoryview):
        check_floats(place, value)
    elif isinstance(value, int):
        if not -_INT <= value < _INT:
            raise InvalidInputError(f"{place} is {value}, which does not fit into 64 bits: store it as a string.")
    elif isinstance(value, dict):
        if _is_plain_row(value):  # the usual case
            return
        for key, item in value.items():
            if not isinstance(key, str):
                raise InvalidInputError(f"{place} has the key {key!r}, but keys are strings.")
            if item.__class__ not in _PLAIN or key == "id":
                _check_value(f"{place}.{key}", item, is_id=key == "id")
    elif isinstance(value, list):
        if value and all(isinstance(item, float) for item in value):
            raise InvalidInputError(f"{place} is a list of floats: send an embedding as a tuple, other lists as JSON.")
        if _PLAIN.issuperset(map(type, value)):
            return
        for position, item in enumerate(value):
            if item.__class__ not in _PLAIN:
                _check_value(f"{place}[{position}]", item)
    else:
        raise InvalidInputError(
            f"{place} is a {type(value).__name__}, which not every engine can store: send text, numbers, truth values,"
            " lists, dicts, or an embedding as a tuple of floats; times as ISO strings."
        )


_PLAIN = frozenset({str, bool, float, type(None)})
_PLAIN_ROW = _PLAIN | {int}
_TEXT = frozenset({str})
_INT = 2**63


def _is_plain_row(row: dict[Any, Any]) -> bool:
    """Return whether a row needs no check of single values."""
    kinds = set(map(type, row.values()))
    if not (kinds <= _PLAIN_ROW and _TEXT.issuperset(map(type, row))):
        return False
    if int in kinds and not all(-_INT <= item < _INT for item in row.values() if item.__class__ is int):
        return False
    identifier = row.get("id", "-")
    return identifier.__class__ is str and bool(identifier)


def check_characters(value: Any, place: str = "") -> None:
    """Refuse lone surrogates, which are not valid text; errors of engines do not say where one is.

    Args:
        value: Parameters, or a part of them.
        place: Where in the parameters that is.

    Raises:
        InvalidInputError: naming the place, and the text around.
    """
    if isinstance(value, str):
        found = _HALF_CHARACTER.search(value)
        if found:
            around = value[max(found.start() - 20, 0) : found.end() + 20]
            raise InvalidInputError(
                f"The text at {place} holds half a character ({around!a}), which means that it was not valid UTF-8:"
                " give it in UTF-8 (in a shell: in a UTF-8 locale), or without."
            )
    elif isinstance(value, Mapping):
        for key, item in value.items():
            inside = f"{place}.{key}" if place else str(key)
            check_characters(key, f"a key of {place}" if place else "a name")
            check_characters(item, inside)
    elif isinstance(value, list):
        for position, item in enumerate(value):
            check_characters(item, f"{place}[{position}]")


_HALF_CHARACTER = regex("[\ud800-\udfff]")


def check_reading(statement: str) -> None:
    """Refuse a writing statement where only reading is allowed: it would bypass the guards of a transaction.

    Raises:
        InvalidInputError: on anything that is not text.
        QueryError: naming the clause.
    """
    clause = writing_clause(check_text("A statement", statement))
    if clause:
        raise QueryError(
            f"The statement has {clause}, but only reading is allowed here. What keeps the graph consistent are the"
            " methods and commands that write; statements of your own that write belong into a transaction."
        )


_TEXTS = regex(r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|`[^`]*`|(//[^\n]*|/\*.*?\*/)""", re.DOTALL)
_WRITING = regex(
    r"(?<![\w.$:|])(CREATE|MERGE|SET|DELETE|DETACH|REMOVE|DROP|INSERT|FOREACH|LOAD|ALTER)(?=[\s('])", re.IGNORECASE
)


@lru_cache(maxsize=512)
def writing_clause(statement: str) -> str:
    """Return the first writing clause of a statement; empty if there is none."""
    found = _WRITING.search(_TEXTS.sub(lambda part: " " if part[1] else "''", statement))
    return found[1].upper() if found else ""


def check_terms(terms: Mapping[str, float]) -> dict[str, float]:
    """Check the words of a keyword search.

    Returns:
        The non-empty words with a weight above zero.

    Raises:
        InvalidInputError: if a weight is negative or not finite.
    """
    for term, weight in terms.items():
        if not 0 <= weight < math.inf:
            raise InvalidInputError(f"The weight of {term[:50]!r} is {weight}, but weights are finite, from 0 up.")
    return {term: float(weight) for term, weight in terms.items() if weight and term.strip()}


def check_path(edge_types: Sequence[str], max_depth: int) -> list[str]:
    """Check the edge types and depth of a path search.

    Returns:
        The edge types, safe to be part of a statement.

    Raises:
        InvalidNameError: if an edge type is not a valid name.
        InvalidInputError: if there are no edge types, or the depth is not within 1 to ``MAX_DEPTH``.
    """
    check_number("max_depth", max_depth, 1, MAX_DEPTH)
    if not edge_types:
        raise InvalidInputError("A path needs at least one edge type to follow.")
    return [check_name(name) for name in edge_types]


def merge_properties(properties: Mapping[str, str | None], **required: str) -> dict[str, Any]:
    """Bounded, cleaned string properties of small nodes (Source, Resource, Tool …).

    Raises:
        InvalidInputError: if a required one is empty, or any is not text.
    """
    check_optional(**properties)
    for name, value in required.items():
        if not check_text(name, value).strip():
            raise InvalidInputError(f"{name} is empty.")
        if len(value) > MAX_PATH_CHARS:
            raise InvalidInputError(f"{name} has {len(value)} characters; at most {MAX_PATH_CHARS} are allowed.")
    return {key: value for key, value in {**required, **properties}.items() if value is not None}
