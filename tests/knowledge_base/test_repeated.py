"""Whatever is written may be repeated: a unit of work that is done twice leaves the same graph as when done once."""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from core.rag import KnowledgeBase
from core.rag.dbhandler.embedded import store as embedded
from core.rag.dbhandler.embedded.store import EmbeddedStore
from core.rag.dbhandler.store import Transaction
from core.rag.errors import StoreConflictError
from core.rag.graph.knowledge_graph import KnowledgeGraph
from core.rag.graph.nodes import UndirectedNode
from libs.dataloader import Document, DocumentChunk, Link, SourceInfo
from tests.embedders import HashEmbedder
from tests.extraction.models import SayingModel
from tests.graphs import snapshot

CORPUS = Path(__file__).parents[2] / "examples" / "corpus"
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z")
RANDOM = re.compile(r"[0-9a-f]{8}-?[0-9a-f]{4}-?4[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}")


async def write_everything(kb: KnowledgeBase, folder: Path) -> list[list[str]]:
    """Every way to write; the graph after every fourth step, and at the end."""
    client = kb.client
    graph = KnowledgeGraph(client)
    texts = [DocumentChunk(path="by/hand", content=text) for text in ("The mill.", "The pond.", "The mill.")]
    ann, bob = UndirectedNode(content="Ann", label="person"), UndirectedNode(content="Bob", label="person")

    owns = {"subject": "Ann Lee", "relation": "owns", "object": "Tide Mill"}

    async def chunk_of(path: str) -> str:
        return str((await client.get_document_chunks(path))[0]["chunk_id"])

    steps: list[Callable[[], Awaitable[Any]]] = [
        *(lambda name=name: kb.ingest(CORPUS / name) for name in ("people.json", "milling_hours.py")),
        lambda: kb.ingest([Document(path="n/1", title="Tide Mill", content="Ann Lee built the Tide Mill.")]),
        lambda: kb.ingest([Document(path="n/1", title="Old Mill", content="Bob Ray built the Tide Mill. " * 90)]),
        lambda: kb.ingest([Document(path="n/2", content="See it.", links=(Link("n/1", "it"), Link("https://e.org/")))]),
        lambda: client.create_document("by/hand", "The mill. The pond.", source=SourceInfo("s", "manual", "x:/s")),
        lambda: client.process_chunks(texts),
        lambda: client.create_document_chunk("by/hand", "The lake.", heading="Water"),
        lambda: client.create_document_chunk("by/hand", "The lake."),
        lambda: client.upsert_document("by/hand", "The mill. The pond.", title="Waters"),
        lambda: kb.insert("mills", {"id": "m1", "name": "Tide Mill", "owner": "Ann Lee"}),
        lambda: kb.insert("mills", {"id": "m1", "name": "Tide Mill", "owner": "Bob Ray"}),
        lambda: kb.insert_many("mills", [{"id": f"m{n}", "name": "A Mill", "owner": "Ann Lee"} for n in (2, 3)]),
        lambda: _delete_first_record(kb),
        lambda: kb.add_triples([{**owns, "fact": "She does."}]),
        lambda: kb.add_triples([{**owns, "fact": "She did."}]),
        lambda: kb.extract_facts(SayingModel(_said)),
        lambda: kb.link("Ann Lee", "Bob Ray", "knows"),
        lambda: kb.unlink("Ann Lee", "Bob Ray", "knows"),
        lambda: kb.merge_entities("Bob Ray", "Ann Lee"),
        lambda: kb.split_entity("Ann Lee", "Bob Ray"),
        lambda: kb.resolve_entities(),
        lambda: kb.remove_entity("Ann Lee"),
        lambda: client.create_resource("https://e.org/x", "web", "A page"),
        lambda: client.link_document_to_resource("n/1", "https://e.org/x"),
        lambda: client.create_url_link("n/1", "https://e.org/y"),
        lambda: client.create_document_reference("n/1", "n/2"),
        lambda: client.create_symbol("n/1", "mill.turn"),
        lambda: client.create_tool("search", "Finds."),
        lambda: client.link_related_concepts("milling", "tide", 0.5),
        lambda: client.link_document_to_topic("n/1", "water"),
        lambda: client.link_document_explains_concept("n/1", "milling"),
        lambda: graph.add_nodes([ann], [bob]),
        lambda: graph.embed_pending(),
        lambda: graph.remove_edge(ann, bob),
        lambda: graph.remove_node(bob),
        lambda: client.create_or_get_user("ann", "Ann"),
        lambda: client.track_user_viewed_document("ann", "n/1"),
        lambda: client.track_user_viewed_document("ann", "n/1"),
        lambda: kb.feedback("n/1", 0.5, "mills", "ann"),
        lambda: client.create_conversation("Mills", "ann", "c1"),
        lambda: client.rename_conversation("c1", "More mills"),
        lambda: client.add_message("c1", "What about Ann Lee?", "user", references=["n/1", "https://e.org/z"]),
        lambda: client.add_message("c1", "What about mills?", "user", message_id="m-2"),
        lambda: _retrieved(kb, chunk_of),
        lambda: kb.remember("s1", "user", "The mill turns.", tags=["a"], user_id="ann"),
        lambda: kb.remember("s1", "user", "The mill turns.", tags=["b"], user_id="ann"),
        lambda: _remember_more(kb),
        lambda: kb.recall("s1", "mill"),
        lambda: kb.compact("s1", keep=2),
        lambda: kb.compact("s1", keep=1),
        lambda: _forget_first(kb),
        lambda: kb.anonymize(user_id="ann"),
        lambda: kb.export(folder / "export.jsonl"),
        lambda: kb.reembed(),
        lambda: kb.delete("n/2"),
        lambda: kb.forget(session_id="s2"),
        lambda: kb.forget(memory_id="m-3"),
        lambda: client.delete_conversation("c2"),
        lambda: client.delete_everything(),
        lambda: kb.import_(folder / "export.jsonl"),
        lambda: graph.clear(),
    ]
    found: list[list[str]] = []
    for number, step in enumerate(steps, 1):
        await step()
        if number % 4 == 0 or number == len(steps):
            found.append(await comparable(kb))
    return found


