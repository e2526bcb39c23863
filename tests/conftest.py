"""What holds for all tests: with MGRAG_TEST_REQUIRE_BOLT=1, a test that needs a server fails where it is skipped."""

from __future__ import annotations

import functools
import gc
import os
import signal
import ssl
from collections.abc import AsyncIterator, Generator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings
from hypothesis.internal.conjecture import providers

from tests.dbhandler.kit import BOLT_URI, ENGINES, Engine, bolt_engine_for_a_test, sweep_up

if TYPE_CHECKING:
    from core.rag import KnowledgeBase

#: What stands on searches that are tested on the server: of these folders, what is named runs there. The statements of
#: all are shown to it (`make test-bolt`).
ON_THE_SERVER = {
    "answering": {
        "test_computed.py",
        "test_computed_in_documents.py",
        "test_drift_ask.py",
        "test_drift_examples.py",
        "test_drift_traversal.py",
        "test_examples.py",
        "test_graph_index.py",
        "test_overview.py",
        "test_periods.py",
        "test_a_name_in_front_of_what_is_said_is_no_word_of_it",
        "test_without_a_model_the_answer_consists_of_extracts_and_says_so",
    },
    "integrations": {"test_retrievers.py"},
}
#: What takes too long there, or is decided before or after the statements, which the server is shown anyway.
NOT_ON_THE_SERVER = {
    "test_copies.py",
    "test_document_fields.py",
    "test_ingest_web.py",
    "test_recall_reasons.py",
    "test_sheet_collections.py",
    "test_spelling.py",
    "test_verses.py",
    "test_accents_are_the_same_in_any_form_of_unicode",
    "test_the_cache_is_bounded",
    "test_a_cached_traversal_equals_a_fresh_one_after_any_change",
    "test_a_question_that_is_not_surely_about_records_is_not_answered_with_a_number",
    "test_what_is_not_surely_told_by_a_table_is_not_worked_out",
}

# Nothing depends on how fast a machine is, or on luck: `make test ARGS=--hypothesis-profile=random` looks further.
settings.register_profile("always the same", deadline=None, derandomize=True, max_examples=60)
settings.register_profile("random", deadline=None, print_blob=True)
settings.load_profile("always the same")

# Examples would depend on the constants of the modules that a process has loaded by then; to collect them takes 5 s.
providers.is_local_module_file = lambda _: False  # type: ignore[assignment,attr-defined]

# Hundreds of tests open a client of HTTP, and each loads the certificates of all authorities, which takes 30 ms.
ssl.create_default_context = functools.cache(ssl.create_default_context)  # type: ignore[assignment]

# In the background of a script, Ctrl-C is ignored, also by the commands that tests start and send it to.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

REQUIRED = os.environ.get("MGRAG_TEST_REQUIRE_BOLT", "") not in {"", "0"}


@pytest.fixture(autouse=True)
def bare_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """No test sees the database of whoever runs it."""
    for name in ("MEMGRAPH_URI", "MEMGRAPH_USERNAME", "MEMGRAPH_PASSWORD", "MEMGRAPH_DATABASE", "MGRAG_NAMESPACE"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(params=[name for name in ENGINES if name != "embedded-file"])
def engine(request: pytest.FixtureRequest) -> Iterator[Engine]:
    """Where a graph is: in memory, and on a server where there is one. What a test leaves there is removed."""
    if request.param == "bolt":
        with bolt_engine_for_a_test() as server:
            yield server
    else:
        yield Engine("embedded::memory:")


@pytest.fixture
def server_engine() -> Iterator[Engine]:
    """A graph on the server that the tests were told about, for those that are about servers."""
    if not BOLT_URI:
        pytest.skip("MGRAG_TEST_BOLT_URI names no server")
    with bolt_engine_for_a_test() as server:
        yield server


@pytest.fixture
async def kb(engine: Engine) -> AsyncIterator[KnowledgeBase]:
    """An empty knowledge base. Files whose tests all begin with the same documents have one of their own."""
    async with engine.knowledge() as opened:
        yield opened


def pytest_configure(config: pytest.Config) -> None:
    """Refuse to run without a server where one is required (tests marked java start their own)."""
    if REQUIRED and config.option.markexpr != "java" and not os.environ.get("MGRAG_TEST_BOLT_URI"):
        raise pytest.UsageError("MGRAG_TEST_REQUIRE_BOLT is set, but MGRAG_TEST_BOLT_URI names no server.")


def pytest_sessionstart() -> None:
    """Nothing that is made while tests are collected is garbage: looking for some took a tenth of that time."""
    gc.disable()
    _stay_on_one_processor()


def pytest_collection_finish() -> None:
    """Look for garbage again, but not among what has been collected."""
    gc.freeze()
    gc.enable()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """Two processes for each processor: tests wait for disks, clocks and others a fourth of their time."""
    return 2 * (os.cpu_count() or 1)


def _stay_on_one_processor() -> None:
    """Keep a process of pytest-xdist, and those that it starts, on one processor.

    Each statement on an embedded graph goes to a thread and back, one of the two always waiting for the other. Where
    these are on two processors, tests take a fourth longer. With a server there are other processes to wait for.
    """
    worker = os.environ.get("PYTEST_XDIST_WORKER", "").removeprefix("gw")
    is_with_server = BOLT_URI or os.environ.get("MGRAG_TEST_REQUIRE_BOLT")
    if worker and not is_with_server and hasattr(os, "sched_setaffinity"):
        processors = sorted(os.sched_getaffinity(0))
        os.sched_setaffinity(0, {processors[int(worker) % len(processors)]})


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Do not import all files for the few that start servers of their own: they name the mark themselves."""
    if config.option.markexpr == "java" and collection_path.name.startswith("test_"):
        return "mark.java" not in collection_path.read_text(encoding="utf-8") or None
    return None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out tests that need not run on the server, to keep its run short."""
    dropped = [item for item in items if item.get_closest_marker("bolt") and not _on_the_server(item)]
    if dropped:
        items[:] = [item for item in items if item not in dropped]
        config.hook.pytest_deselected(items=dropped)


def _on_the_server(item: pytest.Item) -> bool:
    names = {item.path.name, item.name.partition("[")[0]}
    wanted = ON_THE_SERVER.get(item.path.parent.name)
    return names.isdisjoint(NOT_ON_THE_SERVER) and (wanted is None or not wanted.isdisjoint(names))


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
    sweep_up()
