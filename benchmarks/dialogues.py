"""Finding a turn in long dialogues: recall@10 over turns, against plain BM25.

The dialogues are the conversations of a data set, one behind the other: 25 sessions of 24 turns. They are asked about
in two ways: by a part of the words of a question that was asked in them, where the turn that answered it is wanted (the
words of the question may be no words of the answer), and by words of one sentence of the turn itself. Then the same
with all turns shuffled over the sessions, where what surrounds a turn says nothing about it: there nothing may be lost.

Last, facts that change: two statements among ten turns of these dialogues, of which the later one should come first.
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
from core.rag.dbhandler.messages.interactions import InteractionRow
from core.rag.dbhandler.messages.rows import message_properties
from core.rag.retrieval.bm25 import Bm25

SET = "mtrag_un_dev"
SESSIONS = 25
TURNS = 24
K = 10
#: Every so many-th question is asked.
STEP = 3
#: What is said of something, what is asked, and values that it may have.
FACTS = (
    ("My favourite colour is {}.", "What is my favourite colour?", ("red", "blue", "green", "yellow")),
    ("I live in {}.", "Where do I live now?", ("Berlin", "Hamburg", "Lisbon", "Oslo")),
    ("My phone number is {}.", "What's my phone number?", ("555 1234", "555 9876", "020 7946 0000", "555 0101")),
    ("The project deadline is on {}.", "When is the deadline?", ("Friday", "March 3rd", "the 12th of May", "Monday")),
    ("I work at {} these days.", "Which company do I work at?", ("Siemens", "Bosch", "a bakery", "Airbus")),
    ("Our production database is {}.", "Which database is in production?", ("Postgres", "MySQL", "Oracle", "Redis")),
    ("My dog's name is {}.", "What is the name of my dog?", ("Rex", "Bella", "Luna", "Fido")),
    ("The wifi password is {}.", "Tell me the wifi password.", ("hunter2", "swordfish", "tulip-44", "correct horse")),
    ("I am allergic to {}.", "What am I allergic to?", ("nuts", "shellfish", "pollen", "latex")),
    ("My shirt size is {}.", "Which shirt size do I need?", ("M", "L", "XL", "42")),
    ("The build runs with {}.", "How does the build run?", ("make", "ninja", "bazel", "gradle")),
    ("Please answer me in {}.", "In which language should you answer?", ("English", "German", "French", "Spanish")),
)
#: How often each is said with other values, at other places.
SAID = 4

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
    later = [place for conversation in ("one", "several") for place in await _changed(conversations, conversation)]
    print(f"facts that change, later one before the other: {sum(later)} of {len(later)}")


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


async def _changed(conversations: Sequence[Sequence[dict[str, Any]]], sessions: str) -> list[bool]:
    """Return of each fact whether what was said of it later comes before what was said earlier."""
    rng = random.Random(5)
    turns = [turn for conversation in conversations for turn in conversation]
    found = []
    async with KnowledgeBase.open("embedded::memory:") as kb:
        for number, (statement, question, values) in enumerate(FACTS * SAID):
            user = f"user {number}"
            places, said = (
                sorted(rng.sample(range(12), 2)),
                [statement.format(value) for value in rng.sample(values, 2)],
            )
            start = rng.randrange(len(turns) - 12)
            for place in range(12):
                session, when = f"{user}, {place // 4 if sessions == 'several' else 0}", f"2026-01-{place + 1:02}"
                if place not in places:
                    turn = turns[start + place]
                    await kb.remember(session, turn["role"], turn["content"], user_id=user, timestamp=when)
                    continue
                await kb.remember(session, "user", said[places.index(place)], user_id=user, timestamp=when)
                await kb.remember(session, "assistant", "I will keep that in mind.", user_id=user, timestamp=when)
            order = [memory.content for memory in await kb.recall(query=question, user_id=user, limit=50)]
            found.append(order.index(said[1]) < order.index(said[0]))
    return found
