"""Backups and restores that are interrupted end soon, and leave nothing but a whole graph."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable
from pathlib import Path
from typing import Any

import pytest

from core.rag import KnowledgeBase
from core.rag.dbhandler.embedded import digest as digest_module
from core.rag.dbhandler.embedded.digest import digest_of_file
from core.rag.errors import StoreFullError
from core.rag.maintenance import restore as restore_module
from core.rag.maintenance.restore import restore


@pytest.mark.parametrize("step", ["_copy_graph", "_swap"])
async def test_an_interrupted_restore_leaves_nothing_but_a_whole_graph(
    backup: Path, file: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    """The thread went on after the interruption, and wrote its copy again where it had been removed."""
    old = digest_of_file(file)
    reached, interrupted, ended = threading.Event(), threading.Event(), threading.Event()
    real = getattr(restore_module, step)

    def slow(*arguments: Any, **options: Any) -> Any:
        reached.set()
        interrupted.wait(20)
        try:
            return real(*arguments, **options)
        finally:
            ended.set()

    monkeypatch.setattr(restore_module, step, slow)
    task = asyncio.create_task(restore(f"embedded:{file}", backup, force=True))
    await interrupt(task, reached, interrupted)
    assert await asyncio.to_thread(ended.wait, 20)
    assert not file.with_name(f".{file.name}.restoring").exists()
    assert digest_of_file(file) == (old if step == "_copy_graph" else digest_of_file(backup))


async def interrupt(task: asyncio.Future[Any], reached: threading.Event, interrupted: threading.Event) -> None:
    """Cancel a task where it is held up, let it go on then, and see that it ends as cancelled."""
    await asyncio.to_thread(reached.wait, 20)
    task.cancel()
    await asyncio.wait([task], timeout=0.1)
    interrupted.set()
    with pytest.raises(asyncio.CancelledError):
        await task


async def read_when_interrupted(work: Awaitable[Any], monkeypatch: pytest.MonkeyPatch) -> int:
    """Interrupt work when the first node of a graph is read, and return how many nodes and edges it reads in all."""
    reached, interrupted = threading.Event(), threading.Event()
    real = digest_module._number
    read = 0

    def counted(*arguments: Any) -> int:
        nonlocal read
        read += 1
        reached.set()
        interrupted.wait(20)
        return real(*arguments)

    monkeypatch.setattr(digest_module, "_number", counted)
    monkeypatch.setattr(digest_module, "_PAGE", 1)
    task = asyncio.ensure_future(work)
    await interrupt(task, reached, interrupted)
    monkeypatch.undo()
    return read


async def test_an_interrupted_restore_reads_no_further(
    backup: Path, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old, whole = digest_of_file(file), digest_of_file(backup)
    read = await read_when_interrupted(restore(f"embedded:{file}", backup, force=True), monkeypatch)
    assert read < 10 < sum(whole.nodes.values())
    assert digest_of_file(file) == old
    assert not file.with_name(f".{file.name}.restoring").exists()


async def test_an_interrupted_restore_of_an_export_reads_no_further(
    kb: KnowledgeBase, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await kb.export(tmp_path / "all.jsonl")
    new = tmp_path / "new" / "graph.grafeo"
    assert await read_when_interrupted(restore(f"embedded:{new}", tmp_path / "all.jsonl"), monkeypatch) < 10
    assert list(new.parent.iterdir()) == []


async def test_a_restore_on_a_full_disk_leaves_no_part_of_a_graph(
    kb: KnowledgeBase, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await kb.export(tmp_path / "all.jsonl")
    new = tmp_path / "new" / "graph.grafeo"

    def cannot_be_made(name: str) -> None:
        Path(f"{name}.creating").touch()
        raise RuntimeError("GRAFEO-X003: I/O error: No space left on device (os error 28)")

    monkeypatch.setattr("grafeo.GrafeoDB", cannot_be_made)
    with pytest.raises(StoreFullError, match="no room for the new graph"):
        await restore(f"embedded:{new}", tmp_path / "all.jsonl")
    assert list(new.parent.iterdir()) == []


async def test_an_interrupted_backup_reads_no_further_and_is_not_kept(
    kb: KnowledgeBase, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = sorted(tmp_path.iterdir())
    assert await read_when_interrupted(kb.backup(tmp_path / "copy.bak"), monkeypatch) < 10
    assert sorted(tmp_path.iterdir()) == before
    assert (await kb.backup(tmp_path / "copy.bak")).nodes["Document"]
