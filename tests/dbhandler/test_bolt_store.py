"""What only a store on a server does: fallbacks, limits, indexes that somebody else has made, connections."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import numpy as np
import pytest
from neo4j import AsyncDriver, AsyncGraphDatabase

from core.rag.dbhandler.bolt import defining
from core.rag.dbhandler.bolt.dialect import MAX_WORDS, text_index_name
from core.rag.dbhandler.bolt.errors import Again, Failure
from core.rag.dbhandler.bolt.memgraph import MemgraphDialect
from core.rag.dbhandler.bolt.neo4j import Neo4jDialect
from core.rag.dbhandler.bolt.store import BoltStore
from core.rag.dbhandler.bolt.work import RetryableError
from core.rag.dbhandler.scan import scan_text
from core.rag.dbhandler.store import Row, Transaction
from core.rag.errors import (
    InvalidInputError,
    ModelMismatchError,
    StoreConflictError,
    StoreReadOnlyError,
    StoreTimeoutError,
    StoreUnavailableError,
)
from core.rag.schema import Label, TextIndex, VectorIndex
from tests.dbhandler.kit import Corner, Engine, bolt_engine
from tests.servers.proxy import BoltProxy

pytestmark = pytest.mark.bolt


@pytest.fixture
async def engine() -> AsyncIterator[Engine]:
    yield bolt_engine()


@pytest.fixture
async def driver(engine: Engine) -> AsyncIterator[AsyncDriver]:
    """A way to the server behind the back of the store."""
    auth = (engine.username, engine.password or "") if engine.username else None
    async with AsyncGraphDatabase.driver(engine.uri, auth=auth) as opened:
        yield opened


async def define(driver: AsyncDriver, statement: str) -> None:
    async with driver.session() as session:
        await (await session.run(statement)).consume()


def is_memgraph(corner: Corner) -> bool:
    return corner.store.capabilities.engine == "memgraph"


async def drop_vectors(corner: Corner, driver: AsyncDriver, name: str) -> None:
    await define(driver, f"DROP VECTOR INDEX {name}" if is_memgraph(corner) else f"DROP INDEX {name}")


async def test_an_index_that_nothing_was_stored_for_is_not_missing(corner: Corner) -> None:
    index = VectorIndex(label="Vector_ofnothing", dimension=3, name="vector_of_nothing")
    assert await corner.store.vector_search(index, [1.0, 0.0, 0.0], 5) == []
    assert not any(corner.store.capabilities.notes)


async def test_vectors_that_are_too_long_for_an_index_are_compared_without(
    corner: Corner, caplog: pytest.LogCaptureFixture
) -> None:
    index = await corner.vector_index(5_000)
    east, north = [1.0] + [0.0] * 4_999, [0.0] * 4_999 + [1.0]
    with caplog.at_level(logging.WARNING, "mgrag"):
        await corner.put_vectors(index, {"east": east, "north": north})
        found = await corner.store.vector_search(index, north, 1)
    assert [match.score for match in found] == [pytest.approx(1.0)]
    if not is_memgraph(corner):  # Neo4j has indexes of up to 4,096 dimensions
        assert [record.message for record in caplog.records] == [*corner.store.capabilities.notes] != []


async def test_a_vector_index_that_is_gone_is_done_without(
    corner: Corner, driver: AsyncDriver, caplog: pytest.LogCaptureFixture
) -> None:
    generator = np.random.default_rng(3)
    index = await corner.vector_index(16)
    await corner.put_vectors(index, {f"v{i}": generator.normal(size=16).tolist() for i in range(60)})
    query = tuple(generator.normal(size=16).tolist())
    before = await corner.store.vector_search(index, query, 10)
    assert not any(corner.store.capabilities.notes)
    await drop_vectors(corner, driver, index.name)
    with caplog.at_level(logging.WARNING, "mgrag"):
        for _ in range(3):
            after = await corner.store.vector_search(index, query, 10)
    assert [match.id for match in after] == [match.id for match in before]
    assert [match.score for match in after] == pytest.approx([match.score for match in before], abs=1e-5)
    (note,) = corner.store.capabilities.notes
    assert index.name in note
    assert [record.getMessage() for record in caplog.records if record.name == "mgrag"] == [note]
    await corner.store.ensure_vector_index(index)
    assert [match.id for match in await corner.store.vector_search(index, query, 10)] == [match.id for match in before]


async def test_the_client_ranks_words_as_the_server_does(corner: Corner) -> None:
    generator = np.random.default_rng(4)
    vocabulary = [f"w{i}" for i in range(60)]
    index = await corner.text_index()
    weights = 1 / np.arange(1, 61)
    await corner.put_texts(
        index,
        {
            f"d{i:03}": " ".join(generator.choice(vocabulary, size=5 + i % 50, p=weights / weights.sum()))
            for i in range(150)
        },
    )
    words = {"w3": 1.0, "w20": 0.5, "w41": 1.0, "absent": 1.0}
    server = await corner.store.text_search(index, words, 200)
    client = await scan_text(corner.store, index, words, 200)
    assert corner.found(client) == corner.found(server)
    assert [match.score for match in client] == pytest.approx([match.score for match in server])


async def test_words_that_many_texts_hold_rank_as_on_the_embedded_engine(corner: Corner) -> None:
    """More texts match than are looked at; texts of other namespaces, and rounded lengths, count for nothing."""
    generator = np.random.default_rng(8)
    weights = 1 / np.arange(1, 201)
    texts = {
        f"d{i:04}": " ".join(
            generator.choice([f"w{n}" for n in range(200)], size=20 + i % 90, p=weights / weights.sum())
        )
        for i in range(900)
    }
    other = Corner(corner.engine, corner.store)
    await other.put_texts(await other.text_index(), {f"o{i}": "w1 w2 w2 w2" for i in range(200)})
    embedded = Corner(Engine("embedded::memory:"), await Engine("embedded::memory:").open())
    await embedded.store.ensure_schema()
    for one in (corner, embedded):
        await one.put_texts(await one.text_index(), texts)
    for words in ({"w1": 1.0, "w2": 1.0}, {"w0": 1.0, "w5": 0.5, "w150": 1.0}, {"w3": 2.0, "absent": 1.0}):
        expected, found = [
            [(name, match.score) for name, match in zip(one.found(matches), matches, strict=True)]
            for one in (embedded, corner)
            for matches in [await one.store.text_search(TextIndex(Label.CHUNK, one.namespace), words, 20)]
        ]
        assert [name for name, _ in found] == [name for name, _ in expected]
        assert [score for _, score in found] == pytest.approx([score for _, score in expected], rel=1e-5)
    await embedded.store.close()
    await other.clean()


async def test_numbers_of_a_namespace_follow_what_is_written(corner: Corner) -> None:
    index = await corner.text_index()
    await corner.put_texts(index, {"a": "alpha beta", "b": "beta"})
    (before,) = await corner.store.text_search(index, {"alpha": 1.0}, 5)
    assert await corner.store.text_search(index, {"alpha": 1.0}, 5) == [before]
    await corner.put_texts(index, {f"c{i}": "gamma" for i in range(8)})
    (after,) = await corner.store.text_search(index, {"alpha": 1.0}, 5)
    assert after.score > before.score  # rarer now
    await corner.delete(*(f"c{i}" for i in range(8)), label=Label.CHUNK)
    assert await corner.store.text_search(index, {"alpha": 1.0}, 5) == [before]


async def test_more_words_than_a_server_takes(corner: Corner) -> None:
    index = await corner.text_index()
    await corner.put_texts(index, {"a": "needle straw", "b": "straw"})
    words = {f"w{i}": 0.5 for i in range(3 * MAX_WORDS)} | {"needle": 1.0, "tiny": 1e-300, "huge": 1e3}
    assert corner.found(await corner.store.text_search(index, words, 5)) == ["a"]


async def test_weights_far_apart(corner: Corner) -> None:
    index = await corner.text_index()
    await corner.put_texts(index, {"a": "alpha", "b": "beta", "c": "gamma"})
    found = await corner.store.text_search(index, {"alpha": 1e6, "beta": 2.5e-2, "gamma": 1e-5}, 5)
    assert corner.found(found)[:2] == ["a", "b"]
    assert found[0].score > 1e6 * found[1].score


async def test_a_name_that_somebody_elses_vector_index_has(corner: Corner, driver: AsyncDriver) -> None:
    """As in a database where another program, or an older one of the same name, keeps its vectors."""
    taken = VectorIndex(f"taken_{corner.namespace[5:25]}", f"Vector_{corner.namespace[5:17]}", 3)
    if is_memgraph(corner):
        await define(
            driver,
            f"CREATE VECTOR INDEX {taken.name} ON :Theirs{taken.name}(embedding) WITH CONFIG "
            '{"dimension": 7, "capacity": 10, "metric": "cos"}',
        )
    else:
        await define(
            driver,
            f"CREATE VECTOR INDEX {taken.name} FOR (v:Theirs{taken.name}) ON (v.embedding) OPTIONS "
            "{indexConfig: {`vector.dimensions`: 7, `vector.similarity_function`: 'cosine'}}",
        )
    try:
        await corner.store.ensure_vector_index(taken)
        await corner.store.ensure_vector_index(taken)
        await corner.put_vectors(taken, {"a": (1, 0, 0), "b": (0, 1, 0)})
        found = await corner.store.vector_search(taken, (1.0, 0.1, 0.0), 5)
        assert corner.found(found) == ["a", "b"]
        assert not any(corner.store.capabilities.notes)
    finally:
        await corner.store.drop_vector_index(taken)
        await drop_vectors(corner, driver, taken.name)


async def test_a_keyword_index_of_another_definition_is_made_anew(corner: Corner, driver: AsyncDriver) -> None:
    name = text_index_name(Label.ENTITY)
    await corner.text_index(Label.ENTITY)
    if is_memgraph(corner):
        await define(driver, f"DROP TEXT INDEX {name}")
        await define(driver, f"CREATE TEXT INDEX {name} ON :Entity(name)")
    else:
        await define(driver, f"DROP INDEX {name}")
        await define(driver, f"CREATE FULLTEXT INDEX {name} FOR (n:Entity) ON EACH [n.name]")
    index = await corner.text_index(Label.ENTITY)
    await corner.put_texts(index, {"a": "alpha"})
    assert corner.found(await corner.store.text_search(index, {"alpha": 1.0}, 5)) == ["a"]


@pytest.mark.parametrize("what", ["text", "vector"])
async def test_an_index_is_done_without_where_others_write_all_the_time(
    corner: Corner, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    async def busy(*_: object) -> None:
        raise StoreConflictError("Cannot get unique access to the storage")

    for dialect in (MemgraphDialect, Neo4jDialect):
        monkeypatch.setattr(dialect, f"ensure_{what}_index", busy)
    if what == "text":
        index = await corner.text_index(Label.ENTITY)
        await corner.put_texts(index, {"a": "alpha", "b": "beta"})
        found = await corner.store.text_search(index, {"alpha": 1.0}, 5)
    else:
        vectors = await corner.vector_index(3)
        await corner.put_vectors(vectors, {"a": (1, 0, 0)})
        found = await corner.store.vector_search(vectors, (1.0, 0.1, 0.0), 5)
    assert corner.found(found) == ["a"]
    assert corner.store.capabilities.notes
    assert all("missing" in note for note in corner.store.capabilities.notes)


async def test_an_index_that_was_done_without_is_created_later_by_the_same_client(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And whoever answers somebody does not wait for it as long as a write may."""
    store = await engine.open(MGRAG_RETRY_DEADLINE=3600)
    index = VectorIndex("vector_later", "Vector_later", 3)
    once = BoltStore._once

    async def busy(self: BoltStore, statement: str, *arguments: Any, reading: bool) -> list[Row]:
        if not reading:
            failed = StoreConflictError("Cannot get unique access to the storage")
            raise RetryableError(Failure(failed, Again.UNTIL_DEADLINE))
        return await once(self, statement, *arguments, reading=reading)

    try:
        with monkeypatch.context() as patch:
            patch.setattr(BoltStore, "_once", busy)
            async with asyncio.timeout(60):
                assert not await store.ensure_vector_index(index, patient=False)
                assert not await store.ensure_vector_index(index), "tried again at once"
        assert any("missing" in note for note in store.capabilities.notes)
        monkeypatch.setattr(defining, "_AGAIN_SECONDS", 0.0)
        assert await store.ensure_vector_index(index)
        assert await store.has_vector_index(index)
        assert store.capabilities.notes == ()
    finally:
        await store.drop_vector_index(index)
        await store.close()


