"""Prevents a unit of work inside another one, for which it would wait forever."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from core.rag.errors import StoreError


@dataclass(slots=True)
class _Unit:
    """A unit of work on a store; ``store`` is ``None`` once it has ended, since a task that it began may go on."""

    store: object | None


#: Those that this task, and those that began it, are inside of.
_around: ContextVar[tuple[_Unit, ...]] = ContextVar("_around", default=())


@contextmanager
def outermost(store: object) -> Iterator[None]:
    """Mark what runs in the ``with``, and the tasks that it begins, as a unit of work on a store.

    Raises:
        StoreError: inside of another one on the same store.
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
