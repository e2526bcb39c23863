"""Inference: by a model behind a real server, by vectors, by shared neighbours; and what is written of it."""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import AsyncIterator, Sequence
from typing import Any

import pytest

from core.rag import KnowledgeBase
from core.rag.answering.drift import (
    DRIFTRAG,
    DRIFTRAGConfig,
    InferenceEngine,
    InferenceOptions,
    Inferences,
    InferredConnection,
    Path,
    vectors,
)
from core.rag.answering.drift.config import InferenceStrategy
from core.rag.answering.drift.paths import Node
from core.rag.embedder import EmbeddingService
from core.rag.embedder.base import embed_long_texts
from core.rag.errors import ConfigurationError, InvalidInputError
from core.rag.llm.openai_model import OpenAICompatibleModel
from tests.answering.drift_graph import Fact, entity_id, put_entities
from tests.answering.models import Talking, talking
from tests.dbhandler.kit import Engine, make_settings
from tests.fakes.openai_chat import Chat

QUERY = "How is Ada connected with Basel?"
ENTITIES = {"Ada": "Ada builds mills", "Basel": "Basel has mills", "Rhine": "", "mills": "", "Bruno": "Bruno bakes"}
FACTS = [
    Fact("Ada", "mills", "builds", 0.9),
    Fact("Basel", "mills", "has", 0.8),
    Fact("Basel", "Rhine", "lies_on", 1.0),
    Fact("Ada", "Rhine", "painted", 0.4),
]


@pytest.fixture
async def kb(engine: Engine) -> AsyncIterator[KnowledgeBase]:
    async with engine.knowledge() as opened:
        await put_entities(opened.client, ENTITIES, FACTS)
        yield opened


@pytest.fixture
async def talked() -> AsyncIterator[Talking]:
    async with talking(MGRAG_LLM_RETRY_DEADLINE=0) as opened:
        yield opened


@pytest.fixture
def chat(talked: Talking) -> Chat:
    return talked.chat


@pytest.fixture
def model(talked: Talking) -> OpenAICompatibleModel:
    return talked.model


async def walked(drift: DRIFTRAG, kb: KnowledgeBase) -> list[Path]:
    return await drift.dynamic_traversal(entity_id(kb.client, "mills"), QUERY, 3)


def said(*connections: dict[str, Any]) -> str:
    return json.dumps({"connections": list(connections)})


def connection(source: int, target: int, **values: Any) -> dict[str, Any]:
    return {"source": source, "target": target, "type": "works_in", "confidence": 0.8,
            "reasoning": "Both have to do with mills."} | values  # fmt: skip


async def test_shared_neighbours_by_hand(kb: KnowledgeBase) -> None:
    """Ada and Basel share the mills (2 edges) and the Rhine (2 edges)."""
    drift = DRIFTRAG(kb, inference_strategy="structural")
    found = await drift.infer_connections(await walked(drift, kb), QUERY)
    pairs = {frozenset((item.source, item.target)): item for item in found}
    ada = pairs[frozenset((entity_id(kb.client, "Ada"), entity_id(kb.client, "Basel")))]
    adamic_adar = 2 / math.log(2)
    assert ada.confidence == pytest.approx(1 - math.exp(-adamic_adar))
    assert "mills" in ada.reasoning
    assert "Rhine" in ada.reasoning
    joined = {frozenset((entity_id(kb.client, fact.source), entity_id(kb.client, fact.target))) for fact in FACTS}
    assert not joined & set(pairs)


async def test_similar_texts(engine: Engine) -> None:
    async with engine.knowledge() as kb:
        twins = {"one": "the mill grinds grain at night", "two": "the mill grinds grain at night", "hub": "x"}
        ids = await put_entities(kb.client, twins, [Fact("hub", "one"), Fact("hub", "two")])
        drift = DRIFTRAG(kb, inference_strategy="similarity")
        paths = await drift.dynamic_traversal(ids["hub"], "mill", 2)
        found = await drift.infer_connections(paths, "mill")
        assert {frozenset((item.source, item.target)) for item in found} == {frozenset((ids["one"], ids["two"]))}
        assert found[0].strategy == "similarity"
        assert 0.7 <= found[0].confidence <= 1.0


