"""A graph that lacks the end of its log is not taken for the whole, and one that is whole always opens."""

from __future__ import annotations

import os
import random
import shutil
from pathlib import Path

import pytest

from core.rag.dbhandler.embedded import commitlog
from core.rag.dbhandler.embedded.endmark import PAGE, note_end
from core.rag.dbhandler.embedded.header import missing_end
from core.rag.dbhandler.embedded.store import EmbeddedStore
from core.rag.errors import BackupError, StoreDamagedError
from core.rag.maintenance.doctor import examine
from core.rag.maintenance.restore import restore
from core.rag.settings import Settings
from tests.dbhandler.children import names, put

ENDS_EARLY = r"ends before what had been written to it: the last [\d,]+ bytes .*mgrag restore.*mgrag doctor --repair"


def copy(file: Path, to: Path, *, log: bool = True) -> Path:
    """Copy a graph as it is at this moment, which is also how a process that is killed leaves it."""
    shutil.copyfile(file, to)
    shutil.rmtree(commitlog.log_folder(to), ignore_errors=True)
    if log:
        shutil.copytree(commitlog.log_folder(file), commitlog.log_folder(to))
    return to


def log_of(file: Path) -> Path:
    return max(commitlog.log_folder(file).glob("*.log"))


async def read(file: Path) -> list[str]:
    store = await EmbeddedStore.open(str(file))
    try:
        return await names(store)
    finally:
        await store.close()


@pytest.mark.parametrize("checkpoint", [False, True])
async def test_a_log_that_was_left_behind_or_cut_short(checkpoint: bool, graph_file: Path, tmp_path: Path) -> None:
    store = await EmbeddedStore.open(str(graph_file))
    await put(store, "a")
    await store.close()
    store = await EmbeddedStore.open(str(graph_file))
    await put(store, "b")
    if checkpoint:
        await store.exclusively(lambda db: db.wal_checkpoint(), "A checkpoint")
    whole, killed = log_of(graph_file).stat().st_size, tmp_path / "copy"
    await put(store, "c")
    await put(store, "d")
    for cut in (1, 20, log_of(graph_file).stat().st_size - whole - 1, log_of(graph_file).stat().st_size):
        copy(graph_file, killed)
        os.truncate(log_of(killed), log_of(killed).stat().st_size - cut)
        with pytest.raises(StoreDamagedError, match=ENDS_EARLY):
            await read(killed)
    copy(graph_file, killed, log=False)
    before = killed.read_bytes()
    for settings in (None, Settings(read_only=True)):
        with pytest.raises(StoreDamagedError, match=ENDS_EARLY):
            await EmbeddedStore.open(str(killed), settings=settings)
    with pytest.raises(BackupError, match=ENDS_EARLY):
        await restore(f"embedded:{tmp_path / 'new'}", killed)
    assert killed.read_bytes() == before
    assert await read(copy(graph_file, killed)) == ["a", "b", "c", "d"]
    await store.close()
    assert await read(graph_file) == ["a", "b", "c", "d"]


async def test_the_doctor_tells_and_lets_go_on_with_what_is_left(
    graph_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = await EmbeddedStore.open(str(graph_file))
    await put(store, "a")
    end = log_of(graph_file).stat().st_size
    await put(store, "b")
    killed = copy(graph_file, tmp_path / "copy")
    await store.close()
    os.truncate(log_of(killed), end)
    uri = f"embedded:{killed}"
    [told] = [check for check in (await examine(uri)).checks if check.area == "graph" and check.level == "problem"]
    assert "ends before" in told.message
    with monkeypatch.context() as reading:
        reading.setenv("MGRAG_READ_ONLY", "true")
        before = killed.read_bytes()
        assert not (await examine(uri, repair=True)).healthy
        assert killed.read_bytes() == before
    [mended] = [check for check in (await examine(uri, repair=True)).checks if check.level == "mended"]
    assert "ends before" in mended.message
    assert "missing" in mended.advice
    assert not [check for check in (await examine(uri)).checks if "ends before" in check.message]
    store = await EmbeddedStore.open(str(killed))
    assert await names(store) == ["a"]
    await put(store, "c")
    with pytest.raises(StoreDamagedError, match=ENDS_EARLY):  # it is noticed as before
        await read(copy(killed, tmp_path / "again", log=False))
    await store.close()
    assert await read(killed) == ["a", "c"]


async def test_whatever_is_whole_opens(graph_file: Path, tmp_path: Path) -> None:
    """Copies at every moment: after commits, rollbacks, checkpoints, reopening, and with a torn commit behind."""
    chance = random.Random(20261129)
    written: list[str] = []
    there = tmp_path / "copy"
    store = await EmbeddedStore.open(str(graph_file))
    for number in range(60):
        match chance.randrange(5):
            case 0:
                await store.exclusively(lambda db: db.wal_checkpoint(), "A checkpoint")
            case 1:
                await store.close()
                assert await read(copy(graph_file, there, log=False)) == sorted(written)
                quick = Settings(sync_every_commit=chance.random() < 0.5)
                store = await EmbeddedStore.open(str(graph_file), settings=quick)
            case 2:
                with pytest.raises(ZeroDivisionError):
                    await store.transaction(lambda _: 1 / 0)  # type: ignore[arg-type,return-value]
            case _:
                await put(store, f"n{number:02}", content="x" * chance.randrange(6000))
                written.append(f"n{number:02}")
        copy(graph_file, there)
        with log_of(there).open("ab") as log:
            log.write(chance.randbytes(chance.randrange(40)) if chance.random() < 0.5 else b"")
        assert await read(there) == sorted(written)
    await store.close()
    assert len(written) > 15


async def test_one_that_says_nothing_of_its_end_opens(graph_file: Path, tmp_path: Path) -> None:
    """Such as one of an older version, or one of which a power cut has left no note."""
    store = await EmbeddedStore.open(str(graph_file))
    await put(store, "a")
    await store.close()
    store = await EmbeddedStore.open(str(graph_file))
    await put(store, "b")
    killed = copy(graph_file, tmp_path / "copy", log=False)
    await store.close()
    data = bytearray(killed.read_bytes())
    for place in (PAGE, 2 * PAGE):
        data[place + 84 : place + PAGE] = bytes(PAGE - 84)
    killed.write_bytes(data)
    assert missing_end(killed) == ""
    assert await read(killed) == ["a"]


async def test_nothing_is_noted_in_another_file_of_the_same_name(graph_file: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    for file in (graph_file, other):
        store = await EmbeddedStore.open(str(file))
        await put(store, "a")
        await store.close()
    before = other.read_bytes()
    log = commitlog.CommitLog(graph_file, every_commit=True)
    other.replace(graph_file)
    note_end(graph_file, log._file, 1 << 40)
    assert graph_file.read_bytes() == before
