"""The matrix of vectors that a store keeps after a few searches: quicker, and never different."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator
from threading import Barrier
from typing import Any

import numpy as np
import pytest

from core.rag.dbhandler.embedded import dialect, vector_table
from core.rag.dbhandler.embedded.store import EmbeddedStore
from core.rag.dbhandler.embedded.vector_table import changed_indexes
from core.rag.dbhandler.store import Transaction
from core.rag.schema import VectorIndex
from tests.dbhandler.kit import PATIENCE_SECONDS, write

DIMENSION = 5
INDEX = VectorIndex("index", "Vector_kept", DIMENSION)
PUT = f"UNWIND $rows AS row MERGE (v:Vector {{id: row.id}}) SET v:{INDEX.label}, v.embedding = row.embedding"
ADD = f"UNWIND $rows AS row MERGE (v:Vector {{id: row.id}}) ON CREATE SET v:{INDEX.label}, v.embedding = row.embedding"
DELETE = "UNWIND $ids AS i MATCH (v:Vector {id: i}) DETACH DELETE v"


class Scans:
    """Counts the searches that look at every node."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.number = 0
        real = dialect.vector_search

        def vector_search(*arguments: Any) -> Any:
            self.number += 1
            return real(*arguments)

        monkeypatch.setattr(dialect, "vector_search", vector_search)


@pytest.fixture
def scans(monkeypatch: pytest.MonkeyPatch) -> Scans:
    monkeypatch.setattr(vector_table, "MIN_VECTORS", 10)
    return Scans(monkeypatch)


@pytest.fixture
async def store() -> AsyncIterator[EmbeddedStore]:
    opened = await EmbeddedStore.open(":memory:")
    await opened.ensure_schema()
    yield opened
    await opened.close()


async def put(store: EmbeddedStore, vectors: dict[str, Any], statement: str = PUT) -> None:
    await write(store, statement, rows=[{"id": name, "embedding": tuple(map(float, v))} for name, v in vectors.items()])


async def found(store: EmbeddedStore, query: Any, k: int = 5, index: VectorIndex = INDEX) -> list[tuple[str, float]]:
    matches = await store.vector_search(index, tuple(map(float, query)), k)
    return [(match.id, match.score) for match in matches]


async def names(store: EmbeddedStore) -> set[str]:
    return {row["id"] for row in await store.run("MATCH (v:Vector) RETURN v.id AS id")}


