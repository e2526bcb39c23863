"""A question inside a conversation: which words and which direction to search for, without a language model.

A follow-up ("and how long does that take?") shares few words with the passage that answers it; the turns before it have
them. So the passages are scored once per turn, and the scores are added with quickly falling weights: BM25 is a sum
over words, so this is one search with weighted words, and the cosine likewise one with a sum of vectors. Slow decay and
heavy answers were measured to cost 4 to 8 points; see docs/adr/0009-conversations-and-memory.md.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from core.rag.analysis import query_terms
from core.rag.dbhandler.store import MAX_K, check_vector
from core.rag.embedder.base import EmbeddingService
from core.rag.retrieval.fusion import Leg, fuse_hybrid, spread_of_sample, spread_of_top
from core.rag.retrieval.hits import SearchMode
from core.rag.retrieval.legs import Legs

if TYPE_CHECKING:
    from core.rag.dbhandler import MemGraphClient
    from core.rag.dbhandler.vectors import VectorStoreInfo
    from core.rag.embedder.base import Vectors

#: Weight of the words of the question before; each one further back counts so much less again.
QUESTION_DECAY: Final = 0.3
#: Weight of the words of the last answer; it falls like that of questions.
ANSWER_WEIGHT: Final = 0.04
#: Weights of the vectors of the question before, and of the last answer.
QUESTION_VECTOR: Final = 0.25
ANSWER_VECTOR: Final = 0.15
#: Smaller weights change nothing, and each distinct one may be a search of its own.
_LEAST_WEIGHT: Final = 0.01

#: A passage has to do with what was said last if it stands so many standard deviations above the mean.
RELATED: Final = 0.5
_OWN_PASSAGES: Final = 5
_LOOKED_AT: Final = 100

#: How many messages are looked back at: what is further back has no weight left.
MESSAGES: Final = 9


@dataclass(frozen=True, slots=True)
class Turn:
    """A message of the conversation.

    Attributes:
        role: ``user`` for questions; all other roles count as answers.
        content: What was said.
        vector: Its vector, ``None`` where it has none.
    """

    role: str
    content: str
    vector: Sequence[float] | None = None


@dataclass(frozen=True, slots=True)
class Dialogue:
    """What was said before a question, the newest first.

    Attributes:
        questions: Earlier messages of the user.
        answers: Messages of everybody else.
    """

    questions: tuple[Turn, ...] = ()
    answers: tuple[Turn, ...] = ()

    @classmethod
    def of(cls, turns: Sequence[Turn]) -> Dialogue:
        """From messages in the order in which they were said."""
        newest = list(reversed(turns))
        return cls(
            tuple(turn for turn in newest if turn.role == "user"),
            tuple(turn for turn in newest if turn.role != "user"),
        )

    def __bool__(self) -> bool:
        return bool(self.questions or self.answers)

    def terms(self, question: Mapping[str, float]) -> dict[str, float]:
        """The words to search for, with their weights.

        Args:
            question: Those of the question itself.
        """
        weights = dict(question)
        for turn, weight in self._weighted():
            for term in query_terms(turn.content):
                weights[term] = weights.get(term, 0.0) + weight
        return {term: round(weight, 3) for term, weight in weights.items()}

    def vector(self, question: Sequence[float]) -> list[float]:
        """The direction to search in, of length 1.

        Args:
            question: The vector of the question itself.
        """
        total = _unit(question)
        for turns, weight in ((self.questions, QUESTION_VECTOR), (self.answers, ANSWER_VECTOR)):
            if turns and turns[0].vector is not None and len(turns[0].vector) == len(question):
                total = total + weight * _unit(turns[0].vector)
        return [float(value) for value in _unit(total.tolist())]

    async def is_left_by(
        self, legs: Legs, vector: Sequence[float] | None, terms: Mapping[str, float], total: int
    ) -> bool:
        """Tell whether a question changes the subject.

        It does when none of the passages that it finds by itself has to do with what was said last: when all of them
        score less than ``RELATED`` standard deviations above the mean for the last question and answer.

        Args:
            legs: For searching.
            vector: The vector of the question.
            terms: The words of the question.
            total: How many chunks there are.
        """
        words, vectors = await asyncio.gather(legs.keyword(terms, _LOOKED_AT), legs.vector(vector, _LOOKED_AT))
        if not words and not vectors:
            return False
        cosines = await legs.sampled_cosines(vector)
        best = fuse_hybrid(vectors, words, sample=cosines, total=total, limit=_OWN_PASSAGES)
        last = [turns[0] for turns in (self.questions, self.answers) if turns]
        said = dict.fromkeys((term for turn in last for term in query_terms(turn.content)), 1.0)
        meanings = [_unit(turn.vector) for turn in last if turn.vector is not None]
        meaning = [float(value) for value in sum(meanings)] if meanings else None
        found, sample = await asyncio.gather(legs.keyword(said, MAX_K), legs.sampled_cosines(meaning))
        exact = await legs.cosines(meaning, [item.id for item in best])
        return max(_standing(item.id, found, exact, sample, total) for item in best) < RELATED

    def _weighted(self) -> list[tuple[Turn, float]]:
        weighted = [(turn, QUESTION_DECAY**steps) for steps, turn in enumerate(self.questions, 1)]
        weighted += [(turn, ANSWER_WEIGHT * QUESTION_DECAY**steps) for steps, turn in enumerate(self.answers)]
        return [(turn, weight) for turn, weight in weighted if weight >= _LEAST_WEIGHT]


def _standing(
    chunk: str, words: Mapping[str, float], cosines: Mapping[str, float], sample: Sequence[float], total: int
) -> float:
    """How far above the mean of all chunks one stands, in standard deviations, over both legs."""
    parts = []
    if words:
        unit = Leg(words, spread_of_top(words.values(), total)).unit
        parts.append((words.get(chunk, 0.0) - sum(words.values()) / max(total, len(words))) / unit if unit else 0.0)
    if chunk in cosines and len(sample) > 1:
        spread = spread_of_sample(sample)
        parts.append((cosines[chunk] - sum(sample) / len(sample)) / spread if spread else 0.0)
    return sum(parts) / len(parts) if parts else 0.0


def _unit(vector: Sequence[float]) -> Any:
    values = np.asarray(vector, dtype=np.float64)
    length = float(np.linalg.norm(values))
    return values / length if length else values


async def read_dialogue(
    client: MemGraphClient, conversation_id: str, question: str | None, store: VectorStoreInfo | None
) -> tuple[Dialogue, str | None]:
    """What was said before a question.

    Args:
        client: The graph.
        conversation_id: The conversation.
        question: The question; ``None``: the last message, if the user said it. Where it was added to the conversation
            already, it is not taken for a part of its own history.
        store: Where vectors are; ``None``: without.

    Returns:
        What was said, and the question.

    Raises:
        NotFoundError: when there is no such conversation.
    """
    messages = await client.recent_messages(conversation_id, MESSAGES)
    if messages and messages[-1]["role"] == "user":
        last = messages[-1]["content"]
        if question is None or " ".join(last.split()) == " ".join(question.split()):
            question = last if question is None else question
            messages.pop()
    messages = [message for message in messages if message["content"].strip() and message["role"] != "system"]
    vectors = await client.message_vectors([message["id"] for message in messages], store) if store else {}
    turns = [Turn(message["role"], message["content"], vectors.get(message["id"])) for message in messages]
    return Dialogue.of(turns), question


class _Given(EmbeddingService):
    """An embedder for the one question whose vector the caller has."""

    def __init__(self, store: VectorStoreInfo, vector: Sequence[float]) -> None:
        self._store = store
        self._vector = vector

    @property
    def model(self) -> str:
        return self._store.model

    @property
    def dimension(self) -> int:
        return self._store.dimension

    async def get_embeddings(self, texts: Sequence[str], names: Sequence[str] | None = None) -> Vectors:  # noqa: ARG002
        return np.array([self._vector] * len(texts), dtype=np.float32)


async def search_chunks_in_conversation(
    client: MemGraphClient,
    query_embedding: Sequence[float],
    conversation_id: str,
    limit: int,
    query_text: str | None = None,
) -> list[dict[str, Any]]:
    """See ``MemGraphClient.conversation_aware_search_chunks``."""
    from core.rag.retrieval.retriever import Retriever

    stores = await client.vector_stores()
    store = stores[0] if stores else None
    dialogue, question = await read_dialogue(client, conversation_id, query_text, store)
    if store is None:
        return []
    vector = check_vector(query_embedding, store.dimension)
    if not dialogue and query_text is None:
        return await client.search_chunks(vector, limit)
    retriever = Retriever(client, _Given(store, vector), dialogue=dialogue or None)
    mode: SearchMode = "hybrid" if question and question.strip() else "vector"
    hits = await retriever.search(question if mode == "hybrid" and question else "question", limit, mode)
    chunks = await client.chunks_by_id([hit.chunk_id for hit in hits])
    return [chunks[hit.chunk_id] | {"score": hit.score, "scores": hit.scores} for hit in hits if hit.chunk_id in chunks]
