"""Nodes with very many edges: what is looked at is bounded, in a fixed order, and the result says so."""

from __future__ import annotations

import pytest

from core.rag import KnowledgeBase, UndirectedNode
from core.rag.dbhandler.store import Transaction
from core.rag.graph import hops, neighbours, paths, traversing
from core.rag.graph.proximity import surroundings

LEAVES = 120


@pytest.fixture
async def crowd(kb: KnowledgeBase) -> KnowledgeBase:
    """An entity with many edges, of which the last are the heaviest, in both directions."""
    await kb.link("Hub", "leaf 000", "knows", weight=1, create=True)
    hub = (await kb.traverse("leaf 000", 1)).nodes[0].id
    ids = [await kb.client.make_entity(f"leaf {number:03}") for number in range(1, LEAVES)]
    rows = [{"id": identifier, "w": float(number)} for number, identifier in enumerate(ids, 2)]

    async def work(tx: Transaction) -> None:
        await tx.run(
            "MATCH (h:Entity {id: $hub}) UNWIND $rows AS row MATCH (e:Entity {id: row.id}) "
            "CREATE (e)-[:RELATED {type: 'knows', weight: row.w}]->(h)",
            {"hub": hub, "rows": rows},
        )

    await kb.client._write(work)
    return kb


@pytest.mark.parametrize("rows", [10, 100_000])
async def test_of_a_hub_the_heaviest_edges_are_followed(
    crowd: KnowledgeBase, monkeypatch: pytest.MonkeyPatch, rows: int
) -> None:
    monkeypatch.setattr(hops, "MAX_ROWS", rows)
    piece = await traversing.traverse(crowd.client, "Hub", 1, fan_out=30, limit=1000)
    assert [node.name for node in piece.nodes] == [f"leaf {n:03}" for n in range(LEAVES - 1, LEAVES - 31, -1)]
    assert piece.truncated
    assert piece.hubs == {piece.start.id: LEAVES}
    far = await traversing.traverse(crowd.client, "leaf 007", 2, fan_out=30, limit=1000)
    assert far.truncated
    assert len(far.nodes) == 31
    whole = await traversing.traverse(crowd.client, "Hub", 1, limit=1000)
    assert len(whole.nodes) == LEAVES
    assert not whole.truncated
    assert whole.hubs == {}


async def test_all_neighbours_of_a_hub_can_be_paged(crowd: KnowledgeBase) -> None:
    names: list[str] = []
    after = ""
    while True:
        page = await crowd.neighbors("Hub", limit=50, after=after)
        assert page.degree == LEAVES
        names += [node.name for node in page.nodes]
        after = page.next
        assert page.truncated == bool(after)
        if not after:
            break
    assert names == [f"leaf {n:03}" for n in range(LEAVES)]


async def test_paths_through_hubs_are_found_and_say_when_there_may_be_lighter_ones(
    crowd: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    exact = await crowd.shortest_path("leaf 001", "leaf 002", weighted=True)
    assert exact is not None
    assert exact.exact
    assert exact.cost == pytest.approx(1 / 2 + 1 / 3)
    monkeypatch.setattr(paths, "FAN_OUT", 5)
    await crowd.link("leaf 001", "before", create=True)
    path = await crowd.shortest_path("before", "leaf 003", weighted=True)
    assert path is not None
    assert [node.name for node in path.nodes] == ["before", "leaf 001", "Hub", "leaf 003"]
    assert path.cost == pytest.approx(1 + 1 / 2 + 1 / 4)
    assert not path.exact
    assert await crowd.shortest_path("before", "leaf 003", weighted=True, max_depth=2) is None


async def test_what_is_near_a_question_is_bounded(crowd: KnowledgeBase, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("core.rag.graph.proximity._MAX_REACHED", 40)
    around = await surroundings(crowd.client, "What does Hub know?", 2)
    assert len(around.nodes) == 40
    assert [around.nodes[seed].name for seed in around.seeds] == ["Hub"]


@pytest.mark.parametrize("rows", [10, 100_000])
async def test_walks_over_a_crowded_knowledge_graph_are_the_first_of_the_whole(
    kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch, rows: int
) -> None:
    graph = kb.knowledge_graph
    hub = UndirectedNode("hub")
    leaves = [UndirectedNode(f"leaf {n:03}", "even" if n % 2 == 0 else "odd") for n in range(LEAVES)]
    await graph.add_nodes(hub, leaves)
    beyond = [UndirectedNode(f"beyond {n:03}", "odd") for n in range(LEAVES)]
    await graph.add_nodes(beyond)
    await graph.add_edges(zip(leaves, beyond, strict=True))
    monkeypatch.setattr(neighbours, "MAX_ROWS", rows)
    whole = await graph.get_nodes_within_steps(leaves[5], 3)
    assert len(whole) == 2 * LEAVES
    for limit in (1, 7, 119, 120, 121, 200, 2 * LEAVES):
        for _ in range(2):
            part = await graph.get_nodes_within_steps(leaves[5], 3, limit=limit)
            assert list(part) == list(whole)[:limit]
            assert part.truncated == (limit < len(whole))
    odd = await graph.get_nodes_within_steps(hub, 2, ["odd"], True, limit=10)
    assert [node.content for node in odd] == [f"leaf {n:03}" for n in range(1, 21, 2)]
    assert odd.truncated
