"""Cost against size: ingest rate, search times, memory and disk at 1,000, 10,000 and 50,000 chunks; with a picture."""

from __future__ import annotations

import asyncio
import resource
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.data import load
from core.rag import KnowledgeBase
from core.rag.dbhandler.embedded.store import EmbeddedStore
from libs.dataloader import Document

SIZES = (1_000, 10_000, 50_000)
QUERIES = 100

#: After a few searches the vectors are read into memory in the background; "warm" is what searches take then. What a
#: word scores is kept from its second search on; "cold" is a keyword search right after a write.
WARM_SECONDS = 6
PLOT = Path("benchmarks/scale.svg")


@dataclass(frozen=True, slots=True)
class Cost:
    """What a graph of one size costs: chunks ingested per second, p50 of searches in milliseconds, MB on disk.

    ``slow`` is the p95 of graph searches.
    """

    chunks: int
    rate: float
    vector: float
    warm: float
    numpy: float
    cold: float
    keyword: float
    hybrid: float
    graph: float
    slow: float
    disk: float


async def main(folder: Path) -> None:
    """Print a table; times are p50 in milliseconds."""
    data = load(folder, "2wiki_train500")
    questions = [query["text"] for query in data.queries[:QUERIES]]
    heads = "chunks,ingest/s,vector,warm,numpy,ratio,cold,keyword,hybrid,graph,p95,MB,disk MB"
    print(" ".join(f"{head:>8}" for head in heads.split(",")))
    measured: list[Cost] = []
    for size in SIZES:
        with tempfile.TemporaryDirectory() as place:
            async with KnowledgeBase.open(f"embedded:{place}/graph.grafeo") as kb:
                await kb.embedder.get_embedding("load the model")
                started = time.perf_counter()
                report = await kb.ingest(documents(data.passages, size))
                rate = report.chunks / (time.perf_counter() - started)
                store = await kb.client.find_vector_store()
                queries = await kb.embedder.get_embeddings(questions)
                matrix = await _matrix(kb)
                engine = await _p50([_search(kb, store, vector.tolist()) for vector in queries])
                await asyncio.sleep(WARM_SECONDS)
                warm = await _p50([_search(kb, store, vector.tolist()) for vector in queries])
                bare = _numpy_p50(matrix, queries)
                cold = await _p50([_mode(kb, text, "keyword") for text in questions[:20]], before=_forgotten(kb))
                keyword = await _p50([_mode(kb, text, "keyword") for text in questions])
                hybrid = await _p50([_mode(kb, text, "hybrid") for text in questions])
                graph = await _times([_mode(kb, text, "graph") for text in questions])
                slow = graph[int(0.95 * len(graph))]
            disk = sum(file.stat().st_size for file in Path(place).rglob("*") if file.is_file()) / 1e6
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
        print(
            f"{report.chunks:8} {rate:8.0f} {engine:8.1f} {warm:8.1f} {bare:8.1f} {warm / bare:8.2f} {cold:8.1f}"
            f" {keyword:8.1f} {hybrid:8.1f} {statistics.median(graph):8.1f} {slow:8.1f} {memory:8.0f} {disk:8.0f}",
            flush=True,
        )
        found = (engine, warm, bare, cold, keyword, hybrid, statistics.median(graph), slow)
        measured.append(Cost(report.chunks, rate, *found, disk))
    print(f"plotted: {plot(measured)}")


def plot(measured: list[Cost]) -> Path:
    """Draw cost against size, both logarithmic, where a straight line at 45 degrees is proportional cost."""
    import matplotlib as mpl

    mpl.use("svg")
    mpl.rcParams["svg.hashsalt"] = "scale"  # the same picture for the same numbers
    from matplotlib import pyplot as plt

    figure, (times, rest) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
    sizes = [cost.chunks for cost in measured]
    for name in ("vector", "warm", "numpy", "cold", "keyword", "hybrid", "graph"):
        times.plot(sizes, [getattr(cost, name) for cost in measured], marker="o", label=name)
    times.set(title="search, p50", ylabel="ms")
    rest.plot(sizes, [1e6 / cost.rate for cost in measured], marker="o", label="ingest, µs per chunk")
    rest.plot(sizes, [1e3 * cost.disk / cost.chunks for cost in measured], marker="o", label="disk, kB per chunk")
    rest.set(title="cost of a chunk")
    for axes in (times, rest):
        axes.set(xscale="log", yscale="log", xlabel="chunks in the graph")
        axes.grid(visible=True, alpha=0.3)
        axes.legend()
    figure.savefig(PLOT, metadata={"Date": None})
    return PLOT


def documents(passages: list[dict[str, str]], size: int) -> Iterator[Document]:
    """As many different short documents as asked for, of real passages."""
    for number in range(size):
        first = passages[number % len(passages)]
        second = passages[(7 * number + number // len(passages)) % len(passages)]
        text = f"{first['text'][:350]} {second['text'][:300]}"
        yield Document(path=f"passage/{number}", content=text, title=first.get("title") or None)


def _search(kb: KnowledgeBase, store: object, vector: list[float]) -> Callable[[], Awaitable[object]]:
    return lambda: kb.client.match_vectors(store, vector, 10)  # type: ignore[arg-type]


def _mode(kb: KnowledgeBase, text: str, mode: str) -> Callable[[], Awaitable[object]]:
    return lambda: kb.search(text, k=10, mode=mode)  # type: ignore[arg-type]


def _forgotten(kb: KnowledgeBase) -> Callable[[], Awaitable[object]]:
    """What a write does to what is kept of words."""

    async def forget() -> None:
        store = await kb.client.connect()
        assert isinstance(store, EmbeddedStore)
        await store.exclusively(lambda _: None, "Nothing")

    return forget


async def _p50(
    calls: list[Callable[[], Awaitable[object]]], before: Callable[[], Awaitable[object]] | None = None
) -> float:
    return statistics.median(await _times(calls, before))


async def _times(
    calls: list[Callable[[], Awaitable[object]]], before: Callable[[], Awaitable[object]] | None = None
) -> list[float]:
    """Milliseconds of the calls, the shortest first; ``before`` is called before each."""
    for call in calls[:3]:
        await call()
    times = []
    for call in calls:
        if before is not None:
            await before()
        started = time.perf_counter()
        await call()
        times.append(1000 * (time.perf_counter() - started))
    return sorted(times)


async def _matrix(kb: KnowledgeBase) -> np.ndarray:
    rows = await kb.client.read("MATCH (v:Vector) WHERE v.namespace = $namespace RETURN v.embedding AS e")
    return np.array([row["e"] for row in rows], dtype=np.float32)


def _numpy_p50(matrix: np.ndarray, queries: np.ndarray) -> float:
    times = []
    for query in queries:
        started = time.perf_counter()
        scores = matrix @ query
        top = np.argpartition(-scores, min(10, len(scores) - 1))[:10]
        top[np.argsort(-scores[top])]
        times.append(1000 * (time.perf_counter() - started))
    return statistics.median(times)
