"""The store contract: what a graph engine has to offer. All else is Cypher that runs unchanged on every one."""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from core.rag.errors import InvalidInputError, InvalidVectorError
from core.rag.schema import TextIndex, VectorIndex

if TYPE_CHECKING:
    from core.rag.settings import Settings

#: One result row: column name to value. Times are ISO strings, ids are strings.
Row = dict[str, Any]

#: Values for the ``$names`` of a statement. An embedding is a ``tuple`` of floats; see :func:`check_parameters`.
Parameters = Mapping[str, Any]

MAX_K = 10_000


class Transaction(Protocol):
    """An open transaction. It is rolled back when the unit of work raises, and committed when it returns."""

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
        text_index_per_namespace: Whether nodes with ``terms`` need the second label :attr:`TextIndex.partition`.
        shared: Whether several processes may use the same graph at once.
    """

    engine: str
    version: str
    location: str
    vector_search: bool
    text_search: bool
    text_index_per_namespace: bool
    shared: bool


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
            StoreError: with the engine's error as its cause.
        """
        ...

    async def transaction[T](self, work: Callable[[Transaction], Awaitable[T]]) -> T:
        """Run a unit of work in one transaction and commit it; durable on return.

        The work is repeated *whole* on a conflict or a lost connection, so it must be safe to repeat: MERGE on ids, no
        side effects outside the transaction.

        Raises:
            StoreError: when it could not be committed; nothing of it is in the graph then (a lost connection during
                the commit is resolved by repeating).
        """
        ...

    async def ensure_schema(self) -> None:
        """Create the constraints and property indexes of :mod:`core.rag.schema` that are missing."""
        ...

    async def ensure_text_index(self, index: TextIndex) -> None:
        """Create a keyword index unless it exists."""
        ...

    async def ensure_vector_index(self, index: VectorIndex) -> None:
        """Create a vector index unless it exists.

        Raises:
            ModelMismatchError: if it exists with another dimension.
        """
        ...

    async def drop_text_index(self, index: TextIndex) -> None:
        """Drop a keyword index if the namespace has one of its own."""
        ...

    async def drop_vector_index(self, index: VectorIndex) -> None:
        """Drop a vector index if it exists."""
        ...

    async def text_search(self, index: TextIndex, terms: Mapping[str, float], k: int) -> list[Match]:
        """Nodes of the index by BM25 over ``terms``.

        Args:
            index: Label and namespace.
            terms: Analysed words and the weight of each.
            k: At most this many, 1 to ``MAX_K``.

        Returns:
            Best first; only committed nodes.
        """
        ...

    async def vector_search(self, index: VectorIndex, query: Sequence[float], k: int) -> list[Match]:
        """Vector nodes by cosine similarity, best first; only committed ones.

        Args:
            index: Which vectors.
            query: As long as ``index.dimension``; checked by the caller with :func:`check_vector`.
            k: At most this many, 1 to ``MAX_K``.
        """
        ...

    async def shortest_path(
        self, start_id: str, end_id: str, *, edge_types: Sequence[str], max_depth: int, namespace: str
    ) -> list[str] | None:
        """Ids of the nodes on one shortest undirected path, both ends included, or ``None``."""
        ...

    async def backup(self, target: str) -> None:
        """Write a copy of everything to a file, where the engine is embedded."""
        ...

    async def close(self) -> None:
        """Release everything. Safe to call twice."""
        ...


def check_vector(vector: Sequence[float], dimension: int, what: str = "The query vector") -> tuple[float, ...]:
    """Check a vector before it reaches an engine; engines store or search broken ones without a word.

    Args:
        vector: The numbers.
        dimension: How many there have to be.
        what: How to call it in the error.

    Returns:
        The vector as a tuple of floats.

    Raises:
        InvalidVectorError: on another length, a value that is no finite number, or a vector of zeros.
    """
    try:
        values = tuple(map(float, vector))
    except (TypeError, ValueError) as error:
        raise InvalidVectorError(f"{what} is not a sequence of numbers: {error}.") from error
    if len(values) != dimension:
        raise InvalidVectorError(
            f"{what} has {len(values)} dimensions, but this vector store has {dimension}: use the model that the graph"
            " was built with."
        )
    if not all(map(math.isfinite, values)):
        raise InvalidVectorError(f"{what} holds values that are not finite (NaN or infinity).")
    if not any(values):
        raise InvalidVectorError(f"{what} is all zeros, which has no direction to compare.")
    return values


def check_k(k: int) -> int:
    """Check the number of results asked for.

    Raises:
        InvalidInputError: unless it is a whole number from 1 to ``MAX_K``.
    """
    if isinstance(k, bool) or not isinstance(k, int) or not 1 <= k <= MAX_K:
        raise InvalidInputError(f"k is {k!r}, but has to be a whole number from 1 to {MAX_K}.")
    return k


def check_parameters(parameters: Parameters) -> None:
    """Refuse values that some engine would silently store as something else.

    An embedding travels as a ``tuple``. A ``list`` of nothing but floats would become a 32-bit vector on Grafeo: such
    lists are stored as JSON instead. ``id`` values have to be non-empty strings: a MERGE would make a node without id.

    Raises:
        InvalidInputError: naming the place.
    """
    for name, value in parameters.items():
        _check_value(name, value)


def _check_value(place: str, value: Any) -> None:
    if isinstance(value, dict):
        for key, item in value.items():
            if key == "id" and (not isinstance(item, str) or not item):
                raise InvalidInputError(f"The id at {place} is {item!r}, but ids are non-empty strings.")
            if isinstance(item, list | dict):
                _check_value(f"{place}.{key}", item)
    elif isinstance(value, list) and value:
        if isinstance(value[0], float) and all(isinstance(item, float) for item in value):
            raise InvalidInputError(f"{place} is a list of floats: send an embedding as a tuple, other lists as JSON.")
        if isinstance(value[0], dict | list):
            for item in value:
                _check_value(place, item)
    elif place == "id" and (not isinstance(value, str) or not value):
        raise InvalidInputError(f"The id is {value!r}, but ids are non-empty strings.")


async def open_store(
    uri: str | None,
    *,
    username: str | None = None,
    password: str | None = None,
    max_connection_pool_size: int = 50,
    settings: Settings | None = None,
) -> GraphStore:
    """Open the graph at a URI.

    Args:
        uri: ``embedded:PATH``, ``embedded::memory:``, ``bolt://…``, ``bolt+s://…``, ``bolt+ssc://…``, ``neo4j://…``,
            ``neo4j+s://…`` or a bare host; ``None``: ``MEMGRAPH_URI``, or the embedded default where that is unset.
        username: For a server; ``None``: ``MEMGRAPH_USERNAME``.
        password: For a server; ``None``: ``MEMGRAPH_PASSWORD``.
        max_connection_pool_size: At most this many connections to a server.
        settings: ``None``: read from the environment.

    Returns:
        The open store, schema not yet ensured.

    Raises:
        ConfigurationError: on a URI of another kind.
        StoreUnavailableError: when the graph cannot be opened.
    """
    from core.rag.errors import ConfigurationError
    from core.rag.settings import DEFAULT_EMBEDDED_URI, load_settings

    settings = settings or load_settings()
    uri = uri or settings.memgraph_uri or DEFAULT_EMBEDDED_URI
    scheme, _, rest = uri.partition(":")
    if scheme == "embedded":
        from core.rag.dbhandler.embedded import EmbeddedStore

        return await EmbeddedStore.open(rest, settings=settings)
    raise ConfigurationError(
        f"{uri!r} is not a graph database address. Use embedded:PATH for a local file, or bolt://HOST:7687."
    )
