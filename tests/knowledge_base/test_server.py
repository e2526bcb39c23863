"""What a server does in the place of the embedded engine: the same graph and the same hits."""

from __future__ import annotations

import asyncio
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from neo4j import AsyncGraphDatabase
from numpy.typing import NDArray

from core.rag import KnowledgeBase
from core.rag.dbhandler.bolt.dialect import text_index_name
from core.rag.dbhandler.bolt.errors import Again, Failure
from core.rag.dbhandler.bolt.store import BoltStore
from core.rag.dbhandler.bolt.work import RetryableError
from core.rag.dbhandler.knowledge.entities import EntityLedger
from core.rag.dbhandler.knowledge.record_rows import record_row
from core.rag.dbhandler.knowledge.records import RecordChanges
from core.rag.dbhandler.store import Parameters, Row, Transaction
from core.rag.errors import BackupError, InvalidInputError, StoreConflictError
from core.rag.extraction.mentions import sought
from core.rag.extraction.records import FIELD_HINTS
from core.rag.maintenance.doctor import examine
from core.rag.maintenance.restore import restore
from core.rag.retrieval.hits import MODES
from core.rag.schema import Label, TextIndex
from core.rag.times import utc_now
from libs.dataloader import Document
from tests.dbhandler.kit import Engine, make_settings
from tests.embedders import HashEmbedder
from tests.graphs import snapshot

pytestmark = pytest.mark.bolt

ROOT = Path(__file__).parents[2]
CORPUS = ROOT / "examples" / "corpus"
QUESTIONS = [
    "Why must the pond not be filled completely?",
    "burr stones from France",
    "Who paid for the clay?",
    "wheel",
    "grants received in 2021, and what they were spent on",
    "mill",
    "Runing the mil",
    "Do the minutes mention the miller's house?",
]


class Refusing(HashEmbedder):
    """An embedder that must not be asked."""

    async def get_embeddings(self, texts: Sequence[str], names: Sequence[str] | None = None) -> NDArray[np.float32]:
        raise AssertionError(f"{len(texts)} texts were embedded")


@pytest.fixture
def engine(server_engine: Engine) -> Engine:
    return server_engine


def variables(engine: Engine) -> dict[str, str]:
    """The settings of somebody who uses the server."""
    return {
        "MEMGRAPH_URI": engine.uri,
        "MEMGRAPH_USERNAME": engine.username or "",
        "MEMGRAPH_PASSWORD": engine.password or "",
    }


async def found(kb: KnowledgeBase, k: int = 10) -> list[list[tuple[str, float]]]:
    """The hits of all questions in all modes."""
    return [
        [(hit.chunk_id, hit.score) for hit in await kb.search(question, k=k, mode=mode)]
        for question in QUESTIONS
        for mode in MODES
    ]


def expect_the_same(
    lists: Sequence[Sequence[tuple[str, float]]], expected: Sequence[Sequence[tuple[str, float]]]
) -> None:
    """Compare lists of hits, with scores that may differ a little.

    What a server has in other namespaces decides which texts it proposes far down, and these have a part of 1e-5 in
    the scores of modes that mix lists.
    """
    for hits, others in zip(lists, expected, strict=True):
        assert [key for key, _ in hits] == [key for key, _ in others]
        assert [score for _, score in hits] == pytest.approx([score for _, score in others], abs=2e-4)


async def test_an_export_of_a_file_is_the_same_graph_with_the_same_hits_on_a_server(
    engine: Engine, tmp_path: Path
) -> None:
    namespace = engine.namespace()
    uri = f"embedded:{tmp_path / 'graph.grafeo'}"
    async with KnowledgeBase.open(uri, namespace=namespace, embedder=HashEmbedder(64)) as kb:
        await kb.ingest(CORPUS)
        talk = await kb.client.create_conversation(user_id="ann")
        hits = await kb.search(QUESTIONS[0], k=3)
        await kb.client.add_message(talk, QUESTIONS[0], "user")
        await kb.client.add_message(talk, "It spills.", "assistant", retrieved=[hit.chunk_id for hit in hits])
        before, expected = await snapshot(kb.client), await found(kb)
        await kb.export(tmp_path / "graph.jsonl.gz")
    async with engine.knowledge(namespace, embedder=Refusing(64)) as kb:
        for _ in range(2):  # a second time changes nothing
            await kb.import_(tmp_path / "graph.jsonl.gz")
            assert await snapshot(kb.client) == before
    async with engine.knowledge(namespace, embedder=HashEmbedder(64)) as kb:
        expect_the_same(await found(kb), expected)
        report = await kb.ingest(CORPUS)
        assert (report.documents.unchanged, report.vectors.embedded) == (len(list(CORPUS.iterdir())), 0)