async def warmed(store: EmbeddedStore, scans: Scans, query: Any, index: VectorIndex = INDEX) -> None:
    """Search until the matrix is used."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        before = -1
        while before != scans.number:
            before = scans.number
            await found(store, query, index=index)
            await asyncio.sleep(0.002)


def some(number: int, seed: int = 0) -> dict[str, Any]:
    matrix = np.random.default_rng(seed).normal(size=(number, DIMENSION)).astype(np.float32)
    return {f"v{seed}-{i:04}": row.tolist() for i, row in enumerate(matrix)}


async def test_the_matrix_gives_what_the_engine_gives(store: EmbeddedStore, scans: Scans) -> None:
    vectors = some(400)
    vectors |= {f"same{i}": [1.0, 2.0, 3.0, 4.0, 5.0] for i in range(8)}
    vectors |= {"huge": [1e15, -1e15, 0.0, 1e15, 1.0], "short": [1.0, 1.0]}
    await put(store, vectors)
    await write(store, f"CREATE (v:Vector:{INDEX.label} {{id: 'none'}})")
    queries = [*list(some(6, seed=3).values()), [1.0, 2.0, 3.0, 4.0, 5.0]]
    by_engine = [dialect.vector_search(store._db, INDEX, tuple(query), k) for query in queries for k in (1, 5, 50, 900)]
    await warmed(store, scans, queries[0])
    before = scans.number
    by_matrix = [await found(store, query, k) for query in queries for k in (1, 5, 50, 900)]
    assert scans.number == before
    for expected, given in zip(by_engine, by_matrix, strict=True):
        assert [score for _, score in given] == [score for _, score in expected]
        assert len(given) == len(expected) <= 410
        # Among equal scores at the cut, either may be taken.
        cut = expected[-1][1]
        assert [name for name, score in given if score > cut] == [name for name, score in expected if score > cut]


async def test_a_vector_that_the_engine_takes_for_nothing_takes_no_place(store: EmbeddedStore, scans: Scans) -> None:
    query = [1.0] * DIMENSION
    await put(store, some(50) | {"tiny": [1e-25] * DIMENSION})
    expected = dialect.vector_search(store._db, INDEX, tuple(query), 5)
    assert "tiny" not in dict(expected)
    for _ in range(30):
        assert await found(store, query) == expected
        await asyncio.sleep(0.002)


async def test_every_change_is_seen_by_the_next_search(
    store: EmbeddedStore, scans: Scans, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vector_table, "SEARCHES", 1)
    generator = random.Random(4)
    vectors = some(60)
    await put(store, vectors)
    for step in range(150):
        match generator.randrange(8):
            case 0:
                new = some(2, seed=1000 + step)
                await put(store, new, generator.choice([PUT, ADD]))
                vectors |= new
            case 1:
                gone = generator.sample(sorted(vectors), 2)
                await write(store, DELETE, ids=gone)
                vectors = {name: vector for name, vector in vectors.items() if name not in gone}
            case 2:
                name = generator.choice(sorted(vectors))
                vectors[name] = next(iter(some(1, seed=5000 + step).values()))
                await put(store, {name: vectors[name]})
            case 3:
                await write(store, "MERGE (n:Document {id: $id})", id=f"d{step}")
            case _:
                await asyncio.sleep(0.003)  # time to read the vectors
        query = next(iter(some(1, seed=9000 + step).values()))
        if generator.random() < 0.5:  # close to one of them, so that it has to be found
            query = vectors[generator.choice(sorted(vectors))]
        matrix = np.array(list(vectors.values()), dtype=np.float32)
        scores = matrix @ np.asarray(query, np.float32) / np.linalg.norm(matrix, axis=1) / np.linalg.norm(query)
        expected = sorted(zip(scores.tolist(), vectors, strict=True), reverse=True)[:5]
        given = await found(store, query)
        assert [score for _, score in given] == pytest.approx([score for score, _ in expected], abs=1e-5), step
        assert {name for name, _ in given} == {name for _, name in expected}, step
    assert 20 < scans.number < 145, "both ways have to be gone"


async def test_a_rollback_and_other_writes_keep_the_matrix(store: EmbeddedStore, scans: Scans) -> None:
    await put(store, some(50))
    query = [1.0] * DIMENSION
    await warmed(store, scans, query)
    before = scans.number

    async def work(tx: Transaction) -> None:
        await tx.run(PUT, {"rows": [{"id": "new", "embedding": (1.0,) * DIMENSION}]})
        assert "new" not in dict(await found(store, query))
        raise RuntimeError("roll back")

    with pytest.raises(RuntimeError, match="roll back"):
        await store.transaction(work)
    await write(store, "MERGE (n:Document {id: 'd'})")
    await write(store, "MATCH (a:Document {id: 'd'}) MERGE (b:Concept {id: 'c'}) MERGE (a)-[:EXPLAINS]->(b)")
    assert len(await found(store, query)) == 5
    assert scans.number == before


async def test_new_vectors_of_another_index_keep_the_matrix(store: EmbeddedStore, scans: Scans) -> None:
    await put(store, some(50))
    query = [1.0] * DIMENSION
    await warmed(store, scans, query)
    before = scans.number
    await put(store, {"elsewhere": query}, ADD.replace(INDEX.label, "Vector_other"))
    assert "elsewhere" not in dict(await found(store, query))
    assert scans.number == before
    await put(store, {"here": query}, ADD)
    assert (await found(store, query))[0][0] == "here"
    assert scans.number == before + 1


async def test_only_vectors_that_were_added_since_are_read(
    store: EmbeddedStore, scans: Scans, monkeypatch: pytest.MonkeyPatch
) -> None:
    await put(store, some(50))
    query = [1.0] * DIMENSION
    await warmed(store, scans, query)
    real = dialect.vectors_of
    read: list[str] = []

    def vectors_of(db: Any, index: VectorIndex, nodes: Any) -> Any:
        read.extend(name for _, name in nodes)
        return real(db, index, nodes)

    monkeypatch.setattr(dialect, "vectors_of", vectors_of)
    await put(store, {"first": query, "second": query}, ADD)
    await write(store, DELETE, ids=["first", "v0-0007"])
    # The same id again, for another vector.
    opposite = [-1.0] * DIMENSION
    await put(store, {"first": opposite, "v0-0007": query}, ADD)
    await warmed(store, scans, query)
    assert sorted(read) == ["first", "second", "v0-0007"]
    before = scans.number
    assert [name for name, _ in await found(store, query, 2)] == ["second", "v0-0007"]
    assert (await found(store, opposite, 1))[0][0] == "first"
    assert scans.number == before
    await put(store, {"v0-0003": query})  # one that was there gets another vector
    await warmed(store, scans, query)
    assert len(read) == 3 + 52
    assert "v0-0003" in dict(await found(store, query, 3))


async def test_what_is_left_of_another_index_makes_room(
    store: EmbeddedStore, scans: Scans, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vector_table, "MAX_BYTES", 4 * DIMENSION * 60)
    query, other = [1.0] * DIMENSION, VectorIndex("other", "Vector_other", DIMENSION)
    await put(store, some(50), ADD.replace(INDEX.label, other.label))
    await warmed(store, scans, query, other)
    await write(store, DELETE, ids=list(some(50)))
    await put(store, some(50, seed=1), ADD)
    await warmed(store, scans, query)
    before = scans.number
    assert len(await found(store, query)) == 5
    assert scans.number == before


async def test_indexes_that_are_read_at_the_same_time_share_the_room(
    store: EmbeddedStore, scans: Scans, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each found room before the other took it; then there was less than none, which failed the next one."""
    indexes = [VectorIndex(name, f"Vector_{name}", DIMENSION) for name in ("one", "two", "three")]
    for seed, index in enumerate(indexes):
        await put(store, some(50, seed), PUT.replace(INDEX.label, index.label))
    monkeypatch.setattr(vector_table, "MAX_BYTES", 4 * DIMENSION * 75)
    both, read = Barrier(2), dialect.vectors_of

    def read_together(*arguments: Any) -> Any:
        both.wait(PATIENCE_SECONDS)
        return read(*arguments)

    tables = store._vectors
    with monkeypatch.context() as together:
        together.setattr(dialect, "vectors_of", read_together)
        await asyncio.gather(*(asyncio.to_thread(tables.load, store._db, index) for index in indexes[:2]))
    tables.load(store._db, indexes[2])
    before = scans.number
    for index in indexes:
        await found(store, [1.0] * DIMENSION, index=index)
    assert scans.number - before == 2, "there is room for one"


