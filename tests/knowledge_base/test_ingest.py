"""Ingesting: what is added, replaced, reused, reported and told."""

from __future__ import annotations

from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest

from core.rag import KnowledgeBase, MemGraphClient
from core.rag.errors import InvalidInputError
from core.rag.indexing import TextSplitter
from libs.dataloader import Document, DocumentChunk, Link
from libs.dataloader.types import ChunkMetadata
from tests.dbhandler.kit import make_settings
from tests.embedders import HashEmbedder, ShortSightedEmbedder
from tests.graphs import orphans, snapshot
from tests.knowledge_base.notes import PARAGRAPHS, document, text


async def test_a_first_ingest_adds_documents_with_chunks_vectors_and_a_source(kb: KnowledgeBase) -> None:
    report = await kb.ingest([document("a", text(0, 1)), document("b", text(2))])

    assert report.documents.added == 2
    assert report.documents.failed == []
    assert report.chunks == report.vectors.embedded >= 3
    counts = await kb.client.counts()
    assert counts["nodes"]["Document"] == 2
    assert counts["nodes"]["DocumentChunk"] == counts["nodes"]["Vector"] == report.chunks
    assert counts["edges"]["CHUNK_OF"] == counts["edges"]["EMBEDDING_OF"] == report.chunks
    assert counts["edges"]["SOURCED_FROM"] == 2
    assert not any((await orphans(kb.client)).values())


