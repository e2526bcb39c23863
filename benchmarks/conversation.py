"""Questions inside conversations: recall@5 with and without what was said before, and what it costs."""

from __future__ import annotations

import random
import statistics
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from unittest.mock import patch

from benchmarks.data import DataSet, load, recall
from core.rag import KnowledgeBase
from core.rag.retrieval import dialogue
from core.rag.retrieval.hits import MODES, SearchMode

SET = "mtrag_un_dev"

#: The parameters of a search in a conversation, with values below and above.
NEIGHBOURS: dict[str, Sequence[float]] = {
    "QUESTION_DECAY": (0.25, 0.35),
    "ANSWER_WEIGHT": (0.04, 0.08),
    "QUESTION_VECTOR": (0.2, 0.3),
    "ANSWER_VECTOR": (0.1, 0.2),
    "EARLIER_WEIGHT": (0.0, 0.1),
    "RELATED": (0.25, 0.75),
}


async def main(folder: Path) -> None:
    """Print recall and times; those of both kinds of search are taken in turns, so that they can be compared."""
    data = load(folder, SET)
    async with KnowledgeBase.open("embedded::memory:") as kb:
        await kb.ingest(data.documents())
        talks = [await conversation(kb, query) for query in data.queries]
        print(f"{'recall@5 x 100':12} {'alone':>8} {'in talk':>8}   {'p95 ms':>8} {'in talk':>8} {'ratio':>6}")
        for mode in (mode for mode in MODES if mode not in {"fuzzy", "graph"}):
            scores: dict[bool, list[float]] = {False: [], True: []}
            times: dict[bool, list[float]] = {False: [], True: []}
            for query, talk in zip(data.queries, talks, strict=True):
                for inside in (False, True):
                    started = time.perf_counter()
                    found = await _paths(kb, query["text"], mode, talk if inside else None)
                    times[inside].append(1000 * (time.perf_counter() - started))
                    scores[inside].append(recall(found, query["relevant"]))
            alone, inside_95 = (sorted(times[inside])[int(0.95 * len(talks))] for inside in (False, True))
            print(
                f"{mode:14} {_mean(scores[False]):8.1f} {_mean(scores[True]):8.1f}   {alone:8.1f} {inside_95:8.1f}"
                f" {inside_95 / alone:6.2f}",
                flush=True,
            )
        print(f"with another conversation's history, hybrid: {await _shifted(kb, data, talks):.1f}")


async def sensitivity(folder: Path) -> None:
    """Print what becomes of recall@5 when one parameter is a step lower or higher."""
    data = load(folder, SET)
    async with KnowledgeBase.open("embedded::memory:") as kb:
        await kb.ingest(data.documents())
        talks = [await conversation(kb, query) for query in data.queries]
        print(f"as it is: {await _quality(kb, data, talks):.1f}", flush=True)
        for name, values in NEIGHBOURS.items():
            for value in values:
                with patch.object(dialogue, name, value):
                    print(f"{name} {value}: {await _quality(kb, data, talks):.1f}", flush=True)


async def conversation(kb: KnowledgeBase, query: dict[str, Any]) -> str:
    """A conversation with the history of a question."""
    talk = await kb.client.create_conversation()
    for turn in query.get("history") or []:
        await kb.client.add_message(talk, turn["content"], turn["role"])
    return talk


async def _quality(kb: KnowledgeBase, data: DataSet, talks: Sequence[str]) -> float:
    return _mean(
        [
            recall(await _paths(kb, query["text"], "hybrid", talk), query["relevant"])
            for query, talk in zip(data.queries, talks, strict=True)
        ]
    )


async def _shifted(kb: KnowledgeBase, data: DataSet, talks: Sequence[str]) -> float:
    """Recall when the subject has just changed: every question in somebody else's conversation."""
    others = random.Random(5)
    order = list(range(len(talks)))
    while any(number == other for number, other in enumerate(order)):
        others.shuffle(order)
    return await _quality(kb, data, [talks[other] for other in order])


async def _paths(kb: KnowledgeBase, text: str, mode: SearchMode, talk: str | None) -> list[str]:
    more: dict[str, Any] = {} if talk is None else {"conversation_id": talk}
    return [hit.path for hit in await kb.search(text, k=15, mode=mode, **more)]


def _mean(scores: Sequence[float]) -> float:
    return 100 * statistics.mean(scores)
