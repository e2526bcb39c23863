"""What another version has derived from texts and records is found, and brought up to date."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from core.rag import KnowledgeBase
from core.rag.dbhandler.store import Transaction
from core.rag.indexing import cutting, texts
from core.rag.maintenance import reembed
from core.rag.maintenance.findings import DoctorReport
from libs.dataloader import Document, DocumentLoader
from tests.graphs import snapshot
from tests.maintenance.conftest import documents

EMPLOYEE = {
    "name": "Alice Johnson",
    "team": {"b": [1, 2.5, True, None, "two mills"], "a": "Straße"},
    "since": "2024-05",
}


def told(report: DoctorReport, level: str) -> list[str]:
    return [check.message for check in report.checks if check.area == "graph" and check.level == level]


async def change(kb: KnowledgeBase, *statements: str) -> None:
    async def work(tx: Transaction) -> None:
        for statement in statements:
            await tx.run(statement)

    await (await kb.client.connect()).transaction(work)


async def records_found(kb: KnowledgeBase, query: str) -> list[str]:
    return [hit.collection for hit in await kb.search_knowledge(query, mode="keyword") if hit.kind == "record"]


@pytest.fixture
async def filled(kb: KnowledgeBase, tmp_path: Path) -> KnowledgeBase:
    """A graph with a table, a record that was inserted, and a document whose chunk has a vector of the caller's."""
    (tmp_path / "pay.csv").write_text("name,city\nAda Byron,Ulm\nBob Smith,Köln\n")
    await kb.ingest(DocumentLoader(str(tmp_path / "pay.csv")))
    await kb.insert("employees", EMPLOYEE)
    await kb.remember("talk", "user", "The mills were turning.")
    await kb.client.upsert_document("hand", "By hand.", embedding=[0.5] * kb.embedder.dimension)
    return kb


async def test_what_this_version_made_is_up_to_date(filled: KnowledgeBase, tmp_path: Path) -> None:
    report = await filled.doctor()
    assert told(report, "problem") == told(report, "note") == []
    await filled.export(tmp_path / "export.jsonl")
    async with KnowledgeBase.open(f"embedded:{tmp_path / 'other'}", embedder=filled.embedder) as other:
        await other.import_(tmp_path / "export.jsonl")
        report = await other.doctor()
        assert told(report, "problem") == told(report, "note") == []


async def test_other_words_are_found_and_mended(filled: KnowledgeBase) -> None:
    before = [
        sorted(re.split(r"\W+", line)) for line in await snapshot(filled.client)
    ]  # words are in the order of the fields
    await change(
        filled,
        "MATCH (d:Document) SET d.prepared = '1.1.1'",
        "MATCH (r:Record) SET r.terms = 'older words'",
        "MATCH (c:DocumentChunk) WHERE c.chunk_index = 0 SET c.terms = 'older words'",
        "MATCH (r:Record) WHERE r.collection = 'employees' SET r.terms = null",
    )
    assert await records_found(filled, "mills") == []
    problems = told(await filled.doctor(), "problem")
    assert [message.split(" ", 1)[1][:30] for message in problems] == [
        "chunks are found by other word",
        "records cannot be found by the",
        "records are found by other wor",
    ]
    mended = await filled.doctor(repair=True)
    assert told(mended, "mended") == problems
    assert told(await filled.doctor(), "problem") == []
    assert await records_found(filled, "mills") == ["employees"]
    await change(filled, f"MATCH (d:Document) WHERE d.path <> 'hand' SET d.prepared = '{cutting.PREPARED}'")
    await change(filled, "MATCH (d:Document {path: 'hand'}) SET d.prepared = null")
    assert [sorted(re.split(r"\W+", line)) for line in await snapshot(filled.client)] == before


async def test_vectors_of_an_older_text_are_found_and_made_anew(
    filled: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    def other(title: str | None, chunk: object, *rest: object, **how: object) -> str:
        return f"another preparation: {texts.embedding_text(title, chunk, *rest, **how)}"  # type: ignore[arg-type]

    monkeypatch.setattr(reembed, "embedding_text", other)
    [message] = told(await filled.doctor(), "problem")
    ingested = await filled.client.query("MATCH (c:DocumentChunk) WHERE c.path <> 'hand' RETURN c.id")
    assert message == f"{len(ingested)} chunks have vectors of another text than this version of memgraph-rag embeds."
    given = "MATCH (v:Vector)-[:EMBEDDING_OF]->(c:DocumentChunk {path: 'hand'}) RETURN v.id AS id"
    kept = await filled.client.query(given)
    assert told(await filled.doctor(repair=True), "mended") == [message]
    assert told(await filled.doctor(), "problem") == []
    assert await filled.client.query(given) == kept


async def test_documents_that_another_version_prepared_are_told(
    filled: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cutting, "PREPARED", "1.1")
    await filled.ingest([Document(path="old", content="An old text."), *documents()[:1]])
    monkeypatch.undo()
    [fingerprint] = await filled.client.query(
        "MATCH (d:Document) WHERE d.mime_type = 'text/csv' RETURN d.fingerprint AS f"
    )
    assert "reader" in json.loads(fingerprint["f"])
    await change(filled, """MATCH (d:Document {path: 'note/2'}) SET d.fingerprint = '{"reader": "1"}'""")
    report = await filled.doctor()
    assert report.healthy
    [note] = told(report, "note")
    assert note.startswith("2 documents were read, split or analysed by another version")
    assert "note/2, old." in note
