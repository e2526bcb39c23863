"""A clock for code that waits."""

from __future__ import annotations

import asyncio

from core.rag.openai_api import Timing


class Clock:
    """Time that passes only when somebody sleeps, and not while ``running`` is clear."""

    def __init__(self) -> None:
        self.now = 1_000.0
        self.slept: list[float] = []
        self.running = asyncio.Event()
        self.running.set()

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        until = self.now + seconds
        await self.running.wait()
        self.now = max(self.now, until)

    def timing(self, jitter: float = 0.0, wall: float = 0.0) -> Timing:
        return Timing(self.sleep, lambda: self.now, lambda: wall, lambda: jitter)
