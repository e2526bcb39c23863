"""Entities linked by hand: found, walked, and connected by paths."""

from __future__ import annotations

import itertools
import random
from pathlib import Path
from typing import Any

import pytest

from core.rag import KnowledgeBase, UndirectedNode
from core.rag.errors import InvalidInputError, NotFoundError
from core.rag.graph.parts import GraphEdge
from libs.dataloader import Document, Link
from tests.graphs import listen

LINKS = [
    ("Alice Johnson", "TechCorp", "works_at", 1.0),
    ("Bob Smith", "TechCorp", "works_at", 1.0),
    ("Bob Smith", "Platform Core", "leads", 4.0),
    ("Alice Johnson", "Backend", "member_of", 1.0),
    ("Platform Core", "Backend", "built_by", 4.0),
    ("Carol Diaz", "Remote Office", "works_at", 1.0),
]


@pytest.fixture
async def company(kb: KnowledgeBase) -> KnowledgeBase:
    """A handful of people and what they work on."""
    for source, target, relation, weight in LINKS:
        await kb.link(source, target, relation, weight=weight, create=True)
    return kb


def named(edges: list[GraphEdge], names: dict[str, str]) -> set[tuple[str, str, str]]:
    return {(names[edge.source], edge.type, names[edge.target]) for edge in edges}


async def test_traversal_goes_either_way_and_says_how_far_it_went(company: KnowledgeBase) -> None:
    piece = await company.traverse("techcorp", depth=2)
    assert piece.start.name == "TechCorp"
    assert [(node.name, node.distance) for node in piece.nodes] == [
        ("Alice Johnson", 1),
        ("Bob Smith", 1),
        ("Backend", 2),
        ("Platform Core", 2),
    ]
    assert named(piece.edges, piece.names) == {(a, r, b) for a, b, r, _ in LINKS[:4]}
    assert not piece.truncated
    assert piece.next == ""


async def test_traversal_follows_a_direction_and_given_edges_only(company: KnowledgeBase) -> None:
    assert [n.name for n in (await company.traverse("Bob Smith", 3, direction="out")).nodes] == [
        "Platform Core",
        "TechCorp",
        "Backend",
    ]
    assert [n.name for n in (await company.traverse("TechCorp", 1, direction="in")).nodes] == [
        "Alice Johnson",
        "Bob Smith",
    ]
    assert (await company.traverse("TechCorp", 1, direction="out")).nodes == []
    assert (await company.traverse("TechCorp", 2, edge_types=["SAME_AS"])).nodes == []
    with pytest.raises(InvalidInputError, match="no edge type 'RELATED`]-"):
        await company.traverse("TechCorp", edge_types=["RELATED`]-() DETACH DELETE n //"])


async def test_exploring_follows_the_relations_that_are_named(company: KnowledgeBase) -> None:
    page = await company.neighbors("Bob Smith", relations=["leads"])
    assert ([node.name for node in page.nodes], page.degree, len(page.edges)) == (["Platform Core"], 1, 1)
    both = ["works_at", "leads"]
    first = await company.neighbors("Bob Smith", relations=both, limit=1)
    rest = await company.neighbors("Bob Smith", relations=both, limit=1, after=first.next)
    assert [first.nodes[0].name, rest.nodes[0].name, rest.next] == ["Platform Core", "TechCorp", ""]

    piece = await company.traverse("Alice Johnson", 3, relations=both)
    assert [(node.name, node.distance) for node in piece.nodes] == [
        ("TechCorp", 1),
        ("Bob Smith", 2),
        ("Platform Core", 3),
    ]
    assert {edge.type for edge in piece.edges} == set(both)

    for weighted in (False, True):
        short = await company.shortest_path("Alice Johnson", "Platform Core", weighted=weighted)
        long = await company.shortest_path("Alice Johnson", "Platform Core", weighted=weighted, relations=both)
        assert short is not None
        assert long is not None
        assert [node.name for node in short.nodes] == ["Alice Johnson", "Backend", "Platform Core"]
        assert [node.name for node in long.nodes] == ["Alice Johnson", "TechCorp", "Bob Smith", "Platform Core"]
        assert long.cost == (2.25 if weighted else 3.0)
    assert await company.shortest_path("Alice Johnson", "Platform Core", relations=["works_at"]) is None
    assert (await company.traverse("TechCorp", relations=["` DETACH DELETE n //"])).nodes == []
    with pytest.raises(InvalidInputError, match="relations is empty"):
        await company.traverse("TechCorp", relations=[])
    with pytest.raises(InvalidInputError, match="name them as relations"):
        await company.traverse("TechCorp", edge_types=["works_at"])


