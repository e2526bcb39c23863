"""Hostile inputs: a clear line or a skip each, the right exit code, and a graph that is as sound as before."""

from __future__ import annotations

import gzip
import io
import json
import os
import shutil
import socket
import zipfile
from pathlib import Path

import pytest
from tests.cli.command import Command, Done

from core.rag.dbhandler.embedded.digest import digest_of_file

INJECTION = "x' }) DETACH DELETE n //"
SURROGATE = "caf\udce9"
ESCAPE = "\x1b]0;owned\x07\x1b[2J"
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

GRAPHS_REFUSED: dict[str, tuple[str, int]] = {
    "empty": ("", 2),
    "a folder": (".", 3),
    "a device": ("/dev/null", 3),
    "not a graph": ("corpus/diary.txt", 3),
    "NUL": ("a\x00b", 3),
    "a long name": ("x" * 5000, 3),
    "no such user": ("~nobody-of-that-name/g.grafeo", 3),
    "another protocol": ("http://127.0.0.1/", 2),
    "no host": ("bolt://", 2),
    "no such port": ("bolt://127.0.0.1:99999", 2),
    "nobody listens": ("bolt://127.0.0.1:1", 3),
    "below a file": ("corpus/diary.txt/g.grafeo", 4),
    "not there": ("nowhere/g.grafeo", 4),
    "half a character": (f"{SURROGATE}.grafeo", 3),
}


def zipped(**parts: bytes) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in parts.items():
            archive.writestr(name.replace("__", "/"), data)
    return stream.getvalue()


BOMB = b"<!DOCTYPE l [" + b"".join(
    b'<!ENTITY l%d "%s">' % (i, b"&l%d;" % (i - 1) * 10 if i else b"lol") for i in range(12)
)

#: Name, bytes, and what the reason that is reported has to say; ``None`` where something can be read.
FILES: dict[str, tuple[bytes, str | None]] = {
    "empty.md": (b"", "empty"),
    "only-a-mark.txt": (b"\xef\xbb\xbf", "no text"),
    "blank.txt": (b" \n\t\r\n", ""),
    "zeros.bin": (b"\x00" * 5000, ""),
    "random.dat": (bytes(range(256)) * 40, ""),
    "program.exe": (b"MZ" + bytes(range(256)) * 40, ""),
    "damaged.pdf": (b"%PDF-1.7\n1 0 obj\n<< /Type /Catalog" + b"\xff" * 500, ""),
    "no.docx": (b"this is no archive", ""),
    "empty-archive.docx": (zipped(), ""),
    "nothing-inside.xlsx": (zipped(mimetype=b"x"), ""),
    "bomb.docx": (zipped(word__document__xml=b"\x00" * 210_000_000), ""),
    "laughs.docx": (
        zipped(**{"[Content_Types].xml": b"<Types/>", "word__document.xml": BOMB + b"]><l>&l11;</l>"}),
        "",
    ),
    "no.epub": (zipped(mimetype=b"application/epub+zip"), ""),
    "no.ipynb": (b'{"cells": 7}', ""),
    "broken.json": (b'{"a": [1, 2', None),
    "deep.json": (b"[" * 100_000 + b"]" * 100_000, None),
    "no.odt": (zipped(content__xml=b"<"), ""),
    "no.pptx": (b"PK\x03\x04" + b"\x00" * 100, ""),
    "quotes.csv": (b'a,b\n"x,y\n"z""', None),
    "deep.html": (b"<div>" * 20_000 + b"mill" + b"</div>" * 20_000, None),
    "escapes.md": (b"# \x1b[31mred\x1b[0m\n\n\x1b]0;owned\x07 mill", None),  # without them it is text
    "surrogates.txt": ("mill \ud800 wheel".encode("utf-16-le", "surrogatepass"), None),
    "not-utf-8.md": (b"# caf\xe9\n\nmill \xff\xfe\xfd", None),
    "wide.txt": (b"mill" * 100_000, None),
    "cypher.md": (f"# {INJECTION}\n\n[x]({INJECTION}) `MATCH (n) DETACH DELETE n`".encode(), None),
    "line\nbreak.md": (b"# mill", None),
    "\u202efdp.md": (b"# mill", None),
    ESCAPE.replace("/", "") + ".md": (b"# mill", None),
    "quote'\".md": (b"# mill", None),
    "x" * 240 + ".md": (b"# mill", None),
    "front.md": (b"---\na: &a [*a, *a]\nb: !!python/object/apply:os.system [id]\n---\n# mill", None),
}

