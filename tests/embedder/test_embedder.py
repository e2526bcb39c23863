"""Choosing an embedder by name, bringing one's own, and the rule about blank texts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.rag.embedder import (
    EmbeddingService,
    EmbeddingUsage,
    OpenAICompatibleEmbedding,
    TextEmbedding3Small,
    WordLlamaEmbedding,
    blank_vector,
    embed_texts,
    is_blank,
    open_embedder,
)
from core.rag.errors import ConfigurationError, EmbeddingError, InvalidInputError
from core.rag.settings import Settings

MakeSettings = Callable[..., Settings]


class Own(EmbeddingService):
    """The least that an own embedder has to define."""

    answer: Any = None

    @property
    def model(self) -> str:
        return "own"

    @property
    def dimension(self) -> int:
        return 2

    async def get_embeddings(self, texts: Sequence[str]) -> Any:  # type: ignore[override]
        return [[float(len(text)), 0.0] for text in texts] if self.answer is None else self.answer


@pytest.mark.parametrize(
    ("name", "variables", "kind", "model", "dimension"),
    [
        (None, {}, WordLlamaEmbedding, "wordllama-256", 256),
        ("wordllama", {}, WordLlamaEmbedding, "wordllama-256", 256),
        ("wordllama:64", {}, WordLlamaEmbedding, "wordllama-64", 64),
        ("wordllama-128", {}, WordLlamaEmbedding, "wordllama-128", 128),
        ("wordllama", {"MGRAG_EMBEDDING_DIMENSION": 128}, WordLlamaEmbedding, "wordllama-128", 128),
        (None, {"MGRAG_EMBEDDING_MODEL": "wordllama:128"}, WordLlamaEmbedding, "wordllama-128", 128),
        (" text-embedding-3-small ", {"OPENAI_API_KEY": "k"}, TextEmbedding3Small, "text-embedding-3-small", 1536),
        (
            "text-embedding-3-small",
            {"OPENAI_API_KEY": "k", "MGRAG_EMBEDDING_DIMENSION": 512},
            TextEmbedding3Small,
            "text-embedding-3-small",
            512,
        ),
        (
            "text-embedding-3-large",
            {"OPENAI_API_KEY": "k"},
            OpenAICompatibleEmbedding,
            "text-embedding-3-large",
            3072,
        ),
        (
            "bge-m3",
            {"OPENAI_BASE_URL": "http://localhost:1/v1", "MGRAG_EMBEDDING_DIMENSION": 1024},
            OpenAICompatibleEmbedding,
            "bge-m3",
            1024,
        ),
    ],
)
def test_an_embedder_by_name(
    name: str | None, variables: dict[str, Any], kind: type, model: str, dimension: int, settings: MakeSettings
) -> None:
    embedder = open_embedder(name, settings(**variables))

    assert type(embedder) is kind
    assert (embedder.model, embedder.dimension) == (model, dimension)
    if kind is WordLlamaEmbedding:
        assert open_embedder(embedder.model, settings()).model == model, "what the graph stores can be opened"


@pytest.mark.parametrize("name", ["bge-m3", "", "wordllama:", "wordllama:large", "wordllama-256-x"])
def test_a_name_that_means_nothing(name: str, settings: MakeSettings) -> None:
    with pytest.raises(ConfigurationError) as caught:
        open_embedder(name, settings())
    for part in (repr(name), "wordllama", "text-embedding-3-small", "OPENAI_BASE_URL", "OPENAI_API_KEY"):
        assert part in str(caught.value)


def test_two_dimensions(settings: MakeSettings) -> None:
    with pytest.raises(ConfigurationError, match="wordllama:64 and MGRAG_EMBEDDING_DIMENSION=128"):
        open_embedder("wordllama:64", settings(MGRAG_EMBEDDING_DIMENSION=128))


async def test_an_own_embedder_needs_three_things() -> None:
    async with Own() as own:
        assert await own.get_embedding("abc") == [3.0, 0.0]
        assert own.max_input_tokens is None and own.usage == EmbeddingUsage(0, 0, 0)
        assert own.count_tokens("aé") == 3
        vectors = await embed_texts(own, ["abc", ""], names=["one", "two"])

    assert vectors.dtype == np.float32
    assert np.array_equal(vectors, np.array([[3, 0], blank_vector(2)], dtype=np.float32))
    assert (await embed_texts(own, [])).shape == (0, 2)


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ([[1.0, 2.0]], r"own returned an array of shape \(1, 2\) for 2 texts of dimension 2"),
        ([[1.0], [2.0]], r"shape \(2, 1\)"),
        ([[1.0, 2.0], [3.0]], "own did not return an array of numbers: .*inhomogeneous"),
        (iter([[1.0, 2.0], [3.0, 4.0]]), "did not return an array of numbers"),
        (["a", "b"], "did not return an array of numbers"),
        ([[1.0, 2.0], [float("nan"), 1.0]], "not finite for two"),
        ([[1.0, 2.0], [float("inf"), 1.0]], "not finite for two"),
    ],
)
async def test_what_an_own_embedder_returns_is_checked(answer: Any, message: str) -> None:
    own = Own()
    own.answer = answer
    with pytest.raises(EmbeddingError, match=message):
        await embed_texts(own, ["a", "b"], names=["one", "two"])


async def test_names_belong_to_texts() -> None:
    with pytest.raises(InvalidInputError, match="2 texts came with 1 names"):
        await WordLlamaEmbedding().get_embeddings(["a", "b"], names=["one"])


async def test_texts_of_an_iterator_are_embedded() -> None:
    embedder = WordLlamaEmbedding()
    made = await embedder.get_embeddings(text for text in ("tide", "mill"))  # type: ignore[arg-type]
    assert (made == await embedder.get_embeddings(["tide", "mill"])).all() and len(made) == 2
    with pytest.raises(InvalidInputError, match="takes a sequence of texts, not int"):
        await embedder.get_embeddings(3)  # type: ignore[arg-type]


@pytest.mark.parametrize("text", ["", " ", "\n\t\r", "\u00a0\u3000\u2028", "\u200b\u200d\ufeff", "\x00\x1f", "\ud800"])
def test_blank(text: str) -> None:
    assert is_blank(text)


@pytest.mark.parametrize("text", ["a", " a ", ".", "\u200b1", "漢", "🙂", "\ue000", "\u0301"])
def test_not_blank(text: str) -> None:
    assert not is_blank(text)


@given(dimension=st.integers(1, 4_096))
def test_the_blank_vector_is_a_unit_vector(dimension: int) -> None:
    vector = blank_vector(dimension)

    assert vector.shape == (dimension,) and vector.dtype == np.float32
    assert abs(float(np.linalg.norm(vector.astype(np.float64))) - 1) < 1e-5
    assert len(np.unique(np.abs(vector))) == 1


def test_the_blank_vector_never_changes() -> None:
    """Vectors in existing graphs depend on it."""
    signs = "".join("+" if value > 0 else "-" for value in blank_vector(16))

    assert signs == "+++-++++-+-++-+-"
