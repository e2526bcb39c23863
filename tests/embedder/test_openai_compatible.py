"""Embedding over the OpenAI protocol: the real client against a real server, no faults but those of the input."""

from __future__ import annotations

import asyncio
import gc
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from core.rag.embedder import OpenAICompatibleEmbedding, TextEmbedding3Small, blank_vector, embed_queries
from core.rag.embedder.openai_tokens import load_counter
from core.rag.errors import ConfigurationError, EmbeddingError, EmbeddingInputError, MissingDependencyError
from core.rag.settings import Settings
from tests.dbhandler.kit import make_settings
from tests.fakes.openai_server import OpenAIServer, change, embed, fail, hang

KEY = "sk-secret-0123456789abcdef"
MakeSettings = Callable[..., Settings]


def small(server: OpenAIServer, make: MakeSettings, **variables: Any) -> TextEmbedding3Small:
    return TextEmbedding3Small(settings=make(OPENAI_API_KEY=KEY, OPENAI_BASE_URL=server.url, **variables))


def inputs(server: OpenAIServer) -> list[list[str]]:
    return [request.json["input"] for request in server.requests]


async def test_vectors_come_in_the_order_of_the_texts(server: OpenAIServer, settings: MakeSettings) -> None:
    server.always = change(lambda answer: random.Random(1).shuffle(answer["data"]))
    texts = [f"text {number}" for number in range(50)]
    async with small(server, settings) as embedder:
        vectors = await embedder.get_embeddings(texts)

    assert (embedder.model, embedder.dimension, embedder.max_input_tokens) == ("text-embedding-3-small", 1536, 8191)
    assert vectors.dtype == np.float32 and vectors.shape == (50, 1536)
    np.testing.assert_allclose(vectors, [embed(text, 1536) for text in texts], rtol=1e-6)
    (request,) = server.requests
    assert (request.path, request.json["model"]) == ("/v1/embeddings", "text-embedding-3-small")
    assert request.headers["authorization"] == f"Bearer {KEY}" and "dimensions" not in request.json
    assert (embedder.usage.tokens, embedder.usage.requests, embedder.usage.retries) == (100, 1, 0)


async def test_one_text(server: OpenAIServer, settings: MakeSettings) -> None:
    async with small(server, settings) as embedder:
        vector = await embedder.get_embedding("a query")

    assert isinstance(vector, list) and vector == np.array(embed("a query", 1536), dtype=np.float32).tolist()


async def test_numbers_instead_of_base64(settings: MakeSettings) -> None:
    async with OpenAIServer(1536, base64=False) as server, small(server, settings) as embedder:
        np.testing.assert_allclose(await embedder.get_embedding("text"), embed("text", 1536), rtol=1e-6)


async def test_a_text_is_requested_once_and_a_blank_one_never(server: OpenAIServer, settings: MakeSettings) -> None:
    async with small(server, settings) as embedder:
        vectors = await embedder.get_embeddings(["b", "", "a", "b", " \n", "a", "b"])

    assert inputs(server) == [["b", "a"]]
    blank: list[float] = blank_vector(1536).tolist()
    expected = [embed(text, 1536) if text else blank for text in ["b", "", "a", "b", "", "a", "b"]]
    np.testing.assert_allclose(vectors, expected, rtol=1e-6)


async def test_nothing_to_embed_needs_no_request(server: OpenAIServer, settings: MakeSettings) -> None:
    async with small(server, settings) as embedder:
        assert (await embedder.get_embeddings([])).shape == (0, 1536)
        assert np.array_equal(await embedder.get_embedding(""), blank_vector(1536))

    assert server.requests == []


