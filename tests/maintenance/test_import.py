"""An import of another version of a document leaves that version, whole."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from core.rag import KnowledgeBase
from core.rag.dbhandler import MemGraphClient
from core.rag.dbhandler.knowledge.facts import Triple
from core.rag.dbhandler.transfer.file import ExportReader
from core.rag.errors import StoreConflictError
from core.rag.extraction.facts import ChunkFacts
from core.rag.schema import Label
from libs.dataloader import Document, Link
from tests.graphs import orphans, snapshot
from tests.maintenance.conftest import PARAGRAPHS, opened

_MILL = "# Alpha Mill\n\nAnna Berg met Karl Stein in Hamburg. See [the pond](pond.md) and https://a.example.org/.\n\n"
_BARN = "# Beta Barn\n\nOlga Frost met Karl Stein in Bremen. See https://b.example.org/.\n\n"


class _KilledError(Exception):
    """Stands for the end of the process."""


def write(folder: Path, *, later: bool) -> None:
    """Files of every kind that brings more into a graph than its text, in one of two versions."""
    kept = "\n\n".join(PARAGRAPHS[:3])
    folder.mkdir(exist_ok=True)
    (folder / "mill.md").write_text((_BARN + "\n\n".join(PARAGRAPHS[4:]) if later else _MILL) + kept)
    (folder / "pond.md").write_text("# Pond\n\nAnna Berg swims near Alpha Mill, Karl Stein in the Beta Barn.")
    city = "Bremen" if later else "Hamburg"
    (folder / "people.csv").write_text(f"name,city\nKarl Stein,{city}\nAnna Berg,Ulm\n" + "Ida Falk,Jena\n" * later)
    (folder / "code.py").write_text(
        f"import {'json' if later else 'os'}\n\n\ndef {'later' if later else 'sooner'}():\n    pass\n"
    )


async def other_version(kb: KnowledgeBase, tmp_path: Path) -> list[str]:
    """Export a graph to all.jsonl, then ingest another version of its files; returns what was exported."""
    folder = tmp_path / "files"
    write(folder, later=False)
    await kb.ingest(folder)
    before = await snapshot(kb.client)
    await kb.export(tmp_path / "all.jsonl")
    write(folder, later=True)
    assert (await kb.ingest(folder)).documents.updated == 3
    return before


async def test_an_import_leaves_the_version_of_the_file(file: Path, tmp_path: Path) -> None:
    async with opened(file) as kb:
        before = await other_version(kb, tmp_path)
        assert await snapshot(kb.client) != before
        await kb.import_(tmp_path / "all.jsonl")
        assert await snapshot(kb.client) == before
        assert not any((await orphans(kb.client)).values())
        assert (await kb.doctor()).healthy
        assert (await kb.ingest(tmp_path / "files")).documents.updated == 3  # the files are later ones


@pytest.mark.parametrize("last", [Label.DOCUMENT, Label.CHUNK, Label.VECTOR, Label.ENTITY, "SOURCED_FROM", "CHUNK_OF"])
async def test_after_an_interrupted_import_an_ingest_completes_the_documents(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, last: str
) -> None:
    """The documents were there without their chunks, and counted as unchanged; or their chunks were in the way."""
    folder = tmp_path / "files"
    write(folder, later=False)
    async with opened(tmp_path / "one.grafeo") as kb:
        await kb.ingest(folder)
        before = await snapshot(kb.client)
        await kb.export(tmp_path / "all.jsonl")
    put = MemGraphClient._put_in

    async def interrupted(self: MemGraphClient, kind: tuple[str, ...], *others: Any) -> None:
        await put(self, kind, *others)
        if kind[1] == last:
            raise _KilledError

    async with opened(tmp_path / "two.grafeo") as kb:
        with monkeypatch.context() as patch:
            patch.setattr(MemGraphClient, "_put_in", interrupted)
            with pytest.raises(_KilledError):
                await kb.import_(tmp_path / "all.jsonl")
        report = await kb.ingest(folder)
        assert (report.documents.added, report.documents.updated) == (0, 4)
        await kb.doctor(repair=True)
        assert await snapshot(kb.client) == before
        assert (await kb.ingest(folder)).documents.unchanged == 4


async def test_an_import_of_which_somebody_removes_a_part_is_not_complete(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As somebody does who deletes the document. Nobody learned that its chunks were left alone."""
    async with opened(tmp_path / "one.grafeo") as kb:
        await kb.ingest([Document(path="note", content="\n\n".join(PARAGRAPHS))])
        await kb.export(tmp_path / "all.jsonl")
    put = MemGraphClient._put_in

    async def deleted(self: MemGraphClient, kind: tuple[str, ...], *others: Any) -> None:
        await put(self, kind, *others)
        if kind[1] == Label.CHUNK:
            await kb.delete("note")

    async with opened(tmp_path / "two.grafeo") as kb:
        with monkeypatch.context() as patch:
            patch.setattr(MemGraphClient, "_put_in", deleted)
            with pytest.raises(StoreConflictError, match="The import is not complete"):
                await kb.import_(tmp_path / "all.jsonl")
        await kb.import_(tmp_path / "all.jsonl")
        assert (await kb.doctor()).healthy
        assert (await kb.search("mill turned 5 times"))[0].path == "note"


