"""Typing errors in questions."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.rag import DRIFTRAG, BasicRAG, KnowledgeBase, KnowledgeRAGFlow
from core.rag.retrieval.hits import SearchMode
from core.rag.retrieval.wording.spelling import applied, is_corrected
from core.rag.schema import Label, TextIndex
from core.rag.settings import Settings
from libs.dataloader import Document
from tests.dbhandler.kit import Engine
from tests.embedders import HashEmbedder

TEXTS = {
    "mill.md": "The tide mill grinds grain with the ebb. It was surveyed by Ottoline Vargasson in 1931.",
    "ferry.md": "The ferry crosses the estuary twice a day. Its timetables hang at the harbour office.",
    "kite.md": "Kestrels nest in the chimney of the granary, and are counted each spring by volunteers.",
    "wheel.md": "Der Mühlenkanal führt das Wasser vom Teich zum Mühlrad. Die Müller halten ihn frei. Auch dort "
    "gilt die Straßenverkehrsordnung.",
    "poche.md": "La poche du meunier est vide.",
    "talk.md": "Adolphe held that uninterchangeabilities were not theirs.",
}


@pytest.fixture
async def kb(engine: Engine) -> AsyncIterator[KnowledgeBase]:
    async with engine.knowledge() as opened:
        await opened.ingest([Document(path=path, content=text) for path, text in TEXTS.items()])
        yield opened


@pytest.mark.parametrize(
    ("query", "corrected"),
    [
        ("where do kestrles nest", {"kestrles": "Kestrels"}),
        ("where do the kesrtels nest?", {"kesrtels": "Kestrels"}),
        ("WHERE DO KESTRLES NEST", {"KESTRLES": "Kestrels"}),
        ("who crosses the esturay", {"esturay": "estuary"}),
        ("who crosses the estary and counts kestels", {"estary": "estuary", "kestels": "Kestrels"}),
        ("how high are chimnys", {"chimnys": "chimneys"}),
        ("what did Vargason survey", {"Vargason": "Vargasson"}),
        ("wohin führt der Mühlenkannal", {"Mühlenkannal": "Mühlenkanal"}),
        ("whcih birds are counted", {"whcih": "which"}),
        ("Whcih birds are counted?", {"Whcih": "which"}),
        ("(kestrles), esturay!", {"kestrles": "Kestrels", "esturay": "estuary"}),
        ("who has uninterchangaebilities", {"uninterchangaebilities": "uninterchangeabilities"}),
    ],
)
async def test_what_was_meant(kb: KnowledgeBase, query: str, corrected: dict[str, str]) -> None:
    assert await kb.corrections(query) == corrected


@pytest.mark.parametrize(
    "query",
    [
        "where do kestrels nest",
        "where do lapwings nest",  # is a word, which no document has
        "what of the terry",
        "what did Varga survey",
        "who is Hargasson",  # begins with another letter
        'where do "kestrles" nest',
        "where does `kestrles` nest",
        "what is in docs/kestrles.md",
        "who has kestrles@example.org",
        "what is kestrles2",
        "the KESTRLES project",
        "what does getKestrles return",
        "what does kestrles() return",
        "what does --kestrles do",
        "what is $kestrles",
        "where is /kestrles",
        "where is ./kestrles",
        "what is in .kestrles",
        "what is a <kestrles>",
        "where do ‘kestrles’ nest",
        "where do „kestrles“ nest",
        "who is Adolphe Thiers",  # a name, not "theirs"
        "what does Straßenverkehrsordnung mean for a Mühlenkanal",  # of the text, but the question is English
        "kestrles " + "„" * 20_000,
        "quand est ce que la peche ouvre dans le village",  # typed without its accent: pêche
        "k",
        "鳥はどこに巣を作りますか",
        "gdzie jest ten młyn i kestrles",  # there is no dictionary of Polish
        "kestrles " * 80,
    ],
)
async def test_what_is_left_as_it_is(kb: KnowledgeBase, query: str) -> None:
    assert await kb.corrections(query) == {}


@pytest.mark.parametrize(
    ("question", "apart"),
    [
        ("Wie viele Preiskategorien gibt es?", {"Preiskategorien": "Preis Kategorien"}),
        ("wie viele preiskategorien gibt es", {"preiskategorien": "preis kategorien"}),
        ("Wer zählt die Arbeitsunfälle in der Mühle?", {"Arbeitsunfälle": "Arbeits Unfälle"}),
        ("Wie viele Besuchszeiten gibt es?", {}),  # as the text has it
        ("Was sind die Mühlenöffnungszeiten?", {}),  # not of two words that the text has
        ("How many Preiskategorien are there?", {}),
    ],
)
async def test_compounds_that_no_document_has(question: str, apart: dict[str, str]) -> None:
    text = (
        "Jede Arbeit in der Mühle hat ihren Preis. Die Kategorien stehen am Tor, auch die Besuchszeiten. "
        "Einen Unfall gab es nie."
    )
    async with KnowledgeBase.open("embedded::memory:") as kb:
        await kb.ingest([Document(path="haus.md", content=text)])
        assert await kb.corrections(question) == apart
        answer = await kb.ask(question)
    for word, parts in apart.items():
        assert answer.text.startswith(f"Searched for “{parts}” instead of “{word}”.")
    if "reis" in question and apart:
        assert "hat ihren Preis" in answer.text


async def test_compounds_of_other_documents_and_of_records_are_left_as_they_are() -> None:
    async with KnowledgeBase.open("embedded::memory:") as kb:
        await kb.ingest(
            [
                Document(path="haus.md", content="Jede Arbeit in der Mühle hat ihren Preis, in zwei Kategorien."),
                Document(path="hof.md", content="Der Hof liegt hinter der Mühle. Er ist offen."),
            ]
        )
        question = "Wie viele Preiskategorien gibt es?"
        assert await kb.corrections(question, filters="path:haus.md") == {"Preiskategorien": "Preis Kategorien"}
        assert await kb.corrections(question, filters="path:hof.md") == {}
        await kb.insert("prices", {"name": "Preiskategorien", "count": 3})
        assert await kb.corrections(question) == {}


async def test_the_rest_of_the_question_decides_between_words() -> None:
    async with KnowledgeBase.open("embedded::memory:") as kb:
        await kb.ingest(
            Document(path=path, content=text)
            for path, text in {
                "castle.md": "The drawbridge of the castle is lowered at eight. Its trucks are parked below.",
                "rail.md": "The marshalling yard has nine tracks. Points are thrown from the signal cabin.",
            }.items()
        )
        assert await kb.corrections("how many trncks has the marshalling yard") == {"trncks": "tracks"}
        assert await kb.corrections("how many trncks are parked at the castle") == {"trncks": "trucks"}


@pytest.mark.parametrize("mode", ["auto", "graph", "hybrid"])
async def test_a_search_finds_what_was_meant(kb: KnowledgeBase, mode: SearchMode) -> None:
    hits = await kb.search("kestrles", k=1, mode=mode)
    assert hits[0].path == "kite.md"
    assert hits[0].scores["keyword"] > 0


async def test_words_are_searched_for_as_they_are_in_the_other_modes(kb: KnowledgeBase) -> None:
    assert await kb.search("kestrles", mode="keyword") == []
    for mode in ("keyword", "vector", "fuzzy"):
        assert await kb.corrections("kestrles", mode) == {}


async def test_an_answer_says_what_was_searched_for(kb: KnowledgeBase) -> None:
    question = "Where do kestrles nest?"
    answer = await kb.ask(question)
    assert answer.found
    assert answer.question == question
    assert answer.text.startswith("Searched for “Kestrels” instead of “kestrles”.\n\n")
    assert "chimney of the granary" in answer.text
    assert answer.details["corrected"] == {"kestrles": "Kestrels"}
    streamed = [event async for event in kb.ask_stream(question)]
    assert "".join(event.text for event in streamed if event.type == "token") == answer.text


@pytest.mark.parametrize(
    "question",
    [
        "What are these documnets about?",
        "sumarize the documents",
        "Worum geht es in den Dokumeten?",
        "overveiw of the files",
    ],
)
async def test_a_question_about_all_documents_may_be_mistyped(kb: KnowledgeBase, question: str) -> None:
    answer = await kb.ask(question)
    assert (answer.question, answer.strategy) == (question, "overview")
    assert "corrected" in answer.details


async def test_the_classes_correct_and_tell_it_too(kb: KnowledgeBase) -> None:
    answer = await BasicRAG(kb).query("Where do kestrles nest?")
    assert answer.text.startswith("Searched for “Kestrels” instead of “kestrles”.\n\n")
    assert (await KnowledgeRAGFlow(kb).run("Where do kestrles nest?")).text == answer.text
    result = await DRIFTRAG(kb).query("Where do kestrles nest?")
    assert "chimney of the granary" in str(result)
    assert result.notes[0] == "Searched for “Kestrels” instead of “kestrles”."


async def test_a_conversation_has_the_question_as_it_was_typed(kb: KnowledgeBase) -> None:
    question = "Where do kestrles nest?"
    await kb.ask(question, conversation_id="birds")
    messages = await kb.client.recent_messages("birds", 5)
    assert [message["content"] for message in messages if message["role"] == "user"] == [question]


async def test_nothing_is_corrected_in_an_empty_graph(engine: Engine) -> None:
    async with engine.knowledge() as kb:
        assert await kb.corrections("where do kestrles nest") == {}
        assert await kb.search("where do kestrles nest") == []


async def test_a_correction_tells_nothing_of_documents_that_a_filter_hides(kb: KnowledgeBase) -> None:
    question = "what did Vargason survey"
    assert await kb.corrections(question, filters="path:mill") == {"Vargason": "Vargasson"}
    assert await kb.corrections(question, filters={"path": "kite"}) == {}
    answer = await kb.ask(question, filters="path:kite")
    assert "Vargasson" not in answer.text
    assert answer.question == question
    assert "corrected" not in answer.details


async def test_what_only_records_or_names_have_is_no_error(kb: KnowledgeBase) -> None:
    assert await kb.corrections("what do Vargassan and Vargason earn") == {
        "Vargassan": "Vargasson",
        "Vargason": "Vargasson",
    }
    await kb.insert("staff", {"name": "Ottoline Vargassan", "salary": 52_000})
    assert await kb.corrections("what do Vargassan and Vargason earn") == {"Vargason": "Vargasson"}
    await kb.link("Ada Vargason", "Ottoline Vargassan", "knows", create=True)
    assert await kb.corrections("what do Vargassan and Vargason earn") == {}


async def test_a_filter_that_lets_few_documents_pass_hides_no_word_of_these(engine: Engine) -> None:
    async with engine.knowledge() as kb:
        many = [Document(path=f"many/{n}.md", content=f"The kestrel of tower {n} nests.") for n in range(150)]
        await kb.ingest([*many, Document(path="one.md", content="A kestrel is a falcon that hovers above meadows.")])
        assert await kb.corrections("where kestrle nests", filters="path:one.md") == {"kestrle": "kestrel"}


async def test_a_graph_for_reading_that_lacks_its_keyword_index(tmp_path: Path) -> None:
    uri = f"embedded:{tmp_path / 'graph.grafeo'}"
    async with KnowledgeBase.open(uri, embedder=HashEmbedder()) as kb:
        await kb.ingest([Document(path=path, content=text) for path, text in TEXTS.items()])
        await (await kb.client.connect()).drop_text_index(TextIndex(Label.CHUNK, kb.namespace))
    async with KnowledgeBase.open(uri, embedder=HashEmbedder(), settings=Settings(read_only=True)) as kb:
        assert await kb.corrections("where do kestrles nest") == {"kestrles": "Kestrels"}


@pytest.mark.parametrize(
    ("typed", "text", "same"),
    [
        ("where do kestrles nest?", "where do Kestrels nest?", True),
        ("where do kestrels nest?", "where do kestrels nest?", True),
        ("where do lapwings nest?", "where do kestrels nest?", False),
        ("what was in 1930", "what was in 1931", False),
        ("where do kestrles", "where do kestrels nest", False),
        ("Wie viele Preiskategorien gibt es?", "Wie viele Preis Kategorien gibt es?", True),
        ("Wie viele Preiskategorien gibt es?", "Wie viele Preis gibt es?", False),
        ("k" * 20_000, "l" * 20_000, False),
    ],
)
def test_a_question_is_known_again_when_it_is_corrected(typed: str, text: str, same: bool) -> None:
    assert is_corrected(typed, text) is same


@given(st.text(), st.dictionaries(st.text(min_size=1, alphabet="abcÄж"), st.text(alphabet="xyz"), max_size=3))
def test_only_the_words_change(text: str, words: dict[str, str]) -> None:
    assert applied(text, {}) == text
    assert applied(text, {word: word for word in words}) == text
    if not any(word in text for word in words):
        assert applied(text, words) == text
