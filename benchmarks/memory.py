"""Recall among many memories: 10,000 in 500 sessions, and turns of long made-up dialogues."""

from __future__ import annotations

import random
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.data import load
from core.rag import KnowledgeBase
from core.rag.dbhandler.messages.interactions import InteractionRow
from core.rag.dbhandler.messages.rows import message_properties

SESSIONS = 500
TURNS = 20
QUERIES = 200


async def main(folder: Path) -> None:
    """Print a table; times in milliseconds."""
    passages = load(folder, "2wiki_train500").passages
    questions = [query["text"] for query in load(folder, "2wiki_train500").queries]
    rng = random.Random(7)
    async with KnowledgeBase.open("embedded::memory:") as kb:
        started = time.perf_counter()
        for number in range(SESSIONS):
            await _session(kb, number, passages)
        print(f"{SESSIONS * TURNS} memories in {SESSIONS} sessions: {time.perf_counter() - started:.1f} s")
        print(f"{'recall':24} {'p50 ms':>8} {'p95 ms':>8} {'found':>6}")
        for name, scope in (
            ("of one session", lambda: {"session_id": f"session {rng.randrange(SESSIONS)}"}),
            ("of one user (50 sessions)", lambda: {"user_id": f"user {rng.randrange(SESSIONS // 50)}"}),
            ("of everything", dict[str, str]),
        ):
            await _measure(kb, name, scope, questions)


async def _session(kb: KnowledgeBase, number: int, passages: list[dict[str, Any]]) -> None:
    client = kb.client
    session = f"session {number}"
    await client.create_conversation(user_id=f"user {number // 50}", conversation_id=session)
    row = await client.conversation_row(session)
    assert row is not None
    messages = []
    for turn in range(TURNS):
        place = (number * TURNS + turn) % len(passages)
        text = f"{passages[place]['text'][:200]} ({number}/{turn})"
        messages.append(InteractionRow(f"{number}-{turn}", message_properties(text, ("user", "assistant")[turn % 2])))
    await client.append_interactions(row["node_id"], messages)


async def _measure(kb: KnowledgeBase, name: str, scope: Callable[[], dict[str, Any]], questions: list[str]) -> None:
    times, found = [], 0
    asked = questions[:QUERIES]
    for text in asked:
        started = time.perf_counter()
        found += len(await kb.recall(query=text, limit=5, **scope()))
        times.append(1000 * (time.perf_counter() - started))
    times.sort()
    print(
        f"{name:24} {statistics.median(times):8.1f} {times[int(0.95 * len(times))]:8.1f} {found / len(asked):6.1f}",
        flush=True,
    )