async def test_an_earlier_version_is_found_by_its_title_at_once(file: Path, tmp_path: Path) -> None:
    async with opened(file) as kb:
        await kb.ingest([Document(path="one", title="Zanzibar Harbour", content=PARAGRAPHS[0])])
        await kb.export(tmp_path / "earlier.jsonl")
        await kb.ingest([Document(path="one", title="Kilimanjaro Summit", content=PARAGRAPHS[0])])
        await kb.ingest([Document(path="two", content=PARAGRAPHS[1])])  # changed last, before and after the import

        async def found(query: str) -> list[str]:
            return [hit.path for hit in await kb.search(query, mode="fuzzy")]

        assert await found("Kilimanjro Sumit") == ["one"]
        await kb.import_(tmp_path / "earlier.jsonl")
        assert await found("Zanzbar Harbuor") == ["one"]
        assert await found("Kilimanjro Sumit") == []


async def test_answers_know_only_the_earlier_fact_at_once(file: Path, tmp_path: Path) -> None:
    async with opened(file) as kb:
        await kb.ingest([Document(path="one", content="# Owners\n\nAnna Berg met Karl Stein and Olga Frost.")])
        await kb.link("Anna Berg", "Karl Stein", "owns", fact="Anna Berg owns the red mill of Karl Stein.")
        await kb.export(tmp_path / "earlier.jsonl")
        await kb.link("Anna Berg", "Karl Stein", "owns", fact="Anna Berg owns the blue barn of Karl Stein.")
        await kb.link("Olga Frost", "Karl Stein", "knows", fact="They met.")  # last, also after the import

        async def facts() -> list[str]:
            answer = await kb.ask("What does Anna Berg own?", strategy="flow")
            return [fact.fact for fact in answer.facts if "owns" in fact.fact]

        assert await facts() == ["Anna Berg owns the blue barn of Karl Stein."]
        await kb.import_(tmp_path / "earlier.jsonl")
        assert await facts() == ["Anna Berg owns the red mill of Karl Stein."]


