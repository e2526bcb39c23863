"""Decides where documents are cut and texts embedded: in a thread or, in a large run, in a second process.

Python runs on one core, and the embedded engine holds it while it writes. So a run that has more than a few hundred
documents gets a worker process, beside which this one goes on writing. The results are the same in either place.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from core.rag.embedder.base import embed_long_texts, embed_texts
from core.rag.embedder.wordllama import WordLlamaEmbedding
from core.rag.extraction.mentions import Title, titles_of
from core.rag.indexing.cutting import take_mentioned
from core.rag.indexing.title_finder import TitleFinder
from core.rag.indexing.title_runs import TitleRun, TitleRuns, title_runs
from core.rag.indexing.worker import UnsendableError
from core.rag.indexing.worker_process import WorkerGoneError, WorkerProcess

if TYPE_CHECKING:
    from core.rag.dbhandler import MemGraphClient
    from core.rag.embedder import EmbeddingService
    from core.rag.embedder.base import Vectors
    from core.rag.indexing.cutting import Cut, Cutter, Prepared
    from libs.dataloader import Document

#: A run known to have this much is worth a second process; with less, two processes take longer than one.
_WORTHWHILE_DOCUMENTS = 1_500
_WORTHWHILE_CHARS = 700_000

#: If fewer of these are to be cut at once, most did not change.
_SOME_DOCUMENTS = 25
_SOME_CHARS = 50_000

#: This much without having been announced means that more is coming.
_MANY_DOCUMENTS = 500
_MANY_CHARS = 400_000

_logger = logging.getLogger("mgrag")


class Workbench:
    """Cuts documents and embeds texts for one run."""

    def __init__(self, client: MemGraphClient, embedder: EmbeddingService, *, extraction: bool, worker: bool) -> None:
        """Prepare a workbench.

        Args:
            client: The graph. Its titles are read when the first documents are cut.
            embedder: Embeds texts.
            extraction: Whether mentions are looked for.
            worker: Whether a second process may be used.
        """
        self._client = client
        self._embedder = embedder
        # The only embedder that another process can load by itself.
        self._offline = embedder if type(embedder) is WordLlamaEmbedding else None
        self._extraction = extraction
        self._worker_allowed = worker
        self._turn = asyncio.Lock()
        self._coming: Sequence[Document] = ()
        self._many_coming = False
        self._finder: TitleFinder | None = None
        self._run = TitleRun()
        self._runs: TitleRuns | None = None
        self._lost = False
        #: Titles of documents that are about to be cut, which the finder is told with the next request.
        self._titles: list[Title] = []
        # How much there is minus how much was expected: negative until there is all of that.
        self._documents = self._chars = 0
        self._process: WorkerProcess | None = None
        self._starting: asyncio.Task[WorkerProcess | None] | None = None

    def expect(self, documents: Sequence[Document]) -> None:
        """Expect documents that the caller passed: their titles and number are known before they are loaded."""
        chars = _chars_of(documents)
        self._coming = documents
        self._many_coming = len(documents) >= _WORTHWHILE_DOCUMENTS or chars >= _WORTHWHILE_CHARS
        self._documents, self._chars = -len(documents), -chars

    def announce(self, cutter: Cutter, documents: Sequence[Document]) -> None:
        """Announce documents that are going to be cut: their titles are found in what is cut before them, too.

        Args:
            cutter: Will cut them.
            documents: Those that changed.
        """
        if self._extraction:
            titles = [
                title
                for document in documents
                for title in titles_of(document.title, document.path, document.content, document.metadata)
            ]
            self._run.titles.update(title.name for title in titles)
            self._titles += titles
        if self._worker_allowed and self._starting is None and self._is_worthwhile(documents):
            self._starting = asyncio.create_task(self._start(cutter))

    async def cut(
        self, cutter: Cutter, documents: Sequence[Document], sources: Mapping[str, str], *, backlog: int = 0
    ) -> Prepared:
        """Cut documents, and find what their chunks mention. Calls may overlap.

        Args:
            cutter: Cuts them.
            documents: With different URIs.
            sources: The id of the Source of each, by its own id.
            backlog: Number of parts of the run that this process has yet to write. If the worker has fewer requests
                waiting, it makes the rows, too.

        Raises:
            InvalidInputError: if one of them cannot be stored as it is.
        """
        async with self._turn:
            if self._extraction:
                await self._make_finder()
            await self._move()
            process = self._process
            titles, self._titles = self._titles, []
            if process is None:
                if self._finder is not None:
                    self._finder.expect(titles)
                return await asyncio.to_thread(cutter.prepare, documents, sources, self._finder)
        try:
            try:
                if process.waiting < backlog:
                    prepared: Prepared = await process.call("prepare", titles, cutter, documents, sources)
                    return prepared
                cuts: list[Cut] = await process.call("cut", titles, cutter, documents)
            except UnsendableError as error:
                _logger.debug("Documents that cannot be sent are cut here: %s", error)
                cuts = await self._cut_here(process, cutter, documents)
        except WorkerGoneError as error:
            await self._recover(process, error)
            return await self.cut(cutter, documents, sources)
        return await asyncio.to_thread(cutter.rows, documents, cuts, sources)

    async def embed(
        self, texts: Sequence[str], names: Sequence[str], *, backlog: int = 0, in_pieces: bool = False
    ) -> Vectors:
        """Embed texts, in the worker if that is idle or has less to do than this process.

        Args:
            texts: The texts.
            names: The name of each text in an error.
            backlog: Number of parts of the run that this process has yet to write.
            in_pieces: Whether to embed what the model cannot take in pieces.

        Raises:
            EmbeddingError: as :func:`core.rag.embedder.embed_texts`.
        """
        process = self._process
        if process is not None and self._offline is not None and process.waiting < max(1, backlog):
            try:
                vectors, tokens = await process.call("embed", self._offline.dimension, texts)
            except WorkerGoneError as error:
                await self._recover(process, error)
            else:
                self._offline.count(tokens)
                made: Vectors = vectors
                return made
        return await (embed_long_texts if in_pieces else embed_texts)(self._embedder, texts, names)

    async def title_run(self) -> TitleRun:
        """Return what is known of the titles at the end of the run, if it extracts any."""
        if self._process is not None:
            try:
                self._finder = await self._process.call("finder")
            except WorkerGoneError as error:
                await self._recover(self._process, error)
        self._run.finder, self._run.lost = None if self._lost else self._finder, self._lost
        return self._run

    async def close(self) -> None:
        """End the worker process, and the run."""
        if self._runs is not None:
            self._runs.end(self._run)
        if self._starting is not None:
            self._starting.cancel()
            started = (await asyncio.gather(self._starting, return_exceptions=True))[0]
            if isinstance(started, WorkerProcess):
                await started.close()
        self._process = self._starting = None

    async def _make_finder(self) -> None:
        """Begin to look for titles, before any document is written."""
        if self._runs is None:
            self._runs = await title_runs(self._client)
            self._runs.begin(self._run)
        if self._finder is None and self._process is None:
            titles = await self._client.title_names()
            # Read after the titles: one that another process writes in between is new to this run.
            unlinked = set(await self._client.unlinked_titles()) - self._runs.seen_to([self._run])
            self._finder = await asyncio.to_thread(TitleFinder, titles, self._coming, unlinked)

    async def _cut_here(self, process: WorkerProcess, cutter: Cutter, documents: Sequence[Document]) -> list[Cut]:
        """Cut documents that cannot be sent to the worker; it only gets their text, to find what they mention."""
        cuts = await asyncio.to_thread(cutter.cut, documents, None)
        if self._extraction:
            titles, chunks = await asyncio.to_thread(cutter.sought, documents, cuts)
            take_mentioned(cuts, await process.call("mentioned", titles, chunks, cutter.namespace))
        return cuts

    async def _move(self) -> None:
        """Move the work to the worker process once that is up."""
        if self._process is None and self._worker_allowed and self._starting is not None and self._starting.done():
            process = self._starting.result()
            if process is not None and await self._asks(process, "adopt", self._finder):
                self._process, self._finder = process, None
                _logger.debug("A second process cuts documents from here on.")
            else:
                self._worker_allowed = False

    def _is_worthwhile(self, documents: Sequence[Document]) -> bool:
        """Count these documents, and return whether there is enough work for a second process."""
        chars = _chars_of(documents)
        self._documents += len(documents)
        self._chars += chars
        if self._documents >= _MANY_DOCUMENTS or self._chars >= _MANY_CHARS:
            return True
        return self._many_coming and (len(documents) >= _SOME_DOCUMENTS or chars >= _SOME_CHARS)

    async def _start(self, cutter: Cutter) -> WorkerProcess | None:
        try:
            process = WorkerProcess.start()
        except WorkerGoneError as error:
            _logger.info("One process does all, since no second one can be started: %s", error)
            return None
        if await self._asks(process, "warm_up", cutter, self._offline.dimension if self._offline is not None else None):
            _logger.debug("A second process is up.")
            return process
        await process.close()
        return None

    async def _asks(self, process: WorkerProcess, name: str, *arguments: Any) -> bool:
        """Send a request to a process that is not in use yet, and return whether it succeeded."""
        try:
            await process.call(name, *arguments)
        except asyncio.CancelledError:
            await process.close()
            raise
        except Exception as error:  # noqa: BLE001 a tokenizer of the caller's own that cannot be sent may raise anything
            _logger.info("One process does all, since a second one cannot take part: %s", error)
            return False
        return True

    async def _recover(self, process: WorkerProcess, error: WorkerGoneError) -> None:
        """Continue without a worker that has ended, most likely for lack of memory."""
        async with self._turn:
            if self._process is not process:
                return
            _logger.warning("One process does all from here on: %s.", error)
            await process.close()
            self._process, self._worker_allowed, self._lost = None, False, True


def _chars_of(documents: Sequence[Document]) -> int:
    return sum(len(document.content) for document in documents)
