"""The guards of the embedded store inside one process; each test fails when its guard is taken away."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from core.rag.dbhandler.embedded import engine as grafeo_engine
from core.rag.dbhandler.embedded.errors import map_error
from core.rag.dbhandler.embedded.store import EmbeddedStore
from core.rag.dbhandler.gate import WriterGate
from core.rag.dbhandler.store import Transaction
from core.rag.errors import (
    InvalidInputError,
    QueryError,
    StoreConflictError,
    StoreConstraintError,
    StoreDamagedError,
    StoreError,
    StoreFullError,
    StoreReadOnlyError,
    StoreTimeoutError,
    StoreUnavailableError,
)
from tests.dbhandler.children import names, put

SOON = 20.0


@pytest.fixture
async def store() -> Any:
    opened = await EmbeddedStore.open(":memory:")
    await opened.ensure_schema()
    yield opened
    await opened.close()


class Slow:
    """Statements that hold the word ``slow`` last until they are released."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.release = threading.Event()
        self.running = 0
        real = grafeo_engine.rows

        def rows(runner: Any, statement: str, parameters: Any) -> Any:
            if "slow" in statement:
                self.running += 1
                assert self.release.wait(SOON)
            return real(runner, statement, parameters)

        monkeypatch.setattr(grafeo_engine, "rows", rows)

    async def started(self, number: int = 1) -> None:
        async with asyncio.timeout(SOON):
            while self.running < number:
                await asyncio.sleep(0.001)


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> Iterator[Slow]:
    statements = Slow(monkeypatch)
    yield statements
    statements.release.set()


# One writer at a time


async def test_one_transaction_at_a_time_among_tasks_and_threads(store: EmbeddedStore) -> None:
    guard = threading.Lock()
    overlaps = 0

    async def write(name: str) -> None:
        async def work(tx: Transaction) -> None:
            nonlocal overlaps
            alone = guard.acquire(blocking=False)
            overlaps += not alone
            await tx.run("MERGE (n:Document {id: $id})", {"id": name})
            await asyncio.sleep(0)
            if alone:
                guard.release()

        await store.transaction(work)

    def live(me: int) -> None:
        async def main() -> None:
            await asyncio.gather(*(write(f"{me}-{i}") for i in range(5)))

        asyncio.run(main())

    with ThreadPoolExecutor(3) as threads:
        others = [asyncio.wrap_future(threads.submit(live, me)) for me in range(3)]
        await asyncio.gather(*(write(f"here-{i}") for i in range(10)), *others)
    assert overlaps == 0
    assert len(await names(store)) == 25


async def test_two_transactions_do_not_both_merge_an_edge(store: EmbeddedStore) -> None:
    """The engine lets both succeed when they overlap."""
    await put(store, "a")
    await put(store, "b")

    async def work(tx: Transaction) -> None:
        await tx.run("MATCH (a:Document {id: 'a'}) MATCH (b:Document {id: 'b'}) MERGE (a)-[:REFERENCES]->(b)")
        await asyncio.sleep(0.001)

    await asyncio.gather(*(store.transaction(work) for _ in range(5)))
    assert await store.run("MATCH ()-[r:REFERENCES]->() RETURN count(r) AS n") == [{"n": 1}]


async def test_turns_are_given_in_the_order_of_arrival() -> None:
    gate = WriterGate()
    order: list[int] = []

    async def enter(number: int) -> None:
        async with gate.hold():
            order.append(number)
            await asyncio.sleep(0)

    async with gate.hold():
        tasks = []
        for number in range(8):
            tasks.append(asyncio.create_task(enter(number)))
            await asyncio.sleep(0)
        tasks[3].cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    assert order == [0, 1, 2, 4, 5, 6, 7]


async def test_a_turn_that_comes_together_with_a_cancellation_is_passed_on() -> None:
    gate = WriterGate()
    entered = asyncio.Event()

    async def enter() -> None:
        async with gate.hold():
            entered.set()

    async with gate.hold():
        first = asyncio.create_task(enter())
        await asyncio.sleep(0)
        second = asyncio.create_task(enter())
        await asyncio.sleep(0)
    first.cancel()  # its turn is on the way, but it has not woken up
    await asyncio.wait_for(second, SOON)
    assert entered.is_set()
    async with asyncio.timeout(SOON), gate.hold():
        pass


