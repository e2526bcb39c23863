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

#: Connections to a server at most, unless somebody says otherwise.
DEFAULT_POOL_SIZE = 50

#: Why nothing is stored where the settings allow it not.
READING_ONLY = "Nothing can be stored, because MGRAG_READ_ONLY is set."

#: Longest path that is searched for, in edges.
MAX_DEPTH = 64


class Transaction(Protocol):
    """An open transaction. It is rolled back when the unit of work raises, and committed when it returns."""

    @property
    def locking(self) -> bool:
        """Whether what is read can be changed by others before it is written, unless it is locked (``locking.py``)."""
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
            them have the property ``partition``, by which an index over all namespaces tells them apart.
        shared: Whether several processes may use the same graph at once.
        read_only: Whether nothing can be stored, by the settings or for want of permission or room.
        notes: What works otherwise than it should, and why; one sentence each.
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


@dataclass(frozen=True, slots=True)
class Match:
    """A search result: the ``id`` property of a node and its score (higher is better)."""

    id: str
    score: float


class GraphStore(Protocol):
    """A graph engine. Implementations: ``embedded.EmbeddedStore`` (Grafeo), ``bolt.BoltStore`` (Memgraph, Neo4j)."""

    @property
    def capabilities(self) -> Capabilities:
        """What the engine can do. Known once the store is open."""
        ...

    async def run(self, statement: str, parameters: Parameters | None = None) -> list[Row]:
        """Run one *reading* statement; repeated when that may help.

        Raises:
            InvalidInputError: by :func:`check_parameters`.
            QueryError: by :func:`check_reading`, and when the engine refuses the statement.
            StoreError: with the engine's error as its cause.
        """
        ...

    async def transaction[T](self, work: Callable[[Transaction], Awaitable[T]]) -> T:
        """Run a unit of work in one transaction and commit it; durable on return.

        The work is repeated *whole* on a conflict or a lost connection, so it must be safe to repeat: MERGE on ids, no
        side effects outside the transaction. A statement that failed or was cancelled spoils the transaction: nothing
        of it is committed even if the work goes on. A cancellation during the commit arrives after it.

        Raises:
            StoreError: if it could not be committed; nothing of it is in the graph then (a lost connection during
                the commit is resolved by repeating).
        """
        ...

    def commits(self, labels: Collection[Label]) -> int:
        """A number that grows whenever this store commits what may have changed nodes of these labels, or their edges.

        What others commit on a server is not counted.
        """
        ...

    def undisturbed(self) -> AbstractAsyncContextManager[None]:
        """Inside of the ``async with`` nobody writes to an embedded graph, so that what is read there belongs together.

        To a server anybody may. No transaction can be begun inside.
        """
        ...

    async def ensure_schema(self) -> None:
        """Create the constraints and property indexes of :mod:`core.rag.schema` that are missing."""
        ...

    async def ensure_text_index(self, index: TextIndex, *, patient: bool = True) -> bool:
        """Create a keyword index unless it exists.

        Args:
            index: Label and namespace.
            patient: Whether to wait long where that is not possible while others write to a server.

        Returns:
            Whether it is there. Searches do without where it is not, and a later call tries again.
        """
        ...

    async def ensure_vector_index(self, index: VectorIndex, *, patient: bool = True) -> bool:
        """Create a vector index unless it exists; arguments and result as of :meth:`ensure_text_index`.

        Raises:
            ModelMismatchError: if it exists with another dimension.
        """
        ...

    async def has_vector_index(self, index: VectorIndex) -> bool:
        """Whether the engine searches these vectors itself; ``capabilities`` say where it should and cannot."""
        ...

    async def drop_text_index(self, index: TextIndex) -> None:
        """Drop a keyword index if the namespace has one of its own."""
        ...

    def removing_texts(
        self, index: TextIndex, number: Callable[[], Awaitable[int]]
    ) -> AbstractAsyncContextManager[None]:
        """To be held around transactions that take texts out of a keyword index.

        An embedded graph takes out many by making the index anew: one by one, each costs in proportion to its size.

        Args:
            index: Label and namespace.
            number: Tells how many; not asked where that makes no difference.
        """
        ...

    async def drop_vector_index(self, index: VectorIndex) -> None:
        """Drop a vector index if it exists."""
        ...

    async def text_search(self, index: TextIndex, terms: Mapping[str, float], k: int) -> list[Match]:
        """Nodes of the index by BM25 over ``terms``.

        Args:
            index: Label and namespace.
            terms: Analysed words and the weight of each.
            k: Maximum number to return, 1 to ``MAX_K``.

        Returns:
            Best first; only committed nodes. Nothing where the namespace has no such index.

        Raises:
            InvalidInputError: by :func:`check_k` and :func:`check_terms`.
        """
        ...

    async def vector_search(self, index: VectorIndex, query: Sequence[float], k: int) -> list[Match]:
        """Vector nodes by cosine similarity, best first; only committed ones.

        Args:
            index: Which vectors.
            query: As long as ``index.dimension``; checked by the caller with :func:`check_vector`.
            k: Maximum number to return, 1 to ``MAX_K``.
        """
        ...

    async def shortest_path(
        self, start_id: str, end_id: str, *, edge_types: Sequence[str], max_depth: int, namespace: str
    ) -> list[str] | None:
        """Ids of the nodes on one shortest undirected path, both ends included, or ``None``.

        The path of a node to itself is that node alone.

        Raises:
            InvalidInputError: by :func:`check_path`.
        """
        ...

    async def check_indexes(self, *, repair: bool = False) -> list[str]:
        """Compare the indexes with the graph. A crash of a server can leave nodes in the graph that no search finds.

        Args:
            repair: Make anew what does not agree.

        Returns:
            What did not agree, one sentence each; empty where all is well.
        """
        ...

    async def backup(self, target: str) -> None:
        """Write a copy of everything to a new file, where the engine is embedded; it opens like any graph.

        Raises:
            BackupError: if the file exists or cannot be written.
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
) -> GraphStore:
    """Open the graph at a URI.

    Args:
        uri: ``embedded:PATH``, ``embedded::memory:``, ``bolt://…``, ``bolt+s://…``, ``bolt+ssc://…``, ``neo4j://…``,
            ``neo4j+s://…`` or a bare host; ``None``: ``MEMGRAPH_URI``, or the embedded default where that is unset.
        username: For a server; ``None``: ``MEMGRAPH_USERNAME``.
        password: For a server; ``None``: ``MEMGRAPH_PASSWORD``.
        max_connection_pool_size: Maximum number of connections to a server; ``None``: ``MGRAG_MAX_CONNECTIONS``, else
            50.
        settings: ``None``: read from the environment.

    Returns:
        The open store, schema not yet ensured.

    Raises:
        ConfigurationError: on a URI of another kind, or a password that must not be sent there
            (:func:`core.rag.dbhandler.bolt_address.bolt_address`).
        StoreUnavailableError: if the graph cannot be opened.
    """
    from core.rag.settings import DEFAULT_EMBEDDED_URI, settings_for

    settings = settings_for(settings)
    from_settings = not uri
    uri = uri or settings.memgraph_uri or DEFAULT_EMBEDDED_URI
    scheme, _, rest = uri.partition(":")
    if scheme == "embedded":
        from core.rag.dbhandler.embedded import EmbeddedStore

        return await EmbeddedStore.open(rest, settings=settings)
    from core.rag.dbhandler.bolt import BoltStore

    return await BoltStore.open(
        uri,
        username=username,
        password=password,
        max_connection_pool_size=max_connection_pool_size or settings.max_connection_pool_size or DEFAULT_POOL_SIZE,
        settings=settings,
        from_settings=from_settings,
    )
