"""KnowledgeBase: the object that the command line, servers and most users work with."""

from __future__ import annotations

import asyncio
import copy
from collections.abc import Callable, Iterable
from contextlib import AsyncExitStack
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from core.rag.answering.answers import Answers
from core.rag.arguments import check_flags, check_number, check_text
from core.rag.dbhandler import MemGraphClient
from core.rag.dbhandler.vectors import VectorStoreInfo
from core.rag.errors import ConfigurationError, StoreError
from core.rag.graph.exploration import Exploration
from core.rag.indexing.collecting import collected_seldom
from core.rag.indexing.sources import Source, loaders_for, passing_over
from core.rag.knowledge import Knowledge
from core.rag.maintenance.places import graph_file, places_of
from core.rag.maintenance.upkeep import Upkeep
from core.rag.memory.memories import Memories
from core.rag.memory.people import People
from core.rag.removal import Removal
from core.rag.retrieval.searches import Searches
from core.rag.settings import Settings, settings_for

if TYPE_CHECKING:
    from core.rag.embedder import EmbeddingService
    from core.rag.indexing.indexer import Indexer
    from core.rag.indexing.report import IngestReport
    from core.rag.indexing.splitting.splitter import TextSplitter
    from core.rag.llm import LanguageModel
    from core.rag.reranker import Reranker


