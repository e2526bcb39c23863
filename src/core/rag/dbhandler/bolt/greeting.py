"""The first contact with a server: whether it can be reached, and what it is."""

from __future__ import annotations

import time
from contextlib import suppress
from typing import TYPE_CHECKING

from core.rag.dbhandler.bolt.errors import failure, not_a_cluster, other_database, wrong_product, wrongly_forced
from core.rag.dbhandler.bolt.memgraph import MemgraphDialect
from core.rag.dbhandler.bolt.neo4j import Neo4jDialect
from core.rag.dbhandler.bolt.work import GRACE_SECONDS, RetryableError, answered, attempts, cancellable
from core.rag.errors import ConfigurationError, QueryError, StoreTimeoutError, StoreUnavailableError

if TYPE_CHECKING:
    from core.rag.dbhandler.bolt.address import Address
    from core.rag.dbhandler.bolt.dialect import Dialect, Runner
    from core.rag.dbhandler.bolt.drivers import Drivers


async def greet(drivers: Drivers, seconds: float) -> str:
    """Connect, and return what the server identifies itself as, such as ``Neo4j/5.26.0``.

    Args:
        drivers: Lose the notification filter if the server does not know it.
        seconds: Time to connect.

    Raises:
        ConfigurationError: if the address or the settings of the driver do not fit the server.
        StoreUnavailableError: if it cannot be reached in this time, or routing is asked for and it is no cluster.
        StoreAuthError: if it refuses the user or the password.
    """
    started = time.monotonic()
    try:
        return await _agent(drivers, seconds)
    except RetryableError as error:
        failed = error.failed.error
        # Servers before Bolt 5.2 cannot filter notifications.
        about_remarks = isinstance(failed, ConfigurationError) and "otification" in str(failed)
        if about_remarks and await drivers.without_notification_filter():
            return await greet(drivers, seconds)
        in_time = time.monotonic() - started < seconds / 2
        if drivers.address.routed and in_time and type(failed) is StoreUnavailableError:
            await _ask_without_routing(drivers, seconds)
        raise failed from failed.__cause__


async def recognise(runner: Runner, agent: str, address: Address, forced: str | None) -> Dialect:
    """Return the dialect of a server.

    Args:
        runner: Runs the statements that ask the server what it can do.
        agent: What it identifies itself as.
        address: Where it is, for messages.
        forced: ``memgraph`` or ``neo4j``, whatever it identifies itself as.

    Raises:
        ConfigurationError: if it is a server of another kind, or not the one that is forced.
    """
    recognised = _engine(agent)
    engine = forced or recognised
    if not engine:
        raise wrong_product(agent, address)
    try:
        return await (MemgraphDialect.learn(runner) if engine == "memgraph" else Neo4jDialect.learn(runner, agent))
    except QueryError as error:
        if forced and forced != recognised:
            raise wrongly_forced(forced, agent, address) from error
        raise


async def check_database(drivers: Drivers, seconds: float) -> None:
    """Find out whether the server uses the database of the address, if that names one.

    Memgraph without a licence has one database, and uses that whatever name is asked for.

    Raises:
        ConfigurationError: if it uses another.
    """
    if drivers.address.database is None:
        return

    async def ask() -> str | None:
        async with drivers.session(reading=True) as session:

            async def send() -> str | None:
                return (await (await session.run("RETURN 1 AS one")).consume()).database

            return await answered(cancellable(session, send()), "Connecting", seconds, drivers.address)

    used = await attempts(ask, seconds)
    if used and used != drivers.address.database:
        raise other_database(used, drivers.address)


async def _ask_without_routing(drivers: Drivers, seconds: float) -> None:
    """Find out whether routing failed because the server is reachable but not a cluster.

    Raises:
        StoreUnavailableError: if that is the reason.
    """
    direct = drivers.at(drivers.address.without_routing())
    try:
        with suppress(RetryableError):
            await _agent(direct, seconds)
            raise not_a_cluster(drivers.address)
    finally:
        await direct.close()


async def _agent(drivers: Drivers, seconds: float) -> str:
    driver = await drivers.driver()
    # The driver enforces the limit itself; if it were cancelled, it would leave a socket open.
    try:
        return (await answered(driver.get_server_info(), "Connecting", seconds + GRACE_SECONDS, drivers.address)).agent
    except RetryableError as error:
        if not isinstance(error.failed.error, StoreTimeoutError):
            raise
        # On a busy machine the driver comes too late with its own error: this is a connection, and no query.
        raise RetryableError(failure(TimeoutError(), "Connecting", drivers.address)) from error


def _engine(agent: str) -> str:
    """Return ``memgraph``, ``neo4j`` or an empty string, by how a server identifies itself."""
    if "memgraph" in agent.lower():
        return "memgraph"
    version = agent.removeprefix("Neo4j/")
    return "neo4j" if version != agent and version[:1].isdigit() else ""
