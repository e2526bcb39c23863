"""A graph in plain Python, and operations that can be done to it and to an engine alike.

A test makes a sequence of operations, does it to the model and to one engine or several, and compares what the
questions among them give and what is in the graph at the end.
"""

from __future__ import annotations

import math
from collections import Counter, deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import strategies as st

from core.rag.bm25 import K1, B
from core.rag.dbhandler.store import Match, Transaction
from core.rag.schema import EdgeType, Label, TextIndex, VectorIndex
from tests.dbhandler.kit import Corner

DIMENSION = 3
FURTHER_PROPERTIES = {"id", "namespace", "partition"}
NODE_LABELS = (Label.DOCUMENT, Label.CONCEPT)
#: Edge types of the model, with the labels that they connect.
EDGES = {
    EdgeType.RELATED_TO: (Label.CONCEPT, Label.CONCEPT),
    EdgeType.EXPLAINS: (Label.DOCUMENT, Label.CONCEPT),
    EdgeType.CHUNK_OF: (Label.CHUNK, Label.DOCUMENT),
}

type Key = tuple[Label, str]
type Edge = tuple[EdgeType, Key, Key]


@dataclass
class Model:
    """What a graph should hold."""

    nodes: dict[Key, dict[str, Any]] = field(default_factory=dict)
    edges: dict[Edge, dict[str, Any]] = field(default_factory=dict)
    #: Whether chunks were deleted: engines may count their words in the rarity of others for a while.
    forgetting: bool = field(default=False, compare=False)

    def put(self, key: Key, properties: Mapping[str, Any]) -> None:
        node = self.nodes.setdefault(key, {})
        for name, value in properties.items():
            node[name] = value
            if value is None:
                del node[name]

    def remove(self, key: Key) -> None:
        if self.nodes.pop(key, None) is not None and key[0] is Label.CHUNK:
            self.forgetting = True
        self.edges = {edge: props for edge, props in self.edges.items() if key not in edge[1:]}

    def copy(self) -> Model:
        return Model({key: dict(node) for key, node in self.nodes.items()}, dict(self.edges), self.forgetting)

    def texts(self) -> dict[str, Counter[str]]:
        """Words by chunk; one without words is no document of the index."""
        texts = {
            name: Counter(node["terms"].split()) for (label, name), node in self.nodes.items() if label is Label.CHUNK
        }
        return {name: words for name, words in texts.items() if words}

    def bm25(self, terms: Mapping[str, float]) -> dict[str, float]:
        texts = self.texts()
        lengths = {name: sum(words.values()) for name, words in texts.items()}
        scores: dict[str, float] = {}
        for term, weight in terms.items():
            holding = [name for name, words in texts.items() if term in words]
            rarity = math.log(1 + (len(texts) - len(holding) + 0.5) / (len(holding) + 0.5))
            for name in holding:
                norm = 1 - B + B * lengths[name] * len(texts) / sum(lengths.values())
                part = texts[name][term] * (K1 + 1) / (texts[name][term] + K1 * norm)
                scores[name] = scores.get(name, 0.0) + weight * rarity * part
        return scores

    def cosines(self, query: Sequence[float]) -> dict[str, float]:
        vectors = {name: node["embedding"] for (label, name), node in self.nodes.items() if label is Label.VECTOR}
        return {
            name: sum(a * b for a, b in zip(vector, query, strict=True)) / (math.hypot(*vector) * math.hypot(*query))
            for name, vector in vectors.items()
        }

    def distance(self, start: Key, end: Key, types: Sequence[EdgeType], depth: int) -> int | None:
        """Edges on a shortest undirected path."""
        if start not in self.nodes or end not in self.nodes:
            return None
        seen = {start: 0}
        queue = deque([start])
        while queue:
            here = queue.popleft()
            if here == end:
                return seen[here]
            for kind, a, b in self.edges:
                for there in ((b,) if a == here else ()) + ((a,) if b == here else ()):
                    if kind in types and there not in seen and seen[here] < depth:
                        seen[there] = seen[here] + 1
                        queue.append(there)
        return None