async def test_running_text_is_kept_whole_up_to_two_chunks_unless_their_size_is_given(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    notes = [document(str(number), " ".join(f"Stone {i} turns well." for i in range(number))) for number in (60, 200)]

    async def sizes(**options: Any) -> list[int]:
        async with KnowledgeBase.open("embedded::memory:", **options) as kb:
            await kb.ingest(notes)
            return [len((await kb.show(path))["chunks"]) for path in ("60", "200")]

    count = TextSplitter().count_tokens
    assert 256 < count(notes[0].content) < 512 < count(notes[1].content)
    whole, cut = await sizes()
    assert whole == 1 < cut
    assert await sizes(chunk_size=256) == [2, cut]
    monkeypatch.setenv("MGRAG_CHUNK_SIZE", "256")
    assert await sizes() == [2, cut]


async def test_a_text_that_is_whole_and_too_long_for_the_model_is_embedded_in_pieces() -> None:
    """One that has a chunk's size at most was cut as its caller wanted, and is refused."""
    long, short = (" ".join(f"Stone {i} turns well." for i in range(number)) for number in (60, 20))
    for chunk_size, failed in ((None, ["short"]), (512, ["long", "short"])):
        embedder = ShortSightedEmbedder()
        async with KnowledgeBase.open("embedded::memory:", embedder=embedder, chunk_size=chunk_size) as kb:
            report = await kb.ingest([document("long", long), document("short", short), document("a", "A mill.")])
            assert [item.path for item in report.documents.failed] == failed
            assert all(f"{item.path} (chunk 0)" in item.reason for item in report.documents.failed)
            assert [hit.path for hit in await kb.search("stone 59 turns", mode="vector", k=1)] == (
                ["a"] if "long" in failed else ["long"]
            )


async def test_a_second_ingest_of_the_same_changes_nothing(kb: KnowledgeBase) -> None:
    documents = [document("a", text(0, 1)), document("b", text(2))]
    await kb.ingest(documents)
    before = await snapshot(kb.client)

    report = await kb.ingest(documents)

    assert (report.documents.added, report.documents.updated, report.documents.unchanged) == (0, 0, 2)
    assert (report.chunks, report.vectors.embedded, report.vectors.reused) == (0, 0, 0)
    assert await snapshot(kb.client) == before


async def test_a_changed_document_embeds_only_its_changed_chunks_and_equals_a_fresh_graph(kb: KnowledgeBase) -> None:
    await kb.ingest([document("a", text(0, 1, 2))])
    chunks_before = {chunk["chunk_id"] for chunk in await kb.client.get_document_chunks("a")}

    report = await kb.ingest([document("a", text(0, 3, 2))])

    assert (report.documents.updated, report.documents.added) == (1, 0)
    assert 0 < report.vectors.embedded < report.chunks
    assert report.vectors.embedded + report.vectors.reused == report.chunks
    chunks_after = {chunk["chunk_id"] for chunk in await kb.client.get_document_chunks("a")}
    assert chunks_before & chunks_after, "chunks whose text stayed keep their nodes"
    async with KnowledgeBase.open("embedded::memory:", namespace=kb.namespace, embedder=HashEmbedder()) as fresh:
        await fresh.ingest([document("a", text(0, 3, 2))])
        assert await snapshot(kb.client) == await snapshot(fresh.client)


async def test_equal_texts_are_two_documents_that_share_vectors(kb: KnowledgeBase) -> None:
    first = await kb.ingest([document("a.txt", text(0, 1))])
    second = await kb.ingest([document("copy/a.txt", text(0, 1))])

    assert second.documents.added == 1
    assert (second.vectors.embedded, second.vectors.reused) == (0, first.chunks)
    counts = await kb.client.counts()
    assert counts["nodes"]["Document"] == 2
    assert counts["nodes"]["Vector"] == first.chunks
    assert counts["edges"]["EMBEDDING_OF"] == 2 * first.chunks

    await kb.delete("a.txt")
    assert not any((await orphans(kb.client)).values())
    hits = await kb.search(PARAGRAPHS[0], mode="vector")
    assert {hit.path for hit in hits} == {"copy/a.txt"}

    await kb.delete("copy/a.txt")
    assert (await kb.client.counts())["nodes"] == {"VectorStore": 1}


async def test_the_same_path_twice_in_one_run_ends_as_the_last(kb: KnowledgeBase) -> None:
    await kb.ingest([document("a", text(0)), document("b", text(1)), document("a", text(2)), document("a", text(3))])
    found = await kb.client.find_document("a")
    assert found is not None
    assert found["content"] == text(3)
    assert not any((await orphans(kb.client)).values())


async def test_metadata_alone_can_change(kb: KnowledgeBase) -> None:
    await kb.ingest([document("a", text(0), metadata={"author": "Ines"})])
    report = await kb.ingest([document("a", text(0), metadata={"author": "Tomasz"})])
    assert report.documents.updated == 1
    assert report.vectors.embedded == 0
    found = await kb.client.find_document("a")
    assert found is not None
    assert found["metadata"] == {"author": "Tomasz"}


async def test_a_document_that_cannot_be_stored_is_reported_and_the_rest_goes_on(kb: KnowledgeBase) -> None:
    report = await kb.ingest(
        [document("good", text(0)), document("bad", text(1), metadata={"x": object()}), document("", text(2))]
    )
    assert report.documents.added == 1
    assert [item.path for item in report.documents.failed] == ["bad", ""]
    assert "JSON" in report.documents.failed[0].reason


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("content", None, "content of the document 'rows/2' must be text, but is None"),
        ("content", b"bytes", "content of the document 'rows/2' must be text, but is of type bytes"),
        ("path", 2, "path of the document 2 must be text, but is of type int"),
        ("title", 2, "title of the document 'rows/2' must be text, but is of type int"),
        ("metadata", ["tag"], "metadata of the document 'rows/2' must be a mapping, but is of type list"),
        ("fingerprint", None, "fingerprint of the document 'rows/2' must be a mapping, but is None"),
        ("links", ["https://example.org/"], "links of the document 'rows/2' must be a sequence of Link"),
        ("locations", {"page": 2}, "locations of the document 'rows/2' must be sequences of pairs"),
        ("records", [{"name": "Ada"}], "records of the document 'rows/2' must be a sequence of pairs"),
    ],
)
async def test_a_document_that_is_made_of_other_than_texts_is_reported(
    kb: KnowledgeBase, field: str, value: object, said: str
) -> None:
    """Rows of a database, say: the others are stored."""
    odd = document("rows/2", text(1))
    setattr(odd, field, value)

    report = await kb.ingest([document("rows/1", text(0)), odd, document("rows/3", text(2))])

    assert report.documents.added == 2
    assert [(failure.path, said in failure.reason) for failure in report.documents.failed] == [(str(odd.path), True)]


async def test_a_document_may_have_no_metadata(kb: KnowledgeBase) -> None:
    bare = document("rows/1", text(0))
    bare.metadata = None  # type: ignore[assignment]
    assert (await kb.ingest([bare])).documents.added == 1
    assert (await kb.ingest([bare])).documents.unchanged == 1
    assert [row["metadata"] for row in await kb.documents()] == [{}]


