"""Fuses rankings: a convex combination of the legs' normalised scores.

A cosine and a BM25 score have nothing in common but this: how far a score stands out among those of all chunks. So
each leg is measured in standard deviations over the whole corpus (z-scores; their means shift all chunks alike and drop
out), which needs no scores but the best and the leg's spread. Where the words of a question are rare, a spread is tiny
against the best score and one leg would drown the others, the more so the larger the corpus: a unit is never less than
an eighth of the leg's best score.

Convex combinations beat rank fusion: S. Bruch, S. Gai, A. Ingber, "An Analysis of Fusion Functions for Hybrid
Retrieval", ACM TOIS 42(1), 2023, arXiv:2210.11934, sections 4 and 6. Measured here in docs/adr/0008-fusion.md.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Final

from core.rag.embedder.base import AVERAGING_WEIGHT

#: The best score of a leg is at most this many units.
MAX_UNITS: Final = 8.0

# Smaller scores are rounding errors.
_NOTHING: Final = 1e-12


@dataclass(frozen=True, slots=True)
class Leg:
    """The results of one way of searching.

    Attributes:
        scores: Raw score by id, higher is better. An id that is not here counts as ``missing``.
        spread: Standard deviation of the leg's scores over the whole corpus, in the unit of the scores.
        weight: Share of the leg in the sum; only the ratio of the weights matters. Not negative.
        missing: The score of an id that the leg did not find.
    """

    scores: Mapping[str, float]
    spread: float
    weight: float = 1.0
    missing: float = 0.0

    @property
    def unit(self) -> float:
        """The raw score that equals one unit of the fused score; 0 if the leg does not distinguish anything."""
        top = max(map(abs, self.scores.values()), default=0.0)
        return max(self.spread, top / MAX_UNITS) if top > _NOTHING else 0.0


@dataclass(frozen=True, slots=True)
class Fused:
    """One id of a fused ranking.

    Attributes:
        id: The id.
        score: From 0 to 1; 1 means the best score in every leg. Only comparable within one ranking.
        scores: Raw score by name of the leg, for the legs that found the id.
    """

    id: str
    score: float
    scores: dict[str, float]


def spread_of_sample(scores: Collection[float]) -> float:
    """Return the spread of a leg from the scores of a random sample of the corpus (a few hundred are enough).

    Args:
        scores: Scores of the sample, or of the whole corpus if it is small.

    Returns:
        Their standard deviation; 0 for fewer than two.
    """
    if len(scores) < 2:
        return 0.0
    mean = math.fsum(scores) / len(scores)
    return math.sqrt(math.fsum((score - mean) ** 2 for score in scores) / len(scores))


def spread_of_top(scores: Collection[float], total: int) -> float:
    """Return the spread of a leg in which most scores are zero, such as BM25, from its best scores.

    Args:
        scores: The best scores of the corpus (100 give the same rankings as all); the others count as 0.
        total: Number of items in the corpus; at least ``len(scores)`` is assumed.

    Returns:
        The standard deviation over the ``total`` items; 0 for no scores.
    """
    if not scores:
        return 0.0
    count = max(total, len(scores))
    mean = math.fsum(scores) / count
    squares = math.fsum((score - mean) ** 2 for score in scores) + (count - len(scores)) * mean**2
    return math.sqrt(squares / count)


def fuse(legs: Mapping[str, Leg], limit: int | None = None) -> list[Fused]:
    """Fuse the legs into one ranking.

    Args:
        legs: Legs by name. Legs without scores, or with only zeros, have no influence.
        limit: Maximum number to return; None: all.

    Returns:
        Every id of any leg, best first, ties by id. Scores that are not finite count as missing.
    """
    known = {
        name: {key: score for key, score in leg.scores.items() if math.isfinite(score)} for name, leg in legs.items()
    }
    sums: dict[str, float] = dict.fromkeys((key for scores in known.values() for key in scores), 0.0)
    best = 0.0
    for name, leg in legs.items():
        scores = known[name]
        unit = Leg(scores, leg.spread).unit
        if unit <= 0.0 or leg.weight <= 0.0:
            continue
        factor = leg.weight / unit
        best += max(0.0, *scores.values()) * factor
        for key in sums:
            sums[key] += factor * scores.get(key, leg.missing)
    ranked = sorted(sums.items(), key=lambda item: (-item[1], item[0]))[:limit]
    worst = min(0.0, *sums.values()) if sums else 0.0  # cosines may be negative
    return [
        Fused(
            id=key,
            score=min((total - worst) / (best - worst), 1.0) if best > worst else 0.0,
            scores={name: scores[key] for name, scores in known.items() if key in scores},
        )
        for key, total in ranked
    ]


def raised(
    scores: Mapping[str, float], gains: Mapping[str, float], share: float, vector_weight: float
) -> dict[str, float]:
    """Return fused scores that are raised by what the words of the question gain; the best one is no greater.

    Args:
        scores: The fused scores.
        gains: By id, from 0 to 1.
        share: What a gain of 1 adds, as a share of the best score, where words weigh as with the default model.
        vector_weight: The share of meaning in the scores: the less words count, the less do their gains.
    """
    if not any(gains.values()):
        return dict(scores)
    share *= (1 - vector_weight) / (1 - AVERAGING_WEIGHT)
    most = share * max(scores.values())
    return {key: (score + most * gains.get(key, 0.0)) / (1 + share) for key, score in scores.items()}


def fuse_hybrid(
    vector: Mapping[str, float],
    keyword: Mapping[str, float],
    *,
    sample: Collection[float],
    total: int,
    vector_weight: float = AVERAGING_WEIGHT,
    limit: int | None = None,
    more: Mapping[str, Leg] | None = None,
) -> list[Fused]:
    """Fuse cosines and BM25 scores as hybrid search does.

    Args:
        vector: Cosine by id: the best of the corpus, and the exact ones of the best (100) ids in ``keyword``.
        keyword: BM25 score by id: the best of the corpus; ids of ``vector`` that are not here score 0.
        sample: Cosines of the query with a random sample of the stored vectors; if empty, those in ``vector`` are used.
        total: Number of chunks in the corpus.
        vector_weight: Share of the cosines in the sum, from 0 to 1; that of words is the rest. See
            :attr:`core.rag.embedder.EmbeddingService.vector_weight`.
        limit: Maximum number to return; None: all.
        more: Further legs by name.

    Returns:
        The ranking, with ``scores`` under ``vector`` and ``keyword``.
    """
    return fuse(
        {
            "vector": Leg(vector, spread_of_sample(sample or vector.values()), vector_weight),
            "keyword": Leg(keyword, spread_of_top(keyword.values(), total), 1.0 - vector_weight),
            **(more or {}),
        },
        limit,
    )
