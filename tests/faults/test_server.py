"""The server itself dies, comes back, or has not enough memory. It is one of our own, so that it can be killed."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator

import pytest

from core.rag.dbhandler.store import Transaction
from core.rag.errors import StoreFullError, StoreUnavailableError
from tests.dbhandler.kit import Corner, Engine
from tests.faults.kit import DEADLINE, assert_found, assert_sound, documents, knowledge
from tests.servers.neo4j import Neo4jServer
from tests.servers.proxy import BoltProxy

pytestmark = pytest.mark.java


@pytest.fixture(scope="module")
def server() -> Iterator[Neo4jServer]:
    """A server with little memory for a transaction."""
    with Neo4jServer(settings={"db.memory.transaction.max": "24m"}) as opened:
        yield opened


@pytest.fixture
async def own(server: Neo4jServer) -> AsyncIterator[Engine]:
    await asyncio.to_thread(server.start)
    yield Engine(server.uri, server.user, server.password)


@pytest.mark.fault("The server is killed (SIGKILL) or stopped during an ingest, and started again")
@pytest.mark.parametrize("end", ["kill", "stop"])
async def test_a_server_that_ends_in_the_middle_of_an_ingest(own: Engine, server: Neo4jServer, end: str) -> None:
    """The ingest waits and completes; nothing is lost or duplicated, and the indexes are complete."""
    given = documents(30)
    async with (
        BoltProxy(own.uri) as proxy,
        knowledge(own, own.namespace(), proxy.uri, MGRAG_RETRY_DEADLINE=10 * DEADLINE) as kb,
    ):
        before = proxy.commits
        ingesting = asyncio.create_task(kb.ingest(given))
        while proxy.commits == before and not ingesting.done():
            await asyncio.sleep(0.001)
        await asyncio.to_thread(getattr(server, end))
        assert not ingesting.done()
        await asyncio.to_thread(server.start)
        report = await ingesting
        assert report.documents.failed == []
        await assert_sound(kb.client, given)
        await assert_found(kb, given[::10])
        store = await kb.client.connect()
        assert await store.check_indexes() == []


@pytest.mark.fault("The server is stopped while the client is idle")
async def test_a_server_that_is_stopped_and_started_between_two_calls(own: Engine, server: Neo4jServer) -> None:
    """There is an error while the server is down; the same client works again once it is back."""
    store = await own.open(MGRAG_RETRY_DEADLINE=0.5)
    await store.ensure_schema()
    corner = Corner(own, store)
    await corner.put("a")
    await asyncio.to_thread(server.stop)
    with pytest.raises(StoreUnavailableError):
        await corner.stored()
    await asyncio.to_thread(server.start)
    await corner.put("b")
    assert await corner.stored() == ["a", "b"]
    await store.close()


@pytest.mark.fault("A transaction is larger than the server accepts")
async def test_a_transaction_that_is_too_large(own: Engine) -> None:
    """There is one error that says so; nothing is repeated or stored, and smaller transactions work."""
    store = await own.open(MGRAG_RETRY_DEADLINE=DEADLINE)
    await store.ensure_schema()
    corner = Corner(own, store)
    times = 0

    async def work(tx: Transaction) -> None:
        nonlocal times
        times += 1
        for part in range(40):
            rows = [
                {"id": corner.id(f"n{part}-{i}"), "props": {"namespace": corner.namespace, "content": "x" * 1000}}
                for i in range(1000)
            ]
            await tx.run("UNWIND $rows AS row MERGE (n:Document {id: row.id}) SET n += row.props", {"rows": rows})

    with pytest.raises(StoreFullError, match="memory"):
        await store.transaction(work)
    assert times == 1
    assert await corner.stored() == []
    await corner.put("small")
    assert await corner.stored() == ["small"]
    await store.close()
