"""BM25 in memory, and that the embedded engine gives the same numbers for the same words."""

from __future__ import annotations

import math
import sys
import unicodedata

import grafeo
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.rag.analysis import analyze, index_terms, query_terms
from core.rag.bm25 import K1, B, idf
from core.rag.retrieval.bm25 import Bm25

TEXTS = [
    ("a", "alpha beta beta"),
    ("b", "alpha"),
    ("c", "gamma delta epsilon zeta"),
    ("d", "alpha beta gamma and or not"),
    ("e", ""),
]


class Engine:
    """A corpus in the embedded engine."""

    def __init__(self, texts: list[tuple[str, str]]) -> None:
        self._db = grafeo.GrafeoDB()
        self._db.create_text_index("Chunk", "terms", k1=K1, b=B, tokenizer="standard", stop_words=[])
        self._ids = {self._db.create_node(["Chunk"], {"terms": terms}).id: key for key, terms in texts}

    def top(self, query: str, k: int = 10_000) -> dict[str, float]:
        return {self._ids[node]: score for node, score in self._db.text_search("Chunk", "terms", query, k)}


def test_the_formula() -> None:
    scores = dict(zip("abcde", Bm25(TEXTS).scores(["beta"]), strict=True))
    average = (3 + 1 + 4 + 6 + 0) / 5
    expected = idf(5, 2) * 2 * (K1 + 1) / (2 + K1 * (1 - B + B * 3 / average))
    assert scores["a"] == pytest.approx(expected)
    assert scores["b"] == scores["e"] == 0
    assert idf(5, 2) == pytest.approx(math.log(1 + 3.5 / 2.5))


def test_top_is_ordered_and_weights_count() -> None:
    index = Bm25(TEXTS)
    assert list(index.top(["alpha"], 10)) == ["b", "a", "d"]
    assert list(index.top({"alpha": 1.0, "zeta": 0.1}, 2)) == ["b", "a"]
    assert index.scores(["beta", "beta"]) == pytest.approx(2 * index.scores({"beta": 1.0}))
    assert index.top(["nowhere"], 10) == {}
    assert Bm25(TEXTS, only=["alpha", "zeta"]).top(["alpha", "zeta"], 9) == index.top(["alpha", "zeta"], 9)
    assert Bm25([]).top(["alpha"], 3) == {}
    assert Bm25([("x", "")]).top(["alpha"], 3) == {}


@pytest.mark.parametrize("query", ["alpha", "alpha beta", "beta beta", "zeta not", "alpha and beta", "nowhere"])
def test_the_engine_gives_the_same_scores(query: str) -> None:
    texts = TEXTS[:4]  # the engine does not count empty texts
    assert Engine(texts).top(query, 10) == pytest.approx(Bm25(texts).top(query.split(), 10))


words = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=8)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.lists(words, max_size=8).map(" ".join), min_size=1, max_size=8), words)
def test_the_engine_reads_analysed_words_as_they_are(contents: list[str], query: str) -> None:
    texts = [(str(index), index_terms(None, None, content)) for index, content in enumerate(contents)]
    texts = [(key, terms) for key, terms in texts if terms]
    engine = Engine(texts)
    index = Bm25(texts)
    for terms in [query_terms(query), *(query_terms(content) for content in contents)]:
        expected = index.top(terms, 100)
        found = engine.top(" ".join(terms)) if terms else {}
        assert found == pytest.approx(expected)


def test_every_letter_and_digit_of_unicode_reaches_the_engine_whole() -> None:
    kept = [chr(code) for code in range(0x80, sys.maxunicode) if unicodedata.category(chr(code))[0] in "LN"][::101]
    texts = [(f"{ord(letter):x}", " ".join(analyze(f"z{letter}z", "en"))) for letter in kept]
    engine = Engine(texts)
    index = Bm25(texts)
    for key, terms in texts:
        found, expected = engine.top(terms), index.top(terms.split(), len(texts))
        assert found.keys() == expected.keys()
        assert found[key] == pytest.approx(expected[key]), terms
