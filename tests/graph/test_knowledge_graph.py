"""KnowledgeGraph: the examples and use cases of its design, deduplication, search by meaning, and what it leaves."""

from __future__ import annotations

import asyncio
import itertools
import json
import math
import uuid
from collections.abc import AsyncIterator, Sequence
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import core.rag
import mgrag
from core.rag import KnowledgeBase, KnowledgeGraph, UndirectedNode
from core.rag.embedder import embed_texts
from core.rag.errors import ConfigurationError, InvalidInputError, InvalidVectorError, NotFoundError
from tests.dbhandler.kit import Engine, make_settings
from tests.embedders import HashEmbedder
from tests.graphs import listen, orphans, snapshot


@pytest.fixture
async def graph(kb: KnowledgeBase) -> KnowledgeGraph:
    """An empty graph whose embedder gives texts with the same words the same direction."""
    return kb.knowledge_graph


@pytest.fixture
async def meaning(engine: Engine) -> AsyncIterator[KnowledgeGraph]:
    """The same with the embedding model that is the default."""
    async with engine.knowledge(embedder=None) as kb:
        yield kb.knowledge_graph


class CountingEmbedder(HashEmbedder):
    """Knows how often it was called."""

    def __init__(self) -> None:
        super().__init__()
        self.calls = 0

    async def get_embeddings(self, texts: Sequence[str], names: Sequence[str] | None = None) -> NDArray[np.float32]:
        self.calls += 1
        return await super().get_embeddings(texts, names)


def contents(nodes: list[UndirectedNode]) -> list[str]:
    return [node.content for node in nodes]


def test_the_graph_is_a_public_name() -> None:
    assert core.rag.KnowledgeGraph is mgrag.KnowledgeGraph is KnowledgeGraph
    assert {"KnowledgeGraph", "UndirectedNode"} <= set(core.rag.__all__)


async def test_example_building_a_knowledge_graph(meaning: KnowledgeGraph) -> None:
    concept1 = UndirectedNode(content="Vector databases store embeddings", label="concept")
    concept2 = UndirectedNode(content="Embeddings are vector representations", label="concept")
    await meaning.add_node(concept1, neighbor=concept2)
    assert await meaning.size() == 2
    assert await meaning.get_neighbors(concept1) == [concept2]
    assert await meaning.get_neighbors(concept2) == [concept1]


async def test_example_hybrid_search(meaning: KnowledgeGraph) -> None:
    learning = UndirectedNode("machine learning", "topic")
    paper = UndirectedNode("A survey of gradient descent", "document")
    idea = UndirectedNode("Optimisation", "concept")
    person = UndirectedNode("Ada", "person")
    far = UndirectedNode("Three steps away", "concept")
    await meaning.add_nodes(learning, [paper, person])
    await meaning.add_nodes([idea, far])
    await meaning.add_edges([(paper, idea), (idea, far)])
    await meaning.add_node(UndirectedNode("Baking bread at home", "document"), UndirectedNode("Yeast", "concept"))
    found = await meaning.query_by_content(
        content="machine learning",
        topk_k=10,
        step=2,
        constraint_labels=["document", "concept"],
        similarity_threshold=0.7,
    )
    assert contents(found) == ["A survey of gradient descent", "Optimisation"]


async def test_example_intersection(graph: KnowledgeGraph) -> None:
    names = ["artificial intelligence", "databases", "web development"]
    for name in names:
        await graph.add_node(UndirectedNode(name, "topic"), UndirectedNode("embedding", "concept"))
        await graph.add_node(UndirectedNode(name, "topic"), UndirectedNode("everybody", "person"))
    await graph.add_node(UndirectedNode("embedding", "concept"), UndirectedNode("vector", "concept"))
    await graph.add_node(UndirectedNode("databases", "topic"), UndirectedNode("index", "concept"))
    nodes = [await graph.get_node_by_content(name) for name in names]
    common = await graph.get_nodes_intersection(nodes=nodes, steps=2, constraint_labels=["concept"])
    assert contents(common) == ["embedding", "vector"]
    with pytest.raises(InvalidInputError, match="None"):
        await graph.get_nodes_intersection([*nodes, await graph.get_node_by_content("nothing")])
    with pytest.raises(InvalidInputError, match="at least one"):
        await graph.get_nodes_intersection([])


