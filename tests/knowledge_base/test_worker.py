"""A large ingest cuts and embeds in a second process: the graph is the same, whatever happens to that process."""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from core.rag import KnowledgeBase, MemGraphClient
from core.rag.dbhandler.checks import MAX_PATH_CHARS
from core.rag.embedder import open_embedder
from core.rag.indexing import TextSplitter, run, workbench
from core.rag.indexing.worker_process import WorkerGoneError, WorkerProcess
from libs.dataloader import Document, DocumentLoader
from libs.dataloader.formats import FORMATS
from libs.dataloader.formats.registry import find_format
from tests.dbhandler.kit import PATIENCE_SECONDS, make_settings
from tests.graphs import orphans, snapshot
from tests.samples import samples

BATCH = 32
DOCUMENTS = 170
FIRST = 2 * BATCH  # which let the second process be started


def documents() -> list[Document]:
    """Documents that name one another, those that come later too."""
    return [
        Document(
            path=f"mills/{number}",
            title=f"Mill {number}",
            content=f"The Mill {(number * 7) % DOCUMENTS} is near Ferté, and {number} is on the Marne. " * 3,
        )
        for number in range(DOCUMENTS)
    ]


class Started:
    """The processes that were started, and how far that got."""

    def __init__(self) -> None:
        self.processes: list[WorkerProcess] = []
        self.decided = asyncio.Event()
        self.moved = asyncio.Event()


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> Started:
    seen = Started()
    start = WorkerProcess.start

    def noted() -> WorkerProcess:
        process = start()
        seen.processes.append(process)
        return process

    def note(record: logging.LogRecord) -> bool:
        message = record.getMessage()
        if "second process cuts" in message:
            seen.moved.set()
        elif "second process is up" in message or "One process does all" in message:
            seen.decided.set()
        return True

    monkeypatch.setattr(WorkerProcess, "start", staticmethod(noted))
    caplog.set_level(logging.DEBUG, "mgrag")
    caplog.handler.addFilter(note)
    return seen


async def in_time(
    started: Started, *, then: Callable[[], None] | None = None, late: list[Document] | None = None
) -> AsyncIterator[Document]:
    """The documents, those behind the first batches only when it is decided whether there is a second process.

    Args:
        started: Tells.
        then: To be done when the second process has a batch.
        late: Further documents.
    """
    for number, document in enumerate(documents()):
        if number == FIRST + 1:
            await started.decided.wait()
        if number == 2 * FIRST + 1 and then is not None:
            await started.moved.wait()
            then()
        yield document
    for document in late or ():
        yield document


async def ingested(
    source: Any, splitter: TextSplitter | None = None, **settings: Any
) -> tuple[list[str], dict[str, Any]]:
    """The whole graph, and the report."""
    everything = make_settings(**settings)
    embedder = open_embedder("wordllama", everything)
    client = MemGraphClient("embedded::memory:", embedder=embedder, settings=everything)
    async with KnowledgeBase(client, embedder, settings=everything, splitter=splitter) as kb:
        report = await kb.ingest(source)
        assert not any((await orphans(client)).values())
        assert embedder.usage.tokens > 0
        return await snapshot(client), report.to_dict()


def without_seconds(report: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in report.items() if key != "seconds"}


@pytest.mark.usefixtures("small_batches")
async def test_two_processes_make_the_graph_that_one_makes(started: Started) -> None:
    alone, report = await ingested(documents(), MGRAG_INGEST_WORKER=False)
    assert not started.processes

    together, other = await ingested(in_time(started, then=lambda: None))

    assert len(started.processes) == 1
    assert started.processes[0]._process.returncode is not None, "it has ended with the run"
    assert together == alone
    assert without_seconds(other) == without_seconds(report)


@pytest.mark.usefixtures("small_batches")
async def test_a_process_that_is_killed_is_done_without(started: Started, caplog: pytest.LogCaptureFixture) -> None:
    alone, _ = await ingested(documents(), MGRAG_INGEST_WORKER=False)

    together, _ = await ingested(in_time(started, then=lambda: started.processes[0]._process.kill()))

    assert together == alone
    assert "One process does all from here on" in caplog.text