async def test_entities_that_are_the_same_are_a_relation_too(company: KnowledgeBase) -> None:
    await company.merge_entities("Carol Diaz", "Bob Smith")
    assert [node.name for node in (await company.neighbors("Bob Smith", relations=["SAME_AS"])).nodes] == ["Carol Diaz"]
    assert len((await company.traverse("Carol Diaz", 2, relations=["SAME_AS", "leads"])).nodes) == 2


async def test_of_a_hub_with_many_edges_the_named_relation_is_followed_whole(kb: KnowledgeBase) -> None:
    others = [{"subject": f"Person {number:04}", "relation": "visited", "object": "Hub"} for number in range(1100)]
    few = [{"subject": f"Person {number:04}", "relation": "built", "object": "Hub"} for number in (7, 1099)]
    await kb.add_triples([*others, *few])
    piece = await kb.traverse("Hub", 1, relations=["built"])
    assert [node.name for node in piece.nodes] == ["Person 0007", "Person 1099"]
    assert not piece.truncated
    assert (await kb.neighbors("Hub", relations=["built"])).degree == 2
    path = await kb.shortest_path("Person 0007", "Person 1099", relations=["built"])
    assert path is not None
    assert [edge.type for edge in path.edges] == ["built", "built"]


async def test_all_edges_are_listed_in_pages(company: KnowledgeBase) -> None:
    await company.merge_entities("Carol Diaz", "Bob Smith")
    found: list[tuple[str, str, str]] = []
    after = ""
    while True:
        page = await company.edges(limit=3, after=after)
        found += named(page.edges, page.names)
        if not (after := page.next):
            break
    assert sorted(found) == sorted([*((a, r, b) for a, b, r, _ in LINKS), ("Carol Diaz", "SAME_AS", "Bob Smith")])
    leads = await company.edges(relation="leads")
    assert named(leads.edges, leads.names) == {("Bob Smith", "leads", "Platform Core")}
    assert (leads.edges[0].weight, leads.edges[0].origin, leads.next) == (4.0, "caller", "")
    with pytest.raises(InvalidInputError):
        await company.edges(after='["x"]')


async def test_pages_of_a_traversal_are_the_traversal(company: KnowledgeBase) -> None:
    whole = [node.id for node in (await company.traverse("TechCorp", 3)).nodes]
    pages: list[str] = []
    after = ""
    while True:
        piece = await company.traverse("TechCorp", 3, limit=3, after=after)
        assert piece.truncated == bool(piece.next)
        pages += [node.id for node in piece.nodes]
        after = piece.next
        if not after:
            break
    assert pages == whole
    with pytest.raises(InvalidInputError, match="earlier page"):
        await company.traverse("TechCorp", after="0; x")


async def test_neighbours_come_by_name_in_pages(company: KnowledgeBase) -> None:
    page = await company.neighbors("Bob Smith")
    assert [node.name for node in page.nodes] == ["Platform Core", "TechCorp"]
    assert (page.degree, page.truncated) == (2, False)
    assert {edge.type for edge in page.edges} == {"leads", "works_at"}
    first = await company.neighbors("Bob Smith", limit=1)
    assert [node.name for node in first.nodes] == ["Platform Core"]
    assert first.truncated
    second = await company.neighbors("Bob Smith", limit=1, after=first.next)
    assert [node.name for node in second.nodes] == ["TechCorp"]
    assert second.next == ""


async def test_shortest_paths_count_edges_or_their_weights(company: KnowledgeBase) -> None:
    path = await company.shortest_path("Alice Johnson", "Platform Core")
    assert path is not None
    assert [node.name for node in path.nodes] == ["Alice Johnson", "Backend", "Platform Core"]
    assert [edge.type for edge in path.edges] == ["member_of", "built_by"]
    assert (path.length, path.cost) == (2, 2.0)
    light = await company.shortest_path("TechCorp", "Backend", weighted=True)
    assert light is not None
    assert [node.name for node in light.nodes] == ["TechCorp", "Bob Smith", "Platform Core", "Backend"]
    assert light.cost == pytest.approx(1 + 1 / 4 + 1 / 4)
    short = await company.shortest_path("TechCorp", "Backend", weighted=True, max_depth=2)
    assert short is not None
    assert [node.name for node in short.nodes] == ["TechCorp", "Alice Johnson", "Backend"]
    assert await company.shortest_path("TechCorp", "Carol Diaz") is None
    assert await company.shortest_path("TechCorp", "Carol Diaz", weighted=True) is None
    same = await company.shortest_path("TechCorp", "techcorp")
    assert same is not None
    assert (len(same.nodes), same.edges, same.cost) == (1, [], 0.0)


