"""Many texts are taken out of an embedded keyword index by making it anew, and no search notices."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

import pytest

from core.rag import KnowledgeBase, MemGraphClient
from core.rag.dbhandler.documents import superseding
from core.rag.dbhandler.documents.removing import remove_chunks
from core.rag.dbhandler.embedded import dialect
from core.rag.dbhandler.embedded.store import EmbeddedStore
from core.rag.dbhandler.store import Transaction
from core.rag.errors import QueryError, StoreReadOnlyError
from core.rag.schema import Label, TextIndex
from libs.dataloader import Document
from tests.dbhandler.kit import make_settings
from tests.embedders import HashEmbedder

INDEX = TextIndex(Label.CHUNK, "default")
MANY = 120


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[TextIndex]:
    """The keyword indexes that are made from here on."""
    indexes: list[TextIndex] = []
    create = dialect.create_text_index

    def noted(db: dialect.Runner, index: TextIndex) -> None:
        indexes.append(index)
        create(db, index)

    monkeypatch.setattr(dialect, "create_text_index", noted)
    return indexes


async def filled(client: MemGraphClient, number: int) -> list[str]:
    """Documents of one chunk each, all with a common word and each with one of its own."""
    ids = []
    for place in range(number):
        identifier = await client.create_document(f"{place}.md", f"common own{place}")
        await client.create_document_chunk(identifier, f"common own{place}")
        ids.append(identifier)
    return ids


async def words_found(client: MemGraphClient, word: str = "common") -> int:
    return len(await client.match_terms({word: 1.0}, 1000))


async def test_many_documents_are_removed_with_one_new_index(tmp_path: Path, made: list[TextIndex]) -> None:
    async with MemGraphClient(f"embedded:{tmp_path}/graph.grafeo") as client:
        ids = await filled(client, MANY + 30)
        made.clear()
        assert await client.delete_documents(ids[:3]) == 3
        assert made == []
        assert await client.delete_documents(ids[3:MANY]) == MANY - 3
        assert made == [INDEX]
        assert await words_found(client) == 30
        assert await words_found(client, "own5") == 0
        assert await words_found(client, f"own{MANY + 5}") == 1
        # What comes later is found, too: the index is one that is kept up to date.
        await filled(client, 1)
        assert await words_found(client) == 31


async def test_searches_meanwhile_find_what_is_there(tmp_path: Path) -> None:
    async with MemGraphClient(f"embedded:{tmp_path}/graph.grafeo") as client:
        ids = await filled(client, MANY + 5)
        removal = asyncio.create_task(client.delete_documents(ids[:MANY]))
        seen = set()
        while not removal.done():
            seen.add(await words_found(client, f"own{MANY + 1}"))
            await asyncio.sleep(0)
        await removal
        assert seen <= {1}
        assert await words_found(client) == 5


async def test_a_removal_that_fails_leaves_an_index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def refuse(*_: object, **__: object) -> int:
        raise QueryError("no")

    async with MemGraphClient(f"embedded:{tmp_path}/graph.grafeo") as client:
        ids = await filled(client, MANY)
        monkeypatch.setattr("core.rag.dbhandler.documents.operations.remove_documents", refuse)
        with pytest.raises(QueryError):
            await client.delete_documents(ids)
        assert await words_found(client) == MANY


async def test_an_index_that_a_killed_process_left_out_is_made_by_a_search(tmp_path: Path) -> None:
    file = tmp_path / "graph.grafeo"
    async with MemGraphClient(f"embedded:{file}") as client:
        await filled(client, 5)
        await (await client.connect()).drop_text_index(INDEX)
    only_reading = make_settings(MGRAG_READ_ONLY=True)
    async with MemGraphClient(f"embedded:{file}", settings=only_reading) as client:
        assert await words_found(client) == 5
        assert await words_found(client, "own3") == 1
    async with MemGraphClient(f"embedded:{file}") as client:
        assert await words_found(client) == 5
    store = await EmbeddedStore.open(str(file))
    try:
        assert await store.check_indexes() == []
    finally:
        await store.close()


async def test_who_may_only_read_and_tries_to_delete_everything_still_finds_words(tmp_path: Path) -> None:
    file = tmp_path / "graph.grafeo"
    async with MemGraphClient(f"embedded:{file}") as client:
        await filled(client, 5)
    async with MemGraphClient(f"embedded:{file}", settings=make_settings(MGRAG_READ_ONLY=True)) as client:
        with pytest.raises(StoreReadOnlyError):
            await client.delete_everything()
        store = await client.connect()
        assert isinstance(store, EmbeddedStore)
        assert await store.reading(lambda db: dialect.has_text_index(db, INDEX), "Looking")
        assert await words_found(client) == 5


async def test_many_records_are_removed_with_one_new_index(tmp_path: Path, made: list[TextIndex]) -> None:
    async with KnowledgeBase.open(f"embedded:{tmp_path}/graph.grafeo") as kb:
        ids = [(await kb.insert("people", {"name": f"Person {place}"})).id for place in range(MANY)]
        made.clear()
        await kb.client.delete_records(ids[1:])
        assert made == [TextIndex(Label.RECORD, "default")]
        assert len(await kb.client.match_terms({"person": 1.0}, 1000, Label.RECORD)) == 1


async def test_many_texts_are_replaced_with_one_new_index(tmp_path: Path, made: list[TextIndex]) -> None:
    def documents(word: str, number: int = 2 * MANY) -> list[Document]:
        return [
            Document(path=f"{place}.txt", content=f"This is {word if place < number else 'old'} text number {place}.")
            for place in range(2 * MANY)
        ]

    async with KnowledgeBase.open(f"embedded:{tmp_path}/graph.grafeo", embedder=HashEmbedder()) as kb:
        await kb.ingest(documents("old"))
        made.clear()
        assert (await kb.ingest(documents("new", 3))).documents.updated == 3
        assert (await words_found(kb.client, "new"), await words_found(kb.client, "old")) == (3, 2 * MANY - 3)
        assert made == []
        assert (await kb.ingest(documents("newer"))).documents.updated == 2 * MANY
        assert made == [INDEX]
        assert (await words_found(kb.client, "newer"), await words_found(kb.client, "old")) == (2 * MANY, 0)


async def test_documents_without_a_change_of_their_words_are_replaced_with_the_index_that_is_there(
    tmp_path: Path, made: list[TextIndex]
) -> None:
    def documents(version: str) -> list[Document]:
        return [
            Document(path=f"{place}.txt", content=f"Text {place}.", metadata={"version": version})
            for place in range(2 * MANY)
        ]

    async with KnowledgeBase.open(f"embedded:{tmp_path}/graph.grafeo", embedder=HashEmbedder()) as kb:
        await kb.ingest(documents("1"))
        made.clear()
        await kb.ingest(documents("2"))
        assert made == []


async def test_an_import_over_what_is_there_makes_one_new_index(tmp_path: Path, made: list[TextIndex]) -> None:
    async with MemGraphClient(f"embedded:{tmp_path}/graph.grafeo") as client:
        await filled(client, MANY)
        await client.export_graph(tmp_path / "all.jsonl")
        made.clear()
        await client.import_graph(tmp_path / "all.jsonl")
        assert made == [INDEX]
        assert (await words_found(client), await words_found(client, "own5")) == (MANY, 1)
        await filled(client, MANY + 1)  # one more than before
        assert await words_found(client) == MANY + 1


async def test_a_table_is_replaced_and_removed_with_one_new_index_of_its_rows(
    tmp_path: Path, made: list[TextIndex], monkeypatch: pytest.MonkeyPatch
) -> None:
    records = TextIndex(Label.RECORD, "default")
    table, graph = tmp_path / "people.csv", f"embedded:{tmp_path}/graph.grafeo"

    def write(word: str, number: int) -> None:
        rows = [f"{place},{word if place < number else 'old'} person {place}" for place in range(2 * MANY)]
        table.write_text("\n".join(["id,name", *rows, ""]))

    async def times(kb: KnowledgeBase) -> list[str]:
        return [row["at"] for row in await kb.client.read("MATCH (r:Record) RETURN r.updated_at AS at")]

    write("old", 0)
    async with KnowledgeBase.open(graph, embedder=HashEmbedder()) as kb:
        await kb.ingest([table])
        before = set(await times(kb))
        write("new", 3)
        made.clear()
        await kb.ingest([table])
        assert records not in made
        assert sum(at not in before for at in await times(kb)) == 3  # the other rows are left alone
    write("newer", 2 * MANY)
    create = dialect.create_text_index
    replaced: list[int] = []

    def counted(db: dialect.Runner, index: TextIndex) -> None:
        if index == records:
            statement = "MATCH (r:Record) WHERE r.data CONTAINS 'newer' RETURN count(r) AS n"
            replaced.extend(row["n"] for row in db.execute_cypher(statement))
        create(db, index)

    monkeypatch.setattr(dialect, "create_text_index", counted)
    # As in a process of its own, where the first write would make sure of the indexes.
    async with KnowledgeBase.open(graph, embedder=HashEmbedder()) as kb:
        made.clear()
        await kb.ingest([table])
        assert replaced == [2 * MANY]
        assert len(await kb.client.match_terms({"newer": 1.0}, 1000, Label.RECORD)) == 2 * MANY
        made.clear()
        await kb.client.delete_document(str(table))
        assert made.count(records) == 1


async def test_an_import_of_other_versions_takes_the_index_away_before_their_texts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def documents(word: str) -> list[Document]:
        return [Document(path=f"{place}.txt", content=f"A {word} text, number {place}.") for place in range(MANY)]

    for name in ("old", "new"):
        async with KnowledgeBase.open(f"embedded:{tmp_path}/{name}.grafeo", embedder=HashEmbedder()) as kb:
            await kb.ingest(documents(name))
            await kb.client.export_graph(tmp_path / f"{name}.jsonl")
    steps: list[str] = []
    drop = dialect.drop_text_index

    def noted_drop(db: dialect.Runner, index: TextIndex) -> None:
        steps.append(f"drop {index.label}")
        drop(db, index)

    async def noted_remove(tx: Transaction, chunks: Sequence[str]) -> set[str]:
        steps.append("remove")
        return await remove_chunks(tx, chunks)

    monkeypatch.setattr(dialect, "drop_text_index", noted_drop)
    monkeypatch.setattr(superseding, "remove_chunks", noted_remove)
    async with KnowledgeBase.open(f"embedded:{tmp_path}/old.grafeo", embedder=HashEmbedder()) as kb:
        await kb.client.import_graph(tmp_path / "new.jsonl")
        assert steps[:2] == [f"drop {Label.CHUNK}", "remove"]
        assert (await words_found(kb.client, "new"), await words_found(kb.client, "old")) == (MANY, 0)
