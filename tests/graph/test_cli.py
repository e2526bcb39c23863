"""``mgrag graph``, as somebody would use it."""

from __future__ import annotations

import io
import shlex
import sys
from pathlib import Path

import networkx
import pytest

from tests.cli.command import Command


@pytest.fixture
def mgrag(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Command:
    """The command, in a folder with a graph of five links."""
    for name in ("MEMGRAPH_URI", "MGRAG_NAMESPACE", "MGRAG_EMBEDDING_MODEL"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "note.md").write_text("# A note\n\nnothing much\n", encoding="utf-8")
    command = Command(tmp_path)
    assert command("ingest", "note.md").code == 0
    for source, target, relation in [
        ("Alice Johnson", "TechCorp", "works_at"),
        ("Bob Smith", "TechCorp", "works_at"),
        ("Bob Smith", "Platform Core", "leads"),
        ("Platform Core", "Backend <b>", "built_by"),
    ]:
        done = command("graph", "link", source, target, "--relation", relation, "--create")
        assert done.code == 0, done.err
        assert done.out.startswith("Linked: ")
    return command


def test_stats(mgrag: Command) -> None:
    found = mgrag("graph", "stats", "--json").json
    assert found["edges"] == 4
    assert found["edges_by_type"] == {"built_by": 1, "leads": 1, "works_at": 2}
    text = mgrag("graph", "stats").out
    assert "4 edges by relation:" in text
    assert "2  works_at" in text


def test_a_link_to_what_is_not_there_says_how_to_create_it(mgrag: Command) -> None:
    done = mgrag("graph", "link", "Bob Smith", "Nowhere Ltd")
    assert done.code == 4
    assert "'Nowhere Ltd'" in done.err and "--create" in done.err


def test_the_next_page_is_told_as_a_shell_takes_it(mgrag: Command) -> None:
    assert mgrag("graph", "link", "A d'Artagnan", "TechCorp", "--create").code == 0
    page = mgrag("graph", "entities", "-k", "1", "--sort", "name", "--json").json
    assert page["nodes"][0]["name"] == "A d'Artagnan"
    said = mgrag("graph", "entities", "-k", "1", "--sort", "name").err
    assert shlex.split(said[said.index("--after") :]) == ["--after", page["next"]]


def test_entities(mgrag: Command) -> None:
    assert [node["name"] for node in mgrag("graph", "entities", "smith", "--json").json["nodes"]] == ["Bob Smith"]
    assert "Bob Smith" in mgrag("graph", "entities", "smith").out
    names, after = [], ""
    while True:
        page = mgrag("graph", "entities", "-k", "2", "--after", after, "--json").json
        names += [node["name"] for node in page["nodes"]]
        after = page["next"]
        if not after:
            break
    assert names == sorted(names)
    assert {"Alice Johnson", "Bob Smith", "TechCorp", "Platform Core", "Backend <b>"} <= set(names)
    assert "--after" in mgrag("graph", "entities", "-k", "2").err
    assert mgrag("graph", "entities", "zzzz").out.strip() == "Nothing found."


def test_neighbors(mgrag: Command) -> None:
    assert "Alice Johnson  Entity, 1 edge\n" in mgrag("graph", "neighbors", "Alice Johnson").out
    done = mgrag("graph", "neighbors", "techcorp")
    assert "Alice Johnson -> works_at -> TechCorp  (by hand)" in done.out
    page = mgrag("graph", "neighbors", "techcorp", "-k", "1", "--json").json
    assert (page["degree"], page["truncated"], len(page["nodes"])) == (2, True, 1)
    missing = mgrag("graph", "neighbors", "TechCrop")
    assert missing.code == 4
    assert "There is no entity, concept, topic, document or symbol 'TechCrop'" in missing.err
    assert mgrag("graph", "neighbors", "techcorp", "--edge-type", "NONE").code == 2


def test_neighbors_of_a_name_that_source_code_defines(mgrag: Command, tmp_path: Path) -> None:
    code = tmp_path / "code"
    code.mkdir()
    (code / "mill.py").write_text("def helper():\n    return 1\n\n\ndef grind():\n    return helper()\n")
    (code / "notes.md").write_text("# Notes\n\nThe function `helper` gives one.\n")
    assert mgrag("ingest", str(code)).code == 0
    lines = mgrag("graph", "neighbors", "helper").out.splitlines()
    assert lines[:3] == ["helper  function, 2 edges", "  grind -> CALLS -> helper", "  helper -> DEFINED_IN -> mill.py"]
    assert any(line.startswith("  notes.md: Notes -> MENTIONS -> helper") for line in lines[4:])
    page = mgrag("graph", "neighbors", "helper", "--json").json
    assert (page["node"]["label"], [node["label"] for node in page["symbols"]]) == ("Entity", ["Symbol"])
    assert mgrag("graph", "neighbors", "helper", "--edge-type", "MENTIONS").out.startswith("helper")
    assert "CALLS" not in mgrag("graph", "neighbors", "helper", "--edge-type", "MENTIONS").out
    shown = mgrag("graph", "show", "helper")
    symbol = page["symbols"][0]["id"]
    assert shown.out.startswith("helper()  code\n")
    assert shown.err == f"mgrag: helper is also a function in source code: mgrag graph show {symbol}\n"
    assert mgrag("graph", "show", symbol).out.startswith("helper  function\n")


def test_path(mgrag: Command) -> None:
    assert mgrag("graph", "path", "alice johnson", "platform core").out.splitlines()[0] == (
        "Alice Johnson - TechCorp - Bob Smith - Platform Core"
    )
    found = mgrag("graph", "path", "Alice Johnson", "Backend <b>", "--weighted", "--json").json
    assert (found["length"], found["cost"]) == (4, 4.0)
    assert mgrag("graph", "path", "Alice Johnson", "Backend <b>", "--depth", "3").code == 4


def test_show_follows_edges_in_one_direction(mgrag: Command) -> None:
    found = {}
    for direction in ("out", "in", "both"):
        shown = mgrag("graph", "show", "Bob Smith", "--depth", "4", "--direction", direction, "--json").json
        found[direction] = {node["name"] for node in shown["nodes"]}
    assert found["out"] == {"TechCorp", "Platform Core", "Backend <b>"}
    assert found["in"] == set()
    assert found["both"] == {"TechCorp", "Platform Core", "Backend <b>", "Alice Johnson"}


def test_show(mgrag: Command) -> None:
    done = mgrag("graph", "show", "TechCorp", "--depth", "1")
    assert done.out.splitlines()[1:] == [
        "  Alice Johnson -> works_at -> TechCorp  (by hand)",
        "  Bob Smith -> works_at -> TechCorp  (by hand)",
    ]
    done = mgrag("graph", "show", "TechCorp", "--depth", "4", "--html", "a.html", "--graphml", "a.xml", "--json")
    assert [node["distance"] for node in done.json["nodes"]] == [1, 1, 2, 3]
    assert done.json["files"] == {"html": "a.html", "graphml": "a.xml"}
    page = (mgrag.folder / "a.html").read_text(encoding="utf-8")
    assert "Backend &lt;b&gt;" in page
    assert "Backend <b>" not in page
    graph = networkx.read_graphml(mgrag.folder / "a.xml")
    assert (len(graph), graph.number_of_edges()) == (5, 4)
    assert (
        len(networkx.read_graphml(io.BytesIO(mgrag("graph", "show", "TechCorp", "--graphml", "-").out.encode()))) == 4
    )
    assert mgrag("graph", "show", "TechCorp", "--mermaid", "-").out.startswith("flowchart LR\n")
    short = mgrag("graph", "show", "TechCorp", "-k", "1")
    assert "There is more" in short.err
    assert mgrag("graph", "show", "TechCorp", "--html", "-").code == 2
    assert mgrag("graph", "show", "TechCorp", "--html", "nowhere/a.html").code == 1


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no limit for the size of a file")
def test_a_picture_that_does_not_fit_on_the_disk_leaves_no_file(mgrag: Command) -> None:
    import resource

    (mgrag.folder / "old.html").write_text("as it was")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1_000, before[1]))
    try:
        done = [mgrag("graph", "show", "TechCorp", "--html", name) for name in ("new.html", "old.html")]
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert [one.code for one in done] == [1, 1] and "new.html cannot be written: File too large." in done[0].err
    assert not (mgrag.folder / "new.html").exists()
    assert (mgrag.folder / "old.html").exists(), "it may be a pipe, or a file that others link to"


