"""A graph with documents that link to one another and share texts."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from core.rag import KnowledgeBase
from libs.dataloader import Document, Link
from tests.embedders import HashEmbedder

PARAGRAPHS = [f"Paragraph {number}: the mill turned {number} times and the pond was full. " * 6 for number in range(6)]


def documents() -> list[Document]:
    return [
        Document(
            path=f"note/{number}",
            content=f"# Note {number}\n\n{PARAGRAPHS[number]}\n\n{PARAGRAPHS[(number + 1) % 6]}",
            format="markdown",
            links=(Link(f"note/{(number + 1) % 7}", "next"), Link("https://example.org/", "web")),
        )
        for number in range(5)
    ]


def opened(file: Path, **options: Any) -> KnowledgeBase:
    """A knowledge base with small chunks, so that every document has several."""
    defaults = {"embedder": HashEmbedder(), "chunk_size": 40, "chunk_overlap": 8}
    return KnowledgeBase.open(f"embedded:{file}", **{**defaults, **options})


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "graph.grafeo"


@pytest.fixture
async def kb(file: Path) -> AsyncIterator[KnowledgeBase]:
    async with opened(file) as kb:
        report = await kb.ingest(documents())
        assert report.chunks >= 3 * report.documents.added
        yield kb


@pytest.fixture
async def backup(kb: KnowledgeBase, tmp_path: Path) -> Path:
    """A backup of a graph that was changed afterwards and closed."""
    await kb.backup(tmp_path / "copy.bak")
    await kb.delete("note/1")
    await kb.close()
    return tmp_path / "copy.bak"
