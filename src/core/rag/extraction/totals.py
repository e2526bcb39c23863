"""Finds the rows of a table that add up the others: counted with them, every sum would be twice what it is."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any, Final

from core.rag.extraction.amounts import amount
from libs.regexes import regex

#: What such a row is called, by how its name begins.
_TOTAL: Final = regex(
    r"(?:grand |sub[- ]?)?(?:totals?|sums?)\b|gesamt|zwischensumme|summe\b|insgesamt\b|totaux\b|somme\b|suma\b",
    re.IGNORECASE,
)
#: Rows at either end of a table, of which one has to be such a row.
_ENDS: Final = 3
#: More rows with such a name are something else.
_MOST: Final = 20
#: By how much a total may differ from the sum, of numbers that are rounded.
_ROUNDED: Final = Decimal("0.001")


def total_rows(record: Callable[[int], Mapping[str, Any]], rows: range) -> frozenset[int]:
    """Return the rows of a table that add up others.

    A row is one if it is called so, and in some field the largest of those that are is the sum of all other rows.

    Args:
        record: Returns the record that a row is.
        rows: The numbers of the rows.
    """
    ends = (*rows[:_ENDS], *rows[-_ENDS:])
    if len(rows) < 3 or not any(is_called_total(record(number)) for number in ends):
        return frozenset()
    called = [number for number in rows if is_called_total(record(number))]
    if len(called) > _MOST:
        return frozenset()
    largest: dict[str, Decimal] = {}
    for number in called:
        for name, value in record(number).items():
            if (found := amount(value)) is not None and abs(found) > abs(largest.get(name, Decimal(0))):
                largest[name] = found
    sums = dict.fromkeys(largest, Decimal(0))
    for number in rows:
        if number not in called:
            data = record(number)
            for name in sums:
                sums[name] += amount(data.get(name)) or 0
    is_sum = any(abs(sums[name] - total) <= _ROUNDED * abs(total) for name, total in largest.items())
    return frozenset(called) if is_sum else frozenset()


def is_called_total(data: Mapping[str, Any]) -> bool:
    """Return whether a row is called as one that adds up others."""
    return any(isinstance(value, str) and _TOTAL.match(value) is not None for value in data.values())
