"""Embedding models that run in this process, with ONNX Runtime: the library FastEmbed downloads and runs them.

They are slower than WordLlama by two orders of magnitude, and find clearly more (docs/adr/0006-embeddings.md).
"""

from __future__ import annotations

import asyncio
import difflib
import importlib.util
import os
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from core.rag.embedder.base import (
    AVERAGING_WEIGHT,
    EmbeddingService,
    EmbeddingUsage,
    blank_vector,
    clean_texts,
    is_blank,
    too_long,
)
from core.rag.embedder.prefixes import prefixes_of
from core.rag.encodable import encodable
from core.rag.errors import ConfigurationError, EmbeddingError, MissingDependencyError
from core.rag.settings import Settings, settings_for

if TYPE_CHECKING:
    from fastembed import TextEmbedding

    from core.rag.embedder.base import Vectors

#: What stands before the name of a model in MGRAG_EMBEDDING_MODEL and in the graph.
PREFIX: Final = "fastembed:"

# Texts of a batch are padded to the longest, so a batch holds texts of one length, and more of them gain nothing.
_BATCH = 32
# More tokens than any of the models takes that has a limit to speak of.
_VERY_LONG = "a " * 40_000
_SIMILAR = 3
# In the names of the models that average words (Model2Vec).
_AVERAGING = "/potion-"


