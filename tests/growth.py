"""Whether work grows with its input, not with the square of it or worse."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable

import pytest

#: Seconds of the processor. Work that takes less is quick enough, however it grows; more than the other is never due.
QUICK = 1.0
ENDLESS = 60.0
#: Other work on a shared machine may slow down one measurement, so the quickest of a few counts.
ATTEMPTS = 4


def check_growth(work: Callable[[int], object], size: int) -> None:
    """Fail where twice the size takes far more than twice the time.

    Args:
        work: What to do, given the size.
        size: Large enough that what grows with the square takes longer than :data:`QUICK` at twice the size.
    """
    once, twice = ENDLESS, ENDLESS
    for _ in range(ATTEMPTS):
        once, twice = min(once, _seconds(work, size)), min(twice, _seconds(work, 2 * size))
        if twice < QUICK or twice < 3 * once:
            return
    pytest.fail(f"{once:.2f} s, and for twice as much {twice:.2f} s, at best")


def _seconds(work: Callable[[int], object], size: int) -> float:
    def stop(*_: object) -> None:
        pytest.fail(f"more than {ENDLESS} s for {size}")  # no Exception: a reader would take it for a damaged file

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, ENDLESS)
    try:
        start = time.process_time()
        work(size)
        return time.process_time() - start
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