@hypothesis_settings(max_examples=25, deadline=None)
@given(texts=st.lists(st.text(max_size=5), max_size=30), batch=st.integers(1, 7))
async def test_any_texts_in_any_batches(texts: list[str], batch: int) -> None:
    async with OpenAIServer(16) as server:
        made = make_settings(OPENAI_BASE_URL=server.url, MGRAG_EMBEDDING_BATCH_SIZE=batch)
        async with OpenAICompatibleEmbedding("local", settings=made) as embedder:
            whole = await embedder.get_embeddings(texts)
            single = [await embedder.get_embedding(text) for text in texts]

    assert np.array_equal(whole, np.array(single, dtype=np.float32).reshape(-1, 16))


async def test_requests_stay_within_the_limits(server: OpenAIServer, settings: MakeSettings) -> None:
    texts = [f"{number}" for number in range(5_000)] + [f"{number} " + "ab " * 8_000 for number in range(30)]
    made = settings(OPENAI_API_KEY=KEY, OPENAI_BASE_URL=server.url, MGRAG_EMBEDDING_CONCURRENCY=2)
    async with TextEmbedding3Small(dimension=2, settings=made) as embedder:
        vectors = await embedder.get_embeddings(texts)

    assert vectors.shape == (5_030, 2)
    assert sum(map(len, inputs(server))) == 5_030
    assert max(map(len, inputs(server))) <= 2_048
    assert max(sum(len(text) for text in batch) for batch in inputs(server)) <= 300_000
    assert server.most_at_once <= 2


async def test_several_requests_at_a_time(server: OpenAIServer, settings: MakeSettings) -> None:
    async def together(server: OpenAIServer, request: Any, handler: Any) -> Any:
        while server.most_at_once < 3:
            await asyncio.sleep(0)
        return await handler(request)

    server.always = together
    async with small(server, settings, MGRAG_EMBEDDING_BATCH_SIZE=1, MGRAG_EMBEDDING_CONCURRENCY=3) as embedder:
        await embedder.get_embeddings([f"text {number}" for number in range(9)])

    assert server.most_at_once == 3 and len(server.requests) == 9


async def test_a_server_that_takes_less_at_a_time_is_sent_less(settings: MakeSettings) -> None:
    async with OpenAIServer(8, max_inputs=10) as server, small_local(server, settings) as embedder:
        texts = [f"text {number}" for number in range(70)]
        np.testing.assert_allclose(await embedder.get_embeddings(texts), [embed(text, 8) for text in texts], rtol=1e-5)
        learned = len(server.requests)
        await embedder.get_embeddings(texts)

        assert len(server.requests) - learned == 8, "the second time the limit is known: 9 at a time"


def small_local(server: OpenAIServer, make: MakeSettings, **variables: Any) -> OpenAICompatibleEmbedding:
    return OpenAICompatibleEmbedding("local", settings=make(OPENAI_BASE_URL=server.url, **variables))


async def test_the_dimension_of_an_unknown_model_is_asked_for_once(settings: MakeSettings) -> None:
    async with OpenAIServer(24) as server:
        embedder = small_local(server, settings)
        with pytest.raises(EmbeddingError, match="await prepare"):
            _ = embedder.dimension
        async with embedder:
            await embedder.prepare()
            assert embedder.dimension == 24 and len(server.requests) == 1
            await embedder.get_embedding("text")
        assert len(server.requests) == 2
        assert server.requests[0].headers["authorization"] == "Bearer not-needed"


async def test_fewer_dimensions_are_asked_for(server: OpenAIServer, settings: MakeSettings) -> None:
    async with TextEmbedding3Small(server.url, KEY, 512, settings=settings()) as embedder:
        assert len(await embedder.get_embedding("text")) == 512 == embedder.dimension
    assert server.requests[0].json["dimensions"] == 512


async def test_a_server_that_refuses_what_is_not_needed(settings: MakeSettings) -> None:
    async with OpenAIServer(8, base64=False, refuses=("encoding_format", "dimensions")) as server:
        async with OpenAICompatibleEmbedding("local", server.url, dimension=8, settings=settings()) as embedder:
            vectors = await embedder.get_embeddings(["a", "b"])
            asked = len(server.requests)
            await embedder.get_embedding("c")
        assert len(server.requests) == asked + 1, "it is remembered"
        np.testing.assert_allclose(vectors, [embed("a", 8), embed("b", 8)], rtol=1e-5)


