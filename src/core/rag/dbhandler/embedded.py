"""The embedded store: Grafeo in this process, with the guards that make it fit to hold somebody's only copy.

What is guarded against, each seen on Grafeo 0.6: commits that are not yet on the disk, forked children that delete the
write-ahead log of their parent, two writers that both succeed, failed transactions that linger, parameters that change
their type, and use after closing.
"""

from __future__ import annotations

import asyncio
import ctypes
import os
import random
import time
import weakref
from collections.abc import Awaitable, Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from core.rag.dbhandler import grafeo as dialect
from core.rag.dbhandler.gate import WriterGate
from core.rag.dbhandler.store import (
    Capabilities,
    Match,
    Parameters,
    Row,
    Transaction,
    check_k,
    check_parameters,
    check_vector,
)
from core.rag.errors import (
    BackupError,
    StoreConflictError,
    StoreDamagedError,
    StoreError,
    StoreLockedError,
    StoreUnavailableError,
)
from core.rag.schema import TextIndex, VectorIndex, check_name

if TYPE_CHECKING:
    import numpy as np

    from core.rag.settings import Settings

_READERS = 4
_CHECKPOINT_SECONDS = 60
_CHECKPOINT_WAL_BYTES = 64 << 20
_FIRST_RETRY_SECONDS = 0.02

_open_stores: weakref.WeakSet[EmbeddedStore] = weakref.WeakSet()


def _keep_handles_after_fork() -> None:
    """In a forked child: never let a handle be closed, which would delete the log that the parent writes to."""
    for store in list(_open_stores):
        if store._db is not None:
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(store._db))


os.register_at_fork(after_in_child=_keep_handles_after_fork)


