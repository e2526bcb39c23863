"""Creates the embedder for a model name."""

from __future__ import annotations

import re

from core.rag.arguments import check_text
from core.rag.embedder.base import EmbeddingService
from core.rag.embedder.fastembed import PREFIX as FASTEMBED
from core.rag.embedder.fastembed import FastEmbedEmbedding
from core.rag.embedder.openai_compatible import OpenAICompatibleEmbedding
from core.rag.embedder.text_embedding_3_small import MODEL as TEXT_EMBEDDING_3_SMALL
from core.rag.embedder.text_embedding_3_small import TextEmbedding3Small
from core.rag.embedder.wordllama import DEFAULT_DIMENSION, WordLlamaEmbedding
from core.rag.errors import ConfigurationError
from core.rag.openai_endpoint import HOW_TO_SET, has_endpoint
from core.rag.settings import Settings, settings_for
from libs.regexes import regex

#: A model of a server with what is put before texts, as in the graph.
_PREFIXED = regex(r"(.+?) \[(.+)\]", re.DOTALL)
_WORDLLAMA = regex(r"wordllama(?:[:-](\d{1,5}))?")


def open_embedder(model: str | None = None, settings: Settings | None = None) -> EmbeddingService:
    """Create an embedder by name. Nothing is loaded or requested before ``prepare`` or the first text.

    ===========================================  =============================================================
    ``wordllama``, ``wordllama:128``             WordLlama, offline (also ``wordllama-128``, as in the graph)
    ``fastembed:BAAI/bge-small-en-v1.5`` …       that model of FastEmbed, on this machine
    ``text-embedding-3-small``                   OpenAI or Azure OpenAI, by what the environment holds
    any other                                    that model of the server that the settings name
    ===========================================  =============================================================

    MGRAG_EMBEDDING_DIMENSION applies to all of them.

    Args:
        model: The name; MGRAG_EMBEDDING_MODEL if None, which is ``wordllama`` unless set.
        settings: The environment; read if None.

    Returns:
        The embedder, to be closed by the caller (it is an async context manager).

    Raises:
        InvalidInputError: The name is not text, or the settings are none.
        ConfigurationError: There is no such model, or a key is missing; says what is possible and what to set.
        MissingDependencyError: A package is missing; names the ``pip install``.

    Example:
        >>> open_embedder("wordllama").dimension
        256
    """
    settings = settings_for(settings)
    if model is not None:
        check_text("The name of a model", model)
    name = (model if model is not None else settings.embedding_model).strip()
    if prefixed := _PREFIXED.fullmatch(name):
        name, prefix = prefixed.groups()
        settings = settings.model_copy(update={"embedding_text_prefix": prefix})
    dimension = settings.embedding_dimension
    local = _WORDLLAMA.fullmatch(name)
    if local:
        named = int(local[1]) if local[1] else None
        if named and dimension and named != dimension:
            raise ConfigurationError(
                f"The model {name} and MGRAG_EMBEDDING_DIMENSION={dimension} contradict each other"
            )
        return WordLlamaEmbedding(named or dimension or DEFAULT_DIMENSION)
    if name.startswith(FASTEMBED) and name != FASTEMBED:
        return FastEmbedEmbedding(name.removeprefix(FASTEMBED).strip(), dimension, settings=settings)
    if name == TEXT_EMBEDDING_3_SMALL:
        return TextEmbedding3Small(dimension=dimension, settings=settings)
    if name.rstrip(":") in ("", "fastembed") or name.startswith("wordllama") or not has_endpoint(settings):
        raise ConfigurationError(
            f"There is no embedding model {name!r} here. Use wordllama (or wordllama:64, wordllama:128), "
            f"which works offline, {FASTEMBED}BAAI/bge-small-en-v1.5 or another model that runs on this machine, "
            f"{TEXT_EMBEDDING_3_SMALL}, or any model of a provider. {HOW_TO_SET}"
        )
    return OpenAICompatibleEmbedding(name, dimension=dimension, settings=settings)
