"""Many writers at once: processes with overlapping folders, one hub, searches during deletes."""

from __future__ import annotations

import asyncio
import multiprocessing
import random
import zlib
from contextlib import AsyncExitStack
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from core.rag.dbhandler.store import Transaction
from core.rag.schema import Label
from libs.dataloader import Document
from tests.dbhandler.kit import Corner, Engine
from tests.embedders import HashEmbedder
from tests.faults.ingesting import ingest
from tests.faults.kit import DEADLINE, assert_found, assert_sound, documents, knowledge
from tests.servers.proxy import BoltProxy

pytestmark = pytest.mark.bolt

PROCESSES = 8


@pytest.mark.fault(f"{PROCESSES} processes ingest overlapping folders into a new namespace at the same time")
async def test_processes_ingest_overlapping_folders_at_once(engine: Engine, tmp_path: Path) -> None:
    """There is one vector store, and no source, document or chunk is duplicated."""
    namespace = engine.namespace(used_before=False)
    given = documents(5 * (PROCESSES + 2))
    folders = [tmp_path / f"part{number}" for number in range(PROCESSES + 2)]
    for number, document in enumerate(given):
        path = folders[number // 5] / f"{number}.md"
        path.parent.mkdir(exist_ok=True)
        path.write_text(document.content, encoding="utf-8")
    processes = multiprocessing.get_context("forkserver")
    processes.set_forkserver_preload([ingest.__module__])  # else each of them would load all of it
    together = processes.Barrier(PROCESSES)
    children = [
        processes.Process(target=ingest, args=(together, engine, namespace, folders[number : number + 3]))
        for number in range(PROCESSES)
    ]
    for child in children:
        child.start()
    for child in children:
        await asyncio.to_thread(child.join)
    assert [child.exitcode for child in children] == [0] * PROCESSES
    everything = [
        Document(path=str(folders[number // 5] / f"{number}.md"), content=document.content)
        for number, document in enumerate(given)
    ]
    async with knowledge(engine, namespace) as kb:
        await assert_sound(kb.client, everything)
        await assert_found(kb, everything[::10])


@pytest.mark.fault("4 clients repeatedly ingest different versions of the same documents at the same time")
async def test_clients_replace_the_same_documents_at_once(engine: Engine) -> None:
    """Each document is exactly one of the versions; nothing is left of the others."""
    namespace = engine.namespace()
    async with AsyncExitStack() as stack:
        clients = [await stack.enter_async_context(knowledge(engine, namespace)) for _ in range(4)]
        for versions in ([1, 2, 3, 4], [5, 6, 7, 8]):
            given = [documents(6, version=version) for version in versions]
            reports = await asyncio.gather(*(kb.ingest(some) for kb, some in zip(clients, given, strict=True)))
            assert [report.documents.failed for report in reports] == [[]] * len(clients)
            client = clients[0].client
            rows = await client.read(
                "MATCH (d:Document)<-[:CHUNK_OF]-(c:DocumentChunk) WHERE d.namespace = $namespace "
                "RETURN d.path AS path, d.content AS content, collect(c.content) AS chunks"
            )
            stored = [Document(path=row["path"], content=row["content"]) for row in rows]
            assert {(one.path, one.content) for one in stored} <= {(one.path, one.content) for x in given for one in x}
            assert [row["path"] for row in rows if any(chunk not in row["content"] for chunk in row["chunks"])] == []
            assert len(stored) == 6
            await assert_sound(client, stored)


@pytest.mark.fault(
    "A storm of conflicts: 40 writers in 4 clients, each needing a node that the next one holds, and one common hub"
)
async def test_a_storm_of_conflicts_on_a_hub(engine: Engine) -> None:
    """Every edge is stored exactly once."""
    writers = 40
    stores = [await engine.open(MGRAG_RETRY_DEADLINE=DEADLINE) for _ in range(4)]
    await stores[0].ensure_schema()
    corner = Corner(engine, stores[0])
    await corner.put("hub")
    await corner.put(*(f"s{number}" for number in range(writers)), label=Label.CONCEPT)
    everybody = asyncio.Barrier(writers)
    attempts = 0

    async def attach(number: int) -> None:
        first = True

        async def touch(tx: Transaction, name: str) -> None:
            await tx.run("MATCH (s:Concept {id: $id}) SET s.last = $number", {"id": corner.id(name), "number": number})

        async def work(tx: Transaction) -> None:
            nonlocal attempts, first
            attempts += 1
            await touch(tx, f"s{number}")
            if first:
                first = False
                await everybody.wait()
            await touch(tx, f"s{(number + 1) % writers}")
            await tx.run(
                "MATCH (h:Document {id: $hub}) SET h.last = $number MERGE (c:DocumentChunk {id: $id}) "
                "SET c.namespace = $namespace MERGE (c)-[:CHUNK_OF]->(h)",
                {
                    "hub": corner.id("hub"),
                    "id": corner.id(f"c{number}"),
                    "number": number,
                    "namespace": corner.namespace,
                },
            )

        await stores[number % 4].transaction(work)

    await asyncio.gather(*(attach(number) for number in range(writers)))
    assert attempts > writers
    rows = await corner.store.run(
        "MATCH (h:Document {id: $id})<-[r:CHUNK_OF]-(c:DocumentChunk) "
        "RETURN count(r) AS edges, count(DISTINCT c) AS nodes",
        {"id": corner.id("hub")},
    )
    assert rows == [{"edges": writers, "nodes": writers}]
    assert len(await corner.stored(Label.CONCEPT)) == writers
    for store in stores:
        await store.close()


@pytest.mark.fault("Searches run while vectors and words are written, changed, deleted and rolled back")
async def test_searches_during_writes(engine: Engine) -> None:
    """No search fails, and none finds anything that was not stored."""
    store = await engine.open(MGRAG_RETRY_DEADLINE=DEADLINE)
    await store.ensure_schema()
    corner = Corner(engine, store)
    vectors, words = await corner.vector_index(8), await corner.text_index()
    generator = np.random.default_rng(2)
    await corner.put_vectors(vectors, {f"keep{i}": generator.normal(size=8).tolist() for i in range(20)})
    await corner.put_texts(words, {f"keep{i}": "steady word" for i in range(20)})
    done = asyncio.Event()
    searches = 0

    async def churn(number: int) -> None:
        names = [f"w{number}-{i}" for i in range(15)]
        for turn in range(8):

            async def work(tx: Transaction, turn: int = turn) -> None:
                values = {name: generator.normal(size=8).tolist() for name in names}
                await tx.run(corner.vector_statement(vectors), corner.vector_rows(values))
                await tx.run(corner.text_statement(words), corner.text_rows(dict.fromkeys(names, "fleeting word")))
                if turn % 3 == 2:
                    raise RuntimeError("roll back")

            await asyncio.gather(store.transaction(work), return_exceptions=True)
            await corner.delete(*names, label=Label.VECTOR)
            await corner.delete(*names, label=Label.CHUNK)

    async def search() -> None:
        nonlocal searches
        while not done.is_set():
            near = await store.vector_search(vectors, tuple(generator.normal(size=8).tolist()), 10)
            assert len(near) == len({match.id for match in near}) == 10
            found = await store.text_search(words, {"word": 1.0, "steady": 0.5}, 30)
            assert {corner.id(f"keep{i}") for i in range(20)} <= {match.id for match in found}
            searches += 1

    searching = [asyncio.create_task(search()) for _ in range(3)]
    await asyncio.gather(*(churn(number) for number in range(2)))
    done.set()
    await asyncio.gather(*searching)
    assert searches > 10
    found = await store.text_search(words, {"fleeting": 1.0}, 30)
    assert found == []
    await corner.clean()
    await store.close()


@pytest.mark.fault(
    "A keyword index has lost committed entries (a crash of Memgraph loses the latest ones; here, all are lost)"
)
async def test_a_keyword_index_that_lost_transactions_is_found_and_repaired(engine: Engine) -> None:
    """Searches use the words stored in the graph instead, and say so; `mgrag doctor` finds and repairs the problem."""
    store = await engine.open()
    await store.ensure_schema()
    corner = Corner(engine, store)
    index = await corner.text_index(Label.RECORD)
    await corner.put_texts(index, {"a": "alpha beta", "b": "beta gamma"})
    async with knowledge(engine, corner.namespace) as kb:

        async def lost() -> list[str]:
            checks = [check for check in (await kb.doctor()).checks if check.name == "indexes"]
            return [check.message for check in checks if check.level == "problem"]

        assert await lost() == []
        await drop_text_index(engine, index.label)
        assert corner.found(await store.text_search(index, {"beta": 1.0, "alpha": 1.0}, 5)) == ["a", "b"]
        assert any("keyword index" in note for note in store.capabilities.notes)
        (problem,) = await lost()
        assert "Record" in problem
        await kb.doctor(repair=True)
        assert await lost() == []
    assert corner.found(await store.text_search(index, {"beta": 1.0, "alpha": 1.0}, 5)) == ["a", "b"]
    await store.close()


@pytest.mark.fault("The server ends and loses entries of a keyword index, while a client goes on (here, all are lost)")
async def test_a_client_that_goes_on_where_a_keyword_index_lost_entries(engine: Engine, proxy: BoltProxy) -> None:
    """The client looks at the index before it writes again, and makes it anew: all is found by its words."""
    namespace = engine.namespace()
    given = documents(4)
    async with knowledge(engine, namespace, proxy.uri) as kb:
        await kb.ingest(given[:2])
        await drop_text_index(engine, Label.CHUNK)
        proxy.cut_all()
        await kb.ingest(given[2:])
        assert [problem for problem in await (await kb.client.connect()).check_indexes() if "Chunk" in problem] == []
        for document in given:
            words = document.content.split("\n\n")[1]
            assert document.path in {hit.path for hit in await kb.search(words, k=3, mode="keyword")}


class Wide(HashEmbedder):
    """Vectors as long as those of the largest models, made at once from a whole text."""

    def _one(self, text: str) -> NDArray[np.float64]:
        return np.random.default_rng(zlib.crc32(text.encode())).normal(size=self.dimension)


@pytest.mark.fault("A document of 10 MB with vectors of 3,072 dimensions is sent over a slow connection")
async def test_a_document_of_ten_megabytes_with_wide_vectors(engine: Engine, proxy: BoltProxy) -> None:
    """No message is too large: everything is stored, and is replaced as a whole."""
    chosen = random.Random(6).choices([f"grain{number}" for number in range(5000)], k=1_100_000)
    words = " ".join(chosen)[:10_000_000]
    given = [Document(path="large", content=words), *documents(3)]
    proxy.delay(0.001)
    async with knowledge(
        engine, engine.namespace(), proxy.uri, embedder=Wide(3072), MGRAG_CHUNK_SIZE=16_000, MGRAG_CHUNK_OVERLAP=0
    ) as kb:
        report = await kb.ingest(given)
        assert report.documents.failed == []
        assert report.vectors.embedded > 100
        await assert_sound(kb.client, given)
        given[0] = Document(path="large", content=words[: len(words) // 2])
        assert (await kb.ingest(given)).documents.updated == 1
        await assert_sound(kb.client, given)


async def drop_text_index(engine: Engine, label: Label) -> None:
    """Drop the index of a label behind the back of the store."""
    from neo4j import AsyncGraphDatabase

    auth = (engine.username, engine.password or "") if engine.username else None
    async with AsyncGraphDatabase.driver(engine.uri, auth=auth) as driver:
        agent = (await driver.get_server_info()).agent
        kind = "TEXT INDEX" if "Memgraph" in agent else "INDEX"
        async with driver.session() as session:
            await (await session.run(f"DROP {kind} mgrag_text_{label.value.lower()}")).consume()