async def test_the_first_writers_that_meet_on_a_graph_take_turns(engine: Engine, driver: AsyncDriver) -> None:
    """As those do who meet later: else each does all of its work beside the other, and both do it in vain."""
    stores = [await engine.open(), await engine.open()]
    if stores[0].capabilities.engine == "memgraph":
        await define(driver, f"MATCH (t:{Label.SCHEMA_VERSION} {{id: 'turn'}}) DETACH DELETE t")
    have_met = asyncio.Barrier(2)
    statement = f"MERGE (n:{Label.RECORD} {{id: 'met in turn'}}) SET n.namespace = 'met in turn', n.by = $by"
    inside: list[int] = []

    def writer(number: int) -> Callable[[Transaction], Awaitable[None]]:
        attempts = 0

        async def work(tx: Transaction) -> None:
            nonlocal attempts
            attempts += 1
            if attempts == 1:
                await have_met.wait()
                raise StoreConflictError("They met.")
            await tx.run(statement, {"by": f"{number} {attempts}"})
            inside.append(number)
            try:
                await asyncio.sleep(0.2)
                assert inside == [number]
            finally:
                inside.remove(number)

        return work

    try:
        await asyncio.gather(*(store.transaction(writer(number)) for number, store in enumerate(stores)))
    finally:
        await stores[0].transaction(lambda tx: tx.run(f"MATCH (n:{Label.RECORD} {{id: 'met in turn'}}) DELETE n"))
        for store in stores:
            await store.close()


