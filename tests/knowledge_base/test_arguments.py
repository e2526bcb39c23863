"""Arguments of the wrong kind are refused, and it is said what they have to be."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from core.rag import KnowledgeBase, UndirectedNode
from core.rag.errors import InvalidInputError
from libs.dataloader import Document, DocumentChunk


async def near(kb: Any) -> object:
    node = UndirectedNode(content="mill", label="Place")
    await kb.knowledge_graph.add_node(node)
    return await kb.knowledge_graph.query_by_node(node, constraint_node=node, constraint_distance="2")


async def around(kb: Any) -> object:
    await kb.knowledge_graph.add_node(UndirectedNode(content="mill", label="Place"))
    return await kb.neighbors("mill", edge_types=3)


async def talking(kb: Any, call: Callable[[str], Awaitable[object]]) -> object:
    return await call(await kb.client.create_conversation())


CALLS: dict[str, tuple[Callable[[Any], Awaitable[object]], str]] = {
    "expand": (lambda kb: kb.search("mill", expand="1"), "expand is '1', but has to be a whole number from 0 to 20"),
    "documents": (lambda kb: kb.documents(limit="3"), "limit is '3', but has to be a whole number from 1 up"),
    "a part of one": (lambda kb: kb.documents(limit=1.5), "limit is 1.5, but has to be a whole number from 1 up"),
    "list_documents": (lambda kb: kb.client.list_documents(limit="2"), "limit is '2'"),
    "conversations": (lambda kb: kb.client.list_conversations(offset=True), "offset is True"),
    "token_budget": (lambda kb: kb.ask("mill?", token_budget=10), "token_budget is 10, .* from 200 up"),
    "a query": (lambda kb: kb.search(b"mill"), "A query is text, not bytes"),
    "semantic_search": (lambda kb: kb.knowledge_graph.semantic_search(None), "A query is text, not NoneType"),
    "a chunk": (lambda kb: kb.client.create_document_chunk("note", None), "content of a chunk is text, not NoneType"),
    "its place": (
        lambda kb: kb.client.create_document_chunk("note", "grain", start_char=-5),
        "start_char is -5, but has to be a whole number from 0 up",
    ),
    "places": (
        lambda kb: kb.client.process_chunks([DocumentChunk(path="note", content="grain", start_char=-5)]),
        "start_char is -5",
    ),
    "a position": (
        lambda kb: kb.client.create_document_chunk("note", "grain", chunk_index=-2),
        r"chunk_index .* is -2, but has to be a whole number from -1 up",
    ),
    "no content": (lambda kb: kb.client.create_document("d", None), "content of a document is text, not NoneType"),
    "no path": (lambda kb: kb.client.upsert_document(None, "x"), "path of a document is text, not NoneType"),
    "a title": (lambda kb: kb.client.create_document("d", "x", title=0), "title of a document is text, not int"),
    "a media type": (lambda kb: kb.client.upsert_document("d", "x", mime_type=3), "mime_type of a document is text"),
    "metadata": (
        lambda kb: kb.client.create_document("d", "x", metadata=["a"]),
        "The metadata of d is a mapping, not list",
    ),
    "metadata of a chunk": (
        lambda kb: kb.client.create_document_chunk("note", "grain", metadata=["a"]),
        "The metadata of a chunk is a mapping, not list",
    ),
    "a heading": (
        lambda kb: kb.client.create_document_chunk("note", "grain", heading=3),
        "The heading of a chunk is text, not int",
    ),
    "no chunks": (lambda kb: kb.client.process_chunks(None), "chunks is a sequence of DocumentChunk, not NoneType"),
    "other than chunks": (lambda kb: kb.client.process_chunks("note"), "a sequence of DocumentChunk; 'n' is none"),
    "delete_documents": (lambda kb: kb.client.delete_documents("note"), r"not one text: use \['note'\]"),
    "ids": (lambda kb: kb.client.delete_documents([3]), "Each of ids is text, not int"),
    "no ids": (lambda kb: kb.client.delete_documents(None), "ids is a sequence of texts, not NoneType"),
    "read": (lambda kb: kb.client.read(None), "A statement is text, not NoneType"),
    "query_by_content": (lambda kb: kb.knowledge_graph.query_by_content(None), "one text or several, not NoneType"),
    "a distance": (near, "constraint_distance is '2', but has to be from 0 to 64"),
    "message_id": (
        lambda kb: talking(kb, lambda talk: kb.client.add_message(talk, "Grain.", "user", message_id=3)),
        "The id of a message is text, not int",
    ),
    "recent_messages": (
        lambda kb: talking(kb, lambda talk: kb.client.recent_messages(talk, limit="3")),
        "limit is '3', but has to be a whole number from 0 up",
    ),
    "delete_messages": (
        lambda kb: talking(kb, lambda talk: kb.client.delete_messages(talk, "abc")),
        r"message_ids is a sequence of texts, not one text: use \['abc'\]",
    ),
    "show": (lambda kb: kb.show(None), "id of a document is text, not NoneType"),
    "delete": (lambda kb: kb.delete(Path("note")), "id of a document is text, not PosixPath"),
    "edge types": (around, "edge_types is a sequence of texts, not int"),
    "references": (
        lambda kb: talking(kb, lambda talk: kb.client.add_message(talk, "Grain.", "user", references=3)),
        "references is a sequence of texts, not int",
    ),
    "namespaces": (lambda kb: kb.export("x.jsonl", namespaces=3), "namespaces is a sequence of texts, not int"),
    "export": (lambda kb: kb.export("x.jsonl", namespaces="default"), r"use \['default'\]"),
}


@pytest.mark.parametrize("arguments", [{"model": 3}, {"namespace": 3}], ids=str)
def test_a_graph_is_opened_by_texts(arguments: dict[str, Any]) -> None:
    with pytest.raises(InvalidInputError, match="is text, not int"):
        KnowledgeBase.open("embedded::memory:", **arguments)


@pytest.mark.parametrize("name", CALLS)
async def test_arguments_of_the_wrong_kind(name: str) -> None:
    call, message = CALLS[name]
    async with KnowledgeBase.open("embedded::memory:") as kb:
        await kb.ingest(Document(path="note", content="The mill grinds grain with the ebb."))
        with pytest.raises(InvalidInputError, match=message):
            await call(kb)
        assert [row["path"] for row in await kb.documents()] == ["note"]
    assert not Path("x.jsonl").exists()
