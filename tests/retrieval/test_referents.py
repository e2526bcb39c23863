"""What questions point back at, and what searches make of it."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.rag import KnowledgeBase
from core.rag.retrieval.dialogue import Dialogue, Turn
from core.rag.retrieval.referents import (
    POINTED_AT,
    asks_for_more,
    hangs_on,
    list_items,
    names_in,
    names_nothing,
    referents,
    stands_alone,
)
from libs.dataloader import Document
from tests.dbhandler.kit import Engine
from tests.embedders import HashEmbedder

NUMBERED = "There are three mills:\n1. The tide mill at Carew\n2. Port Elgin mill, which grinds corn.\n3. Woodbridge\n"


@pytest.mark.parametrize(
    ("text", "items"),
    [
        (NUMBERED, ["The tide mill at Carew", "Port Elgin mill, which grinds corn", "Woodbridge"]),
        ("Both:\n- rye\n* oats", ["rye", "oats"]),
        ("Options: 1) red; 2) green and 3) blue.", ["red", "green", "blue"]),
        ("They grow rye, oats, and barley. That is all.", ["They grow rye", "oats", "barley"]),
        ("Apfel und Birne", ["Apfel", "Birne"]),
        ("It turns with the ebb.", []),
        ("1. only one line", []),
    ],
)
def test_lists_are_known_by_their_form(text: str, items: list[str]) -> None:
    assert list_items(text) == items


@pytest.mark.parametrize(
    ("question", "item"),
    [
        ("What did the second one cost?", "Port Elgin mill, which grinds corn"),
        ("And the last?", "Woodbridge"),
        ("When was the third built?", "Woodbridge"),
        ("Tell me about option 2", "Port Elgin mill, which grinds corn"),
        ("#1 please", "The tide mill at Carew"),
        ("Wann wurde die zweite gebaut?", "Port Elgin mill, which grinds corn"),
        ("What about the first mill?", "The tide mill at Carew"),
        ("Was it hurt in the Second World War?", None),
        ("How do I first get there?", None),
        ("Was that the first time?", None),
        ("What about the fifth?", None),
        ("How are they?", None),
    ],
)
def test_ordinals_point_at_the_items_of_the_last_answer(question: str, item: str | None) -> None:
    found = referents(question, ["Which mills are there?"], [NUMBERED])
    pointed = [(referent.text, referent.weight) for referent in found]
    assert pointed == [(item, POINTED_AT)] if item else all(text not in NUMBERED.split("\n") for text, _ in pointed)


def test_a_pronoun_stands_for_the_name_that_is_new_in_the_answer() -> None:
    [found] = referents(
        "When was he born?", ["Who directed Devotion?"], ["The director of Devotion is Guido Brignone."]
    )
    assert (found.text, found.weight) == ("Guido Brignone", POINTED_AT)
    assert referents("When was Ann Lee born?", ["Who directed Devotion?"], ["It is Guido Brignone."]) == []


def test_what_the_talk_is_about_is_carried_over_questions_that_name_nothing() -> None:
    before = ["and how large is it?", "Tell me about Port Elgin"]
    assert [referent.text for referent in referents("who lives there?", before, ["Not very."])] == ["Port Elgin"]
    newer = ["and how large is New Glasgow?", *before]
    assert referents("who lives there?", newer, ["Not very."]) == []


def test_a_person_is_remembered_over_answers_that_name_nobody() -> None:
    questions = ["When does it open?", "Who built the tower?"]
    answers = ["It opens at six.", "Zoe Hart built it in 1901."]
    for question in ("Where was she born?", "What is the name of her brother?", "Und wann hat er geheiratet?"):
        assert [referent.text for referent in referents(question, questions, answers)] == ["Zoe Hart"]
    # The pronoun is that of somebody else, there are newer names, or too much was said since.
    assert referents("My neighbour asks whether he may enter.", questions, answers) == []
    newer = ["How far is Port Elgin?", *questions], ["Two miles.", *answers]
    assert [found.text for found in referents("Where was she born?", *newer)] == []
    thanks = ["thanks"] * 4 + questions, ["You are welcome."] * 4 + answers
    assert referents("Where was she born?", *thanks) == []


def test_names_have_capitals_and_not_for_standing_first() -> None:
    assert names_in("The sky. Birds met Ann in New York. He said: Hello") == ["Ann", "New York"]
    assert hangs_on("When was he born?")
    assert not hangs_on("When was Guido Brignone born?")
    assert not hangs_on("How does the income tax return deadline affect that interest?")


@pytest.mark.parametrize(
    "request_",
    ["Show me an example", "Why?", "tell me more!", "Can you explain?", "Noch ein Beispiel bitte", "¿Por qué?"],
)
def test_a_request_for_more_is_about_the_last_question_that_names_something(request_: str) -> None:
    questions = ["Go on", "What turns the wheel?", "Who built the mill?"]
    assert names_nothing(request_)
    assert asks_for_more(request_) == (request_ not in {"Why?", "Can you explain?", "¿Por qué?"})
    found = referents(request_, questions, ["The tide.", "Ann Lee."])
    assert [(referent.text, referent.weight) for referent in found] == [("What turns the wheel?", POINTED_AT)]
    assert referents(request_, ["Go on"], []) == []
    turns = [Turn("user", "What turns the wheel?"), Turn("assistant", "The tide."), Turn("user", "Go on")]
    assert [turn.content for turn in Dialogue.of(turns).questions] == ["What turns the wheel?"]


@pytest.mark.parametrize("question", ["Show me the mill", "Why is it late?", "", "?", "1612", "An example of a gate"])
def test_what_names_something_is_not_about_the_last_question(question: str) -> None:
    assert not names_nothing(question)


def test_a_question_with_words_of_its_own_and_no_pronoun_stands_alone() -> None:
    assert stands_alone("What spices are used in blood sausage?")
    assert not stands_alone("What spices are used in it by the cook?")
    assert not stands_alone("What about Germany?")
    assert not stands_alone("Welche Gewürze kommen in die Blutwurst?")


@given(st.text(max_size=80), st.lists(st.text(max_size=120), max_size=3), st.lists(st.text(max_size=200), max_size=3))
def test_any_text_is_read(question: str, questions: list[str], answers: list[str]) -> None:
    for referent in referents(question, questions, answers):
        assert 0 < referent.weight <= POINTED_AT
        assert any(referent.text in " ".join(text.split()) or referent.text in text for text in [*questions, *answers])


@pytest.fixture
async def kb(engine: Engine) -> AsyncIterator[KnowledgeBase]:
    async with engine.knowledge(embedder=HashEmbedder(256)) as opened:
        await opened.ingest(
            [
                Document(path="carew", content="The tide mill at Carew was built in granite.", title="a"),
                Document(path="elgin", content="Port Elgin mill was built in timber by two brothers.", title="b"),
                Document(path="bridge", content="Woodbridge was built in brick, and repaired later.", title="c"),
                *(
                    Document(path=f"x{n}", content=f"Something was built in year {n} by somebody else.", title=f"x{n}")
                    for n in range(20)
                ),
            ]
        )
        yield opened


async def _talk(kb: KnowledgeBase, *turns: str) -> str:
    conversation = await kb.client.create_conversation()
    for number, text in enumerate(turns):
        await kb.client.add_message(conversation, text, ("user", "assistant")[number % 2])
    return conversation


@pytest.mark.parametrize(
    ("question", "path"),
    [
        ("When was the first one built?", "carew"),
        ("When was the second one built?", "elgin"),
        ("And when was the third built?", "bridge"),
    ],
)
async def test_the_second_one_is_searched_for_by_its_name(kb: KnowledgeBase, question: str, path: str) -> None:
    talk = await _talk(kb, "Which mills are there?", NUMBERED)
    assert (await kb.search(question, k=1, conversation_id=talk))[0].path == path
    embedding = await kb.embedder.get_embedding(question)
    [chunk] = await kb.client.conversation_aware_search_chunks(embedding, talk, 1, query_text=question)
    assert chunk["path"] == path


async def test_what_an_answer_referred_to_or_found_comes_up_again(kb: KnowledgeBase) -> None:
    question = "by whom was it built?"
    for paths in (["x7"], ["x11"]):
        talk = await kb.client.create_conversation()
        await kb.client.add_message(talk, "What was built?", "user")
        await kb.client.add_message(talk, "Something.", "assistant", references=paths)
        hits = await kb.search(question, k=3, conversation_id=talk)
        assert hits[0].path == paths[0]
        assert hits[0].scores["earlier"] == 1.0
    chunk = (await kb.client.get_document_chunks("x3"))[0]["chunk_id"]
    talk = await kb.client.create_conversation()
    message = await kb.client.add_message(talk, "What was built?", "user")
    await kb.client.record_retrieved(message, [chunk])
    await kb.client.add_message(talk, "Something.", "assistant")
    assert (await kb.search(question, k=1, conversation_id=talk))[0].path == "x3"
