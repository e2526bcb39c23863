"""Ingesting for several models and namespaces, which share a graph and nothing in it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from core.rag import KnowledgeBase, UndirectedNode
from core.rag.errors import EmbeddingError, InvalidInputError, LanguageModelError, ModelMismatchError
from core.rag.llm import Message
from core.rag.schema import VectorIndex
from libs.dataloader import Document
from tests.dbhandler.kit import Engine, make_settings
from tests.embedders import HashEmbedder
from tests.fakes.openai_server import OpenAIServer
from tests.knowledge_base.notes import PARAGRAPHS, document, text


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


async def test_another_model_is_also_refused_where_nothing_else_opened_the_graph_before(tmp_path: Path) -> None:
    uri = f"embedded:{tmp_path / 'graph.grafeo'}"
    async with KnowledgeBase.open(uri, embedder=HashEmbedder()) as kb:
        await kb.ingest([document("a", text(0))])
        await kb.remember("s", "user", PARAGRAPHS[0])
    kb = KnowledgeBase.open(uri, embedder=HashEmbedder(dimension=24, model="other"))
    try:
        for call in (
            lambda: kb.search(PARAGRAPHS[0], mode="vector"),
            lambda: kb.search(PARAGRAPHS[0]),
            lambda: kb.ask(PARAGRAPHS[0], "basic"),
            lambda: kb.recall(query=PARAGRAPHS[0]),
        ):
            with pytest.raises(ModelMismatchError, match=r"'default' was built with .* words \(32 .*, not with other"):
                await call()
        assert await kb.search(PARAGRAPHS[0], mode="keyword")
    finally:
        await kb.close()


async def test_a_namespace_of_another_model_is_refused_not_empty(tmp_path: Path) -> None:
    uri = f"embedded:{tmp_path / 'graph.grafeo'}"
    other = HashEmbedder(dimension=24, model="other")
    async with KnowledgeBase.open(uri, namespace="apart", embedder=other) as kb:
        await kb.ingest([document("a", text(0))])
    async with KnowledgeBase.open(uri, embedder=HashEmbedder()) as kb:
        with pytest.raises(ModelMismatchError, match="'apart' was built with the embedding model other"):
            await kb.search(PARAGRAPHS[0], namespace="apart")
        assert await kb.search(PARAGRAPHS[0], namespace="nothing yet") == []


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


async def test_a_knowledge_base_of_another_namespace_shares_the_graph_and_nothing_in_it(
    kb: KnowledgeBase, engine: Engine
) -> None:
    await kb.ingest([Document(path="a.md", content=text(0))])
    other = kb.in_namespace(engine.namespace())
    assert await other.search("tide mill") == []
    await other.ingest([Document(path="b.md", content=text(1))])
    assert [document["path"] for document in await other.documents()] == ["b.md"]
    assert [document["path"] for document in await kb.documents()] == ["a.md"]
    assert {hit.path for hit in await other.search("Margaret Harrow")} == {"b.md"}
    with pytest.raises(InvalidInputError):
        kb.in_namespace(" ")


async def test_the_knowledge_graph_of_another_namespace_is_another_one(kb: KnowledgeBase, engine: Engine) -> None:
    await kb.knowledge_graph.add_node(UndirectedNode("The mill turns with the ebb."))
    other = kb.in_namespace(engine.namespace())
    assert await other.knowledge_graph.get_all_nodes() == []
    await other.knowledge_graph.add_node(UndirectedNode("The trust owns the mill."))
    assert [node.content for node in await kb.knowledge_graph.get_all_nodes()] == ["The mill turns with the ebb."]


async def test_all_namespaces_share_one_language_model_which_is_closed_with_the_knowledge_base() -> None:
    settings = make_settings(MGRAG_LLM_MODEL="m", OPENAI_BASE_URL="http://localhost:1/v1")
    async with KnowledgeBase.open("embedded::memory:", embedder=HashEmbedder(), settings=settings) as kb:
        other = kb.in_namespace("other").in_namespace("third")
        model = other.language_model
        assert model is not None and model is kb.language_model
    with pytest.raises(LanguageModelError, match="the connection was closed by this program"):
        await model.complete([Message("user", "Who owns the mill?")], temperature=0, max_tokens=9)


async def test_the_language_model_is_closed_though_the_embedder_cannot_be() -> None:
    class Stuck(HashEmbedder):
        async def close(self) -> None:
            raise EmbeddingError("The connection is stuck.")

    settings = make_settings(MGRAG_LLM_MODEL="m", OPENAI_BASE_URL="http://localhost:1/v1")
    kb = KnowledgeBase.open("embedded::memory:", embedder=Stuck(), settings=settings)
    model = kb.language_model
    assert model is not None
    with pytest.raises(EmbeddingError, match="stuck"):
        await kb.close()
    with pytest.raises(LanguageModelError, match="the connection was closed by this program"):
        await model.complete([Message("user", "Who owns the mill?")], temperature=0, max_tokens=9)


async def test_a_namespace_that_was_removed_is_filled_again_with_vectors(kb: KnowledgeBase) -> None:
    document = Document(path="a.md", content=text(0))
    first = await kb.ingest(document)
    await kb.in_namespace(kb.namespace).delete_namespace(kb.namespace)
    second = await kb.ingest(document)
    assert second.vectors == first.vectors and second.vectors.embedded
    assert [hit.path for hit in await kb.search(PARAGRAPHS[0], mode="vector")] == ["a.md"]
    assert (await kb.status())["nodes"]["Vector"] == second.chunks


async def test_nothing_is_left_of_a_namespace_that_others_wrote_to_while_it_was_removed(
    kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    await kb.ingest(Document(path="a.md", content=text(0)))
    graph = type(await kb.client.connect())
    drop, late = graph.drop_vector_index, [Document(path="b.md", content=text(1))]

    async def written_before(store: Any, index: VectorIndex) -> None:
        if late:
            await kb.ingest(late.pop())
        await drop(store, index)

    monkeypatch.setattr(graph, "drop_vector_index", written_before)
    await kb.in_namespace(kb.namespace).delete_namespace(kb.namespace)
    assert not late
    assert kb.namespace not in await kb.namespaces()


async def test_a_conversation_goes_on_with_another_number_of_dimensions_of_the_same_model(tmp_path: Path) -> None:
    uri = f"embedded:{tmp_path / 'graph.grafeo'}"
    async with KnowledgeBase.open(uri, embedder=HashEmbedder(dimension=32)) as kb:
        await kb.ingest([document("a", text(0)), document("b", text(1))])
    async with KnowledgeBase.open(uri, embedder=HashEmbedder(dimension=24), new_store=True) as kb:
        await kb.ingest([document("a", text(0)), document("b", text(1))])
        talk = await kb.client.create_conversation()
        await kb.client.add_message(talk, PARAGRAPHS[0], "user")
        await kb.client.add_message(talk, PARAGRAPHS[1], "assistant")
    async with KnowledgeBase.open(uri, embedder=HashEmbedder(dimension=32)) as kb:
        hits = await kb.search("When does the tide mill turn with the ebb?", mode="hybrid", conversation_id=talk)
        assert {hit.path for hit in hits} == {"a", "b"}


async def test_an_empty_graph_is_searched_with_a_model_of_an_unknown_dimension() -> None:
    async with OpenAIServer(24) as server:
        settings = make_settings(OPENAI_BASE_URL=server.url)
        async with KnowledgeBase.open("embedded::memory:", model="local", settings=settings) as kb:
            assert await kb.search("the tide mill") == []
            assert await kb.recall(query="the tide mill") == []


async def test_a_vector_of_the_caller_may_come_before_the_dimension_of_a_model_is_known() -> None:
    async with OpenAIServer(24) as server:
        settings = make_settings(OPENAI_BASE_URL=server.url)
        async with KnowledgeBase.open("embedded::memory:", model="local", settings=settings) as kb:
            await kb.client.create_document("a.md", "The tide mill turns.", embedding=[1.0] * 24)
            assert [hit.path for hit in await kb.search("the tide mill", mode="vector")] == ["a.md"]
