"""Transactions on every engine: all or nothing, seen by nobody else, repeated when they meet a conflict."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from core.rag.dbhandler.store import GraphStore, Transaction
from core.rag.errors import QueryError, StoreConflictError, StoreError
from tests.dbhandler.kit import Corner, Engine

#: Seconds, many more than anything here takes.
SOON = 20.0

CREATE = "CREATE (n:Document {id: $id, namespace: $namespace})"


class MarkerError(Exception):
    """Raised by a unit of work on purpose."""


async def test_a_committed_transaction_is_there_with_all_its_statements(corner: Corner) -> None:
    async def work(tx: Transaction) -> str:
        for name in "abc":
            await tx.run(CREATE, {"id": corner.id(name), "namespace": corner.namespace})
        return "result"

    assert await corner.store.transaction(work) == "result"
    assert await corner.stored() == ["a", "b", "c"]


async def test_an_empty_transaction_is_fine(store: GraphStore) -> None:
    async def work(_: Transaction) -> None:
        return

    await store.transaction(work)
    assert await store.run("RETURN 1 AS one") == [{"one": 1}]


async def test_a_transaction_reads_its_own_writes(corner: Corner) -> None:
    await corner.put("gone", "kept", title="old")

    async def work(tx: Transaction) -> dict[str, Any]:
        await tx.run(CREATE, {"id": corner.id("new"), "namespace": corner.namespace})
        await tx.run("MATCH (n:Document {id: $id}) SET n.title = 'new'", {"id": corner.id("kept")})
        await tx.run("MATCH (n:Document {id: $id}) DETACH DELETE n", {"id": corner.id("gone")})
        rows = await tx.run(
            "MATCH (n:Document) WHERE n.namespace = $n RETURN n.id AS id, n.title AS title", {"n": corner.namespace}
        )
        return {row["id"]: row["title"] for row in rows}

    assert await corner.store.transaction(work) == {corner.id("new"): None, corner.id("kept"): "new"}


async def test_readers_do_not_see_an_open_transaction(corner: Corner) -> None:
    await corner.put("old", title="before")
    seen: list[Any] = []

    async def work(tx: Transaction) -> None:
        await tx.run(CREATE, {"id": corner.id("new"), "namespace": corner.namespace})
        await tx.run("MATCH (n:Document {id: $id}) SET n.title = 'after'", {"id": corner.id("old")})
        seen.append((await corner.stored(), await corner.value("old", "title")))

    await corner.store.transaction(work)
    assert seen == [(["old"], "before")]
    assert (await corner.stored(), await corner.value("old", "title")) == (["new", "old"], "after")


async def test_an_error_of_the_work_rolls_everything_back(corner: Corner) -> None:
    await corner.put("kept", title="old")

    async def work(tx: Transaction) -> None:
        await tx.run(CREATE, {"id": corner.id("a"), "namespace": corner.namespace})
        await tx.run("MATCH (n:Document {id: $id}) SET n.title = 'new'", {"id": corner.id("kept")})
        raise MarkerError("on purpose")

    with pytest.raises(MarkerError, match="on purpose"):
        await corner.store.transaction(work)
    await corner.put("b")
    assert await corner.stored() == ["b", "kept"]
    assert await corner.value("kept", "title") == "old"


async def test_a_failed_statement_rolls_everything_back(corner: Corner) -> None:
    async def work(tx: Transaction) -> None:
        await tx.run(CREATE, {"id": corner.id("a"), "namespace": corner.namespace})
        await tx.run("THIS IS NOT CYPHER")

    with pytest.raises(QueryError):
        await corner.store.transaction(work)
    await corner.put("b")
    assert await corner.stored() == ["b"]


async def test_work_that_goes_on_after_a_failed_statement_is_not_committed(corner: Corner) -> None:
    async def work(tx: Transaction) -> str:
        await tx.run(CREATE, {"id": corner.id("a"), "namespace": corner.namespace})
        try:
            await tx.run("RETURN unknown_function(1) AS x")
        except StoreError:
            return "as if nothing had happened"
        raise AssertionError("the statement was accepted")

    with pytest.raises(StoreError):
        await corner.store.transaction(work)
    await corner.put("b")
    assert await corner.stored() == ["b"]


async def test_a_transaction_cannot_be_used_after_its_end(corner: Corner) -> None:
    kept: list[Transaction] = []

    async def work(tx: Transaction) -> None:
        kept.append(tx)

    await corner.store.transaction(work)
    with pytest.raises(StoreError):
        await kept[0].run(CREATE, {"id": corner.id("late"), "namespace": corner.namespace})
    assert await corner.stored() == []


async def test_a_cancelled_transaction_leaves_nothing(corner: Corner) -> None:
    started = asyncio.Event()

    async def work(tx: Transaction) -> None:
        await tx.run(CREATE, {"id": corner.id("a"), "namespace": corner.namespace})
        started.set()
        await asyncio.sleep(3600)

    task = asyncio.create_task(corner.store.transaction(work))
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await corner.put("b")
    assert await corner.stored() == ["b"]


async def test_a_cancelled_statement_leaves_nothing_even_if_the_work_goes_on(corner: Corner) -> None:
    async def work(tx: Transaction) -> str:
        statement = asyncio.create_task(
            tx.run(
                "UNWIND range(1, 2000) AS i CREATE (n:Document {id: $prefix + toString(i), namespace: $namespace})",
                {"prefix": corner.id("x"), "namespace": corner.namespace},
            )
        )
        await asyncio.sleep(0)
        statement.cancel()
        await asyncio.gather(statement, return_exceptions=True)
        return "done"

    with pytest.raises(StoreError):
        await corner.store.transaction(work)
    assert await corner.stored() == []


async def test_cancellation_at_any_moment_leaves_all_or_nothing(corner: Corner) -> None:
    async def work(tx: Transaction) -> None:
        for name in ("first", "second", "third"):
            await tx.run(
                "MERGE (n:Document {id: $id}) SET n.namespace = $namespace",
                {"id": corner.id(name), "namespace": corner.namespace},
            )

    outcomes = set()
    for turns in range(0, 60, 4):
        await corner.delete("first", "second", "third")
        task = asyncio.create_task(corner.store.transaction(work))
        for _ in range(turns):
            await asyncio.sleep(0)
        task.cancel()
        done = (await asyncio.gather(task, return_exceptions=True))[0]
        stored = await corner.stored()
        assert stored in ([], ["first", "second", "third"])
        if done is None:
            assert stored, "acknowledged, but not there"
        outcomes.add(isinstance(done, asyncio.CancelledError))
    assert True in outcomes


async def test_a_waiting_transaction_can_be_cancelled(corner: Corner) -> None:
    inside, leave = asyncio.Event(), asyncio.Event()

    async def first(tx: Transaction) -> None:
        await tx.run("MERGE (n:Document {id: $id}) SET n.namespace = $n", {"id": corner.id("a"), "n": corner.namespace})
        inside.set()
        await leave.wait()

    async def second(tx: Transaction) -> None:
        await tx.run("MERGE (n:Document {id: $id}) SET n.title = 'x'", {"id": corner.id("a")})

    running = asyncio.create_task(corner.store.transaction(first))
    await inside.wait()
    waiting = asyncio.create_task(corner.store.transaction(second))
    await asyncio.sleep(0.01)
    waiting.cancel()
    await asyncio.wait([waiting])
    leave.set()
    await running
    await corner.put("b")
    assert await corner.stored() == ["a", "b"]
    if corner.store.capabilities.engine != "memgraph":  # which has no locks to wait for, so there it may be faster
        assert waiting.cancelled()
        assert await corner.value("a", "title") is None


async def test_work_that_meets_a_conflict_is_repeated_whole(corner: Corner) -> None:
    attempts: list[int] = []

    async def work(tx: Transaction) -> int:
        attempts.append(len(attempts))
        await tx.run(CREATE, {"id": corner.id(f"attempt-{attempts[-1]}"), "namespace": corner.namespace})
        if len(attempts) < 3:
            raise StoreConflictError("somebody else was faster")
        return attempts[-1]

    assert await corner.store.transaction(work) == 2
    assert await corner.stored() == ["attempt-2"]


async def test_a_conflict_that_never_ends_is_reported(engine: Engine) -> None:
    store = await engine.open(MGRAG_RETRY_DEADLINE=0.2)
    attempts: list[int] = []

    async def work(_: Transaction) -> None:
        attempts.append(1)
        raise StoreConflictError("again")

    try:
        with pytest.raises(StoreConflictError, match="again"):
            await store.transaction(work)
    finally:
        await store.close()
    assert len(attempts) > 1


@pytest.mark.parametrize("gathered", [False, True])
async def test_a_transaction_inside_of_another_is_refused_instead_of_waiting_for_ever(
    corner: Corner, gathered: bool
) -> None:
    async def outer(tx: Transaction) -> None:
        await tx.run(CREATE, {"id": corner.id("outer"), "namespace": corner.namespace})
        await (asyncio.gather(corner.put("inner")) if gathered else corner.put("inner"))

    with pytest.raises(StoreError, match="inside of another"):
        await asyncio.wait_for(corner.store.transaction(outer), SOON)
    await corner.put("next")
    assert await corner.stored() == ["next"]


async def test_a_task_that_outlives_the_transaction_that_began_it_may_write(corner: Corner) -> None:
    over = asyncio.Event()

    async def later() -> None:
        await over.wait()
        await corner.put("later")

    async def work(_: Transaction) -> asyncio.Task[None]:
        return asyncio.create_task(later())

    task = await corner.store.transaction(work)
    over.set()
    await asyncio.wait_for(task, SOON)
    assert await corner.stored() == ["later"]
