"""Answers a question about records as a table.

Records are stored as JSON text, which no engine looks into. So they are read in parts, and what is asked is worked out
here; rows that are not returned are not kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import Decimal
from itertools import product
from math import prod
from typing import TYPE_CHECKING, Any, Final

from core.rag.errors import InvalidInputError
from core.rag.extraction.amounts import amount, plain_number
from core.rag.retrieval.tables.asked import Asked, Order
from core.rag.retrieval.tables.measures import Taker
from core.rag.retrieval.tables.reading import read_records, unknown_field
from core.rag.retrieval.tables.table import RecordTable
from core.rag.retrieval.tables.values import (
    DATE,
    MAX_PARTS,
    apart,
    fields_of,
    in_order,
    same,
    too_many_parts,
    values_of,
)

if TYPE_CHECKING:
    from core.rag.dbhandler import MemGraphClient

#: Number of rows beyond the limit that are kept for a while: to sort them all the time would take longer.
_SPARE: Final = 10_000
#: Maximum number of groups of a table.
MAX_GROUPS: Final = 100_000

type _GroupKey = tuple[str | Decimal | None, ...]

#: What the records without a field to measure are counted by.
_ONE: Final = (1,)


async def tabulate(client: MemGraphClient, collection: str, asked: Asked) -> RecordTable:
    """Work out a table; see :meth:`core.rag.KnowledgeBase.tabulate`."""
    tabulation = Tabulation(collection, asked)
    async for part in read_records(client, collection):
        tabulation.take(part)
    return tabulation.table()


class Tabulation:
    """Takes the records of a collection, and gives the table.

    Args:
        collection: Its name.
        asked: What is asked.
    """

    def __init__(self, collection: str, asked: Asked) -> None:
        self._collection = collection
        self._filters = asked.filters
        self._filtered = asked.filtered()
        self._rows: _Groups | _Records = _Groups(asked) if asked.in_groups else _Records(asked)
        self._unmet = set(asked.named())
        self._there: set[str] = set()
        self._matching = 0

    def take(self, records: Iterable[Mapping[str, Any]]) -> None:
        """Take some records, each with ``id`` and ``data``, in the order in which rows that tie shall be."""
        for record in records:
            data = record["data"]
            if self._unmet:
                self._unmet -= {field for field in self._unmet if values_of(data, field) is not None}
                self._there.update(name for name, _ in fields_of(data))
            if not self._filtered or self._filters.matches({"metadata": _compared(data, self._filtered)}):
                self._matching += 1
                self._rows.take(record)

    def table(self) -> RecordTable:
        """Return the table.

        Raises:
            InvalidInputError: if no record has a field that is named.
        """
        if self._unmet:
            raise InvalidInputError(unknown_field(self._collection, min(self._unmet), self._there))
        return self._rows.table(self._collection, self._matching)


class _Records:
    """Rows that are records: the best so far."""

    def __init__(self, asked: Asked) -> None:
        self._asked = asked
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
        return _sorted(self._best, asked.order_by, lambda record, field: _cell(record["data"], field))[: asked.limit]


class _Groups:
    """Rows that are groups of records, with their measures."""

    def __init__(self, asked: Asked) -> None:
        self._asked = asked
        self._groups: dict[_GroupKey, tuple[tuple[Any, ...], list[Taker]]] = {}

    def take(self, record: Mapping[str, Any]) -> None:
        asked = self._asked
        parts_of: dict[_GroupKey, tuple[tuple[Any, ...], list[dict[str, Any]]]] = {}
        number = 0
        for part in apart(record["data"], asked.group_by):
            # A record with several values in a field belongs to the group of each.
            grouped = [values_of(part, field, items=True) or (None,) for field in asked.group_by]
            number += prod(map(len, grouped))
            if number > MAX_PARTS:
                raise too_many_parts()
            for key, values in {tuple(map(_key, values)): values for values in product(*grouped)}.items():
                parts_of.setdefault(key, (values, []))[1].append(part)
        for key, (values, parts) in parts_of.items():
            for measure, taker in zip(asked.measures, self._takers(key, values), strict=True):
                found = [value for part in parts for value in values_of(part, measure.field, items=True) or ()]
                taker.take(found if measure.field else _ONE)

    def _takers(self, key: _GroupKey, values: tuple[Any, ...]) -> list[Taker]:
        if key not in self._groups:
            if len(self._groups) == MAX_GROUPS:
                raise InvalidInputError(
                    f"There are more than {MAX_GROUPS:,} groups: group by fields with fewer values, or filter."
                )
            self._groups[key] = (values, [measure.taker() for measure in self._asked.measures])
        return self._groups[key][1]

    def table(self, collection: str, matching: int) -> RecordTable:
        asked = self._asked
        if not self._groups and not asked.group_by:
            self._groups[()] = ((), [measure.taker() for measure in asked.measures])
        names = [measure.name for measure in asked.measures]
        rows = [
            dict(zip(asked.group_by, values, strict=True))
            | {name: taker.result() for name, taker in zip(names, takers, strict=True)}
            for values, takers in self._groups.values()
        ]
        left_out = {
            name: sum(takers[number].left_out for _, takers in self._groups.values())
            for number, name in enumerate(names)
        }
        order = asked.order_by or tuple(Order(field, descending=False) for field in asked.group_by)
        return RecordTable(
            collection,
            [*asked.group_by, *names],
            _sorted(rows, order, lambda row, column: row[column])[: asked.limit],
            [],
            matching,
            len(rows),
            {name: number for name, number in left_out.items() if number},
        )


def _compared(data: Mapping[str, Any], fields: Iterable[str]) -> dict[str, list[Any]]:
    """Return the values of fields as a filter compares them: as written, as the number or year that they spell, and as
    the items that a text of several has."""
    compared = {}
    for field in fields:
        values = values_of(data, field)
        if values:
            numbers = [number for value in values if isinstance(value, str) for number in _numbers(value)]
            items = values_of(data, field, items=True) or []
            compared[field] = [*values, *numbers, *(items if len(items) > len(values) else ())]
    return compared


def _numbers(text: str) -> list[int | float]:
    number = amount(text)
    if number is not None:
        return [plain_number(number)]
    date = DATE.fullmatch(text)
    return [int(date[1])] if date else []


def _cell(data: Mapping[str, Any], field: str) -> Any:
    """Return the value of a field; a list if there are several, ``None`` if there is none."""
    values = values_of(data, field) or [None]
    return values[0] if len(values) == 1 else values


def _key(value: Any) -> str | Decimal | None:
    return None if value is None else same(value)


def _sorted[T](rows: Iterable[T], orders: Sequence[Order], value: Callable[[T, str], Any]) -> list[T]:
    """Sort rows by several columns; what is missing comes last in either direction, and rows that tie stay in order."""
    found = list(rows)
    for order in reversed(orders):

        def key(row: T, order: Order = order) -> tuple[int, Decimal, str]:
            held = value(row, order.column)
            kind, number, text = in_order(held[0] if isinstance(held, list) else held)
            return (-kind if order.descending else kind, number, text)

        found.sort(key=key, reverse=order.descending)
    return found
