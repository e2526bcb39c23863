"""What holds for all tests: with MGRAG_TEST_REQUIRE_BOLT=1, a test that needs a server fails where it is skipped."""

from __future__ import annotations

import os
from collections.abc import Generator

import pytest

REQUIRED = os.environ.get("MGRAG_TEST_REQUIRE_BOLT", "") not in {"", "0"}


def pytest_configure(config: pytest.Config) -> None:
    """Refuse to run without a server where one is required."""
    if REQUIRED and not os.environ.get("MGRAG_TEST_BOLT_URI"):
        raise pytest.UsageError("MGRAG_TEST_REQUIRE_BOLT is set, but MGRAG_TEST_BOLT_URI names no server.")


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
