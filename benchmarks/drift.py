"""DRIFT RAG on 100,000 edges, at depth 4: time and memory of its parts, and of whole queries."""

from __future__ import annotations

import random
import resource
import statistics
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from benchmarks.data import load
from core.rag import KnowledgeBase
from core.rag.answering.drift import DRIFTRAG, preset
from core.rag.dbhandler.store import Transaction
from libs.dataloader import Document

CHUNKS = 5_000
ENTITIES = 20_000
RELATED = 65_000
MENTIONS = 30_000
QUERIES = 25


async def main(folder: Path) -> None:
    """Print a table; times are milliseconds, memory is MB."""
    data = load(folder, "2wiki_train500")
    passages = data.passages[:CHUNKS]
    questions = [query["text"] for query in data.queries[:QUERIES]]
    async with KnowledgeBase.open("embedded::memory:") as kb:
        await kb.ingest(
            Document(path=row["id"], content=row["text"], title=row.get("title") or None) for row in passages
        )
        await _link(kb, [row.get("title") or row["id"] for row in passages])
        print(f"edges: {await _edges(kb)}; memory before: {_megabytes():.0f} MB")
        print(f"{'':34} {'p50':>7} {'p95':>7} {'max':>7} {'CPU p50':>8} {'edges':>7} {'peak MB':>8}")
        drift = DRIFTRAG(kb, config=preset("comprehensive"))
        await _measure("entry points", questions, lambda text: drift.find_entry_points(text))
        hubs = await _hubs(kb)
        starts = {text: hubs[number % len(hubs)] for number, text in enumerate(questions)}
        await _measure(
            "traversal from a hub, depth 4", questions, lambda text: drift.dynamic_traversal(starts[text], text, 4)
        )
        await _measure("the same again", questions, lambda text: drift.dynamic_traversal(starts[text], text, 4))
        for strategy in ("similarity", "structural"):
            fresh = DRIFTRAG(kb, config=preset("comprehensive"), inference_strategy=strategy)
            await _measure(f"query, depth 4, {strategy}", questions, fresh.query)
        fresh = DRIFTRAG(kb, config=preset("comprehensive"), use_inference=False)
        await _measure("query, depth 4, no inference", questions, fresh.query)
        await _measure("query, quick", questions, DRIFTRAG(kb, config=preset("quick")).query)


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
        f" {statistics.median(work):8.0f} {statistics.mean(edges):7.0f} {_megabytes():8.0f}",
        flush=True,
    )


async def _link(kb: KnowledgeBase, titles: list[str]) -> None:
    """Entities with names like the titles, most edges at few of them, as in texts."""
    lot = random.Random(7)
    names = [
        titles[number % len(titles)] + (f" {number}" if number >= len(titles) else "") for number in range(ENTITIES)
    ]
    rows = [
        {"id": f"entity/{number}", "name": name, "normalized": " ".join(name.split()).casefold()}
        for number, name in enumerate(names)
    ]
    facts = [
        {
            "a": f"entity/{lot.randrange(ENTITIES)}",
            "b": f"entity/{int(ENTITIES * lot.random() ** 4)}",
            "type": lot.choice(["works_for", "born_in", "part_of", "directed"]),
            "weight": round(lot.random(), 3),
        }
        for _ in range(RELATED)
    ]
    chunks = [row["id"] for row in await kb.client.read("MATCH (c:DocumentChunk) RETURN c.id AS id ORDER BY id")]
    mentions = [
        {"c": lot.choice(chunks), "e": f"entity/{int(ENTITIES * lot.random() ** 4)}", "n": 1 + int(3 * lot.random())}
        for _ in range(MENTIONS)
    ]
    await _write(
        kb,
        "UNWIND $rows AS row MERGE (e:Entity {id: row.id}) SET e.namespace = 'default', e.name = row.name, "
        "e.normalized_name = row.normalized, e.type = 'thing', e.summary = ''",
        rows,
    )
    await _write(
        kb,
        "UNWIND $rows AS row MATCH (a:Entity {id: row.a}) MATCH (b:Entity {id: row.b}) "
        "CREATE (a)-[:RELATED {type: row.type, weight: row.weight}]->(b)",
        [row for row in facts if row["a"] != row["b"]],
    )
    await _write(
        kb,
        "UNWIND $rows AS row MATCH (c:DocumentChunk {id: row.c}) MATCH (e:Entity {id: row.e}) "
        "CREATE (c)-[:MENTIONS {count: row.n}]->(e)",
        mentions,
    )


async def _write(kb: KnowledgeBase, statement: str, rows: list[dict[str, Any]]) -> None:
    store = await kb.client.connect()
    for start in range(0, len(rows), 1000):

        async def work(tx: Transaction, part: list[dict[str, Any]] = rows[start : start + 1000]) -> None:
            await tx.run(statement, {"rows": part})

        await store.transaction(work)


async def _hubs(kb: KnowledgeBase) -> list[str]:
    rows = await kb.client.read(
        "MATCH (e:Entity)<-[r:RELATED]-() WITH e, count(r) AS n ORDER BY n DESC LIMIT 10 RETURN e.id AS id"
    )
    return [row["id"] for row in rows]


async def _edges(kb: KnowledgeBase) -> str:
    rows = await kb.client.read("MATCH ()-[r]->() RETURN type(r) AS kind, count(r) AS n")
    return f"{sum(row['n'] for row in rows)} (" + ", ".join(f"{row['n']} {row['kind']}" for row in rows) + ")"


def _megabytes() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
