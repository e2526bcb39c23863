"""``make bench-bolt``: what the client costs on a server, beside a bare script with the same statements.

The server is named by MGRAG_TEST_BOLT_URI (and _USER, _PASSWORD); without one, ``make bench-bolt`` starts a Neo4j. See
docs/adr/0012-bolt.md for how to read the numbers.
"""

from __future__ import annotations

import asyncio
import os
import time
import uuid
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from neo4j import AsyncDriver, AsyncGraphDatabase

from core.rag.dbhandler import MemGraphClient
from core.rag.dbhandler.documents.writing import ChunkRow, DocumentRow
from core.rag.dbhandler.store import Parameters, Row, Transaction
from core.rag.schema import Label, TextIndex
from core.rag.settings import Settings

DOCUMENTS = 400
CHUNKS = 5
DIMENSION = 384
#: Documents in a transaction.
TOGETHER = 100
SEARCHES = 100
#: Searches before those that count: a server compiles what it runs often.
WARM = 30

type Statement = tuple[str, dict[str, Any]]


def rows(store_id: str, round_number: int) -> list[DocumentRow]:
    """Documents as the indexer writes them."""
    generator = np.random.default_rng(round_number)
    words = [f"word{i}" for i in range(3000)]
    found = []
    for number in range(DOCUMENTS):
        identifier = f"{store_id}/{round_number}/{number}"
        chunks = []
        for position in range(CHUNKS):
            text = " ".join(generator.choice(words, size=80))
            chunks.append(
                ChunkRow(
                    id=f"{identifier}/{position}",
                    properties={
                        "path": identifier,
                        "content": text,
                        "terms": text,
                        "parent_id": identifier,
                        "chunk_index": position,
                        "chunk_count": CHUNKS,
                    },
                    vector_id=f"{identifier}/{position}/v",
                    embedding=tuple(generator.normal(size=DIMENSION).tolist()),
                )
            )
        properties = {"path": identifier, "uri": identifier, "title": identifier, "content": "x" * 2000}
        found.append(DocumentRow(id=identifier, properties=properties, source_id=None, chunks=chunks))
    return found


class Recorder:
    """Notes the statements of each transaction that goes through."""

    def __init__(self) -> None:
        self.transactions: list[list[Statement]] = []

    def wrap(self, transaction: Transaction) -> Transaction:
        statements: list[Statement] = []
        self.transactions.append(statements)

        class Recorded:
            locking = transaction.locking

            async def run(self, statement: str, parameters: Parameters | None = None) -> list[Row]:
                statements.append((statement, dict(parameters or {})))
                return await transaction.run(statement, parameters)

        return Recorded()


async def bare(driver: AsyncDriver, transactions: Sequence[Sequence[Statement]]) -> float:
    """Send the same statements in the same transactions with nothing in between; returns seconds."""
    started = time.perf_counter()
    for statements in transactions:
        async with driver.session() as session:
            transaction = await session.begin_transaction()
            for statement, parameters in statements:
                result = await transaction.run(statement, parameters)
                [record.data() async for record in result]
            await transaction.commit()
    return time.perf_counter() - started


async def ours(client: MemGraphClient, documents: Sequence[DocumentRow]) -> float:
    """Write through the client; returns seconds."""
    store = await client.ensure_vector_store("benchmark", DIMENSION)
    started = time.perf_counter()
    for begin in range(0, len(documents), TOGETHER):
        await client.write_documents(documents[begin : begin + TOGETHER], store)
    return time.perf_counter() - started


async def empty(client: MemGraphClient) -> None:
    """Remove everything that the benchmark wrote."""
    for label in ("Vector", "DocumentChunk", "Document", "VectorStore"):

        async def work(tx: Transaction, label: str = label) -> int:
            found = await tx.run(
                f"MATCH (n:{label}) WHERE n.namespace = $namespace WITH n LIMIT 500 DETACH DELETE n "
                "RETURN count(n) AS n",
                {"namespace": client.namespace},
            )
            return int(found[0]["n"])

        store = await client.connect()
        while await store.transaction(work):
            pass


