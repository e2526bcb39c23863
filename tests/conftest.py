"""What holds for all tests: with MGRAG_TEST_REQUIRE_BOLT=1, a test that needs a server fails where it is skipped."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Generator

import pytest

from dbhandler.kit import ENGINES, Engine, bolt_engine_for_a_test, drop_vector_indexes

#: What stands on searches that are tested on the server: the statements of these are shown to it (`make test-bolt`).
EMBEDDED_ONLY = frozenset({"answering", "integrations"})

REQUIRED = os.environ.get("MGRAG_TEST_REQUIRE_BOLT", "") not in {"", "0"}


@pytest.fixture(autouse=True)
def bare_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """No test sees the database of whoever runs it."""
    for name in ("MEMGRAPH_URI", "MEMGRAPH_USERNAME", "MEMGRAPH_PASSWORD", "MEMGRAPH_DATABASE", "MGRAG_NAMESPACE"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(params=[name for name in ENGINES if name != "embedded-file"])
async def engine(request: pytest.FixtureRequest) -> AsyncIterator[Engine]:
    """Where a graph is: in memory, and on a server where there is one. What a test leaves there is removed."""
    if request.param == "bolt":
        async with bolt_engine_for_a_test() as server:
            yield server
    else:
        yield Engine("embedded::memory:")


def pytest_configure(config: pytest.Config) -> None:
    """Refuse to run without a server where one is required (tests marked java start their own)."""
    if REQUIRED and config.option.markexpr != "java" and not os.environ.get("MGRAG_TEST_BOLT_URI"):
        raise pytest.UsageError("MGRAG_TEST_REQUIRE_BOLT is set, but MGRAG_TEST_BOLT_URI names no server.")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the tests of folders that need not run on the server, to keep its run short."""
    dropped = [item for item in items if item.get_closest_marker("bolt") and item.path.parent.name in EMBEDDED_ONLY]
    if dropped:
        items[:] = [item for item in items if item not in dropped]
        config.hook.pytest_deselected(items=dropped)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Turn the skip of a test that needs a server into a failure where a server is required."""
    report = yield
    needs_server = item.get_closest_marker("bolt") is not None or item.get_closest_marker("java") is not None
    if REQUIRED and report.skipped and needs_server and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        report.longrepr = f"{item.nodeid} was skipped, but a server is required: {report.longrepr}"
    return report


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Leave a server as it was."""
    asyncio.run(drop_vector_indexes())
