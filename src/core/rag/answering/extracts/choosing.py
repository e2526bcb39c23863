"""Chooses sentences of the passages for an answer without a model."""

from __future__ import annotations

from collections.abc import Sequence

from core.rag.answering.extracts.scoring import Sentence
from core.rag.answering.types import Intent

#: How many sentences at most, of all passages and of one.
_MOST: dict[Intent, tuple[int, int]] = {
    "factual": (6, 3),
    "relationship": (10, 3),
    "summary": (12, 4),
    "exploration": (10, 3),
}
#: What a sentence loses with each passage before its own: the order of the search is good evidence, too.
_BEHIND = 0.04
#: The share of the best score that the first sentence of a passage needs, and that another one does.
_ENOUGH, _ENOUGH_BESIDE = 0.4, 0.5


def choose(intent: Intent, sentences: Sequence[Sentence]) -> list[list[Sentence]]:
    """Choose the best sentences.

    Args:
        intent: The kind of answer that the question asks for.
        sentences: Those of all passages, with their scores.

    Returns:
        The sentences of each chosen passage, in the order that they have there.
    """
    # A passage that only says where to read on says nothing, if others do.
    saying = {one.passage for one in sentences if not one.points}
    ranked = sorted(
        (one for one in sentences if not saying or one.passage in saying),
        key=lambda one: (-worth(one), one.passage, one.place.start),
    )
    most, of_one = _MOST[intent]
    chosen: dict[int, list[Sentence]] = {}
    texts: set[str] = set()  # passages overlap: some have the same sentence
    for one in ranked:
        own = chosen.get(one.passage, [])
        if len(own) == of_one or one.score < (_ENOUGH_BESIDE if own else _ENOUGH) * ranked[0].score:
            continue
        texts.add(one.text)
        if len(texts) > most:
            break
        chosen.setdefault(one.passage, own).append(one)
    return [sorted(own, key=lambda one: one.place.start) for own in chosen.values()]


def worth(sentence: Sentence) -> float:
    """Return how good a sentence is, with regard to the order of the passages."""
    return sentence.score - _BEHIND * sentence.passage
