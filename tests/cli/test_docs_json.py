"""What a command prints with --json is in docs/cli.md."""

from __future__ import annotations

from pathlib import Path

from tests.cli.command import Command
from tests.cli.test_docs import section

CORPUS = Path(__file__).parents[2] / "examples" / "corpus"
STAFF = '[{"name": "Ada Lane", "team": "Mill", "_id": "1"}, {"name": "Bob Reed", "team": "Mill", "_id": "2"}]'
SAID = '[{"role": "user", "content": "The sluice was open."}, {"role": "user", "content": "It is shut now."}]'
#: Commands in the order in which they can be run, with what some of them read.
COMMANDS: list[tuple[list[str], str | None]] = [
    (["ingest", str(CORPUS)], None),
    (["search", "Who paid for the clay?"], None),
    (["ask", "Who paid for the clay?", "--conversation", "talk", "--user", "ann"], None),
    (["list"], None),
    (["show", "operations.md"], None),
    (["records"], None),
    (["records", "grants"], None),
    (["records", "grants", "--fields"], None),
    (["record", "insert", "staff", "-"], STAFF),
    (["status"], None),
    (["doctor"], None),
    (["memory", "remember", "tides", "The tide was late."], None),
    (["memory", "remember-all", "tides", "-"], SAID),
    (["memory", "list", "tides"], None),
    (["memory", "recall", "sluice"], None),
    (["memory", "compact", "tides", "--keep", "1"], None),
    (["memory", "forget", "--session", "tides", "--yes"], None),
    (["conversation", "list"], None),
    (["conversation", "show", "talk"], None),
    (["conversation", "rename", "talk", "Clay"], None),
    (["user", "list"], None),
    (["user", "export", "ann"], None),
    (["user", "anonymize", "ann", "--yes"], None),
    (["feedback", str(CORPUS / "operations.md"), "1"], None),
    (["graph", "stats"], None),
    (["graph", "entities"], None),
    (["graph", "neighbors", "Lighthouse Fund"], None),
    (["graph", "edges"], None),
    (["graph", "path", "Josiah Penrose", "Lighthouse Fund"], None),
    (["graph", "show", "Lighthouse Fund"], None),
    (["graph", "link", "Ada Lane", "Lighthouse Fund"], None),
    (["graph", "unlink", "Ada Lane", "Lighthouse Fund"], None),
    (["graph", "resolve"], None),
    (["export", "graph.jsonl"], None),
    (["import", "graph.jsonl"], None),
    (["backup", "graph.bak"], None),
    (["namespaces"], None),
    (["reembed"], None),
    (["delete", str(CORPUS / "diary.txt"), "nothing"], None),
    (["namespaces", "delete", "default", "--yes"], None),
]


#: Those of which the page tells the most important fields "and more".
MORE = {"ask", "list", "show"}
#: The command that one prints the same as.
SAME = {"import": "export", "user": "conversation"}


def test_all_that_is_printed_as_json_is_documented(mgrag: Command) -> None:
    for words, read in COMMANDS:
        done = mgrag(*words, "--json", stdin=read)
        assert done.code in {0, 4}, done.err
        told = section(f"mgrag {words[0]}") + section(f"mgrag {SAME.get(words[0], words[0])}")
        printed = done.json if isinstance(done.json, list) else [done.json]
        fields = {name for one in printed for name in one}
        assert fields
        assert words[0] in MORE or {name for name in fields if f"`{name}`" not in told} == set(), words
