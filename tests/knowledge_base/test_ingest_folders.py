"""Ingesting folders: what vanished, what was renamed, what cannot be read."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from core.rag import KnowledgeBase, MemGraphClient
from core.rag.errors import NotFoundError, SourceError
from libs.dataloader import Known, LoadResult, SourceInfo
from libs.dataloader.walk import Found, Walker
from tests.embedders import HashEmbedder
from tests.graphs import orphans
from tests.knowledge_base.notes import document, text


async def test_prune_removes_what_vanished_from_a_folder_and_nothing_else(kb: KnowledgeBase, tmp_path: Path) -> None:
    folder, other = tmp_path / "docs", tmp_path / "other"
    for where in (folder, other):
        where.mkdir()
        (where / "stays.md").write_text(text(0))
        (where / "goes.md").write_text(text(1))
    await kb.ingest([folder, other, document("note", text(2))])
    (folder / "goes.md").unlink()

    kept = await kb.ingest(folder)
    assert kept.documents.deleted == 0
    pruned = await kb.ingest(folder, prune=True)

    assert pruned.documents.deleted == 1
    assert {row["path"].rsplit("/", 2)[-2:][0] for row in await kb.client.list_documents()} >= {"docs", "other"}
    assert len(await kb.client.list_documents()) == 4
    assert not any((await orphans(kb.client)).values())


async def test_prune_of_a_folder_removes_what_vanished_though_the_folder_around_it_had_it(
    kb: KnowledgeBase, tmp_path: Path
) -> None:
    inner = tmp_path / "inner"
    inner.mkdir()
    given = inner / "given.md"
    for name in (inner / "goes.md", inner / "stays.md", given, tmp_path / "top.md"):
        name.write_text(text(0))
    await kb.ingest([tmp_path, inner, document(str(given), text(0))])
    (inner / "goes.md").unlink()
    given.unlink()

    pruned = await kb.ingest(inner, prune=True)

    assert pruned.documents.deleted == 1
    left = {row["path"].rsplit("/", 1)[-1] for row in await kb.client.list_documents()}
    assert left == {"stays.md", "given.md", "top.md"}, "what a caller gave comes from no folder"


async def test_prune_of_a_folder_removes_files_that_were_ingested_by_their_names_and_are_gone(
    kb: KnowledgeBase, tmp_path: Path
) -> None:
    """As `mgrag ingest docs/*` of one day, and `mgrag ingest docs --prune` of another."""
    docs, beside, store = tmp_path / "docs", tmp_path / "others", tmp_path / "docs" / "store.zip"
    for number, place in enumerate(("a.md", "b.md", "given.md", "deep/c.md", "deep/d.md")):
        (docs / place).parent.mkdir(parents=True, exist_ok=True)
        (docs / place).write_text(text(number % 4))
    beside.mkdir()
    (beside / "a.md").write_text(text(0))
    (docs / "link.md").symlink_to(beside / "a.md")
    store.touch()

    class Archive:
        """A loader of the caller, which calls its source a file, as it is one."""

        source = SourceInfo("store.zip", "file", store.as_uri())

        async def load(self, known: Known | None = None) -> AsyncIterator[LoadResult]:
            yield document("e.md", text(3), uri=f"{store.as_uri()}/e.md")

    given = document(str(docs / "given.md"), text(2))
    await kb.ingest([*docs.glob("*.md"), docs / "deep", beside / "a.md", Archive(), given])
    for place in ("a.md", "given.md", "link.md", "deep/d.md"):
        (docs / place).unlink()
    (beside / "a.md").unlink()

    report = await kb.ingest(docs, exclude=["b.md"], prune=True)

    assert report.documents.deleted == 3
    left = {row["uri"].removeprefix(f"{tmp_path.as_uri()}/") for row in await kb.documents()}
    assert left == {"docs/b.md", "docs/given.md", "docs/deep/c.md", "docs/store.zip/e.md", "others/a.md"}
    assert not any((await orphans(kb.client)).values())


async def test_a_folder_that_is_ingested_under_two_names_is_told(kb: KnowledgeBase, tmp_path: Path) -> None:
    folder, link = tmp_path / "docs", tmp_path / "link"
    folder.mkdir()
    (folder / "a.md").write_text(text(0))
    link.symlink_to(folder)
    assert not (await kb.ingest(folder)).warnings
    (warning,) = (await kb.ingest(link)).warnings
    assert f"{link} and file://{folder} are one folder" in warning
    await kb.client.delete_documents([row["id"] for row in await kb.client.documents_from(f"file://{folder}")])
    assert not (await kb.ingest(link)).warnings


async def test_a_folder_that_was_renamed_is_told(kb: KnowledgeBase, tmp_path: Path) -> None:
    folder, named, other = tmp_path / "docs", tmp_path / "manual", tmp_path / "other"
    for place in (folder / "deep" / "a.md", folder / "b.md", folder / "c.md", other / "b.md"):
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text(0))
    await kb.ingest(folder)
    folder.rename(named)
    (named / "c.md").unlink()
    (warning,) = (await kb.ingest(named, prune=True)).warnings
    assert warning.startswith(f"file://{folder} is no longer there, and its documents are in file://{named} (2 of 3).")
    assert warning.endswith(f"(mgrag delete --source file://{folder}).")
    assert not (await kb.ingest(other)).warnings, "one file of a common name is no sign"
    await kb.client.delete_documents([row["id"] for row in await kb.client.documents_from(f"file://{folder}")])
    assert not (await kb.ingest(named)).warnings


async def test_a_large_folder_of_another_machine_is_not_read_for_a_small_one(
    kb: KnowledgeBase, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    large, small = tmp_path / "large", tmp_path / "small"
    for folder, files in ((large, 4), (small, 2)):
        folder.mkdir()
        for number in range(files):
            (folder / f"{number}.md").write_text(text(number))
    await kb.ingest([large, small])
    large.rename(tmp_path / "elsewhere")
    asked: list[str] = []
    read = kb.client.documents_of_source

    async def reading(source: str) -> list[dict[str, Any]]:
        asked.append(source)
        return await read(source)

    monkeypatch.setattr(kb.client, "documents_of_source", reading)
    report = await kb.ingest(small)
    assert (report.documents.unchanged, report.warnings, asked) == (2, [], [])


async def test_prune_keeps_a_file_that_could_not_be_read_this_time(kb: KnowledgeBase, tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text(text(0))
    await kb.ingest(tmp_path)
    (tmp_path / "a.md").write_bytes(b"")
    report = await kb.ingest(tmp_path, prune=True)
    assert len(report.documents.failed) == 1
    assert report.documents.deleted == 0
    assert await kb.client.find_document(str(tmp_path / "a.md")) is not None


@pytest.mark.parametrize("prune", [True, False])
async def test_an_empty_folder_may_be_a_drive_that_is_not_mounted(
    kb: KnowledgeBase, tmp_path: Path, prune: bool
) -> None:
    drive = tmp_path / "drive"
    drive.mkdir()
    for number in range(3):
        (drive / f"{number}.md").write_text(text(number))
    await kb.ingest(drive)
    drive.rename(tmp_path / "elsewhere")
    drive.mkdir()

    report = await kb.ingest(drive, prune=prune)

    assert report.documents.deleted == 0 and len(await kb.documents()) == 3
    advice = f"A drive may not be mounted. If they are gone, delete them (mgrag delete --source {drive.as_uri()})."
    assert sum(advice in warning for warning in report.warnings) == 1
    (drive / "0.md").write_text(text(0))
    assert (await kb.ingest(drive, prune=prune)).documents.deleted == 2 * prune


@pytest.mark.parametrize("prune", [True, False])
async def test_an_empty_folder_within_others_may_be_a_drive_that_is_not_mounted(
    kb: KnowledgeBase, tmp_path: Path, prune: bool
) -> None:
    drive, other = tmp_path / "mnt" / "drive", tmp_path / "other"
    for place in (drive / "0.md", drive / "deep" / "1.md", other / "2.md", other / "3.md", tmp_path / "4.md"):
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text(0))
    await kb.ingest(tmp_path)
    drive.rename(tmp_path.parent / f"{tmp_path.name} of before")
    drive.mkdir()
    (other / "3.md").unlink()

    report = await kb.ingest(tmp_path, prune=prune)

    left = {Path(row["path"]).name for row in await kb.documents()}
    assert left == {"0.md", "1.md", "2.md", "4.md", *(() if prune else ("3.md",))}
    advice = f"Nothing at all is in {drive.as_uri()}, of which 2 documents are stored. A drive may not be mounted"
    assert sum(advice in warning for warning in report.warnings) == 1
    drive.rmdir()
    drive.parent.rmdir()
    assert (await kb.ingest(tmp_path, prune=prune)).documents.deleted == 2 * prune


async def test_what_lies_behind_a_link_that_leads_nowhere_for_now_stays(
    kb: KnowledgeBase, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    drive, notes = tmp_path / "drive", tmp_path / "notes"
    for number, folder in enumerate((drive, notes)):
        folder.mkdir()
        (folder / f"{folder.name}.md").write_text(text(number))
    (drive / "single.md").write_text(text(0))
    (notes / "folder").symlink_to(drive)
    (notes / "file.md").symlink_to(tmp_path / "single.md")
    (tmp_path / "single.md").write_text(text(1))
    monkeypatch.chdir(tmp_path)
    assert (await kb.ingest("notes")).documents.added == 4
    for away in (drive, tmp_path / "single.md"):
        away.rename(tmp_path / f"{away.name} of before")

    report = await kb.ingest("notes", prune=True)

    assert report.documents.deleted == 0 and len(await kb.documents()) == 4
    assert [item.reason for item in report.documents.failed] == ["it is a broken symbolic link"] * 2
    for link in ("folder", "file.md"):
        (notes / link).unlink()
    assert (await kb.ingest("notes", prune=True)).documents.deleted == 3


@pytest.mark.skipif(sys.platform != "linux", reason="names that are no UTF-8, and at most 255 bytes long")
async def test_prune_sees_a_file_whatever_its_name_and_not_a_folder_in_its_place(
    kb: KnowledgeBase, tmp_path: Path
) -> None:
    (tmp_path / "a.md").write_text(text(0))
    (tmp_path / "thing").write_text(text(1))
    for name in (b"100% caf\xe9.txt", b"\xe9" * 120 + b".txt"):
        Path(os.fsdecode(os.fsencode(tmp_path) + b"/" + name)).write_text(text(2))
    assert (await kb.ingest(tmp_path)).documents.added == 4

    left_out = await kb.ingest(tmp_path, include=["*.md"], prune=True)
    assert left_out.documents.deleted == 0

    (tmp_path / "thing").unlink()
    (tmp_path / "thing").mkdir()
    assert (await kb.ingest(tmp_path, prune=True)).documents.deleted == 1
    assert len(await kb.client.list_documents()) == 3


async def test_a_missing_source_alone_is_an_error_and_among_others_a_failure(kb: KnowledgeBase, tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="nowhere"):
        await kb.ingest(tmp_path / "nowhere")
    report = await kb.ingest([tmp_path / "nowhere", document("a", text(0))])
    assert report.documents.added == 1
    assert "nowhere" in report.documents.failed[0].path


async def test_a_part_of_a_folder_that_is_ingested_again_keeps_its_links_to_the_rest(
    kb: KnowledgeBase, tmp_path: Path
) -> None:
    """A note that was ingested alone lost its links to notes of other folders."""
    files = {
        "notes/a.md": "See [[Mill]], [the dam](/works/Dam.md) and [[Nobody]].",
        "works/Mill.md": "A mill.",
        "works/Dam.md": "A dam, see [[a]].",
    }
    for name, content in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(content)

    async def links() -> list[tuple[str, str]]:
        rows = await kb.client.read(
            "MATCH (a:Document)-[:REFERENCES]->(b:Document) WHERE a.namespace = $namespace "
            "RETURN a.uri AS a, b.uri AS b ORDER BY a, b"
        )
        return [(row["a"].rsplit("/", 1)[1], row["b"].rsplit("/", 1)[1]) for row in rows]

    await kb.ingest(tmp_path)
    every = [("a.md", "Dam.md"), ("a.md", "Mill.md"), ("Dam.md", "a.md")]
    assert sorted(await links()) == sorted(every)
    for part in ("notes/a.md", "works", "notes"):
        assert (await kb.ingest(tmp_path / part)).documents.updated == 0
        assert sorted(await links()) == sorted(every)
    (tmp_path / "notes/a.md").write_text("Look at [[Mill]] and [the dam](/works/Dam.md).")
    assert (await kb.ingest(tmp_path / "notes/a.md")).documents.updated == 1
    assert sorted(await links()) == sorted(every)


async def test_the_folder_around_files_that_are_named_one_by_one_is_listed_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As `mgrag ingest notes/*.md`: it was listed anew for each file with a link."""
    folder = tmp_path / "notes"
    folder.mkdir()
    files = [folder / f"{number}.md" for number in range(6)]
    for number, file in enumerate(files):
        file.write_text(f"Note {number} leads to [[{(number + 1) % 6}]].")
    listed: list[Walker] = []
    walk = Walker.walk

    def counted(walker: Walker) -> Iterator[Found]:
        listed.append(walker)
        return walk(walker)

    async with KnowledgeBase.open("embedded::memory:", embedder=HashEmbedder()) as kb:
        await kb.ingest(folder)
        monkeypatch.setattr(Walker, "walk", counted)
        report = await kb.ingest(files)
    assert report.documents.unchanged == 6
    assert len(listed) == 1


