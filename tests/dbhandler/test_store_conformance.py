"""What every engine has to do: statements, schema, errors, copies. Nothing here knows which engine it runs on."""

from __future__ import annotations

import asyncio
from array import array
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from core.rag.dbhandler.store import GraphStore, Row, Transaction, open_store
from core.rag.errors import (
    ConfigurationError,
    InvalidInputError,
    InvalidNameError,
    InvalidVectorError,
    ModelMismatchError,
    QueryError,
    StoreConstraintError,
    StoreUnavailableError,
)
from core.rag.schema import EdgeType, Label, TextIndex, VectorIndex
from tests.dbhandler.kit import Corner, Engine

CREATE = "CREATE (n:Document {id: $id, namespace: $namespace})"


# What a store says about itself


async def test_an_engine_says_what_it_is(store: GraphStore, engine: Engine) -> None:
    capabilities = store.capabilities
    assert capabilities.engine in {"grafeo", "memgraph", "neo4j"}
    assert capabilities.version
    assert capabilities.location
    assert capabilities.shared is not engine.embedded
    if engine.password:
        assert engine.password not in repr(capabilities)


@pytest.mark.parametrize("uri", ["http://localhost", "sqlite:graph.db", "redis://localhost:1"])
async def test_other_addresses_are_refused_by_name(uri: str) -> None:
    with pytest.raises(ConfigurationError, match=uri.partition(":")[0]):
        await open_store(uri)


# Statements


async def test_a_query_gives_rows_by_column_name(store: GraphStore) -> None:
    rows = await store.run("UNWIND $xs AS x RETURN x AS number, x * 2 AS double ORDER BY number", {"xs": [2, 1]})
    assert rows == [{"number": 1, "double": 2}, {"number": 2, "double": 4}]


async def test_a_query_without_parameters(store: GraphStore) -> None:
    assert await store.run("RETURN 1 AS one") == [{"one": 1}]
    assert await store.run("RETURN 1 AS one", None) == [{"one": 1}]


async def test_a_query_that_finds_nothing_gives_no_rows(corner: Corner) -> None:
    assert await corner.store.run("MATCH (n:Document {id: $id}) RETURN n.id AS id", {"id": corner.id("none")}) == []


async def test_many_rows_come_back_whole(store: GraphStore) -> None:
    rows = await store.run("UNWIND range(1, 20000) AS i RETURN i AS i")
    assert [row["i"] for row in rows] == list(range(1, 20001))


SCALARS: list[Any] = [
    True,
    False,
    0,
    -1,
    2**31,
    2**53 + 1,
    2**63 - 1,
    -(2**63),
    0.1,
    -2.5,
    1e300,
    5e-324,
    1.7976931348623157e308,
    "",
    'it\'s "quoted" `ticked` \\ back',
    "a\0b",
    "\U0001f600 汉字 ไทย e\u0301",
    "line\r\nbreak\ttab",
    "$x {y: 1}) DETACH DELETE n //",
    "x" * 200_000,
    ["a", "", "\0", "ü"],
    [1, 2, 3],
    [True, False],
    [],
]


@pytest.mark.parametrize("value", SCALARS, ids=lambda value: repr(value)[:20])
async def test_a_stored_value_comes_back_the_same(corner: Corner, value: Any) -> None:
    await corner.put("a", content=value)
    stored = await corner.value("a", "content")
    assert stored == value
    assert type(stored) is type(value)


@hypothesis_settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
@given(
    st.one_of(
        st.text(st.characters(exclude_categories=["Cs"])),
        st.integers(-(2**63), 2**63 - 1),
        st.floats(allow_nan=False, allow_infinity=False),
        st.booleans(),
        st.lists(st.text(st.characters(exclude_categories=["Cs"]))),
        st.lists(st.integers(-(2**63), 2**63 - 1)),
    )
)
async def test_any_value_comes_back_the_same(corner: Corner, value: Any) -> None:
    if corner.store.capabilities.engine == "memgraph":
        # It cuts integers in lists to 32 bits (3.11.0); nothing here stores such lists.
        assume(not isinstance(value, list) or all(isinstance(i, str) or -(2**31) <= i < 2**31 for i in value))
    await corner.delete("a")
    await corner.put("a", content=value)
    assert await corner.value("a", "content") == value


