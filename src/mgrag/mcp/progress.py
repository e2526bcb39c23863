"""Tells a client how far an ingest is, so that it does not take a long one for one that hangs."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextvars import ContextVar
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from core.rag.indexing.report import IngestReport

#: Tells the client of this call a number that grows, that at the end (if it is known), and what they mean.
type Teller = Callable[[float, float | None, str], Awaitable[None]]

_teller: ContextVar[Teller | None] = ContextVar("teller", default=None)

#: Seconds between two reports.
_INTERVAL = 1.0


@contextlib.contextmanager
def telling(teller: Teller) -> Iterator[None]:
    """Let what is called tell its progress."""
    token = _teller.set(teller)
    try:
        yield
    finally:
        _teller.reset(token)


@contextlib.asynccontextmanager
async def progress_of_ingest() -> AsyncIterator[Callable[[IngestReport], None]]:
    """What an ingest can call after each transaction: the client is told once a second how many documents are done."""
    teller = _teller.get()
    changed = asyncio.Event()
    latest: list[IngestReport] = []

    def progress(report: IngestReport) -> None:
        latest[:] = [report]
        changed.set()

    async def tell() -> None:
        told = 0
        while teller is not None:
            await changed.wait()
            changed.clear()
            done = latest[0].documents
            if (count := done.added + done.updated + done.unchanged + done.deleted) > told:
                await teller(count, None, f"Documents: {count}, chunks: {latest[0].chunks}")
                told = count
                await asyncio.sleep(_INTERVAL)

    task = asyncio.create_task(tell())
    try:
        yield progress
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)  # a client that is gone needs no progress
