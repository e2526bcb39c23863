"""Large documents: those that are too large for the memory are reported, and others can write between them."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

import pytest
from openpyxl import Workbook

from core.rag import KnowledgeBase
from core.rag.indexing import limits
from core.rag.settings import Settings
from libs.dataloader import Document
from tests.dbhandler.kit import make_settings
from tests.embedders import HashEmbedder
from tests.graphs import orphans

COLUMNS = ("id", "customer", "city")


def rows(number: int) -> list[tuple[int, str, str]]:
    return [(row, f"Customer {row}", f"City {row % 7}") for row in range(number)]


def write(file: Path, number: int) -> None:
    """Write a table."""
    table = rows(number)
    match file.suffix:
        case ".csv":
            file.write_text("\n".join([",".join(COLUMNS), *(",".join(map(str, row)) for row in table)]) + "\n")
        case ".jsonl":
            file.write_text("".join(json.dumps(dict(zip(COLUMNS, row, strict=True))) + "\n" for row in table))
        case _:
            book = Workbook()
            for row in (COLUMNS, *table):
                book.worksheets[0].append(row)
            book.save(file)


def settings(most: int | None) -> Settings:
    return make_settings(MGRAG_MAX_CHUNKS=most)


@pytest.mark.parametrize("name", ["m.csv", "m.jsonl", "m.xlsx"])
async def test_a_table_with_too_many_rows_is_named_and_the_rest_is_ingested(tmp_path: Path, name: str) -> None:
    folder, graph = tmp_path / "folder", f"embedded:{tmp_path}/g.grafeo"
    folder.mkdir()
    (folder / "a.md").write_text("# First\n\nThe mill is near the river.\n")
    (folder / "z.md").write_text("# Last\n\nThe river is near the mill.\n")
    write(folder / name, 3)
    async with KnowledgeBase.open(graph, embedder=HashEmbedder(), settings=settings(20)) as kb:
        assert (await kb.ingest([folder])).documents.added == 3
        write(folder / name, 1_000)
        (folder / "z.md").write_text("# Last\n\nThe river has moved.\n")
        for updated in (1, 0):  # and again
            report = await kb.ingest([folder])

            assert (report.documents.updated, len(report.documents.failed)) == (updated, 1)
            [failed] = report.documents.failed
            assert failed.path.endswith(name)
            assert "the limit is 20" in failed.reason and "MGRAG_MAX_CHUNKS" in failed.reason
            assert sum((await kb.client.collections()).values()) == 3  # what it said before is still there
            assert not any((await orphans(kb.client)).values())
    async with KnowledgeBase.open(graph, embedder=HashEmbedder(), settings=settings(10_000)) as kb:
        report = await kb.ingest([folder])
        assert (report.documents.updated, report.documents.failed) == (1, [])
        assert sum((await kb.client.collections()).values()) == 1_000


async def test_without_a_setting_the_limit_follows_from_the_memory(
    kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "memory_limit", lambda: 10 * limits.BYTES_PER_CHUNK)
    long = Document(
        path="long", content="\n\n".join(f"Paragraph {number} is about a mill. " * 30 for number in range(50))
    )

    report = await kb.ingest([long, Document(path="short", content="A mill.")])

    assert report.documents.added == 1
    assert [failed.path for failed in report.documents.failed] == ["long"]
    assert "the limit is 7" in report.documents.failed[0].reason


async def test_others_can_write_to_an_embedded_graph_between_the_documents_of_a_large_batch() -> None:
    written = [0]
    notes = [Document(path=f"note/{number}", content=f"Note {number} is short.") for number in range(200)]
    book = Document(path="book", content="\n\n".join(f"## Part {n}\n\n{'Words of it. ' * 70}" for n in range(150)))
    async with KnowledgeBase.open("embedded::memory:") as kb:
        await kb.ingest([*notes, book], progress=lambda report: written.append(report.chunks))
        of_book = len((await kb.show("book"))["chunks"])
    steps = [after - before for before, after in pairwise(written)]
    assert of_book > 128 and of_book in steps  # a document is there as a whole, or not at all
    assert max(step for step in steps if step != of_book) <= 128 and sum(steps) == 200 + of_book
