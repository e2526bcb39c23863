"""Bridging: from the sentence of a good passage that best answers the rest of the question, to what it names.

"When was the director of King of the Sierras born?" finds the film by its title. What that title leaves of the question
is "when director born"; the sentence of the film that says who directed it has most of that, and names somebody who is
the title of another passage, or whom another one mentions that says when somebody was born. The weight of such a way is

    score(seed) * CARRY * sentence / sqrt(passages of that name) * (0.6 + 0.8 * closeness) * (1 + COVERAGE * gain)

where ``gain`` is the share of the question that the seed lacks and the target has. To a passage that only mentions the
name, and in a second step, the way counts by what it gains alone. Measured in docs/adr/0013-graph-retrieval.md.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Final

from core.rag.retrieval.graph.neighbourhood import Neighbourhood
from core.rag.retrieval.graph.question import Question

#: The share of the score of a seed that a way passes on.
CARRY: Final = 0.3
COVERAGE: Final = 4.0
#: The same for a second step: all of it, since only what that step adds counts.
CARRY_FURTHER: Final = 1.0
#: Weights of the words and the vector of a sentence.
WORDS: Final = 0.6
DIRECTION: Final = 0.4
#: Minimum worth of a sentence, even without a word of the question: it may use other words.
LEAST_WORTH: Final = 0.25

_NO_WORDS: Final[frozenset[str]] = frozenset()


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of a seed.

    Attributes:
        text: The sentence.
        worth: How well it answers the rest of the question, 0 to 1; 1 for the best of its passage.
        entities: The entities that it names, except the title of its passage.
    """

    text: str
    worth: float
    entities: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Seed:
    """A passage from which bridges start.

    Attributes:
        passage: Its id.
        document: The document that it is part of.
        section: The section of it; see :func:`core.rag.retrieval.graph.subjects.section`.
        score: Its score, 0 to 1.
        words: The analysed words of it and of the passages that led to it.
        sentences: Its sentences.
    """

    passage: str
    document: str
    section: str
    score: float
    words: frozenset[str]
    sentences: tuple[Sentence, ...]


@dataclass(frozen=True, slots=True)
class Way:
    """How a passage was reached.

    Attributes:
        score: The score that it gives the passage, 0 to 1.
        seed: The passage where it starts.
        sentence: The sentence there.
        entity: The entity that the sentence names.
        about: Whether the passage is titled like the entity, or only mentions it.
        gain: The share of the question that it adds.
    """

    score: float
    seed: str
    sentence: str
    entity: str
    about: bool
    gain: float


def worths(
    question: Question, title: Collection[str], sentences: Iterable[Collection[str]], cosines: Iterable[float] | None
) -> list[float]:
    """Return how well each sentence of a passage answers what its title leaves of the question; 1 for the best.

    Args:
        question: The question.
        title: The analysed words of the title.
        sentences: The analysed words of each sentence.
        cosines: Cosine of each sentence with the question; ``None``: words only.
    """
    rest = question.without(set(title))
    total = math.fsum(rest.values()) or 1.0
    shares = [math.fsum(rest[word] for word in sorted(rest.keys() & set(words))) / total for words in sentences]
    near = [0.0] * len(shares) if cosines is None else [max(cosine, 0.0) for cosine in cosines]
    raw = [WORDS * share + DIRECTION * cosine for share, cosine in zip(shares, near, strict=True)]
    best = max(raw, default=0.0)
    return [max(value / best, LEAST_WORTH) for value in raw] if best > 0 else [LEAST_WORTH] * len(raw)


def targets(around: Neighbourhood, seeds: Iterable[Seed]) -> set[str]:
    """Return all passages that some sentence of the seeds leads to."""
    found: set[str] = set()
    for entity in {entity for seed in seeds for sentence in seed.sentences for entity in sentence.entities}:
        found.update(around.subjects.get(entity, ()))
        if around.entities[entity].is_selective:
            found.update(around.holders(entity))
    return found


def ways(
    around: Neighbourhood,
    question: Question,
    seeds: Iterable[Seed],
    words: Mapping[str, AbstractSet[str]],
    closeness: Mapping[str, float],
    *,
    named: Collection[str] = (),
    gaining: bool = False,
) -> dict[str, Way]:
    """Find the best way from the seeds to each passage.

    Args:
        around: The neighbourhood.
        question: The question.
        seeds: The passages to start from.
        words: The analysed words of each target.
        closeness: Similarity of each target to the question, 0 to 1; 0 if unknown.
        named: Entities that the question names: mentions of them add nothing new.
        gaining: Only count ways that add something, weighted by what they add.
    """
    found: dict[str, Way] = {}
    for seed in seeds:
        gains = _Gains(question, seed, words)
        for sentence in seed.sentences:
            for entity in sentence.entities:
                for passage, share, about in _reached(around, entity, seed, named, gains, closeness):
                    gain = gains[passage]
                    factor = COVERAGE * gain + (1.0 if about and not gaining else 0.0)
                    score = seed.score * (CARRY_FURTHER if gaining else CARRY) * sentence.worth * share * factor
                    score *= _nearness(passage, closeness)
                    if score > 0 and (passage not in found or score > found[passage].score):
                        found[passage] = Way(min(score, 1.0), seed.passage, sentence.text, entity, about, gain)
    return found


class _Gains(dict[str, float]):
    """By passage, the share of the question that it has and a seed lacks; worked out when it is asked for."""

    def __init__(self, question: Question, seed: Seed, words: Mapping[str, AbstractSet[str]]) -> None:
        super().__init__()
        self._question = question
        self._missing = question.weights.keys() - seed.words
        self._words = words

    def __missing__(self, passage: str) -> float:
        gain = self[passage] = self._question.share(self._missing & self._words.get(passage, _NO_WORDS))
        return gain


def _nearness(passage: str, closeness: Mapping[str, float]) -> float:
    return 0.6 + 0.8 * closeness.get(passage, 0.0)


def _reached(
    around: Neighbourhood,
    entity: str,
    seed: Seed,
    named: Collection[str],
    gains: Mapping[str, float],
    closeness: Mapping[str, float],
) -> list[tuple[str, float, bool]]:
    """Return the passages that an entity leads to: ``(passage, share, whether it is about the entity)``."""
    about = around.subjects.get(entity, {})
    known = around.entities[entity]
    reached = []
    by_place: dict[str, list[str]] = {}
    for passage, place in about.items():
        if place not in (seed.document, seed.section):
            by_place.setdefault(place, []).append(passage)
    bearers = max(known.titled, len(by_place), 1)
    for passages in by_place.values():
        # of a long document, the best chunk is probably meant, and the others less
        passages.sort(key=lambda passage: (-(_nearness(passage, closeness) * (1 + COVERAGE * gains[passage])), passage))
        reached += [(passage, 1 / math.sqrt(bearers * (rank + 1)), True) for rank, passage in enumerate(passages)]
    if known.is_selective and known.id not in named:
        share = 1 / math.sqrt(max(known.mention_count, 1))
        reached += [
            (passage, share, False)
            for passage in sorted(around.holders(entity))
            if passage != seed.passage and passage not in about
        ]
    return reached
