"""Many processes that write to one conversation at once; on a server, since an embedded graph has one at a time."""

from __future__ import annotations

import asyncio
import multiprocessing
from itertools import pairwise
from multiprocessing.queues import SimpleQueue
from multiprocessing.synchronize import Barrier

import pytest

from core.rag import MemGraphClient
from tests.dbhandler.kit import BOLT_URI, Engine

PROCESSES = 16
MESSAGES = 3


def write(
    engine: Engine, namespace: str, talk: str, number: int, together: Barrier, written: SimpleQueue[list[str]]
) -> None:
    """Add messages as soon as all of the processes are there, and say which."""

    async def work() -> list[str]:
        async with MemGraphClient(engine.uri, engine.username, engine.password, namespace=namespace) as client:
            await client.connect()
            await asyncio.to_thread(together.wait)
            return [await client.add_message(talk, f"writer {number} text {n}", "user") for n in range(MESSAGES)]

    written.put(asyncio.run(work()))


@pytest.mark.bolt
@pytest.mark.skipif(BOLT_URI is None, reason="needs a server: MGRAG_TEST_BOLT_URI")
async def test_sixteen_processes_make_one_chain(server_engine: Engine) -> None:
    namespace = server_engine.namespace()
    processes = multiprocessing.get_context("forkserver")
    processes.set_forkserver_preload([write.__module__])  # else each of them would load all of it
    together, written = processes.Barrier(PROCESSES), processes.SimpleQueue()
    async with MemGraphClient(
        server_engine.uri, server_engine.username, server_engine.password, namespace=namespace
    ) as client:
        talk = await client.create_conversation()
        writers = [
            processes.Process(target=write, args=(server_engine, namespace, talk, number, together, written))
            for number in range(PROCESSES)
        ]
        for writer in writers:
            writer.start()
        for writer in writers:
            await asyncio.to_thread(writer.join)
        assert [writer.exitcode for writer in writers] == [0] * PROCESSES
        parts = [written.get() for _ in writers]
        messages = await client.get_conversation_messages(talk)
        ids = [message["id"] for message in messages]
        assert sorted(ids) == sorted(identifier for part in parts for identifier in part)
        assert [message["sequence"] for message in messages] == list(range(1, PROCESSES * MESSAGES + 1))
        rows = await client.read(
            "MATCH (c:Conversation)<-[:PART_OF]-(a:Interaction)-[:FOLLOWS]->(b:Interaction) "
            "WHERE c.namespace = $namespace RETURN a.id AS a, b.id AS b"
        )
        assert sorted((row["b"], row["a"]) for row in rows) == sorted(pairwise(ids))
        for part in parts:
            assert sorted(part, key=ids.index) == part, "each writer's own order is kept"
