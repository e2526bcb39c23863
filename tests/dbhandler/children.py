"""Processes that misbehave with an embedded graph.

``python children.py`` reads orders from standard input, a line of JSON each: the name of a function here, its
arguments, and a file for its standard error. Each is carried out in a forked process of its own, which is much faster
than to start an interpreter; the process that forks them opens no graph itself.
"""

from __future__ import annotations

import asyncio
import json
import os
import resource
import signal
import sys
import time
from collections.abc import Callable, Coroutine
from itertools import pairwise
from pathlib import Path
from typing import Any, NoReturn

from core.rag.dbhandler.embedded import engine
from core.rag.dbhandler.embedded.store import EmbeddedStore
from core.rag.dbhandler.store import Transaction
from core.rag.errors import MGRagError
from core.rag.schema import Label, TextIndex, vector_index

NAMESPACE = "default"
CHUNKS = 5
TEXT = TextIndex(Label.CHUNK, NAMESPACE)
VECTORS = vector_index(NAMESPACE, "store", 4)


def say(**facts: Any) -> None:
    """Print a line of JSON at once."""
    os.write(1, (json.dumps(facts) + "\n").encode())


def die() -> NoReturn:
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError("unreachable")


async def put(store: EmbeddedStore, name: str, **properties: Any) -> None:
    async def work(tx: Transaction) -> None:
        await tx.run("MERGE (n:Document {id: $id}) SET n += $props", {"id": name, "props": properties})

    await store.transaction(work)


async def names(store: EmbeddedStore) -> list[str]:
    return sorted(row["id"] for row in await store.run("MATCH (n:Document) RETURN n.id AS id"))


async def put_document(store: EmbeddedStore, name: str) -> None:
    """Write a document with chunks in a row and their vectors, in one transaction of several statements."""
    chunks = [f"{name}/{i}" for i in range(CHUNKS)]

    async def work(tx: Transaction) -> None:
        await tx.run("MERGE (d:Document {id: $id}) SET d.namespace = $n", {"id": name, "n": NAMESPACE})
        await tx.run(
            "UNWIND $rows AS row MATCH (d:Document {id: row.doc}) MERGE (c:DocumentChunk {id: row.id}) "
            f"SET c:{TEXT.partition}, c.terms = row.terms, c.namespace = $n MERGE (c)-[:CHUNK_OF]->(d)",
            {
                "rows": [{"id": c, "doc": name, "terms": f"common word{i}"} for i, c in enumerate(chunks)],
                "n": NAMESPACE,
            },
        )
        await tx.run(
            "UNWIND $rows AS row MATCH (c:DocumentChunk {id: row.id}) MERGE (v:Vector {id: row.id}) "
            f"SET v:{VECTORS.label}, v.embedding = row.embedding, v.namespace = $n MERGE (v)-[:EMBEDDING_OF]->(c)",
            {
                "rows": [{"id": c, "embedding": (1.0, 0.5, 0.25, float(i))} for i, c in enumerate(chunks)],
                "n": NAMESPACE,
            },
        )
        await tx.run(
            "UNWIND $rows AS row MATCH (a:DocumentChunk {id: row.a}) MATCH (b:DocumentChunk {id: row.b}) "
            "MERGE (a)-[:NEXT]->(b)",
            {"rows": [{"a": a, "b": b} for a, b in pairwise(chunks)]},
        )

    await store.transaction(work)


def hold(path: str) -> None:
    """Keep a graph open until killed."""

    async def main() -> None:
        store = await EmbeddedStore.open(path)
        await put(store, "held")
        say(open=True)
        await asyncio.sleep(3600)

    asyncio.run(main())


def fork(path: str, what: str) -> None:
    """Fork a child that does something with the graph of its parent; the parent goes on writing, then dies."""
    store = asyncio.run(EmbeddedStore.open(path))
    asyncio.run(put(store, "before"))
    if what == "inside a transaction":
        asyncio.run(_fork_inside(store))
        die()
    time.sleep(0.3)  # until nothing but the store itself holds on to the engine
    child = os.fork()
    if child == 0:
        _child_of_fork(store, what)
        del store
        sys.exit(0)  # the interpreter ends in the ordinary way and destroys what it has
    say(child_status=os.waitpid(child, 0)[1])
    asyncio.run(put(store, "after"))
    asyncio.run(put(store, "last"))
    say(acknowledged=["before", "after", "last"])
    die()


