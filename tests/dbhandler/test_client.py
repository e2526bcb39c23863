"""The operations of MemGraphClient that the ADR names, on every engine."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.rag import MemGraphClient, TextSplitter, standardize_resource_uri
from core.rag.analysis import query_terms
from core.rag.dbhandler import base
from core.rag.dbhandler.documents.adding import add_chunks
from core.rag.dbhandler.documents.rows import chunk_rows
from core.rag.dbhandler.embedded.transaction import EmbeddedTransaction
from core.rag.dbhandler.store import Transaction
from core.rag.errors import ConfigurationError, InvalidInputError, InvalidVectorError, NotFoundError
from core.rag.schema import Label
from libs.dataloader import ChunkMetadata, Document, DocumentChunk
from tests.dbhandler.kit import Engine, eventually
from tests.embedders import HashEmbedder
from tests.graphs import listen

DIMENSION = 8


def axis(number: int, lean: float = 0.0) -> list[float]:
    vector = [0.0] * DIMENSION
    vector[number] = 1.0
    vector[(number + 1) % DIMENSION] = lean
    return vector


@pytest.fixture
async def client(engine: Engine) -> AsyncIterator[MemGraphClient]:
    async with MemGraphClient(engine.uri, engine.username, engine.password, namespace=engine.namespace()) as opened:
        await opened.ensure_vector_store("test-model", DIMENSION)
        yield opened


async def test_a_document_is_created_found_and_the_same_again(client: MemGraphClient) -> None:
    first = await client.create_document("note/1", "Content.", title="One", metadata={"n": 1, "list": [0.5, 1.5]})
    again = await client.create_document("note/1", "Content.", title="One", metadata={"n": 1, "list": [0.5, 1.5]})

    assert first == again
    found = await client.find_document("note/1")
    assert found is not None
    assert (found["id"], found["path"], found["content"], found["title"]) == (first, "note/1", "Content.", "One")
    assert found["metadata"] == {"n": 1, "list": [0.5, 1.5]}
    assert await client.find_document(first) == found
    assert await client.find_document("note/2") is None


@pytest.mark.parametrize("by", ["this client", "another", "another that fills it again"])
async def test_a_namespace_that_another_client_emptied_gets_its_indexes_again(
    client: MemGraphClient, engine: Engine, monkeypatch: pytest.MonkeyPatch, by: str
) -> None:
    monkeypatch.setattr(base, "_KNOWN_SECONDS", 0.0)

    async def fill() -> None:
        vectors = await client.ensure_vector_store("test-model", DIMENSION)
        await client.create_document("note/1", "The tide mill.", embedding=axis(0))
        talk = await client.create_conversation()
        await client.add_message(talk, "Who owns the mill?", "user", embedding=axis(1))
        graph = await client.connect()
        assert await graph.has_vector_index(vectors.index(Label.CHUNK))
        assert await graph.has_vector_index(vectors.index(Label.INTERACTION))
        assert [text for text in await graph.check_indexes() if client.namespace in text] == []

    await fill()
    if by == "this client":
        await client.in_namespace(client.namespace).delete_everything()
    elif not engine.embedded:  # with a connection of its own, as in another process
        async with MemGraphClient(engine.uri, engine.username, engine.password, namespace=client.namespace) as other:
            await other.delete_everything()
            if by == "another that fills it again":
                await other.ensure_vector_store("test-model", DIMENSION)
    await fill()


async def test_creating_over_another_content_is_refused_and_upsert_replaces(client: MemGraphClient) -> None:
    await client.create_document("note/1", "Old.", embedding=axis(0))
    with pytest.raises(InvalidInputError, match="upsert_document"):
        await client.create_document("note/1", "New.")
    await client.upsert_document("note/1", "New.", embedding=axis(1))

    chunks = await client.get_document_chunks("note/1")
    assert [chunk["content"] for chunk in chunks] == ["New."]
    hits = await client.search_chunks(axis(0), k=5)
    assert [hit["content"] for hit in hits] == ["New."]


async def test_what_two_write_at_once_is_the_document_of_one_of_them(client: MemGraphClient) -> None:
    """One kept the chunks of the other, whose text it then replaced."""
    await client.ensure_vector_store("test-model", DIMENSION)

    async def again(delay: float) -> None:
        await asyncio.sleep(delay)
        await client.upsert_document("note/1", "One.")

    for step in range(12):
        await client.upsert_document("note/1", "One.", embedding=axis(0))
        await asyncio.gather(client.upsert_document("note/1", "Two.", embedding=axis(1)), again(step / 1000))
        document = await client.find_document("note/1")
        assert document is not None
        assert {chunk["content"] for chunk in await client.get_document_chunks("note/1")} <= {document["content"]}


async def test_a_text_of_any_length_is_kept_whole(client: MemGraphClient, tmp_path: Path) -> None:
    """The embedded engine keeps 16 MiB in a property."""
    texts = {"long": "ä€😀\n" * 2_000_000 + "end", "shorter": "x" * 4_000_000 + "y", "short": "One sentence."}
    for name in ("long", "shorter", "short"):
        identifier = await client.upsert_document("book", texts[name], embedding=None if name == "long" else axis(0))
        found = await client.find_document("book")
        assert found is not None
        assert found["content"] == texts[name]
        assert "content_parts" not in found
        await client.export_graph(tmp_path / f"{name}.jsonl.gz")
        if name != "long":
            assert [hit["content"] for hit in await client.semantic_search(axis(0))] == [texts[name]]
        rows = await client.read("MATCH (d:Document {id: $id}) RETURN properties(d) AS props", id=identifier)
        kept = [value for value in rows[0]["props"].values() if isinstance(value, str)]
        assert sum(map(len, kept)) < len(texts[name]) + 2000  # nothing of an earlier text
    for name in ("shorter", "long", "short"):
        await client.import_graph(tmp_path / f"{name}.jsonl.gz")
        found = await client.find_document("book")
        assert found is not None
        assert found["content"] == texts[name]


async def test_upsert_without_content_change_keeps_chunks(client: MemGraphClient) -> None:
    await client.create_document("note/1", "Text.", embedding=axis(0))
    await client.upsert_document("note/1", "Text.", title="Now with a title")
    assert len(await client.get_document_chunks("note/1")) == 1
    found = await client.find_document("note/1")
    assert found is not None
    assert found["title"] == "Now with a title"


async def test_a_new_title_is_found_and_the_old_one_is_not(client: MemGraphClient) -> None:
    await client.create_document("note/1", "It turns.", title="Windmill")
    await client.create_document_chunk("note/1", "It turns.", heading="Sails", embedding=axis(0))
    await client.upsert_document("note/1", "It turns.", title="Zeppelin")

    async def found(word: str) -> int:
        return len(await eventually(lambda: client.match_terms(dict.fromkeys(query_terms(word), 1.0), 5), bool))

    assert [await found(word) for word in ("Zeppelin", "Sails")] == [1, 1]
    assert await client.match_terms(dict.fromkeys(query_terms("Windmill"), 1.0), 5) == []


async def test_two_that_add_a_chunk_at_once_get_a_place_each(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    async with MemGraphClient(engine.uri, engine.username, engine.password, namespace=engine.namespace()) as client:
        await client.create_document("note/1", "Mine. Theirs.")
        store = await client.connect()
        transaction, busy = type(store).transaction, False

        async def interrupted(self: Any, work: Callable[[Transaction], Awaitable[Any]]) -> Any:
            nonlocal busy
            if busy:
                return await transaction(self, work)
            busy, ran = True, False

            async def unit(tx: Transaction) -> Any:
                nonlocal ran
                result = await work(tx)
                if not ran:
                    ran = True
                    raise _FasterError
                return result

            try:
                return await transaction(self, unit)
            except _FasterError:
                await client.create_document_chunk("note/1", "Theirs.")
                return await transaction(self, work)

        monkeypatch.setattr(type(store), "transaction", interrupted)
        await client.create_document_chunk("note/1", "Mine.")
        chunks = await client.get_document_chunks("note/1")
        assert [(chunk["chunk_index"], chunk["content"]) for chunk in chunks] == [(0, "Theirs."), (1, "Mine.")]


class _FasterError(Exception):
    """Somebody else was."""


async def test_adding_many_chunks_writes_each_a_few_times(client: MemGraphClient) -> None:
    """However many there are."""
    rows = 0
    run = EmbeddedTransaction.run

    async def counted(self: EmbeddedTransaction, statement: str, parameters: Any = None) -> list[dict[str, Any]]:
        nonlocal rows
        rows += sum(len(value) for value in (parameters or {}).values() if isinstance(value, list))
        return await run(self, statement, parameters)

    written = []
    for number in (600, 2400):
        await client.create_document(f"note/{number}", "x")
        chunks = [DocumentChunk(path=f"note/{number}", content=f"Chunk {index}.") for index in range(number)]
        rows = 0
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(EmbeddedTransaction, "run", counted)
            ids = await client.process_chunks(chunks)
        assert len(set(ids)) == number
        written.append(rows)
    assert written[1] <= 5 * written[0]


async def test_a_chunk_is_not_compared_with_all_others_of_its_document() -> None:
    class Nothing:
        """A transaction in an empty graph."""

        locking = False

        async def run(self, statement: str, parameters: Any = None) -> list[dict[str, Any]]:
            return []

    async def seconds(number: int) -> float:
        chunks = [DocumentChunk(path="a", content=f"Chunk {index}.") for index in range(number)]
        rows = [
            replace(row, properties={**row.properties, "chunk_index": -1})
            for row in chunk_rows("d", "", chunks, [""] * number)
        ]
        begin = time.process_time()
        await add_chunks(Nothing(), rows, namespace="n", store=None, text_label="")
        return time.process_time() - begin

    assert await seconds(20_000) < 40 * await seconds(2_000) + 1.0


async def test_chunks_are_added_in_order_and_only_once(client: MemGraphClient) -> None:
    await client.create_document("note/1", "alpha beta gamma beta")
    ids = [
        await client.create_document_chunk("note/1", text, index, embedding=axis(index))
        for index, text in enumerate(["alpha", "beta", "gamma", "beta"])
    ]
    assert len(set(ids)) == 4
    assert await client.create_document_chunk("note/1", "beta", 1, embedding=axis(1)) == ids[1]

    chunks = await client.get_document_chunks("note/1")
    assert [chunk["content"] for chunk in chunks] == ["alpha", "beta", "gamma", "beta"]
    assert [chunk["chunk_index"] for chunk in chunks] == [0, 1, 2, 3]
    assert {chunk["chunk_count"] for chunk in chunks} == {4}
    assert chunks[2]["start_char"] == 11
    counts = await client.counts()
    assert counts["edges"]["NEXT"] == 3
    assert counts["nodes"]["Vector"] == 4


@pytest.mark.parametrize("index", ["1", 1.5, True, -2])
async def test_a_position_that_is_none_is_refused(client: MemGraphClient, index: Any) -> None:
    await client.create_document("a", "Text.")
    with pytest.raises(InvalidInputError, match="chunk_index"):
        await client.create_document_chunk("a", "bad", index)
    assert await client.get_document_chunks("a") == []


@pytest.mark.parametrize("uri", [None, 5, " "])
async def test_a_resource_without_a_uri_is_refused(client: MemGraphClient, uri: Any) -> None:
    with pytest.raises(InvalidInputError, match="URI"):
        await client.create_resource(uri)


async def test_chunks_at_one_position_have_one_order(client: MemGraphClient) -> None:
    await client.create_document("a", "Text.")
    ids = [await client.create_document_chunk("a", f"part {number}", 0, start_char=0) for number in range(6)]
    assert [row["chunk_id"] for row in await client.get_document_chunks("a")] == sorted(ids)


async def test_a_chunk_with_another_vector_is_found_by_that_one_alone(client: MemGraphClient) -> None:
    for path in ("a", "b"):
        await client.create_document(path, "Text.")
        await client.create_document_chunk(path, "good", embedding=axis(0))
    chunk = await client.create_document_chunk("a", "good", embedding=axis(1))
    assert [hit["path"] for hit in await client.search_chunks(axis(0), 5)][:1] == ["b"]
    hits = await client.search_chunks(axis(1), 5)
    assert sorted(hit["path"] for hit in hits) == ["a", "b"]
    assert (hits[0]["chunk_id"], hits[0]["score"]) == (chunk, pytest.approx(1.0))
    await client.create_document_chunk("b", "good", embedding=axis(1))
    assert sorted(hit["path"] for hit in await client.search_chunks(axis(0), 5)) == ["a", "b"]
    assert (await client.counts())["nodes"]["Vector"] == 1


@pytest.mark.parametrize("value", [1e300, 10**400, 1e38, 1e-40, 1e-30])
async def test_vectors_that_32_bits_cannot_compare_are_refused(client: MemGraphClient, value: float) -> None:
    await client.create_document("a", "Text.")
    with pytest.raises(InvalidVectorError):
        await client.create_document_chunk("a", "bad", embedding=[value] * DIMENSION)
    with pytest.raises(InvalidVectorError):
        await client.search_chunks([value] * DIMENSION, 5)


async def test_process_chunks_embeds_with_the_clients_embedder(engine: Engine) -> None:
    embedder = HashEmbedder()
    async with MemGraphClient(
        engine.uri, engine.username, engine.password, namespace=engine.namespace(), embedder=embedder
    ) as client:
        parent = await client.create_document("note/1", "The mill turns. The pond is full.")
        chunks = [
            DocumentChunk(path="note/1", content=text, metadata=ChunkMetadata(parent_id=parent))
            for text in ("The mill turns.", "The pond is full.")
        ]
        ids = await client.process_chunks(chunks)
        assert ids == await client.process_chunks(chunks), "the same chunks again are the same"
        hits = await client.semantic_search_chunks(await embedder.get_embedding("the pond is full"), limit=1)
        assert hits[0]["chunk_id"] == ids[1]
        assert hits[0]["path"] == "note/1"
        with pytest.raises(NotFoundError, match="note/9"):
            await client.process_chunks([DocumentChunk(path="note/9", content="x")])


async def test_what_a_splitter_makes_is_stored_in_any_namespace(client: MemGraphClient) -> None:
    """Its chunks name their document by the id that it would have in the default one."""
    document = Document(path="note/1", content="The mill turns. " * 40)
    chunks = TextSplitter(32, 0).split(document)
    parent = await client.create_document(document.path, document.content)
    assert chunks[0].metadata["parent_id"] != parent, "another namespace"
    ids = await client.process_chunks(chunks)
    assert [chunk["chunk_id"] for chunk in await client.get_document_chunks("note/1")] == ids
    with pytest.raises(NotFoundError, match="note/2"):
        await client.process_chunks(TextSplitter().split(Document(path="note/2", content="No such document.")))


async def test_process_chunks_takes_vectors_as_an_embedder_gives_them(client: MemGraphClient) -> None:
    texts = ["The mill turns.", "The pond is full."]
    vectors: Any = await HashEmbedder(dimension=DIMENSION).get_embeddings(texts)
    await client.create_document("note/1", " ".join(texts))
    chunks = [DocumentChunk(path="note/1", content=text) for text in texts]
    ids = await client.process_chunks(chunks, embeddings=vectors)
    found = await client.search_chunks(vectors[1].tolist(), 1)
    assert [hit["chunk_id"] for hit in found] == ids[1:]


async def test_chunks_without_text_or_with_too_few_vectors_are_refused(client: MemGraphClient) -> None:
    await client.create_document("note/1", "The mill turns.")
    with pytest.raises(InvalidInputError, match="content of a chunk is empty"):
        await client.create_document_chunk("note/1", " \n")
    chunks = [DocumentChunk(path="note/1", content=text) for text in ("The mill", "turns.")]
    with pytest.raises(InvalidInputError, match="2 chunks but 1 embeddings"):
        await client.process_chunks(chunks, embeddings=[[1.0] * DIMENSION])
    assert await client.get_document_chunks("note/1") == []


async def test_search_ranks_by_cosine_and_the_fallback_agrees(client: MemGraphClient) -> None:
    generator = np.random.default_rng(7)
    vectors = generator.normal(size=(60, DIMENSION))
    for number, vector in enumerate(vectors):
        await client.create_document(f"note/{number}", f"Note {number}.", embedding=vector.tolist())
    query = generator.normal(size=DIMENSION)
    cosines = vectors @ query / np.linalg.norm(vectors, axis=1) / np.linalg.norm(query)
    expected = [f"note/{number}" for number in np.argsort(-cosines)[:7]]

    native = await client.search_chunks(query.tolist(), k=7)
    fallback = await client.semantic_search_chunks_fallback(query.tolist(), limit=7)

    assert [hit["path"] for hit in native] == expected
    assert [hit["path"] for hit in fallback] == expected
    assert [hit["score"] for hit in native] == pytest.approx(sorted(cosines, reverse=True)[:7], abs=1e-5)
    assert [hit["score"] for hit in fallback] == pytest.approx([hit["score"] for hit in native], abs=1e-5)
    documents = await client.semantic_search(query.tolist(), limit=7)
    assert [document["path"] for document in documents] == expected
    assert {"path", "content", "score"} <= documents[0].keys()


@pytest.mark.parametrize(
    "vector", [axis(0)[:-1], [*axis(0), 1.0], [float("nan"), *axis(0)[1:]], [0.0] * DIMENSION, ["x"] * DIMENSION]
)
async def test_a_bad_query_vector_is_refused_before_the_engine(client: MemGraphClient, vector: list[float]) -> None:
    with pytest.raises(InvalidVectorError):
        await client.search_chunks(vector)
    with pytest.raises(InvalidVectorError):
        await client.semantic_search_chunks_fallback(vector)


async def test_an_unknown_index_is_named(client: MemGraphClient) -> None:
    with pytest.raises(NotFoundError, match="no_such_index"):
        await client.search_chunks(axis(0), index_name="no_such_index")


async def test_an_embedding_without_a_vector_store_says_what_to_do(engine: Engine) -> None:
    async with MemGraphClient(engine.uri, engine.username, engine.password, namespace=engine.namespace()) as client:
        with pytest.raises(ConfigurationError, match="ensure_vector_store"):
            await client.create_document("note/1", "Text.", embedding=axis(0))


async def test_resources_symbols_tools_and_references(client: MemGraphClient) -> None:
    await client.create_document("a.py", "def f(): ...")
    await client.create_document("b.py", "import a")
    resource = await client.create_resource("HTTPS://Example.org:443/x#part", description="A page.")
    assert await client.create_resource("https://example.org/x") == resource
    assert await client.link_document_to_resource("a.py", "https://example.org/x") == resource
    assert await client.link_document_to_resource("a.py", resource) == resource
    url = await client.create_url_link("b.py", "https://example.org/y", text="see there")
    symbol = await client.create_symbol("a.py", "f", kind="function", signature="def f()", line=1)
    assert await client.create_symbol("a.py", "f", kind="function", line=2) == symbol
    tool = await client.create_tool("search", "Finds things.", {"type": "object"})
    assert await client.create_tool("search") == tool
    await client.create_document_reference("b.py", "a.py", text="imports")

    counts = await client.counts()
    assert counts["nodes"]["Resource"] == 2
    assert counts["nodes"]["Symbol"] == counts["nodes"]["Tool"] == 1
    assert counts["edges"]["REFERENCES"] == 3
    assert url != resource
    with pytest.raises(NotFoundError, match=r"c\.py"):
        await client.create_url_link("c.py", "https://example.org/y")

    await client.delete_document("a.py")
    counts = await client.counts()
    assert "Symbol" not in counts["nodes"]
    assert counts["nodes"]["Resource"] == 2, "what a person made stays"


async def test_deleting_leaves_nothing_behind(client: MemGraphClient) -> None:
    for number in range(5):
        await client.create_document(f"note/{number}", "The same text.", embedding=axis(0))
    assert (await client.counts())["nodes"]["Vector"] == 1, "equal vectors are shared"
    assert await client.delete_document("note/0")
    assert not await client.delete_document("note/0")
    assert len(await client.search_chunks(axis(0), k=10)) == 4
    found = await client.list_documents(prefix="note/")
    assert await client.delete_documents([row["id"] for row in found]) == 4
    assert (await client.counts()) == {"nodes": {"VectorStore": 1}, "edges": {}}


async def test_documents_of_another_namespace_are_not_deleted(client: MemGraphClient) -> None:
    document = await client.create_document("note", "The text.", embedding=axis(0))
    before = await client.counts()
    assert await client.in_namespace(f"{client.namespace}-other").delete_documents([document]) == 0
    assert await client.counts() == before


async def test_listing_pages_by_path(client: MemGraphClient) -> None:
    for name in ("b", "a", "c"):
        await client.create_document(name, name)
    first = await client.list_documents(limit=2)
    rest = await client.list_documents(limit=2, after=first[-1]["path"])
    assert [row["path"] for row in (*first, *rest)] == ["a", "b", "c"]
    assert first[0]["chunk_count"] == 0


@pytest.mark.parametrize("path", ["", "x" * 5000])
async def test_paths_are_bounded(client: MemGraphClient, path: str) -> None:
    with pytest.raises(InvalidInputError):
        await client.create_document(path, "Text.")


def test_uris_are_standardized(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a file.md").write_text("x")
    assert standardize_resource_uri("a file.md") == f"file://{tmp_path}/a file.md"
    assert standardize_resource_uri("./a file.md") == f"file://{tmp_path}/a file.md"
    assert standardize_resource_uri("note/1") == "note/1"
    assert standardize_resource_uri("note\\1") == "note/1"
    assert standardize_resource_uri("/x/../y") == "file:///y"
    assert standardize_resource_uri("HTTP://Example.ORG:80#top") == "http://example.org/"
    assert standardize_resource_uri("https://example.org/a?b=C#d") == "https://example.org/a?b=C"
    assert standardize_resource_uri("https://me:secret@example.org:1/a") == "https://example.org:1/a"
    assert standardize_resource_uri("postgres://db/table") == "postgres://db/table"


@given(st.text(max_size=60))
def test_standardizing_twice_is_standardizing_once(path: str) -> None:
    once = standardize_resource_uri(path)
    assert standardize_resource_uri(once) == once


@given(st.lists(st.floats(-1e3, 1e3), min_size=3, max_size=3), st.lists(st.floats(-1e3, 1e3), min_size=3, max_size=3))
def test_cosine_similarity_is_bounded_and_symmetric(a: list[float], b: list[float]) -> None:
    score = MemGraphClient._cosine_similarity(a, b)
    assert -1.0 <= score <= 1.0
    assert score == MemGraphClient._cosine_similarity(b, a)


def test_cosine_similarity_of_known_vectors() -> None:
    assert MemGraphClient._cosine_similarity([1, 0], [1, 1]) == pytest.approx(0.70710678)
    assert MemGraphClient._cosine_similarity([1, 2], [2, 4]) == pytest.approx(1.0)
    assert MemGraphClient._cosine_similarity([0, 0], [1, 1]) == 0.0
    with pytest.raises(InvalidVectorError):
        MemGraphClient._cosine_similarity([1], [1, 2])


async def test_edges_of_all_types_are_counted_by_label(client: MemGraphClient, monkeypatch: pytest.MonkeyPatch) -> None:
    await client.create_document("note/1", "See the other.", embedding=axis(0))
    await client.create_url_link("note/1", "https://example.org/")
    statements = listen(monkeypatch)
    counts = await client.counts()
    assert counts["edges"]["REFERENCES"] == 1
    edges = [statement for statement in statements if "-[r" in statement]
    assert len(edges) == len(set(edges)) == len(counts["nodes"]), "every node is looked at once"
    assert [statement for statement in edges if "(n:" not in statement] == [], "and those of no other namespace"


async def test_documents_of_another_namespace_are_not_read_by_id(client: MemGraphClient) -> None:
    document = await client.create_document("plan", "It is secret.")
    assert list(await client.documents_by_id([document])) == [document]
    assert await client.in_namespace(f"{client.namespace}-other").documents_by_id([document]) == {}
