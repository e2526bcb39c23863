"""A pytest plugin that writes a table: `pytest -p tests.faults.table --fault-table FILE tests/faults`."""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

_HEAD = """\
# Faults, and what holds after each

Written by `make faults`: each row is a test that provokes the fault on a real server, with a proxy in between that
cuts, delays and stalls. Engine: {engine}.

| Fault | What holds afterwards | Cases | Result | Seconds |
|---|---|---|---|---|
"""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--fault-table", metavar="FILE", help="write the table of faults to this Markdown file")


class _Table:
    def __init__(self) -> None:
        self.rows: dict[str, dict[str, Any]] = {}
        self.engine = "none"

    def add(self, item: pytest.Item, report: pytest.TestReport) -> None:
        marker = item.get_closest_marker("fault")
        if marker is None or (report.when != "call" and report.passed):
            return
        what = str(item.function.__doc__ or "").strip()  # type: ignore[attr-defined]
        row = self.rows.setdefault(marker.args[0], {"after": what, "cases": 0, "outcomes": set(), "seconds": 0.0})
        row["cases"] += 1
        row["outcomes"].add(report.outcome)
        row["seconds"] += report.duration

    def write(self, path: Path) -> None:
        lines = [_HEAD.format(engine=self.engine)]
        for fault, row in self.rows.items():
            outcome = "survived" if row["outcomes"] == {"passed"} else ", ".join(sorted(row["outcomes"]))
            lines.append(f"| {fault} | {row['after']} | {row['cases']} | {outcome} | {row['seconds']:.1f} |\n")
        path.write_text("".join(lines), encoding="utf-8")


_table = pytest.StashKey[_Table]()


def pytest_configure(config: pytest.Config) -> None:
    config.stash[_table] = _Table()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    item.config.stash[_table].add(item, report)
    return report


def pytest_sessionfinish(session: pytest.Session) -> None:
    path = session.config.getoption("--fault-table")
    table = session.config.stash[_table]
    if path and table.rows:
        import asyncio

        table.engine = asyncio.run(_engine())
        table.write(Path(path))


async def _engine() -> str:
    from dbhandler.kit import BOLT_URI, bolt_engine

    if not BOLT_URI:
        return "none"
    store = await bolt_engine().open()
    try:
        return f"{store.capabilities.engine} {store.capabilities.version}"
    finally:
        await store.close()
