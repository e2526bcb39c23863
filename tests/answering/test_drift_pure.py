"""DRIFT RAG without a graph: scores, ranking, configuration, validation, parts of questions, gaps."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.rag.answering.drift import (
    PRESETS,
    DRIFTRAGConfig,
    Edge,
    InferredConnection,
    Node,
    Path,
    path_score,
    preset,
    problems_of,
)
from core.rag.answering.drift.config import make_config
from core.rag.answering.drift.decomposition import MAX_PARTS, split_question
from core.rag.answering.drift.gaps import find_gaps
from core.rag.answering.drift.scoring import INFERENCE_BONUS, order, rank, scored
from core.rag.answering.drift.validation import valid_only
from core.rag.answering.drift.words import QueryWords
from core.rag.errors import InvalidInputError
from core.rag.schema import EdgeType


def node(name: str) -> Node:
    return Node(name, "Entity", name, name)


def path(names: str, weights: list[float] | None = None, relevance: float = 0.5, covered: str = "") -> Path:
    """A path over nodes with one letter each."""
    steps = weights if weights is not None else [0.5] * (len(names) - 1)
    return Path(
        nodes=tuple(node(name) for name in names),
        edges=tuple(Edge(a, b, "x", weight=w) for (a, b), w in zip(pairwise(names), steps, strict=True)),
        covered=frozenset(covered.split()),
        content_relevance=relevance,
    )


@pytest.mark.parametrize(
    ("relevance", "weights", "num_nodes", "expected"),
    [
        (1.0, [0.9], 2, 0.5 + 0.27 + 0.2 / 1.2),  # both words, one strong edge
        (0.0, [], 1, 0.2 / 1.1),  # a node that has nothing to do with it
        (0.5, [1.0, 0.5], 3, 0.25 + 0.225 + 0.2 / 1.3),
        (0.25, [0.0, 0.0, 0.0], 4, 0.125 + 0.2 / 1.4),
        (1.0, [1.0] * 9, 10, 0.5 + 0.3 + 0.1),
        (2.0, [5.0, -1.0], 3, 0.5 + 0.15 + 0.2 / 1.3),  # whatever is out of range counts as its end
    ],
)
def test_the_score_by_hand(relevance: float, weights: list[float], num_nodes: int, expected: float) -> None:
    assert path_score(relevance, weights, num_nodes) == pytest.approx(expected)


@given(
    relevance=st.floats(allow_nan=True, allow_infinity=True),
    weights=st.lists(st.floats(allow_nan=True, allow_infinity=True), max_size=8),
)
def test_every_score_is_from_0_to_1(relevance: float, weights: list[float]) -> None:
    assert 0.0 <= path_score(relevance, weights, len(weights) + 1) <= 1.0


@given(relevance=st.floats(0, 1), weight=st.floats(0, 1), length=st.integers(2, 20))
def test_a_longer_path_of_the_same_edges_is_worse(relevance: float, weight: float, length: int) -> None:
    assert path_score(relevance, [weight] * length, length + 1) <= path_score(relevance, [weight], 2)


def test_an_inference_raises_what_it_touches() -> None:
    plain, touched = path("ab"), path("cd")
    inference = InferredConnection("c", "z", "knows", 0.5, "They met.")
    ranked = rank([plain, touched], [inference], top_k=5, min_score=0.0)
    assert ranked[0].ids == ("c", "d")
    assert ranked[0].bonus == pytest.approx(INFERENCE_BONUS * 0.5)
    assert ranked[0].score == pytest.approx(ranked[1].score + INFERENCE_BONUS * 0.5)
    assert ranked[1].bonus == 0.0
    full = scored(path("c" + "d", [1.0], 1.0), [InferredConnection("c", "z", "knows", 1.0, "They met.")])
    assert full.score == 1.0


def test_ranking_keeps_each_path_once_and_the_best() -> None:
    there, back = path("abc"), path("cba")
    ranked = rank([there, back, there], [], top_k=5, min_score=0.0)
    assert [item.ids for item in ranked] == [("a", "b", "c")]
    longer = path("abc", relevance=0.9)
    assert [item.ids for item in rank([path("ab", relevance=0.1), longer], [], top_k=5, min_score=0.0)] == [longer.ids]
    better = path("ab", relevance=0.9)
    assert len(rank([better, path("abc", relevance=0.1)], [], top_k=5, min_score=0.0)) == 2


def test_a_path_that_only_goes_on_to_names_is_left_out_but_facts_and_texts_are_not() -> None:
    chunk, other = Node("c", "DocumentChunk", "c", "The text of c"), Node("d", "DocumentChunk", "d", "The text of d")
    mention = Edge("c", "e", "MENTIONS", kind="MENTIONS", weight=0.0)
    alone = Path((chunk,), content_relevance=1.0)
    name = Path((chunk, node("e")), (mention,), content_relevance=1.0)
    text = Path((chunk, node("e"), other), (mention, replace(mention, source="d")), content_relevance=1.0)
    fact = Path((chunk, node("f")), (Edge("c", "f", "says", weight=0.0),), content_relevance=1.0)
    ranked = rank([name, text, fact, alone], [], top_k=9, min_score=0.0)
    assert [item.ids for item in ranked] == [("c",), ("c", "f"), ("c", "e", "d")]
    heard_of = replace(name, covered=frozenset({"mill"}))
    assert heard_of.ids in [item.ids for item in rank([heard_of, alone], [], top_k=9, min_score=0.0)]


@given(
    relevances=st.lists(st.floats(0, 1), max_size=12),
    top_k=st.integers(1, 6),
    min_score=st.floats(0, 1),
)
def test_ranking_is_sorted_bounded_and_above_the_threshold(
    relevances: list[float], top_k: int, min_score: float
) -> None:
    paths = [path(chr(97 + 2 * number) + chr(98 + 2 * number), None, value) for number, value in enumerate(relevances)]
    ranked = rank(paths, [], top_k=top_k, min_score=min_score)
    assert len(ranked) <= top_k
    assert ranked == sorted(ranked, key=order)
    assert all(item.score >= min_score for item in ranked)
    missing = [item for item in map(scored, paths) if item.score >= min_score and item not in ranked]
    assert not missing or len(ranked) == top_k


def test_the_defaults_are_those_of_the_table() -> None:
    config = DRIFTRAGConfig()
    assert config.entry_point_count == 3
    assert config.max_traversal_depth == 3
    assert config.traversal_direction == "bidirectional"
    assert config.top_k_paths == 5
    assert config.use_inference is True
    assert config.llm_model == "gpt-4"
    assert config.embedding_model == "text-embedding-ada-002"
    assert config.inference_strategy == "semantic"
    assert config.min_path_score == 0.3


@pytest.mark.parametrize(
    ("name", "expected"),
    [("quick", (2, 2, 3, False)), ("balanced", (3, 3, 5, True)), ("comprehensive", (5, 4, 10, True))],
)
def test_the_recommended_settings_are_presets(name: str, expected: tuple[int, int, int, bool]) -> None:
    config = preset(name)
    assert config is PRESETS[name]
    assert (
        config.entry_point_count,
        config.max_traversal_depth,
        config.top_k_paths,
        config.use_inference,
    ) == expected


def test_another_preset_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="quick, balanced, comprehensive"):
        preset("thorough")


BAD_VALUES: list[tuple[str, Any]] = [
    *((name, value) for name in ("entry_point_count", "max_traversal_depth", "top_k_paths", "beam_width",
                                 "max_edges_per_node", "max_visited_edges")
      for value in (0, -1, 2.5, True, "3", None, 10**9)),
    *(("min_path_score", value) for value in (-0.1, 1.1, math.nan, math.inf, "0.3", None, True)),
    *(("use_inference", value) for value in ("yes", 1, None)),
    *(("traversal_direction", value) for value in ("sideways", "", None, 1)),
    *(("inference_strategy", value) for value in ("telepathy", "", None)),
    *((name, value) for name in ("llm_model", "embedding_model") for value in ("", "  ", None, 4)),
    ("no_such_field", 1),
]  # fmt: skip


@pytest.mark.parametrize(("name", "value"), BAD_VALUES)
def test_every_value_is_checked(name: str, value: Any) -> None:
    with pytest.raises(InvalidInputError, match=name):
        make_config(**{name: value})


def test_an_update_keeps_the_rest_and_changes_nothing_when_it_fails() -> None:
    config = make_config(entry_point_count=7)
    updated = config.updated(max_traversal_depth=4, top_k_paths=10, min_path_score=0.4)
    assert (updated.entry_point_count, updated.max_traversal_depth) == (7, 4)
    assert (updated.top_k_paths, updated.min_path_score) == (10, 0.4)
    with pytest.raises(InvalidInputError):
        config.updated(top_k_paths=0)
    assert config.top_k_paths == 5


anything = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=20))
ends = st.one_of(st.sampled_from(["a", "b", "c", ""]), anything)
inferences = st.builds(InferredConnection, source=ends, target=ends, type=anything, confidence=anything,
                       reasoning=anything)  # fmt: skip


@given(inferences)
def test_only_valid_inferences_pass(inference: InferredConnection) -> None:
    """The rules, said another way."""
    known = {"a", "b", "c"}
    expected = (
        type(inference.source) is str
        and type(inference.target) is str
        and {inference.source, inference.target} <= known
        and inference.source != inference.target
        and type(inference.confidence) in (int, float)
        and 0 <= inference.confidence <= 1
        and type(inference.type) is str
        and any(char.isalnum() for char in inference.type)
        and type(inference.reasoning) is str
        and any(char.isalnum() for char in inference.reasoning)
    )
    assert bool(problems_of(inference, known)) is not expected
    assert valid_only([inference], known) == ([inference] if expected else [])


@given(st.lists(inferences, max_size=20))
def test_valid_inferences_are_sorted_and_each_pair_stands_once(found: list[InferredConnection]) -> None:
    kept = valid_only(found, {"a", "b", "c"})
    assert all(not problems_of(item) and item in found for item in kept)
    assert [item.confidence for item in kept] == sorted((item.confidence for item in kept), reverse=True)
    keys = [(frozenset((item.source, item.target)), item.type) for item in kept]
    assert len(keys) == len(set(keys))
    assert valid_only(kept) == kept


def test_a_problem_says_which_rule_was_broken() -> None:
    loop = InferredConnection("a", "a", "knows", 0.5, "Because.")
    assert problems_of(loop) == ["It joins a node with itself."]
    empty = InferredConnection("a", "b", " ", 1.5, "...")
    assert len(problems_of(empty)) == 3


@pytest.mark.parametrize(
    ("question", "parts"),
    [
        ("What is machine learning?", 1),
        ("Who built the mill and when did it burn down?", 2),
        ("Who directed Alien? Who directed Jaws?", 2),
        ("Wer baute die Mühle und wann brannte sie ab?", 2),
        ("salt and pepper", 1),
        ("the tide mill; how does it turn?", 2),
        ("what and how", 1),
        ("", 1),
    ],
)
def test_questions_are_taken_apart(question: str, parts: int) -> None:
    assert len(split_question(question)) == parts


def test_a_part_that_points_back_takes_along_what_it_points_at() -> None:
    assert "mill" in split_question("Who built the mill and when did it burn down?")[1]


@given(st.text(max_size=300))
def test_parts_are_few_and_none_is_empty(question: str) -> None:
    parts = split_question(question)
    assert 1 <= len(parts) <= MAX_PARTS
    if len(parts) > 1:
        assert all(QueryWords(part).words for part in parts)
    else:
        assert parts == [question]


@given(st.text(max_size=200), st.text(max_size=200))
def test_the_relevance_of_a_text_is_a_share(question: str, text: str) -> None:
    from core.rag.analysis import analyze

    words = QueryWords(question)
    covered = words.covered(analyze(text))
    assert covered <= set(words.words)
    assert 0.0 <= words.relevance(covered) <= 1.0
    assert words.relevance(words.covered(analyze(f"{question} {text}"))) >= words.relevance(covered)


def test_words_count_in_any_form_and_function_words_do_not() -> None:
    from core.rag.analysis import analyze

    words = QueryWords("What is machine learning?")
    assert words.words == ("machine", "learning")
    assert words.relevance(words.covered(analyze("Machines that learned"))) == 1.0
    assert words.relevance(words.covered(analyze("What is a machine?"))) == 0.5
    han = QueryWords("機械学習")
    assert 0.0 < han.relevance(han.covered(analyze("機械"))) < 1.0


def test_gaps() -> None:
    assert [gap.kind for gap in find_gaps([], "anything")] == ["no_paths"]
    apart = [path("ab", [0.9], covered="mill"), path("cd", [0.1], covered="mill")]
    gaps = find_gaps(apart, "Does the mill turn?")
    assert [gap.kind for gap in gaps] == ["missing_words", "disconnected", "weak_link"]
    assert gaps[0].words == ("turn",)
    assert set(gaps[1].node_ids) == {"a", "c"}
    assert gaps[2].node_ids == ("c", "d")
    assert find_gaps([path("abc", [0.9, 0.9], covered="mill turn")], "Does the mill turn?") == []


def test_words_that_only_say_what_is_wanted_are_no_gap() -> None:
    found = [path("abc", [0.9, 0.9], covered="mill turn olaf")]
    assert find_gaps(found, "How is the mill connected to Olaf?") == []
    assert find_gaps(found, "Tell me about the mill of Olaf") == []


def test_an_inferred_edge_is_a_weak_link() -> None:
    edge = Edge("a", "b", "knows", weight=0.9, inferred=True)
    gaps = find_gaps([Path((node("a"), node("b")), (edge,), covered=frozenset({"mill"}))], "mill")
    assert [gap.kind for gap in gaps] == ["weak_link"]


def test_that_a_text_mentions_something_is_no_weak_link() -> None:
    edge = Edge("a", "b", EdgeType.MENTIONS, kind=EdgeType.MENTIONS, weight=0.1)
    assert find_gaps([Path((node("a"), node("b")), (edge,), covered=frozenset({"mill"}))], "mill") == []


def test_a_path_reads_in_the_direction_of_its_edges() -> None:
    edges = (Edge("b", "a", "knows"), Edge("b", "c", "likes"))
    assert str(Path((node("a"), node("b"), node("c")), edges)) == "a <-[knows]- b -[likes]-> c"
