"""Ingesting: what is added, replaced, reused, pruned and deleted."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.embedders import HashEmbedder
from tests.graphs import orphans, snapshot

from core.rag import KnowledgeBase, MemGraphClient
from core.rag.errors import EmbeddingError, InvalidInputError, ModelMismatchError, SourceError
from core.rag.indexing import TextSplitter
from core.rag.settings import Settings
from dbhandler.kit import PATIENCE_SECONDS
from libs.dataloader import Document, DocumentChunk, Known, Link, SourceInfo
from libs.dataloader.types import ChunkMetadata

PARAGRAPHS = [
    "The tide mill stands at the end of the bay and turns with the ebb.",
    "Margaret Harrow borrowed four hundred pounds from a shipwright.",
    "Two pairs of burr stones came by ship from France in 1841.",
    "The northern sea gate leaks, and the ground behind it is hollow.",
]


def text(*numbers: int) -> str:
    return "\n\n".join(f"# Part {number}\n\n{PARAGRAPHS[number] * 12}" for number in numbers)


def document(path: str, content: str, **more: object) -> Document:
    return Document(path=path, content=content, format="markdown", **more)  # type: ignore[arg-type]


async def test_a_first_ingest_adds_documents_with_chunks_vectors_and_a_source(kb: KnowledgeBase) -> None:
    report = await kb.ingest([document("a", text(0, 1)), document("b", text(2))])

    assert report.documents.added == 2
    assert report.documents.failed == []
    assert report.chunks == report.vectors.embedded >= 3
    counts = await kb.client.counts()
    assert counts["nodes"]["Document"] == 2
    assert counts["nodes"]["DocumentChunk"] == counts["nodes"]["Vector"] == report.chunks
    assert counts["edges"]["CHUNK_OF"] == counts["edges"]["EMBEDDING_OF"] == report.chunks
    assert counts["edges"]["SOURCED_FROM"] == 2
    assert not any((await orphans(kb.client)).values())


async def test_a_second_ingest_of_the_same_changes_nothing(kb: KnowledgeBase) -> None:
    documents = [document("a", text(0, 1)), document("b", text(2))]
    await kb.ingest(documents)
    before = await snapshot(kb.client)

    report = await kb.ingest(documents)

    assert (report.documents.added, report.documents.updated, report.documents.unchanged) == (0, 0, 2)
    assert (report.chunks, report.vectors.embedded, report.vectors.reused) == (0, 0, 0)
    assert await snapshot(kb.client) == before


async def test_a_changed_document_embeds_only_its_changed_chunks_and_equals_a_fresh_graph(kb: KnowledgeBase) -> None:
    await kb.ingest([document("a", text(0, 1, 2))])
    chunks_before = {chunk["chunk_id"] for chunk in await kb.client.get_document_chunks("a")}

    report = await kb.ingest([document("a", text(0, 3, 2))])

    assert (report.documents.updated, report.documents.added) == (1, 0)
    assert 0 < report.vectors.embedded < report.chunks
    assert report.vectors.embedded + report.vectors.reused == report.chunks
    chunks_after = {chunk["chunk_id"] for chunk in await kb.client.get_document_chunks("a")}
    assert chunks_before & chunks_after, "chunks whose text stayed keep their nodes"
    async with KnowledgeBase.open("embedded::memory:", namespace=kb.namespace, embedder=HashEmbedder()) as fresh:
        await fresh.ingest([document("a", text(0, 3, 2))])
        assert await snapshot(kb.client) == await snapshot(fresh.client)


async def test_equal_texts_are_two_documents_that_share_vectors(kb: KnowledgeBase) -> None:
    first = await kb.ingest([document("a.txt", text(0, 1))])
    second = await kb.ingest([document("copy/a.txt", text(0, 1))])

    assert second.documents.added == 1
    assert (second.vectors.embedded, second.vectors.reused) == (0, first.chunks)
    counts = await kb.client.counts()
    assert counts["nodes"]["Document"] == 2
    assert counts["nodes"]["Vector"] == first.chunks
    assert counts["edges"]["EMBEDDING_OF"] == 2 * first.chunks

    await kb.delete("a.txt")
    assert not any((await orphans(kb.client)).values())
    hits = await kb.search(PARAGRAPHS[0], mode="vector")
    assert {hit.path for hit in hits} == {"copy/a.txt"}

    await kb.delete("copy/a.txt")
    assert (await kb.client.counts())["nodes"] == {"VectorStore": 1}


async def test_the_same_path_twice_in_one_run_ends_as_the_last(kb: KnowledgeBase) -> None:
    await kb.ingest([document("a", text(0)), document("b", text(1)), document("a", text(2)), document("a", text(3))])
    found = await kb.client.find_document("a")
    assert found is not None
    assert found["content"] == text(3)
    assert not any((await orphans(kb.client)).values())


async def test_metadata_alone_can_change(kb: KnowledgeBase) -> None:
    await kb.ingest([document("a", text(0), metadata={"author": "Ines"})])
    report = await kb.ingest([document("a", text(0), metadata={"author": "Tomasz"})])
    assert report.documents.updated == 1
    assert report.vectors.embedded == 0
    found = await kb.client.find_document("a")
    assert found is not None
    assert found["metadata"] == {"author": "Tomasz"}


async def test_a_document_that_cannot_be_stored_is_reported_and_the_rest_goes_on(kb: KnowledgeBase) -> None:
    report = await kb.ingest(
        [document("good", text(0)), document("bad", text(1), metadata={"x": object()}), document("", text(2))]
    )
    assert report.documents.added == 1
    assert [item.path for item in report.documents.failed] == ["bad", ""]
    assert "JSON" in report.documents.failed[0].reason


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("content", None, "content of the document 'rows/2' must be text, but is None"),
        ("content", b"bytes", "content of the document 'rows/2' must be text, but is of type bytes"),
        ("path", 2, "path of the document 2 must be text, but is of type int"),
        ("title", 2, "title of the document 'rows/2' must be text, but is of type int"),
    ],
)
async def test_a_document_that_is_made_of_other_than_texts_is_reported(
    kb: KnowledgeBase, field: str, value: object, said: str
) -> None:
    """Rows of a database, say: the others are stored."""
    odd = document("rows/2", text(1))
    setattr(odd, field, value)

    report = await kb.ingest([document("rows/1", text(0)), odd, document("rows/3", text(2))])

    assert report.documents.added == 2
    assert [(failure.path, said in failure.reason) for failure in report.documents.failed] == [(str(odd.path), True)]


async def test_half_an_emoji_anywhere_in_a_document_loses_nothing(kb: KnowledgeBase) -> None:
    half = "\ud83d"
    broken = [
        document("content", f"{text(0)} {half}"),
        document("title", text(1), title=f"A {half} title"),
        document("metadata", text(2), metadata={"tags": [f"x{half}"], f"key{half}": 1}),
        document("links", text(3), links=(Link("https://example.org/" + half, half),)),
        document("records", text(0), records=[(0, {"name": f"Half {half} Co"})]),
        document("path" + half, text(1)),
    ]
    report = await kb.ingest([document("good", text(0)), *broken, document("too", text(1))])

    assert (report.documents.added, report.documents.failed) == (8, [])
    found = await kb.client.find_document("content")
    assert found is not None
    assert found["content"] == f"{text(0)} \ufffd"
    assert "path\\ud83d" in {row["path"] for row in await kb.client.list_documents()}
    assert (await kb.ingest(broken)).documents.unchanged == 6


async def test_what_the_graph_refuses_is_reported_and_the_rest_goes_on(tmp_path: Path) -> None:
    """The embedded engine keeps no text of more than 16 MiB."""
    async with KnowledgeBase.open(f"embedded:{tmp_path}/g.grafeo", embedder=HashEmbedder()) as kb:
        large = document("large", text(1), metadata={"scan": "x" * 17_000_000})
        report = await kb.ingest([document("first", text(0)), large, document("last", text(2))])

        assert (report.documents.added, report.vectors.embedded) == (2, report.chunks)
        assert [item.path for item in report.documents.failed] == ["large"]
        assert "16 MiB" in report.documents.failed[0].reason
        assert {row["path"] for row in await kb.client.list_documents()} == {"first", "last"}
        assert not any((await orphans(kb.client)).values())


async def test_a_text_that_the_graph_does_not_keep_is_not_embedded_first(tmp_path: Path) -> None:
    embedder = HashEmbedder()
    async with KnowledgeBase.open(f"embedded:{tmp_path}/g.grafeo", embedder=embedder) as kb:
        letters = "ä" * ((16 << 20) // 2)
        report = await kb.ingest([document("long", f"{letters}x"), document("short", text(0))])
        assert [item.path for item in report.documents.failed] == ["long"]
        assert "16,777,217 bytes" in report.documents.failed[0].reason
        assert report.documents.added == 1
        assert embedder.embedded and not any("ä" in given for given in embedder.embedded)


async def test_progress_says_how_long_it_has_taken(kb: KnowledgeBase) -> None:
    seconds: list[float] = []
    report = await kb.ingest([document("a", text(0))], progress=lambda so_far: seconds.append(so_far.seconds))
    assert 0 < seconds[0] < report.seconds


class Slow:
    """A site that makes one wait."""

    source = SourceInfo("slow", "web", "https://slow.example/")

    def __init__(self, wait: Callable[[int], Awaitable[None]]) -> None:
        self._wait = wait

    async def load(self, known: Known | None = None) -> AsyncIterator[Document]:
        for number in range(3):
            await self._wait(number)
            yield document(f"https://slow.example/{number}", text(number))


async def test_a_stop_interrupts_a_loader_that_waits(kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("core.rag.indexing.stopping.PATIENCE_SECONDS", 0)
    stop = asyncio.Event()

    async def wait(number: int) -> None:
        if number == 2:
            stop.set()
            await asyncio.Event().wait()  # for ever

    report = await kb.ingest(Slow(wait), stop=stop)
    assert report.interrupted
    assert report.documents.added == 2
    assert (await kb.client.counts())["nodes"]["Document"] == 2


async def test_what_a_slow_loader_gave_is_stored_before_its_end(
    kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("core.rag.indexing.run._BATCH_SECONDS", -1)

    async def wait(number: int) -> None:
        async with asyncio.timeout(PATIENCE_SECONDS):
            while number == 2 and await kb.client.find_document("https://slow.example/0") is None:
                await asyncio.sleep(0.01)

    assert (await kb.ingest(Slow(wait))).documents.added == 3


@pytest.mark.parametrize(
    "texts",
    [
        ["one\x1ftwo", "three"],
        ["one", "two\x1ethree"],
        ["\x1e\x1f\x1e", "\x1f\x1e\x1f"],
        ["one\x1f\x1etwo\x1f", "\x1d\x1c\x0b"],
        ["line\r\n\u2028end", "\ttab 'quoted' \"twice\" \\n $rows {row} 🏴󠁧󠁢󠁷󠁬󠁳󠁿"],
    ],
    ids=repr,
)
async def test_texts_come_back_as_they_were_whatever_separates_rows(kb: KnowledgeBase, texts: list[str]) -> None:
    given = {f"path {number}": f"words before {text} words behind" for number, text in enumerate(texts)}

    report = await kb.ingest([Document(path=path, content=content) for path, content in given.items()])

    assert report.documents.added == len(given)
    for path, content in given.items():
        found = await kb.client.find_document(path)
        assert found is not None
        assert found["content"] == content
        chunks = await kb.client.get_document_chunks(path)
        assert [(c["content"], c["chunk_index"], c["start_char"], c["end_char"]) for c in chunks] == [
            (content, 0, 0, len(content))
        ]


async def test_links_become_references_and_follow_what_is_there(kb: KnowledgeBase) -> None:
    links = (Link("b", "the other"), Link("https://example.org/x", "a page"))
    await kb.ingest([document("a", text(0), links=links)])
    assert (await kb.client.counts())["nodes"]["Resource"] == 2

    await kb.ingest([document("b", text(1))])
    counts = await kb.client.counts()
    assert counts["nodes"]["Resource"] == 1, "the resource became a document"
    assert counts["edges"]["REFERENCES"] == 2
    together = await snapshot(kb.client)

    await kb.delete("b")
    assert (await kb.client.counts())["nodes"]["Resource"] == 2
    await kb.ingest([document("b", text(1))])
    assert await snapshot(kb.client) == together

    await kb.ingest([document("a", text(0))])
    assert "Resource" not in (await kb.client.counts())["nodes"]


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


async def test_prune_keeps_a_file_that_could_not_be_read_this_time(kb: KnowledgeBase, tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text(text(0))
    await kb.ingest(tmp_path)
    (tmp_path / "a.md").write_bytes(b"")
    report = await kb.ingest(tmp_path, prune=True)
    assert len(report.documents.failed) == 1
    assert report.documents.deleted == 0
    assert await kb.client.find_document(str(tmp_path / "a.md")) is not None


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


async def test_a_generator_is_read_as_it_goes(kb: KnowledgeBase) -> None:
    def many() -> Iterator[Document]:
        for number in range(700):
            yield document(f"note/{number}", f"Note number {number} about the mill.")

    report = await kb.ingest(many())
    assert report.documents.added == 700


async def test_stop_finishes_what_is_in_flight(kb: KnowledgeBase) -> None:
    stop = asyncio.Event()

    async def many() -> AsyncIterator[Document]:
        for number in range(5000):
            if number == 600:
                stop.set()
            yield document(f"note/{number}", f"Note number {number} about the mill.")

    report = await kb.ingest(many(), stop=stop)
    assert report.interrupted
    assert 0 < report.documents.added < 5000
    assert (await kb.client.counts())["nodes"]["Document"] == report.documents.added
    assert not any((await orphans(kb.client)).values())


async def test_what_another_ingest_has_written_meanwhile_is_left_alone(
    kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    documents = [document("a", text(0, 1)), document("b", text(2))]
    mine = [*documents, document("c", text(3))]
    write = MemGraphClient.write_documents
    before: list[Any] = []

    async def late_write(self: MemGraphClient, rows: Sequence[Any], *of: Any) -> Any:
        if not before:  # the other one was faster with two of the three
            before.append({})
            await kb.ingest(documents)
            before[:] = await kb.documents(prefix="a")
        return await write(self, rows, *of)

    monkeypatch.setattr(MemGraphClient, "write_documents", late_write)
    report = await kb.ingest(mine)

    assert (report.documents.added, report.documents.updated, report.documents.unchanged) == (1, 0, 2)
    assert report.chunks == report.vectors.embedded == len((await kb.show("c"))["chunks"])
    assert report.vectors.reused == 0
    assert await kb.documents(prefix="a") == before  # its times, too
    assert not any((await orphans(kb.client)).values())


async def test_a_stop_does_not_wait_for_all_that_was_read_ahead(
    kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("core.rag.indexing.stopping.PATIENCE_SECONDS", 0)
    monkeypatch.setattr("core.rag.indexing.run.BATCH_DOCUMENTS", 20)
    documents = [document(f"note/{number}", f"Note {number} names Note {number + 1}.") for number in range(200)]
    stop = asyncio.Event()
    loaded = asyncio.Event()
    written: list[int] = []

    async def fast() -> AsyncIterator[Document]:
        for one in documents:
            yield one
        loaded.set()

    write = MemGraphClient.write_documents

    async def slow_write(self: MemGraphClient, rows: Sequence[Any], *of: Any) -> Any:
        if not written:
            with contextlib.suppress(TimeoutError):  # all queues are full, so the loader waits, too
                await asyncio.wait_for(loaded.wait(), 1)
            stop.set()
        written.append(len(rows))
        return await write(self, rows, *of)

    monkeypatch.setattr(MemGraphClient, "write_documents", slow_write)
    report = await kb.ingest(fast(), stop=stop)
    assert report.interrupted
    assert written == [20, 20]  # what was being written, and the last one that had its vectors
    assert (await kb.client.counts())["nodes"]["Document"] == report.documents.added == 40

    report = await kb.ingest(documents)
    assert (report.documents.added, report.documents.unchanged) == (160, 40)
    assert not any((await orphans(kb.client)).values())


async def test_a_failure_in_the_middle_ends_a_large_ingest(tmp_path: Path) -> None:
    class Failing(HashEmbedder):
        async def get_embeddings(self, texts: Sequence[str], names: Sequence[str] | None = None) -> NDArray[np.float32]:
            if len(self.embedded) > 300:
                raise EmbeddingError("The provider is gone.")
            return await super().get_embeddings(texts, names)

    documents = [document(f"note/{number}", f"Note {number} of many.") for number in range(3000)]
    async with KnowledgeBase.open(f"embedded:{tmp_path / 'g.grafeo'}", embedder=Failing(8)) as kb:
        async with asyncio.timeout(PATIENCE_SECONDS):
            with pytest.raises(EmbeddingError, match="gone"):
                await kb.ingest(documents)
        assert not any((await orphans(kb.client)).values())


async def test_another_model_is_refused_or_builds_a_second_store(tmp_path: Path) -> None:
    uri = f"embedded:{tmp_path / 'graph.grafeo'}"
    async with KnowledgeBase.open(uri, embedder=HashEmbedder()) as kb:
        await kb.ingest([document("a", text(0))])
    other = HashEmbedder(dimension=24, model="other")
    with pytest.raises(ModelMismatchError, match="other"):
        async with KnowledgeBase.open(uri, embedder=other):
            pass
    async with KnowledgeBase.open(uri, embedder=other, new_store=True) as kb:
        report = await kb.ingest([document("a", text(0))])
        assert report.vectors.embedded == report.chunks
        assert len(await kb.client.vector_stores()) == 2
        assert (await kb.search(PARAGRAPHS[0], mode="vector"))[0].path == "a"
    async with KnowledgeBase.open(uri, embedder=HashEmbedder()) as kb:
        assert (await kb.search(PARAGRAPHS[0], mode="vector"))[0].path == "a"


async def test_an_ingest_tells_of_chunks_without_a_vector_of_the_active_model(tmp_path: Path) -> None:
    uri = f"embedded:{tmp_path / 'graph.grafeo'}"
    first, second = HashEmbedder(), HashEmbedder(dimension=24, model="second")
    async with KnowledgeBase.open(uri, embedder=first) as kb:
        await kb.ingest([document("a", text(0)), document("b", text(1))])
    async with KnowledgeBase.open(uri, embedder=second, new_store=True) as kb:
        report = await kb.ingest([document("a", text(0))])
        (warning,) = report.warnings
        assert (
            "chunks have no vector of second, the active model" in warning and "MGRAG_EMBEDDING_MODEL=second" in warning
        )
        assert not (await kb.ingest([document("b", text(1))])).warnings
    async with KnowledgeBase.open(uri, embedder=first) as kb:
        report = await kb.ingest([document("a", text(0)), document("c", text(2))])
        assert (report.documents.added, report.documents.unchanged) == (1, 1)
        assert "no vector of second" in report.warnings[0]
    async with KnowledgeBase.open(uri, embedder=second) as kb:
        report = await kb.ingest([document("a", text(0)), document("b", text(1)), document("c", text(2))])
        assert (report.documents.updated, report.documents.unchanged, report.warnings) == (1, 2, [])
        report = await kb.ingest([document("a", text(0) + "More."), document("b", text(1))])
        assert (report.documents.updated, report.documents.unchanged) == (1, 1)
    async with KnowledgeBase.open(uri, embedder=first) as kb:  # of what changed, only the active model has vectors
        report = await kb.ingest([document("a", text(0) + "More."), document("b", text(1)), document("c", text(2))])
        assert (report.documents.updated, report.documents.unchanged) == (1, 2)


class ByLine(TextSplitter):
    """Splits as nobody else does."""

    @property
    def fingerprint(self) -> str:
        return "by line"

    def split(self, document: Document, parent_id: str | None = None) -> list[DocumentChunk]:
        end = 0
        chunks = []
        for line in document.content.splitlines(keepends=True):
            start, end = end, end + len(line)
            metadata = ChunkMetadata(row=len(chunks) + 1)
            chunks.append(
                DocumentChunk(
                    document.path, line, metadata=metadata, start_char=start, end_char=end, heading=f"> {start}"
                )
            )
        return chunks


async def test_a_splitter_of_ones_own_splits() -> None:
    embedder = HashEmbedder()
    client = MemGraphClient("embedded::memory:", embedder=embedder)
    async with KnowledgeBase(client, embedder, settings=Settings(_env_file=None), splitter=ByLine()) as kb:
        await kb.ingest([Document("a", "first\nsecond\nthird")])
        chunks = await client.get_document_chunks("a")
    assert [chunk["content"] for chunk in chunks] == ["first\n", "second\n", "third"]
    assert [chunk["heading"] for chunk in chunks] == ["> 0", "> 6", "> 13"]
    assert [chunk["metadata"]["row"] for chunk in chunks] == [1, 2, 3]


async def test_namespaces_do_not_see_each_other(tmp_path: Path) -> None:
    uri = f"embedded:{tmp_path / 'graph.grafeo'}"
    async with KnowledgeBase.open(uri, namespace="one", embedder=HashEmbedder()) as kb:
        await kb.ingest([document("a", text(0))])
        assert await kb.search(PARAGRAPHS[0], namespace="two") == []
        assert len(await kb.search(PARAGRAPHS[0], mode="keyword")) > 0
    async with KnowledgeBase.open(uri, namespace="two", embedder=HashEmbedder()) as kb:
        assert await kb.client.find_document("a") is None
        assert await kb.search(PARAGRAPHS[0], mode="keyword") == []
        await kb.ingest([document("a", text(1))])
        assert not await kb.search("borrowed pounds", mode="keyword", namespace="one")
        assert await kb.search("borrowed pounds", mode="keyword")


async def test_unknown_options_and_sources_are_refused(kb: KnowledgeBase) -> None:
    with pytest.raises(InvalidInputError, match="colour"):
        await kb.ingest([document("a", text(0))], colour="red")
    with pytest.raises(InvalidInputError, match="int"):
        await kb.ingest([42])  # type: ignore[list-item]


async def test_a_document_given_twice_is_written_and_counted_once(kb: KnowledgeBase) -> None:
    twice = [Document("note", "The mill turns."), Document("note", "The mill turns.")]
    report = await kb.ingest([twice, (document for document in twice)])
    assert (report.documents.added, report.documents.updated, report.documents.unchanged) == (1, 0, 0)
    report = await kb.ingest([twice, (document for document in twice)])
    assert (report.documents.added, report.documents.updated, report.documents.unchanged) == (0, 0, 1)


async def test_dates_in_metadata_are_kept_as_text_and_filtered_by(kb: KnowledgeBase) -> None:
    moment = datetime(2026, 3, 1, 12, 30, tzinfo=UTC)
    notes = [
        Document("old", "The mill turns.", metadata={"when": date(2025, 12, 31)}),
        Document("new", "The mill rests.", metadata={"when": date(2026, 1, 1), "seen": {"last": [moment]}}),
    ]
    report = await kb.ingest(notes)
    assert (report.documents.added, report.documents.failed) == (2, [])
    assert (await kb.ingest(notes)).documents.unchanged == 2
    await kb.client.create_document("by hand", "A quay.", metadata={"when": moment})
    await kb.client.create_document_chunk("by hand", "A quay.", metadata={"when": date(2026, 1, 2)})

    stored = {row["path"]: row["metadata"] for row in await kb.client.list_documents()}
    assert stored == {
        "old": {"when": "2025-12-31"},
        "new": {"when": "2026-01-01", "seen": {"last": ["2026-03-01T12:30:00+00:00"]}},
        "by hand": {"when": "2026-03-01T12:30:00+00:00"},
    }
    assert (await kb.client.get_document_chunks("by hand"))[0]["metadata"] == {"when": "2026-01-02"}
    for filters, paths in (
        ("metadata.when>=2026-01-01", {"new", "by hand"}),
        ({"metadata.when": {"<": date(2026, 1, 1)}}, {"old"}),
        ({"metadata.when": date(2026, 1, 1)}, {"new"}),
        ({"metadata.seen.last": moment}, {"new"}),
    ):
        found = await kb.search("mill quay", k=10, mode="keyword", filters=filters)
        assert {hit.path for hit in found} == paths, filters


async def test_a_document_that_cannot_be_stored_any_more_is_reported_and_the_rest_goes_on(kb: KnowledgeBase) -> None:
    await kb.ingest([Document("note", "The mill turns.")])
    report = await kb.ingest([Document("note", "The mill turns.", metadata={"x": object()}), Document("b", "A quay.")])
    assert [item.path for item in report.documents.failed] == ["note"] and report.documents.added == 1


async def test_a_knowledge_base_of_another_namespace_shares_the_graph_and_nothing_in_it(kb: KnowledgeBase) -> None:
    await kb.ingest([Document(path="a.md", content=text(0))])
    other = kb.in_namespace("other")
    assert await other.search("tide mill") == []
    await other.ingest([Document(path="b.md", content=text(1))])
    assert [document["path"] for document in await other.documents()] == ["b.md"]
    assert [document["path"] for document in await kb.documents()] == ["a.md"]
    assert {hit.path for hit in await other.search("Margaret Harrow")} == {"b.md"}
    with pytest.raises(InvalidInputError):
        kb.in_namespace(" ")


async def test_a_namespace_that_was_removed_is_filled_again_with_vectors(kb: KnowledgeBase) -> None:
    document = Document(path="a.md", content=text(0))
    first = await kb.ingest(document)
    await kb.in_namespace(kb.namespace).delete_namespace(kb.namespace)
    second = await kb.ingest(document)
    assert second.vectors == first.vectors and second.vectors.embedded
    assert [hit.path for hit in await kb.search(PARAGRAPHS[0], mode="vector")] == ["a.md"]
    assert (await kb.status())["nodes"]["Vector"] == second.chunks


async def test_pages_that_are_images_are_told(kb: KnowledgeBase) -> None:
    many = document("many.pdf", text(0), metadata={"page_count": 9, "pages_without_text": [2, 4, 5, 6, 9]})
    one = document("one.pdf", text(1), metadata={"page_count": 3, "pages_without_text": [3]})
    assert (await kb.ingest([many, one, document("all.pdf", text(2), metadata={"page_count": 2})])).warnings == [
        "many.pdf: its pages 2, 4-6, 9 of 9 hold no text (scanned pages need OCR).",
        "one.pdf: its page 3 of 3 holds no text (scanned pages need OCR).",
    ]
