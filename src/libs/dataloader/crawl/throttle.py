"""Limits the number of concurrent requests, their rate per host, and what of the responses is still to be handled."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from typing import Any

from libs.dataloader.crawl.clock import Clock

#: While the bodies that wait to be read, and the texts that wait for their turn, have so many bytes, no further request
#: is sent, except for what they wait for.
MAX_WAITING_BYTES = 64_000_000


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
        self._waiting = 0
        self._changed = asyncio.Event()
        self._first: asyncio.Task[Any] | None = None

    @asynccontextmanager
    async def slot(self, host: str, *, urgent: bool = False) -> AsyncIterator[None]:
        """Wait, in the order of the calls, until the host may be asked and a slot is free; hold the slot meanwhile.

        Args:
            host: With its port.
            urgent: Whether others may wait for the response, so that it is requested however much waits already.
        """
        state = self._state(host)
        while True:
            while not self._may_send(urgent):
                await self._changed.wait()
            async with state.turn:  # a request that waits for the delay of the host also holds up those behind it
                if await self._enter(state, urgent):
                    break
        try:
            yield
        finally:
            self._slots.release()

    async def _enter(self, state: _Host, urgent: bool) -> bool:
        """Take a slot as soon as the host may be asked; false if there is too much that waits to be handled."""
        while self._may_send(urgent):
            await self._slots.acquire()
            wait = state.not_before - self._clock.monotonic()
            if wait <= 0 and self._may_send(urgent):
                state.not_before = self._clock.monotonic() + state.delay
                return True
            self._slots.release()  # requests to other hosts do not wait for this one
            if wait > 0:
                await self._clock.sleep(wait)
        return False

    def _may_send(self, urgent: bool) -> bool:
        return urgent or self._waiting < MAX_WAITING_BYTES or asyncio.current_task() is self._first

    def put_first(self, task: asyncio.Task[Any]) -> None:
        """Let the requests of a task pass, however much waits: it is what the rest waits for."""
        self._first = task
        self._wake()

    @contextmanager
    def keeping(self, size: int) -> Iterator[None]:
        """Count a body as one that waits to be read; long PDFs arrive faster than they are read."""
        self.keep(size)
        try:
            yield
        finally:
            self.keep(-size)

    def keep(self, size: int) -> None:
        """Count the bytes of a text that waits for its turn; a negative number when it is handled."""
        self._waiting += size
        if self._waiting < MAX_WAITING_BYTES:
            self._wake()

    def _wake(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()

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
