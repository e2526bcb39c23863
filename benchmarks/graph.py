"""Multi-hop questions through the public interface: recall@5, all@5 and time of graph, auto and the other modes."""

from __future__ import annotations

import statistics
import time
from collections import defaultdict
from pathlib import Path

from benchmarks.data import SETS, DataSet, load, recall
from core.rag import KnowledgeBase
from core.rag.retrieval.hits import SearchMode

MODES: tuple[SearchMode, ...] = ("keyword", "vector", "hybrid", "graph", "auto")


async def main(folder: Path) -> None:
    """Print a table, what ``auto`` loses against the best mode, and graph search by type of question."""
    print(f"{'data set':16} {'mode':8} {'recall@5':>9} {'all@5':>7} {'p50 ms':>8} {'p95 ms':>8}")
    for name in SETS:
        if (folder / name).is_dir():
            await _measure(load(folder, name))


async def _measure(data: DataSet) -> None:
    means: dict[str, float] = {}
    by_type: dict[str, list[bool]] = defaultdict(list)
    async with KnowledgeBase.open("embedded::memory:") as kb:
        await kb.ingest(data.documents())
        for query in data.queries[:5]:
            await kb.search(query["text"])  # samples of the corpus are taken once
        for mode in MODES:
            scores, times = [], []
            for query in data.queries:
                started = time.perf_counter()
                # Several chunks of one passage may be found: ask for more, and count passages.
                hits = await kb.search(query["text"], k=15, mode=mode)
                times.append(1000 * (time.perf_counter() - started))
                scores.append(recall([hit.path for hit in hits], query["relevant"]))
                if mode == "graph" and isinstance(query.get("type"), str):
                    by_type[query["type"]].append(scores[-1] == 1.0)
            times.sort()
            means[mode] = 100 * statistics.mean(scores)
            print(
                f"{data.name:16} {mode:8} {means[mode]:9.1f} {100 * statistics.mean(s == 1.0 for s in scores):7.1f}"
                f" {statistics.median(times):8.1f} {times[int(0.95 * len(times))]:8.1f}",
                flush=True,
            )
    best = max(means[mode] for mode in MODES if mode != "auto")
    kinds = ", ".join(f"{kind} {100 * statistics.mean(found):.0f}" for kind, found in sorted(by_type.items()))
    print(f"{data.name:16} auto {means['auto'] - best:+.1f} to the best mode; graph all@5: {kinds}", flush=True)