LINE = {"format": "memgraph-rag export", "version": 1, "namespace": "default"}
END = '{"end":{"nodes":{},"edges":{}}}'


def lines(*values: object) -> bytes:
    return "\n".join(value if isinstance(value, str) else json.dumps(value) for value in values).encode() + b"\n"


def node(label: str = "Document", **props: object) -> dict[str, object]:
    return {"node": label, "id": "d1", "props": props}


ONE = '{"end":{"nodes":{"Document":1},"edges":{}}}'

IMPORTS = {
    "nothing": b"",
    "not JSON": b"hello\nworld\n",
    "NULs": b"\x00" * 100,
    "half gzip": gzip.compress(lines(LINE, node(), ONE))[:-12],
    "no gzip": b"\x1f\x8bhello",
    "an array": b"[1]\n",
    "deep": b'{"a":' * 50_000,
    "cut": lines(LINE, node()),
    "a later version": lines({**LINE, "version": 99}, END),
    "another namespace": lines({**LINE, "namespace": "other"}, END),
    "a namespace that is none": lines({**LINE, "namespace": 7}, END),
    "a label with Cypher": lines(LINE, node("Document) DETACH DELETE (n"), ONE),
    "an edge with Cypher": lines(
        LINE,
        {"edge": "X]->() DETACH DELETE r //", "from": ["Document", "a"], "to": ["Document", "b"], "props": {}},
        END,
    ),
    "an id that is none": lines(LINE, {"node": "Document", "id": None, "props": {}}, ONE),
    "two ids": lines(LINE, node(id="d2"), ONE),
    "properties that are none": lines(LINE, {"node": "Document", "id": "d1", "props": [1]}, ONE),
    "an embedding of words": lines(LINE, node("Vector", embedding="abc"), ONE),
    "an edge to nowhere": lines(
        LINE, {"edge": "NEXT", "from": ["DocumentChunk", "a"], "to": ["DocumentChunk", "b"], "props": {}}, END
    ),
    "false counts": lines(LINE, node(), END),
    "a false checksum": lines(LINE, {"end": {"nodes": {}, "edges": {}}, "sha256": "00"}),
    "more behind the end": lines(LINE, END, "x"),
}

ADDRESSES = {
    "no host": "http://",
    "brackets": "http://[",
    "blank": "http://exa mple/",
    "port": "http://127.0.0.1:99999/",
    "nobody listens": "http://127.0.0.1:1/",
    "credentials": "http://user:secret@127.0.0.1:1/",
    "metadata of clouds": "http://169.254.169.254/latest/",
    "zero": "http://0.0.0.0:1/",
    "mapped": "http://[::ffff:127.0.0.1]:1/",
    "script": "javascript:alert(1)",
    "file": "file:///etc/passwd-of-nobody",
    "ftp": "ftp://127.0.0.1/",
    "control": "http://127.0.0.1:1/\r\nX-Evil: 1",
    "half a character": f"http://127.0.0.1:1/{SURROGATE}",
    "long": "http://127.0.0.1:1/" + "a" * 100_000,
}


def told(done: Done, *codes: int) -> None:
    """The command failed as it should: one clear line, an exit code, and nothing else."""
    assert done.code in codes, (done.code, done.out, done.err)
    assert done.out == ""
    assert "Traceback" not in done.err
    message = done.err.strip().splitlines()
    assert 1 <= len(message) <= 4, done.err  # Typer's own are preceded by the usage
    assert message[-1].startswith(("mgrag: ", "Error: ")), done.err
    assert len(message[-1]) <= 2100
    assert "\x1b" not in done.err


@pytest.fixture
def unchanged(graph: Path) -> object:
    """The graph holds the same afterwards."""
    before = digest_of_file(graph)
    yield graph
    assert digest_of_file(graph) == before


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
    "memory forget --yes",
    "conversation show nix",
    "user export nix",
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


