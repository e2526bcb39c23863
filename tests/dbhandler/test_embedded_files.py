"""The file of an embedded graph: where it may be, how its log is kept short, and what happens when it is damaged."""

from __future__ import annotations

import asyncio
import contextvars
import gc
import os
import shutil
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier
from typing import Any

import pytest

from core.rag import KnowledgeBase, MemGraphClient
from core.rag.dbhandler.embedded import commitlog
from core.rag.dbhandler.embedded import engine as grafeo_engine
from core.rag.dbhandler.embedded.endmark import forget_end
from core.rag.dbhandler.embedded.store import EmbeddedStore
from core.rag.dbhandler.store import Transaction
from core.rag.errors import (
    NotFoundError,
    StoreDamagedError,
    StoreFullError,
    StoreLockedError,
    StoreReadOnlyError,
    StoreUnavailableError,
)
from core.rag.settings import Settings
from libs.dataloader import Document
from tests.dbhandler.children import names, put
from tests.dbhandler.kit import make_settings
from tests.permissions import locked

SOON = 20.0


async def test_the_log_does_not_grow_for_ever(graph_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grafeo_engine, "CHECKPOINT_LOG_BYTES", 100_000)
    store = await EmbeddedStore.open(str(graph_file))
    written = 0
    for number in range(20):
        await put(store, f"n{number}", content=f"{number} " * 20_000)
        written += 60_000
    logs = graph_file.with_name(graph_file.name + ".wal")
    async with asyncio.timeout(SOON):
        while sum(log.stat().st_size for log in logs.iterdir()) > written / 2:
            await asyncio.sleep(0.05)
    assert graph_file.stat().st_size > 0
    await store.close()


async def test_only_a_store_that_writes_makes_checkpoints(graph_file: Path) -> None:
    store = await EmbeddedStore.open(str(graph_file))
    assert await names(store) == []
    assert store._db.checkpoint_status()["wal_bytes"] is None
    await put(store, "a")
    assert store._db.checkpoint_status()["wal_bytes"] == grafeo_engine.CHECKPOINT_LOG_BYTES
    # Nor by the clock, when another graph may be at its path, whose log it would remove.
    assert store._db.checkpoint_status()["interval_secs"] is None
    await store.close()


@pytest.mark.parametrize("content", [b"", b"hello world\n" * 100, b"%PDF-1.7\n" + bytes(9000), b"SQLite format 3\0"])
async def test_a_file_of_another_kind_is_left_alone(graph_file: Path, content: bytes) -> None:
    graph_file.write_bytes(content)
    with pytest.raises(StoreUnavailableError, match="is not a graph") as caught:
        await EmbeddedStore.open(str(graph_file))
    assert str(graph_file) in str(caught.value)
    assert graph_file.read_bytes() == content


async def test_a_link_to_nothing_is_said(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "gone.grafeo")
    with pytest.raises(StoreUnavailableError, match=r"is a link to .*gone\.grafeo, which does not exist"):
        await EmbeddedStore.open(str(tmp_path / "link"))


async def test_a_graph_behind_a_link_has_its_log_where_it_is(tmp_path: Path) -> None:
    here = tmp_path / "here"
    real, link = here / "deep" / "graph.grafeo", here / "link"
    await (await EmbeddedStore.open(str(real))).close()
    link.symlink_to("deep/graph.grafeo")
    store = await EmbeddedStore.open(str(link))
    await put(store, "a")
    crashed = shutil.copytree(here, tmp_path / "crashed", symlinks=True)
    await store.close()
    for name in ("deep/graph.grafeo", "link"):
        store = await EmbeddedStore.open(str(crashed / name))
        assert await names(store) == ["a"]
        await store.close()


async def test_a_graph_that_was_moved_without_its_log_is_not_opened_by_a_link(tmp_path: Path) -> None:
    old = tmp_path / "graph.grafeo"
    store = await EmbeddedStore.open(str(old))
    await put(store, "a")
    crashed = shutil.copytree(tmp_path, tmp_path / "crashed") / old.name
    await store.close()
    new = crashed.rename(crashed.with_name("moved.grafeo"))
    crashed.symlink_to(new)
    with pytest.raises(StoreUnavailableError, match=r"lies beside the link.* \(.*moved\.grafeo\.wal\)"):
        await EmbeddedStore.open(str(crashed))
    commitlog.log_folder(crashed).rename(commitlog.log_folder(new))
    store = await EmbeddedStore.open(str(crashed))
    assert await names(store) == ["a"]
    await store.close()


def _replace(file: Path) -> None:
    shutil.copyfile(file, file.with_name("copy"))
    file.with_name("copy").replace(file)


