"""Splits what is to be processed into batches, by number and by size."""

from __future__ import annotations

from collections.abc import Iterable, Iterator


def in_batches[T](items: Iterable[T], sizes: Iterable[int], most: int, largest: int) -> Iterator[list[T]]:
    """Split items into lists of bounded length and size, in order.

    Args:
        items: Any number.
        sizes: The size of each.
        most: Maximum length of a list.
        largest: Maximum size of a list, except that an item of its own may be larger.
    """
    batch: list[T] = []
    total = 0
    for item, size in zip(items, sizes, strict=True):
        if batch and (len(batch) >= most or total + size > largest):
            yield batch
            batch, total = [], 0
        batch.append(item)
        total += size
    if batch:
        yield batch
