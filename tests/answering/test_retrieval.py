"""Entities, relations and passages: shares, fallback, scores, and legs that fail."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.rag import KnowledgeBase, KnowledgeRAGFlow
from core.rag.answering.graph_index import index as graph_index
from core.rag.answering.graph_index.search import IndexSearch
from core.rag.answering.graph_index.trigrams import TrigramIndex
from core.rag.answering.metrics import Metrics
from core.rag.answering.relevance.scores import best_facts, entity_score, fact_score, search_terms
from core.rag.answering.retrieval import RetrievalOptions, retrieve_knowledge
from core.rag.answering.types import Analysis, FoundEntity, FoundFact
from core.rag.errors import EmbeddingError, StoreError, StoreTimeoutError
from tests.answering.drift_graph import Fact, put_entities
from tests.answering.people import fill
from tests.dbhandler.kit import Engine
from tests.graphs import listen


@pytest.fixture
async def kb(engine: Engine) -> AsyncIterator[KnowledgeBase]:
    async with engine.knowledge() as opened:
        await fill(opened)
        yield opened


def about(*entities: str, intent: Any = "factual", query: str = "") -> Analysis:
    return Analysis(query or f"What about {' and '.join(entities)}?", entities, intent)


async def test_entities_and_facts_are_found_by_name(kb: KnowledgeBase) -> None:
    metrics = Metrics()
    found = await retrieve_knowledge(about("Alice", "Google"), kb, metrics=metrics)
    assert {entity.name for entity in found.entities[:2]} == {"Alice", "Google"}
    best = found.facts[0]
    assert (best.source, best.type, best.target) == ("Alice", "WORKS_FOR", "Google")
    assert best.score == 2 + 3
    assert found.relevant
    assert metrics.search_metrics.sql_results > 0
    assert metrics.search_metrics.failed == []


async def test_one_with_hundreds_of_relations_leaves_room_for_others(engine: Engine) -> None:
    async with engine.knowledge() as kb:
        lent = {"subject": "Corvan Society", "relation": "lent a book to", "weight": 2.0}
        await kb.add_triples([{**lent, "object": f"Reader {number}"} for number in range(400)])
        await kb.add_triples(
            [("Corvan Society", "expelled", "Isolde Marchetti"), ("Isolde Marchetti", "sang at", "La Fenice")]
        )
        asked = about("Corvan Society", "Isolde Marchetti", query="What has the Society to do with Marchetti?")
        found = [fact.type for fact in (await retrieve_knowledge(asked, kb)).facts]
        assert found[0] == "expelled"
        assert {"sang at", "lent a book to"} <= set(found)


async def test_typing_errors_are_forgiven_by_trigrams(kb: KnowledgeBase) -> None:
    metrics = Metrics()
    found = await retrieve_knowledge(about("Lighthose", "Mircosoft"), kb, metrics=metrics)
    assert {"Lighthouse", "Microsoft"} <= {entity.name for entity in found.entities}
    assert metrics.search_metrics.trigram_results >= 2
    assert found.relevant


async def test_pattern_takes_sixty_percent_and_trigrams_the_rest(engine: Engine) -> None:
    async with engine.knowledge() as kb:
        await kb.ingest([])
        contained = {f"blue heron {number:02}": "" for number in range(40)}
        similar = {f"heronry {number:02}": "" for number in range(40)}
        await put_entities(kb.client, contained | similar)
        metrics = Metrics()
        found = await retrieve_knowledge(about("blue heron", "heronri"), kb, metrics=metrics)
        entities = [entity for entity in found.entities if entity.method in {"pattern", "trigram"}]
        assert len(entities) == 15
        assert sum(entity.method == "pattern" for entity in entities) == 9
        assert sum(entity.method == "trigram" for entity in entities) == 6
        assert len({entity.id for entity in entities}) == 15


async def test_facts_are_limited_to_twenty(engine: Engine) -> None:
    async with engine.knowledge() as kb:
        names = {f"heron {number:02}": "" for number in range(30)}
        facts = [Fact("heron 00", name, "SEES", 0.5, f"heron 00 sees {name}") for name in list(names)[1:]]
        await put_entities(kb.client, names, facts)
        found = await retrieve_knowledge(about("heron 00"), kb)
        assert len(found.facts) == 20
        assert len({fact.key for fact in found.facts}) == 20


async def test_the_same_relations_are_found_whatever_order_the_graph_has_them_in() -> None:
    """Engines read nodes and edges in orders of their own; of those that are equally good, the same ones count."""
    names = {f"heron {number:03}": "" for number in range(300)} | {"pond": ""}
    facts = [Fact("pond", name, "KEEPS", 0.5, "") for name in list(names)[:-1]]
    facts += [Fact(name, "pond", "LIKES", 0.5, "") for name in list(names)[:-1]]
    found = []
    for turned in (False, True):
        async with KnowledgeBase.open("embedded::memory:") as kb:
            await kb.ingest([])
            order = sorted(names, reverse=turned)
            await put_entities(
                kb.client, {name: names[name] for name in order}, sorted(facts, key=lambda f: f.source, reverse=turned)
            )
            knowledge = await retrieve_knowledge(about("pond", "kep", "likez"), kb)
            found.append(([fact.key for fact in knowledge.facts], [entity.id for entity in knowledge.entities]))
    assert len(found[0][0]) == 20
    assert found[0] == found[1]


async def test_missing_ends_of_facts_are_fetched(engine: Engine) -> None:
    async with engine.knowledge() as kb:
        names = {"Alice": "an engineer"} | {f"zzz{number}": f"thing {number}" for number in range(18)}
        await put_entities(kb.client, names, [Fact("Alice", name, "KNOWS", 0.5, "") for name in list(names)[1:]])
        metrics = Metrics()
        found = await retrieve_knowledge(about("Alice"), kb, metrics=metrics)
        known = {entity.id for entity in found.entities}
        assert all(fact.source_id in known and fact.target_id in known for fact in found.facts)
        assert metrics.search_metrics.resolved_nodes == 18
        assert {entity.summary for entity in found.entities if entity.method == "end"} >= {"thing 3"}


async def test_vectors_are_asked_only_where_the_two_give_too_little(kb: KnowledgeBase) -> None:
    metrics = Metrics()
    found = await retrieve_knowledge(about("qqqq", query="Which project audits web pages?"), kb, metrics=metrics)
    assert metrics.search_metrics.fallback_activated
    assert metrics.search_metrics.vector_results > 0
    assert any(entity.method == "vector" for entity in found.entities)

    metrics = Metrics()
    options = RetrievalOptions(node_limit=2, edge_limit=2)
    await retrieve_knowledge(about("Alice", "Google"), kb, options, metrics)
    assert not metrics.search_metrics.fallback_activated
    assert metrics.search_metrics.vector_results == 0


async def test_passages_that_say_the_facts_come_along(kb: KnowledgeBase) -> None:
    found = await retrieve_knowledge(about("Alice", "Lighthouse"), kb, RetrievalOptions(passages=1))
    paths = [hit.path for hit in found.hits]
    assert len(paths) == len(set(paths)) > 1
    assert {"people/alice.md", "projects/lighthouse.md"} <= set(paths)


LEGS = ["entities_by_pattern", "entities_by_trigram", "entities_by_vector", "facts_by_pattern", "facts_by_trigram",
        "facts_by_vector", "entities_by_id"]  # fmt: skip


@pytest.mark.parametrize("leg", [*LEGS, "search"])
async def test_one_failing_leg_does_not_fail_the_rest(
    kb: KnowledgeBase, leg: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fails(*arguments: Any, **options: Any) -> Any:
        raise StoreTimeoutError("too slow")

    monkeypatch.setattr(kb if leg == "search" else IndexSearch, leg, fails)
    metrics = Metrics()
    # So little is found by name that vectors are asked, and so few entities that ends of relations are missing.
    options = RetrievalOptions(node_limit=3)
    query = "Which project audits web pages?"
    found = await retrieve_knowledge(about("Alice", query=query), kb, options, metrics)
    assert found.relevant
    assert any(entity.name == "Alice" for entity in found.entities)
    assert all("too slow" in failure for failure in metrics.search_metrics.failed)
    assert metrics.search_metrics.failed
    assert found.errors == metrics.search_metrics.failed
    assert (await kb.ask("What is Alice's role at Google?")).found


@pytest.mark.parametrize("error", [StoreTimeoutError("too slow"), EmbeddingError("no answer")])
async def test_where_passages_cannot_be_searched_nobody_is_told_that_there_are_none(
    kb: KnowledgeBase, error: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fails(*arguments: Any, **options: Any) -> Any:
        raise error

    monkeypatch.setattr(kb, "search", fails)
    with pytest.raises(type(error), match=str(error)):
        await kb.ask("How deep is the harbour of Lisbon?")
    assert (await kb.ask("What is Alice's role at Google?")).found  # by what the graph says of these
    told = await kb.ask("Thanks!")
    assert told.text == "This asks nothing that could be looked up in the sources."
    flow = KnowledgeRAGFlow(kb)
    analysis = await flow.analyze_query_node("How deep is the harbour of Lisbon?")
    context = flow.build_context_node(await flow.retrieve_knowledge_node(analysis))
    with pytest.raises(type(error), match=str(error)):
        await flow.generate_response_node(analysis, context)


async def test_where_every_leg_fails_the_failure_is_told(kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch) -> None:
    async def fails(*arguments: Any, **options: Any) -> Any:
        raise StoreTimeoutError("too slow")

    for leg in LEGS:
        monkeypatch.setattr(IndexSearch, leg, fails)
    monkeypatch.setattr(kb, "search", fails)
    monkeypatch.setattr("core.rag.answering.retrieval.record_passages", fails)
    with pytest.raises(StoreError, match="too slow"):
        await retrieve_knowledge(about("Alice"), kb)


@pytest.mark.parametrize(
    "words", ["' OR 1=1 //", "}) DETACH DELETE n //", "*", "\\", "a" * 5000, "\x00", "🦀", "%", "(", "\ud800"]
)
async def test_hostile_names_are_only_looked_for(kb: KnowledgeBase, words: str) -> None:
    before = await kb.client.counts()
    await retrieve_knowledge(about(words, query=f"What is {words}?"), kb)
    assert await kb.client.counts() == before


async def test_another_namespace_stays_unseen(kb: KnowledgeBase) -> None:
    other = kb.client.in_namespace(f"{kb.namespace}-other")
    search = IndexSearch(other)
    assert await search.entities_by_pattern(["alice"], 5) == []
    assert await search.entities_by_trigram(["alice"], 5) == []
    assert await search.facts_by_pattern(["alice"], 5) == []
    assert await search.facts_by_trigram(["alice"], 5) == []


async def test_what_changed_is_seen(kb: KnowledgeBase) -> None:
    before = IndexSearch(kb.client)
    assert not any(entity.name == "Zebrafish" for entity in await before.entities_by_trigram(["zebrafsh"], 5))
    ids = await put_entities(
        kb.client, {"Zebrafish": "a fish", "Zoo": ""}, [Fact("Zoo", "Zebrafish", "KEEPS", 0.5, "")]
    )
    after = IndexSearch(kb.client)
    assert (await after.entities_by_trigram(["zebrafsh"], 5))[0].name == "Zebrafish"
    assert [entity.name for entity in await after.entities_by_pattern(["brafi"], 5)] == ["Zebrafish"]
    assert [fact.source_id for fact in await after.facts_by_pattern(["keeps"], 5)] == [ids["Zoo"]]


async def test_a_fact_that_was_replaced_is_stated_no_more(engine: Engine) -> None:
    """Also where nothing but its text is another one."""
    triple = {"subject": "Alice Smith", "relation": "works_at", "object": "Acme Corp"}
    async with engine.knowledge() as kb:
        for said in ("Alice Smith is the boss of Acme Corp.", "Alice Smith was fired by Acme Corp."):
            await kb.add_triples([{**triple, "fact": said}])
            answer = await kb.ask("How is Alice Smith related to Acme Corp?", strategy="flow")
            assert said in answer.context
        assert "boss" not in answer.context
        await kb.link("Alice Smith", "Acme Corp", "sued", fact="She sued it.")
        assert "sued it" in (await kb.ask("Did Alice Smith sue Acme Corp?", strategy="flow")).context
        await kb.link("Alice Smith", "Acme Corp", "sued", fact="It settled.")
        assert "sued it" not in (await kb.ask("Did Alice Smith sue Acme Corp?", strategy="flow")).context


async def test_messages_and_unrelated_documents_do_not_make_the_index_anew(kb: KnowledgeBase) -> None:
    first = await graph_index.graph_index(kb.client)
    await kb.remember("s", "user", "Alice works at Google.")
    await kb.client.create_document("note/1", "Alice works at Google.")
    assert await graph_index.graph_index(kb.client) is first
    await kb.link("Alice", "Bob", "met")
    assert await graph_index.graph_index(kb.client) is not first


async def test_questions_that_come_at_once_read_all_names_once(
    kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    statements = listen(monkeypatch)
    searches = [IndexSearch(kb.client).entities_by_trigram(["alise"], 5) for _ in range(8)]
    found = await asyncio.gather(*searches)
    assert all(entities and entities[0].name == "Alice" for entities in found)
    everything = "MATCH (e:Entity) WHERE e.namespace = $namespace RETURN collect([e.id, e.name]) AS found"
    assert statements.count(everything) == 1


async def test_very_many_relations_are_read_in_parts(kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch) -> None:
    async def found() -> list[FoundFact]:
        search = IndexSearch(kb.client)
        terms = ["works", "alice", "google"]
        return [*await search.facts_by_trigram(terms, 20), *await search.facts_by_pattern(["work"], 20)]

    at_once = await found()
    assert len({fact.key for fact in at_once}) > 2
    monkeypatch.setattr(graph_index, "_FACTS_AT_ONCE", 1)
    monkeypatch.setattr(graph_index, "_ENTITIES_AT_ONCE", 2)
    await put_entities(kb.client, {"Zebrafish": "a fish", "Zoo": "a park"}, [Fact("Zoo", "Zebrafish", "shows")])
    by_key = {fact.key: fact for fact in await found()}
    assert by_key == {fact.key: fact for fact in at_once}


async def test_filters_reach_entities_and_relations(kb: KnowledgeBase) -> None:
    answer = await kb.ask("How is Alice connected to Bob?", filters="path:projects/")
    assert {citation.path for citation in answer.citations} == {"projects/lighthouse.md"}
    assert "COLLABORATES_WITH" not in str(answer.to_dict())
    assert "Product Manager" not in str(answer.to_dict())
    assert "LEADS" in answer.context


@pytest.mark.parametrize(
    "name, summary, terms, score",
    [
        ("Alice", "an engineer", ["alice"], 3),
        ("Bob", "works with Alice", ["alice"], 2),
        ("Alice", "Alice is an engineer", ["alice"], 5),
        ("Bob", "a manager", ["alice"], 1),
        ("Malice", "", ["alice"], 1),
        ("Alice Smith", "", ["alice", "smith"], 3),
        ("Alice", "", [], 1),
    ],
)
def test_the_score_of_an_entity(name: str, summary: str, terms: list[str], score: float) -> None:
    assert entity_score(FoundEntity("1", name, summary=summary), terms) == score


@pytest.mark.parametrize(
    "fact, kind, found, score",
    [
        ("Alice left", "LEFT", set(), 2),
        ("She left", "LEFT", {"1", "2"}, 3),
        ("She left", "LEFT", {"2"}, 1),
        ("Alice left", "LEFT", {"1", "2"}, 5),
        ("Alice left", "LEFT", {"1"}, 3),
        ("", "KNOWS_ALICE", set(), 2),
        ("She left", "LEFT", set(), 0),
    ],
)
def test_the_score_of_a_relation(fact: str, kind: str, found: set[str], score: float) -> None:
    assert fact_score(FoundFact("1", "A", "2", "B", kind, fact), ["alice"], found) == score


def test_relations_that_say_something_come_first() -> None:
    facts = [
        FoundFact("1", "A", "2", "B", kind, "", weight, score=3) for kind, weight in (("co_occurs", 9), ("leads", 1))
    ]
    weak = FoundFact("1", "A", "2", "B", "leads", "", 5, score=1)
    assert [fact.type for fact in best_facts([weak, *facts])] == ["leads", "co_occurs", "leads"]


def test_terms_are_normalised_and_unique() -> None:
    assert search_terms(["Alice", "ALICE", "  ", "O'Brien", "!!!"]) == ["alice", "o brien", "!!!"]


@pytest.mark.parametrize(
    "a, b, similarity",
    [
        ("word", "two words", 4 / 11),
        ("alice", "alice", 1.0),
        ("alice", "bob", 0.0),
        ("", "alice", 0.0),
        ("a", "a", 1.0),
    ],
)
def test_trigram_similarity_is_that_of_pg_trgm(a: str, b: str, similarity: float) -> None:
    assert TrigramIndex([a]).similarities(b).tolist() == pytest.approx([similarity])


def _by_definition(a: str, b: str) -> float:
    def grams(text: str) -> set[str]:
        padded = (f"  {word} " for word in text.lower().split())
        return {word[at : at + 3] for word in padded for at in range(len(word) - 2)}

    both = grams(a) | grams(b)
    return len(grams(a) & grams(b)) / len(both) if both else 0.0


WORDS = st.lists(st.text("abcü漢", max_size=6), max_size=4).map(" ".join)


@given(st.lists(WORDS, max_size=6), WORDS)
def test_trigrams_follow_their_definition(texts: list[str], text: str) -> None:
    def plain(value: str) -> str:
        return value.replace("ü", "u")

    expected = [_by_definition(plain(other), plain(text)) for other in texts]
    assert TrigramIndex(texts).similarities(text).tolist() == pytest.approx(expected)


def test_trigrams_of_very_many_texts_are_those_of_each() -> None:
    texts = [f"the mill number {number}" for number in range(10_000)]
    scores = TrigramIndex(texts).similarities("mill number 9999")
    for place in (0, 4_095, 4_096, 8_192, 9_999):
        assert scores[place] == TrigramIndex([texts[place]]).similarities("mill number 9999")[0]