@dataclass(frozen=True)
class Indexes:
    """The indexes of a corner."""

    text: TextIndex
    vectors: VectorIndex


# Writes: what each does to the model, and the statements that do the same to an engine.


@dataclass(frozen=True)
class Put:
    """Merge nodes and set a property; ``None`` removes it."""

    label: Label
    names: tuple[str, ...]
    key: str
    value: str | int | bool | None

    def model(self, model: Model) -> None:
        for name in self.names:
            model.put((self.label, name), {self.key: self.value})

    def statements(self, corner: Corner, indexes: Indexes) -> Iterator[tuple[str, dict[str, Any]]]:
        rows = [{"id": corner.id(name), "props": {self.key: self.value}} for name in self.names]
        yield (
            f"UNWIND $rows AS row MERGE (n:{self.label} {{id: row.id}}) ON CREATE SET n.namespace = $namespace "
            "SET n += row.props",
            {"rows": rows, "namespace": corner.namespace},
        )


@dataclass(frozen=True)
class PutText:
    """Merge a chunk with analysed words."""

    name: str
    terms: str

    def model(self, model: Model) -> None:
        model.put((Label.CHUNK, self.name), {"terms": self.terms})

    def statements(self, corner: Corner, indexes: Indexes) -> Iterator[tuple[str, dict[str, Any]]]:
        yield corner.text_statement(indexes.text), corner.text_rows({self.name: self.terms})


@dataclass(frozen=True)
class PutVector:
    """Merge a vector."""

    name: str
    vector: tuple[float, ...]

    def model(self, model: Model) -> None:
        model.put((Label.VECTOR, self.name), {"embedding": self.vector})

    def statements(self, corner: Corner, indexes: Indexes) -> Iterator[tuple[str, dict[str, Any]]]:
        yield corner.vector_statement(indexes.vectors), corner.vector_rows({self.name: self.vector})


@dataclass(frozen=True)
class Connect:
    """Merge an edge between nodes that are there, and set its weight."""

    edge: EdgeType
    start: str
    end: str
    weight: int

    @property
    def keys(self) -> tuple[Key, Key]:
        a, b = EDGES[self.edge]
        return (a, self.start), (b, self.end)

    def model(self, model: Model) -> None:
        a, b = self.keys
        if a in model.nodes and b in model.nodes and a != b:
            model.edges[self.edge, a, b] = {"weight": self.weight}

    def statements(self, corner: Corner, indexes: Indexes) -> Iterator[tuple[str, dict[str, Any]]]:
        (label_a, a), (label_b, b) = self.keys
        if (label_a, a) != (label_b, b):  # engines count self-loops differently, so there are none
            yield (
                f"MATCH (a:{label_a} {{id: $a}}) MATCH (b:{label_b} {{id: $b}}) MERGE (a)-[r:{self.edge}]->(b) "
                "SET r.weight = $weight",
                {"a": corner.id(a), "b": corner.id(b), "weight": self.weight},
            )


@dataclass(frozen=True)
class Disconnect:
    """Delete an edge if it is there."""

    edge: EdgeType
    start: str
    end: str

    def model(self, model: Model) -> None:
        a, b = EDGES[self.edge]
        model.edges.pop((self.edge, (a, self.start), (b, self.end)), None)

    def statements(self, corner: Corner, indexes: Indexes) -> Iterator[tuple[str, dict[str, Any]]]:
        a, b = EDGES[self.edge]
        yield (
            f"MATCH (a:{a} {{id: $a}})-[r:{self.edge}]->(b:{b} {{id: $b}}) DELETE r",
            {"a": corner.id(self.start), "b": corner.id(self.end)},
        )


@dataclass(frozen=True)
class Remove:
    """Delete nodes with their edges."""

    label: Label
    names: tuple[str, ...]

    def model(self, model: Model) -> None:
        for name in self.names:
            model.remove((self.label, name))

    def statements(self, corner: Corner, indexes: Indexes) -> Iterator[tuple[str, dict[str, Any]]]:
        yield (
            f"UNWIND $ids AS i MATCH (n:{self.label} {{id: i}}) DETACH DELETE n",
            {"ids": [corner.id(name) for name in self.names]},
        )


