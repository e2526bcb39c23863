"""Arguments of the wrong kind are refused, and it is said what they have to be."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from core.rag import KnowledgeBase
from core.rag.errors import InvalidInputError
from libs.dataloader import Document, DocumentChunk

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
    "show": (lambda kb: kb.show(None), "is named by text .*, not NoneType"),
    "delete": (lambda kb: kb.delete(Path("note")), "is named by text .*, not PosixPath"),
    "export": (lambda kb: kb.export("x.jsonl", namespaces="default"), r"use \['default'\]"),
}


@pytest.mark.parametrize("name", CALLS)
async def test_arguments_of_the_wrong_kind(name: str) -> None:
    call, message = CALLS[name]
    async with KnowledgeBase.open("embedded::memory:") as kb:
        await kb.ingest(Document(path="note", content="The mill grinds grain with the ebb."))
        with pytest.raises(InvalidInputError, match=message):
            await call(kb)
        assert [row["path"] for row in await kb.documents()] == ["note"]
    assert not Path("x.jsonl").exists()
