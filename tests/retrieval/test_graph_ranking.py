"""The parts of graph search without a database: the walk, bridges, names, and how far the graph is believed."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.rag.retrieval.graph import neighbourhood
from core.rag.retrieval.graph.anchors import MAX_PASSAGES, anchors
from core.rag.retrieval.graph.auto import BRIDGED_SHARE, LEAST_SHARE, WRITTEN_SHARE, blended, graph_share
from core.rag.retrieval.graph.bridging import Seed, Sentence, Way, ways, worths
from core.rag.retrieval.graph.neighbourhood import Entity, Neighbourhood
from core.rag.retrieval.graph.order import in_order
from core.rag.retrieval.graph.pagerank import CONTINUATION, ROUNDS, TITLE_BOOST, pagerank
from core.rag.retrieval.graph.question import MAX_WORDS, Question, is_small, is_written, named_in, possible_names, weigh
from core.rag.retrieval.graph.ranked import Ranked
from core.rag.retrieval.graph.why import trace

TOTAL = 40

_weights = st.just(0.0) | st.floats(1e-6, 10.0)  # next to nothing, shares are lost to rounding


@st.composite
def neighbourhoods(draw: st.DrawFn) -> Neighbourhood:
    around = Neighbourhood(TOTAL)
    things = [f"e{number}" for number in range(draw(st.integers(1, 6)))]
    around.add_entities(Entity(thing, thing, draw(st.integers(0, TOTAL)), draw(st.integers(0, 3))) for thing in things)
    passages = [f"p{number}" for number in range(draw(st.integers(1, 8)))]
    around.add_passages(passages)
    for passage in passages:
        for thing in draw(st.sets(st.sampled_from(things))):
            around.add_mention(passage, thing, draw(st.integers(1, 5)))
        if draw(st.booleans()):
            around.add_subject(draw(st.sampled_from(things)), passage, f"d-{passage}")
    return around


def _weighted(keys: list[str]) -> st.SearchStrategy[dict[str, float]]:
    return st.dictionaries(st.sampled_from(keys), _weights, max_size=len(keys))


@given(neighbourhoods(), st.data())
def test_the_mass_of_a_walk_is_one(around: Neighbourhood, data: st.DataObject) -> None:
    passages = data.draw(_weighted(sorted(around.mentions)))
    entities = data.draw(_weighted(sorted(around.entities)))
    similarity = data.draw(_weighted(sorted(around.mentions)))
    mass = pagerank(around, entities, passages, similarity)
    if any(passages.values()) or any(entities.values()):
        reachable = any(passages.values()) or any(around.holders(key) for key, weight in entities.items() if weight)
        assert math.fsum(mass.values()) == pytest.approx(1.0 if reachable else 0.0)
    else:
        assert mass == {}
    assert all(value >= 0.0 for value in mass.values())


@given(neighbourhoods(), st.data())
def test_a_walk_is_that_of_plain_loops(around: Neighbourhood, data: st.DataObject) -> None:
    passages = data.draw(_weighted(sorted(around.mentions)))
    entities = data.draw(_weighted(sorted(around.entities)))
    similarity = {passage: data.draw(st.floats(0.01, 1.0)) for passage in sorted(around.mentions)}
    found = pagerank(around, entities, passages, similarity)
    for passage, mass in _by_loops(around, entities, passages, similarity).items():
        assert found.get(passage, 0.0) == pytest.approx(mass, abs=1e-9)


def _by_loops(
    around: Neighbourhood, entities: Mapping[str, float], passages: Mapping[str, float], like: Mapping[str, float]
) -> dict[str, float]:
    names, things = sorted(around.mentions), sorted(around.entities)

    def weight(passage: str, thing: str) -> float:
        count = around.mentions[passage].get(thing)
        return 0.0 if count is None else (1 + math.log(max(count, 1.0))) * around.rarity(thing)

    def boosted(passage: str, thing: str) -> float:
        return weight(passage, thing) * (TITLE_BOOST if passage in around.subjects.get(thing, {}) else 1.0)

    out = {passage: sum(weight(passage, thing) for thing in things) for passage in names}
    back = {thing: sum(boosted(passage, thing) for passage in names) for thing in things}
    both = 0.5 if sum(entities.values()) > 0 and sum(passages.values()) > 0 else 1.0
    begin = {p: both * passages.get(p, 0.0) / (sum(passages.values()) or 1.0) for p in names}
    start = {t: both * entities.get(t, 0.0) / (sum(entities.values()) or 1.0) for t in things}
    here, there = dict(begin), dict(start)
    for _ in range(ROUNDS):
        moved = {
            p: (1 - CONTINUATION) * begin[p]
            + CONTINUATION * sum(there[t] * boosted(p, t) / back[t] for t in things if back[t] > 0)
            for p in names
        }
        there = {
            t: (1 - CONTINUATION) * start[t]
            + CONTINUATION * sum(here[p] * weight(p, t) / out[p] for p in names if out[p] > 0)
            for t in things
        }
        liked = {p: moved[p] * like[p] for p in names}
        total = sum(liked.values())
        here = {p: liked[p] * sum(moved.values()) / total if total > 0 else moved[p] for p in names}
    mass = sum(here.values())
    return {p: here[p] / mass for p in names} if mass > 0 else {}


@given(st.integers(0, 5_000))
def test_a_neighbourhood_is_bounded(count: int) -> None:
    around = Neighbourhood(10_000)
    around.add_entities([Entity("e", "e", count, 1)])
    for number in range(count):
        around.add_mention(f"p{number}", "e", 1.0)
        around.add_subject("e", f"q{number}", "d")
    assert len(around.mentions) <= neighbourhood.MAX_PASSAGES
    assert around.holders("e") <= around.mentions.keys()
    assert set(around.subjects.get("e", {})) <= around.mentions.keys()


@given(st.text(max_size=3_000))
def test_the_names_looked_for_are_bounded_and_stand_in_the_question(text: str) -> None:
    names = possible_names(text)
    assert len(names) == len(set(names)) <= 10 * MAX_WORDS
    entities = [Entity(name, name, 1, 1) for name in names]
    assert {entity.name for entity in named_in(text, entities)} <= set(names)


def test_the_longest_names_are_found_and_titles_inside_longer_ones() -> None:
    question = "Who crossed the Bubye River in spring?"
    assert {"bubye river", "the bubye river", "spring"} <= set(possible_names(question))
    entities = [
        Entity("1", "the bubye river", 1, 0),
        Entity("2", "bubye river", 3, 1),
        Entity("3", "bubye", 1, 0),
        Entity("4", "river", 9, 1),
    ]
    assert {entity.name for entity in named_in(question, entities)} == {"the bubye river", "bubye river"}


def test_words_in_katakana_are_not_cut_and_may_be_longer_than_a_name_has_words() -> None:
    name = " ".join("アレクサンドル・プーシキン")
    names = possible_names("アレクサンドル・プーシキンはいつ生まれましたか")
    assert {name, f"{name} は"} <= set(names)
    assert " ".join("プーシキ") not in names
    assert named_in("アレクサンドル・プーシキンの詩", [Entity("1", name, 1, 1)])


def test_a_function_word_is_a_name_of_a_question_only_as_an_acronym() -> None:
    assert "who" in possible_names("Who leads the WHO?")
    assert "who" not in possible_names("Who leads the mill?")
    assert "it" not in possible_names("Where is it?")


def test_words_weigh_by_how_few_passages_have_them() -> None:
    weights = weigh(["mill", "sea", "rare"], [{"mill", "sea"}, {"sea"}, {"sea", "oak"}])
    assert weights["sea"] < weights["mill"] < weights["rare"]
    question = Question("?", weights)
    assert question.share(weights) == pytest.approx(1.0)
    assert question.share([]) == 0.0
    assert Question("?", {}).share(["x"]) == 0.0


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("How do I get access to the Cloud instances UI?", False),
        ("how do i get access to cloud instances", False),
        ("What are Cloud Instances?", True),
        ("What is CLOUD-INSTANCES?", True),
        ("What are clouds?", None),
    ],
)
def test_a_name_is_written_small_if_any_word_of_it_is(text: str, written: bool | None) -> None:
    name = "cloud instances"
    assert (is_written(name, text), is_small(name, text)) == (written is True, written is False)


def test_function_words_are_small_in_names_too() -> None:
    assert is_written("the lord of the rings", "Who wrote The Lord of the Rings?")
    assert is_written("le nom de la rose", "Qui a écrit Le Nom de la Rose ?")
    assert not is_small("試験", "試験とは")
    assert not is_written("試験", "試験とは"), "no capitals to go by"


def test_a_name_is_no_rarer_than_the_word_that_it_is() -> None:
    terms = ["definit", "tide", "ebb", "tabl"]
    sample = [{"definit"}, {"definit", "tide"}, {"sea"}, {"tide", "ebb"}]
    question = Question("definition of The Tide, tide table, and the ebb-tide", dict.fromkeys(terms, 1.0), None, sample)
    assert question.commonness("definition") == 0.5
    assert question.commonness("the ebb tide") == 0.25
    assert question.commonness("the tide") == question.commonness("tide table") == question.commonness("sigmet") == 0.0
    assert Question("tide", {"tide": 1.0}).commonness("tide") == 0.0
    french = Question("Comment mettre en ligne une page ?", {"lign": 1.0}, None, [{"lign"}, {"pag"}])
    assert french.commonness("en ligne") == 0.5
    around = Neighbourhood(1_000)
    around.add_entities([Entity("e", "definition", 1, 0)])
    around.add_subject("e", "p", "d")
    [(rare, _)] = anchors(around, list(around.entities.values()), lambda _: 0.0).values()
    [(common, _)] = anchors(around, list(around.entities.values()), lambda _: 0.0, question.commonness).values()
    assert rare == 1.0
    assert common < 0.2


def test_the_sentence_that_has_what_the_title_leaves_is_worth_most() -> None:
    question = Question("?", {"mill": 1.0, "built": 2.0, "who": 0.0})
    values = worths(question, {"mill"}, [{"mill"}, {"built", "mason"}, {"weather"}], None)
    assert values[1] == 1.0
    assert values[0] == values[2] < 0.5
    assert worths(question, {"mill"}, [], None) == []


def _chain(bearers: int) -> tuple[Neighbourhood, Question, Seed]:
    around = Neighbourhood(100)
    around.add_entities([Entity("e", "ada", 2, bearers)])
    for number in range(bearers):
        around.add_subject("e", f"t{number}", f"d{number}")
    around.add_mention("other", "e", 1.0)
    question = Question("?", {"born": 1.0, "film": 1.0})
    seed = Seed("seed", "film", "film", 1.0, frozenset({"film"}), (Sentence("Made by Ada.", 1.0, ("e",)),))
    return around, question, seed


def test_the_more_passages_bear_a_name_the_less_each_gets() -> None:
    scores = []
    for bearers in (1, 2, 4):
        around, question, seed = _chain(bearers)
        scores.append(ways(around, question, [seed], {}, {})["t0"].score)
    assert scores[0] > scores[1] > scores[2] > 0.0


def test_what_only_mentions_a_name_counts_by_what_it_adds() -> None:
    around, question, seed = _chain(1)
    assert "other" not in ways(around, question, [seed], {"other": {"film"}}, {})
    found = ways(around, question, [seed], {"other": {"born"}}, {})
    assert 0.0 < found["other"].score < found["t0"].score or not found["other"].about
    assert found["other"].gain == pytest.approx(0.5)
    assert "other" not in ways(around, question, [seed], {"other": {"born"}}, {}, named={"e"})


def test_a_second_step_only_goes_where_something_is_added() -> None:
    around, question, seed = _chain(1)
    assert ways(around, question, [seed], {"t0": {"film"}}, {}, gaining=True) == {}
    assert ways(around, question, [seed], {"t0": {"born"}}, {}, gaining=True)["t0"].about


@given(st.integers(1, 40))
def test_of_a_long_document_that_is_named_the_nearest_chunk_counts_most(chunks: int) -> None:
    around = Neighbourhood(1_000)
    entity = Entity("e", "ada lovelace", 5, 1)
    around.add_entities([entity])
    for number in range(chunks):
        around.add_subject("e", f"c{number:02}", "d")
    found = anchors(around, [entity], lambda passage: float(passage == f"c{chunks - 1:02}"))
    assert len(found) == min(chunks, MAX_PASSAGES)
    strengths = [strength for strength, _ in found.values()]
    assert next(iter(found)) == f"c{chunks - 1:02}"
    assert strengths == sorted(strengths, reverse=True)
    assert all(0.0 < strength <= 1.0 for strength in strengths)


def test_a_path_is_followed_back_to_where_it_began_and_ends_in_a_circle() -> None:
    first = Way(0.5, "a", "A names b.", "b", True, 0.1)
    second = Way(0.5, "b", "B names c.", "c", False, 0.1)
    told = trace("c", {"b": first, "c": second}, {"a": (1.0, "a")})
    assert (told.reason, told.passages, told.sentence, told.entity) == ("mention", ("a", "b", "c"), "B names c.", "c")
    circle = trace("c", {"b": Way(0.5, "c", "", "b", True, 0.1), "c": second}, {})
    assert circle.passages == ("b", "c")


def test_the_graph_is_believed_as_far_as_names_lead() -> None:
    around = Neighbourhood(300)
    around.add_entities([Entity("e", "ottoline varga", 2, 1), Entity("hub", "covid 19", 176, 0)])
    about = Way(0.3, "a", "", "e", True, 0.1)
    adds_nothing = Way(0.3, "a", "", "e", True, 0.0)
    named = {"a": (0.9, "e"), "b": (0.4, "f")}
    assert graph_share(Ranked({}, anchors=named)) == 0.9
    assert graph_share(Ranked({}, anchors=named, doubted=frozenset("a"))) == 0.4
    assert graph_share(Ranked({}, anchors={"a": (0.1, "e")}, ways={"b": about}, around=around)) == BRIDGED_SHARE
    assert graph_share(Ranked({}, ways={"b": replace(about, entity="hub")}, around=around)) < 0.2
    assert graph_share(Ranked({}, ways={"b": adds_nothing}, around=around)) == 0.0
    assert graph_share(Ranked({}, ways={"b": Way(0.9, "a", "", "e", False, 0.1)}, around=around)) == 0.0
    assert graph_share(Ranked({})) == 0.0
    # The mode ``graph`` has its least share only where names lead anywhere.
    assert graph_share(Ranked({}), auto=False) == 0.0
    assert graph_share(Ranked({}, anchors=named, doubted=frozenset("ab")), auto=False) == 0.0
    assert graph_share(Ranked({}, ways={"b": adds_nothing}, around=around), auto=False) == LEAST_SHARE
    assert graph_share(Ranked({}, written=0.5), auto=False) == LEAST_SHARE
    assert graph_share(Ranked({}, written=0.5)) == WRITTEN_SHARE / 16
    assert graph_share(Ranked({}, anchors=named), auto=False) == 0.9


@given(_weighted(["a", "b", "c"]), _weighted(["b", "c", "d"]), st.floats(0.0, 1.0))
def test_a_blend_lies_between_both(hybrid: dict[str, float], graph: dict[str, float], share: float) -> None:
    found = blended(hybrid, graph, share)
    for key, value in found.items():
        low, high = sorted((hybrid.get(key, 0.0), graph.get(key, 0.0)))
        assert low - 1e-9 <= value <= high + 1e-9
    assert blended(hybrid, graph, 0.0) == hybrid
    assert blended(hybrid, graph, 1.0) == graph
    assert np.isfinite(list(found.values())).all()


def test_scores_of_a_document_are_dealt_out_in_the_order_of_the_first_search() -> None:
    scores = {"a1": 0.9, "a2": 0.2, "b1": 0.5, "c": 0.1}
    places = {"a1": "a", "a2": "a", "b1": "b"}
    dealt = in_order(scores, {"a2": 0.8, "a1": 0.3, "b1": 0.1}, places)
    assert dealt == {"a1": 0.2, "a2": 0.9, "b1": 0.5, "c": 0.1}
    assert in_order(scores, {}, places) == scores, "nothing to go by"


def test_passages_of_a_document_with_the_same_score_are_in_the_order_of_the_first_search() -> None:
    dealt = in_order(
        {"a1": 1.0, "a2": 1.0, "a3": 1.0, "a4": 0.5},
        {"a3": 0.9, "a1": 0.8},
        dict.fromkeys(["a1", "a2", "a3", "a4"], "a"),
    )
    assert sorted(dealt, key=dealt.__getitem__, reverse=True) == ["a3", "a1", "a2", "a4"]
    assert dealt["a2"] == pytest.approx(1.0)
