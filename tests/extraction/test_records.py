"""Records: entities by field, pairwise links, the same label once."""

from __future__ import annotations

import json
from collections import Counter
from datetime import UTC, date, datetime, time
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import UUID

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from core.rag import KnowledgeBase
from core.rag.dbhandler.json_texts import to_json
from core.rag.dbhandler.knowledge.record_rows import record_row
from core.rag.errors import InvalidInputError
from core.rag.extraction.records import entities_of, record_text
from core.rag.extraction.words import normalize_name
from libs.dataloader import Document
from tests.dbhandler.kit import BOLT_URI, Engine
from tests.extraction.graphs import knowledge

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


def to_text(record: dict[str, str]) -> str:
    return json.dumps(record, sort_keys=True)


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


async def test_the_employee_example_as_a_file(kb: KnowledgeBase, tmp_path: Path) -> None:
    (tmp_path / "employee.json").write_text(json.dumps(ALICE))
    await kb.ingest(tmp_path)
    assert await counts(kb) == (5, 10)
    assert [record["data"] for record in await kb.records("employee")] == [ALICE]


async def test_a_shared_label_is_one_entity(kb: KnowledgeBase) -> None:
    await kb.insert("employees", ALICE)
    second = await kb.insert("employees", {"name": "Bob Smith", "company": "techcorp", "email": "bob@techcorp.example"})
    assert (second.nodes, second.edges) == (1, 3), "works_at is said of a pair that had only co-occurred"
    project = await kb.insert("projects", {"project": "Platform Core", "company": "TechCorp", "tags": ["core", "api"]})
    assert project.nodes == 3
    rows = await kb.client.read(
        "MATCH (e:Entity {normalized_name: 'techcorp'}) WHERE e.namespace = $namespace RETURN e.name AS name"
    )
    assert [row["name"] for row in rows] == ["TechCorp"]


@pytest.mark.parametrize(
    ("collection", "kind", "said"),
    [
        ("projects", "project", {"owns_project", "owned_by", "tagged"}),
        ("Projects 2024", "project", {"owns_project", "owned_by", "tagged"}),
        ("employees", "name", {"works_at", "owned_by", "tagged"}),
        ("project", "name", {"works_at", "owned_by", "tagged"}),  # may list those who are in it
        ("employees by projects", "name", {"works_at", "owned_by", "tagged"}),
    ],
)
async def test_the_name_of_a_record_is_what_its_collection_says(
    kb: KnowledgeBase, collection: str, kind: str, said: set[str]
) -> None:
    record = {"name": "Platform Core", "company": "TechCorp", "owner": "Bob Smith", "tags": ["api"]}
    inserted = await kb.insert(collection, record)
    assert (inserted.nodes, inserted.edges) == (4, 6)
    stats = await kb.graph_stats()
    assert stats.nodes_by_type == {kind: 1, "company": 1, "owner": 1, "tag": 1}
    assert stats.edges_by_type.keys() - {"co_occurs"} == said
    assert await kb.delete_record(inserted.id)
    assert await counts(kb) == (0, 0)


@pytest.mark.parametrize(
    ("field", "value", "names"),
    [
        ("tags", "oak, elm;larch ,", ["oak", "elm", "larch"]),
        ("Skills", "oak|elm\nlarch", ["oak", "elm", "larch"]),
        ("tags", ["oak, elm", "larch"], ["oak, elm", "larch"]),
        ("tag", "oak, elm", ["oak, elm"]),
        ("category", "Arts, Crafts & Trades", ["Arts, Crafts & Trades"]),
        ("members", "Lane, Ada", ["Lane, Ada"]),
        ("company", "Ohm, Inc.", ["Ohm, Inc."]),
    ],
)
async def test_what_a_text_files_a_record_under(
    kb: KnowledgeBase, field: str, value: str | list[str], names: list[str]
) -> None:
    inserted = await kb.insert("things", {"name": "Mill", field: value})
    assert inserted.entities == ["Mill", *names]


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


async def test_each_row_of_a_long_table_has_its_own_entities(kb: KnowledgeBase, tmp_path: Path) -> None:
    """More rows than a statement takes, some with the characters that separate rows and values there."""
    table = tmp_path / "people.jsonl"
    people = [{"name": f"Ann Lee {n}", "company": f"Mill {n % 7}", "city": "Ely"} for n in range(700)]
    people[650] |= {"name": "Up\x1fto\x1eDate", "company": "Mill 1"}

    async def stored() -> tuple[list[dict[str, str]], dict[str, float]]:
        rows = await kb.client.read(
            "MATCH (r:Record)-[h:HAS_ENTITY]->(e:Entity) WHERE r.namespace = $namespace "
            "RETURN r.id AS id, h.field AS field, h.text AS text, e.normalized_name AS name"
        )
        records: dict[str, dict[str, str]] = {}
        for row in rows:
            assert row["name"] == normalize_name(row["text"])
            records.setdefault(row["id"], {})[row["field"]] = row["text"]
        links = await kb.client.read(
            "MATCH (a:Entity)-[r:RELATED]->(b:Entity) WHERE a.namespace = $namespace AND b.name = 'Ely' "
            "AND a.type = 'company' RETURN a.name AS a, r.weight AS weight, r.id = r.key AS alike"
        )
        assert all(row["alike"] for row in links)
        return list(records.values()), {row["a"]: row["weight"] for row in links}

    for change in ({}, {"company": "Mill 1"}, {"name": "Tom Ray", "company": "Weir"}):
        people[0] |= change
        table.write_text("\n".join(map(json.dumps, people)))
        await kb.ingest(table)
        records, weights = await stored()
        said = [{**person, "name": " ".join(person["name"].split())} for person in people]
        assert sorted(map(to_text, records)) == sorted(map(to_text, said))
        assert weights == Counter(person["company"] for person in people)