async def test_what_an_edge_off_the_paths_joins_is_not_inferred(engine: Engine) -> None:
    async with engine.knowledge() as kb:
        twins = {"one": "the mill grinds grain", "two": "the mill grinds grain", "hub": "x"}
        facts = [Fact("hub", "one"), Fact("hub", "two"), Fact("one", "two", "same_as")]
        ids = await put_entities(kb.client, twins, facts)
        drift = DRIFTRAG(kb, max_traversal_depth=1)
        paths = await drift.dynamic_traversal(ids["hub"], "mill", 1)
        assert not any(edge.type == "same_as" for path in paths for edge in path.edges)
        for strategy in ("similarity", "structural"):
            assert await drift.infer_connections(paths, "mill", strategy) == []


async def test_without_a_model_the_next_strategy_is_used_and_named(engine: Engine) -> None:
    async with engine.knowledge() as kb:
        twins = {"one": "the mill grinds grain", "two": "the mill grinds grain", "hub": "the hub of the mill"}
        await put_entities(kb.client, twins, [Fact("hub", "one"), Fact("hub", "two")])
        result = await DRIFTRAG(kb).query("What is the hub of the mill?")
    assert any("no language model, so connections" in note for note in result.notes)
    assert {item.strategy for item in result.inferences} == {"similarity"}


async def test_without_a_model_and_without_vectors_the_graph_alone(kb: KnowledgeBase) -> None:
    client = kb.client.in_namespace(kb.namespace)
    client._embedder = None
    result = await DRIFTRAG(client).query(QUERY)
    assert result.paths
    assert result.inferences
    assert all(item.strategy == "structural" for item in result.inferences)
    assert any("no embedding service" in note for note in result.notes)


async def test_a_model_infers_and_is_checked(kb: KnowledgeBase, chat: Chat, model: OpenAICompatibleModel) -> None:
    drift = DRIFTRAG(kb, language_model=model)
    paths = await walked(drift, kb)

    def answer(body: dict[str, Any]) -> str:
        lines = body["messages"][-1]["content"].splitlines()
        numbers = {name: int(line.split(".")[0]) for line in lines for name in ("Ada", "Basel", "Rhine", "mills")
                   if f") {name}: " in line}  # fmt: skip
        return said(
            connection(numbers["Ada"], numbers["Basel"]),
            connection(numbers["Ada"], numbers["Ada"]),
            connection(numbers["Ada"], 99),
            connection(0, numbers["Basel"]),
            connection(numbers["Ada"], numbers["mills"]),
            connection(numbers["Rhine"], numbers["mills"], confidence=1.7),
            connection(numbers["Rhine"], numbers["mills"], reasoning=" "),
            connection(numbers["Rhine"], numbers["mills"], type=""),
            connection(numbers["Rhine"], numbers["mills"], confidence=0.1),
        )

    chat.then(answer)
    found = await drift.infer_connections(paths, QUERY)
    assert [(item.source, item.target, item.type) for item in found] == [
        (entity_id(kb.client, "Ada"), entity_id(kb.client, "Basel"), "works_in")
    ]
    assert (found[0].strategy, found[0].confidence) == ("semantic", 0.8)
    prompt = chat.bodies[-1]["messages"][-1]["content"]
    assert "<<<question " in prompt
    assert "<<<nodes " in prompt
    assert "<<<paths " in prompt


@pytest.mark.parametrize("answer", ["no JSON at all", '{"connections": [{"source": "x"}]}', "[]", ""])
async def test_a_malformed_answer_is_replaced_by_similarity(
    kb: KnowledgeBase, chat: Chat, model: OpenAICompatibleModel, answer: str
) -> None:
    alike = {"hub": "", "one": "grinds corn with wind", "two": "grinds corn with wind"}
    ids = await put_entities(kb.client, alike, [Fact("hub", "one"), Fact("hub", "two")])
    drift = DRIFTRAG(kb, language_model=model)
    paths = await drift.dynamic_traversal(ids["hub"], "mill", 1)
    chat.default = answer
    assert {item.strategy for item in await drift.infer_connections(paths, "mill")} == {"similarity"}


async def test_a_model_writes_the_answer_and_takes_questions_apart(
    kb: KnowledgeBase, chat: Chat, model: OpenAICompatibleModel
) -> None:
    from libs.dataloader import Document

    await kb.ingest(Document(path="ada.md", title="Ada", content="Ada builds mills in Basel."))
    parts = ["How is Ada connected with Basel?", "When does Bruno bake?"]
    chat.then(json.dumps({"parts": parts}), said())
    chat.default = "Ada builds mills in Basel [1]. Bruno owns the moon [9]."
    result = await DRIFTRAG(kb, language_model=model, entry_point_count=6).query(
        "How is Ada connected with Basel and when does Bruno bake?"
    )
    assert result.parts == parts
    assert not result.answer.extracts
    assert [cited.path for cited in result.answer.citations] == ["ada.md"]
    assert result.answer.dropped == (9,)
    assert "[9]" not in str(result)
    assert {node.name for node in result.entry_points} >= {"Ada", "Bruno"}