type Write = Put | PutText | PutVector | Connect | Disconnect | Remove


@dataclass(frozen=True)
class Commit:
    """Several writes in one transaction; rolled back where it fails."""

    writes: tuple[Write, ...]
    fails: bool


# Questions


@dataclass(frozen=True)
class FindWords:
    terms: tuple[tuple[str, float], ...]
    k: int


@dataclass(frozen=True)
class FindNear:
    query: tuple[float, ...]
    k: int


@dataclass(frozen=True)
class FindPath:
    start: Key
    end: Key
    types: tuple[EdgeType, ...]
    depth: int


@dataclass(frozen=True)
class Reopen:
    """Close the store and open it again, where the graph outlives that."""


type Operation = Commit | FindWords | FindNear | FindPath | Reopen


class OnPurposeError(Exception):
    """What a failing transaction fails with."""


async def commit(corner: Corner, indexes: Indexes, operation: Commit, model: Model) -> Model:
    """Do it to the engine and to the model; returns the model afterwards."""
    after = model.copy()
    for write in operation.writes:
        write.model(after)

    async def work(tx: Transaction) -> None:
        for write in operation.writes:
            for statement, parameters in write.statements(corner, indexes):
                await tx.run(statement, parameters)
        if operation.fails:
            raise OnPurposeError

    if operation.fails:
        with pytest.raises(OnPurposeError):
            await corner.store.transaction(work)
        return model
    await corner.store.transaction(work)
    return after


def scores_are_comparable(corner: Corner, model: Model) -> bool:
    """Whether nothing but the texts of the corner counts in a score: what is counted by the client forgets at once."""
    return not corner.engine.embedded or not model.forgetting


def check_words(corner: Corner, question: FindWords, matches: Sequence[Match], model: Model) -> None:
    """Assert that a keyword search gave the best, by any order of equal ones."""
    scores = model.bm25(dict(question.terms))
    names = corner.found(matches)
    assert len(set(names)) == len(names) == min(question.k, len(scores))
    assert set(names) <= set(scores)
    given = [match.score for match in matches]
    assert given == sorted(given, reverse=True)
    if scores_are_comparable(corner, model):
        assert given == pytest.approx(sorted(scores.values(), reverse=True)[: question.k], rel=1e-4)
        assert given == pytest.approx([scores[name] for name in names], rel=1e-4)


def check_near(corner: Corner, question: FindNear, matches: Sequence[Match], model: Model) -> None:
    """Assert that a vector search gave the nearest, by any order of equal ones."""
    scores = model.cosines(question.query)
    names = corner.found(matches)
    assert len(set(names)) == len(names)
    given = [match.score for match in matches]
    assert given == pytest.approx(sorted(scores.values(), reverse=True)[: question.k], abs=1e-5)
    assert given == pytest.approx([scores[name] for name in names], abs=1e-5)


def check_path(corner: Corner, question: FindPath, found: Sequence[str] | None, model: Model) -> None:
    """Assert that a path is one, and as short as any."""
    distance = model.distance(question.start, question.end, question.types, question.depth)
    if distance is None:
        assert found is None
        return
    assert found is not None
    names = corner.names(found)
    assert len(names) == distance + 1
    assert (names[0], names[-1]) == (question.start[1], question.end[1])
    pairs = {(a[1], b[1]) for kind, a, b in model.edges if kind in question.types}
    for a, b in pairwise(names):
        assert (a, b) in pairs or (b, a) in pairs