async def test_weighted_paths_are_the_lightest(kb: KnowledgeBase) -> None:
    """Against all simple paths of small random graphs."""
    generator = random.Random(5)
    names = [f"n{i}" for i in range(7)]
    weights: dict[frozenset[str], float] = {}
    for a, b in itertools.combinations(names, 2):
        if generator.random() < 0.5:
            weights[frozenset((a, b))] = generator.choice([0.5, 1.0, 2.0, 5.0])
            await kb.link(a, b, "knows", weight=weights[frozenset((a, b))], create=True)
    known = {name for pair in weights for name in pair}
    for a, b in itertools.combinations(sorted(known), 2):
        for depth in (2, 3, 6):
            ways = [
                list(itertools.pairwise((a, *middle, b)))
                for size in range(depth)
                for middle in itertools.permutations(known - {a, b}, size)
            ]
            costs = [
                sum(1 / weights[frozenset(step)] for step in way)
                for way in ways
                if all(frozenset(step) in weights for step in way)
            ]
            found = await kb.shortest_path(a, b, weighted=True, max_depth=depth)
            assert (found is None) == (not costs)
            if found is not None:
                assert found.cost == pytest.approx(min(costs))
                assert found.length <= depth


async def test_nodes_are_searched_by_words_of_their_names(company: KnowledgeBase) -> None:
    assert [node.name for node in await company.search_nodes("SMITH")] == ["Bob Smith"]
    assert [node.name for node in await company.search_nodes("tech")] == ["TechCorp"]
    assert (await company.search_nodes("platform core"))[0].name == "Platform Core"
    assert await company.search_nodes("?!") == []
    assert await company.search_nodes("nothing like it") == []
    await company.create_or_get_concept("Größe der Plattform")
    assert {node.name for node in await company.search_nodes("GRÖSSE")} == {"Größe der Plattform"}


async def test_entities_are_listed_by_name_in_pages(company: KnowledgeBase) -> None:
    everybody = sorted({name for link in LINKS for name in link[:2]})
    found: list[str] = []
    after = ""
    while True:
        page, after = await company.entities(limit=3, after=after)
        found += [node.name for node in page]
        if not after:
            break
    assert found == everybody


async def test_stats_count_by_type(company: KnowledgeBase) -> None:
    stats = await company.graph_stats()
    assert (stats.nodes, stats.edges) == (7, 6)
    assert stats["edges_by_type"] == {"built_by": 1, "leads": 1, "member_of": 1, "works_at": 3}


async def test_a_name_that_is_not_there_is_refused_with_similar_ones(company: KnowledgeBase) -> None:
    with pytest.raises(NotFoundError, match="Similar: Bob Smith"):
        await company.traverse("Bob Smithe of somewhere")
    with pytest.raises(NotFoundError, match="mgrag graph entities"):
        await company.neighbors("Zanzibar")
    for blank in ("", "  ", "\0"):
        with pytest.raises(NotFoundError):
            await company.neighbors(blank)


async def test_a_link_is_one_however_often_it_is_made_and_goes_when_taken_back(company: KnowledgeBase) -> None:
    link = await company.link("Carol Diaz", "TechCorp", "advises", fact="Carol advises TechCorp.", weight=2)
    again = await company.link("carol diaz", "TECHCORP", "advises", weight=3)
    assert link.id == again.id
    [edge] = [e for e in (await company.neighbors("Carol Diaz")).edges if e.type == "advises"]
    assert (edge.id, edge.weight, edge.origin) == (link.id, 3.0, "caller")
    await company.link("Carol Diaz", "TechCorp", "works_at")
    assert await company.unlink(link.id) == 1
    assert await company.unlink("TechCorp", "Carol Diaz", "advises") == 0
    assert await company.unlink("TechCorp", "Carol Diaz") == 1
    assert await company.shortest_path("Carol Diaz", "TechCorp") is None
    assert (await company.traverse("Carol Diaz")).nodes[0].name == "Remote Office"


