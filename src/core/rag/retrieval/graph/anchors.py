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

#: A name of more documents than this is not used as a starting point.
MAX_BEARERS: Final = 8
#: Maximum number of anchors of a question.
MAX_PASSAGES: Final = 12


def bearers(named: Iterable[Entity]) -> list[Entity]:
    """Return those named entities whose documents are anchors."""
    return [entity for entity in named if 0 < entity.titled <= MAX_BEARERS]


def is_common(name: str, title: str, content: str) -> bool:
    """Return whether a name is a common word, capitalised in titles but not in texts: "Sea", "Wind turbine".

    Args:
        name: The normalised name.
        title: The title of the document of that name. If it is lower-case there too, it is a name ("asyncio").
        content: A passage of that document. Scripts without capitals give no information.
    """
    written = re.compile(rf"(?<!\w){re.escape(name)}(?!\w)")
    return name != name.title() and not written.search(title) and written.search(content) is not None


def anchors(
    around: Neighbourhood,
    named: Iterable[Entity],
    near: Callable[[str], float],
    commonness: Callable[[str], float] = lambda _name: 0.0,
    small: Callable[[str], bool] = lambda _name: False,
) -> dict[str, tuple[float, str]]:
    """Return the anchors with their strengths, strongest first, at most ``MAX_PASSAGES``.

    Args:
        around: A neighbourhood with the passages of the entities.
        named: The entities that the question names.
        near: Returns the similarity of a passage to the question: of a long named document, the nearest chunk is
            probably meant, the others less.
        commonness: Returns the share of the chunks that have a name as a word, whether it is a mention or not.
        small: Returns whether the question writes a name small. A single word may be just that ("wait until it is
            stopped", where a command "wait" has a page): then its specificity counts by its square.

    Returns:
        By passage, its strength from 0 to 1 (the specificity of its name, divided by the square roots of the number of
        documents of that name and of the rank of the passage in its document), and the entity that it is titled like.
    """
    found: dict[str, tuple[float, str]] = {}
    for entity in named:
        documents: dict[str, list[str]] = {}
        for passage, document in around.subjects.get(entity.id, {}).items():
            documents.setdefault(document, []).append(passage)
        having = max(entity.titled, len(documents))
        if not documents or having > MAX_BEARERS:
            continue
        specific = around.specificity(entity.id, commonness(entity.name))
        strength = specific ** (2 if " " not in entity.name and small(entity.name) else 1) / math.sqrt(having)
        for passages in documents.values():
            passages.sort(key=lambda passage: (-near(passage), passage))
            for rank, passage in enumerate(passages, 1):
                value = min(strength, 1.0) / math.sqrt(rank)
                if passage not in found or found[passage][0] < value:
                    found[passage] = (value, entity.id)
    order = sorted(found, key=lambda passage: (-found[passage][0], -near(passage), passage))
    return {passage: found[passage] for passage in order[:MAX_PASSAGES]}
