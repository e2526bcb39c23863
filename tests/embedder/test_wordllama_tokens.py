"""The remembered words give the very tokens that the tokenizer gives."""

from __future__ import annotations

import importlib.util
import json
import threading
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer

from core.rag.embedder import wordllama_tokens
from core.rag.embedder.wordllama_tokens import WordTokens

SPEC = importlib.util.find_spec("wordllama")
assert SPEC is not None and SPEC.submodule_search_locations is not None
FILE = Path(SPEC.submodule_search_locations[0]) / "tokenizers" / "l2_supercat_tokenizer_config.json"

# Everything that could put a boundary in the wrong place: spaces in runs and at the ends, the tokenizer's own space,
# line breaks, other white space, its special tokens and pieces of them, NUL, and letters beyond its vocabulary.
SPACES = [" ", "  ", "   ", "\n", "\n\n", "\r\n", "\t", "▁", "▁▁", "\x00", "\u200b", "\xa0", ";\r", "}\r\n"]
WORDS = ["<s>", "</s>", "<unk>", "<", "s>", "<0x0A>", "the", "The", "word", "words,", "don't", "x.y", "é", "漢字", "🙂"]
FRAGMENTS = st.sampled_from(SPACES + WORDS)
TEXTS = st.lists(FRAGMENTS | st.text(max_size=8), max_size=12).map("".join).filter(lambda text: _clean(text))


def _clean(text: str) -> bool:
    return not any("\ud800" <= char <= "\udfff" for char in text)


@pytest.fixture(scope="module")
def reference() -> Any:
    tokenizer = Tokenizer.from_file(str(FILE))
    tokenizer.no_padding()
    return tokenizer


@pytest.fixture(scope="module")
def tokens() -> WordTokens:
    return WordTokens(FILE)


def rows(tokens: WordTokens, texts: list[str]) -> list[list[int]]:
    ids, offsets = tokens.encode(texts)
    assert offsets[0] == 0 and offsets[-1] == len(ids) and len(offsets) == len(texts) + 1
    return [ids[start:end].tolist() for start, end in pairwise(offsets)]


@settings(max_examples=400, deadline=None)
@given(texts=st.lists(TEXTS, min_size=1, max_size=6))
def test_the_same_tokens_as_the_tokenizer(
    texts: list[str], tokens: WordTokens, reference: Any, request: pytest.FixtureRequest
) -> None:
    expected = [encoding.ids for encoding in reference.encode_batch(texts, add_special_tokens=False)]

    assert rows(tokens, texts) == expected
    # The same with the words looked up, which is otherwise kept for larger calls.
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(wordllama_tokens, "_SMALL", -1)
        assert rows(tokens, texts) == expected


def test_no_token_crosses_a_boundary() -> None:
    """The reason why pieces may be taken one by one, checked on the whole vocabulary."""
    vocabulary = list(json.loads(FILE.read_text("utf-8"))["model"]["vocab"])

    assert len(vocabulary) == 32_000
    assert not [token for token in vocabulary if "▁" in token.lstrip("▁")]
    assert not [token for token in vocabulary if len(token) > 1 and ("\n" in token or "\x00" in token)]


def test_words_are_forgotten_when_they_take_too_much(reference: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wordllama_tokens, "_SMALL", -1)
    tokens = WordTokens(FILE, memory=20_000)

    for start in range(0, 3_000, 100):
        texts = [f"number {number} and again {number}" for number in range(start, start + 100)]
        assert rows(tokens, texts) == [
            encoding.ids for encoding in reference.encode_batch(texts, add_special_tokens=False)
        ]
        assert tokens._held <= 20_000 + 100 * 200


def test_several_threads_may_use_it(reference: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wordllama_tokens, "_SMALL", -1)
    tokens = WordTokens(FILE, memory=50_000)
    texts = [[f"thread {thread} word{number} word{number + 1}" for number in range(400)] for thread in range(4)]
    results: dict[int, list[list[int]]] = {}

    def work(thread: int) -> None:
        results[thread] = [row for text in texts[thread] for row in rows(tokens, [text])]

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    for number in range(4):
        encodings = reference.encode_batch(texts[number], add_special_tokens=False)
        assert results[number] == [encoding.ids for encoding in encodings]
