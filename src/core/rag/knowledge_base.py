"""KnowledgeBase: the one object that the command line, servers and most users hold."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from core.rag.dbhandler import MemGraphClient
from core.rag.dbhandler.vectors import VectorStoreInfo
from core.rag.errors import InvalidInputError
from core.rag.indexing.sources import Source, loaders_for
from core.rag.settings import Settings, load_settings

if TYPE_CHECKING:
    from core.rag.indexing.splitter import TextSplitter

    from core.rag.embedder import EmbeddingService
    from core.rag.indexing.indexer import Indexer
    from core.rag.indexing.report import IngestReport
    from core.rag.retrieval.hits import Hit, SearchMode


class KnowledgeBase:
    """Documents in a graph: put in with :meth:`ingest`, found again with :meth:`search`.

    Example:
        >>> async with KnowledgeBase.open("embedded:graph.grafeo") as kb:
        ...     await kb.ingest(["docs/", "https://example.org/"])
        ...     hits = await kb.search("how do I install it?", k=5)
    """

    def __init__(
        self,
        client: MemGraphClient,
        embedder: EmbeddingService,
        *,
        settings: Settings,
        splitter: TextSplitter | None = None,
        new_store: bool = False,
    ) -> None:
        """Put a knowledge base together; :meth:`open` is the usual way.

        Args:
            client: The graph. Closed with the knowledge base.
            embedder: Its model is that of the namespace. Closed with the knowledge base.
            settings: For chunk sizes and limits.
            splitter: ``None``: as the settings say.
            new_store: Build a second vector store where the namespace has one of another model.
        """
        self._client = client
        self._embedder = embedder
        self._settings = settings
        self._splitter = splitter
        self._new_store = new_store
        self._vector_store: VectorStoreInfo | None = None

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
    ) -> Self:
        """A knowledge base on the graph at a URI; use it in an ``async with``.

        Args:
            uri: ``embedded:PATH``, ``bolt://HOST:7687`` …; ``None``: ``MEMGRAPH_URI``, else the embedded default.
            namespace: ``None``: ``MGRAG_NAMESPACE``, else ``default``.
            model: Embedding model; ``None``: ``MGRAG_EMBEDDING_MODEL``, else the offline default.
            embedder: An embedding service of one's own, instead of ``model``.
            username: For a server; ``None``: ``MEMGRAPH_USERNAME``.
            password: For a server; ``None``: ``MEMGRAPH_PASSWORD``.
            new_store: Build a second vector store where the namespace was built with another model.
            chunk_size: Tokens in a chunk at most; ``None``: ``MGRAG_CHUNK_SIZE``.
            chunk_overlap: Tokens that neighbouring chunks share; ``None``: ``MGRAG_CHUNK_OVERLAP``.
            settings: ``None``: read from the environment.

        Raises:
            ConfigurationError: on settings that make no sense, or a missing key of the embedding provider.
        """
        from core.rag.embedder import open_embedder

        settings = settings or load_settings()
        changes = {"chunk_size": chunk_size, "chunk_overlap": chunk_overlap}
        if given := {key: value for key, value in changes.items() if value is not None}:
            settings = settings.model_copy(update=given)
        embedder = embedder or open_embedder(model, settings)
        client = MemGraphClient(uri, username, password, namespace=namespace, embedder=embedder, settings=settings)
        return cls(client, embedder, settings=settings, new_store=new_store)

    @property
    def client(self) -> MemGraphClient:
        """The graph."""
        return self._client

    @property
    def embedder(self) -> EmbeddingService:
        """The embedding service."""
        return self._embedder

    @property
    def namespace(self) -> str:
        """What everything is read from and written to."""
        return self._client.namespace

    async def connect(self) -> Self:
        """Open the graph, and check that it was built with this embedding model.

        Raises:
            StoreUnavailableError: when the graph cannot be opened.
            ModelMismatchError: when its namespace was built with another model.
        """
        await self._client.connect()
        stores = await self._client.vector_stores()
        if stores:
            await self._store()
        return self

    async def close(self) -> None:
        """Close the graph and the embedding service."""
        try:
            await self._client.close()
        finally:
            await self._embedder.close()

    async def __aenter__(self) -> Self:
        try:
            return await self.connect()
        except BaseException:
            await self.close()
            raise

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.close()

    async def ingest(
        self,
        sources: Source | Iterable[Source],
        *,
        prune: bool = False,
        stop: asyncio.Event | None = None,
        progress: Callable[[IngestReport], None] | None = None,
        **options: Any,
    ) -> IngestReport:
        """Bring the graph up to date with sources: only what changed is split, embedded and written.

        Args:
            sources: Paths, URLs, loaders, documents, or iterables of documents; one or several.
            prune: Also remove documents that vanished from these sources.
            stop: When set, nothing more is taken up; documents in flight are finished.
            progress: Called after each transaction with the report so far.
            options: For folders ``include``, ``exclude`` (globs), ``gitignore``, ``recursive``, ``hidden``; for URLs
                ``url_pattern``, ``max_urls``, ``max_depth``, ``delay``, ``same_host``, ``respect_robots``.

        Returns:
            What was done. A file or page that cannot be read is in ``documents.failed`` with its reason.

        Raises:
            SourceError: when the only source there is cannot be loaded at all.
            EmbeddingError: when the embedding provider fails for good.
            StoreError: when the graph does. What was written before stays, whole, and is not done again.
        """
        loaders = loaders_for(sources, self._settings, **options)
        indexer = await self._indexer()
        return await indexer.index(loaders, prune=prune, stop=stop, progress=progress)

    async def search(
        self,
        query: str,
        k: int = 5,
        mode: SearchMode = "hybrid",
        *,
        filters: str | Mapping[str, Any] | None = None,
        namespace: str | None = None,
        expand: int = 0,
    ) -> list[Hit]:
        """Find chunks.

        Args:
            query: What is looked for, in any words and characters.
            k: At most this many hits, 1 to 10,000.
            mode: ``hybrid`` (words and meaning), ``vector`` (meaning), ``keyword`` (words, BM25) or ``fuzzy`` (titles,
                headings and names, tolerant of typos).
            filters: Only chunks of documents that pass; see :func:`core.rag.retrieval.filters.parse_filter`.
            namespace: Search this one instead.
            expand: Add so many neighbouring chunks on either side to the content of each hit.

        Returns:
            Hits, best first; empty where nothing fits or nothing was ingested.

        Raises:
            InvalidInputError: on a ``k``, mode or filter that makes no sense.
        """
        from core.rag.retrieval.retriever import Retriever

        client = self._client if namespace is None else self._client.in_namespace(namespace)
        return await Retriever(client, self._embedder).search(query, k, mode, filters=filters, expand=expand)

    async def delete(self, path: str) -> bool:
        """Remove a document with its chunks, vectors and whatever nothing else refers to.

        Args:
            path: Path, URL, name or id.

        Returns:
            Whether there was one.
        """
        return await self._client.delete_document(path)

    async def status(self) -> dict[str, Any]:
        """Engine, namespace, counts of nodes and edges, vector stores, and the model in use."""
        status = await self._client.status()
        status["embedding_model"] = {"model": self._embedder.model, "dimension": self._embedder.dimension}
        return status

    async def _store(self) -> VectorStoreInfo:
        if self._vector_store is None:
            self._vector_store = await self._client.ensure_vector_store(
                self._embedder.model, self._embedder.dimension, new_store=self._new_store
            )
        return self._vector_store

    async def _indexer(self) -> Indexer:
        from core.rag.indexing.splitter import TextSplitter

        from core.rag.indexing.indexer import Indexer

        if self._splitter is None:
            if self._settings.chunk_overlap >= self._settings.chunk_size:
                raise InvalidInputError(
                    f"chunk_overlap ({self._settings.chunk_overlap}) has to be smaller than chunk_size"
                    f" ({self._settings.chunk_size})."
                )
            self._splitter = TextSplitter(self._settings.chunk_size, self._settings.chunk_overlap)
        return Indexer(self._client, self._embedder, self._splitter, await self._store())
