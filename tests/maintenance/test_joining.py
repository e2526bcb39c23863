"""An import joins two graphs: what comes out is the graph that would have been built from all that both know."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from core.rag import KnowledgeBase, UndirectedNode
from core.rag.dbhandler.knowledge.facts import Triple
from core.rag.extraction.facts import ChunkFacts
from libs.dataloader import Document, Link
from tests.embedders import HashEmbedder
from tests.graphs import orphans, snapshot
from tests.maintenance.conftest import opened

_ONE = [
    Document(
        path="mill",
        title="Alpha Mill",
        content="Anna Berg met Karl Stein in Hamburg. The Pond is deep. Anna-Berg sang.",
    ),
    Document(path="shared", title="Shared", content="Karl Stein works for ACME Corp in the Beta Barn."),
    Document(path="links", content="See the barn.", links=(Link("barn", "barn"), Link("https://a.example.org/", "a"))),
    Document(path="people.csv", content="name,city\nKarl Stein,Ulm\nAnna Berg,Ulm\n", format="csv"),
]
_TWO = [
    Document(
        path="barn",
        title="Beta Barn",
        content="Olga Frost met KARL STEIN near Alpha Mill. Acme Corp paid.",
        links=(Link("mill", "m"),),
    ),
    Document(path="shared", title="Shared", content="Karl Stein works for ACME Corp in the Beta Barn."),
    Document(path="mill-two", title="alpha mill", content="Acme Corp paid Anna Berg. Acme Corp is large."),
    Document(path="staff.csv", content="name,city\nKarl Stein,Ulm\nOlga Frost,Jena\n", format="csv"),
]


def _facts(*facts: tuple[str, str, str, str], kind: str = "person") -> ChunkFacts:
    return ChunkFacts.of([(name, kind) for a, _, b, _ in facts for name in (a, b)], facts)


async def _chunk(kb: KnowledgeBase, path: str) -> str:
    return str((await kb.client.get_document_chunks(path))[0]["chunk_id"])


async def one(kb: KnowledgeBase) -> None:
    await kb.ingest(_ONE)
    chunk = await _chunk(kb, "mill")
    facts = _facts(("Karl Stein", "knows", "Anna Berg", "Karl knows Anna."))
    await kb.client.write_chunk_facts({chunk: facts, await _chunk(kb, "shared"): facts}, "model")
    await kb.client.add_triples(
        [
            Triple("Karl Stein", "likes", "Anna Berg", chunk_ids=(chunk, await _chunk(kb, "shared"))),
            Triple("Karl Stein", "is", "Tall", chunk_ids=(chunk,)),
        ]
    )


async def two(kb: KnowledgeBase) -> None:
    await kb.ingest(_TWO)
    chunk = await _chunk(kb, "barn")
    facts = _facts(
        ("Karl Stein", "knows", "Anna Berg", "They are friends."), ("Acme Corp", "is", "Large", "It is."), kind="friend"
    )
    same = _facts(("Karl Stein", "knows", "Anna Berg", "Karl knows Anna."))
    await kb.client.write_chunk_facts({chunk: facts, await _chunk(kb, "shared"): same}, "model")
    await kb.client.add_triples(
        [
            Triple("Karl Stein", "likes", "Anna Berg", chunk_ids=(chunk, await _chunk(kb, "shared"))),
            Triple("Karl Stein", "is", "Tall", chunk_ids=(chunk,)),
        ]
    )


async def _exported(file: Path, *fill: Callable[[KnowledgeBase], Awaitable[None]]) -> Path:
    async with opened(file) as kb:
        for part in fill:
            await part(kb)
        await kb.export(file.with_suffix(".jsonl"))
    return file.with_suffix(".jsonl")


def _difference(found: list[str], wanted: list[str]) -> str:
    return "\n".join(
        [f"- {line}" for line in sorted({*wanted} - {*found})] + [f"+ {line}" for line in sorted({*found} - {*wanted})]
    )


@pytest.mark.parametrize("turned", [False, True])
async def test_two_graphs_become_the_graph_of_all_their_documents(tmp_path: Path, *, turned: bool) -> None:
    first, second = (two, one) if turned else (one, two)
    file = await _exported(tmp_path / "second.grafeo", second)
    async with opened(tmp_path / "both.grafeo") as kb:
        await kb.ingest([*_ONE, *_TWO])
        await one(kb)
        await two(kb)
        chunks = [await _chunk(kb, path) for path in ("mill", "shared", "barn")]
        await kb.client.add_triples(
            [
                Triple("Karl Stein", "likes", "Anna Berg", chunk_ids=tuple(sorted(chunks))),
                Triple("Karl Stein", "is", "Tall", chunk_ids=tuple(sorted((chunks[0], chunks[2])))),
            ]
        )
        wanted = await snapshot(kb.client)
        for path in ("shared", "barn", "people.csv"):
            await kb.delete(path)
        left = await snapshot(kb.client)
    async with opened(tmp_path / "first.grafeo") as kb:
        await first(kb)
        await kb.import_(file)
        assert _difference(await snapshot(kb.client), wanted) == ""
        assert (await kb.doctor()).healthy
        assert not any((await orphans(kb.client)).values())
        await kb.import_(file)
        assert _difference(await snapshot(kb.client), wanted) == ""
        for path in ("shared", "barn", "people.csv"):
            await kb.delete(path)
        assert _difference(await snapshot(kb.client), left) == ""


async def test_an_import_that_is_repeated_changes_nothing(tmp_path: Path) -> None:
    async def barn(kb: KnowledgeBase) -> None:
        named = Document(path="tale", title="A tale", content="Olga Frost met him at the Old Beta Barn.")
        await kb.ingest([named, Document(path="barn", title="Beta Barn", content="It is large.")])

    file = await _exported(tmp_path / "second.grafeo", barn)
    async with opened(tmp_path / "first.grafeo") as kb:
        await kb.ingest([Document(path="old", title="Old Beta Barn", content="It is old.")])
        await kb.import_(file)
        joined = await snapshot(kb.client)
        await kb.import_(file)
        assert _difference(await snapshot(kb.client), joined) == ""


@pytest.mark.parametrize("turned", [False, True])
async def test_what_was_said_on_both_sides_has_one_place(tmp_path: Path, *, turned: bool) -> None:
    def saying(*said: tuple[str, int]) -> Callable[[KnowledgeBase], Awaitable[None]]:
        async def say(kb: KnowledgeBase) -> None:
            for text, hour in said:
                await kb.remember("day", "user", text, timestamp=f"2026-01-01T{hour:02}:00:00Z")

        return say

    morning = saying(("The gates shut.", 8), ("The mill turned.", 9))
    later = saying(("The mill turned.", 10), ("It rained.", 11))
    first, second = (later, morning) if turned else (morning, later)
    file = await _exported(tmp_path / "second.grafeo", second)
    async with opened(tmp_path / "first.grafeo") as kb:
        await first(kb)
        for _ in range(2):
            await kb.import_(file)
            memories = await kb.memories("day")
            assert [(memory.content, memory.created_at[11:13]) for memory in memories] == [
                ("The gates shut.", "08"),
                ("The mill turned.", "09"),
                ("It rained.", "11"),
            ]


@pytest.mark.parametrize("later", [False, True])
async def test_what_one_side_has_said_again_stands_where_it_was_last_said(tmp_path: Path, *, later: bool) -> None:
    async with opened(tmp_path / "graph.grafeo") as kb:
        for day, town in enumerate(("Ulm", "Jena", "Graz"), 1):
            await kb.remember("homes", "user", f"I live in {town}.", timestamp=f"2026-01-0{day}")
        await kb.export(tmp_path / "before.jsonl")
        await kb.remember("homes", "user", "I live in Ulm.", timestamp="2026-01-04")
        await kb.remember("homes", "user", "I like it here.", timestamp="2026-01-05")
        await kb.export(tmp_path / "after.jsonl")
        wanted = [memory.content for memory in await kb.memories("homes")]
    assert [said.split()[-1] for said in wanted] == ["Jena.", "Graz.", "Ulm.", "here."]
    async with opened(tmp_path / "other.grafeo") as kb:
        for name in ("after", "before", "before") if later else ("before", "after", "after"):
            await kb.import_(tmp_path / f"{name}.jsonl")
        assert [memory.content for memory in await kb.memories("homes")] == wanted
        assert (await kb.doctor()).healthy


async def test_other_facts_of_a_passage_take_the_place_of_those_that_were_found_before(tmp_path: Path) -> None:
    found = [_facts(("Karl Stein", "knows", name, f"He knows {name}.")) for name in ("Ida Falk", "Max Horn")]
    for number, facts in enumerate(found):
        async with opened(tmp_path / f"{number}.grafeo") as kb:
            await kb.ingest(_ONE)
            await kb.client.write_chunk_facts({await _chunk(kb, "mill"): facts}, "model")
            await kb.export(tmp_path / f"{number}.jsonl")
            wanted = await snapshot(kb.client)
    async with opened(tmp_path / "0.grafeo") as kb:
        await kb.import_(tmp_path / "1.jsonl")
        assert _difference(await snapshot(kb.client), wanted) == ""


async def _people(kb: KnowledgeBase, *, second: bool) -> None:
    """What people do with a graph; the same things in either of two, and not equally often."""
    await kb.ingest([*_ONE, *_TWO])
    for _ in range(3 if second else 2):
        await kb.client.track_user_viewed_document("ann", "mill")
        await kb.remember("tea", "user", "Karl likes tea.", user_id="ann", tags=["two"] if second else ["one"])
    await kb.feedback(await _chunk(kb, "mill"), 1.0 if second else -1.0, query="who?", user_id="ann")
    concept, other = ("Ponds", "Mills") if second else ("Mills", "Ponds")
    await kb.link_related_concepts(concept, other, weight=2.0)


async def _read(kb: KnowledgeBase, statement: str) -> list[dict[str, Any]]:
    return await kb.client.read(statement)


@pytest.mark.parametrize("turned", [False, True])
async def test_what_people_did_in_two_graphs_is_kept(tmp_path: Path, *, turned: bool) -> None:
    for name, second in (("one", False), ("two", True)):  # in this order: the second one's word is the later one
        async with opened(tmp_path / f"{name}.grafeo") as kb:
            await _people(kb, second=second)
            await kb.export(tmp_path / f"{name}.jsonl")
    here, there = ("two", "one") if turned else ("one", "two")
    async with opened(tmp_path / f"{here}.grafeo") as kb:
        await kb.import_(tmp_path / f"{there}.jsonl")
        viewed = await kb.client.viewed_documents("ann")
        assert [(row["path"], row["count"]) for row in viewed] == [("mill", 3)]
        assert viewed[0]["first_at"] < viewed[0]["last_at"]
        (memory,) = await kb.memories("tea")
        assert (memory.count, sorted(memory.tags)) == (3, ["one", "two"])
        assert [found.content for found in await kb.recall(query=f"in {here}")] == ["Karl likes tea."]  # by its tag
        assert [row["value"] for row in await kb.client.ratings_of_user("ann")] == [1.0]
        edges = await _read(kb, "MATCH (:Concept)-[r:RELATED_TO]->(:Concept) RETURN r.weight AS weight")
        assert edges == [{"weight": 2.0}]
        assert (await kb.doctor()).healthy


async def test_what_a_person_says_is_not_set_back_to_what_was_found(tmp_path: Path) -> None:
    async with opened(tmp_path / "found.grafeo") as kb:
        names = "The World Health Organization (WHO) met Karl Stein. The WHO said no. Karl Stein left."
        await kb.ingest([*_ONE, *_TWO, Document(path="who", content=names)])
        await kb.resolve_entities()
        await kb.export(tmp_path / "found.jsonl")
        before = await _read(kb, "MATCH (a:Entity)-[s:SAME_AS]-(b:Entity) RETURN DISTINCT a.name AS a, b.name AS b")
        apart = min((row["a"], row["b"]) for row in before)
        await kb.split_entity(*apart)
        await kb.client.create_document_reference("barn", "mill", "by hand")
        await kb.client.create_resource("https://a.example.org/", "web", "the first letter")
        await kb.import_(tmp_path / "found.jsonl")
        after = await _read(kb, "MATCH (a:Entity)-[s:SAME_AS]-(b:Entity) RETURN DISTINCT a.name AS a, b.name AS b")
        assert {(row["a"], row["b"]) for row in before} - {(row["a"], row["b"]) for row in after} == {
            apart,
            apart[::-1],
        }
        assert await _read(
            kb, "MATCH (:Document)-[r:REFERENCES]->(d:Document {path: 'mill'}) RETURN r.text AS text"
        ) == [{"text": "by hand"}]
        assert await _read(kb, "MATCH (r:Resource {uri: 'https://a.example.org/'}) RETURN r.origin AS by") == [
            {"by": "caller"}
        ]
    async with opened(tmp_path / "made.grafeo") as kb:
        made = await kb.client.make_entity("KARL STEIN", "engineer")
        await kb.import_(tmp_path / "found.jsonl")
        (entity,) = await kb.client.read("MATCH (e:Entity {id: $id}) RETURN e.name AS name, e.type AS type", id=made)
        assert entity == {"name": "KARL STEIN", "type": "engineer"}
        await kb.delete("mill")
        assert (await kb.doctor()).healthy


@pytest.mark.parametrize("later", [False, True])
async def test_a_summary_stands_for_messages_that_one_side_still_has(tmp_path: Path, *, later: bool) -> None:
    async with opened(tmp_path / "graph.grafeo") as kb:
        for text in ("Karl likes tea.", "Anna likes milk.", "Olga likes salt."):
            await kb.remember("tastes", "user", text)
        await kb.export(tmp_path / "live.jsonl")
        summary = await kb.compact("tastes", 0)
        await kb.export(tmp_path / "compacted.jsonl")
        wanted = await snapshot(kb.client)
    async with opened(tmp_path / "other.grafeo") as kb:
        for name in ("compacted", "live") if later else ("live", "compacted"):
            await kb.import_(tmp_path / f"{name}.jsonl")
        assert (await kb.doctor()).healthy
        vectors = await _read(kb, "MATCH (v:Vector)-[:EMBEDDING_OF]->(m:Interaction) RETURN m.summary AS summary")
        assert vectors == [{"summary": True}]
        assert len(await snapshot(kb.client)) == len(wanted)
        assert [memory.id for memory in await kb.recall(query="Karl tea")] == [summary]


async def test_a_session_of_somebody_else_does_not_become_theirs(tmp_path: Path) -> None:
    async with opened(tmp_path / "anns.grafeo") as kb:
        await kb.client.create_conversation("Ann's talk", "ann", "s")
        await kb.remember("s", "user", "Ann likes titanium.")
        await kb.export(tmp_path / "anns.jsonl")
    async with opened(tmp_path / "nobodys.grafeo") as kb:
        await kb.remember("s", "user", "Somebody likes tin.")
        await kb.export(tmp_path / "nobodys.jsonl")
    async with opened(tmp_path / "bobs.grafeo") as kb:
        await kb.client.create_conversation("Bob's talk", "bob", "s")
        await kb.remember("s", "user", "Bob likes bismuth.")
        for name in ("anns", "anns", "nobodys"):
            await kb.import_(tmp_path / f"{name}.jsonl")
        talk = await kb.client.find_conversation("s")
        assert talk is not None
        assert (talk["user_id"], talk["title"]) == ("bob", "Bob's talk")
        assert (await kb.doctor()).healthy
        for user, likes in (("bob", {"Bob likes bismuth.", "Somebody likes tin."}), ("ann", {"Ann likes titanium."})):
            assert {memory.content for memory in await kb.recall(user_id=user, query="likes", limit=9)} == likes
        assert [row["title"] for row in await kb.client.list_conversations("ann")] == []
        await kb.forget(user_id="ann")
        assert {memory.content for memory in await kb.memories("s")} == {"Bob likes bismuth.", "Somebody likes tin."}


async def test_a_graph_goes_on_to_be_searched_by_its_own_model(tmp_path: Path) -> None:
    async with opened(tmp_path / "other.grafeo", embedder=HashEmbedder(16, "other")) as kb:
        await kb.ingest([*_TWO])
        await kb.knowledge_graph.add_node(UndirectedNode("the copper kettle boils", "step"))
        assert await kb.knowledge_graph.embed_pending() == 1
        await kb.export(tmp_path / "other.jsonl")
    async with opened(tmp_path / "graph.grafeo") as kb:
        await kb.ingest(_ONE)
        await kb.knowledge_graph.add_node(UndirectedNode("the silver spoon", "step"))
        assert await kb.knowledge_graph.semantic_search("silver spoon")
        await kb.import_(tmp_path / "other.jsonl")
        stores = {store.model: store.status for store in await kb.client.vector_stores()}
        assert stores == {"words": "active", "other": "standby"}
        assert (await kb.search("Anna Berg met Karl Stein", mode="vector"))[0].path == "mill"
        found = await kb.knowledge_graph.semantic_search("copper kettle")
        assert found[0].content == "the copper kettle boils"


async def test_a_record_of_the_file_has_the_entities_of_the_file(tmp_path: Path) -> None:
    """Those of what it said before stayed with it."""
    for name, city in (("before", "Jena"), ("after", "Ulm")):
        async with opened(tmp_path / f"{name}.grafeo") as kb:
            await kb.insert("people", {"_id": "1", "name": "Karl Stein", "city": city})
            await kb.insert("people", {"_id": "2", "name": "Anna Berg", "city": "Ulm"})
            await kb.export(tmp_path / f"{name}.jsonl")
            wanted = await snapshot(kb.client)
    async with opened(tmp_path / "before.grafeo") as kb:
        await kb.import_(tmp_path / "after.jsonl")
        assert _difference(await snapshot(kb.client), wanted) == ""
        assert (await kb.doctor()).healthy
