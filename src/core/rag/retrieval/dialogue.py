"""A question inside a conversation: which words and which direction to search for, without a language model.

A follow-up ("and how long does that take?") shares few words with the passage that answers it; the turns before it have
them. So the passages are scored once per turn, and the scores are added with quickly falling weights: BM25 is a sum
over words, so this is one search with weighted words, and the cosine likewise one with a sum of vectors. What a
question points back at ("the second one", "she") counts like its own words. Slow decay and heavy answers were measured
to cost 4 to 8 points; see docs/adr/0009-conversations-and-memory.md.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from core.rag.analysis import query_terms
from core.rag.retrieval.legs import Legs
from core.rag.retrieval.ordering.fusion import Leg, fuse_hybrid, spread_of_sample, spread_of_top
from core.rag.retrieval.referents import POINTED_AT, Referent, names_nothing
from core.rag.together import together
from core.rag.unit_vectors import unit_vectors

#: Weight of the words of the previous question; each earlier one is reduced by this factor again.
QUESTION_DECAY: Final = 0.3
#: Weight of the words of the last answer; it decreases for earlier ones as that of questions does.
ANSWER_WEIGHT: Final = 0.06
#: Weights of the vectors of the previous question, the last answer, and what the question refers back to.
QUESTION_VECTOR: Final = 0.25
ANSWER_VECTOR: Final = 0.15
REFERENT_VECTOR: Final = 0.5
#: Weight, as a leg of the fusion, of the passages that answers referred to or that were found for them.
EARLIER_WEIGHT: Final = 0.08
#: Factor for the weights of the question itself if it names nothing: "example", "details".
NAMELESS: Final = 0.3
#: Factor for the weights of earlier turns if the question can be understood alone.
ALONE: Final = 0.5
#: Smaller weights are ignored: they change nothing, but each distinct one may cost a search.
_LEAST_WEIGHT: Final = 0.01

#: A passage is related to the last turns if its score is this many standard deviations above the mean.
RELATED: Final = 0.5
_OWN_PASSAGES: Final = 5
_LOOKED_AT: Final = 100
#: A chunk that is not among this many best ones is unrelated to the words of the last turns.
_SAID_LOOKED_AT: Final = 1_000


@dataclass(frozen=True, slots=True)
class Turn:
    """A message of the conversation.

    Attributes:
        role: ``user`` for questions; all other roles count as answers.
        content: The text.
        vector: Its vector; ``None`` if it has none.
    """

    role: str
    content: str
    vector: Sequence[float] | None = None


@dataclass(frozen=True, slots=True)
class Dialogue:
    """The messages before a question, newest first.

    Attributes:
        questions: Earlier messages of the user that name something; not "Why?" or "Tell me more".
        answers: Messages of all others.
        turns: Both.
        rewritten: The question rewritten by a language model so that it can be understood alone, if there is one.
        referents: What the question refers back to.
        referent_vector: The vector of the referents; ``None`` if there are none.
        nameless: Whether the question names nothing itself, and is about what was spoken of.
        hanging: Whether the question is too short to be about anything but the earlier messages.
        alone: Whether the question can be understood without the earlier messages.
        earlier: Weights, up to 1, of chunks that answers referred to or that were found for them.
    """

    questions: tuple[Turn, ...] = ()
    answers: tuple[Turn, ...] = ()
    turns: tuple[Turn, ...] = ()
    rewritten: str | None = None
    referents: tuple[Referent, ...] = ()
    referent_vector: Sequence[float] | None = None
    nameless: bool = False
    hanging: bool = False
    alone: bool = False
    earlier: Mapping[str, float] = field(default_factory=dict)

    @classmethod
    def of(cls, turns: Sequence[Turn]) -> Dialogue:
        """Make a dialogue from messages in chronological order."""
        newest = list(reversed(turns))
        return cls(
            tuple(turn for turn in newest if turn.role == "user" and not names_nothing(turn.content)),
            tuple(turn for turn in newest if turn.role != "user"),
            tuple(newest),
        )

    def __bool__(self) -> bool:
        return bool(self.questions or self.answers)

    def terms(self, question: Mapping[str, float]) -> dict[str, float]:
        """Return the words to search for, with their weights.

        Args:
            question: The words of the question itself.
        """
        said: dict[str, float] = {}
        for turn, weight in self._weighted():
            for term in query_terms(turn.content):
                said[term] = said.get(term, 0.0) + weight
        for referent in self.referents:
            for term in query_terms(referent.text):
                said[term] = max(said.get(term, 0.0), referent.weight)
        weights = {term: weight * self._own_share for term, weight in question.items()}
        for term, weight in said.items():
            weights[term] = weights.get(term, 0.0) + weight
        return {term: round(weight, 3) for term, weight in weights.items()}

    def vector(self, question: Sequence[float]) -> list[float]:
        """Return the vector to search for, of length 1.

        Args:
            question: The vector of the question itself.
        """
        total = self._own_share * _unit(question)
        for vector, weight in (
            (self.questions[0].vector if self.questions else None, self._share * QUESTION_VECTOR),
            (self.answers[0].vector if self.answers else None, self._share * ANSWER_VECTOR),
            (self.referent_vector, REFERENT_VECTOR),
        ):
            if vector is not None and len(vector) == len(question):
                total = total + weight * _unit(vector)
        return [float(value) for value in _unit(total.tolist())]

    async def is_left_by(
        self, legs: Legs, vector: Sequence[float] | None, terms: Mapping[str, float], total: int
    ) -> bool:
        """Return whether a question changes the subject.

        It does if none of the passages that it finds alone is related to the last turns: if all of them score less than
        ``RELATED`` standard deviations above the mean for the last question and answer. It does not if it refers back
        to something, or cannot be understood alone.

        Args:
            legs: The search legs.
            vector: The vector of the question.
            terms: The words of the question.
            total: Number of chunks in the namespace.
        """
        if self.hanging or any(referent.weight >= POINTED_AT / 2 for referent in self.referents):
            return False
        last = [turns[0] for turns in (self.questions, self.answers) if turns]
        said = dict.fromkeys((term for turn in last for term in query_terms(turn.content)), 1.0)
        meanings = [_unit(turn.vector) for turn in last if turn.vector is not None]
        meaning = [float(value) for value in sum(meanings)] if meanings else None
        words, vectors, cosines, found, sample = await together(
            legs.keyword(terms, _LOOKED_AT),
            legs.vector(vector, _LOOKED_AT),
            legs.sampled_cosines(vector),
            legs.keyword(said, _SAID_LOOKED_AT),
            legs.sampled_cosines(meaning),
        )
        if not words and not vectors:
            return False
        best = [item.id for item in fuse_hybrid(vectors, words, sample=cosines, total=total, limit=_OWN_PASSAGES)]
        exact = await legs.cosines(meaning, best)
        return max(_standings(best, found, exact, sample, total)) < RELATED

    def earlier_leg(self) -> Leg:
        """Return passages of earlier answers as a leg of the fusion; its weight does not depend on the corpus size."""
        return Leg(self.earlier, 0.0, EARLIER_WEIGHT)

    @property
    def _own_share(self) -> float:
        return NAMELESS if self.nameless else 1.0

    @property
    def _share(self) -> float:
        return ALONE if self.alone else 1.0

    def _weighted(self) -> list[tuple[Turn, float]]:
        weighted = [(turn, self._share * QUESTION_DECAY**steps) for steps, turn in enumerate(self.questions, 1)]
        weighted += [
            (turn, self._share * ANSWER_WEIGHT * QUESTION_DECAY**steps) for steps, turn in enumerate(self.answers)
        ]
        return [(turn, weight) for turn, weight in weighted if weight >= _LEAST_WEIGHT]


def _standings(
    chunks: Sequence[str], words: Mapping[str, float], cosines: Mapping[str, float], sample: Sequence[float], total: int
) -> list[float]:
    """Return how many standard deviations each chunk is above the mean of all chunks, over both legs."""
    unit = Leg(words, spread_of_top(words.values(), total)).unit
    usual = sum(words.values()) / max(total, len(words), 1)
    spread = spread_of_sample(sample)
    mean = sum(sample) / max(len(sample), 1)
    standings = []
    for chunk in chunks:
        parts = [(words.get(chunk, 0.0) - usual) / unit if unit else 0.0] if words else []
        if chunk in cosines and len(sample) > 1:
            parts.append((cosines[chunk] - mean) / spread if spread else 0.0)
        standings.append(sum(parts) / len(parts) if parts else 0.0)
    return standings


def _unit(vector: Sequence[float]) -> Any:
    return unit_vectors(np.asarray(vector, dtype=np.float64))