async def test_a_dimension_that_the_server_does_not_have(settings: MakeSettings) -> None:
    async with OpenAIServer(8, refuses=("dimensions",)) as server:
        async with OpenAICompatibleEmbedding("local", server.url, dimension=4, settings=settings()) as embedder:
            with pytest.raises(EmbeddingError, match="dimension 8, not 4"):
                await embedder.get_embedding("a")


@pytest.mark.parametrize(("model", "dimension"), [("text-embedding-3-small", 2000), ("text-embedding-ada-002", 512)])
def test_a_dimension_that_the_model_does_not_have(model: str, dimension: int, settings: MakeSettings) -> None:
    with pytest.raises(ConfigurationError, match=f"1536 dimensions, not {dimension}"):
        OpenAICompatibleEmbedding(model, api_key=KEY, dimension=dimension, settings=settings())


async def test_azure(server: OpenAIServer, settings: MakeSettings) -> None:
    server.deployments = {"my-deployment"}
    server.keys = {KEY}
    made = settings(
        AZURE_OPENAI_API_KEY=KEY,
        AZURE_OPENAI_ENDPOINT=server.azure_endpoint + "/openai/deployments/other/embeddings?api-version=1",
        AZURE_OPENAI_API_VERSION="2024-10-21",
        AZURE_OPENAI_EMBEDDING_DEPLOYMENT="my-deployment",
        OPENAI_API_KEY="sk-not-this-one",
        OPENAI_BASE_URL="http://127.0.0.1:1/v1",
    )
    async with TextEmbedding3Small(settings=made) as embedder:
        np.testing.assert_allclose(await embedder.get_embedding("text"), embed("text", 1536), rtol=1e-6)

    assert embedder.model == "text-embedding-3-small"
    (request,) = server.requests
    assert request.path == "/openai/deployments/my-deployment/embeddings"
    assert request.query == {"api-version": "2024-10-21"}
    assert request.headers["api-key"] == KEY and "authorization" not in request.headers


async def test_an_azure_deployment_is_called_like_the_model(server: OpenAIServer, settings: MakeSettings) -> None:
    made = settings(AZURE_OPENAI_API_KEY=KEY, AZURE_OPENAI_ENDPOINT=server.azure_endpoint)
    server.deployments = {"text-embedding-3-small"}
    async with TextEmbedding3Small(settings=made) as embedder:
        await embedder.get_embedding("text")
    server.deployments = set()
    with pytest.raises(EmbeddingError, match="AZURE_OPENAI_EMBEDDING_DEPLOYMENT"):
        async with TextEmbedding3Small(settings=made) as embedder:
            await embedder.get_embedding("text")


def test_no_key(settings: MakeSettings) -> None:
    for make in (TextEmbedding3Small, lambda settings: OpenAICompatibleEmbedding("other", settings=settings)):
        with pytest.raises(ConfigurationError) as caught:
            make(settings=settings())
        for variable in ("OPENAI_API_KEY", "AZURE_OPENAI_API_KEY", "AZURE_OPENAI_ENDPOINT", "OPENAI_BASE_URL"):
            assert variable in str(caught.value)


@pytest.mark.parametrize(
    ("variables", "message"),
    [
        ({"AZURE_OPENAI_API_KEY": KEY}, "set AZURE_OPENAI_ENDPOINT"),
        ({"OPENAI_API_KEY": f"{KEY}\nX: y"}, "OPENAI_API_KEY is empty or holds"),
        ({"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": "localhost:8000"}, "OPENAI_BASE_URL is not an http"),
        ({"OPENAI_BASE_URL": f"http://user:{KEY}@localhost/v1"}, "OPENAI_BASE_URL holds a user name"),
    ],
)
def test_settings_that_cannot_be_used(variables: dict[str, str], message: str, settings: MakeSettings) -> None:
    with pytest.raises(ConfigurationError, match=message) as caught:
        TextEmbedding3Small(settings=settings(**variables))
    assert KEY not in str(caught.value)


