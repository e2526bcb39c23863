"""What the store tests share: engines, and a corner of a graph that a test fills and leaves clean."""

from __future__ import annotations

import asyncio
import os
import uuid
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import pytest

from core.rag import KnowledgeBase
from core.rag.dbhandler.store import MAX_K, GraphStore, Match, Row, Transaction, open_store
from core.rag.schema import (
    EMBEDDED_LABELS,
    EdgeType,
    Label,
    TextIndex,
    VectorIndex,
    check_name,
    text_partition,
    vector_index,
)
from core.rag.settings import Settings
from tests.embedders import HashEmbedder

#: The server that tests were told about. Where several are named, each process of pytest-xdist has one to itself.
_URIS: list[str | None] = [*os.environ.get("MGRAG_TEST_BOLT_URI", "").split()] or [None]
_PROCESS = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
BOLT_URI = _URIS[_PROCESS % len(_URIS)]
_BOLT_LOGIN = (os.environ.get("MGRAG_TEST_BOLT_USER"), os.environ.get("MGRAG_TEST_BOLT_PASSWORD"))

#: Names of the engines that tests run on, for the fixture ``engine``.
ENGINES: list[Any] = ["embedded-memory", "embedded-file"]
if BOLT_URI:
    ENGINES.append(pytest.param("bolt", marks=pytest.mark.bolt))

#: Numbers of results that are none.
BAD_K: list[Any] = [0, -1, MAX_K + 1, 10**10, True, 2.5, "3", None]

#: An index that a server updates in its own time has to be right after this long.
PATIENCE_SECONDS = 20.0


def make_settings(**variables: Any) -> Settings:
    """Settings by their environment names, without a .env file."""
    return Settings(_env_file=None, **variables)  # type: ignore[call-arg]


@dataclass
class Engine:
    """Where a graph is, and how to open it."""

    uri: str
    username: str | None = None
    password: str | None = None
    #: Namespaces that tests have written to.
    namespaces: list[str] = field(default_factory=list)

    @property
    def persistent(self) -> bool:
        """Whether the graph is still there when the store is opened again."""
        return self.uri != "embedded::memory:"

    @property
    def embedded(self) -> bool:
        return self.uri.startswith("embedded:")

    async def open(self, **settings: Any) -> GraphStore:
        """Open the graph, with settings by their environment names."""
        return await open_store(
            self.uri,
            username=self.username,
            password=self.password,
            settings=make_settings(**settings),
        )

    def knowledge(self, namespace: str | None = None, **options: Any) -> KnowledgeBase:
        """A knowledge base on the graph, by default in a namespace of its own with an embedder that needs no model."""
        return KnowledgeBase.open(
            self.uri,
            username=self.username,
            password=self.password,
            namespace=namespace or self.namespace(),
            **{"embedder": HashEmbedder(), **options},
        )

    def namespace(self, *, used_before: bool = True) -> str:
        """A namespace that nothing else uses now; the test's fixture removes what is in it.

        Args:
            used_before: Whether it may be one of an earlier test, empty, but with its vector indexes.
        """
        again = used_before and self.uri == BOLT_URI and _left
        self.namespaces.append(_left.pop() if again else f"test-{uuid.uuid4().hex}")
        return self.namespaces[-1]

    async def leave(self, store: GraphStore, namespace: str) -> None:
        """Remove everything in a namespace and let another test use it."""
        self.namespaces.remove(namespace)
        await clean_namespace(store, namespace)
        if self.uri == BOLT_URI:
            _left.append(namespace)


#: Namespaces of this run on the server that nobody uses now, and all vector indexes of this run. A server forgets its
#: plans whenever an index is made or dropped, so tests share them; the run drops them in the end.
_left: list[str] = []
_vector_indexes: set[VectorIndex] = set()


def sweep_up() -> None:
    """Drop the vector indexes that this run has left on the server."""
    if _vector_indexes or _sweeper.cache_info().currsize:
        _sweeper().close()


def bolt_engine() -> Engine:
    if BOLT_URI is None:
        pytest.skip("needs a Bolt server: make test-bolt starts one, MGRAG_TEST_BOLT_URI names one")
    return Engine(BOLT_URI, *_BOLT_LOGIN)


