"""Fields at the top of documents: kept, filtered by, searched, in the graph, and in answers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from core.rag import KnowledgeBase
from core.rag.answering.types import Strategy
from core.rag.extraction.document_fields import document_record, fields_line, naming_fields
from libs.dataloader import Document
from tests.graphs import orphans

TIDES = (
    "---\ntitle: Tide Tables of Fowey\nauthor: {author}\ndate: 2024-03-05\ntags: [pilots, ebb]\nstatus: draft\n"
    "project: '[[Harbour Survey]]'\n---\n\nHigh water comes fifty minutes later each day.\n"
)
MILL = "---\ntitle: Notes on a mill\nauthors: [Ben Hale, Cora Pike]\nstatus: done\n---\n\nIt was built of oak.\n"


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    (tmp_path / "tides.md").write_text(TIDES.format(author="Ada Lane"), encoding="utf-8")
    (tmp_path / "mill.md").write_text(MILL, encoding="utf-8")
    (tmp_path / "plain.md").write_text("# Ferries\n\nThe ferry crosses the bay twice a day.\n", encoding="utf-8")
    return tmp_path


async def test_passages_are_found_by_the_fields_of_their_document(kb: KnowledgeBase, notes: Path) -> None:
    await kb.ingest(notes)
    for query in ("Ada Lane", "harbour survey"):
        assert [hit.title for hit in await kb.search(query, mode="keyword")] == ["Tide Tables of Fowey"]
    assert [hit.title for hit in await kb.search("oak", filters="metadata.status=done")] == ["Notes on a mill"]
    assert await kb.search("oak", filters="metadata.status=draft", mode="keyword") == []
    (hit,) = await kb.search("fifty minutes", mode="keyword", k=1)
    assert hit.fields == "author: Ada Lane; tags: pilots, ebb; project: Harbour Survey"
    assert hit.content == "High water comes fifty minutes later each day.\n"


async def test_fields_are_in_the_graph_and_leave_it_with_the_document(kb: KnowledgeBase, notes: Path) -> None:
    await kb.ingest(notes)
    piece = await kb.traverse("Ada Lane", depth=1)
    (title,) = [node.id for node in piece.nodes if node.name == "Tide Tables of Fowey"]
    assert (title, "written_by") in {(edge.source, edge.type) for edge in piece.edges}
    (notes / "tides.md").write_text(TIDES.format(author="Eve Moor"), encoding="utf-8")
    assert (await kb.ingest(notes)).documents.updated == 1
    names = {entity.name for entity in (await kb.entities())[0]}
    assert "Eve Moor" in names
    assert "Ada Lane" not in names
    assert (await kb.search("Eve Moor", mode="keyword"))[0].title == "Tide Tables of Fowey"
    await kb.client.delete_documents([row["id"] for row in await kb.client.document_paths()])
    assert set((await orphans(kb.client)).values()) == {0}
    assert await kb.entities() == ([], "")


NESTED = """---
authors:
  - name: Ada Lane
    affiliation: Kestrel Trust
  - name: Ben Hale
params:
  project: {name: Harbour Survey, status: draft}
---
# Sluices of Looe

