"""A server, and a proxy in front of it."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from tests.dbhandler.kit import Engine
from tests.servers.proxy import BoltProxy

pytest.register_assert_rewrite("faults.kit")  # else a failure there does not say what was found


@pytest.fixture
def engine(server_engine: Engine) -> Engine:
    """The server that the tests were told about."""
    return server_engine


@pytest.fixture
async def proxy(engine: Engine) -> AsyncIterator[BoltProxy]:
    """A line to it that can be broken."""
    async with BoltProxy(engine.uri) as opened:
        yield opened
