"""Models of different kinds on servers of their own: each gets its own requests and its own key, and no other's."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from core.rag import KnowledgeBase
from core.rag.embedder import OpenAICompatibleEmbedding, TextEmbedding3Small, open_embedder
from core.rag.errors import ConfigurationError, EmbeddingAuthError, LanguageModelError
from core.rag.llm import Message, open_language_model
from core.rag.openai_endpoint import PLACEHOLDER_KEY, find_endpoint
from core.rag.settings import Settings, load_settings
from libs.dataloader import Document
from tests.dbhandler.kit import make_settings
from tests.fakes.openai_chat import Chat
from tests.fakes.openai_server import OpenAIServer, fail

ELSEWHERE = "https://models.invalid/v1"


def made(**variables: Any) -> Settings:
    return make_settings(**variables)


def keys(server: OpenAIServer) -> set[str]:
    return {request.headers["authorization"].removeprefix("Bearer ") for request in server.requests}


async def test_embeddings_and_answers_come_from_different_servers(tmp_path: Path) -> None:
    async with OpenAIServer(16, keys={"sk-vectors"}) as vectors, OpenAIServer(keys={"sk-words"}) as words:
        chat = Chat(words)
        chat.default = "It turns with the ebb [1]."
        settings = made(
            MGRAG_EMBEDDING_MODEL="local",
            MGRAG_EMBEDDING_BASE_URL=vectors.url,
            MGRAG_EMBEDDING_API_KEY="sk-vectors",
            MGRAG_LLM_MODEL="writer",
            MGRAG_LLM_BASE_URL=words.url,
            MGRAG_LLM_API_KEY="sk-words",
            OPENAI_API_KEY="sk-all",
        )
        async with KnowledgeBase.open(f"embedded:{tmp_path}/g.grafeo", settings=settings) as kb:
            await kb.ingest(Document(path="mill", content="The mill turns with the ebb."))
            answer = await kb.ask("When does the mill turn?")

    assert answer.text == "It turns with the ebb [1]." and answer.citations
    assert {request.route for request in vectors.requests} == {"embeddings"} and keys(vectors) == {"sk-vectors"}
    assert {request.route for request in words.requests} == {"chat/completions"} and keys(words) == {"sk-words"}


@pytest.mark.parametrize("kind", ["embedding", "llm"])
def test_the_key_for_all_models_is_not_sent_to_a_server_for_one_kind(kind: Any) -> None:
    settings = made(**{f"MGRAG_{kind.upper()}_BASE_URL": ELSEWHERE}, OPENAI_API_KEY="sk-all", AZURE_OPENAI_API_KEY="az")
    endpoint = find_endpoint(settings, "A model", kind)
    assert (endpoint.url, endpoint.key.get_secret_value()) == (ELSEWHERE, PLACEHOLDER_KEY)
    assert endpoint.key_variable == f"MGRAG_{kind.upper()}_API_KEY"


@pytest.mark.parametrize("kind", ["embedding", "llm"])
def test_a_key_for_one_kind_goes_where_the_others_go(kind: Any) -> None:
    own = {f"MGRAG_{kind.upper()}_API_KEY": "sk-own"}
    endpoint = find_endpoint(made(OPENAI_BASE_URL=ELSEWHERE, OPENAI_API_KEY="sk-all", **own), "A model", kind)
    assert (endpoint.url, endpoint.key.get_secret_value()) == (ELSEWHERE, "sk-own")
    alone = find_endpoint(made(**own), "A model", kind)
    assert (alone.url, alone.key.get_secret_value()) == ("https://api.openai.com/v1", "sk-own")


def test_arguments_go_before_a_server_for_one_kind() -> None:
    settings = made(MGRAG_LLM_BASE_URL="http://other.invalid", MGRAG_LLM_API_KEY="sk-own", OPENAI_API_KEY="sk-all")
    endpoint = find_endpoint(settings, "A model", "llm", base_url=ELSEWHERE, api_key="sk-given")
    assert (endpoint.url, endpoint.key.get_secret_value()) == (ELSEWHERE, "sk-given")


def test_either_kind_needs_only_its_own_server() -> None:
    with pytest.raises(ConfigurationError, match="needs a key"):
        open_language_model("writer", made(MGRAG_EMBEDDING_BASE_URL=ELSEWHERE))
    with pytest.raises(ConfigurationError, match="no embedding model 'local'"):
        open_embedder("local", made(MGRAG_LLM_BASE_URL=ELSEWHERE))
    assert open_language_model("writer", made(MGRAG_LLM_BASE_URL=ELSEWHERE)) is not None
    assert isinstance(open_embedder("local", made(MGRAG_EMBEDDING_BASE_URL=ELSEWHERE)), OpenAICompatibleEmbedding)
    assert isinstance(
        open_embedder("text-embedding-3-small", made(MGRAG_EMBEDDING_BASE_URL=ELSEWHERE)), TextEmbedding3Small
    )


async def test_errors_name_the_variables_of_the_server_that_was_asked() -> None:
    async with OpenAIServer(keys={"sk-right"}) as server:
        settings = made(MGRAG_EMBEDDING_BASE_URL=server.url, MGRAG_EMBEDDING_API_KEY="sk-wrong")
        embedder = OpenAICompatibleEmbedding("local", settings=settings)
        with pytest.raises(EmbeddingAuthError, match=r"Check MGRAG_EMBEDDING_API_KEY") as refused:
            await embedder.get_embedding("x")
        await embedder.close()
        assert "sk-wrong" not in str(refused.value)
    async with OpenAIServer() as server:
        server.always = fail(404, "no such model")
        model = open_language_model("writer", made(MGRAG_LLM_BASE_URL=server.url))
        assert model is not None
        with pytest.raises(LanguageModelError, match="Check MGRAG_LLM_BASE_URL and MGRAG_LLM_MODEL"):
            await model.complete([Message("user", "x")], temperature=0, max_tokens=5)
        await model.close()
    with pytest.raises(ConfigurationError, match="MGRAG_LLM_BASE_URL is not an http"):
        open_language_model("writer", made(MGRAG_LLM_BASE_URL="ftp://x"))


@pytest.mark.parametrize("kind", ["embedding", "llm"])
def test_a_key_of_the_environment_is_not_sent_to_a_server_that_only_the_file_names(
    kind: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = f"MGRAG_{kind.upper()}"
    (tmp_path / ".env").write_text(f"{name}_BASE_URL={ELSEWHERE}\n", "utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(f"{name}_API_KEY", "sk-real")
    with pytest.raises(ConfigurationError, match=rf"{name}_BASE_URL \(models.invalid\).*{name}_API_KEY from the env"):
        find_endpoint(load_settings(), "A model", kind)
