"""Waiting for work that must not be interrupted: a commit, a roll-back, a call in another thread."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any


async def finish[T](work: Coroutine[Any, Any, T] | asyncio.Future[T], hurry: Callable[[], object] | None = None) -> T:
    """Wait for work that has to come to its end. Cancellations that arrive meanwhile take effect afterwards.

    Args:
        work: The work.
        hurry: Called on a cancellation, so that the work can end early; what it returns or raises then is dropped.
    """
    future = asyncio.ensure_future(work)
    cancelled: asyncio.CancelledError | None = None
    while not future.done():
        try:
            await asyncio.wait([future])
        except asyncio.CancelledError as error:
            cancelled = error
            if hurry is not None:
                hurry()
    if cancelled is not None:
        if not future.cancelled():
            future.exception()  # seen, so that it is not reported as lost
        raise cancelled
    try:
        return future.result()
    finally:
        del future, work  # an error in it and this frame would keep each other, and what an engine locks, alive
