"""A pytest plugin that shows a server every statement that the embedded engine was given by the tests of this run.

`pytest -p tests.statements` with MGRAG_TEST_BOLT_URI: each is explained, not run, so that none is in a dialect that the
server does not know. The run fails if one is.
"""

from __future__ import annotations

import asyncio
import re
from typing import Any

import pytest

from dbhandler.kit import BOLT_URI, bolt_engine

# What belongs to the dialect of the embedded engine alone.
_DIALECT = re.compile(r"cosine_similarity|^CREATE (CONSTRAINT|INDEX)|grafeo\.|shortestPath")
_DIGEST = re.compile(r"_[0-9a-f]{12}\b")

_statements: dict[str, tuple[str, list[str]]] = {}
_refused: list[str] = []


def pytest_configure(config: pytest.Config) -> None:
    """Listen to the embedded engine."""
    from core.rag.dbhandler import grafeo_engine

    if not BOLT_URI:
        raise pytest.UsageError("MGRAG_TEST_BOLT_URI names no server to show the statements to.")
    rows = grafeo_engine.rows

    def listening(runner: Any, statement: str, parameters: Any) -> Any:
        found = rows(runner, statement, parameters)  # only statements that it has accepted
        if not _DIALECT.search(statement):
            _statements.setdefault(_DIGEST.sub("_x", statement), (statement, sorted(parameters or {})))
        return found

    grafeo_engine.rows = listening


def pytest_testnodedown(node: Any) -> None:
    """Take over what a process of pytest-xdist has heard."""
    _statements.update(getattr(node, "workeroutput", {}).get("statements", {}))


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """Have all of them explained, by the process that the others report to."""
    output = getattr(session.config, "workeroutput", None)
    if output is not None:
        output["statements"] = _statements
        return
    _refused.extend(asyncio.run(_explain()))
    if _refused and exitstatus == 0:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say how many there were, and which were refused."""
    terminalreporter.write_line(f"{len(_statements)} statements explained by the server, {len(_refused)} refused")
    for refused in _refused:
        terminalreporter.write_line(refused, red=True)


async def _explain() -> list[str]:
    from neo4j import AsyncGraphDatabase
    from neo4j.exceptions import Neo4jError

    engine = bolt_engine()
    auth = (engine.username, engine.password or "") if engine.username else None
    refused = []
    async with (
        AsyncGraphDatabase.driver(engine.uri, auth=auth, notifications_min_severity="OFF") as driver,
        driver.session() as session,
    ):
        for statement, names in _statements.values():
            try:
                # The statement is one of this project's own; its parameters may be anything for this.
                await (await session.run(f"EXPLAIN {statement}", dict.fromkeys(names))).consume()  # type: ignore[arg-type]
            except Neo4jError as error:
                refused.append(f"{statement}\n    {error.message}")
    return refused
