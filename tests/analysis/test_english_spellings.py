"""English words that are spelled in two ways are one word of the keyword index."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.rag import KnowledgeBase
from core.rag.analysis import analyze
from core.rag.analysis.english_spellings import one_spelling
from libs.dataloader import Document


@pytest.mark.parametrize(
    ("british", "american"),
    [
        ("colour colours coloured colouring colourful", "color colors colored coloring colorful"),
        ("behavioural neighbourhood honourable misbehaviour", "behavioral neighborhood honorable misbehavior"),
        ("organise organised organiser organisation", "organize organized organizer organization"),
        ("containerised unrecognisable tokeniser", "containerized unrecognizable tokenizer"),
        ("analyse analysed analysing analyser catalyses", "analyze analyzed analyzing analyzer catalyzes"),
        ("centre centres centred centring kilometre", "center centers centered centering kilometer"),
        ("catalogue catalogues catalogued cataloguing dialogue", "catalog catalogs cataloged cataloging dialog"),
        ("programme programmes kilogramme", "program programs kilogram"),
        ("haemoglobin anaemia ischaemic diarrhoea paediatric", "hemoglobin anemia ischemic diarrhea pediatric"),
        ("licence licences defence practise practising", "license licenses defense practice practicing"),
        ("grey tyre aluminium artefact judgement disc", "gray tire aluminum artifact judgment disk"),
        ("fulfil fulfilment enrol instalment manoeuvring", "fulfill fulfillment enroll installment maneuvering"),
    ],
)
def test_both_spellings_are_one_word(british: str, american: str) -> None:
    assert [analyze(word, "english") for word in british.split()] == [
        analyze(word, "english") for word in american.split()
    ]


@pytest.mark.parametrize(
    "words",
    [
        "hour four tour devour contour courage journal resource course your",
        "advise promised exercise precise noise raising otherwise pairwise enterprises surprising disable crisis",
        "programmer programmed discuss discs fulfilled enrolled installer",
        "acre more centreless ogre analysis analyses vogue prologue aesthetic caesar phoenix",
        "Paris Denis thesis visa misaligned isation",
    ],
)
def test_other_words_stay_as_they_are(words: str) -> None:
    other = {word: one_spelling(word) for word in words.lower().split()}
    assert {word for word, spelled in other.items() if spelled != word} <= {"discs"}  # disks


@given(st.from_regex(r"[a-z]{1,20}", fullmatch=True))
def test_a_spelling_is_its_own(word: str) -> None:
    assert one_spelling(one_spelling(word)) == one_spelling(word)


async def test_a_search_and_an_answer_find_the_other_spelling() -> None:
    async with KnowledgeBase.open("embedded::memory:") as kb:
        await kb.ingest(
            [
                Document(path="terminal.md", content="# Terminal\n\nSet NO_COLOR to turn colours off.\n"),
                Document(path="mill.md", content="# Mill\n\nThe wheel turns with the ebb.\n"),
                Document(path="note.md", content="# Note\n\nWho catalogs the prints is listed below.\n"),
            ]
        )
        assert [hit.path for hit in await kb.search("color", mode="keyword")] == ["terminal.md"]
        assert [hit.path for hit in await kb.search("catalogues", mode="keyword")] == ["note.md"]
        answer = await kb.ask("How do I turn off colors?")
        assert "- Set NO_COLOR to turn colours off." in answer.text