async def test_concepts_are_linked_and_unlinked_by_their_names_or_the_id_of_the_link(company: KnowledgeBase) -> None:
    tide = UndirectedNode("tide", "concept")
    await company.knowledge_graph.add_node(tide, UndirectedNode("ebb", "concept", id="e-1"))
    assert [node.name for node in (await company.neighbors("e-1")).nodes] == ["tide"]
    assert [node.name for node in (await company.traverse(tide.id)).nodes] == ["ebb"]
    await company.knowledge_graph.remove_edge(tide, UndirectedNode("ebb", id="e-1"))
    for how in (("Ebb", "tide"), None):
        link = await company.link("tide", "ebb", weight=2)
        [edge] = (await company.neighbors("tide")).edges
        assert {edge.source, edge.target} == {link.source, link.target}
        assert (edge.type, edge.weight) == (link.type, link.weight) == ("RELATED_TO", 2.0)
        assert await company.unlink(*(how or [link.id])) == 1
        assert not (await company.neighbors("tide")).edges
    with pytest.raises(InvalidInputError, match="no relation and no fact"):
        await company.link("tide", "ebb", fact="The ebb follows the tide.")
    with pytest.raises(InvalidInputError, match="no relation and no fact"):
        await company.link("tide", "ebb", relation="before")
    assert not (await company.neighbors("tide")).edges
    for end in ("TechCorp", "Nobody Anywhere"):  # entities, of which the last one would have to be created
        with pytest.raises(InvalidInputError, match="only two entities or two concepts"):
            await company.link("tide", end, create=True)
    for name in ("somebody", "SomeBody"):
        with pytest.raises(InvalidInputError, match="same node"):
            await company.link("somebody", name, create=True)
    with pytest.raises(InvalidInputError, match="not the id of a link"):
        await company.unlink("tide/ebb")
    assert await company.search_nodes("nobody") == await company.search_nodes("somebody") == []


@pytest.mark.parametrize(
    ("arguments", "options"),
    [
        (("TechCorp", "techcorp"), {}),
        (("TechCorp", "Backend", " "), {}),
        (("TechCorp", "Backend"), {"weight": 0}),
        (("TechCorp", "Backend"), {"weight": float("nan")}),
        (("TechCorp", "Backend", "r" * 300), {}),
    ],
)
async def test_a_link_that_makes_no_sense_is_refused(
    company: KnowledgeBase, arguments: Any, options: dict[str, Any]
) -> None:
    before = await company.graph_stats()
    with pytest.raises(InvalidInputError):
        await company.link(*arguments, **options)
    with pytest.raises(NotFoundError):
        await company.link("TechCorp", "Nobody Anywhere")
    assert await company.graph_stats() == before


async def test_hostile_names_are_only_names(kb: KnowledgeBase) -> None:
    hostile = ['"; MATCH (n) DETACH DELETE n //', "`]-() DELETE r", "🙂 emoji", "O'Brien \\ {id: 1}", "x" * 190]
    for name in hostile:
        await kb.link(name, "Hub", name[:100], create=True)
    page = await kb.neighbors("Hub")
    assert {node.name for node in page.nodes} == set(hostile)
    assert {edge.type for edge in page.edges} == {name[:100] for name in hostile}
    for name in hostile:
        assert (await kb.traverse(name, 1)).nodes[0].name == "Hub"
    for long in ("y" * 10_000, "word " * 5_000):
        with pytest.raises((InvalidInputError, NotFoundError)):
            await kb.link(long, "Hub", create=True)


@pytest.mark.parametrize("order", ["name", "mentions"])
async def test_entities_are_listed_in_pages_by_name_or_mentions(kb: KnowledgeBase, order: Any) -> None:
    names = ["Ada Lovelace", "Bob Marley", "Carl Gauss", "Dora Maar", "Emmy Noether"]
    for count, name in enumerate(names):
        texts = [Document(path=f"{count}/{n}.txt", content=f"It was {name} who did {n}.") for n in range(1 + count % 3)]
        await kb.ingest(texts)
    pages: list[list[tuple[int | None, str]]] = []
    after = ""
    while not pages or after:
        nodes, after = await kb.entities(limit=2, after=after, order=order)
        pages.append([(node.mentions, node.name) for node in nodes])
    assert [len(page) for page in pages] == [2, 2, 1]
    expected = [(1, names[0]), (2, names[1]), (3, names[2]), (1, names[3]), (2, names[4])]
    if order == "mentions":
        expected.sort(key=lambda found: (-found[0], found[1]))
    assert [found for page in pages for found in page] == expected
    assert [node.name for node in (await kb.entities(type="name", limit=1, order=order))[0]] == [expected[0][1]]
    for wrong in ('["x", "a", "b"]', '["1", "a"]', '["-1", "a", "b"]'):
        with pytest.raises(InvalidInputError, match="value of next"):
            await kb.entities(after=wrong, order=order)
    with pytest.raises(InvalidInputError, match="'name' or 'mentions'"):
        await kb.entities(order="age")  # type: ignore[arg-type]


async def test_a_drawing_has_room_for_what_passages_mention(kb: KnowledgeBase) -> None:
    mills = [
        Document(path=f"{n}.md", content=f"The Ebb Trust owns Mill {n}{n} and pays Miller {n}{n}.") for n in range(60)
    ]
    await kb.ingest(mills)
    drawn = await kb.traverse("Ebb Trust", 2, limit=40, induced=True)
    assert {node.label for node in drawn.nodes if node.distance == 1} == {"DocumentChunk"}
    assert len([node for node in drawn.nodes if node.distance == 2]) > len(
        [node for node in drawn.nodes if node.distance == 1]
    )
    assert drawn.truncated
    listed = await kb.traverse("Ebb Trust", 2, limit=40)
    assert {node.distance for node in listed.nodes} == {1}


