"""What the embedded store acknowledges is on the disk, not only with the operating system.

The disk of these tests forgets everything that was not synchronized: the log is cut to the length that it had at its
last ``fdatasync``, as a power cut may leave it, and the graph is opened from that.
"""

from __future__ import annotations

import asyncio
import errno
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from core.rag.dbhandler.embedded import commitlog, engine
from core.rag.dbhandler.embedded.store import EmbeddedStore
from core.rag.errors import StoreError, StoreFullError, StoreUnavailableError
from tests.dbhandler.children import names, put
from tests.dbhandler.kit import make_settings


class ForgetfulDisk:
    """Knows how much of each file was synchronized."""

    def __init__(self, graph: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self._graph = graph
        self._folder = graph.with_name(graph.name + ".wal")
        # What there was before counts as stored: opening a graph is not what is tested.
        self._stored = {log.name: log.stat().st_size for log in self._folder.iterdir()}
        self.calls = 0
        real = os.fdatasync

        def fdatasync(descriptor: int) -> None:
            real(descriptor)
            status = os.fstat(descriptor)
            for log in self._folder.iterdir():
                if log.stat().st_ino == status.st_ino:
                    self._stored[log.name] = status.st_size
            self.calls += 1

        monkeypatch.setattr(os, "fdatasync", fdatasync)

    @property
    def everything_is_stored(self) -> bool:
        return all(self._stored.get(log.name) == log.stat().st_size for log in self._folder.iterdir())

    def after_a_power_cut(self, target: Path) -> Path:
        """A copy of the graph with what is on the disk now."""
        target.mkdir()
        copy = target / self._graph.name
        shutil.copy2(self._graph, copy)
        folder = copy.with_name(self._folder.name)
        folder.mkdir()
        for log in self._folder.iterdir():
            (folder / log.name).write_bytes(log.read_bytes()[: self._stored.get(log.name, 0)])
        return copy


async def opened_names(path: Path) -> list[str]:
    store = await EmbeddedStore.open(str(path))
    try:
        return await names(store)
    finally:
        await store.close()


async def test_a_transaction_returns_when_it_is_on_the_disk(
    file_store: EmbeddedStore, graph_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk = ForgetfulDisk(graph_file, monkeypatch)
    acknowledged = []
    for number in range(4):
        await put(file_store, f"n{number}", content="x" * 100 * number)
        acknowledged.append(f"n{number}")
        assert disk.calls == number + 1
        assert await opened_names(disk.after_a_power_cut(tmp_path / f"cut{number}")) == acknowledged


async def test_transactions_side_by_side_return_when_they_are_on_the_disk(
    file_store: EmbeddedStore, graph_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk = ForgetfulDisk(graph_file, monkeypatch)
    acknowledged: list[str] = []
    cuts: list[tuple[list[str], Path]] = []

    async def write(name: str) -> None:
        await put(file_store, name)
        acknowledged.append(name)
        if len(acknowledged) % 4 == 1:
            cuts.append((sorted(acknowledged), disk.after_a_power_cut(tmp_path / f"cut-{name}")))

    await asyncio.gather(*(write(f"n{number:02}") for number in range(12)))
    assert len(cuts) == 3
    for before, copy in cuts:
        assert set(before) <= set(await opened_names(copy))


async def test_in_group_mode_a_commit_reaches_the_disk_soon(
    graph_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(commitlog, "GROUP_SECONDS", 0.2)
    store = await EmbeddedStore.open(str(graph_file), settings=make_settings(MGRAG_SYNC_EVERY_COMMIT=False))
    try:
        disk = ForgetfulDisk(graph_file, monkeypatch)
        for round_number in range(2):
            before = disk.calls
            for number in range(10):
                await put(store, f"n{round_number}{number}")
            assert disk.calls - before < 10, "one for each commit is what the other mode does"
            for _ in range(500):
                if disk.calls > before and disk.everything_is_stored:
                    break
                await asyncio.sleep(0.02)
            wanted = sorted(f"n{r}{number}" for r in range(round_number + 1) for number in range(10))
            assert await opened_names(disk.after_a_power_cut(tmp_path / f"cut{round_number}")) == wanted
    finally:
        await store.close()
    assert len(await opened_names(graph_file)) == 20


async def test_closing_in_group_mode_forgets_nothing(graph_file: Path) -> None:
    settings = make_settings(MGRAG_SYNC_EVERY_COMMIT=False)
    store = await EmbeddedStore.open(str(graph_file), settings=settings)
    await put(store, "last")
    await store.close()
    shutil.rmtree(graph_file.with_name(graph_file.name + ".wal"), ignore_errors=True)
    assert await opened_names(graph_file) == ["last"]


def failing(error_number: int) -> Callable[[int], None]:
    def fdatasync(_: int) -> None:
        raise OSError(error_number, os.strerror(error_number))

    return fdatasync


@pytest.mark.parametrize("every_commit", [True, False], ids=["every commit", "in groups"])
@pytest.mark.parametrize(
    ("error_number", "kind"),
    [(errno.EIO, StoreUnavailableError), (errno.ENOSPC, StoreFullError)],
    ids=["EIO", "ENOSPC"],
)
async def test_after_a_disk_has_failed_nothing_more_is_acknowledged(
    graph_file: Path, monkeypatch: pytest.MonkeyPatch, error_number: int, kind: type[StoreError], every_commit: bool
) -> None:
    """The system may have thrown away what it could not store, so that a later success would mean nothing."""
    monkeypatch.setattr(commitlog, "GROUP_SECONDS", 0.01)
    store = await EmbeddedStore.open(str(graph_file), settings=make_settings(MGRAG_SYNC_EVERY_COMMIT=every_commit))
    await put(store, "before")
    with monkeypatch.context() as broken:
        broken.setattr(os, "fdatasync", failing(error_number))
        with pytest.raises(kind, match="open it again"):
            for number in range(500):
                await put(store, f"lost{number}")
                await asyncio.sleep(0.01)
    if every_commit:
        assert "lost1" not in await names(store)
    with pytest.raises(kind, match="open it again"):
        await put(store, "refused")
    there = await names(store)
    assert "before" in there
    assert "refused" not in there
    await store.close()

    store = await EmbeddedStore.open(str(graph_file))
    await put(store, "after")
    assert {"before", "after"} <= set(await names(store))
    await store.close()


@pytest.mark.parametrize("whose", ["nobody's", "another graph's"])
async def test_a_commit_is_not_acknowledged_in_a_log_that_was_emptied_or_replaced(
    whose: str, graph_file: Path, tmp_path: Path
) -> None:
    """As by who makes room, or when an older process makes a checkpoint, whose folder was renamed."""
    store, other = await EmbeddedStore.open(str(graph_file)), await EmbeddedStore.open(str(tmp_path / "other"))
    await put(store, "a")
    await put(other, "b")
    (log,), (another,) = (commitlog.log_folder(file).iterdir() for file in (graph_file, tmp_path / "other"))
    if whose == "nobody's":
        os.truncate(log, 0)
    else:
        shutil.copyfile(another, log.with_name("wal_00000000000000099999.log"))
    for name in ("c", "d"):
        with pytest.raises(StoreUnavailableError, match=r"cut short or replaced.* open it again"):
            await put(store, name)
    with pytest.raises(StoreUnavailableError, match="cut short or replaced"):
        await store.check()
    await store.close()
    await other.close()
    store = await EmbeddedStore.open(str(graph_file))
    assert "a" in await names(store)
    await store.close()


def synchronizing(monkeypatch: pytest.MonkeyPatch) -> set[int]:
    """The inodes that are synchronized from now on; it grows as they are."""
    synchronized = set()
    real = os.fsync

    def fsync(descriptor: int) -> None:
        real(descriptor)
        synchronized.add(os.fstat(descriptor).st_ino)

    monkeypatch.setattr(os, "fsync", fsync)
    return synchronized


async def test_a_commit_does_not_go_with_the_name_of_its_log(
    graph_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("of a new graph", "of one that was closed"):
        store = await EmbeddedStore.open(str(graph_file))
        with monkeypatch.context() as watched:
            synchronized = synchronizing(watched)
            await put(store, name)
            assert tmp_path.stat().st_ino in synchronized
        await store.close()


async def test_a_backup_is_on_the_disk_when_it_is_done(
    file_store: EmbeddedStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synchronized = synchronizing(monkeypatch)
    target = tmp_path / "copy"
    await file_store.exclusively(lambda db: engine.save(db, target), "A backup")
    assert {target.stat().st_ino, tmp_path.stat().st_ino} <= synchronized


async def test_a_graph_in_memory_does_not_wait_for_a_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "fdatasync", failing(errno.EIO))
    store = await EmbeddedStore.open(":memory:")
    await put(store, "a")
    assert await names(store) == ["a"]
    await store.close()
