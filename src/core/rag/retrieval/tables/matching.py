"""Whether a record passes a filter: numbers and dates compare as what they say, however they are written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from core.rag.extraction.amounts import amount, plain_number
from core.rag.retrieval.filter_tree import METADATA, All, Either, Node, Not, Test
from core.rag.retrieval.filters import Filter
from core.rag.retrieval.tables.dates import Dates
from core.rag.retrieval.tables.values import values_of

_ORDERING: Final = frozenset({"<", "<=", ">", ">="})
#: What tests that order values look at stands under a name that no field has, beside the values as they are written.
_ORDERED: Final = "\0ordered"
#: Different records of which it is remembered whether they pass.
_REMEMBERED: Final = 20_000


class RecordFilter:
    """A filter for records.

    Args:
        filters: The filter, with the fields of the records.
        dates: How these write dates.
    """

    def __init__(self, filters: Filter, dates: Dates) -> None:
        self._filters = Filter(_ordering(filters.node, dates)) if filters else None
        tested = self._filters.fields() if self._filters is not None else set()
        #: Each field with the names under which it is tested: as it is written, in order, or both.
        self._fields = [
            (name.removeprefix(METADATA), name in tested, name + _ORDERED in tested)
            for name in sorted(filters.fields())
        ]
        self._dates = dates
        #: What records came to, by their texts in these fields: most of a long table have the same few.
        self._known: dict[tuple[Any, ...], bool] = {}

    def matches(self, data: Mapping[str, Any]) -> bool:
        """Return whether a record passes."""
        if self._filters is None:
            return True
        values = tuple([data.get(field) for field, _, _ in self._fields])
        if not all(type(value) is str for value in values):
            return self._filters.matches({"metadata": self._compared(data)})
        if (found := self._known.get(values)) is None:
            found = self._filters.matches({"metadata": self._compared(data)})
            if len(self._known) < _REMEMBERED:
                self._known[values] = found
        return found

    def _compared(self, data: Mapping[str, Any]) -> dict[str, list[Any]]:
        """Return the values of fields as tests compare them: as written, as the number, date or year that they spell,
        and as the items that a text of several has."""
        compared: dict[str, list[Any]] = {}
        for field, is_tested, is_ordered in self._fields:
            values = values_of(data, field)
            if not values:
                continue
            others: list[Any] = []
            years: list[int] = []
            ordered = values
            for place, value in enumerate(values):
                if not isinstance(value, str):
                    continue
                if (number := amount(value)) is not None:
                    others.append(plain_number(number))
                elif (iso := self._dates.iso(value)) is not None:
                    years.append(int(iso[:4]))
                    if iso != value:
                        others.append(iso)
                        ordered = [*ordered[:place], iso, *ordered[place + 1 :]]
            items = values_of(data, field, items=True) or []
            if len(items) > len(values):
                others += items
            if is_tested:
                compared[field] = [*values, *others, *years]
            if is_ordered:
                compared[field + _ORDERED] = [*ordered, *others]
        return compared


def _ordering(node: Node, dates: Dates) -> Node:
    """Return a filter whose tests that order values look at those in order, and have their bounds as these are."""
    match node:
        case Test(field, operator, values) if operator in _ORDERING:
            return Test(field + _ORDERED, operator, tuple(dates.iso(value) or value for value in values))
        case Not(inner):
            return replace(node, node=_ordering(inner, dates))
        case All(nodes) | Either(nodes):
            return replace(node, nodes=tuple(_ordering(one, dates) for one in nodes))
    return node