async def dump(corner: Corner) -> Model:
    """Everything that an engine holds in a corner."""
    found = Model()
    for label in Label:
        rows = await corner.store.run(
            f"MATCH (n:{label}) WHERE n.namespace = $namespace RETURN n.id AS id, properties(n) AS props",
            {"namespace": corner.namespace},
        )
        for row in rows:
            (name,) = corner.names([row["id"]])
            assert (label, name) not in found.nodes, f"{label} {name} is there twice"
            properties = {key: value for key, value in row["props"].items() if key not in FURTHER_PROPERTIES}
            if "embedding" in properties:
                properties["embedding"] = tuple(properties["embedding"])
            found.nodes[label, name] = properties
    for edge, (a, b) in EDGES.items():
        rows = await corner.store.run(
            f"MATCH (a:{a})-[r:{edge}]->(b:{b}) WHERE a.namespace = $namespace "
            "RETURN a.id AS a, b.id AS b, properties(r) AS props",
            {"namespace": corner.namespace},
        )
        for row in rows:
            start, end = corner.names([row["a"], row["b"]])
            assert (edge, (a, start), (b, end)) not in found.edges, f"{edge} from {start} to {end} is there twice"
            found.edges[edge, (a, start), (b, end)] = row["props"]
    return found


# Sequences of operations

# An id belongs to one label, as those of the schema do.
_NAMES = {label: [f"{label.value}-{letter}" for letter in "abcdefg"] for label in Label}
_WORDS = ["red", "green", "blue", "the", "x", "7"]
# Whole numbers are exact in 32 bits, and make many equal cosines.
_vectors = st.tuples(*[st.integers(-3, 3).map(float)] * DIMENSION).filter(any)
_edges = st.sampled_from(list(EDGES))


def _name(label: Label) -> st.SearchStrategy[str]:
    return st.sampled_from(_NAMES[label])


def _some(label: Label) -> st.SearchStrategy[tuple[str, ...]]:
    return st.lists(_name(label), min_size=1, max_size=4, unique=True).map(tuple)


def _put(label: Label) -> st.SearchStrategy[Write]:
    values = st.one_of(st.none(), st.sampled_from(["", "é", "it's"]))
    return st.builds(Put, st.just(label), _some(label), st.sampled_from(["title", "content"]), values)


def _connect(edge: EdgeType) -> st.SearchStrategy[Write]:
    a, b = EDGES[edge]
    return st.builds(Connect, st.just(edge), _name(a), _name(b), st.integers(0, 3))


def _disconnect(edge: EdgeType) -> st.SearchStrategy[Write]:
    a, b = EDGES[edge]
    return st.builds(Disconnect, st.just(edge), _name(a), _name(b))


def _remove(label: Label) -> st.SearchStrategy[Write]:
    return st.builds(Remove, st.just(label), _some(label))


def _commits(fails: st.SearchStrategy[bool]) -> st.SearchStrategy[Operation]:
    return st.builds(Commit, st.lists(writes, min_size=1, max_size=6).map(tuple), fails)


writes: st.SearchStrategy[Write] = st.one_of(
    st.sampled_from(NODE_LABELS).flatmap(_put),
    st.builds(PutText, _name(Label.CHUNK), st.lists(st.sampled_from(_WORDS), max_size=8).map(" ".join)),
    st.builds(PutVector, _name(Label.VECTOR), _vectors),
    _edges.flatmap(_connect),
    _edges.flatmap(_disconnect),
    st.sampled_from([*NODE_LABELS, Label.CHUNK, Label.VECTOR]).flatmap(_remove),
)

_ends = st.sampled_from([(label, name) for label in (*NODE_LABELS, Label.CHUNK) for name in _NAMES[label]])
_weights = st.sampled_from([0.25, 1.0, 2.0])
_k = st.sampled_from([1, 2, 10])

#: Any operation; most are transactions.
operations: st.SearchStrategy[Operation] = st.one_of(
    _commits(st.just(False)),
    _commits(st.just(False)),
    _commits(st.sampled_from([False, True])),
    st.builds(
        FindWords,
        st.lists(
            st.tuples(st.sampled_from(_WORDS), _weights), min_size=1, max_size=3, unique_by=lambda pair: pair[0]
        ).map(tuple),
        _k,
    ),
    st.builds(FindNear, _vectors, _k),
    st.builds(
        FindPath, _ends, _ends, st.lists(_edges, min_size=1, max_size=3, unique=True).map(tuple), st.integers(1, 6)
    ),
    st.builds(Reopen),
)
