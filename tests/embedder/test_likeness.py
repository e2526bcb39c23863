"""How alike texts are, on one scale for models whose vectors lie close together and those whose do not."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

import pytest

from core.rag import KnowledgeBase
from core.rag.embedder import WordLlamaEmbedding
from core.rag.embedder.likeness import likeness, usual_cosine
from core.rag.errors import EmbeddingError
from libs.dataloader import Document
from tests.embedders import HashEmbedder, NarrowEmbedder


class Failing(HashEmbedder):
    """A model that cannot be reached."""

    async def get_embeddings(self, texts: Sequence[str], names: Sequence[str] | None = None) -> Any:
        raise EmbeddingError("no connection")


async def test_a_model_whose_vectors_lie_apart_is_taken_as_it_is() -> None:
    assert await usual_cosine(WordLlamaEmbedding()) == 0.0
    assert await usual_cosine(HashEmbedder(256, "apart")) == 0.0
    assert await usual_cosine(None) == 0.0
    assert likeness(0.3, 0.0) == 0.3


async def test_what_is_usual_for_a_model_is_next_to_nothing() -> None:
    usual = await usual_cosine(NarrowEmbedder("usual"))
    assert 0.65 < usual < 0.8  # 1.6² / (1 + 1.6²), and a little for the words that the sentences share
    assert [likeness(usual, usual), likeness(1.0, usual)] == [0.0, 1.0]
    assert likeness(usual - 0.05, usual) < 0.0
    assert 0.0 < likeness(0.8, usual) < likeness(0.9, usual) < 0.9


async def test_sentences_are_embedded_once() -> None:
    model = NarrowEmbedder("once")
    first = await usual_cosine(model)
    embedded = len(model.embedded)
    assert await usual_cosine(model) == first
    assert len(model.embedded) == embedded > 0


async def test_a_model_that_fails_is_told_of(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        assert await usual_cosine(Failing(model="failing")) == 0.0
    assert "no connection" in caplog.text


async def test_a_question_about_something_else_has_no_answer_with_such_a_model() -> None:
    texts = {
        "mill": "The mill turns with the ebb.",
        "roses": "Roses are pruned in winter.",
        "oil": "The lamp needs oil.",
    }
    async with KnowledgeBase.open("embedded::memory:", embedder=NarrowEmbedder("answers")) as kb:
        await kb.ingest([Document(path=path, content=text) for path, text in texts.items()])
        assert (await kb.ask("When are roses pruned?")).found
        assert not (await kb.ask("How do penguins keep their eggs warm?")).found


async def test_memories_about_something_else_are_not_recalled_with_such_a_model() -> None:
    async with KnowledgeBase.open("embedded::memory:", embedder=NarrowEmbedder("memories")) as kb:
        for day, text in (("monday", "My desk is on floor five."), ("tuesday", "Roses are pruned in winter.")):
            await kb.remember(day, "user", text)
        found = await kb.recall(query="When are roses pruned?")
        assert [memory.content for memory in found] == ["Roses are pruned in winter."]
        assert await kb.recall(query="Penguins!") == []
