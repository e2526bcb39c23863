"""One ingest run: its stages load, cut, embed and write at the same time, in bounded memory.

Batches of documents pass from stage to stage through short queues, so that a slow stage holds up the ones before it.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from core.rag.dbhandler.batches import batches
from core.rag.dbhandler.documents.rows import uri_of
from core.rag.errors import EmbeddingInputError, InvalidInputError, QueryError, SourceError
from core.rag.identity import document_id, standardize_resource_uri
from core.rag.indexing.cutting import Cutter, Prepared
from core.rag.indexing.parts import Batch, Part, PartsAhead, Tools
from core.rag.indexing.prepare import Preparer
from core.rag.indexing.pruning import ReadSource, doubled_folders
from core.rag.indexing.report import IngestReport
from core.rag.indexing.sources import in_their_folders
from core.rag.indexing.stopping import out_of_patience, until
from core.rag.indexing.storable import storable_result
from core.rag.indexing.workbench import Workbench
from core.rag.schema import Label
from core.rag.together import error_of
from libs.dataloader import Document, Loader, LoadError, LoadFailure, SourceInfo, Unchanged

if TYPE_CHECKING:
    from core.rag.dbhandler import MemGraphClient
    from core.rag.dbhandler.vectors import VectorStoreInfo
    from core.rag.indexing.splitting.splitter import TextSplitter

#: A batch is complete when it has this many documents, or this many characters.
BATCH_DOCUMENTS = 256
BATCH_CHARS = 1_000_000

#: Of a long list, the graph is asked about so many documents at once. Of those that changed, the first batch is
#: smaller, so that writing begins sooner; each next one is twice as large.
_LONG_LIST = 1_000
_FIRST_BATCH_DOCUMENTS = 32

#: A batch is also complete after this many seconds, so that pages of a slow site do not stay in memory for hours.
_BATCH_SECONDS = 5.0

#: In an embedded graph, where one transaction waits for another, so many chunks are written in one, or one document:
#: between two of them, others store a message. On a server nobody waits, and each takes dozens of round trips.
_CHUNKS_AT_ONCE = 128

#: Maximum number of batches between two stages; together with the batch size it bounds the memory.
_WAITING = 2


class Run:
    """One call of :meth:`~core.rag.indexing.indexer.Indexer.index`.

    Attributes:
        read: The sources that were read to their end, with what they have and what is gone from them.
        stop: When set, no further documents are started.
    """

    def __init__(
        self,
        client: MemGraphClient,
        workbench: Workbench,
        tools_for: Callable[[Loader], Tools],
        vector_store: VectorStoreInfo,
        report: IngestReport,
        stop: asyncio.Event,
        progress: Callable[[IngestReport], None],
    ) -> None:
        """Prepare a run; nothing is loaded yet.

        Args:
            client: The graph.
            workbench: Cuts and embeds; the caller closes it.
            tools_for: Returns the tools for the documents of a loader.
            vector_store: The vector store for the vectors.
            report: Is filled in during the run.
            stop: Set it to end the run early.
            progress: Called after each transaction with the report so far.
        """
        self._client = client
        self._workbench = workbench
        self._tools_for = tools_for
        self._vector_store = vector_store
        self._preparer = Preparer(client, workbench)
        self._report = report
        self.stop = stop
        self._progress = progress
        self._touched: dict[str, str] = {}
        self._sources: dict[str, SourceInfo] = {}
        self._there: set[str] = set()  # those of them that are in the graph
        self._several = False
        self._counted: set[str] = set()
        self._failed: set[tuple[str, str]] = set()
        self._again: dict[str, list[str]] = {}
        self._batch: Batch | None = None
        # Maximum number of documents that are loaded together, and of those that are cut and written together.
        self._batch_documents = self._part_documents = BATCH_DOCUMENTS
        # Number of batches (and parts of them) in flight, and of those that are embedded and wait to be written.
        self._on_the_way = self._to_write = 0
        self._writing = False
        self._late = False
        self._load_error: LoadError | None = None
        self.read: list[ReadSource] = []
        self._barren: list[str] = []
        # Ids of documents that were in the graph before, until they are written; and how many texts were replaced.
        self._to_replace: set[str] = set()
        self._replaced: Counter[Label] = Counter()
        self._loaded: asyncio.Queue[Batch | None] = asyncio.Queue(_WAITING)
        self._ahead = PartsAhead()
        self._cut: asyncio.Queue[tuple[asyncio.Task[list[Prepared]], TextSplitter] | None] = asyncio.Queue(_WAITING)
        self._embedded: asyncio.Queue[Prepared | None] = asyncio.Queue(_WAITING)

    async def all(self, loaders: Sequence[Loader]) -> None:
        """Bring the graph up to date with everything that the loaders have.

        Raises:
            SourceError: if the only source cannot be loaded at all; of several sources, the report names those.
            EmbeddingError: if the embedding provider still fails after retries.
            StoreError: if the graph database fails.
        """
        coming = [document for loader in loaders for document in getattr(loader, "at_hand", ())]
        self._workbench.expect(coming)
        if coming:
            self._ahead.all_known()
        self._several = len(loaders) > 1
        if len(coming) >= _LONG_LIST:
            self._batch_documents = _LONG_LIST
            self._part_documents = min(_FIRST_BATCH_DOCUMENTS, BATCH_DOCUMENTS)
        watcher = asyncio.create_task(self._watch())
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(self._load(loaders))
                group.create_task(self._prepare())
                group.create_task(self._cut_ahead(group))
                group.create_task(self._embed())
                group.create_task(self._write())
        except BaseExceptionGroup as failed:
            raise error_of(failed) from failed
        finally:
            watcher.cancel()
        self._report.warnings += await doubled_folders(self._client, self.read)
        for source_id, ids in self._again.items():  # after the documents are written
            for part in batches(ids):
                await self._client.add_to_source(part, source_id)
        if self._barren:
            await self._client.remove_empty_sources(self._barren)
        if self._load_error is not None:
            raise SourceError(str(self._load_error)) from self._load_error

    async def _watch(self) -> None:
        await out_of_patience(self.stop)
        self._late = True

    async def _load(self, loaders: Sequence[Loader]) -> None:
        for loader in await in_their_folders(self._client, loaders):
            if self.stop.is_set():
                break
            try:
                await self._load_one(loader)
            except LoadError as error:
                self._report.fail(error.path, error.reason)
                if len(loaders) == 1:
                    self._load_error = error
        await self._pass_on()
        await self._loaded.put(None)

    async def _load_one(self, loader: Loader) -> None:
        source = loader.source
        source_id = self._client.id_of_source(source)
        self._sources[source_id] = source
        read = ReadSource(loader, source, source_id)
        tools = self._tools_for(loader)
        known = tools.state.known(source, self._touched)
        if source.type != "file":  # many files that are named one by one share their transactions
            await self._pass_on()
        found = False
        failure: LoadError | None = None
        try:
            async with contextlib.aclosing(until(loader.load(known), self.stop)) as results:
                async for loaded in results:
                    result = storable_result(loaded)
                    found = found or not isinstance(result, LoadFailure)
                    if isinstance(result, Document):
                        self._report.note_gaps(result)
                        await self._collect(tools, result, read)
                    else:
                        self._note(result, read)
        except LoadError as error:
            failure = error
        # Not in a ``finally``: if another stage fails, nothing reads the queue any more.
        if source.type != "file":
            await self._pass_on()
        if not found:
            self._barren.append(source_id)
        if failure is not None:
            raise failure
        notes = getattr(loader, "notes", ())  # overlapping sources have the same notes
        self._report.warnings += [note for note in notes if note not in self._report.warnings]
        self.read.append(read)

    def _note(self, result: Unchanged | LoadFailure, read: ReadSource) -> None:
        """Count a result that is not a document, and record whether the source still has the document."""
        if isinstance(result, Unchanged):
            identifier = document_id(self._client.namespace, result.uri)
            self._count_unchanged([identifier])
            read.seen.add(identifier)
            return
        if (result.path, result.reason) not in self._failed:
            self._failed.add((result.path, result.reason))
            self._report.fail(result.path, result.reason)
        identifier = document_id(self._client.namespace, standardize_resource_uri(result.path))
        (read.gone if result.gone else read.seen).add(identifier)

    async def _collect(self, tools: Tools, document: Document, read: ReadSource) -> None:
        document.uri = uri_of(document)
        identifier = document_id(self._client.namespace, document.uri)
        batch = self._batch
        if batch is not None and (
            batch.tools is not tools
            or len(batch.documents) >= self._batch_documents
            or batch.chars + len(document.content) > BATCH_CHARS
            or time.monotonic() - batch.begun > _BATCH_SECONDS
            or identifier in batch.sources
        ):
            await self._pass_on()
        batch = self._batch = self._batch or Batch(tools)
        read.seen.add(identifier)
        batch.documents.append(document)
        batch.sources[identifier] = read.source_id
        batch.chars += len(document.content)

    async def _pass_on(self) -> None:
        """Hand what was collected to the next stage, if there is anything."""
        if (batch := self._batch) is not None:
            self._batch = None
            self._on_the_way += 1
            await self._loaded.put(batch)

    def _leaves_batch(self) -> bool:
        """Return whether to leave a batch to the next run, because this one is stopping and finishes another batch."""
        return self._late and self._on_the_way > 1

    @property
    def _backlog(self) -> int:
        """Number of parts that this process has yet to write."""
        return self._to_write + self._writing

    async def _prepare(self) -> None:
        while (batch := await self._loaded.get()) is not None:
            if self._leaves_batch():
                self._on_the_way -= 1
                continue
            if new := set(batch.sources.values()) - self._there:
                await self._client.ensure_sources(self._sources[identifier] for identifier in new)
                self._there |= new
            changed = await batch.tools.state.changed(
                batch.documents, batch.sources, self._touched, repeated=self._several
            )
            self._count_unchanged(changed.unchanged)
            for identifier in changed.again:
                self._again.setdefault(batch.sources[identifier], []).append(identifier)
            self._to_replace |= changed.replaced
            if not changed.documents:
                self._tell()
            for part in self._parts_of(changed.documents):
                if self._leaves_batch():
                    break
                self._on_the_way += 1
                self._workbench.announce(batch.tools.cutter, part)
                await self._ahead.put(Part(batch.tools.cutter, part, batch.sources))
            self._on_the_way -= 1
        await self._ahead.put(None)

    def _parts_of(self, documents: list[Document]) -> Iterator[list[Document]]:
        start = 0
        while start < len(documents):
            yield documents[start : start + self._part_documents]
            start += self._part_documents
            self._part_documents = min(2 * self._part_documents, BATCH_DOCUMENTS)

    async def _cut_ahead(self, group: asyncio.TaskGroup) -> None:
        while (part := await self._ahead.get()) is not None:
            if self._leaves_batch():
                self._on_the_way -= 1
                continue
            # Not awaited here: the next part is requested while the other process works on this one.
            cut = self._cut_each(part.cutter, part.documents, part.sources)
            await self._cut.put((group.create_task(cut), part.cutter.splitter))
        await self._cut.put(None)

    async def _cut_each(self, cutter: Cutter, documents: list[Document], sources: Mapping[str, str]) -> list[Prepared]:
        """Cut documents together, or one by one if one of them is refused."""
        try:
            prepared = await self._workbench.cut(cutter, documents, sources, backlog=self._backlog)
            self._report.warnings += prepared.warnings
            return [prepared]
        except InvalidInputError as error:
            if len(documents) == 1:
                self._report.fail(documents[0].path, str(error))
                return []
        return [part for document in documents for part in await self._cut_each(cutter, [document], sources)]

    async def _embed(self) -> None:
        while (item := await self._cut.get()) is not None:
            cut, splitter = item
            for part in await cut:
                if self._leaves_batch():
                    break
                for embedded in await self._embed_each(part, splitter):
                    self._on_the_way += 1
                    self._to_write += 1
                    await self._embedded.put(embedded)
            self._on_the_way -= 1
        await self._embedded.put(None)

    async def _embed_each(self, part: Prepared, splitter: TextSplitter) -> list[Prepared]:
        """Embed chunks together, or document by document if one of them is refused."""
        try:
            await self._preparer.embed(part, backlog=self._backlog)
        except EmbeddingInputError as error:
            if len(part.rows) > 1:
                return [good for single in part.split() for good in await self._embed_each(single, splitter)]
            texts = [chunk.properties["content"] for chunk in part.rows[0].chunks]
            if not splitter.exceeds_size(texts):
                self._report.fail(part.rows[0].properties["path"], str(error))
                return []
            await self._preparer.embed(part, in_pieces=True)
        return [part]

    async def _write(self) -> None:
        async with contextlib.AsyncExitStack() as removing:
            while (part := await self._embedded.get()) is not None:
                self._to_write -= 1
                self._writing = True
                # The last one is always written: with a slow provider it is the only one, and its vectors are paid for.
                if not (self._late and self._to_write):
                    await self._make_room(part, removing)
                    shared = (await self._client.connect()).capabilities.shared
                    for some in [part] if shared else part.split(_CHUNKS_AT_ONCE):
                        await self._write_each(some)
                        self._tell()
                self._writing = False
                self._on_the_way -= 1

    async def _make_room(self, part: Prepared, removing: contextlib.AsyncExitStack) -> None:
        """Let an embedded graph prepare, until the end of the run, for all texts that the run has replaced so far."""
        rows = [row for row in part.rows if row.id in self._to_replace]
        if not rows:
            return
        self._to_replace.difference_update(row.id for row in rows)

        async def replaced(label: Label) -> int:
            number = await self._client.replaced_texts(label, rows)
            self._replaced[label] += number
            return self._replaced[label] if number else 0

        await removing.enter_async_context(self._client.removing_texts(replaced))

    async def _write_each(self, part: Prepared) -> None:
        """Write documents together, or one by one if the graph refuses one of them."""
        try:
            await self._write_part(part)
        except (InvalidInputError, QueryError) as error:
            if len(part.rows) == 1:
                self._report.fail(part.rows[0].properties["path"], str(error))
                return
            for single in part.split():
                await self._write_each(single)

    async def _write_part(self, part: Prepared) -> None:
        sources = [self._sources[identifier] for identifier in {row.source_id: None for row in part.rows} if identifier]
        outcome = await self._client.write_documents(part.rows, self._vector_store, sources)
        while outcome.missing_vectors:
            # Meanwhile another client removed the last document that used these texts.
            await self._preparer.embed_again(part, outcome.missing_vectors)
            outcome = await self._client.write_documents(part.rows, self._vector_store, sources)
        self._report.documents.added += len(outcome.added)
        self._report.documents.updated += len(outcome.updated)
        self._count_unchanged(list(outcome.unchanged))
        written = part.without(outcome.unchanged)
        chunks = sum(len(row.chunks) for row in written.rows)
        self._report.chunks += chunks
        self._report.vectors.embedded += written.embedded
        self._report.vectors.reused += chunks - written.embedded

    def _count_unchanged(self, ids: Sequence[str]) -> None:
        """Count unchanged documents, each only once even if several sources have it."""
        self._report.documents.unchanged += len(set(ids) - self._counted)
        self._counted.update(ids)

    def _tell(self) -> None:
        self._progress(self._report)
