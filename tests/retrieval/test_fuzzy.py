"""Fuzzy search in names: what it forgives, and what it does not."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.rag.retrieval.fuzzy import CUTOFF, FuzzyIndex

NAMES = [
    ("install", "Installation guide"),
    ("config", "Configuration reference"),
    ("kb", "Knowledge base"),
    ("c", "C"),
    ("it", "IT"),
    ("about", "Über uns"),
    ("trip", "東京 旅行"),
    ("film", "Play No Games (Lil Jon song)"),
    ("place", "Królestwo Polskie"),
    ("file", "release_notes-2026.md"),
    ("film", "The Buddy Games"),
]


WORDS = ("guide", "guides", "the", "installation", "instal", "東京旅行", "C")


@pytest.mark.parametrize(
    ("query", "best"),
    [
        ("Installation guide", "install"),
        ("instalation guid", "install"),
        ("guide installation", "install"),
        ("GUIDE", "install"),
        ("install", "install"),
        ("insatll", "install"),
        ("confgiuration", "config"),
        ("referense config", "config"),
        ("knowledgebase", "kb"),
        ("knowlege", "kb"),
        ("uber", "about"),
        ("UBER UNS", "about"),
        ("東京", "trip"),
        ("plya no gmaes", "film"),
        ("who sings play no games by lil john?", "film"),
        ("krolestwo polskie", "place"),
        ("relase notes", "file"),
        ("c", "c"),
        ("it", "it"),
    ],
)
def test_finds(query: str, best: str) -> None:
    found = FuzzyIndex(NAMES).rank(query, 5)
    assert next(iter(found)) == best


@pytest.mark.parametrize("query", ["", " ", "!?", "zzz", "i", "x", "d", "京都", "xylophone", "ti", "\x00", "😀"])
def test_short_and_foreign_words_find_nothing(query: str) -> None:
    assert FuzzyIndex(NAMES).rank(query, 5) == {}


def test_more_of_the_name_and_rarer_words_count_more() -> None:
    names = [("a", "Graph"), ("b", "Graph databases and their history in the last century"), ("c", "Graph of words")]
    assert list(FuzzyIndex(names).rank("graph", 5)) == ["a", "c", "b"]
    films = [(str(index), f"Film director number{index}") for index in range(50)]
    found = FuzzyIndex([*films, ("z", "Xawery Żuławski")]).rank("film director Zulawski", 5)
    assert next(iter(found)) == "z"


def test_the_best_of_several_names_counts() -> None:
    names = [("a", "something else"), ("a", "vector index"), ("b", "vector")]
    found = FuzzyIndex(names).rank("vector index", 5)
    assert list(found) == ["a", "b"]
    assert found["a"] == pytest.approx(1.0)


def test_limits() -> None:
    assert FuzzyIndex(NAMES).rank("guide", 0) == {}
    assert FuzzyIndex([]).rank("guide", 5) == {}
    assert len(FuzzyIndex([("a", "!"), ("b", "word")])) == 1
    assert list(FuzzyIndex([("a", "x" * 100_000)]).rank("x" * 100_000, 5)) == ["a"]
    assert FuzzyIndex(NAMES).rank("word " * 50_000, 5) == {}


def misspelt(name: str, generator: random.Random) -> str:
    letters = list(name)
    at = generator.randrange(1, len(letters) - 1)
    kind = generator.randrange(4)
    if kind == 0:
        letters[at], letters[at + 1] = letters[at + 1], letters[at]
    elif kind == 1:
        del letters[at]
    elif kind == 2:
        letters.insert(at, generator.choice("aeinrst"))
    else:
        letters[at] = generator.choice("aeinrst")
    return "".join(letters)


def test_one_error_in_a_name_among_two_thousand() -> None:
    generator = random.Random(7)
    syllables = [a + b for a in "bcdfghklmnprstvz" for b in ("a", "en", "il", "or", "u")]
    words = ["".join(generator.choices(syllables, k=3)) for _ in range(1_500)]
    names = sorted({" ".join(generator.sample(words, 3)) for _ in range(2_000)})
    index = FuzzyIndex((name, name) for name in names)
    sample = generator.sample(names, 200)
    assert sum(list(index.rank(misspelt(name, generator), 1)) == [name] for name in sample) >= 195
    swapped = [" ".join(reversed(name.split())) for name in sample]
    assert sum(list(index.rank(query, 1)) == [name] for query, name in zip(swapped, sample, strict=True)) == 200


@settings(deadline=None)
@given(
    st.lists(st.tuples(st.text(max_size=3), st.text(max_size=20)), max_size=8), st.text(max_size=30), st.integers(1, 5)
)
def test_scores_are_ordered_and_bounded(names: list[tuple[str, str]], query: str, k: int) -> None:
    found = FuzzyIndex(names).rank(query, k)
    scores = list(found.values())
    assert scores == sorted(scores, reverse=True)
    assert all(CUTOFF <= score <= 1 for score in scores)
    assert len(found) <= k
    assert found.keys() <= {key for key, _ in names}


@settings(deadline=None)
@given(st.text(min_size=1, max_size=30))
def test_a_name_finds_itself(name: str) -> None:
    found = FuzzyIndex([("it", name), ("other", "quite another thing")]).rank(name, 1)
    assert found in ({"it": pytest.approx(1.0)}, {}) or name.casefold().strip() in "quite another thing"


_NAMES = st.lists(
    st.tuples(
        st.sampled_from("abcdef"),
        st.one_of(st.text(max_size=12), st.lists(st.sampled_from(WORDS), max_size=4).map(" ".join)),
    ),
    max_size=12,
)


@settings(deadline=None)
@given(_NAMES, st.lists(st.tuples(_NAMES, st.sets(st.sampled_from("abcdef"))), max_size=4), st.text(max_size=20))
def test_an_index_made_out_of_another_ranks_as_one_made_from_nothing(
    names: list[tuple[str, str]], changes: list[tuple[list[tuple[str, str]], set[str]]], text: str
) -> None:
    index = FuzzyIndex(names)
    before = {query: index.rank(query, 6, cutoff=0.0) for query in (text, *WORDS)}
    first = index
    for added, gone in changes:
        names = [name for name in names if name[0] not in gone] + added
        index = FuzzyIndex(added, previous=index, without=gone)
        assert len(index) == len(FuzzyIndex(names))
        for query in (text, *WORDS, " ".join(WORDS)):
            assert index.rank(query, 6, cutoff=0.0) == FuzzyIndex(names).rank(query, 6, cutoff=0.0)
    assert {query: first.rank(query, 6, cutoff=0.0) for query in before} == before