@pytest.mark.parametrize("name", HOSTILE)
async def test_hostile_values_are_only_values(kb: KnowledgeBase, name: str) -> None:
    await kb.insert("employees", ALICE)
    inserted = await kb.insert(name[:100], {"name": name, "company": "TechCorp", name[:50]: name})
    assert await kb.client.read(
        "MATCH (e:Entity {normalized_name: 'techcorp'}) WHERE e.namespace = $namespace RETURN e.name AS name"
    )
    assert (await kb.records(name[:100]))[0]["id"] == inserted.id
    assert await kb.delete_record(inserted.id)
    assert await counts(kb) == (5, 10)


async def test_dates_and_numbers_of_other_libraries_are_texts_and_numbers(kb: KnowledgeBase) -> None:
    day = datetime(2026, 1, 31, 12, tzinfo=UTC)
    inserted = await kb.insert(
        "sales", {"title": "Flour", "name": "Ada", "day": day, "n": [np.int64(2), np.float32(0.5)]}
    )
    assert inserted.entities == ["Flour", "Ada"]
    [row] = await kb.records("sales")
    assert row["data"] == {"title": "Flour", "name": "Ada", "day": "2026-01-31T12:00:00+00:00", "n": [2, 0.5]}
    assert (await kb.insert("sales", row["data"] | {"title": "Flour"})).id == inserted.id


async def test_rows_of_a_database_are_records(kb: KnowledgeBase) -> None:
    key = UUID("6a9012a6-81a6-3c11-b506-60616ad25acc")
    row = {"id": key, "amount": Decimal("1200.50"), "number": Decimal(2**60 + 1), "at": time(9, 30)}
    inserted = await kb.insert("orders", row)
    assert (await kb.insert("orders", row | {"amount": Decimal("1300.50")})).id == inserted.id
    [stored] = await kb.records("orders")
    assert stored["data"] == {"id": str(key), "amount": 1300.5, "number": 2**60 + 1, "at": "09:30:00"}
    assert (await kb.tabulate("orders", measures="sum:amount")).rows == [{"sum:amount": 1300.5}]


@pytest.mark.parametrize(
    ("field", "said"),
    [
        (1.5j, r"price\.0\.net is 1.5j, of type complex"),
        (Decimal("sNaN"), r"price\.0\.net is Decimal\('sNaN'\), of type Decimal"),
        (Decimal("1E+1000000"), r"price\.0\.net is Decimal\('1E\+1000000'\), of type Decimal"),
        (float("nan"), r"price\.0\.net is nan"),
        ({"a"}, r"price\.0\.net is {'a'}, of type set"),
    ],
    ids=str,
)
async def test_the_field_that_cannot_be_stored_is_named(kb: KnowledgeBase, field: object, said: str) -> None:
    sale = {"_id": 7, "on": date(2026, 1, 31), "price": [{"net": field}]}
    with pytest.raises(
        InvalidInputError, match=f"The record '7' of 'sales' cannot be stored as JSON: {said}.* Leave it"
    ):
        await kb.insert_many("sales", [{"name": "Ada"}, sale])
    with pytest.raises(InvalidInputError, match="record 2 of 'sales' is a NoneType"):
        await kb.insert_many("sales", [{"name": "Ada"}, None])  # type: ignore[list-item]
    assert await kb.records("sales") == []


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


def test_the_line_of_a_record_has_no_spaces_around_its_values() -> None:
    assert record_text({"company": "Mill & Co ", "tags": [" old", "wet\n"]}) == "company: Mill & Co, tags: old, wet"


def nested(levels: int, innermost: Any) -> Any:
    for _ in range(levels):
        innermost = {"a": innermost}
    return innermost


async def test_text_is_found_however_deep_it_is(kb: KnowledgeBase) -> None:
    for collection, levels in (("four", 5), ("many", 200)):
        inserted = await kb.insert(collection, nested(levels, "needleword"))
        assert inserted.id in {hit.id for hit in await kb.search_knowledge("needleword", "keyword")}
        assert len(await kb.records(collection)) == 1
    assert record_text(nested(200, "x")) == f"{'.'.join('a' * 8)}: x", "the text does not grow with the depth squared"
    assert entities_of({"a": {"b": {"c": {"name": "Ann", "d": {"name": "Tom"}}}}})[0].text == "Ann"


