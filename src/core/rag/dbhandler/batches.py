"""Splits ids and rows into batches that every engine can take, by number and by size."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from core.rag.dbhandler.checks import check_texts

if TYPE_CHECKING:
    from core.rag.dbhandler.store import Row, Transaction

#: At most this many rows in a statement; it is a fraction of a second on every engine.
MAX_ROWS = 500

#: At most about this many bytes in a statement, unless a single row has more.
MAX_BYTES = 4_000_000

_BYTES_PER_FLOAT = 9
_TEXT = frozenset({str})


def batches[T](items: Sequence[T], max_rows: int = MAX_ROWS, max_bytes: int = MAX_BYTES) -> Iterator[list[T]]:
    """Cut a sequence into lists of bounded number and size, in order.

    Args:
        items: Rows or ids.
        max_rows: At most this many in a list.
        max_bytes: At most about this many bytes in a list, but always at least one item.
    """
    batch: list[T] = []
    size = 0
    for item, weight in zip(items, _sizes(items), strict=True):
        if batch and (len(batch) >= max_rows or size + weight > max_bytes):
            yield batch
            batch, size = [], 0
        batch.append(item)
        size += weight
    if batch:
        yield batch


async def run_for_ids(tx: Transaction, statement: str, ids: Sequence[str], **parameters: Any) -> list[Row]:
    """Run a statement for ids, a batch at a time.

    Args:
        tx: The transaction.
        statement: Has ``UNWIND $ids AS i``.
        ids: As many as there are; without any, nothing is run.
        parameters: Further ones of the statement.

    Returns:
        The rows of all batches.
    """
    parts = batches(check_texts("ids", ids))
    return [row for part in parts for row in await tx.run(statement, {**parameters, "ids": part})]


async def run_for_rows(tx: Transaction, statement: str, rows: Sequence[Row], **parameters: Any) -> list[Row]:
    """The same for a statement that has ``UNWIND $rows AS row``."""
    return [row for part in batches(rows) for row in await tx.run(statement, {**parameters, "rows": part})]


def _sizes(items: Sequence[Any]) -> Iterable[int]:
    """The sizes of many values; most often all are texts, and there are very many."""
    return map(len if _TEXT.issuperset(map(type, items)) else size_of, items)


def size_of(value: Any) -> int:
    """About how many bytes a value takes on the wire."""
    kind = value.__class__
    if kind is dict:
        size = 8 * len(value)
        for item in value.values():
            kind = item.__class__
            size += len(item) if kind is str else 8 if kind is int else size_of(item)
        return size
    if kind is list:
        return sum(_sizes(value))
    if isinstance(value, tuple | memoryview):  # an embedding
        return _BYTES_PER_FLOAT * len(value)
    return len(value) if isinstance(value, str) else 8
