"""Fields at the top of documents: kept, filtered by, searched, in the graph, and in answers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.graphs import orphans

from core.rag import KnowledgeBase
from core.rag.extraction.document_fields import document_record, fields_line, naming_fields
from libs.dataloader import Document

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


async def test_answers_say_who_wrote_what(kb: KnowledgeBase, notes: Path) -> None:
    await kb.ingest(notes)
    answer = await kb.ask("Who wrote Tide Tables of Fowey?")
    (line,) = [line for line in answer.text.splitlines() if line.startswith("- Tide Tables of Fowey: ")]
    assert "author: Ada Lane" in line
    assert "created: 2024-03-05, status: draft" in line
    answer = await kb.ask("What did Ada Lane write?")
    assert "- Tide Tables of Fowey written by Ada Lane" in answer.text
    assert "(author: Ada Lane; tags: pilots, ebb; project: Harbour Survey)" in answer.context
    assert "written by" not in (await kb.ask("Does the ferry cross the bay twice?")).text


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
        ({"tags": ["a", 3, None, ["b"], "…"], "owner": "x" * 300}, "tags: a"),
        ({"category": "  two   words "}, "category: two words"),
    ],
)
def test_fields_that_name_something(metadata: dict[str, Any], line: str) -> None:
    assert fields_line(naming_fields(metadata)) == line


def test_the_record_of_a_document_has_its_other_plain_fields() -> None:
    fields = {"author": "Ada Lane", "status": "draft", "rating": 4, "parts": [{"a": 1}], "size": 12, "slug": ""}
    assert document_record("Tides", fields) == {
        "title": "Tides",
        "author": ["Ada Lane"],
        "status": "draft",
        "rating": 4,
    }
    assert document_record(None, {"status": "draft"}) == {}
