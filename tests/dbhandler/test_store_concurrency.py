"""Many at once on every engine: tasks, threads and event loops share one store, and nothing is lost or doubled."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

from core.rag.dbhandler.store import GraphStore, Transaction
from core.rag.schema import EdgeType, Label
from tests.dbhandler.kit import Corner, Engine, eventually

MERGE = "UNWIND $rows AS row MERGE (n:Document {id: row.id}) SET n += row.props"
ADD = (
    # The first SET makes a server lock the node before it reads the sum.
    "MATCH (n:Document {id: $id}) SET n.locked_by = $me "
    "WITH n, coalesce(n.total, 0) + 1 AS total SET n.total = total RETURN total"
)


async def add_one(corner: Corner, name: str, me: str) -> int:
    async def work(tx: Transaction) -> int:
        rows = await tx.run(ADD, {"id": corner.id(name), "me": me})
        return int(rows[0]["total"])

    return await corner.store.transaction(work)


async def edges(corner: Corner, edge: EdgeType) -> int:
    rows = await corner.store.run(
        f"MATCH (n)-[r:{edge}]->() WHERE n.namespace = $namespace RETURN count(r) AS n", {"namespace": corner.namespace}
    )
    return int(rows[0]["n"])


async def test_many_tasks_that_write_the_same_ids_make_no_duplicates(corner: Corner) -> None:
    names = [f"n{i}" for i in range(10)]

    async def write(number: int) -> None:
        async def work(tx: Transaction) -> None:
            rows = [{"id": corner.id(name), "props": {"namespace": corner.namespace}} for name in names]
            await tx.run(MERGE, {"rows": rows})
            await tx.run(
                "UNWIND $rows AS row MATCH (a:Document {id: row.a}) MATCH (b:Document {id: row.b}) "
                "MERGE (a)-[:REFERENCES]->(b)",
                {"rows": [{"a": corner.id(a), "b": corner.id(b)} for a, b in pairwise(names)]},
            )

        await corner.store.transaction(work)

    await asyncio.gather(*(write(number) for number in range(24)))
    assert await corner.stored() == sorted(names)
    assert await edges(corner, EdgeType.REFERENCES) == 9


async def test_no_update_is_lost(corner: Corner) -> None:
    await corner.put("counter")
    totals = await asyncio.gather(*(add_one(corner, "counter", str(i)) for i in range(30)))
    assert sorted(totals) == list(range(1, 31))
    assert await corner.value("counter", "total") == 30


async def test_many_edges_onto_one_node_from_many_tasks(corner: Corner) -> None:
    await corner.put("hub")

    async def attach(number: int) -> None:
        async def work(tx: Transaction) -> None:
            await tx.run(
                "MATCH (h:Document {id: $hub}) MERGE (c:DocumentChunk {id: $id}) SET c.namespace = $namespace "
                "MERGE (c)-[:CHUNK_OF]->(h)",
                {"hub": corner.id("hub"), "id": corner.id(f"c{number}"), "namespace": corner.namespace},
            )

        await corner.store.transaction(work)

    await asyncio.gather(*(attach(number) for number in range(30)), *(attach(number) for number in range(30)))
    assert len(await corner.stored(Label.CHUNK)) == 30
    assert await edges(corner, EdgeType.CHUNK_OF) == 30


async def test_readers_see_whole_transactions_only(corner: Corner) -> None:
    await corner.put("a", "b", version=0)
    done = asyncio.Event()
    seen: list[tuple[int, ...]] = []

    async def write() -> None:
        for version in range(1, 21):

            async def work(tx: Transaction, version: int = version) -> None:
                for name in ("a", "b"):
                    await tx.run(
                        "MATCH (n:Document {id: $id}) SET n.version = $version",
                        {"id": corner.id(name), "version": version},
                    )

            await corner.store.transaction(work)
        done.set()

    async def read() -> None:
        while not done.is_set():
            rows = await corner.store.run(
                "MATCH (n:Document) WHERE n.namespace = $namespace RETURN collect(n.version) AS versions",
                {"namespace": corner.namespace},
            )
            seen.append(tuple(sorted(rows[0]["versions"])))

    await asyncio.gather(write(), read(), read(), read())
    assert seen
    if corner.store.capabilities.engine != "neo4j":  # which reads what is committed, statement by statement, row by row
        assert [pair for pair in seen if pair[0] != pair[1]] == []
    assert await corner.value("a", "version") == await corner.value("b", "version") == 20


async def test_a_failing_writer_does_not_disturb_the_others(corner: Corner) -> None:
    async def write(number: int) -> None:
        async def work(tx: Transaction) -> None:
            await tx.run(MERGE, {"rows": [{"id": corner.id(f"n{number}"), "props": {"namespace": corner.namespace}}]})
            if number % 3 == 0:
                raise RuntimeError("on purpose")
            if number % 3 == 1:
                asyncio.current_task().cancel()  # type: ignore[union-attr]
                await asyncio.sleep(0)

        await corner.store.transaction(work)

    outcomes = await asyncio.gather(*(write(number) for number in range(30)), return_exceptions=True)
    assert [type(outcome) for outcome in outcomes[:3]] == [RuntimeError, asyncio.CancelledError, type(None)]
    assert await corner.stored() == sorted(f"n{number}" for number in range(2, 30, 3))


def test_threads_with_their_own_event_loops_share_a_store(engine: Engine) -> None:
    store = asyncio.run(engine.open())
    asyncio.run(store.ensure_schema())
    corner = Corner(engine, store)
    asyncio.run(corner.put("counter"))
    together = threading.Barrier(6)

    def live(me: int) -> int:
        async def main() -> int:
            index = await corner.text_index()
            together.wait()
            for round_number in range(5):
                await asyncio.gather(
                    add_one(corner, "counter", f"{me}"),
                    corner.put(f"own-{me}-{round_number}", "shared"),
                    corner.put_texts(index, {f"text-{me}": f"alpha{me}"}),
                    corner.stored(),
                )
            found = await eventually(
                lambda: corner.store.text_search(index, {f"alpha{me}": 1.0}, 5), lambda found: len(found) == 1
            )
            return len(found)

        return asyncio.run(main())

    try:
        with ThreadPoolExecutor(6) as threads:
            assert list(threads.map(live, range(6))) == [1] * 6

        async def check() -> None:
            assert await corner.value("counter", "total") == 30
            stored = await corner.stored()
            assert stored.count("shared") == 1
            assert len(stored) == 2 + 6 * 5

        asyncio.run(check())
    finally:
        asyncio.run(store.close())


def test_one_store_serves_one_event_loop_after_another(engine: Engine) -> None:
    store: GraphStore = asyncio.run(engine.open())
    asyncio.run(store.ensure_schema())
    corner = Corner(engine, store)
    asyncio.run(corner.put("counter"))
    for number in range(4):
        assert asyncio.run(add_one(corner, "counter", str(number))) == number + 1
        assert asyncio.run(corner.stored()) == ["counter"]
    asyncio.run(store.close())


def test_a_loop_that_ends_in_the_middle_of_a_transaction_leaves_the_store_usable(engine: Engine) -> None:
    store = asyncio.run(engine.open())
    asyncio.run(store.ensure_schema())
    corner = Corner(engine, store)

    async def ends_early() -> None:
        inside = asyncio.Event()

        async def work(tx: Transaction) -> None:
            await tx.run(MERGE, {"rows": [{"id": corner.id("half"), "props": {"namespace": corner.namespace}}]})
            inside.set()
            await asyncio.sleep(3600)

        tasks = [asyncio.create_task(corner.store.transaction(work)) for _ in range(3)]
        await inside.wait()
        assert not any(task.done() for task in tasks)

    asyncio.run(ends_early())
    asyncio.run(corner.put("whole"))
    assert asyncio.run(corner.stored()) == ["whole"]
    asyncio.run(store.close())


async def test_of_vector_stores_that_are_made_active_at_once_one_is(engine: Engine) -> None:
    async with engine.knowledge() as kb:
        stores = [
            await kb.client.ensure_vector_store(f"model-{size}", size, new_store=size > 4) for size in (4, 8, 12, 16)
        ]
        for _ in range(10):
            await asyncio.gather(*(kb.client.activate_vector_store(store) for store in stores))
            there = await kb.client.vector_stores()
            assert [store.status for store in there] == ["active", "standby", "standby", "standby"]
