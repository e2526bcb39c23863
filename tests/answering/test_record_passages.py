"""Questions about one record that was inserted: it is a passage, and is cited."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from core.rag import KnowledgeBase
from core.rag.answering.types import Answer, Strategy
from libs.dataloader import Document

EMPLOYEES = [
    {"name": "Alice Johnson", "title": "Senior Engineer", "company": "TechCorp", "manager": "Bob Smith"},
    {"name": "Bob Smith", "title": "Tech Lead", "company": "TechCorp", "project": "Platform Core"},
    {"name": "Susan Smith", "title": "Designer", "company": "Northwind", "manager": "Bob Smith"},
]
OTHERS: dict[str, dict[str, Any]] = {
    "projects": {"name": "Apollo", "owner": "Carol Diaz", "budget": 40_000, "company": "TechCorp"},
    "offices": {"city": "Lyon", "street": "12 rue Neuve"},
    "governors": {"name": "Mara Holt", "state": "California"},
    "tickets": {
        "key": "OPS-7",
        "fields": {"component": {"name": "gateway"}},
        "description": f"{'It hangs. ' * 40}Mend it.",
    },
}
NOTES = {
    "apollo.md": "# Apollo kickoff\n\nApollo replaces the old billing engine. It is tested in Oslo.",
    "office.md": "# Getting there\n\nTo get to the Lyon office, take metro line B to Part-Dieu.",
}


@pytest.fixture
async def kb() -> AsyncIterator[KnowledgeBase]:
    async with KnowledgeBase.open("embedded::memory:") as opened:
        await opened.ingest([Document(path=path, content=text) for path, text in NOTES.items()])
        await opened.insert_many("employees", EMPLOYEES)
        for collection, record in OTHERS.items():
            await opened.insert(collection, record)
        yield opened


def _items(answer: Answer) -> list[str]:
    return [line for line in answer.text.splitlines() if line.startswith("- ")]


@pytest.mark.parametrize(
    ("question", "said", "collection"),
    [
        ("Who is the governor of California?", "Mara Holt", "governors"),
        ("What is Alice's title?", "Senior Engineer", "employees"),
        ("Which company does Alice work for?", "TechCorp", "employees"),
        ("What is the title of Bob Smith?", "Tech Lead", "employees"),
        ("Who owns project Apollo?", "owner: Carol Diaz", "projects"),
        ("What is the budget of Apollo?", "40000", "projects"),
        ("Where is the street of the Lyon office?", "12 rue Neuve", "offices"),
        ("Which component does OPS-7 concern?", "gateway", "tickets"),
    ],
)
async def test_a_question_about_a_record_is_answered_from_it_with_a_citation(
    kb: KnowledgeBase, question: str, said: str, collection: str
) -> None:
    answer = await kb.ask(question, extracts=True)
    assert said in _items(answer)[0]
    cited = next(one for one in answer.citations if f"[{one.number}]" in _items(answer)[0])
    record = await kb.record(cited.record_id)
    assert record is not None
    assert (cited.path, record["collection"], cited.chunk_id, cited.document_id) == (collection, collection, "", "")
    assert answer.found
    assert answer.supported


@pytest.mark.parametrize("strategy", ["basic", "drift"])
@pytest.mark.parametrize(
    ("question", "said"),
    [("What is the title of Bob Smith?", "Tech Lead"), ("Which component does OPS-7 concern?", "gateway")],
)
async def test_every_strategy_answers_from_records(
    kb: KnowledgeBase, strategy: Strategy, question: str, said: str
) -> None:
    answer = await kb.ask(question, strategy, extracts=True)
    assert said in _items(answer)[0]
    assert answer.citations[0].record_id
    filtered = await kb.ask(question, strategy, extracts=True, filters="path:apollo.md")
    assert not any(one.record_id for one in filtered.citations)


async def test_the_quote_of_a_record_has_the_names_of_its_fields(kb: KnowledgeBase) -> None:
    answer = await kb.ask("Who is the governor of California?", extracts=True)
    assert [one.quote for one in answer.citations] == ["name: Mara Holt | state: California"]


@pytest.mark.parametrize(
    ("question", "said"),
    [("What does Apollo replace?", "billing engine"), ("How do I get to the Lyon office?", "Part-Dieu")],
)
async def test_a_question_about_a_document_is_answered_from_that(kb: KnowledgeBase, question: str, said: str) -> None:
    answer = await kb.ask(question, extracts=True)
    assert said in _items(answer)[0]
    assert answer.citations[0].chunk_id


async def test_what_no_record_has_is_not_answered_from_others(kb: KnowledgeBase) -> None:
    for question in ("Who is the mayor of Vienna?", "Who owns project Zephyr?"):
        assert not (await kb.ask(question, extracts=True)).found


async def test_a_filter_on_documents_leaves_records_out(kb: KnowledgeBase) -> None:
    answer = await kb.ask("Who owns project Apollo?", extracts=True, filters="path:apollo.md")
    assert not any(one.record_id for one in answer.citations)


async def test_rows_of_files_are_not_told_twice(tmp_path: Path) -> None:
    (tmp_path / "governors.csv").write_text("name,state\nMara Holt,California\nJo Lund,Utah\n")
    async with KnowledgeBase.open("embedded::memory:") as kb:
        await kb.ingest([tmp_path])
        answer = await kb.ask("Who is the governor of California?", extracts=True)
    assert [(Path(one.path).name, one.record_id) for one in answer.citations] == [("governors.csv", "")]


async def test_an_answer_from_records_is_recorded_in_its_conversation(kb: KnowledgeBase) -> None:
    await kb.ask("Who is the governor of California?", conversation_id="c", extracts=True)
    answer = await kb.ask("Which company does Alice work for?", conversation_id="c", extracts=True)
    assert "not_recorded" not in answer.details
    assert [one["role"] for one in await kb.client.recent_messages("c", 9)] == ["user", "assistant"] * 2


async def test_what_somebody_states_of_two_that_are_in_a_record_is_told_besides(kb: KnowledgeBase) -> None:
    await kb.link("Alice Johnson", "Bob Smith", "advises")
    answer = await kb.ask("Whom does Alice Johnson advise?", extracts=True)
    assert "Alice Johnson advises Bob Smith" in answer.text
    assert "Alice Johnson reports to Bob Smith" not in answer.text


API = "https://api.example.org/issues/7"
ISSUE = {
    "id": 7,
    "title": "Sluice sticks in frost",
    **{f"{name}_url": f"{API}/{name}" for name in ("labels", "comments", "events", "timeline", "html")},
    "reporter": "Ida Boe",
    "description": {
        "type": "doc",
        "content": [
            {"type": "paragraph", "content": [{"type": "text", "text": "Grease the hinge with tallow."}]},
            {"type": "paragraph", "content": [{"type": "text", "text": "Then wait for thaw."}]},
        ],
    },
}


async def test_what_a_service_adds_for_programs_is_not_told_of_a_record_and_stays_in_it(kb: KnowledgeBase) -> None:
    inserted = await kb.insert("issues", ISSUE)

    answer = await kb.ask("What is the description of the issue Sluice sticks in frost?")
    assert "Grease the hinge with tallow." in answer.text
    assert "paragraph" not in answer.context
    assert f"{API}/comments" in answer.context  # the first: stored records are in the order of the alphabet
    assert f"{API}/timeline" not in answer.context
    [stored] = await kb.records("issues")
    assert stored["data"] == ISSUE
    assert stored["id"] == inserted.id
