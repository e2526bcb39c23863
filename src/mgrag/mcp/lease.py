"""Holds a knowledge base for a long-lived process that uses it now and then."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Callable
from typing import TYPE_CHECKING, Protocol

from core.rag.errors import MGRagError, StoreUnavailableError

if TYPE_CHECKING:
    from core.rag.knowledge_base import KnowledgeBase

_IN_MEMORY = ":memory:"

_logger = logging.getLogger(__name__)


class Usable(Protocol):
    """A knowledge base for tools: as a :class:`Lease` has it, or one that a server keeps open."""

    def use(self, *, create: bool = False) -> contextlib.AbstractAsyncContextManager[KnowledgeBase]:
        """The knowledge base, open until the end of the block at least."""
        ...

    async def close(self) -> None:
        """Close it, when nobody uses it any more."""
        ...


class Lease:
    """Opens a knowledge base when it is used, and closes it some time after the last use.

    An embedded graph belongs to one process at a time. An agent's client keeps its servers running all day; if this one
    kept the graph open as long, ``mgrag ingest`` and all else would be locked out. A graph on a server, or in memory,
    stays open.

    Args:
        opener: Gives a knowledge base that is not connected yet; its argument says whether a graph may be made where
            there is none.
        hold: Seconds without use after which the graph is closed. Opening it again takes as long as any command does.
    """

    def __init__(self, opener: Callable[[bool], KnowledgeBase], hold: float) -> None:
        self._opener = opener
        self._hold = hold
        self._changing = asyncio.Lock()
        self._kb: KnowledgeBase | None = None
        self._closes = False
        self._users = 0
        self._closing: asyncio.Task[None] | None = None
        self._failed = 0  # so many times it could not be opened
        self._failure: StoreUnavailableError | None = None  # why, if it was not opened since

    @contextlib.asynccontextmanager
    async def use(self, *, create: bool = False) -> AsyncIterator[KnowledgeBase]:
        """The knowledge base, open until the end of the block at least; several may use it at once.

        Args:
            create: Whether a graph may be made where there is none.

        Raises:
            StoreError: if the graph cannot be opened. Whoever came while one call waited for a graph that is in use
                (or for a server) is told the same, instead of waiting as long again.
            NotFoundError: if there is none, and it may not be made.
        """
        before = self._failed
        async with self._changing:
            if self._closing is not None:
                self._closing.cancel()  # it waits: whoever closes has the lock
                self._closing = None
            if self._kb is None:
                if self._failure is not None and self._failed > before:
                    raise self._failure
                self._kb = await self._open(create)
            kb = self._kb
            self._users += 1
        try:
            yield kb
        finally:
            self._users -= 1
            if not self._users and self._closes:
                self._closing = asyncio.create_task(self._close_later())

    async def close(self) -> None:
        """Close the graph now."""
        async with self._changing:
            if self._closing is not None:
                self._closing.cancel()
                self._closing = None
            await self._close()

    async def _open(self, create: bool) -> KnowledgeBase:
        try:
            kb = await self._opener(create).__aenter__()
        except StoreUnavailableError as error:
            self._failed += 1
            self._failure = error
            raise
        self._failure = None
        graph = (await kb.client.connect()).capabilities
        self._closes = not graph.shared and graph.location != _IN_MEMORY
        return kb

    async def _close_later(self) -> None:
        await asyncio.sleep(self._hold)
        async with self._changing:
            if self._users:
                return
            self._closing = None
            try:
                await self._close()
            except MGRagError as error:
                # What was committed is in the log; the next use opens the graph again, or says why it cannot.
                _logger.warning("%s", error)

    async def _close(self) -> None:
        kb, self._kb = self._kb, None
        if kb is not None:
            await kb.close()
