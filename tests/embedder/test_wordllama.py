"""The default embedder gives wordllama's own vectors."""

from __future__ import annotations

import asyncio
import importlib.util
import subprocess
import sys
import unicodedata
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.rag.embedder import WordLlamaEmbedding, blank_vector, is_blank
from core.rag.embedder import wordllama as module
from core.rag.errors import ConfigurationError, InvalidInputError

TEXTS = [
    "Graph databases store nodes and edges.",
    "graph",
    "  two  spaces,\n\tan indented line\nand a table | with | cells  ",
    "Zwei Sätze. Über Größe!",
    "漢字かな交じり文 🙂🙂",
    "<s>markup</s> & <unk> entities \x00 NUL",
    "word " * 3_000,
    "x" * 5_000,
]


@pytest.fixture(scope="module")
def own() -> object:
    """wordllama itself. It sets up logging when it is imported, so it is asked in another process."""
    code = """
import json, sys, wordllama
from pathlib import Path
model = wordllama.WordLlama.load(cache_dir=Path(wordllama.__file__).parent, disable_download=True)
small = wordllama.WordLlama.load(cache_dir=Path(wordllama.__file__).parent, disable_download=True, trunc_dim=64)
texts = json.load(sys.stdin)
print(json.dumps([model.embed(texts, norm=True).tolist(), small.embed(texts, norm=True).tolist()]))
"""
    import json

    done = subprocess.run(
        [sys.executable, "-c", code], input=json.dumps(TEXTS), capture_output=True, text=True, check=True
    )
    full, small = json.loads(done.stdout)
    return np.array(full, dtype=np.float32), np.array(small, dtype=np.float32)


async def test_the_vectors_are_those_of_wordllama(own: tuple[np.ndarray, np.ndarray]) -> None:
    async with WordLlamaEmbedding() as embedder:
        few = await embedder.get_embeddings(TEXTS)
        many = await embedder.get_embeddings(TEXTS * 20)

    assert few.dtype == np.float32 and few.shape == (len(TEXTS), 256)
    np.testing.assert_allclose(few, own[0], atol=1e-6)
    np.testing.assert_allclose(many, np.tile(own[0], (20, 1)), atol=1e-6)
    np.testing.assert_allclose(np.linalg.norm(few, axis=1), 1, atol=1e-6)


async def test_fewer_dimensions_are_those_of_wordllama(own: tuple[np.ndarray, np.ndarray]) -> None:
    async with WordLlamaEmbedding(64) as embedder:
        assert (embedder.model, embedder.dimension) == ("wordllama-64", 64)
        np.testing.assert_allclose(await embedder.get_embeddings(TEXTS), own[1], atol=1e-6)


async def test_a_vector_does_not_depend_on_its_neighbours() -> None:
    """To the last bit, so that an interrupted and an undisturbed ingest give the same graph."""
    embedder = WordLlamaEmbedding()
    texts = [f"{text} {number}" for number in range(40) for text in TEXTS]

    together = await embedder.get_embeddings(texts)

    for index in range(0, len(texts), 7):
        assert await embedder.get_embedding(texts[index]) == together[index].tolist()


@settings(max_examples=60, deadline=None)
@given(texts=st.lists(st.text(max_size=20), min_size=1, max_size=50))
async def test_every_text_gets_a_unit_vector(texts: list[str]) -> None:
    vectors = await WordLlamaEmbedding().get_embeddings(texts)

    assert vectors.shape == (len(texts), 256)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    for text, vector in zip(texts, vectors, strict=True):
        assert np.array_equal(vector, blank_vector(256)) == is_blank(text)


async def test_a_blank_text_is_like_nothing_else() -> None:
    embedder = WordLlamaEmbedding()
    vectors = await embedder.get_embeddings(["", " \n\t ", "\u200b\ufeff", *TEXTS])

    assert np.array_equal(vectors[0], vectors[1]) and np.array_equal(vectors[0], vectors[2])
    assert np.abs(vectors[3:] @ vectors[0]).max() < 0.25


async def test_no_texts() -> None:
    assert (await WordLlamaEmbedding().get_embeddings([])).shape == (0, 256)


async def test_lone_surrogates_are_replaced() -> None:
    embedder = WordLlamaEmbedding()

    assert await embedder.get_embedding("broken \ud800 text") == await embedder.get_embedding("broken \ufffd text")