async def test_a_relative_path_never_means_a_document_of_elsewhere(
    kb: KnowledgeBase, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("first", "second", "third"):
        (tmp_path / name / "docs").mkdir(parents=True)
        monkeypatch.chdir(tmp_path / name)
        for file in ("a.md", "b.md") if name != "third" else ():
            Path("docs", file).write_text(text(0))
        await kb.ingest("docs")
    for name in ("second", "first"):
        (tmp_path / name / "docs" / "a.md").unlink()

    for where in (tmp_path / "third", tmp_path):
        monkeypatch.chdir(where)
        for use in (kb.delete, kb.show):
            with pytest.raises(NotFoundError, match="Several documents have the path"):
                await use("docs/a.md")
    for name in ("second", "first"):
        monkeypatch.chdir(tmp_path / name)
        shown = await kb.show("docs/a.md")
        assert shown["uri"] == (tmp_path / name / "docs" / "a.md").as_uri()
        assert await kb.delete("docs/a.md")
        assert shown["uri"] not in {row["uri"] for row in await kb.documents()}
    assert len(await kb.documents()) == 2
    monkeypatch.chdir(tmp_path)
    assert await kb.delete((tmp_path / "first" / "docs" / "b.md").as_uri())
    assert await kb.delete("docs/b.md"), "the only one that is left"


async def test_a_copy_of_the_graph_in_a_folder_is_no_document(kb: KnowledgeBase, tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text(text(0))
    await kb.ingest(tmp_path)
    for name in ("copy.jsonl", "copy.jsonl.gz"):
        await kb.export(tmp_path / name)

    again = await kb.ingest(tmp_path)

    assert again.documents.unchanged == 1
    assert {failure.reason for failure in again.documents.failed} == {"it is a copy of a graph (mgrag import loads it)"}
    assert len(again.documents.failed) == 2
    assert len(await kb.client.list_documents()) == 1


async def test_files_that_are_named_one_by_one_share_transactions(kb: KnowledgeBase, tmp_path: Path) -> None:
    files = [tmp_path / f"{number}.md" for number in range(60)]
    for number, file in enumerate(files):
        file.write_text(f"# Note {number}\n\nThe mill turned {number} times.\n")
    told: list[int] = []
    report = await kb.ingest(
        [*files, files[0], tmp_path / "gone.md"], progress=lambda so_far: told.append(so_far.chunks)
    )

    assert (report.documents.added, report.documents.failed[0].path) == (60, str(tmp_path / "gone.md"))
    assert len(told) < 5
    assert {tuple(source["uri"] for source in one["sources"]) for one in await kb.documents()} == {
        (file.as_uri(),) for file in files
    }

    files[7].write_text("# Note 7\n\nThe mill stood still.\n")
    report = await kb.ingest([tmp_path, *files])  # now from two sources each
    assert (report.documents.updated, report.documents.unchanged) == (1, 59)
    assert {len(one["sources"]) for one in await kb.documents()} == {2}
    assert not any((await orphans(kb.client)).values())


async def test_a_file_that_is_written_while_its_other_source_asks_for_it_is_counted_once(
    kb: KnowledgeBase, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("a", "b"):
        (tmp_path / f"{name}.md").write_text(text(1))
    asked, written = asyncio.Event(), asyncio.Event()
    ensure, states, write = (
        MemGraphClient.ensure_sources,
        MemGraphClient.document_states,
        MemGraphClient.write_documents,
    )

    async def late_ensure(self: MemGraphClient, sources: Iterable[SourceInfo]) -> None:
        await asyncio.wait_for(asked.wait(), 30)  # what comes behind this marks the file as one that the run writes
        await ensure(self, sources)

    async def slow_states(self: MemGraphClient, ids: Sequence[str], *now: str) -> list[dict[str, Any]]:
        if len(ids) == 1 and not asked.is_set():
            asked.set()
            await asyncio.wait_for(written.wait(), 30)
        return await states(self, ids, *now)

    async def noted_write(self: MemGraphClient, *given: Any) -> Any:
        outcome = await write(self, *given)
        written.set()
        return outcome

    monkeypatch.setattr(MemGraphClient, "ensure_sources", late_ensure)
    monkeypatch.setattr(MemGraphClient, "document_states", slow_states)
    monkeypatch.setattr(MemGraphClient, "write_documents", noted_write)
    report = await kb.ingest([tmp_path, tmp_path / "a.md"])
    assert (report.documents.added, report.documents.updated, report.documents.unchanged) == (2, 0, 0)
    assert sorted(row["type"] for row in (await kb.show("a.md"))["sources"]) == ["file", "folder"]
