"""What every engine has to find by words."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from core.rag.dbhandler.scan import scan_words
from core.rag.dbhandler.store import MAX_K, Match, Transaction
from core.rag.errors import InvalidInputError
from core.rag.schema import EdgeType, Label, TextIndex
from tests.dbhandler.kit import BAD_K, Corner, eventually


async def words(corner: Corner, index: TextIndex, terms: dict[str, float], k: int = 10) -> list[str]:
    return corner.found(await corner.store.text_search(index, terms, k))


async def words_become(corner: Corner, index: TextIndex, terms: dict[str, float], wanted: list[str]) -> None:
    """Assert what a search finds, in any order, as soon as the index has followed."""

    async def fetch() -> list[str]:
        return sorted(await words(corner, index, terms))

    assert await eventually(fetch, lambda found: found == wanted) == wanted


async def test_the_best_match_comes_first(corner: Corner) -> None:
    index = await corner.text_index()
    await corner.put_texts(
        index,
        {
            "once": "apple tree grows in the old garden",
            "often": "apple apple apple apple in the old garden",
            "none": "pear tree grows in the old garden",
        },
    )
    await words_become(corner, index, {"apple": 1.0}, ["often", "once"])
    assert await words(corner, index, {"apple": 1.0}) == ["often", "once"]
    matches = await corner.store.text_search(index, {"apple": 1.0}, 10)
    assert all(isinstance(match, Match) and match.score > 0 for match in matches)
    assert matches[0].score > matches[1].score


async def test_a_rare_word_counts_more_than_a_common_one(corner: Corner) -> None:
    index = await corner.text_index()
    texts = {f"common{i}": "stone water" for i in range(20)} | {"rare": "stone amber"}
    await corner.put_texts(index, texts)
    await words_become(corner, index, {"amber": 1.0}, ["rare"])
    assert (await words(corner, index, {"water": 1.0, "amber": 1.0}))[0] == "rare"


async def test_any_of_the_words_is_enough_and_all_of_them_are_better(corner: Corner) -> None:
    index = await corner.text_index()
    await corner.put_texts(index, {"a": "alpha gamma", "b": "beta gamma", "both": "alpha beta", "none": "gamma delta"})
    await words_become(corner, index, {"alpha": 1.0, "beta": 1.0}, ["a", "b", "both"])
    assert (await words(corner, index, {"alpha": 1.0, "beta": 1.0}))[0] == "both"


async def test_weights_decide_between_words(corner: Corner) -> None:
    index = await corner.text_index()
    await corner.put_texts(index, {"a": "alpha gamma", "b": "beta gamma"})
    await words_become(corner, index, {"alpha": 1.0, "beta": 0.2}, ["a", "b"])
    assert await words(corner, index, {"alpha": 1.0, "beta": 0.2}) == ["a", "b"]
    assert await words(corner, index, {"alpha": 0.2, "beta": 1.0}) == ["b", "a"]


async def test_scores_grow_with_the_weight_and_add_up(corner: Corner) -> None:
    index = await corner.text_index()
    await corner.put_texts(index, {"a": "alpha beta", "b": "beta gamma"})
    await words_become(corner, index, {"beta": 1.0}, ["a", "b"])

    async def score(terms: dict[str, float]) -> float:
        matches = await corner.store.text_search(index, terms, 5)
        return next(match.score for match in matches if match.id == corner.id("a"))

    alpha, beta = await score({"alpha": 1.0}), await score({"beta": 1.0})
    assert await score({"alpha": 2.0}) == pytest.approx(2 * alpha, rel=1e-3)
    assert await score({"alpha": 1.0, "beta": 1.0}) == pytest.approx(alpha + beta, rel=1e-3)
    assert await score({"alpha": 3.0, "beta": 0.5}) == pytest.approx(3 * alpha + 0.5 * beta, rel=1e-3)


async def test_a_word_of_weight_zero_does_not_count(corner: Corner) -> None:
    index = await corner.text_index()
    await corner.put_texts(index, {"a": "alpha", "b": "beta"})
    await words_become(corner, index, {"alpha": 1.0}, ["a"])
    assert await words(corner, index, {"alpha": 1.0, "beta": 0.0}) == ["a"]
    assert await words(corner, index, {"beta": 0.0}) == []


@pytest.mark.parametrize("weight", [-1.0, float("nan"), float("inf"), float("-inf")])
async def test_weights_that_make_no_sense_are_refused(corner: Corner, weight: float) -> None:
    index = await corner.text_index()
    with pytest.raises(InvalidInputError, match="weight"):
        await corner.store.text_search(index, {"alpha": weight}, 3)


@pytest.mark.parametrize(
    "word",
    [
        "a",
        "x",
        "7",
        "the",
        "and",
        "or",
        "not",
        "to",
        "is",
        "will",
        "é",
        "ü",
        "日",
        "日本",
        "привет",
        "นา",
        "311",
        "q1w2",
    ],
)
async def test_every_analysed_word_is_found(corner: Corner, word: str) -> None:
    """What is a word was decided by the analysis: an engine drops none, however short or common."""
    index = await corner.text_index()
    await corner.put_texts(index, {"with": f"{word} filler", "without": "filler other"})
    await words_become(corner, index, {word: 1.0}, ["with"])


async def test_no_words_find_nothing(corner: Corner) -> None:
    index = await corner.text_index()
    await corner.put_texts(index, {"a": "alpha"})
    assert await words(corner, index, {}) == []
    assert await words(corner, index, {"": 1.0, "  ": 1.0}) == []


async def test_known_words_are_those_of_any_text(corner: Corner) -> None:
    other = Corner(corner.engine, corner.store)
    index, theirs = await corner.text_index(), await other.text_index()
    await corner.put_texts(index, {"a": "alpha beta", "b": "beta gamma"})
    await other.put_texts(theirs, {"theirs": "delta"})
    await words_become(corner, index, {"alpha": 1.0}, ["a"])
    many = [f"word{number}" for number in range(1_200)]
    asked = ["alpha", "gamma", "delta", "alph", "", *many]
    assert await corner.store.known_words(index, asked) == {"alpha", "gamma"}
    assert await scan_words(corner.store, index, asked) == {"alpha", "gamma"}
    assert await corner.store.known_words(index, []) == await scan_words(corner.store, index, []) == set()
    assert await corner.store.known_words(TextIndex(Label.CHUNK, f"{corner.namespace}-unknown"), ["alpha"]) == set()
    if not corner.engine.embedded:
        await other.clean()


async def test_an_index_that_is_not_there_finds_nothing(corner: Corner) -> None:
    assert await words(corner, TextIndex(Label.CHUNK, f"{corner.namespace}-unknown"), {"alpha": 1.0}) == []


async def test_an_empty_index_finds_nothing(corner: Corner) -> None:
    assert await words(corner, await corner.text_index(), {"alpha": 1.0}) == []


async def test_tenants_never_mix(corner: Corner) -> None:
    other = Corner(corner.engine, corner.store)
    mine, theirs = await corner.text_index(), await other.text_index()
    await corner.put_texts(mine, {"mine": "secret alpha"})
    await other.put_texts(theirs, {f"theirs{i}": "secret secret secret" for i in range(30)})
    await words_become(corner, mine, {"secret": 1.0}, ["mine"])
    found = await eventually(
        lambda: other.store.text_search(theirs, {"secret": 1.0}, 50), lambda matches: len(matches) == 30
    )
    assert {match.id for match in found} == {other.id(f"theirs{i}") for i in range(30)}
    assert await words(corner, mine, {"secret": 1.0}, k=1) == ["mine"]
    if not corner.engine.embedded:
        await other.clean()


async def test_labels_have_indexes_of_their_own(corner: Corner) -> None:
    chunks, interactions = await corner.text_index(), await corner.text_index(Label.INTERACTION)
    await corner.put_texts(chunks, {"chunk": "alpha"})
    await corner.put_texts(interactions, {"interaction": "alpha"})
    await words_become(corner, chunks, {"alpha": 1.0}, ["chunk"])
    await words_become(corner, interactions, {"alpha": 1.0}, ["interaction"])


async def test_an_index_made_late_knows_what_was_there(corner: Corner) -> None:
    index = TextIndex(Label.CHUNK, corner.namespace)
    await corner.put_texts(index, {"early": "alpha"})
    assert await corner.text_index() == index
    await corner.put_texts(index, {"late": "alpha"})
    await words_become(corner, index, {"alpha": 1.0}, ["early", "late"])


async def test_changes_and_deletes_reach_the_text_index(corner: Corner) -> None:
    index = await corner.text_index()
    await corner.put_texts(index, {"a": "alpha", "b": "alpha", "c": "alpha"})
    await words_become(corner, index, {"alpha": 1.0}, ["a", "b", "c"])
    await corner.put_texts(index, {"b": "beta"})
    await corner.delete("c", label=Label.CHUNK)
    await words_become(corner, index, {"alpha": 1.0}, ["a"])
    await words_become(corner, index, {"beta": 1.0}, ["b"])


async def test_only_committed_words_are_found(corner: Corner) -> None:
    index = await corner.text_index()
    await corner.put_texts(index, {"a": "alpha", "b": "alpha"})
    await words_become(corner, index, {"alpha": 1.0}, ["a", "b"])
    seen: list[Any] = []

    async def work(tx: Transaction) -> None:
        await tx.run(corner.text_statement(index), corner.text_rows({"new": "alpha", "b": "beta"}))
        await tx.run("MATCH (n:DocumentChunk {id: $id}) DETACH DELETE n", {"id": corner.id("a")})
        seen.append(sorted(await words(corner, index, {"alpha": 1.0})))
        seen.append(await words(corner, index, {"beta": 1.0}))
        raise RuntimeError("roll back")

    with pytest.raises(RuntimeError, match="roll back"):
        await corner.store.transaction(work)
    assert seen == [["a", "b"], []]
    assert sorted(await words(corner, index, {"alpha": 1.0})) == ["a", "b"]
    assert await words(corner, index, {"beta": 1.0}) == []


async def test_k_limits_the_matches_to_the_best(corner: Corner) -> None:
    index = await corner.text_index()
    await corner.put_texts(index, {f"d{i:02}": "alpha " * (i + 1) + "filler " * (20 - i) for i in range(20)})
    best = [f"d{i:02}" for i in reversed(range(20))]
    found = await eventually(lambda: words(corner, index, {"alpha": 1.0}, MAX_K), lambda found: len(found) == 20)
    assert found == best
    for k in (1, 2, 3, 19, 20, 21):
        assert await words(corner, index, {"alpha": 1.0}, k) == best[:k]
        assert await words(corner, index, {"alpha": 1.0, "absent": 0.5}, k) == best[:k]


@pytest.mark.parametrize("k", BAD_K, ids=repr)
async def test_a_k_that_makes_no_sense_is_refused(corner: Corner, k: Any) -> None:
    index = await corner.text_index()
    with pytest.raises(InvalidInputError, match="k is"):
        await corner.store.text_search(index, {"alpha": 1.0}, k)


HOSTILE = [
    "'",
    '"',
    "`",
    "\\",
    "alpha'",
    "alpha') YIELD node DETACH DELETE node //",
    'alpha" OR "beta',
    "+alpha -beta",
    "alpha AND (",
    "((((((((((((((((((((((((",
    "alpha~2",
    "alp*",
    "?lpha",
    "/al.*/",
    "[a TO z]",
    "data.terms:alpha",
    "namespace:other",
    "terms:*",
    "*:*",
    "alpha^1000000",
    "alpha && beta || !gamma",
    "\0",
    "alpha\0beta",
    "\n\t\r",
    "\U0001f600",
    "\u202e\u200b\ufeff",
    "x" * 100_000,
    "alpha " * 5_000,
    "$query",
    "{}",
    "%s %d",
    "-",
    "--",
    "AND",
    "NOT alpha",
    "null",
]


async def test_hostile_words_do_no_harm(corner: Corner) -> None:
    """The client only sends analysed words; if anything else gets here, it finds nothing of others."""
    other = Corner(corner.engine, corner.store)
    index, theirs = await corner.text_index(), await other.text_index()
    await corner.put_texts(index, {"a": "alpha", "b": "beta"})
    await other.put_texts(theirs, {"theirs": "alpha beta gamma"})
    await words_become(corner, index, {"alpha": 1.0}, ["a"])
    for word in HOSTILE:
        for terms in ({word: 1.0}, {word: 1.0, "alpha": 0.5}):
            assert set(await words(corner, index, terms)) <= {"a", "b"}, repr(word[:40])
    assert await words(corner, index, {"alpha": 1.0}) == ["a"]
    assert await words(other, theirs, {"gamma": 1.0}) == ["theirs"]
    if not corner.engine.embedded:
        await other.clean()


@pytest.mark.parametrize("broken", ["\ud800", "alpha\udfff"], ids=ascii)
async def test_text_that_is_no_text_is_refused(corner: Corner, broken: str) -> None:
    index = await corner.text_index()
    with pytest.raises(InvalidInputError):
        await corner.store.text_search(index, {broken: 1.0}, 3)
    with pytest.raises(InvalidInputError):
        await corner.store.shortest_path(broken, "x", edge_types=[EdgeType.NEXT], max_depth=2, namespace="n")


@hypothesis_settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.dictionaries(st.text(max_size=30), st.floats(0, 1e6), max_size=8))
async def test_any_words_do_no_harm(corner: Corner, terms: dict[str, float]) -> None:
    index = await corner.text_index()
    assert await corner.store.text_search(index, terms, 3) == []