async def test_a_document_is_looked_at_by_the_end_of_its_path(kb: KnowledgeBase) -> None:
    await kb.client.create_document("docs/guide.md", "# Vectors", title="A guide")
    await kb.client.create_document("docs/read.md", "# Reading")
    await kb.client.create_document("lab/read.md", "# Reading in the lab")
    await kb.link_document_to_topic("docs/guide.md", "Search")
    for name in ("guide.md", "docs/guide.md", "A guide"):
        assert [node.name for node in (await kb.neighbors(name)).nodes] == ["Search"]
        path = await kb.shortest_path(name, "Search")
        assert path is not None
        assert len(path.nodes) == 2
    with pytest.raises(NotFoundError, match=r"2 documents: docs/read\.md, lab/read\.md\. Use the full path"):
        await kb.neighbors("read.md")
    with pytest.raises(NotFoundError, match=r"There is no .*'guide\.md'"):
        await kb.unlink("guide.md", "Search", "about")


async def test_a_name_of_signs_alone_is_found(kb: KnowledgeBase) -> None:
    await kb.add_triples([{"subject": "🎉", "relation": "is_a", "object": "Party", "subject_type": "sign"}])
    assert [node.name for node in await kb.search_nodes(" 🎉 ")] == ["🎉"]
    assert [node.name for node in await kb.search_nodes("🎉", type="sign")] == ["🎉"]
    assert await kb.search_nodes("🎉", type="person") == []
    assert await kb.search_nodes("🎊") == []
    assert await kb.search_nodes(" ") == []


async def test_concepts_topics_and_documents_are_linked(kb: KnowledgeBase) -> None:
    await kb.client.create_document("guide.md", "# Vectors")
    concept = await kb.create_or_get_concept("Vector  search", "Finding by nearness.")
    assert await kb.create_or_get_concept("Vector search") == concept
    await kb.link_related_concepts(concept, "Embeddings", 0.5)
    await kb.link_related_concepts("Embeddings", "Vector search", 0.7)
    topic = await kb.create_or_get_topic("Search")
    assert await kb.create_or_get_topic("Search", "How things are found.") == topic
    assert await kb.link_document_to_topic("guide.md", "Search") == topic
    assert await kb.link_document_explains_concept("guide.md", "Vector search") == concept
    await kb.link_document_explains_concept("guide.md", "Nearness")
    counts = await kb.client.counts()
    assert counts["nodes"] == {"Document": 1, "Topic": 1, "Concept": 3}
    assert counts["edges"] == {"RELATED_TO": 1, "ABOUT": 1, "EXPLAINS": 2}
    page = await kb.neighbors("Embeddings")
    assert [(node.id, node.label) for node in page.nodes] == [(concept, "Concept")]
    assert page.edges[0].weight == 0.7
    around = await kb.traverse("Search", 3, edge_types=["ABOUT", "EXPLAINS", "RELATED_TO"])
    assert [(node.label, node.name) for node in around.nodes] == [
        ("Document", "guide.md"),
        ("Concept", "Nearness"),
        ("Concept", "Vector search"),
        ("Concept", "Embeddings"),
    ]
    document = await kb.traverse("guide.md", 1)
    assert document.start.label == "Document"
    assert [node.name for node in document.nodes] == ["Nearness", "Search", "Vector search"]
    assert [node.name for node in (await kb.neighbors("Search")).nodes] == ["guide.md"]
    assert [node.name for node in (await kb.neighbors("Nearness")).nodes] == ["guide.md"]
    assert {node.name for node in (await kb.traverse("Nearness", 2)).nodes} == {"guide.md", "Vector search"}
    path = await kb.shortest_path("Search", "Embeddings")
    assert path is not None
    assert [edge.type for edge in path.edges] == ["ABOUT", "EXPLAINS", "RELATED_TO"]
    assert (await kb.neighbors("vector SEARCH")).node.id == concept
    assert (await kb.neighbors("SEARCH")).node.id == topic
    node = await kb.knowledge_graph.get_node_by_content("Vector search")
    assert node is not None
    assert [other.content for other in await kb.knowledge_graph.get_neighbors(node)] == ["Embeddings"]
    for call in (kb.link_document_to_topic("nowhere.md", "Search"), kb.link_document_explains_concept("x", "y")):
        with pytest.raises(NotFoundError):
            await call
    with pytest.raises(InvalidInputError):
        await kb.link_related_concepts("Embeddings", concept, -1)
    with pytest.raises(InvalidInputError):
        await kb.link_related_concepts("Embeddings", "Embeddings")
    with pytest.raises(InvalidInputError):
        await kb.create_or_get_topic("  ")


