"""Titles of documents that are read, but not cut yet: the graph is the same with any of them known."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence

import pytest

from core.rag import KnowledgeBase
from core.rag.indexing import parts, run
from libs.dataloader import Document
from tests.extraction.graphs import knowledge, looked_at_again, mentioned

COUNT = 60


def title(number: int) -> str:
    """Return a name of two words that is in no other one."""
    return f"Mill{'abcdefghij'[number // 10]} Wheel{'abcdefghij'[number % 10]}"


def documents() -> list[Document]:
    """Return documents, each of which names one far behind or before it, by nothing but its title."""
    return [
        Document(f"d{i}", f"near {title((i + COUNT // 2) % COUNT).lower()} it rains.", title=title(i))
        for i in range(COUNT)
    ]


async def one_by_one(documents: Sequence[Document]) -> AsyncIterator[Document]:
    """Yield documents of which nothing is known before."""
    for document in documents:
        yield document


@pytest.fixture
def again(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The chunks that were looked at again at the end of runs. Each document is a batch, and reading has its time."""
    monkeypatch.setattr(run, "BATCH_DOCUMENTS", 1)
    monkeypatch.setattr(parts, "_READING_SECONDS", 600.0)
    return looked_at_again(monkeypatch)


@pytest.mark.parametrize("room", [1, COUNT + 1])
async def test_the_graph_is_the_same_however_far_reading_runs_ahead(
    kb: KnowledgeBase, again: list[str], monkeypatch: pytest.MonkeyPatch, room: int
) -> None:
    monkeypatch.setattr(parts, "_AHEAD", room)
    await kb.ingest(one_by_one(documents()))
    found = await knowledge(kb.client)
    assert bool(again) == (room == 1), "with room for all, every title is known when the first text is cut"
    assert await mentioned(kb.client, "d0") == {title(COUNT // 2): 1}
    async with KnowledgeBase.open("embedded::memory:") as listed:
        await listed.ingest(documents())
        assert found == await knowledge(listed.client)


async def test_a_title_that_was_read_but_could_not_be_stored_is_none(kb: KnowledgeBase, again: list[str]) -> None:
    refused = Document("mill", "It is old.", title="Tide Mill", metadata={"x": object()})

    report = await kb.ingest(one_by_one([Document("before", "There the tide mill turns."), refused]))

    assert [failure.path for failure in report.documents.failed] == ["mill"]
    assert await mentioned(kb.client, "before") == {}
    assert len(again) == 1
