"""Backups are verified, restores are one step, and neither ever leaves half of something."""

from __future__ import annotations

import asyncio
import contextvars
import gzip
import json
import os
import shutil
from array import array
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from core.rag import KnowledgeBase
from core.rag.dbhandler import MemGraphClient
from core.rag.dbhandler.embedded import engine as grafeo_engine
from core.rag.dbhandler.embedded.digest import Digest, digest_of_file
from core.rag.dbhandler.embedded.store import EmbeddedStore
from core.rag.errors import BackupError, StoreFullError, StoreLockedError, StoreReadOnlyError, StoreUnavailableError
from core.rag.maintenance import backup as backup_module
from core.rag.maintenance import restore as restore_module
from core.rag.maintenance.restore import restore
from core.rag.settings import Settings
from libs.dataloader import Document
from tests.graphs import snapshot
from tests.maintenance.conftest import documents, opened
from tests.permissions import locked


async def test_a_backup_is_the_graph_and_opens_like_one(kb: KnowledgeBase, tmp_path: Path) -> None:
    before = await snapshot(kb.client)
    report = await kb.backup(tmp_path / "copy.bak")
    assert report.kind == "graph"
    assert report.nodes == dict(sorted((await kb.client.counts())["nodes"].items()))
    assert report.checksum == digest_of_file(tmp_path / "copy.bak").checksum
    async with opened(tmp_path / "copy.bak") as copy:
        assert await snapshot(copy.client) == before
        for mode in ("keyword", "vector"):
            assert await copy.search("mill turned", mode=mode) == await kb.search("mill turned", mode=mode)
        await copy.ingest([Document(path="later", content="It rests.")])
        assert await snapshot(copy.client) != before
    assert await snapshot(kb.client) == before


async def test_a_backup_overwrites_nothing(kb: KnowledgeBase, tmp_path: Path) -> None:
    there = tmp_path / "there"
    there.write_text("precious")
    before = sorted(tmp_path.iterdir())
    for target in (there, tmp_path, tmp_path / "missing" / "copy", there / "copy"):
        with pytest.raises(BackupError):
            await kb.backup(target)
    assert there.read_text() == "precious"
    assert sorted(tmp_path.iterdir()) == before


