"""The embedded store against other processes: forks, locks, kills, full disks, files of somebody else."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from core.rag import MemGraphClient
from core.rag.dbhandler.embedded.store import EmbeddedStore
from core.rag.errors import StoreLockedError
from tests.dbhandler.children import CHUNKS, TEXT, VECTORS, names, put
from tests.dbhandler.kit import PATIENCE_SECONDS, make_settings

CHILDREN = Path(__file__).with_name("children.py")
KILLS = 20


class Nursery:
    """A process that forks others on order; see children.py."""

    def __init__(self, errors: Path) -> None:
        self.errors = errors
        source = CHILDREN.parents[2] / "src"
        self._process = subprocess.Popen(
            # DeprecationWarning: Python warns of every fork in a process with threads, which is what is tested.
            [sys.executable, "-W", "ignore::DeprecationWarning", str(CHILDREN)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join([str(CHILDREN.parents[2]), str(source)])},
        )

    def start(self, call: str, *arguments: str) -> int:
        """Start a child; returns its process id."""
        assert self._process.stdin is not None
        self.errors.write_text("")
        order = {"call": call, "arguments": arguments, "errors": str(self.errors)}
        self._process.stdin.write(json.dumps(order) + "\n")
        self._process.stdin.flush()
        return int(self.hear()["pid"])

    def hear(self) -> dict[str, Any]:
        """The next thing that a child says, or its end: ``status``."""
        assert self._process.stdout is not None
        alarm = threading.Timer(PATIENCE_SECONDS, self._kill)
        alarm.start()
        line = self._process.stdout.readline()
        alarm.cancel()
        assert line, f"a child hangs or has died: {self.errors.read_text()}"
        return dict(json.loads(line))

    def end(self) -> tuple[list[dict[str, Any]], int]:
        """What a child says until it ends, and how it ended."""
        facts = []
        while "status" not in (fact := self.hear()):
            facts.append(fact)
        return facts, int(fact["status"])

    def close(self) -> None:
        self._kill()
        self._process.communicate()

    def _kill(self) -> None:
        """The whole family, since a child that hangs would keep the pipes open."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)


@pytest.fixture(scope="module")
def nursery(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Nursery]:
    process = Nursery(tmp_path_factory.mktemp("nursery") / "errors")
    yield process
    process.close()


def heard(facts: list[dict[str, Any]], key: str) -> list[Any]:
    return [fact[key] for fact in facts if key in fact]


async def stored_names(path: Path) -> list[str]:
    store = await EmbeddedStore.open(str(path))
    try:
        return await names(store)
    finally:
        await store.close()


# Forks


@pytest.mark.parametrize(
    ("what", "refusals"), [("exit", 0), ("close", 1), ("use", 3), ("inside a transaction", 4)], ids=lambda v: str(v)
)
async def test_a_forked_child_takes_nothing_from_its_parent(
    nursery: Nursery, graph_file: Path, what: str, refusals: int
) -> None:
    nursery.start("fork", str(graph_file), what)
    facts, status = nursery.end()
    assert nursery.errors.read_text() == ""
    assert heard(facts, "child_status") == [0], "the child did not end well"
    messages = heard(facts, "child")
    assert len(messages) == refusals
    for message in messages:
        assert message.startswith("StoreUnavailableError")
        assert "parent of this process" in message
        assert "spawn" in message
    assert heard(facts, "acknowledged") == [["before", "after", "last"]]
    assert status == signal.SIGKILL
    assert await stored_names(graph_file) == ["after", "before", "last"]


# Locks


async def test_a_second_process_is_told_what_to_do(nursery: Nursery, graph_file: Path) -> None:
    holder = nursery.start("hold", str(graph_file))
    try:
        assert nursery.hear() == {"open": True}
        with pytest.raises(StoreLockedError, match="another process") as caught:
            await EmbeddedStore.open(str(graph_file), settings=make_settings(MGRAG_LOCK_TIMEOUT=0.2))
        assert str(graph_file) in str(caught.value)
        assert "Memgraph" in str(caught.value)
        assert "MGRAG_LOCK_TIMEOUT" in str(caught.value), "another command may end soon"
    finally:
        os.kill(holder, signal.SIGKILL)
        nursery.end()
    assert await stored_names(graph_file) == ["held"]


async def test_a_process_waits_for_another_that_is_about_to_end(nursery: Nursery, graph_file: Path) -> None:
    holder = nursery.start("hold", str(graph_file))
    assert nursery.hear() == {"open": True}
    patience = make_settings(MGRAG_LOCK_TIMEOUT=PATIENCE_SECONDS)
    opening = asyncio.ensure_future(EmbeddedStore.open(str(graph_file), settings=patience))
    await asyncio.sleep(0.1)
    assert not opening.done()
    os.kill(holder, signal.SIGKILL)
    nursery.end()
    store = await opening
    assert await names(store) == ["held"]
    await store.close()


async def test_a_graph_opens_once_in_a_process_too(graph_file: Path) -> None:
    first = await EmbeddedStore.open(str(graph_file))
    with pytest.raises(StoreLockedError, match=r"open in this process already.*in_namespace"):
        await EmbeddedStore.open(str(graph_file))
    await first.close()
    assert await stored_names(graph_file) == []


async def test_a_graph_that_was_dropped_without_being_closed_opens_again(graph_file: Path) -> None:
    """As where a cell of a notebook that opens it runs again."""
    for number in range(3):
        client = MemGraphClient(f"embedded:{graph_file}")
        await client.create_document(f"note/{number}", "The mill turns with the ebb.")
    assert len(await client.list_documents()) == 3
    await client.close()


