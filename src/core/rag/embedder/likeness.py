"""How alike two texts are, on one scale for all models.

Texts that have nothing to do with each other have a cosine of 0 with some models (WordLlama, MiniLM), of 0.4 or 0.7
with others (BGE, E5), whose vectors all point in nearly one direction. So a cosine says how alike two texts are only
together with what is usual for the model: a likeness is the share of the way from there to 1.
"""

from __future__ import annotations

import logging
from itertools import combinations
from statistics import fmean
from typing import TYPE_CHECKING, Any, Final

from core.rag.embedder.base import EmbeddingService, dimension_of, embed_texts
from core.rag.errors import EmbeddingError
from core.rag.unit_vectors import unit_vectors

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_log = logging.getLogger(__name__)

#: Sentences about different things, in a plain style that any model has read.
_UNRELATED: Final = (
    "The harbour was closed for three days because of ice.",
    "Whisk the egg whites until they form soft peaks.",
    "Patients with diabetes should have their feet examined every year.",
    "The function returns an empty list if no file matches the pattern.",
    "In 1648 the treaty ended a war that had lasted thirty years.",
    "Our tenants may keep one cat or a small dog.",
    "The orchestra tuned while the last guests found their seats.",
    "Shares of the company fell by four percent on Tuesday.",
    "Glaciers carve valleys with steep sides and a flat floor.",
    "The striker scored twice in the second half.",
    "Register your new address within two weeks of moving.",
    "Light takes eight minutes from the sun to the earth.",
)
# Less is within what these sentences happen to have in common, such as articles.
_LEAST: Final = 0.2

# By model and dimension.
_usual: dict[tuple[str, int], float] = {}


async def usual_cosine(embedder: EmbeddingService | None) -> float:
    """Return the cosine that texts have which have nothing to do with each other.

    A dozen short sentences are embedded for it, once in a process.

    Returns:
        Their mean cosine, at least 0; 0 if it is next to nothing, and if there is no embedder, or it fails.
    """
    if embedder is None:
        return 0.0
    try:
        key = embedder.model, await dimension_of(embedder)
        if key not in _usual:
            _usual[key] = await _measured(embedder)
    except EmbeddingError as error:
        _log.warning("Cosines are taken as they are, because embedding failed: %s", error)
        return 0.0
    return _usual[key]


async def _measured(embedder: EmbeddingService) -> float:
    rows = unit_vectors(await embed_texts(embedder, _UNRELATED))
    mean = fmean(float(a @ b) for a, b in combinations(rows, 2))
    return mean if mean >= _LEAST else 0.0


def likeness[Cosine: (float, NDArray[np.floating[Any]])](cosine: Cosine, usual: float) -> Cosine:
    """Return how alike two texts are.

    Args:
        cosine: That of their vectors; or an array of them.
        usual: What is usual for the model (:func:`usual_cosine`).

    Returns:
        1 if they are the same, 0 if they have nothing to do with each other, less if they are further apart than that.
    """
    return (cosine - usual) / (1.0 - usual) if 0.0 < usual < 1.0 else cosine
