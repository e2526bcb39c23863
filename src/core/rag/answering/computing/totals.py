"""Finds the rows of a table that add up the others: counted with them, every sum would be twice what it is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final

from core.rag.answering.computing.seen import MOST_TOTALS, Seen
from core.rag.retrieval.tables.amounts import amount
from core.rag.retrieval.tables.asked import MAX_NAMES, Asked
from core.rag.retrieval.tables.tabulating import tabulate

if TYPE_CHECKING:
    from core.rag.dbhandler import MemGraphClient

#: By how much a total may differ from the sum, of numbers that are rounded.
_ROUNDED: Final = Decimal("0.001")


async def leave_out_totals(client: MemGraphClient, seen: Seen) -> None:
    """Take note of the rows that add up others; they are no records then.

    A row is one if it is called so, and in some field the highest of those that are is the sum of all other rows.

    Raises:
        InvalidInputError: if a field cannot be added up.
        NotFoundError: if the collection is gone.
    """
    labels = {label for label, _ in seen.totals}
    rows = [data for _, data in seen.totals]
    if len(labels) != 1 or len(rows) > MOST_TOTALS:
        return
    (label,) = labels
    highest = {
        name: max(found) for name, one in seen.fields.items() if one.is_number and (found := _amounts(rows, name))
    }
    if not highest:
        return
    names = tuple(dict.fromkeys(data[label] for data in rows))
    asked = Asked.parse(
        fields=None,
        filters={label: {"!=": list(names)}},
        group_by=None,
        measures=[f"sum:{name}" for name in list(highest)[:MAX_NAMES]],
        order_by=None,
        limit=1,
    )
    table = await tabulate(client, seen.name, asked)
    sums = [amount(row[column]) for row in table.rows for column in table.columns]
    if any(
        found is not None and found > 0 and abs(found - total) <= _ROUNDED * found
        for found, total in zip(sums, highest.values(), strict=False)
    ):
        seen.apart = (label, names)
        seen.records -= len(rows)


def _amounts(rows: Iterable[Mapping[str, Any]], field: str) -> list[Decimal]:
    return [number for row in rows if (number := amount(row.get(field))) is not None]
