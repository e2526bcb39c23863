"""``mgrag cypher``: rows as a table and as JSON, parameters, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.command import Command

OVERVIEW = Path(__file__).parents[2] / "docs" / "memgraph-lab" / "queries" / "overview.cypher"


@pytest.fixture
def query(unchanged: Path) -> Command:
    """The command, where the corpus was ingested; no statement changes it."""
    return Command(unchanged.parent.parent)


def test_rows_are_a_table_with_the_names_of_the_columns(query: Command) -> None:
    done = query(
        "cypher", "MATCH (d:Document) RETURN d.path AS path, size(d.title) > 0 AS titled ORDER BY path LIMIT 2"
    )
    assert done.code == 0, done.err
    assert [line.split() for line in done.out.splitlines()] == [
        ["path", "titled"],
        ["corpus/README.md", "true"],
        ["corpus/diary.txt", "true"],
    ]


def test_a_text_of_several_lines_takes_one_line_of_a_table(query: Command) -> None:
    done = query("cypher", "UNWIND [1, 2] AS n RETURN 'a\n\n\tb\n' AS text, n")
    assert done.out.splitlines() == ["text  n", "a b   1", "a b   2"]


def test_a_single_text_keeps_its_lines(query: Command) -> None:
    assert query("cypher", "RETURN 'a\n  b' AS text").out == "text\na\n  b\n"
    plan = query("cypher", "EXPLAIN MATCH (d:Document) RETURN d.path").out.splitlines()
    assert plan[0] == "plan"
    assert len(plan) > 2
    assert "�" not in "".join(plan)


def test_parameters_are_json_or_text(query: Command) -> None:
    given = (
        "-p",
        "a=3",
        "-p",
        'b=["x", 1]',
        "--param",
        "c=corpus/diary.txt",
        "-p",
        'd="007"',
        "-p",
        "e=x=y",
        "-p",
        "f=",
    )
    done = query("cypher", "RETURN $a AS a, $b AS b, $c AS c, $d AS d, $e AS e, $f AS f", *given, "--json")
    assert done.json == [{"a": 3, "b": ["x", 1], "c": "corpus/diary.txt", "d": "007", "e": "x=y", "f": ""}]


def test_an_embedding_can_be_a_parameter(query: Command) -> None:
    vectors = query("cypher", "MATCH (v:Vector) RETURN v.embedding AS e LIMIT 1", "--json").json
    count = "MATCH (v:Vector) WHERE v.embedding = $e RETURN count(v) AS n"
    assert query("cypher", count, "-p", f"e={vectors[0]['e']}", "--json").json == [{"n": 1}]


def test_a_query_for_lab_runs_on_the_embedded_engine(query: Command) -> None:
    done = query("cypher", "-", "--json", stdin=OVERVIEW.read_text(encoding="utf-8"))
    assert {"label": "Document", "nodes": 10} in done.json


def test_nothing_found_is_said(query: Command) -> None:
    done = query("cypher", "MATCH (n:Nothing) RETURN n")
    assert (done.code, done.out) == (0, "No rows.\n")


@pytest.mark.parametrize(
    ("arguments", "code", "why"),
    [
        (("MATCH (d:Document) DETACH DELETE d",), 1, "only reading is allowed"),
        (("CREATE (n)",), 2, "begins with MATCH"),
        (("MATCH (n",), 1, "refused by the engine"),
        (("RETURN 1", "-p", "x"), 2, "not NAME=VALUE"),
        (("RETURN 1", "-p", "a b=1"), 2, "not the name of a parameter"),
    ],
)
def test_what_is_wrong_is_said(query: Command, arguments: tuple[str, ...], code: int, why: str) -> None:
    done = query("cypher", *arguments)
    assert (done.code, done.out) == (code, "")
    assert why in done.err
    assert len(query("list", "--json").json) == 10
