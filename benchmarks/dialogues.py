"""Finding a turn in long dialogues: recall@10 over turns, against plain BM25.

The dialogues are the conversations of a data set, one behind the other: 25 sessions of 24 turns. They are asked about
in two ways: by a part of the words of a question that was asked in them, where the turn that answered it is wanted (the
words of the question may be no words of the answer), and by words of one sentence of the turn itself. Then the same
with all turns shuffled over the sessions, where what surrounds a turn says nothing about it: there nothing may be lost.
"""

from __future__ import annotations

import random
import re
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from benchmarks.data import load
from core.rag import KnowledgeBase
from core.rag.analysis import analyze, index_terms, query_terms
from core.rag.dbhandler.interactions import InteractionRow
from core.rag.dbhandler.message_rows import message_properties
from core.rag.retrieval.bm25 import Bm25

SET = "mtrag_un_dev"
SESSIONS = 25
TURNS = 24
K = 10
#: Every so many-th question is asked.
STEP = 3
#: Plain BM25 as in most libraries.
K1, B = 1.2, 0.75

_WORD = re.compile(r"\w+")
_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n")


@dataclass(frozen=True, slots=True)
class Turn:
    """What somebody said."""

    id: str
    role: str
    text: str


@dataclass(frozen=True, slots=True)
class Question:
    """A question about a dialogue, and the turn that has the answer."""

    kind: str
    text: str
    evidence: str


Sessions = list[list[Turn]]


async def main(folder: Path) -> None:
    """Print a table."""
    conversations = [query["history"] for query in load(folder, SET).queries if len(query["history"]) >= 4]
    random.Random(1).shuffle(conversations)
    print(f"{'recall@10 x 100':26} {'questions':>9} {'BM25':>6} {'recall':>7}")
    for name, shuffled in (("in order", False), ("shuffled", True)):
        scores: dict[str, list[tuple[bool, bool]]] = {}
        for number, sessions in enumerate(dialogues(conversations)):
            rng = random.Random(number)
            asked = questions(sessions, rng)[::STEP]
            if shuffled:
                sessions = _shuffled(sessions, rng)
            for question, plain, found in await _ask(sessions, asked):
                scores.setdefault(question.kind, []).append((question.evidence in plain, question.evidence in found))
        scores["all"] = [score for kind in scores.values() for score in kind]
        for kind, hits in scores.items():
            plain, ours = (100 * statistics.mean(column) for column in zip(*hits, strict=True))
            print(f"{name + ', ' + kind:26} {len(hits):9} {plain:6.1f} {ours:7.1f}", flush=True)


def dialogues(conversations: Sequence[Sequence[dict[str, Any]]]) -> list[Sessions]:
    """Conversations one behind the other, cut into sessions of so many turns, and these into dialogues."""
    turns = [turn for conversation in conversations for turn in conversation[: len(conversation) // 2 * 2]]
    sessions = [
        [Turn(f"{start + n}", turn["role"], turn["content"]) for n, turn in enumerate(turns[start : start + TURNS])]
        for start in range(0, len(turns), TURNS)
    ]
    groups = [sessions[start : start + SESSIONS] for start in range(0, len(sessions), SESSIONS)]
    return [group for group in groups if len(group) > SESSIONS // 2]


def questions(sessions: Sessions, rng: random.Random) -> list[Question]:
    """Questions about every exchange of a dialogue."""
    found = []
    for session in sessions:
        for asked, answer in zip(session[::2], session[1::2], strict=False):
            words = [word for word in _WORD.findall(asked.text) if analyze(word)]
            if len(words) >= 3:
                kept = rng.sample(words, max(2, round(0.6 * len(words))))
                found.append(Question("asked before", f"What was said about {' '.join(kept)}?", answer.id))
            sentences = [text for text in _SENTENCE.split(answer.text) if len(analyze(text)) >= 5]
            if sentences:
                words = [word for word in _WORD.findall(rng.choice(sentences)) if analyze(word)]
                found.append(
                    Question(
                        "own words", f"Who mentioned {' '.join(rng.sample(words, min(len(words), 4)))}?", answer.id
                    )
                )
    return found


def _shuffled(sessions: Sessions, rng: random.Random) -> Sessions:
    turns = [turn for session in sessions for turn in session]
    rng.shuffle(turns)
    return [turns[start : start + TURNS] for start in range(0, len(turns), TURNS)]


async def _ask(sessions: Sessions, asked: Sequence[Question]) -> list[tuple[Question, list[str], list[str]]]:
    texts = [(turn.id, index_terms(None, None, turn.text)) for session in sessions for turn in session]
    plain = Bm25(texts, k1=K1, b=B)
    start = datetime(2026, 1, 1, tzinfo=UTC)
    results = []
    async with KnowledgeBase.open("embedded::memory:") as kb:
        for number, session in enumerate(sessions):
            name = await kb.client.create_conversation(user_id="user", conversation_id=f"session {number}")
            row = await kb.client.conversation_row(name)
            assert row is not None
            when = start + timedelta(days=3 * number)
            await kb.client.append_interactions(
                row["node_id"],
                [InteractionRow(t.id, message_properties(t.text, t.role, timestamp=when)) for t in session],
            )
        for question in asked:
            found = await kb.recall(query=question.text, limit=K, user_id="user", touch=False)
            results.append((question, list(plain.top(query_terms(question.text), K)), [memory.id for memory in found]))
    return results
