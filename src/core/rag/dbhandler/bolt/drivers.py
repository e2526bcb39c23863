"""Drivers of the neo4j package, one per event loop, because a connection belongs to the loop that opened it.

A loop may end before the store is closed (repeated ``asyncio.run``). An ending loop closes its asynchronous generators,
so each driver lives inside of one.
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib.metadata
import logging
import os
import threading
import weakref
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from core.rag.dbhandler.bolt.errors import exhausted
from core.rag.dbhandler.misuse import closed

if TYPE_CHECKING:
    from neo4j import AsyncDriver, AsyncSession

    from core.rag.dbhandler.bolt.address import Address
    from core.rag.settings import Settings

_CLOSE_SECONDS = 5.0


class Drivers:
    """The drivers of a store, one per event loop."""

    def __init__(self, address: Address, *, max_connection_pool_size: int, settings: Settings) -> None:
        """Prepare; nothing is connected yet.

        Args:
            address: The server and the login.
            max_connection_pool_size: Maximum number of connections of each loop.
            settings: The timeouts.
        """
        from neo4j import NotificationMinimumSeverity, basic_auth

        self.address = address
        self._settings = settings
        self._pool_size = max_connection_pool_size
        self._auth = None
        if address.username is not None or address.password is not None:
            self._auth = basic_auth(address.username or "", address.password or "")
        self._options: dict[str, Any] = {
            "max_connection_pool_size": max_connection_pool_size,
            "max_connection_lifetime": settings.connection_lifetime,
            "liveness_check_timeout": settings.connection_liveness,
            "connection_timeout": settings.connect_timeout,
            "connection_acquisition_timeout": settings.connect_timeout,
            "notifications_min_severity": NotificationMinimumSeverity.OFF,
            "telemetry_disabled": True,
            "user_agent": f"memgraph-rag/{_version()}",
        }
        self._guard = threading.Lock()
        self._lives: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, _Life] = weakref.WeakKeyDictionary()
        self._pid = os.getpid()
        self._closed = False
        # The driver logs every error that it also raises; unless the application has a handler, it goes to stderr.
        logging.getLogger("neo4j").addHandler(logging.NullHandler())

    async def driver(self) -> AsyncDriver:
        """Return the driver of the running loop.

        Raises:
            StoreUnavailableError: after closing.
        """
        return (await self._life()).driver

    async def _life(self) -> _Life:
        loop = asyncio.get_running_loop()
        with self._guard:
            if self._closed:
                raise closed("A connection")
            if self._pid != os.getpid():  # forked: the sockets belong to the parent
                self._pid = os.getpid()
                self._lives = weakref.WeakKeyDictionary()
            life = self._lives.get(loop)
            if life is None or life.ended:
                life = self._lives[loop] = _Life(self._make(), self._pool_size)
        await life.begin()
        return life

    @asynccontextmanager
    async def session(self, *, reading: bool) -> AsyncGenerator[AsyncSession]:
        """Open a session on the driver of the running loop; it is closed on leaving.

        Args:
            reading: Whether nothing will be written, so that a cluster may use a read-only member.

        Raises:
            StoreUnavailableError: if all connections stay in use.
        """
        from neo4j import READ_ACCESS, WRITE_ACCESS

        life = await self._life()
        # The driver would wait as well, but with an error that is the same as for a slow server.
        try:
            async with asyncio.timeout(self._settings.query_timeout):
                await life.free.acquire()
        except TimeoutError as error:
            raise exhausted(self._pool_size, self._settings.query_timeout, self.address) from error
        try:
            async with life.driver.session(
                database=self.address.database,
                default_access_mode=READ_ACCESS if reading else WRITE_ACCESS,
                fetch_size=-1,  # all rows are needed, so they are not fetched in parts
                # In a cluster, what was written through one member is visible when reading from another.
                bookmark_manager=life.driver.execute_query_bookmark_manager if self.address.routed else None,
            ) as session:
                yield session
        finally:
            life.free.release()

    def at(self, address: Address) -> Drivers:
        """Return drivers with the same settings for another address."""
        return Drivers(address, max_connection_pool_size=self._pool_size, settings=self._settings)

    async def without_notification_filter(self) -> bool:
        """Stop asking servers to filter notifications, which old servers do not understand.

        Returns:
            Whether this was requested until now, so that a retry may succeed.
        """
        before = self._options.pop("notifications_min_severity", None)
        await self._close_all()
        return before is not None

    @property
    def closed(self) -> bool:
        """Whether :meth:`close` was called."""
        return self._closed

    async def close(self) -> None:
        """Close the drivers of all loops. Safe to call twice."""
        with self._guard:
            self._closed = True
        await self._close_all()

    async def _close_all(self) -> None:
        with self._guard:
            lives, self._lives = list(self._lives.items()), weakref.WeakKeyDictionary()
        if self._pid != os.getpid():
            return  # they belong to the parent process, which still uses them
        here = asyncio.get_running_loop()
        for loop, life in lives:
            if loop is here:
                await life.end()
            elif loop.is_running():
                future = asyncio.run_coroutine_threadsafe(life.end(), loop)
                # That loop may be about to end and never run it.
                with contextlib.suppress(TimeoutError, asyncio.CancelledError):
                    await asyncio.wait_for(asyncio.wrap_future(future), _CLOSE_SECONDS)

    def _make(self) -> AsyncDriver:
        from neo4j import AsyncGraphDatabase

        return AsyncGraphDatabase.driver(self.address.uri, auth=self._auth, **self._options)


class _Life:
    """A driver that is closed with its event loop, if not before."""

    def __init__(self, driver: AsyncDriver, connections: int) -> None:
        self.driver = driver
        self.free = asyncio.Semaphore(connections)
        self.ended = False
        self._generator = self._live()
        self._begun = False

    async def begin(self) -> None:
        """Register the driver to be closed when the running loop ends."""
        if not self._begun:
            self._begun = True
            await anext(self._generator)

    async def end(self) -> None:
        """Close the driver now."""
        self._begun = True
        await self._generator.aclose()
        await self._close()  # in case the generator was not started

    async def _live(self) -> AsyncGenerator[None]:
        try:
            yield
        finally:
            await self._close()

    async def _close(self) -> None:
        self.ended = True
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_CLOSE_SECONDS):
                await self.driver.close()


def _version() -> str:
    try:
        return importlib.metadata.version("memgraph-rag")
    except importlib.metadata.PackageNotFoundError:  # run from a source tree
        return "0"
