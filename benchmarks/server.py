"""``python -m benchmarks.server [--eval FOLDER] [--chunks N]``: 50,000 chunks on a server, and searches in them.

The server is named by MGRAG_TEST_BOLT_URI (and _USER, _PASSWORD); what is written goes into a namespace of its own, and
is removed at the end. On a busy machine the time of this process says more than the time that passed.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import statistics
import time
import uuid
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.data import load
from benchmarks.scale import documents
from core.rag import KnowledgeBase
from core.rag.retrieval.hits import SearchMode

QUESTIONS = 40
MODES: tuple[SearchMode, ...] = ("keyword", "vector", "hybrid", "graph", "auto", "fuzzy")
FILTERS = ("path:passage/1", "title:film updated>=2026-01-01", "path:nothing/")


async def main(folder: Path, chunks: int) -> None:
    """Print one line for each kind of call."""
    data = load(folder, "2wiki_train500")
    questions = [query["text"] for query in data.queries[:QUESTIONS]]
    name = f"benchmark_{uuid.uuid4().hex[:8]}"
    uri = os.environ["MGRAG_TEST_BOLT_URI"]
    user, password = os.environ.get("MGRAG_TEST_BOLT_USER"), os.environ.get("MGRAG_TEST_BOLT_PASSWORD")
    open_anew = partial(KnowledgeBase.open, uri, username=user, password=password, namespace=name)
    async with open_anew() as kb:
        await kb.embedder.get_embedding("load the model")
        try:
            passed, own = time.perf_counter(), time.process_time()
            report = await kb.ingest(documents(data.passages, chunks))
            passed, own = time.perf_counter() - passed, time.process_time() - own
            print(f"ingest: {report.chunks} chunks in {passed:.0f} s ({report.chunks / passed:.0f}/s), own {own:.0f} s")
            for mode in MODES:
                await _time(mode, questions, partial(kb.search, k=10, mode=mode))
            for wanted in FILTERS:
                await _time(wanted, questions[::4], partial(kb.search, k=10, filters=wanted))
            await _time("ask", questions[::2], lambda text: kb.ask(text, record=False))
            await _time("overview", ["What is this about?"] * 3, lambda text: kb.ask(text, record=False))
            await _first("first ask", lambda fresh: fresh.ask(questions[0], record=False), open_anew)
            await _first("first fuzzy", lambda fresh: fresh.search(questions[0], mode="fuzzy"), open_anew)
            with TemporaryDirectory() as place:
                await _first("export", lambda fresh: fresh.export(Path(place) / "all.jsonl"), open_anew)
        finally:
            await kb.delete_namespace(name)


async def _first(
    name: str, call: Callable[[KnowledgeBase], Awaitable[object]], open_anew: Callable[[], KnowledgeBase]
) -> None:
    """What a client has to prepare before its first answer, and what reads everything."""
    async with open_anew() as fresh:
        await fresh.search("warm up", mode="vector")
        passed, own = time.perf_counter(), time.process_time()
        await call(fresh)
        passed, own = time.perf_counter() - passed, time.process_time() - own
        print(f"{name:30} {passed:.1f} s, own {own:.1f} s", flush=True)


async def _time(name: str, texts: list[str], call: Callable[[str], Awaitable[object]]) -> None:
    await call(texts[0])
    times, own = [], time.process_time()
    for text in texts:
        started = time.perf_counter()
        await call(text)
        times.append(1000 * (time.perf_counter() - started))
    own = 1000 * (time.process_time() - own) / len(texts)
    slow = sorted(times)[int(0.95 * len(times))]
    print(f"{name:30} p50 {statistics.median(times):7.1f} ms, p95 {slow:7.1f} ms, own {own:6.1f} ms", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m benchmarks.server", description=__doc__)
    parser.add_argument("--eval", type=Path, default=Path("../shared/eval"), help="folder with the data sets")
    parser.add_argument("--chunks", type=int, default=50_000, help="about how many chunks")
    arguments = parser.parse_args()
    asyncio.run(main(arguments.eval, arguments.chunks))