async def test_an_import_that_was_killed_is_completed_by_another(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(file) as kb:
        before = await other_version(kb, tmp_path)

        async def killed(_: MemGraphClient, __: ExportReader) -> None:
            raise KeyboardInterrupt

        with monkeypatch.context() as patched:
            patched.setattr(MemGraphClient, "read_section", killed)
            with pytest.raises(KeyboardInterrupt):
                await kb.import_(tmp_path / "all.jsonl")
        await kb.import_(tmp_path / "all.jsonl")
        assert await snapshot(kb.client) == before


async def test_an_ingest_completes_what_a_killed_import_left(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(file) as kb:
        await other_version(kb, tmp_path)
        later = await snapshot(kb.client)

        async def killed(_: MemGraphClient, __: ExportReader) -> None:
            raise KeyboardInterrupt

        monkeypatch.setattr(MemGraphClient, "read_section", killed)
        with pytest.raises(KeyboardInterrupt):
            await kb.import_(tmp_path / "all.jsonl")
        assert (await kb.ingest(tmp_path / "files")).documents.updated == 3
        assert await snapshot(kb.client) == later


async def test_what_the_file_lacks_altogether_stays(file: Path, tmp_path: Path) -> None:
    async with opened(file) as kb:
        await other_version(kb, tmp_path)
        await kb.ingest([Document(path="mine", content="Olga Frost owns the Beta Barn, and Ida Falk a boat.")])
        mill = str(tmp_path / "files" / "mill.md")
        await kb.client.track_user_viewed_document("ann", mill)
        chunk = (await kb.client.get_document_chunks(mill))[0]["chunk_id"]
        await kb.client.add_triples(
            [
                Triple("Olga Frost", "knows", "Karl Stein", chunk_ids=(chunk,)),
                Triple("Olga Frost", "likes", "Karl Stein"),
            ]
        )
        await kb.import_(tmp_path / "all.jsonl")
        assert (await kb.client.find_document("mine")) is not None
        facts = await kb.client.read(
            "MATCH (:Entity)-[r:RELATED]->(:Entity) WHERE r.origin = 'caller' RETURN r.type AS t"
        )
        assert facts == [{"t": "likes"}]  # no chunk supports the other one any more
        counts = await kb.client.read(
            "MATCH (e:Entity) WHERE e.name IN ['Olga Frost', 'Ida Falk'] RETURN e.name AS name, e.mention_count AS n"
        )
        assert {row["name"]: row["n"] for row in counts} == {"Olga Frost": 1, "Ida Falk": 1}
        assert (await kb.client.read("MATCH (:User)-[v:VIEWED]->(:Document) RETURN count(v) AS n")) == [{"n": 1}]
        assert (await kb.doctor()).healthy


async def test_a_title_that_both_graphs_have_outlives_one_of_its_documents(tmp_path: Path) -> None:
    for name in ("one", "two"):
        async with opened(tmp_path / f"{name}.grafeo") as kb:
            await kb.ingest([Document(path=name, title="Alpha Mill", content=f"What {name} says of it.")])
            await kb.export(tmp_path / f"{name}.jsonl")
    async with opened(tmp_path / "one.grafeo") as kb:
        await kb.ingest([Document(path="pond", content="The pond is near Alpha Mill.")])
        await kb.import_(tmp_path / "two.jsonl")
        assert (await kb.doctor()).healthy
        await kb.delete("two")
        mentioned = await kb.client.read(
            "MATCH (c:DocumentChunk {path: 'pond'})-[:MENTIONS]->(e:Entity {name: 'Alpha Mill'}) RETURN e.titled AS n"
        )
        assert mentioned == [{"n": 1}]


#: Two documents that refer to one another, and say the same.
_PAIR = {
    "one": Document(
        path="one", title="One", content="Anna Berg knows Karl Stein, says one.", links=(Link("two", "the other"),)
    ),
    "two": Document(
        path="two", title="Two", content="Anna Berg knows Karl Stein, says two.", links=(Link("one", "the other"),)
    ),
}


async def graph_of(kb: KnowledgeBase, names: tuple[str, ...]) -> None:
    """Documents of the pair, and facts that they support: found by a model, and stated by a caller."""
    await kb.ingest([_PAIR[name] for name in names])
    chunks = {name: (await kb.client.get_document_chunks(name))[0]["chunk_id"] for name in names}
    facts = {
        chunk: ChunkFacts.of(
            [("Anna Berg", "person"), ("Karl Stein", "person")],
            [("Anna Berg", "knows", "Karl Stein", f"Anna Berg knows Karl Stein ({name}).")],
        )
        for name, chunk in chunks.items()
    }
    await kb.client.write_chunk_facts(facts, "model")
    cited = tuple(sorted(chunks.values()))
    await kb.client.add_triples([Triple("Anna Berg", "met", "Karl Stein", chunk_ids=cited)])


@pytest.mark.parametrize(("into", "of"), [("one", "two"), ("two", "one")])
async def test_what_both_graphs_support_has_the_support_of_both(into: str, of: str, tmp_path: Path) -> None:
    async with opened(tmp_path / "whole.grafeo") as kb:
        await graph_of(kb, ("one", "two"))
        whole = await snapshot(kb.client)
    for name in (into, of):
        async with opened(tmp_path / f"{name}.grafeo") as kb:
            await graph_of(kb, (name,))
            await kb.export(tmp_path / f"{name}.jsonl")
    async with opened(tmp_path / f"{into}.grafeo") as kb:
        for _ in range(2):  # again changes nothing
            await kb.import_(tmp_path / f"{of}.jsonl")
            assert await snapshot(kb.client) == whole
        await kb.delete(of)
        assert await snapshot(kb.client) == await without(of, tmp_path)


async def without(name: str, tmp_path: Path) -> list[str]:
    """What a graph of both is without one of them."""
    async with opened(tmp_path / "fresh.grafeo") as kb:
        await graph_of(kb, ("one", "two"))
        await kb.delete(name)
        return await snapshot(kb.client)


async def test_a_fact_of_the_caller_s_own_does_not_come_to_hang_on_chunks(tmp_path: Path) -> None:
    for name in ("one", "two"):
        async with opened(tmp_path / f"{name}.grafeo") as kb:
            await kb.ingest([_PAIR[name]])
            cited = [row["chunk_id"] for row in await kb.client.get_document_chunks(name)]
            chunks = tuple(cited) if name == "two" else ()
            await kb.client.add_triples([Triple("Anna Berg", "met", "Karl Stein", chunk_ids=chunks)])
            await kb.export(tmp_path / f"{name}.jsonl")
    for into, of in (("one", "two"), ("two", "one")):
        async with opened(tmp_path / f"{into}.grafeo") as kb:
            await kb.import_(tmp_path / f"{of}.jsonl")
            await kb.delete("two")
            assert await kb.client.read("MATCH (:Entity)-[r:RELATED]->(:Entity) RETURN r.type AS t") == [{"t": "met"}]
