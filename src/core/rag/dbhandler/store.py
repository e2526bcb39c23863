"""The store interface: what a graph engine provides. Everything else is Cypher that runs on all engines."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from core.rag.schema import Label, TextIndex, VectorIndex

if TYPE_CHECKING:
    from core.rag.settings import Settings

#: One result row: column name to value. Times are ISO strings, ids are strings.
Row = dict[str, Any]

#: Values for the ``$names`` of a statement. An embedding is a ``tuple`` of floats, or a ``memoryview`` of 32-bit
#: floats; see :func:`check_parameters`.
Parameters = Mapping[str, Any]

MAX_K = 10_000

#: Default maximum number of connections to a server.
DEFAULT_POOL_SIZE = 50

#: Error message for writes when the settings forbid them.
READING_ONLY = "Nothing can be stored, because MGRAG_READ_ONLY is set."

#: Longest path that is searched for, in edges.
MAX_DEPTH = 64


class Transaction(Protocol):
    """An open transaction. It is rolled back when the unit of work raises, and committed when it returns."""

    @property
    def locking(self) -> bool:
        """Whether others can change what this transaction has read, unless it is locked (``locking.py``)."""
        ...

    async def run(self, statement: str, parameters: Parameters | None = None) -> list[Row]:
        """Run one statement and return all of its rows."""
        ...


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What the engine behind a store can do.

    Attributes:
        engine: ``grafeo``, ``memgraph`` or ``neo4j``.
        version: Version of the engine.
        location: Where the data is, without credentials.
        vector_search: Whether the engine searches vectors itself; else the client computes the cosine.
        text_search: Whether the engine has keyword indexes; else the client computes BM25.
        text_index_per_namespace: Whether nodes with ``terms`` need the second label :attr:`TextIndex.partition`. All of
            them have the property ``partition``, which an index over all namespaces uses to tell them apart.
        shared: Whether several processes can use the graph at the same time.
        read_only: Whether nothing can be stored: because of the settings, or missing permissions or disk space.
        notes: What does not work as it should, and why; one sentence each.
        problems: Those of the notes because of which the graph cannot be relied on.
    """

    engine: str
    version: str
    location: str
    vector_search: bool
    text_search: bool
    text_index_per_namespace: bool
    shared: bool
    read_only: bool = False
    notes: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Match:
    """A search result: the ``id`` property of a node and its score (higher is better)."""

    id: str
    score: float


