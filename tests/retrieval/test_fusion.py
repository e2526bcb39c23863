"""Fusion: better than its legs, and sensible where there is next to nothing to fuse."""

from __future__ import annotations

import math
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.rag.retrieval.ordering.fusion import MAX_UNITS, Leg, fuse, fuse_hybrid, spread_of_sample, spread_of_top


def test_both_legs_count() -> None:
    vector = {"a": 0.9, "b": 0.8, "c": 0.1}
    keyword = {"b": 9.0, "c": 10.0}
    fused = fuse_hybrid(vector, keyword, sample=[0.0, 0.1, 0.2, 0.3], total=100)
    assert [item.id for item in fused] == ["b", "a", "c"] or [item.id for item in fused] == ["b", "c", "a"]
    assert fused[0].scores == {"vector": 0.8, "keyword": 9.0}
    assert next(item for item in fused if item.id == "a").scores == {"vector": 0.9}


def test_the_best_of_every_leg_scores_one() -> None:
    fused = fuse_hybrid({"a": 0.9, "b": 0.3}, {"a": 4.0, "b": 1.0}, sample=[0.1, 0.4, 0.2], total=10)
    assert fused[0].id == "a"
    assert fused[0].score == pytest.approx(1.0)
    assert 0 < fused[1].score < 1


def test_one_leg_alone_keeps_its_order() -> None:
    vector = {"a": 0.5, "b": 0.7, "c": -0.2}
    assert [item.id for item in fuse_hybrid(vector, {}, sample=[0.1, 0.2], total=3)] == ["b", "a", "c"]
    keyword = {"a": 1.0, "b": 3.0}
    assert [item.id for item in fuse_hybrid({}, keyword, sample=[], total=3)] == ["b", "a"]


def test_nothing_and_one_document() -> None:
    assert fuse_hybrid({}, {}, sample=[], total=0) == []
    assert fuse({}) == []
    (only,) = fuse_hybrid({"a": 0.4}, {"a": 0.3}, sample=[0.4], total=1)
    assert only.score == pytest.approx(1.0)
    (only,) = fuse_hybrid({"a": -0.4}, {}, sample=[-0.4], total=1)
    assert only.score == 0.0
    assert only.scores == {"vector": -0.4}


def test_two_documents_words_decide_a_draw() -> None:
    fused = fuse_hybrid({"a": 0.3, "b": 0.5}, {"a": 0.5}, sample=[0.3, 0.5], total=2)
    assert [item.id for item in fused] == ["a", "b"]


def test_a_leg_in_which_all_are_equal_has_no_say() -> None:
    for equal in (0.0, 0.7):
        vector = dict.fromkeys("abc", equal)
        noisy = {key: value + 1e-9 * index for index, (key, value) in enumerate(vector.items())}
        keyword = {"a": 3.0, "b": 2.0, "c": 1.0}
        fused = fuse_hybrid(noisy, keyword, sample=list(noisy.values()), total=3)
        assert [item.id for item in fused] == ["a", "b", "c"]


def test_a_single_rare_word_does_not_drown_the_meaning() -> None:
    """In a corpus of a million the spread of a word in one document is a thousandth of its score."""
    generator = random.Random(1)
    sample = [generator.gauss(0.1, 0.05) for _ in range(500)]
    vector = {"meant": 0.8, "named": 0.05}
    fused = fuse_hybrid(vector, {"named": 12.0, "meant": 6.0}, sample=sample, total=1_000_000)
    assert fused[0].id == "meant"


def test_scores_next_to_nothing_are_nothing() -> None:
    fused = fuse_hybrid({}, {"a": 2e-309, "b": 0.0}, sample=[], total=2)
    assert [(item.id, item.score) for item in fused] == [("a", 0.0), ("b", 0.0)]


def test_scores_that_are_not_finite_count_as_missing() -> None:
    fused = fuse_hybrid({"a": math.nan, "b": 0.5}, {"a": 1.0, "c": math.inf}, sample=[0.1, 0.5], total=5)
    assert {item.id for item in fused} == {"a", "b"}
    assert all(math.isfinite(item.score) for item in fused)


def test_weights_and_missing() -> None:
    legs = {"x": Leg({"a": 1.0}, spread=1.0, weight=1.0), "y": Leg({"b": 1.0}, spread=1.0, weight=2.0)}
    assert [item.id for item in fuse(legs)] == ["b", "a"]
    legs["y"] = Leg({"b": 1.0}, spread=1.0, weight=0.0)
    assert [item.id for item in fuse(legs)] == ["a", "b"]
    high = Leg({"b": 1.0}, spread=1.0, weight=2.0, missing=0.9)
    assert [item.id for item in fuse({"x": legs["x"], "y": high})] == ["a", "b"]
    assert [item.id for item in fuse(legs, limit=1)] == ["a"]


def test_a_score_is_the_weighted_sum_of_its_legs() -> None:
    legs = {"x": Leg({"a": 1.0, "b": 0.5}, spread=0.5), "y": Leg({"b": 3.0, "c": 6.0}, spread=3.0, weight=2.0)}
    # In units: x gives a 2 and b 1, y gives b 1 and c 2, which count twice; the best of both would have 2 + 2 * 2.
    assert {item.id: item.score for item in fuse(legs)} == pytest.approx({"c": 4 / 6, "b": 3 / 6, "a": 2 / 6})


