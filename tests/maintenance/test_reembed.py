"""Another embedding model: the graph is afterwards as if it had been built with it, and usable all the time."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from core.rag import KnowledgeBase
from core.rag.errors import EmbeddingError, ModelMismatchError
from tests.embedders import HashEmbedder, ShortSightedEmbedder
from tests.graphs import orphans, snapshot
from tests.maintenance import conftest
from tests.maintenance.conftest import documents, opened


class Failing(HashEmbedder):
    """Gives up after so many texts."""

    def __init__(self, texts: int) -> None:
        super().__init__(dimension=24, model="new")
        self._left = texts

    async def get_embeddings(self, texts: Sequence[str], names: Sequence[str] | None = None) -> Any:
        self._left -= len(texts)
        if self._left < 0:
            raise EmbeddingError("The provider is down.")
        return await super().get_embeddings(texts, names)


def new(dimension: int = 24) -> HashEmbedder:
    return HashEmbedder(dimension=dimension, model="new")


async def vectors(kb: KnowledgeBase) -> list[str]:
    """Vector nodes and edges without what tells which was there first."""
    return [line for line in await snapshot(kb.client) if '"node": "VectorStore"' not in line]


@pytest.mark.parametrize("dimension", [24, 32])  # another one, and that of the old model
async def test_the_graph_is_as_if_it_had_been_built_with_the_new_model(
    kb: KnowledgeBase, file: Path, tmp_path: Path, dimension: int
) -> None:
    await kb.close()
    async with opened(file, embedder=new(dimension), check_model=False) as changed:
        report = await changed.reembed(drop_old=True)
        assert (report.model, report.dimension, report.dropped) == ("new", dimension, ["words"])
        assert report.chunks >= report.vectors > 0
        found = await vectors(changed)
        assert not any((await orphans(changed.client)).values())
    async with opened(tmp_path / "fresh.grafeo", embedder=new(dimension)) as fresh:
        await fresh.ingest(documents())
        expected = await vectors(fresh)
    assert [line for line in found if '"node": "Vector"' not in line] == [
        line for line in expected if '"node": "Vector"' not in line
    ]
    assert len(found) == len(expected)
    async with opened(file, embedder=new(dimension)) as again:
        assert (await again.ingest(documents())).documents.unchanged == 5
        assert (await again.search(conftest.PARAGRAPHS[2], mode="vector"))[0].path in {"note/1", "note/2"}
        assert (await again.doctor()).healthy
    with pytest.raises(ModelMismatchError):
        async with opened(file):
            pass


async def test_chunks_that_are_too_long_for_the_new_model_are_embedded_in_pieces(tmp_path: Path) -> None:
    file = tmp_path / "graph.grafeo"
    async with opened(file, chunk_size=400) as kb:
        await kb.ingest(documents())
        chunks = [hit.content for hit in await kb.search("mill", k=20)]
        assert max(len(chunk.split()) for chunk in chunks) > 60
    async with opened(file, embedder=ShortSightedEmbedder(model="short"), check_model=False) as kb:
        report = await kb.reembed(drop_old=True)
        assert report.vectors == report.chunks == len(chunks)
        assert {hit.content for hit in await kb.search("mill", k=20, mode="vector")} == set(chunks)


async def test_the_old_model_stays_usable_unless_it_is_dropped(kb: KnowledgeBase, file: Path) -> None:
    await kb.close()
    async with opened(file, embedder=new(), check_model=False) as changed:
        await changed.reembed()
        assert [(store.model, store.status) for store in await changed.client.vector_stores()] == [
            ("new", "active"),
            ("words", "standby"),
        ]
    async with opened(file) as old:
        assert (await old.search(conftest.PARAGRAPHS[2], mode="vector"))[0].path in {"note/1", "note/2"}


@pytest.mark.parametrize("how", ["stopped", "failed"])
async def test_an_interrupted_one_changes_nothing_for_searches_and_goes_on(
    how: str, kb: KnowledgeBase, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("core.rag.maintenance.reembed._BATCH", 4)
    chunks = (await kb.client.counts())["nodes"]["DocumentChunk"]
    await kb.close()
    async with opened(file, embedder=Failing(8 if how == "failed" else 1000), check_model=False) as changed:
        if how == "failed":
            with pytest.raises(EmbeddingError):
                await changed.reembed(drop_old=True)
        else:
            stop = asyncio.Event()
            report = await changed.reembed(drop_old=True, stop=stop, progress=lambda _: stop.set())
            assert report.interrupted
            assert 0 < report.chunks < chunks
        assert [(s.model, s.status) for s in await changed.client.vector_stores()] == [
            ("words", "active"),
            ("new", "building"),
        ]
    async with opened(file) as old:
        assert (await old.search(conftest.PARAGRAPHS[2], mode="vector"))[0].path in {"note/1", "note/2"}
    with pytest.raises(ModelMismatchError, match="reembedding was interrupted"):
        async with opened(file, embedder=new()):
            pass
    again = new()
    async with opened(file, embedder=again, check_model=False) as changed:
        report = await changed.reembed(drop_old=True)
        assert 0 < report.chunks < chunks, "what was done is not done again"
        assert len(again.embedded) == report.vectors
        assert not any((await orphans(changed.client)).values())
    async with opened(file, embedder=new()) as done:
        assert (await done.doctor()).healthy


async def test_doing_it_again_does_nothing(kb: KnowledgeBase) -> None:
    before = await snapshot(kb.client)
    report = await kb.reembed(drop_old=True)
    assert (report.chunks, report.vectors, report.dropped) == (0, 0, [])
    assert await snapshot(kb.client) == before