@pytest.mark.parametrize("statement", [PUT, ADD])
async def test_vectors_that_were_read_before_a_commit_are_not_kept_after_it(
    store: EmbeddedStore, scans: Scans, monkeypatch: pytest.MonkeyPatch, statement: str
) -> None:
    await put(store, some(50))
    real = dialect.vectors_of
    reading, committed = asyncio.Event(), asyncio.Event()
    loop = asyncio.get_running_loop()

    def vectors_of(*arguments: Any) -> Any:
        part = real(*arguments)
        loop.call_soon_threadsafe(reading.set)
        asyncio.run_coroutine_threadsafe(committed.wait(), loop).result(PATIENCE_SECONDS)
        return part

    monkeypatch.setattr(dialect, "vectors_of", vectors_of)
    query = [1.0] * DIMENSION
    for _ in range(vector_table.SEARCHES):
        await found(store, query)
    await asyncio.wait_for(reading.wait(), PATIENCE_SECONDS)
    await put(store, {"new": query}, statement)
    committed.set()
    for _ in range(30):
        assert (await found(store, query))[0][0] == "new"
        await asyncio.sleep(0.002)


async def test_a_store_is_closed_while_vectors_are_read(
    graph_file: Any, scans: Scans, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = await EmbeddedStore.open(str(graph_file))
    await store.ensure_schema()
    await put(store, some(500))
    for _ in range(vector_table.SEARCHES):
        await found(store, [1.0] * DIMENSION)
    await store.close()
    again = await EmbeddedStore.open(str(graph_file))
    assert len(await found(again, [1.0] * DIMENSION)) == 5
    await again.close()


@pytest.mark.parametrize(("name", "value"), [("MIN_VECTORS", 51), ("MAX_BYTES", 4 * DIMENSION * 49)])
async def test_too_few_or_too_many_vectors_are_not_kept(
    store: EmbeddedStore, scans: Scans, monkeypatch: pytest.MonkeyPatch, name: str, value: int
) -> None:
    monkeypatch.setattr(vector_table, name, value)
    await put(store, some(50))
    for _ in range(20):
        await found(store, [1.0] * DIMENSION)
        await asyncio.sleep(0.002)
    assert scans.number == 20


async def test_vectors_of_several_parts_are_all_read(
    store: EmbeddedStore, scans: Scans, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vector_table, "_PART", 16)
    for number in (16, 16, 5):  # the last part full, the last part empty, the last part short
        vectors = some(number, seed=number + len(await names(store)))
        await put(store, vectors)
        query = next(iter(vectors.values()))
        await warmed(store, scans, query)
        before = scans.number
        expected = dict(dialect.vector_search(store._db, INDEX, tuple(query), 1000))
        assert dict(await found(store, query, 1000)) == expected
        assert set(expected) == await names(store)
        assert scans.number == before + 1  # the one above


@pytest.mark.parametrize(
    ("statement", "indexes"),
    [
        (PUT, None),
        (DELETE, None),
        (ADD, {INDEX.label}),
        (ADD.replace(INDEX.label, "Vector_other"), {"Vector_other"}),
        ("CREATE (v:Vector:Vector_a {id: $id}) CREATE (w:Vector:Vector_b {id: $other})", {"Vector_a", "Vector_b"}),
        (f"{ADD} WITH v MATCH (w:Vector {{id: $id}}) SET w.embedding = v.embedding", None),
        (f"{ADD} ON MATCH SET v.embedding = row.embedding", None),
        (f"{ADD} WITH v MATCH (w:Vector {{id: $id}}) DETACH DELETE w", None),
        ("MERGE (v:Vector {id: $id}) ON CREATE SET v.embedding = $embedding", None),
        ("UNWIND $ids AS i MATCH (v:Vector {id: i}) RETURN v.id AS id", set()),
        ("MATCH (s:VectorStore {id: $id})<-[:STORED_IN]-(v) DETACH DELETE v", None),
        ("MATCH (c:DocumentChunk)<-[:EMBEDDING_OF]-(v) DETACH DELETE v", None),
        ("MATCH (n) WHERE n.namespace = $namespace DETACH DELETE n", None),
        ("match (n {id: $id}) detach delete n", None),
        ("MATCH (d:Document {id: $id})<-[*1..3]-(n) DETACH DELETE n", None),
        ("UNWIND $ids AS i MATCH (n {id: i}) SET n += $props", None),
        ("UNWIND $rows AS row MERGE (n {id: row.id}) SET n += row.props", None),
        ("UNWIND $ids AS i MATCH (c:DocumentChunk {id: i}) DETACH DELETE c", set()),
        ("UNWIND $rows AS row MERGE (d:Document {id: row.id}) SET d += row.props", set()),
        ("MATCH (i:Interaction {id: $i}) MATCH (c:Conversation {id: $c}) MERGE (i)-[:PART_OF]->(c)", set()),
    ],
)
def test_a_statement_tells_which_vectors_it_changes(statement: str, indexes: set[str] | None) -> None:
    assert changed_indexes(statement) == indexes
