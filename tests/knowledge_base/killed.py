"""Ingesting in processes that are killed.

``python killed.py`` reads orders from standard input, a line of JSON each, and carries each out in a forked process,
which is much faster than to start an interpreter. The process that forks them opens no graph itself.

An order has ``folder``, ``graph`` and, where the process is to die, ``calls`` (it kills itself after so many calls of
functions, those into the engine included, in whatever thread that happens; 0: they are only counted, which takes twice
the time) or ``seconds`` (it is killed from outside).
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
import threading
import time
from pathlib import Path
from types import FrameType
from typing import Any

from core.rag import KnowledgeBase
from core.rag.indexing import run
from libs.dataloader import DocumentLoader
from tests.embedders import HashEmbedder

#: Documents in a transaction: few, so that there are many transactions to die in.
BATCH = 8


class Counter:
    """Counts calls in all threads, and dies at one of them."""

    def __init__(self, limit: int) -> None:
        self.calls = 0
        self._limit = limit

    def start(self) -> None:
        threading.setprofile(self._count)
        sys.setprofile(self._count)

    def stop(self) -> None:
        sys.setprofile(None)
        threading.setprofile(None)

    def _count(self, frame: FrameType, event: str, argument: Any) -> None:
        self.calls += 1
        if self.calls == self._limit:
            os.kill(os.getpid(), signal.SIGKILL)


async def ingest(folder: str, graph: str) -> dict[str, Any]:
    """Bring a graph up to date with a folder, as ``mgrag ingest --prune`` does, with an embedder that costs nothing."""
    embedder = HashEmbedder(16)
    async with KnowledgeBase.open(f"embedded:{graph}", embedder=embedder, chunk_size=40, chunk_overlap=8) as kb:
        report = await kb.ingest(DocumentLoader(folder), prune=True)
    return report.to_dict()


def carry_out(order: dict[str, Any]) -> dict[str, Any]:
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        code = 1
        try:
            run.BATCH_DOCUMENTS = BATCH
            counter = Counter(order.get("calls", 0))
            if "calls" in order:
                counter.start()
            started = time.perf_counter()
            report = asyncio.run(ingest(order["folder"], order["graph"]))
            counter.stop()
            facts = {"report": report, "calls": counter.calls, "seconds": time.perf_counter() - started}
            os.write(writing, json.dumps(facts).encode())
            code = 0
        finally:
            os._exit(code)
    os.close(writing)
    if "seconds" in order:
        time.sleep(order["seconds"])
        os.kill(child, signal.SIGKILL)
    with os.fdopen(reading, "rb") as pipe:
        said = pipe.read()
    _, status = os.waitpid(child, 0)
    killed = os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL
    failed = not killed and os.waitstatus_to_exitcode(status) != 0
    return {"killed": killed and not said, "failed": failed, **(json.loads(said) if said else {})}


def main() -> None:
    for text in sys.stdin:
        sys.stdout.write(json.dumps(carry_out(json.loads(text))) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    # What the children would load in the middle of their work.
    asyncio.run(ingest(str(Path(sys.argv[1]).parent), ":memory:"))
    main()
