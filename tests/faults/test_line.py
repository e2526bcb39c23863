"""The line between client and server breaks, stalls, or is refused."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import AsyncIterator

import pytest

from core.rag.dbhandler.bolt import defining
from core.rag.dbhandler.store import Transaction
from core.rag.errors import StoreError, StoreTimeoutError, StoreUnavailableError
from core.rag.schema import VectorIndex, check_name
from tests.dbhandler.kit import Corner, Engine
from tests.faults.kit import DEADLINE, assert_found, assert_sound, documents, knowledge, reported
from tests.servers.proxy import BoltProxy, CommitMoment

pytestmark = pytest.mark.bolt

MERGE = "MERGE (n:Document {id: $id}) SET n.namespace = $namespace, n.title = $title"


@pytest.fixture
async def through(engine: Engine, proxy: BoltProxy) -> AsyncIterator[Corner]:
    """A namespace behind the proxy."""
    store = await Engine(proxy.uri, engine.username, engine.password).open(MGRAG_RETRY_DEADLINE=DEADLINE)
    await store.ensure_schema()
    corner = Corner(engine, store)
    yield corner
    proxy.clear()
    await store.close()


async def write(corner: Corner, name: str, title: str = "x") -> int:
    """Write a node; how many attempts that took."""
    attempts = 0

    async def work(tx: Transaction) -> None:
        nonlocal attempts
        attempts += 1
        await tx.run(MERGE, {"id": corner.id(name), "namespace": corner.namespace, "title": title})

    await corner.store.transaction(work)
    return attempts


async def stored(engine: Engine, corner: Corner) -> list[str]:
    """What is in the graph, asked on another line."""
    store = await engine.open()
    try:
        other = Corner(engine, store)
        other.namespace = corner.namespace
        return await other.stored()
    finally:
        await store.close()


@pytest.mark.fault("A connection is cut during a commit")
@pytest.mark.parametrize("moment", ["before", "during", "answered", "after"])
async def test_a_cut_around_a_commit(engine: Engine, proxy: BoltProxy, through: Corner, moment: CommitMoment) -> None:
    """The whole transaction is repeated; everything that was acknowledged is stored exactly once."""
    cut = proxy.cut_on_commit(moment)
    assert await write(through, "a") == (1 if moment == "after" else 2)
    await cut.wait()
    assert await stored(engine, through) == ["a"]
    await write(through, "b")
    assert await through.stored() == ["a", "b"]


@pytest.mark.fault("A connection is cut during one of the commits of an ingest")
@pytest.mark.parametrize("moment", ["before", "during", "answered", "after"])
async def test_a_cut_in_the_middle_of_an_ingest(engine: Engine, proxy: BoltProxy, moment: CommitMoment) -> None:
    """Every document is stored exactly once, with its chunks and vectors; an interrupted update is complete, too."""
    namespace = engine.namespace()
    first, second = documents(12), documents(12, version=2)
    async with knowledge(engine, namespace, proxy.uri) as kb:
        cuts = [proxy.cut_on_commit(moment, nth) for nth in (2, 3)]
        report = await kb.ingest(first)
        assert reported(report, first) == first
        await assert_sound(kb.client, first)
        if not all(cut.fired for cut in cuts):  # few commits are enough
            proxy.clear()
        proxy.cut_on_commit(moment)
        report = await kb.ingest(second)
        assert report.documents.failed == []
        await assert_sound(kb.client, second)
        await assert_found(kb, second[:3])
    assert proxy.accepted > 1


@pytest.mark.fault("Connections are cut again and again, at random moments")
async def test_cuts_at_any_moment(engine: Engine, proxy: BoltProxy) -> None:
    """The ingest completes as if nothing had happened."""
    namespace = engine.namespace()
    given = documents(20)
    chosen = random.Random(7)
    async with knowledge(engine, namespace, proxy.uri) as kb:
        cuts = [
            *(proxy.cut_after(chosen.randrange(1_000, 60_000), "to_server") for _ in range(5)),
            *(proxy.cut_after(chosen.randrange(200, 4_000), "to_client") for _ in range(5)),
        ]
        report = await kb.ingest(given)
        assert sum(cut.fired for cut in cuts) >= 5
        proxy.clear()
        assert report.documents.failed == []
        await assert_sound(kb.client, given)


@pytest.mark.fault(
    "The server is unreachable for a while during an ingest: all connections are cut, and new ones are refused"
)
async def test_a_server_that_is_gone_for_a_while(engine: Engine, proxy: BoltProxy) -> None:
    """The ingest waits for the server and completes."""
    namespace = engine.namespace()
    given = documents(12)
    async with knowledge(engine, namespace, proxy.uri) as kb:
        before = proxy.commits
        ingesting = asyncio.create_task(kb.ingest(given))
        while proxy.commits == before and not ingesting.done():
            await asyncio.sleep(0.005)
        await proxy.refuse()
        proxy.cut_all()
        assert not ingesting.done()
        await asyncio.sleep(1.0)
        await proxy.accept()
        report = await ingesting
        assert report.documents.failed == []
        await assert_sound(kb.client, given)


@pytest.mark.fault("A connection is cut while an index is made that nobody waits long for")
async def test_an_index_waits_for_the_server_longer_than_for_others(
    engine: Engine, proxy: BoltProxy, through: Corner, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who does not wait for writers in the way still waits for the server."""
    monkeypatch.setattr(defining, "_FIRST_SECONDS", 0.0)
    index = VectorIndex("waits", check_name(f"Vector_{through.namespace.replace('-', '_')}"), 4)
    cut = proxy.cut_on(b"CREATE VECTOR INDEX")
    assert await through.store.ensure_vector_index(index, patient=False)
    assert cut.fired
    await through.store.drop_vector_index(index)


