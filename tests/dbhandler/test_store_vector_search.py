"""What every engine has to find by vectors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from core.rag.dbhandler.store import MAX_K, Match, Transaction
from core.rag.errors import InvalidInputError, InvalidVectorError, StoreError
from core.rag.schema import Label
from tests.dbhandler.kit import BAD_K, Corner, eventually


def cosines(matrix: np.ndarray[Any, Any], query: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    return np.asarray((matrix @ query) / (np.linalg.norm(matrix, axis=1) * np.linalg.norm(query)))


async def nearest(corner: Corner, index: Any, query: Any, k: int) -> list[Match]:
    return await corner.store.vector_search(index, tuple(map(float, query)), k)


async def vectors_become(corner: Corner, index: Any, query: Any, wanted: list[str]) -> None:
    """Assert what a search finds, in order, as soon as the index has followed."""

    async def fetch() -> list[str]:
        return corner.found(await nearest(corner, index, query, 100))

    assert await eventually(fetch, lambda found: found == wanted) == wanted


async def test_the_ranking_is_that_of_an_exact_cosine(corner: Corner) -> None:
    generator = np.random.default_rng(7)
    matrix = generator.normal(size=(300, 24)).astype(np.float32)
    matrix *= generator.uniform(0.01, 100.0, size=(300, 1)).astype(np.float32)  # cosine knows no length
    index = await corner.vector_index(24)
    await corner.put_vectors(index, {f"v{i}": matrix[i].tolist() for i in range(300)})
    for k in (1, 10, 50):
        query = generator.normal(size=24).astype(np.float32)
        scores = cosines(matrix.astype(np.float64), query.astype(np.float64))
        wanted = [f"v{i}" for i in np.argsort(-scores)[:k]]

        async def fetch(query: Any = query, k: int = k) -> list[Match]:
            return await nearest(corner, index, query.tolist(), k)

        def as_wanted(matches: list[Match], wanted: list[str] = wanted) -> bool:
            return corner.found(matches) == wanted

        matches = await eventually(fetch, as_wanted)
        assert corner.found(matches) == wanted
        assert [match.score for match in matches] == pytest.approx(sorted(scores, reverse=True)[:k], abs=2e-6)


async def test_opposite_and_orthogonal_vectors_have_their_cosine(corner: Corner) -> None:
    index = await corner.vector_index(3)
    await corner.put_vectors(index, {"same": (2, 0, 0), "right": (0, 5, 0), "against": (-1, 0, 0)})
    await vectors_become(corner, index, (1, 0, 0), ["same", "right", "against"])
    matches = await nearest(corner, index, (1, 0, 0), 3)
    assert [match.score for match in matches] == pytest.approx([1.0, 0.0, -1.0], abs=1e-6)


async def test_k_may_be_more_than_there_are(corner: Corner) -> None:
    index = await corner.vector_index(2)
    await corner.put_vectors(index, {"a": (1, 0), "b": (1, 1)})
    await vectors_become(corner, index, (1, 0), ["a", "b"])
    assert corner.found(await nearest(corner, index, (1, 0), MAX_K)) == ["a", "b"]
    assert corner.found(await nearest(corner, index, (1, 0), 1)) == ["a"]


@pytest.mark.parametrize("k", BAD_K, ids=repr)
async def test_a_k_that_makes_no_sense_is_refused(corner: Corner, k: Any) -> None:
    index = await corner.vector_index(2)
    with pytest.raises(InvalidInputError, match="k is"):
        await corner.store.vector_search(index, (1.0, 0.0), k)


async def test_an_empty_vector_index_finds_nothing(corner: Corner) -> None:
    index = await corner.vector_index(2)
    assert await nearest(corner, index, (1, 0), 5) == []


@pytest.mark.parametrize(
    "query",
    [
        (),
        (1.0,),
        (1.0, 0.0, 0.0),
        (0.0, 0.0),
        (1.0, float("nan")),
        (float("inf"), 1.0),
        ("x", "y"),
        (None, 1.0),
        "ab",
    ],
    ids=repr,
)
async def test_a_broken_query_vector_reaches_no_engine(corner: Corner, query: Any) -> None:
    index = await corner.vector_index(2)
    await corner.put_vectors(index, {"a": (1, 0)})
    with pytest.raises(InvalidVectorError):
        await corner.store.vector_search(index, query, 3)


async def test_equal_vectors_are_all_found_in_the_order_of_their_ids(corner: Corner) -> None:
    index = await corner.vector_index(4)
    equal = [f"e{i}" for i in range(6)]
    vectors: dict[str, Any] = dict.fromkeys(reversed(equal), (1, 2, 3, 4))
    await corner.put_vectors(index, vectors | {"near": (1, 2, 3, 5), "far": (-1, 0, 0, 0)})
    await vectors_become(corner, index, (1, 2, 3, 4), [*equal, "near", "far"])
    some = await nearest(corner, index, (1, 2, 3, 4), 3)
    assert len(some) == 3
    assert set(corner.found(some)) <= set(equal)
    assert len({match.score for match in some}) == 1


async def test_two_models_live_side_by_side(corner: Corner) -> None:
    small, large = await corner.vector_index(2, "small"), await corner.vector_index(5, "large")
    same = await corner.vector_index(2, "another of two dimensions")
    await corner.put_vectors(small, {"s1": (1, 0), "s2": (0, 1)})
    await corner.put_vectors(large, {"l1": (1, 0, 0, 0, 0), "l2": (0, 1, 0, 0, 0)})
    await corner.put_vectors(same, {"o1": (1, 0)})
    await vectors_become(corner, small, (1, 0.1), ["s1", "s2"])
    await vectors_become(corner, large, (0.1, 1, 0, 0, 0), ["l2", "l1"])
    await vectors_become(corner, same, (1, 0), ["o1"])
    await corner.store.drop_vector_index(same)
    await vectors_become(corner, small, (1, 0.1), ["s1", "s2"])


async def test_changes_and_deletes_reach_the_vector_index(corner: Corner) -> None:
    index = await corner.vector_index(2)
    await corner.put_vectors(index, {"a": (1, 0), "b": (1, 0.2), "c": (1, 0.4)})
    await vectors_become(corner, index, (1, 0), ["a", "b", "c"])
    await corner.delete("a", label=Label.VECTOR)
    await vectors_become(corner, index, (1, 0), ["b", "c"])
    await corner.put_vectors(index, {"b": (0, 1), "d": (1, 0.1)})
    await vectors_become(corner, index, (1, 0), ["d", "c", "b"])


async def test_only_committed_vectors_are_found(corner: Corner) -> None:
    index = await corner.vector_index(2)
    await corner.put_vectors(index, {"a": (1, 0), "b": (0, 1)})
    await vectors_become(corner, index, (1, 0), ["a", "b"])
    seen: list[Any] = []

    async def work(tx: Transaction) -> None:
        await tx.run(corner.vector_statement(index), corner.vector_rows({"new": (1, 0.01), "newer": (0.01, 1)}))
        seen.append(corner.found(await nearest(corner, index, (1, 0), 10)))
        seen.append(corner.found(await nearest(corner, index, (0, 1), 1)))
        raise RuntimeError("roll back")

    with pytest.raises(RuntimeError, match="roll back"):
        await corner.store.transaction(work)
    assert seen == [["a", "b"], ["b"]]
    await vectors_become(corner, index, (1, 0), ["a", "b"])


async def test_searches_go_on_while_vectors_are_deleted(corner: Corner) -> None:
    index = await corner.vector_index(3)
    await corner.put_vectors(index, {f"v{i}": (1, i / 10, 0) for i in range(30)})
    await vectors_become(corner, index, (1, 0, 0), [f"v{i}" for i in range(30)])

    async def work(tx: Transaction) -> None:
        ids = [corner.id(f"v{i}") for i in range(10)]
        await tx.run("UNWIND $ids AS i MATCH (v:Vector {id: i}) DETACH DELETE v", {"ids": ids})
        for _ in range(5):  # must not fail; whether it still sees them is up to the engine
            assert set(corner.found(await nearest(corner, index, (1, 0, 0), 5))) <= {f"v{i}" for i in range(30)}

    await corner.store.transaction(work)
    await vectors_become(corner, index, (1, 0, 0), [f"v{i}" for i in range(10, 30)])


async def test_what_cannot_be_compared_is_not_found(corner: Corner) -> None:
    """A vector of another dimension and a node without one, under the same label, must not come first."""
    index = await corner.vector_index(3)
    await corner.put_vectors(index, {"a": (1, 0, 0), "b": (0, 1, 0)})
    for name, vector in (("short", (1, 0)), ("long", (1, 0, 0, 0))):
        try:
            await corner.put_vectors(index, {name: vector})
        except StoreError:
            assert name not in await corner.stored(Label.VECTOR), "refused, but there"
    await corner.write(
        f"MERGE (v:Vector {{id: $id}}) SET v:{index.label}, v.namespace = $namespace",
        {"id": corner.id("missing"), "namespace": corner.namespace},
    )
    await vectors_become(corner, index, (1, 0, 0), ["a", "b"])
    assert corner.found(await nearest(corner, index, (1, 0, 0), 1)) == ["a"]
