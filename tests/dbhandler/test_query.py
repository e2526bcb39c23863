"""Statements of the user's own: what comes back is the same on every engine, and nothing can be written."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator

import pytest

from core.rag import KnowledgeBase
from core.rag.errors import InvalidInputError, QueryError
from libs.dataloader import Document
from tests.dbhandler.kit import Engine


@pytest.fixture
async def kb(engine: Engine) -> AsyncIterator[KnowledgeBase]:
    """A document whose passage mentions an entity."""
    async with engine.knowledge() as opened:
        await opened.ingest(
            [Document(path="n/mill", title="Mill", content="Ada Lane runs the mill. Ada Lane is here.")]
        )
        yield opened


async def test_nodes_edges_and_paths_look_alike_on_every_engine(kb: KnowledgeBase) -> None:
    where = "WHERE c.namespace = $namespace AND e.normalized_name = $name"
    statement = f"MATCH p = (c:DocumentChunk)-[m:MENTIONS]->(e:Entity) {where} RETURN e, m, p, {{of: [e]}} AS nested"
    (row,) = await kb.client.query(f"{statement}, c.path AS path", {"name": "ada lane"})
    assert row["path"] == "n/mill"
    assert row["e"]["labels"] == ["Entity"]
    assert row["e"]["properties"]["name"] == "Ada Lane"
    assert row["m"]["type"] == "MENTIONS"
    assert row["m"]["properties"]["count"] == 2
    assert row["nested"] == {"of": [row["e"]]}
    assert [node["properties"].get("path") for node in row["p"]["nodes"]] == ["n/mill", None]
    assert row["p"]["edges"] == [row["m"]]
    assert not any(name.startswith("_") for part in (row["e"], row["m"]) for name in part["properties"])


async def test_values_are_those_that_json_has(kb: KnowledgeBase) -> None:
    (row,) = await kb.client.query(
        "RETURN date('2026-01-31') AS day, duration('P1D') AS long, 0.0 / 0.0 AS nan, [1, 2.5, null, true] AS list,"
        " $text AS text, $map AS map;  ",
        {"text": "'; MATCH (n) DETACH DELETE n //", "map": {"a": [1]}},
    )
    assert json.loads(json.dumps(row, allow_nan=False)) == row
    assert (row["day"], row["list"]) == ("2026-01-31", [1, 2.5, None, True])
    assert (row["text"], row["map"]) == ("'; MATCH (n) DETACH DELETE n //", {"a": [1]})
    assert str(row["nan"]).lower() == "nan"


async def test_comments_may_stand_before_the_statement(kb: KnowledgeBase) -> None:
    comments = "// one\n/* two */ /* CREATE (n) */\n  "
    statement = "match (d:Document) where d.namespace = $namespace return d.path as path"
    assert await kb.client.query(comments + statement) == [{"path": "n/mill"}]


@pytest.mark.parametrize(
    "statement",
    [
        "MATCH (d:Document) SET d.title = 'x'",
        "MATCH (d:Document) SET`d`.title = 'x'",
        "MATCH (d:Document) DETACH/**/DELETE d",
        "UNWIND [1] AS x CREATE (n:Document {id: 'new'})",
        "EXPLAIN MATCH (d:Document) DELETE d",
    ],
)
async def test_a_clause_that_writes_is_refused(kb: KnowledgeBase, statement: str) -> None:
    before = await kb.client.counts()
    with pytest.raises(QueryError, match="only reading is allowed"):
        await kb.client.query(statement)
    assert await kb.client.counts() == before


@pytest.mark.parametrize(
    "statement", ["", "CREATE (n)", "STORAGE MODE IN_MEMORY_ANALYTICAL", "FREE MEMORY", "/* */" * 99]
)
async def test_what_does_not_begin_as_a_reading_statement_is_refused(kb: KnowledgeBase, statement: str) -> None:
    with pytest.raises(InvalidInputError, match="A statement that reads begins with MATCH"):
        await kb.client.query(statement)


async def test_what_the_engine_refuses_is_told(kb: KnowledgeBase) -> None:
    with pytest.raises(QueryError, match="refused"):
        await kb.client.query("MATCH (n")
    with pytest.raises(QueryError, match=r"missing|Missing|[Pp]arameter"):
        await kb.client.query("RETURN $missing AS x")


async def test_arguments_of_the_wrong_kind_are_named(kb: KnowledgeBase) -> None:
    with pytest.raises(InvalidInputError, match="A statement must be text"):
        await kb.client.query(7)  # type: ignore[arg-type]
    with pytest.raises(InvalidInputError, match="parameters must be a dict"):
        await kb.client.query("RETURN 1 AS one", [])  # type: ignore[arg-type]
