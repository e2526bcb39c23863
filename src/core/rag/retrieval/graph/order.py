"""Corrects the order that the walk and the bridges gave: within a document, and between things that are compared."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from typing import Final

#: Among so many of the first passages is one about each thing; among as many as there are things, if these are more.
FIRST: Final = 3
#: What is less than so much as strong as the strongest is named beside it ("Import-Csv in PowerShell"), and no side.
_BESIDE: Final = 0.5
#: By this, passages of a document with the same score, as several that a question names have, are kept in order.
_TIED: Final = 1 - 1e-9


def in_order(scores: Mapping[str, float], first: Mapping[str, float], places: Mapping[str, str]) -> dict[str, float]:
    """Redistribute the scores of each document among its passages, in the order of the first search.

    Names lead to a document; which of its passages answers the question is better judged by words and meaning.

    Args:
        scores: Scores by passage.
        first: Scores of the first search.
        places: The document of each passage, if known.
    """
    by_place: dict[str, list[str]] = {}
    for passage in scores.keys() & places.keys():
        by_place.setdefault(places[passage], []).append(passage)
    dealt = dict(scores)
    for passages in by_place.values():
        if len(passages) > 1:
            order = sorted(passages, key=lambda passage: (-first.get(passage, 0.0), -scores[passage], passage))
            least = math.inf
            for passage, score in zip(order, sorted((scores[key] for key in passages), reverse=True), strict=True):
                dealt[passage] = least = min(score, least * _TIED)
    return dealt


def sides(anchors: Mapping[str, tuple[float, str]], asked: Collection[str], common: Collection[str]) -> list[list[str]]:
    """Return the passages about each thing that a question names, in no particular order.

    A name that is written small may be there by accident, but hardly beside one that is not.

    Args:
        anchors: The passages that the question names, with their strengths and entities; of one at least it is sure.
        asked: Ids of the entities that it names itself, not by another name.
        common: The anchors whose name is a common word.
    """
    found: dict[str, list[str]] = {}
    strengths: dict[str, float] = {}
    for passage, (strength, entity) in anchors.items():
        if entity in asked and passage not in common:
            found.setdefault(entity, []).append(passage)
            strengths[entity] = max(strengths.get(entity, 0.0), strength)
    least = _BESIDE * max(strengths.values(), default=0.0)
    return [passages for entity, passages in found.items() if strengths[entity] >= least]


def with_all_sides(scores: Mapping[str, float], about: Collection[Collection[str]]) -> dict[str, float]:
    """Return scores by which the best passage about each of several things is among the first.

    The thing with the rarer name, or with more to say, would otherwise take all places in a corpus of long documents.

    Args:
        scores: Scores by passage.
        about: The passages about each thing.
    """
    if len(about) < 2:  # most questions
        return dict(scores)

    def place(passage: str) -> tuple[float, str]:
        return -scores.get(passage, 0.0), passage

    wanted = {min(passages, key=place) for passages in about}
    order = sorted(scores, key=place)
    first = order[: max(FIRST, len(wanted))]
    late = sorted(wanted.difference(first), key=place)
    if len(wanted) < 2 or not late:
        return dict(scores)
    dropped = [passage for passage in first if passage not in wanted][-len(late) :]
    moved = [*(passage for passage in first if passage not in dropped), *late]
    order = [*moved, *(passage for passage in order if passage not in moved)]
    return dict(zip(order, sorted((scores.get(passage, 0.0) for passage in order), reverse=True), strict=True))
