"""Models that run in this process: real files, read by the real libraries."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from core.rag import KnowledgeBase
from core.rag.embedder import FastEmbedEmbedding, blank_vector, embed_queries, embed_texts, open_embedder
from core.rag.errors import (
    ConfigurationError,
    EmbeddingError,
    EmbeddingInputError,
    MissingDependencyError,
    ModelMismatchError,
)
from core.rag.settings import Settings
from libs.dataloader import Document
from tests.embedder.onnx_models import DIMENSION, LIMIT, NAME, make_model

MakeSettings = Callable[..., Settings]

MILL = "The mill turns with the ebb."
ROSES = "Roses in the garden: pruned in winter."
LAMP = "The keeper lit the lamp of the lighthouse, by oil, when ships turn to the harbour in the winter."


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_model(tmp_path_factory.mktemp("model"))


@pytest.fixture
def local(settings: MakeSettings, folder: Path) -> Settings:
    return settings(MGRAG_EMBEDDING_MODEL=f"fastembed:{NAME}", MGRAG_EMBEDDING_PATH=str(folder))


async def test_texts_become_vectors_in_their_order_whatever_stands_beside_them(local: Settings) -> None:
    async with open_embedder(settings=local) as embedder:
        assert isinstance(embedder, FastEmbedEmbedding)
        assert (embedder.model, embedder.dimension) == (f"fastembed:{NAME}", DIMENSION)
        texts = [LAMP, MILL, "", ROSES, "\n\u200b", MILL]
        vectors = await embed_texts(embedder, texts)
        alone = [await embedder.get_embedding(text) for text in texts]
        (question,) = await embed_queries(embedder, ["Roses pruned in winter?"])
    assert vectors.shape == (6, DIMENSION)
    np.testing.assert_allclose(vectors, alone, atol=1e-6)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-5)
    assert np.array_equal(vectors[2], blank_vector(DIMENSION))
    assert np.array_equal(vectors[4], blank_vector(DIMENSION))
    assert int(np.argmax(vectors @ question)) == 3


async def test_tokens_are_counted(local: Settings) -> None:
    async with open_embedder(settings=local) as embedder:
        assert embedder.count_tokens(MILL) == 9  # seven, and the two around them
        await embedder.get_embeddings([MILL, ROSES])
        assert embedder.usage.tokens == 9 + embedder.count_tokens(ROSES)
        assert embedder.usage.requests == 0


async def test_a_text_that_would_be_cut_off_is_refused_by_name(local: Settings) -> None:
    async with open_embedder(settings=local) as embedder:
        limit = embedder.max_input_tokens
        assert limit == LIMIT - 1
        await embedder.get_embeddings(["mill " * (limit - 2)])
        with pytest.raises(
            EmbeddingInputError, match=r"notes\.md, part 2 has more than 39 tokens.*MGRAG_CHUNK_SIZE"
        ) as e:
            await embedder.get_embeddings([MILL, "mill " * 100], ["notes.md, part 1", "notes.md, part 2"])
        assert (e.value.name, e.value.index) == ("notes.md, part 2", 1)


async def test_of_a_question_that_is_too_long_the_beginning_is_embedded(local: Settings) -> None:
    long = "When are the roses pruned? " * 40
    async with open_embedder(settings=local) as embedder:
        (short, cut, mill) = await embed_queries(embedder, ["When are the roses pruned?", long, MILL])
        np.testing.assert_allclose(mill, await embedder.get_embedding(MILL), atol=1e-6)
    assert short @ cut > 0.9
    async with KnowledgeBase.open("embedded::memory:", settings=local) as kb:
        await kb.ingest(Document(path=path, content=text) for path, text in (("mill", MILL), ("roses", ROSES)))
        for mode in ("vector", "hybrid", "auto"):
            assert [hit.path for hit in await kb.search(long, k=1, mode=mode)] == ["roses"]


async def test_a_graph_is_built_and_searched_with_it(local: Settings, settings: MakeSettings, tmp_path: Path) -> None:
    uri = f"embedded:{tmp_path}/graph.grafeo"
    long = Document(path="long", content="mill " * 60)
    async with KnowledgeBase.open(uri, settings=local) as kb:
        texts = {"mill": MILL, "roses": ROSES, "lamp": LAMP}
        report = await kb.ingest([*(Document(path=path, content=text) for path, text in texts.items()), long])
        assert [failed.path for failed in report.documents.failed] == ["long"]
        assert report.documents.added == 3
        for mode in ("vector", "hybrid", "auto"):
            assert [hit.path for hit in await kb.search("Who lit the lamp?", k=1, mode=mode)] == ["lamp"]
        assert (await kb.ask("When are the roses pruned?")).citations[0].path == "roses"
    with pytest.raises(ModelMismatchError, match=f"fastembed:{NAME}"):
        async with KnowledgeBase.open(uri, settings=settings()) as kb:
            await kb.ingest([Document(path="more", content=MILL)])


def test_what_stands_before_texts_is_part_of_the_identity(settings: MakeSettings) -> None:
    model = FastEmbedEmbedding("nomic-ai/nomic-embed-text-v1.5", settings=settings())
    assert model.model == "fastembed:nomic-ai/nomic-embed-text-v1.5 [search_document: ]"
    again = open_embedder(model.model, settings(MGRAG_EMBEDDING_TEXT_PREFIX="none"))
    assert again.model == model.model


def test_models_that_average_words_are_told_apart(settings: MakeSettings) -> None:
    reads = FastEmbedEmbedding("BAAI/bge-small-en-v1.5", settings=settings())
    averages = FastEmbedEmbedding("minishlab/potion-base-8M", settings=settings())
    assert (reads.title_weight, reads.words_only, averages.title_weight, averages.words_only) == (1, False, 3, True)
    assert averages.vector_weight < 0.5 < reads.vector_weight


async def test_a_model_that_there_is_not_is_told_with_similar_ones(settings: MakeSettings) -> None:
    with pytest.raises(ConfigurationError, match=r"no model 'bge-small-en-v15'.*BAAI/bge-small-en-v1\.5"):
        await open_embedder("fastembed:bge-small-en-v15", settings()).prepare()


@pytest.mark.parametrize("name", ["fastembed", "fastembed:", " fastembed: "])
def test_a_name_without_a_model_is_refused_whatever_else_is_set(name: str, settings: MakeSettings) -> None:
    with pytest.raises(ConfigurationError, match=r"no embedding model 'fastembed:?' here.*fastembed:BAAI/bge-small"):
        open_embedder(name, settings(OPENAI_API_KEY="sk-test"))


async def test_another_dimension_is_refused(local: Settings, folder: Path, settings: MakeSettings) -> None:
    wrong = settings(MGRAG_EMBEDDING_DIMENSION=256, MGRAG_EMBEDDING_PATH=str(folder))
    with pytest.raises(ConfigurationError, match="has 384 dimensions, not 256"):
        await open_embedder(f"fastembed:{NAME}", wrong).prepare()
    with pytest.raises(EmbeddingError, match="not known yet"):
        _ = open_embedder(settings=local).dimension


async def test_a_folder_without_the_model_is_told(settings: MakeSettings, tmp_path: Path) -> None:
    with pytest.raises(EmbeddingError, match=r"cannot be loaded from .*MGRAG_EMBEDDING_PATH.*tokenizer\.json"):
        await open_embedder(f"fastembed:{NAME}", settings(MGRAG_EMBEDDING_PATH=str(tmp_path))).prepare()


async def test_without_a_network_the_error_says_how_the_model_gets_here(
    settings: MakeSettings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(EmbeddingError, match=r"cannot be downloaded.*FASTEMBED_CACHE_PATH.*MGRAG_EMBEDDING_PATH"):
        await open_embedder(f"fastembed:{NAME}", settings(FASTEMBED_CACHE_PATH=str(tmp_path))).prepare()


def test_without_the_package_the_error_says_what_to_install(
    settings: MakeSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    find = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name, *rest: None if name == "fastembed" else find(name, *rest)
    )
    with pytest.raises(MissingDependencyError, match=r"pip install 'memgraph-rag\[fastembed\]'"):
        open_embedder(f"fastembed:{NAME}", settings())
