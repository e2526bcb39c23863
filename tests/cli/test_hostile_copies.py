"""Hostile exports, backups and graph files: refused, and whatever was there before is kept."""

from __future__ import annotations

import gzip
import json
import os
import shutil
from pathlib import Path

import pytest

from tests.cli.command import Command
from tests.cli.hostile import SURROGATE, told

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


@pytest.mark.parametrize(("db", "code"), GRAPHS_REFUSED.values(), ids=GRAPHS_REFUSED)
def test_graphs_that_are_none(db: str, code: int, mgrag: Command, graph: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MGRAG_CONNECT_TIMEOUT", "0.5")
    before = sorted(Path().rglob("*"))
    told(mgrag("search", "mill", "--db", db), code)
    told(mgrag("--db", db, "list"), code)
    told(mgrag("backup", "copy.bak", "--db", db), code)
    assert sorted(Path().rglob("*")) == before


@pytest.mark.parametrize("data", IMPORTS.values(), ids=IMPORTS)
def test_imports(data: bytes, mgrag: Command, unchanged: Path) -> None:
    Path("in.jsonl").write_bytes(data)
    elsewhere = b"other" in data  # whole, but of another namespace: the arguments are wrong, not the file
    told(mgrag("import", "in.jsonl"), 2 if elsewhere else 1)
    if not elsewhere:
        told(mgrag("restore", "in.jsonl", "--force"), 1)
    assert sorted(path.name for path in unchanged.parent.iterdir()) == ["graph.grafeo"]


@pytest.mark.parametrize("kind", ["not JSON", "cut", "another namespace", "false counts"])
def test_a_refused_import_makes_no_graph(kind: str, mgrag: Command) -> None:
    Path("in.jsonl").write_bytes(IMPORTS[kind])
    for where in ((), ("--db", "sub/new.grafeo")):
        told(mgrag("import", "in.jsonl", *where), 2 if kind == "another namespace" else 1)
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
