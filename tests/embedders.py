"""An embedder for tests: no model, but the same words give the same direction."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from core.rag.embedder import EmbeddingService
from core.rag.embedder.base import AVERAGING_WEIGHT, too_long


class HashEmbedder(EmbeddingService):
    """The sum of one pseudo-random direction per word."""

    def __init__(self, dimension: int = 32, model: str = "words") -> None:
        self._dimension = dimension
        self._model = model
        self.embedded: list[str] = []

    @property
    def model(self) -> str:
        return self._model

    @property
    def dimension(self) -> int:
        return self._dimension

    @property
    def vector_weight(self) -> float:
        return AVERAGING_WEIGHT

    async def get_embeddings(self, texts: Sequence[str], names: Sequence[str] | None = None) -> NDArray[np.float32]:
        self.embedded += texts
        return np.array([self._one(text) for text in texts], dtype=np.float32).reshape(len(texts), self._dimension)

    def _one(self, text: str) -> NDArray[np.float64]:
        total = np.full(self._dimension, 1e-3)
        for word in text.lower().split():
            total += _direction(f"{self._model}{word.strip('.,#')}", self._dimension)
        return total / np.linalg.norm(total)


class ShortSightedEmbedder(HashEmbedder):
    """A model that reads 30 words of a text, and refuses more, as those of FastEmbed do with 512 tokens."""

    async def get_embeddings(self, texts: Sequence[str], names: Sequence[str] | None = None) -> NDArray[np.float32]:
        for index, text in enumerate(texts):
            if len(text.split()) > 30:
                raise too_long(self._model, names[index] if names else "a text", index, "too many tokens", 30)
        return await super().get_embeddings(texts)


class NarrowEmbedder(HashEmbedder):
    """A model whose vectors all point in nearly one direction, as those of E5 and BGE do."""

    def __init__(self, model: str = "narrow") -> None:
        super().__init__(256, model)

    async def get_embeddings(self, texts: Sequence[str], names: Sequence[str] | None = None) -> NDArray[np.float32]:
        vectors = await super().get_embeddings(texts)
        vectors[:, 0] += 1.6
        return vectors


@lru_cache(maxsize=100_000)
def _direction(word: str, dimension: int) -> NDArray[np.float64]:
    seed = int.from_bytes(hashlib.sha256(word.encode()).digest()[:8])
    return np.random.default_rng(seed).normal(size=dimension)