async def ingest(client: MemGraphClient, driver: AsyncDriver) -> None:
    """Ingest through the client and bare, in turn, since a server grows faster with use."""
    store = await client.connect()
    recorder = Recorder()
    transaction = store.transaction

    async def recording(work: Any) -> Any:
        return await transaction(lambda tx: work(recorder.wrap(tx)))

    store.transaction = recording  # type: ignore[method-assign]
    info = await client.ensure_vector_store("benchmark", DIMENSION)
    recorder.transactions.clear()
    await ours(client, rows(info.id, 1))
    store.transaction = transaction  # type: ignore[method-assign]
    times: dict[str, list[float]] = {"client": [], "bare": []}
    for round_number in range(2, 5):
        times["client"].append(await ours(client, rows(info.id, round_number)))
        replay = [
            [(s, _renamed(p, f"{info.id}/1/", f"{info.id}/{round_number}b/")) for s, p in statements]
            for statements in recorder.transactions
        ]
        times["bare"].append(await bare(driver, replay))
    best = {name: min(found) for name, found in times.items()}
    chunks = DOCUMENTS * CHUNKS
    print(f"ingest, {chunks} chunks x {DIMENSION}: client {chunks / best['client']:.0f} chunks/s, ", end="")
    print(f"bare {chunks / best['bare']:.0f} chunks/s, ratio {best['bare'] / best['client']:.2f}")


def _renamed(value: Any, old: str, new: str) -> Any:
    if isinstance(value, str):
        return value.replace(old, new)
    if isinstance(value, dict):
        return {key: _renamed(item, old, new) for key, item in value.items()}
    return [_renamed(item, old, new) for item in value] if isinstance(value, list) else value


async def searches(client: MemGraphClient, driver: AsyncDriver) -> None:
    """Searches by vector and by words through the client, and what each sent to the server again, bare."""
    store = await client.connect()
    info = await client.ensure_vector_store("benchmark", DIMENSION)
    index = TextIndex(Label.CHUNK, client.namespace)
    generator = np.random.default_rng(9)

    async def by_vector() -> None:
        await store.vector_search(info.index(), tuple(generator.normal(size=DIMENSION).tolist()), 10)

    async def by_words() -> None:
        await store.text_search(index, {f"word{i}": 1.0 for i in generator.integers(0, 3000, size=4)}, 10)

    for name, search in (("vector", by_vector), ("keyword", by_words)):
        mine, theirs = await _beside(store, driver, search)
        print(
            f"{name} search: client p50 {mine.wall:.2f} ms, bare {theirs.wall:.2f} ms, "
            f"difference {mine.wall - theirs.wall:.2f} ms; of this process's own time {mine.own:.2f} ms, "
            f"bare {theirs.own:.2f} ms, difference {mine.own - theirs.own:.2f} ms"
        )


@dataclass
class Times:
    """What searches took, in milliseconds: medians of the time that passed, and of the processor's time here."""

    wall: float
    own: float


async def _beside(store: Any, driver: AsyncDriver, search: Callable[[], Awaitable[None]]) -> tuple[Times, Times]:
    """A search, and its statements once more, bare, in turn."""
    sent: list[Statement] = []
    query = store.query

    async def noting(statement: str, parameters: Any = None, what: str = "") -> Any:
        sent.append((statement, dict(parameters or {})))
        return await query(statement, parameters, what)

    store.query = noting
    mine, theirs = [], []
    for turn in range(WARM + SEARCHES):
        sent.clear()
        started = _now()
        await search()
        between = _now()
        async with driver.session(default_access_mode="READ") as session:
            for statement, parameters in sent:
                result = await session.run(statement, parameters)
                [record.data() async for record in result]
        ended = _now()
        if turn >= WARM:
            mine.append(between - started)
            theirs.append(ended - between)
    store.query = query
    return Times(*np.median(mine, axis=0).tolist()), Times(*np.median(theirs, axis=0).tolist())


def _now() -> Any:
    return 1000 * np.array([time.perf_counter(), time.process_time()])


async def main() -> None:
    """Run both."""
    uri = os.environ["MGRAG_TEST_BOLT_URI"]
    user, password = os.environ.get("MGRAG_TEST_BOLT_USER"), os.environ.get("MGRAG_TEST_BOLT_PASSWORD")
    namespace = f"benchmark-{uuid.uuid4().hex[:8]}"
    async with (
        MemGraphClient(uri, user, password, namespace=namespace, settings=Settings()) as client,
        AsyncGraphDatabase.driver(uri, auth=(user, password or "") if user else None) as driver,
    ):
        try:
            await ingest(client, driver)
            await searches(client, driver)
        finally:
            store = await client.connect()
            for info in await client.vector_stores():
                await store.drop_vector_index(info.index())
            await empty(client)


if __name__ == "__main__":
    asyncio.run(main())
