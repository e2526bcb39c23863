"""Stops a run early: it ends even if a loader blocks, and first finishes what it has begun, within a time limit."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable

from core.rag.errors import InvalidInputError
from libs.dataloader import LoadResult

#: Asked to stop, a run goes on for so many seconds with what was taken up, and waits so long for what is being loaded.
PATIENCE_SECONDS = 3.0


def check_callbacks(stop: asyncio.Event | None, progress: Callable[..., None] | None) -> None:
    """Refuse, before a run begins, what would fail in the middle of it.

    Raises:
        InvalidInputError: naming the argument.
    """
    if stop is not None and not isinstance(stop, asyncio.Event):
        raise InvalidInputError(f"stop must be an asyncio.Event, not {type(stop).__name__}.")
    if progress is not None and not callable(progress):
        raise InvalidInputError(f"progress must be a function that takes a report, not {type(progress).__name__}.")


async def out_of_patience(stop: asyncio.Event) -> None:
    """Return ``PATIENCE_SECONDS`` after a run was asked to stop."""
    await stop.wait()
    await asyncio.sleep(PATIENCE_SECONDS)


async def until(results: AsyncIterator[LoadResult], stop: asyncio.Event) -> AsyncGenerator[LoadResult]:
    """Yield what a loader gives, until the run is asked to stop. A page that does not come is not waited for then.

    There are very many results, and a task for each would cost too much. So the task that waits for one is cancelled,
    and the cancellation is taken back here.
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
        while not stop.is_set():
            asking = True
            try:
                result = await anext(results)
            except StopAsyncIteration:
                break
            except asyncio.CancelledError:
                if not interrupted or task.uncancel():
                    raise
                break
            finally:
                asking = False
            yield result
    finally:
        watcher.cancel()
        if isinstance(results, AsyncGenerator):  # a loader may give any asynchronous iterator
            await results.aclose()