@pytest.mark.parametrize(
    ("happens", "left"),
    [
        (lambda file: file.rename(file.with_name("moved")), None),
        (lambda file: file.unlink(), None),
        (_replace, ["a", "b"]),
        (lambda file: shutil.rmtree(commitlog.log_folder(file)), ["a"]),
    ],
    ids=["moved", "deleted", "replaced", "log deleted"],
)
async def test_nothing_more_is_acknowledged_in_a_file_that_went_away(
    happens: Callable[[Path], None], left: list[str] | None, graph_file: Path
) -> None:
    store = await EmbeddedStore.open(str(graph_file))
    await put(store, "a")
    await store.close()
    store = await EmbeddedStore.open(str(graph_file))
    await put(store, "b")
    happens(graph_file)
    with pytest.raises(StoreUnavailableError, match="while it was open here, so nothing more is stored"):
        await put(store, "c")
    assert await names(store) == ["a", "b"]
    with pytest.raises(StoreUnavailableError, match="while it was open here: what was stored in it since may be lost"):
        await store.close()
    assert graph_file.exists() == (left is not None)
    if left is not None:
        if left == ["a"]:
            with pytest.raises(StoreDamagedError, match="ends before what had been written"):
                await EmbeddedStore.open(str(graph_file))
            forget_end(graph_file)
        store = await EmbeddedStore.open(str(graph_file))
        assert await names(store) == left
        await store.close()


async def test_the_log_of_another_graph_at_the_same_path_is_left_alone(tmp_path: Path) -> None:
    """Its folder was renamed, and a copy put in its place: to close the engine would remove the log of the copy."""
    folder = tmp_path / "mine"
    file = folder / "graph"
    store = await EmbeddedStore.open(str(file))
    await put(store, "a")
    shutil.copytree(folder, tmp_path / "copy")
    folder.rename(tmp_path / "old")
    (tmp_path / "copy").rename(folder)
    other = await EmbeddedStore.open(str(file))
    await put(other, "b")
    with pytest.raises(StoreUnavailableError, match="was moved, replaced or deleted"):
        await store.close()
    await put(other, "c")
    await other.close()
    reader = await EmbeddedStore.open(str(file), settings=read_only())
    folder.rename(tmp_path / "again")
    shutil.copytree(tmp_path / "again", folder)
    assert await names(reader) == ["a", "b", "c"]
    await reader.close()


async def test_a_file_that_went_away_is_no_matter_to_who_only_read(graph_file: Path) -> None:
    store = await EmbeddedStore.open(str(graph_file))
    graph_file.unlink()
    assert await names(store) == []
    await store.close()


class _FullDisk:
    """An engine whose file cannot be written when it is closed."""

    def __init__(self, engine: Any) -> None:
        self._engine = engine

    def __getattr__(self, name: str) -> Any:
        return getattr(self._engine, name)

    def close(self) -> None:
        self._engine.close()
        raise RuntimeError("GRAFEO-X003: I/O error: No space left on device (os error 28)")


async def test_on_a_full_disk_only_a_use_that_wrote_fails_on_closing(
    graph_file: Path, caplog: pytest.LogCaptureFixture
) -> None:
    store = await EmbeddedStore.open(str(graph_file))
    store._db = _FullDisk(store._db)
    await put(store, "a")
    with pytest.raises(StoreFullError, match="on closing: the disk is full"):
        await store.close()
    store = await EmbeddedStore.open(str(graph_file))
    store._db = _FullDisk(store._db)
    assert await names(store) == ["a"]
    await store.close()
    assert "the disk is full" in caplog.text


