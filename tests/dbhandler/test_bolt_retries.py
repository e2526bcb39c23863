"""When a unit of work is repeated, after how long, and when it is given up."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable

import pytest

from core.rag.dbhandler.bolt.errors import Again, Failure
from core.rag.dbhandler.bolt.work import FIRST_RETRY_SECONDS, RetryableError, attempts
from core.rag.dbhandler.gate import WriterGate
from core.rag.errors import StoreConflictError, StoreConstraintError, StoreError, StoreFullError, StoreUnavailableError


class Clock:
    """Time that passes only while somebody waits."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.waits: list[float] = []

    def monotonic(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.waits.append(seconds)
        self.now += seconds


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(time, "monotonic", clock.monotonic)
    monkeypatch.setattr(asyncio, "sleep", clock.sleep)
    return clock


def failing(times: int, error: StoreError, again: Again) -> Callable[[], Awaitable[str]]:
    """Work that fails so often before it succeeds."""
    left = [times]

    async def attempt() -> str:
        if left[0]:
            left[0] -= 1
            raise RetryableError(Failure(error, again))
        return "done"

    return attempt


async def test_the_first_retry_comes_soon_and_each_later_one_after_longer(clock: Clock) -> None:
    assert await attempts(failing(8, StoreConflictError("x"), Again.UNTIL_DEADLINE), 60) == "done"
    assert len(clock.waits) == 8
    assert 0.5 * FIRST_RETRY_SECONDS <= clock.waits[0] <= 1.5 * FIRST_RETRY_SECONDS <= 0.1
    for number, wait in enumerate(clock.waits):
        assert 0.5 <= wait / min(FIRST_RETRY_SECONDS * 2**number, 2.0) <= 1.5


async def test_no_two_wait_equally_long(clock: Clock) -> None:
    for _ in range(20):
        await attempts(failing(1, StoreConflictError("x"), Again.UNTIL_DEADLINE), 60)
    assert len(set(clock.waits)) > 15


async def test_it_is_given_up_after_the_deadline(clock: Clock) -> None:
    started = clock.now
    with pytest.raises(StoreUnavailableError, match="gone"):
        await attempts(failing(10**6, StoreUnavailableError("gone"), Again.UNTIL_DEADLINE), 5)
    assert 2 < clock.now - started <= 6


async def test_a_write_that_meets_others_is_given_up_later(clock: Clock) -> None:
    started = clock.now
    with pytest.raises(StoreConflictError):
        await attempts(failing(10**6, StoreConflictError("x"), Again.UNTIL_DEADLINE), 5, WriterGate())
    assert 45 < clock.now - started <= 51


async def test_a_write_without_a_server_is_given_up_after_the_deadline(clock: Clock) -> None:
    started = clock.now
    with pytest.raises(StoreUnavailableError):
        await attempts(failing(10**6, StoreUnavailableError("gone"), Again.UNTIL_DEADLINE), 5, WriterGate())
    assert 2 < clock.now - started <= 6


async def test_what_is_final_is_tried_once(clock: Clock) -> None:
    with pytest.raises(StoreFullError):
        await attempts(failing(1, StoreFullError("no memory"), Again.NEVER), 60)
    assert clock.waits == []


async def test_a_second_node_with_the_same_id_is_tried_a_few_times(clock: Clock) -> None:
    assert await attempts(failing(7, StoreConstraintError("x"), Again.A_FEW_TIMES), 60) == "done"
    with pytest.raises(StoreConstraintError):
        await attempts(failing(8, StoreConstraintError("x"), Again.A_FEW_TIMES), 60)
    assert max(clock.waits) < 0.1, "nobody is waited for: the other one has committed"


async def test_a_deadline_of_nothing_means_no_retry(clock: Clock) -> None:
    with pytest.raises(StoreConflictError):
        await attempts(failing(1, StoreConflictError("x"), Again.UNTIL_DEADLINE), 0)


async def test_a_cancelled_task_does_not_go_on_trying() -> None:
    begun = asyncio.Event()

    async def attempt() -> None:
        begun.set()
        raise RetryableError(Failure(StoreConflictError("x"), Again.UNTIL_DEADLINE))

    task = asyncio.create_task(attempts(attempt, 60))
    await begun.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
