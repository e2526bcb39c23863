"""The dialects against servers of other versions than the one at hand: which statements they would send."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from core.rag.dbhandler.bolt.dialect import IndexMissingError, plain_words, text_index_name, words_query
from core.rag.dbhandler.bolt.memgraph import MemgraphDialect
from core.rag.dbhandler.bolt.neo4j import Neo4jDialect
from core.rag.dbhandler.store import Match, Parameters, Row
from core.rag.errors import InvalidInputError, ModelMismatchError, QueryError, StoreConflictError, StoreDamagedError
from core.rag.schema import SERVER_INDEXES, Label, TextIndex, VectorIndex

INDEX = VectorIndex("vector_x", "Vector_0123456789ab", 3)
TEXT = TextIndex(Label.CHUNK, "Some namespace")

OLD_TEXT = "text_search.search(index_name :: STRING, search_query :: STRING) :: (node :: NODE)"
LIMIT_TEXT = (
    "text_search.search(index_name :: STRING, search_query :: STRING, limit = 1000 :: INTEGER) :: "
    "(node :: NODE, score :: FLOAT)"
)
MAP_TEXT = (
    "text_search.search(index_name :: STRING, search_query :: STRING, config = {} :: MAP) :: "
    "(node :: NODE, score :: FLOAT)"
)
VECTORS = "vector_search.search(index_name :: STRING, result_set_size :: INTEGER, query_vector :: LIST OF ANY) :: (…)"


class Script:
    """A runner that answers by the beginning of the statement and notes what it is asked."""

    def __init__(self, **answers: Any) -> None:
        self.answers: dict[str, Any] = {
            key.replace("_", " ").replace("mg dot procedures", "mg.procedures"): value for key, value in answers.items()
        }
        self.sent: list[tuple[str, dict[str, Any]]] = []
        self.defined: list[str] = []

    async def query(self, statement: str, parameters: Parameters | None = None, what: str = "") -> list[Row]:
        self.sent.append((statement, dict(parameters or {})))
        for beginning, answer in self.answers.items():
            if beginning in statement:
                found = answer(parameters) if callable(answer) else answer
                if isinstance(found, Exception):
                    raise found
                return list(found)
        return []

    async def define(self, statement: str, what: str) -> None:
        self.defined.append(statement)
        effect: Callable[[str], None] | None = self.answers.get("define")
        if effect is not None:
            effect(statement)


def memgraph(*signatures: str, **answers: Any) -> Script:
    procedures = [{"name": text.partition("(")[0], "signature": text} for text in signatures]
    return Script(SHOW_VERSION=[{"version": "3.x"}], CALL_mg_dot_procedures=procedures, **answers)


async def test_an_old_memgraph_has_no_text_search() -> None:
    dialect = await MemgraphDialect.learn(memgraph(VECTORS, OLD_TEXT))
    assert dialect.abilities.vector_search
    assert not dialect.abilities.text_search
    assert "3.6" in dialect.abilities.notes[0]


async def test_a_memgraph_without_its_modules_has_no_searches() -> None:
    dialect = await MemgraphDialect.learn(memgraph())
    assert not dialect.abilities.vector_search
    assert not dialect.abilities.text_search
    assert len(dialect.abilities.notes) == 2


async def test_a_storage_mode_in_which_no_graph_can_be_kept_is_a_problem() -> None:
    def told(mode: str) -> list[Row]:
        return [{"storage info": "disk_usage", "value": "0B"}, {"storage info": "global_storage_mode", "value": mode}]

    dialect = await MemgraphDialect.learn(memgraph(VECTORS, MAP_TEXT, SHOW_STORAGE=told("ON_DISK_TRANSACTIONAL")))
    (note,) = dialect.abilities.notes
    assert "ON_DISK_TRANSACTIONAL" in note
    assert "--storage-mode=IN_MEMORY_TRANSACTIONAL" in note
    assert dialect.abilities.problems == (note,)
    dialect = await MemgraphDialect.learn(memgraph(VECTORS, MAP_TEXT, SHOW_STORAGE=told("IN_MEMORY_TRANSACTIONAL")))
    assert (dialect.abilities.notes, dialect.abilities.problems) == ((), ())


async def test_a_user_who_may_not_ask_for_the_storage_mode_can_connect() -> None:
    refused = QueryError("You are not authorized to execute this query.")
    dialect = await MemgraphDialect.learn(memgraph(VECTORS, MAP_TEXT, SHOW_STORAGE=refused))
    assert dialect.abilities.notes == ()


@pytest.mark.parametrize(("signature", "limit"), [(LIMIT_TEXT, ", $k)"), (MAP_TEXT, ", {limit: $k})")])
async def test_the_limit_of_a_text_search_is_sent_as_the_version_takes_it(signature: str, limit: str) -> None:
    runner = memgraph(VECTORS, signature, CALL_text=[{"ids": ["a", "b"], "scores": [0.5, 2.0]}])
    dialect = await MemgraphDialect.learn(runner)
    assert await dialect.text_candidates(TEXT, {"alpha": 2.0, "beta": 1.0}, 7) == {"a": 0.5, "b": 2.0}
    statement, parameters = runner.sent[-1]
    assert limit in statement
    assert parameters["query"] == f'+data.partition:"{TEXT.key}"^0 +data.terms:("alpha" "beta"^0.5)'
    assert parameters["k"] == 7


@pytest.mark.parametrize(
    ("signature", "call", "row"),
    [
        (LIMIT_TEXT, "text_search.search($name, q.query, $k)", {"n": 7}),
        (MAP_TEXT, "text_search.aggregate($name, q.query, $count)", {"aggregation": '{"n":{"value":7.0}}'}),
    ],
)
async def test_memgraph_counts_the_texts_that_hold_a_word(signature: str, call: str, row: Row) -> None:
    runner = memgraph(VECTORS, signature, CALL_text=[{"word": "alpha", **row}])
    dialect = await MemgraphDialect.learn(runner)
    assert await dialect.text_counts(TEXT, ["alpha", "beta"]) == {"alpha": 7}
    statement, parameters = runner.sent[-1]
    assert call in statement
    assert parameters["queries"][1] == {
        "word": "beta",
        "query": f'+data.partition:"{TEXT.key}"^0 +data.terms:("beta")',
    }


async def test_memgraph_gets_what_is_missing_and_nothing_else() -> None:
    runner = memgraph(VECTORS, MAP_TEXT)
    dialect = await MemgraphDialect.learn(runner)
    with pytest.raises(Exception, match="did not create"):
        await dialect.ensure_schema()  # this server creates nothing
    everything = list(runner.defined)
    assert len(everything) == 3 * len(Label) + len(SERVER_INDEXES)
    assert "CREATE CONSTRAINT ON (n:Document) ASSERT n.id IS UNIQUE" in everything
    assert not any("IF NOT EXISTS" in statement for statement in everything)

    indexes: list[dict[str, Any]] = [{"index type": "label", "label": label.value, "property": None} for label in Label]
    indexes += [{"index type": "label+property", "label": label.value, "property": ["id"]} for label in Label]
    indexes += [
        {"index type": "label+property", "label": index.label.value, "property": index.properties[0]}
        for index in SERVER_INDEXES
    ]
    constraints = [{"constraint type": "unique", "label": label.value, "properties": ["id"]} for label in Label]
    runner = memgraph(VECTORS, MAP_TEXT, SHOW_INDEX_INFO=indexes, SHOW_CONSTRAINT_INFO=constraints)
    await (await MemgraphDialect.learn(runner)).ensure_schema()
    assert runner.defined == []


def told_of_text_index(indexed: int, labelled: int) -> list[Row]:
    name = text_index_name(Label.CHUNK)
    return [
        {"index type": "label", "label": "DocumentChunk", "property": None, "count": labelled},
        {
            "index type": f"label_text (name: {name})",
            "label": "DocumentChunk",
            "property": ["partition", "terms"],
            "count": indexed,
        },
    ]


#: The properties of a node, in the order in which a server keeps them.
NAMES = ["id", "partition", "terms"]


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("core.rag.dbhandler.bolt.memgraph_words._LOOK_AGAIN_SECONDS", 0.0)


@pytest.mark.usefixtures("at_once")
async def test_a_keyword_index_that_a_crash_left_behind_is_made_anew(caplog: pytest.LogCaptureFixture) -> None:
    told = told_of_text_index(indexed=3, labelled=5)
    runner = memgraph(VECTORS, MAP_TEXT, SHOW_INDEX_INFO=told, MATCH=[{"n": 5, "names": NAMES}])
    await (await MemgraphDialect.learn(runner)).ensure_text_index(Label.CHUNK)
    assert [statement.split()[0] for statement in runner.defined] == ["DROP", "CREATE"]
    assert "lacks what was stored last before a crash" in caplog.text


@pytest.mark.usefixtures("at_once")
async def test_a_keyword_index_has_its_properties_in_the_order_in_which_the_server_keeps_them(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Memgraph 3.11 indexes only the first of two properties in another order, and says nothing."""
    told = told_of_text_index(indexed=5, labelled=5)
    runner = memgraph(VECTORS, MAP_TEXT, SHOW_INDEX_INFO=told, MATCH=[{"n": 5, "names": ["terms", "id", "partition"]}])
    dialect = await MemgraphDialect.learn(runner)
    problem = "The keyword index of DocumentChunk does not find all of its words."
    assert problem in await dialect.check_indexes(repair=False)
    await dialect.ensure_text_index(Label.CHUNK)
    dropped, created = runner.defined
    assert dropped.startswith("DROP TEXT INDEX")
    assert created.endswith(" ON :DocumentChunk(terms, partition)")
    assert "does not find all of its words" in caplog.text


