"""Arguments of the wrong kind are refused, and it is said what they have to be."""

# The calls here are wrong on purpose.
# mypy: disable-error-code="arg-type, call-overload, func-returns-value, list-item"

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import pytest_asyncio

from core.rag import (
    DRIFTRAG,
    BasicRAG,
    KnowledgeBase,
    KnowledgeRAGFlow,
    MemGraphClient,
    MGRagError,
    UndirectedNode,
    open_embedder,
    standardize_resource_uri,
)
from core.rag.errors import InvalidInputError
from core.rag.maintenance.restore import restore
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


async def returned(made: object) -> object:
    return made


async def rated(kb: Any, k: Any) -> object:
    await kb.feedback("note", 1)
    return await kb.search("mill", k=k)


class Silent:
    """A language model that is not asked."""

    async def complete(self) -> None:
        raise AssertionError


class Closed(Silent):
    """A language model that answers no questions."""

    async def close(self) -> None:
        return


class Whole(Silent):
    """A language model that does not say its answer in parts."""

    async def stream(self) -> str:
        return "Grain."

    async def close(self) -> None:
        return


CALLS: dict[str, tuple[Callable[[Any], Awaitable[object]], str]] = {
    "filters": (lambda kb: kb.search("mill", filters=0), "A filter must be a text or a dict, not int"),
    "expand": (lambda kb: kb.search("mill", expand="1"), "expand is '1', but has to be a whole number from 0 to 20"),
    "documents": (lambda kb: kb.documents(limit="3"), "limit is '3', but has to be a whole number from 1 up"),
    "a part of one": (lambda kb: kb.documents(limit=1.5), "limit is 1.5, but has to be a whole number from 1 up"),
    "list_documents": (lambda kb: kb.client.list_documents(limit="2"), "limit is '2'"),
    "conversations": (lambda kb: kb.client.list_conversations(offset=True), "offset is True"),
    "token_budget": (lambda kb: kb.ask("mill?", token_budget=10), "token_budget is 10, .* from 200 up"),
    "modes": (lambda kb: kb.search("mill", mode=["graph"]), r"There is no search mode .*graph.*; the modes are auto"),
    "a query": (lambda kb: kb.search(b"mill"), "A query must be text, not bytes"),
    "semantic_search": (lambda kb: kb.knowledge_graph.semantic_search(None), "A query must be text, not NoneType"),
    "a chunk": (
        lambda kb: kb.client.create_document_chunk("note", None),
        "content of a chunk must be text, not NoneType",
    ),
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
    "no content": (lambda kb: kb.client.create_document("d", None), "content of a document must be text, not NoneType"),
    "no path": (lambda kb: kb.client.upsert_document(None, "x"), "path of a document must be text, not NoneType"),
    "a title": (lambda kb: kb.client.create_document("d", "x", title=0), "title of a document must be text, not int"),
    "a media type": (
        lambda kb: kb.client.upsert_document("d", "x", mime_type=3),
        "mime_type of a document must be text",
    ),
    "metadata": (
        lambda kb: kb.client.create_document("d", "x", metadata=["a"]),
        "The metadata of d must be a mapping, not list",
    ),
    "metadata of a chunk": (
        lambda kb: kb.client.create_document_chunk("note", "grain", metadata=["a"]),
        "The metadata of a chunk must be a mapping, not list",
    ),
    "a heading": (
        lambda kb: kb.client.create_document_chunk("note", "grain", heading=3),
        "The heading of a chunk must be text, not int",
    ),
    "no chunks": (
        lambda kb: kb.client.process_chunks(None),
        "chunks must be a sequence of DocumentChunk, not NoneType",
    ),
    "a chunk without text": (
        lambda kb: kb.client.process_chunks([DocumentChunk(path="note", content=" \n")]),
        "The content of a chunk is empty",
    ),
    "other than chunks": (
        lambda kb: kb.client.process_chunks("note"),
        "a sequence of DocumentChunk, but 'n' is not one",
    ),
    "delete_documents": (lambda kb: kb.client.delete_documents("note"), r"not one text: use \['note'\]"),
    "ids": (lambda kb: kb.client.delete_documents([3]), "Each of ids must be text, not int"),
    "no ids": (lambda kb: kb.client.delete_documents(None), "ids must be a sequence of texts, not NoneType"),
    "read": (lambda kb: kb.client.read(None), "A statement must be text, not NoneType"),
    "query_by_content": (lambda kb: kb.knowledge_graph.query_by_content(None), "one text or several, not NoneType"),
    "a distance": (near, "constraint_distance is '2', but has to be from 0 to 64"),
    "message_id": (
        lambda kb: talking(kb, lambda talk: kb.client.add_message(talk, "Grain.", "user", message_id=3)),
        "The id of a message must be text, not int",
    ),
    "recent_messages": (
        lambda kb: talking(kb, lambda talk: kb.client.recent_messages(talk, limit="3")),
        "limit is '3', but has to be a whole number from 0 up",
    ),
    "remove_with_summaries": (
        lambda kb: talking(kb, lambda talk: kb.client.remove_with_summaries(talk, "abc")),
        r"ids must be a sequence of texts, not one text: use \['abc'\]",
    ),
    "a prefix": (lambda kb: kb.documents(prefix=3), "prefix must be text, not int"),
    "the prefix of a list": (lambda kb: kb.client.list_documents(prefix=3), "prefix must be text, not int"),
    "the page before": (lambda kb: kb.documents(after=["note"]), "after must be text, not list"),
    "a source": (lambda kb: kb.client.create_document("d", "x", source="s"), "source must be a SourceInfo .*, not str"),
    "who asks": (lambda kb: kb.search("mill", user_id=7), "user_id must be text, not int"),
    "who asks for an answer": (lambda kb: kb.ask("mill?", user_id=7), "user_id must be text, not int"),
    "who says it": (lambda kb: kb.remember("s", "user", "Grain.", user_id=0), "user_id must be text, not int"),
    "what a rating is for": (lambda kb: kb.feedback("note", 1, query=3), "query must be text, not int"),
    "a rating": (lambda kb: kb.feedback("note", "1" * 5000), r"from -1 to 1, not '1{99}\.$"),
    "compact": (lambda kb: kb.compact("s", sentences=-3), "sentences is -3, but has to be .* from 1 up"),
    "forget": (lambda kb: kb.forget(memory_id=["a"]), "memory_id must be text, not list"),
    "delete_record": (lambda kb: kb.delete_record(["a"]), "Each of ids must be text, not list"),
    "delete_records": (lambda kb: kb.client.delete_records("abc"), r"not one text: use \['abc'\]"),
    "records": (lambda kb: kb.records(3), "collection must be text, not int"),
    "records behind": (lambda kb: kb.records("c", after=3), "after must be text, not int"),
    "insert of several": (lambda kb: kb.insert("c", [{"a": 1}]), "a list. insert takes a single record, insert_many"),
    "insert_many of one": (lambda kb: kb.insert_many("c", {"name": "Ada"}), "not dict; insert takes a single one"),
    "insert_many": (lambda kb: kb.insert_many("c", None), "records must be a sequence of objects, not NoneType"),
    "what to export": (
        lambda kb: kb.export("nowhere.jsonl", namespaces=3),
        "namespaces must be a sequence of texts, not int",
    ),
    "the file of an export": (lambda kb: kb.export(3), "The name of a file must be text or a Path, not int"),
    "the file of an import": (
        lambda kb: kb.import_(b"x.jsonl"),
        "The name of a file must be text or a Path, not bytes",
    ),
    "the file of a backup": (lambda kb: kb.backup(None), "The name of a file must be text or a Path, not NoneType"),
    "the file of one namespace": (
        lambda kb: kb.client.export_graph(3),
        "The name of a file must be text or a Path, not int",
    ),
    "delete_namespace": (lambda kb: kb.delete_namespace(["a"]), "The name of a namespace must be text, not list"),
    "explain_missing": (lambda kb: kb.explain_missing(3), "A path must be text, not int"),
    "entities": (lambda kb: kb.entities(after=3), "after must be text, not int"),
    "traverse": (lambda kb: kb.traverse("note", after=3), "after must be text, not int"),
    "edge_types": (lambda kb: kb.neighbors("note", edge_types=3), "edge_types must be a sequence of texts, not int"),
    "an edge type": (lambda kb: kb.neighbors("note", edge_types=[["a"]]), "Each of edge_types must be text, not list"),
    "a topic": (lambda kb: kb.create_or_get_topic("t", 3), "description must be text, not int"),
    "a concept": (lambda kb: kb.create_or_get_concept("c", 3), "description must be text, not int"),
    "an end of a link": (lambda kb: kb.link_related_concepts({"a": 1}, "c"), "A concept must be text, not dict"),
    "a user": (lambda kb: kb.client.create_or_get_user("ada", 3), "name must be text, not int"),
    "a resource": (
        lambda kb: kb.client.create_resource("http://x", description=3),
        "description must be text, not int",
    ),
    "a symbol": (lambda kb: kb.client.create_symbol("note", 3), "name must be text, not int"),
    "a line": (lambda kb: kb.client.create_symbol("note", "f", line="3"), "line is '3', .* from 1 up"),
    "a reference": (lambda kb: kb.client.create_url_link("note", "http://x", 3), "text must be text, not int"),
    "no web address": (lambda kb: kb.client.create_url_link("note", "the web"), "'the web' is no web address"),
    "a tool": (lambda kb: kb.client.create_tool("t", 3), "description must be text, not int"),
    "the schema of a tool": (lambda kb: kb.client.create_tool("t", schema=3), "schema must be a mapping, not int"),
    "the text of a schema": (lambda kb: kb.client.create_tool("t", schema="{no"), "a JSON object, not '{no'"),
    "a list for a schema": (lambda kb: kb.client.create_tool("t", schema="[]"), r"a JSON object, not '\[\]'"),
    "a schema": (lambda kb: kb.client.create_tool("t", schema={"a": {1}}), "schema cannot be written as JSON"),
    "a model": (lambda kb: kb.client.ensure_vector_store("", 8), "The name of a model is empty"),
    "a dimension": (lambda kb: kb.client.ensure_vector_store("m", 1.5), "dimension of an embedding is 1.5, but has"),
    "a chunk's neighbours": (lambda kb: kb.client.neighbouring_chunks(["a"], 1), "chunk_id must be text, not list"),
    "what was retrieved": (
        lambda kb: talking(kb, lambda talk: kb.client.add_message(talk, "Grain.", "user", retrieved="abc")),
        "a sequence of hits or ids of chunks, not 'abc'",
    ),
    "what it refers to": (
        lambda kb: talking(kb, lambda talk: kb.client.add_message(talk, "Grain.", "user", references=3)),
        "references must be a sequence of texts, not int",
    ),
    "what was asked": (
        lambda kb: talking(kb, lambda talk: kb.client.conversation_aware_search_chunks([1.0], talk, query_text=3)),
        "query_text must be text, not int",
    ),
    "a threshold": (
        lambda kb: kb.knowledge_graph.semantic_search("mill", similarity_threshold="0.5"),
        "similarity_threshold is '0.5', but has to be a number",
    ),
    "labels": (
        lambda kb: kb.knowledge_graph.get_all_nodes(constraint_labels=[3]),
        "Each of constraint_labels must be text, not int",
    ),
    "a node": (lambda kb: kb.knowledge_graph.get_node(3), "The id of a node must be text, not int"),
    "a question": (lambda kb: BasicRAG(kb).query(None), "The question must be text, not NoneType"),
    "what is left open": (lambda kb: DRIFTRAG(kb).identify_knowledge_gaps([], None), "A query must be text"),
    "what is answered": (lambda kb: DRIFTRAG(kb).generate_response(None, []), "A query must be text"),
    "what is asked": (lambda kb: kb.ask(5), "A question must be text, not int"),
    "a blank question": (lambda kb: kb.ask(" "), "The question is empty"),
    "show": (lambda kb: kb.show(None), "id of a document must be text, not NoneType"),
    "delete": (lambda kb: kb.delete(Path("note")), "id of a document must be text, not PosixPath"),
    "export": (lambda kb: kb.export("x.jsonl", namespaces="default"), r"use \['default'\]"),
    "no sources": (lambda kb: kb.ingest({}), "A source cannot be of type dict: give paths"),
    "a vector store": (lambda kb: kb.client.count_vectors("default"), "store must be a VectorStoreInfo, not str"),
    "what is searched": (lambda kb: kb.client.match_terms({"mill": 1}, 5, "Chunk"), "label must be a Label, not str"),
    "what is indexed": (lambda kb: kb.client.text_label("Chunk"), "label must be a Label, not str"),
    "ids of edges": (
        lambda kb: kb.client.degrees({"Entity": 3}, ["RELATED"]),
        "ids must be a sequence of texts, not int",
    ),
    "the label of a node": (lambda kb: kb.client.degree(3, "x", ["RELATED"]), "'3' cannot be a label"),
    "the type of edges": (lambda kb: kb.client.degree("Entity", "x", 3), "edges must be a sequence of texts, not int"),
    "how many": (lambda kb: kb.client.symbols_called("f", "3"), "limit is '3', but has to be a whole number from 0"),
    "ids of a read": (lambda kb: kb.client.documents_by_id(3), "ids must be a sequence of texts, not int"),
    "ids of lines": (lambda kb: kb.client.document_states("ab", "", ""), r"use \['ab'\]"),
    "ids of a write": (lambda kb: kb.client.remove_from_source("note", "s"), r"use \['note'\]"),
    "an alias": (lambda kb: kb.client.merge_entity(3, "x"), "Each of the ids of entities must be text, not int"),
    "a name": (lambda kb: kb.client.make_entity(3), "The name of an entity must be text, not int"),
    "an index": (lambda kb: kb.client.find_vector_store(3), "index_name must be text, not int"),
    "a path": (lambda kb: kb.ingest("\ud800"), r"'\\ud800': a path cannot contain half characters"),
    "include": (lambda kb: kb.ingest(".", include=5), r"include takes patterns such as '\*.md', not int"),
    "exclude": (lambda kb: kb.ingest(".", exclude=[3]), r"exclude takes patterns such as '\*.md', not int"),
    "stop": (lambda kb: kb.ingest(Document(path="a", content="b"), stop=5), "stop must be an asyncio.Event, not int"),
    "progress": (
        lambda kb: kb.ingest(Document(path="a", content="b"), progress=5),
        "progress must be a function .*, not int",
    ),
    "progress of facts": (lambda kb: kb.extract_facts(Silent(), progress=5), "progress must be a function .*, not int"),
    "progress of vectors": (lambda kb: kb.reembed(progress=5), "progress must be a function .*, not int"),
    "unlink": (lambda kb: kb.unlink(3), "A link must be text, not int"),
    "extract_facts": (lambda kb: kb.extract_facts("gpt"), "A str is not a language model: .*open_language_model makes"),
    "who answers": (lambda kb: returned(BasicRAG(kb, "gpt")), "A str is not a language model"),
    "who answers, too": (lambda kb: returned(KnowledgeRAGFlow(kb, "gpt")), "A str is not a language model"),
    "who infers": (lambda kb: returned(DRIFTRAG(kb, language_model="gpt")), "A str is not a language model"),
    "the type of entities": (lambda kb: kb.entities(type=["company"]), "type must be text, not list"),
    "the type of nodes": (lambda kb: kb.search_nodes("mill", type=["company"]), "type must be text, not list"),
    "a relation": (lambda kb: kb.edges(relation=3), "relation must be text, not int"),
    "a source to match": (lambda kb: kb.matching(source=3), "source must be text, not int"),
    "who summarises": (
        lambda kb: kb.compact("s", summarizer=returned),
        r"A function is no summarizer: it needs an asynchronous method summarize\(texts\)",
    ),
    "a percentage": (
        lambda kb: kb.knowledge_graph.semantic_search("mill", similarity_threshold=70),
        "similarity_threshold is 70, but has to be a number from -1 to 1",
    ),
    "the label of a content": (
        lambda kb: kb.knowledge_graph.get_node_by_content("mill", ["concept"]),
        "label must be text, not list",
    ),
    "nodes of an intersection": (
        lambda kb: kb.knowledge_graph.get_nodes_intersection("mill"),
        "nodes must be a sequence of nodes, not str",
    ),
    "no nodes": (lambda kb: kb.knowledge_graph.get_nodes_intersection(None), "sequence of nodes, not NoneType"),
    "vectors of chunks": (
        lambda kb: kb.client.process_chunks([DocumentChunk(path="note", content="a")], embeddings=3),
        "embeddings must be a sequence of vectors, not int",
    ),
    "an edge": (
        lambda kb: kb.knowledge_graph.add_edges([{"from": "a", "to": "b"}]),
        r"An edge must be \(node, node\) or \(node, node, weight\), not {'from': 'a', 'to': 'b'}",
    ),
    "one edge": (lambda kb: kb.knowledge_graph.add_edges(("a", "b")), "An edge must be .*, not 'a'"),
    "no edges": (lambda kb: kb.knowledge_graph.add_edges(None), "Edges are needed, but this is NoneType"),
    "a vector": (
        lambda kb: returned(UndirectedNode("mill", embedding="grain")),
        "The embedding of a node is not a sequence of numbers: could not convert string to float: 'g'",
    ),
    "no vector": (
        lambda kb: returned(UndirectedNode("mill", embedding=[None])),
        "is not a sequence of numbers: .*None",
    ),
    "who answers at once": (lambda kb: returned(BasicRAG(kb, Silent())), "A Silent is not .* without stream: core.rag"),
    "who answers without parts": (
        lambda kb: returned(KnowledgeRAGFlow(kb, Whole())),
        "The stream of a Whole has to be an asynchronous generator",
    ),
    "who answers without a graph": (lambda kb: returned(BasicRAG(None)), "A NoneType is not a knowledge base: .*open"),
    "who answers from a client": (
        lambda kb: returned(KnowledgeRAGFlow(kb.client)),
        "A MemGraphClient is not a knowledge base: KnowledgeBase.open opens one",
    ),
    "who infers by name": (lambda kb: returned(DRIFTRAG(kb, inference_engine="x")), "A str is not an inference engine"),
    "a session by another name": (
        lambda kb: KnowledgeRAGFlow(kb).run({"query": "mill?", "sessionId": "s"}),
        "A state has query and session_id, not 'sessionId'",
    ),
    "who gets the parts of an answer": (
        lambda kb: returned(KnowledgeRAGFlow(kb).set_callbacks("print")),
        "on_new_chunk must be a function that takes a part of an answer, not str",
    ),
    "several starts": (lambda kb: DRIFTRAG(kb).dynamic_traversal([], "mill"), "start must be one node, .*, not list"),
    "no start": (lambda kb: DRIFTRAG(kb).dynamic_traversal(None, "mill"), "start must be one node, .*, not NoneType"),
    "a filter": (
        lambda kb: DRIFTRAG(kb).dynamic_traversal("x", "mill", node_filter=3),
        "node_filter must be a function that takes a node, not int",
    ),
    "a filter that waits": (
        lambda kb: DRIFTRAG(kb).dynamic_traversal("x", "mill", node_filter=returned),
        r"node_filter must be a plain function .*, not an asynchronous one \(async def\)",
    ),
    "progress that waits": (
        lambda kb: kb.ingest(Document(path="a", content="b"), progress=returned),
        "progress must be a plain function that takes a report, not an asynchronous one",
    ),
    "paths": (
        lambda kb: DRIFTRAG(kb).infer_connections(None, "mill"),
        "paths must be a sequence of Path .*, not NoneT",
    ),
    "a path of text": (lambda kb: DRIFTRAG(kb).identify_knowledge_gaps("ab", "mill"), "a sequence of Path .*, not str"),
    "paths of an answer": (
        lambda kb: DRIFTRAG(kb).generate_response("mill", [None]),
        r"paths must be a sequence of Path \(.*a result has them in .paths\), but one of them is NoneType",
    ),
    "ranked paths": (lambda kb: returned(DRIFTRAG(kb).aggregate_and_rank_paths(3)), "a sequence of Path .*, not int"),
    "inferences": (
        lambda kb: DRIFTRAG(kb).store_inferences([("a", "b")]),
        "inferences must be a sequence of InferredConnection .*, but one of them is tuple",
    ),
    "inferences for paths": (
        lambda kb: returned(DRIFTRAG(kb).aggregate_and_rank_paths([], None)),
        "inferences must be a sequence of InferredConnection .*, not NoneType",
    ),
    "k where there are ratings": (lambda kb: rated(kb, k=-1), "k is -1, but has to be a whole number from 1 to 10000"),
    "no k where there are ratings": (lambda kb: rated(kb, k="3"), "k is '3', but has to be a whole number from 1"),
}