def test_a_turn_is_not_lost_with_the_event_loop_that_waited_for_it() -> None:
    gate = WriterGate()
    loop = asyncio.new_event_loop()

    async def enter() -> None:
        async with gate.hold():
            raise AssertionError("it never gets its turn")

    async def hold_and_leave() -> None:
        async with gate.hold():
            task = loop.create_task(enter())
            loop.call_soon(loop.stop)
            await asyncio.to_thread(loop.run_forever)
            task.get_coro().close()  # type: ignore[union-attr]
            task._log_destroy_pending = False  # type: ignore[attr-defined]
            loop.close()

    asyncio.run(hold_and_leave())

    async def next_one() -> bool:
        async with asyncio.timeout(SOON), gate.hold():
            return True

    assert asyncio.run(next_one())


async def test_slow_queries_do_not_hold_up_a_transaction(store: EmbeddedStore, slow: Slow) -> None:
    queries = [asyncio.create_task(store.run("RETURN 'slow' AS word")) for _ in range(12)]
    await slow.started(4)
    await asyncio.wait_for(put(store, "a"), SOON)
    assert not any(query.done() for query in queries)
    slow.release.set()
    assert await asyncio.gather(*queries) == [[{"word": "slow"}]] * 12


# Cancellation


async def test_a_cancelled_query_is_left_at_once(store: EmbeddedStore, slow: Slow) -> None:
    query = asyncio.create_task(store.run("RETURN 'slow' AS word"))
    await slow.started()
    query.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(query, SOON)
    assert not slow.release.is_set()


async def test_a_transaction_waits_for_its_statement_however_often_it_is_cancelled(
    store: EmbeddedStore, slow: Slow
) -> None:
    """The engine cannot be interrupted: a rollback beside a running statement would come too early."""

    async def work(tx: Transaction) -> None:
        await tx.run("MERGE (n:Document {id: 'slow'})")

    task = asyncio.create_task(store.transaction(work))
    await slow.started()
    for _ in range(3):
        task.cancel()
        await asyncio.wait([task], timeout=0.02)
        assert not task.done()
    slow.release.set()
    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(task, SOON)
    await put(store, "next")
    assert await names(store) == ["next"]


