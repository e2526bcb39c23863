"""Filters restrict a search to certain documents.

A filter tests fields of the document that a chunk belongs to:

==================  ===========================================================  ======================
field               what                                                         ``field:value`` means
==================  ===========================================================  ======================
``path``            path or URL as ``mgrag list`` shows it                       begins with (also ``docs/*``)
``uri``             standardised URI                                             begins with
``title``           title                                                        contains
``source``          name or URI of a source it came from                         equals
``source_id``       id of that source                                            equals
``mime_type``       media type (also ``mime``)                                   equals; ``text/*``: begins with
``created_at``      when it first came in (also ``created``)                     in that time
``updated_at``      when it last changed (also ``updated``)                      in that time
``metadata.KEY``    a metadata value; ``metadata.a.b`` leads into maps           equals
==================  ===========================================================  ======================

**Text form**, for people::

    path:docs/ mime:text/html updated>=2026-01-01 metadata.author="A B"
    (path:docs/ or path:notes/) not title:draft
    metadata.year>=2020 metadata.tags:(graph, "vector search") metadata."odd key"!=null

    filter   = either
    either   = all { "or" all }
    all      = unary { ["and"] unary }
    unary    = "not" unary | "(" either ")" | test
    test     = field operator ( value | "(" [ value { "," value } ] ")" )
    operator = ":" | "=" | "==" | "!=" | "<" | "<=" | ">" | ">=" | "^=" (begins with) | "*=" (contains)
    value    = word | '"' text '"' | "'" text "'"       (\\" and \\\\ inside quotes)

``and``, ``or`` and ``not`` in any case; ``or`` binds least. Of several values one must do (with ``!=`` none may).
Quote a value with spaces, commas, quotes or parentheses. Unquoted numbers, ``true`` and ``false`` are such in metadata;
unquoted ``null`` is a missing value.

**Dict form**, for programs and JSON; it parses to the same::

    {"path": {"prefix": "docs/"}, "metadata.author": "A B", "updated_at": {">=": "2026-01-01"}}
    {"or": [{"path": "docs/"}, {"mime_type": {"in": ["text/html", "text/plain"]}}], "not": {"title": "draft"}}

    filter = {key: …, …}                  all keys must hold
    key    = "and": [filter, …] | "or": [filter, …] | "not": filter
           | field: value                 as ``field:value``
           | field: [value, …]            as ``field:(value, …)``
           | field: {operator: value, …}  all operators must hold
    operator = "=" "!=" "<" "<=" ">" ">=" "in" "prefix" "contains"; all but the order take a list too
    value  = string, number, true, false, null

Meaning: ``contains`` ignores case, everything else does not. A value that is a list holds if one of its items does.
Two strings are equal only if they are the same (``"1.10"`` is not ``"1.1"``), in any form of Unicode (file names of
macOS have their accents apart). Otherwise two things that are or spell numbers compare as numbers, two strings by code
points, and the rest is different. A date stands for the time that it names: ``updated=2026-01`` is all of January,
``updated>2026-01-31`` begins with February; dates are UTC unless they say otherwise. So do dates in metadata when
they are put in order (``metadata.date<=2024-03``, ``metadata.created>=2020``), also where they are written ``15 Mar
2024``, ``March 15, 2024``, ``15.03.2024`` or ``2024/03/15``; ``3/4/2024`` is a text.
What is missing equals only ``null``; ``!=`` and ``not`` are the exact complement, so they hold for what is missing.

Limits: 20,000 characters, 20 levels of ``and``, ``or`` and ``not``, 200 tests, 1,000 values in a list, 4,000
characters in a value.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from itertools import takewhile
from math import isfinite
from operator import index
from posixpath import commonprefix
from typing import Any, Final

from core.rag.errors import FilterError
from core.rag.retrieval.filter_text import check_test, natural_test, parse_text, write_text
from core.rag.retrieval.filter_tree import (
    ALIASES,
    DATE_FIELDS,
    MAX_DEPTH,
    MAX_TESTS,
    MAX_VALUES,
    OPERATORS,
    TEXT_FIELDS,
    All,
    Either,
    Node,
    Not,
    Scalar,
    Test,
    all_of,
    any_of,
    field_name,
    negation,
)

_KEYS: Final = ", ".join([*TEXT_FIELDS, *DATE_FIELDS, *ALIASES, "metadata.KEY", "and", "or", "not"])
_OPERATOR_NAMES: Final = ("!=", "in", *OPERATORS)


@dataclass(frozen=True, slots=True)
class Pushdown:
    """Necessary conditions of a filter that a database can check; None: no condition.

    Attributes:
        path_prefix: The path begins with this.
        paths: The path is one of these.
        source_ids: The source's id is one of these.
    """

    path_prefix: str | None = None
    paths: tuple[str, ...] | None = None
    source_ids: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class Filter:
    """A parsed filter. Equal filters have equal trees; ``str()`` gives the text form."""

    node: Node

    def matches(self, row: Mapping[str, Any]) -> bool:
        """Return whether a document passes.

        Args:
            row: The fields of the document, as strings; dates in ISO 8601; ``source`` may also be a list of names and
                URIs (or be given as ``source_names`` and ``source_uris``); ``metadata`` is a dict or its JSON. None
                counts as missing.
        """
        return self.node.holds(row)

    def __bool__(self) -> bool:
        """Return False for the filter that every document passes."""
        return self.node != All(())

    def __str__(self) -> str:
        return write_text(self.node)

    def fields(self) -> set[str]:
        """Return the fields that it tests."""
        return {test.field for test in _tests(self.node)}

    def to_dict(self) -> dict[str, Any]:
        """Return the dict form; parsing it gives an equal filter."""
        return _write_dict(self.node)

    def pushdown(self) -> Pushdown:
        """Return conditions that narrow the candidates in the database; ``matches`` still has to decide."""
        parts = self.node.nodes if isinstance(self.node, All) else (self.node,)
        tests = [part for part in parts if isinstance(part, Test)]
        begins = [str(test.values[0]) for test in tests if _is(test, "path", "prefix") and len(test.values) == 1]
        paths, source_ids = _exact(tests, "path"), _exact(tests, "source_id")
        if paths and not _is_ascii(paths):
            begins.append(commonprefix(paths))
        return Pushdown(
            path_prefix=max(map(_ascii_part, begins), key=len, default=None),
            paths=paths if paths is None or _is_ascii(paths) else None,
            source_ids=source_ids if source_ids is None or _is_ascii(source_ids) else None,
        )


def parse_filter(value: str | Mapping[str, Any] | Filter | None, *, of_records: bool = False) -> Filter:
    """Parse a filter in text or dict form; see the module's docstring for the grammar.

    Args:
        value: The filter. Every document passes None, an empty string or an empty dict.
        of_records: Whether fields are those of records, which may have any name (in quotes if it has spaces), instead
            of those of documents. They become ``metadata.KEY``.

    Raises:
        FilterError: if it does not parse; the message names the position and what is allowed there.
    """
    if isinstance(value, Filter):
        return value
    if value is None:
        return Filter(All(()))
    if isinstance(value, str):
        return Filter(parse_text(value, of_records=of_records))
    if isinstance(value, Mapping):
        node = _parse_dict(value, "filter", 0, of_records)
        if sum(1 for _ in _tests(node)) > MAX_TESTS:
            raise FilterError(f"A filter can have at most {MAX_TESTS} tests.")
        return Filter(node)
    raise FilterError(f"A filter must be a text or a dict, not {type(value).__name__}.")


def _is(test: Test, field: str, operator: str) -> bool:
    return test.field == field and test.operator == operator


def _exact(tests: list[Test], field: str) -> tuple[str, ...] | None:
    """Return the strings of which a field must equal one, from the narrowest test of this kind."""
    found = [
        tuple(value for value in test.values if isinstance(value, str))
        for test in tests
        if _is(test, field, "=") and None not in test.values
    ]
    return min(found, key=len, default=None)


def _is_ascii(texts: Iterable[str]) -> bool:
    """Return whether these are stored as they are given; others may be stored in another form of Unicode."""
    return all(map(str.isascii, texts))


def _ascii_part(prefix: str) -> str:
    return "".join(takewhile(str.isascii, prefix))


def _tests(node: Node) -> Iterator[Test]:
    if isinstance(node, Test):
        yield node
    elif isinstance(node, Not):
        yield from _tests(node.node)
    else:
        for part in node.nodes:
            yield from _tests(part)


def _parse_dict(value: object, place: str, depth: int, of_records: bool) -> Node:
    if depth > MAX_DEPTH:
        raise FilterError(f"{place}: nested more than {MAX_DEPTH} deep.")
    if not isinstance(value, Mapping):
        raise FilterError(f"{place} has to be a dict of fields, 'and', 'or' and 'not', not {type(value).__name__}.")
    if len(value) > MAX_TESTS:
        raise FilterError(f"{place} has {len(value):,} keys, but at most {MAX_TESTS} are allowed.")
    return all_of(
        _parse_key(key, inner, f"{place}.{str(key)[:100]}", depth, of_records) for key, inner in value.items()
    )


def _parse_key(key: object, inner: object, place: str, depth: int, of_records: bool) -> Node:
    if not isinstance(key, str):
        raise FilterError(f"{place}: a key has to be a string, one of {_KEYS}.")
    word = key.lower()
    if word in {"and", "or"}:
        if not isinstance(inner, list | tuple):
            raise FilterError(f"{place} has to be a list of filters, not {type(inner).__name__}.")
        if len(inner) > MAX_TESTS:
            raise FilterError(f"{place} has {len(inner):,} parts, but at most {MAX_TESTS} are allowed.")
        nodes = [_parse_dict(part, f"{place}[{index}]", depth + 1, of_records) for index, part in enumerate(inner)]
        return all_of(nodes) if word == "and" else any_of(nodes)
    if word == "not":
        return negation(_parse_dict(inner, place, depth + 1, of_records))
    field = field_name(key, of_records=of_records)
    if field is None:
        raise FilterError(f"{place}: {key[:100]!r} is not a field; fields are {_KEYS}.")
    try:
        if isinstance(inner, Mapping):
            return all_of(_parse_operator(field, name, values, place) for name, values in inner.items())
        return natural_test(field, _values(inner, place))
    except FilterError as error:
        raise error if str(error).startswith(place) else FilterError(f"{place}: {error}.") from error


def _parse_operator(field: str, name: object, inner: object, place: str) -> Node:
    values = _values(inner, f"{place}[{str(name)[:100]!r}]")
    if name == "!=":
        return negation(check_test(field, "=", values))
    if name == "in":
        return check_test(field, "=", values)
    for operator in OPERATORS:
        if name == operator:
            if operator in {"prefix", "contains"}:
                values = [value if value is None else str(value) for value in values]
            return check_test(field, operator, values)
    raise FilterError(f"{place}: {str(name)[:100]!r} is not an operator; operators are {', '.join(_OPERATOR_NAMES)}.")


def _values(inner: object, place: str) -> list[Scalar]:
    items = inner if isinstance(inner, list | tuple) else [inner]
    if len(items) > MAX_VALUES:
        raise FilterError(f"{place} has {len(items):,} values, but at most {MAX_VALUES:,} are allowed.")
    values: list[Scalar] = []
    for item in items:
        if isinstance(item, date):  # includes datetime
            values.append(item.isoformat())
        elif item is None or isinstance(item, str | int) or (isinstance(item, float) and isfinite(item)):
            values.append(item)
        elif hasattr(item, "__index__"):  # integers of numpy
            values.append(index(item))
        else:
            raise FilterError(f"{place} has to be a string, a finite number, true, false or null, not {item!r:.100}.")
    return values


def _write_dict(node: Node) -> dict[str, Any]:
    if isinstance(node, Test):
        values = list(node.values)
        if node.operator == "=":
            return {node.field: {"in": values}}
        return {node.field: {node.operator: values[0] if len(values) == 1 else values}}
    if isinstance(node, Not):
        return {"not": _write_dict(node.node)}
    if isinstance(node, Either):
        return {"or": [_write_dict(part) for part in node.nodes]}
    return {"and": [_write_dict(part) for part in node.nodes]} if node.nodes else {}