@contextmanager
def bolt_engine_for_a_test() -> Iterator[Engine]:
    """The server that tests were told about; what is left in the namespaces of this engine is removed afterwards."""
    engine = bolt_engine()
    yield engine
    if engine.namespaces:
        _sweeper().sweep(engine)


class Sweeper:
    """Removes what tests leave on the server: one client for all of them, since most of the work is to connect."""

    def __init__(self) -> None:
        self._runner = asyncio.Runner()
        self._store = self._runner.run(bolt_engine().open())

    def sweep(self, engine: Engine) -> None:
        """Remove everything in the namespaces of a test, and let another one use them."""
        for namespace in list(engine.namespaces):
            self._runner.run(engine.leave(self._store, namespace))

    def close(self) -> None:
        """Drop the vector indexes of all of them."""
        for index in _vector_indexes:
            self._runner.run(self._store.drop_vector_index(index))
        self._runner.run(self._store.close())
        self._runner.close()


@cache
def _sweeper() -> Sweeper:
    return Sweeper()


class Corner:
    """A namespace of a graph, with short names for its nodes."""

    def __init__(self, engine: Engine, store: GraphStore) -> None:
        self.engine = engine
        self.store = store
        self.namespace = engine.namespace()
        self._text: set[TextIndex] = set()
        self._vectors: set[VectorIndex] = set()

    def id(self, name: str) -> str:
        """The id of the node that a test calls ``name``."""
        return f"{self.namespace}/{name}"

    def names(self, ids: Iterable[str]) -> list[str]:
        """The inverse of :meth:`id`, in order."""
        return [identifier.removeprefix(f"{self.namespace}/") for identifier in ids]

    def found(self, matches: Sequence[Match]) -> list[str]:
        return self.names(match.id for match in matches)

    async def write(self, statement: str, parameters: Mapping[str, Any] | None = None) -> list[Row]:
        """Run one statement in a transaction."""

        async def work(tx: Transaction) -> list[Row]:
            return await tx.run(statement, parameters)

        return await self.store.transaction(work)

    async def put(self, *names: str, label: Label = Label.DOCUMENT, **properties: Any) -> None:
        """Merge nodes, all with the same properties."""
        await self.write(
            f"UNWIND $rows AS row MERGE (n:{label} {{id: row.id}}) SET n += row.props",
            {"rows": [{"id": self.id(name), "props": {"namespace": self.namespace, **properties}} for name in names]},
        )

    async def link(self, *pairs: tuple[str, str], edge: EdgeType = EdgeType.RELATED_TO, label: Label) -> None:
        """Merge edges between nodes of a label."""
        await self.write(
            f"UNWIND $rows AS row MATCH (a:{label} {{id: row.a}}) MATCH (b:{label} {{id: row.b}}) "
            f"MERGE (a)-[:{edge}]->(b)",
            {"rows": [{"a": self.id(a), "b": self.id(b)} for a, b in pairs]},
        )

    async def delete(self, *names: str, label: Label = Label.DOCUMENT) -> None:
        await self.write(
            f"UNWIND $ids AS i MATCH (n:{label} {{id: i}}) DETACH DELETE n", {"ids": [self.id(name) for name in names]}
        )

    async def stored(self, label: Label = Label.DOCUMENT) -> list[str]:
        """Names of the committed nodes of a label, sorted."""
        rows = await self.store.run(
            f"MATCH (n:{label}) WHERE n.namespace = $namespace RETURN n.id AS id", {"namespace": self.namespace}
        )
        return sorted(self.names(row["id"] for row in rows))

    async def value(self, name: str, key: str, label: Label = Label.DOCUMENT) -> Any:
        """A property of a committed node."""
        rows = await self.store.run(
            f"MATCH (n:{label} {{id: $id}}) RETURN n.{check_name(key)} AS value", {"id": self.id(name)}
        )
        assert len(rows) == 1, f"{len(rows)} nodes are called {name}"
        return rows[0]["value"]

    async def text_index(self, label: Label = Label.CHUNK) -> TextIndex:
        index = TextIndex(label, self.namespace)
        self._text.add(index)
        await self.store.ensure_text_index(index)
        return index

    def text_statement(self, index: TextIndex) -> str:
        """The statement that merges ``$rows`` of id and terms into the index."""
        second = f"n:{index.partition}, " if self.store.capabilities.text_index_per_namespace else ""
        return (
            f"UNWIND $rows AS row MERGE (n:{index.label} {{id: row.id}}) "
            f"SET {second}n.terms = row.terms, n.namespace = $namespace, n.partition = $partition"
        )

    def text_rows(self, texts: Mapping[str, str]) -> dict[str, Any]:
        rows = [{"id": self.id(name), "terms": terms} for name, terms in texts.items()]
        return {"rows": rows, "namespace": self.namespace, "partition": text_partition(self.namespace)}

    async def put_texts(self, index: TextIndex, texts: Mapping[str, str]) -> None:
        """Merge nodes with analysed words."""
        await self.write(self.text_statement(index), self.text_rows(texts))

    async def vector_index(self, dimension: int, model: str = "model") -> VectorIndex:
        index = vector_index(self.namespace, f"{self.namespace}/{model}/{dimension}", dimension)
        self._vectors.add(index)
        await self.store.ensure_vector_index(index)
        return index

    def vector_statement(self, index: VectorIndex) -> str:
        """The statement that merges ``$rows`` of id and embedding into the index."""
        return (
            f"UNWIND $rows AS row MERGE (v:Vector {{id: row.id}}) "
            f"SET v:{check_name(index.label)}, v.namespace = $namespace, v.embedding = row.embedding"
        )

    def vector_rows(self, vectors: Mapping[str, Sequence[float]]) -> dict[str, Any]:
        rows = [{"id": self.id(name), "embedding": tuple(map(float, values))} for name, values in vectors.items()]
        return {"rows": rows, "namespace": self.namespace}

    async def put_vectors(self, index: VectorIndex, vectors: Mapping[str, Sequence[float]]) -> None:
        """Merge vector nodes."""
        await self.write(self.vector_statement(index), self.vector_rows(vectors))

    async def clean(self) -> None:
        """Remove everything in the namespace, and its keyword indexes."""
        for text in self._text:
            await self.store.drop_text_index(text)
        if self.engine.embedded:
            for vectors in self._vectors:
                await self.store.drop_vector_index(vectors)
        else:
            _vector_indexes.update(self._vectors)
        await self.engine.leave(self.store, self.namespace)