async def test_gathered_statements_of_one_transaction_take_turns(
    store: EmbeddedStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = grafeo_engine.rows
    running: list[str] = []
    most = 0

    def rows(runner: Any, statement: str, parameters: Any) -> Any:
        nonlocal most
        running.append(statement)
        most = max(most, len(running))
        time.sleep(0.001)
        try:
            return real(runner, statement, parameters)
        finally:
            running.pop()

    monkeypatch.setattr(grafeo_engine, "rows", rows)

    async def work(tx: Transaction) -> None:
        await asyncio.gather(*(tx.run("MERGE (n:Document {id: $id})", {"id": f"n{i}"}) for i in range(20)))

    await store.transaction(work)
    assert len(await names(store)) == 20
    assert most == 1


# Conflicts of the engine itself


async def test_a_conflict_in_a_statement_is_repeated(store: EmbeddedStore) -> None:
    await put(store, "a", total=0)
    foreign = store._db.begin_transaction()
    foreign.execute_cypher("MATCH (n:Document {id: 'a'}) SET n.total = 10")
    attempts = []

    async def work(tx: Transaction) -> None:
        attempts.append(1)
        if len(attempts) == 2:
            foreign.commit()
        await tx.run("MATCH (n:Document {id: 'a'}) WITH n, n.total + 1 AS total SET n.total = total")

    await store.transaction(work)
    assert len(attempts) >= 2
    assert await store.run("MATCH (n:Document {id: 'a'}) RETURN n.total AS total") == [{"total": 11}]


async def test_a_conflict_at_the_commit_is_repeated(store: EmbeddedStore) -> None:
    """The engine has ended the transaction by then, and a rollback is an error of its own."""
    await put(store, "a", total=0)
    attempts = []

    async def work(tx: Transaction) -> None:
        attempts.append(1)
        await tx.run("MATCH (n:Document {id: 'a'}) RETURN n.total AS total")
        if len(attempts) == 1:
            foreign = store._db.begin_transaction()
            foreign.execute_cypher("MATCH (n:Document {id: 'a'}) SET n.total = 10")
            foreign.commit()
        await tx.run("MATCH (n:Document {id: 'a'}) WITH n, n.total + 1 AS total SET n.total = total")

    await store.transaction(work)
    assert len(attempts) == 2
    assert await store.run("MATCH (n:Document {id: 'a'}) RETURN n.total AS total") == [{"total": 11}]


async def test_a_conflict_that_the_work_swallows_is_repeated_all_the_same(store: EmbeddedStore) -> None:
    await put(store, "a", total=0)
    foreign = store._db.begin_transaction()
    foreign.execute_cypher("MATCH (n:Document {id: 'a'}) SET n.total = 10")
    attempts = []

    async def work(tx: Transaction) -> None:
        attempts.append(1)
        if len(attempts) == 2:
            foreign.rollback()
        try:
            await tx.run("MATCH (n:Document {id: 'a'}) SET n.total = 5")
        except StoreConflictError:
            return

    await store.transaction(work)
    assert len(attempts) == 2
    assert await store.run("MATCH (n:Document {id: 'a'}) RETURN n.total AS total") == [{"total": 5}]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("GRAFEO-T001: Write conflict: Write-write conflict on entity Node(NodeId(0))", StoreConflictError),
        ("GRAFEO-Q003: timeout error: Query exceeded the 30s timeout.", StoreTimeoutError),
        ("GRAFEO-Q006: edge 7 does not exist, or the writer does not see it", StoreConflictError),
        ("GRAFEO-Q006: division by zero: 1 / 0", QueryError),
        ("GRAFEO-T009: the commit could not be written: No space left on device (os error 28)", StoreFullError),
        ("GRAFEO-T009: the commit could not be written: Input/output error (os error 5)", StoreUnavailableError),
        ("GRAFEO-T011: an earlier commit did not complete: reopen the database", StoreUnavailableError),
        ("GRAFEO-X003: I/O error: Disk quota exceeded (os error 122)", StoreFullError),
        ("GRAFEO-V001: Invalid value: Constraint violation: UNIQUE constraint violation", StoreConstraintError),
        (
            "GRAFEO-V001: Invalid value: Constraint violation: property 'content' value exceeds maximum size of 16 MiB",
            QueryError,
        ),
        ("GRAFEO-S002: the file g is damaged at byte 45056", StoreDamagedError),
        ("GRAFEO-T006: Cannot write in read-only transaction", StoreReadOnlyError),
        ("GRAFEO-T007: the database is closed", StoreUnavailableError),
        ("GRAFEO-Q001: syntax error at 'GRAFEO-T001 closed damaged read-only disk full'", QueryError),
        ("", QueryError),
    ],
)
def test_errors_are_told_by_their_code_alone(text: str, kind: type[StoreError]) -> None:
    error = map_error(RuntimeError(text), "A test")
    assert type(error) is kind
    assert str(error).startswith("A test")


async def test_half_a_character_is_told_with_its_place() -> None:
    store = await EmbeddedStore.open(":memory:")
    for parameters, place in (
        ({"text": "caf\udce9"}, r"text holds half a character \('caf\\udce9'\)"),
        ({"rows": [{"a": "x"}, {"a": ["y", "\ud800"]}]}, r"rows\[1\]\.a\[1\] holds"),
        ({"row": {"\ud800": 1}}, r"a key of row holds"),
    ):
        with pytest.raises(InvalidInputError, match=place):
            await store.run(f"RETURN ${next(iter(parameters))} AS x", parameters)
    await store.close()


def test_a_crash_inside_the_engine_is_an_error_of_the_store() -> None:
    class PanicException(BaseException):
        """What a Rust panic arrives as: no ``Exception`` would catch it."""

    def crash(_: Any) -> None:
        raise PanicException("index out of bounds")

    with pytest.raises(StoreError, match="crashed inside the engine: index out of bounds"):
        grafeo_engine.call(crash, None, "A test")


async def test_a_failed_transaction_is_rolled_back_even_while_its_error_is_kept() -> None:
    # The traceback of the error refers to the transaction, which the engine would otherwise leave open.
    store = await EmbeddedStore.open(":memory:")
    await store.ensure_schema()

    async def create(tx: Transaction) -> None:
        await tx.run("CREATE (d:Document {id: 'a', n: 0})")

    async def fail(tx: Transaction) -> None:
        await tx.run("MATCH (d:Document {id: 'a'}) SET d.n = 1")
        raise ZeroDivisionError

    async def increase(tx: Transaction) -> None:
        await tx.run("MATCH (d:Document {id: 'a'}) SET d.n = d.n + 5")

    await store.transaction(create)
    with pytest.raises(ZeroDivisionError) as kept:
        await store.transaction(fail)
    await store.transaction(increase)
    assert await store.run("MATCH (d:Document) RETURN d.n AS n") == [{"n": 5}]
    assert kept.tb is not None
    await store.close()