@pytest.mark.parametrize("levels", [201, 2_000, 100_000])
async def test_a_record_that_is_nested_too_deeply_is_named(kb: KnowledgeBase, levels: int) -> None:
    with pytest.raises(InvalidInputError, match="'r7' of 'deep' is nested more than 200 levels"):
        await kb.insert("deep", {"_id": "r7", **nested(levels, "x")})


def test_what_else_is_nested_too_deeply_is_named() -> None:
    with pytest.raises(InvalidInputError, match="The metadata of x cannot be stored as JSON: it is nested too deeply"):
        to_json(nested(100_000, 1), "The metadata of x")


async def test_a_record_has_sixty_four_entities_at_most(kb: KnowledgeBase) -> None:
    inserted = await kb.insert("notes", {"tags": [f"tag {number}" for number in range(30)]})
    assert (inserted.nodes, inserted.edges) == (30, 30 * 29 / 2)
    assert len(entities_of({"tags": [f"tag {number}" for number in range(100)]})) == 64
    team = {"members": [{"name": f"Member {n}"} for n in range(100)], "team": "Tide Crew", "company": {"city": "Ulm"}}
    kept = [entity.text for entity in entities_of(team)]
    assert kept == [*(f"Member {number}" for number in range(62)), "Tide Crew", "Ulm"]


async def test_the_rows_of_a_file_become_a_bounded_number_of_nodes_and_edges(
    kb: KnowledgeBase, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A row of these is a record with edges to its file and to two entities; one is its own, with one link."""
    monkeypatch.setattr("core.rag.indexing.facts.MAX_PIECES", 1 + 6 * 10)
    rows = [f"Person {chr(65 + i)}{chr(97 + i)}xon,TechCorp" for i in range(12)]
    for name, number in (("enough.csv", 10), ("many.csv", 12)):
        (tmp_path / name).write_text("\n".join(["name,company", *rows[:number], ""]))
    report = await kb.ingest([tmp_path])

    assert [warning.split(":")[0].rpartition("/")[2] for warning in report.warnings] == ["many.csv"]
    assert "its first 10 of 12 rows" in report.warnings[0]
    stored = await kb.client.read(
        "MATCH (r:Record) WHERE r.namespace = $namespace RETURN r.collection AS name, count(r) AS n ORDER BY name"
    )
    assert stored == [{"name": "enough", "n": 10}, {"name": "many", "n": 10}]
    assert "Person Llxon" in (await kb.search("Llxon", mode="keyword"))[0].content
    assert (await kb.ingest([tmp_path])).documents.unchanged == 2


async def test_what_identifies_a_record(kb: KnowledgeBase) -> None:
    async def of(record: dict[str, Any]) -> str:
        return (await kb.insert("c", record)).id

    assert await of({"_id": 1.5, "a": 1}) == await of({"_id": 1.5, "a": 2}) == await of({"id": "1.5"})
    assert await of({"_id": 1}) == await of({"_id": "1"}) != await of({"_id": 1.0})
    assert await of({"_id": True}) != await of({"_id": "True"})
    assert await of({"_id": True, "id": "x"}) == await of({"_id": "x"})


def test_ids_of_records_stay() -> None:
    """Graphs have them."""
    assert record_row("default", "c", {"_id": "e1"}).id == "b0c8c48c-df7e-314c-a3e6-07dfc8c50a50"
    assert record_row("default", "c", {"id": 7, "a": 1}).id == "bef3c6e7-ce36-34b8-8640-0b0e507f0167"
    assert record_row("default", "c", {"b": [1.5, None], "a": "ä"}).id == "54f14b84-bc5b-3067-9dab-fd7060ba5cc8"


async def test_half_a_surrogate_pair_is_replaced(kb: KnowledgeBase, tmp_path: Path) -> None:
    half = "\ud83d"
    inserted = await kb.insert(half, {"_id": half, "name": f"Ann {half}", f"z{half}": [{half: f"needle{half}"}]})
    await kb.insert_many(half, [{"_id": "\ufffd", "name": f"Ann {half}"}])
    assert inserted.entities == ["Ann \ufffd"]
    rows = [{"id": inserted.id, "collection": "\ufffd", "data": {"_id": "\ufffd", "name": "Ann \ufffd"}}]
    assert await kb.records(half) == await kb.records("\ufffd") == rows

    (tmp_path / "people.json").write_text('[{"name": "Tom \\ud83d"}, {"name": "Eve"}]')
    report = await kb.ingest(tmp_path)
    assert report.documents.failed == []
    assert {row["data"]["name"] for row in await kb.records("people")} == {"Tom \ufffd", "Eve"}


@pytest.mark.parametrize("record", [{1: "x"}, {1: "x", "a": "y"}, {"a": [{None: "x"}]}, {("a", "b"): 1}])
async def test_a_key_that_is_no_text_is_named(kb: KnowledgeBase, record: dict[Any, Any]) -> None:
    with pytest.raises(InvalidInputError, match=r"A record of 'c' has the key .* keys of JSON objects are texts"):
        await kb.insert("c", record)


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
    max_examples=3 if BOLT_URI else 25,
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