@pytest.mark.usefixtures("small_batches")
async def test_what_one_process_refuses_so_does_the_other(started: Started) -> None:
    bad = Document(path="x" * (MAX_PATH_CHARS + 1), content="Of no use.", uri="note:bad")
    good = Document(path="good", content="All is well.")

    _, report = await ingested(in_time(started, then=lambda: None, late=[bad, good]))

    assert [failed["path"] for failed in report["documents"]["failed"]] == [bad.path]
    assert report["documents"]["added"] == DOCUMENTS + 1


@pytest.mark.usefixtures("small_batches")
async def test_a_tokenizer_of_ones_own_stays_here(started: Started) -> None:
    splitter = TextSplitter(64, 8, count_tokens=lambda text: len(text.split()))

    _, report = await ingested(in_time(started), splitter)

    assert report["documents"]["added"] == DOCUMENTS
    assert all(process._process.returncode is not None for process in started.processes)


@pytest.mark.usefixtures("small_batches")
async def test_where_no_process_can_be_started(started: Started, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused() -> WorkerProcess:
        raise WorkerGoneError("no more processes")

    monkeypatch.setattr(WorkerProcess, "start", staticmethod(refused))

    _, report = await ingested(in_time(started))

    assert report["documents"]["added"] == DOCUMENTS


WAITING = [
    Document(path="first", content="It starts the second process."),
    Document(path="second", content="With it the first one is a whole batch."),
    Document(path="third", content="With it the second one is a batch, which moves there."),
]


async def moved(started: Started, documents: list[Document]) -> AsyncIterator[Document]:
    """Documents that are cut when the second process is up, behind those that wait for it."""
    for document in WAITING[:2]:
        yield document
    await started.decided.wait()
    yield WAITING[2]
    await started.moved.wait()
    for document in documents:
        yield document


@pytest.fixture
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    """The second process is worth its start when two batches were cut, which are small ones."""
    monkeypatch.setattr(workbench, "_MANY_DOCUMENTS", FIRST)
    monkeypatch.setattr(run, "BATCH_DOCUMENTS", BATCH)


@pytest.fixture
def one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """The second process is worth its start at once, and each document is a batch."""
    monkeypatch.setattr(workbench, "_MANY_DOCUMENTS", 1)
    monkeypatch.setattr(run, "BATCH_DOCUMENTS", 1)


@pytest.mark.usefixtures("one_by_one")
async def test_documents_of_every_format_go_to_the_second_process(
    started: Started, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    # A cell longer than the csv module takes in a process where nobody has raised its limit.
    files = {**samples(), "long.csv": b"a,b\n1,2\n3," + b"x" * 200_000}
    for name, data in files.items():
        (tmp_path / name).write_bytes(data)
    assert {find_format(*file).reader for file in files.items()} >= {kind.reader for kind in FORMATS.values()}
    loaded = [result async for result in DocumentLoader(tmp_path).load()]
    read = [result for result in loaded if isinstance(result, Document)]
    assert len(read) == len(files)
    assert {result.path.rpartition(".")[2] for result in read if result.records} >= {
        "csv",
        "tsv",
        "xlsx",
        "json",
        "jsonl",
    }
    alone, report = await ingested([*WAITING, *read], MGRAG_INGEST_WORKER=False)

    together, other = await ingested(moved(started, read))

    assert together == alone
    assert without_seconds(other) == without_seconds(report)
    assert not other["documents"]["failed"]
    assert "cannot be sent" not in caplog.text


class Stays:
    """Something of a caller's own that cannot be pickled."""

    def __reduce__(self) -> str:
        raise OSError("it stays here")


class Locked(Stays, dict[str, Any]):
    pass


class Elsewhere(Document):
    """Like the classes of a script: in a module that another process does not have."""

    __module__ = "a_script"


class Name(str):
    __slots__ = ()
    __module__ = "a_script"


@pytest.mark.usefixtures("one_by_one")
async def test_what_cannot_be_sent_is_cut_here(
    started: Started, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    script = ModuleType("a_script")
    script.__dict__.update(Elsewhere=Elsewhere, Name=Name)
    monkeypatch.setitem(sys.modules, "a_script", script)
    text = "The Mill of Ferté is on the Marne."
    bad = [
        Document(path="bad/value", content=text, metadata={"thing": Stays()}),
        Document(path="bad/record", content=text, records=[(0, {"thing": Stays()})]),
    ]
    good = [
        Document(path="good/metadata", content=text, metadata=Locked(kind="mill")),
        Document(path="good/records", content=text, records=[(0, Locked(name="Mill of Ferté"))]),
        Elsewhere(path="good/class", content=Name(text), title=Name("Marne")),
    ]
    before = Document(path="before", title="Mill of Ferté", content="It grinds.")
    after = Document(path="after", title="On the Marne", content=f"{text} There the Marne bends.")
    documents = [before, *bad, *good, after]
    alone, report = await ingested([*WAITING, *documents], MGRAG_INGEST_WORKER=False)

    together, other = await ingested(moved(started, documents))

    assert together == alone
    assert without_seconds(other) == without_seconds(report)
    assert [failed["path"] for failed in other["documents"]["failed"]] == [document.path for document in bad]
    assert caplog.text.count("cannot be sent") == len(bad) + len(good)


async def test_errors_come_back_as_they_were() -> None:
    process = WorkerProcess.start()
    try:
        with pytest.raises(AttributeError, match="no_such_thing"):
            await process.call("no_such_thing")
        assert await process.call("finder") is None, "it goes on"
    finally:
        await process.close()
    with pytest.raises(WorkerGoneError):
        await process.call("finder")


SCRIPT = """
import asyncio, os, signal
from core.rag import KnowledgeBase, MemGraphClient
from core.rag.indexing.worker_process import WorkerProcess
from libs.dataloader import Document

print("once", flush=True)
start = WorkerProcess.start.__func__

async def main():
    async with KnowledgeBase.open("embedded:graph.grafeo") as kb:
        def documents():
            for number in range(1600):
                if number == 1300 and {killed}:
                    os.kill(os.getpid(), signal.SIGKILL)
                yield Document(path=str(number), content=f"The mill turned {{number}} times. " * 5)
        report = await kb.ingest(documents())
        print(report.documents.added, flush=True)

def noted(cls):
    process = start(cls)
    print("worker", process._process.pid, flush=True)
    return process

WorkerProcess.start = classmethod(noted)
asyncio.run(main())
"""


def run_script(folder: Path, *, killed: bool) -> tuple[int, list[str]]:
    """Run a script that has no ``if __name__ == "__main__"``; gives its exit code and what it printed."""
    script = folder / "script.py"
    script.write_text(SCRIPT.format(killed=killed), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, str(script)],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    return done.returncode, done.stdout.split("\n")


async def test_nothing_is_told_of_a_request_that_was_cancelled_while_it_was_sent() -> None:
    told: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: told.append(context))
    process = WorkerProcess.start()
    request = asyncio.create_task(process.call("warm_up", b"more than a pipe holds" * 1_000_000))
    while not process.waiting:
        await asyncio.sleep(0)
    request.cancel()
    with pytest.raises(asyncio.CancelledError):
        await request
    await process.close()
    with pytest.raises(WorkerGoneError):
        await process.call("finder")
    del request
    gc.collect()
    assert told == []


def test_a_script_is_not_run_twice(tmp_path: Path) -> None:
    code, lines = run_script(tmp_path, killed=False)
    assert code == 0
    assert lines.count("once") == 1
    assert "1600" in lines


def test_nothing_outlives_a_process_that_is_killed(tmp_path: Path) -> None:
    """``communicate`` returns when the pipes are closed, so by then the second process is ending, too."""
    code, lines = run_script(tmp_path, killed=True)
    assert code == -signal.SIGKILL
    worker = int(next(line for line in lines if line.startswith("worker")).split()[1])
    if Path("/proc/self/stat").exists():
        end = time.monotonic() + PATIENCE_SECONDS
        while (state := state_of(worker)) not in {"", "Z", "X"} and time.monotonic() < end:
            time.sleep(0.01)
        assert state in {"", "Z", "X"}, "it has ended, if nobody has asked for it yet"


def state_of(process: int) -> str:
    """The letter by which Linux tells what a process does; nothing if there is none."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return ""
