"""Embedders turn texts into vectors; ``open_embedder`` creates one by name. Names are imported on first use.

``EmbeddingService`` is what all of them are, and what an own one derives from. See ``base`` for the rule about blank
texts and for ``embed_texts`` and ``embed_queries``, which call any embedder and make sure of its result.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from core.rag.embedder.base import (
        EmbeddingService,
        EmbeddingUsage,
        blank_vector,
        embed_queries,
        embed_texts,
        is_blank,
    )
    from core.rag.embedder.fastembed import FastEmbedEmbedding
    from core.rag.embedder.openai_compatible import OpenAICompatibleEmbedding
    from core.rag.embedder.opening import open_embedder
    from core.rag.embedder.text_embedding_3_small import TextEmbedding3Small
    from core.rag.embedder.wordllama import WordLlamaEmbedding

_WHERE = {
    "EmbeddingService": "core.rag.embedder.base",
    "EmbeddingUsage": "core.rag.embedder.base",
    "FastEmbedEmbedding": "core.rag.embedder.fastembed",
    "OpenAICompatibleEmbedding": "core.rag.embedder.openai_compatible",
    "TextEmbedding3Small": "core.rag.embedder.text_embedding_3_small",
    "WordLlamaEmbedding": "core.rag.embedder.wordllama",
    "blank_vector": "core.rag.embedder.base",
    "embed_queries": "core.rag.embedder.base",
    "embed_texts": "core.rag.embedder.base",
    "is_blank": "core.rag.embedder.base",
    "open_embedder": "core.rag.embedder.opening",
}

__all__ = [
    "EmbeddingService",
    "EmbeddingUsage",
    "FastEmbedEmbedding",
    "OpenAICompatibleEmbedding",
    "TextEmbedding3Small",
    "WordLlamaEmbedding",
    "blank_vector",
    "embed_queries",
    "embed_texts",
    "is_blank",
    "open_embedder",
]


def __getattr__(name: str) -> object:
    if name not in _WHERE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_WHERE[name]), name)
