"""Answers a question about records as a table.

Records are stored as JSON text, which no engine looks into. So they are read in parts, and what is asked is worked out
here; rows that are not returned are not kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import Decimal
from itertools import product
from math import prod
from typing import Any, Final

from core.rag.errors import InvalidInputError
from core.rag.retrieval.tables.asked import Asked, Group, Order
from core.rag.retrieval.tables.dates import UNITS, Dates
from core.rag.retrieval.tables.matching import RecordFilter
from core.rag.retrieval.tables.measures import Taker
from core.rag.retrieval.tables.reading import AllRecords, unknown_field
from core.rag.retrieval.tables.table import RecordTable
from core.rag.retrieval.tables.values import (
    MAX_PARTS,
    apart,
    fields_of,
    in_order,
    same,
    too_many_parts,
    values_of,
)

#: Number of rows beyond the limit that are kept for a while: to sort them all the time would take longer.
_SPARE: Final = 10_000
#: Maximum number of groups of a table.
MAX_GROUPS: Final = 100_000

type _GroupKey = tuple[str | Decimal | None, ...]

#: What the records without a field to measure are counted by.
_ONE: Final = (1,)


async def tabulate(records: AllRecords, asked: Asked) -> RecordTable:
    """Work out a table; see :meth:`core.rag.KnowledgeBase.tabulate`."""
    dates, parts = await records.dated()
    tabulation = Tabulation(records.collection, asked, dates)
    async for part in parts:
        tabulation.take(part)
    return tabulation.table()


class Tabulation:
    """Takes the records of a collection, and gives the table.

    Args:
        collection: Its name.
        asked: What is asked.
        dates: How its records write dates.
    """

    def __init__(self, collection: str, asked: Asked, dates: Dates) -> None:
        self._collection = collection
        self._filter = RecordFilter(asked.filters, dates)
        self._rows: _Groups | _Records = _Groups(asked, dates) if asked.in_groups else _Records(asked, dates)
        self._unmet = set(asked.named())
        self._there: set[str] = set()
        self._matching = 0

    def take(self, records: Iterable[Mapping[str, Any]]) -> None:
        """Take some records, each with ``id`` and ``data``, in the order in which rows that tie shall be."""
        for record in records:
            data = record["data"]
            if self._unmet:
                self._unmet -= {name for name in self._unmet if _is_there(data, name)}
                self._there.update(name for name, _ in fields_of(data))
            if self._filter.matches(data):
                self._matching += 1
                self._rows.take(record)

    def table(self) -> RecordTable:
        """Return the table.

        Raises:
            InvalidInputError: if no record has a field that is named.
        """
        if self._unmet:
            name = min(self._unmet)
            field, colon, unit = name.rpartition(":")
            if colon and field in self._there:
                raise InvalidInputError(f"{unit[:100]!r} is none of what dates are grouped by: {', '.join(UNITS)}.")
            raise InvalidInputError(unknown_field(self._collection, name, self._there))
        return self._rows.table(self._collection, self._matching)


class _Records:
    """Rows that are records: the best so far."""

    def __init__(self, asked: Asked, dates: Dates) -> None:
        self._asked = asked
        self._dates = dates
        self._best: list[Mapping[str, Any]] = []

    def take(self, record: Mapping[str, Any]) -> None:
        if self._asked.order_by or len(self._best) < self._asked.limit:
            self._best.append(record)
            if len(self._best) > self._asked.limit + _SPARE:
                self._best = self._in_order()

    def table(self, collection: str, matching: int) -> RecordTable:
        best = self._in_order()
        if columns := list(self._asked.fields):
            rows = [{name: _cell(record["data"], name) for name in columns} for record in best]
        else:
            columns = list(dict.fromkeys(name for record in best for name in record["data"]))
            rows = [{name: record["data"].get(name) for name in columns} for record in best]
        return RecordTable(collection, columns, rows, [record["id"] for record in best], matching, matching)

    def _in_order(self) -> list[Mapping[str, Any]]:
        asked = self._asked
        return _sorted(self._best, asked.order_by, self._dates, lambda record, field: _cell(record["data"], field))[
            : asked.limit
        ]


class _Groups:
    """Rows that are groups of records, with their measures."""

    def __init__(self, asked: Asked, dates: Dates) -> None:
        self._asked = asked
        self._dates = dates
        self._fields = [group.field for group in asked.group_by]
        self._groups: dict[_GroupKey, tuple[tuple[Any, ...], list[Taker]]] = {}

    def take(self, record: Mapping[str, Any]) -> None:
        asked = self._asked
        parts_of: dict[_GroupKey, tuple[tuple[Any, ...], list[dict[str, Any]]]] = {}
        number = 0
        for part in apart(record["data"], self._fields):
            # A record with several values in a field belongs to the group of each.
            grouped = [self._values(part, group) or (None,) for group in asked.group_by]
            number += prod(map(len, grouped))
            if number > MAX_PARTS:
                raise too_many_parts()
            for key, values in {tuple(map(_key, values)): values for values in product(*grouped)}.items():
                parts_of.setdefault(key, (values, []))[1].append(part)
        for key, (values, parts) in parts_of.items():
            for measure, taker in zip(asked.measures, self._takers(key, values), strict=True):
                found = [value for part in parts for value in values_of(part, measure.field, items=True) or ()]
                taker.take(found if measure.field else _ONE)

    def _values(self, data: dict[str, Any], group: Group) -> Sequence[Any] | None:
        """Return what a record belongs to of what is grouped by."""
        whole = values_of(data, group.name, items=True)
        if not group.unit or whole is not None:  # a field may be called like one and its unit
            return whole
        dates = filter(None, map(self._dates.iso, values_of(data, group.field) or ()))
        return [unit for unit in map(UNITS[group.unit], dates) if unit is not None]

    def _takers(self, key: _GroupKey, values: tuple[Any, ...]) -> list[Taker]:
        if key not in self._groups:
            if len(self._groups) == MAX_GROUPS:
                raise InvalidInputError(
                    f"There are more than {MAX_GROUPS:,} groups: group by fields with fewer values, or filter."
                )
            self._groups[key] = (values, [measure.taker(self._dates) for measure in self._asked.measures])
        return self._groups[key][1]

    def table(self, collection: str, matching: int) -> RecordTable:
        asked = self._asked
        if not self._groups and not asked.group_by:
            self._groups[()] = ((), [measure.taker(self._dates) for measure in asked.measures])
        names = [measure.name for measure in asked.measures]
        groups = [group.name for group in asked.group_by]
        rows = [
            dict(zip(groups, values, strict=True))
            | {name: taker.result() for name, taker in zip(names, takers, strict=True)}
            for values, takers in self._groups.values()
        ]
        left_out = {
            name: sum(takers[number].left_out for _, takers in self._groups.values())
            for number, name in enumerate(names)
        }
        order = asked.order_by or tuple(Order(field, descending=False) for field in groups)
        return RecordTable(
            collection,
            [*groups, *names],
            _sorted(rows, order, self._dates, lambda row, column: row[column])[: asked.limit],
            [],
            matching,
            len(rows),
            {name: number for name, number in left_out.items() if number},
        )


def _is_there(data: dict[str, Any], name: str) -> bool:
    """Return whether a record has a field, or one whose dates a name groups by."""
    return values_of(data, name) is not None or (
        bool((group := Group.parse(name)).unit) and values_of(data, group.field) is not None
    )


def _cell(data: Mapping[str, Any], field: str) -> Any:
    """Return the value of a field; a list if there are several, ``None`` if there is none."""
    values = values_of(data, field) or [None]
    return values[0] if len(values) == 1 else values


def _key(value: Any) -> str | Decimal | None:
    return None if value is None else same(value)


def _sorted[T](rows: Iterable[T], orders: Sequence[Order], dates: Dates, value: Callable[[T, str], Any]) -> list[T]:
    """Sort rows by several columns; what is missing comes last in either direction, and rows that tie stay in order."""
    found = list(rows)
    for order in reversed(orders):

        def key(row: T, order: Order = order) -> tuple[int, Decimal, str]:
            held = value(row, order.column)
            kind, number, text = in_order(held[0] if isinstance(held, list) else held, dates.iso)
            return (-kind if order.descending else kind, number, text)

        found.sort(key=key, reverse=order.descending)
    return found