async def test_names_are_used_first_in_the_order_in_which_they_are_written_first() -> None:
    """A Memgraph that has no snapshot numbers them in the order of its log when it starts again, and not as before."""
    runner = memgraph(VECTORS, MAP_TEXT, SHOW_INDEX_INFO=[], define=lambda _: None)
    dialect = await MemgraphDialect.learn(runner)
    [used] = [statement for statement, _ in runner.sent if "n.terms" in statement]
    with pytest.raises(StoreDamagedError):  # this server does not really create it
        await dialect.ensure_text_index(Label.CHUNK)
    [written] = [statement for statement in runner.defined if "SET" in statement]
    assert used.index("n.partition") < used.index("n.terms")
    assert written.index("n.partition") < written.index("n.terms")


@pytest.mark.usefixtures("at_once")
async def test_a_keyword_index_is_left_alone_while_others_write_or_nodes_were_removed() -> None:
    removed = memgraph(VECTORS, MAP_TEXT, SHOW_INDEX_INFO=told_of_text_index(3, 5), MATCH=[{"n": 3, "names": NAMES}])
    growing = iter(range(10, 20))
    writing = memgraph(
        VECTORS,
        MAP_TEXT,
        SHOW_INDEX_INFO=told_of_text_index(3, 5),
        MATCH=lambda _: [{"n": next(growing), "names": NAMES}],
    )
    for runner in (removed, writing):
        await (await MemgraphDialect.learn(runner)).ensure_text_index(Label.CHUNK)
        assert runner.defined == []


