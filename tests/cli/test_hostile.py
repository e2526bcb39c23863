"""Hostile arguments and settings: a clear line each, the right exit code, and a graph that is as sound as before."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.command import Command
from tests.cli.hostile import ESCAPE, INJECTION, SURROGATE, told

HUGE = "tide mill " * 10_000

QUERIES = {
    "quotes": "'\"`\"\"''",
    "lucene": 'title:(a AND OR NOT "b) ~2^ [1 TO *] \\',
    "cypher": INJECTION,
    "sql": "'; DROP TABLE documents; --",
    "emoji": "🌊🏚️👩‍👩‍👧‍👦",
    "right to left": "\u202emill\u202c טחנה",
    "escape sequences": ESCAPE + "mill",
    "combining": "m" + "\u0301" * 500,
    "100 kB": HUGE,
    "one word of 100 kB": "x" * 100_000,
    "punctuation": "!!! ??? ... --- ()[]{}",
    "stop words": "the of and to",
    "line breaks": "mill\r\n\n\twheel",
    "noncharacter": "mill\uffff\ufffe",
    "percent": "%s %d {0} ${jndi:ldap://127.0.0.1/a}",
    "minus": "-mill +wheel",
    "half a character": SURROGATE,
    "NUL": "mill\x00wheel",
}

REFUSED_SEARCHES: dict[str, tuple[str, ...]] = {
    "empty": ("",),
    "blank": (" \t\n",),
    "k of zero": ("mill", "-k", "0"),
    "k below zero": ("mill", "-k", "-1"),
    "k too large": ("mill", "-k", "999999999999999999999"),
    "k that is no number": ("mill", "-k", "five"),
    "k that is no whole number": ("mill", "-k", "1.5"),
    "expand below zero": ("mill", "--expand", "-1"),
    "expand too large": ("mill", "--expand", "1000000"),
    "unknown mode": ("mill", "--mode", "psychic"),
    "unknown model": ("mill", "--model", "gpt-99; rm -rf /"),
    "model of another size": ("mill", "--model", "wordllama:64"),
    "filter: unbalanced": ("mill", "--filter", "(path:a or (path:b"),
    "filter: unknown field": ("mill", "--filter", "colour:red"),
    "filter: no value": ("mill", "--filter", "path:"),
    "filter: injection": ("mill", "--filter", f"path:a {INJECTION}"),
    "filter: not a date": ("mill", "--filter", "updated>=yesterday"),
    "filter: open quote": ("mill", "--filter", 'title:"abc'),
    "filter: too long": ("mill", "--filter", "path:" + "a" * 30_000),
    "filter: too deep": ("mill", "--filter", "(" * 300 + "path:a" + ")" * 300),
    "filter: only an operator": ("mill", "--filter", "and or not"),
}

HARMLESS_FILTERS = {
    "quotes in a value": 'title:"a \\" b"',
    "cypher in a value": f'path:"{INJECTION}"',
    "nothing passes": "metadata.none=1",
    "an odd key": 'metadata."a.b c"=null',
    "a regular expression": 'path:"(a+)+$"',
}

NAMESPACES_REFUSED = {
    "empty": "",
    "blanks": "  ",
    "a blank before": " a",
    "a blank behind": "a ",
    "too long": "n" * 201,
    "control": "a\x07b",
    "line break": "a\nb",
    "half a character": SURROGATE,
    "NUL": "a\x00b",
}

NAMESPACES_TAKEN = {
    "cypher": "x`}) DETACH DELETE n //",
    "path": "../../etc",
    "emoji": "🌊",
    "quotes": "'\"",
}

PATHS = {
    "empty": "",
    "blank": " ",
    "cypher": INJECTION,
    "long": "a/" * 50_000,
    "NUL": "a\x00b",
    "half a character": SURROGATE,
    "above": "../../../../etc/passwd",
    "escape sequences": ESCAPE,
    "no such page": "https://example.invalid/a?b#c",
}


@pytest.mark.parametrize("query", QUERIES.values(), ids=QUERIES)
def test_any_text_may_be_searched_for(query: str, mgrag: Command, unchanged: Path) -> None:
    for mode in ("hybrid", "fuzzy"):
        done = mgrag("search", "--mode", mode, "--json", "--", query)
        assert done.code == 0, (mode, done.err)
        assert isinstance(done.json, list)
        assert done.err == ""
    shown = mgrag("search", "-k", "2", "--mode", "keyword", "--", query)
    assert shown.code == 0
    assert "\x1b" not in shown.out


@pytest.mark.parametrize("arguments", REFUSED_SEARCHES.values(), ids=REFUSED_SEARCHES)
def test_searches_that_make_no_sense_are_refused(arguments: tuple[str, ...], mgrag: Command, unchanged: Path) -> None:
    told(mgrag("search", *arguments), 2)


@pytest.mark.parametrize("file", ["", " ", "corpus"])
@pytest.mark.parametrize("option", ["--html", "--mermaid", "--graphml"])
def test_pictures_to_nowhere(option: str, file: str, mgrag: Command, unchanged: Path) -> None:
    commands = [("graph", "show", "Kestrel Bay Mill Trust"), *([("ask", "mill")] if option == "--mermaid" else [])]
    for command in commands:
        done = mgrag(*command, option, file)
        told(done, 2)
        assert f"'{option}': {'corpus is a folder' if file.strip() else 'the name of the file is empty'}" in done.err


@pytest.mark.parametrize("limit", ["0", "-1", "some"])
@pytest.mark.parametrize(
    "command",
    [("list",), ("memory", "list", "s"), ("memory", "recall", "x"), ("conversation", "list"), ("graph", "entities")],
    ids=" ".join,
)
def test_limits_that_make_no_sense(command: tuple[str, ...], limit: str, mgrag: Command, unchanged: Path) -> None:
    told(mgrag(*command, "--limit", limit), 2)


FAILING = [
    "show nix",
    "delete nix",
    "delete",
    "delete --prefix nix",
    "list --limit 0",
    "status --db no.grafeo",
    "doctor --db no.grafeo",
    "backup corpus",
    "restore nix",
    "export corpus",
    "import nix",
    "ingest nix",
    "namespaces delete nix --yes",
    "reembed --model nix",
    "memory compact nix",
    "memory revise nix text",
    "memory forget --yes",
    "conversation show nix",
    "user export nix",
    "user history nix",
    "user forget nix --yes",
    "feedback nix 1",
    "graph neighbors nix",
    "graph path spring nix",
    "graph split spring",
    "graph remove spring",
    "search mill --mode nix",
    "nix",
]


@pytest.mark.parametrize("command", FAILING)
def test_standard_output_has_one_json_document_or_nothing_where_a_command_fails(
    command: str, mgrag: Command, unchanged: Path
) -> None:
    for arguments in (["--json", *command.split()], [*command.split(), "--json"]):
        done = mgrag(*arguments)
        assert done.code != 0
        assert done.out == "" or done.json is None or isinstance(done.json, dict | list)
        assert done.err or done.out
        assert "Traceback" not in done.err


@pytest.mark.parametrize("text", HARMLESS_FILTERS.values(), ids=HARMLESS_FILTERS)
def test_filters_may_hold_anything_in_quotes(text: str, mgrag: Command, unchanged: Path) -> None:
    done = mgrag("search", "mill", "--filter", text, "--json")
    assert done.code == 0, done.err
    assert isinstance(done.json, list)


@pytest.mark.parametrize("name", NAMESPACES_REFUSED.values(), ids=NAMESPACES_REFUSED)
def test_names_that_are_no_namespaces(name: str, mgrag: Command, unchanged: Path) -> None:
    told(mgrag("--namespace", name, "search", "mill"), 2)
    told(mgrag("doctor", "--namespace", name), 2)


@pytest.mark.parametrize("name", NAMESPACES_TAKEN.values(), ids=NAMESPACES_TAKEN)
def test_odd_namespaces_hold_their_own_and_nothing_else(name: str, mgrag: Command, graph: Path) -> None:
    before = mgrag("list", "--json").json
    assert mgrag("search", "mill", "--namespace", name, "--json").json == []
    assert mgrag("ingest", "corpus/diary.txt", "--namespace", name).code == 0
    assert [row["path"] for row in mgrag("list", "--namespace", name, "--json").json] == ["corpus/diary.txt"]
    assert mgrag("namespaces", "delete", name, "--yes").code == 0
    assert mgrag("list", "--json").json == before
    assert [row["namespace"] for row in mgrag("namespaces", "--json").json] == ["default"]


@pytest.mark.parametrize("path", PATHS.values(), ids=PATHS)
def test_documents_that_are_not_there(path: str, mgrag: Command, unchanged: Path) -> None:
    told(mgrag("show", "--", path), 2, 4)
    done = mgrag("delete", "--json", "--", path)
    assert done.code in (2, 4)
    if done.code == 4:
        assert done.json == {"deleted": [], "missing": [path]}
    assert "Traceback" not in done.err


@pytest.mark.parametrize(
    "arguments",
    [
        ("show",),
        ("delete",),
        ("list", "--prefix"),
        ("memory", "list"),
        ("user", "history"),
        ("graph", "neighbors"),
        ("graph", "path", "Kestrel Bay Mill Trust"),
    ],
    ids=" ".join,
)
def test_names_with_half_a_character(arguments: tuple[str, ...], mgrag: Command, unchanged: Path) -> None:
    done = mgrag(*arguments, SURROGATE)
    told(done, 2)
    assert r"'caf\udce9'" in done.err
    assert "half a character" in done.err
    assert "ids[" not in done.err


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("MGRAG_CHUNK_SIZE", "many"),
        ("MEMGRAPH_URI", "http://127.0.0.1"),
        ("MGRAG_NAMESPACE", "a\tb"),
        ("MGRAG_NAMESPACE", " "),
        ("MGRAG_EMBEDDING_MODEL", "no-such-model"),
        ("MGRAG_EMBEDDING_DIMENSION", "-1"),
    ],
)
def test_settings_that_make_no_sense(
    name: str, value: str, mgrag: Command, unchanged: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, value)
    told(mgrag("search", "mill"), 2)


@pytest.mark.parametrize("data", [b"MGRAG_CHUNK_SIZE=\xff\xfe", b"=\n\x00===", b"MGRAG_CHUNK_SIZE='", b"\xff" * 100])
def test_a_damaged_env_file(data: bytes, mgrag: Command, unchanged: Path) -> None:
    Path(".env").write_bytes(data)
    done = mgrag("search", "mill", "--json")
    assert done.code in (0, 2), done.err
    assert "Traceback" not in done.err
