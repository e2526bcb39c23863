"""Runs several tasks concurrently and leaves none of them behind."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Iterable, Iterator
from inspect import iscoroutine
from typing import Any, overload

from core.rag.errors import MGRagError


@overload
async def together[A, B](first: Awaitable[A], second: Awaitable[B], /) -> tuple[A, B]: ...
@overload
async def together[A, B, C](first: Awaitable[A], second: Awaitable[B], third: Awaitable[C], /) -> tuple[A, B, C]: ...
@overload
async def together[A, B, C, D](
    first: Awaitable[A], second: Awaitable[B], third: Awaitable[C], fourth: Awaitable[D], /
) -> tuple[A, B, C, D]: ...
@overload
async def together[A, B, C, D, E](
    first: Awaitable[A], second: Awaitable[B], third: Awaitable[C], fourth: Awaitable[D], fifth: Awaitable[E], /
) -> tuple[A, B, C, D, E]: ...


async def together(*work: Awaitable[Any]) -> tuple[Any, ...]:
    """Await all at once.

    Unlike with ``asyncio.gather``, nothing goes on when this has ended: where one fails, the others are cancelled and
    waited for, so that they give back what they hold, a connection say.

    Args:
        work: Coroutines or other awaitables, two to five.

    Returns:
        Their results, in order.

    Raises:
        BaseException: the error of the first that failed.
    """
    return tuple(await all_together(work))


async def all_together[T](work: Iterable[Awaitable[T]]) -> list[T]:
    """Await any number of awaitables of the same type; see :func:`together`."""
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(item if iscoroutine(item) else _awaited(item)) for item in work]
    except BaseExceptionGroup as failed:
        raise failed.exceptions[0] from failed.exceptions[0].__cause__
    return [task.result() for task in tasks]


def error_of(group: BaseExceptionGroup[BaseException]) -> BaseException:
    """Return the error to show of several: the first one of this project, else the first of all."""
    errors = list(_leaves(group))
    return next((error for error in errors if isinstance(error, MGRagError)), errors[0])


def _leaves(group: BaseExceptionGroup[BaseException]) -> Iterator[BaseException]:
    for error in group.exceptions:
        if isinstance(error, BaseExceptionGroup):
            yield from _leaves(error)
        else:
            yield error


async def _awaited[T](item: Awaitable[T]) -> T:
    return await item