async def test_a_property_set_to_null_is_gone(corner: Corner) -> None:
    await corner.put("a", title="x", path="p")
    await corner.put("a", title=None)
    assert await corner.value("a", "title") is None
    assert await corner.value("a", "path") == "p"
    rows = await corner.store.run("MATCH (n:Document {id: $id}) RETURN keys(n) AS keys", {"id": corner.id("a")})
    assert sorted(rows[0]["keys"]) == ["id", "namespace", "path"]


async def test_merging_the_same_rows_again_changes_nothing(corner: Corner) -> None:
    for _ in range(3):
        await corner.put("a", "b", title="x")
        await corner.link(("a", "b"), ("a", "b"), label=Label.DOCUMENT)
    assert await corner.stored() == ["a", "b"]
    rows = await corner.store.run(
        "MATCH (:Document {id: $id})-[r:RELATED_TO]->() RETURN count(r) AS edges", {"id": corner.id("a")}
    )
    assert rows == [{"edges": 1}]


@pytest.mark.parametrize(
    "parameters",
    [
        {"id": None},
        {"id": ""},
        {"id": 7},
        {"rows": [{"id": "x"}, {"id": None}]},
        {"rows": [None, {"id": ""}]},
        {"rows": [{"props": {"id": 3.5}}]},
        {"list": [0.1, 0.2]},
        {"rows": [{"scores": [0.5]}]},
        {"list": [[1.0]]},
        {"number": 2**63},
        {"rows": [{"number": -(2**63) - 1}]},
        {"bytes": b"x"},
        {"set": {1}},
        {"object": ...},
        {"rows": [{1: "x"}]},
        {"text": "\ud800"},
        {"rows": [{"text": "a\udfffb"}]},
    ],
    ids=repr,
)
async def test_parameters_that_would_be_stored_as_something_else_are_refused(
    corner: Corner, parameters: dict[str, Any]
) -> None:
    await corner.put("a")
    statement = f"RETURN ${next(iter(parameters))} AS x"
    with pytest.raises(InvalidInputError):
        await corner.store.run(statement, parameters)

    async def work(tx: Transaction) -> list[Row]:
        return await tx.run(statement, parameters)

    with pytest.raises(InvalidInputError):
        await corner.store.transaction(work)
    assert await corner.stored() == ["a"]


@pytest.mark.parametrize(
    "embedding",
    [(), (0.0, 0.0), (0.1, float("nan")), (float("inf"), 1.0), (float("inf"), float("-inf")), (1, 2), (0.5, 1), ("a",)],
    ids=repr,
)
async def test_broken_embeddings_are_not_stored(corner: Corner, embedding: tuple[Any, ...]) -> None:
    statement = "UNWIND $rows AS row MERGE (v:Vector {id: row.id}) SET v.embedding = row.embedding, v.namespace = $n"
    rows = [{"id": corner.id("v"), "embedding": embedding}]
    with pytest.raises(InvalidVectorError, match="rows"):
        await corner.write(statement, {"rows": rows, "n": corner.namespace})
    assert await corner.stored(Label.VECTOR) == []


@pytest.mark.parametrize(
    "embedding",
    [
        array("f", [0.0, 0.0]),
        array("f", [0.1, float("nan")]),
        array("f", [float("inf"), float("-inf")]),
        array("f"),
        array("d", [0.1]),
        b"ab",
    ],
    ids=repr,
)
async def test_broken_buffers_are_not_stored_as_embeddings(corner: Corner, embedding: Any) -> None:
    statement = "UNWIND $rows AS row MERGE (v:Vector {id: row.id}) SET v.embedding = row.embedding, v.namespace = $n"
    rows = [{"id": corner.id("v"), "embedding": memoryview(embedding)}]
    with pytest.raises(InvalidVectorError, match="rows"):
        await corner.write(statement, {"rows": rows, "n": corner.namespace})
    assert await corner.stored(Label.VECTOR) == []


