"""Vectors of sentences, if an embedder is available."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from core.rag.errors import EmbeddingError
from core.rag.unit_vectors import unit_vectors

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from core.rag.embedder import EmbeddingService

_log = logging.getLogger(__name__)


async def sentence_vectors(embedder: EmbeddingService, texts: Sequence[str]) -> NDArray[np.floating[Any]] | None:
    """Vectors of length 1, a row for each text.

    Returns:
        Them; ``None`` if the provider fails: what compares texts goes on by words alone.
    """
    from core.rag.embedder.base import embed_long_texts

    try:
        vectors = await embed_long_texts(embedder, list(texts))
    except EmbeddingError as error:
        _log.warning("Sentences are compared by their words alone, because embedding failed: %s", error)
        return None
    return unit_vectors(vectors)
