"""Every example of the design of DRIFT RAG, in Python, on the entities that extraction writes and on concepts."""

from __future__ import annotations

import json

import pytest

from core.rag import KnowledgeBase, KnowledgeGraph, UndirectedNode
from core.rag.answering.basic import BasicRAG
from core.rag.answering.drift import DRIFTRAG, preset
from core.rag.errors import EmptyGraphError, InvalidInputError, ModelMismatchError, NoEntryPointsError, NotFoundError
from tests.answering.drift_graph import Fact, entity_id, put_entities
from tests.dbhandler.kit import Engine
from tests.embedders import HashEmbedder

ENTITIES = {
    "machine learning": "Machine learning is a subset of AI",
    "AI": "AI is the study of machines that think",
    "neural networks": "Neural networks are a way of learning from examples",
    "graph theory": "Graph theory is about vertices and edges",
    "recipes": "Recipes say how to cook",
}
FACTS = [
    Fact("machine learning", "AI", "subset_of", 0.9),
    Fact("neural networks", "machine learning", "part_of", 0.8, "Neural networks are part of machine learning."),
    Fact("neural networks", "graph theory", "depends_on", 0.6),
    Fact("machine learning", "recipes", "related_to", 0.2),
]
MORE = {"neural networks": {"category": "ML"}, "AI": {"category": "ML"}, "recipes": {"category": "food"}}


@pytest.fixture
async def graph(engine: Engine) -> object:
    async with engine.knowledge() as kb:
        await put_entities(kb.client, ENTITIES, FACTS, **MORE)
        yield kb


async def test_quick_start(graph: KnowledgeBase) -> None:
    drift = DRIFTRAG(
        knowledge_graph=graph,
        entry_point_count=3,
        max_traversal_depth=3,
        traversal_direction="bidirectional",
        top_k_paths=5,
        use_inference=True,
    )
    response = await drift.query("What is machine learning?")
    assert "Machine learning is a subset of AI" in str(response)
    assert response.entry_points[0].name == "machine learning"
    assert 1 <= len(response.paths) <= 5
    assert response.answer.strategy == "drift"
    assert response.answer.extracts
    assert any("no language model" in note.lower() for note in response.notes)
    told = json.loads(json.dumps(response.to_dict()))
    assert (told["text"], told["answer"]["strategy"]) == (str(response), "drift")
    assert (len(told["paths"]), len(told["hits"])) == (len(response.paths), len(response.hits))


async def test_quick_start_with_nodes_of_a_knowledge_graph(engine: Engine) -> None:
    async with engine.knowledge() as kb:
        graph = KnowledgeGraph(kb.client)
        learning = UndirectedNode("Machine learning is a subset of AI", "field", id="ml-1", appendix={"category": "ML"})
        ai = UndirectedNode("AI is the study of machines that think", "field", id="ai-1")
        await graph.add_node(learning, neighbor=ai)
        await graph.add_edge(learning, ai, 0.9)
        drift = DRIFTRAG(knowledge_graph=graph)
        response = await drift.query("What is machine learning?")
        assert "Machine learning is a subset of AI" in str(response)
        start = response.entry_points[0]
        assert (start.content, start.metadata["category"]) == ("Machine learning is a subset of AI", "ML")
        paths = await drift.dynamic_traversal(start, "What is machine learning?", 2, "bidirectional")
        assert max(len(path.nodes) for path in paths) == 2
        assert {path.edges[0].weight for path in paths if path.edges} == {0.9}


async def test_entry_points(graph: KnowledgeBase) -> None:
    entry_points = await DRIFTRAG(graph).find_entry_points("machine learning")
    assert entry_points[0].name == "machine learning"
    assert len(entry_points) <= 3
    assert len(await DRIFTRAG(graph).find_entry_points("machine learning", count=1)) == 1


async def test_dynamic_traversal_in_each_direction(graph: KnowledgeBase) -> None:
    drift = DRIFTRAG(graph)
    start = entity_id(graph.client, "machine learning")

    async def reached(direction: str) -> set[str]:
        paths = await drift.dynamic_traversal(start, "machine learning", 1, direction)  # type: ignore[arg-type]
        return {path.nodes[-1].name for path in paths} - {"machine learning"}

    assert await reached("forward") == {"AI", "recipes"}
    assert await reached("backward") == {"neural networks"}
    assert await reached("bidirectional") == {"AI", "recipes", "neural networks"}


async def test_inferences_and_gaps(graph: KnowledgeBase) -> None:
    drift = DRIFTRAG(graph, inference_strategy="structural")
    query = "How is AI connected with graph theory and gardening?"
    start = entity_id(graph.client, "machine learning")
    paths = await drift.dynamic_traversal(start, query, 3)
    inferences = await drift.infer_connections(paths, query)
    found_between = {frozenset((item.source, item.target)): item for item in inferences}
    found = found_between[frozenset(entity_id(graph.client, name) for name in ("AI", "neural networks"))]
    assert 0.0 < found.confidence <= 1.0
    assert "machine learning" in found.reasoning
    gaps = await drift.identify_knowledge_gaps(paths, query)
    assert any(gap.kind == "missing_words" and "gardening" in gap.words for gap in gaps)


async def test_aggregation_and_ranking(graph: KnowledgeBase) -> None:
    drift = DRIFTRAG(graph, top_k_paths=2, min_path_score=0.2)
    start = entity_id(graph.client, "machine learning")
    paths = await drift.dynamic_traversal(start, "machine learning")
    inferences = await drift.infer_connections(paths, "machine learning", "structural")
    ranked = drift.aggregate_and_rank_paths([*paths, *paths], inferences)
    assert len(ranked) == 2
    assert ranked[0].score >= ranked[1].score >= 0.2
    assert ranked[0].score <= 1.0