async def test_a_search_with_the_dimension_of_another_model(corner: Corner) -> None:
    index = await corner.vector_index(3)
    await corner.put_vectors(index, {"a": (1, 0, 0)})
    with pytest.raises(ModelMismatchError, match="4"):
        await corner.store.vector_search(VectorIndex(index.name, index.label, 4), (1.0, 0.0, 0.0, 0.0), 5)


async def test_a_query_that_takes_too_long_is_ended_and_not_repeated(engine: Engine) -> None:
    store = await engine.open(MGRAG_QUERY_TIMEOUT=0.5, MGRAG_RETRY_DEADLINE=60)
    started = time.monotonic()
    with pytest.raises(StoreTimeoutError, match="MGRAG_QUERY_TIMEOUT"):
        await store.run(
            "UNWIND range(1, 100000) AS a UNWIND range(1, 100000) AS b WITH a, b WHERE a * b = -1 RETURN count(*) AS n"
        )
    assert time.monotonic() - started < 20
    assert await store.run("RETURN 1 AS one") == [{"one": 1}]
    await store.close()


@pytest.mark.parametrize("seconds", [float("inf"), 1e300])
async def test_queries_may_take_for_ever(engine: Engine, seconds: float) -> None:
    """As with the other times, for which an infinite one is none."""
    store = await engine.open(MGRAG_QUERY_TIMEOUT=seconds)
    try:
        assert await store.run("RETURN 1 AS one") == [{"one": 1}]
        assert await store.transaction(lambda tx: tx.run("RETURN 1 AS one")) == [{"one": 1}]
    finally:
        await store.close()