@pytest.mark.usefixtures("at_once")
async def test_a_keyword_index_that_cannot_be_dropped_now_is_still_used() -> None:
    def refuse(statement: str) -> None:
        raise StoreConflictError("Others use the server.")

    runner = memgraph(
        VECTORS, MAP_TEXT, SHOW_INDEX_INFO=told_of_text_index(3, 5), MATCH=[{"n": 5, "names": NAMES}], define=refuse
    )
    await (await MemgraphDialect.learn(runner)).ensure_text_index(Label.CHUNK)
    assert len(runner.defined) == 1


def vector_row(name: str, label: str, dimension: int) -> Row:
    return {"index_name": name, "label": label, "property": "embedding", "dimension": dimension, "size": 0}


async def test_memgraph_takes_another_name_where_somebody_has_this_one() -> None:
    there = [vector_row("vector_x", "Theirs", 5)]

    def create(statement: str) -> None:
        if "CREATE VECTOR INDEX mgrag_" in statement:  # of a name that is there, it creates nothing and says nothing
            there.append(vector_row("mgrag_vector_0123456789ab", INDEX.label, 3))

    runner = memgraph(VECTORS, MAP_TEXT, SHOW_VECTOR_INDEX_INFO=lambda _: there, define=create)
    dialect = await MemgraphDialect.learn(runner)
    await dialect.ensure_vector_index(INDEX)
    assert [statement.split()[3] for statement in runner.defined] == ["vector_x", "mgrag_vector_0123456789ab"]
    assert all('"metric": "cos"' in statement for statement in runner.defined)
    await dialect.ensure_vector_index(INDEX)
    assert len(runner.defined) == 2


async def test_memgraph_is_not_asked_to_index_vectors_of_another_dimension() -> None:
    runner = memgraph(VECTORS, MAP_TEXT, MATCH=[{"dimension": 4}])
    with pytest.raises(ModelMismatchError, match="4"):
        await (await MemgraphDialect.learn(runner)).ensure_vector_index(INDEX)
    assert runner.defined == []


async def test_memgraph_is_asked_for_more_where_dead_vectors_take_the_places() -> None:
    """Deleted nodes stay in the index for a while: the neighbours that live may be far down."""

    def near(parameters: Any) -> list[Row]:
        alive = 5 if parameters["wanted"] >= 4000 else 1 if parameters["wanted"] >= 1000 else 0
        ids, scores = [f"v{i}" for i in range(alive)], [0.1 * i for i in range(alive)]
        return [{"raw": parameters["wanted"] if alive else None, "ids": ids, "scores": scores}]

    info = [{**vector_row("vector_x", INDEX.label, 3), "size": 9000}]
    runner = memgraph(VECTORS, MAP_TEXT, SHOW_VECTOR_INDEX_INFO=info, CALL_vector=near)
    found = await (await MemgraphDialect.learn(runner)).vector_search(INDEX, (1.0, 0.0, 0.0), 3)
    assert found == [Match("v0", 1.0), Match("v1", 0.9), Match("v2", 0.8)]
    asked = [parameters["wanted"] for statement, parameters in runner.sent if "CALL vector" in statement]
    assert asked == [100, 1000, 4000]
    assert all("id(node)" in statement for statement, _ in runner.sent if "CALL vector" in statement)


