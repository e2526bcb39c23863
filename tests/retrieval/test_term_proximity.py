"""Passages that have the words of a question close together come before those that have them scattered."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.rag import KnowledgeBase
from core.rag.retrieval.hits import SearchMode
from core.rag.retrieval.ordering.term_proximity import LOOKED_AT, WINDOW, best, near, proximities, shares
from libs.dataloader import Document

_PHRASE = "copper kettle warranty"
_BEFORE = "The long summer evening brought many visitors from distant villages who admired gardens, orchards, bridges,"
_AFTER = (
    "towers, fountains, markets, libraries, museums, harbours, meadows, forests, rivers, castles, windmills, chapels"
)


def _texts() -> dict[str, str]:
    """Texts of the same words, so that BM25 and vectors are the same, but in one of them they stand together."""
    first, second, third = _PHRASE.split()
    apart = f"{first} {_BEFORE} {second} {_AFTER} {third}"
    texts = {f"apart{number}.txt": f"{apart} Visitor {number}" for number in range(8)}
    return {**texts, "together.txt": f"{_BEFORE} {_AFTER} {_PHRASE} Visitor 8"}


@pytest.mark.parametrize("mode", ["hybrid", "graph", "auto"])
@pytest.mark.parametrize("filters", [None, "metadata.kind=text"])
async def test_words_that_stand_together_come_first(mode: SearchMode, filters: str | None) -> None:
    async with KnowledgeBase.open("embedded::memory:") as kb:
        await kb.ingest(Document(path=path, content=text, metadata={"kind": "text"}) for path, text in _texts().items())
        hits = await kb.search("Is there a copper kettle warranty?", k=9, mode=mode, filters=filters)
    assert hits[0].path == "together.txt"
    assert 1.0 >= hits[0].score > hits[1].score > 0.0


def test_a_stretch_counts_by_the_rarity_of_its_words() -> None:
    sample = [{"common"}] * 9 + [{"rare"}]
    far = " ".join(["x"] * WINDOW)
    texts = {"both": "x common rare x", "rare": f"rare {far} common", "common": "common", "none": "x"}
    found = proximities(texts, shares(texts.values(), {"common": 1.0, "rare": 1.0}, sample))
    assert found["both"] == pytest.approx(1.0)
    assert 1.0 > found["rare"] > found["common"] > found["none"] == 0.0


def test_words_that_no_text_has_count_nothing() -> None:
    terms = {"mill": 1.0, "wheel": 1.0}
    assert shares(["mill wheel", "mill"], {**terms, "muhl": 1.0, "rad": 2.0}, []) == {"mill": 0.5, "wheel": 0.5}
    assert shares(["mill wheel"], {"rad": 1.0}, []) == {}


def test_nothing_close_changes_nothing() -> None:
    scores = {"a": 0.9, "b": 0.3}
    assert near(scores, {}) == scores
    assert near(scores, {"a": 0.0}) == scores
    assert near({}, {}) == {}
    assert proximities({}, {"mill": 1.0}) == {}
    assert proximities({"a": ""}, {}) == {"a": 0.0}


def test_only_the_best_are_looked_at() -> None:
    scores = {f"{number:03}": 1 - number / 200 for number in range(2 * LOOKED_AT)}
    assert best(scores) == sorted(scores)[:LOOKED_AT]


@given(st.lists(st.sampled_from(["a", "b", "c", "x", "y"]), max_size=60), st.randoms(use_true_random=False))
def test_it_is_the_share_of_the_best_stretch(words: list[str], chance: random.Random) -> None:
    terms = {"a": chance.random() + 0.1, "b": 1.0, "c": 2.0}
    found = proximities({"text": " ".join(words)}, shares([" ".join(words)], terms, []))["text"]
    held = set(words) & terms.keys()
    stretches = [set(words[start : start + WINDOW]) & held for start in range(len(words))]
    total = sum(terms[word] for word in held)
    expected = max((sum(terms[word] for word in one) for one in stretches), default=0.0) / total if total else 0.0
    assert found == pytest.approx(expected)
    assert 0.0 <= found <= 1.0 + 1e-9
