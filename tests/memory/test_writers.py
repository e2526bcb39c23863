"""Many processes that write to one conversation at once; on a server, since an embedded graph has one at a time."""

from __future__ import annotations

import asyncio
import json
import sys
from itertools import pairwise

import pytest

from core.rag import MemGraphClient
from dbhandler.kit import BOLT_URI, Engine, bolt_engine_for_a_test

PROCESSES = 16
MESSAGES = 3

PROGRAM = """
import asyncio, json, sys
from core.rag import MemGraphClient
uri, user, password, namespace, talk, number, count = json.loads(sys.argv[1])
async def main():
    async with MemGraphClient(uri, user, password, namespace=namespace) as client:
        await client.connect()
        print("ready", flush=True)
        sys.stdin.readline()
        ids = [await client.add_message(talk, f"writer {number} text {n}", "user") for n in range(count)]
    print(json.dumps(ids), flush=True)
asyncio.run(main())
"""


async def _writer(engine: Engine, namespace: str, talk: str, number: int) -> asyncio.subprocess.Process:
    arguments = [engine.uri, engine.username, engine.password, namespace, talk, number, MESSAGES]
    pipe = asyncio.subprocess.PIPE
    return await asyncio.create_subprocess_exec(
        sys.executable, "-c", PROGRAM, json.dumps(arguments), stdin=pipe, stdout=pipe
    )


@pytest.mark.bolt
@pytest.mark.skipif(BOLT_URI is None, reason="needs a server: MGRAG_TEST_BOLT_URI")
async def test_sixteen_processes_make_one_chain() -> None:
    async with bolt_engine_for_a_test() as engine:
        namespace = engine.namespace()
        async with MemGraphClient(engine.uri, engine.username, engine.password, namespace=namespace) as client:
            talk = await client.create_conversation()
            writers = [await _writer(engine, namespace, talk, number) for number in range(PROCESSES)]
            for writer in writers:
                assert writer.stdout is not None
                assert await writer.stdout.readline() == b"ready\n"
            written = []
            for out, _ in await asyncio.gather(*(writer.communicate(b"go\n") for writer in writers)):
                written.append(json.loads(out))
            messages = await client.get_conversation_messages(talk)
            ids = [message["id"] for message in messages]
            assert sorted(ids) == sorted(identifier for part in written for identifier in part)
            assert [message["sequence"] for message in messages] == list(range(1, PROCESSES * MESSAGES + 1))
            rows = await client.read(
                "MATCH (c:Conversation)<-[:PART_OF]-(a:Interaction)-[:FOLLOWS]->(b:Interaction) "
                "WHERE c.namespace = $namespace RETURN a.id AS a, b.id AS b"
            )
            assert sorted((row["b"], row["a"]) for row in rows) == sorted(pairwise(ids))
            for part in written:
                assert sorted(part, key=ids.index) == part, "each writer's own order is kept"
