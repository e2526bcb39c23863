"""What every engine has to find along edges."""

from __future__ import annotations

import random
from itertools import pairwise
from typing import Any

import pytest

from core.rag.dbhandler.store import MAX_DEPTH, GraphStore
from core.rag.errors import InvalidInputError
from core.rag.schema import EdgeType, Label
from tests.dbhandler.kit import Corner


@pytest.fixture
async def paths(corner: Corner) -> Corner:
    """a - b - c - d in a row, with a way around from a to d over e of other edges; f stands alone."""
    await corner.put("a", "b", "c", "d", "e", "f", label=Label.CONCEPT)
    await corner.link(("a", "b"), ("c", "b"), ("c", "d"), label=Label.CONCEPT)
    await corner.link(("a", "e"), ("e", "d"), edge=EdgeType.SAME_AS, label=Label.CONCEPT)
    return corner


async def path(
    corner: Corner, start: str, end: str, *types: EdgeType, depth: int = 10, namespace: str | None = None
) -> list[str] | None:
    found = await corner.store.shortest_path(
        corner.id(start), corner.id(end), edge_types=types, max_depth=depth, namespace=namespace or corner.namespace
    )
    return None if found is None else corner.names(found)


async def test_the_shortest_path_goes_either_way_along_edges(paths: Corner) -> None:
    assert await path(paths, "a", "d", EdgeType.RELATED_TO) == ["a", "b", "c", "d"]
    assert await path(paths, "d", "a", EdgeType.RELATED_TO) == ["d", "c", "b", "a"]
    assert await path(paths, "a", "d", EdgeType.RELATED_TO, EdgeType.SAME_AS) == ["a", "e", "d"]
    assert await path(paths, "a", "b", EdgeType.RELATED_TO) == ["a", "b"]


async def test_there_may_be_no_path(paths: Corner) -> None:
    assert await path(paths, "a", "f", EdgeType.RELATED_TO, EdgeType.SAME_AS) is None
    assert await path(paths, "a", "e", EdgeType.RELATED_TO) is None
    assert await path(paths, "a", "unknown", EdgeType.RELATED_TO) is None
    assert await path(paths, "unknown", "a", EdgeType.RELATED_TO) is None
    assert await path(paths, "a", "d", EdgeType.MENTIONS) is None


async def test_the_depth_is_counted_in_edges(paths: Corner) -> None:
    assert await path(paths, "a", "d", EdgeType.RELATED_TO, depth=3) == ["a", "b", "c", "d"]
    assert await path(paths, "a", "d", EdgeType.RELATED_TO, depth=2) is None
    assert await path(paths, "a", "b", EdgeType.RELATED_TO, depth=1) == ["a", "b"]


async def test_the_path_of_a_node_to_itself_is_the_node(paths: Corner) -> None:
    assert await path(paths, "a", "a", EdgeType.RELATED_TO) == ["a"]
    assert await path(paths, "f", "f", EdgeType.RELATED_TO, depth=1) == ["f"]
    assert await path(paths, "unknown", "unknown", EdgeType.RELATED_TO) is None


async def test_a_path_stays_in_its_namespace(paths: Corner) -> None:
    assert await path(paths, "a", "b", EdgeType.RELATED_TO, namespace="another") is None
    assert await path(paths, "a", "a", EdgeType.RELATED_TO, namespace="another") is None


async def test_a_path_may_cross_labels(paths: Corner) -> None:
    await paths.put("document")
    await paths.write(
        "MATCH (d:Document {id: $d}) MATCH (c:Concept {id: $c}) MERGE (d)-[:EXPLAINS]->(c)",
        {"d": paths.id("document"), "c": paths.id("b")},
    )
    assert await path(paths, "document", "a", EdgeType.EXPLAINS, EdgeType.RELATED_TO) == ["document", "b", "a"]


@pytest.mark.parametrize("depth", [0, -1, MAX_DEPTH + 1, 2.0, True, "3"], ids=repr)
async def test_a_depth_that_makes_no_sense_is_refused(store: GraphStore, depth: Any) -> None:
    with pytest.raises(InvalidInputError, match="max_depth"):
        await store.shortest_path("a", "b", edge_types=[EdgeType.NEXT], max_depth=depth, namespace="n")


async def test_a_path_along_no_edges_is_refused(store: GraphStore) -> None:
    with pytest.raises(InvalidInputError, match="edge type"):
        await store.shortest_path("a", "b", edge_types=[], max_depth=3, namespace="n")


async def test_hostile_ids_only_are_ids(paths: Corner) -> None:
    for hostile in ("'", '"}) DETACH DELETE a //', "\0", "x" * 5000):
        assert await path(paths, hostile, "a", EdgeType.RELATED_TO) is None
    assert await paths.stored(Label.CONCEPT) == ["a", "b", "c", "d", "e", "f"]


async def test_a_path_through_a_crowd_is_found(corner: Corner) -> None:
    """Many nodes and detours: the length is that of a breadth-first search."""
    generator = random.Random(3)
    names = [f"n{i}" for i in range(60)]
    pairs = list(pairwise(names))
    pairs += [(a, b) for a, b in (generator.sample(names, 2) for _ in range(25))]
    await corner.put(*names, label=Label.CONCEPT)
    await corner.link(*pairs, label=Label.CONCEPT)
    neighbours: dict[str, set[str]] = {name: set() for name in names}
    for a, b in pairs:
        neighbours[a].add(b)
        neighbours[b].add(a)
    reached, frontier, steps = {names[0]}, {names[0]}, 0
    while names[-1] not in reached:
        frontier = {b for a in frontier for b in neighbours[a]} - reached
        reached |= frontier
        steps += 1
    found = await path(corner, names[0], names[-1], EdgeType.RELATED_TO, depth=20)
    assert found is not None
    assert len(found) == steps + 1
    assert all(b in neighbours[a] for a, b in pairwise(found))
