"""Ingesting what is known already, with loaders, chunk sizes and models that differ or refuse."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from core.rag import KnowledgeBase
from core.rag.dbhandler.store import Transaction
from core.rag.errors import EmbeddingInputError, NotFoundError, StoreUnavailableError
from core.rag.identity import entity_id
from libs.dataloader import Document, Known, KnownDocument, Link, SourceInfo, Unchanged, WebLoader
from tests.dataloader.webserver import Reply, WebServer, page
from tests.dbhandler.kit import Engine
from tests.embedders import HashEmbedder
from tests.graphs import orphans, snapshot


async def test_a_page_whose_text_stayed_is_asked_for_by_its_new_etag(kb: KnowledgeBase) -> None:
    async with WebServer({"/": Reply(page(text="Tides.", head="<!-- 1 -->"), etag='"1"')}) as server:
        await kb.ingest(WebLoader(server.url()))
        server.pages["/"] = Reply(page(text="Tides.", head="<!-- 2 -->"), etag='"2"')
        report = await kb.ingest(WebLoader(server.url()))
        assert (report.documents.updated, report.documents.unchanged) == (0, 1)
        await kb.ingest(WebLoader(server.url()))
        assert server.statuses("/") == [200, 200, 304]


class Remembering:
    """A loader that never reads a document again."""

    source = SourceInfo("memory", "memory", "memory://all/")

    def __init__(self) -> None:
        self.known: Mapping[str, KnownDocument] = {}

    async def load(self, known: Known | None = None) -> AsyncIterator[Document | Unchanged]:
        assert known is not None
        self.known = await known(["memory://a", "memory://b"])
        for uri in ("memory://a", "memory://b"):
            if uri in self.known:
                yield Unchanged(uri, uri)
            else:
                links = (Link("memory://b", "the other"), Link("https://example.org/", "elsewhere"))
                yield Document(uri, f"This is {uri}.", links=links[: len(uri) - 9], fingerprint={"version": uri})


async def test_a_loader_is_told_of_what_is_stored_with_its_fingerprints_and_links(kb: KnowledgeBase) -> None:
    loader = Remembering()
    assert (await kb.ingest(loader)).documents.added == 2
    assert not loader.known
    assert (await kb.ingest(loader)).documents.unchanged == 2
    assert {uri: known.fingerprint for uri, known in loader.known.items()} == {
        uri: {"version": uri} for uri in ("memory://a", "memory://b")
    }
    assert [*loader.known["memory://a"].links] == ["memory://b"]


class Hooked(HashEmbedder):
    """Calls a function before it embeds."""

    def __init__(self, before: Callable[[Sequence[str]], Awaitable[None]]) -> None:
        super().__init__()
        self._before = before

    async def get_embeddings(self, texts: Sequence[str], names: Sequence[str] | None = None) -> NDArray[np.float32]:
        await self._before(texts)
        return await super().get_embeddings(texts, names)


async def test_a_document_that_the_model_refuses_is_reported_and_the_rest_goes_on(engine: Engine) -> None:
    async def refuse(texts: Sequence[str]) -> None:
        if any("refused" in text for text in texts):
            raise EmbeddingInputError("This text is too long for the model.")

    async with engine.knowledge(embedder=Hooked(refuse)) as kb:
        report = await kb.ingest([Document(name, f"What {name} says.") for name in ("first", "refused", "last")])
        assert [(item.path, item.reason) for item in report.documents.failed] == [
            ("refused", "This text is too long for the model.")
        ]
        assert {document["path"] for document in await kb.documents()} == {"first", "last"}
        assert report.vectors.embedded == report.chunks == 2


async def test_vectors_that_another_client_removes_meanwhile_are_made_again(engine: Engine) -> None:
    async def delete(texts: Sequence[str]) -> None:
        if await kb.client.find_document("old") is not None and any("More" in text for text in texts):
            await kb.delete("old")

    embedder = Hooked(delete)
    async with engine.knowledge(embedder=embedder, chunk_size=24, chunk_overlap=0) as kb:
        shared = "The tide mill stands at the end of the bay and turns with the ebb."
        await kb.ingest([Document("old", shared)])
        more = "More is said here of the stones that came from France."
        report = await kb.ingest([Document("new", f"{shared}\n\n{more}")])
        assert report.chunks == report.vectors.embedded == 2
        assert embedder.embedded.count(shared) == 2
        assert [hit.path for hit in await kb.search("tide mill ebb", mode="vector", k=1)] == ["new"]
        assert not any((await orphans(kb.client)).values())


async def test_a_source_whose_last_document_another_client_deletes_meanwhile_is_made_again(engine: Engine) -> None:
    async def delete(texts: Sequence[str]) -> None:
        if any("stones" in text for text in texts):
            assert await kb.delete("old")

    async with engine.knowledge(embedder=Hooked(delete)) as kb:
        await kb.ingest([Document("old", "The tide mill.")])
        report = await kb.ingest([Document("new", "Two pairs of stones.")])
        assert report.documents.added == 1
        (found,) = await kb.documents()
        assert (found["path"], len(found["sources"])) == ("new", 1)
        assert not any((await orphans(kb.client)).values())


async def test_a_namespace_that_is_emptied_meanwhile_gets_no_documents_without_vectors(engine: Engine) -> None:
    async def delete(texts: Sequence[str]) -> None:
        await kb.client.delete_everything()

    async with engine.knowledge(embedder=Hooked(delete)) as kb:
        with pytest.raises(NotFoundError, match="removed in the meantime; try again"):
            await kb.ingest([Document("new", "Two pairs of stones.")])
        assert not await kb.documents()
        assert not any((await orphans(kb.client)).values())


async def test_a_loader_may_have_its_own_sizes_of_chunks(kb: KnowledgeBase) -> None:
    sentences = " ".join(f"Stone number {number} turns with the ebb." for number in range(60))
    async with WebServer({"/": page(text=sentences)}) as server:
        url = server.url()
        await kb.ingest(WebLoader(url))
        large = len((await kb.show(url))["chunks"])
        loader = WebLoader(url, chunk_size=32, chunk_overlap=0)
        assert (await kb.ingest(loader)).documents.updated == 1
        small = [chunk["content"] for chunk in (await kb.show(url))["chunks"]]
        assert len(small) > 4 * large
        assert " ".join(small).count("Stone number 30 ") == 1  # nothing overlaps
        assert (await kb.ingest(loader)).documents.unchanged == 1


class Part:
    """A loader of a part of what a service has."""

    source = SourceInfo("service", "service", "service://all/")

    def __init__(self, *names: str) -> None:
        self.names = names

    async def load(self, known: Known | None = None) -> AsyncIterator[Document]:
        for name in self.names:
            yield Document(f"service://all/{name}", f"This is {name}.")


async def test_names_that_an_earlier_version_spelt_otherwise_are_spelt_as_in_a_new_graph(kb: KnowledgeBase) -> None:
    """The spellings that its rules had found stayed beside those of today's, and decided the name."""
    text = "We met at the Tide Mill in Oxford."
    await kb.ingest([Document(path="a", content=text)])
    expected = await snapshot(kb.client)
    await kb.ingest([Document(path="a", content="we met at the mill.")])
    for name in ("TIDE MILL", "OXFORD"):  # what earlier rules had made of it

        async def earlier(tx: Transaction, name: str = name) -> None:
            values = {"id": entity_id(kb.namespace, name.lower()), "text": name, "lower": name.lower()}
            values["namespace"] = kb.namespace
            await tx.run(
                "MATCH (c:DocumentChunk {namespace: $namespace}) "
                "CREATE (c)-[:MENTIONS {count: 1}]->(e:Entity {id: $id, "
                "namespace: c.namespace, name: $text, normalized_name: $lower, type: 'name', mention_count: 1, "
                "origin: 'text', created_at: c.created_at, updated_at: c.updated_at})",
                values,
            )

        await (await kb.client.connect()).transaction(earlier)
    assert (await kb.doctor()).healthy
    await kb.ingest([Document(path="a", content=text)])
    assert await snapshot(kb.client) == expected


