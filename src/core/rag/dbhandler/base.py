"""The basis of all operation groups of the client: the store, which is opened on first use, and the namespace."""

from __future__ import annotations

import copy
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from types import TracebackType
from typing import Any, Self

from core.rag.arguments import check_kind, check_number, check_optional, check_text, check_texts
from core.rag.dbhandler.batches import MAX_ROWS, batches
from core.rag.dbhandler.documents.indexed import INDEXED
from core.rag.dbhandler.gate import WriterGate
from core.rag.dbhandler.store import DEFAULT_POOL_SIZE, GraphStore, Row, Transaction, open_store
from core.rag.dbhandler.versions import mark_version, stored_version
from core.rag.embedder.base import EmbeddingService
from core.rag.errors import InvalidInputError, StoreUnavailableError
from core.rag.schema import SCHEMA_VERSION, Label, TextIndex, VectorIndex
from core.rag.settings import Settings, settings_for

MAX_NAMESPACE_CHARS = 200

#: On a server, a vector index is looked for again after so many seconds: another client may drop it with its namespace.
_KNOWN_SECONDS = 30.0


class ClientBase:
    """The connection of a client: one graph, one namespace, optionally an embedder."""

    def __init__(
        self,
        uri: str | None = None,
        username: str | None = None,
        password: str | None = None,
        max_connection_pool_size: int = DEFAULT_POOL_SIZE,
        *,
        namespace: str | None = None,
        embedder: EmbeddingService | None = None,
        settings: Settings | None = None,
        check_model: bool = True,
        create: bool = True,
    ) -> None:
        """Create a client; the graph is opened by the first call, or by :meth:`connect`.

        Args:
            uri: ``embedded:PATH``, ``bolt://HOST:7687`` …; ``None``: ``MEMGRAPH_URI``, else the embedded default.
            username: For a server; ``None``: ``MEMGRAPH_USERNAME``.
            password: For a server; ``None``: ``MEMGRAPH_PASSWORD``.
            max_connection_pool_size: Maximum number of connections to a server. With the default value,
                ``MGRAG_MAX_CONNECTIONS`` takes precedence if it is set.
            namespace: The namespace to read and write; ``None``: ``MGRAG_NAMESPACE``, else ``default``.
            embedder: Embeds texts; without one, callers pass embeddings.
            settings: ``None``: read from the environment.
            check_model: Refuse to search with an embedder of another model than that of the namespace; otherwise,
                its vectors are left out.
            create: Whether a missing embedded graph may be created.

        Raises:
            InvalidInputError: if the namespace is not allowed, or another argument has the wrong type or value.
            ConfigurationError: if the settings are invalid.
        """
        check_optional(username=username, password=password)
        if uri is not None and not isinstance(uri, str):
            raise InvalidInputError(
                f"uri must be text, such as 'embedded:graph.grafeo' or 'bolt://localhost:7687', not"
                f" {type(uri).__name__}."
            )
        if embedder is not None and not isinstance(embedder, EmbeddingService):
            raise InvalidInputError(
                f"embedder must be an EmbeddingService, not {type(embedder).__name__}: core.rag.open_embedder makes"
                " one from the name of a model."
            )
        connections = check_number("max_connection_pool_size", max_connection_pool_size, 1)
        self._settings = settings_for(settings)
        self._uri = uri
        self._username = username
        self._password = password
        self._max_connection_pool_size = None if connections == DEFAULT_POOL_SIZE else connections
        self._namespace = check_namespace(self._settings.namespace if namespace is None else namespace)
        self._embedder = embedder
        self._check_model = check_model
        self._may_create = create
        self._store: GraphStore | None = None
        self._closed = False
        self._opening = WriterGate()
        self._unmarked = False  # whether the graph does not record yet which version of this package wrote it
        # The indexes that are known to exist, those of vectors with the time of the look. Shared with the clients for
        # other namespaces, so that each of them knows when another one has dropped them.
        self._text_indexes: set[TextIndex] = set()
        self._vector_indexes: dict[VectorIndex, float] = {}

    @property
    def namespace(self) -> str:
        """The namespace that this client reads and writes."""
        return self._namespace

    @property
    def settings(self) -> Settings:
        """The settings of this client."""
        return self._settings

    @property
    def embedder(self) -> EmbeddingService | None:
        """The embedding service of this client, if it has one."""
        return self._embedder

    async def connect(self) -> GraphStore:
        """Open the graph unless it is open, and make sure that its constraints and indexes exist.

        Returns:
            The store, for custom statements.

        Raises:
            StoreUnavailableError: if the graph cannot be opened or was written by a newer version of this package, or
                if this client was closed.
            NotFoundError: if the graph does not exist and must not be created.
        """
        if self._store is not None:  # also while it is being closed: a transaction that this waits for may read
            return self._store
        async with self._opening.hold():
            if self._closed:
                raise StoreUnavailableError("This client is closed; create a new one.")
            if self._store is None:
                store = await open_store(
                    self._uri,
                    username=self._username,
                    password=self._password,
                    max_connection_pool_size=self._max_connection_pool_size,
                    settings=self._settings,
                    create=self._may_create,
                )
                try:
                    self._unmarked = await stored_version(store) < SCHEMA_VERSION
                    await store.ensure_schema()
                except BaseException:
                    await store.close()
                    raise
                self._store = store
        return self._store

    def in_namespace(self, namespace: str) -> Self:
        """Return a client for another namespace of the same graph; it shares the connection and need not be closed.

        Raises:
            StoreUnavailableError: if this client is not connected.
        """
        if self._store is None:
            raise StoreUnavailableError("Connect this client before you call in_namespace.")
        other = copy.copy(self)
        other._namespace = check_namespace(namespace)
        return other

    async def close(self) -> None:
        """Close the graph. Safe to call twice; call it again if it was cancelled while it waited for a write."""
        async with self._opening.hold():
            self._closed = True
            if self._store is not None:
                await self._store.close()
                self._store = None

    async def __aenter__(self) -> Self:
        await self.connect()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.close()

    async def check(self) -> None:
        """See :meth:`core.rag.dbhandler.store.GraphStore.check`."""
        await (await self.connect()).check()

    async def read(self, statement: str, **parameters: Any) -> list[Row]:
        """Run a reading statement; ``$namespace`` is always set."""
        store = await self.connect()
        return await store.run(statement, {"namespace": self._namespace, **parameters})

    @asynccontextmanager
    async def removing_texts(self, number: Callable[[Label], Awaitable[int]]) -> AsyncIterator[None]:
        """Let an embedded graph prepare for the removal of texts of documents; see ``GraphStore.removing_texts``.

        Args:
            number: Returns how many texts with a label are removed meanwhile.
        """
        graph = await self.connect()
        async with AsyncExitStack() as removing:
            for label in INDEXED:
                index = TextIndex(label, self._namespace)
                await removing.enter_async_context(graph.removing_texts(index, partial(number, label)))
            yield

    async def read_for_ids(
        self, statement: str, ids: Iterable[str], *, at_once: int = MAX_ROWS, **parameters: Any
    ) -> list[Row]:
        """Run a reading statement for ids, in batches.

        Args:
            statement: Contains ``UNWIND $ids AS i``.
            ids: Any number; repeated ids are read once, and nothing is run if it is empty.
            at_once: Number of ids in a batch.
            parameters: Further parameters of the statement.

        Returns:
            The rows of all batches.
        """
        parts = batches(list(dict.fromkeys(check_texts("ids", ids))), max_rows=at_once)
        return [row for part in parts for row in await self.read(statement, ids=part, **parameters)]

    async def read_for_pairs(
        self, statement: str, pairs: Iterable[tuple[str, str]], *, at_once: int = MAX_ROWS
    ) -> list[Row]:
        """Run a reading statement for pairs of ids, ``row.a`` and ``row.b`` of ``$rows``; see :meth:`read_for_ids`."""
        rows = [{"a": a, "b": b} for a, b in dict.fromkeys(pairs)]
        return [row for part in batches(rows, max_rows=at_once) for row in await self.read(statement, rows=part)]

    async def read_together(
        self,
        match: str,
        columns: Mapping[str, str],
        ids: Iterable[str] | None,
        *,
        at_once: int = MAX_ROWS,
        **parameters: Any,
    ) -> list[Row]:
        """Return what :meth:`read_lists` does, as rows.

        Args:
            match: The part of a statement between ``UNWIND $ids AS i`` and ``RETURN``.
            columns: What is returned, by the names that it has in the rows.
            ids: Any number; repeated ids are read once, and nothing is run if it is empty. ``None``: it needs none.
            at_once: Number of ids in a batch.
            parameters: Further parameters of the statement.
        """
        found = await self.read_lists(match, columns.values(), ids, at_once=at_once, **parameters)
        return [dict(zip(columns, values, strict=True)) for values in found]

    async def read_lists(
        self,
        match: str,
        columns: Iterable[str],
        ids: Iterable[str] | None,
        *,
        at_once: int = MAX_ROWS,
        **parameters: Any,
    ) -> list[list[Any]]:
        """Return the values of what matches for each id as ``i``, which a server sends as one record.

        To take a record apart takes the driver 30 µs, whatever it holds: for hundreds of rows, longer than the server
        needs to find them (50,000: 2 s, as one record 0.05). And to make rows of thousands of lists takes milliseconds.

        Args:
            match: The part of a statement between ``UNWIND $ids AS i`` and ``RETURN``.
            columns: What is returned.
            ids: Any number; repeated ids are read once, and nothing is run if it is empty. ``None``: it needs none.
            at_once: Number of ids in a batch.
            parameters: Further parameters of the statement.
        """
        statement = f"{match} RETURN collect([{', '.join(columns)}]) AS found"
        if ids is None:
            records = await self.read(statement, **parameters)
        else:
            records = await self.read_for_ids(f"UNWIND $ids AS i {statement}", ids, at_once=at_once, **parameters)
        return [values for record in records for values in record["found"]]

    async def _ensure_vector_index(self, index: VectorIndex) -> None:
        """Make sure that an index exists before its nodes are written; does not wait long, see :meth:`_text_label`."""
        store = await self.connect()
        now, found = time.monotonic(), self._vector_indexes.get(index)
        if found is not None and (not store.capabilities.shared or now - found < _KNOWN_SECONDS):
            return
        if await store.ensure_vector_index(index, patient=False):
            self._vector_indexes[index] = now

    async def _write[T](self, work: Callable[[Transaction], Awaitable[T]]) -> T:
        """Run a unit of work that is safe to repeat."""
        store = await self.connect()
        if self._unmarked:  # not on opening, because reading must not change a graph
            await store.transaction(mark_version)
            self._unmarked = False
        return await store.transaction(work)

    async def _write_one(self, statement: str, **parameters: Any) -> list[Row]:
        """Run one statement that is safe to repeat, as a transaction; ``$namespace`` is always set."""
        return await self._write(lambda tx: tx.run(statement, {"namespace": self._namespace, **parameters}))

    async def _text_label(self, label: Label, *, patient: bool = False) -> str:
        """Return the ``:Label`` that nodes with ``terms`` need to be indexed, or an empty string.

        The index exists afterwards, unless a server cannot create it now; see ``GraphStore.ensure_text_index``. By
        default it does not wait long: a transaction that another client leaves open may block it, and the next write
        tries again.
        """
        store = await self.connect()
        index = TextIndex(check_kind("label", label, Label), self._namespace)
        # A server may have lost entries since; its store knows when to look.
        known = index in self._text_indexes and not store.capabilities.shared
        if not known and await store.ensure_text_index(index, patient=patient):
            self._text_indexes.add(index)
        return f":{index.partition}" if store.capabilities.text_index_per_namespace else ""


def check_namespace(namespace: str) -> str:
    """Check the name of a namespace.

    Raises:
        InvalidInputError: unless it has 1 to 200 characters, without control characters, and without spaces at either
            end, which would be invisible.
    """
    check_text("A namespace", namespace)
    blank = namespace != namespace.strip()
    if not namespace or blank or len(namespace) > MAX_NAMESPACE_CHARS or not namespace.isprintable():
        raise InvalidInputError(
            f"The namespace {namespace[:50]!r} is not allowed: use 1 to {MAX_NAMESPACE_CHARS} printable characters,"
            " without blanks at the ends."
        )
    return namespace