def _child_of_fork(store: EmbeddedStore, what: str) -> None:
    async def write() -> None:
        await put(store, "child")

    attempts: dict[str, list[Callable[[], Coroutine[Any, Any, object]]]] = {
        "exit": [],
        "close": [store.close],
        "use": [lambda: store.run("MATCH (n) RETURN n.id AS id"), write, store.ensure_schema],
    }
    for attempt in attempts[what]:
        try:
            asyncio.run(attempt())
            say(child="nothing happened")
        except MGRagError as error:
            say(child=f"{type(error).__name__}: {error}")


async def _fork_inside(store: EmbeddedStore) -> None:
    """While the only writer's turn is taken, a child asks for it: it must be refused, not wait for ever."""

    async def work(tx: Transaction) -> None:
        await tx.run("MERGE (n:Document {id: 'after'})")
        child = os.fork()
        if child == 0:
            _child_of_fork(store, "use")
            _child_of_fork(store, "close")
            os._exit(0)
        say(child_status=await asyncio.to_thread(lambda: os.waitpid(child, 0)[1]))
        await tx.run("MERGE (n:Document {id: 'last'})")

    await store.transaction(work)
    say(acknowledged=["before", "after", "last"])


def write_for_ever(path: str, name: str) -> None:
    """Write documents until killed, and say of each when it was acknowledged."""
    engine.CHECKPOINT_LOG_BYTES = 30_000  # so that some are killed while they write a checkpoint

    async def main() -> None:
        store = await EmbeddedStore.open(path)
        await store.ensure_schema()
        await store.ensure_text_index(TEXT)

        async def write(me: str) -> None:
            for number in range(1_000_000):
                await put_document(store, f"{name}-{me}-{number}")
                say(acknowledged=f"{name}-{me}-{number}")

        await asyncio.gather(write("a"), write("b"))

    asyncio.run(main())


def full(path: str) -> None:
    """Write until a file cannot grow any more, then make room and go on."""

    async def main() -> None:
        store = await EmbeddedStore.open(path)
        resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, resource.RLIM_INFINITY))
        stored, errors = [], []
        for number in range(14):
            try:
                await put(store, f"n{number:02}", content="x" * 20_000)
                stored.append(f"n{number:02}")
            except MGRagError as error:
                errors.append("\n".join([f"{type(error).__name__}: {error}", *getattr(error, "__notes__", ())]))
        say(stored=stored, errors=errors, there=await names(store))
        resource.setrlimit(resource.RLIMIT_FSIZE, (5_000, resource.RLIM_INFINITY))
        try:
            await store.exclusively(lambda db: engine.save(db, Path(path + ".copy")), "A backup")
            say(backup="written")
        except MGRagError as error:
            say(backup=f"{type(error).__name__}: {error}")
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        await put(store, "room")
        say(there=await names(store))
        resource.setrlimit(resource.RLIMIT_FSIZE, (5_000, resource.RLIM_INFINITY))
        kept: MGRagError | None = None
        try:
            await store.close()
        except MGRagError as error:
            kept = error  # with its traceback, which must not hold on to the file
        say(close=f"{type(kept).__name__}: {kept}")
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        store = await EmbeddedStore.open(path)  # which needs the file to be let go of
        say(there=await names(store))
        await store.close()

    asyncio.run(main())


def forbidden(folder: str) -> None:
    """Open graphs that an ordinary user may not open."""
    if os.geteuid() == 0:
        os.setuid(65534)

    async def main() -> None:
        for name in ("new", "secret", "readonly"):
            there = None
            try:
                store = await EmbeddedStore.open(str(Path(folder) / name))
                try:
                    await store.ensure_schema()
                    there = await names(store)
                    await put(store, "more")
                    say(name=name, error=None)
                finally:
                    await store.close()
            except MGRagError as error:
                say(name=name, there=there, error=f"{type(error).__name__}: {error}")

    asyncio.run(main())


def full_before(path: str) -> None:
    """Open a graph where nothing can be written any more."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, resource.RLIM_INFINITY))

    async def main() -> None:
        store = await EmbeddedStore.open(path)
        await store.ensure_schema()
        said = ""
        try:
            await put(store, "more")
        except MGRagError as error:
            said = f"{type(error).__name__}: {error}"
        say(there=await names(store), error=said)
        await store.close()

    asyncio.run(main())


def main() -> None:
    """Carry out orders, one after the other."""
    import grafeo  # noqa: F401, once for all

    for line in sys.stdin:
        order = json.loads(line)
        child = os.fork()
        if child == 0:
            os.dup2(os.open(order["errors"], os.O_WRONLY | os.O_CREAT | os.O_APPEND), 2)
            globals()[order["call"]](*order["arguments"])
            sys.exit(0)
        say(pid=child)
        say(status=os.waitpid(child, 0)[1])


if __name__ == "__main__":
    main()