async def test_source_code_is_walked_along_what_it_defines_calls_and_imports(kb: KnowledgeBase) -> None:
    stop = "    def stop(self):\n        pass\n"
    loader = f"import os, abc\n\nclass Loader:\n    def run(self):\n        helper()\n{stop}\ndef helper():\n    pass\n"
    await kb.ingest(
        [
            Document(path="src/loader.py", content=loader, format="code:python"),
            Document(path="src/other.py", content=f"class Loader:\n{stop}", format="code:python"),
        ]
    )
    modules = ["module:abc", "module:os"]
    page = await kb.neighbors("src/loader.py")
    assert [node.name for node in page.nodes] == ["Loader", "Loader.run", "Loader.stop", "helper", *modules]
    assert {edge.type for edge in page.edges} == {"DEFINED_IN", "IMPORTS"}
    names = {page.node.id: page.node.name, **{node.id: node.name for node in page.nodes}}
    ends = [names[edge.source if edge.target == page.node.id else edge.target] for edge in page.edges]
    assert ends == [node.name for node in page.nodes], "edges come in the order of what they lead to"
    first = await kb.neighbors("src/loader.py", edge_types=["IMPORTS"], limit=1)
    rest = await kb.neighbors("src/loader.py", edge_types=["IMPORTS"], limit=1, after=first.next)
    assert [node.name for node in (*first.nodes, *rest.nodes)] == modules

    run = await kb.neighbors("Loader.run")
    assert [(node.label, node.name) for node in run.nodes] == [("Symbol", "helper"), ("Document", "loader.py")]
    with pytest.raises(
        NotFoundError, match=r"Several symbols are called 'Loader\.stop'.*src/loader\.py.*src/other\.py"
    ):
        await kb.neighbors("Loader.stop")
    assert (await kb.neighbors("run")).node == run.node, "without the name of its class"
    with pytest.raises(NotFoundError, match=r"Several symbols are called 'stop'"):
        await kb.neighbors("stop")
    with pytest.raises(NotFoundError, match="There is no"):
        await kb.link("run", "helper", "calls")
    called = next(node for node in run.nodes if node.label == "Symbol")
    path = await kb.shortest_path("Loader.run", called.id)
    assert path is not None
    assert [edge.type for edge in path.edges] == ["CALLS"]
    await kb.ingest([Document(path="notes.md", content="We call `helper()` often.", format="markdown")])
    assert (await kb.neighbors("helper")).node.label == "Entity"
    path = await kb.shortest_path("Loader.run", "helper")
    assert path is not None
    assert [edge.type for edge in path.edges] == ["CALLS"], "the function, not what texts mention under its name"
    piece = await kb.traverse("src/loader.py", 2, induced=True)
    assert {edge.type for edge in piece.edges} == {"DEFINED_IN", "IMPORTS", "CALLS"}


async def test_a_function_of_c_is_where_it_is_defined_not_where_it_is_declared(kb: KnowledgeBase) -> None:
    await kb.ingest(
        [
            Document(path="a.h", content="int grind(int hours);\nint level(void);", format="code:c"),
            Document(path="mill.c", content="int grind(int hours) { return level(); }", format="code:c"),
        ]
    )
    for name, expected in (("grind", ["function"]), ("level", ["prototype"])):
        assert [symbol.type for symbol in (await kb.neighbors(name)).symbols] == expected


async def test_tables_are_walked_to_their_rows_and_what_these_name(kb: KnowledgeBase, tmp_path: Path) -> None:
    (tmp_path / "staff.csv").write_text(f"team,name,note\nMill,Ann Lee,{'x' * 100}\nWeir,Tom Ray,\n")
    await kb.ingest(tmp_path)
    page = await kb.neighbors(f"{tmp_path}/staff.csv")
    assert sorted(node.name for node in page.nodes if node.label == "Record") == [
        f"name: Ann Lee, team: Mill, note: {'x' * 47}…",
        "name: Tom Ray, team: Weir",
    ]
    piece = await kb.traverse(f"{tmp_path}/staff.csv", 2)
    assert {"Ann Lee", "Mill", "Tom Ray", "Weir"} <= {node.name for node in piece.nodes}
    path = await kb.shortest_path("Ann Lee", f"{tmp_path}/staff.csv", edge_types=["HAS_ENTITY", "DEFINED_IN"])
    assert path is not None
    assert path.nodes[1].name.startswith("name: Ann Lee")


