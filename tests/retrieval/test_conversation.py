"""Searches that know what was said before."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.rag import KnowledgeBase
from core.rag.errors import InvalidVectorError, NotFoundError
from core.rag.retrieval.dialogue import Dialogue, Turn
from libs.dataloader import Document
from tests.dbhandler.kit import Engine
from tests.embedders import HashEmbedder

TOPICS = {
    "mill": "The tide mill of Port Elgin grinds corn {n} hours a day and closes its sluice gates at ebb.",
    "tax": "The income tax return form {n} has a deadline in spring, and late payment costs interest.",
    "bread": "Sourdough bread number {n} rises overnight before baking in a hot oven with steam.",
}


@pytest.fixture
async def kb(engine: Engine) -> AsyncIterator[KnowledgeBase]:
    async with engine.knowledge(embedder=HashEmbedder(256)) as opened:
        documents = [
            Document(path=f"{topic}/{number}", content=text.format(n=number), title=f"{topic} {number}")
            for topic, text in TOPICS.items()
            for number in range(15)
        ]
        await opened.ingest(
            [
                *documents,
                Document(path="mill/cost", content="The cost of the tide mill corn was nine shillings.", title="m"),
                Document(path="tax/cost", content="The cost of a late income tax return is two percent.", title="t"),
            ]
        )
        yield opened


async def talk(kb: KnowledgeBase, *turns: str) -> str:
    conversation = await kb.client.create_conversation()
    for number, text in enumerate(turns):
        await kb.client.add_message(conversation, text, ("user", "assistant")[number % 2])
    return conversation


@pytest.mark.parametrize("mode", ["hybrid", "keyword"])
async def test_what_was_said_before_decides_what_a_short_question_is_about(kb: KnowledgeBase, mode: str) -> None:
    about_mill = await talk(kb, "How does the tide mill grind corn?", "With its sluice gates at ebb.")
    about_tax = await talk(kb, "When is the income tax return due?", "In spring; late payment costs interest.")
    question = "And what was the cost?"
    first = await kb.search(question, k=1, mode=mode, conversation_id=about_mill)  # type: ignore[arg-type]
    second = await kb.search(question, k=1, mode=mode, conversation_id=about_tax)  # type: ignore[arg-type]
    assert [hit.path.split("/")[0] for hit in [*first, *second]] == ["mill", "tax"]


async def test_a_first_turn_is_a_plain_search(kb: KnowledgeBase) -> None:
    question = "When is the income tax return due?"
    plain = await kb.search(question, k=8)
    empty = await talk(kb)
    asked = await talk(kb, question)
    assert await kb.search(question, k=8, conversation_id=empty) == plain
    assert await kb.search(question, k=8, conversation_id=asked) == plain
    embedding = await kb.embedder.get_embedding(question)
    chunks = await kb.client.conversation_aware_search_chunks(embedding, asked, 8)
    assert chunks == await kb.client.semantic_search_chunks(embedding, 8)
    worded = await kb.client.conversation_aware_search_chunks(embedding, asked, 8, query_text=question)
    assert [(chunk["chunk_id"], chunk["score"]) for chunk in worded] == [(hit.chunk_id, hit.score) for hit in plain]


def test_turns_count_less_before_a_question_that_could_be_asked_alone() -> None:
    said = Dialogue.of([Turn("user", "mill", [0.0, 1.0]), Turn("assistant", "tide", [0.0, 1.0])])
    alone = replace(said, alone=True)
    assert 0 < alone.terms({"tax": 1.0})["mill"] < said.terms({"tax": 1.0})["mill"] < 1
    assert 0 < alone.vector([1.0, 0.0])[1] < said.vector([1.0, 0.0])[1]


async def test_a_new_subject_is_not_dragged_back(kb: KnowledgeBase) -> None:
    before = await talk(
        kb, "How does the tide mill grind corn?", "With its gates.", "Does Port Elgin have one?", "Yes, it grinds corn."
    )
    question = "How long does sourdough bread rise before baking?"
    assert await kb.search(question, k=5, conversation_id=before) == await kb.search(question, k=5)


async def test_the_client_finds_the_same_as_the_knowledge_base(kb: KnowledgeBase) -> None:
    before = await talk(kb, "How does the tide mill grind corn?", "With its sluice gates at ebb.")
    question = "And what was the cost?"
    embedding = await kb.embedder.get_embedding(question)
    hits = await kb.search(question, k=5, conversation_id=before)
    chunks = await kb.client.conversation_aware_search_chunks(embedding, before, 5, query_text=question)
    assert [chunk["chunk_id"] for chunk in chunks] == [hit.chunk_id for hit in hits]
    await kb.client.add_message(before, question, "user")
    chunks = await kb.client.conversation_aware_search_chunks(embedding, before, 5)
    assert [chunk["chunk_id"] for chunk in chunks] == [hit.chunk_id for hit in hits]
    documents = await kb.client.conversation_aware_search(embedding, before, 3)
    assert documents[0]["path"] == "mill/cost"
    assert len({document["id"] for document in documents}) == 3
    with pytest.raises(NotFoundError):
        await kb.search(question, conversation_id="nowhere")
    with pytest.raises(InvalidVectorError):
        await kb.client.conversation_aware_search_chunks([1.0, 2.0], before)


async def test_where_only_the_vector_of_a_question_is_known_no_word_is_searched_for() -> None:
    async with KnowledgeBase.open("embedded::memory:") as kb:
        await kb.ingest(
            [
                *(Document(path=f"bees{n}", content=f"Bees make honey in hive {n}.") for n in range(8)),
                *(Document(path=f"x{n}", content=f"Filler number {n} says nothing at all.") for n in range(30)),
                Document(path="mill", content="A question of the tide mill of Carew was open."),
            ]
        )
        before = await talk(kb, "Who owns the tide mill at Carew?", "The tide mill of Carew is in Wales.")
        vector = await kb.embedder.get_query_embedding("bees honey hive")
        chunks = await kb.client.conversation_aware_search_chunks(vector, before, 6)
        alone = await kb.client.search_chunks(vector, 6)
        assert [(chunk["path"], chunk["score"]) for chunk in chunks] == [
            (chunk["path"], pytest.approx(chunk["score"])) for chunk in alone
        ], "the subject has changed"


words = st.lists(st.sampled_from(["mill", "tide", "corn", "tax", "form"]), min_size=1, max_size=5).map(" ".join)


@given(st.lists(st.tuples(st.sampled_from(["user", "assistant", "tool"]), words), max_size=9))
def test_the_question_always_weighs_most(said: list[tuple[str, str]]) -> None:
    dialogue = Dialogue.of([Turn(role, text, [1.0, 0.5]) for role, text in said])
    weights = dialogue.terms({"question": 1.0})
    assert weights["question"] == 1.0
    assert all(0 < weight < 1 for term, weight in weights.items() if term != "question")
    vector = dialogue.vector([0.0, 1.0])
    assert sum(value * value for value in vector) == pytest.approx(1.0)
    assert not dialogue or vector[1] > 0.8
    if not dialogue:
        assert weights == {"question": 1.0}


@pytest.mark.parametrize(
    "message",
    [
        "\n And what was the cost, unicode\u0308?",
        "And what was the cost? " + "It costs so much. " * 2_000,
        "And when does it close its sluce?",
    ],
    ids=["accents apart", "long", "typing error"],
)
async def test_a_question_that_is_in_the_conversation_already_is_no_history(kb: KnowledgeBase, message: str) -> None:
    before = ("How does the tide mill grind corn?", "With its sluice gates at ebb.")
    with_it, without = await talk(kb, *before, message), await talk(kb, *before)
    found = [await kb.search(message, k=5, conversation_id=conversation) for conversation in (with_it, without)]
    assert [(hit.path, hit.score) for hit in found[0]] == [(hit.path, hit.score) for hit in found[1]]
