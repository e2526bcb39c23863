"""Several things at once, of which none is left behind."""

from __future__ import annotations

import asyncio

import pytest

from core.rag.together import all_together, together


async def value(number: int) -> int:
    await asyncio.sleep(0)
    return number


async def test_results_are_in_order() -> None:
    assert await together(value(1), value(2), value(3)) == (1, 2, 3)
    assert await all_together(value(number) for number in range(9)) == list(range(9))
    assert await all_together([]) == []


async def test_where_one_fails_the_others_have_ended_and_its_error_is_raised() -> None:
    ended = []

    async def waiting() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0)  # gives something back
            ended.append("waiting")

    async def failing() -> None:
        await asyncio.sleep(0)
        raise ValueError("as it was")

    with pytest.raises(ValueError, match="as it was"):
        await together(waiting(), failing(), waiting())
    assert ended == ["waiting", "waiting"]


async def test_a_cancellation_reaches_all() -> None:
    task = asyncio.create_task(all_together([asyncio.Event().wait(), asyncio.Event().wait()]))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert asyncio.all_tasks() == {asyncio.current_task()}
