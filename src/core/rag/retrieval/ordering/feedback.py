"""Feedback in rankings: a gentle push up or down for passages that users rated.

A rating counts for the question that it was given for, and for others as far as they share its words; it fades by half
in ``HALF_LIFE`` days; the asker's own ratings count before those of others, which are averaged, so that no crowd and no
script can push further than one person. A score is changed by at most ``LARGEST_PUSH`` of itself: what fits much better
stays first whatever anybody thinks of it.
"""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from core.rag.analysis import query_terms
from core.rag.dbhandler.store import MAX_K
from core.rag.retrieval.ordering.copies import preferring_others

if TYPE_CHECKING:
    from core.rag.dbhandler import MemGraphClient
    from core.rag.retrieval.hits import Hit

#: The largest share of a score that ratings can add or remove.
LARGEST_PUSH: Final = 0.15
#: Days in which a rating loses half of its weight.
HALF_LIFE: Final = 90.0
#: Weight of a rating that was given without a question.
_WITHOUT_QUESTION: Final = 0.5
#: Weight of the ratings of others for a user who has rated the passage.
_OTHERS: Final = 0.25
#: Factor by which more passages are searched, because ratings may move lower ones up.
_FURTHER: Final = 2


async def with_feedback(
    client: MemGraphClient,
    search: Callable[[int], Awaitable[list[Hit]]],
    query: str,
    k: int,
    user_id: str | None,
    *,
    each: bool = False,
) -> list[Hit]:
    """Run a search and reorder its hits by ratings; without any ratings, return the search unchanged.

    Copies of a passage are not hits of their own as long as there are others, unless ``each`` is wanted.
    """
    if not await client.has_ratings():
        return await search(k)
    hits = await search(min(max(_FURTHER * k, k + 10), MAX_K))
    ratings = await client.ratings_of_chunks([hit.chunk_id for hit in hits])
    if ratings:
        user = await client.find_user(user_id) if user_id else None
        pushes = chunk_pushes(ratings, query, user["id"] if user else None, datetime.now(UTC))
        hits = [
            replace(hit, score=pushed(hit.score, pushes[hit.chunk_id])) if hit.chunk_id in pushes else hit
            for hit in hits
        ]
        hits.sort(key=lambda hit: -hit.score)  # stable: ties keep their order
    return hits[:k] if each else preferring_others(hits, k)


def pushed(score: float, push: float) -> float:
    """Return a score with a push of -1 to 1 applied."""
    return score + abs(score) * LARGEST_PUSH * push


def chunk_pushes(ratings: Iterable[Mapping[str, Any]], query: str, user: str | None, now: datetime) -> dict[str, float]:
    """Return, for each rated chunk, how far to push its score, from -1 to 1.

    Args:
        ratings: Rows as from ``MemGraphClient.ratings_of_chunks``.
        query: The current question.
        user: Id of the node of the user who asks.
        now: The current time.
    """
    asked = set(query_terms(query))
    sums: dict[str, dict[str, list[tuple[float, float]]]] = {}
    for rating in ratings:
        alike = _alike(asked, rating["query"])
        if alike and (weight := alike * _freshness(rating["rated_at"], now)) > 0:
            by_user = sums.setdefault(rating["chunk_id"], {})
            by_user.setdefault(rating["user"], []).append((weight, rating["value"]))
    pushes: dict[str, float] = {}
    for chunk, by_user in sums.items():
        opinions = {who: _opinion(given) for who, given in by_user.items()}
        own = opinions.pop(user, None) if user else None
        others = math.fsum(opinions.values()) / len(opinions) if opinions else 0.0
        push = others if own is None else own + _OTHERS * others
        pushes[chunk] = min(max(push, -1.0), 1.0)
    return pushes


def _opinion(given: list[tuple[float, float]]) -> float:
    """Return the opinion of one user: the weighted mean of their ratings, times the largest weight."""
    total = math.fsum(weight for weight, _ in given)
    return max(weight for weight, _ in given) * math.fsum(weight * value for weight, value in given) / total


def _alike(asked: set[str], query: str) -> float:
    if not query:
        return _WITHOUT_QUESTION
    rated = _words(query)
    return len(asked & rated) / len(asked | rated) if asked | rated else 0.0


@lru_cache(maxsize=16_384)
def _words(query: str) -> frozenset[str]:
    """Return the words of a question; cached, as it is compared with every later one."""
    return frozenset(query_terms(query))


def _freshness(rated_at: str, now: datetime) -> float:
    days = (now - datetime.fromisoformat(rated_at)).total_seconds() / 86_400
    return float(0.5 ** (max(days, 0.0) / HALF_LIFE))