async def test_an_indexed_value_that_is_too_long(corner: Corner) -> None:
    """One error that says so, or it is stored whole."""
    try:
        await corner.put("a", label=Label.RESOURCE, uri="x" * 100_000)
    except InvalidInputError as error:
        assert "too" in str(error)
    else:
        assert await corner.value("a", "uri", Label.RESOURCE) == "x" * 100_000


async def test_idle_connections_that_were_cut_are_replaced(engine: Engine) -> None:
    async with BoltProxy(engine.uri) as proxy:
        store = await Engine(proxy.uri, engine.username, engine.password).open()
        corner = Corner(engine, store)
        await asyncio.gather(*(store.run("RETURN 1 AS one") for _ in range(6)))
        assert proxy.cut_all() > 1
        started = time.monotonic()
        await corner.put("a")
        assert await corner.stored() == ["a"]
        assert time.monotonic() - started < 10
        await corner.clean()
        await store.close()


async def test_a_server_that_came_back_without_its_schema_gets_it_with_the_next_write(
    engine: Engine, driver: AsyncDriver
) -> None:
    """Memgraph without a volume: every look at an id read all nodes, and two clients could create the same one."""
    async with BoltProxy(engine.uri) as proxy:
        store = await Engine(proxy.uri, engine.username, engine.password).open()
        corner = Corner(engine, store)
        await store.ensure_schema()
        memgraph = is_memgraph(corner)
        show = "SHOW CONSTRAINT INFO" if memgraph else "SHOW CONSTRAINTS"
        before = len(await store.run(show))
        name = f"mgrag_{Label.TOPIC.value.lower()}_id"
        dropped = f"CONSTRAINT ON (n:{Label.TOPIC}) ASSERT n.id IS UNIQUE" if memgraph else f"CONSTRAINT {name}"
        await define(driver, f"DROP {dropped}")
        await corner.put("a")
        assert len(await store.run(show)) == before - 1, "as long as it was not started again"
        assert proxy.cut_all() > 0
        await corner.put("b")
        assert len(await store.run(show)) == before
        await corner.clean()
        await store.close()