async def test_half_an_emoji_anywhere_in_a_document_loses_nothing(kb: KnowledgeBase) -> None:
    half = "\ud83d"
    broken = [
        document("content", f"{text(0)} {half}"),
        document("title", text(1), title=f"A {half} title"),
        document("metadata", text(2), metadata={"tags": [f"x{half}"], f"key{half}": 1}),
        document("links", text(3), links=(Link("https://example.org/" + half, half),)),
        document("records", text(0), records=[(0, {"name": f"Half {half} Co"})]),
        document("path" + half, text(1)),
    ]
    report = await kb.ingest([document("good", text(0)), *broken, document("too", text(1))])

    assert (report.documents.added, report.documents.failed) == (8, [])
    found = await kb.client.find_document("content")
    assert found is not None
    assert found["content"] == f"{text(0)} \ufffd"
    assert "path\\ud83d" in {row["path"] for row in await kb.client.list_documents()}
    assert (await kb.ingest(broken)).documents.unchanged == 6


async def test_what_the_graph_refuses_is_reported_and_the_rest_goes_on(tmp_path: Path) -> None:
    """The embedded engine keeps no text of more than 16 MiB."""
    async with KnowledgeBase.open(f"embedded:{tmp_path}/g.grafeo", embedder=HashEmbedder()) as kb:
        large = document("large", text(1), metadata={"scan": "x" * 17_000_000})
        report = await kb.ingest([document("first", text(0)), large, document("last", text(2))])

        assert (report.documents.added, report.vectors.embedded) == (2, report.chunks)
        assert [item.path for item in report.documents.failed] == ["large"]
        assert "16 MiB" in report.documents.failed[0].reason
        assert {row["path"] for row in await kb.client.list_documents()} == {"first", "last"}
        assert not any((await orphans(kb.client)).values())


async def test_a_text_longer_than_a_property_is_ingested(tmp_path: Path) -> None:
    """The embedded engine keeps 16 MiB in a property."""
    file = tmp_path / "words.txt"
    sentences = [f"Sentence {number} tells of {'🏴󠁧󠁢󠁷󠁬󠁳󠁿 ' * 70}and ends.\n" for number in range(8_500)]
    file.write_text("".join(sentences))
    assert file.stat().st_size > 16 << 20
    graph = f"embedded:{tmp_path}/g.grafeo"
    settings = make_settings(MGRAG_CHUNK_SIZE=2048, MGRAG_EXTRACTION=False)
    async with KnowledgeBase.open(graph, embedder=HashEmbedder(), settings=settings) as kb:
        report = await kb.ingest([file])
        assert (report.documents.added, report.documents.failed) == (1, [])
    async with KnowledgeBase.open(graph, embedder=HashEmbedder(), settings=settings) as kb:
        found = await kb.client.find_document(str(file))
        assert found is not None
        assert found["content"] == file.read_text()
        hit = (await kb.search("Sentence 8499", k=1, mode="keyword"))[0]
        assert found["content"][hit.start_char : hit.end_char] == hit.content
        assert "Sentence 8499" in hit.content
        assert (await kb.ingest([file])).documents.unchanged == 1


@pytest.mark.parametrize(
    "texts",
    [
        ["one\x1ftwo", "three"],
        ["one", "two\x1ethree"],
        ["\x1e\x1f\x1e", "\x1f\x1e\x1f"],
        ["one\x1f\x1etwo\x1f", "\x1d\x1c\x0b"],
        ["line\r\n\u2028end", "\ttab 'quoted' \"twice\" \\n $rows {row} 🏴󠁧󠁢󠁷󠁬󠁳󠁿"],
    ],
    ids=repr,
)
async def test_texts_come_back_as_they_were_whatever_separates_rows(kb: KnowledgeBase, texts: list[str]) -> None:
    given = {f"path {number}": f"words before {text} words behind" for number, text in enumerate(texts)}

    report = await kb.ingest([Document(path=path, content=content) for path, content in given.items()])

    assert report.documents.added == len(given)
    for path, content in given.items():
        found = await kb.client.find_document(path)
        assert found is not None
        assert found["content"] == content
        chunks = await kb.client.get_document_chunks(path)
        assert [(c["content"], c["chunk_index"], c["start_char"], c["end_char"]) for c in chunks] == [
            (content, 0, 0, len(content))
        ]