async def test_a_graph_that_could_not_be_closed_can_be_opened_again(
    graph_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The engine keeps its lock then, until nothing refers to it; errors before that had, in a cycle."""
    store = await EmbeddedStore.open(str(graph_file))
    await put(store, "a")
    cycle: list[Any] = [store._db]
    cycle.append(cycle)
    with monkeypatch.context() as broken:
        broken.setattr(grafeo_engine, "close_engine", _fail_to_close)
        with pytest.raises(StoreFullError):
            await store.close()
    del cycle, store
    gc.disable()
    try:
        store = await EmbeddedStore.open(str(graph_file), settings=make_settings(MGRAG_LOCK_TIMEOUT=0))
    finally:
        gc.enable()
    assert await names(store) == ["a"]
    await store.close()


async def test_a_client_whose_closing_was_cancelled_is_closed_the_next_time(graph_file: Path) -> None:
    """The file stayed locked until the process ended."""
    client = MemGraphClient(f"embedded:{graph_file}")
    store = await client.connect()
    writes, goes_on = asyncio.Event(), asyncio.Event()

    async def work(_: Transaction) -> None:
        writes.set()
        await goes_on.wait()

    writing = asyncio.create_task(store.transaction(work))
    await writes.wait()
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(client.close(), 0.01)
    goes_on.set()
    await writing
    await client.close()
    with pytest.raises(StoreUnavailableError, match="This client is closed"):
        await client.connect()
    async with MemGraphClient(f"embedded:{graph_file}"):
        pass


async def test_closing_waits_for_a_transaction_that_reads(graph_file: Path) -> None:
    """Each waited for the other one for ever."""
    client = MemGraphClient(f"embedded:{graph_file}")
    store = await client.connect()
    outside = contextvars.copy_context()

    async def work(_: Transaction) -> asyncio.Task[None]:
        closing = asyncio.create_task(client.close(), context=outside)
        await asyncio.sleep(0.01)
        assert await client.read("MATCH (d:Document) RETURN d.id AS id") == []
        return closing

    async with asyncio.timeout(10):
        await (await store.transaction(work))


def _fail_to_close(handles: list[Any]) -> None:
    handles.clear()
    raise StoreFullError("The disk is full.")


async def test_after_an_error_a_full_disk_is_not_said_again_on_closing(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    client = MemGraphClient(f"embedded:{tmp_path / 'graph.grafeo'}")
    with pytest.raises(NotFoundError):
        async with client:
            store = await client.connect()
            assert isinstance(store, EmbeddedStore)
            store._db = _FullDisk(store._db)
            await client.get_document_chunks("missing")
    assert "the disk is full" not in caplog.text


async def test_a_place_where_no_file_can_be_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    for path, reason in (
        (str(tmp_path), "is a folder"),
        (str(tmp_path / "file" / "graph"), "cannot be"),
        ("", "not a file name"),
        (f"{tmp_path}/a\0b", "not a file name"),
        ("~nobody-has-this-name/graph", "cannot be the path"),
        (str(tmp_path / ("x" * 300)), "cannot be"),
    ):
        with pytest.raises(StoreUnavailableError, match=reason):
            await EmbeddedStore.open(path)
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


async def test_a_path_that_is_no_utf_8_is_said(tmp_path: Path) -> None:
    for path in (tmp_path / "graph\udcff.grafeo", tmp_path / "folder\udcff" / "graph.grafeo"):
        with pytest.raises(StoreUnavailableError, match=r"a byte that is not UTF-8\. Rename"):
            await EmbeddedStore.open(str(path))
    assert list(tmp_path.iterdir()) == []


#: What each of them may not do, and what the error says; the file system refuses nothing to root.
NOT_PERMITTED = {
    "the file": ("GRAFEO-X003: I/O error: Permission denied (os error 13)", "graph", "may not read or write the file"),
    "the folder": (
        "GRAFEO-X001: Internal error: cannot open the migration lock file: Permission denied (os error 13)",
        "",
        "may not write to its folder",
    ),
    "all": ("GRAFEO-X003: I/O error: Read-only file system (os error 30)", "graph", "may not read or write the file"),
    "another user's": (
        "GRAFEO-X003: I/O error: Operation not permitted (os error 1)",
        None,
        "may not write .* its log",
    ),
}


@pytest.mark.parametrize(("text", "refused", "said"), NOT_PERMITTED.values(), ids=NOT_PERMITTED)
async def test_what_may_not_be_written_is_said_with_what_to_do(
    text: str, refused: str | None, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "graph"
    file.write_bytes(b"")

    def refuse(_: str) -> None:
        raise RuntimeError(text)

    monkeypatch.setattr("grafeo.GrafeoDB", refuse)
    monkeypatch.setattr("os.access", lambda path, _: refused is None or Path(path) != tmp_path / refused)
    with pytest.raises(StoreReadOnlyError, match=rf"{said}.*Permit it \(chmod u\+rw\), copy .*--db") as caught:
        grafeo_engine.open_engine(file)
    assert "GRAFEO" not in str(caught.value)


def read_only(**more: Any) -> Settings:
    return make_settings(MGRAG_READ_ONLY=True, MGRAG_LOCK_TIMEOUT=0.1, **more)


async def test_any_number_may_read_at_once(graph_file: Path) -> None:
    store = await EmbeddedStore.open(str(graph_file))
    await put(store, "a")
    with pytest.raises(StoreLockedError):
        await EmbeddedStore.open(str(graph_file), settings=read_only())
    await store.close()
    before = graph_file.read_bytes()
    readers = [await EmbeddedStore.open(str(graph_file), settings=read_only()) for _ in range(3)]
    for reader in readers:
        await reader.ensure_schema()
        assert reader.capabilities.read_only
        assert await names(reader) == ["a"]
        with pytest.raises(StoreReadOnlyError, match="MGRAG_READ_ONLY"):
            await put(reader, "b")
    with pytest.raises(StoreLockedError):
        await EmbeddedStore.open(str(graph_file), settings=make_settings(MGRAG_LOCK_TIMEOUT=0.1))
    for reader in readers:
        await reader.close()
    assert graph_file.read_bytes() == before
    assert [path.name for path in graph_file.parent.iterdir()] == [graph_file.name]


async def test_commits_that_are_in_the_log_only_are_not_left_out_by_who_only_reads(graph_file: Path) -> None:
    store = await EmbeddedStore.open(str(graph_file))
    await put(store, "a")
    killed = graph_file.with_name("killed")
    shutil.copy(graph_file, killed)
    shutil.copytree(f"{graph_file}.wal", f"{killed}.wal")
    await store.close()
    with pytest.raises(StoreUnavailableError, match="log beside it holds commits"):
        await EmbeddedStore.open(str(killed), settings=read_only())
    store = await EmbeddedStore.open(str(killed))
    await store.close()
    store = await EmbeddedStore.open(str(killed), settings=read_only())
    assert await names(store) == ["a"]
    await store.close()


async def test_a_graph_that_is_not_there_is_not_made_for_who_only_reads(graph_file: Path) -> None:
    with pytest.raises(StoreUnavailableError, match="no graph at"):
        await EmbeddedStore.open(str(graph_file), settings=read_only())
    assert not graph_file.exists()


async def test_a_graph_that_must_exist_is_not_made_by_its_first_use(tmp_path: Path) -> None:
    uri = f"embedded:{tmp_path / 'new' / 'graph.grafeo'}"
    kb = KnowledgeBase.open(uri, create=False)
    for use in (kb.documents, kb.connect, lambda: kb.ingest(Document(path="a", content="a"))):
        with pytest.raises(NotFoundError, match="There is no graph at"):
            await use()
    await kb.close()
    with pytest.raises(NotFoundError, match="There is no graph at"):
        await MemGraphClient(uri, create=False).create_document("a", "a")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(os.name == "nt", reason="folders are locked otherwise there")
def test_a_folder_that_may_not_be_entered_is_said(tmp_path: Path) -> None:
    with locked(tmp_path), pytest.raises(StoreUnavailableError, match="may not enter its folder"):
        grafeo_engine.graph_file(str(tmp_path / "graph"))


async def test_a_missing_folder_is_made(tmp_path: Path) -> None:
    path = tmp_path / "new" / "deeper" / "graph.grafeo"
    store = await EmbeddedStore.open(str(path))
    await put(store, "a")
    await store.close()
    assert path.is_file()


def test_several_graphs_in_one_missing_folder_may_be_made_at_once(tmp_path: Path) -> None:
    """Whoever was not the first to make the folder was told that it could not be made."""
    names_of_graphs = "abcd"
    with ThreadPoolExecutor(len(names_of_graphs)) as threads:
        for number in range(20):
            folder = tmp_path / str(number) / "new" / "deeper" / "still"
            together = Barrier(len(names_of_graphs))

            def make(name: str, folder: Path = folder, together: Barrier = together) -> None:
                together.wait()
                grafeo_engine.close_engine([grafeo_engine.open_engine(folder / f"{name}.grafeo")])

            list(threads.map(make, names_of_graphs))
            assert sorted(file.stem for file in folder.glob("*.grafeo")) == list(names_of_graphs)


async def filled(path: Path) -> EmbeddedStore:
    store = await EmbeddedStore.open(str(path))
    await store.ensure_schema()

    async def work(tx: Transaction) -> None:
        rows = [{"id": f"n{i:03}", "props": {"content": f"{i} {i * 7919} " * 40}} for i in range(300)]
        await tx.run("UNWIND $rows AS row MERGE (n:Document {id: row.id}) SET n += row.props", {"rows": rows})

    for _ in range(3):
        await store.transaction(work)
    return store


async def contents(path: Path) -> list[dict[str, Any]]:
    store = await EmbeddedStore.open(str(path))
    try:
        return await store.run("MATCH (n:Document) RETURN n.id AS id, n.content AS content ORDER BY id")
    finally:
        await store.close()


async def test_a_damaged_file_is_not_taken_for_a_graph(graph_file: Path) -> None:
    store = await filled(graph_file)
    await store.close()
    right = await contents(graph_file)
    good = graph_file.read_bytes()
    damaged = 0
    for position in range(100, len(good), len(good) // 24):
        bad = bytearray(good)
        bad[position] ^= 0xFF
        graph_file.write_bytes(bad)
        try:
            assert await contents(graph_file) == right  # a byte that nothing needs
        except StoreDamagedError as error:
            damaged += 1
            assert str(graph_file) in str(error)
            assert "mgrag restore" in str(error)
    assert damaged >= 8
    graph_file.write_bytes(good[: len(good) // 2])
    with pytest.raises(StoreDamagedError, match="mgrag restore"):
        await contents(graph_file)


@pytest.mark.parametrize("settings", [None, read_only()])
async def test_a_damaged_header_does_not_show_an_older_state(graph_file: Path, settings: Settings | None) -> None:
    await (await filled(graph_file)).close()
    good = graph_file.read_bytes()
    damages = [(place, bytes([good[place] ^ 0x10])) for page in (4096, 8192) for place in range(page, page + 84, 3)]
    damages += [(4096, bytes(4096)), (8192, bytes(4096)), (4000, bytes(1000))]
    refused = 0
    for place, bad in damages:
        graph_file.write_bytes(good[:place] + bad + good[place + len(bad) :])
        try:
            store = await EmbeddedStore.open(str(graph_file), settings=settings)
        except StoreDamagedError as error:
            refused += 1
            assert "mgrag restore" in str(error)
            continue
        assert len(await names(store)) == 300
        await store.close()
    assert 28 <= refused < 56


async def test_a_graph_that_was_made_just_before_a_crash_is_no_damage(graph_file: Path, tmp_path: Path) -> None:
    """It has one header and no log yet; but so has one whose newer header is gone, and that has more behind it."""
    store = await EmbeddedStore.open(str(graph_file))
    data = graph_file.read_bytes()
    await store.close()
    copy = tmp_path / "copy.grafeo"
    only_one = data[:8192] + bytes(4096)
    copy.write_bytes(only_one + data[12288:])
    with pytest.raises(StoreDamagedError, match="mgrag restore"):
        await contents(copy)
    copy.write_bytes(only_one + data[12288 : 12288 + 32] + bytes(4096 - 32))
    commitlog.log_folder(copy).mkdir()
    assert await contents(copy) == []


async def test_a_header_that_a_crash_has_torn_is_no_damage(graph_file: Path, tmp_path: Path) -> None:
    store = await filled(graph_file)
    copy = tmp_path / "copy" / graph_file.name
    shutil.copytree(graph_file.with_name(graph_file.name + ".wal"), copy.with_name(copy.name + ".wal"))
    torn = bytearray(graph_file.read_bytes())
    torn[8192 + 40 : 8192 + 84] = bytes(44)
    copy.write_bytes(torn)
    right = await store.run("MATCH (n:Document) RETURN n.id AS id, n.content AS content ORDER BY id")
    await store.close()
    assert await contents(copy) == right


async def test_a_damaged_log_is_not_taken_for_the_whole(graph_file: Path, tmp_path: Path) -> None:
    store = await filled(graph_file)
    logs = graph_file.with_name(graph_file.name + ".wal")
    copy = tmp_path / "copy" / graph_file.name
    copy.parent.mkdir()
    copy.write_bytes(graph_file.read_bytes())
    folder = copy.with_name(logs.name)
    folder.mkdir()
    for log in logs.iterdir():
        data = bytearray(log.read_bytes())
        assert len(data) > 10_000
        data[len(data) // 3] ^= 0xFF
        (folder / log.name).write_bytes(data)
    await store.close()
    with pytest.raises(StoreDamagedError, match="mgrag restore"):
        await contents(copy)


async def test_a_graph_with_two_names_is_refused_under_both(graph_file: Path) -> None:
    store = await EmbeddedStore.open(str(graph_file))
    await put(store, "a")
    crashed = Path(shutil.copytree(graph_file.parent, graph_file.parent.with_name("crashed"))) / graph_file.name
    await store.close()
    second = crashed.with_name("second.grafeo")
    second.hardlink_to(crashed)
    before = crashed.read_bytes()
    for file, other in ((second, crashed), (crashed, second)):
        for settings in (None, Settings(read_only=True)):
            with pytest.raises(StoreUnavailableError, match=rf"{file} has other names \(hard links: {other}\)"):
                await EmbeddedStore.open(str(file), settings=settings)
    assert crashed.read_bytes() == before
    second.unlink()
    store = await EmbeddedStore.open(str(crashed))
    assert await names(store) == ["a"]
    await store.close()
