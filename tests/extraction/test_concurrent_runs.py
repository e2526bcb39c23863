"""Runs that overlap: each title is looked for once, and the graph is that of one run."""

from __future__ import annotations

import asyncio

import pytest

from core.rag import KnowledgeBase, MemGraphClient
from core.rag.indexing.title_runs import TitleRun, title_runs
from core.rag.indexing.titles import TitleLinker
from libs.dataloader import Document
from tests.extraction.graphs import looked_at_again, mentioned

COUNT = 60


def title(number: int) -> str:
    """Return a name of two words that is in no other one."""
    return f"Mill{'abcdefghij'[number // 10]} Wheel{'abcdefghij'[number % 10]}"


def named(number: int) -> str:
    """Return it as in a text, where nothing but the title tells that it is a name."""
    return title(number % COUNT).lower()


def documents() -> list[Document]:
    """Return documents, each of which names one that comes later and one that came before."""
    return [
        Document(f"d{i}", f"near {named(i + 7)} and {named(i - 7)} it rains.", title=title(i)) for i in range(COUNT)
    ]


async def test_the_graph_of_runs_at_the_same_time_is_that_of_one(
    kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    again = looked_at_again(monkeypatch)
    every = documents()
    await asyncio.gather(*(kb.ingest(every[start : start + 2]) for start in range(0, COUNT, 2)))
    found = {one.path: await mentioned(kb.client, one.path) for one in every}
    async with KnowledgeBase.open("embedded::memory:") as one_run:
        await one_run.ingest(every)
        assert found == {one.path: await mentioned(one_run.client, one.path) for one in every}
    assert set(found["d0"]) == {title(7), title(53)}
    assert await kb.client.unlinked_sources() == []
    # Once for the run of the chunk itself, and once for that of each title which it names.
    assert len(again) <= 3 * COUNT


async def test_titles_of_a_run_that_goes_on_are_left_to_it_until_it_fails(
    kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def killed(*_: object) -> None:
        raise RuntimeError("killed")

    await kb.ingest([Document("text", "by the tide mill.")])
    runs = await title_runs(kb.client)
    other = TitleRun({"tide mill"})
    runs.begin(other)
    with monkeypatch.context() as patch, pytest.raises(RuntimeError):
        patch.setattr(TitleLinker, "link", killed)
        await kb.ingest([Document("mill", "x", title="Tide Mill")])
    runs.left.clear()  # it is the other one that has written this

    await kb.ingest([Document("more", "It has a wheel.")])
    assert await mentioned(kb.client, "text") == {}
    assert await kb.client.unlinked_sources()

    runs.end(other)
    await kb.ingest([Document("again", "It turns.")])
    assert await mentioned(kb.client, "text") == {"Tide Mill": 1}
    assert await kb.client.unlinked_sources() == []


async def test_one_run_may_do_it_for_others_and_its_failure_leaves_it_to_them(
    kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    unlinked_sources = MemGraphClient.unlinked_sources
    failed: list[MemGraphClient] = []

    async def fails_once(client: MemGraphClient) -> object:
        if not failed:
            failed.append(client)
            raise RuntimeError("killed")
        return await unlinked_sources(client)

    await kb.ingest([Document("text", f"from {named(1)} to {named(2)} and {named(3)}.")])
    ready = asyncio.Event()
    link = TitleLinker.link

    async def at_once(linker: TitleLinker, run: TitleRun | None) -> None:
        runs = await title_runs(kb.client)
        if len(runs.others()) == 3:
            monkeypatch.setattr(MemGraphClient, "unlinked_sources", fails_once)
            ready.set()
        await ready.wait()
        await link(linker, run)

    monkeypatch.setattr(TitleLinker, "link", at_once)
    async with asyncio.timeout(60):
        results = await asyncio.gather(
            *(kb.ingest([Document(f"d{i}", "x", title=title(i))]) for i in (1, 2, 3)), return_exceptions=True
        )
    assert sum(isinstance(result, RuntimeError) for result in results) == 1
    assert set(await mentioned(kb.client, "text")) == {title(1), title(2), title(3)}
    assert await kb.client.unlinked_sources() == []
