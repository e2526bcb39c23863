"""The command line, HTTP, MCP and Python give the same for the same question, under the same names."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from core.rag import KnowledgeBase
from tests.cli.command import Command
from tests.doors.kit import ok, serving
from tests.doors.test_mcp import serving as agent_of

NOTES = {
    "heron.md": "# Project Heron\n\nProject Heron is led by Maria Lindqvist. Its budget is 42,000 EUR.\n",
    "lindqvist.md": "# Maria Lindqvist\n\nMaria Lindqvist works for the Kestrel Trust in Hull.\n",
    "people.csv": "name,team\nAlice Johnson,Backend\nBob Smith,Sales\n",
}
ASKED = "Who leads Project Heron?"
NODE = "Maria Lindqvist"
_ANY = {"lastAccessedAt"}  # each recall sets it

#: By what it is called here: a command, a request (a path to get, or with what to post) and a tool.
SAME: dict[str, tuple[Sequence[str], tuple[str, Mapping[str, Any] | None], tuple[str, Mapping[str, Any]]]] = {
    "search": (
        ("search", ASKED, "-k", "3"),
        ("chunks/search", {"query": ASKED, "k": 3}),
        ("search", {"query": ASKED, "k": 3}),
    ),
    "recall": (
        ("memory", "recall", "tide"),
        ("memory/recall", {"query": "tide"}),
        ("recall", {"query": "tide"}),
    ),
    "memories": (("memory", "list", "s"), ("memory/s", None), ("list_memories", {"session_id": "s"})),
    "entities": (
        ("graph", "entities", "maria"),
        ("graph/search?q=maria", None),
        ("find_entities", {"query": "maria"}),
    ),
    "neighbors": (
        ("graph", "neighbors", NODE, "-k", "3"),
        (f"graph/node/{NODE}?limit=3", None),
        ("neighbors", {"node": NODE, "limit": 3}),
    ),
    "collections": (("records",), ("collections", None), ("describe_records", {})),
    "fields": (
        ("records", "people", "--fields"),
        ("collections/people/fields", None),
        ("describe_records", {"collection": "people"}),
    ),
    "table": (
        ("records", "people", "--group-by", "team"),
        ("collections/people/table", {"group_by": ["team"]}),
        ("query_records", {"collection": "people", "group_by": ["team"]}),
    ),
    "status": (("status",), ("status", None), ("status", {})),
}
#: Where the command line prints a list, what others have that in.
LISTS = {"search": "hits", "collections": "collections", "fields": "fields"}
#: What differs: a graph grows when it is closed, and agents get the names of the ends of edges, and of memories only
#: what is known.
UNLIKE = {"status": {"bytes"}, "neighbors": {"edges"}}
FOR_AGENTS = {"memories"}


@pytest.fixture
def mgrag(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Command:
    """The command, with a graph of a few notes."""
    for name in ("MEMGRAPH_URI", "MGRAG_NAMESPACE", "MGRAG_EMBEDDING_MODEL"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "notes").mkdir()
    for name, text in NOTES.items():
        (tmp_path / "notes" / name).write_text(text)
    command = Command(tmp_path)
    for arguments in (("ingest", "notes"), ("memory", "remember", "s", "The tide was late.", "--tag", "tide")):
        assert command(*arguments, "--db", "graph.grafeo").code == 0
    return command


async def test_every_door_gives_the_same(mgrag: Command) -> None:
    uri = f"embedded:{mgrag.folder / 'graph.grafeo'}"
    printed, answered, told = {}, {}, {}
    for name, (arguments, _, _) in SAME.items():
        done = await asyncio.to_thread(mgrag, *arguments, "--json", "--db", "graph.grafeo")
        assert done.code == 0, done.err
        printed[name] = {LISTS[name]: done.json} if name in LISTS else done.json
    async with serving(knowledge=KnowledgeBase.open(uri)) as client:
        for name, (_, (path, body), _) in SAME.items():
            route = f"/db/default/{path}"
            answered[name] = await ok(await (client.get(route) if body is None else client.post(route, json=body)))
    async with agent_of(uri) as agent:
        for name, (_, _, (tool, given)) in SAME.items():
            told[name] = await agent(tool, **given)

    for name, one in printed.items():
        assert one, name
        for other in (answered[name], told[name]):
            assert one.keys() - other.keys() <= {"next"}, name  # pages of a search for names end with the first
            for key in (one.keys() & other.keys()) - UNLIKE.get(name, set()):
                if key in FOR_AGENTS and other is told[name]:
                    assert len(one[key]) == len(other[key])
                    for whole, part in zip(_plain(one[key]), _plain(other[key]), strict=True):
                        whole["because"] = whole["because"] and {"reason": whole["because"]["reason"]}
                        assert part.items() <= whole.items() and "content" in part, (name, key)
                    continue
                assert _plain(one[key]) == _plain(other[key]), (name, key)
    async with KnowledgeBase.open(uri) as kb:
        hits = [hit.to_dict() for hit in await kb.search(ASKED, 3)]
        assert _plain(json.loads(json.dumps(hits))) == _plain(printed["search"]["hits"])
        assert [node.to_dict() for node in await kb.search_nodes("maria")] == printed["entities"]["nodes"]


def _plain(value: Any) -> Any:
    """Without what differs from one time to the next."""
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items() if key not in _ANY}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return round(value, 6) if isinstance(value, float) else value
