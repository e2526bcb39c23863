"""The ingest pipeline: decides how documents are split and embedded, and runs the stages on them."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from core.rag.arguments import check_flags
from core.rag.extraction.mentions import EXTRACTION_VERSION
from core.rag.extraction.records import FIELD_HINTS
from core.rag.indexing.cutting import Cutter
from core.rag.indexing.parts import Tools
from core.rag.indexing.pruning import kept_though_gone
from core.rag.indexing.pruning import prune as remove_gone
from core.rag.indexing.report import IngestReport
from core.rag.indexing.run import Run
from core.rag.indexing.state import StateReader
from core.rag.indexing.stopping import check_callbacks
from core.rag.indexing.titles import TitleLinker
from core.rag.indexing.workbench import Workbench
from libs.dataloader import Loader

if TYPE_CHECKING:
    from core.rag.dbhandler import MemGraphClient
    from core.rag.dbhandler.vectors import VectorStoreInfo
    from core.rag.embedder import EmbeddingService
    from core.rag.indexing.splitting.splitter import TextSplitter


class Indexer:
    """Loads documents into the graph, processing only what changed.

    A document is written with its chunks, vectors and links in one transaction, which small documents share.
    """

    def __init__(
        self,
        client: MemGraphClient,
        embedder: EmbeddingService,
        splitter: TextSplitter,
        vector_store: VectorStoreInfo,
        *,
        extraction: bool = True,
        hints: Mapping[str, str] = FIELD_HINTS,
        worker: bool = True,
        max_chunks: int | None = None,
    ) -> None:
        """Prepare an indexer.

        Args:
            client: The graph.
            embedder: Embeds chunks; of the model of ``vector_store``.
            splitter: Splits documents.
            vector_store: The vector store for the vectors.
            extraction: Whether to find the names that documents mention.
            hints: The fields of records that are entities; see :mod:`core.rag.extraction.records`.
            worker: Whether a large run may use a second process; see :mod:`core.rag.indexing.workbench`.
            max_chunks: Maximum number of chunks of a document, which are written together; ``None``: any.
        """
        self._client = client
        self._embedder = embedder
        self._splitter = splitter
        self._vector_store = vector_store
        self._extraction = extraction
        self._hints = hints
        self._worker = worker
        self._max_chunks = max_chunks
        self._tools = self._tools_with(splitter)

    def _tools_with(self, splitter: TextSplitter) -> Tools:
        how = splitter.fingerprint
        if self._extraction:
            hints = [field for field in self._hints if field not in FIELD_HINTS]
            how = " ".join((how, f"names {EXTRACTION_VERSION}", *hints))
        if self._embedder.words_only:
            how += " words only"
        state = StateReader(self._client, how, self._vector_store.id)
        cutter = Cutter(
            namespace=self._client.namespace,
            splitter=splitter,
            title_weight=self._embedder.title_weight,
            words_only=self._embedder.words_only,
            vector_store=self._vector_store.id,
            pipeline=state.pipeline,
            hints=self._hints if self._extraction else None,
            max_chunks=self._max_chunks,
        )
        return Tools(state, cutter)

    def _tools_for(self, loader: Loader) -> Tools:
        """Return the tools for a loader with its own chunk sizes, else the common ones."""
        size: int | None = getattr(loader, "explicit_chunk_size", None)
        overlap: int | None = getattr(loader, "explicit_chunk_overlap", None)
        if size is None and overlap is None:
            return self._tools
        size = size or self._splitter.chunk_size
        overlap = min(self._splitter.chunk_overlap, size // 4) if overlap is None else overlap
        return self._tools_with(self._splitter.with_sizes(size, overlap))

    async def index(
        self,
        loaders: Sequence[Loader],
        *,
        prune: bool = False,
        stop: asyncio.Event | None = None,
        progress: Callable[[IngestReport], None] | None = None,
    ) -> IngestReport:
        """Load everything from the loaders, and bring the graph up to date with it.

        Args:
            loaders: The sources.
            prune: Also remove documents that these sources no longer have.
            stop: When set, no further documents are started. Those in flight get a few seconds to finish; what is
                still waiting then (much, from a fast source) is left for the next run.
            progress: Called after each transaction with the report so far.

        Returns:
            What was done.

        Raises:
            SourceError: if a source cannot be loaded at all; documents of the sources before it are in the graph.
            EmbeddingError: if the embedding provider still fails after retries.
            StoreError: if the graph database fails.
        """
        check_callbacks(stop, progress)
        check_flags(prune=prune)
        started = time.perf_counter()
        report = IngestReport()
        workbench = Workbench(self._client, self._embedder, extraction=self._extraction, worker=self._worker)

        def tell(so_far: IngestReport) -> None:
            so_far.seconds = time.perf_counter() - started
            if progress is not None:
                progress(so_far)

        run = Run(self._client, workbench, self._tools_for, self._vector_store, report, stop or asyncio.Event(), tell)
        try:
            await run.all(loaders)
            if prune and not run.stop.is_set():
                await remove_gone(self._client, self._tools.state, run.read, report)
            elif not run.stop.is_set():
                report.warnings += await kept_though_gone(self._client, self._tools.state, run.read)
            if self._extraction:
                ended = await workbench.title_run()
                ended.removed = report.documents.deleted
                await TitleLinker(self._client).link(ended)
            report.warnings += await self._behind()
        finally:
            await workbench.close()
            report.seconds = time.perf_counter() - started
        report.interrupted = run.stop.is_set()
        return report

    async def _behind(self) -> list[str]:
        """Tell of chunks without a vector of the active model, if the namespace has vectors of several models."""
        stores = await self._client.vector_stores()
        missing = await self._client.chunks_without_vector(stores[0]) if len(stores) > 1 else []
        if not missing:
            return []
        model = stores[0].model
        return [
            f"{len(missing):,} chunks have no vector of {model}, the active model of the namespace, so searches with it"
            f" find them by their words only. Set MGRAG_EMBEDDING_MODEL={model}, and ingest their sources again or run"
            " mgrag doctor --repair."
        ]