async def test_a_node_that_was_not_found_is_told_of(graph: KnowledgeGraph) -> None:
    missing = await graph.get_node_by_content("nowhere")
    for walk in (graph.get_nodes_within_steps, graph.query_by_node, graph.get_neighbors):
        with pytest.raises(InvalidInputError, match="not found"):
            await walk(missing)  # type: ignore[arg-type]


async def test_a_walk_begins_at_a_node_or_its_id_not_at_its_text(graph: KnowledgeGraph) -> None:
    mill, tide = UndirectedNode("mill"), UndirectedNode("tide")
    await graph.add_node(mill, tide)
    assert await graph.get_neighbors(mill.id) == await graph.query_by_node(mill.id) == [tide]
    assert await graph.get_nodes_intersection([mill.id]) == [tide]  # type: ignore[list-item]
    for walk in (graph.get_nodes_within_steps, graph.query_by_node, graph.get_neighbors):
        with pytest.raises(NotFoundError, match="no node with the id 'mill'; get_node_by_content"):
            await walk("mill")
    assert await graph.get_neighbors(UndirectedNode("not there")) == []


async def test_use_case_knowledge_chains(meaning: KnowledgeGraph) -> None:
    browser = UndirectedNode("browser automation", "concept")
    testing = UndirectedNode("testing", "concept")
    selenium = UndirectedNode("Selenium drives a browser for tests", "document")
    await meaning.add_nodes([browser, testing], [selenium])
    await meaning.add_node(browser, UndirectedNode("Scraping prices", "document"))
    automation = await meaning.semantic_search("browser automation", similarity_threshold=0.9)
    assert automation == [browser]
    results = await meaning.get_nodes_intersection([*automation, await meaning.get_node_by_content("testing")], 2)
    assert contents(results) == [selenium.content]


async def test_use_case_concept_mapping(graph: KnowledgeGraph) -> None:
    start = UndirectedNode("vector database", "concept")
    chain = [
        start,
        UndirectedNode("index", "technology"),
        UndirectedNode("HNSW", "concept"),
        UndirectedNode("g", "note"),
    ]
    await graph.add_nodes(chain)
    await graph.add_edges(list(itertools.pairwise(chain)))
    related = await graph.get_nodes_within_steps(start, steps=3, constraint_labels=["concept", "technology"])
    assert contents(related) == ["index", "HNSW"]


async def test_use_case_document_clustering(graph: KnowledgeGraph) -> None:
    ai, databases = UndirectedNode("artificial intelligence"), UndirectedNode("databases")
    both, one = UndirectedNode("Vectors in SQL", "document"), UndirectedNode("Robots", "document")
    await graph.add_nodes([ai, databases], [both])
    await graph.add_node(ai, one)
    ai_nodes = await graph.semantic_search("artificial intelligence", topk_k=1)
    db_nodes = await graph.semantic_search("databases", topk_k=1)
    common = await graph.get_nodes_intersection([*ai_nodes, *db_nodes], steps=1, constraint_labels=["document"])
    assert common == [both]


async def test_ids_come_from_the_content(graph: KnowledgeGraph) -> None:
    node = UndirectedNode("Same content, same id", "concept", appendix={"from": ["a", 1, None]})
    assert node.id == str(uuid.uuid3(uuid.NAMESPACE_DNS, "Same content, same id"))
    assert await graph.add_node(node) == node
    there = await graph.get_node(node.id)
    assert there is not None
    assert (there.content, there.label, there.appendix) == (node.content, "concept", {"from": ["a", 1, None]})
    assert await graph.get_node("not there") is None