@pytest.mark.parametrize(("db", "code"), GRAPHS_REFUSED.values(), ids=GRAPHS_REFUSED)
def test_graphs_that_are_none(db: str, code: int, mgrag: Command, graph: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MGRAG_CONNECT_TIMEOUT", "0.5")
    before = sorted(Path().rglob("*"))
    told(mgrag("search", "mill", "--db", db), code)
    told(mgrag("--db", db, "list"), code)
    told(mgrag("backup", "copy.bak", "--db", db), code)
    assert sorted(Path().rglob("*")) == before


@pytest.fixture(scope="module")
def reported(ingested: Path, tmp_path_factory: pytest.TempPathFactory) -> Done:
    """What ingesting all of the files at once says."""
    folder = tmp_path_factory.mktemp("files")
    shutil.copyfile(ingested / "graph.grafeo", folder / "graph.grafeo")
    (folder / "in").mkdir()
    for name, (data, _) in FILES.items():
        (folder / "in" / name).write_bytes(data)
    done = Command(folder)("ingest", "in", "--json", "--db", "graph.grafeo")
    shown = Command(folder)("--db", "graph.grafeo", "list", "--prefix", "in/")
    assert shown.code == 0
    assert "\x1b" not in shown.out
    assert len(shown.out.splitlines()) == 1 + done.json["documents"]["added"]
    assert Command(folder)("--db", "graph.grafeo", "doctor", "--json").json["healthy"]
    return done


@pytest.mark.parametrize("name", FILES, ids=range(len(FILES)))
def test_files(name: str, reported: Done) -> None:
    assert reported.code == 0, reported.err
    expected = FILES[name][1]
    reasons = [item["reason"] for item in reported.json["documents"]["failed"] if item["path"] == f"in/{name}"]
    if expected is None:
        assert reasons == []
    else:
        assert len(reasons) == 1
        assert expected in reasons[0]
        assert "Traceback" not in reasons[0]
        assert "\n" not in reasons[0]


@pytest.mark.parametrize("name", ["empty.md", "damaged.pdf", "laughs.docx"])
def test_a_bad_file_alone_is_a_failure(name: str, mgrag: Command, unchanged: Path) -> None:
    Path(name).write_bytes(FILES[name][0])
    done = mgrag("ingest", name, "--json")
    assert done.code == 1
    assert [item["path"] for item in done.json["documents"]["failed"]] == [name]


def test_things_that_are_no_files(mgrag: Command, graph: Path) -> None:
    folder = Path("in")
    (folder / "sub").mkdir(parents=True)
    (folder / "good.txt").write_text("A good file.")
    (folder / "sub" / "loop").symlink_to(Path("..").absolute() / "in", target_is_directory=True)
    (folder / "dangling.md").symlink_to("nowhere.md")
    (folder / "self.md").symlink_to("self.md")
    (folder / "zero.txt").symlink_to("/dev/zero")
    os.mkfifo(folder / "pipe.txt")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(folder / "socket.txt"))
        done = mgrag("ingest", "in", "--json")
    assert done.code == 0, done.err
    assert done.json["documents"]["added"] == 1
    for name in ("pipe.txt", "dangling.md", "self.md", "zero.txt"):
        done = mgrag("ingest", f"in/{name}")
        assert done.code == 1
        assert name in done.out + done.err
    assert mgrag("doctor", "--json").json["healthy"]


def test_a_name_that_is_no_text(mgrag: Command, graph: Path) -> None:
    Path("in").mkdir()
    with open(b"in/caf\xe9.md", "wb") as file:
        file.write(b"# mill")
    (Path("in") / "good.txt").write_text("A good file.")
    done = mgrag("ingest", "in", "--json")
    assert done.code == 0, done.err
    assert done.json["documents"]["added"] >= 1
    assert mgrag("list", "--json").code == 0
    assert mgrag("doctor", "--json").json["healthy"]


