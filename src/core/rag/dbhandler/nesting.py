"""Prevents a unit of work inside another one, for which it would wait forever."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from core.rag.errors import StoreError


@dataclass(slots=True)
class _Unit:
    """A unit of work on a store; ``store`` is ``None`` once it has ended, since tasks that it started may continue."""

    store: object | None


#: The units of work that enclose this task, including those of the tasks that started it.
_around: ContextVar[tuple[_Unit, ...]] = ContextVar("_around", default=())


@contextmanager
def outermost(store: object) -> Iterator[None]:
    """Mark the code in the ``with``, and the tasks that it starts, as a unit of work on a store.

    Raises:
        StoreError: if it is within another unit of work on the same store.
    """
    around = _around.get()
    if any(unit.store is store for unit in around):
        raise StoreError(
            "A transaction was begun inside of another one, and could wait for it for ever: pass the open one on."
        )
    unit = _Unit(store)
    before = _around.set((*around, unit))
    try:
        yield
    finally:
        unit.store = None
        _around.reset(before)
