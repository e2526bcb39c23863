"""recall@5 and all@5 of each search mode on each data set, through the public interface."""

from __future__ import annotations

import statistics
import time
from pathlib import Path

from benchmarks.data import SETS, load, recall
from core.rag import KnowledgeBase
from core.rag.retrieval.hits import MODES

MEASURED = tuple(mode for mode in MODES if mode != "fuzzy")


async def main(folder: Path) -> None:
    """Print a table."""
    print(f"{'data set':18} {'mode':8} {'recall@5':>9} {'all@5':>7} {'p50 ms':>8} {'p95 ms':>8}")
    for name in SETS:
        if not (folder / name).is_dir():
            continue
        data = load(folder, name)
        async with KnowledgeBase.open("embedded::memory:") as kb:
            await kb.ingest(data.documents())
            for mode in MEASURED:
                scores, times = [], []
                for query in data.queries:
                    started = time.perf_counter()
                    # Several chunks of one passage may be found: ask for more, and count passages.
                    hits = await kb.search(query["text"], k=15, mode=mode)
                    times.append(1000 * (time.perf_counter() - started))
                    scores.append(recall([hit.path for hit in hits], query["relevant"]))
                times.sort()
                print(
                    f"{name:18} {mode:8} {100 * statistics.mean(scores):9.1f}"
                    f" {100 * statistics.mean(score == 1.0 for score in scores):7.1f}"
                    f" {statistics.median(times):8.1f} {times[int(0.95 * len(times))]:8.1f}",
                    flush=True,
                )
