"""Messages that are longer than a model reads."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from core.rag import KnowledgeBase, KnowledgeGraph, UndirectedNode
from core.rag.embedder.base import embed_long_texts, embed_texts
from core.rag.errors import EmbeddingInputError
from libs.dataloader import Document
from tests.embedders import HashEmbedder, ShortSightedEmbedder

LONG = f"{'The mill turns at dawn. ' * 40}{'Herons stand in the pond. ' * 40}"


async def test_a_long_text_has_the_vector_of_all_of_it() -> None:
    embedder = ShortSightedEmbedder()
    texts = ["The wheel is of larch.", LONG, "x" * 9_000, ""]
    vectors = await embed_long_texts(embedder, texts, ["a", "b", "c", "d"])
    assert vectors.shape == (4, embedder.dimension)
    assert vectors[0] == pytest.approx((await embed_texts(embedder, texts[:1]))[0])
    whole = (await embed_texts(HashEmbedder(), [LONG]))[0]
    assert float(vectors[1] @ whole) / float(np.linalg.norm(vectors[1]) * np.linalg.norm(whole)) > 0.95
    assert max(len(text.split()) for text in embedder.embedded) <= 30


async def test_what_is_refused_for_something_else_is_an_error() -> None:
    class Refusing(HashEmbedder):
        async def get_embeddings(self, texts, names=None):  # type: ignore[no-untyped-def]
            raise EmbeddingInputError("I read nothing.")

    for text in ("short", LONG):
        with pytest.raises(EmbeddingInputError, match="I read nothing"):
            await embed_long_texts(Refusing(), [text])


async def test_long_messages_and_answers_are_stored_and_found(tmp_path: Path) -> None:
    uri = f"embedded:{tmp_path / 'g.grafeo'}"
    async with KnowledgeBase.open(uri, embedder=ShortSightedEmbedder()) as kb:
        await kb.ingest([Document(path=f"{n}.md", content=f"Mill number {n} turns at dawn.") for n in range(12)])
        await kb.remember("s", "user", "I like tea.")
        memory = await kb.remember("s", "user", LONG)
        assert [one.id for one in await kb.recall("s", "Where do herons stand?", limit=1)] == [memory]
        assert [one.id for one in await kb.recall("s", LONG, limit=1)] == [memory]
        assert (await kb.revise(memory, f"{LONG} So it is.")).content.endswith("So it is.")
        assert await kb.search(LONG)
        answer = await kb.ask(f"Which mills turn at dawn? {LONG}", conversation_id="talk", k=12)
        assert len(answer.text.split()) > 30
        assert [one.content for one in await kb.memories("talk")][1] == answer.text
    async with KnowledgeBase.open(uri, embedder=ShortSightedEmbedder(model="others"), check_model=False) as kb:
        assert (await kb.reembed()).messages == 4
        assert [one.id for one in await kb.recall("s", "Where do herons stand?", limit=1)] == [memory]


async def test_long_nodes_and_records_do_not_stop_searches() -> None:
    """One of them made every search for nodes fail, and every answer that came by it."""
    async with KnowledgeBase.open("embedded::memory:", embedder=ShortSightedEmbedder()) as kb:
        graph = KnowledgeGraph(kb)
        await graph.add_node(UndirectedNode(LONG, label="note"))
        await graph.add_node(UndirectedNode("Tea is served at five.", label="note"))
        assert [node.content for node in await graph.semantic_search("Herons stand in the pond.", topk_k=1)] == [LONG]
        assert [node.content for node in await graph.semantic_search(LONG, topk_k=1)] == [LONG]
        await kb.insert("mills", {"name": "Harrow Mill", "about": LONG})
        assert (await kb.ask("What is Harrow Mill, and who leads it?", strategy="drift")).details["entry_points"]
