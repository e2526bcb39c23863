"""Records: entities by field, pairwise links, the same label once."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from tests.extraction.graphs import knowledge

from core.rag import KnowledgeBase
from core.rag.errors import InvalidInputError
from core.rag.extraction.records import entities_of
from dbhandler.kit import BOLT_URI, Engine
from libs.dataloader import Document

ALICE = {
    "name": "Alice Johnson",
    "title": "Senior Engineer",
    "company": "TechCorp",
    "team": "Backend",
    "manager": "Bob Smith",
}
HOSTILE = [
    '"; MATCH (n) DETACH DELETE n //',
    "`x`) DETACH DELETE (n",
    "🎉",
    "\u0000x\u202e",
    "x" * 10_000,
    "$namespace",
]


@pytest.fixture
async def kb(engine: Engine) -> AsyncIterator[KnowledgeBase]:
    async with engine.knowledge() as opened:
        yield opened


async def counts(kb: KnowledgeBase) -> tuple[int, int]:
    """Entities, and edges between them."""
    nodes = await kb.client.read("MATCH (e:Entity) WHERE e.namespace = $namespace RETURN count(e) AS n")
    edges = await kb.client.read(
        "MATCH (a:Entity)-[r:RELATED]->(:Entity) WHERE a.namespace = $namespace RETURN count(r) AS n"
    )
    return nodes[0]["n"], edges[0]["n"]


async def test_the_employee_example(kb: KnowledgeBase) -> None:
    inserted = await kb.insert("employees", ALICE)

    assert (inserted.nodes, inserted.edges) == (5, 10)
    assert inserted.entities == ["Alice Johnson", "Senior Engineer", "TechCorp", "Backend", "Bob Smith"]
    assert await counts(kb) == (5, 10)
    rows = await kb.client.read("MATCH (e:Entity) WHERE e.namespace = $namespace RETURN e.name AS n, e.type AS t")
    assert {row["n"]: row["t"] for row in rows} == {
        "Alice Johnson": "name",
        "Senior Engineer": "title",
        "TechCorp": "company",
        "Backend": "team",
        "Bob Smith": "manager",
    }


async def test_a_shared_label_is_one_entity(kb: KnowledgeBase) -> None:
    await kb.insert("employees", ALICE)
    second = await kb.insert("employees", {"name": "Bob Smith", "company": "techcorp", "email": "bob@techcorp.example"})
    assert (second.nodes, second.edges) == (1, 3), "works_at is said of a pair that had only co-occurred"
    project = await kb.insert("projects", {"project": "Platform Core", "company": "TechCorp", "tags": ["core", "api"]})
    assert project.nodes == 3
    rows = await kb.client.read("MATCH (e:Entity {normalized_name: 'techcorp'}) RETURN e.name AS name")
    assert [row["name"] for row in rows] == ["TechCorp"]


async def test_a_record_again_changes_nothing_and_one_with_its_id_replaces_it(kb: KnowledgeBase) -> None:
    first = await kb.insert("employees", {"_id": "e1", **ALICE})
    before = await knowledge(kb.client)
    again = await kb.insert("employees", {"_id": "e1", **ALICE})
    assert (again.id, again.nodes, again.edges) == (first.id, 0, 0)
    assert await knowledge(kb.client) == before

    await kb.insert("employees", {"_id": "e1", "name": "Alice Johnson", "company": "Other Ltd"})
    assert await counts(kb) == (2, 1)
    assert [record["data"]["company"] for record in await kb.records("employees")] == ["Other Ltd"]
    assert await kb.delete_record(first.id)
    assert not await kb.delete_record(first.id)
    assert await counts(kb) == (0, 0)


async def test_rows_of_files_are_records_and_go_with_them(kb: KnowledgeBase, tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text("name,company,age\nAnn Lee,Mill & Co,30\nTom Ray,Mill & Co,41\n")
    (tmp_path / "projects.jsonl").write_text(
        "\n".join(json.dumps(row) for row in ({"project": "Sluice", "owner": "Ann Lee"}, {"project": "Weir"}))
    )
    await kb.ingest(tmp_path)
    records = await kb.client.read("MATCH (r:Record) WHERE r.namespace = $namespace RETURN r.collection AS c")
    assert sorted(row["c"] for row in records) == ["people", "people", "projects", "projects"]
    rows = await kb.client.read(
        "MATCH (a:Entity)-[r:RELATED]->(b:Entity) WHERE a.namespace = $namespace "
        "RETURN a.name AS a, r.type AS type, b.name AS b"
    )
    assert {(row["a"], row["type"], row["b"]) for row in rows} == {
        ("Ann Lee", "works_at", "Mill & Co"),
        ("Tom Ray", "works_at", "Mill & Co"),
        ("Sluice", "owned_by", "Ann Lee"),
    }
    await kb.delete(str(tmp_path / "people.csv"))
    await kb.delete(str(tmp_path / "projects.jsonl"))
    counts_left = await kb.client.counts()
    assert not {"Entity", "Record"} & counts_left["nodes"].keys()


@pytest.mark.parametrize("name", HOSTILE)
async def test_hostile_values_are_only_values(kb: KnowledgeBase, name: str) -> None:
    await kb.insert("employees", ALICE)
    inserted = await kb.insert(name[:100], {"name": name, "company": "TechCorp", name[:50]: name})
    assert await kb.client.read("MATCH (e:Entity {normalized_name: 'techcorp'}) RETURN e.name AS name")
    assert (await kb.records(name[:100]))[0]["id"] == inserted.id
    assert await kb.delete_record(inserted.id)
    assert await counts(kb) == (5, 10)


async def test_what_is_no_record_is_refused(kb: KnowledgeBase) -> None:
    for collection, record in [("", {"name": "x"}), ("c", ["x"]), ("c", {"name": object()}), ("x" * 300, {})]:
        with pytest.raises(InvalidInputError):
            await kb.insert(collection, record)  # type: ignore[arg-type]


def test_which_fields_are_entities() -> None:
    assert entities_of({"name": "\0", "team": " "}) == []
    record = {
        "firstName": "Ann",
        "company": {"name": "Mill & Co", "id": 7},
        "project_name": "Sluice",
        "tags": ["old", "wet", ""],
        "age": 30,
        "description": "long",
        "companyId": "c7",
    }
    assert {(entity.type, entity.text) for entity in entities_of(record)} == {
        ("name", "Ann"),
        ("company", "Mill & Co"),
        ("project", "Sluice"),
        ("tag", "old"),
        ("tag", "wet"),
    }


people = st.sampled_from(["Ann Lee", "ANN LEE", "Tom Ray", "Mill & Co", "Mill"])
records = st.fixed_dictionaries({}, optional={"name": people, "company": people, "manager": people})
steps = st.lists(
    st.one_of(
        st.tuples(st.just("insert"), st.sampled_from("abc"), records),
        st.tuples(st.just("delete"), st.sampled_from("abc"), st.none()),
        st.tuples(st.just("ingest"), st.sampled_from(["Ann Lee met Tom Ray.", "At Mill & Co.", "x"]), st.none()),
    ),
    min_size=1,
    max_size=8,
)


@given(steps)
@settings(
    max_examples=10 if BOLT_URI else 40,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
    phases=[Phase.explicit, Phase.reuse, Phase.generate],
)
async def test_any_sequence_of_records_ends_in_the_graph_of_its_end(
    engine: Engine, changes: list[tuple[str, str, Any]]
) -> None:
    final: dict[str, dict[str, Any]] = {}
    text: str | None = None
    async with engine.knowledge() as kb:
        ids: dict[str, str] = {}
        for kind, key, record in changes:
            if kind == "insert":
                final[key] = {"_id": key, **record}
                ids[key] = (await kb.insert("c", final[key])).id
            elif kind == "delete" and key in ids:
                final.pop(key, None)
                await kb.delete_record(ids[key])
            elif kind == "ingest":
                text = key
                await kb.ingest([Document(path="d", content=key)])
        await kb.resolve_entities(vectors=False)  # records leave that to the next ingest
        grown = await knowledge(kb.client)
    async with engine.knowledge() as kb:
        if text is not None:
            await kb.ingest([Document(path="d", content=text)])
        for key in sorted(final, reverse=True):
            await kb.insert("c", final[key])
        await kb.resolve_entities(vectors=False)
        assert grown == await knowledge(kb.client)


async def test_an_export_holds_all_of_it(tmp_path: Path) -> None:
    engine = Engine("embedded::memory:")
    namespace = engine.namespace()
    async with engine.knowledge(namespace) as kb:
        await kb.insert("employees", ALICE)
        await kb.add_triples([("Alice Johnson", "likes", "TechCorp"), ("Alice Johnson", "hates", "TechCorp")])
        await kb.link("Alice Johnson", "TechCorp", "knows")
        await kb.ingest([Document(path="a", content="Alice Johnson lives in New York.", title="New York")])
        await kb.client.export_graph(tmp_path / "graph.jsonl")
        before = await knowledge(kb.client)
    async with engine.knowledge(namespace) as other:
        await other.client.import_graph(tmp_path / "graph.jsonl")
        assert await knowledge(other.client) == before
    assert len(before["facts"]) == 13