async def test_links_become_references_and_follow_what_is_there(kb: KnowledgeBase) -> None:
    links = (Link("b", "the other"), Link("https://example.org/x", "a page"))
    await kb.ingest([document("a", text(0), links=links)])
    assert (await kb.client.counts())["nodes"]["Resource"] == 2

    await kb.ingest([document("b", text(1))])
    counts = await kb.client.counts()
    assert counts["nodes"]["Resource"] == 1, "the resource became a document"
    assert counts["edges"]["REFERENCES"] == 2
    together = await snapshot(kb.client)

    await kb.delete("b")
    assert (await kb.client.counts())["nodes"]["Resource"] == 2
    await kb.ingest([document("b", text(1))])
    assert await snapshot(kb.client) == together

    await kb.ingest([document("a", text(0))])
    assert "Resource" not in (await kb.client.counts())["nodes"]


class ByLine(TextSplitter):
    """Splits as nobody else does."""

    @property
    def fingerprint(self) -> str:
        return "by line"

    def split(self, document: Document, parent_id: str | None = None) -> list[DocumentChunk]:
        end = 0
        chunks: list[DocumentChunk] = []
        for line in document.content.splitlines(keepends=True):
            start, end = end, end + len(line)
            metadata = ChunkMetadata(row=len(chunks) + 1)
            chunks.append(
                DocumentChunk(
                    document.path, line, metadata=metadata, start_char=start, end_char=end, heading=f"> {start}"
                )
            )
        return chunks


async def test_a_splitter_of_ones_own_splits() -> None:
    embedder = HashEmbedder()
    client = MemGraphClient("embedded::memory:", embedder=embedder)
    async with KnowledgeBase(client, embedder, settings=make_settings(), splitter=ByLine()) as kb:
        await kb.ingest([Document("a", "first\nsecond\nthird")])
        chunks = await client.get_document_chunks("a")
    assert [chunk["content"] for chunk in chunks] == ["first\n", "second\n", "third"]
    assert [chunk["heading"] for chunk in chunks] == ["> 0", "> 6", "> 13"]
    assert [chunk["metadata"]["row"] for chunk in chunks] == [1, 2, 3]


async def test_unknown_options_and_sources_are_refused(kb: KnowledgeBase) -> None:
    with pytest.raises(InvalidInputError, match="colour"):
        await kb.ingest([document("a", text(0))], colour="red")
    with pytest.raises(InvalidInputError, match="int"):
        await kb.ingest([42])  # type: ignore[list-item]


async def test_a_document_given_twice_is_written_and_counted_once(kb: KnowledgeBase) -> None:
    twice = [Document("note", "The mill turns."), Document("note", "The mill turns.")]
    report = await kb.ingest([twice, (document for document in twice)])
    assert (report.documents.added, report.documents.updated, report.documents.unchanged) == (1, 0, 0)
    report = await kb.ingest([twice, (document for document in twice)])
    assert (report.documents.added, report.documents.updated, report.documents.unchanged) == (0, 0, 1)


async def test_dates_in_metadata_are_kept_as_text_and_filtered_by(kb: KnowledgeBase) -> None:
    moment = datetime(2026, 3, 1, 12, 30, tzinfo=UTC)
    notes = [
        Document("old", "The mill turns.", metadata={"when": date(2025, 12, 31)}),
        Document("new", "The mill rests.", metadata={"when": date(2026, 1, 1), "seen": {"last": [moment]}}),
    ]
    report = await kb.ingest(notes)
    assert (report.documents.added, report.documents.failed) == (2, [])
    assert (await kb.ingest(notes)).documents.unchanged == 2
    await kb.client.create_document("by hand", "A quay.", metadata={"when": moment})
    await kb.client.create_document_chunk("by hand", "A quay.", metadata={"when": date(2026, 1, 2)})

    stored = {row["path"]: row["metadata"] for row in await kb.client.list_documents()}
    assert stored == {
        "old": {"when": "2025-12-31"},
        "new": {"when": "2026-01-01", "seen": {"last": ["2026-03-01T12:30:00+00:00"]}},
        "by hand": {"when": "2026-03-01T12:30:00+00:00"},
    }
    assert (await kb.client.get_document_chunks("by hand"))[0]["metadata"] == {"when": "2026-01-02"}
    for filters, paths in (
        ("metadata.when>=2026-01-01", {"new", "by hand"}),
        ({"metadata.when": {"<": date(2026, 1, 1)}}, {"old"}),
        ({"metadata.when": date(2026, 1, 1)}, {"new"}),
        ({"metadata.seen.last": moment}, {"new"}),
    ):
        found = await kb.search("mill quay", k=10, mode="keyword", filters=filters)
        assert {hit.path for hit in found} == paths, filters


