"""Questions inside conversations: recall@5 with and without what was said before, and what it costs."""

from __future__ import annotations

import statistics
import time
from pathlib import Path
from typing import Any

from benchmarks.data import load, recall
from core.rag import KnowledgeBase

SET = "mtrag_un_dev"


async def main(folder: Path) -> None:
    """Print a table."""
    data = load(folder, SET)
    async with KnowledgeBase.open("embedded::memory:") as kb:
        await kb.ingest(data.documents())
        talks = [await _conversation(kb, query) for query in data.queries]
        print(f"{'search':34} {'recall@5':>9} {'p50 ms':>8} {'p95 ms':>8}")
        for name, mode, with_talk in (
            ("last turn alone, keyword", "keyword", False),
            ("last turn alone, vector", "vector", False),
            ("last turn alone, hybrid", "hybrid", False),
            ("with the conversation, keyword", "keyword", True),
            ("with the conversation, vector", "vector", True),
            ("with the conversation, hybrid", "hybrid", True),
        ):
            scores, times = [], []
            for query, talk in zip(data.queries, talks, strict=True):
                more: dict[str, Any] = {"conversation_id": talk} if with_talk else {}
                started = time.perf_counter()
                hits = await kb.search(query["text"], k=15, mode=mode, **more)  # type: ignore[arg-type]
                times.append(1000 * (time.perf_counter() - started))
                scores.append(recall([hit.path for hit in hits], query["relevant"]))
            times.sort()
            print(
                f"{name:34} {100 * statistics.mean(scores):9.1f} {statistics.median(times):8.1f}"
                f" {times[int(0.95 * len(times))]:8.1f}",
                flush=True,
            )


async def _conversation(kb: KnowledgeBase, query: dict[str, Any]) -> str:
    talk = await kb.client.create_conversation()
    for turn in query.get("history") or []:
        await kb.client.add_message(talk, turn["content"], turn["role"])
    return talk
