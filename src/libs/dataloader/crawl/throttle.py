"""Limits the number of concurrent requests, their rate per host, and what of the responses is still to be read."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field

from libs.dataloader.crawl.clock import Clock

#: While the bodies that wait to be read have so many bytes, no further request is sent.
MAX_UNREAD_BYTES = 64_000_000


@dataclass(slots=True)
class _Host:
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)
    delay: float = 0.0
    not_before: float = 0.0


class Throttle:
    """Decides when a request may be sent.

    Args:
        clock: Time.
        concurrency: Maximum number of concurrent requests to all hosts.
        delay: Seconds between the starts of two requests to one host.
    """

    def __init__(self, clock: Clock, concurrency: int, delay: float) -> None:
        self._clock = clock
        self._delay = delay
        self._slots = asyncio.Semaphore(concurrency)
        self._hosts: dict[str, _Host] = {}
        self._unread = 0
        self._has_room = asyncio.Event()
        self._has_room.set()

    @asynccontextmanager
    async def slot(self, host: str) -> AsyncIterator[None]:
        """Wait, in the order of the calls, until the host may be asked and a slot is free; hold the slot meanwhile."""
        state = self._state(host)
        async with state.turn:  # a request that waits for the delay of the host also holds up those behind it
            while True:
                await self._has_room.wait()
                await self._slots.acquire()
                wait = state.not_before - self._clock.monotonic()
                if wait <= 0 and self._has_room.is_set():
                    break
                self._slots.release()  # requests to other hosts do not wait for this one
                if wait > 0:
                    await self._clock.sleep(wait)
            state.not_before = self._clock.monotonic() + state.delay
        try:
            yield
        finally:
            self._slots.release()

    @contextmanager
    def keeping(self, size: int) -> Iterator[None]:
        """Count a body as one that waits to be read; long PDFs arrive faster than they are read."""
        self._unread += size
        if self._unread >= MAX_UNREAD_BYTES:
            self._has_room.clear()
        try:
            yield
        finally:
            self._unread -= size
            if self._unread < MAX_UNREAD_BYTES:
                self._has_room.set()

    def slow_down(self, host: str, delay: float) -> None:
        """Keep at least this many seconds between two requests to a host."""
        state = self._state(host)
        state.delay = max(state.delay, delay)

    def pause(self, host: str, seconds: float) -> None:
        """Send no requests to a host for a while."""
        state = self._state(host)
        state.not_before = max(state.not_before, self._clock.monotonic() + seconds)

    def _state(self, host: str) -> _Host:
        if host not in self._hosts:
            self._hosts[host] = _Host(delay=self._delay)
        return self._hosts[host]
