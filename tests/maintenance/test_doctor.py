"""Every flaw that the doctor looks for is found, named, and mended; a sound graph stays as it is."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from core.rag import KnowledgeBase
from core.rag.dbhandler.store import Transaction
from core.rag.errors import EmbeddingError, InvalidInputError
from core.rag.maintenance.doctor import examine
from core.rag.maintenance.environment import check_packages
from core.rag.maintenance.findings import DoctorReport
from libs.dataloader import Document
from tests.embedders import HashEmbedder
from tests.graphs import orphans, snapshot
from tests.maintenance.conftest import documents, opened

#: What is done to the graph, where that is found, and whether mending brings back exactly what was there.
FLAWS: dict[str, tuple[str, str, bool]] = {
    "a chunk without its document": (
        "MATCH (c:DocumentChunk)-[r:CHUNK_OF]->(d:Document) WHERE c.chunk_index = 1 WITH r LIMIT 1 DELETE r",
        "chunks",
        False,
    ),
    "a document that lost a chunk": (
        "MATCH (c:DocumentChunk) WHERE c.chunk_index = 1 WITH c ORDER BY c.id LIMIT 1 DETACH DELETE c",
        "documents",
        False,
    ),
    "a document that lost all chunks": (
        "MATCH (d:Document) WITH d ORDER BY d.id LIMIT 1 MATCH (c:DocumentChunk)-[:CHUNK_OF]->(d) DETACH DELETE c",
        "documents",
        False,
    ),
    "chunks out of order": (
        "MATCH (a:DocumentChunk)-[r:NEXT]->(b:DocumentChunk) WITH r LIMIT 1 DELETE r",
        "documents",
        True,
    ),
    "a chain across": (
        "MATCH (a:DocumentChunk), (b:DocumentChunk) WHERE a.chunk_index = 0 AND b.chunk_index = 2 AND a.path = b.path "
        "WITH a, b LIMIT 1 CREATE (a)-[:NEXT]->(b)",
        "documents",
        True,
    ),
    "a spelling of nothing": (
        """MATCH (e:Entity) WHERE e.mention_count > 0 WITH e LIMIT 1 SET e.forms = '{"MILL":99}', e.name = 'MILL'""",
        "entities",
        True,
    ),
    "a vector of nothing": (
        "CREATE (v:Vector {id: 'idle', namespace: 'default', vector_store_id: 'x'})",
        "vectors",
        True,
    ),
    "a vector that lost its store": (
        "MATCH (v:Vector)-[r:STORED_IN]->(s:VectorStore) WITH r LIMIT 1 DELETE r",
        "vectors",
        True,
    ),
    "a vector of no store": (
        "MATCH (v:Vector)-[r:STORED_IN]->(s:VectorStore) WITH v, r LIMIT 1 SET v.vector_store_id = 'gone' DELETE r",
        "vectors",
        True,
    ),
    "a vector that its index does not have": (
        "MATCH (v:Vector)-[:EMBEDDING_OF]->(c) WITH v LIMIT 1 REMOVE v:LABEL",
        "vector stores",
        True,
    ),
    "a vector of another length": (
        "MATCH (v:Vector)-[:EMBEDDING_OF]->(c) WITH v LIMIT 1 SET v.embedding = $short",
        "vector stores",
        True,
    ),
    "a vector of zeros": (
        "MATCH (v:Vector)-[:EMBEDDING_OF]->(c) WITH v LIMIT 1 SET v.embedding = $zeros",
        "vector stores",
        True,
    ),
    "a chunk without a vector": (
        "MATCH (c:DocumentChunk)<-[r:EMBEDDING_OF]-(v:Vector) WITH r LIMIT 1 DELETE r",
        "embeddings",
        True,
    ),
    "a chunk without words": (
        "MATCH (c:DocumentChunk) WITH c LIMIT 1 SET c.terms = null",
        "keywords",
        True,
    ),
    "a resource that nothing refers to": (
        "CREATE (r:Resource {id: 'alone', namespace: 'default', uri: 'x:y', origin: 'text'})",
        "sources and resources",
        True,
    ),
    "an edge twice": (
        "MATCH (c:DocumentChunk)-[:CHUNK_OF]->(d:Document) WITH c, d LIMIT 1 CREATE (c)-[:CHUNK_OF]->(d)",
        "edges",
        True,
    ),
    "a mention twice": (
        "MATCH (c:DocumentChunk)-[m:MENTIONS]->(e:Entity) WITH c, m, e LIMIT 1 "
        "CREATE (c)-[:MENTIONS {count: m.count}]->(e) SET e.mention_count = e.mention_count + 1",
        "edges",
        True,
    ),
}


async def damage(kb: KnowledgeBase, statement: str) -> None:
    store = await kb.client.connect()
    label = (await kb.client.vector_stores())[0].index().label

    async def work(tx: Transaction) -> None:
        # Zeros and short vectors do not pass the checks of the store, but may come from elsewhere.
        values = {"short": "[1.0, 2.0]", "zeros": str([0.0] * 32)}
        text = statement.replace("LABEL", label)
        for name, value in values.items():
            text = text.replace(f"${name}", value)
        await tx.run(text)

    await store.transaction(work)


def problems(report: DoctorReport) -> dict[str, str]:
    return {check.name: check.message for check in report.checks if check.level == "problem"}


def unnamed(lines: list[str]) -> list[str]:
    """Without which of the chunks with equal texts a shared vector names: any of them is right."""
    entries = [json.loads(line) for line in lines]
    for entry in entries:
        if entry.get("node") == "Vector":
            del entry["props"]["chunk_id"]
    return sorted(json.dumps(entry, sort_keys=True) for entry in entries)


async def test_a_sound_graph_is_healthy_and_stays_as_it_is(kb: KnowledgeBase) -> None:
    before = await snapshot(kb.client)
    for repair in (False, True):
        report = await kb.doctor(repair=repair)
        assert report.healthy, problems(report)
        assert {check.level for check in report.checks if check.area == "graph"} == {"ok"}
    assert await snapshot(kb.client) == before


@pytest.mark.parametrize("name", FLAWS)
async def test_a_flaw_is_found_named_and_mended(name: str, kb: KnowledgeBase) -> None:
    statement, where, complete = FLAWS[name]
    before = await snapshot(kb.client)
    await damage(kb, statement)
    broken = await snapshot(kb.client)

    found = await kb.doctor()
    assert not found.healthy
    assert f"default: {where}" in problems(found)
    assert all(check.advice for check in found.checks if check.level == "problem")
    assert await snapshot(kb.client) == broken, "looking changes nothing"

    mended = await kb.doctor(repair=True)
    assert mended.healthy, problems(mended)
    assert f"default: {where}" in {check.name for check in mended.checks if check.level == "mended"}
    assert (await kb.doctor()).healthy
    assert not any((await orphans(kb.client)).values())
    if not complete:
        report = await kb.ingest(documents())
        assert report.documents.updated == 1, "the next ingest completes what could not be mended"
        assert unnamed(await snapshot(kb.client)) == unnamed(before)
    else:
        assert await snapshot(kb.client) == before


async def test_a_chunk_of_two_documents_is_left_to_a_person(kb: KnowledgeBase) -> None:
    await damage(
        kb,
        "MATCH (c:DocumentChunk)-[:CHUNK_OF]->(d:Document), (other:Document) WHERE d.id <> other.id "
        "WITH c, other LIMIT 1 CREATE (c)-[:CHUNK_OF]->(other)",
    )
    found = problems(await kb.doctor())
    assert found["default: chunks"].startswith("1 chunks belong to more than one document: ")
    assert problems(await kb.doctor(repair=True))["default: chunks"] == found["default: chunks"]


async def test_what_is_known_of_an_edge_is_kept_when_it_is_made_single(kb: KnowledgeBase) -> None:
    await kb.insert("people", {"name": "Ada Byron", "company": "Mill Trust"})
    await kb.ingest([Document(path="mill.txt", title="Mill Trust", content="It owns a mill.")])
    before = await snapshot(kb.client)
    await damage(
        kb,
        "MATCH (r:Record)-[h:HAS_ENTITY]->(e:Entity {normalized_name: 'mill trust'}) "
        "CREATE (r)-[:HAS_ENTITY {field: h.field, type: h.type, text: h.text}]->(e)",
    )
    await damage(
        kb,
        "MATCH (d:Document)-[t:TITLED]->(e:Entity {normalized_name: 'mill trust'}) "
        "CREATE (d)-[:TITLED {text: t.text}]->(e), (d)-[:TITLED {text: t.text}]->(e)",
    )
    found = [check.message for check in (await kb.doctor()).checks if check.name == "default: edges"]
    assert found == ["1 edges TITLED exist more than once.", "1 edges HAS_ENTITY exist more than once."]
    assert (await kb.doctor(repair=True)).healthy
    assert await snapshot(kb.client) == before


async def test_a_source_that_gave_nothing_is_a_note_until_it_is_removed(kb: KnowledgeBase) -> None:
    name = "default: sources and resources"
    before = await snapshot(kb.client)
    await damage(kb, "CREATE (s:Source {id: 'bare', namespace: 'default', name: 'bare', uri: 'x:bare'})")
    report = await kb.doctor()
    assert report.healthy
    assert [(c.level, c.message) for c in report.checks if c.name == name] == [
        ("note", "Nothing could be ingested from 1 sources: bare.")
    ]
    assert (await kb.doctor(repair=True)).healthy
    assert await snapshot(kb.client) == before


async def test_without_a_model_missing_vectors_stay_and_the_advice_says_why(kb: KnowledgeBase, file: Path) -> None:
    await damage(kb, FLAWS["a chunk without a vector"][0])
    await kb.close()
    async with opened(file, embedder=HashEmbedder(model="other"), check_model=False) as other:
        report = await other.doctor(repair=True)
    found = problems(report)
    assert "words" in found["default: model"]
    assert "1 chunks have no vector of words" in found["default: embeddings"]
    assert any("MGRAG_EMBEDDING_MODEL=words" in check.advice for check in report.checks)


async def test_a_model_that_does_not_answer_leaves_missing_vectors_and_the_rest_is_examined(
    kb: KnowledgeBase, file: Path
) -> None:
    class Down(HashEmbedder):
        async def get_embeddings(self, texts: Sequence[str], names: Sequence[str] | None = None) -> NDArray[np.float32]:
            raise EmbeddingError("The provider is down.")

    await damage(kb, FLAWS["a chunk without a vector"][0])
    await kb.close()
    async with opened(file, embedder=Down()) as other:
        report = await other.doctor(repair=True)
    assert problems(report)["default: embeddings"].endswith("only their words are searched. The provider is down.")
    assert "indexes" in {check.name for check in report.checks}
    async with opened(file) as kb:
        assert (await kb.doctor(repair=True)).healthy


async def test_all_namespaces_or_one(file: Path) -> None:
    for namespace in ("one", "two"):
        async with opened(file, namespace=namespace) as kb:
            await kb.ingest(documents())
            if namespace == "two":
                await damage(kb, "MATCH (c:DocumentChunk) WHERE c.namespace = 'two' WITH c LIMIT 1 SET c.terms = null")
    async with opened(file, namespace="one") as kb:
        assert problems(await kb.doctor()) == {}
        assert {*problems(await kb.doctor(everywhere=True))} == {"two: keywords"}
        assert (await kb.doctor(everywhere=True, repair=True)).healthy
        assert (await kb.doctor(everywhere=True)).healthy


async def test_a_lost_text_index_is_made_anew(kb: KnowledgeBase) -> None:
    from core.rag.schema import Label, TextIndex

    store = await kb.client.connect()
    await store.drop_text_index(TextIndex(Label.CHUNK, "default"))
    assert "indexes" in problems(await kb.doctor())
    assert (await kb.doctor(repair=True)).healthy
    assert len(await kb.search("mill turned", mode="keyword")) == 5


async def test_what_cannot_be_opened_is_a_finding_not_an_error(tmp_path: Path, kb: KnowledgeBase, file: Path) -> None:
    junk = tmp_path / "junk"
    junk.write_bytes(b"junk" * 1000)
    for uri, words in (
        (f"embedded:{tmp_path}", "is a folder"),
        (f"embedded:{junk}", "is not a graph"),
        (f"embedded:{file}", "open in this process already"),
        (f"embedded:{tmp_path / 'none'}", "nothing has been ingested yet"),
        ("http://127.0.0.1", "127.0.0.1"),
    ):
        report = await examine(uri)
        assert not report.healthy
        assert any(words in check.message for check in report.checks), words
    assert not (tmp_path / "none").exists()


async def test_a_server_on_which_no_graph_can_be_kept_is_a_problem(
    kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = await kb.client.connect()
    told = replace(store.capabilities, notes=("No vectors.", "No transactions."), problems=("No transactions.",))
    monkeypatch.setattr(type(store), "capabilities", told)
    report = await kb.doctor()
    assert [(c.level, c.message) for c in report.checks if c.name == "database"][1:] == [
        ("note", "No vectors."),
        ("problem", "No transactions."),
    ]
    assert not report.healthy


async def test_settings_that_make_no_sense(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MGRAG_CHUNK_SIZE", "many")
    assert "MGRAG_CHUNK_SIZE" in problems(await examine())["settings"]
    monkeypatch.delenv("MGRAG_CHUNK_SIZE")
    Path(".env").write_text("MGRAG_CHUNKSIZE=3\n")
    assert "MGRAG_CHUNKSIZE" in problems(await examine())["settings"]
    Path(".env").unlink()
    with pytest.raises(InvalidInputError):
        await examine(f"embedded:{tmp_path}/g.grafeo", namespace="")


def test_every_extra_that_users_may_want_is_named_where_it_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    missing = {check.name for check in check_packages() if check.level == "note"}
    extras = {*(importlib.metadata.metadata("memgraph-rag").get_all("Provides-Extra") or ())}
    assert missing == {f"extra {name}" for name in extras - {"bench", "containers", "dev"}}


@pytest.mark.parametrize("package", ["grafeo 0.7.1", "neo4j 5.28.1", "wordllama 0.3.9"])
def test_a_package_of_another_version_is_a_problem(
    package: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name, version = package.split()
    folder = tmp_path / f"{name}-{version}.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    (found,) = (check for check in check_packages() if check.level != "note")
    assert found.level == "problem" and f"{package} (needed: {name}" in found.message


#: The same for conversations and memory.
SAID: dict[str, tuple[str, str]] = {
    "a break in the chain": (
        "MATCH (:Interaction)-[r:FOLLOWS]->(:Interaction) WITH r LIMIT 1 DELETE r",
        "conversations",
    ),
    "a chain across": (
        "MATCH (a:Interaction {content: 'five'}), (b:Interaction {content: 'one'}) CREATE (a)-[:FOLLOWS]->(b)",
        "conversations",
    ),
    "two messages with one number": (
        "MATCH (m:Interaction {content: 'four'}) SET m.sequence = m.sequence - 1",
        "conversations",
    ),
    "a message without a number": ("MATCH (m:Interaction {content: 'one'}) SET m.sequence = null", "conversations"),
    "a wrong count": ("MATCH (c:Conversation {session_id: 'talk'}) SET c.message_count = 2", "conversations"),
    "a counter that was set back": ("MATCH (c:Conversation {session_id: 'talk'}) SET c.sequence = 1", "conversations"),
    "another last message": ("MATCH (c:Conversation {session_id: 'talk'}) SET c.last_id = 'gone'", "conversations"),
    "a message of no conversation": (
        "MATCH (m:Interaction {content: 'five'})-[r:PART_OF]->(:Conversation) DELETE r",
        "messages",
    ),
    "a message of two conversations": (
        "MATCH (m:Interaction {content: 'five'}), (c:Conversation {session_id: 'other'}) CREATE (m)-[:PART_OF]->(c)",
        "messages",
    ),
    "a message that is part of its conversation twice": (
        "MATCH (m:Interaction {content: 'five'}), (c:Conversation {session_id: 'talk'}) CREATE (m)-[:PART_OF]->(c)",
        "edges",
    ),
    "a message that follows twice": (
        "MATCH (a:Interaction)-[:FOLLOWS]->(b:Interaction) WITH a, b LIMIT 1 CREATE (a)-[:FOLLOWS]->(b)",
        "edges",
    ),
    "a message without words": ("MATCH (m:Interaction {content: 'five'}) SET m.terms = null", "memory"),
    "a message with the words of another version": (
        "MATCH (m:Interaction {content: 'five'}) SET m.terms = 'cinq'",
        "memory",
    ),
    "a message in no part of the index": ("MATCH (m:Interaction {content: 'five'}) SET m.partition = null", "memory"),
    "a memory that its summary does not name": (
        "MATCH (:Interaction)-[r:SUMMARIZES]->(:Interaction) WITH r LIMIT 1 DELETE r",
        "memory",
    ),
}


async def talked(kb: KnowledgeBase) -> None:
    for text in ("one", "two", "three", "four", "five"):
        await kb.remember("talk", "user", text)
    await kb.remember("other", "user", "elsewhere")
    await kb.compact("talk", keep=3)


def without_revision(lines: list[str]) -> list[str]:
    """Without what says that a conversation was changed, which it was."""
    entries = [json.loads(line) for line in lines]
    for entry in entries:
        entry["props"].pop("revision", None)
    return sorted(json.dumps(entry, sort_keys=True) for entry in entries)


@pytest.mark.parametrize("name", SAID)
async def test_what_is_wrong_with_conversations_is_found_and_mended(name: str, kb: KnowledgeBase) -> None:
    statement, where = SAID[name]
    await talked(kb)
    assert (await kb.doctor()).healthy
    before = await snapshot(kb.client)
    await damage(kb, statement)
    found = await kb.doctor()
    assert f"default: {where}" in problems(found)
    mended = await kb.doctor(repair=True)
    assert mended.healthy, problems(mended)
    assert (await kb.doctor()).healthy
    if "number" not in name:
        assert without_revision(await snapshot(kb.client)) == without_revision(before)
    assert [memory.content for memory in await kb.memories("talk")][-3:] == ["three", "four", "five"]
    await kb.remember("talk", "user", "six")
    assert (await kb.doctor()).healthy


@pytest.mark.parametrize(
    "name",
    ["a break in the chain", "a chain across", "another last message", "a wrong count", "a message that follows twice"],
)
async def test_the_last_messages_are_found_in_a_broken_chain(name: str, kb: KnowledgeBase) -> None:
    await talked(kb)
    wanted = [message["content"] for message in await kb.client.get_conversation_messages("talk")]
    await damage(kb, SAID[name][0])
    for limit in range(1, 8):
        found = await kb.client.get_conversation_messages("talk", limit)
        assert [message["content"] for message in found] == wanted[-limit:]


async def test_who_has_read_a_session_before_a_repair_reads_it_again(kb: KnowledgeBase) -> None:
    await talked(kb)
    await damage(kb, "MATCH (m:Interaction {content: 'five'}) SET m.terms = null")
    assert "five" not in [memory.content for memory in await kb.recall("talk", "five") if (memory.relevance or 0) > 0.9]
    assert (await kb.doctor(repair=True)).healthy
    assert (await kb.recall("talk", "five"))[0].content == "five"
    assert (await kb.recall("talk", "five"))[0].relevance == 1


async def test_a_conversation_that_was_lost_comes_back_with_its_messages(kb: KnowledgeBase) -> None:
    await talked(kb)
    await damage(kb, "MATCH (c:Conversation {session_id: 'talk'}) DETACH DELETE c")
    assert "6 messages do not belong to any conversation" in problems(await kb.doctor())["default: messages"]
    assert (await kb.doctor(repair=True)).healthy
    assert [memory.content for memory in await kb.memories("talk")][-3:] == ["three", "four", "five"]


async def test_what_a_lost_summary_stood_for_is_found_again(kb: KnowledgeBase) -> None:
    await talked(kb)
    await damage(kb, "MATCH (m:Interaction) WHERE m.summary = true DETACH DELETE m")
    assert "2 memories are replaced by a summary" in problems(await kb.doctor())["default: memory"]
    assert "two" not in [memory.content for memory in await kb.recall("talk", "two")]
    report = await kb.doctor(repair=True)
    assert report.healthy, problems(report)
    assert (await kb.recall("talk", "two"))[0].content == "two"
    assert {check.level for check in (await kb.doctor()).checks if check.area == "graph"} == {"ok"}
