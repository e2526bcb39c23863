"""What is put before questions and texts: what known models want, settings, and what the graph remembers of it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from core.rag import KnowledgeBase, KnowledgeGraph, UndirectedNode
from core.rag.embedder import EmbeddingService, OpenAICompatibleEmbedding, embed_queries, open_embedder
from core.rag.embedder.prefixes import known_prefixes
from core.rag.errors import ModelMismatchError
from core.rag.settings import Settings
from libs.dataloader import Document
from tests.fakes.openai_server import OpenAIServer, embed

MakeSettings = Callable[..., Settings]


def sent(server: OpenAIServer) -> list[str]:
    return [text for request in server.requests for text in request.json["input"]]


@pytest.mark.parametrize(
    ("model", "query", "text"),
    [
        ("nomic-embed-text", "search_query: ", "search_document: "),
        ("nomic-ai/nomic-embed-text-v1.5", "search_query: ", "search_document: "),
        ("intfloat/multilingual-e5-large", "query: ", "passage: "),
        ("e5-base-v2", "query: ", "passage: "),
        ("mxbai-embed-large:335m", "Represent this sentence for searching relevant passages: ", ""),
        ("BAAI/bge-small-en-v1.5", "Represent this sentence for searching relevant passages: ", ""),
        ("snowflake-arctic-embed:m", "Represent this sentence for searching relevant passages: ", ""),
        ("snowflake-arctic-embed2", "query: ", ""),
        ("Snowflake/snowflake-arctic-embed-l-v2.0", "query: ", ""),
        ("embeddinggemma:300m", "task: search result | query: ", "title: none | text: "),
        ("bge-m3", "", ""),
        ("text-embedding-3-small", "", ""),
        ("all-minilm", "", ""),
    ],
)
def test_known_models(model: str, query: str, text: str) -> None:
    assert (known_prefixes(model).query, known_prefixes(model).text) == (query, text)


@pytest.mark.parametrize("model", ["Qwen/Qwen3-Embedding-0.6B", "qwen3-embedding:8b", "multilingual-e5-large-instruct"])
def test_models_that_are_instructed_read_it_before_questions_only(model: str) -> None:
    found = known_prefixes(model)
    assert found.query.startswith("Instruct: ") and "\nQuery:" in found.query and not found.text


async def test_questions_and_texts_are_sent_with_what_the_model_wants(
    server: OpenAIServer, settings: MakeSettings
) -> None:
    made = settings(OPENAI_BASE_URL=server.url)
    async with OpenAICompatibleEmbedding("nomic-embed-text", settings=made) as embedder:
        server.requests.clear()
        vectors = await embedder.get_embeddings(["a mill", ""])
        query = await embedder.get_query_embedding("which mill?")
        queries = await embed_queries(embedder, ["which mill?"], ["the question"])

    assert sent(server) == ["search_document: a mill", "search_query: which mill?", "search_query: which mill?"]
    np.testing.assert_allclose(vectors[0], embed("search_document: a mill", 1536), rtol=1e-5)
    np.testing.assert_allclose(query, embed("search_query: which mill?", 1536), rtol=1e-5)
    assert queries.shape == (1, 1536) and queries[0].tolist() == query


@pytest.mark.parametrize(
    ("variables", "arguments", "expected"),
    [
        ({"MGRAG_EMBEDDING_QUERY_PREFIX": "q: ", "MGRAG_EMBEDDING_TEXT_PREFIX": "t: "}, {}, ["t: x", "q: x"]),
        ({"MGRAG_EMBEDDING_QUERY_PREFIX": "none", "MGRAG_EMBEDDING_TEXT_PREFIX": "none"}, {}, ["x", "x"]),
        ({"MGRAG_EMBEDDING_QUERY_PREFIX": "q: "}, {"query_prefix": "", "text_prefix": "a: "}, ["a: x", "x"]),
        ({"MGRAG_EMBEDDING_QUERY_PREFIX": "q: "}, {}, ["passage: x", "q: x"]),
    ],
)
async def test_arguments_go_before_settings_and_these_before_what_is_known(
    variables: dict[str, str],
    arguments: dict[str, Any],
    expected: list[str],
    server: OpenAIServer,
    settings: MakeSettings,
) -> None:
    made = settings(OPENAI_BASE_URL=server.url, MGRAG_EMBEDDING_DIMENSION=8, **variables)
    async with OpenAICompatibleEmbedding("e5-small-v2", dimension=8, settings=made, **arguments) as embedder:
        await embedder.get_embeddings(["x"])
        await embedder.get_query_embeddings(["x"])

    assert sent(server) == expected


async def test_an_embedder_of_ones_own_embeds_questions_like_texts() -> None:
    class Own(EmbeddingService):
        model = "own"
        dimension = 2

        async def get_embeddings(self, texts: Any) -> Any:  # type: ignore[override]
            return np.array([[len(text), 1] for text in texts], dtype=np.float32)

    assert (await embed_queries(Own(), ["abc"], ["the question"])).tolist() == [[3, 1]]
    assert await Own().get_query_embedding("ab") == [2, 1]


async def test_a_graph_remembers_what_stood_before_its_texts(
    server: OpenAIServer, settings: MakeSettings, tmp_path: Path
) -> None:
    uri = f"embedded:{tmp_path}/graph.grafeo"
    made = settings(OPENAI_BASE_URL=server.url, MGRAG_EMBEDDING_MODEL="nomic-embed-text")
    async with KnowledgeBase.open(uri, settings=made) as kb:
        await kb.ingest(Document(path="mill", content="The mill turns with the ebb."))
        server.requests.clear()
        await kb.search("when does it turn?", mode="vector")
        await kb.remember("monday", "user", "Ada likes mills.")
        await kb.recall(query="what does Ada like?")
        (store,) = await kb.client.vector_stores()
    assert store.model == "nomic-embed-text [search_document: ]"
    assert "search_query: when does it turn?" in sent(server) and "search_query: what does Ada like?" in sent(server)
    assert [text for text in sent(server) if "Ada likes" in text] == ["search_document: Ada likes mills."]

    other = made.model_copy(update={"embedding_text_prefix": "none"})
    with pytest.raises(ModelMismatchError, match=r"nomic-embed-text \[search_document: \] \(1536"):
        async with KnowledgeBase.open(uri, settings=other):
            pass
    async with KnowledgeBase.open(uri, model=store.model, settings=other) as kb:
        assert await kb.search("when does it turn?", mode="vector")
        assert kb.embedder.model == store.model


def test_a_name_as_in_the_graph_opens_that_model(server: OpenAIServer, settings: MakeSettings) -> None:
    made = settings(OPENAI_BASE_URL=server.url)
    assert open_embedder("mine [passage: ]", made).model == "mine [passage: ]"
    assert open_embedder("mine", made).model == "mine"


async def test_the_graph_is_asked_as_documents_are(server: OpenAIServer, settings: MakeSettings) -> None:
    made = settings(OPENAI_BASE_URL=server.url)
    embedder = OpenAICompatibleEmbedding("nomic-embed-text", settings=made)
    async with KnowledgeGraph.open("embedded::memory:", embedder=embedder, settings=made) as graph:
        mill = await graph.add_node(UndirectedNode("A mill on the river"))
        await graph.embed_pending()
        server.requests.clear()
        await graph.semantic_search("which mill?")
        await graph.query_by_content("whose mill?")
        [itself] = await graph.semantic_search(mill)

    asked = ["search_query: which mill?", "search_query: whose mill?", "search_document: A mill on the river"]
    assert sent(server) == asked
    assert itself.similarity == pytest.approx(1.0)