async def test_a_document_that_cannot_be_stored_any_more_is_reported_and_the_rest_goes_on(kb: KnowledgeBase) -> None:
    await kb.ingest([Document("note", "The mill turns.")])
    report = await kb.ingest([Document("note", "The mill turns.", metadata={"x": object()}), Document("b", "A quay.")])
    assert [item.path for item in report.documents.failed] == ["note"] and report.documents.added == 1


async def test_a_file_that_is_cut_short_is_told(kb: KnowledgeBase, tmp_path: Path) -> None:
    """It was read as text without a word."""
    (tmp_path / "mills.json").write_text('[\n  {"mill": "Harrow", "wheels": 2},\n  {"mill": "Low')
    report = await kb.ingest(tmp_path)
    assert report.documents.added == 1
    assert report.warnings == [
        f"{tmp_path}/mills.json: it ends in line 3, in the middle of its data; what is there was read."
    ]


async def test_pages_that_are_images_are_told(kb: KnowledgeBase) -> None:
    many = document("many.pdf", text(0), metadata={"page_count": 9, "pages_without_text": [2, 4, 5, 6, 9]})
    one = document("one.pdf", text(1), metadata={"page_count": 3, "pages_without_text": [3]})
    assert (await kb.ingest([many, one, document("all.pdf", text(2), metadata={"page_count": 2})])).warnings == [
        "many.pdf: its pages 2, 4-6, 9 of 9 hold no text (scanned pages need OCR).",
        "one.pdf: its page 3 of 3 holds no text (scanned pages need OCR).",
    ]


@pytest.mark.parametrize(
    "kind", [{}, {"format": "markdown"}, {"mime_type": "text/markdown; charset=utf-8"}], ids=["path", "format", "type"]
)
async def test_markdown_that_is_passed_is_read_like_a_file_of_it(kb: KnowledgeBase, kind: dict[str, Any]) -> None:
    words = "# Mills\n\n## Tide\n\nSee [the pond](../pond.md), `[not](code.md)` and <https://example.org/x>."
    await kb.ingest([Document(path="notes/mills.md", content=words, **kind)])
    (hit,) = await kb.search("pond")
    assert (hit.title, hit.heading, hit.content) == ("Mills", "Tide", words)
    to = "MATCH (:Document {path: 'notes/mills.md'})-[:REFERENCES]->(t) RETURN labels(t)[0] AS label, t.uri AS uri"
    rows = await kb.client.query(f"{to} ORDER BY uri")
    assert [row["uri"] for row in rows] == ["https://example.org/x", "pond.md"]

    await kb.ingest([Document(path="pond.md", content="# Pond\n\nIt fills with the tide.")])
    assert {"label": "Document", "uri": "pond.md"} in await kb.client.query(to)


async def test_headings_of_parts_are_no_title_of_markdown_that_is_passed(kb: KnowledgeBase) -> None:
    parts = "## Overview\n\nOf the pond.\n\n## Details\n\nOf the sluice."
    await kb.ingest([Document(path="notes/pond", content=parts, format="markdown")])
    await kb.ingest([Document(path="notes/weir", title="A weir", content="# Weir\n\nOf clay.", format="markdown")])
    assert {hit.title for hit in await kb.search("pond sluice weir clay")} == {"pond", "A weir"}


async def test_plain_text_that_is_passed_stays_plain(kb: KnowledgeBase) -> None:
    words = "# 7 of 9\n\nWrite [words](address) for a link."
    await kb.ingest(
        [Document(path="a.txt", content=words), Document(path="b.md", content=words, mime_type="text/plain")]
    )
    assert {hit.heading for hit in await kb.search("words")} == {""}
    assert (await kb.client.counts())["nodes"].get("Resource", 0) == 0
