"""``kb.ask(strategy="drift")``: the same answer as of every strategy, from several steps through the graph."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from core.rag import DRIFTRAG, KnowledgeBase
from core.rag.answering.drift.config import InferenceStrategy
from core.rag.answering.events import AnalysisEvent, CitationEvent, DoneEvent, RetrievalEvent
from core.rag.errors import EmptyGraphError, NoEntryPointsError
from libs.dataloader import Document
from tests.dbhandler.kit import Engine

TEXTS = {
    "mill.md": ("The tide mill", "The tide mill of Kestrel Bay was built by Edmund Harrow in 1612."),
    "harrow.md": ("Edmund Harrow", "Edmund Harrow was born in Saltmarsh, the son of a ferryman."),
    "saltmarsh.md": ("Saltmarsh", "Saltmarsh lies on the River Wend and is known for its eels."),
    "secret/cellar.md": ("The cellar", "Edmund Harrow hid a chest in the cellar of the tide mill."),
    "birds.md": ("Birds", "Forty pairs of avocets breed on the mud of the pond."),
}
QUESTION = "On which river lies the birthplace of the man who built the tide mill of Kestrel Bay?"


@pytest.fixture
async def kb(engine: Engine) -> AsyncIterator[KnowledgeBase]:
    async with engine.knowledge() as opened:
        await opened.ingest(
            Document(path=path, title=title, content=content) for path, (title, content) in TEXTS.items()
        )
        yield opened


async def test_an_answer_of_several_steps_has_checked_citations(kb: KnowledgeBase) -> None:
    answer = await kb.ask(QUESTION, strategy="drift")
    assert (answer.strategy, answer.extracts, answer.found, answer.supported) == ("drift", True, True, True)
    cited = {citation.path: citation for citation in answer.citations}
    assert {"mill.md", "harrow.md", "saltmarsh.md"} <= set(cited)
    for path, citation in cited.items():
        content = TEXTS[path][1]
        assert citation.quote in content
        assert content[citation.start_char : citation.end_char] == content
        assert f"[{citation.number}]" in answer.text
    paths = answer.details["paths"]
    assert paths == sorted(paths, key=lambda path: -path["score"])
    assert {"parts", "entry_points", "inferences", "gaps", "visited", "notes"} <= set(answer.details)
    assert answer.details["visited"]["edges"] > 0
    assert answer.to_dict()["details"]["paths"] == paths


async def test_the_diagram_has_what_the_question_names(kb: KnowledgeBase) -> None:
    """It was empty where the texts state no facts, and the command said that nothing had been found."""
    answer = await kb.ask("How is Edmund Harrow connected to Kestrel Bay?", strategy="drift")
    assert {"Edmund Harrow", "Kestrel Bay"} <= {entity.name for entity in answer.entities}
    assert '["Edmund Harrow"]' in answer.mermaid
    assert '["Kestrel Bay"]' in answer.mermaid


async def test_what_is_asked_before_anything_is_there_does_not_stay_without_vectors(engine: Engine) -> None:
    async with engine.knowledge() as kb:
        drift = DRIFTRAG(kb)
        with pytest.raises(EmptyGraphError):
            await drift.query(QUESTION)
        await kb.ingest([Document(path="mill.md", content=TEXTS["mill.md"][1])])
        assert [hit.path for hit in (await drift.explore(QUESTION)).hits] == ["mill.md"]


async def test_what_others_change_changes_the_next_answer(kb: KnowledgeBase) -> None:
    """The paths of the first answer are remembered, but not believed."""
    before = await kb.ask(QUESTION, strategy="drift")
    assert (await kb.ask(QUESTION, strategy="drift")).details["paths"] == before.details["paths"]
    await kb.delete("saltmarsh.md")
    after = await kb.ask(QUESTION, strategy="drift")
    assert "saltmarsh.md" in {citation.path for citation in before.citations}
    assert "saltmarsh.md" not in str(after.to_dict())


async def test_it_streams_the_same_events(kb: KnowledgeBase) -> None:
    events = [event async for event in kb.ask_stream(QUESTION, "drift")]
    kinds = [type(event) for event in events]
    assert kinds[:2] == [AnalysisEvent, RetrievalEvent]
    assert CitationEvent in kinds
    assert kinds[-1] is DoneEvent


async def test_filters_reach_everything(kb: KnowledgeBase) -> None:
    question = "What did Edmund Harrow hide in the tide mill?"
    open_answer = await kb.ask(question, strategy="drift")
    assert "secret/cellar.md" in {citation.path for citation in open_answer.citations}
    answer = await kb.ask(question, strategy="drift", filters="not path:secret/")
    assert answer.citations
    assert "secret" not in str(answer.to_dict())
    assert "chest" not in str(answer.to_dict())
    nothing = await kb.ask(question, strategy="drift", filters="path:nowhere/")
    assert (nothing.found, nothing.citations) == (False, ())


@pytest.mark.parametrize("strategy", ["similarity", "structural"])
async def test_nothing_that_is_told_of_a_traversal_is_of_documents_that_do_not_pass(
    kb: KnowledgeBase, strategy: InferenceStrategy
) -> None:
    """Names in them were among the entry points, the gaps, and the paths of one node."""
    secret = "Edmund Harrow worked on Project Zephyr with Bob Xanadu. Bob Xanadu of Kestrel Bay saw the chest."
    await kb.ingest([Document(path="secret/plans.md", content=secret)])
    drift = DRIFTRAG(kb, inference_strategy=strategy)
    for question in ("Which project was of Edmund Harrow, and who is Bob?", "What is Zephyr?", QUESTION):
        asked = question.casefold()
        answer = await kb.ask(question, strategy="drift", filters="not path:secret/")
        hidden = [name for name in ("zephyr", "xanadu", "chest", "plans") if name not in asked]
        assert [name for name in hidden if name in str(answer.to_dict()).casefold()] == []
        try:
            found = await drift.explore(question, filters="not path:secret/")
        except NoEntryPointsError:
            continue
        assert [name for name in hidden if name in str((found.entry_points, found.paths)).casefold()] == []
        assert [name for name in hidden if name in str(found.details()).casefold()] == []
    everything = await kb.ask("Which project was of Edmund Harrow, and who is Bob?", strategy="drift")
    assert "Xanadu" in str(everything.details)


async def test_filters_reach_records_and_what_callers_state(kb: KnowledgeBase, tmp_path: Path) -> None:
    for team in ("open", "secret"):
        staff = tmp_path / f"{team}.csv"
        staff.write_text(f"name,company,team\nEdmund Harrow,{team.title()} Works,{team.title()} crew\n")
        await kb.ingest(staff)
    await kb.insert("clubs", {"name": "Edmund Harrow", "company": "Secret Club"})
    await kb.add_triples([("Edmund Harrow", "owns", "Secret Boat")])
    question = "What company and team has Edmund Harrow, and what does he own?"
    assert "Secret" in str((await kb.ask(question, strategy="drift")).details["paths"])
    answer = await kb.ask(question, strategy="drift", filters="not path*=secret")
    assert "Open Works" in str(answer.details["paths"])
    assert "Secret" not in str(answer.to_dict())


async def test_an_empty_graph_is_said_to_have_nothing(engine: Engine) -> None:
    async with engine.knowledge() as kb:
        answer = await kb.ask("What is machine learning?", strategy="drift")
    assert (answer.found, answer.supported, answer.citations) == (False, False, ())
    assert answer.details["notes"] == ["Cannot query empty graph"]


async def test_a_conversation_records_it(kb: KnowledgeBase) -> None:
    answer = await kb.ask(QUESTION, strategy="drift", conversation_id="talk")
    messages = await kb.client.recent_messages("talk", 5)
    assert [message["role"] for message in messages] == ["user", "assistant"]
    assert messages[1]["content"] == answer.text


async def test_a_question_about_nothing_here(kb: KnowledgeBase) -> None:
    answer = await kb.ask("Which zygomorphic xylophones won the cup?", strategy="drift")
    assert not answer.found
    assert answer.citations == ()


async def test_parts_of_a_document_are_told_from_each_other() -> None:
    text = " ".join(f"The mill of Olaf turns at dawn on day {day}." for day in range(100))
    async with KnowledgeBase.open("embedded::memory:") as kb:
        await kb.ingest([Document(path="mill.txt", content=text), Document(path="sea.txt", content="The sea of Olaf.")])
        found = await DRIFTRAG(kb).explore("When does the mill of Olaf turn?")
    names = {node.name for path in found.paths for node in path.nodes if node.label == "DocumentChunk"}
    assert "mill.txt #1" in names and not {"mill.txt", "sea.txt #1"} & names


async def test_records_are_told_from_each_other_by_what_they_say() -> None:
    people = [("Ada Lane", "Olaf Harrow"), ("Ivo Brandt", "Olaf Harrow"), ("Olaf Harrow", "Mia Stern")]
    async with KnowledgeBase.open("embedded::memory:") as kb:
        for name, manager in people:
            await kb.insert("people", {"name": name, "manager": manager, "company": "Kestrel Mill"})
        found = await DRIFTRAG(kb, use_inference=True).query("How is Ada Lane connected to Mia Stern?")
    names = {node.id: node.name for path in found.paths for node in path.nodes if node.label == "Record"}
    assert "name: Ada Lane, company: Kestrel Mill, manager: Olaf Harrow" in names.values()
    assert len(set(names.values())) == len(names) > 1
    assert len(set(map(str, found.paths))) == len(found.paths)
    assert not [said for said in found.inferences if "'people'" in said.reasoning]


async def test_what_a_record_says_is_an_answer() -> None:
    async with KnowledgeBase.open("embedded::memory:") as kb:
        await kb.insert("people", {"name": "Ada Lane", "hobby": "chess"})
        await kb.insert("people", {"name": "Ivo Brandt", "hobby": "rowing", "note": "He rows " + "far, " * 30})
        for person, hobby in (("Ada Lane", "chess"), ("Ivo Brandt", "rowing")):
            answer = await kb.ask(f"What is the hobby of {person}?", strategy="drift")
            assert answer.found
            assert f"- name: {person} | hobby: {hobby}" in answer.text
            assert answer.text.count("hobby:") == 1
