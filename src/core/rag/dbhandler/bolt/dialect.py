"""What the Bolt dialects have in common: their interface, searches, and the query language of Lucene and Tantivy."""

from __future__ import annotations

import re
import unicodedata
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Protocol

from core.rag.dbhandler.misuse import other_dimension
from core.rag.dbhandler.store import MAX_K, Match, Parameters, Row
from core.rag.errors import InvalidInputError, QueryError, StoreConstraintError, StoreDamagedError
from core.rag.schema import Label, TextIndex, VectorIndex, check_name

#: Words of one search; Lucene takes 1,024 clauses.
MAX_WORDS = 1000

#: Longest word that is looked for; analysed words are shorter.
_MAX_WORD_CHARS = 200

#: A weight smaller than this part of the largest one changes nothing.
_SMALLEST_WEIGHT = 1e-9

_JOINERS = frozenset("\u200c\u200d")


class Runner(Protocol):
    """What a dialect may ask of the store."""

    async def query(self, statement: str, parameters: Parameters | None = None, what: str = "A query") -> list[Row]:
        """Run a reading statement of any kind; repeated when that may help."""
        ...

    async def define(self, statement: str, what: str) -> None:
        """Run a statement about indexes or constraints, by itself; repeated while others are in the way."""
        ...


@dataclass(frozen=True, slots=True)
class Abilities:
    """What a server can do.

    Attributes:
        version: Its version.
        vector_search: Whether it searches vectors.
        text_search: Whether it searches words.
        notes: What it cannot do, one sentence each.
        problems: Those of the notes because of which a graph on it cannot be relied on.
    """

    version: str
    vector_search: bool
    text_search: bool
    notes: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()


class IndexMissingError(QueryError):
    """A search needs an index that the server does not have, or that does not work."""