@pytest.mark.parametrize("transactions", range(1, 6))
async def test_an_ingest_brings_back_what_an_interrupted_removal_of_everything_took(
    kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch, transactions: int
) -> None:
    """Documents without chunks were taken for unchanged, and no doctor found them."""
    documents = [Document(path=f"{number}", content=f"Mill {number} turns.") for number in range(3)]
    await kb.ingest(documents)
    store, left = await kb.client.connect(), transactions
    real = store.transaction

    async def interrupted(work: Callable[[Transaction], Awaitable[object]]) -> object:
        nonlocal left
        left -= 1
        if left < 0:
            raise StoreUnavailableError("The process was killed.")
        return await real(work)

    with monkeypatch.context() as patch:
        patch.setattr(store, "transaction", interrupted)
        with pytest.raises(StoreUnavailableError):
            await kb.client.delete_everything()
    await kb.ingest(documents)
    assert {hit.path for hit in await kb.search("mill", k=10)} == {"0", "1", "2"}
    await kb.doctor(repair=True)
    assert (await kb.doctor()).healthy


async def test_loaders_that_have_parts_of_one_source_do_not_prune_each_other(kb: KnowledgeBase) -> None:
    for deleted in (0, 0, 2):
        first = Part("a", "b", "c") if not deleted else Part("a")
        report = await kb.ingest([first, Part("d", "e")], prune=True)
        assert (report.documents.deleted, len(await kb.documents())) == (deleted, 5 - deleted)


