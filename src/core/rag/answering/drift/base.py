"""The common parts of DRIFT RAG: the graph, the configuration, and the model that infers."""

from __future__ import annotations

from collections.abc import Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, Protocol, Self

from core.rag.answering.drift.cache import PathCache
from core.rag.answering.drift.config import DRIFTRAGConfig, InferenceStrategy
from core.rag.answering.drift.inference import InferenceEngine, Inferences
from core.rag.answering.drift.paths import Path
from core.rag.answering.drift.vectors import Vectors
from core.rag.answering.services import checked_instructions
from core.rag.dbhandler import MemGraphClient
from core.rag.errors import InvalidInputError, ModelMismatchError
from core.rag.graph.building import HasClient
from core.rag.llm import open_language_model
from core.rag.llm.base import checked_model

if TYPE_CHECKING:
    from core.rag.llm import LanguageModel


class Infers(Protocol):
    """An object that infers connections: :class:`InferenceEngine`, or a custom one."""

    async def infer(self, paths: Sequence[Path], query: str, strategy: InferenceStrategy) -> Inferences:
        """Infer connections between nodes of the paths; the caller validates the result."""
        ...


class DRIFTBase:
    """Holds the graph and the configuration of :class:`core.rag.answering.drift.DRIFTRAG`."""

    def __init__(
        self,
        knowledge_graph: MemGraphClient | HasClient,
        *,
        config: DRIFTRAGConfig | None = None,
        inference_engine: Infers | None = None,
        language_model: LanguageModel | None = None,
        cache: PathCache | None = None,
        instructions: str | None = None,
        **options: Any,
    ) -> None:
        """Prepare DRIFT RAG on a graph.

        Args:
            knowledge_graph: A knowledge base, a knowledge graph, or a client; not closed with this.
            config: The base configuration, for example a preset; ``None``: the defaults.
            inference_engine: ``None``: the built-in one.
            language_model: Infers and answers; ``None``: the one that ``llm_model`` names, else that of the knowledge
                base. Without a model, answers are extracts.
            cache: Paths of repeated queries, which several objects can share; ``None``: a new one.
            instructions: What else to tell the model about its answer; ``None``: ``MGRAG_ANSWER_INSTRUCTIONS``.
            options: Fields of :class:`DRIFTRAGConfig`; they take precedence over ``config``.

        Raises:
            InvalidInputError: if a value is invalid.
            ModelMismatchError: if ``embedding_model`` is not that of the graph.
            ConfigurationError: if ``llm_model`` has neither a key nor an endpoint.
        """
        client = getattr(knowledge_graph, "client", knowledge_graph)
        if not isinstance(client, MemGraphClient):
            raise InvalidInputError(f"A {type(knowledge_graph).__name__} is not a knowledge base, graph or client.")
        self._client = client
        self._instructions = checked_instructions(client, instructions)
        self._cache = PathCache() if cache is None else cache
        self._vectors = Vectors(client)
        self._config = self._fitting((config or DRIFTRAGConfig()).updated(**options))
        self._owned = None
        if language_model is None and "llm_model" in self._config.model_fields_set:
            language_model = self._owned = open_language_model(self._config.llm_model, client.settings)
        if language_model is None:
            language_model = getattr(knowledge_graph, "language_model", None)
        self._language_model = checked_model(language_model, "stream")
        if inference_engine is not None and not callable(getattr(inference_engine, "infer", None)):
            raise InvalidInputError(
                f"A {type(inference_engine).__name__} is not an inference engine: it needs a method infer, as"
                " core.rag.answering.drift.InferenceEngine has."
            )
        self._engine: Infers = inference_engine or InferenceEngine(client, language_model=language_model)

    @property
    def client(self) -> MemGraphClient:
        """The graph."""
        return self._client

    @property
    def config(self) -> DRIFTRAGConfig:
        """The configuration; changed by :meth:`update_config`."""
        return self._config

    @property
    def language_model(self) -> LanguageModel | None:
        """The language model, if there is one."""
        return self._language_model

    @property
    def inference_engine(self) -> Infers:
        """The engine that infers connections."""
        return self._engine

    def update_config(self, **changes: Any) -> DRIFTRAGConfig:
        """Change some values; queries that are already running continue with the old ones.

        Args:
            changes: Fields of :class:`DRIFTRAGConfig`.

        Returns:
            The new configuration.

        Raises:
            InvalidInputError: if a value is invalid; nothing is changed then.
        """
        if changes.get("llm_model", self._config.llm_model) != self._config.llm_model:
            raise InvalidInputError("The language model cannot be changed: make another DRIFTRAG with it.")
        self._config = self._fitting(self._config.updated(**changes))
        return self._config

    async def close(self) -> None:
        """Close the language model if it was opened here; the graph and models that were passed in stay open."""
        if self._owned is not None:
            await self._owned.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.close()

    def _fitting(self, config: DRIFTRAGConfig) -> DRIFTRAGConfig:
        """Return the configuration, after checking that its embedding model is that of the graph."""
        default = type(config).model_fields["embedding_model"].default
        embedder = self._client.embedder
        if embedder is not None and config.embedding_model not in (default, embedder.model):
            raise ModelMismatchError(
                f"DRIFT RAG was asked to use the embedding model {config.embedding_model}, but the graph is used with"
                f" {embedder.model}: vectors of two models cannot be compared. Open the graph with that model."
            )
        return config