@pytest.mark.fault("The server is unreachable for longer than the deadline")
async def test_a_server_that_does_not_come_back(engine: Engine, proxy: BoltProxy) -> None:
    """There is one clear error after the deadline; the same client works again once the server is back."""
    store = await Engine(proxy.uri, engine.username, engine.password).open(MGRAG_RETRY_DEADLINE=0.5)
    corner = Corner(engine, store)
    await store.ensure_schema()
    await write(corner, "a")
    await proxy.refuse()
    proxy.cut_all()
    for _ in range(2):
        with pytest.raises(StoreUnavailableError, match="Nothing listens"):
            await write(corner, "b")
    with pytest.raises(StoreUnavailableError):
        await corner.stored()
    await proxy.accept()
    await write(corner, "c")
    assert await corner.stored() == ["a", "c"]
    await store.close()


@pytest.mark.fault("A query is never answered")
@pytest.mark.parametrize("direction", ["to_server", "to_client"])
async def test_a_query_that_is_never_answered(engine: Engine, proxy: BoltProxy, direction: str) -> None:
    """There is one error after the time limit, and nothing is repeated; the client can be used again at once."""
    store = await Engine(proxy.uri, engine.username, engine.password).open(MGRAG_QUERY_TIMEOUT=1.0)
    corner = Corner(engine, store)
    await store.ensure_schema()
    await write(corner, "a")
    proxy.stall(direction)  # type: ignore[arg-type]
    started, lines = time.monotonic(), proxy.accepted
    with pytest.raises(StoreTimeoutError, match="MGRAG_QUERY_TIMEOUT"):
        await corner.stored()
    assert time.monotonic() - started < 10
    assert proxy.accepted == lines  # the line is given up, so that a repetition would need a new one
    with pytest.raises(StoreError):
        await write(corner, "b")
    proxy.resume()
    await write(corner, "c")
    assert "c" in await corner.stored()
    await store.close()


@pytest.mark.fault("The connection pool is exhausted")
async def test_an_exhausted_pool(engine: Engine) -> None:
    """The wait is limited, and the error names the setting; the client works again once a connection is free."""
    from core.rag.dbhandler.store import open_store
    from tests.dbhandler.kit import make_settings

    async def opened(**patience: float) -> Corner:
        store = await open_store(
            engine.uri,
            username=engine.username,
            password=engine.password,
            max_connection_pool_size=2,
            settings=make_settings(**patience),
        )
        await store.ensure_schema()
        return Corner(engine, store)

    corner = await opened(MGRAG_QUERY_TIMEOUT=1.0, MGRAG_CONNECT_TIMEOUT=1.0)
    store = corner.store
    inside, leave = asyncio.Semaphore(0), asyncio.Event()

    async def hold(tx: Transaction) -> None:
        await tx.run("RETURN 1 AS one")
        inside.release()
        await leave.wait()

    holders = [asyncio.create_task(store.transaction(hold)) for _ in range(2)]
    for _ in holders:
        await inside.acquire()
    with pytest.raises(StoreUnavailableError, match="max_connection_pool_size"):
        await corner.stored()
    leave.set()
    await asyncio.gather(*holders)
    assert await corner.stored() == []
    await store.close()
    # Many more tasks than connections only wait for each other.
    corner = await opened()
    await asyncio.gather(*(write(corner, f"n{number}") for number in range(20)))
    assert len(await corner.stored()) == 20
    await corner.store.close()


@pytest.mark.fault("A slow connection: every answer is delayed")
async def test_a_slow_line(engine: Engine, proxy: BoltProxy) -> None:
    """Everything is stored; it only takes longer."""
    given = documents(3)
    async with knowledge(engine, engine.namespace(), proxy.uri) as kb:
        proxy.delay(0.05)
        report = await kb.ingest(given)
        assert report.documents.failed == []
        proxy.delay(0)
        await assert_sound(kb.client, given)


@pytest.mark.fault("A task is cancelled during a query, a write, or a commit")
async def test_cancellation_leaks_no_connection(engine: Engine, proxy: BoltProxy) -> None:
    """Either everything is stored or nothing, and no connection leaks from the pool."""
    from core.rag.dbhandler.store import open_store
    from tests.dbhandler.kit import make_settings

    store = await open_store(
        proxy.uri,
        username=engine.username,
        password=engine.password,
        max_connection_pool_size=3,
        settings=make_settings(MGRAG_RETRY_DEADLINE=DEADLINE),
    )
    corner = Corner(engine, store)
    await store.ensure_schema()
    for turns in range(0, 40, 2):
        tasks = [asyncio.create_task(write(corner, f"n{turns}")), asyncio.create_task(corner.stored())]
        for _ in range(turns):
            await asyncio.sleep(0)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    await asyncio.gather(*(write(corner, f"after{number}") for number in range(6)))
    assert {f"after{number}" for number in range(6)} <= set(await corner.stored())
    assert proxy.connections <= 3
    await store.close()