class KnowledgeBase(Knowledge, Removal, Searches, Exploration, Answers, Upkeep, Memories, People):
    """Documents in a graph: load them with :meth:`ingest`, search them with :meth:`search`, ask them with :meth:`ask`.

    Example:
        >>> async with KnowledgeBase.open("embedded:graph.grafeo") as kb:
        ...     await kb.ingest(["docs/", "https://example.org/"])
        ...     hits = await kb.search("how do I install it?", k=5)
    """

    def __init__(
        self,
        client: MemGraphClient,
        embedder: EmbeddingService | None,
        *,
        settings: Settings,
        splitter: TextSplitter | None = None,
        new_store: bool = False,
        check_model: bool = True,
        language_model: LanguageModel | None = None,
        reranker: Reranker | None = None,
    ) -> None:
        """Put a knowledge base together; :meth:`open` is the usual way.

        Args:
            client: The graph. Closed with the knowledge base.
            embedder: Must be of the model of the namespace; closed with the knowledge base. ``None``: vectors are not
                needed, and the graph may be of any model.
            settings: Chunk sizes, limits and more.
            splitter: ``None``: one with the chunk sizes of the settings.
            new_store: Build a second vector store if the namespace has one of another model.
            check_model: Refuse an embedder of another model than the one that the namespace was built with.
            language_model: Writes answers; closed with the knowledge base. ``None``: the one in the settings, if any.
            reranker: Puts hits in order; closed with the knowledge base. ``None``: the one in the settings, if any.
        """
        self._client = client
        self._embedder = embedder
        self._settings = settings
        self._splitter = splitter
        self._new_store = new_store
        self._check_model = check_model
        self._language_model = language_model
        self._reranker = reranker

    @classmethod
    def open(
        cls,
        uri: str | None = None,
        *,
        namespace: str | None = None,
        model: str | None = None,
        embedder: EmbeddingService | None = None,
        username: str | None = None,
        password: str | None = None,
        new_store: bool = False,
        chunk_size: int | None = None,
        chunk_overlap: int | None = None,
        settings: Settings | None = None,
        create: bool = True,
        embedding: bool = True,
        check_model: bool = True,
        language_model: LanguageModel | None = None,
        reranker: Reranker | None = None,
    ) -> Self:
        """Open a knowledge base on the graph at a URI; use it in an ``async with``.

        Args:
            uri: ``embedded:PATH``, ``bolt://HOST:7687`` …; ``None``: ``MEMGRAPH_URI``, else the embedded default.
            namespace: ``None``: ``MGRAG_NAMESPACE``, else ``default``.
            model: Embedding model; ``None``: ``MGRAG_EMBEDDING_MODEL``, else the offline default.
            embedder: A custom embedding service, instead of ``model``.
            username: For a server; ``None``: ``MEMGRAPH_USERNAME``.
            password: For a server; ``None``: ``MEMGRAPH_PASSWORD``.
            new_store: Build a second vector store if the namespace was built with another model.
            chunk_size: Maximum number of tokens in a chunk; ``None``: ``MGRAG_CHUNK_SIZE``, else 256. If
                neither is given, a document of running text (without several headings, rows …) is one chunk up to 512.
            chunk_overlap: Tokens that neighbouring chunks share; ``None``: ``MGRAG_CHUNK_OVERLAP``.
            settings: ``None``: read from the environment.
            create: Whether a missing embedded graph may be created.
            embedding: Whether to open an embedding service. Listing, deleting and exporting work without one, on a
                graph of any model.
            check_model: Refuse an embedding model other than that of the namespace; :meth:`reembed` changes it.
            language_model: Writes answers; ``None``: the model of ``MGRAG_LLM_MODEL``, else answers are extracts.
            reranker: Puts the hits of a search in order; ``None``: the model of ``MGRAG_RERANK_MODEL``, if any.

        Raises:
            ConfigurationError: if settings are invalid, or the embedding provider's key is missing.
            InvalidInputError: if the namespace is not allowed, or another argument has the wrong type.
            StoreUnavailableError: if a file of that name is impossible.
        """
        from core.rag.embedder import open_embedder
        from core.rag.llm.base import checked_model
        from core.rag.reranker import checked_reranker

        checked_model(language_model, "close")
        checked_reranker(reranker)
        check_flags(new_store=new_store, create=create, embedding=embedding, check_model=check_model)
        if model is not None:
            check_text("The name of a model", model)
        if chunk_size is not None:
            chunk_size = check_number("chunk_size", chunk_size, 1)
        if chunk_overlap is not None:
            chunk_overlap = check_number("chunk_overlap", chunk_overlap, 0)
        settings = settings_for(settings)
        changes = {"chunk_size": chunk_size, "chunk_overlap": chunk_overlap}
        if given := {key: value for key, value in changes.items() if value is not None}:
            settings = settings.model_copy(update=given)
        if embedding and embedder is None:
            embedder = open_embedder(model, settings)
        client = MemGraphClient(
            uri,
            username,
            password,
            namespace=namespace,
            embedder=embedder,
            settings=settings,
            check_model=check_model,
            create=create,
        )
        graph_file(uri, settings)  # an impossible name is told now, not by the first use
        return cls(
            client,
            embedder,
            settings=settings,
            new_store=new_store,
            check_model=check_model,
            language_model=language_model,
            reranker=reranker,
        )

    @property
    def client(self) -> MemGraphClient:
        """The client of the graph."""
        return self._client

    @property
    def embedder(self) -> EmbeddingService:
        """The embedding service.

        Raises:
            ConfigurationError: if this knowledge base was opened without one.
        """
        if self._embedder is None:
            raise ConfigurationError(
                "This knowledge base was opened without an embedding service (embedding=False), which this needs."
            )
        return self._embedder

    @property
    def reranker(self) -> Reranker | None:
        """The reranker; ``None`` if there is none, and MGRAG_RERANK_MODEL is not set.

        Raises:
            ConfigurationError: if a model is set, but no server for it.
        """
        if isinstance(self._first, KnowledgeBase):
            return self._first.reranker
        if self._reranker is None:
            from core.rag.reranker import open_reranker

            self._reranker = open_reranker(settings=self._settings)
        return self._reranker

    @property
    def namespace(self) -> str:
        """The namespace that this object reads and writes."""
        return self._client.namespace

    def in_namespace(self, namespace: str) -> Self:
        """Return the same graph with another namespace.

        Args:
            namespace: Its name; nothing has to be in it yet.

        Returns:
            A knowledge base that shares the connection and the models with this one. Do not close it: it ends with
            this one.

        Raises:
            InvalidInputError: on a name that is not allowed.
            StoreUnavailableError: when this knowledge base is not connected.
        """
        other = copy.copy(self)
        other._client = self._client.in_namespace(namespace)
        other._first = self._first or self
        other._graph = None  # it is of one namespace
        return other

    async def connect(self) -> Self:
        """Open the graph, and check that it was built with this embedding model.

        Raises:
            StoreUnavailableError: if the graph cannot be opened.
            NotFoundError: if the graph does not exist and must not be created.
            ModelMismatchError: if the namespace was built with another model.
        """
        await self._client.connect()
        if self._embedder is not None and self._check_model and await self._client.vector_stores():
            await self._store()
        return self

    async def close(self) -> None:
        """Close the graph and the services; each of them, even if another one cannot be closed."""
        async with AsyncExitStack() as closing:
            for service in (self._reranker, self._language_model, self._embedder, self._client):  # the last one first
                if service is not None:
                    closing.push_async_callback(service.close)

    async def __aenter__(self) -> Self:
        try:
            return await self.connect()
        except BaseException:
            await self.close()
            raise

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        try:
            await self.close()
        except StoreError as second:
            if error is None:
                raise
            error.add_note(f"Closing the graph failed, too: {second}")  # the first error is the cause

    async def ingest(
        self,
        sources: Source | Iterable[Source],
        *,
        prune: bool = False,
        facts: bool | None = None,
        stop: asyncio.Event | None = None,
        progress: Callable[[IngestReport], None] | None = None,
        **options: Any,
    ) -> IngestReport:
        """Bring the graph up to date with sources: only what changed is split, embedded and written.

        Args:
            sources: Paths, URLs, loaders, documents, or iterables of documents; one or several.
            prune: Also remove documents that are no longer in these sources.
            facts: Whether a language model also extracts facts from the new chunks (:meth:`extract_facts`);
                ``None``: ``MGRAG_LLM_EXTRACTION`` decides. Chunks that failed are tried again by the next ingest.
            stop: When set, no further documents are started; those in flight get a few seconds to finish.
            progress: Called after each transaction with the report so far.
            options: For folders ``include``, ``exclude`` (globs), ``gitignore``, ``recursive``, ``hidden``, ``within``
                of :class:`libs.dataloader.DocumentLoader`; for URLs ``url_pattern``, ``max_urls``, ``max_depth``,
                ``delay``, ``same_host``, ``respect_robots`` and others of :class:`libs.dataloader.WebLoader`.

        Returns:
            What was done. Files and pages that cannot be read are in ``documents.failed`` with the reason.

        Raises:
            SourceError: if there is only one source and it cannot be loaded at all.
            EmbeddingError: if the embedding provider still fails after retries.
            StoreError: if the graph database fails. Documents that were written stay, complete, and the next ingest
                skips them.
        """
        facts = self._settings.llm_extraction if facts is None else facts
        # Before anything is done.
        check_flags(prune=prune, facts=facts)
        if facts:
            self._reader()
            self._wanted()
        loaders = loaders_for(sources, self._settings, **options)
        indexer = await self._indexer()
        # The graph file may be in a folder that is ingested; it changes while the folder is read.
        if own := places_of((await self._client.connect()).capabilities):
            loaders = passing_over(own, loaders)
        with collected_seldom():
            report = await indexer.index(loaders, prune=prune, stop=stop, progress=progress)
        if facts and not report.interrupted:
            await self._add_facts(report, stop, progress)
        return report

    async def _store(self) -> VectorStoreInfo:
        from core.rag.embedder.base import dimension_of

        # Each time: somebody may have removed the namespace since, or reembedded it.
        dimension = await dimension_of(self.embedder)
        store = await self._client.ensure_vector_store(self.embedder.model, dimension, new_store=self._new_store)
        self._new_store = False  # it is there now
        return store

    async def _indexer(self) -> Indexer:
        from core.rag.indexing.indexer import Indexer
        from core.rag.indexing.limits import memory_limit, most_chunks
        from core.rag.indexing.splitting.splitter import TextSplitter
        from core.rag.indexing.splitting.tokens import even_tokens

        if self._splitter is None:
            settings = self._settings
            self._splitter = TextSplitter(
                settings.chunk_size,
                settings.chunk_overlap,
                whole_size=settings.whole_size,
                count_tokens=even_tokens,
            )
        return Indexer(
            self._client,
            self.embedder,
            self._splitter,
            await self._store(),
            extraction=self._settings.extraction,
            hints=self._hints(),
            worker=self._settings.ingest_worker,
            max_chunks=self._settings.max_chunks or most_chunks(memory_limit()),
        )