class Dialect(ABC):
    """What differs between servers. Searches raise :class:`IndexMissingError` where the client has to do the work."""

    #: ``memgraph`` or ``neo4j``.
    name: ClassVar[str]
    #: See :class:`~core.rag.dbhandler.store.Transaction`.
    locking: ClassVar[bool]
    #: The statement by which a transaction that is repeated after a conflict takes its turn; none: locks do it.
    turn: ClassVar[str | None] = None
    #: What the server says of an index that it does not have, or that does not work, and of one that is there already.
    _missing_index: ClassVar[re.Pattern[str]]
    _there_already: ClassVar[re.Pattern[str]]
    #: What stands before the names of properties in a keyword search.
    _prefix: ClassVar[str] = ""

    def __init__(self, runner: Runner, abilities: Abilities) -> None:
        """Use ``learn``.

        Args:
            runner: The store.
            abilities: What the server can do.
        """
        self._runner = runner
        self.abilities = abilities
        self._vectors: dict[str, tuple[str, int | None]] = {}

    def hinted(self, statement: str) -> str:
        """Return the statement with what the server needs to know, if anything, to look nodes up by their ids."""
        return statement

    @abstractmethod
    async def ensure_schema(self) -> None:
        """Create the constraints and property indexes that are missing."""

    async def ensure_namespace_indexes(self) -> None:
        """Create what spares statements about one namespace from reading the nodes of all others, if there is such.

        Neo4j has none: it uses an index only for all its properties.
        """
        return

    @abstractmethod
    async def ensure_text_index(self, label: Label) -> None:
        """Create the keyword index of a label unless it is there."""

    async def ensure_vector_index(self, index: VectorIndex) -> None:
        """Create a vector index unless it is there; refuse one of another dimension."""
        if not self.abilities.vector_search:
            return
        for name in vector_index_names(index):
            if await self._vector_index(index, fresh=True) is not None:
                return
            await self._create_vector_index(name, index)
        if await self._vector_index(index, fresh=True) is None:
            raise not_created(f"the vector index {index.name}")

    @abstractmethod
    async def _create_vector_index(self, name: str, index: VectorIndex) -> None: ...

    async def has_vector_index(self, index: VectorIndex) -> bool:
        """Return whether a vector index is there."""
        return await self._vector_index(index, fresh=True) is not None

    async def _vector_index(self, index: VectorIndex, *, fresh: bool = False) -> str | None:
        """Return the name of the index over the vectors of this label, whatever it is.

        Raises:
            ModelMismatchError: if it exists with another dimension.
        """
        if fresh or index.label not in self._vectors:
            self._vectors = await self._vector_indexes()
        name, dimension = self._vectors.get(index.label, (None, None))
        if dimension is not None and dimension != index.dimension:
            raise other_dimension(index, dimension)
        return name

    @abstractmethod
    async def _vector_indexes(self) -> dict[str, tuple[str, int | None]]:
        """Return the names and dimensions, as far as they are told, of all vector indexes by label."""

    @abstractmethod
    async def drop_vector_index(self, index: VectorIndex) -> None:
        """Drop a vector index if it is there."""

    async def vector_search(self, index: VectorIndex, query: tuple[float, ...], k: int) -> list[Match]:
        """Vectors by cosine."""
        name = await self._vector_index(index)
        if name is None:
            raise IndexMissingError(f"The server has no vector index for {index.name}.")
        try:
            return await self._nearest(name, index, query, k)
        except IndexMissingError:
            self._vectors.pop(index.label, None)
            raise

    @abstractmethod
    async def _nearest(self, name: str, index: VectorIndex, query: tuple[float, ...], k: int) -> list[Match]:
        """Search the index of this name, with :meth:`_search_vectors`."""

    async def _search_vectors(self, index: VectorIndex, statement: str, **parameters: object) -> list[Row]:
        return await self._search_index(statement, parameters, "A vector search", f"The vector index {index.name}")

    async def text_candidates(self, index: TextIndex, words: Mapping[str, float], k: int) -> dict[str, float]:
        """Return the ``k`` best nodes for words from :func:`plain_words`, by id, with the server's own scores."""
        rows = await self._search_words(
            index,
            f"{self._text_call('$query')}, score WITH node, score WHERE node.namespace = $namespace "
            "AND node.id IS NOT NULL RETURN collect(node.id) AS ids, collect(score) AS scores",
            query=words_query(self._prefix, index.key, words),
            k=k,
            namespace=index.namespace,
        )
        return scores_by_id(rows)

    async def text_counts(self, index: TextIndex, words: Sequence[str], most: int = 0) -> dict[str, int]:
        """Return how many nodes of the index hold each word; those that none holds may be left out.

        Args:
            index: Label and namespace.
            words: By :func:`plain_words`.
            most: Up to how many are counted; 0: all, or as many as the server gives.
        """
        rows = await self._search_words(
            index,
            f"UNWIND $queries AS q {self._text_call('q.query', limited=most > 0)} "
            "RETURN q.word AS word, count(node) AS n",
            queries=self._word_queries(index, words),
            k=most or MAX_K,
        )
        return {row["word"]: row["n"] for row in rows}

    def _word_queries(self, index: TextIndex, words: Sequence[str]) -> list[Row]:
        return [{"word": word, "query": words_query(self._prefix, index.key, {word: 1.0})} for word in words]

    @abstractmethod
    def _text_call(self, query: str, *, limited: bool = True) -> str:
        """Return the call that searches the keyword index ``$name``, up to ``YIELD node``.

        Args:
            query: The expression with the query.
            limited: Whether to yield at most ``$k`` nodes; else all, or as many as the server gives.
        """

    async def _search_words(self, index: TextIndex, statement: str, **parameters: object) -> list[Row]:
        parameters["name"] = text_index_name(index.label)
        return await self._search_index(
            statement, parameters, "A keyword search", f"The keyword index of {index.label}"
        )

    async def _search_index(self, statement: str, parameters: Parameters, what: str, index: str) -> list[Row]:
        """Run a statement that searches an index of the server.

        Raises:
            IndexMissingError: where the server does not have the index, or where that does not work.
        """
        try:
            return await self._runner.query(statement, parameters, what)
        except QueryError as error:
            if cause_matches(error, self._missing_index):
                raise IndexMissingError(f"{index} does not work: {error}") from error
            raise

    async def _define(self, statement: str, what: str) -> None:
        await define(self._runner, statement, what, there=self._there_already)

    @abstractmethod
    def path(self, start: Label, end: Label, types: Sequence[str], depth: int) -> str:
        """Return the statement that finds ``ids``, a shortest path from ``$start`` to ``$end``, with these labels."""

    @abstractmethod
    async def check_indexes(self, *, repair: bool) -> list[str]:
        """See :meth:`~core.rag.dbhandler.store.GraphStore.check_indexes`."""


def text_index_name(label: Label) -> str:
    """Return the name of the keyword index of a label on a server."""
    return f"mgrag_text_{label.value.lower()}"


def vector_index_names(index: VectorIndex) -> tuple[str, str]:
    """Return the name of a vector index, and another one where somebody else's index has that name."""
    return check_name(index.name), check_name(f"mgrag_{index.label.lower()}")


def plain_words(terms: Mapping[str, float]) -> dict[str, float]:
    """Return the words of a search that an index can hold: letters, digits and their marks, as the analysis makes them.

    Anything else could be query syntax, or would be cut into other words; no node has it among its terms.

    Args:
        terms: Checked words and weights.

    Returns:
        At most ``MAX_WORDS``, the heaviest, with weights above zero.

    Raises:
        InvalidInputError: on half of a surrogate pair.
    """
    top = max(terms.values(), default=0.0)
    words = {word: weight for word, weight in terms.items() if weight > top * _SMALLEST_WEIGHT and _is_plain(word)}
    if len(words) > MAX_WORDS:
        words = dict(sorted(words.items(), key=lambda item: -item[1])[:MAX_WORDS])
    return words


