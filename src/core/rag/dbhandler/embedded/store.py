"""The embedded store: Grafeo in this process, with the guards that make it safe for somebody's only copy.

ADR 2 lists what is guarded against, each seen on Grafeo 0.6.
"""

from __future__ import annotations

import asyncio
import logging
import os
import random
import sys
import time
import weakref
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

from core.rag.dbhandler.checks import check_k, check_parameters, check_path, check_reading, check_terms
from core.rag.dbhandler.commits import Commits
from core.rag.dbhandler.embedded import dialect, engine
from core.rag.dbhandler.embedded.commitlog import CommitLog
from core.rag.dbhandler.embedded.keywords import KeywordIndexes
from core.rag.dbhandler.embedded.opening import Opened, open_file
from core.rag.dbhandler.embedded.transaction import EmbeddedTransaction
from core.rag.dbhandler.embedded.vector_table import VectorTables, log_failure
from core.rag.dbhandler.embedded.word_scores import WordScores
from core.rag.dbhandler.finishing import finish
from core.rag.dbhandler.gate import WriterGate
from core.rag.dbhandler.misuse import closed
from core.rag.dbhandler.nesting import outermost
from core.rag.dbhandler.scan import scan_text, scan_words
from core.rag.dbhandler.store import Capabilities, Match, Parameters, Row, Transaction
from core.rag.dbhandler.vector_checks import check_vector
from core.rag.errors import StoreConflictError, StoreError, StoreFullError, StoreReadOnlyError, StoreUnavailableError
from core.rag.schema import Label, TextIndex, VectorIndex, check_name
from core.rag.settings import Settings, settings_for

_READERS = 4
_WRITERS = 2  # one runs the statements of a transaction while the other stores the commit before
_FIRST_RETRY_SECONDS = 0.02

_logger = logging.getLogger("mgrag")
_open_stores: weakref.WeakSet[EmbeddedStore] = weakref.WeakSet()


def _keep_handles_after_fork() -> None:
    """In a forked child: never let a handle be closed, which would delete the log that the parent writes to."""
    for store in list(_open_stores):
        engine.never_close(store._db)


if hasattr(os, "register_at_fork"):  # not on Windows
    os.register_at_fork(after_in_child=_keep_handles_after_fork)