async def test_accents_are_the_same_in_any_form_of_unicode() -> None:
    text = "Zoé Çelik, Århus"
    composed, apart = await WordLlamaEmbedding().get_embeddings([text, unicodedata.normalize("NFD", text)])
    assert composed.tolist() == apart.tolist()
    asked = await WordLlamaEmbedding().get_query_embeddings([text, unicodedata.normalize("NFD", text)])
    assert asked[0].tolist() == asked[1].tolist()


async def test_tokens_are_counted() -> None:
    embedder = WordLlamaEmbedding()

    assert embedder.count_tokens("a b") == 2 and embedder.count_tokens("") == 0
    await embedder.get_embeddings(["a b", "a", "a b"])
    assert embedder.usage.tokens == 5 and embedder.usage.requests == 0
    assert embedder.max_input_tokens is None


async def test_the_event_loop_goes_on_meanwhile() -> None:
    embedder = WordLlamaEmbedding()
    await embedder.prepare()
    task = asyncio.create_task(embedder.get_embeddings(["some words " * 2_000] * 50))
    turns = 0
    while not task.done():
        await asyncio.sleep(0)
        turns += 1

    assert turns > 10 and (await task).shape == (50, 256)


async def test_the_model_is_loaded_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_models", {})
    loads: list[Path] = []
    read = module._read_weights

    def counted(path: Path) -> Any:
        loads.append(path)
        return read(path)

    monkeypatch.setattr(module, "_read_weights", counted)

    await asyncio.gather(*(WordLlamaEmbedding().get_embedding("text") for _ in range(8)))

    assert len(loads) == 1


def test_one_text_instead_of_several_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="not one text"):
        asyncio.run(WordLlamaEmbedding().get_embeddings("text"))
    with pytest.raises(InvalidInputError, match="number 1 is int"):
        asyncio.run(WordLlamaEmbedding().get_embeddings(["text", 1]))  # type: ignore[list-item]


def test_a_dimension_that_does_not_exist() -> None:
    with pytest.raises(ConfigurationError, match="64, 128, 256, 512, 1024"):
        WordLlamaEmbedding(100)


def test_weights_that_are_not_installed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(Path, "home", lambda: tmp_path)

    with pytest.raises(ConfigurationError, match=r"l2_supercat_512\.safetensors is in none of"):
        WordLlamaEmbedding(512)


def test_weights_from_the_cache_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    folder = tmp_path / ".cache" / "wordllama" / "weights"
    folder.mkdir(parents=True)
    header = b'{"embedding.weight":{"dtype":"F16","shape":[32000,512],"data_offsets":[0,32768000]}}'
    numbers = np.random.default_rng(1).standard_normal((32_000, 512)).astype("<f2")
    (folder / "l2_supercat_512.safetensors").write_bytes(len(header).to_bytes(8, "little") + header + numbers.tobytes())

    vector = asyncio.run(WordLlamaEmbedding(512).get_embedding("text"))

    assert len(vector) == 512


@pytest.mark.parametrize("content", [b"", b"\xff" * 8, b"\x02\0\0\0\0\0\0\0{}", b"\x02\0\0\0\0\0\0\0[]" + b"x" * 100])
def test_damaged_weights(content: bytes, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    folder = tmp_path / ".cache" / "wordllama" / "weights"
    folder.mkdir(parents=True)
    (folder / "l2_supercat_512.safetensors").write_bytes(content)

    with pytest.raises(ConfigurationError, match=r"cannot be read .*pip install"):
        asyncio.run(WordLlamaEmbedding(512).prepare())


def test_wordllama_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)

    with pytest.raises(ConfigurationError, match="pip install 'wordllama"):
        WordLlamaEmbedding()


def test_nothing_heavy_is_imported_before_it_is_needed() -> None:
    code = """
import sys, asyncio
from core.rag.embedder import open_embedder
embedder = open_embedder("wordllama")
assert not {"numpy", "tokenizers", "openai", "tiktoken"} & set(sys.modules), "at import"
asyncio.run(embedder.get_embedding("a query"))
heavy = {"scipy", "openai", "requests", "wordllama", "safetensors", "huggingface_hub"}
assert not heavy & set(sys.modules), "for a query"
"""
    subprocess.run([sys.executable, "-c", code], check=True)
