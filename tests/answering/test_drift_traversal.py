"""Traversals: against a plain search over all paths, with cycles, hubs, budgets, and a cache that is never stale."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core.rag import KnowledgeBase, UndirectedNode
from core.rag.answering.drift import DRIFTRAG, Node, Path, TraversalStats
from core.rag.answering.drift.scoring import path_score
from core.rag.answering.drift.words import QueryWords
from core.rag.errors import InvalidInputError, NotFoundError
from core.rag.schema import Label
from libs.dataloader import Document
from tests.answering.drift_graph import Fact, entity_id, put_entities, write
from tests.dbhandler.kit import BOLT_URI, Engine

WORDS = ("tide", "mill", "wheel", "oak", "grain", "ferry")
QUERY = "tide mill wheel"


def all_paths(
    start: int, edges: list[tuple[int, int, float]], depth: int, direction: str
) -> set[tuple[tuple[int, ...], tuple[str, ...]]]:
    """Every path without a node twice, with the types of its edges, the plain way."""
    steps: list[tuple[int, int, str]] = []
    if direction in ("forward", "bidirectional"):
        steps += [(a, b, f"t{a}{b}") for a, b, _ in edges]
    if direction in ("backward", "bidirectional"):
        steps += [(b, a, f"t{a}{b}") for a, b, _ in edges]
    found: set[tuple[tuple[int, ...], tuple[str, ...]]] = {((start,), ())}
    level = set(found)
    for _ in range(depth):
        level = {
            ((*nodes, b), (*types, kind))
            for nodes, types in level
            for a, b, kind in steps
            if a == nodes[-1] and b not in nodes
        }
        found |= level
    return found


graphs = st.lists(
    st.tuples(st.integers(0, 5), st.integers(0, 5), st.sampled_from([0.1, 0.25, 0.5, 1.0])),
    max_size=10,
    unique_by=lambda edge: edge[:2],
)


@settings(
    max_examples=8 if BOLT_URI else 25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(edges=graphs, depth=st.integers(1, 4), direction=st.sampled_from(["forward", "backward", "bidirectional"]))
async def test_every_path_is_found_once_with_its_score(
    kb: KnowledgeBase, edges: list[tuple[int, int, float]], depth: int, direction: str
) -> None:
    """Cycles and self-loops included; the beam is wide enough to leave nothing out."""
    await write(kb.client, "MATCH (e:Entity) WHERE e.namespace = $namespace DETACH DELETE e",
                namespace=kb.namespace)  # fmt: skip
    facts = [Fact(WORDS[a], WORDS[b], f"t{a}{b}", weight) for a, b, weight in edges]
    ids = await put_entities(kb.client, dict.fromkeys(WORDS, ""), facts)
    drift = DRIFTRAG(kb, beam_width=1000, max_edges_per_node=1000)
    stats = TraversalStats()
    paths = await drift.dynamic_traversal(ids["tide"], QUERY, depth, direction, stats=stats)  # type: ignore[arg-type]
    names = {identifier: number for number, identifier in enumerate(ids.values())}
    found = [(tuple(names[i] for i in path.ids), tuple(edge.type for edge in path.edges)) for path in paths]
    expected = all_paths(0, edges, depth, direction)
    assert len(found) == len(expected)
    assert set(found) == expected
    assert stats.limits == []
    words = QueryWords(QUERY)
    for path in paths:
        relevance = sum(word in path_names(path) for word in words.words) / 3
        assert path.content_relevance == pytest.approx(relevance)
        assert path.score == pytest.approx(path_score(relevance, [edge.weight for edge in path.edges], len(path.nodes)))
    assert [path.score for path in paths] == sorted((path.score for path in paths), reverse=True)


def path_names(path: Path) -> set[str]:
    return {node.name for node in path.nodes}


async def test_a_hub_is_bounded_and_says_so(kb: KnowledgeBase) -> None:
    leaves = {f"leaf {number}": "" for number in range(300)}
    facts = [Fact("hub", name, "has", weight=number / 300) for number, name in enumerate(leaves)]
    ids = await put_entities(kb.client, {"hub": "", **leaves}, facts)
    stats = TraversalStats()
    drift = DRIFTRAG(kb, max_edges_per_node=20, beam_width=10)
    paths = await drift.dynamic_traversal(ids["hub"], "tide", 3, stats=stats)
    assert stats.visited_edges <= 20 + 10 * 20
    assert any("strongest 20" in limit for limit in stats.limits)
    assert any("best 10" in limit for limit in stats.limits)
    strongest = {f"leaf {number}" for number in range(290, 300)}
    assert {path.nodes[1].name for path in paths if len(path.nodes) > 1} == strongest


async def test_a_weak_edge_of_a_hub_to_what_was_asked_for_is_taken(kb: KnowledgeBase) -> None:
    leaves = {f"leaf {number}": "" for number in range(100)}
    facts = [Fact("hub", name, "has", weight=0.9) for name in leaves]
    ids = await put_entities(
        kb.client, {"hub": "", "tide gate": "", **leaves}, [*facts, Fact("hub", "tide gate", "has", 0.01)]
    )
    drift = DRIFTRAG(kb, max_edges_per_node=5, beam_width=5)
    paths = await drift.dynamic_traversal(ids["hub"], "What is the tide gate?", 1)
    assert any(path.nodes[-1].name == "tide gate" for path in paths)


async def test_the_budget_of_edges_is_kept(kb: KnowledgeBase) -> None:
    names = [f"node {number}" for number in range(40)]
    facts = [Fact(a, b, "x") for a in names for b in names if a != b]
    ids = await put_entities(kb.client, dict.fromkeys(names, ""), facts)
    for budget in (1, 50, 500):
        stats = TraversalStats()
        drift = DRIFTRAG(kb, max_visited_edges=budget, beam_width=40)
        assert await drift.dynamic_traversal(ids["node 0"], "node", 8, stats=stats)
        # One round may overshoot, since nobody knows the degrees before; by no more than its nodes can have.
        assert stats.visited_edges <= budget + 16 * 64
        assert any("budget" in limit for limit in stats.limits)


async def test_paths_go_through_chunks_and_documents(kb: KnowledgeBase) -> None:
    await kb.ingest(
        [
            Document(path="a.md", title="Mill", content="The tide mill was built by Edmund Harrow."),
            Document(path="b.md", title="Edmund Harrow", content="Edmund Harrow was born in Kestrel Bay."),
        ]
    )
    chunk = (await kb.client.read("MATCH (c:DocumentChunk) WHERE c.namespace = $namespace AND c.path = 'a.md' "
                                  "RETURN c.id AS id"))[0]["id"]  # fmt: skip
    paths = await DRIFTRAG(kb).dynamic_traversal(chunk, "Where was the builder of the tide mill born?", 4)
    assert any({"a.md", "b.md"} <= {node.metadata.get("path") for node in path.nodes} for path in paths)
    labels = {node.label for path in paths for node in path.nodes}
    assert {Label.CHUNK, Label.ENTITY} <= labels
    assert labels <= {Label.CHUNK, Label.ENTITY, Label.DOCUMENT}


async def test_conversations_are_not_walked_into(kb: KnowledgeBase) -> None:
    await kb.ingest(Document(path="a.md", content="The tide mill turns."))
    talk = await kb.client.create_conversation()
    hits = await kb.search("tide mill")
    await kb.client.add_message(talk, "The secret of the tide mill", "user", references=[hits[0].document_id])
    paths = await DRIFTRAG(kb).dynamic_traversal(hits[0].document_id, "secret of the tide mill", 4)
    assert {node.label for path in paths for node in path.nodes} <= {"Document", "DocumentChunk", "Entity"}
    assert not any("secret" in node.content for path in paths for node in path.nodes)


async def test_namespaces_do_not_meet(kb: KnowledgeBase, engine: Engine) -> None:
    await put_entities(kb.client, {"tide": "here"})
    other = kb.client.in_namespace(engine.namespace())
    ids = await put_entities(other, {"tide": "there"})
    assert [node.content for node in await DRIFTRAG(kb).find_entry_points("tide")] == ["tide. here"]
    with pytest.raises(NotFoundError):
        await DRIFTRAG(kb).dynamic_traversal(ids["tide"], "tide")


async def test_arguments_are_checked(kb: KnowledgeBase) -> None:
    ids = await put_entities(kb.client, {"tide": ""})
    drift = DRIFTRAG(kb)
    wrong: dict[str, Any]
    for wrong in ({"max_depth": 0}, {"max_depth": 99}, {"direction": "sideways"}, {"edge_types": []},
                  {"edge_types": "MENTIONS"}):  # fmt: skip
        with pytest.raises(InvalidInputError):
            await drift.dynamic_traversal(ids["tide"], "tide", **wrong)
    for query, problem in (("", "empty"), ("  ", "empty"), (None, "must be text")):
        with pytest.raises(InvalidInputError, match=problem):
            await drift.query(query)  # type: ignore[arg-type]
    for missing in ("no such node", ""):
        with pytest.raises(NotFoundError, match="There is no"):
            await drift.dynamic_traversal(missing, "tide")


async def test_the_start_may_be_named(kb: KnowledgeBase) -> None:
    await put_entities(kb.client, {"tide": "", "mill": ""}, [Fact("tide", "mill", "turns")])
    await kb.knowledge_graph.add_node(UndirectedNode("Neap tides are low", "concept", id="neap"))
    drift = DRIFTRAG(kb)
    assert [str(path) for path in await drift.dynamic_traversal("Tide", "tide", 1)] == ["tide -[turns]-> mill", "tide"]
    [alone] = await drift.dynamic_traversal("neap", "neap tides")
    assert [node.content for node in alone.nodes] == ["Neap tides are low"]


async def test_the_start_may_be_a_node_that_was_found(kb: KnowledgeBase) -> None:
    await put_entities(kb.client, {"tide": "", "mill": ""}, [Fact("tide", "mill", "turns")])
    drift = DRIFTRAG(kb)
    start = (await drift.find_entry_points("tide"))[0]
    assert isinstance(start, Node)
    assert [str(path) for path in await drift.dynamic_traversal(start, "tide", 1)] == ["tide -[turns]-> mill", "tide"]


CHANGES = [
    ("a new edge", "MATCH (a:Entity {id: $mill}) MATCH (b:Entity {id: $oak}) MERGE (a)-[:RELATED {type: 'of'}]->(b)"),
    ("an edge less", "MATCH (a:Entity {id: $tide})-[r:RELATED]->(b:Entity {id: $mill}) DELETE r"),
    ("another weight", "MATCH (a:Entity {id: $tide})-[r:RELATED]->(b:Entity {id: $mill}) SET r.weight = 0.11"),
    ("another fact", "MATCH (a:Entity {id: $tide})-[r:RELATED]->(b:Entity {id: $mill}) SET r.fact = 'It does.'"),
    ("another summary", "MATCH (b:Entity {id: $mill}) SET b.summary = 'With a wheel'"),
    ("another property", "MATCH (b:Entity {id: $mill}) SET b.category = 'old'"),
    ("a node less", "MATCH (b:Entity {id: $mill}) DETACH DELETE b"),
]


@pytest.mark.parametrize(("what", "statement"), CHANGES, ids=[what for what, _ in CHANGES])
async def test_the_cache_sees_what_others_change(kb: KnowledgeBase, what: str, statement: str) -> None:
    """Changed past every method of this package, with no time written anywhere."""
    ids = await put_entities(
        kb.client, dict.fromkeys(WORDS, ""), [Fact("tide", "mill", "turns", 0.5), Fact("mill", "wheel", "has", 0.5)]
    )
    drift = DRIFTRAG(kb)
    first, again, changed, fresh = (TraversalStats() for _ in range(4))
    before = await drift.dynamic_traversal(ids["tide"], QUERY, stats=first)
    assert await drift.dynamic_traversal(ids["tide"], QUERY, stats=again) == before
    assert (first.cached, again.cached) == (0, 1)
    assert again.visited_edges == first.visited_edges
    await write(
        kb.client, statement, **{name: ids[name] for name in ("tide", "mill", "oak") if f"${name}" in statement}
    )
    after = await drift.dynamic_traversal(ids["tide"], QUERY, stats=changed)
    assert changed.cached == 0
    expected = await DRIFTRAG(kb).dynamic_traversal(ids["tide"], QUERY, stats=fresh)
    assert shape(after) == shape(expected)
    assert shape(after) != shape(before)


def shape(paths: list[Path]) -> list[object]:
    return [(path, [dict(node.metadata) for node in path.nodes]) for path in paths]


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
async def test_a_cached_traversal_equals_a_fresh_one_after_any_change(kb: KnowledgeBase, data: st.DataObject) -> None:
    await write(kb.client, "MATCH (e:Entity) WHERE e.namespace = $namespace DETACH DELETE e",
                namespace=kb.namespace)  # fmt: skip
    ids = await put_entities(kb.client, dict.fromkeys(WORDS, ""), [Fact("tide", "mill"), Fact("mill", "wheel")])
    drift = DRIFTRAG(kb, beam_width=3, max_edges_per_node=2)
    for _ in range(4):
        a, b = data.draw(st.tuples(st.sampled_from(WORDS), st.sampled_from(WORDS)))
        if data.draw(st.booleans()):
            await put_entities(kb.client, {a: "", b: ""}, [Fact(a, b, "x", data.draw(st.sampled_from([0.1, 0.9])))])
        else:
            await write(kb.client, "MATCH (a:Entity {id: $a})-[r:RELATED]->(b:Entity {id: $b}) DELETE r",
                        a=entity_id(kb.client, a), b=entity_id(kb.client, b))  # fmt: skip
        found = await drift.dynamic_traversal(ids["tide"], QUERY)
        assert shape(found) == shape(await DRIFTRAG(kb, config=drift.config).dynamic_traversal(ids["tide"], QUERY))


async def test_the_cache_is_bounded(kb: KnowledgeBase) -> None:
    ids = await put_entities(kb.client, dict.fromkeys(WORDS, ""), [Fact("tide", "mill")])
    drift = DRIFTRAG(kb)
    for number in range(100):
        await drift.dynamic_traversal(ids["tide"], f"tide {number}")
    assert len(drift._cache._entries) == 32
    assert drift._cache._size == sum(entry.reads.size for entry in drift._cache._entries.values())


async def test_an_entry_point_has_most_words_of_the_question_however_many_have_some(engine: Engine) -> None:
    async with engine.knowledge() as kb:
        await put_entities(
            kb.client, {f"Company {number}": "" for number in range(600)} | {"Zephyr Holding Company": ""}
        )
        entries = await DRIFTRAG(kb).find_entry_points("Which company is called Zephyr?", count=3)
        assert entries[0].name == "Zephyr Holding Company"
