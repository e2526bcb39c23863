"""Chooses sentences of the passages for an answer without a model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from core.rag.answering.extracts.sentence import Sentence
from core.rag.answering.types import Intent, Passage
from core.rag.indexing.splitting.sentences import is_in_quotation, without_quotation_marks


class _Limits(NamedTuple):
    """What the extracts for a kind of question are limited to.

    Attributes:
        most: Sentences of five passages; in proportion more of more passages.
        of_one: Sentences of a passage.
        first: The share of the best score that the first sentence of a passage needs,
        more: and that another one does.
    """

    most: int
    of_one: int
    first: float
    more: float


_LIMITS: dict[Intent, _Limits] = {
    "factual": _Limits(6, 3, 0.4, 0.5),
    "relationship": _Limits(10, 3, 0.3, 0.5),
    # What there is to say about something need not name it.
    "summary": _Limits(12, 4, 0.0, 0.3),
    "exploration": _Limits(10, 3, 0.0, 0.4),
}
#: What a sentence loses with each passage before its own: the order of the search is good evidence, too.
_BEHIND = 0.04
#: The best sentence of each of so many first passages is chosen in any case: what a search led there by, such as what
#: the graph connects, need not be in its words.
_LEADING = 3
#: The share of the best score that it needs.
_LEADS = 0.3


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
    limits = _LIMITS[intent]
    most = max(limits.most, limits.most * len({one.passage for one in sentences}) // 5)
    best = ranked[0].score if ranked else 0.0
    # A number is no answer to "how many" by itself.
    about = ranked[0].about if ranked else 0.0
    chosen: dict[int, list[Sentence]] = {}
    for one in ranked:
        if one.passage < _LEADING and one.score >= _LEADS * best and one.about >= _LEADS * about:
            chosen.setdefault(one.passage, [one])
    texts = {one.text for [one] in chosen.values()}  # passages overlap: some have the same sentence
    for one in ranked:
        own = chosen.get(one.passage, [])
        least = limits.more if own else limits.first
        if one in own or len(own) == limits.of_one or one.score < least * best or one.about < least * about:
            continue
        texts.add(one.text)
        if len(texts) > most:
            break
        chosen.setdefault(one.passage, own).append(one)
    return [sorted(own, key=lambda one: one.place.start) for own in chosen.values()]


def worth(sentence: Sentence) -> float:
    """Return how good a sentence is, with regard to the order of the passages."""
    return sentence.score - _BEHIND * sentence.passage


def without_quoted(sentences: Sequence[Sentence], passages: Sequence[Passage]) -> list[Sentence]:
    """Return the sentences but those in a quotation that a passage has as its own: there it stands who said it."""
    said = [" ".join(without_quotation_marks(one.text).split()) for one in sentences]
    quoted = [is_in_quotation(passages[one.passage].hit.content, one.place.start) for one in sentences]
    own = {text for text, is_quoted in zip(said, quoted, strict=True) if not is_quoted}
    return [
        one for one, text, is_quoted in zip(sentences, said, quoted, strict=True) if not is_quoted or text not in own
    ]