class EmbeddedStore:
    """A :class:`~core.rag.dbhandler.store.GraphStore` on a file of this machine, or in memory."""

    def __init__(self, db: Any, path: Path | None, *, sync: bool, retry_deadline: float) -> None:
        self._db = db
        self._path = path
        self._sync = sync and path is not None
        self._retry_deadline = retry_deadline
        self._pid = os.getpid()
        self._gate = WriterGate()
        self._threads = ThreadPoolExecutor(_READERS + 1, thread_name_prefix="mgrag-grafeo")
        self._samples: dict[str, np.ndarray[Any, Any]] = {}
        info = db.info()
        self._capabilities = Capabilities(
            engine="grafeo",
            version=str(info.get("version", "")),
            location=str(path) if path is not None else ":memory:",
            vector_search=True,
            text_search=True,
            text_index_per_namespace=True,
            shared=False,
        )
        _open_stores.add(self)

    @classmethod
    async def open(cls, path: str, *, settings: Settings | None = None) -> EmbeddedStore:
        """Open or create a graph.

        Args:
            path: A file path, or ``:memory:`` for a graph that is gone with the process.
            settings: For ``sync_every_commit`` and ``retry_deadline``; ``None``: the defaults.

        Raises:
            StoreLockedError: when another process has it open.
            StoreDamagedError: when the file is not a graph, or is damaged.
            StoreUnavailableError: when it cannot be opened for another reason (a folder, no permission).
        """
        sync = settings.sync_every_commit if settings else True
        deadline = settings.retry_deadline if settings else 30.0
        if path == ":memory:":
            from grafeo import GrafeoDB

            return cls(GrafeoDB(), None, sync=False, retry_deadline=deadline)
        file = Path(path).expanduser().absolute()
        db = await asyncio.to_thread(_open_file, file)
        return cls(db, file, sync=sync, retry_deadline=deadline)

    @property
    def capabilities(self) -> Capabilities:
        """See :class:`~core.rag.dbhandler.store.GraphStore`."""
        return self._capabilities

    @property
    def path(self) -> Path | None:
        """The graph file, ``None`` in memory."""
        return self._path

    async def run(self, statement: str, parameters: Parameters | None = None) -> list[Row]:
        """See :class:`~core.rag.dbhandler.store.GraphStore`."""
        check_parameters(parameters or {})
        return await self._call(lambda db: _rows(db, statement, parameters), "A query")

    async def transaction[T](self, work: Callable[[Transaction], Awaitable[T]]) -> T:
        """See :class:`~core.rag.dbhandler.store.GraphStore`. One at a time in this process."""
        deadline = time.monotonic() + self._retry_deadline
        delay = _FIRST_RETRY_SECONDS
        while True:
            try:
                async with self._gate.hold():
                    return await self._attempt(work)
            except StoreConflictError:
                if time.monotonic() + delay > deadline:
                    raise
            await asyncio.sleep(delay * random.uniform(0.5, 1.5))  # noqa: S311
            delay = min(2 * delay, 1.0)

    async def _attempt[T](self, work: Callable[[Transaction], Awaitable[T]]) -> T:
        handle = await self._call(lambda db: db.begin_transaction(), "Beginning a transaction")
        try:
            result = await work(_EmbeddedTransaction(self, handle))
        except BaseException:
            # Also on cancellation: a later commit must never write what a failed unit of work left behind.
            await self._call(lambda _: _roll_back(handle), "A rollback")
            raise
        await self._call(lambda _: self._commit(handle), "A commit")
        return result

    def _commit(self, handle: Any) -> None:
        try:
            handle.commit()
        except BaseException:
            _roll_back(handle)
            raise
        if self._sync:
            self._sync_log()

    def _sync_log(self) -> None:
        """Bring the commit to the disk; the engine itself only does so at a later one."""
        assert self._path is not None
        folder = self._path.with_name(self._path.name + ".wal")
        try:
            logs = sorted(entry.name for entry in os.scandir(folder) if entry.name.endswith(".log"))
        except FileNotFoundError:  # a checkpoint has just moved everything, synced, into the graph file
            return
        if not logs:
            return
        try:
            descriptor = os.open(folder / logs[-1], os.O_RDWR)
        except FileNotFoundError:
            return
        try:
            os.fdatasync(descriptor)
        finally:
            os.close(descriptor)

    async def ensure_schema(self) -> None:
        """See :class:`~core.rag.dbhandler.store.GraphStore`."""
        async with self._gate.hold():
            for statement in dialect.schema_statements():
                await self._call(lambda db, s=statement: _rows(db, s, None), "Creating the schema")  # type: ignore[misc]

    async def ensure_text_index(self, index: TextIndex) -> None:
        """See :class:`~core.rag.dbhandler.store.GraphStore`."""

        def ensure(db: Any) -> None:
            if not dialect.has_text_index(db, index):
                dialect.create_text_index(db, index)

        async with self._gate.hold():
            await self._call(ensure, f"Creating the keyword index of {index.label}")

    async def drop_text_index(self, index: TextIndex) -> None:
        """See :class:`~core.rag.dbhandler.store.GraphStore`."""
        async with self._gate.hold():
            await self._call(lambda db: db.drop_text_index(index.partition, "terms"), "Dropping a keyword index")

    async def ensure_vector_index(self, index: VectorIndex) -> None:
        """Nothing to create: vectors are compared exactly, by their label."""
        check_name(index.label)

    async def drop_vector_index(self, index: VectorIndex) -> None:
        """Nothing to drop."""
        self._samples.pop(index.label, None)

    async def text_search(self, index: TextIndex, terms: Mapping[str, float], k: int) -> list[Match]:
        """See :class:`~core.rag.dbhandler.store.GraphStore`."""
        check_k(k)
        if not terms:
            return []
        found = await self._call(lambda db: dialect.text_search(db, index, terms, k), "A keyword search")
        return [Match(identifier, score) for identifier, score in found]

    async def vector_search(self, index: VectorIndex, query: Sequence[float], k: int) -> list[Match]:
        """See :class:`~core.rag.dbhandler.store.GraphStore`."""
        check_k(k)
        vector = check_vector(query, index.dimension)
        found = await self._call(lambda db: self._search(db, index, vector, k), "A vector search")
        return [Match(identifier, score) for identifier, score in found]

    def _search(self, db: Any, index: VectorIndex, query: tuple[float, ...], k: int) -> list[tuple[str, float]]:
        import numpy as np

        sample = self._samples.get(index.label)
        if sample is None:
            vectors = dialect.vector_sample(db, index)
            sample = np.array([v for v in vectors if len(v) == index.dimension], dtype=np.float32)
            if len(sample) == dialect.SAMPLE_SIZE:  # a smaller one is the whole index, which still grows
                sample /= np.linalg.norm(sample, axis=1, keepdims=True)
                self._samples[index.label] = sample
        floor: float | None = None
        # Only worth it where the sample is a fair part of what would be sorted otherwise.
        if len(sample) == dialect.SAMPLE_SIZE and k <= dialect.SAMPLE_SIZE // 8:
            unit = np.asarray(query, dtype=np.float32)
            scores = sample @ (unit / np.linalg.norm(unit))
            floor = float(np.partition(scores, -k)[-k]) - 1e-5
        return dialect.vector_search(db, index, query, k, floor)

    async def shortest_path(
        self, start_id: str, end_id: str, *, edge_types: Sequence[str], max_depth: int, namespace: str
    ) -> list[str] | None:
        """See :class:`~core.rag.dbhandler.store.GraphStore`."""
        types = [check_name(name) for name in edge_types]
        return await self._call(
            lambda db: dialect.shortest_path(db, start_id, end_id, types, max_depth, namespace), "A shortest path"
        )

    async def backup(self, target: str) -> None:
        """Write a copy of the whole graph to one file that did not exist before."""
        destination = Path(target).expanduser().absolute()
        if destination.exists():
            raise BackupError(f"{destination} exists; name a file that does not.")
        if not destination.parent.is_dir():
            raise BackupError(f"The folder {destination.parent} does not exist; create it first.")
        async with self._gate.hold():
            await self._call(lambda db: db.save(str(destination)), f"A backup to {destination}")

    async def close(self) -> None:
        """Write a checkpoint and let go of the file."""
        async with self._gate.hold():
            if self._db is None:
                return
            if self._pid != os.getpid():
                raise StoreUnavailableError(_FORKED)
            db, self._db = self._db, None
            _open_stores.discard(self)
            try:
                await asyncio.get_running_loop().run_in_executor(self._threads, db.close)
            except RuntimeError as error:
                raise dialect.map_error(error, "Closing the graph") from error
            finally:
                self._threads.shutdown(wait=False)

    async def _call[T](self, function: Callable[[Any], T], what: str) -> T:
        """Call the engine in a worker thread, and wait for it even when cancelled: it cannot be interrupted."""
        if self._db is None:
            raise StoreUnavailableError(f"{what} came after the graph was closed; open it again.")
        if self._pid != os.getpid():
            raise StoreUnavailableError(_FORKED)
        future = asyncio.get_running_loop().run_in_executor(self._threads, function, self._db)
        try:
            return await asyncio.shield(future)
        except asyncio.CancelledError:
            await asyncio.wait([future])
            if not future.cancelled():
                future.exception()  # seen, so that it is not reported as lost
            raise
        except StoreError:
            raise
        except RuntimeError as error:
            raise dialect.map_error(error, what) from error


