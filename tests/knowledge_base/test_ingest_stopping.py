"""Ingests that are long: progress, stops, failures, and another one meanwhile."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from core.rag import KnowledgeBase, MemGraphClient
from core.rag.errors import EmbeddingError
from libs.dataloader import Document, Known, SourceInfo
from tests.dbhandler.kit import PATIENCE_SECONDS
from tests.embedders import HashEmbedder
from tests.graphs import orphans
from tests.knowledge_base.notes import document, text


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
    assert written in ([20], [20, 20])  # what was being written, and the one that may have had its vectors by then
    done = sum(written)
    assert (await kb.client.counts())["nodes"]["Document"] == report.documents.added == done

    report = await kb.ingest(documents)
    assert (report.documents.added, report.documents.unchanged) == (200 - done, done)
    assert not any((await orphans(kb.client)).values())


async def test_a_long_list_is_written_in_parts_and_a_stop_falls_between_two(
    kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("core.rag.indexing.stopping.PATIENCE_SECONDS", 0)
    documents = [document(f"note/{number}", f"Note {number} names Note {number + 1}.") for number in range(1_200)]
    stop = asyncio.Event()
    written: list[int] = []
    write = MemGraphClient.write_documents

    async def noted_write(self: MemGraphClient, rows: Sequence[Any], *of: Any) -> Any:
        written.append(len(rows))
        if len(written) == 2:
            stop.set()
            await asyncio.sleep(0.1)  # longer than the patience
        return await write(self, rows, *of)

    monkeypatch.setattr(MemGraphClient, "write_documents", noted_write)
    report = await kb.ingest(documents, stop=stop)
    assert report.interrupted
    assert written[:2] == [32, 64]  # the first are small, so that there is soon something to find
    assert sum(written) == report.documents.added < 1_000  # what is looked up together is not all written

    written.clear()
    report = await kb.ingest(documents)
    assert (report.documents.added, report.documents.unchanged) == (sum(written), 1_200 - sum(written))
    assert max(written) <= 256
    assert (await kb.client.counts())["nodes"]["Document"] == 1_200
    assert (await kb.ingest(documents)).documents.unchanged == 1_200
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