async def test_a_copy_that_differs_is_not_kept(
    kb: KnowledgeBase, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def partly(db: Any, destination: Path, name: Path) -> None:
        other = type(db)()
        other.execute_cypher("CREATE (d:Document {id: 'x'})")
        grafeo_engine.save(other, destination, name)

    monkeypatch.setattr(backup_module, "save", partly)
    before = sorted(tmp_path.iterdir())
    with pytest.raises(BackupError, match="does not hold what the graph does"):
        await kb.backup(tmp_path / "copy.bak")
    assert sorted(tmp_path.iterdir()) == before


async def test_a_checksum_sees_every_property(kb: KnowledgeBase, file: Path, tmp_path: Path) -> None:
    await kb.close()
    first = digest_of_file(file)
    for statement in (
        "MATCH (d:Document {path: 'note/1'}) SET d.title = 'Another'",
        "MATCH (a:Document)-[r:REFERENCES]->() WITH r LIMIT 1 SET r.text = 'another'",
        "MATCH (v:Vector) WITH v LIMIT 1 SET v.embedding = " + str([0.5] * 32),
    ):
        other = tmp_path / "other.grafeo"
        shutil.copyfile(file, other)
        handles = [grafeo_engine.open_engine(other)]
        handles[0].execute_cypher(statement)
        grafeo_engine.close_engine(handles)
        found = digest_of_file(other)
        assert (found.nodes, found.edges) == (first.nodes, first.edges)
        assert found.checksum != first.checksum, statement
        other.unlink()


async def test_a_restore_keeps_the_old_graph_aside(backup: Path, file: Path) -> None:
    old = digest_of_file(file)
    with pytest.raises(BackupError, match="not empty"):
        await restore(f"embedded:{file}", backup)
    assert digest_of_file(file) == old
    report = await restore(f"embedded:{file}", backup, force=True)
    assert digest_of_file(file) == digest_of_file(backup)
    assert report.set_aside is not None
    assert digest_of_file(report.set_aside) == old
    again = await restore(f"embedded:{file}", backup, force=True)
    assert again.set_aside != report.set_aside


async def test_a_restore_to_nowhere_makes_the_graph(backup: Path, tmp_path: Path) -> None:
    target = tmp_path / "sub" / "new.grafeo"
    report = await restore(f"embedded:{target}", backup)
    assert report.set_aside is None
    assert [path.name for path in target.parent.iterdir()] == ["new.grafeo"]
    assert digest_of_file(target) == digest_of_file(backup)


async def test_an_empty_graph_is_replaced_without_asking(backup: Path, tmp_path: Path) -> None:
    target = tmp_path / "empty.grafeo"
    grafeo_engine.close_engine([grafeo_engine.open_engine(target)])
    assert (await restore(f"embedded:{target}", backup)).set_aside is None
    assert digest_of_file(target) == digest_of_file(backup)


async def test_what_a_crash_left_in_the_log_is_kept_aside_too(backup: Path, file: Path, tmp_path: Path) -> None:
    crashed = tmp_path / "crashed.grafeo"
    db = grafeo_engine.open_engine(file)
    db.execute_cypher("CREATE (d:Document {id: 'late', namespace: 'default'})")
    shutil.copyfile(file, crashed)
    shutil.copytree(f"{file}.wal", f"{crashed}.wal")
    handles = [db]
    del db
    grafeo_engine.close_engine(handles)
    report = await restore(f"embedded:{crashed}", backup, force=True)
    assert report.set_aside is not None
    assert digest_of_file(report.set_aside) == digest_of_file(file)
    assert digest_of_file(crashed) == digest_of_file(backup)
    assert not Path(f"{crashed}.wal").exists()


@pytest.mark.usefixtures("backup")
async def test_a_link_to_a_graph_with_a_log_is_no_backup(file: Path, tmp_path: Path) -> None:
    Path(f"{file}.wal").mkdir()
    (tmp_path / "link").symlink_to(file)
    with pytest.raises(BackupError, match=rf"in use, not a backup: part of it is in {file}\.wal"):
        await restore(f"embedded:{tmp_path / 'new.grafeo'}", tmp_path / "link")


async def test_a_graph_that_may_not_be_written_is_set_aside_where_that_is_asked_for(
    backup: Path, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = file.read_bytes()

    def refuse(place: Path) -> Any:
        if place == file:
            raise StoreReadOnlyError(f"{file} cannot be opened for writing: this user may not write the file.")
        return grafeo_engine.open_engine(place)

    monkeypatch.setattr(restore_module, "open_engine", refuse)
    with pytest.raises(BackupError, match=r"may not write.*--force"):
        await restore(f"embedded:{file}", backup)
    report = await restore(f"embedded:{file}", backup, force=True)
    assert report.set_aside is not None
    assert Path(report.set_aside).read_bytes() == old
    assert digest_of_file(file) == digest_of_file(backup)


async def test_an_open_graph_is_not_replaced(backup: Path, file: Path) -> None:
    async with opened(file) as kb:
        before = await snapshot(kb.client)
        with pytest.raises(StoreLockedError):
            await restore(f"embedded:{file}", backup, force=True)
        assert await snapshot(kb.client) == before


@pytest.mark.parametrize("step", ["_copy_graph", "_settle", "_keep", "sync_folder"])
async def test_a_restore_that_fails_midway_leaves_the_old_graph(
    step: str, backup: Path, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = digest_of_file(file)

    def fail(*_: object, **__: object) -> Digest:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(restore_module, step, fail)
    with pytest.raises(BackupError):
        await restore(f"embedded:{file}", backup, force=True)
    assert digest_of_file(file) == old
    assert not [path for path in file.parent.iterdir() if path.name.endswith(".restoring")]


async def test_a_restore_that_was_killed_before_the_swap_leaves_a_graph_that_opens(
    backup: Path, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = digest_of_file(file)

    def killed(_: Path) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(restore_module, "sync_folder", killed)  # what comes behind the second name of the graph
        with pytest.raises(KeyboardInterrupt):
            await restore(f"embedded:{file}", backup, force=True)
    (kept,) = file.parent.glob(f"{file.name}.before-restore-*")
    assert kept.samefile(file)
    async with opened(file, settings=Settings(read_only=True)) as kb:
        assert await kb.client.list_documents()
    async with opened(file) as kb:
        await kb.ingest([Document(path="later", content="Written after the restore that was killed.")])
    assert not kept.exists()
    report = await restore(f"embedded:{file}", backup, force=True)
    assert report.set_aside is not None
    async with opened(report.set_aside) as kb:
        assert await kb.client.find_document("later")
    assert digest_of_file(file) != old


async def test_a_disk_that_fails_after_the_swap_leaves_the_new_graph(
    backup: Path, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = 0

    def second_fails(_: Path) -> None:
        nonlocal calls
        calls += 1
        if calls == 2:
            raise OSError(5, "Input/output error")

    monkeypatch.setattr(restore_module, "sync_folder", second_fails)
    with pytest.raises(BackupError, match="new or the old"):
        await restore(f"embedded:{file}", backup, force=True)
    assert digest_of_file(file) == digest_of_file(backup)


async def test_nothing_is_restored_where_nothing_may_be_stored(file: Path, backup: Path) -> None:
    before = file.read_bytes()
    settings = Settings(read_only=True)
    with pytest.raises(StoreReadOnlyError, match="MGRAG_READ_ONLY"):
        await restore(f"embedded:{file}", backup, force=True, settings=settings)
    assert file.read_bytes() == before


async def test_an_export_is_restored_as_a_whole_graph(kb: KnowledgeBase, file: Path, tmp_path: Path) -> None:
    await kb.export(tmp_path / "all.jsonl.gz")
    before = await snapshot(kb.client)
    await kb.delete("note/1")
    await kb.close()
    report = await restore(f"embedded:{file}", tmp_path / "all.jsonl.gz", force=True)
    assert report.kind == "export"
    async with opened(file) as again:
        assert await snapshot(again.client) == before
        assert (await again.ingest(documents())).documents.unchanged == 5


async def test_an_export_of_all_namespaces_of_an_empty_graph_can_be_imported(tmp_path: Path) -> None:
    """It was a file without anything in it; on a server, a backup failed, since it could not read that again."""
    async with opened(tmp_path / "empty.grafeo") as kb:
        written = await kb.export(tmp_path / "all.jsonl", namespaces=list(await kb.namespaces()))
        assert await kb.import_(tmp_path / "all.jsonl", everything=True) == written


async def test_a_compressed_export_unpacks_to_its_own_name(kb: KnowledgeBase, tmp_path: Path) -> None:
    """Programs that unpack it take a name in its header for that of the file: there is none, as of the part of it."""
    await kb.export(tmp_path / "all.jsonl.gz")
    assert (tmp_path / "all.jsonl.gz").read_bytes()[3] == 0  # no flag, so neither a name nor anything else (RFC 1952)
    await kb.export(tmp_path / "all.jsonl")
    assert gzip.decompress((tmp_path / "all.jsonl.gz").read_bytes()).count(b"\n") == len(
        (tmp_path / "all.jsonl").read_bytes().splitlines()
    )


async def test_an_export_has_each_vector_in_as_few_digits_as_tell_it_apart(kb: KnowledgeBase, tmp_path: Path) -> None:
    statement = "MATCH (v:Vector) RETURN v.id AS id, v.embedding AS embedding"
    await kb.ingest(
        [Document(path="note/json", content='It says "embedding":null in a text.', title='"embedding":null')]
    )
    await kb.export(tmp_path / "all.jsonl")
    lines = [json.loads(line) for line in (tmp_path / "all.jsonl").read_text("utf-8").splitlines()]
    written = {line["id"]: line["props"]["embedding"] for line in lines if line.get("node") == "Vector"}
    stored = {row["id"]: row["embedding"] for row in await kb.client.read(statement)}
    assert {key: array("f", vector).tolist() for key, vector in written.items()} == stored
    digits = [
        len(repr(number).split("e")[0].replace(".", "").strip("-0")) for vector in written.values() for number in vector
    ]
    assert max(digits) <= 9
    async with opened(tmp_path / "new.grafeo") as copy:
        await copy.import_(tmp_path / "all.jsonl")
        assert await snapshot(copy.client) == await snapshot(kb.client)


@pytest.mark.parametrize("writers_wait", [True, False])
async def test_an_export_is_of_one_moment_or_fails(
    writers_wait: bool, kb: KnowledgeBase, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = await snapshot(kb.client)
    outside = contextvars.copy_context()
    writing: list[asyncio.Task[Any]] = []
    read = MemGraphClient.read

    async def written_between(client: MemGraphClient, statement: str, **parameters: Any) -> list[dict[str, Any]]:
        if "-[r]->" in statement and not writing:
            more = kb.ingest([Document(path="note/late", content="# Late\n\nThe pond froze.", format="markdown")])
            writing.append(asyncio.create_task(more, context=outside))
            await asyncio.wait(writing, timeout=0.2 if writers_wait else None)
        return await read(client, statement, **parameters)

    if not writers_wait:  # as on a server
        monkeypatch.setattr(EmbeddedStore, "undisturbed", lambda _: nullcontext())
    file = tmp_path / "all.jsonl"
    with monkeypatch.context() as disturbed:
        disturbed.setattr(MemGraphClient, "read", written_between)
        if writers_wait:
            await kb.export(file)
        else:
            with pytest.raises(BackupError, match="Somebody wrote to the namespace meanwhile"):
                await kb.export(file)
    assert (await writing[0]).documents.added == 1
    assert file.exists() == writers_wait
    if writers_wait:
        async with opened(tmp_path / "new.grafeo") as copy:
            await copy.import_(file)
            assert await snapshot(copy.client) == before


async def test_an_export_does_not_hold_half_of_a_document_that_is_deleted_meanwhile(
    kb: KnowledgeBase, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its nodes were there without their edges: an ingest into a copy took it for unchanged, and no search found it."""
    monkeypatch.setattr(EmbeddedStore, "undisturbed", lambda _: nullcontext())  # as on a server
    write = MemGraphClient._write_edges

    async def deleted_between(client: MemGraphClient, *given: Any) -> None:
        await kb.delete("note/0")  # no other refers to it
        await write(client, *given)

    monkeypatch.setattr(MemGraphClient, "_write_edges", deleted_between)
    with pytest.raises(BackupError, match=r"is not there any more\. Somebody wrote to the"):
        await kb.export(tmp_path / "all.jsonl")
    assert not (tmp_path / "all.jsonl").exists()


async def test_an_export_replaces_no_file_that_has_appeared_meanwhile(
    kb: KnowledgeBase, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "all.jsonl"
    read = MemGraphClient.read

    async def appears(client: MemGraphClient, statement: str, **parameters: Any) -> list[dict[str, Any]]:
        file.write_text("of somebody else")
        return await read(client, statement, **parameters)

    monkeypatch.setattr(MemGraphClient, "read", appears)
    with pytest.raises(BackupError, match="cannot be written: File exists"):
        await kb.export(file)
    assert file.read_text() == "of somebody else"
    assert not [path for path in tmp_path.iterdir() if path.name.endswith(".part")]


async def test_of_two_exports_to_one_file_at_once_one_is_whole_and_the_other_is_told(
    kb: KnowledgeBase, tmp_path: Path
) -> None:
    file = tmp_path / "all.jsonl"
    async with opened(tmp_path / "second.grafeo") as second:
        await second.ingest([Document(path="note/0", content="The only one. " * 200)])
        given = await asyncio.gather(kb.export(file), second.export(file), return_exceptions=True)
        told = [error for error in given if isinstance(error, BaseException)]
        assert [type(error) for error in told] == [BackupError]
        exported = await snapshot((second if given[0] in told else kb).client)
    async with opened(tmp_path / "new.grafeo") as copy:
        await copy.import_(file)
        assert await snapshot(copy.client) == exported
    assert not list(tmp_path.glob(".*"))


async def test_the_name_of_an_export_is_on_the_disk(
    kb: KnowledgeBase, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synchronized = set()
    real = os.fsync

    def fsync(descriptor: int) -> None:
        real(descriptor)
        synchronized.add(os.fstat(descriptor).st_ino)

    folder = tmp_path / "elsewhere"
    folder.mkdir()
    monkeypatch.setattr(os, "fsync", fsync)
    await kb.export(folder / "all.jsonl")
    assert {folder.stat().st_ino, (folder / "all.jsonl").stat().st_ino} <= synchronized


async def test_entities_that_both_graphs_have_are_counted_anew_by_an_import(tmp_path: Path) -> None:
    text = "{} Anna Berg of ACME Mills met Karl Stein in Hamburg. Anna Berg likes tea."
    for name in ("one", "two"):
        async with opened(tmp_path / f"{name}.grafeo") as kb:
            await kb.ingest([Document(path=name, content=text.format(name))])
            await kb.export(tmp_path / f"{name}.jsonl")
    async with opened(tmp_path / "one.grafeo") as kb:
        await kb.import_(tmp_path / "two.jsonl")
        assert (await kb.doctor()).healthy
        counts = await kb.client.read("MATCH (e:Entity) WHERE e.name = 'Anna Berg' RETURN e.mention_count AS n")
        assert counts == [{"n": 2}]


async def test_a_backup_of_a_newer_version_is_not_restored(backup: Path, file: Path) -> None:
    handles = [grafeo_engine.open_engine(backup)]
    handles[0].execute_cypher("MATCH (v:SchemaVersion) SET v.version = 1000")
    grafeo_engine.close_engine(handles)
    old = digest_of_file(file)
    with pytest.raises(StoreUnavailableError, match="newer version of memgraph-rag"):
        await restore(f"embedded:{file}", backup, force=True)
    assert digest_of_file(file) == old
    assert {path.name for path in file.parent.iterdir()} == {file.name, backup.name}


async def test_a_copy_that_cannot_be_begun_is_told_like_any_other(kb: KnowledgeBase, tmp_path: Path) -> None:
    """As on a file system for reading only, where what was not made cannot be removed, either."""
    name = "x" * (os.pathconf(tmp_path, "PC_NAME_MAX") - 2)  # no room for what a name gets until the file is finished
    await kb.backup(tmp_path / "copy.bak")
    with pytest.raises(BackupError, match=f"{name} cannot be written: File name too long"):
        await kb.export(tmp_path / name)
    with pytest.raises(BackupError, match=f"The backup to .*/{name} could not be written: File name too long"):
        await kb.backup(tmp_path / name)
    with pytest.raises(BackupError, match=r"could not be restored: File name too long\. The graph is as it was"):
        await restore(f"embedded:{tmp_path / name}", tmp_path / "copy.bak")


async def test_an_export_that_a_full_disk_cannot_hold_leaves_the_graph(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(file) as kb:
        await kb.ingest(documents())
        await kb.export(tmp_path / "all.jsonl")
    before = digest_of_file(file)

    async def full(*_: object) -> None:
        raise StoreFullError("A commit failed: the disk is full. Nothing of it was stored; free space and repeat.")

    monkeypatch.setattr(MemGraphClient, "read_section", full)
    with pytest.raises(StoreFullError, match=r"all\.jsonl could not be restored.* The graph is as it was; free space"):
        await restore(f"embedded:{file}", tmp_path / "all.jsonl", force=True)
    assert digest_of_file(file) == before
    assert {path.name for path in tmp_path.iterdir()} == {file.name, "all.jsonl"}


@pytest.mark.parametrize(
    ("refusal", "said"),
    [
        ("cannot write 32 bytes (os error 28)", "the disk is full; free space"),
        ("Permission denied (os error 13)", "Permission denied"),
    ],
)
def test_why_a_backup_cannot_be_written_is_said(refusal: str, said: str, tmp_path: Path) -> None:
    class Refusing:
        def save(self, file: str) -> None:
            raise RuntimeError(f"GRAFEO-X003: I/O error: {refusal}")

    with pytest.raises(BackupError, match=rf"^The backup to copy could not be written: {said}\.$"):
        grafeo_engine.save(Refusing(), tmp_path / ".copy.part", Path("copy"))


@pytest.mark.skipif(os.name == "nt", reason="folders are locked otherwise there")
async def test_a_backup_in_a_folder_that_may_not_be_entered_is_not_restored(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    folder = tmp_path_factory.mktemp("backups")
    with (
        locked(folder),
        pytest.raises(BackupError, match=r"backup\.bak cannot be read: this user may not enter its folder"),
    ):
        await restore("embedded:graph.grafeo", folder / "backup.bak")