def test_link_and_unlink(mgrag: Command) -> None:
    assert mgrag("graph", "link", "Alice Johnson", "Nobody").code == 4
    edge = mgrag("graph", "link", "Alice Johnson", "Backend <b>", "--fact", "knows it", "--weight", "2", "--json").json
    assert (edge["type"], edge["fact"], edge["weight"]) == ("related", "knows it", 2.0)
    assert mgrag("graph", "unlink", edge["id"], "--json").json == {"removed": 1}
    assert mgrag("graph", "unlink", edge["id"]).code == 4
    assert mgrag("graph", "unlink", "TechCorp", "Bob Smith", "--relation", "leads").code == 4
    assert mgrag("graph", "unlink", "TechCorp", "Bob Smith").out.strip() == "Removed: 1 link."
    assert mgrag("graph", "link", "TechCorp", "TechCorp").code == 2


def test_links_have_periods_and_end(mgrag: Command) -> None:
    def there(*options: str) -> list[str]:
        edges = mgrag("graph", "edges", "--relation", "owns", *options, "--json").json["edges"]
        return [edge["valid_from"][:10] + "/" + edge["valid_to"][:10] for edge in edges]

    owns = ("graph", "link", "Alice Johnson", "TechCorp", "--relation", "owns")
    assert mgrag(*owns, "--valid-from", "2018-01-01").code == 0
    edge = mgrag("graph", "link", "Bob Smith", "TechCorp", "--relation", "owns", "--valid-to", "2018-01-01", "--json")
    assert edge.json["valid_to"] == "2018-01-01T00:00:00.000000Z"
    early = mgrag("graph", "unlink", "TechCorp", "Alice Johnson", "--relation", "owns", "--ended", "2017-01-01")
    assert early.code == 2 and "began later" in early.err
    ended = mgrag("graph", "unlink", "TechCorp", "Alice Johnson", "--relation", "owns", "--ended", "2021-05-01")
    assert ended.out.strip() == "Ended: 1 link."
    again = mgrag("graph", "unlink", "TechCorp", "Alice Johnson", "--relation", "owns", "--ended", "2022-05-01")
    assert again.code == 4 and "held then" in again.err
    assert there() == []
    assert there("--at", "2020-01-01") == ["2018-01-01/2021-05-01"]
    assert sorted(there("--at", "ever")) == ["/2018-01-01", "2018-01-01/2021-05-01"]
    assert mgrag(*owns).code == 2
    assert mgrag(*owns, "--valid-from", "2023-01-01").code == 0
    assert there() == ["2023-01-01/"]
    assert "owns (since 2023-01-01)" in mgrag("graph", "neighbors", "Alice Johnson").out
    for how in (("neighbors", "Alice Johnson"), ("show", "Alice Johnson"), ("path", "Alice Johnson", "TechCorp")):
        assert "until 2021-05-01" in mgrag("graph", *how, "--at", "2020-01-01", "--relation", "owns").out
    assert "2 facts of other times" in mgrag("graph", "stats").out
    assert mgrag("graph", "edges", "--at", "then").code == 2