async def clean_namespace(store: GraphStore, namespace: str) -> None:
    """Remove all nodes of a namespace, a bounded number at a time; its vector indexes are dropped when the run ends."""
    stores = await store.run(
        "MATCH (s:VectorStore) WHERE s.namespace = $namespace "
        "RETURN s.id AS id, s.dimension AS dimension, s.index_name AS name",
        {"namespace": namespace},
    )
    for row in stores:
        if store.capabilities.shared and row["id"] and row["dimension"] and row["name"]:
            _vector_indexes.update(
                vector_index(namespace, row["id"], row["dimension"], target, row["name"]) for target in EMBEDDED_LABELS
            )

    async def work(tx: Transaction) -> list[Row]:
        return await tx.run(_DELETE_SOME, {"namespace": namespace})

    while (await store.transaction(work))[0]["deleted"] == _AT_ONCE:
        pass


_AT_ONCE = 1000
# It reads all nodes there are, which are few: a union over all labels took Neo4j long to plan, again and again.
_DELETE_SOME = (
    f"MATCH (n) WHERE n.namespace = $namespace WITH n LIMIT {_AT_ONCE} DETACH DELETE n RETURN count(*) AS deleted"
)


async def write(store: GraphStore, statement: str, **parameters: Any) -> None:
    """Run one statement in a transaction of its own."""

    async def work(tx: Transaction) -> None:
        await tx.run(statement, parameters)

    await store.transaction(work)


async def eventually[T](fetch: Callable[[], Awaitable[T]], wanted: Callable[[T], bool]) -> T:
    """What ``fetch`` gives as soon as it is wanted, else what it gives in the end: some indexes lag behind."""
    end = asyncio.get_running_loop().time() + PATIENCE_SECONDS
    while True:
        value = await fetch()
        if wanted(value) or asyncio.get_running_loop().time() > end:
            return value
        await asyncio.sleep(0.05)