They open at low water.
"""


async def test_fields_within_fields_are_searched_and_in_the_graph(kb: KnowledgeBase, notes: Path) -> None:
    (notes / "mill.md").unlink()
    (notes / "tides.md").write_text(NESTED, encoding="utf-8")
    await kb.ingest(notes)
    for query in ("Ben Hale", "harbour survey"):
        assert [hit.title for hit in await kb.search(query, mode="keyword")] == ["Sluices of Looe"]
    assert [hit.title for hit in await kb.search("Looe", filters="metadata.params.project.status=draft")]
    piece = await kb.traverse("Ben Hale", depth=1)
    (title,) = [node.id for node in piece.nodes if node.name == "Sluices of Looe"]
    assert (title, "written_by") in {(edge.source, edge.type) for edge in piece.edges}
    answer = await kb.ask("Who wrote Sluices of Looe?")
    assert "Ada Lane" in answer.text and "Ben Hale" in answer.text


@pytest.mark.parametrize("strategy", ["flow", "drift"])
async def test_answers_say_who_wrote_what(kb: KnowledgeBase, notes: Path, strategy: Strategy) -> None:
    await kb.ingest(notes)
    answer = await kb.ask("Who wrote Tide Tables of Fowey?", strategy)
    first, _, line, *_ = answer.text.splitlines()
    assert first == "Statements of the graph (no language model is set):"
    line, number = line.rsplit(" ", 1)
    fields = "project: Harbour Survey, author: Ada Lane, tags: pilots, ebb, created: 2024-03-05, status: draft"
    assert line == f"- Tide Tables of Fowey: {fields}"
    (cited,) = [one for one in answer.citations if f"[{one.number}]" == number]
    assert cited.path.endswith("tides.md")
    answer = await kb.ask("What did Ada Lane write?", strategy)
    assert answer.text.splitlines()[2].startswith("- Tide Tables of Fowey written by Ada Lane [")
    assert "(author: Ada Lane; tags: pilots, ebb; project: Harbour Survey)" in answer.context
    assert "written by" not in (await kb.ask("Does the ferry cross the bay twice?", strategy)).text


PROPOSAL = (
    "---\nlayout: post\nmip: {number}\ntitle: {title}\nauthor: {author}\nstatus: {status}\n---\n\n"
    "## Motivation\n\n{text}\n"
)


@pytest.fixture
def proposals(tmp_path: Path) -> Path:
    for number, title, author, status, text in (
        (7, "Oak for sluices", "Ada Lane (@adal), Ben Hale (@bhale)", "Final", "Elm rots within four years."),
        (12, "Two wheels", "Cora Pike (@cora)", "Draft", "One wheel is idle when MIP-7 has its sluice closed."),
        (31, "Night shifts", "Ben Hale (@bhale)", "Withdrawn", "MIP-7 and MIP-12 change who has to be there."),
    ):
        text = PROPOSAL.format(number=number, title=title, author=author, status=status, text=text)
        (tmp_path / f"mip-{number}.md").write_text(text, encoding="utf-8")
    return tmp_path


async def test_a_document_is_called_by_the_number_that_is_the_name_of_its_file(
    kb: KnowledgeBase, proposals: Path
) -> None:
    """Others name it, and the text of its file has no such word at all."""
    await kb.ingest(proposals)
    for question in ("What is the motivation of MIP-7?", "Why was MIP 7 proposed?", "MIP-7"):
        assert (await kb.search(question, mode="keyword"))[0].path.endswith("mip-7.md"), question
    assert (await kb.search("What is the motivation of MIP-7?"))[0].path.endswith("mip-7.md")
    (entity,) = [one for one in (await kb.entities())[0] if one.name == "MIP-7"]
    piece = await kb.traverse(entity.name, depth=1)
    assert {node.name for node in piece.nodes} >= {"Oak for sluices"}


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("Who wrote MIP-7?", "author: Ada Lane, Ben Hale"),
        ("What is the status of MIP 12?", "status: Draft"),
        ("What is the status of MIP-31?", "status: Withdrawn"),
    ],
)
async def test_fields_are_told_of_a_document_that_is_called_by_its_number(
    kb: KnowledgeBase, proposals: Path, question: str, said: str
) -> None:
    await kb.ingest(proposals)
    answer = await kb.ask(question)
    first = next(line for line in answer.text.splitlines() if line.startswith("- "))
    assert said in first
    number = question.rstrip("?").replace("-", " ").split()[-1]
    cited = [one.path for one in answer.citations if f"[{one.number}]" in first]
    assert [path.rpartition("/")[2] for path in cited] == [f"mip-{number}.md"]


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("How many MIPs are withdrawn?", "documents with status = Withdrawn: 1 of 3 records"),
        ("How many MIPs are there?", "documents: 3 records"),
        ("How many documents are Final?", "documents with status = Final: 1 of 3 records"),
        ("Which MIPs did Ben Hale write?", "documents with author = Ben Hale: 2 of 3 records"),
        ("Which documents were written by Ben Hale?", "documents with author = Ben Hale: 2 of 3 records"),
        ("How many MIPs are there for each status?", "by status: Draft: 1, Final: 1, Withdrawn: 1"),
        ("Which statuses are there?", "by status: Draft: 1, Final: 1, Withdrawn: 1"),
    ],
)
async def test_fields_of_all_documents_are_counted_and_listed(
    kb: KnowledgeBase, proposals: Path, question: str, said: str
) -> None:
    await kb.ingest(proposals)
    answer = await kb.ask(question)
    assert answer.text.startswith("Worked out from all records")
    assert said in answer.text
    if question.startswith("Which MIPs"):
        assert "mip: 7 | title: Oak for sluices" in answer.text
        assert "mip: 31 | title: Night shifts" in answer.text
        assert "Two wheels" not in answer.text.split("Extracts")[0]


@pytest.mark.parametrize(
    ("question", "count"),
    [("How many MIPs are there?", 3), ("How many MIPs are Draft?", 1), ("How many MIPs have a tag?", 0)],
)
async def test_documents_without_a_number_are_none_of_the_series(
    kb: KnowledgeBase, proposals: Path, notes: Path, question: str, count: int
) -> None:
    assert notes == proposals
    await kb.ingest(proposals)
    told = (await kb.ask(question)).text.split("\n\n")[1]
    assert (f": {count} of 5 records" in told) == bool(count), told


@pytest.mark.parametrize(
    "question",
    [
        "How many wheels are withdrawn?",
        "What is the highest MIP?",
        "What is the total of all MIPs?",
        "Which MIPs are withdrawn because of elm?",
        "Which layouts are there?",  # all have the same
        "How many documents are there?",  # some have no fields
    ],
)
async def test_what_fields_of_documents_do_not_surely_tell_is_not_worked_out(
    kb: KnowledgeBase, proposals: Path, question: str
) -> None:
    await kb.ingest(proposals)
    assert "Worked out" not in (await kb.ask(question)).text


async def test_who_somebody_is_is_what_the_graph_says_of_them(kb: KnowledgeBase, notes: Path) -> None:
    await kb.ingest(notes)
    answer = await kb.ask("Who is Ada Lane?")
    _, _, stated = answer.text.partition("\n\nStatements of the graph:\n\n")
    assert stated.startswith("- Tide Tables of Fowey written by Ada Lane [")
    filtered = await kb.ask(
        "Who wrote Tide Tables of Fowey?", "drift", filters={"path": {"prefix": str(notes / "mill")}}
    )
    assert "Ada Lane" not in filtered.text


async def test_the_title_of_a_document_as_a_question_is_answered_from_it(kb: KnowledgeBase, notes: Path) -> None:
    await kb.ingest(
        [*notes.glob("tides.md"), Document("m", "The mill by the tide pool has tables of oak.", title="Mills")]
    )
    answer = await kb.ask("Tide Tables of Fowey")
    assert answer.citations[0].path.endswith("tides.md")
    assert answer.citations[0].quote == "High water comes fifty minutes later each day."


async def test_statements_on_documents_with_the_same_title_cite_only_the_one_that_they_are_of(
    kb: KnowledgeBase,
) -> None:
    texts = {"a": ("Ada Lane", "The wheel turns at noon."), "b": ("Ben Hale", "The wheel stands at night.")}
    await kb.ingest(
        [Document(path, text, title="Wheels", metadata={"author": author}) for path, (author, text) in texts.items()]
    )
    answer = await kb.ask("Who wrote Wheels?")
    said = answer.text.splitlines()[2].removeprefix("- Wheels: ")
    assert sorted(said.split("; ")) == ["author: Ada Lane", "author: Ben Hale"]
    answer = await kb.ask("What did Ben Hale write?")
    line, _, number = answer.text.splitlines()[2].partition(" [")
    assert line == "- Wheels written by Ben Hale"
    assert not number or {f"{one.number}]": one.path for one in answer.citations}[number] == "b"


async def test_metadata_of_callers_is_searched_too(kb: KnowledgeBase) -> None:
    await kb.ingest([Document("a", "The wheel turns.", title="Wheels", metadata={"author": "Ada Lane", "year": 1825})])
    assert [hit.path for hit in await kb.search("Lane", mode="keyword")] == ["a"]


@pytest.mark.parametrize(
    ("metadata", "line"),
    [
        (
            {"author": "Ada Lane, Ben Hale", "keywords": "tides; pumps, oak"},
            "author: Ada Lane, Ben Hale; keywords: tides, pumps, oak",
        ),
        ({"author": "Lane, Ada"}, "author: Lane, Ada"),
        ({"author": "Ada Lane <ada@example.org>", "to": "Ben <ben@example.org>"}, "author: Ada Lane"),
        ({"author": "Ada Lane and Ben Hale"}, "author: Ada Lane, Ben Hale"),
        ({"author": "Microsoft Office User", "owner": "root"}, ""),
        ({"title": "Mill", "linkTitle": "Mill", "name": "mill", "size": 12, "created": "2024-03-05"}, ""),
        ({"tags": ["a", 3, None, ["b"], "…"], "owner": "x" * 300}, "tags: a, b"),
        ({"author": {"name": "Ada Lane", "title": "Dr", "url": "https://a.b", "email": "a@b.c"}}, "author: Ada Lane"),
        (
            {"authors": [{"name": "Ada Lane"}, {"name": "Ben Hale", "role": "editor"}, "Cora Pike"]},
            "authors: Ada Lane, Ben Hale, Cora Pike; role: editor",
        ),
        (
            {"project": "Ebb", "params": {"project": {"name": "Flow", "owner": "Ada Lane"}, "tags": ["oak"]}},
            "project: Ebb, Flow; owner: Ada Lane; tags: oak",
        ),
        ({"menu": {"main": {"name": "Home"}}, "cover": {"title": "A mill"}, "kernel": [{"name": "py"}]}, ""),
        ({"a": {"b": {"c": {"d": {"author": "Ada Lane"}}}}}, ""),
        ({"category": "  two   words "}, "category: two words"),
    ],
)
def test_fields_that_name_something(metadata: dict[str, Any], line: str) -> None:
    assert fields_line(naming_fields(metadata)) == line


def test_who_writes_is_called_by_name_and_not_by_a_handle_behind_it() -> None:
    fields = naming_fields({"author": "Ada Lane (@adal), Ben Hale <ben@mill.example>, Cora Pike"})
    assert fields == {"author": ["Ada Lane", "Ben Hale", "Cora Pike"]}
    assert naming_fields({"author": "@adal"}) == {"author": ["@adal"]}


def test_the_record_of_a_document_has_its_other_plain_fields() -> None:
    fields = {"author": "Ada Lane", "status": "draft", "rating": 4, "parts": [{"a": 1}], "size": 12, "slug": ""}
    assert document_record("Tides", fields) == {
        "title": "Tides",
        "author": ["Ada Lane"],
        "status": "draft",
        "rating": 4,
    }
    assert document_record(None, {"status": "draft"}) == {}
    nested = {"author": {"name": "Ada Lane", "rank": 1}, "params": {"project": "Ebb"}, "status": "draft"}
    assert document_record(None, nested) == {"author": ["Ada Lane"], "status": "draft", "project": ["Ebb"]}


async def test_a_key_of_metadata_that_is_no_text_beside_others_is_named(kb: KnowledgeBase) -> None:
    """They cannot be sorted, and Python's own message named neither the key nor what to do."""
    texts = {"a.md": {1: "x", "b": 2}, "c.md": {"deep": [{None: 1, "b": 2}]}, "d.md": {1: "x", 2: "y"}}
    given = [Document(path=path, content="A mill.", metadata=metadata) for path, metadata in texts.items()]  # type: ignore[arg-type]
    report = await kb.ingest(given)
    assert [(one.path, one.reason.partition(": ")[2]) for one in report.documents.failed] == [
        ("a.md", "the key 1 stands beside keys of another type. Write it as text."),
        ("c.md", "the key None stands beside keys of another type. Write it as text."),
    ]
    assert (await kb.show("d.md"))["metadata"] == {"1": "x", "2": "y"}