def test_link_can_make_the_graph(mgrag: Command) -> None:
    assert mgrag("graph", "link", "Ann", "Ben", "--db", "new.grafeo").code == 4
    assert mgrag("graph", "link", "Ann", "Ben", "--db", "new.grafeo", "--create").code == 0
    assert mgrag("graph", "path", "Ann", "Ben", "--db", "new.grafeo").out.startswith("Ann - Ben\n")


def test_merge_and_split(mgrag: Command) -> None:
    assert mgrag("graph", "link", "R. Smith", "Paris", "--create").code == 0
    assert mgrag("graph", "path", "R. Smith", "TechCorp").code == 4
    assert mgrag("graph", "merge", "R. Smith", "Bob Smith").out.strip() == "Merged: R. Smith is Bob Smith."
    found = mgrag("graph", "path", "Paris", "TechCorp", "--json").json
    assert [edge["type"] for edge in found["edges"]] == ["related", "SAME_AS", "works_at"]
    assert mgrag("graph", "stats", "--json").json["edges_by_type"]["SAME_AS"] == 1
    assert mgrag("graph", "split", "Bob Smith", "--json").json == {"split": 1}
    assert mgrag("graph", "split", "Bob Smith").code == 4
    done = mgrag("graph", "split", "Bob Smith", "TechCorp")
    assert (done.code, done.out) == (0, "Stored: Bob Smith is not TechCorp. They were not merged.\n")
    assert mgrag("graph", "path", "Paris", "TechCorp").code == 4
    assert mgrag("graph", "merge", "Bob Smith", "bob smith").code == 2
    assert mgrag("graph", "merge", "Bob Smith", "Nobody").code == 4