def _said(message: str) -> dict[str, Any]:
    """What a language model says of a chunk."""
    if "built" not in message:
        return {}
    people = [{"name": "Bob Ray", "type": "person"}, {"name": "Tide Mill", "type": "building"}]
    return {
        "entities": people,
        "facts": [{"subject": "Bob Ray", "relation": "built", "object": "Tide Mill", "sentence": "He built it."}],
    }


async def _delete_first_record(kb: KnowledgeBase) -> None:
    await kb.delete_record((await kb.records("mills"))[0]["id"])


async def _retrieved(kb: KnowledgeBase, chunk_of: Callable[[str], Awaitable[str]]) -> None:
    message = (await kb.client.get_conversation_messages("c1"))[-1]["id"]
    await kb.client.record_retrieved(message, [{"chunk_id": await chunk_of("n/1"), "score": 0.5}])


async def _remember_more(kb: KnowledgeBase) -> None:
    for number in range(5):
        await kb.remember("s1", "user", f"Ann Lee said so {number} times.", user_id="ann")
        await kb.remember("s2", "user", f"The pond is {number} feet deep.")
    await kb.client.create_conversation(conversation_id="c2")
    await kb.client.add_message("c2", "One.", "user", message_id="m-3")
    await kb.client.add_message("c2", "Two.", "user", message_id="m-4")


async def _forget_first(kb: KnowledgeBase) -> None:
    await kb.forget(memory_id=(await kb.memories("s1", compacted=True))[0].id)


async def comparable(kb: KnowledgeBase) -> list[str]:
    """The graph, without what is never twice the same: times, and ids that are drawn by lot."""
    lines = await snapshot(kb.client)
    names: dict[str, str] = {}
    derived: dict[str, str] = {}  # ids that follow from such ids
    for line in lines:
        entry = json.loads(line)
        if RANDOM.fullmatch(entry.get("id", "")):
            props = entry["props"]
            names[entry["id"]] = f"{props.get('title', '')} {props.get('content', '')} {props.get('sequence', '')}"
        elif entry.get("of") == "Interaction":
            derived[entry["id"]] = f"vector of {entry['props']['chunk_id']}"
        elif RANDOM.search(entry.get("props", {}).get("external_id", "")):
            derived[entry["id"]] = "nobody"
    text = re.compile("|".join(derived) or "(?!)").sub(lambda found: derived[found[0]], "\n".join(lines))
    text = RANDOM.sub(lambda found: names.get(found[0], "random"), TIME.sub("then", text))
    return sorted(text.split("\n"))


@pytest.mark.parametrize("committed", [False, True])
async def test_units_of_work_that_are_done_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, committed: bool
) -> None:
    """The first time nothing of it is committed, or, as when the connection is lost in just that moment, all of it."""
    once = KnowledgeBase.open("embedded::memory:", embedder=HashEmbedder(), chunk_size=60, chunk_overlap=0)
    (tmp_path / "a").mkdir()
    async with once as kb:
        wanted = await write_everything(kb, tmp_path / "a")
    transaction = EmbeddedStore.transaction
    repeated = 0

    async def twice[T](store: EmbeddedStore, work: Callable[[Transaction], Awaitable[T]]) -> T:
        nonlocal repeated
        repeated += 1
        if committed:
            await transaction(store, work)
            return await transaction(store, work)
        first = True

        async def unit(tx: Transaction) -> T:
            nonlocal first
            result = await work(tx)
            if first:
                first = False
                raise StoreConflictError("somebody else was faster")
            return result

        return await transaction(store, unit)

    monkeypatch.setattr(embedded, "_FIRST_RETRY_SECONDS", 0.0)
    monkeypatch.setattr(EmbeddedStore, "transaction", twice)
    again = KnowledgeBase.open("embedded::memory:", embedder=HashEmbedder(), chunk_size=60, chunk_overlap=0)
    (tmp_path / "b").mkdir()
    async with again as kb:
        found = await write_everything(kb, tmp_path / "b")
    assert repeated > len(found)
    for number, (one, two) in enumerate(zip(wanted, found, strict=True)):
        assert (number, sorted(set(one) - set(two)), sorted(set(two) - set(one))) == (number, [], [])
        assert one == two