def test_a_file_that_is_too_large(mgrag: Command, graph: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MGRAG_MAX_FILE_BYTES", "1000")
    Path("large.md").write_text("mill " * 1000)
    done = mgrag("ingest", "large.md")
    assert done.code == 1
    assert "large" in done.out + done.err


@pytest.mark.parametrize("address", ADDRESSES.values(), ids=ADDRESSES)
def test_addresses(address: str, mgrag: Command, unchanged: Path) -> None:
    done = mgrag("ingest", "--json", "--", address)
    assert done.code in (1, 2), (done.code, done.out)
    assert "Traceback" not in done.err
    if done.out:
        assert len(done.json["documents"]["failed"]) == 1
    else:
        told(done, 1, 2)
    assert "secret" not in done.err + done.out


@pytest.mark.parametrize(
    "options",
    [
        ("--url-pattern", "["),
        ("--max-urls", "0"),
        ("--max-urls", "-5"),
        ("--chunk-size", "0"),
        ("--chunk-size", "-1"),
        ("--chunk-size", "20", "--chunk-overlap", "20"),
        ("--chunk-overlap", "-1"),
        ("--model", ""),
    ],
    ids=" ".join,
)
def test_options_of_ingest_that_make_no_sense(options: tuple[str, ...], mgrag: Command, unchanged: Path) -> None:
    address = "http://127.0.0.1:1/" if options[0].startswith(("--url", "--max")) else "corpus"
    told(mgrag("ingest", address, *options), 2)


@pytest.mark.parametrize("data", IMPORTS.values(), ids=IMPORTS)
def test_imports(data: bytes, mgrag: Command, unchanged: Path) -> None:
    Path("in.jsonl").write_bytes(data)
    told(mgrag("import", "in.jsonl"), 1)
    if b"other" not in data:  # which is whole, but of another namespace
        told(mgrag("restore", "in.jsonl", "--force"), 1)
    assert sorted(path.name for path in unchanged.parent.iterdir()) == ["graph.grafeo"]


@pytest.mark.parametrize("kind", ["not JSON", "cut", "another namespace", "false counts"])
def test_a_refused_import_makes_no_graph(kind: str, mgrag: Command) -> None:
    Path("in.jsonl").write_bytes(IMPORTS[kind])
    for where in ((), ("--db", "sub/new.grafeo")):
        told(mgrag("import", "in.jsonl", *where), 1)
        told(mgrag("import", "nowhere.jsonl", *where), 1)
    assert list(Path().iterdir()) == [Path("in.jsonl")]


@pytest.mark.parametrize("command", ["backup", "export", "restore", "import"])
@pytest.mark.parametrize("file", ["", " ", "-"])
def test_copies_without_a_file(command: str, file: str, mgrag: Command, unchanged: Path) -> None:
    before = sorted(Path().iterdir())
    done = mgrag(command, file)
    told(done, 2)
    assert "name a file" in done.err
    assert sorted(Path().iterdir()) == before


def test_what_is_no_export_is_told_by_what_it_is(mgrag: Command, graph: Path) -> None:
    os.mkfifo("pipe")
    Path("random.gz").write_bytes(gzip.compress(b"\xbf\xff" * 100))
    Path("random").write_bytes(b"\xbf\xff" * 100)
    for command in ("import", "restore"):
        done = mgrag(command, "pipe")
        told(done, 1)
        assert "read twice: write it to a file first" in done.err
        for name in ("random", "random.gz"):
            assert f"{name} is not an export of mgrag." in mgrag(command, name, "--db", "new.grafeo").err
    done = mgrag("import", str(graph), "--db", "new.grafeo")
    told(done, 1)
    assert "is a graph file, not an export. mgrag restore" in done.err
    assert not Path("new.grafeo").exists()


@pytest.mark.parametrize("file", ["corpus", "nowhere/b", "/dev/null", "/proc/b", "a\x00b", "x" * 5000, "there"])
def test_backups_and_exports_to_nowhere(file: str, mgrag: Command, unchanged: Path) -> None:
    Path("there").write_text("mine")
    told(mgrag("backup", file), 1)
    told(mgrag("export", file), 1)
    assert Path("there").read_text() == "mine"


@pytest.mark.parametrize(
    "file",
    ["corpus", "nowhere/b", "/dev/null", "a\x00b", "x" * 5000, "junk", "half", "bent", ".mgrag/graph.grafeo"],
)
def test_restores_from_nothing(file: str, mgrag: Command, unchanged: Path) -> None:
    whole = unchanged.read_bytes()
    Path("junk").write_bytes(b"GRAF" + b"junk" * 1000)
    Path("half").write_bytes(whole[: len(whole) // 2])
    Path("bent").write_bytes(whole.replace(b"burr stones", b"burn stores"))
    assert Path("bent").read_bytes() != whole
    told(mgrag("restore", file, "--force"), 1)
    assert sorted(path.name for path in unchanged.parent.iterdir()) == ["graph.grafeo"]


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


def test_a_damaged_graph(mgrag: Command, graph: Path) -> None:
    whole = graph.read_bytes()
    graph.write_bytes(whole.replace(b"burr stones", b"burn stores"))
    told(mgrag("search", "mill"), 1, 3)
    done = mgrag("doctor", "--json")
    assert done.code == 1
    assert not done.json["healthy"]
    shutil.copyfile(graph, "damaged")
    Path("whole").write_bytes(whole)
    told(mgrag("restore", "whole"), 1)
    assert graph.read_bytes() == Path("damaged").read_bytes()
    assert mgrag("restore", "whole", "--force").code == 0
    assert mgrag("doctor").code == 0