async def test_an_index_that_vanishes_is_reported_as_missing() -> None:
    gone = QueryError("refused")
    gone.__cause__ = RuntimeError("Vector index vector_x does not exist.")
    runner = memgraph(
        VECTORS, MAP_TEXT, SHOW_VECTOR_INDEX_INFO=[vector_row("vector_x", INDEX.label, 3)], CALL_vector=gone
    )
    dialect = await MemgraphDialect.learn(runner)
    with pytest.raises(IndexMissingError):
        await dialect.vector_search(INDEX, (1.0, 0.0, 0.0), 3)


async def test_an_old_neo4j_has_no_vector_search() -> None:
    runner = Script(SHOW_PROCEDURES=[{"name": "db.index.fulltext.queryNodes"}])
    dialect = await Neo4jDialect.learn(runner, "Neo4j/4.4.30")
    assert (dialect.abilities.version, dialect.abilities.vector_search) == ("4.4.30", False)
    assert "5.15" in dialect.abilities.notes[0]
    await dialect.ensure_vector_index(INDEX)
    assert runner.defined == []


@pytest.mark.parametrize(
    ("agent", "quantized"), [("Neo4j/5.15.0", False), ("Neo4j/5.26.0", True), ("Neo4j/2025.01.0", True)]
)
async def test_vectors_are_never_quantized_where_the_server_would(agent: str, quantized: bool) -> None:
    there: list[Row] = []

    def create(statement: str) -> None:
        there.append({"name": "vector_x", "labels": [INDEX.label], "properties": ["embedding"], "options": {}})

    runner = Script(
        SHOW_PROCEDURES=[{"name": "db.index.vector.queryNodes"}], SHOW_VECTOR=lambda _: there, define=create
    )
    await (await Neo4jDialect.learn(runner, agent)).ensure_vector_index(INDEX)
    (statement,) = runner.defined
    assert ("`vector.quantization.enabled`: false" in statement) is quantized


def test_only_analysed_words_are_sent() -> None:
    words = dict.fromkeys(
        ["alpha", "é", "日本", "นา", "a b", 'a"b', "a*", "", "\0", "x" * 500, "a-b", "(", "\u0301", "e\u0301"], 1.0
    )
    assert list(plain_words(words)) == ["alpha", "é", "日本", "นา", "e\u0301"]
    with pytest.raises(InvalidInputError):
        plain_words({"a\ud800": 1.0})
    assert list(plain_words({"a": 1.0, "b": 1e-30})) == ["a"]
    assert len(plain_words({f"w{i}": 1.0 for i in range(5000)})) == 1000


def test_weights_are_written_without_an_exponent() -> None:
    query = words_query("", "k", {"a": 1e5, "b": 1e-3, "c": 5e4})
    assert query == '+partition:"k"^0 +terms:("a" "b"^0.00000001 "c"^0.5)'


@pytest.mark.parametrize(
    ("statement", "hint"),
    [
        ("UNWIND $ids AS i MATCH (e:Entity {id: i})<-[:MENTIONS]-(c:DocumentChunk) RETURN c.id", ":Entity(id)"),
        (
            "UNWIND $rows AS r MATCH (d:Document {id: r.d}) MERGE (s:Source {id: r.s}) MERGE (d)-[:SOURCED_FROM]->(s)",
            ":Document(id), :Source(id)",
        ),
        ("MATCH (e:Entity) WHERE e.namespace = $namespace RETURN e.id", ""),
        ("MATCH (e:Of_somebody_else {id: $id}) RETURN e.id", ""),
        ("USING INDEX :Entity(id) MATCH (e:Entity {id: $id}) RETURN e.id", ""),
        ("CREATE INDEX ON :Entity(id)", ""),
    ],
)
async def test_memgraph_is_told_to_look_nodes_up_by_their_ids(statement: str, hint: str) -> None:
    dialect = await MemgraphDialect.learn(memgraph(MAP_TEXT, VECTORS))
    assert dialect.hinted(statement) == (f"USING INDEX {hint} {statement}" if hint else statement)
    assert dialect.hinted("MATCH (v:Vector_a1b2) RETURN v.id") == "MATCH (v:Vector:Vector_a1b2) RETURN v.id"
    other = await Neo4jDialect.learn(Script(), "Neo4j/4.4.30")
    assert other.hinted(statement) == statement
