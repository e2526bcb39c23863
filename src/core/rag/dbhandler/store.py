"""The store contract: what a graph engine has to offer. All else is Cypher that runs unchanged on every one."""

from __future__ import annotations

import math
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Protocol

from core.rag.errors import InvalidInputError, InvalidVectorError, QueryError
from core.rag.schema import TextIndex, VectorIndex, check_name

if TYPE_CHECKING:
    from core.rag.settings import Settings

#: One result row: column name to value. Times are ISO strings, ids are strings.
Row = dict[str, Any]

#: Values for the ``$names`` of a statement. An embedding is a ``tuple`` of floats; see :func:`check_parameters`.
Parameters = Mapping[str, Any]

MAX_K = 10_000

#: Connections to a server at most, unless somebody says otherwise.
DEFAULT_POOL_SIZE = 50

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
        notes: What works otherwise than it should, and why; one sentence each.
    """

    engine: str
    version: str
    location: str
    vector_search: bool
    text_search: bool
    text_index_per_namespace: bool
    shared: bool
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

    async def has_vector_index(self, index: VectorIndex) -> bool:
        """Whether the engine searches these vectors itself; ``capabilities`` say where it should and cannot."""
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
            k: At most this many, 1 to ``MAX_K``.
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

    What may travel: ``None``, ``bool``, ``int`` of 64 bits, ``float``, ``str``, ``list`` and ``dict`` of these, and an
    embedding as a ``tuple`` of floats. A ``list`` of nothing but floats would become a 32-bit vector on Grafeo: such
    lists are stored as JSON instead. ``id`` values have to be non-empty strings: a MERGE would make a node without id.

    Raises:
        InvalidVectorError: on an embedding that is empty, not finite, all zeros, or not all floats.
        InvalidInputError: on any other such value, naming the place.
    """
    for name, value in parameters.items():
        _check_value(name, value, is_id=name == "id")


def _check_value(place: str, value: Any, *, is_id: bool = False) -> None:
    if is_id and (not isinstance(value, str) or not value):
        raise InvalidInputError(f"The id at {place} is {value!r}, but ids are non-empty strings.")
    if value is None or isinstance(value, str | bool | float):
        return
    if isinstance(value, tuple):
        _check_embedding(place, value)
    elif isinstance(value, int):
        if not -_INT <= value < _INT:
            raise InvalidInputError(f"{place} is {value}, which does not fit into 64 bits: store it as a string.")
    elif isinstance(value, dict):
        if "id" not in value and _PLAIN.issuperset(map(type, value.values())) and _TEXT.issuperset(map(type, value)):
            return  # most are like this
        for key, item in value.items():
            if _is_plain(key, item):
                continue
            if not isinstance(key, str):
                raise InvalidInputError(f"{place} has the key {key!r}, but keys are strings.")
            _check_value(f"{place}.{key}", item, is_id=key == "id")
    elif isinstance(value, list):
        if value and all(isinstance(item, float) for item in value):
            raise InvalidInputError(f"{place} is a list of floats: send an embedding as a tuple, other lists as JSON.")
        if _PLAIN.issuperset(map(type, value)):
            return
        for position, item in enumerate(value):
            if item.__class__ not in _PLAIN:
                _check_value(f"{place}[{position}]", item)
    else:
        raise InvalidInputError(
            f"{place} is a {type(value).__name__}, which not every engine can store: send text, numbers, truth values,"
            " lists, dicts, or an embedding as a tuple of floats; times as ISO strings."
        )


_PLAIN = frozenset({str, bool, float, type(None)})
_TEXT = frozenset({str})
_INT = 2**63


def _is_plain(key: Any, item: Any) -> bool:
    kind = item.__class__
    if key == "id" or key.__class__ is not str:
        return False
    return kind in _PLAIN or (kind is int and -_INT <= item < _INT)


def _check_embedding(place: str, value: tuple[Any, ...]) -> None:
    if not value or not all(issubclass(kind, float) for kind in set(map(type, value))):
        raise InvalidVectorError(f"{place} is a tuple, so an embedding, but not one of floats: send lists as lists.")
    # A sum of finite numbers is finite, unless they are huge: only then look at each.
    if not math.isfinite(sum(value)) and not all(map(math.isfinite, value)):
        raise InvalidVectorError(f"The embedding at {place} holds values that are not finite (NaN or infinity).")
    if not any(value):
        raise InvalidVectorError(f"The embedding at {place} is all zeros, which has no direction to compare.")


def check_reading(statement: str) -> None:
    """Refuse a writing statement where only reading ones belong: it would pass by the guards of a transaction.

    Raises:
        QueryError: naming the clause.
    """
    clause = _writing_clause(statement)
    if clause:
        raise QueryError(f"A statement with {clause} was sent as a query: writes belong into a transaction.")


_TEXTS = re.compile(r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|`[^`]*`|//[^\n]*|/\*.*?\*/""", re.DOTALL)
_WRITING = re.compile(
    r"(?<![\w.$:|])(CREATE|MERGE|SET|DELETE|DETACH|REMOVE|DROP|INSERT|FOREACH|LOAD|ALTER)(?=[\s(])", re.IGNORECASE
)


@lru_cache(maxsize=512)
def _writing_clause(statement: str) -> str:
    found = _WRITING.search(_TEXTS.sub("''", statement))
    return found[1].upper() if found else ""


def check_terms(terms: Mapping[str, float]) -> dict[str, float]:
    """Check the words of a keyword search.

    Returns:
        The words that count: not empty, and of a weight above zero.

    Raises:
        InvalidInputError: on a weight that is negative or not finite.
    """
    for term, weight in terms.items():
        if not 0 <= weight < math.inf:
            raise InvalidInputError(f"The weight of {term[:50]!r} is {weight}, but weights are finite, from 0 up.")
    return {term: float(weight) for term, weight in terms.items() if weight and term.strip()}


def check_path(edge_types: Sequence[str], max_depth: int) -> list[str]:
    """Check what a path search may follow.

    Returns:
        The edge types, safe to be part of a statement.

    Raises:
        InvalidNameError: on an edge type that is no name.
        InvalidInputError: without edge types, or on a depth outside of 1 to ``MAX_DEPTH``.
    """
    if isinstance(max_depth, bool) or not isinstance(max_depth, int) or not 1 <= max_depth <= MAX_DEPTH:
        raise InvalidInputError(f"max_depth is {max_depth!r}, but has to be a whole number from 1 to {MAX_DEPTH}.")
    if not edge_types:
        raise InvalidInputError("A path needs at least one edge type to follow.")
    return [check_name(name) for name in edge_types]


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
        max_connection_pool_size: At most this many connections to a server; ``None``: ``MGRAG_MAX_CONNECTIONS``, else
            50.
        settings: ``None``: read from the environment.

    Returns:
        The open store, schema not yet ensured.

    Raises:
        ConfigurationError: on a URI of another kind.
        StoreUnavailableError: when the graph cannot be opened.
    """
    from core.rag.settings import DEFAULT_EMBEDDED_URI, load_settings

    settings = settings or load_settings()
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
    )
