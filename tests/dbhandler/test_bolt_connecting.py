"""Connecting to what is no server, or not the right one: one clear error, at once."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import pytest

from core.rag.dbhandler.bolt import greeting
from core.rag.dbhandler.store import GraphStore, open_store
from core.rag.errors import ConfigurationError, StoreAuthError, StoreUnavailableError
from tests.dbhandler.kit import bolt_engine, make_settings
from tests.servers.ports import HOST, free_port

SECRET = "correct-horse-battery"

type Handler = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@asynccontextmanager
async def service(answer: bytes | None) -> AsyncIterator[int]:
    """A service that gives one answer to whatever it hears and closes, or (``None``) never says a word."""
    connections: list[asyncio.StreamWriter] = []

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connections.append(writer)
        await reader.read(20)
        if answer is not None:
            writer.write(answer)
            writer.close()

    server = await asyncio.start_server(handle, HOST, 0)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()
        for writer in connections:
            writer.close()
        await asyncio.sleep(0)


async def connect(uri: str, **settings: object) -> GraphStore:
    return await open_store(
        uri, username="somebody", password=SECRET, settings=make_settings(MGRAG_CONNECT_TIMEOUT=1.0, **settings)
    )


@pytest.mark.parametrize("scheme", ["bolt", "neo4j", "bolt+s", "bolt+ssc", "neo4j+s"])
async def test_where_nothing_listens(scheme: str) -> None:
    with pytest.raises(StoreUnavailableError, match="Nothing listens") as caught:
        await connect(f"{scheme}://{HOST}:{free_port()}")
    assert caught.value.__cause__ is not None


async def test_a_host_that_is_not_known() -> None:
    with pytest.raises(StoreUnavailableError, match="not known"):
        await connect("bolt://no-such-host.invalid")


@pytest.mark.parametrize("scheme", ["bolt", "neo4j", "bolt+ssc"])
async def test_a_service_that_never_answers(scheme: str) -> None:
    async with service(None) as port:
        started = time.monotonic()
        with pytest.raises(StoreUnavailableError, match="does not answer"):
            await connect(f"{scheme}://{HOST}:{port}")
        assert time.monotonic() - started < 5


async def test_a_connection_that_the_driver_gives_up_too_late(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a machine that is busy: it is a connection that failed, not a query that asked for too much."""
    monkeypatch.setattr(greeting, "GRACE_SECONDS", -0.9)
    async with service(None) as port:
        with pytest.raises(StoreUnavailableError, match=r"does not answer.*MGRAG_CONNECT_TIMEOUT"):
            await connect(f"bolt://{HOST}:{port}")


@pytest.mark.parametrize("scheme", ["bolt", "neo4j"])
@pytest.mark.parametrize(
    ("answer", "advice"),
    [
        (b"HTTP/1.1 400 Bad Request\r\n\r\n", "7687"),
        (b"", "TLS"),
        (b"SSH-2.0-OpenSSH_9.9\r\n", "another service"),
        (b"-ERR unknown command\r\n", "another service"),
        (bytes(4), "too old"),
    ],
    ids=["http", "silence", "ssh", "redis", "no common version"],
)
async def test_another_service(scheme: str, answer: bytes, advice: str) -> None:
    async with service(answer) as port:
        with pytest.raises((StoreUnavailableError, ConfigurationError), match=advice) as caught:
            await connect(f"{scheme}://{HOST}:{port}")
    assert SECRET not in str(caught.value)


