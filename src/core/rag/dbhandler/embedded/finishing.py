"""Waiting for calls in other threads that cannot be interrupted."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Future


async def finish[T](work: Future[T], hurry: Callable[[], object] | None = None) -> T:
    """Wait for a call that cannot be interrupted. Cancellations that arrive meanwhile take effect afterwards.

    Args:
        work: The call.
        hurry: Called on a cancellation, so that the call can end early; what it returns or raises then is dropped.
    """
    future = asyncio.wrap_future(work)
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
        del future, work  # an error in it and this frame would keep each other, and what the engine locks, alive
