"""DRIFT RAG on 100,000 edges, at depth 4: time and memory of its parts, and of whole queries.

The graph is that of real passages with the entities that ingest finds, and random facts between these entities, most of
them at few hubs. It is built in one process and measured in another, so that memory is that of questions alone.
"""

from __future__ import annotations

import asyncio
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from benchmarks.data import load, read_lines
from core.rag import KnowledgeBase
from core.rag.answering.drift import DRIFTRAG, preset
from core.rag.dbhandler.store import Transaction

CHUNKS = 2_500
EDGES = 100_000
QUERIES = 30


async def main(folder: Path) -> None:
    """Print a table; times are milliseconds, memory is MB."""
    with tempfile.TemporaryDirectory() as place:
        for step in ("build", "measure"):
            subprocess.run([sys.executable, "-m", "benchmarks.drift", step, place, str(folder)], check=True)


async def build(uri: str, folder: Path) -> None:
    """Make the graph."""
    data = load(folder, "2wiki_train500")
    async with KnowledgeBase.open(uri) as kb:
        await kb.ingest(data.documents()[:CHUNKS])
        rows = await kb.client.read("MATCH (e:Entity) RETURN e.id AS id, e.mention_count AS n")
        ids = [row["id"] for row in sorted(rows, key=lambda row: (-(row["n"] or 0), row["id"]))]
        lot = random.Random(7)
        facts = []
        for number in range(EDGES - sum((await _edges(kb)).values())):
            a, b = ids[lot.randrange(len(ids))], ids[int(len(ids) * lot.random() ** 4)]
            if a != b:
                facts.append({"a": a, "b": b, "type": f"type {number % 20}", "weight": round(lot.random(), 3)})
        store = await kb.client.connect()
        for start in range(0, len(facts), 1000):

            async def work(tx: Transaction, part: list[dict[str, Any]] = facts[start : start + 1000]) -> None:
                await tx.run(
                    "UNWIND $rows AS row MATCH (a:Entity {id: row.a}) MATCH (b:Entity {id: row.b}) "
                    "CREATE (a)-[:RELATED {type: row.type, weight: row.weight}]->(b)",
                    {"rows": part},
                )

            await store.transaction(work)


async def measure(uri: str, folder: Path) -> None:
    """Ask."""
    # Not the passages: the memory that is measured is that of questions.
    questions = [query["text"] for query in read_lines(folder, "2wiki_train500", "queries.jsonl")][:QUERIES]
    print(f"empty process: {_megabytes():.0f} MB")
    async with KnowledgeBase.open(uri) as kb:
        counts = await _edges(kb)
        print(f"{sum(counts.values())} edges: " + ", ".join(f"{n} {kind}" for kind, n in counts.items()))
        print(f"open: {_megabytes():.0f} MB")
        await kb.search(questions[0], k=5)
        print(f"after a search: {_megabytes():.0f} MB")
        print(f"{'':34} {'p50':>7} {'p95':>7} {'max':>7} {'CPU p50':>8} {'CPU max':>8} {'edges':>7} {'peak MB':>8}")
        best = preset("comprehensive")
        drift = DRIFTRAG(kb, config=best)
        await _measure("entry points", questions, drift.find_entry_points)
        hubs = await _hubs(kb)
        starts = {text: hubs[number % len(hubs)] for number, text in enumerate(questions)}
        for name in ("traversal from a hub, depth 4", "the same again"):
            await _measure(name, questions, lambda text: drift.dynamic_traversal(starts[text], text, 4))
        for changes in (
            {"use_inference": False},
            {"inference_strategy": "similarity"},
            {"inference_strategy": "structural"},
        ):
            fresh = DRIFTRAG(kb, config=best.updated(**changes))
            await _measure(f"query, depth 4, {', '.join(map(str, changes.values()))}", questions, fresh.query)
        await _measure("query, quick", questions, DRIFTRAG(kb, config=preset("quick")).query)
        await _measure("ask, drift", questions, lambda text: kb.ask(text, strategy="drift"))
        await _measure("ask, flow", questions, lambda text: kb.ask(text, strategy="flow"))


async def _measure(name: str, questions: list[str], call: Callable[[str], Awaitable[Any]]) -> None:
    times, work, edges = [], [], []
    for text in questions:
        started, cpu = time.perf_counter(), time.process_time()
        result = await call(text)
        times.append(1000 * (time.perf_counter() - started))
        work.append(1000 * (time.process_time() - cpu))
        edges.append(getattr(getattr(result, "stats", None), "visited_edges", 0))
    times.sort()
    print(
        f"{name:34} {statistics.median(times):7.0f} {times[int(0.95 * len(times))]:7.0f} {times[-1]:7.0f}"
        f" {statistics.median(work):8.0f} {max(work):8.0f} {statistics.mean(edges):7.0f} {_megabytes():8.0f}",
        flush=True,
    )


async def _hubs(kb: KnowledgeBase) -> list[str]:
    rows = await kb.client.read(
        "MATCH (e:Entity)<-[r:RELATED]-() WITH e, count(r) AS n ORDER BY n DESC LIMIT 10 RETURN e.id AS id"
    )
    return [row["id"] for row in rows]


async def _edges(kb: KnowledgeBase) -> dict[str, int]:
    rows = await kb.client.read("MATCH ()-[r]->() RETURN type(r) AS kind, count(r) AS n")
    return {row["kind"]: row["n"] for row in rows}


def _megabytes() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3


if __name__ == "__main__":
    step, place, folder = sys.argv[1:]
    asyncio.run({"build": build, "measure": measure}[step](f"embedded:{place}/graph.grafeo", Path(folder)))