async def test_an_embedding_may_come_as_a_buffer_wherever_it_stands(corner: Corner) -> None:
    values = [0.5, -0.25, 1e-30, 1e30]
    buffer = memoryview(array("f", values))
    expected = array("f", values).tolist()
    create = "(v:Vector {id: %s.id}) SET v.embedding = %s.embedding, v.namespace = $n"
    await corner.write(
        "UNWIND $rows AS row MERGE " + create % ("row", "row"),
        {"rows": [{"id": corner.id("row"), "embedding": buffer}], "n": corner.namespace},
    )
    await corner.write(
        "UNWIND $rows AS row MERGE " + create % ("row.of", "row.of"),
        {"rows": [{"of": {"id": corner.id("nested"), "embedding": buffer}}], "n": corner.namespace},
    )
    await corner.write(
        "MERGE (v:Vector {id: $id}) SET v.embedding = $embedding, v.namespace = $n",
        {"id": corner.id("alone"), "embedding": buffer, "n": corner.namespace},
    )
    found = await corner.store.run(
        "MATCH (v:Vector) WHERE v.namespace = $n RETURN v.embedding AS e", {"n": corner.namespace}
    )
    assert [array("f", row["e"]).tolist() for row in found] == [expected] * 3
    asked = await corner.store.run("RETURN $embedding AS e", {"embedding": buffer})
    assert [array("f", row["e"]).tolist() for row in asked] == [expected]


async def test_a_huge_but_finite_embedding_is_no_broken_one(corner: Corner) -> None:
    await corner.write(
        "MERGE (v:Vector {id: $id}) SET v.namespace = $n, v.embedding = $embedding",
        {"id": corner.id("v"), "n": corner.namespace, "embedding": (1e38, 1e38, 1e38)},
    )
    assert await corner.stored(Label.VECTOR) == ["v"]


# Schema


async def test_the_schema_can_be_ensured_again_and_by_several_at_once(store: GraphStore) -> None:
    await asyncio.gather(*(store.ensure_schema() for _ in range(3)))
    await store.ensure_schema()


async def test_an_id_is_unique_in_its_label(corner: Corner) -> None:
    await corner.put("a", title="first")
    with pytest.raises(StoreConstraintError):
        await corner.write(CREATE, {"id": corner.id("a"), "namespace": corner.namespace})
    assert await corner.stored() == ["a"]
    assert await corner.value("a", "title") == "first"


async def test_every_label_has_unique_ids(corner: Corner) -> None:
    for label in Label:
        await corner.put("a", label=label)
        with pytest.raises(StoreConstraintError):
            await corner.write(f"CREATE (n:{label} {{id: $id}})", {"id": corner.id("a")})
        assert await corner.stored(label) == ["a"]


async def test_indexes_can_be_ensured_and_dropped_again(corner: Corner) -> None:
    text = await corner.text_index()
    await asyncio.gather(*(corner.store.ensure_text_index(text) for _ in range(3)))
    vectors = await corner.vector_index(3)
    await asyncio.gather(*(corner.store.ensure_vector_index(vectors) for _ in range(3)))
    for _ in range(2):
        await corner.store.drop_text_index(text)
        await corner.store.drop_vector_index(vectors)
    await corner.store.ensure_text_index(text)
    await corner.store.ensure_vector_index(vectors)


async def test_a_vector_index_of_another_dimension_is_refused(corner: Corner) -> None:
    index = await corner.vector_index(3)
    await corner.put_vectors(index, {"a": (1, 0, 0)})
    with pytest.raises(ModelMismatchError, match="3"):
        await corner.store.ensure_vector_index(VectorIndex(index.name, index.label, 4))


@pytest.mark.parametrize("name", ["", "a b", "1a", "x`) DETACH DELETE n //", "é", "a" * 65, "Vector) MATCH (m"])
async def test_names_that_are_no_names_reach_no_engine(corner: Corner, name: str) -> None:
    await corner.put("a")
    index = VectorIndex(name="index", label=name, dimension=2)
    with pytest.raises(InvalidNameError):
        await corner.store.ensure_vector_index(index)
    with pytest.raises(InvalidNameError):
        await corner.store.vector_search(index, (1.0, 0.0), 3)
    with pytest.raises(InvalidNameError):
        await corner.store.shortest_path("x", "y", edge_types=[name], max_depth=3, namespace=corner.namespace)
    assert await corner.stored() == ["a"]


# Errors