async def test_entities_that_only_texts_have_are_connected_by_the_passages(kb: KnowledgeBase) -> None:
    await kb.ingest(
        [
            Document("a.txt", "The poet Ada Lovelace wrote to Charles Babbage."),
            Document("b.txt", "Charles Babbage lived in London, as did Mary Somerville."),
        ]
    )
    piece = await kb.traverse("Ada Lovelace", 2)
    assert [node.label for node in piece.nodes if node.distance == 1] == ["DocumentChunk"]
    assert "Charles Babbage" in [node.name for node in piece.nodes if node.distance == 2]
    assert {edge.type for edge in piece.edges} <= {"MENTIONS", "TITLED"}
    path = await kb.shortest_path("Ada Lovelace", "Mary Somerville")
    assert path is not None
    assert [node.name for node in path.nodes] == [
        "Ada Lovelace",
        "a.txt",
        "Charles Babbage",
        "b.txt",
        "Mary Somerville",
    ]
    assert (await kb.shortest_path("Ada Lovelace", "Mary Somerville", weighted=True)) is not None
    assert await kb.shortest_path("Ada Lovelace", "Mary Somerville", edge_types=["RELATED"]) is None
    assert await kb.shortest_path("Ada Lovelace", "Mary Somerville", max_depth=3) is None
    await kb.link("Ada Lovelace", "Mary Somerville", "taught_by")
    assert [node.name for node in (await kb.traverse("Ada Lovelace", 2)).nodes] == ["Mary Somerville"]


async def test_namespaces_know_nothing_of_each_other(company: KnowledgeBase) -> None:
    other = company.client.in_namespace(f"{company.namespace}-other")
    assert await other.named_node("TechCorp") is None
    there = await company.client.named_node("TechCorp")
    assert there is not None
    assert await other.nodes_by_id([there["id"]]) == {}
    assert (await other.entity_graph_counts())["nodes"] == {}


@pytest.mark.parametrize("nothing", [None, 3, b"Ada"])
async def test_what_is_no_text_is_refused(kb: KnowledgeBase, nothing: Any) -> None:
    for refused in (
        kb.link(nothing, "Y", create=True),
        kb.link("X", nothing, create=True),
        kb.search_nodes(nothing),
        kb.ask_context(nothing),
        kb.search_knowledge(nothing),
        kb.merge_entities(nothing, "Y"),
        kb.split_entity(nothing),
        kb.remove_entity(nothing),
    ):
        with pytest.raises(InvalidInputError, match="text"):
            await refused


@pytest.mark.parametrize("weighted", [False, True])
async def test_what_texts_mention_does_not_hide_a_concept_with_relations(kb: KnowledgeBase, weighted: bool) -> None:
    await kb.ingest(
        [Document("a.md", "# Recursion\n\nHaskell Curry liked it."), Document("b.md", "# Induction\n\nSo.")]
    )
    concept = await kb.create_or_get_concept("Recursion")
    assert (await kb.neighbors("recursion")).node.label == "Entity"
    await kb.link_related_concepts(concept, "Induction")
    assert [(node.label, node.name) for node in (await kb.neighbors("recursion")).nodes] == [("Concept", "Induction")]
    assert [(node.label, node.name) for node in (await kb.traverse("Induction")).nodes] == [("Concept", "Recursion")]
    path = await kb.shortest_path("Recursion", "induction", weighted=weighted)
    assert path is not None
    assert [edge.type for edge in path.edges] == ["RELATED_TO"]
    through = await kb.shortest_path("Recursion", "Haskell Curry", weighted=weighted)
    assert through is not None
    assert [edge.type for edge in through.edges] == ["MENTIONS", "MENTIONS"]
    texts = await kb.neighbors("Recursion", edge_types=["MENTIONS"])
    assert (texts.node.label, [node.label for node in texts.nodes]) == ("Entity", ["DocumentChunk"])
    # Relations of the entity come first.
    await kb.link("Recursion", "Haskell Curry", "studied_by")
    assert (await kb.neighbors("Recursion")).node.label == "Entity"


@pytest.mark.parametrize("weighted", [False, True])
async def test_paths_lead_from_documents_through_their_passages(kb: KnowledgeBase, weighted: bool) -> None:
    notes = "In the archive we read of Ada Lovelace and of a loom."
    index = Document("d/index.md", "See the notes.", links=(Link("d/plain.txt", "the notes"),))
    await kb.ingest([Document("d/plain.txt", notes), index])
    await kb.link_document_explains_concept("d/plain.txt", "Weaving")

    async def types(start: str, end: str) -> list[str]:
        path = await kb.shortest_path(start, end, weighted=weighted)
        return [] if path is None else [edge.type for edge in path.edges]

    assert await types("d/plain.txt", "Ada Lovelace") == ["CHUNK_OF", "MENTIONS"]
    assert await types("Ada Lovelace", "d/plain.txt") == ["MENTIONS", "CHUNK_OF"]
    assert await types("Ada Lovelace", "Weaving") == ["MENTIONS", "CHUNK_OF", "EXPLAINS"]
    assert await types("d/index.md", "Ada Lovelace") == ["REFERENCES", "CHUNK_OF", "MENTIONS"]


