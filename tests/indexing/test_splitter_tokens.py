"""The counter against the tokenizer whose tokens it counts."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer

from core.rag import KnowledgeBase
from core.rag.embedder.base import utf8_length
from core.rag.errors import InvalidInputError
from core.rag.indexing.splitting.tokens import _RUN, FunctionTokens, WordLlamaTokens, even_tokens
from libs.dataloader import Document

spec = importlib.util.find_spec("wordllama")
assert spec is not None
assert spec.origin is not None
TOKENIZER = Tokenizer.from_file(str(Path(spec.origin).parent / "tokenizers" / "l2_supercat_tokenizer_config.json"))
VOCABULARY = TOKENIZER.get_vocab(with_added_tokens=False)
PIECES = sorted(
    piece.replace("▁", " ")
    for piece in VOCABULARY
    if not (piece.startswith("<0x") or piece in {"<unk>", "<s>", "</s>"})
)
COUNTER = WordLlamaTokens()

characters = st.sampled_from(
    [*"aZé漢ก019²½Ⅷ٣ _-.,;()<>/\"'\n\r\t\u0301\u200d👩\ufeff\x00\u3000▁", "<s>", "</s>", "  ", "\n\n"]
)
texts = st.one_of(
    st.text(), st.lists(characters).map("".join), st.lists(st.sampled_from(PIECES)).map("".join),
    st.lists(st.one_of(st.sampled_from(PIECES), characters)).map(" ".join),
)  # fmt: skip


def real(text: str) -> int:
    return len(TOKENIZER.encode(text).ids)


def test_no_piece_of_the_vocabulary_reaches_over_the_edge_of_a_run() -> None:
    assert [piece for piece in PIECES if len(_RUN.findall(piece)) != 1] == []


def test_every_word_of_the_vocabulary_is_one_token() -> None:
    words = [piece[1:] for piece in PIECES if piece[0] == " " and piece[1:2] not in {"", " "}]
    counts = [len(encoding.ids) for encoding in TOKENIZER.encode_batch(words, add_special_tokens=False)]
    assert len(words) > 16_000
    assert set(counts) == {1}


def test_a_first_character_merges_with_the_space_before_it_but_for_digits() -> None:
    alone = [
        chr(code) for code in range(0x21, 0x7F) if len(TOKENIZER.encode(chr(code), add_special_tokens=False).ids) > 1
    ]
    assert alone == list("0123456789")


@settings(max_examples=300, deadline=None)
@given(texts, st.integers(0, 60))
def test_even_counts_are_those_of_the_tokenizer_or_less(text: str, limit: int) -> None:
    assert even_tokens.count(text) <= COUNTER.count(text) + text.count("\u3000")
    assert not (even_tokens.fits(text, limit) and even_tokens.count(text) > limit)
    if text.isascii():
        assert even_tokens.count(text) == COUNTER.count(text)


@pytest.mark.parametrize(
    ("text", "exact", "even"),
    [
        ("The quick brown fox", 6, 6),
        ("Τα σπίτια των ανθρώπων ήταν μεγάλα", 35, 12),
        ("الكتب والمكتبات في المدينة", 23, 10),
        ("घरों में लोगों की किताबें", 29, 10),
        ("บ้านของประชาชนในเมือง", 25, 8),
        ("我们的房子很大。", 12, 9),
    ],
)
def test_even_counts_are_alike_in_all_scripts(text: str, exact: int, even: int) -> None:
    assert (COUNTER.count(text), even_tokens.count(text)) == (exact, even)


async def test_chunks_of_a_knowledge_base_have_as_much_in_other_scripts() -> None:
    sentence = "Τα σπίτια των ανθρώπων ήταν μεγάλα και είχαν κήπους. "
    async with KnowledgeBase.open("embedded::memory:") as kb:
        await kb.ingest([Document(path="houses.txt", content=sentence * 100)])
        chunks = await kb.client.get_document_chunks("houses.txt")
    sizes = [len(chunk["content"]) for chunk in chunks]
    assert 600 < max(sizes) < 1200
    assert all(even_tokens.count(chunk["content"]) <= 256 for chunk in chunks)


@settings(max_examples=400, deadline=None)
@given(texts)
def test_counts_are_those_of_the_tokenizer(text: str) -> None:
    assert COUNTER.count(text) == real(text)


@settings(max_examples=200, deadline=None)
@given(texts, st.integers(1, 60))
def test_fits_is_never_wrong(text: str, limit: int) -> None:
    assert COUNTER.fits(text, limit) == (real(text) <= limit)


@settings(max_examples=200, deadline=None)
@given(texts)
def test_no_text_has_more_tokens_than_bytes_and_two(text: str) -> None:
    assert real(text) <= utf8_length(text) + 2


@settings(max_examples=200, deadline=None)
@given(st.lists(texts))
def test_weights_are_the_counts_without_what_every_text_has(parts: list[str]) -> None:
    assert COUNTER.weights(parts) == [real(part) - 1 - part.endswith(" ") for part in parts]


def test_what_is_remembered_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("core.rag.indexing.splitting.tokens._REMEMBERED_CHARACTERS", 1000)
    counter = WordLlamaTokens()
    text = " ".join(f"wörd{number}x" for number in range(400))
    first = counter.count(text)
    learnt = counter._learnt
    assert learnt is not None
    assert "wörd399x" in learnt
    assert counter.count("short") == 2
    assert counter._learnt is not learnt
    assert counter.count(text) == first == real(text)


@pytest.mark.parametrize("answer", [-1, 1.5, None, "3"])
def test_a_function_that_does_not_count_is_refused(answer: object) -> None:
    with pytest.raises(InvalidInputError, match="whole number"):
        FunctionTokens(lambda text: answer).count("text")  # type: ignore[arg-type,return-value]
