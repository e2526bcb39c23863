"""Stops a run early: it ends even if a loader blocks, and first finishes what it has begun, within a time limit."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable

from core.rag.arguments import check_function
from core.rag.errors import InvalidInputError
from libs.dataloader import LoadResult

#: After a request to stop, seconds for which a run finishes started work, and waits for what is being loaded.
PATIENCE_SECONDS = 3.0


def check_callbacks(stop: asyncio.Event | None, progress: Callable[..., None] | None) -> None:
    """Refuse invalid callbacks before a run begins, since they would fail in the middle of it.

    Raises:
        InvalidInputError: naming the argument.
    """
    if stop is not None and not isinstance(stop, asyncio.Event):
        raise InvalidInputError(f"stop must be an asyncio.Event, not {type(stop).__name__}.")
    check_function("progress", progress, "a report")


async def out_of_patience(stop: asyncio.Event) -> None:
    """Return ``PATIENCE_SECONDS`` after a run was asked to stop."""
    await stop.wait()
    await asyncio.sleep(PATIENCE_SECONDS)


async def until(results: AsyncIterator[LoadResult], stop: asyncio.Event) -> AsyncGenerator[LoadResult]:
    """Yield the results of a loader until the run is asked to stop; it then does not wait for a slow page.

    There may be very many results, and a task for each would cost too much. So the task that waits for one is
    cancelled, and the cancellation is undone here.
    """
    task = asyncio.current_task()
    assert task is not None
    asking = interrupted = False

    async def interrupt(task: asyncio.Task[object]) -> None:
        nonlocal interrupted
        await out_of_patience(stop)
        if asking:
            interrupted = True
            task.cancel()

    watcher = asyncio.create_task(interrupt(task))
    try:
        if stop.is_set():
            return
        asking = True
        async for result in results:
            asking = False
            yield result
            if stop.is_set():
                return
            asking = True
    except asyncio.CancelledError:
        if not interrupted or task.uncancel():
            raise
    finally:
        watcher.cancel()
        if isinstance(results, AsyncGenerator):  # a loader may return any asynchronous iterator
            await results.aclose()