@pytest.mark.parametrize("arguments", [{"model": 3}, {"namespace": 3}], ids=str)
def test_a_graph_is_opened_by_texts(arguments: dict[str, Any]) -> None:
    with pytest.raises(InvalidInputError, match="must be text, not int"):
        KnowledgeBase.open("embedded::memory:", **arguments)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"uri": 3}, "uri must be text, such as 'embedded:graph.grafeo' .*, not int"),
        ({"uri": Path("graph.grafeo")}, "uri must be text, .*, not PosixPath"),
        ({"uri": Path("graph.grafeo"), "create": False}, "uri must be text, .*, not PosixPath"),
        ({"username": 3}, "username must be text, not int"),
        ({"embedder": "wordllama"}, "embedder must be an EmbeddingService, not str: core.rag.open_embedder makes one"),
        ({"settings": {}}, "settings must be a core.rag.Settings, not dict"),
        ({"settings": {}, "embedding": False}, "settings must be a core.rag.Settings, not dict"),
        (
            {"language_model": "gpt"},
            "A str is not a language model: core.rag.open_language_model makes one from a name",
        ),
        ({"chunk_size": "64"}, "chunk_size is '64', but has to be a whole number from 1 up"),
        ({"chunk_overlap": -1}, "chunk_overlap is -1, but has to be a whole number from 0 up"),
    ],
    ids=str,
)
def test_a_graph_is_opened_by_what_makes_sense(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        KnowledgeBase.open(**{"uri": "embedded::memory:", **arguments})


@pytest.mark.parametrize("size", [0, -1, 2.5, True, "5", None], ids=str)
def test_a_pool_holds_at_least_one_connection(size: Any) -> None:
    with pytest.raises(InvalidInputError, match=r"max_connection_pool_size is .*, but has to be a whole number from 1"):
        MemGraphClient("bolt://localhost:7687", max_connection_pool_size=size)


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        (Silent, "A Silent is not a language model without close: core.rag.LanguageModel lists"),
        (Whole, r"The stream of a Whole has to be an asynchronous generator \(async def with yield\)"),
    ],
)
def test_a_language_model_has_all_of_its_methods(kind: Any, message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        KnowledgeBase.open("embedded::memory:", language_model=kind())


async def test_a_question_needs_a_language_model_that_streams() -> None:
    async with KnowledgeBase.open("embedded::memory:", language_model=Closed()) as kb:
        for call in (lambda: kb.ask("Grain?"), lambda: BasicRAG(kb).query("Grain?"), lambda: DRIFTRAG(kb).query("?")):
            with pytest.raises(InvalidInputError, match="A Closed is not a language model without stream"):
                await call()
        assert not (await kb.ask("Grain?", extracts=True)).supported


def test_functions_refuse_arguments_of_the_wrong_kind() -> None:
    with pytest.raises(InvalidInputError, match="The name of a model must be text, not int"):
        open_embedder(3)
    with pytest.raises(InvalidInputError, match="A path or URL must be text or a Path, not NoneType"):
        standardize_resource_uri(None)
    assert standardize_resource_uri(Path("note") / "1") == "note/1"


async def test_whole_numbers_of_numpy_are_whole_numbers() -> None:
    two = np.int64(2)
    async with KnowledgeBase.open("embedded::memory:", chunk_size=np.int64(64), chunk_overlap=np.int64(8)) as kb:
        await kb.ingest([Document(path=f"note/{name}", content=f"The mill {name} grinds grain.") for name in "abc"])
        assert len(await kb.search("mill", k=two, expand=two)) == 2
        assert len(await kb.documents(limit=two)) == 2
        assert await kb.entities(limit=two) == await kb.entities(limit=2)
        assert await kb.traverse("note/a", depth=two, limit=two) == await kb.traverse("note/a", depth=2, limit=2)
        conversation = await kb.client.create_conversation()
        for text in ("One.", "Two.", "Three."):
            await kb.client.add_message(conversation, text, "user")
        assert len(await kb.client.get_conversation_messages(conversation, limit=two)) == 2
        assert len(await kb.recall(query="Two", limit=two)) == 2
        assert (await kb.ask("What grinds the mill?", k=two)).citations


async def test_a_limit_beyond_all_numbers_of_an_engine_is_none() -> None:
    most = 10**30
    async with KnowledgeBase.open("embedded::memory:") as kb:
        await kb.ingest([Document(path=name, content="The mill grinds grain.") for name in "ab"])
        await kb.insert("mills", {"name": "Harrow Mill"})
        assert len(await kb.documents(limit=most)) == len(await kb.client.list_documents(limit=most)) == 2
        assert len(await kb.records("mills", limit=most)) == 1
        conversation = await kb.client.create_conversation()
        await kb.client.add_message(conversation, "One.", "user")
        assert len(await kb.client.get_conversation_messages(conversation, limit=most)) == 1
        assert len(await kb.client.get_conversation_messages(conversation, limit=most, after=0)) == 1
        assert len(await kb.client.recent_messages(conversation, limit=most)) == 1
        assert len(await kb.client.list_conversations(limit=most)) == 1


async def test_numbers_of_numpy_are_numbers() -> None:
    two = np.int64(2)
    async with KnowledgeBase.open("embedded::memory:") as kb:
        report = await kb.ingest(
            Document(path="note", content="Ada works at TechCorp.", metadata={"pages": two, "share": np.float32(0.5)})
        )
        assert report.documents.failed == []
        assert (await kb.show("note"))["metadata"] == {"pages": 2, "share": 0.5}
        chunk = DocumentChunk(path="note", content="works", start_char=two, end_char=np.int64(7))
        await kb.client.process_chunks([chunk])
        await kb.client.create_document_chunk("note", "TechCorp", two, start_char=two, metadata={"page": two})
        stored = {row["content"]: row for row in await kb.client.get_document_chunks("note")}
        assert (stored["works"]["start_char"], stored["works"]["end_char"]) == (2, 7)
        assert stored["TechCorp"]["metadata"]["page"] == 2
        assert await kb.feedback("note", np.float32(0.5))
        await kb.link("Ada", "TechCorp", "advises", weight=two, create=True)


#: Arguments that are true or false. The text "false" counts as true to Python: it would delete, overwrite or fetch.
FLAGS: dict[str, Callable[[Any, Any], Awaitable[object]]] = {
    "prune": lambda kb, value: kb.ingest(Document(path="a", content="b"), prune=value),
    "facts": lambda kb, value: kb.ingest(Document(path="a", content="b"), facts=value),
    "hidden": lambda kb, value: kb.ingest(".", hidden=value),
    "recursive": lambda kb, value: kb.ingest(".", recursive=value),
    "gitignore": lambda kb, value: kb.ingest(".", gitignore=value),
    "same_host": lambda kb, value: kb.ingest("http://127.0.0.1:9/", same_host=value),
    "respect_robots": lambda kb, value: kb.ingest("http://127.0.0.1:9/", respect_robots=value),
    "use_sitemap": lambda kb, value: kb.ingest("http://127.0.0.1:9/", use_sitemap=value),
    "allow_private": lambda kb, value: kb.ingest("http://127.0.0.1:9/", allow_private=value),
    "rewrite": lambda kb, value: kb.search("mill", rewrite=value),
    "extracts": lambda kb, value: kb.ask("mill?", extracts=value),
    "stream": lambda kb, value: kb.ask("mill?", stream=value),
    "compacted": lambda kb, value: kb.memories("s", compacted=value),
    "touch": lambda kb, value: kb.recall(query="mill", touch=value),
    "create": lambda kb, value: kb.link("a", "b", create=value),
    "weighted": lambda kb, value: kb.shortest_path("a", "b", weighted=value),
    "induced": lambda kb, value: kb.traverse("a", induced=value),
    "vectors": lambda kb, value: kb.resolve_entities(vectors=value),
    "repair": lambda kb, value: kb.doctor(repair=value),
    "everywhere": lambda kb, value: kb.doctor(everywhere=value),
    "drop_old": lambda kb, value: kb.reembed(drop_old=value),
    "everything": lambda kb, value: kb.import_("graph.jsonl", everything=value),
    "force": lambda _, value: restore(None, "graph.bak", force=value),
    "block": lambda kb, value: kb.knowledge_graph.query_by_content("mill", block=value),
    "merge_similar": lambda kb, value: kb.knowledge_graph.add_node(
        UndirectedNode(content="mill", label="Place"), merge_similar=value
    ),
    "check_model": lambda _, value: returned(KnowledgeBase.open(check_model=value)),
    "new_store": lambda _, value: returned(KnowledgeBase.open(new_store=value)),
}


@pytest.mark.parametrize("name", FLAGS)
async def test_what_is_true_or_false_is_nothing_else(name: str) -> None:
    async with KnowledgeBase.open("embedded::memory:") as kb:
        for value in ("false", 0, None if name not in ("facts", "merge_similar") else "no"):
            with pytest.raises(MGRagError, match=rf"\b{name} .*True or False"):
                await FLAGS[name](kb, value)
        assert await kb.documents() == []


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def of_a_note() -> AsyncIterator[KnowledgeBase]:
    """A document that none of the calls changes."""
    async with KnowledgeBase.open("embedded::memory:") as kb:
        await kb.ingest(Document(path="note", content="The mill grinds grain with the ebb."))
        yield kb


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.asyncio(loop_scope="module")
async def test_arguments_of_the_wrong_kind(name: str, of_a_note: KnowledgeBase) -> None:
    call, message = CALLS[name]
    with pytest.raises(InvalidInputError, match=message):
        await call(of_a_note)
    assert [row["path"] for row in await of_a_note.documents()] == ["note"]
    assert not Path("x.jsonl").exists()


LONG = "x" * 3000
NAMING: dict[str, Callable[[Any], Awaitable[object]]] = {
    "feedback": lambda kb: kb.feedback(LONG, 1),
    "a conversation": lambda kb: kb.search("mill", conversation_id=LONG),
    "where to begin": lambda kb: talking(kb, lambda talk: kb.client.get_conversation_messages(talk, after=LONG)),
    "a document": lambda kb: kb.client.get_document_chunks(LONG),
    "a chunk": lambda kb: kb.client.neighbouring_chunks(LONG, 1),
    "an index": lambda kb: kb.client.find_vector_store(LONG),
    "a message": lambda kb: kb.client.record_retrieved(LONG, []),
    "a mode": lambda kb: kb.search("mill", mode=LONG),
    "a strategy": lambda kb: kb.ask("mill", strategy=LONG),
    "a node": lambda kb: DRIFTRAG(kb).dynamic_traversal(LONG, "mill"),
    "a session": lambda kb: kb.compact(LONG),
    "a conversation to anonymize": lambda kb: kb.anonymize(conversation_id=LONG),
    "a user to anonymize": lambda kb: kb.anonymize(user_id=LONG),
    "a user to export": lambda kb: kb.export_user(LONG),
    "a direction": lambda kb: kb.traverse("note", direction=LONG),
    "a weight": lambda kb: kb.link("note", "mill", weight=LONG),
    "a model": lambda kb: kb.client.ensure_vector_store(LONG, 256),
    "a field of a filter": lambda kb: kb.search("mill", filters=f"{LONG}=1"),
    "a field of a dict": lambda kb: kb.search("mill", filters={LONG: 1}),
    "an operator": lambda kb: kb.search("mill", filters={"path": {LONG: 1}}),
    "a key of metadata": lambda kb: kb.search("mill", filters={f"metadata.{LONG}": {"<": [1, 2]}}),
    "a date": lambda kb: kb.search("mill", filters=f"updated>={LONG[:900]}"),
}


@pytest.mark.parametrize("name", NAMING)
async def test_errors_show_the_beginning_of_what_is_very_long(name: str) -> None:
    async with KnowledgeBase.open("embedded::memory:") as kb:
        await kb.ingest(Document(path="note", content="The mill grinds grain with the ebb."))
        with pytest.raises(MGRagError, match=r"x{50}") as caught:
            await NAMING[name](kb)
        assert len(str(caught.value)) < 600
