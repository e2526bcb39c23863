"""Whoever else uses the process, such as the callers of a server, does not wait while a copy is written or read."""

from __future__ import annotations

import io
import threading
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from core.rag import KnowledgeBase
from core.rag.dbhandler.transfer.file import ExportReader, ExportWriter
from tests.maintenance.conftest import documents, opened


class _Copy(io.StringIO):
    """An export that knows which threads wrote its nodes and edges."""

    def __init__(self) -> None:
        super().__init__()
        self.threads: set[int] = set()

    def write(self, text: str) -> int:
        if text.startswith(('{"id"', '{"edge"')):
            self.threads.add(threading.get_ident())
        return super().write(text)


@pytest.fixture
async def kb(file: Path) -> AsyncIterator[KnowledgeBase]:
    async with opened(file) as kb:
        await kb.ingest(documents())
        yield kb


async def test_an_export_is_written_beside_the_event_loop(kb: KnowledgeBase) -> None:
    copy = _Copy()
    await kb.client.write_section(ExportWriter(copy))
    assert copy.threads and threading.get_ident() not in copy.threads


@pytest.mark.parametrize("step", ["check_ids", "make_way"])
async def test_an_import_reads_whole_sections_beside_the_event_loop(kb: KnowledgeBase, step: str) -> None:
    copy = _Copy()
    await kb.client.write_section(ExportWriter(copy))
    threads: list[int] = []

    def lines() -> Iterator[str]:
        header, *others = io.StringIO(copy.getvalue())
        yield header
        for line in others:
            threads.append(threading.get_ident())
            yield line

    reader = ExportReader(Path("copy.jsonl"), lines())
    for _ in reader.sections():
        await getattr(kb.client, step)(reader)
    assert threads and threading.get_ident() not in threads
