"""An import writes to its own namespace only, whatever its file says, and refuses other files before it writes."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from core.rag import KnowledgeBase
from core.rag.errors import BackupError, InvalidInputError
from libs.dataloader import Document
from tests.graphs import snapshot
from tests.maintenance.conftest import documents, opened

type _Change = Callable[[dict[str, Any]], None]


def rewritten(source: Path, target: Path, change: _Change) -> Path:
    """Change every line of an export by hand, leaving out its checksum."""
    with source.open(encoding="utf-8") as old, target.open("w", encoding="utf-8") as new:
        for line in old:
            entry = json.loads(line)
            entry.pop("sha256", None)
            change(entry)
            new.write(json.dumps(entry) + "\n")
    return target


async def check_refused(
    tenants: tuple[KnowledgeBase, KnowledgeBase], folder: Path, change: _Change, reason: str
) -> None:
    """Check that one tenant's graph takes no changed export of the other one, and that both stay as they are."""
    mine, other = tenants
    await other.export(folder / "other.jsonl")
    changed = rewritten(folder / "other.jsonl", folder / "changed.jsonl", change)
    before = await snapshot(mine.client), await snapshot(other.client)
    for into in (mine.import_, mine.client.import_graph):
        with pytest.raises(BackupError, match=reason):
            await into(changed)
    assert (await snapshot(mine.client), await snapshot(other.client)) == before


@pytest.fixture
async def tenants(file: Path) -> AsyncIterator[tuple[KnowledgeBase, KnowledgeBase]]:
    """Two tenants of one graph."""
    async with opened(file) as kb:
        mine, other = kb.in_namespace("mine"), kb.in_namespace("other")
        await other.ingest(documents())
        await other.add_triples([("Anna Berg", "met", "Karl Stein")])
        await other.merge_entities("Anna Berg", "Karl Stein")
        await mine.ingest(documents()[:2])
        yield mine, other


async def test_a_file_with_nodes_of_another_namespace_is_refused(
    tenants: tuple[KnowledgeBase, KnowledgeBase], tmp_path: Path
) -> None:
    def header_only(entry: dict[str, Any]) -> None:
        if "format" in entry:
            entry["namespace"] = "mine"

    await check_refused(
        tenants, tmp_path, header_only, "line 2 is a node of the namespace 'other', in an export of 'mine'"
    )


async def test_a_file_that_would_overwrite_another_namespace_is_refused_before_anything_is_written(
    tenants: tuple[KnowledgeBase, KnowledgeBase], tmp_path: Path
) -> None:
    """All nodes up to the one that was taken were written."""

    def everywhere(entry: dict[str, Any]) -> None:
        if "format" in entry:
            entry["namespace"] = "mine"
        elif "node" in entry:
            entry["props"]["namespace"] = "mine"
            entry["id"] = f"mine {entry['id']}" if entry["node"] in {"Source", "Document"} else entry["id"]
            entry["props"]["id"] = entry["id"]
        elif "edge" in entry:
            for end in ("from", "to"):
                if entry[end][0] in {"Source", "Document"}:
                    entry[end][1] = f"mine {entry[end][1]}"

    await check_refused(tenants, tmp_path, everywhere, "is in the graph already, in the namespace 'other'")


async def test_a_distinction_in_a_file_parts_no_entities_of_another_namespace(
    tenants: tuple[KnowledgeBase, KnowledgeBase], tmp_path: Path
) -> None:
    mine, other = tenants
    before = await snapshot(other.client)
    rows = await other.client.read("MATCH (a:Entity)-[:SAME_AS]->(b:Entity) RETURN a.id AS a, b.id AS b")
    assert rows
    distinctions = [
        {
            "node": "Distinction",
            "id": f"d{number}",
            "props": {"id": f"d{number}", "entity": row["a"], "other": row["b"]},
        }
        for number, row in enumerate(rows)
    ]
    made = tmp_path / "made.jsonl"
    header = {"format": "memgraph-rag export", "version": 1, "namespace": "mine"}
    end = {"end": {"nodes": {"Distinction": len(rows)}, "edges": {}}}
    made.write_text("".join(json.dumps(line) + "\n" for line in [header, *distinctions, end]))
    await mine.import_(made)
    assert await snapshot(other.client) == before


async def test_a_message_retrieved_nothing_of_another_namespace(tenants: tuple[KnowledgeBase, KnowledgeBase]) -> None:
    mine, other = tenants
    chunks = "MATCH (c:DocumentChunk) WHERE c.namespace = $namespace RETURN c.id AS id"
    theirs, own = (await other.client.read(chunks))[0], (await mine.client.read(chunks))[0]
    talk = await mine.client.create_conversation()
    await mine.client.add_message(talk, "the mill", "user", retrieved=[theirs["id"], own["id"]])
    found = await mine.client.read("MATCH (:Interaction)-[:RETRIEVED]->(c:DocumentChunk) RETURN c.id AS id")
    assert found == [own]


@pytest.mark.parametrize(
    ("label", "changes", "error", "message"),
    [
        ("Vector", {"embedding": [float("nan"), 1.0]}, BackupError, "not a list of finite numbers"),
        ("Vector", {"embedding": [10**400]}, BackupError, "neither a node nor an edge"),
        ("Document", {"title": "\ud83d"}, InvalidInputError, "half a character"),
    ],
)
async def test_what_no_graph_holds_is_refused_for_what_it_is(
    tmp_path: Path, label: str, changes: dict[str, Any], error: type[Exception], message: str
) -> None:
    """In a file that was changed by hand: it was told that it had no file name."""
    async with opened(tmp_path / "one.grafeo") as kb:
        await kb.ingest([Document(path="note", content="It stands by the mill.")])
        await kb.export(tmp_path / "all.jsonl")

    def change(entry: dict[str, Any]) -> None:
        if entry.get("node") == label:
            entry["props"] |= changes

    changed = rewritten(tmp_path / "all.jsonl", tmp_path / "changed.jsonl", change)
    async with opened(tmp_path / "two.grafeo") as kb:
        with pytest.raises(error, match=message):
            await kb.import_(changed)