def test_edges(mgrag: Command) -> None:
    found, after = [], ""
    while True:
        page = mgrag("graph", "edges", "-k", "3", "--after", after, "--json").json
        found += [(page["names"][e["source"]], e["type"], page["names"][e["target"]]) for e in page["edges"]]
        after = page["next"]
        if not after:
            break
    assert sorted(found) == [
        ("Alice Johnson", "works_at", "TechCorp"),
        ("Bob Smith", "leads", "Platform Core"),
        ("Bob Smith", "works_at", "TechCorp"),
        ("Platform Core", "built_by", "Backend <b>"),
    ]
    assert mgrag("graph", "edges", "--relation", "leads").out.strip() == (
        "Bob Smith -> leads -> Platform Core  (by hand)"
    )
    assert mgrag("graph", "edges", "--relation", "SAME_AS").out.strip() == "Nothing found."
    assert "--after" in mgrag("graph", "edges", "-k", "1").err
    assert mgrag("graph", "edges", "--after", "x").code == 2


def test_remove_what_was_made_by_hand(mgrag: Command) -> None:
    assert mgrag("graph", "remove", "techcorp").out.strip() == "Removed: techcorp."
    assert mgrag("graph", "neighbors", "TechCorp").code == 4
    assert mgrag("graph", "stats", "--json").json["edges"] == 2
    assert mgrag("graph", "remove", "TechCorp").code == 4
    assert mgrag("graph", "remove", "A note").code == 4, "that is of a document"
    assert mgrag("graph", "neighbors", "A note").code == 0


def test_resolve(mgrag: Command) -> None:
    text = "Elisabeth of France is Elizabeth of France. The North Atlantic Treaty Organization (NATO) met."
    (mgrag.folder / "names.txt").write_text(text, encoding="utf-8")
    assert mgrag("ingest", "names.txt").code == 0
    done = mgrag("graph", "resolve", "--no-vectors")
    assert "  NATO is North Atlantic Treaty Organization  (acronym, 0.95)" in done.out.splitlines()
    assert done.out.splitlines()[-1] == "2 aliases: 1 new, 0 removed."
    assert mgrag("graph", "resolve", "--json").json["added"] == 0


def test_where_there_is_no_graph_none_is_made(tmp_path: Path) -> None:
    for arguments in (
        ["stats"],
        ["entities"],
        ["neighbors", "x"],
        ["path", "a", "b"],
        ["show", "x"],
        ["link", "a", "b"],
    ):
        done = Command(tmp_path)("--db", "none.grafeo", "graph", *arguments)
        assert done.code == 4, arguments
    assert list(tmp_path.iterdir()) == []