async def test_nothing_that_is_done_every_day_reads_the_whole_graph(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Or else a small namespace would pay for all others."""
    asked: set[str] = set()
    run = BoltStore.run

    async def listening(store: BoltStore, statement: str, parameters: Parameters | None = None) -> list[Row]:
        asked.add(store._hinted(statement))
        return await run(store, statement, parameters)

    monkeypatch.setattr(BoltStore, "run", listening)
    async with engine.knowledge() as kb:
        await kb.ingest(CORPUS)
        for question in QUESTIONS[:3]:
            for mode in MODES:
                await kb.search(question, mode=mode)
            await kb.ask(question)
        await kb.remember("monday", "user", "The pond spills.", user_id="ann")
        await kb.recall(query="pond")
        await kb.status()
        await kb.show((await kb.documents(limit=5))[0]["path"])
    whole = []
    auth = (engine.username, engine.password or "") if engine.username else None
    async with (
        AsyncGraphDatabase.driver(engine.uri, auth=auth, notifications_min_severity="OFF") as driver,
        driver.session() as session,
    ):
        for statement in asked:
            names = dict.fromkeys(re.findall(r"\$(\w+)", statement))
            result = await session.run(f"EXPLAIN {statement}", names)
            rows = await result.data()
            plan = f"{rows} {(await result.consume()).plan}"
            if re.search(r"ScanAll \(|AllNodesScan", plan):
                whole.append(statement)
    assert len(asked) > 50
    assert whole == []


async def test_the_same_hits_where_more_texts_match_than_are_looked_at(engine: Engine) -> None:
    generator = np.random.default_rng(4)
    vocabulary = [f"word{i}" for i in range(300)]
    weights = 1 / np.arange(1, 301)
    documents = [
        Document(
            path=f"n/{i}", content=" ".join(generator.choice(vocabulary, size=30 + i % 60, p=weights / weights.sum()))
        )
        for i in range(500)
    ]
    namespace = engine.namespace()
    queries = ["word0 word3", "word1 word250", "word7 word8 word9 word120"]
    results = []
    for kb in (
        KnowledgeBase.open("embedded::memory:", namespace=namespace, embedder=HashEmbedder()),
        engine.knowledge(namespace),
    ):
        async with kb:
            await kb.ingest(documents)
            results.append(
                [
                    [(hit.path, hit.score) for hit in await kb.search(query, k=10, mode=mode)]
                    for query in queries
                    for mode in ("hybrid", "keyword", "vector")
                ]
            )
    expect_the_same(results[1], results[0])


def test_the_demo_finds_on_a_server_what_it_finds_in_a_file(engine: Engine, tmp_path: Path) -> None:
    namespace = engine.namespace()
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("MEMGRAPH_", "MGRAG_"))}
    shown = []
    for more in ({}, variables(engine)):
        done = subprocess.run(
            [sys.executable, ROOT / "examples" / "demo.py", namespace],
            cwd=tmp_path,
            env={**inherited, **more},
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        shown.append(done.stdout.partition("$ mgrag search")[2])
    assert "operations.md" in shown[0]
    assert shown[1] == shown[0]


async def test_a_backup_of_a_server_is_an_export_that_a_server_takes_back(engine: Engine, tmp_path: Path) -> None:
    file = tmp_path / "server.jsonl.gz"
    namespace = engine.namespace()
    async with engine.knowledge(namespace) as kb:
        await kb.ingest([Document(path="a", content="The tide mill turns."), Document(path="b", content="It rests.")])
        before = await snapshot(kb.client)
        report = await kb.backup(tmp_path / "whole.jsonl.gz")
        assert report.kind == "export"
        assert report.nodes["Document"] >= 2
        await kb.export(file)
        await kb.delete("a")
    with pytest.MonkeyPatch.context() as patch:
        for name, value in variables(engine).items():
            patch.setenv(name, value)
        with pytest.raises(BackupError, match="--force"):
            await restore(None, file)
        await restore(None, file, force=True)
    async with engine.knowledge(namespace) as kb:
        assert await snapshot(kb.client) == before


async def test_a_restore_that_fails_says_where_the_graph_before_is(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    namespace = engine.namespace()
    for name, value in variables(engine).items():
        monkeypatch.setenv(name, value)
    async with engine.knowledge(namespace) as kb:
        await kb.ingest([Document(path="a", content="The tide mill turns.")])
        await kb.export(tmp_path / "server.jsonl")
        await kb.ingest([Document(path="b", content="It rests.")])
        before = await snapshot(kb.client)

        async def lost(*_: Any) -> None:
            raise StoreConflictError("The server met a concurrent write.")

        with monkeypatch.context() as patch, pytest.raises(BackupError, match="What was there before is in") as failed:
            patch.setattr(type(kb.client), "read_section", lost)
            await restore(None, tmp_path / "server.jsonl", force=True)
        (aside,) = tmp_path.glob("*.before-restore-*")
        assert str(aside) in str(failed.value)
        await restore(None, aside, force=True)
        assert await snapshot(kb.client) == before


async def test_a_copy_of_an_embedded_graph_is_refused_by_a_server(engine: Engine, tmp_path: Path) -> None:
    uri, copy = f"embedded:{tmp_path / 'graph.grafeo'}", tmp_path / "graph.bak"
    async with KnowledgeBase.open(uri, embedder=HashEmbedder()) as kb:
        await kb.ingest([Document(path="a", content="The tide mill turns.")])
        await kb.backup(copy)
    with pytest.MonkeyPatch.context() as patch:
        for name, value in variables(engine).items():
            patch.setenv(name, value)
        with pytest.raises(BackupError, match="mgrag export"):
            await restore(None, copy)


async def test_a_doctor_of_a_server(engine: Engine) -> None:
    namespace = engine.namespace()
    async with engine.knowledge(namespace) as kb:
        await kb.ingest([Document(path="a", content="The tide mill turns."), Document(path="b", content="It rests.")])
        assert (await kb.doctor()).healthy

        async def work(tx: object) -> None:
            await tx.run(  # type: ignore[attr-defined]
                "MATCH (c:DocumentChunk)<-[r:EMBEDDING_OF]-(:Vector) WHERE c.namespace = $namespace "
                "WITH c, r LIMIT 1 SET c.partition = null DELETE r",
                {"namespace": namespace},
            )

        await (await kb.client.connect()).transaction(work)
        sick = await kb.doctor()
        said = {check.name.split()[-1]: check.message for check in sick.checks if check.level == "problem"}
        assert set(said) >= {"indexes", "embeddings"}
        assert "cannot be found by their words" in said["indexes"]
        await kb.doctor(repair=True)
        assert (await kb.doctor()).healthy
        assert {hit.path for hit in await kb.search("tide mill rests", mode="keyword")} == {"a", "b"}


async def test_a_doctor_misses_the_vector_index_that_somebody_dropped(engine: Engine) -> None:
    async with engine.knowledge() as kb:
        await kb.ingest([Document(path="a", content="The tide mill turns.")])
        (store,) = await kb.client.vector_stores()
        server = await kb.client.connect()
        await server.drop_vector_index(store.index())
        (problem,) = [check for check in (await kb.doctor()).checks if check.level == "problem"]
        assert "The vector index of DocumentChunk" in problem.message
        assert not await server.has_vector_index(store.index())
        (mended,) = [check for check in (await kb.doctor(repair=True)).checks if check.level == "mended"]
        assert mended.message == problem.message
        assert await server.has_vector_index(store.index())
        assert (await kb.doctor()).healthy


async def test_nobody_waits_long_for_an_index_that_cannot_be_created(
    engine: Engine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """On Memgraph, a transaction that somebody leaves open is in the way of it."""
    once = BoltStore._once

    async def busy(self: BoltStore, statement: str, *arguments: Any, reading: bool) -> list[Row]:
        if reading:
            return await once(self, statement, *arguments, reading=reading)
        failed = StoreConflictError("Cannot get unique access to the storage")
        raise RetryableError(Failure(failed, Again.UNTIL_DEADLINE))

    namespace = engine.namespace(used_before=False)
    settings = make_settings(MGRAG_RETRY_DEADLINE=3600)
    await drop_keyword_index(engine)
    with monkeypatch.context() as patch:
        patch.setattr(BoltStore, "_once", busy)
        async with asyncio.timeout(60), engine.knowledge(namespace, settings=settings) as kb:
            await kb.ingest([Document(path="a", content="The tide mill turns.")])
            assert [hit.path for hit in await kb.search("tide mill")] == ["a"]
            await kb.export(tmp_path / "copy.jsonl")
            await kb.import_(tmp_path / "copy.jsonl")
            server = await kb.client.connect()
            (store,) = await kb.client.vector_stores()
            assert not await server.has_vector_index(store.index())
    async with engine.knowledge(namespace) as kb:
        server = await kb.client.connect()
        assert await server.has_vector_index(store.index()), "made by whoever comes next"
        assert await server.check_indexes() == []
        assert server.capabilities.notes == ()
        await server.drop_vector_index(store.index())


async def drop_keyword_index(engine: Engine) -> None:
    """Drop the keyword index of chunks, of all namespaces."""
    store = await engine.open()
    try:
        assert isinstance(store, BoltStore)
        await store.ensure_schema()
        await store.ensure_text_index(TextIndex(Label.CHUNK, "any"))
        kind = "TEXT INDEX" if store.capabilities.engine == "memgraph" else "INDEX"
        await store.define(f"DROP {kind} {text_index_name(Label.CHUNK)}", "Dropping the keyword index")
    finally:
        await store.close()


async def test_an_index_that_cannot_be_dropped_now_is_dropped_when_its_namespace_is_deleted_again(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def refuse(*_: object) -> None:
        raise StoreConflictError("Others use the server.")

    namespace = engine.namespace(used_before=False)
    async with engine.knowledge(namespace) as kb:
        await kb.ingest([Document(path="a", content="The tide mill turns.")])
        [vectors] = await kb.client.vector_stores()
        with monkeypatch.context() as patched:
            patched.setattr(BoltStore, "drop_vector_index", refuse)
            with pytest.raises(StoreConflictError):
                await kb.delete_namespace(namespace)
        await kb.delete_namespace(namespace)
        assert not await (await kb.client.connect()).has_vector_index(vectors.index())


async def test_an_index_that_cannot_be_dropped_now_is_dropped_when_its_model_is_replaced_again(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def refuse(*_: object) -> None:
        raise StoreConflictError("Others use the server.")

    namespace = engine.namespace(used_before=False)
    async with engine.knowledge(namespace, embedder=HashEmbedder(16, "old")) as kb:
        await kb.ingest([Document(path="a", content="The tide mill turns.")])
        [old] = await kb.client.vector_stores()
    async with engine.knowledge(namespace, embedder=HashEmbedder(16, "new"), check_model=False) as kb:
        with monkeypatch.context() as patched:
            patched.setattr(BoltStore, "drop_vector_index", refuse)
            with pytest.raises(StoreConflictError):
                await kb.reembed(drop_old=True)
        report = await kb.reembed(drop_old=True)
        assert report.dropped == ["old"]
        assert not await (await kb.client.connect()).has_vector_index(old.index())


async def test_a_keyword_index_that_finds_only_one_of_its_properties_is_made_anew(engine: Engine) -> None:
    """Memgraph finds both only in the order in which their names were first used in the life of the database."""
    namespace = engine.namespace()
    async with engine.knowledge(namespace) as kb:
        await kb.ingest([Document(path="a", content="The tide mill turns.")])
    await drop_keyword_index(engine)
    store = await engine.open()
    assert isinstance(store, BoltStore)
    if store.capabilities.engine == "memgraph":
        name = text_index_name(Label.CHUNK)
        [row] = await store.run("MATCH (c:DocumentChunk) WHERE c.terms IS NOT NULL RETURN keys(c) AS names LIMIT 1", {})
        order = [key for key in row["names"] if key in ("partition", "terms")]
        wrong = ", ".join(reversed(order))
        await store.define(f"CREATE TEXT INDEX {name} ON :DocumentChunk({wrong})", "Creating the keyword index")
        [problem] = await store.check_indexes()
        assert "does not find all of its words" in problem
    await store.close()
    async with engine.knowledge(namespace) as kb:
        await kb.ingest([Document(path="b", content="The tide comes in.")])
        assert {hit.path for hit in await kb.search("tide", mode="keyword")} == {"a", "b"}
        assert await (await kb.client.connect()).check_indexes() == []


async def test_who_may_only_read_does_without_an_index_that_is_missing(engine: Engine) -> None:
    namespace = engine.namespace()
    async with engine.knowledge(namespace) as kb:
        await kb.ingest([Document(path="a", content="The tide mill turns.")])
        (store,) = await kb.client.vector_stores()
        server = await kb.client.connect()
        await server.drop_vector_index(store.index())
        async with engine.knowledge(namespace, settings=make_settings(MGRAG_READ_ONLY=True)) as reader:
            assert [hit.path for hit in await reader.search("tide mill")] == ["a"]
        assert not await server.has_vector_index(store.index())


async def test_a_doctor_of_a_server_that_is_not_there() -> None:
    from tests.servers.ports import HOST, free_port

    report = await examine(f"bolt://{HOST}:{free_port()}", model="wordllama")
    (check,) = [check for check in report.checks if check.name == "database"]
    assert (check.level, report.healthy) == ("problem", False)
    assert "Nothing listens" in check.message


async def test_two_clients_that_look_for_titles_in_the_same_chunks_find_each_once(engine: Engine) -> None:
    namespace = engine.namespace()
    async with engine.knowledge(namespace) as one, engine.knowledge(namespace) as two:
        await one.ingest(
            [
                Document(path="mill", content="It turns with the ebb.", title="tide mill"),
                *(Document(path=f"n/{i}", content=f"Visit {i} of the tide mill.", title=f"n{i}") for i in range(8)),
            ]
        )
        chunks = await one.client.chunk_ids()
        before = await mentions(one)
        assert before["tide mill"] == (8, 8)
        await one.client.extract_again(chunks, sought(()))
        assert (await mentions(one)).get("tide mill", (0, 0)) == (0, 0)
        await asyncio.gather(*(kb.client.extract_again(chunks, sought({"tide mill"})) for kb in (one, two)))
        assert await mentions(one) == before


async def test_clients_that_insert_the_same_new_record_give_it_its_entities_once(engine: Engine) -> None:
    namespace = engine.namespace()
    person = {"name": "Ada Byron", "company": "Mill Trust", "team": "Tides"}
    async with engine.knowledge(namespace) as one, engine.knowledge(namespace) as two:
        # The entities are there, so no constraint refuses those of the second client.
        await one.insert("people", {"id": "before", **person})
        for number in range(10):
            await asyncio.gather(*(kb.insert("people", {"id": number, **person}) for kb in (one, two, one, two)))
        rows = await one.client.read(
            "MATCH (r:Record)-[h:HAS_ENTITY]->(:Entity) WHERE r.namespace = $namespace RETURN r.id AS id, count(h) AS n"
        )
        assert [row["n"] for row in rows] == [3] * 11
        rows = await one.client.read(
            "MATCH (r:Record) WHERE r.namespace = $namespace RETURN r.created_at IS NOT NULL AS dated, r.data AS data"
        )
        assert len({row["data"] for row in rows if row["dated"]}) == 11
        assert (await one.doctor()).healthy


async def test_clients_that_change_records_of_the_same_two_entities_count_each_change(engine: Engine) -> None:
    """Neither changes the entity that the other one changes, but both change the weight of the edge between them."""
    namespace, many = engine.namespace(), 60  # Neo4j locks nodes with fewer edges by itself
    async with engine.knowledge(namespace) as one, engine.knowledge(namespace) as two:
        for author, lead in (("Alan Able", "Carl Cobb"), ("Alan Able", "Dora Dunn"), ("Emma Eden", "Carl Cobb")):
            records = [{"id": f"{author} {lead} {i}", "author": author, "lead": lead} for i in range(many)]
            await one.insert_many("books", records)
        label = await one.client.text_label(Label.RECORD)
        rival: asyncio.Task[object] | None = None

        class Interrupted:
            """A transaction in the midst of which, the weights are read, another client changes them, too."""

            def __init__(self, tx: Transaction) -> None:
                self._tx = tx
                self.locking = tx.locking

            async def run(self, statement: str, parameters: Parameters | None = None) -> list[Row]:
                nonlocal rival
                rows = await self._tx.run(statement, parameters)
                if "AS weight" in statement and rival is None:
                    record = {"id": "Alan Able Carl Cobb 2", "author": "Emma Eden", "lead": "Carl Cobb"}
                    rival = asyncio.create_task(two.insert("books", record))
                    await asyncio.wait({rival}, timeout=1)  # it may have to wait for this one
                return rows

        async def work(tx: Transaction) -> None:
            record = {"id": "Alan Able Carl Cobb 1", "author": "Alan Able", "lead": "Dora Dunn"}
            row = record_row(namespace, "books", record, FIELD_HINTS)
            ledger = EntityLedger(namespace, utc_now())
            changes = RecordChanges(ledger)
            through = Interrupted(tx)
            await changes.read(through, [row.id])
            changes.set([row])
            await ledger.settle(through)
            await changes.apply(through, label)

        await (await one.client.connect()).transaction(work)
        assert rival is not None
        await rival
        rows = await one.client.read(
            "MATCH (a:Entity)-[r:RELATED]->(b:Entity) WHERE a.namespace = $namespace "
            "RETURN a.name AS a, b.name AS b, r.weight AS weight"
        )
        weights = {frozenset((row["a"], row["b"])): row["weight"] for row in rows}
        assert weights == {
            frozenset(("Alan Able", "Carl Cobb")): many - 2,
            frozenset(("Alan Able", "Dora Dunn")): many + 1,
            frozenset(("Emma Eden", "Carl Cobb")): many + 1,
        }


async def test_a_client_learns_at_once_that_another_one_has_given_a_fact_a_time(engine: Engine) -> None:
    """What it stated then was there twice: once since then, and once for ever."""
    namespace = engine.namespace()
    fact = {"subject": "Ada Byron", "relation": "works_at", "object": "Mill Trust"}
    async with engine.knowledge(namespace) as one, engine.knowledge(namespace) as two:
        await two.add_triples([{**fact, "object": "Tide Office"}])
        await one.add_triples([{**fact, "valid_from": "2020-01-01"}])
        await two.add_triples([fact])
        await two.link("Ada Byron", "Mill Trust", "works_at")
        rows = await one.client.read(
            "MATCH (a:Entity)-[r:RELATED]->(b:Entity) WHERE a.namespace = $namespace "
            "RETURN b.name AS name, r.valid_from AS since"
        )
        assert [row["since"] for row in rows if row["name"] == "Mill Trust"] == ["2020-01-01T00:00:00.000000Z"]


async def test_of_clients_that_state_overlapping_periods_at_once_only_one_stores_its_own(engine: Engine) -> None:
    """Each found the edge of its period before the other had written any."""
    namespace = engine.namespace()

    def triple(number: int, **period: str) -> dict[str, str]:
        return {"subject": f"Ada Lane{number}", "relation": "owns", "object": f"Harrow Mill{number}", **period}

    async with engine.knowledge(namespace) as one, engine.knowledge(namespace) as two:
        for number in range(6):
            told = await asyncio.gather(
                one.add_triples([triple(number, valid_from="2018-01-01", valid_to="2021-01-01")]),
                two.add_triples([triple(number, valid_from="2019-01-01")]),
                two.link(f"Ada Lane{number}", f"Harrow Mill{number}", "owns", create=True, valid_from="2020-01-01"),
                return_exceptions=True,
            )
            assert [type(given) for given in told].count(InvalidInputError) == 2, told
            assert len((await one.neighbors(f"Ada Lane{number}", at="ever")).edges) == 1


async def mentions(kb: KnowledgeBase) -> dict[str, tuple[int, int]]:
    """For each entity that chunks mention: the number of edges, and the number that it knows."""
    rows = await kb.client.read(
        "MATCH (c:DocumentChunk)-[m:MENTIONS]->(e:Entity) WHERE c.namespace = $namespace "
        "RETURN e.normalized_name AS name, count(m) AS edges, e.mention_count AS known"
    )
    return {row["name"]: (row["edges"], row["known"]) for row in rows}