@pytest.mark.parametrize(
    "statement",
    [
        "THIS IS NOT CYPHER",
        "MATCH (n:Document RETURN n",
        "RETURN 'unclosed",
        "RETURN 'damaged closed read-only full locked' AS x FROM",
        "RETURN unknown_function(1) AS x",
        "RETURN n.id AS id",
        "RETURN $missing AS x",
        "",
    ],
)
async def test_a_refused_statement_is_a_query_error_with_its_cause(store: GraphStore, statement: str) -> None:
    with pytest.raises(QueryError) as caught:
        await store.run(statement)
    assert caught.value.__cause__ is not None
    assert await store.run("RETURN 1 AS one") == [{"one": 1}]


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE (n:Document {id: $id})",
        "MERGE (n:Document {id: $id})",
        "merge (n:Document {id: $id})",
        "MATCH (n:Document {id: $id}) SET n.title = 'x'",
        "MATCH (n:Document {id: $id}) REMOVE n.title",
        "MATCH (n:Document {id: $id}) DETACH DELETE n",
        "MATCH (n:Document {id: $id})\nDELETE n",
        "MATCH (n:Document {id: $id}) FOREACH (x IN [1] | SET n.title = 'x')",
        "CREATE INDEX foo IF NOT EXISTS FOR (n:Document) ON (n.title)",
        "DROP INDEX foo",
        "MATCH (n:Document {id: $id}) SET`n`.title = 'x'",
        "MERGE/* nothing */(n:Document {id: 'b'})",
    ],
)
async def test_a_write_that_is_sent_as_a_query_is_refused(corner: Corner, statement: str) -> None:
    await corner.put("a", title="old")
    with pytest.raises(QueryError, match="only reading is allowed"):
        await corner.store.run(statement, {"id": corner.id("a")})
    assert await corner.stored() == ["a"]
    assert await corner.value("a", "title") == "old"


async def test_words_that_only_look_like_writes_are_read(corner: Corner) -> None:
    await corner.put("a", title="SET x = 1; DELETE n")
    rows = await corner.store.run(
        "MATCH (n:Document {id: $id}) WHERE n.title = 'SET x = 1; DELETE n' // MERGE nothing\n"
        'RETURN n.title AS `set`, n.`create` AS created, "DROP it" AS text',
        {"id": corner.id("a")},
    )
    assert rows == [{"set": "SET x = 1; DELETE n", "created": None, "text": "DROP it"}]


async def test_everything_after_closing_is_unavailable(engine: Engine) -> None:
    store = await engine.open()
    await store.ensure_schema()
    await store.close()
    await store.close()
    text, vectors = TextIndex(Label.CHUNK, "n"), VectorIndex("index", "Vector_x", 2)

    async def work(tx: Transaction) -> list[Row]:
        return await tx.run("RETURN 1 AS one")

    calls: list[Callable[[], Awaitable[object]]] = [
        lambda: store.run("RETURN 1 AS one"),
        lambda: store.transaction(work),
        store.ensure_schema,
        lambda: store.ensure_text_index(text),
        lambda: store.drop_text_index(text),
        lambda: store.ensure_vector_index(vectors),
        lambda: store.text_search(text, {"x": 1.0}, 3),
        lambda: store.vector_search(vectors, (1.0, 0.0), 3),
        lambda: store.shortest_path("a", "b", edge_types=[EdgeType.NEXT], max_depth=2, namespace="n"),
    ]
    for call in calls:
        with pytest.raises(StoreUnavailableError, match="closed"):
            await call()


async def test_a_store_can_be_closed_by_several_at_once(engine: Engine) -> None:
    store = await engine.open()
    await asyncio.gather(*(store.close() for _ in range(4)))


# Opening again, and copies


async def test_what_was_committed_is_there_after_opening_again(engine: Engine) -> None:
    first = await engine.open()
    await first.ensure_schema()
    corner = Corner(engine, first)
    await corner.put("a", title="x")
    text = await corner.text_index()
    await corner.put_texts(text, {"c": "apple"})
    await first.close()

    second = await engine.open()
    try:
        await second.ensure_schema()
        corner.store = second
        if not engine.persistent:  # in memory
            assert await corner.stored() == []
            return
        assert await corner.value("a", "title") == "x"
        await second.ensure_text_index(text)
        assert corner.found(await second.text_search(text, {"apple": 1.0}, 5)) == ["c"]
        with pytest.raises(StoreConstraintError):
            await corner.write(CREATE, {"id": corner.id("a"), "namespace": corner.namespace})
        await corner.clean()
        assert await corner.stored() == []
        assert await corner.stored(Label.CHUNK) == []
    finally:
        await second.close()
