"""Shows a server every statement that the embedded engine was given by the tests of a run.

Each is explained, not run, so that none is in a dialect that the server does not know. As a pytest plugin (`pytest -p
tests.statements`) it does so when the run ends, on the server that MGRAG_TEST_BOLT_URI names, and the run fails if a
statement is refused. Where there is no server yet, it puts the statements into the file that MGRAG_TEST_STATEMENTS
names, and `python -m tests.statements` shows them to one later.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from tests.dbhandler.kit import BOLT_URI, bolt_engine

#: Tests that run on the embedded engine alone; others give their statements to the server themselves.
TESTS = ("tests/maintenance", "tests/cli/test_commands.py", "tests/answering", "tests/integrations")

# What belongs to the dialect of the embedded engine alone.
_DIALECT = re.compile(r"cosine_similarity|^CREATE (CONSTRAINT|INDEX)|grafeo\.|shortestPath")
_DIGEST = re.compile(r"_[0-9a-f]{12}\b")
_FILE = os.environ.get("MGRAG_TEST_STATEMENTS", "")

_statements: dict[str, tuple[str, list[str]]] = {}
_refused: list[str] = []


def pytest_configure(config: pytest.Config) -> None:
    """Listen to the embedded engine."""
    from core.rag.dbhandler.embedded import engine as grafeo_engine

    if not BOLT_URI and not _FILE:
        raise pytest.UsageError("MGRAG_TEST_BOLT_URI names no server to show the statements to.")
    rows = grafeo_engine.rows

    def listening(runner: Any, statement: str, parameters: Any) -> Any:
        found = rows(runner, statement, parameters)  # only statements that it has accepted
        if os.environ.get("PYTEST_CURRENT_TEST", "").startswith(TESTS) and not _DIALECT.search(statement):
            _statements.setdefault(_DIGEST.sub("_x", statement), (statement, sorted(parameters or {})))
        return found

    grafeo_engine.rows = listening


def pytest_testnodedown(node: Any) -> None:
    """Take over what a process of pytest-xdist has heard."""
    _statements.update(getattr(node, "workeroutput", {}).get("statements", {}))


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """Have all of them explained, or put into the file, by the process that the others report to."""
    output = getattr(session.config, "workeroutput", None)
    if output is not None:
        output["statements"] = _statements
        return
    if not BOLT_URI:
        Path(_FILE).write_text(json.dumps([*_statements.values()]), encoding="utf-8")
        return
    _refused.extend(asyncio.run(_explain(_statements.values())))
    if _refused and exitstatus == 0:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say how many there were, and which were refused."""
    done = "explained by the server" if BOLT_URI else f"put into {_FILE}"
    terminalreporter.write_line(f"{len(_statements)} statements {done}, {len(_refused)} refused")
    for refused in _refused:
        terminalreporter.write_line(refused, red=True)


async def _explain(statements: Iterable[tuple[str, list[str]]]) -> list[str]:
    from neo4j import AsyncGraphDatabase
    from neo4j.exceptions import Neo4jError

    engine = bolt_engine()
    auth = (engine.username, engine.password or "") if engine.username else None
    refused = []
    async with (
        AsyncGraphDatabase.driver(engine.uri, auth=auth, notifications_min_severity="OFF") as driver,
        driver.session() as session,
    ):
        for statement, names in statements:
            try:
                # The statement is one of this project's own; its parameters may be anything for this.
                await (await session.run(f"EXPLAIN {statement}", dict.fromkeys(names))).consume()
            except Neo4jError as error:
                refused.append(f"{statement}\n    {error.message}")
    return refused


def main() -> None:
    """Show a server the statements of the file; with the argument ``tests``, name the tests that they are of."""
    if sys.argv[1:] == ["tests"]:
        print(*TESTS)
        return
    statements = json.loads(Path(_FILE).read_text(encoding="utf-8"))
    refused = asyncio.run(_explain(statements))
    print("\n".join([f"{len(statements)} statements explained by the server, {len(refused)} refused", *refused]))
    sys.exit(bool(refused) or not statements)


if __name__ == "__main__":
    main()