async def test_the_model_of_the_knowledge_base_is_used(engine: Engine, model: OpenAICompatibleModel) -> None:
    async with engine.knowledge() as without, engine.knowledge(language_model=model) as kb:
        assert DRIFTRAG(without).language_model is None
        assert DRIFTRAG(kb).language_model is model
        assert DRIFTRAG(kb.client).language_model is None


async def test_an_engine_of_ones_own_is_validated(kb: KnowledgeBase) -> None:
    class Eager:
        async def infer(self, paths: Sequence[Path], query: str, strategy: InferenceStrategy) -> Inferences:
            a, b = paths[0].nodes[0].id, entity_id(kb.client, "Rhine")
            good = InferredConnection(a, b, "near", 0.5, "They are close.")
            return Inferences([good, InferredConnection(a, a, "near", 0.5, "Itself."),
                               InferredConnection(a, "elsewhere", "near", 0.5, "Far.")], strategy)  # fmt: skip

    drift = DRIFTRAG(kb, inference_engine=Eager())
    paths = await walked(drift, kb)
    found = await drift.infer_connections(paths, QUERY)
    assert [item.type for item in found] == ["near"]
    assert found[0].target == entity_id(kb.client, "Rhine")


async def test_options_bound_what_is_inferred(kb: KnowledgeBase) -> None:
    engine = InferenceEngine(kb.client, options=InferenceOptions(max_inferences=1))
    drift = DRIFTRAG(kb, inference_engine=engine, inference_strategy="structural")
    assert len(await drift.infer_connections(await walked(drift, kb), QUERY)) == 1
    strict = InferenceEngine(kb.client, options=InferenceOptions(min_confidence=1.0))
    drift = DRIFTRAG(kb, inference_engine=strict, inference_strategy="structural")
    assert await drift.infer_connections(await walked(drift, kb), QUERY) == []


async def test_inferences_are_written_only_when_asked_and_marked(kb: KnowledgeBase) -> None:
    drift = DRIFTRAG(kb, inference_strategy="structural")
    before = await edges(kb)
    found = await drift.infer_connections(await walked(drift, kb), QUERY)
    assert await edges(kb) == before
    assert await drift.store_inferences(found) == len(found)
    assert await drift.store_inferences(found) == len(found)
    after = await edges(kb)
    new = [edge for edge in after if edge not in before]
    assert len(new) == len(after) - len(before) == len(found)
    for edge in new:
        assert edge["inferred"] is True
        assert edge["confidence"] == edge["weight"]
        assert "share" in edge["reasoning"]
        assert edge["strategy"] == "structural"
    paths = await drift.dynamic_traversal(entity_id(kb.client, "Ada"), QUERY, 1)
    assert any(edge.inferred for path in paths for edge in path.edges)
    gaps = await drift.identify_knowledge_gaps(paths, QUERY)
    assert any(gap.kind == "weak_link" and "inferred" in gap.description for gap in gaps)


async def test_what_was_written_can_be_taken_back(kb: KnowledgeBase) -> None:
    drift = DRIFTRAG(kb)
    before = await edges(kb)
    ends = (entity_id(kb.client, "Bruno"), entity_id(kb.client, "Basel"))
    await drift.store_inferences([InferredConnection(*ends, "bakes in", 0.4, "It seems so.")])
    told = await kb.ask("How is Bruno connected to Basel?", "flow")
    assert "Bruno bakes in Basel: inferred: It seems so." in told.text
    assert "Bruno bakes in Basel, inferred: It seems so" in told.context
    assert await kb.unlink(*ends, relation="bakes in") == 1
    assert await edges(kb) == before


async def test_an_inference_never_replaces_what_a_source_says(kb: KnowledgeBase) -> None:
    drift = DRIFTRAG(kb)
    ends = (entity_id(kb.client, "Ada"), entity_id(kb.client, "mills"))
    await drift.store_inferences([InferredConnection(*ends, "builds", 0.3, "It seems so.")])
    found = [edge for edge in await edges(kb) if edge["type"] == "builds"]
    assert sorted((edge["weight"], bool(edge["inferred"])) for edge in found) == [(0.3, True), (0.9, False)]


