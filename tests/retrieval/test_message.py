"""Messages that say something besides what they ask."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.rag import KnowledgeBase
from core.rag.analysis import analyze
from core.rag.retrieval.hits import SearchMode
from core.rag.retrieval.wording.message import SHARE, added, taken_apart, weighed
from libs.dataloader import Document

TEXTS = {
    "mill.md": "The tide mill grinds grain with the ebb. Its wheel was replaced in 1931.",
    "help.md": "If you are new, we appreciate your questions. Help is given to everyone who is reading the guide.",
    "time.md": "Yesterday is the day before today. In advance means before the time.",
    "thanks.md": "Thanks go to everybody who helped and understood everything.",
}


@pytest.mark.parametrize(
    ("message", "parts"),
    [
        ("When was it built?", ("When was it built?", "")),
        ("I read about the mill.", ("I read about the mill.", "")),
        ("When was it built? And by whom?", ("When was it built? And by whom?", "")),
        ("Who is Dr. Smith?", ("Who is Dr. Smith?", "")),
        ("I read about the mill. When was it built? Thanks!", ("When was it built?", "I read about the mill. Thanks!")),
        ("Describe the mill. When was it built?", ("Describe the mill. When was it built?", "")),
        ("Could you tell me about the mill. Is it old?", ("Could you tell me about the mill. Is it old?", "")),
        ("When was it built? Is it the oldest", ("When was it built? Is it the oldest", "")),
        ("Who wrote the words of Oh! Susanna?", ("Who wrote the words of Oh! Susanna?", "")),
        ("What a day! When does the mill open?", ("When does the mill open?", "What a day!")),
        ("磨坊很老。什么时候建的？", ("什么时候建的？", "磨坊很老。")),
        ('He asked "is it old?" and left.', ('He asked "is it old?" and left.', "")),
        ("", ("", "")),
    ],
)
def test_parts(message: str, parts: tuple[str, str]) -> None:
    assert taken_apart(message) == parts


def test_a_pasted_text_is_no_message() -> None:
    text = "Is it? " + "It is. " * 1_000
    assert taken_apart(text) == (text, "")


@given(st.text())
def test_all_words_count(text: str) -> None:
    def words(part: str) -> dict[str, float]:
        return dict.fromkeys(part.split(), 1.0)

    asked, besides = taken_apart(text)
    found = weighed(text, words)
    assert {word for word, weight in found.items() if weight >= 1.0} >= set(asked.split())
    assert found.keys() == set(asked.split()) | set(besides.split())
    assert all(weight % SHARE == 0 and weight >= SHARE for weight in found.values())


@pytest.mark.parametrize(
    ("text", "weights"),
    [
        ("the county that borders the county", {"counti": 1}),
        ("Papers on mills. Tide mills, mills in Galway.", {"mill": 2, "paper": 1, "galway": 1}),
        ("Who built the mill? And when was the mill sold?", {"mill": 2, "built": 1, "sold": 1}),
        ("I read about the mill in Galway. When was the mill built?", {"mill": 1.5, "built": 1, "galway": 0.5}),
    ],
)
def test_a_word_counts_for_each_sentence(text: str, weights: dict[str, float]) -> None:
    found = weighed(text, lambda part: dict.fromkeys(analyze(part), 1.0))
    assert {word: found[word] for word in weights} == weights


async def test_what_all_sentences_name_is_what_a_request_is_about() -> None:
    request = "Papers on cataloguing. Courses that include cataloguing. Cataloguing of maps."
    texts = {
        "courses.md": "Librarians give courses, and write papers on these.",
        "maps.md": "Old maps of the coast are on the first floor.",
        "rules.md": "Students learn the rules of cataloguing.",
    }
    async with KnowledgeBase.open("embedded::memory:") as kb:
        await kb.ingest(Document(path=path, content=text) for path, text in texts.items())
        hits = await kb.search(request, k=1, mode="keyword")
        assert hits[0].path == "rules.md"


def test_directions_are_added() -> None:
    found = added([1.0, 0.0], [0.0, 1.0])
    assert math.hypot(*found) == pytest.approx(1)
    assert found[1] / found[0] == pytest.approx(SHARE)
    assert added([1.0, 0.0], [-2.0, 0.0]) == [1.0, 0.0]


@pytest.mark.parametrize("mode", ["auto", "graph", "hybrid"])
async def test_the_question_decides(mode: SearchMode) -> None:
    message = (
        "Hello, I was reading about this yesterday and have not understood everything. When was the wheel replaced? "
        "I would really appreciate any help, thanks in advance."
    )
    async with KnowledgeBase.open("embedded::memory:") as kb:
        await kb.ingest(Document(path=path, content=text) for path, text in TEXTS.items())
        hits = await kb.search(message, k=1, mode=mode)
        assert hits[0].path == "mill.md"