def test_the_package_is_missing(settings: MakeSettings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(MissingDependencyError, match=r"pip install 'memgraph-rag\[openai\]'"):
        TextEmbedding3Small(settings=settings(OPENAI_API_KEY=KEY))


@pytest.mark.parametrize("names_input", [False, True])
async def test_a_text_that_the_server_finds_too_long_is_named(names_input: bool, settings: MakeSettings) -> None:
    async with OpenAIServer(8, max_input_tokens=20, names_input=names_input) as server:
        async with small_local(server, settings) as embedder:
            texts = [f"text {number}" for number in range(40)]
            texts[29] = "word " * 21
            with pytest.raises(EmbeddingInputError, match=r"notes\.md chunk 29: .*length is 20") as caught:
                await embedder.get_embeddings(texts, names=[f"notes.md chunk {number}" for number in range(40)])
            assert (caught.value.name, caught.value.index) == ("notes.md chunk 29", 29)
            with pytest.raises(EmbeddingInputError, match="text number 29") as caught:
                await embedder.get_embeddings(texts)
    assert len(server.requests) <= (3 if names_input else 26), "found by halving"


async def test_of_a_question_that_the_server_finds_too_long_the_beginning_is_sent(settings: MakeSettings) -> None:
    async with OpenAIServer(8, max_input_tokens=20) as server:
        async with small_local(server, settings) as embedder:
            await embed_queries(embedder, ["word " * 60, "what?"], ["the query", "another"])
            assert inputs(server)[-1] == ["word " * 13 + "word", "what?"]
            with pytest.raises(EmbeddingInputError, match="the query"):
                await embed_queries(embedder, ["a " * 30], ["the query"])


async def test_a_text_that_must_be_too_long_is_not_sent(server: OpenAIServer, settings: MakeSettings) -> None:
    async with small(server, settings) as embedder:
        with pytest.raises(EmbeddingInputError, match=r"big\.txt has .* takes 8191 tokens at most.*MGRAG_CHUNK_SIZE"):
            big = "x" * (8_191 * 128 + 1)
            await embedder.get_embeddings(["fine", big, big], names=["small.txt", "big.txt", "big copy.txt"])
    assert server.requests == []


async def test_a_text_that_may_be_short_enough_is_sent(
    server: OpenAIServer, settings: MakeSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a counter, bytes are only a bound: the server decides."""
    monkeypatch.setattr("core.rag.embedder.openai_compatible.offline_counter", lambda settings: None)
    text = "word " * 5_000
    async with small(server, settings) as embedder:
        assert embedder.count_tokens(text) == len(text) > 8_191
        assert embedder.count_tokens("é") == 2
        await embedder.get_embedding(text)
    assert inputs(server) == [[text]]


async def test_counted_tokens_decide(
    server: OpenAIServer, settings: MakeSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "core.rag.embedder.openai_compatible.offline_counter", lambda settings: lambda text: len(text.split())
    )
    async with small(server, settings) as embedder:
        assert embedder.count_tokens("word " * 8_191) == 8_191
        await embedder.get_embedding("word " * 8_191)
        with pytest.raises(EmbeddingInputError, match="text number 0 has 8192 tokens"):
            await embedder.get_embedding("word " * 8_192)


def test_an_encoding_is_loaded_from_a_folder(tmp_path: Any) -> None:
    import base64
    import hashlib

    lines = [base64.b64encode(bytes([byte])) + b" %d" % byte for byte in range(256)]
    lines.append(base64.b64encode(b"ab") + b" 256")
    data = b"\n".join(lines) + b"\n"
    (tmp_path / "9b5ad71b2ce5302211f9c61530b329a4922fc6a4").write_bytes(data)

    counter = load_counter((tmp_path / "missing", tmp_path), hashlib.sha256(data).hexdigest())

    assert counter is not None
    assert [counter(text) for text in ("", "ab", "abc", "é", "<|endoftext|>")] == [0, 1, 2, 2, 13]
    assert load_counter((tmp_path,)) is None, "another file under this name is not trusted"
    assert load_counter((tmp_path / "missing",)) is None


async def test_too_many_at_a_time_for_a_while(server: OpenAIServer, settings: MakeSettings) -> None:
    server.then(fail(413, "body too large"))
    async with small(server, settings) as embedder:
        assert (await embedder.get_embeddings(["a", "b", "c"])).shape == (3, 1536)
    assert [len(batch) for batch in inputs(server)] == [3, 1, 2]


async def test_cancelling_closes_the_request(server: OpenAIServer, settings: MakeSettings) -> None:
    server.always = hang()
    async with small(server, settings) as embedder:
        task = asyncio.create_task(embedder.get_embedding("text"))
        await server.arrived.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await asyncio.wait_for(server.gone.wait(), 10)


async def test_when_one_request_fails_the_others_are_closed(server: OpenAIServer, settings: MakeSettings) -> None:
    async def some_hang(server: OpenAIServer, request: Any, handler: Any) -> Any:
        if "bad" not in request.json["input"]:
            return await hang()(server, request, handler)
        while server.at_once < 3:
            await asyncio.sleep(0)
        return await fail(400, "no")(server, request, handler)

    server.always = some_hang
    async with small(server, settings, MGRAG_EMBEDDING_BATCH_SIZE=1) as embedder:
        with pytest.raises(EmbeddingError, match=r"did not embed: no \(HTTP 400\)"):
            await embedder.get_embeddings(["a", "b", "bad"])
        await asyncio.wait_for(server.gone.wait(), 10)


@pytest.mark.filterwarnings("ignore::ResourceWarning")  # nobody can close the connection that the first loop left
def test_it_can_be_used_in_one_event_loop_after_another(settings: MakeSettings) -> None:
    from tests.fakes.openai_server import in_thread

    with in_thread(OpenAIServer(1536)) as server:
        embedder = small(server, settings)
        for text in ("a", "b"):
            vector = asyncio.run(embedder.get_embedding(text))
            np.testing.assert_allclose(vector, embed(text, 1536), rtol=1e-6)
        del embedder
        gc.collect()


async def test_a_closed_one_says_so(server: OpenAIServer, settings: MakeSettings) -> None:
    embedder = small(server, settings)
    await embedder.get_embedding("text")
    await embedder.close()
    await embedder.close()
    with pytest.raises(EmbeddingError, match="closed"):
        await embedder.get_embedding("text")


@pytest.mark.parametrize(
    "url", ["http://u:my secret@h/v1", "http://h/v1?key=secret", "http://u:secret@[h/", "http://u:secret@h\u2100st/v1"]
)
def test_an_address_with_a_secret_is_refused_without_showing_it(url: str, settings: MakeSettings) -> None:
    with pytest.raises(ConfigurationError) as caught:
        OpenAICompatibleEmbedding("a-model", settings=settings(OPENAI_BASE_URL=url))
    assert "secret" not in f"{caught.value} {caught.value.__cause__}"


def test_an_azure_resource_may_be_called_openai(settings: MakeSettings) -> None:
    resource = "https://openai-1.example.org"
    made = settings(AZURE_OPENAI_API_KEY="k", AZURE_OPENAI_ENDPOINT=f"{resource}/openai/deployments/x?api-version=1")
    assert resource in repr(TextEmbedding3Small(settings=made))
