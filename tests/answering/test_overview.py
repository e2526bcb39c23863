"""Questions about all documents together: which these are, what stands for all, with a model and without."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator

import pytest

from core.rag import KnowledgeBase
from core.rag.answering.events import AnalysisEvent, RetrievalEvent
from core.rag.answering.extracts.composing import LABEL
from core.rag.answering.overview.recognising import asks_for_overview, called, documents_asked
from core.rag.answering.response import NOTHING_FOUND
from core.rag.errors import FilterError
from libs.dataloader import Document
from tests.answering.models import talking
from tests.dbhandler.kit import Engine

TEXTS = {
    "tides/ebb.md": "# Ebb\n\nThe Tide Mill of Port Elgin grinds at the ebb. Ada Lane opens the sluice.",
    "tides/flood.md": "# Flood\n\nAt the flood, the Tide Mill of Port Elgin rests. Ada Lane mends the wheel.",
    "tides/neap.md": "# Neap\n\nAt a neap tide, the Tide Mill of Port Elgin grinds little.",
    "bread/oven.md": "# The oven\n\nBaker Hill has an oven of clay. Flour comes from Joan Reed.",
    "bread/price.md": "# The price\n\nBaker Hill sells a loaf for two coins. Joan Reed pays one.",
    "other.md": "# Something else\n\nNobody has written about anything here.",
}


@pytest.fixture
async def kb(engine: Engine) -> AsyncIterator[KnowledgeBase]:
    """Documents on two subjects, and one on neither."""
    async with engine.knowledge() as opened:
        await opened.ingest([Document(path=path, content=text, format="markdown") for path, text in TEXTS.items()])
        yield opened


ABOUT_ALL = (
    """
What is this about?|What are these documents about?|What's this all about|Tell me what these files are about
Summarize everything|Please summarize all documents.|Summarise this|Can you give me an overview?|Overview
I would like an overview of all documents|Could you please summarize the notes for me?|Describe the collection
Summarize this knowledge base in a few sentences|What are the main topics?|What topics are covered?
Which themes do the documents cover?|Which documents are there?|How many documents are there?|List all documents
What do you know?|What can I ask you?|What is in this knowledge base?|What is the corpus about?
Worum geht es hier?|Worum geht es in den Dokumenten?|Fasse alles kurz zusammen|Welche Dokumente gibt es?
Gib mir einen Überblick über die Dokumente|Was sind die wichtigsten Themen?
De quoi parlent ces documents ?|Résume tous les documents|Quels sont les principaux thèmes ?
¿De qué tratan los documentos?|¿Cuáles son los temas principales?|Resume todo
""".replace("\n", "|")
    .strip("|")
    .split("|")
)

ABOUT_SOMETHING = (
    """
