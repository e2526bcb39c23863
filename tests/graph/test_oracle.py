"""The graph in the database against a plain one in memory, on random graphs."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Coroutine, Iterator
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core.rag import KnowledgeGraph, UndirectedNode
from core.rag.dbhandler import MemGraphClient
from tests.dbhandler.kit import BOLT_URI, Engine, bolt_engine, clean_namespace, make_settings
from tests.graph.oracle import Plain

LABELS = ["concept", "document", "technology", ""]


def edges(nodes: int) -> st.SearchStrategy[list[tuple[int, int]]]:
    """Some between any nodes, and in half of the graphs a chain of all: few others are as deep as walks go."""
    node = st.integers(0, nodes - 1)
    chain = st.sampled_from([[], [*pairwise(range(nodes))]])
    return st.tuples(chain, st.lists(st.tuples(node, node), max_size=3 * nodes)).map(
        lambda parts: [*parts[0], *parts[1]]
    )


CONTENTS = st.text(min_size=1, max_size=6).filter(lambda text: text.replace("\0", "").strip())

GRAPHS = st.lists(
    st.tuples(CONTENTS, st.sampled_from(LABELS)), min_size=1, max_size=12, unique_by=lambda n: n[0]
).flatmap(lambda nodes: st.tuples(st.just(nodes), edges(len(nodes))))
WALKS = st.tuples(
    st.integers(0, 11),
    st.integers(0, 5),
    st.one_of(st.none(), st.lists(st.sampled_from(LABELS), max_size=3)),
    st.booleans(),
)
ON_BOLT = pytest.param("bolt", marks=pytest.mark.bolt)


class Place:
    """An open graph database, and a loop to talk to it in."""

    def __init__(self, engine: str) -> None:
        self.loop = asyncio.new_event_loop()
        at = bolt_engine() if engine == "bolt" else Engine("embedded::memory:")
        self.bolt = engine == "bolt"
        self.client = MemGraphClient(at.uri, at.username, at.password, settings=make_settings(), namespace="random")
        self.store = self.run(self.client.connect())
        self.used: list[str] = []

    def run[T](self, work: Coroutine[Any, Any, T]) -> T:
        return self.loop.run_until_complete(work)

    def graph(self, *, cache: bool = True) -> KnowledgeGraph:
        self.used.append(f"random-{uuid.uuid4().hex}")
        return KnowledgeGraph(self.client.in_namespace(self.used[-1]), cache=cache)

    def empty(self) -> None:
        for namespace in self.used:
            self.run(clean_namespace(self.store, namespace))
        self.used.clear()

    def close(self) -> None:
        self.empty()
        self.run(self.client.close())
        self.loop.close()


@pytest.fixture(scope="module", params=["embedded", *([ON_BOLT] if BOLT_URI else [])])
def place(request: pytest.FixtureRequest) -> Iterator[Place]:
    """A graph database for all examples of a test."""
    opened = Place(request.param)
    yield opened
    opened.close()


def examples(place: Place, embedded: int, bolt: int) -> settings:
    return settings(
        max_examples=bolt if place.bolt else embedded, deadline=None, suppress_health_check=list(HealthCheck)
    )


async def build(
    graph: KnowledgeGraph, nodes: list[tuple[str, str]], edges: list[tuple[int, int]]
) -> tuple[Plain, list[UndirectedNode]]:
    plain = Plain()
    made = [UndirectedNode(content, label) for content, label in nodes]
    stored = await graph.add_nodes(made)
    keys = [plain.add(node) for node in made]
    assert [node.id for node in stored] == keys
    await graph.add_edges([(made[a], made[b]) for a, b in edges])
    for a, b in edges:
        plain.link(keys[a], keys[b])
    return plain, made


def test_walks_are_those_of_a_plain_search(place: Place) -> None:
    @examples(place, 200, 20)
    @given(GRAPHS, st.lists(WALKS, min_size=1, max_size=3))
    def check(parts: Any, walks: Any) -> None:
        async def compare() -> None:
            graph = place.graph()
            plain, made = await build(graph, *parts)
            for start, steps, labels, block in walks:
                node = made[start % len(made)]
                expected = plain.within(node.id, steps, labels, block)
                for _ in range(2):  # the second time with what was learned from the first
                    found = await graph.get_nodes_within_steps(node, steps, labels, block)
                    assert [other.id for other in found] == expected
                    assert not found.truncated
                for limit in (1, max(len(plain.within(node.id, steps, labels if block else None, block)) - 1, 1)):
                    part = await graph.get_nodes_within_steps(node, steps, labels, block, limit=limit)
                    passed = plain.within(node.id, steps, labels if block else None, block)
                    assert [n.id for n in part] == [key for key in passed[:limit] if key in set(expected)]
                    assert part.truncated == (len(passed) > limit)

        place.run(compare())
        if len(place.used) >= 200:
            place.empty()

    check()


def test_intersections_and_queries_by_node_are_those_of_a_plain_search(place: Place) -> None:
    @examples(place, 120, 12)
    @given(GRAPHS, st.lists(WALKS, min_size=1, max_size=3), st.integers(0, 11), st.integers(0, 3))
    def check(parts: Any, walks: Any, near: int, distance: int) -> None:
        async def compare() -> None:
            graph = place.graph()
            plain, made = await build(graph, *parts)
            starts = [made[walk[0] % len(made)] for walk in walks]
            _, steps, labels, block = walks[0]
            first, *others = [plain.within(node.id, steps, labels) for node in starts]
            common = [key for key in first if all(key in other for other in others)]
            assert [node.id for node in await graph.get_nodes_intersection(starts, steps, labels)] == common
            other = made[near % len(made)]
            far = plain.distance(other.id)
            expected = [
                key
                for key in plain.within(starts[0].id, steps, labels, block)
                if key in far and (distance == 0 or far[key] <= distance)
            ]
            found = await graph.query_by_node(starts[0], steps, labels, other, distance, block)
            assert [node.id for node in found] == expected

        place.run(compare())
        if len(place.used) >= 200:
            place.empty()

    check()


# Many steps with few nodes: they meet what others have remembered and changed.
STEPS = st.lists(
    st.tuples(
        st.sampled_from(["add", "add", "link", "link", "unlink", "remove", "walk"]),
        st.integers(0, 5),
        st.integers(0, 5),
        st.sampled_from(LABELS[:2]),
        st.integers(0, 2),
    ),
    min_size=20,
    max_size=40,
)


def test_any_sequence_of_changes_leaves_the_plain_graph(place: Place) -> None:
    """Two graphs on one namespace, and statements past both: each of them always sees the present state."""

    @examples(place, 40, 4)
    @given(STEPS)
    def check(steps: Any) -> None:
        async def compare() -> None:
            graph, plain = place.graph(), Plain()
            client = graph._client
            graphs = [graph, KnowledgeGraph(client), KnowledgeGraph(client, cache=False)]
            for action, a, b, label, which in steps:
                one, two = UndirectedNode(f"n{a}", label), UndirectedNode(f"n{b}", label)
                acting = graphs[which]
                if action == "add":
                    stored = await acting.add_node(one, neighbor=two)
                    keys = plain.add(one), plain.add(two)
                    plain.link(*keys)
                    assert stored.id == keys[0]
                elif action == "link" and {one.id, two.id} <= set(plain.nodes):
                    if which == 2:  # as somebody at a console of the database would
                        await past(client, graph._id(one), graph._id(two))
                    else:
                        await acting.add_edge(one, two)
                    plain.link(one.id, two.id)
                elif action == "unlink":
                    there = two.id in plain.edges.get(one.id, ())
                    assert await acting.remove_edge(one, two) == there
                    plain.edges.get(one.id, set()).discard(two.id)
                    plain.edges.get(two.id, set()).discard(one.id)
                elif action == "remove":
                    assert await acting.remove_node(one) == (one.id in plain.nodes)
                    plain.remove(one.id)
                found = await acting.get_nodes_within_steps(one, 1 + b % 4)
                assert [node.id for node in found] == plain.within(one.id, 1 + b % 4)
            assert {node.id: (node.content, node.label) for node in await graph.get_all_nodes()} == plain.nodes

        place.run(compare())
        if len(place.used) >= 200:
            place.empty()

    check()


async def past(client: MemGraphClient, a: str, b: str) -> None:
    """An edge that no KnowledgeGraph was told of, in either direction."""
    if a == b:
        return
    store = await client.connect()
    rows = await client.read(
        "MATCH (a:Concept {id: $a})-[:RELATED_TO]-(b:Concept {id: $b}) RETURN a.id AS id", a=a, b=b
    )
    if not rows:

        async def work(tx: Any) -> None:
            await tx.run(
                "MATCH (a:Concept {id: $a}) MATCH (b:Concept {id: $b}) MERGE (a)-[:RELATED_TO]->(b)", {"a": b, "b": a}
            )

        await store.transaction(work)