# Kills


async def check_graph(path: Path, acknowledged: set[str]) -> set[str]:
    """Assert that a graph holds whole documents only, and all that were acknowledged; returns their names."""
    store = await EmbeddedStore.open(str(path))
    try:
        await store.ensure_schema()
        await store.ensure_text_index(TEXT)
        rows = await store.run(
            "MATCH (d:Document) OPTIONAL MATCH (d)<-[:CHUNK_OF]-(c:DocumentChunk) WITH d, c "
            "OPTIONAL MATCH (c)<-[:EMBEDDING_OF]-(v:Vector) RETURN d.id AS id, count(c) AS chunks, count(v) AS vectors"
        )
        assert [row for row in rows if (row["chunks"], row["vectors"]) != (CHUNKS, CHUNKS)] == []
        there = {row["id"] for row in rows}
        assert len(there) == len(rows), "a document twice"
        assert acknowledged - there == set(), "acknowledged, but lost"
        totals = await store.run(
            "MATCH (c:DocumentChunk) WITH count(c) AS chunks MATCH (v:Vector) WITH chunks, count(v) AS vectors "
            "RETURN chunks, vectors"
        )
        if there:
            assert totals == [{"chunks": len(there) * CHUNKS, "vectors": len(there) * CHUNKS}]
        found = await store.text_search(TEXT, {"common": 1.0}, 10_000)
        assert len(found) == min(len(there) * CHUNKS, 10_000), "the keyword index does not agree with the graph"
        near = await store.vector_search(VECTORS, (1.0, 0.5, 0.25, 0.0), 10_000)
        assert len(near) == min(len(there) * CHUNKS, 10_000)
        return there
    finally:
        await store.close()


async def test_a_killed_process_loses_nothing_that_was_acknowledged(
    nursery: Nursery, graph_file: Path, tmp_path: Path
) -> None:
    generator = random.Random()
    acknowledged: set[str] = set()
    there: set[str] = set()
    for number in range(KILLS):
        pid = nursery.start("write_for_ever", str(graph_file), f"k{number}")
        facts = [nursery.hear()] if number % 4 else []  # else it is killed while it opens and recovers the graph
        time.sleep(generator.uniform(0.0, 0.15))
        os.kill(pid, signal.SIGKILL)
        more, status = nursery.end()
        assert status == signal.SIGKILL, nursery.errors.read_text()
        acknowledged |= set(heard(facts + more, "acknowledged"))
        # Looked at in a copy, so that the next one recovers what the kill has left.
        copy = tmp_path / f"copy{number}" / graph_file.name
        copy.parent.mkdir()
        for path in tmp_path.glob(graph_file.name + "*"):
            (shutil.copytree if path.is_dir() else shutil.copy2)(path, copy.with_name(path.name))
        if copy.exists():
            there = await check_graph(copy, acknowledged)
        shutil.rmtree(copy.parent)
    assert len(acknowledged) >= KILLS // 2
    assert await check_graph(graph_file, acknowledged) == there


# Full disks and files of somebody else


async def test_a_full_disk_loses_only_what_was_refused(nursery: Nursery, graph_file: Path) -> None:
    nursery.start("full", str(graph_file))
    facts, status = nursery.end()
    assert (status, nursery.errors.read_text()) == (0, "")
    before, backup, after, close, again = facts
    assert 0 < len(before["stored"]) < 14
    assert before["there"] == before["stored"]
    assert len(before["errors"]) == 14 - len(before["stored"])
    for message in before["errors"]:
        assert message.startswith("StoreFullError")
        assert "disk is full" in message
        assert "\n" not in message, "a second error beside the first"
    assert backup["backup"].startswith("BackupError")
    assert [path.name for path in graph_file.parent.iterdir() if "copy" in path.name] == []
    assert after["there"] == sorted([*before["stored"], "room"])
    assert close["close"].startswith("StoreFullError")
    assert "in the log" in close["close"]
    assert again["there"] == after["there"]
    assert await stored_names(graph_file) == after["there"]


async def test_what_is_there_can_be_read_on_a_full_disk(nursery: Nursery, graph_file: Path) -> None:
    store = await EmbeddedStore.open(str(graph_file))
    await store.ensure_schema()
    await put(store, "a")
    await store.close()
    nursery.start("full_before", str(graph_file))
    facts, _ = nursery.end()
    assert facts[0]["there"] == ["a"]
    assert facts[0]["error"].startswith("Store")
    assert "disk" in facts[0]["error"]
    assert await stored_names(graph_file) == ["a"]


async def test_what_may_not_be_opened_is_said(nursery: Nursery) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for file in ("secret", "readonly"):
            store = await EmbeddedStore.open(str(folder / file))
            await put(store, "a")
            await store.close()
        (folder / "secret").chmod(0)
        (folder / "readonly").chmod(0o444)
        folder.chmod(0o555)
        try:
            nursery.start("forbidden", name)
            facts, status = nursery.end()
        finally:
            folder.chmod(0o755)
    assert (status, nursery.errors.read_text()) == (0, "")
    assert [fact["name"] for fact in facts] == ["new", "secret", "readonly"]
    for fact in facts:
        assert fact["error"] is not None, f"{fact['name']} was opened"
        assert fact["error"].startswith("StoreReadOnlyError"), fact["error"]
        assert fact["there"] == (["a"] if fact["name"] == "readonly" else None)
        assert str(folder / fact["name"]) in fact["error"]
        assert "ermission denied" in fact["error"]