What is the mill about?|What are the main topics of the spring meeting?|Summarize the history of the mill|What is it?
How many mills are there?|Give me an overview of the grants|Which documents mention Ada?|What do you know about Ada?
Who are the people?|List all people|What is the README about?|How many documents mention the mill?|What is data
What are the main findings?|Summarize chapter 2|What is a graph?|What are notes?|Tell me more|What else?
What does the document say about tides?|Worum geht es im Bericht?|Describe data|What is in the folder docs?
""".replace("\n", "|")
    .strip("|")
    .split("|")
)


@pytest.mark.parametrize("question", ABOUT_ALL)
def test_questions_about_all_documents(question: str) -> None:
    assert asks_for_overview(question)


@pytest.mark.parametrize("question", [*ABOUT_SOMETHING, "overview " * 100, "please " * 20, "", "?"])
def test_questions_about_something(question: str) -> None:
    assert not asks_for_overview(question)


async def test_an_overview_has_the_beginnings_of_documents_on_every_subject(kb: KnowledgeBase) -> None:
    answer = await kb.ask("What is this about?", k=1)
    assert (answer.strategy, answer.intent, answer.found, answer.extracts, answer.supported) == (
        "overview", "summary", True, True, True,
    )  # fmt: skip
    first, _, label, _, *items = answer.text.splitlines()
    assert first.startswith("There are 6 documents. Several of them mention, most often first: ")
    assert {"Tide Mill of Port Elgin", "Ada Lane", "Baker Hill", "Joan Reed"} <= set(re.split(r", |: |\.$", first))
    assert label.startswith(LABEL)
    folders = [citation.path.partition("/")[0] for citation in answer.citations]
    assert sorted(folders) == ["bread", "tides"], "with -k 1, twice as many"
    for item, citation in zip(items, answer.citations, strict=True):
        assert citation.quote in TEXTS[citation.path]
        assert item == f"- {TEXTS[citation.path][2:].replace('\n\n', ': ')} [{citation.number}]"


async def test_headings_that_documents_have_in_common_are_no_topics(engine: Engine) -> None:
    decisions = {
        "gate.md": "# The gate\n\n## 1. Context\n\nAda Lane paints it. Context matters.\n\n## 2. Decision\n\nOil it.",
        "wheel.md": "# The wheel\n\n## 1. Context\n\nAda Lane oils the wheel.\n\n## 2. Decision\n\nStop it.",
        "stones.md": "# Stones\n\n## 1. Context\n\nThey are as Ada Lane left them.\n\n## 2. Decision\n\nDress them.",
    }
    async with engine.knowledge() as kb:
        await kb.ingest([Document(path=path, content=text, format="markdown") for path, text in decisions.items()])
        answer = await kb.ask("What is this about?")
    assert answer.text.startswith("There are 3 documents. Several of them mention, most often first: Ada Lane.\n")


async def test_a_filter_holds_for_an_overview(kb: KnowledgeBase) -> None:
    answer = await kb.ask("Summarize everything", filters="path:bread/")
    assert answer.text.startswith(
        "There are 2 documents. Several of them mention, most often first: Baker Hill, Joan Reed"
    )
    assert {citation.path for citation in answer.citations} == {"bread/oven.md", "bread/price.md"}
    assert {entity.name for entity in answer.entities} <= {"Baker Hill", "Joan Reed"}
    assert (await kb.ask("Summarize everything", filters="path:none/")).text == NOTHING_FOUND
    with pytest.raises(FilterError):
        await kb.ask("Summarize everything", filters="path:(")


async def test_what_points_back_is_about_what_was_said(kb: KnowledgeBase) -> None:
    await kb.ask("What does Baker Hill sell?", conversation_id="talk")
    assert (await kb.ask("What is this about?", conversation_id="talk")).strategy == "flow"
    assert (await kb.ask("What are the documents about?", conversation_id="talk")).strategy == "overview"
    assert (await kb.ask("What is this about?", conversation_id="new")).strategy == "overview"


async def test_any_question_can_be_answered_by_an_overview(kb: KnowledgeBase) -> None:
    answer = await kb.ask("Is there anything to eat?", "overview")
    assert len(answer.citations) == len(TEXTS)


async def test_without_documents_there_is_no_overview(engine: Engine) -> None:
    async with engine.knowledge() as kb:
        assert (await kb.ask("What is this about?")).text == NOTHING_FOUND


async def test_a_model_reads_how_many_documents_there_are_and_how_they_begin() -> None:
    async with talking() as said, Engine("embedded::memory:").knowledge(language_model=said.model) as kb:
        await kb.ingest([Document(path=path, content=text, format="markdown") for path, text in TEXTS.items()])
        await kb.add_triples([("Ada Lane", "buys_from", "Joan Reed")])
        said.chat.then("They are about a tide mill [1] and bread [2].")
        events = [event async for event in kb.ask_stream("What are the main topics?")]
        (body,) = said.chat.bodies
    sent = body["messages"][1]["content"]
    assert "<documents>There are 6 documents. Several of them mention, most often first: " in sent
    assert "Ada Lane buys_from Joan Reed" in sent
    assert all(f"[{number}] " in sent for number in range(1, 7))
    assert [type(event) for event in events[:2]] == [AnalysisEvent, RetrievalEvent]
    answer = events[-1].answer  # type: ignore[union-attr]  # the end
    assert answer.strategy == "overview"
    assert [citation.number for citation in answer.citations] == [1, 2]


async def test_texts_come_before_programs_and_a_readme_before_all() -> None:
    code = {f"src/part{n}.py": f'"""Part {n} of MillControl."""\n\nimport os\n\nX = {n}\n' for n in range(8)}
    texts = {"docs/b.md": "# B\n\nMillControl starts.", "docs/README.md": "# Start\n\nHow to run MillControl."}
    async with KnowledgeBase.open("embedded::memory:") as kb:
        everything = {**code, **texts}.items()
        await kb.ingest([Document(path=path, content=text, format="markdown") for path, text in everything])
        answer = await kb.ask("What is this about?", k=2)
    paths = [citation.path for citation in answer.citations]
    assert paths[:2] == ["docs/README.md", "docs/b.md"]
    assert "import os" not in answer.text
    assert "Part 0 of MillControl." in answer.text


async def test_a_beginning_that_is_only_a_title_goes_on() -> None:
    text = "# Report\n\nStatus: final.\n\n## Findings\n\nThe dam holds. " + "The wheel turns well. " * 46
    async with KnowledgeBase.open("embedded::memory:") as kb:
        await kb.ingest([Document(path="report.md", title="Report", content=text, format="markdown")])
        answer = await kb.ask("What is this about?")
    assert answer.text.startswith("There is one document.")
    assert "- Report: Status: final. The dam holds. The wheel turns well." in answer.text
    assert answer.text.splitlines()[-1].endswith("[1][2]")
    assert [citation.number for citation in answer.citations] == [1, 2]


@pytest.mark.parametrize("logo", ["![Logo](logo.svg)", '<img alt="Logo" src="logo.svg"/>', "[![CI](ci.svg)](ci)"])
async def test_a_logo_above_the_first_heading_is_not_the_beginning(logo: str) -> None:
    text = f"{logo}\n\n## Minutes of the mill\n\nThe dam holds. The wheel turns well."
    async with KnowledgeBase.open("embedded::memory:") as kb:
        await kb.ingest([Document(path="minutes.md", title="Minutes", content=text, format="markdown")])
        answer = await kb.ask("What is this about?")
    assert "- Minutes: The dam holds. The wheel turns well. [2]" in answer.text


@pytest.mark.parametrize(
    ("question", "name"),
    [
        ("Summarize minutes.docx", "minutes.docx"),
        ("Can you please summarize the file docs/minutes.docx?", "docs/minutes.docx"),
        ("What is “Running the mill” about?", "running the mill"),
        ("What's in the document grants.csv?", "grants.csv"),
        ("What does survey.pdf say?", "survey.pdf"),
        ("Give me a short summary of the diary", "diary"),
        ("Summarize chapter-3.xhtml", called("Chapter_3.xhtml")),
        ("Give me an overview of the severance document", "severance"),
        ("Worum geht es in dem Mühlen-Dokument?", "mühlen"),
        ("Fasse das Dokument protokoll.docx zusammen", "protokoll.docx"),
        ("Worum geht es in Ebbe und Flut?", "ebbe und flut"),
        ("Résume le fichier notes.txt", "notes.txt"),
        ("¿De qué trata el archivo notas.txt?", "notas.txt"),
    ],
)
def test_a_question_may_be_about_a_document_that_it_names(question: str, name: str) -> None:
    assert name in documents_asked(question)


@pytest.mark.parametrize("question", ["When was minutes.docx written?", "What does Ada do?", "Summarize", "x" * 300])
def test_other_questions_are_about_no_document_as_a_whole(question: str) -> None:
    assert documents_asked(question) == []


async def test_a_document_that_is_named_is_told_part_by_part(kb: KnowledgeBase) -> None:
    report = (
        "# Report\n\nThe dam holds.\n\n## Wheel\n\nIt turns.\n\n## Gate\n\nIt leaks.\n" + "\n## End\n\n" + "Bye. " * 600
    )
    await kb.ingest([Document(path="old/report.md", title="The report", content=report, format="markdown")])
    for question in ("Summarize the report", "What does old/report.md say?", "What is report.md about?"):
        answer = await kb.ask(question, k=3)
        assert answer.strategy == "overview"
        assert answer.text.startswith("The report (old/report.md) has ")
        assert {citation.path for citation in answer.citations} == {"old/report.md"}
        assert len(answer.citations) == 6, "twice as many as k"
        starts = [citation.start_char for citation in answer.citations]
        assert starts == sorted(starts)
        assert starts[0] == 0
        assert starts[-1] > len(report) / 2
    assert (await kb.ask("Summarize the report", filters="path:tides/")).strategy == "flow"
    assert (await kb.ask("Summarize the wheel")).strategy == "flow"


@pytest.mark.parametrize(
    "question",
    ["Summarize Ada’s notes", "What does Ada's notes say?", "Summarize “What is love?”", "Summarize What is love?"],
)
async def test_the_name_of_a_document_may_have_marks(kb: KnowledgeBase, question: str) -> None:
    texts = [("Ada’s notes", "She saw herons in the water."), ("What is love?", "It is a song of 1993.")]
    await kb.ingest([Document(path=f"{n}.md", title=title, content=text) for n, (title, text) in enumerate(texts)])
    answer = await kb.ask(question)
    assert (answer.strategy, [citation.path for citation in answer.citations]) == (
        "overview",
        ["0.md" if "Ada" in question else "1.md"],
    )


async def test_several_documents_of_a_name_are_all_told(kb: KnowledgeBase) -> None:
    copies = [Document(path=f"{place}/readme.md", content=f"Welcome to {place}.") for place in ("north", "south")]
    await kb.ingest(copies)
    answer = await kb.ask("Summarize readme.md")
    assert {citation.path for citation in answer.citations} == {"north/readme.md", "south/readme.md"}


async def test_a_model_reads_as_much_of_a_document_as_fits() -> None:
    parts = (f"## Part {n}\n\nStone {n} lies here. {'It is heavy. ' * 40}" for n in range(60))
    text = "\n\n".join(["# Stones", *parts])
    async with talking() as said, Engine("embedded::memory:").knowledge(language_model=said.model) as kb:
        await kb.ingest([Document(path="stones.md", content=text, format="markdown")])
        said.chat.then("There are many stones [1].")
        await kb.ask("Summarize stones.md", token_budget=3_000)
        (body,) = said.chat.bodies
    sent = body["messages"][1]["content"]
    assert "<documents>Stones (stones.md) has " in sent
    found = [int(number) for number in re.findall(r"Stone (\d+) lies", sent)]
    assert len(found) > 10, "more than the ten passages of other overviews"
    assert found[0] < 5
    assert found[-1] > 50


async def test_what_looks_like_a_citation_in_a_title_is_none() -> None:
    async with KnowledgeBase.open("embedded::memory:") as kb:
        await kb.ingest([Document(path="a.md", title="Report [7]", content="The dam [9] holds.")])
        for question in ("What is this about?", "Summarize a.md"):
            answer = await kb.ask(question)
            assert re.findall(r"\[\d+\]", answer.text) == ["[1]"]


async def test_records_are_told_too() -> None:
    people = [{"name": "Ada Lane", "team": "Core"}, {"name": "Ivo Brandt", "team": "Core"}]
    said = "There are 2 collections of records: people (2 records with name, team), mills (1 record with name, built)."
    async with KnowledgeBase.open("embedded::memory:") as kb:
        await kb.insert_many("people", people)
        await kb.insert("mills", {"name": "Harrow", "built": {"year": 1820, "by": "the trust"}})
        for question in ("What is this about?", "What data do you have?", "Which collections are there?"):
            answer = await kb.ask(question)
            assert (answer.text, answer.found, answer.citations) == (said, True, ())
        await kb.ingest([Document(path="a.md", content="# A\n\nThe dam holds.", format="markdown")])
        answer = await kb.ask("What is this about?")
        assert answer.text.startswith(f"There is one document. {said}")
        assert "The dam holds." in answer.text
        filtered = await kb.ask("What is this about?", filters="path:a.md")
        assert filtered.text.startswith("There is one document.\n")
