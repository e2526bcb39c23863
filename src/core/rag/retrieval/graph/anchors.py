"""Anchors: passages of documents whose titles occur in the question.

A comparison names both of its sides, a chain its beginning. Such a passage is where to set out from, however little
else it has in common with the question; so it counts by how rare its name is, and less where many documents bear it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable
from typing import Final

from core.rag.retrieval.graph.neighbourhood import Entity, Neighbourhood

#: A name that more documents bear is none to set out from.
MAX_BEARERS: Final = 8
#: Anchors of a question at most.
MAX_PASSAGES: Final = 12


def bearers(named: Iterable[Entity]) -> list[Entity]:
    """Those of the entities that a question names whose documents are anchors."""
    return [entity for entity in named if 0 < entity.titled <= MAX_BEARERS]


def is_common(name: str, title: str, content: str) -> bool:
    """Whether a name is a common word, which titles have with a capital and texts without: "Sea", "Wind turbine".

    Args:
        name: Normalised.
        title: The title of the document that bears it. What is small there as well is a name written so ("asyncio").
        content: A passage of that document. Scripts that have no capitals say nothing.
    """
    written = re.compile(rf"(?<!\w){re.escape(name)}(?!\w)")
    return name != name.title() and not written.search(title) and written.search(content) is not None


def anchors(
    around: Neighbourhood,
    named: Iterable[Entity],
    near: Callable[[str], float],
    commonness: Callable[[str], float] = lambda _name: 0.0,
) -> dict[str, tuple[float, str]]:
    """The anchors with how strongly the question asks for each, at most ``MAX_PASSAGES``.

    Args:
        around: With the passages of the entities.
        named: The entities that the question names.
        near: How near a passage is to the question by itself: of a long document that is named, the nearest chunk is
            meant, the others the less.
        commonness: The share of the chunks that have a name as a word, mentioned or not.

    Returns:
        By passage, from 0 to 1: how specific its name is, divided by the roots of the number of documents with that
        name and of the passage's rank in its document; and the entity that it is titled like. The strongest first.
    """
    found: dict[str, tuple[float, str]] = {}
    for entity in named:
        documents: dict[str, list[str]] = {}
        for passage, document in around.subjects.get(entity.id, {}).items():
            documents.setdefault(document, []).append(passage)
        having = max(entity.titled, len(documents))
        if not documents or having > MAX_BEARERS:
            continue
        strength = around.specificity(entity.id, commonness(entity.name)) / math.sqrt(having)
        for passages in documents.values():
            passages.sort(key=lambda passage: (-near(passage), passage))
            for rank, passage in enumerate(passages, 1):
                value = min(strength, 1.0) / math.sqrt(rank)
                if passage not in found or found[passage][0] < value:
                    found[passage] = (value, entity.id)
    order = sorted(found, key=lambda passage: (-found[passage][0], -near(passage), passage))
    return {passage: found[passage] for passage in order[:MAX_PASSAGES]}
