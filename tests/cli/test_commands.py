"""What each command does and prints, run in this process."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from core.rag.dbhandler import MemGraphClient
from core.rag.dbhandler.embedded.digest import digest_of_file
from core.rag.dbhandler.embedded.engine import close_engine, open_engine
from core.rag.dbhandler.embedded.store import EmbeddedStore
from core.rag.errors import StoreFullError
from core.rag.indexing.titles import TitleLinker
from mgrag.cli import main
from tests.cli.command import Command

READING = [
    ("list",),
    ("show", "corpus/diary.txt"),
    ("search", "mill"),
    ("cypher", "RETURN 1"),
    ("status",),
    ("delete", "x"),
    ("export", "e.jsonl"),
    ("backup", "b.bak"),
    ("namespaces",),
    ("namespaces", "delete", "default", "--yes"),
    ("reembed",),
]


@pytest.mark.parametrize("arguments", READING, ids=" ".join)
def test_where_nothing_was_ingested_no_graph_is_made(arguments: tuple[str, ...], mgrag: Command) -> None:
    for where in ((), ("--db", "sub/g.grafeo")):
        done = mgrag(*arguments, *where)
        assert done.code == 4
        assert "nothing has been ingested yet" in done.err
        assert "mgrag ingest" in done.err
        assert done.out == ""
    assert list(mgrag.folder.iterdir()) == []


def test_the_doctor_makes_no_graph_either(mgrag: Command) -> None:
    done = mgrag("doctor", "--json")
    assert done.code == 0
    assert [check["level"] for check in done.json["checks"] if check["name"] == "location"] == ["note"]
    named = mgrag("doctor", "--json", "--db", "g.grafeo")
    assert named.code == 1, "a graph that was named is missed"
    assert list(mgrag.folder.iterdir()) == []


def test_the_doctor_tells_where_no_graph_can_be_made(mgrag: Command) -> None:
    (mgrag.folder / ".mgrag").write_text("no folder", encoding="utf-8")
    for where, folder in ((), ".mgrag"), (("--db", "/proc/new/graph.grafeo"), "/proc"):
        done = mgrag("doctor", "--json", *where)
        assert done.code == 1
        (check,) = [check for check in done.json["checks"] if check["name"] == "location"]
        assert check["level"] == "problem"
        assert "none can be created: nothing can be written in" in check["message"] and folder in check["message"]
        assert "ingest" not in check["advice"]
    assert [path.name for path in mgrag.folder.iterdir()] == [".mgrag"]


def test_ingest_twice(mgrag: Command, ingested: Path) -> None:
    (mgrag.folder / "corpus").symlink_to(ingested / "corpus")
    first = mgrag("ingest", "corpus", "--json")
    assert first.code == 0
    assert first.json["documents"]["added"] == 10
    assert first.json["chunks"] == first.json["vectors"]["embedded"]
    assert first.err == ""
    again = mgrag("ingest", "corpus")
    assert again.out.startswith("Nothing changed: 10 documents are up to date")
    file = min(path for path in (mgrag.folder / "corpus").iterdir() if path.is_file())
    assert mgrag("ingest", f"corpus/{file.name}").out.startswith("Nothing changed: 1 document is up to date")


@pytest.mark.parametrize("images", [4, 9])
def test_of_many_documents_that_failed_for_one_reason_a_few_are_shown(images: int, mgrag: Command) -> None:
    notes = mgrag.folder / "notes"
    notes.mkdir()
    (notes / "mill.md").write_text("# Mill\n\nIt grinds with the ebb.", encoding="utf-8")
    (notes / "empty.md").touch()
    for number in range(images):
        (notes / f"picture-{number}.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    lines = mgrag("ingest", "notes").out.splitlines()
    assert lines[0].startswith("failed  notes/empty.md: ")
    assert lines[-1].startswith(f"Documents: 1 added, 0 updated, 0 unchanged, {images + 1} failed.")
    reason = "it is a PNG image"
    if images == 4:
        assert lines[1:-1] == [f"failed  notes/picture-{number}.png: {reason}" for number in range(4)]
    else:
        assert lines[1:4] == [f"failed  notes/picture-{number}.png: {reason}" for number in range(3)]
        assert lines[4:-1] == [f"failed  6 more: {reason} (--json lists them all)"]
    assert len(mgrag("ingest", "notes", "--json").json["documents"]["failed"]) == images + 1


@pytest.mark.parametrize("place", ["graph.grafeo", "notes/deep/graph.grafeo", "linked/graph.grafeo", "link.grafeo"])
def test_a_graph_is_none_of_the_documents_beside_it(place: str, mgrag: Command) -> None:
    folder = mgrag.folder / "notes" / "deep"
    folder.mkdir(parents=True)
    (folder / "mill.md").write_text("# Mill\n\nIt grinds with the ebb.", encoding="utf-8")
    (mgrag.folder / "linked").symlink_to(folder)
    if place == "link.grafeo":
        assert mgrag("--db", "notes/graph.grafeo", "ingest", "notes/deep").code == 0
        (mgrag.folder / place).symlink_to(mgrag.folder / "notes" / "graph.grafeo")
    for _ in range(2):
        done = mgrag("--db", place, "ingest", ".", "--strict")
        assert done.code == 0 and "failed" not in done.out, done.out
    assert [row["path"] for row in mgrag("--db", place, "list", "--json").json][-1] == "notes/deep/mill.md"

    (mgrag.folder / "other.grafeo").write_bytes((mgrag.folder / place).read_bytes())
    done = mgrag("--db", place, "ingest", ".", "--strict")
    assert done.code == 1 and "failed  other.grafeo: " in done.out


CLOSE = EmbeddedStore.close


async def full_at_the_end(store: EmbeddedStore) -> None:
    await CLOSE(store)
    raise StoreFullError("Closing: the disk is full.")


async def full_in_the_middle(*_: object) -> None:
    raise StoreFullError("A commit failed: the disk is full.")


@pytest.mark.parametrize("fails", ["closing", "a commit and closing"])
def test_what_was_stored_before_the_disk_was_full_is_told(
    fails: str, mgrag: Command, ingested: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (mgrag.folder / "corpus").symlink_to(ingested / "corpus")
    with monkeypatch.context() as patched:
        patched.setattr(EmbeddedStore, "close", full_at_the_end)
        if fails != "closing":  # links between titles are the last that is written
            patched.setattr(TitleLinker, "link", full_in_the_middle)
        done = mgrag("ingest", "corpus", "--json")
        again = mgrag("ingest", "corpus", "--db", "other.grafeo")
    assert done.code == again.code == 3
    assert (
        done.err == again.err == f"mgrag: {'Closing' if fails == 'closing' else 'A commit failed'}: the disk is full.\n"
    )
    assert done.json["documents"]["added"] == len(mgrag("list", "--json").json) == 10
    assert again.out.startswith("Documents: 10 added")


def test_an_import_that_fails_says_why_even_where_closing_fails_too(
    mgrag: Command, ingested: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert mgrag("export", "all.jsonl", "--db", str(ingested / "graph.grafeo")).code == 0
    monkeypatch.setattr(MemGraphClient, "read_section", full_in_the_middle)
    monkeypatch.setattr(EmbeddedStore, "close", full_at_the_end)
    done = mgrag("import", "all.jsonl", "--db", "other.grafeo")
    assert (done.code, done.err) == (3, "mgrag: A commit failed: the disk is full.\n")


def test_hidden_files_are_loaded_if_that_is_asked_for(mgrag: Command, tmp_path: Path) -> None:
    for name in (".github/build.yml", ".env.example", "mill.md"):
        (tmp_path / "repository" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "repository" / name).write_text("name: Grind\n")
    found = [mgrag("ingest", "repository", *given, "--json").json["documents"]["added"] for given in ([], ["--hidden"])]
    assert found == [2, 1]
    done = mgrag("ingest", "repository/mill.md", "--hidden")
    assert (done.code, done.err) == (0, "mgrag: No effect: --hidden (a file that is named is loaded in any case).\n")


def test_options_without_effect_are_told(mgrag: Command, ingested: Path) -> None:
    done = mgrag("ingest", str(ingested / "corpus"), "--max-urls", "1", "--include", "*.md")
    assert done.code == 0
    assert done.err == "mgrag: No effect: --max-urls (only for web addresses).\n"
    done = mgrag("ingest", "http://127.0.0.1:9/", "--include", "*.md")
    assert done.code == 1
    assert "No effect: --include (only for files and folders; for web addresses: --url-pattern)." in done.err
    (file, *_) = sorted((ingested / "corpus").glob("*.md"))
    done = mgrag("ingest", str(file), "--exclude", file.name)
    assert (done.code, done.err) == (0, "mgrag: No effect: --exclude (a file that is named is loaded in any case).\n")


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (TypeError("a mistake in the code"), "Unexpected error (TypeError: a mistake in the code)"),
        (MemoryError(), "There was not enough memory. What was finished before is stored."),
    ],
)
def test_what_was_stored_before_an_error_that_nobody_expected_is_told(
    mgrag: Command,
    ingested: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    error: Exception,
    said: str,
) -> None:
    async def broken(*_: object) -> None:
        raise error

    monkeypatch.setattr(TitleLinker, "link", broken)
    monkeypatch.setattr(sys, "argv", ["mgrag", "ingest", str(ingested / "corpus"), "--json"])
    monkeypatch.chdir(mgrag.folder)
    with pytest.raises(SystemExit) as ended:
        main()
    told = capsys.readouterr()
    assert ended.value.code == 1
    assert json.loads(told.out)["documents"]["added"] == 10
    assert said in told.err


def test_options_before_and_behind_the_command(mgrag: Command, graph: Path, ingested: Path) -> None:
    other = str(ingested / "graph.grafeo")
    behind = mgrag("status", "--db", other, "--namespace", "x", "--json")
    before = mgrag("--db", other, "--namespace", "x", "--json", "status")
    assert {**before.json, "bytes": 0} == {**behind.json, "bytes": 0}
    assert before.json["namespace"] == "x"
    assert before.json["location"] == other
    mixed = mgrag("--db", "nowhere", "--namespace", "y", "status", "--db", other, "--json")
    assert (mixed.json["location"], mixed.json["namespace"]) == (other, "y")


@pytest.mark.parametrize("address", ["localhost:7687", "127.0.0.1:7687", "[::1]:7687"])
def test_a_server_is_not_taken_for_a_file(address: str, mgrag: Command) -> None:
    (mgrag.folder / "a.md").write_text("The mill.")
    done = mgrag("ingest", "a.md", "--db", address)
    assert done.code == 2
    assert f"bolt://{address}" in done.err
    assert not (mgrag.folder / address).exists()
    assert mgrag("ingest", "a.md", "--db", f"embedded:{address}").code == 0
    assert mgrag("search", "mill", "--db", address).code == 0, "there is a file of this name"


@pytest.mark.parametrize("start", ["bolt//", "bolt:/", "bolt:", "Bolt+s//", "neo4j+ssc:/"])
def test_a_mistyped_address_of_a_server_is_not_shown_and_makes_no_folder(start: str, mgrag: Command) -> None:
    (mgrag.folder / "a.md").write_text("The mill.")
    done = mgrag("ingest", "a.md", "--db", f"{start}ada:hunter2@db.example:7687")
    assert done.code == 2
    assert "bolt://HOST:7687" in done.err
    assert "hunter2" not in done.err + done.out
    assert sorted(path.name for path in mgrag.folder.iterdir()) == ["a.md"]
    assert mgrag("ingest", "a.md", "--db", "bolt/graph.grafeo").code == 0, "a folder may have this name"


@pytest.mark.parametrize(
    "arguments", [("nosuch",), ("list", "--nosuch"), ("search",), ("show", "a", "b")], ids=" ".join
)
def test_what_is_not_known_exits_with_2(arguments: tuple[str, ...], mgrag: Command) -> None:
    done = mgrag(*arguments)
    assert done.code == 2
    assert done.out == ""
    assert "Error" in done.err


def test_a_value_that_is_none_of_those_there_are(mgrag: Command) -> None:
    done = mgrag("graph", "show", "x", "--direction", "up")
    assert done.code == 2
    assert done.err.endswith("Error: Invalid value for '--direction': 'up' is not one of 'both', 'out', 'in'.\n")


def test_alone_it_prints_what_there_is(mgrag: Command) -> None:
    done = mgrag()
    assert done.code == 0
    for name in ("ingest", "search", "list", "show", "delete", "status", "doctor", "backup", "restore", "reembed"):
        assert f"\n  {name} " in done.out
    assert mgrag("--help").out == done.out == mgrag("-h").out


def test_version(mgrag: Command) -> None:
    from mgrag import __version__

    assert mgrag("--version").out == f"mgrag {__version__}\n"


def test_search_shows_rank_path_heading_place_score_and_the_part_that_matches(mgrag: Command, graph: Path) -> None:
    done = mgrag("search", "burr stones France ship", "-k", "2")
    head, text, *rest = done.out.splitlines()
    assert head.startswith("1. corpus/history.html  Stones from France  ")
    float(head.rsplit("  ", 1)[1])
    assert "burr stones" in text
    assert next(line for line in rest if not line.startswith("   because")).startswith("2. ")
    assert "slide" in mgrag("search", "fifty minutes two tides a day", "--mode", "keyword", "-k", "1").out
    hits = mgrag("search", "burr stones France ship", "-k", "2", "--json").json
    assert hits[0]["path"] == "corpus/history.html"
    assert {
        "chunk_id",
        "document_id",
        "title",
        "heading",
        "content",
        "chunk_index",
        "start_char",
        "score",
        "scores",
    } <= {*hits[0]}


def test_search_options(mgrag: Command, graph: Path) -> None:
    assert len(mgrag("search", "mill", "-k", "3", "--json").json) == 3
    only = mgrag("search", "mill", "--filter", "mime:application/pdf", "--json").json
    assert {hit["path"] for hit in only} == {"corpus/survey.pdf"}
    one = mgrag("search", "Lift the runner stone", "-k", "1", "--json").json[0]
    wide = mgrag("search", "Lift the runner stone", "-k", "1", "--expand", "1", "--json").json[0]
    assert one["chunk_id"] == wide["chunk_id"]
    assert len(wide["content"]) > len(one["content"])
    assert (
        mgrag("search", "Runing the mil", "--mode", "fuzzy", "-k", "1", "--json").json[0]["heading"]
        == "Running the mill"
    )
    assert mgrag("search", "mill", "--namespace", "other").out == "Nothing found.\n"


def test_search_says_when_words_found_nothing(mgrag: Command, graph: Path) -> None:
    said = "mgrag: No passage has a word of the query; these are the nearest in meaning.\n"
    for mode in ("auto", "hybrid", "graph"):
        done = mgrag("search", "xylophonist", "-k", "2", "--mode", mode)
        assert (done.out.count("corpus/"), done.err) == (2, said)
        assert mgrag("search", "mill xylophonist", "-k", "2", "--mode", mode).err == ""
    assert mgrag("search", "xylophonist", "--mode", "vector").err == ""
    assert mgrag("search", "xylophonist", "--json").err == ""


def test_list(mgrag: Command, graph: Path) -> None:
    everything = mgrag("list", "--json").json
    paths = [document["path"] for document in everything]
    assert len(paths) == 10
    assert paths == sorted(paths)
    assert all(document["chunk_count"] >= 1 and document["sources"][0]["name"] == "corpus" for document in everything)
    first = mgrag("list", "--limit", "4", "--json").json
    second = mgrag("list", "--limit", "100", "--after", first[-1]["path"], "--json").json
    assert [document["path"] for document in (*first, *second)] == paths
    assert [document["path"] for document in mgrag("list", "--prefix", "corpus/s", "--json").json] == [
        "corpus/survey.pdf"
    ]
    lines = mgrag("list").out.splitlines()
    assert len(lines) == 11
    assert all(path in line for path, line in zip(paths, lines[1:], strict=True))
    paged = mgrag("list", "--limit", "4")
    assert len(paged.out.splitlines()) == 5
    assert f"--after {paths[3]}\n" in paged.err
    assert mgrag("list", "--prefix", "none").out == "No documents.\n"


def test_long_paths_are_neither_cut_nor_wrapped(mgrag: Command, graph: Path) -> None:
    name = "/".join(["a folder with a long name"] * 12) + "/" + "x" * 200 + ".md"
    (mgrag.folder / name).parent.mkdir(parents=True)
    (mgrag.folder / name).write_text("# A heading\n\nThe glockenspiel stands here.")
    assert mgrag("ingest", name).code == 0
    assert any(name in line for line in mgrag("list").out.splitlines())
    assert name in mgrag("search", "glockenspiel", "-k", "1").out.splitlines()[0]
    assert f"  path       {name}" in mgrag("show", name).out.splitlines()


def test_show(mgrag: Command, graph: Path) -> None:
    plain = mgrag("show", "corpus/talk.pptx").out
    assert "slide 3" in plain
    assert "characters 0-" in plain
    assert "Margaret Harrow" not in plain
    assert "Margaret Harrow" in mgrag("show", "corpus/talk.pptx", "--chunks").out
    document = mgrag("show", "corpus/operations.md", "--json").json
    assert document["sources"][0]["name"] == "corpus"
    assert any(link["target"] == "corpus/survey.pdf" for link in document["references"])
    assert len(document["chunks"]) == document["chunks"][0]["chunk_count"]
    assert "content" not in document["chunks"][0]
    full = mgrag("show", document["id"], "--chunks", "--json").json
    for chunk in full["chunks"]:
        assert full["content"][chunk["start_char"] : chunk["end_char"]] == chunk["content"]
    missing = mgrag("show", "corpus/operation.md")
    assert missing.code == 4
    assert "corpus/operations.md" in missing.err, "what was perhaps meant"
    for folder in ("corpus", "corpus/"):
        missing = mgrag("show", folder)
        assert missing.code == 4 and "mgrag delete --prefix corpus/\n" in missing.err


def test_show_prints_metadata_as_filters_take_it(mgrag: Command) -> None:
    (mgrag.folder / "a.md").write_text("---\ntags: [tide, mill]\ndraft: true\nauthor: Ann\n---\nThe mill.\n")
    mgrag("ingest", "a.md")
    shown = mgrag("show", "a.md").out
    assert '  metadata.tags ["tide", "mill"]\n' in shown
    assert "  metadata.draft true\n" in shown
    assert "  metadata.author Ann\n" in shown
    assert mgrag("search", "mill", "--filter", "metadata.draft=true", "--json").json


def test_metadata_that_no_document_has_is_told_where_nothing_is_found(mgrag: Command) -> None:
    (mgrag.folder / "a.md").write_text("---\nauthor: Ann\nsite: {town: Hull}\n---\nThe mill.\n")
    mgrag("ingest", "a.md")
    told = "mgrag: No document has metadata.autor; there is metadata.author.\n"
    for command in (("search", "mill"), ("search", "mill", "--json"), ("ask", "What is the mill?")):
        assert mgrag(*command, "--filter", "metadata.autor=Ann").err.endswith(told)
    assert mgrag("delete", "--filter", "metadata.autor=Ann", "--yes").err.startswith(told)
    assert "metadata.site.town" in mgrag("search", "mill", "--filter", "metadata.town=Hull").err
    for known in ("metadata.author=Bob", "metadata.site.town=Hull", "metadata.autor!=Ann", "path:nowhere"):
        assert "No document has" not in mgrag("search", "mill", "--filter", known).err


def test_show_by_what_a_document_is_called(mgrag: Command) -> None:
    for path, title in (("a/One.md", "The Tide Mill"), ("a/same.md", "Twins"), ("b/same.md", "Twins"), ("b/x.md", "x")):
        file = mgrag.folder / "in" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"# {title}\n\nIt turns in {path}.\n")
    assert mgrag("ingest", "in").code == 0
    for name in ("One.md", "one.MD", "a/one.md", "The Tide Mill", "the tide MILL", " The Tide Mill "):
        assert mgrag("show", name, "--json").json["path"] == "in/a/One.md", name
    assert mgrag("show", "A/same.md", "--json").json["path"] == "in/a/same.md"
    for name in ("same.md", "twins"):
        several = mgrag("show", name)
        assert several.code == 4
        assert "in/a/same.md, in/b/same.md" in several.err
        assert several.out == ""
    for name in ("me.md", "Tide Mill", "/", " "):
        assert mgrag("show", name).code == 4, name


def test_delete_guesses_nothing(mgrag: Command) -> None:
    (mgrag.folder / "in").mkdir()
    (mgrag.folder / "in" / "one.md").write_text("# The Tide Mill\n\nIt turns.\n")
    assert mgrag("ingest", "in").code == 0
    for name in ("one.md", "The Tide Mill", "IN/one.md"):
        assert mgrag("delete", name).code == 4, name
    assert mgrag("delete", "in/one.md").code == 0


def test_delete_of_a_path_or_source_of_which_there_are_several(mgrag: Command) -> None:
    db = f"--db={mgrag.folder / 'graph.grafeo'}"
    for place in ("first", "second"):
        (mgrag.folder / place / "in").mkdir(parents=True)
        for name in ("one.md", f"{place}.md"):
            (mgrag.folder / place / "in" / name).write_text("It turns.\n")
        assert Command(mgrag.folder / place)("ingest", "in", db).code == 0
    done = mgrag("delete", "in/one.md", "in/first.md", db, "--json")
    assert (done.code, done.json) == (4, {"deleted": ["in/first.md"], "missing": ["in/one.md"]})
    assert "Several documents" in done.err and "/second/in/one.md" in done.err

    both = mgrag("delete", "--source", "in", db, "--yes")  # of both folders, before
    assert both.code == 2 and "Several sources are called 'in'" in both.err and "/first/in" in both.err
    first = (mgrag.folder / "first" / "in").as_uri()
    assert mgrag("delete", "--source", first, db, "--yes", "--json").json["deleted"] == ["in/one.md"]
    assert mgrag("delete", "--source", "in", db, "--yes", "--json").json["deleted"] == ["in/one.md", "in/second.md"]


def test_delete(mgrag: Command, graph: Path) -> None:
    done = mgrag("delete", "corpus/diary.txt", "nothing", "corpus/talk.pptx", "--json")
    assert done.code == 4
    assert done.json == {"deleted": ["corpus/diary.txt", "corpus/talk.pptx"], "missing": ["nothing"]}
    assert "nothing" in done.err
    asked = mgrag("delete", "--prefix", "corpus/s")
    assert asked.code == 2, "nobody can answer"
    assert "--yes" in asked.err
    assert len(mgrag("list", "--json").json) == 8
    looked = mgrag("delete", "--prefix", "corpus/s", "--dry-run")
    assert (looked.out, looked.code) == ("corpus/survey.pdf\n", 0) and "1 document would be deleted" in looked.err
    matching = mgrag("delete", "--filter", "mime:application/pdf", "--dry-run", "--json").json
    assert matching == {"matching": ["corpus/survey.pdf"]}
    assert mgrag("delete", "--filter", "mime:none/such", "--yes").code == 4
    assert len(mgrag("list", "--json").json) == 8
    assert mgrag("delete", "--prefix", "corpus/s", "--yes", "--json").json["deleted"] == ["corpus/survey.pdf"]
    assert mgrag("delete", "--source", "elsewhere", "--yes").code == 4
    assert mgrag("delete", "--filter", "title:tide", "--yes", "--json").json["deleted"]
    left = len(mgrag("list", "--json").json)
    assert mgrag("delete", "--source", "corpus", "--yes").out == f"Deleted: {left} documents.\n"
    assert mgrag("list", "--json").json == []
    assert {*mgrag("status", "--json").json["nodes"]} == {"VectorStore"}


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("--prefix", ""),
        ("a", "--prefix", "b"),
        ("--prefix", "a", "--source", "b"),
        ("--prefix", "a", "--filter", "path:b"),
        ("--filter", " "),
        ("--filter", "colour:red"),
        ("a", "--dry-run"),
    ],
)
def test_delete_wants_to_know_what(arguments: tuple[str, ...], mgrag: Command, graph: Path) -> None:
    assert mgrag("delete", *arguments, "--yes").code == 2
    assert len(mgrag("list", "--json").json) == 10


def test_status(mgrag: Command, graph: Path) -> None:
    found = mgrag("status", "--json").json
    assert found["nodes"]["Document"] == 10
    assert found["nodes"]["DocumentChunk"] == found["nodes"]["Vector"] == found["edges"]["CHUNK_OF"]
    assert found["location"] == str(graph)
    assert found["bytes"] >= 100_000
    assert found["engine"]["engine"] == "grafeo"
    assert found["embedding_model"] == {"model": "wordllama-256", "dimension": 256}
    assert found["vector_stores"][0]["vectors"] == found["nodes"]["Vector"]
    shown = mgrag("status").out
    assert "Document 10" in shown
    assert str(graph) in shown
    assert "wordllama-256 (256 dimensions" in shown


def test_commands_that_need_no_model_work_without_one(
    mgrag: Command, graph: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MGRAG_EMBEDDING_MODEL", "text-embedding-3-small")
    assert mgrag("search", "mill").code == 2
    for arguments in (("list",), ("show", "corpus/diary.txt"), ("status",), ("export", "e.jsonl"), ("namespaces",)):
        assert mgrag(*arguments).code == 0
    checks = mgrag("doctor", "--json").json["checks"]
    assert any("OPENAI_API_KEY" in check["message"] for check in checks if check["level"] == "problem")


def test_doctor(mgrag: Command, graph: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done = mgrag("doctor")
    assert done.code == 0
    assert done.out.endswith("Healthy.\n")
    assert not any(line.startswith("problem") for line in done.out.splitlines())
    report = mgrag("doctor", "--json").json
    assert report["healthy"]
    assert {"python", "packages", "settings", "embedding model", "disk space", "database"} <= {
        check["name"] for check in report["checks"]
    }
    monkeypatch.setenv("MGRAG_CHUNK_SISE", "300")
    monkeypatch.setenv("MGRAG_EMBEDDING_MODEL", "wordllama:64")
    sick = mgrag("doctor")
    assert sick.code == 1
    assert "MGRAG_CHUNK_SISE" in sick.out
    assert "Set MGRAG_EMBEDDING_MODEL=wordllama-256" in sick.out
    assert sick.out.endswith("2 problems.\n")


def test_a_graph_that_is_open_elsewhere(mgrag: Command, graph: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MGRAG_LOCK_TIMEOUT", "0.1")
    handles = [open_engine(graph)]
    try:
        for arguments in (("list",), ("search", "mill"), ("ingest", "corpus"), ("restore", "b.bak", "--force")):
            Path("b.bak").write_bytes(graph.read_bytes())
            done = mgrag(*arguments)
            assert done.code == 3, done.err
            assert "in use by another process" in done.err
        sick = mgrag("doctor", "--json")
        assert sick.code == 1
        assert any("in use by another process" in check["message"] for check in sick.json["checks"])
    finally:
        close_engine(handles)
    assert mgrag("list").code == 0


def test_backup_and_restore(mgrag: Command, graph: Path) -> None:
    before = digest_of_file(graph)
    written = mgrag("backup", "copy.bak", "--json")
    assert written.code == 0
    assert written.json["kind"] == "graph"
    assert written.json["checksum"] == before.checksum == digest_of_file(Path("copy.bak")).checksum
    assert written.json["nodes"]["Document"] == 10
    assert mgrag("backup", "copy.bak").code == 1, "it exists"
    assert mgrag("delete", "--source", "corpus", "--yes").code == 0
    after = digest_of_file(graph)
    refused = mgrag("restore", "copy.bak")
    assert refused.code == 1
    assert "--force" in refused.err
    assert digest_of_file(graph) == after
    part = mgrag("--namespace", "tenant", "restore", "copy.bak", "--force")
    assert part.code == 2
    assert "replaces the graph with all its namespaces" in part.err
    assert digest_of_file(graph) == after
    restored = mgrag("restore", "copy.bak", "--force", "--json").json
    assert digest_of_file(graph) == before
    assert digest_of_file(Path(restored["set_aside"])) == after
    assert mgrag("search", "mill", "--db", "copy.bak", "--json").json, "a backup opens like any graph"
    assert sorted(path.name for path in graph.parent.iterdir()) == sorted(
        ["graph.grafeo", Path(restored["set_aside"]).name]
    )


def test_export_and_import(mgrag: Command, graph: Path) -> None:
    mgrag("ingest", "corpus/diary.txt", "--namespace", "tenant")
    one = mgrag("export", "one.jsonl", "--json").json
    assert {*one["namespaces"]} == {"default"}
    assert one["namespaces"]["default"]["nodes"]["Document"] == 10
    assert len(Path("one.jsonl").read_text().splitlines()) == 2 + sum(
        sum(part.values()) for part in one["namespaces"]["default"].values()
    )
    everything = mgrag("export", "all.jsonl.gz", "--all-namespaces", "--json").json
    assert {*everything["namespaces"]} == {"default", "tenant"}
    refused = mgrag("import", "all.jsonl.gz", "--db", "other.grafeo")
    assert refused.code == 2
    assert "import it with --all-namespaces." in refused.err
    refused = mgrag("import", "one.jsonl", "--namespace", "tenant", "--db", "other.grafeo")
    assert refused.code == 2
    assert "import it with --namespace 'default' or --all-namespaces." in refused.err
    misspelt = mgrag("export", "none.jsonl", "--namespace", "tennant")
    assert (misspelt.code, misspelt.err) == (
        4,
        "mgrag: There is no namespace 'tennant' (there: 'default', 'tenant').\n",
    )
    assert not Path("none.jsonl").exists()
    read = mgrag("import", "all.jsonl.gz", "--all-namespaces", "--db", "other.grafeo", "--json").json
    assert read["namespaces"] == everything["namespaces"]
    assert digest_of_file(Path("other.grafeo")) == digest_of_file(graph)
    again = mgrag("import", "all.jsonl.gz", "--all-namespaces", "--db", "other.grafeo")
    assert again.code == 0
    assert digest_of_file(Path("other.grafeo")) == digest_of_file(graph)
    first = mgrag("search", "burr stones", "--json").json
    assert mgrag("search", "burr stones", "--db", "other.grafeo", "--json").json == first


def test_namespaces(mgrag: Command, graph: Path) -> None:
    mgrag("ingest", "corpus/diary.txt", "--namespace", "tenant")
    rows = mgrag("namespaces", "--json").json
    assert [(row["namespace"], row["documents"]) for row in rows] == [("default", 10), ("tenant", 1)]
    assert mgrag("namespaces").out.splitlines()[-1].split() == ["1", "1", "11", "tenant"]
    assert mgrag("namespaces", "delete", "nobody", "--yes").code == 4
    asked = mgrag("namespaces", "delete", "tenant")
    assert asked.code == 2
    assert "--yes" in asked.err
    assert mgrag("namespaces", "delete", "tenant", "--yes", "--json").json == {"namespace": "tenant", "nodes": 11}
    assert [row["namespace"] for row in mgrag("namespaces", "--json").json] == ["default"]


def test_reembed(mgrag: Command, graph: Path, ingested: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = ("--model", "wordllama:64")
    assert mgrag("search", "mill", *other).code == 2
    done = mgrag("reembed", *other, "--drop-old", "--json").json
    assert (done["model"], done["dimension"], done["dropped"]) == ("wordllama-64", 64, ["wordllama-256"])
    assert done["chunks"] == done["vectors"] == 33
    assert mgrag("search", "mill").code == 2
    assert len(mgrag("search", "mill", *other, "--json").json) == 5
    monkeypatch.setenv("MGRAG_EMBEDDING_MODEL", "wordllama:64")
    assert mgrag("doctor").code == 0
    again = Command(ingested)("ingest", "corpus", "--db", str(graph))
    assert again.out.startswith("Nothing changed"), "it is as if it had been ingested so"
    assert json.loads(mgrag("reembed", "--json").out)["chunks"] == 0
    assert mgrag("reembed", "--model", "wordllama:128").out == (
        "Model: wordllama-128 (128 dimensions). Embedded: 33 chunks and 0 messages (33 new vectors).\n"
    )
    assert mgrag("reembed", "--model", "wordllama:256", "--drop-old").out == (
        "Model: wordllama-256 (256 dimensions). Embedded: 33 chunks and 0 messages (33 new vectors).\n"
        "Removed: vectors of wordllama-64, wordllama-128.\n"
    )


def test_what_a_terminal_would_obey_is_not_printed(mgrag: Command, graph: Path) -> None:
    Path("evil\x1b[31m.md").write_text("# A\u202etitle\x07\n\nThe xylophone \u009b2J stands\rhere \u2066x\n")
    assert mgrag("ingest", "evil\x1b[31m.md").code == 0
    for arguments in (
        ("search", "xylophone"),
        ("list",),
        ("show", "evil\x1b[31m.md", "--chunks"),
        ("delete", "\x1b[0m"),
    ):
        done = mgrag(*arguments)
        assert not {*done.out, *done.err} & {"\x1b", "\x07", "\u009b", "\u202e", "\u2066", "\r"}


def test_a_path_that_is_not_there_makes_no_graph(bare: Path, mgrag: Command) -> None:
    for sources in (["nowhere"], ["nowhere", "nor/here.md"]):
        done = mgrag("ingest", *sources)
        assert (done.code, done.out) == (1, "")
        assert "nowhere: there is no such file or folder" in done.err
    assert not (bare / ".mgrag").exists()


def test_what_is_no_source_makes_no_graph(bare: Path, mgrag: Command) -> None:
    for source in ("", "http://", "http://[", "http://127.0.0.1:99999/"):
        done = mgrag("ingest", source)
        assert (done.code, done.out) == (2, "")
    assert "the path is empty: give that of a file or folder" in mgrag("ingest", "").err
    assert not (bare / ".mgrag").exists()