async def test_closing_and_failing_to_open_leave_no_connections(engine: Engine) -> None:
    async with BoltProxy(engine.uri) as proxy:
        there = Engine(proxy.uri, engine.username, engine.password)
        store = await there.open()
        await asyncio.gather(*(store.run("RETURN 1 AS one") for _ in range(6)))
        assert proxy.connections > 0
        await store.close()
        with pytest.raises(StoreUnavailableError):
            await there.open(MGRAG_CONNECT_TIMEOUT=0.001)
        for _ in range(100):
            if proxy.connections == 0:
                break
            await asyncio.sleep(0.05)
        assert proxy.connections == 0


async def test_a_large_batch_of_large_vectors(corner: Corner) -> None:
    """3,072 dimensions, and texts of megabytes, in one transaction."""
    index = await corner.vector_index(3072)
    generator = np.random.default_rng(1)
    vectors = {f"v{i}": generator.normal(size=3072).tolist() for i in range(60)}
    await corner.put_vectors(index, vectors)
    await corner.put("big", content="grain " * 500_000)
    assert len(await corner.stored(Label.VECTOR)) == 60
    assert len(await corner.value("big", "content")) == 3_000_000
    found = await corner.store.vector_search(index, tuple(vectors["v7"]), 1)
    assert corner.found(found) == ["v7"]


async def test_a_store_for_reading_only_stores_nothing(corner: Corner, engine: Engine) -> None:
    await corner.put("there")
    store = await engine.open(MGRAG_READ_ONLY=True)
    try:
        await store.ensure_schema()
        assert store.capabilities.read_only
        assert any("MGRAG_READ_ONLY" in note for note in store.capabilities.notes)
        assert (await store.run("MATCH (n:Document) RETURN count(n) AS n"))[0]["n"] > 0

        async def work(tx: Transaction) -> None:
            await tx.run("CREATE (:Document {id: 'x'})")

        with pytest.raises(StoreReadOnlyError, match="MGRAG_READ_ONLY"):
            await store.transaction(work)
    finally:
        await store.close()


async def test_nodes_are_looked_up_by_their_ids_however_few_are_at_the_other_end(
    corner: Corner, driver: AsyncDriver
) -> None:
    if not is_memgraph(corner):
        return  # it finds its way by itself
    await corner.put(*(f"e{number}" for number in range(2_000)), label=Label.ENTITY)
    await corner.put("c", label=Label.CONCEPT)
    store = corner.store
    assert isinstance(store, BoltStore)
    statement = store._hinted("UNWIND $ids AS i MATCH (e:Entity {id: i})<-[:ABOUT]-(c:Concept) RETURN c.id AS id")
    assert await scans(driver, statement, ids=["e1"]) == [" * ScanAllByLabelProperties (e :Entity {id})"]


@pytest.mark.parametrize(
    ("statement", "scan"),
    [
        ("MATCH (e:Entity) WHERE e.namespace = $name RETURN count(e)", "Properties (e :Entity {namespace, id})"),
        ("MATCH (c:DocumentChunk) WHERE c.namespace = $name AND c.chunk_index = 0 RETURN c.id", "Properties (c :Doc"),
        ("MATCH (d:Document {id: $name}) WHERE d.namespace = $name RETURN d.title", "Properties (d :Document {id})"),
        ("MATCH (v:Vector_ab12) RETURN count(v)", " (v :Vector)"),
    ],
)
async def test_what_is_said_of_a_namespace_takes_no_longer_for_others(
    corner: Corner, driver: AsyncDriver, statement: str, scan: str
) -> None:
    if not is_memgraph(corner):
        return
    await corner.put("e", label=Label.ENTITY)  # creates the schema
    store = corner.store
    assert isinstance(store, BoltStore)
    steps = await scans(driver, store._hinted(statement), name="x")
    assert len(steps) == 1
    assert steps[0].startswith(f" * ScanAllByLabel{scan}")


async def scans(driver: AsyncDriver, statement: str, **parameters: Any) -> list[str]:
    """The steps of the plan of a statement that read nodes."""
    async with driver.session() as session:
        plan = await (await session.run(f"EXPLAIN {statement}", parameters)).values()
    return [row[0] for row in plan if "Scan" in row[0]]