class GraphStore(Protocol):
    """A graph engine. Implementations: ``embedded.EmbeddedStore`` (Grafeo), ``bolt.BoltStore`` (Memgraph, Neo4j)."""

    @property
    def capabilities(self) -> Capabilities:
        """What the engine can do; known once the store is open."""
        ...

    async def run(self, statement: str, parameters: Parameters | None = None) -> list[Row]:
        """Run one *reading* statement, with retries if the error may be temporary.

        Raises:
            InvalidInputError: by :func:`check_parameters`.
            QueryError: by :func:`check_reading`, and when the engine refuses the statement.
            StoreError: with the engine's error as its cause.
        """
        ...

    async def transaction[T](self, work: Callable[[Transaction], Awaitable[T]]) -> T:
        """Run a unit of work in one transaction and commit it; durable on return.

        The whole work is repeated on a conflict or a lost connection, so it must be safe to repeat: MERGE on ids, no
        side effects outside the transaction. After a failed or cancelled statement nothing of the transaction is
        committed, even if the work continues. A cancellation during the commit takes effect after it.

        Raises:
            StoreError: if it could not be committed; nothing of it is in the graph then (a connection lost during the
                commit is resolved by repeating the work).
        """
        ...

    async def check(self) -> None:
        """Return if the graph can be reached, and nothing is known that keeps it from being written to.

        Raises:
            StoreError: otherwise; an embedded graph whose file or log was moved has to be opened again, for example.
        """
        ...

    def commits(self, labels: Collection[Label]) -> int:
        """Return a number that grows with every commit of this store that may have changed these labels or their edges.

        Commits of other clients of a server are not counted.
        """
        ...

    def undisturbed(self) -> AbstractAsyncContextManager[None]:
        """Block writes to an embedded graph within the ``async with``, so that everything read there is consistent.

        Writes to a server are not blocked. No transaction can be started inside.
        """
        ...

    async def ensure_schema(self) -> None:
        """Create the missing constraints and property indexes of :mod:`core.rag.schema`."""
        ...

    async def ensure_text_index(self, index: TextIndex, *, patient: bool = True) -> bool:
        """Create a keyword index unless it exists.

        Args:
            index: Label and namespace.
            patient: Whether to wait long if other writers on a server prevent it.

        Returns:
            Whether the index exists now. If not, searches work without it, and a later call tries again.
        """
        ...

    async def ensure_vector_index(self, index: VectorIndex, *, patient: bool = True) -> bool:
        """Create a vector index unless it exists; see :meth:`ensure_text_index` for arguments and result.

        Raises:
            ModelMismatchError: if it exists with another dimension.
        """
        ...

    async def has_vector_index(self, index: VectorIndex) -> bool:
        """Tell whether the engine searches these vectors itself; ``capabilities`` notes if it should but cannot."""
        ...

    async def drop_text_index(self, index: TextIndex) -> None:
        """Drop the keyword index of the namespace, if it has its own."""
        ...

    def removing_texts(
        self, index: TextIndex, number: Callable[[], Awaitable[int]]
    ) -> AbstractAsyncContextManager[None]:
        """Enclose transactions that remove texts from a keyword index.

        Removing a text costs time in proportion to the size of an embedded index, so for many texts the embedded
        engine drops the index and builds it again afterwards.

        Args:
            index: Label and namespace.
            number: Returns how many texts will be removed; not called if that makes no difference.
        """
        ...

    async def drop_vector_index(self, index: VectorIndex) -> None:
        """Drop a vector index if it exists."""
        ...

    async def text_search(self, index: TextIndex, terms: Mapping[str, float], k: int) -> list[Match]:
        """Search the nodes of an index by BM25 over ``terms``.

        Args:
            index: Label and namespace.
            terms: Analysed words and their weights.
            k: Maximum number to return, 1 to ``MAX_K``.

        Returns:
            Committed nodes, best first; empty if the namespace has no such index.

        Raises:
            InvalidInputError: by :func:`check_k` and :func:`check_terms`.
        """
        ...

    async def known_words(self, index: TextIndex, words: Collection[str]) -> set[str]:
        """Return those of some words that any committed node of an index has; their texts are not read for it.

        Args:
            index: Label and namespace.
            words: Analysed words, any number.
        """
        ...

    async def vector_search(self, index: VectorIndex, query: Sequence[float], k: int) -> list[Match]:
        """Search committed Vector nodes by cosine similarity, best first.

        Args:
            index: The index of the vectors.
            query: A vector of ``index.dimension`` numbers; checked by the caller with :func:`check_vector`.
            k: Maximum number to return, 1 to ``MAX_K``.
        """
        ...

    async def shortest_path(
        self, start_id: str, end_id: str, *, edge_types: Sequence[str], max_depth: int, namespace: str
    ) -> list[str] | None:
        """Return the ids of the nodes on a shortest undirected path, including both ends, or ``None``.

        The path from a node to itself is that node alone.

        Raises:
            InvalidInputError: by :func:`check_path`.
        """
        ...

    async def check_indexes(self, *, repair: bool = False) -> list[str]:
        """Compare the indexes with the graph: after a crash of a server, searches may miss some nodes.

        Args:
            repair: Rebuild indexes that do not match.

        Returns:
            One sentence for each mismatch; empty if there is none.
        """
        ...

    async def close(self) -> None:
        """Release everything. Safe to call twice."""
        ...


async def open_store(
    uri: str | None,
    *,
    username: str | None = None,
    password: str | None = None,
    max_connection_pool_size: int | None = None,
    settings: Settings | None = None,
    create: bool = True,
) -> GraphStore:
    """Open the graph at a URI.

    Args:
        uri: ``embedded:PATH``, ``embedded::memory:``, ``bolt://…``, ``bolt+s://…``, ``bolt+ssc://…``, ``neo4j://…``,
            ``neo4j+s://…`` or a bare host; ``None``: ``MEMGRAPH_URI``, or the embedded default if that is unset.
        username: For a server; ``None``: ``MEMGRAPH_USERNAME``.
        password: For a server; ``None``: ``MEMGRAPH_PASSWORD``.
        max_connection_pool_size: Maximum number of connections to a server; ``None``: ``MGRAG_MAX_CONNECTIONS``, else
            50.
        settings: ``None``: read from the environment.
        create: Whether a missing embedded graph may be created.

    Returns:
        The open store, schema not yet ensured.

    Raises:
        ConfigurationError: if the URI is of another kind, or the password must not be sent there
            (:func:`core.rag.dbhandler.bolt.address.bolt_address`).
        StoreUnavailableError: if the graph cannot be opened.
        NotFoundError: if it does not exist and must not be created.
    """
    from core.rag.settings import DEFAULT_EMBEDDED_URI, settings_for

    settings = settings_for(settings)
    from_settings = not uri
    uri = uri or settings.memgraph_uri or DEFAULT_EMBEDDED_URI
    scheme, _, rest = uri.partition(":")
    if scheme == "embedded":
        from core.rag.dbhandler.embedded.store import EmbeddedStore

        return await EmbeddedStore.open(rest, settings=settings, create=create)
    from core.rag.dbhandler.bolt.store import BoltStore

    return await BoltStore.open(
        uri,
        username=username,
        password=password,
        max_connection_pool_size=max_connection_pool_size or settings.max_connection_pool_size or DEFAULT_POOL_SIZE,
        settings=settings,
        from_settings=from_settings,
    )