async def test_invalid_or_unknown_ends_are_not_written(kb: KnowledgeBase) -> None:
    drift = DRIFTRAG(kb)
    before = await edges(kb)
    ends = (entity_id(kb.client, "Ada"), entity_id(kb.client, "Basel"))
    with pytest.raises(InvalidInputError, match="confidence"):
        await drift.store_inferences(
            [InferredConnection(*ends, "near", 0.5, "Yes."), InferredConnection(*ends, "far", 3.0, "Yes.")]
        )
    assert await drift.store_inferences([InferredConnection(ends[0], "nobody", "near", 0.5, "Yes.")]) == 0
    assert await edges(kb) == before


async def test_a_named_model_needs_a_key(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "AZURE_OPENAI_API_KEY", "AZURE_OPENAI_ENDPOINT"):
        monkeypatch.delenv(name, raising=False)
    async with KnowledgeBase.open("embedded::memory:", settings=make_settings()) as kb:
        with pytest.raises(ConfigurationError):
            DRIFTRAG(kb, llm_model="gpt-4")


@pytest.mark.parametrize("given", [{"llm_model": "gpt-4"}, {"config": DRIFTRAGConfig(llm_model="gpt-4")}])
async def test_a_named_model_is_opened_with_the_settings_of_the_knowledge_base(given: dict[str, Any]) -> None:
    settings = make_settings(OPENAI_API_KEY="sk-test", OPENAI_BASE_URL="http://localhost:1/v1")
    async with (
        KnowledgeBase.open("embedded::memory:", settings=settings) as kb,
        DRIFTRAG(kb, **given) as drift,
    ):
        assert isinstance(drift.language_model, OpenAICompatibleModel)
        assert (drift.language_model.model, "localhost:1" in repr(drift.language_model)) == ("gpt-4", True)
        with pytest.raises(InvalidInputError, match="another DRIFTRAG"):
            drift.update_config(llm_model="gpt-5")


async def edges(kb: KnowledgeBase) -> list[dict[str, Any]]:
    rows = await kb.client.read(
        "MATCH (a:Entity)-[r:RELATED]->(b:Entity) WHERE a.namespace = $namespace RETURN a.id AS a, b.id AS b, "
        "r.type AS type, r.weight AS weight, r.inferred AS inferred, r.confidence AS confidence, "
        "r.reasoning AS reasoning, r.strategy AS strategy"
    )
    return sorted(rows, key=lambda row: (row["a"], row["b"], row["type"], row["weight"]))


async def test_vectors_are_made_once_and_the_latest_are_kept(
    kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[str] = []

    async def counted(embedder: EmbeddingService, texts: Sequence[str]) -> Any:
        made.extend(texts)
        return await embed_long_texts(embedder, texts)

    monkeypatch.setattr(vectors, "embed_long_texts", counted)
    monkeypatch.setattr(vectors, "KEPT", 3)
    nodes = [Node(str(number), "Entity", f"mill {number}", f"mill {number}") for number in range(5)]
    known = vectors.Vectors(kb.client)
    first = await known.of_nodes(nodes)
    assert set(first) == {node.id for node in nodes} and len(made) == 5
    again = await known.of_nodes(nodes[2:])
    assert len(made) == 5 and all((again[name] == first[name]).all() for name in again)
    await known.of_nodes(nodes[:1])
    assert made[5:] == ["mill 0"]


async def test_vectors_that_another_question_drops_meanwhile_are_there(
    kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def over_a_network(embedder: EmbeddingService, texts: Sequence[str]) -> Any:
        await asyncio.sleep(0)
        return await embed_long_texts(embedder, texts)

    monkeypatch.setattr(vectors, "embed_long_texts", over_a_network)
    monkeypatch.setattr(vectors, "KEPT", 2)
    nodes = [Node(str(number), "Entity", f"mill {number}", f"mill {number}") for number in range(6)]
    known = vectors.Vectors(kb.client)
    await known.of_nodes(nodes[:2])
    found = await asyncio.gather(known.of_nodes(nodes[2:]), known.of_nodes(nodes[:3]))
    assert [set(one) for one in found] == [{"2", "3", "4", "5"}, {"0", "1", "2"}]