def _is_plain(word: str) -> bool:
    if word.isascii():
        return word.isalnum() and len(word) <= _MAX_WORD_CHARS
    if any("\ud800" <= character <= "\udfff" for character in word):
        raise InvalidInputError(f"The word {word[:50]!a} has half of a surrogate pair, which is not valid text.")
    return (
        len(word) <= _MAX_WORD_CHARS
        and any(map(str.isalnum, word))
        and all(c.isalnum() or c in _JOINERS or unicodedata.category(c).startswith("M") for c in word)
    )


def words_query(prefix: str, key: str, words: Mapping[str, float]) -> str:
    """A query in the language of Lucene and Tantivy: the namespace is a must that scores nothing, then any word.

    Weights in it are at most 1, and written without an exponent, which Lucene would read as something else.

    Args:
        prefix: What stands before the names of properties.
        key: The partition.
        words: As :func:`plain_words` gives them; not empty.
    """
    top = max(words.values())
    parts = []
    for word, weight in words.items():
        boost = f"{weight / top:.10f}".rstrip("0").rstrip(".")
        parts.append(f'"{word}"' if boost == "1" else f'"{word}"^{boost}')
    return f'+{prefix}partition:"{key}"^0 +{prefix}terms:({" ".join(parts)})'


def matches(found: Mapping[str, float], score: Callable[[float], float], k: int) -> list[Match]:
    """Return the ``k`` best nodes by what the server says of them, which ``score`` makes a cosine; equal ones by id."""
    ranked = [Match(identifier, score(said)) for identifier, said in found.items()]
    ranked.sort(key=lambda match: (-match.score, match.id))
    return ranked[:k]


def more_than(k: int, factor: int, least: int) -> int:
    """Return how many to ask an approximate index for, to get the ``k`` best."""
    return min(MAX_K, max(factor * k, least))


async def shortest_path(
    runner: Runner, dialect: Dialect, start_id: str, end_id: str, types: Sequence[str], depth: int, namespace: str
) -> list[str] | None:
    """See :meth:`~core.rag.dbhandler.store.GraphStore.shortest_path`; of all labels that nodes with these ids have."""
    starts = await _labels(runner, start_id, namespace)
    if start_id == end_id:
        return [start_id] if starts else None
    ends = await _labels(runner, end_id, namespace) if starts else []
    best: list[str] | None = None
    for start in starts:
        for end in ends:
            statement = dialect.path(start, end, types, depth)
            found = await runner.query(statement, {"start": start_id, "end": end_id}, "A shortest path")
            if found and (best is None or len(found[0]["ids"]) < len(best)):
                best = found[0]["ids"]
    return best


async def _labels(runner: Runner, identifier: str, namespace: str) -> list[Label]:
    statement = " UNION ALL ".join(
        f"MATCH (n:{label} {{id: $id}}) WHERE n.namespace = $namespace RETURN '{label}' AS label" for label in Label
    )
    parameters = {"id": identifier, "namespace": namespace}
    return [Label(row["label"]) for row in await runner.query(statement, parameters, "A shortest path")]


def bfs_nodes(start: Label, end: Label) -> str:
    """Return the beginning of a path statement: both ends, found by their indexes."""
    return f"MATCH (a:{check_name(start)} {{id: $start}}) MATCH (b:{check_name(end)} {{id: $end}}) "


def cause_matches(error: BaseException, pattern: re.Pattern[str]) -> bool:
    """Return whether what the server said matches."""
    cause = error.__cause__
    return cause is not None and pattern.search(str(cause)) is not None


async def define(runner: Runner, statement: str, what: str, *, there: re.Pattern[str]) -> None:
    """Create or drop an index or a constraint, unless somebody else was faster.

    Args:
        runner: The store.
        statement: The definition.
        what: What is done, for an error.
        there: What the server says where somebody else was faster.

    Raises:
        StoreConstraintError: where the graph has several nodes with one id.
    """
    try:
        await runner.define(statement, what)
    except StoreConstraintError as error:
        raise StoreConstraintError(
            f"{what} found several nodes with one id in the graph already. Remove them, or use another database."
        ) from error
    except QueryError as error:
        if not cause_matches(error, there):
            raise


def scores_by_id(rows: Sequence[Row]) -> dict[str, float]:
    """Return the scores of nodes by id, from rows that hold the two as lists ``ids`` and ``scores``."""
    return {i: score for row in rows for i, score in zip(row["ids"], row["scores"], strict=True)}


def differs(label: Label, indexed: int, there: int) -> str:
    """Return what is said about a keyword index that does not agree with the graph."""
    return f"The keyword index of {label} has {indexed} nodes, but the graph has {there}."


def not_created(what: str) -> StoreDamagedError:
    """Return the error for something that a server said to have created, but does not list."""
    return StoreDamagedError(
        f"The server did not create {what}, though it reported success. Look at its log, and try again."
    )
