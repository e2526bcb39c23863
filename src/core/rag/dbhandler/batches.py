"""Splits ids and rows into batches that every engine can take, by number and by size."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from core.rag.arguments import check_texts
from libs.dataloader.batches import in_batches

if TYPE_CHECKING:
    from core.rag.dbhandler.store import Row, Transaction

#: Maximum number of rows in a statement, which takes a fraction of a second on every engine.
MAX_ROWS = 500

#: Approximate maximum number of bytes in a statement; a single row may have more.
MAX_BYTES = 4_000_000

_BYTES_PER_FLOAT = 9
_TEXT = frozenset({str})


def batches[T](items: Sequence[T], max_rows: int = MAX_ROWS, max_bytes: int = MAX_BYTES) -> Iterator[list[T]]:
    """Split a sequence into lists of bounded length and size, in order.

    Args:
        items: Rows or ids.
        max_rows: Maximum length of a list.
        max_bytes: Approximate maximum size of a list in bytes; a list always has at least one item.
    """
    return in_batches(items, _sizes(items), max_rows, max_bytes)


async def run_for_ids(tx: Transaction, statement: str, ids: Sequence[str], **parameters: Any) -> list[Row]:
    """Run a statement for ids, in batches.

    Args:
        tx: The transaction.
        statement: Contains ``UNWIND $ids AS i``.
        ids: Any number; nothing is run if it is empty.
        parameters: Further parameters of the statement.

    Returns:
        The rows of all batches.
    """
    parts = batches(check_texts("ids", ids))
    return [row for part in parts for row in await tx.run(statement, {**parameters, "ids": part})]


async def run_for_rows(tx: Transaction, statement: str, rows: Sequence[Row], **parameters: Any) -> list[Row]:
    """Run a statement that contains ``UNWIND $rows AS row``, in batches; see :func:`run_for_ids`."""
    return [row for part in batches(rows) for row in await tx.run(statement, {**parameters, "rows": part})]


def _sizes(items: Sequence[Any]) -> Iterable[int]:
    """Return the sizes of many values; fast for the usual case that all are strings."""
    return map(len if _TEXT.issuperset(map(type, items)) else size_of, items)


def size_of(value: Any) -> int:
    """Estimate how many bytes a value takes on the wire."""
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
