"""The store on a Bolt server: Memgraph or Neo4j, through the neo4j package.

The driver's own retries are not used: they wait a second before the first one, and repeat only what is marked as
transient. Units of work are repeated here, whole; that a commit may have happened already is fine, since all of them
may be repeated.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext, suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from core.rag.dbhandler.bolt.address import bolt_address
from core.rag.dbhandler.bolt.defining import Defining
from core.rag.dbhandler.bolt.dialect import Dialect, IndexMissingError, plain_words, shortest_path
from core.rag.dbhandler.bolt.drivers import Drivers
from core.rag.dbhandler.bolt.greeting import check_database, greet, recognise
from core.rag.dbhandler.bolt.known import KnownIndexes
from core.rag.dbhandler.bolt.server_checks import unmarked_nodes
from core.rag.dbhandler.bolt.turns import Turns
from core.rag.dbhandler.bolt.words import WordSearch
from core.rag.dbhandler.bolt.work import (
    GRACE_SECONDS,
    BoltTransaction,
    RetryableError,
    answered,
    attempts,
    cancellable,
    rows,
    sendable,
)
from core.rag.dbhandler.checks import check_k, check_parameters, check_path, check_reading, check_terms
from core.rag.dbhandler.commits import Commits
from core.rag.dbhandler.gate import WriterGate
from core.rag.dbhandler.misuse import closed
from core.rag.dbhandler.nesting import outermost
from core.rag.dbhandler.scan import scan_search, scan_text, scan_words
from core.rag.dbhandler.store import READING_ONLY, Capabilities, Match, Parameters, Row, Transaction
from core.rag.dbhandler.vector_checks import check_vector
from core.rag.errors import StoreConflictError, StoreReadOnlyError
from core.rag.schema import Label, TextIndex, VectorIndex, check_name

if TYPE_CHECKING:
    from core.rag.settings import Settings

_log = logging.getLogger("mgrag")

#: Maximum time of a transaction in query timeouts, after which the server ends it if the client does not.
_STATEMENTS = 10

#: A longer time limit of queries than 30 years, such as an infinite one, is none, but a server takes only a number.
_LONGEST_SECONDS = 1e9

_WITHOUT_NAMESPACES = "The indexes on namespaces are missing: statements about one read the nodes of all."


class BoltStore:
    """A :class:`~core.rag.dbhandler.store.GraphStore` on a server, from any number of event loops."""

    def __init__(self, drivers: Drivers, settings: Settings) -> None:
        """Use :meth:`open`."""
        self._drivers = drivers
        self._address = drivers.address
        self._query_timeout = min(settings.query_timeout, _LONGEST_SECONDS)
        self._read_only = settings.read_only
        # Until the server is known, only the time to connect is allowed.
        self._patience = self._retry_deadline = settings.connect_timeout
        self._gate = WriterGate()
        self._defining: Defining
        self._commits = Commits()
        self._known = KnownIndexes()
        self._schema: tuple[int, float] | None = None  # the moment when it was last found complete
        self._dialect: Dialect
        self._hinted: Callable[[str], str] = str  # no hints until the server is known
        self._turns: Turns
        self._words: WordSearch
        self._capabilities: Capabilities

    @classmethod
    async def open(
        cls,
        uri: str,
        *,
        username: str | None = None,
        password: str | None = None,
        max_connection_pool_size: int = 50,
        settings: Settings,
        from_settings: bool = False,
    ) -> BoltStore:
        """Connect to a server and learn what it is.

        Args:
            uri: ``bolt://…``, ``neo4j+s://…``, or a bare host.
            username: ``None``: ``MEMGRAPH_USERNAME``.
            password: ``None``: ``MEMGRAPH_PASSWORD``.
            max_connection_pool_size: Maximum number of connections at once.
            settings: All other settings.
            from_settings: Whether the URI comes from ``MEMGRAPH_URI``, not from the caller.

        Raises:
            ConfigurationError: as :func:`bolt_address`, or if it is a server of another kind.
            StoreUnavailableError: if it cannot be reached within ``settings.connect_timeout``.
            StoreAuthError: if it refuses the user or the password.
        """
        address = bolt_address(
            uri, username=username, password=password, settings=settings, from_settings=from_settings
        )
        drivers = Drivers(address, max_connection_pool_size=max_connection_pool_size, settings=settings)
        store = cls(drivers, settings)
        try:
            agent = await greet(drivers, settings.connect_timeout)
            store._dialect = await recognise(store, agent, address, settings.force_engine)
            if store._dialect.name == "memgraph":
                await check_database(drivers, store._patience)
        except BaseException:
            await drivers.close()
            raise
        store._hinted = store._dialect.hinted
        store._turns = Turns(store._dialect.turn)
        store._words = WordSearch(store, store._dialect)
        store._patience = settings.query_timeout + min(GRACE_SECONDS, settings.query_timeout)
        store._retry_deadline = settings.retry_deadline
        store._defining = Defining(settings.retry_deadline, store._note, store._forget)
        abilities = store._dialect.abilities
        store._capabilities = Capabilities(
            engine=store._dialect.name,
            version=abilities.version,
            location=address.location,
            vector_search=abilities.vector_search,
            text_search=abilities.text_search,
            text_index_per_namespace=False,
            shared=True,
            read_only=settings.read_only,
            notes=(*abilities.notes, READING_ONLY) if settings.read_only else abilities.notes,
            problems=abilities.problems,
        )
        for note in abilities.notes:
            _log.warning("%s", note)
        return store

    @property
    def capabilities(self) -> Capabilities:
        """See :class:`~core.rag.dbhandler.store.GraphStore`."""
        return self._capabilities

    async def run(self, statement: str, parameters: Parameters | None = None) -> list[Row]:
        """See :class:`~core.rag.dbhandler.store.GraphStore`."""
        check_reading(statement)
        check_parameters(parameters or {})
        return await self.query(statement, parameters)

    async def query(self, statement: str, parameters: Parameters | None = None, what: str = "A query") -> list[Row]:
        """See :class:`~core.rag.dbhandler.bolt.dialect.Runner`."""
        self._check_open(what)
        hinted = self._hinted(statement)
        return await attempts(lambda: self._once(hinted, parameters, what, reading=True), self._retry_deadline)

    async def define(self, statement: str, what: str) -> None:
        """See :class:`~core.rag.dbhandler.bolt.dialect.Runner`."""
        self._check_open(what)
        self._check_writable()
        await attempts(
            lambda: self._once(statement, None, what, reading=False),
            self._retry_deadline,
            conflicts=self._defining.deadline,
        )

    async def _once(self, statement: str, parameters: Parameters | None, what: str, *, reading: bool) -> list[Row]:
        from neo4j import Query

        with self._known.noting_losses():
            async with self._drivers.session(reading=reading) as session:

                async def send() -> list[Row]:
                    query = Query(statement, timeout=self._query_timeout)
                    return await rows(await session.run(query, sendable(dict(parameters or {}))))

                return await answered(cancellable(session, send()), what, self._patience, self._address)

    async def transaction[T](self, work: Callable[[Transaction], Awaitable[T]]) -> T:
        """See :class:`~core.rag.dbhandler.store.GraphStore`.

        Raises:
            StoreError: also if called within the work of another transaction, or a task of it, because it could wait
                forever for the locks of that one.
        """
        self._check_open("A transaction")
        self._check_writable()
        unit = work

        async def attempt() -> T:
            nonlocal unit
            try:
                await self._look_at_schema()
                for index in self._known.doubtful():
                    await self.ensure_text_index(index, patient=False)
                if unit is not work:
                    await self._turns.prepare(self._attempt)
                with self._known.noting_losses():
                    return await self._attempt(unit)
            except RetryableError as error:
                if isinstance(error.failed.error, StoreConflictError):
                    unit = self._turns.in_turn(work)
                raise

        with outermost(self):
            return await attempts(attempt, self._retry_deadline, self._gate)

    async def _attempt[T](self, work: Callable[[Transaction], Awaitable[T]]) -> T:
        async with self._drivers.session(reading=False) as session:
            transaction = BoltTransaction(
                session,
                self._address,
                query_timeout=self._patience,
                server_timeout=self._query_timeout * _STATEMENTS,
                locking=self._dialect.locking,
                hinted=self._hinted,
            )
            try:
                return await transaction.attempt(work)
            finally:  # also if the caller is cancelled, or the connection lost, during the commit
                self._words.changed(transaction.statements)
                self._commits.note(transaction.statements)

    async def check(self) -> None:
        """See :class:`~core.rag.dbhandler.store.GraphStore`."""
        await self.run("RETURN 1 AS one")

    def commits(self, labels: Collection[Label]) -> int:
        """See :class:`~core.rag.dbhandler.store.GraphStore`."""
        return self._commits.of(labels)

    def undisturbed(self) -> AbstractAsyncContextManager[None]:
        """See :class:`~core.rag.dbhandler.store.GraphStore`."""
        return nullcontext()

    def removing_texts(
        self,
        index: TextIndex,  # noqa: ARG002
        number: Callable[[], Awaitable[int]],  # noqa: ARG002
    ) -> AbstractAsyncContextManager[None]:
        """See :class:`~core.rag.dbhandler.store.GraphStore`."""
        return nullcontext()

    async def ensure_schema(self) -> None:
        """See :class:`~core.rag.dbhandler.store.GraphStore`."""
        self._check_open("Creating the schema")
        if self._read_only:
            return
        moment = self._known.moment()
        async with self._defining.hold():
            await self._dialect.ensure_schema()
        create = self._dialect.ensure_namespace_indexes
        await self._defining.unless_busy(create, _WITHOUT_NAMESPACES, patient=False, quiet=True)
        self._schema = moment

    async def _look_at_schema(self) -> None:
        """Create the schema that is not there any more: a server that was started again may have lost everything."""
        before = self._schema
        if before is None or self._known.holds(before):
            return
        self._schema = self._known.moment()  # so that of many writers one looks
        try:
            await self.ensure_schema()
        except BaseException:
            self._schema = before
            raise

    async def ensure_text_index(self, index: TextIndex, *, patient: bool = True) -> bool:
        """See :class:`~core.rag.dbhandler.store.GraphStore`. One index serves all namespaces.

        Impatient callers, which come with every write, take one for there that was complete a moment ago.
        """
        self._check_open("Creating a keyword index")
        if not patient and index in self._known:
            return True
        moment = self._known.moment()
        there = await self._defining.unless_busy(
            lambda: self._dialect.ensure_text_index(index.label), _without_words(index), patient=patient
        )
        if there:
            self._known.add(index, moment)
        return there

    async def drop_text_index(self, index: TextIndex) -> None:  # noqa: ARG002
        """Do nothing, because other namespaces use the index, too."""
        self._check_open("Dropping a keyword index")

    async def ensure_vector_index(self, index: VectorIndex, *, patient: bool = True) -> bool:
        """See :class:`~core.rag.dbhandler.store.GraphStore`."""
        check_name(index.label)
        self._check_open("Creating a vector index")
        return await self._defining.unless_busy(
            lambda: self._dialect.ensure_vector_index(index), _without(index), patient=patient
        )

    async def has_vector_index(self, index: VectorIndex) -> bool:
        """See :class:`~core.rag.dbhandler.store.GraphStore`."""
        check_name(index.label)
        self._check_open("Looking for a vector index")
        if not self._dialect.abilities.vector_search:
            return False
        if not await self._dialect.has_vector_index(index):
            self._note(_without(index))
            return False
        return True

    async def drop_vector_index(self, index: VectorIndex) -> None:
        """See :class:`~core.rag.dbhandler.store.GraphStore`."""
        check_name(index.label)
        self._check_open("Dropping a vector index")
        async with self._defining.hold():
            await self._dialect.drop_vector_index(index)

    async def text_search(self, index: TextIndex, terms: Mapping[str, float], k: int) -> list[Match]:
        """See :class:`~core.rag.dbhandler.store.GraphStore`."""
        k = check_k(k)
        self._check_open("A keyword search")
        words = plain_words(check_terms(terms))
        if not words:
            return []
        if self._dialect.abilities.text_search:
            with suppress(IndexMissingError):
                return await self._words.search(index, words, k)
        found = await scan_text(self, index, words, k)
        if found and self._dialect.abilities.text_search:
            self._note(_without_words(index))
        return found

    async def known_words(self, index: TextIndex, words: Collection[str]) -> set[str]:
        """See :class:`~core.rag.dbhandler.store.GraphStore`."""
        self._check_open("A keyword search")
        if self._dialect.abilities.text_search:
            with suppress(IndexMissingError):
                return await self._words.known(index, words)
        return await scan_words(self, index, words)

    async def vector_search(self, index: VectorIndex, query: Sequence[float], k: int) -> list[Match]:
        """See :class:`~core.rag.dbhandler.store.GraphStore`."""
        check_name(index.label)
        k = check_k(k)
        vector = check_vector(query, index.dimension)
        self._check_open("A vector search")
        if self._dialect.abilities.vector_search:
            with suppress(IndexMissingError):
                return await self._dialect.vector_search(index, vector, k)
        found = await scan_search(self, index, vector, k)
        if found and self._dialect.abilities.vector_search:  # without vectors, no index is missing: the first makes it
            self._note(_without(index))
        return found

    async def shortest_path(
        self, start_id: str, end_id: str, *, edge_types: Sequence[str], max_depth: int, namespace: str
    ) -> list[str] | None:
        """See :class:`~core.rag.dbhandler.store.GraphStore`."""
        types = check_path(edge_types, max_depth)
        return await shortest_path(self, self._dialect, start_id, end_id, types, max_depth, namespace)

    async def check_indexes(self, *, repair: bool = False) -> list[str]:
        """See :class:`~core.rag.dbhandler.store.GraphStore`."""
        self._check_open("Checking the indexes")
        problems = await unmarked_nodes(self, repair=repair)
        async with self._defining.hold():
            return problems + await self._dialect.check_indexes(repair=repair)

    async def close(self) -> None:
        """See :class:`~core.rag.dbhandler.store.GraphStore`."""
        await self._drivers.close()

    def _note(self, note: str) -> None:
        """Add a note about something that does not work as it should, once."""
        if note not in self._capabilities.notes:
            self._capabilities = replace(self._capabilities, notes=(*self._capabilities.notes, note))
            _log.warning("%s", note)

    def _forget(self, note: str) -> None:
        notes = tuple(said for said in self._capabilities.notes if said != note)
        self._capabilities = replace(self._capabilities, notes=notes)

    def _check_writable(self) -> None:
        if self._read_only:
            raise StoreReadOnlyError(READING_ONLY)

    def _check_open(self, what: str) -> None:
        if self._drivers.closed:
            raise closed(what)


def _without_words(index: TextIndex) -> str:
    return f"The keyword index of {index.label} is missing: the client searches for words itself."


def _without(index: VectorIndex) -> str:
    return f"The vector index {index.name} is missing: the client compares the vectors itself."