async def test_documents_without_text_are_told_as_files_without_are(kb: KnowledgeBase) -> None:
    report = await kb.ingest(
        [Document("empty", ""), Document("blank", " \n\t\n", title="Blank"), Document("a", "Mills.")]
    )
    assert report.documents.added == 1
    assert [(item.path, item.reason) for item in report.documents.failed] == [
        ("empty", "it has no text"),
        ("blank", "it has no text"),
    ]
    assert [hit.path for hit in await kb.search("blank", k=5)] == ["a"]


async def test_documents_without_a_source_are_not_pruned(kb: KnowledgeBase) -> None:
    await kb.ingest([Document("a", "One."), Document("b", "Two.")])
    report = await kb.ingest([Document("a", "One.")], prune=True)
    assert report.documents.deleted == 0 and len(await kb.documents()) == 2
    (warning,) = report.warnings
    assert "not pruned" in warning


async def test_documents_whose_files_are_gone_are_told_where_nothing_is_pruned(
    kb: KnowledgeBase, tmp_path: Path
) -> None:
    for name in ("a.md", "b.md", "c.md", "kept.txt"):
        (tmp_path / name).write_text(f"# {name}\n\nTides of {name}.\n", encoding="utf-8")
    assert not (await kb.ingest(tmp_path)).warnings
    assert not (await kb.ingest(tmp_path, include=["*.txt"])).warnings  # what the patterns leave out is not gone
    (tmp_path / "a.md").unlink()
    (warning,) = (await kb.ingest(tmp_path)).warnings
    assert warning.startswith(f"Of {tmp_path.as_uri()}, a.md has no file any more")
    assert "--prune" in warning
    (tmp_path / "b.md").rename(tmp_path / "b2.md")
    (warning,) = (await kb.ingest(tmp_path)).warnings
    assert "2 documents, among them a.md, have no file any more, but searches still find what was in them." in warning
    report = await kb.ingest(tmp_path, prune=True)
    assert (report.documents.deleted, report.warnings) == (2, [])
