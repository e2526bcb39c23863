"""Indexes that do not agree with the graph are found and made anew, on every engine."""

from __future__ import annotations

from core.rag.schema import Label, TextIndex
from tests.dbhandler.kit import Corner


async def found(corner: Corner, index: TextIndex, word: str) -> list[str]:
    return sorted(corner.found(await corner.store.text_search(index, {word: 1.0}, 10)))


async def problems_of(corner: Corner) -> list[str]:
    """Those of this namespace: on a server, others have theirs."""
    return [problem for problem in await corner.store.check_indexes() if corner.namespace in problem]


async def test_all_is_well_after_ordinary_work(corner: Corner) -> None:
    index = await corner.text_index()
    await corner.put_texts(index, {f"d{i}": f"word{i} common" for i in range(30)})
    await corner.put_texts(index, {"d1": "changed"})
    await corner.delete("d2", label=Label.CHUNK)
    assert await problems_of(corner) == []
    assert await corner.store.check_indexes(repair=True) == []
    assert len(await found(corner, index, "common")) == 10


async def test_nodes_that_no_search_finds_are_found_and_repaired(corner: Corner) -> None:
    index = await corner.text_index()
    await corner.put_texts(index, {"a": "alpha"})
    # As written by something that knows nothing of the index.
    await corner.put("b", "c", label=Label.CHUNK, terms="alpha beta")
    assert await found(corner, index, "alpha") == ["a"]
    (problem,) = await problems_of(corner)
    assert "2 nodes" in problem
    assert Label.CHUNK in problem
    assert problem in await corner.store.check_indexes(repair=True)
    assert await problems_of(corner) == []
    assert await found(corner, index, "alpha") == ["a", "b", "c"]
    assert await found(corner, index, "beta") == ["b", "c"]


async def test_an_embedded_index_that_is_gone_is_made_anew(corner: Corner) -> None:
    if not corner.engine.embedded:
        return  # a server has one for all namespaces; see the fault tests
    index = await corner.text_index()
    await corner.put_texts(index, {"a": "alpha", "b": "alpha"})
    await corner.store.drop_text_index(index)
    assert len(await problems_of(corner)) == 1
    await corner.store.check_indexes(repair=True)
    assert await problems_of(corner) == []
    assert await found(corner, index, "alpha") == ["a", "b"]