class EmbeddedStore:
    """A :class:`~core.rag.dbhandler.store.GraphStore` on a file of this machine, or in memory."""

    def __init__(self, db: Any, path: Path | None, *, sync: bool, retry_deadline: float, read_only: str = "") -> None:
        self._db = db
        self._closed = False
        self._path = path
        self._read_only = read_only
        self._checkpoints = False
        self._committed = False
        self._log = CommitLog(path, every_commit=sync) if path is not None and not read_only else None
        self._vectors = VectorTables()
        self._words = WordScores()
        self._keywords = KeywordIndexes(self, self._words, can_write=not read_only)
        self._commits = Commits()
        self._retry_deadline = retry_deadline
        self._pid = os.getpid()
        self._gate = WriterGate()
        # Apart, so that slow queries do not hold up a transaction.
        self._readers = ThreadPoolExecutor(_READERS, thread_name_prefix="mgrag-read")
        self._writers = ThreadPoolExecutor(_WRITERS, thread_name_prefix="mgrag-write")
        self._capabilities = Capabilities(
            engine="grafeo",
            version=str(db.info().get("version", "")),
            location=str(path) if path is not None else ":memory:",
            vector_search=True,
            text_search=True,
            text_index_per_namespace=True,
            shared=False,
            read_only=bool(read_only),
            notes=(read_only,) if read_only else (),
        )
        _open_stores.add(self)

    @classmethod
    async def open(cls, path: str, *, settings: Settings | None = None, create: bool = True) -> EmbeddedStore:
        """Open or create a graph. One that cannot be written, for want of permission or room, is opened for reading.

        Args:
            path: A file path, or ``:memory:`` for a graph that is gone with the process.
            settings: For ``read_only``, ``sync_every_commit``, ``retry_deadline`` and ``lock_timeout``; ``None``: read
                from the environment.
            create: Whether it may be created.

        Raises:
            StoreLockedError: if another process has it open beyond ``lock_timeout``, or this one has already.
            StoreDamagedError: if the file is damaged.
            StoreReadOnlyError: if this user may not write to it, and cannot read all of it without.
            StoreFullError: if there is no room for its log, and it cannot be read without.
            StoreUnavailableError: if it cannot be opened for another reason (no graph, a folder).
            NotFoundError: if there is none, and it must not be created.
        """
        settings = settings_for(settings)
        file = None if path == ":memory:" else engine.graph_file(path)
        if file is None:
            opened = Opened(engine.open_engine(None))
        else:
            opened = await open_file(
                file, settings.lock_timeout, reading=settings.read_only, create=create, is_open_here=_is_open
            )
        return cls(
            opened.db,
            file,
            sync=settings.sync_every_commit,
            retry_deadline=settings.retry_deadline,
            read_only=opened.read_only,
        )

    @property
    def capabilities(self) -> Capabilities:
        """See :class:`~core.rag.dbhandler.store.GraphStore`."""
        return self._capabilities

    @property
    def path(self) -> Path | None:
        """The graph file; ``None`` in memory."""
        return self._path

    async def run(self, statement: str, parameters: Parameters | None = None) -> list[Row]:
        """See :class:`~core.rag.dbhandler.store.GraphStore`."""
        check_reading(statement)
        check_parameters(parameters or {})
        return await self.reading(lambda db: engine.rows(db, statement, parameters), "A query")

    async def transaction[T](self, work: Callable[[Transaction], Awaitable[T]]) -> T:
        """See :class:`~core.rag.dbhandler.store.GraphStore`. One at a time in this process.

        Raises:
            StoreError: also when called by the work of another transaction, or a task of it: it would wait for itself.
        """
        deadline = time.monotonic() + self._retry_deadline
        delay = _FIRST_RETRY_SECONDS
        while True:
            self._check_usable("A transaction")
            try:
                async with self._turn():
                    result, number = await self._attempt(work)
                break
            except StoreConflictError:
                if time.monotonic() + delay > deadline:
                    raise
            await asyncio.sleep(delay * random.uniform(0.5, 1.5))  # noqa: S311
            delay = min(2 * delay, 1.0)
        if (log := self._log) is not None:
            # Outside of the gate: the next transaction may run meanwhile. Its commit is behind this one in the log.
            await self._writing(lambda _: log.acknowledge(number), "Storing a commit")
        return result

    async def _attempt[T](self, work: Callable[[Transaction], Awaitable[T]]) -> tuple[T, int]:
        transaction = EmbeddedTransaction(self._begin, self._writing, self._vectors, self._words, self._commits)

        def commit(db: Any) -> int:
            transaction.commit(db)
            self._committed = True
            return self._log.written() if self._log is not None else 0

        try:
            await self._writing(transaction.begin, "Beginning a transaction")
            result = await work(transaction)
            return result, await self._writing(commit, "A commit")
        except BaseException as error:
            # Also on cancellation: a later commit must never write what a failed unit of work left behind.
            try:
                await self._writing(transaction.roll_back, "A rollback")
            except StoreError as second:
                error.add_note(f"The rollback failed, too: {second}")
            raise

    def _begin(self, db: Any) -> Any:
        """Begin; the first writing transaction of a file also turns its checkpoints on."""
        if self._read_only:
            raise StoreReadOnlyError(self._read_only)
        if self._log is not None:
            self._log.check()
            if not self._checkpoints:
                engine.start_checkpoints(db)
                self._checkpoints = True
        return db.begin_transaction()

    async def check(self) -> None:
        """See :class:`~core.rag.dbhandler.store.GraphStore`. One for reading only has to be open."""
        await self.reading(lambda _: self._log.check() if self._log else None, "A look at the graph")

    def commits(self, labels: Collection[Label]) -> int:
        """See :class:`~core.rag.dbhandler.store.GraphStore`."""
        return self._commits.of(labels)

    @asynccontextmanager
    async def undisturbed(self) -> AsyncIterator[None]:
        """See :class:`~core.rag.dbhandler.store.GraphStore`."""
        self._check_usable("Reading")
        async with self._turn():
            yield

    async def ensure_schema(self) -> None:
        """See :class:`~core.rag.dbhandler.store.GraphStore`."""

        def ensure(db: Any) -> None:
            for statement in dialect.schema_statements():
                engine.rows(db, statement, None)

        if self._read_only:
            return
        try:
            await self.exclusively(ensure, "Creating the schema")
        except StoreFullError:
            # A graph that holds nodes has had its schema since before the first of them, and can be read.
            if not await self.reading(lambda db: db.node_count, "Counting nodes"):
                raise

    async def ensure_text_index(self, index: TextIndex, *, patient: bool = True) -> bool:  # noqa: ARG002
        """See :class:`~core.rag.dbhandler.store.GraphStore`. While texts are removed, it is left for later."""
        await self._keywords.ensure(index)
        return True

    async def has_vector_index(self, index: VectorIndex) -> bool:  # noqa: ARG002
        """See :class:`~core.rag.dbhandler.store.GraphStore`. There is none that could be missing."""
        return True

    async def drop_text_index(self, index: TextIndex) -> None:
        """See :class:`~core.rag.dbhandler.store.GraphStore`."""
        if self._read_only:  # the engine would drop it in memory, and searches would find nothing
            raise StoreReadOnlyError(self._read_only)
        await self._keywords.drop(index)

    def removing_texts(
        self, index: TextIndex, number: Callable[[], Awaitable[int]]
    ) -> AbstractAsyncContextManager[None]:
        """See :class:`~core.rag.dbhandler.store.GraphStore`."""
        return self._keywords.removing(index, number)

    async def ensure_vector_index(self, index: VectorIndex, *, patient: bool = True) -> bool:  # noqa: ARG002
        """See :class:`~core.rag.dbhandler.store.GraphStore`. Nothing is created: vectors are compared exactly."""
        check_name(index.label)
        await self.reading(lambda db: dialect.check_dimension(db, index), f"Looking at the vectors of {index.name}")
        return True

    async def drop_vector_index(self, index: VectorIndex) -> None:
        """Nothing to drop."""
        check_name(index.label)

    async def text_search(self, index: TextIndex, terms: Mapping[str, float], k: int) -> list[Match]:
        """See :class:`~core.rag.dbhandler.store.GraphStore`."""
        k = check_k(k)
        if not (terms := check_terms(terms)):
            return []
        found = await self._keywords.search(index, terms, k)
        return await scan_text(self, index, terms, k) if found is None else found

    async def known_words(self, index: TextIndex, words: Collection[str]) -> set[str]:
        """See :class:`~core.rag.dbhandler.store.GraphStore`."""
        found = await self._keywords.known(index, words)
        return await scan_words(self, index, words) if found is None else found

    async def vector_search(self, index: VectorIndex, query: Sequence[float], k: int) -> list[Match]:
        """See :class:`~core.rag.dbhandler.store.GraphStore`."""
        check_name(index.label)
        k = check_k(k)
        vector = check_vector(query, index.dimension)
        tables = self._vectors
        found = await self.reading(lambda db: tables.search(db, index, vector, k), "A vector search")
        if tables.is_due(index.label):
            # Nobody waits for it: if it fails, searches go on without.
            work = self._submit(self._readers, lambda db: tables.load(db, index), "Reading vectors")
            work.add_done_callback(log_failure)
        return [Match(identifier, score) for identifier, score in found]

    async def shortest_path(
        self, start_id: str, end_id: str, *, edge_types: Sequence[str], max_depth: int, namespace: str
    ) -> list[str] | None:
        """See :class:`~core.rag.dbhandler.store.GraphStore`."""
        types = check_path(edge_types, max_depth)
        return await self.reading(
            lambda db: dialect.shortest_path(db, start_id, end_id, types, max_depth, namespace), "A shortest path"
        )

    async def check_indexes(self, *, repair: bool = False) -> list[str]:
        """See :class:`~core.rag.dbhandler.store.GraphStore`."""
        return await self.exclusively(
            lambda db: dialect.check_text_indexes(db, repair=repair), "Checking the keyword indexes"
        )

    async def close(self) -> None:
        """Write a checkpoint and let go of the file.

        Raises:
            StoreError: if the checkpoint could not be written (on a full disk only where something was committed, so
                that what was read there is of use), or where what was committed went with a file that was removed.
        """
        if self._closed:
            return
        self._check_usable("Closing")
        failed = sys.exception() is not None  # closing after an error
        async with self._turn():
            if self._db is None:  # closed while this one waited
                return
            self._closed = True
            handles, self._db = [self._db], None
            fault, end = "", engine.close_engine
            if self._log is not None:
                fault = self._log.fault() if self._committed else ""
                end = engine.abandon_engine if self._log.is_replaced() else end
                self._log.stop()
            try:
                await finish(asyncio.wrap_future(self._writers.submit(end, handles)))
            except StoreFullError as error:
                if self._committed:
                    raise
                _logger.log(logging.INFO if failed else logging.WARNING, "%s", error)
            except StoreError:
                if not fault:  # else that is why
                    raise
            finally:
                _open_stores.discard(self)
                self._vectors.stop()
                self._readers.shutdown(wait=False)
                self._writers.shutdown(wait=False)
            if fault:
                raise StoreUnavailableError(
                    f"{fault}: what was stored in it since may be lost. Look at the graph where it is now (mgrag"
                    " status), and put in again what is missing."
                )

    async def exclusively[T](
        self, function: Callable[[Any], T], what: str, hurry: Callable[[], object] | None = None
    ) -> T:
        """Call the engine itself while no transaction is open; for maintenance that no statement can express.

        Args:
            function: Receives the engine.
            what: What is being done, for messages.
            hurry: See :func:`core.rag.dbhandler.finishing.finish`.
        """
        self._check_usable(what)

        def work(db: Any) -> T:
            try:
                with self._words.changing(None):
                    return function(db)
            finally:
                self._commits.note(None)

        async with self._turn():
            return await self._writing(work, what, hurry)

    async def reading[T](self, function: Callable[[Any], T], what: str) -> T:
        """Call the engine in a worker thread; a cancelled caller does not wait for the rest."""
        return await asyncio.wrap_future(self._submit(self._readers, function, what))

    @asynccontextmanager
    async def _turn(self) -> AsyncIterator[None]:
        """Wait until nobody else writes, and let nobody write inside of the ``async with``."""
        with outermost(self):
            async with self._gate.hold():
                yield

    async def _writing[T](
        self, function: Callable[[Any], T], what: str, hurry: Callable[[], object] | None = None
    ) -> T:
        """Call the engine in a worker thread, and wait for it even when cancelled: it cannot be interrupted."""
        return await finish(asyncio.wrap_future(self._submit(self._writers, function, what)), hurry)

    def _submit[T](self, threads: ThreadPoolExecutor, function: Callable[[Any], T], what: str) -> Future[T]:
        self._check_usable(what)
        try:
            return threads.submit(engine.call, function, self._db, what)
        except RuntimeError as error:  # closed by another thread, or the interpreter is about to end
            raise closed(what) from error

    def _check_usable(self, what: str) -> None:
        if self._closed:
            raise closed(what)
        if self._pid != os.getpid():
            raise StoreUnavailableError(
                "The graph was opened in the parent of this process. An embedded graph belongs to one process: open it"
                " after forking, start helpers with the 'spawn' method, or use a Memgraph server (bolt://)."
            )


def _is_open(file: Path) -> bool:
    """Return whether a store of this process has the file open."""
    return any(store._path == file and not store._closed for store in list(_open_stores))