async def test_a_node_is_there_already_by_id_then_by_content_and_label(graph: KnowledgeGraph) -> None:
    python = await graph.add_node(UndirectedNode("Python", "language"))
    assert (await graph.add_node(UndirectedNode("Python", "language"))).id == python.id
    by_id = await graph.add_node(UndirectedNode("Another content", "snake", id=python.id))
    assert (by_id.content, by_id.label) == ("Python", "language")
    by_content = await graph.add_node(UndirectedNode("Python", "language", id="my-own"))
    assert by_content.id == python.id
    snake = await graph.add_node(UndirectedNode("Python", "snake", id="reptile"))
    assert snake.id == "reptile"
    assert await graph.size() == 2
    assert (await graph.get_node_by_content("Python")) == python
    assert (await graph.get_node_by_content("Python", "snake")) == snake
    same = [UndirectedNode("twice", "x"), UndirectedNode("twice", "x", id="second"), UndirectedNode("twice", "x")]
    assert [node.id for node in await graph.add_nodes(same)] == [same[0].id] * 3


async def test_nodes_that_mean_the_same_are_one_only_where_that_is_asked_for(graph: KnowledgeGraph) -> None:
    first = await graph.add_node(UndirectedNode("graph databases store edges", "concept"))
    case = UndirectedNode("Graph Databases Store Edges", "concept")
    assert (await graph.add_node(case, merge_similar=True)).id == first.id
    assert (await graph.add_node(UndirectedNode(case.content, "document"), merge_similar=True)).id == case.id
    other = UndirectedNode("graph databases keep edges", "concept")
    assert (await graph.add_node(other, merge_similar=True)).id == other.id
    near = UndirectedNode("graph databases hold edges", "concept")
    assert (await graph.add_node(near, same_node_threshold=0.3, merge_similar=True)).id != near.id
    assert (await graph.add_node(near)).id == near.id


async def test_vectors_are_made_when_first_needed_and_many_at_once(engine: Engine) -> None:
    embedder = CountingEmbedder()
    async with engine.knowledge(embedder=embedder) as kb:
        graph = kb.knowledge_graph
        for number in range(40):
            await graph.add_node(UndirectedNode(f"word{number}", "x"))
        assert embedder.calls == 0
        assert (await graph.semantic_search("word7", topk_k=1))[0].content == "word7"
        assert embedder.calls == 2
        assert len(embedder.embedded) == 41
        await graph.add_node(UndirectedNode("word7", "x"))
        await graph.semantic_search("word8", topk_k=1)
        assert embedder.calls == 3
        concept = await kb.create_or_get_concept("a concept of its own")
        assert (await graph.semantic_search("concept of its own", topk_k=1))[0].content == "a concept of its own"
        assert concept
        assert await graph.embed_pending() == 0


async def test_search_by_meaning_has_thresholds_limits_and_labels(graph: KnowledgeGraph) -> None:
    nodes = [UndirectedNode(f"apple tree number{i}", "even" if i % 2 == 0 else "odd") for i in range(30)]
    await graph.add_nodes([*nodes, UndirectedNode("completely different words", "even")])
    found = await graph.semantic_search("apple tree")
    assert {node.content for node in found} >= {node.content for node in nodes}
    scores = [node.similarity for node in found]
    assert scores == sorted(scores, reverse=True)  # type: ignore[type-var]
    assert all(score is not None and score > 0 for score in scores)
    assert {n.label for n in await graph.semantic_search("apple tree", constraint_labels=["odd"])} == {"odd"}
    assert len(await graph.semantic_search("apple tree", topk_k=3, constraint_labels=["odd"])) == 3
    assert contents(await graph.semantic_search("apple tree number7", 0.999)) == ["apple tree number7"]
    assert (await graph.semantic_search(nodes[4], topk_k=1)) == [nodes[4]]
    assert await graph.semantic_search("\u200b") == []
    for bad in (0, -1, 10**9, True, "3"):
        with pytest.raises(InvalidInputError, match="topk_k"):
            await graph.semantic_search("apple", topk_k=bad)  # type: ignore[arg-type]
    with pytest.raises(InvalidInputError, match="constraint_labels must be a sequence of texts"):
        await graph.semantic_search("apple", constraint_labels="odd")