async def test_a_name_with_half_a_character_is_refused(company: KnowledgeBase) -> None:
    half = "Alice \ud83d"
    for call in (
        company.traverse(half),
        company.neighbors(half),
        company.shortest_path("TechCorp", half),
        company.link(half, "TechCorp", create=True),
        company.unlink("TechCorp", half),
        company.remove_entity(half),
    ):
        with pytest.raises(InvalidInputError, match="half a character"):
            await call


async def test_a_type_is_found_in_any_spelling_that_is_stored(kb: KnowledgeBase) -> None:
    await kb.insert("people", {"name": "Ida Stone", "company": "Harbour Works"})
    await kb.add_triples([{"subject": "Kay", "subject_type": "Office Dog", "relation": "guards", "object": "Gate 9"}])
    for kind, name in (("Company", "Harbour Works"), ("company", "Harbour Works"), ("Office Dog", "Kay")):
        assert [node.name for node in (await kb.entities(type=kind))[0]] == [name]
        assert [node.name for node in await kb.search_nodes(name, type=kind)] == [name]


async def test_a_message_is_named_by_how_it_begins(kb: KnowledgeBase) -> None:
    await kb.ingest(Document(path="mill.md", content="The mill turns with the ebb."))
    talk = await kb.client.create_conversation()
    question = "When does the mill turn, and what turns it, and does it turn in winter as well?"
    await kb.client.add_message(talk, question, "user", references=["mill.md"])
    named = [node.name for node in (await kb.neighbors("mill.md")).nodes if node.label == "Interaction"]
    assert named == ["When does the mill turn, and what turns it, and does it turn …"]
    piece = await kb.traverse("mill.md", depth=1)
    assert named[0] in {node.name for node in piece.nodes}


async def test_names_are_found_as_people_type_them(kb: KnowledgeBase) -> None:
    for name, kind in (("José Núñez", "person"), ("Harrow Mill", "mill"), ("Tide Café", "café"), ("Tide Mill", "mill")):
        fact = {"subject": "Ada Lane", "relation": "knows", "object": name, "object_type": kind}
        await kb.add_triples([fact])

    async def found(query: str, **options: Any) -> list[str]:
        return [node.name for node in await kb.search_nodes(query, **options)]

    assert await found("Jose Nunez") == ["José Núñez"]
    assert (await found("harow mil"))[0] == "Harrow Mill"
    assert (await found("tide cafe"))[0] == "Tide Café"
    assert await found("harow mil", type="person") == []
    assert await found("tide mil") == ["Tide Mill", "Tide Café", "Harrow Mill"], "as it is written, by its words"
    with pytest.raises(NotFoundError, match="Similar: José Núñez"):
        await kb.neighbors("Jose Nunes")


async def test_the_context_knows_names_without_their_accents(kb: KnowledgeBase) -> None:
    await kb.add_triples([("José Núñez", "works_for", "Zürich Re"), ("Ada Lane", "lives_in", "Wörth")])
    for question in ("Where does Jose Nunez work?", "Who works for Zurich Re?"):
        context = await kb.ask_context(question)
        assert [chunk.text for chunk in context.context_chunks] == ["José Núñez → works_for → Zürich Re"], question
    assert [chunk.text for chunk in (await kb.ask_context("Worth?")).context_chunks] == ["Ada Lane → lives_in → Wörth"]
    for question in ("How much is it worth?", "What is said of Jose Nunes?"):
        assert (await kb.ask_context(question)).context_chunks == []


async def test_names_are_read_once_until_entities_change(kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch) -> None:
    await kb.add_triples([("José Núñez", "works_for", "Zürich Re")])
    read = listen(monkeypatch)

    async def found() -> list[list[str]]:
        paths = [(await kb.ask_context(f"Who knows {name}?")).graph_path[:1] for name in ("Jose Nunez", "Ana Nunes")]
        return [*paths, [node.name for node in await kb.search_nodes("Ana Nunes", 1)]]

    for _ in range(2):
        assert await found() == [["José Núñez"], [], []]
    assert sum("AS names" in statement for statement in read) == 2
    await kb.add_triples([("Ána Nunes", "works_for", "Zürich Re")])
    assert await found() == [["José Núñez"], ["Ána Nunes"], ["Ána Nunes"]]
