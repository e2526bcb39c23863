"""Another embedding model: what was said is found by the new one, too."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from core.rag.maintenance.reembed import reembed
from tests.embedders import HashEmbedder
from tests.graphs import orphans
from tests.maintenance.conftest import opened


class Synonyms(HashEmbedder):
    """Knows that a puppy is a dog."""

    def _one(self, text: str) -> NDArray[np.float64]:
        return super()._one(text.replace("puppy", "dog"))


def new() -> HashEmbedder:
    return HashEmbedder(dimension=24, model="new")


async def test_messages_get_vectors_of_the_new_model_and_lose_the_old_ones(tmp_path: Path) -> None:
    file = tmp_path / "g.grafeo"
    async with opened(file) as kb:
        await kb.ingest([])
        for number in range(5):
            await kb.remember("s", "user", f"The mill turned {number} times.")
        await kb.remember("s", "user", "so it is")
        await kb.compact("s", keep=3)
    async with opened(file, embedder=new(), check_model=False) as kb:
        report = await kb.reembed(drop_old=True)
        assert (report.messages, report.dropped, report.kept) == (len(await kb.memories("s")), ["words"], [])
        assert report.to_dict()["messages"] == report.messages
        assert (await kb.client.counts())["nodes"]["Vector"] == report.messages
        assert not any((await orphans(kb.client)).values())
        assert (await kb.reembed()).messages == 0
    async with opened(file, embedder=new()) as kb:
        await kb.remember("s", "assistant", "It turned again.")
        [found] = await kb.recall("s", "mill turned 4 times", limit=1)
        assert found.content == "The mill turned 4 times."
        store = (await kb.client.vector_stores())[0]
        assert len(await kb.client.message_vectors([m.id for m in await kb.memories("s")], store)) == 5
        await kb.forget(session_id="s")
        assert "Vector" not in (await kb.client.counts())["nodes"]


@pytest.mark.parametrize("prepared", [False, True])
async def test_messages_are_recalled_by_their_new_vectors_in_the_same_process(tmp_path: Path, prepared: bool) -> None:
    file, embedder = tmp_path / "g.grafeo", Synonyms(dimension=24, model="new")
    async with opened(file) as kb:
        await kb.remember("s", "user", "She has a dog.")
        await kb.remember("s", "user", "The mill turned.")
    async with opened(file, embedder=embedder, check_model=False) as kb:
        if prepared:  # so that the vector store is the same one before and after
            await kb.client.prepare_vector_store(embedder.model, embedder.dimension)
        assert await kb.recall("s", "puppy", limit=1) == []
        await kb.reembed()
        assert [memory.content for memory in await kb.recall("s", "puppy", limit=1)] == ["She has a dog."]


class SynonymsUnderAnotherName(Synonyms):
    """Its vectors would fit among those of the model ``words``, of which nothing is known here."""

    @property
    def model(self) -> str:
        return "other"


async def test_another_model_does_not_read_the_vectors_of_the_old_one(tmp_path: Path) -> None:
    async with opened(tmp_path / "g.grafeo") as kb:
        await kb.remember("s", "user", "She has a dog.")
    async with opened(tmp_path / "g.grafeo", embedder=SynonymsUnderAnotherName(), check_model=False) as kb:
        assert [memory.content for memory in await kb.recall("s", "dog", limit=1)] == ["She has a dog."]  # by its word
        assert await kb.recall("s", "puppy", limit=1) == []


async def test_a_memory_that_is_revised_meanwhile_is_found_by_what_it_says_now(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its new vector was of what it said before, for good."""
    file, embedder = tmp_path / "g.grafeo", Synonyms(dimension=24, model="new")
    async with opened(file) as kb:
        memory = await kb.remember("s", "user", "She has a dog.")
        await kb.remember("s", "user", "The mill turned.")
        embed = embedder.get_embeddings

        async def revised_meanwhile(texts: Sequence[str], names: Sequence[str] | None = None) -> NDArray[np.float32]:
            if "She has a dog." in texts:
                await kb.revise(memory, content="She has a horse.")
            return await embed(texts, names)

        monkeypatch.setattr(embedder, "get_embeddings", revised_meanwhile)
        assert (await reembed(kb.client, embedder)).messages == 2
    async with opened(file, embedder=embedder) as kb:
        assert await kb.recall("s", "puppy", limit=1) == []
        assert [found.content for found in await kb.recall("s", "horse", limit=1)] == ["She has a horse."]