async def test_an_emptied_namespace_can_be_filled_again(kb: KnowledgeBase) -> None:
    graph = kb.knowledge_graph
    await graph.add_node(UndirectedNode("apple tree"))
    assert len(await graph.semantic_search("apple tree", 0.9)) == 1
    await kb.client.delete_everything()
    assert await graph.semantic_search("apple tree") == []
    await graph.add_node(UndirectedNode("pear tree"))
    assert contents(await graph.semantic_search("pear tree", 0.9)) == ["pear tree"]


async def test_an_emptied_namespace_can_be_filled_again_with_nodes_that_have_vectors(kb: KnowledgeBase) -> None:
    graph = kb.knowledge_graph
    assert kb.embedder is not None
    vector = (await embed_texts(kb.embedder, ["apple tree"]))[0].tolist()
    await graph.add_node(UndirectedNode("apple tree", embedding=vector))
    await kb.delete_namespace(kb.namespace)
    await graph.add_node(UndirectedNode("pear tree", embedding=vector))
    assert contents(await graph.semantic_search("apple tree", 0.9)) == ["pear tree"]


@pytest.mark.parametrize("most", [64, 10_000])
async def test_a_rare_label_among_many_is_found(
    graph: KnowledgeGraph, monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    monkeypatch.setattr("core.rag.dbhandler.deeper.MAX_K", most)
    await graph.add_nodes([UndirectedNode(f"apple {i}", "common") for i in range(400)])
    await graph.add_node(UndirectedNode("apple and many words that are otherwise unlike it", "rare"))
    assert [n.label for n in await graph.semantic_search("apple", topk_k=1, constraint_labels=["rare"])] == ["rare"]


async def test_trunks_are_searched_by_themselves(graph: KnowledgeGraph) -> None:
    long = UndirectedNode(" ".join(f"word{i}" for i in range(300)), "document")
    trunks = long.split_into_trunk(size=200, overlap=40)
    assert all(len(trunk) <= 200 for trunk in trunks)
    assert all(a[-40:] == b[:40] for a, b in itertools.pairwise(trunks))
    assert trunks[0] + "".join(trunk[40:] for trunk in trunks[1:]) == long.content
    whole = UndirectedNode(f"{long.content} whole", "document")
    await graph.add_nodes([long, whole])
    best = await graph.semantic_search(trunks[3], topk_k=2)
    assert best[0] == long
    assert best[0].similarity == pytest.approx(1, abs=1e-3)
    assert best[1].similarity is not None
    assert best[1].similarity < 0.7
    assert best[0].trunks == trunks
    counts = await graph._client.counts()
    assert counts["nodes"]["Vector"] == 2 + len(trunks)
    for size, overlap in ((0, 0), (10, 10), (10, -1), (True, 0)):
        with pytest.raises(InvalidInputError):
            long.split_into_trunk(size, overlap)
    assert UndirectedNode("short").split_into_trunk() == ["short"]


async def test_vectors_of_the_caller_are_used(graph: KnowledgeGraph) -> None:
    embedder = HashEmbedder()
    given = UndirectedNode("says nothing", embedding=(await embedder.get_embedding("apple tree")))
    await graph.add_node(given)
    assert (await graph.semantic_search("apple tree", topk_k=1)) == [given]
    made = UndirectedNode("pear tree")
    made.split_into_trunk(5, 1)
    vector = await made.create_embedding(embedder)
    assert vector == pytest.approx(await embedder.get_embedding("pear tree"))
    assert len(made.trunks_embedding) == len(made.trunks)
    await graph.add_node(made)
    assert await graph.embed_pending() == 0
    with pytest.raises(InvalidVectorError):
        await graph.add_node(UndirectedNode("wrong", embedding=[1.0, 2.0]))


async def test_a_vector_that_is_none_is_refused_before_anything_is_stored(graph: KnowledgeGraph) -> None:
    wrong = UndirectedNode("beta", "concept", embedding=[1.0, 2.0, 3.0])
    for merge in (False, True):
        with pytest.raises(InvalidVectorError):
            await graph.add_node(UndirectedNode("alpha", "concept"), neighbor=wrong, merge_similar=merge)
        assert await graph.size() == 0


async def test_queries_by_content_are_bounded_and_without_repetitions(graph: KnowledgeGraph) -> None:
    hub = UndirectedNode("apple hub", "hub")
    leaves = [UndirectedNode(f"leaf{i:02}", "leaf") for i in range(20)]
    await graph.add_nodes(hub, leaves)
    assert contents(await graph.query_by_content("apple hub", topk_k=4, similarity_threshold=0.5)) == [
        f"leaf{i:02}" for i in range(4)
    ]
    twice = await graph.query_by_content(["apple hub", "hub apple"], topk_k=4, similarity_threshold=0.5)
    assert contents(twice) == [f"leaf{i:02}" for i in range(4)]
    assert await graph.query_by_content("apple hub", step=0) == []
    assert await graph.query_by_content([]) == []
    far = UndirectedNode("alone", "leaf")
    await graph.add_node(far)
    assert await graph.query_by_content("apple hub", similarity_threshold=0.5, constraint_node=far) == []
    near = await graph.query_by_content(
        "apple hub", topk_k=9, step=2, similarity_threshold=0.5, constraint_node=leaves[3], constraint_distance=1
    )
    assert contents(near) == ["leaf03"]


async def test_what_is_removed_leaves_nothing(graph: KnowledgeGraph, kb: KnowledgeBase) -> None:
    await graph.add_node(UndirectedNode("stays"), UndirectedNode("stays, too"))
    await graph.embed_pending()
    before = await snapshot(kb.client)
    gone = UndirectedNode("goes " * 300, "x", appendix=[1])
    gone.split_into_trunk(100)
    await graph.add_node(gone, UndirectedNode("stays"))
    await graph.embed_pending()
    assert await snapshot(kb.client) != before
    assert await graph.remove_node(gone)
    assert not await graph.remove_node(gone)
    assert await snapshot(kb.client) == before
    assert sum((await orphans(kb.client)).values()) == 0
    assert await graph.clear() == 2
    assert (await kb.client.counts())["nodes"] == {"VectorStore": 1}


async def test_a_graph_moves_with_an_export_and_another_model(engine: Engine, tmp_path: Any) -> None:
    async with engine.knowledge() as kb:
        graph = kb.knowledge_graph
        await graph.add_node(UndirectedNode("apple tree", "x"), UndirectedNode("pear tree", "x"))
        await graph.embed_pending()
        before = await snapshot(kb.client)
        await kb.client.export_graph(tmp_path / "graph.jsonl")
        await graph.clear()
        await kb.client.import_graph(tmp_path / "graph.jsonl")
        assert await snapshot(kb.client) == before
        assert contents(await graph.semantic_search("apple tree", topk_k=1)) == ["apple tree"]
        namespace = kb.namespace
        if engine.uri == "embedded::memory:":
            other = HashEmbedder(16, "other")
            store = await kb.client.ensure_vector_store(other.model, 16, new_store=True)
            again = KnowledgeGraph(kb.client.in_namespace(namespace), other)
            assert contents(await again.semantic_search("pear tree", topk_k=1)) == ["pear tree"]
            await again.add_node(UndirectedNode("plum tree", "x"))
            await again.embed_pending()
            assert await kb.client.ensure_vector_store("words", 32, new_store=True) != store
            assert contents(await graph.semantic_search("plum tree", topk_k=1)) == ["plum tree"]


async def test_namespaces_hold_the_same_nodes_apart(kb: KnowledgeBase, engine: Engine) -> None:
    one = kb.knowledge_graph
    two = KnowledgeGraph(kb.client.in_namespace(engine.namespace()), kb.embedder)
    node, other = UndirectedNode("the same", "x"), UndirectedNode("another", "x")
    await one.add_node(node, other)
    assert await two.size() == 0
    assert await two.get_node(node.id) is None
    await two.add_node(node)
    assert await two.get_neighbors(node) == []
    assert await two.remove_node(node)
    assert await one.get_neighbors(node) == [other]
    assert await two.semantic_search("another") == []


async def test_edges_need_both_of_their_nodes(graph: KnowledgeGraph) -> None:
    a, b = await graph.add_nodes([UndirectedNode("a"), UndirectedNode("b")])
    with pytest.raises(NotFoundError, match="1 of 2 edges"):
        await graph.add_edges([(a, b), (a, UndirectedNode("nowhere"))])
    await graph.add_edges([(a, b, 2.0), (b, a), (a, a)])
    assert (await graph._client.counts())["edges"] == {"RELATED_TO": 1}
    assert await graph.get_neighbors(UndirectedNode("nowhere")) == []
    assert await graph.remove_edge(b, a)
    assert not await graph.remove_edge(a, b)


@pytest.mark.parametrize(
    "text", ['"; MATCH (n) DETACH DELETE n //', "`", "emoji 🙂🙃", "\0x\0", "half \ud800 pair", "10,000 " * 1_500, "\n"]
)
async def test_hostile_texts_are_only_texts(graph: KnowledgeGraph, text: str) -> None:
    if not text.strip():
        with pytest.raises(InvalidInputError):
            UndirectedNode(text)
        return
    node = UndirectedNode(text, text[:100], appendix={text[:50].replace("\ud800", "?"): 1}, id=f"id{text[:50]}")
    stored = await graph.add_node(node, UndirectedNode("neighbour", "plain"))
    assert (stored.content, stored.label) == (node.content, node.label)
    assert await graph.get_node(node.id) == node
    assert await graph.get_node_by_content(text) == node
    assert await graph.get_nodes_within_steps(UndirectedNode("neighbour"), 2, [node.label], True) == [node]
    assert await graph.get_neighbors(UndirectedNode("neighbour")) == [node]
    await graph.semantic_search(text)
    assert await graph.size() == 2


@pytest.mark.parametrize(
    "make",
    [
        lambda: UndirectedNode(""),
        lambda: UndirectedNode(" \t"),
        lambda: UndirectedNode(7),  # type: ignore[arg-type]
        lambda: UndirectedNode("x", 7),  # type: ignore[arg-type]
        lambda: UndirectedNode("x", id=""),
        lambda: UndirectedNode("x", appendix={1, 2}).to_row(),
        lambda: UndirectedNode("x" * 9_000_000),
    ],
)
def test_nodes_that_make_no_sense_are_refused(make: Any) -> None:
    with pytest.raises(InvalidInputError):
        make()


async def test_walks_that_make_no_sense_are_refused(graph: KnowledgeGraph) -> None:
    node = await graph.add_node(UndirectedNode("a"))
    for steps in (-1, 65, 1.5, True, "2"):
        with pytest.raises(InvalidInputError, match="steps"):
            await graph.get_nodes_within_steps(node, steps)  # type: ignore[arg-type]
    for limit in (0, 10**6):
        with pytest.raises(InvalidInputError, match="limit"):
            await graph.get_nodes_within_steps(node, limit=limit)
    with pytest.raises(InvalidInputError, match="constraint_distance"):
        await graph.query_by_node(node, constraint_node=node, constraint_distance=-1)


async def test_without_an_embedder_all_but_meaning_works(engine: Engine) -> None:
    async with engine.knowledge(embedder=None, embedding=False) as kb:
        graph = kb.knowledge_graph
        await graph.add_node(UndirectedNode("a"), UndirectedNode("b"))
        assert contents(await graph.get_neighbors(UndirectedNode("a"))) == ["b"]
        with pytest.raises(ConfigurationError, match="embedding service"):
            await graph.semantic_search("a")


async def test_a_graph_can_be_opened_by_itself(tmp_path: Any) -> None:
    uri = f"embedded:{tmp_path / 'graph.grafeo'}"
    settings = make_settings()
    async with KnowledgeGraph.open(uri, embedder=HashEmbedder(), settings=settings) as graph:
        await graph.add_node(UndirectedNode("kept", "x", appendix=1), UndirectedNode("and this"))
    async with KnowledgeGraph.open(uri, embedder=HashEmbedder(), settings=settings) as graph:
        node = await graph.get_node_by_content("kept")
        assert node is not None
        assert json.loads(json.dumps(node.to_dict()))["appendix"] == 1
        assert contents(await graph.get_neighbors(node)) == ["and this"]


async def test_a_walk_that_was_walked_before_takes_two_queries(
    kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    chain = [UndirectedNode(f"link {number}") for number in range(8)]
    await kb.knowledge_graph.add_nodes(chain)
    await kb.knowledge_graph.add_edges(itertools.pairwise(chain))
    asked = listen(monkeypatch)
    for cache, expected in ((True, [6, 2, 2]), (False, [6, 6, 6])):
        graph = KnowledgeGraph(kb, cache=cache)
        numbers = []
        for _ in range(3):
            asked.clear()
            assert contents(await graph.get_nodes_within_steps(chain[0], 5)) == [n.content for n in chain[1:6]]
            numbers.append(len(asked))
        assert numbers == expected


async def test_many_at_once_make_each_node_and_edge_once(kb: KnowledgeBase) -> None:
    graphs = [kb.knowledge_graph, KnowledgeGraph(kb), KnowledgeGraph(kb.client), KnowledgeGraph(kb.client, kb.embedder)]
    hub = UndirectedNode("hub", "x")
    leaves = [UndirectedNode(f"leaf {number}", "x") for number in range(5)]
    calls = [graph.add_node(*pair) for graph in graphs for leaf in leaves for pair in ((hub, leaf), (leaf, hub))]
    await asyncio.gather(*calls)
    await asyncio.gather(*(graph.semantic_search("leaf 3", topk_k=1) for graph in graphs))
    counts = await kb.client.counts()
    assert counts["nodes"]["Concept"] == counts["nodes"]["Vector"] == 6
    assert counts["edges"]["RELATED_TO"] == 5
    assert counts["edges"]["EMBEDDING_OF"] == 6


@pytest.mark.parametrize("nothing", ["x", None, 3])
async def test_what_is_no_node_is_not_added(graph: KnowledgeGraph, nothing: Any) -> None:
    node = UndirectedNode("There", "fact")
    for refused in (graph.add_node(nothing), graph.add_nodes(nothing), graph.add_nodes(node, nothing)):
        with pytest.raises(InvalidInputError, match="needed"):
            await refused
    assert await graph.size() == 0


@pytest.mark.parametrize("threshold", ["x", math.nan, 2, -1.5, True, None])
async def test_a_threshold_that_is_no_cosine_is_refused(graph: KnowledgeGraph, threshold: Any) -> None:
    for merge_similar in (False, True):
        with pytest.raises(InvalidInputError, match="same_node_threshold"):
            await graph.add_node(UndirectedNode("There", "fact"), None, threshold, merge_similar=merge_similar)
    assert await graph.size() == 0