async def test_a_failed_connection_is_not_logged_to_the_screen(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(StoreUnavailableError):
        await connect(f"neo4j://{HOST}:{free_port()}")
    assert capfd.readouterr().err == ""


@pytest.mark.bolt
async def test_a_wrong_password_and_none() -> None:
    engine = bolt_engine()
    if not engine.username:
        return  # this server lets everybody in
    settings = make_settings()
    with pytest.raises(StoreAuthError, match="MEMGRAPH_PASSWORD") as caught:
        await open_store(engine.uri, username=engine.username, password=SECRET, settings=settings)
    assert SECRET not in str(caught.value)
    with pytest.raises(StoreAuthError, match="wants a user"):
        await open_store(engine.uri, username="", settings=settings)
    await (await engine.open()).close()  # after three wrong ones in a row, a Neo4j refuses everybody for a while


@pytest.mark.bolt
@pytest.mark.parametrize("scheme", ["bolt+s", "bolt+ssc", "neo4j+s"])
async def test_tls_to_a_server_that_has_none(scheme: str) -> None:
    engine = bolt_engine()
    if not engine.uri.startswith("bolt://"):
        return  # it has
    with pytest.raises(StoreUnavailableError, match="TLS"):
        await connect(engine.uri.replace("bolt", scheme, 1))


@pytest.mark.bolt
async def test_routing() -> None:
    """A Neo4j has it, alone or not; a single Memgraph does not, and the way without is named."""
    engine = bolt_engine()
    settings = make_settings()
    direct = await engine.open()
    uri = engine.uri.replace("bolt", "neo4j", 1)
    if direct.capabilities.engine == "memgraph":
        with pytest.raises(StoreUnavailableError, match="use bolt"):
            await open_store(uri, username=engine.username, password=engine.password, settings=settings)
    else:
        store = await open_store(uri, username=engine.username, password=engine.password, settings=settings)
        assert await store.run("RETURN 1 AS one") == [{"one": 1}]
        await store.close()
    await direct.close()


@pytest.mark.bolt
async def test_a_database_that_is_not_there() -> None:
    engine = bolt_engine()
    direct = await engine.open()
    if direct.capabilities.engine == "memgraph":  # without a licence it takes any name, and uses its only database
        with pytest.raises(ConfigurationError, match=r"'no-such-database'.*it uses 'memgraph'.*MGRAG_NAMESPACE"):
            await engine.open(MEMGRAPH_DATABASE="no-such-database")
        named = await engine.open(MEMGRAPH_DATABASE="memgraph")
        assert await named.run("RETURN 1 AS one") == [{"one": 1}]
        await named.close()
    else:
        with pytest.raises(StoreUnavailableError, match="no-such-database"):
            await engine.open(MEMGRAPH_DATABASE="no-such-database")
        administration = await engine.open(MEMGRAPH_DATABASE="system")
        with pytest.raises(ConfigurationError, match=r"'system'.*holds no graph.*MEMGRAPH_DATABASE"):
            await administration.ensure_schema()
        await administration.close()
    await direct.close()


@pytest.mark.bolt
async def test_a_server_of_another_kind_is_refused_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    async def agent(*_: object) -> str:
        return "OtherGraph/7.1"

    engine = bolt_engine()
    direct = await engine.open()
    kind = direct.capabilities.engine
    await direct.close()
    monkeypatch.setattr("core.rag.dbhandler.bolt.store.greet", agent)
    with pytest.raises(ConfigurationError, match=r"OtherGraph/7.1.*MGRAG_FORCE_ENGINE"):
        await engine.open()
    forced = await engine.open(MGRAG_FORCE_ENGINE=kind)
    assert forced.capabilities.engine == kind
    await forced.close()
    if kind == "neo4j":
        with pytest.raises(ConfigurationError, match=r"says memgraph, but .*OtherGraph/7.1.*MGRAG_FORCE_ENGINE"):
            await engine.open(MGRAG_FORCE_ENGINE="memgraph")


@pytest.mark.bolt
async def test_passwords_stay_out_of_the_log(caplog: pytest.LogCaptureFixture) -> None:
    engine = bolt_engine()
    with caplog.at_level(logging.DEBUG):
        store = await engine.open()
        await store.run("RETURN 1 AS one")
        await store.close()
    assert caplog.records
    if engine.password:
        assert engine.password not in caplog.text
        assert engine.password not in repr(vars(store))
