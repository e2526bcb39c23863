"""A server, and a proxy in front of it."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from tests.servers.proxy import BoltProxy

from dbhandler.kit import BOLT_URI, Engine, bolt_engine
from faults.kit import clean


@pytest.fixture(autouse=True)
def bare_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """No test sees the database of whoever runs it."""
    for name in ("MEMGRAPH_URI", "MEMGRAPH_USERNAME", "MEMGRAPH_PASSWORD", "MEMGRAPH_DATABASE", "MGRAG_NAMESPACE"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
async def engine() -> AsyncIterator[Engine]:
    """The server that the tests were told about."""
    if not BOLT_URI:
        pytest.skip("MGRAG_TEST_BOLT_URI names no server")
    server = bolt_engine()
    yield server
    await clean(server)


@pytest.fixture
async def proxy(engine: Engine) -> AsyncIterator[BoltProxy]:
    """A line to it that can be broken."""
    async with BoltProxy(engine.uri) as opened:
        yield opened