async def test_responses_with_and_without_provenance(graph: KnowledgeBase) -> None:
    drift = DRIFTRAG(graph)
    query = "What is machine learning?"
    paths = await drift.dynamic_traversal(entity_id(graph.client, "machine learning"), query)
    ranked = drift.aggregate_and_rank_paths(paths)
    response = await drift.generate_response(query, ranked)
    with_sources = await drift.generate_response(query, ranked, True)
    assert str(with_sources).startswith(str(response))
    assert "Paths:" in str(with_sources)
    assert "Paths:" not in str(response)
    assert str(ranked[0]) in str(with_sources)


async def test_node_and_edge_filters(graph: KnowledgeBase) -> None:
    drift = DRIFTRAG(graph)
    start = entity_id(graph.client, "machine learning")
    paths = await drift.dynamic_traversal(
        start, "machine learning", 3, "bidirectional", lambda node: node.metadata.get("category") == "ML"
    )
    assert {node.name for path in paths for node in path.nodes} == {"machine learning", "AI", "neural networks"}
    paths = await drift.dynamic_traversal(
        start, "machine learning", 3, "bidirectional", edge_types=["related_to", "depends_on"]
    )
    assert {edge.type for path in paths for edge in path.edges} == {"related_to"}
    paths = await drift.dynamic_traversal(start, "machine learning", 3, edge_types=["PART_OF", "depends on"])
    assert {edge.type for path in paths for edge in path.edges} == {"part_of", "depends_on"}


async def test_updates_of_the_configuration(graph: KnowledgeBase) -> None:
    drift = DRIFTRAG(graph)
    drift.update_config(max_traversal_depth=4, top_k_paths=10, min_path_score=0.4)
    assert (drift.config.max_traversal_depth, drift.config.top_k_paths, drift.config.min_path_score) == (4, 10, 0.4)
    result = await drift.query("What is machine learning?")
    assert result.paths
    assert all(path.score >= 0.4 for path in result.paths)
    with pytest.raises(InvalidInputError, match="min_path_score"):
        drift.update_config(min_path_score=2.0)
    assert drift.config.min_path_score == 0.4


async def test_a_strategy_of_the_moment(graph: KnowledgeBase) -> None:
    drift = DRIFTRAG(graph)
    paths = await drift.dynamic_traversal(entity_id(graph.client, "AI"), "machine learning")
    for strategy in ("similarity", "structural"):
        for item in await drift.infer_connections(paths, "machine learning", strategy):
            assert item.strategy == strategy
    with pytest.raises(InvalidInputError, match="inference_strategy"):
        await drift.infer_connections(paths, "machine learning", "telepathy")  # type: ignore[arg-type]


async def test_errors_have_the_messages_of_the_design(engine: Engine) -> None:
    async with engine.knowledge() as kb:
        drift = DRIFTRAG(kb)
        with pytest.raises(EmptyGraphError) as empty:
            await drift.query("test query")
        assert str(empty.value) == "Cannot query empty graph"
        assert isinstance(empty.value, NotFoundError)
        assert await drift.find_entry_points("test query") == []
        await put_entities(kb.client, ENTITIES, FACTS)
        with pytest.raises(NoEntryPointsError) as nothing:
            await drift.query("zygomorphic xylophones")
        assert str(nothing.value) == "No entry points found for query"


async def test_passages_about_something_else_are_no_entry_points(engine: Engine) -> None:
    from libs.dataloader import Document

    async with engine.knowledge() as kb:
        await kb.ingest([Document(path="mill.md", content="The tide mill was built by Edmund Harrow in 1612.")])
        drift = DRIFTRAG(kb)
        assert [node.name for node in await drift.find_entry_points("Who built the mill?")] == ["mill.md"]
        for query in ("Which enzyme fixes carbon?", "zygomorphic xylophones", "?"):
            with pytest.raises(NoEntryPointsError):
                await drift.query(query)


async def test_beside_basic_rag(graph: KnowledgeBase) -> None:
    from libs.dataloader import Document

    await graph.ingest(Document(path="ml.md", content="Machine learning is a subset of AI.", title="Machine learning"))
    basic = await BasicRAG(graph).query("What is machine learning?")
    drift = await DRIFTRAG(graph).query("What is machine learning?")
    assert basic.strategy == "basic"
    assert [cited.path for cited in basic.citations] == [cited.path for cited in drift.answer.citations] == ["ml.md"]


@pytest.mark.parametrize("name", ["quick", "balanced", "comprehensive"])
async def test_the_recommended_settings_work(graph: KnowledgeBase, name: str) -> None:
    config = preset(name)
    result = await DRIFTRAG(graph, config=config).query("What is machine learning?")
    assert 1 <= len(result.paths) <= config.top_k_paths
    assert result.stats.depth <= config.max_traversal_depth
    assert bool(result.inferences or result.gaps) <= config.use_inference
    assert DRIFTRAG(graph, config=config, top_k_paths=1).config.top_k_paths == 1


async def test_the_model_of_the_graph_counts(graph: KnowledgeBase) -> None:
    assert DRIFTRAG(graph, embedding_model="text-embedding-ada-002").config.embedding_model == "text-embedding-ada-002"
    assert DRIFTRAG(graph, embedding_model=HashEmbedder().model).config.embedding_model == HashEmbedder().model
    with pytest.raises(ModelMismatchError, match="another-model"):
        DRIFTRAG(graph, embedding_model="another-model")
    with pytest.raises(InvalidInputError, match="knowledge base"):
        DRIFTRAG(object())  # type: ignore[arg-type]
