"""Reranking: a model puts hits in order that were found by words and meaning."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from math import isfinite
from typing import TYPE_CHECKING, Any

from core.rag.errors import RerankerError

if TYPE_CHECKING:
    from core.rag.reranker import Reranker
    from core.rag.retrieval.hits import Hit


async def reranked(reranker: Reranker, query: str, hits: Sequence[Hit]) -> list[Hit]:
    """Put hits in order.

    A passage that the graph led to keeps its place: it holds one step of the answer, and a model that is shown it alone
    with the question cannot see that. The others trade places. The scores of the places stay, because other parts
    compare hits by them; what the model says is in ``scores``.

    Args:
        reranker: The model.
        query: The question.
        hits: Best first.

    Raises:
        RerankerError: if the model fails, or does not give one number for each text.
    """
    movable = [place for place, hit in enumerate(hits) if hit.because is None or hit.because.reason == "words"]
    if len(movable) < 2:
        return list(hits)
    scores = _numbers(reranker.model, await reranker.scores(query, [_text(hits[place]) for place in movable]))
    if len(scores) != len(movable):
        raise RerankerError(f"The reranker {reranker.model} returned {len(scores)} scores for {len(movable)} texts.")
    order = sorted(zip(scores, movable, strict=True), key=lambda pair: (-pair[0], pair[1]))
    result = list(hits)
    for place, (score, before) in zip(movable, order, strict=True):
        hit = hits[before]
        result[place] = replace(hit, score=hits[place].score, scores={**hit.scores, "rerank": score})
    return result


def _numbers(model: str, scores: Iterable[Any]) -> list[float]:
    """Return scores as numbers; among others, such as those of a model that overflows, there is no order."""
    try:
        numbers = [float(score) for score in scores]
    except (TypeError, ValueError) as error:
        raise RerankerError(f"The reranker {model} did not return numbers: {error}.") from error
    wrong = next((number for number in numbers if not isfinite(number)), None)
    if wrong is not None:
        raise RerankerError(f"The reranker {model} returned the score {wrong}, which is no number.")
    return numbers


def _text(hit: Hit) -> str:
    parts = dict.fromkeys((hit.title, hit.heading, hit.table_header, hit.content))
    return "\n".join(part for part in parts if part)
