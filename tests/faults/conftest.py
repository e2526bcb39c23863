"""A server, and a proxy in front of it."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from tests.servers.proxy import BoltProxy

from dbhandler.kit import BOLT_URI, Engine, bolt_engine_for_a_test

pytest.register_assert_rewrite("faults.kit")  # else a failure there does not say what was found


@pytest.fixture
async def engine() -> AsyncIterator[Engine]:
    """The server that the tests were told about."""
    if not BOLT_URI:
        pytest.skip("MGRAG_TEST_BOLT_URI names no server")
    async with bolt_engine_for_a_test() as server:
        yield server


@pytest.fixture
async def proxy(engine: Engine) -> AsyncIterator[BoltProxy]:
    """A line to it that can be broken."""
    async with BoltProxy(engine.uri) as opened:
        yield opened
