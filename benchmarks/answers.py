"""Answers without a model: how often they cite a relevant passage, compared with search@5, and how often they say that
there is nothing, for questions of the set and for questions of another one."""

from __future__ import annotations

import statistics
import time
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.data import DataSet, load
from core.rag import KnowledgeBase

SETS = ("2wiki_train500", "mtrag_un_dev")
#: A set about something quite different, and how many of its questions are asked.
OTHER = "cranfield"
FOREIGN = 50


@dataclass
class Counts:
    """Of the questions of one set.

    Attributes:
        searched: A relevant passage is among the five hits of the search.
        cited: A relevant passage is cited.
        answered: Something relevant was found.
        foreign: The same for questions of another set.
        milliseconds: Of each answer.
    """

    searched: int = 0
    cited: int = 0
    answered: int = 0
    foreign: int = 0
    milliseconds: list[float] = field(default_factory=list)


async def main(folder: Path, questions: int | None = None) -> None:
    """Print a table.

    Args:
        folder: Where the sets are.
        questions: Of each set at most; ``None``: all.
    """
    print(
        f"{'data set':16}{'questions':>10}{'search@5':>10}{'cited':>8}{'found':>8}"
        f"{'foreign':>9}{'p50 ms':>8}{'p95 ms':>8}"
    )
    for name in SETS:
        if not (folder / name).is_dir():
            continue
        data, other = load(folder, name), load(folder, OTHER)
        counts = await measure(data, other, questions)
        total = len(data.queries[:questions])
        counts.milliseconds.sort()
        print(
            f"{name:16}{total:10}{100 * counts.searched / total:10.1f}{100 * counts.cited / total:8.1f}"
            f"{100 * counts.answered / total:8.1f}{100 * counts.foreign / min(FOREIGN, len(other.queries)):9.1f}"
            f"{statistics.median(counts.milliseconds):8.1f}{counts.milliseconds[int(0.95 * total)]:8.1f}",
            flush=True,
        )


async def measure(data: DataSet, other: DataSet, questions: int | None) -> Counts:
    """Ask all questions of a set, and some of another."""
    counts = Counts()
    async with KnowledgeBase.open("embedded::memory:") as kb:
        await kb.ingest(data.documents())
        for query in data.queries[:questions]:
            relevant = set(query["relevant"])
            hits = await kb.search(query["text"], k=5)
            started = time.perf_counter()
            answer = await kb.ask(query["text"], extracts=True)
            counts.milliseconds.append(1000 * (time.perf_counter() - started))
            counts.searched += any(hit.path in relevant for hit in hits)
            counts.cited += any(citation.path in relevant for citation in answer.citations)
            counts.answered += answer.found
        for query in other.queries[:FOREIGN]:
            counts.foreign += (await kb.ask(query["text"], extracts=True)).found
    return counts
