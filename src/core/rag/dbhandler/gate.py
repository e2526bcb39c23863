"""A fair writer lock that works across tasks, threads and event loops."""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class WriterGate:
    """Lets one holder in at a time, in the order of arrival.

    ``asyncio.Lock`` belongs to one event loop, but one store may be used from several (a notebook, a thread of a web
    server, repeated ``asyncio.run``).
    """

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._held = False
        self._waiting: deque[tuple[asyncio.AbstractEventLoop, asyncio.Future[None]]] = deque()

    @asynccontextmanager
    async def hold(self) -> AsyncIterator[None]:
        """Wait for the turn, hold the gate inside the ``async with``, let the next one in afterwards."""
        await self._acquire()
        try:
            yield
        finally:
            self._release()

    async def _acquire(self) -> None:
        loop = asyncio.get_running_loop()
        with self._guard:
            if not self._held:
                self._held = True
                return
            turn: asyncio.Future[None] = loop.create_future()
            self._waiting.append((loop, turn))
        try:
            await turn
        except asyncio.CancelledError:
            with self._guard:
                handed_over = (loop, turn) not in self._waiting
                if not handed_over:
                    self._waiting.remove((loop, turn))
            if handed_over:  # the turn came together with the cancellation
                self._release()
            raise

    def _release(self) -> None:
        with self._guard:
            while self._waiting:
                loop, turn = self._waiting.popleft()
                try:
                    loop.call_soon_threadsafe(_wake, turn)
                except RuntimeError:  # that loop was closed while its task waited
                    continue
                return
            self._held = False


def _wake(turn: asyncio.Future[None]) -> None:
    if not turn.done():
        turn.set_result(None)
