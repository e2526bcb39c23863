"""Term proximity: of passages that are found, those come first which have the words of the question close together.

BM25 and the cosine of a whole passage cannot tell whether its words stand in one sentence or in three paragraphs about
other things. So for the best passages, the shortest look into the text is taken that a reader would take: how much of
the question is within one stretch of ``WINDOW`` words. Measured in docs/adr/0008-fusion.md.
"""

from __future__ import annotations

import math
from collections import Counter, deque
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Final

from core.rag.bm25 import idf
from core.rag.embedder.base import AVERAGING_WEIGHT
from core.rag.retrieval.ordering.fusion import raised

#: Length of the stretch, in analysed words: a long sentence without its function words.
WINDOW: Final = 14
#: What a passage gains that has all words of the question in one stretch, as a share of the best fused score.
PROXIMITY: Final = 0.25
#: For how many of the best passages it is computed; it raises none of the others among the first.
LOOKED_AT: Final = 40


def shares(texts: Iterable[str], terms: Mapping[str, float], sample: Collection[Collection[str]]) -> dict[str, float]:
    """Return which share of a question each of its words is: the rarer, the more.

    Args:
        texts: Analysed words joined by spaces (``index_terms``).
        terms: Words of the question with their weights. Those that no text has count nothing: a question that may be in
            any of several languages is looked for by its stems in all of them.
        sample: The analysed words of a random sample of the corpus; they tell how rare a word is.

    Returns:
        The share of each word that a text has; their sum is 1. None if they weigh nothing.
    """
    held = set().union(*(text.split() for text in texts)) & terms.keys()
    weights = {word: terms[word] * idf(len(sample), sum(word in one for one in sample)) for word in sorted(held)}
    total = math.fsum(weights.values())
    return {word: weight / total for word, weight in weights.items()} if total > 0 else {}


def proximities(texts: Mapping[str, str], shares: Mapping[str, float]) -> dict[str, float]:
    """Return how much of the question stands closest together in each text.

    Args:
        texts: Analysed words joined by spaces (``index_terms``), by id.
        shares: The share of the question that each of its words is.

    Returns:
        By id, the greatest share of the question within ``WINDOW`` words, from 0 to 1.
    """
    return {key: _densest(text.split(), shares) for key, text in texts.items()}


def near(
    scores: Mapping[str, float], proximity: Mapping[str, float], vector_weight: float = AVERAGING_WEIGHT
) -> dict[str, float]:
    """Return fused scores that are raised by the proximities of the best passages; the best one is no greater.

    Args:
        scores: The fused scores.
        proximity: How close together the words of the question stand in each.
        vector_weight: The share of meaning in the scores.
    """
    return raised(scores, proximity, PROXIMITY, vector_weight)


def best(scores: Mapping[str, float]) -> list[str]:
    """Return the passages whose proximities count, best first."""
    return sorted(scores, key=lambda key: (-scores[key], key))[:LOOKED_AT]


def _densest(words: Sequence[str], weights: Mapping[str, float]) -> float:
    """Return the greatest weight of the different words within one stretch."""
    inside: Counter[str] = Counter()
    places: deque[int] = deque()
    weight = most = 0.0
    for place, word in _marked(words, weights):
        while places and place - places[0] >= WINDOW:
            left = words[places.popleft()]
            inside[left] -= 1
            if not inside[left]:
                weight -= weights[left]
        if not inside[word]:
            weight += weights[word]
        inside[word] += 1
        places.append(place)
        most = max(most, weight)
    return most


def _marked(words: Sequence[str], weights: Mapping[str, float]) -> Iterable[tuple[int, str]]:
    return [(place, word) for place, word in enumerate(words) if word in weights]