class FastEmbedEmbedding(EmbeddingService):
    """A model of FastEmbed's list, such as ``BAAI/bge-small-en-v1.5``, on this machine's processor.

    Its files are downloaded from Hugging Face when it is used for the first time, into FASTEMBED_CACHE_PATH (default:
    ``fastembed`` in Hugging Face's own cache). On a machine without a network, copy that folder from another one, or
    name a folder with the model's files (MGRAG_EMBEDDING_PATH).

    Args:
        model: The name of the model, as ``fastembed.TextEmbedding.list_supported_models()`` writes it.
        dimension: The length of its vectors, to be checked; ``None``: whatever it is.
        settings: The environment; read if None.
        query_prefix: What the model wants to read before a question; ``None``: MGRAG_EMBEDDING_QUERY_PREFIX, else what
            is known of the model (``prefixes``).
        text_prefix: The same before a text; ``None``: MGRAG_EMBEDDING_TEXT_PREFIX, else what is known.

    Raises:
        MissingDependencyError: The ``fastembed`` package is not installed.
    """

    def __init__(
        self,
        model: str,
        dimension: int | None = None,
        *,
        settings: Settings | None = None,
        query_prefix: str | None = None,
        text_prefix: str | None = None,
    ) -> None:
        self._settings = settings_for(settings)
        if importlib.util.find_spec("fastembed") is None:
            raise MissingDependencyError("fastembed", "fastembed", f"The embedding model {PREFIX}{model}")
        self._name = model
        self._wanted = dimension
        self._prefixes = prefixes_of(model, self._settings, query_prefix, text_prefix)
        self._batch = self._settings.embedding_batch_size or _BATCH
        self._loading = threading.Lock()
        self._model: TextEmbedding | None = None
        self._limit = self._dimension = self._tokens = 0

    @property
    def model(self) -> str:
        """``fastembed:`` and the name, with what is put before texts: ``fastembed:… [search_document: ]``."""
        name = f"{PREFIX}{self._name}"
        return f"{name} [{self._prefixes.text}]" if self._prefixes.text else name

    @property
    def dimension(self) -> int:
        """The length of every vector; known after ``prepare``."""
        if self._model is None:
            raise EmbeddingError(f"The dimension of {self._name} is not known yet: await prepare()")
        return self._dimension

    @property
    def title_weight(self) -> int:
        """One; three for a model that averages words, as for WordLlama."""
        return 3 if self._averages else super().title_weight

    @property
    def words_only(self) -> bool:
        """Whether the model averages words, as WordLlama does."""
        return self._averages

    @property
    def vector_weight(self) -> float:
        """More than that of words, unless the model averages them."""
        return AVERAGING_WEIGHT if self._averages else super().vector_weight

    @property
    def _averages(self) -> bool:
        return _AVERAGING in self._name

    @property
    def max_input_tokens(self) -> int | None:
        """How many tokens the model reads of one text; known after ``prepare``."""
        return self._limit - 1 if self._model is not None else None

    @property
    def usage(self) -> EmbeddingUsage:
        """Tokens so far; apart from the download, nothing is requested from anywhere."""
        return EmbeddingUsage(tokens=self._tokens)

    def count_tokens(self, text: str) -> int:
        """Count the tokens of a text, up to the model's limit. The first call loads the model."""
        return self._load().token_count([encodable(text)])

    async def prepare(self) -> None:
        """Load the model in a thread; download it if it is not on this machine.

        Raises:
            ConfigurationError: There is no such model, or it has another dimension.
            EmbeddingError: It cannot be downloaded or loaded; says what to do.
        """
        await asyncio.to_thread(self._load)

    async def get_embeddings(self, texts: Sequence[str], names: Sequence[str] | None = None) -> Vectors:
        """Embed many texts in a worker thread; see ``EmbeddingService`` and ``prepare``.

        Raises:
            EmbeddingInputError: The model would not read a text to its end; names it.
        """
        return await self._embed_all(texts, names, self._prefixes.text)

    async def get_query_embeddings(self, texts: Sequence[str], names: Sequence[str] | None = None) -> Vectors:
        """Embed questions; see ``EmbeddingService`` and ``get_embeddings``."""
        return await self._embed_all(texts, names, self._prefixes.query)

    async def _embed_all(self, texts: Sequence[str], names: Sequence[str] | None, prefix: str) -> Vectors:
        import numpy as np

        checked = clean_texts(texts, names)
        await self.prepare()
        vectors = np.empty((len(checked), self._dimension), dtype=np.float32)
        vectors[:] = blank_vector(self._dimension)
        order = sorted((i for i, text in enumerate(checked) if not is_blank(text)), key=lambda i: len(checked[i]))
        for start in range(0, len(order), self._batch):
            batch = order[start : start + self._batch]
            inputs = [prefix + checked[i] for i in batch]
            called = [names[i] if names is not None else f"text number {i}" for i in batch]
            vectors[batch] = await asyncio.to_thread(self._embed, inputs, called, batch)
        return vectors

    def _embed(self, inputs: list[str], names: Sequence[str], indexes: Sequence[int]) -> Vectors:
        import numpy as np

        model = self._load()
        for text, name, index in zip(inputs, names, indexes, strict=True):
            tokens = model.token_count([text])
            if tokens >= self._limit:
                raise too_long(f"{PREFIX}{self._name}", name, index, f"more than {tokens - 1} tokens", self._limit - 1)
            self._tokens += tokens
        return np.stack(list(model.embed(inputs, batch_size=len(inputs)))).astype(np.float32)

    def _load(self) -> TextEmbedding:
        with self._loading:
            if self._model is None:
                self._dimension = self._known_dimension()
                model = self._opened()
                self._limit = model.token_count([_VERY_LONG])
                self._model = model
            return self._model

    def _known_dimension(self) -> int:
        """Return the dimension of the model from FastEmbed's list."""
        from fastembed import TextEmbedding

        dimensions: dict[str, int] = {known["model"]: known["dim"] for known in TextEmbedding.list_supported_models()}
        dimension = dimensions.get(self._name)
        if dimension is None:
            folded = {name.casefold(): name for name in dimensions}
            similar = difflib.get_close_matches(self._name.casefold(), folded, _SIMILAR, cutoff=0.4)
            names = ", ".join(folded[name] for name in similar) or ", ".join(dimensions)
            raise ConfigurationError(
                f"FastEmbed has no model {self._name!r}, but for example {names}. All: python -c 'import fastembed;"
                ' print(*(model["model"] for model in fastembed.TextEmbedding.list_supported_models()))\''
            )
        if self._wanted not in (None, dimension):
            raise ConfigurationError(
                f"{self._name} has {dimension} dimensions, not {self._wanted} (MGRAG_EMBEDDING_DIMENSION)"
            )
        return dimension

    def _opened(self) -> TextEmbedding:
        from fastembed import TextEmbedding

        folder = self._settings.embedding_path
        options: dict[str, Any] = {"specific_model_path": folder} if folder else {}
        cache = self._settings.fastembed_cache_path or _default_cache()
        try:
            return TextEmbedding(self._name, cache_dir=cache, **options)
        except Exception as error:  # of ONNX Runtime, of tokenizers, of the download: they have no kind in common
            if folder:
                raise EmbeddingError(
                    f"The model {self._name} cannot be loaded from {folder} (MGRAG_EMBEDDING_PATH), which has to hold"
                    f" its ONNX file, tokenizer.json and tokenizer_config.json: {error}"
                ) from error
            raise EmbeddingError(
                f"The model {self._name} is not in {cache} and cannot be downloaded from Hugging Face: {error} Without"
                " a network, copy that folder from a machine that has it (FASTEMBED_CACHE_PATH), or name a folder with"
                " the model's files (MGRAG_EMBEDDING_PATH)."
            ) from error

    def __repr__(self) -> str:
        return f"FastEmbedEmbedding({self._name!r})"


def _default_cache() -> str:
    """Return a folder that lasts: FastEmbed's own default is the folder for temporary files."""
    from huggingface_hub.constants import HF_HOME

    return os.fspath(Path(HF_HOME) / "fastembed")