class _EmbeddedTransaction:
    def __init__(self, store: EmbeddedStore, handle: Any) -> None:
        self._store = store
        self._handle = handle

    async def run(self, statement: str, parameters: Parameters | None = None) -> list[Row]:
        check_parameters(parameters or {})
        return await self._store._call(lambda _: _rows(self._handle, statement, parameters), "A write")


_FORKED = (
    "The graph was opened in the parent of this process. An embedded graph belongs to one process: open it after"
    " forking, start helpers with the 'spawn' method, or use a Memgraph server (bolt://)."
)


def _rows(runner: Any, statement: str, parameters: Parameters | None) -> list[Row]:
    return [dict(row) for row in runner.execute_cypher(statement, dict(parameters or {}))]


def _roll_back(handle: Any) -> None:
    if handle.is_active:
        handle.rollback()


def _open_file(file: Path) -> Any:
    from grafeo import GrafeoDB

    if file.is_dir():
        raise StoreUnavailableError(f"{file} is a folder; name a file for the graph, such as {file / 'graph.grafeo'}.")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        db = GrafeoDB(str(file))
        db.set_checkpoint_triggers(interval_secs=_CHECKPOINT_SECONDS, wal_bytes=_CHECKPOINT_WAL_BYTES)
    except OSError as error:
        raise StoreUnavailableError(f"{file} cannot be opened: {error.strerror or error}.") from error
    except RuntimeError as error:
        text = str(error)
        if "locked" in text:
            raise StoreLockedError(
                f"{file} is in use by another process. Close that one, or put the graph on a Memgraph server (bolt://),"
                " which many processes can share."
            ) from error
        mapped = dialect.map_error(error, f"Opening {file}")
        if isinstance(mapped, StoreDamagedError):
            raise mapped from error
        raise StoreUnavailableError(f"{file} cannot be opened: {text.splitlines()[0]}") from error
    return cast(Any, db)