def test_a_further_leg_counts_beside_both() -> None:
    vector, keyword, sample = {"a": 0.5, "b": 0.4}, {"a": 1.0}, [0.1, 0.5]
    assert [item.id for item in fuse_hybrid(vector, keyword, sample=sample, total=5)] == ["a", "b"]
    further = {"further": Leg({"b": 1.0}, spread=0.01)}
    best, _ = fuse_hybrid(vector, keyword, sample=sample, total=5, more=further)
    assert (best.id, best.scores) == ("b", {"vector": 0.4, "further": 1.0})


def test_meaning_decides_as_far_as_it_is_given_weight() -> None:
    vector, keyword, sample = {"meant": 0.8, "named": 0.5}, {"named": 6.0}, [0.1, 0.3, 0.5]
    for weight, first in ((0.1, "named"), (0.48, "named"), (0.85, "meant"), (1.0, "meant")):
        fused = fuse_hybrid(vector, keyword, sample=sample, total=10, vector_weight=weight)
        assert fused[0].id == first
    assert fused[1].score == pytest.approx(0.5 / 0.8)  # words count nothing with a weight of 1


def test_spreads() -> None:
    assert spread_of_sample([]) == spread_of_sample([3.0]) == 0.0
    assert spread_of_sample([1.0, 3.0]) == 1.0
    assert spread_of_top([], 10) == 0.0
    assert spread_of_top([4.0], 4) == pytest.approx(spread_of_sample([4.0, 0.0, 0.0, 0.0]))
    assert spread_of_top([4.0, 2.0], 0) == 1.0


finite = st.floats(-1, 1)
cosines = st.dictionaries(st.sampled_from("abcdefgh"), finite)
words = st.dictionaries(st.sampled_from("abcdefgh"), st.just(0.0) | st.floats(0.001, 50))


@settings(deadline=None)
@given(cosines, words, st.lists(finite), st.integers(0, 10**9))
def test_rankings_are_whole_ordered_and_bounded(
    vector: dict[str, float], keyword: dict[str, float], sample: list[float], total: int
) -> None:
    fused = fuse_hybrid(vector, keyword, sample=sample, total=total)
    assert {item.id for item in fused} == vector.keys() | keyword.keys()
    assert len({item.id for item in fused}) == len(fused)
    scores = [item.score for item in fused]
    assert scores == sorted(scores, reverse=True)
    assert all(0 <= score <= 1 for score in scores)
    for item in fused:
        assert item.scores.get("vector") == vector.get(item.id)
        assert item.scores.get("keyword") == keyword.get(item.id)
    assert fuse_hybrid(vector, keyword, sample=sample, total=total, limit=2) == fused[:2]


@settings(deadline=None)
@given(cosines, words, st.lists(finite, min_size=1), st.integers(0, 10**6), st.floats(0.01, 100))
def test_the_unit_of_a_leg_does_not_matter(
    vector: dict[str, float], keyword: dict[str, float], sample: list[float], total: int, factor: float
) -> None:
    """Engines agree on BM25 up to a factor."""
    one = fuse_hybrid(vector, keyword, sample=sample, total=total)
    scaled = {key: factor * score for key, score in keyword.items()}
    two = {item.id: item.score for item in fuse_hybrid(vector, scaled, sample=sample, total=total)}
    assert two == pytest.approx({item.id: item.score for item in one}, abs=1e-6)


@settings(deadline=None)
@given(cosines, words, st.lists(finite), st.integers(0, 10**6))
def test_better_in_both_is_never_worse(
    vector: dict[str, float], keyword: dict[str, float], sample: list[float], total: int
) -> None:
    place = {item.id: item.score for item in fuse_hybrid(vector, keyword, sample=sample, total=total)}
    for one in place:
        for two in place:
            if vector.get(one, 0.0) >= vector.get(two, 0.0) and keyword.get(one, 0.0) >= keyword.get(two, 0.0):
                assert place[one] >= place[two] - 1e-9


@settings(deadline=None)
@given(st.dictionaries(st.sampled_from("abcdef"), st.floats(0, 100), min_size=1), st.floats(0, 10))
def test_no_score_is_more_than_so_many_units(scores: dict[str, float], spread: float) -> None:
    leg = Leg(scores, spread)
    if leg.unit > 0:
        assert max(scores.values()) / leg.unit <= MAX_UNITS * (1 + 1e-9)


def test_the_order_holds_below_zero() -> None:
    """Of a few passages, all may have negative cosines; the one with the words is the best all the same."""
    vector = {"a": -0.0915, "b": -0.0504, "c": -0.2}
    fused = fuse_hybrid(vector, {"b": 1.238}, sample=list(vector.values()), total=3)
    assert [item.id for item in fused] == ["b", "a", "c"]
    assert 1 > fused[0].score > fused[1].score > fused[2].score == 0
    alone = fuse_hybrid({"a": -0.5, "b": -0.1}, {}, sample=[], total=2)
    assert [(item.id, item.score > 0) for item in alone] == [("b", True), ("a", False)]
