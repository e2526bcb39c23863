"""Statements that change, in other words than before: is the later one among the first five that are recalled?

Each user states 16 things and, some time later, what replaced them or is only like them. In between are the
conversations of a data set: 320 days with a turn and its answer, in sessions of six days.
"""

from __future__ import annotations

import random
from datetime import date, timedelta
from pathlib import Path
from typing import Any

from benchmarks.changed_facts import CHANGES, STAYS
from benchmarks.data import load
from core.rag import KnowledgeBase

SET = "mtrag_un_dev"
TOGETHER = 16
DAYS = 320
SESSION_DAYS = 6
K = 5


async def main(folder: Path) -> None:
    """Print a table."""
    rng = random.Random(3)
    turns = [turn for query in load(folder, SET).queries for turn in query["history"]]
    stated = [("changes", *one) for one in CHANGES] + [("stays true", *one) for one in STAYS]
    rng.shuffle(stated)
    found: dict[str, list[tuple[bool, bool, bool]]] = {}
    async with KnowledgeBase.open("embedded::memory:") as kb:
        for start in range(0, len(stated), TOGETHER):
            user, part = f"user {start}", stated[start : start + TOGETHER]
            await _tell(kb, user, [(first, later) for _, first, later, _ in part], turns, rng)
            for kind, first, later, question in part:
                order = [memory.content for memory in await kb.recall(query=question, user_id=user, limit=K)]
                wanted, other = (later, first) if kind == "changes" else (first, later)
                before = wanted in order and (other not in order or order.index(wanted) < order.index(other))
                found.setdefault(kind, []).append((wanted in order, wanted in order and other in order, before))
    print(f"{'':12} {'asked':>5} {'found':>6} {'both':>6} {'before the other':>17}   (among the first {K})")
    for kind, places in found.items():
        counts = [sum(column) for column in zip(*places, strict=True)]
        print(f"{kind:12} {len(places):5} {counts[0]:6} {counts[1]:6} {counts[2]:17}", flush=True)


async def _tell(
    kb: KnowledgeBase, user: str, pairs: list[tuple[str, str]], turns: list[dict[str, Any]], rng: random.Random
) -> None:
    said: dict[int, list[str]] = {}
    for pair in pairs:
        for day, text in zip(sorted(rng.sample(range(DAYS), 2)), pair, strict=True):
            said.setdefault(day, []).append(text)
    at = rng.randrange(len(turns) - 2 * DAYS)
    for start in range(0, DAYS, SESSION_DAYS):
        messages = []
        for day in range(start, min(start + SESSION_DAYS, DAYS)):
            talk = [(turn["role"], turn["content"]) for turn in turns[at + 2 * day : at + 2 * day + 2]]
            for text in said.get(day, ()):
                talk += [("user", text), ("assistant", "I will keep that in mind.")]
            when = date(2025, 1, 1) + timedelta(days=day)
            messages += [{"role": role, "content": text, "timestamp": when} for role, text in talk]
        await kb.remember_all(f"{user}, day {start}", messages, user_id=user)
