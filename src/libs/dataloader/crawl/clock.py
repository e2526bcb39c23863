"""Time and randomness in one place, so that tests need not wait."""

from __future__ import annotations

import asyncio
import random
import time


class Clock:
    """The real clock."""

    def monotonic(self) -> float:
        """Seconds since some moment; never goes back."""
        return time.monotonic()

    def now(self) -> float:
        """Seconds since 1970, for dates that servers name."""
        return time.time()

    def chance(self) -> float:
        """Return a random number from 0 to 1."""
        return random.random()  # noqa: S311  (jitter, not a secret)

    async def sleep(self, seconds: float) -> None:
        """Wait."""
        await asyncio.sleep(seconds)
