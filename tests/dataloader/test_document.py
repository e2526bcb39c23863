"""Loading: what is given, what is found unchanged, what is reported, and what it costs."""

from __future__ import annotations

import asyncio
import functools
import threading
import time
import tracemalloc
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from libs.dataloader import Document, DocumentLoader, KnownDocument, LoadFailure, Unchanged, reading
from libs.dataloader.formats import FileData, read_document
from tests.dataloader.filetools import Loaded, Memory, load, tree


async def test_a_document_has_everything(tmp_path: Path) -> None:
    tree(tmp_path, {"a.md": "# Title\n\nSee [b](b.md).\n"})
    (document,) = (await load(tmp_path)).documents.values()
    assert document.title == "Title"
    assert document.mime_type == "text/markdown"
    assert document.format == "markdown"
    assert document.content == "# Title\n\nSee [b](b.md).\n"
    assert len(document.fingerprint["sha256"]) == 64


async def test_failures_are_reported_and_the_rest_goes_on(tmp_path: Path) -> None:
    tree(
        tmp_path,
        {
            "a.md": "first",
            "binary.bin": bytes(range(256)) * 10,
            "broken.docx": b"PK\x03\x04 cut off",
            "empty.txt": "",
            "large.txt": "x" * 5001,
            "photo.png": b"\x89PNG\r\n\x1a\n" + bytes(100),
            "z.md": "last",
        },
    )
    loaded = await load(tmp_path, max_bytes=5000)
    assert [Path(result.path).name for result in loaded.results] == [
        "a.md", "binary.bin", "broken.docx", "empty.txt", "large.txt", "photo.png", "z.md",
    ]  # fmt: skip
    reasons = {Path(path).name: reason for path, reason in loaded.failures.items()}
    assert reasons["binary.bin"] == "it is in an unknown binary format"
    assert "damaged" in reasons["broken.docx"]
    assert reasons["empty.txt"] == "it is empty"
    assert reasons["large.txt"] == "it is too large: 5,001 bytes; the limit is 5,000 bytes"
    assert reasons["photo.png"] == "it is a PNG image"


async def test_a_page_that_only_leads_to_another_one_is_no_document(tmp_path: Path) -> None:
    head = (
        '<html><head><meta http-equiv="Refresh" content="0; url={}"></head><body><p>It is at <a href="{}">Pwd</a>.</p>'
    )
    tree(
        tmp_path,
        {
            "stub.html": head.format("there.html#pwd", "there.html#pwd"),
            "self.html": head.format("self.html", "there.html"),
            "text.html": head.format("there.html", "there.html") + "<p>" + "A text of its own. " * 15,
            "there.html": "<html><body><p>The working directory.</p>",
        },
    )
    loaded = await load(tmp_path)
    assert loaded.failures == {f"{tmp_path}/stub.html": "it only leads to another page"}
    assert [result.gone for result in loaded.results if isinstance(result, LoadFailure)] == [True]


async def test_a_file_as_large_as_the_limit_is_loaded(tmp_path: Path) -> None:
    tree(tmp_path, {"a.txt": "x" * 1000, "b.txt": "x" * 1001})
    loaded = await load(tmp_path, max_bytes=1000)
    assert [Path(path).name for path in loaded.documents] == ["a.txt"]
    assert list(loaded.failures) == [f"{tmp_path}/b.txt"]


# -- what is known already -----------------------------------------------------------------------------------------


async def test_unchanged_files_are_not_converted_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tree(tmp_path, {f"{name}.md": name for name in "abcd"} | {"empty.md": ""})
    memory = Memory()
    first = await load(tmp_path, memory)
    assert len(first.documents) == 4

    converted: list[str] = []

    def read(file: FileData) -> Document:
        converted.append(file.name)
        return read_document(file)

    monkeypatch.setattr(reading, "read_document", read)
    second = await load(tmp_path, memory)
    assert second.paths == first.paths
    assert len(second.unchanged) == 4
    assert converted == []
    tree(tmp_path, {"b.md": "changed", "e.md": "new"})
    third = await load(tmp_path, memory)
    assert [Path(path).name for path in third.documents] == ["b.md", "e.md"]
    assert converted == ["b.md", "e.md"]
    assert len(third.unchanged) == 3
    assert list(third.failures.values()) == ["it is empty"]


async def test_other_settings_or_readers_mean_changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tree(tmp_path, {"a.txt": "words"})
    memory = Memory()
    await load(tmp_path, memory)
    assert (await load(tmp_path, memory, encoding="latin-1")).documents
    assert (await load(tmp_path, memory, encoding="latin-1")).unchanged
    assert (await load(tmp_path, memory, readers={".txt": lambda path: path.read_text().upper()})).documents
    lowered = {".txt": lambda path: path.read_text().lower()}
    assert (await load(tmp_path, memory, readers=lowered)).documents
    assert (await load(tmp_path, memory, readers={".txt": lambda path: path.read_text().lower()})).unchanged
    for encoding in ("ascii", "latin-1"):
        reader = functools.partial(Path.read_text, encoding=encoding)
        assert (await load(tmp_path, memory, readers={".txt": reader})).documents
        assert (await load(tmp_path, memory, readers={".txt": reader})).unchanged
    await load(tmp_path, memory)
    monkeypatch.setattr("libs.dataloader.reading.READERS_VERSION", "next")
    assert (await load(tmp_path, memory)).documents


async def test_known_is_asked_in_batches(tmp_path: Path) -> None:
    tree(tmp_path, {f"{number:04}.txt": str(number) for number in range(700)})
    memory = Memory()
    await load(tmp_path, memory)
    assert sum(memory.asked) == 700
    assert max(memory.asked) <= 256
    assert len(memory.asked) == 3


async def test_small_files_share_a_trip_to_a_thread(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tree(tmp_path, {f"{number % 10:02}/{number}.txt": f"text {number}" for number in range(1000)})
    memory = Memory()
    trips: list[object] = []
    loop = asyncio.get_running_loop()
    original = loop.run_in_executor

    def run(executor: Any, function: Any, *arguments: Any) -> Any:
        trips.append(function)
        return original(executor, function, *arguments)

    monkeypatch.setattr(loop, "run_in_executor", run)
    assert len((await load(tmp_path, memory)).documents) == 1000
    assert len(trips) <= 50
    trips.clear()
    assert len((await load(tmp_path, memory)).unchanged) == 1000
    assert len(trips) <= 6  # reading and hashing: one for 256 files


# -- behaviour as a stream -----------------------------------------------------------------------------------------


async def test_the_order_does_not_depend_on_how_long_a_file_takes(tmp_path: Path) -> None:
    def slow(path: Path) -> str:
        time.sleep(0.05 if path.name < "3" else 0)
        return path.read_text()

    tree(tmp_path, {f"{number}.slow": "x" * 600_000 for number in range(8)})
    loaded = await load(tmp_path, readers={".slow": slow})
    assert [Path(path).name for path in loaded.paths] == [f"{number}.slow" for number in range(8)]


async def test_only_a_few_files_are_read_ahead(tmp_path: Path) -> None:
    converted: list[str] = []

    def count(path: Path) -> str:
        converted.append(path.name)
        return "words"

    tree(tmp_path, {f"{number:03}.big": "x" * 1_500_000 for number in range(60)})
    results = DocumentLoader(tmp_path, readers={".big": count}).load()
    async for _ in results:
        break
    await asyncio.sleep(0.3)
    assert 1 <= len(converted) < 30
    await results.aclose()  # type: ignore[attr-defined]
    await asyncio.sleep(0.2)
    assert len(converted) < 40


async def test_memory_is_bounded_however_large_the_folder(tmp_path: Path) -> None:
    tree(tmp_path, {f"{number:03}.txt": "some words " * 90_000 for number in range(120)})  # 1 MB each, 119 MB in all
    tracemalloc.start()
    count = 0
    async for result in DocumentLoader(tmp_path).load():
        assert isinstance(result, Document)
        count += 1
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert count == 120
    assert peak < 100_000_000


async def test_threads_end_with_the_loading(tmp_path: Path) -> None:
    tree(tmp_path, {f"{number}.txt": "x" for number in range(600)})
    await load(tmp_path)
    results = DocumentLoader(tmp_path).load()
    async for _ in results:
        break
    await results.aclose()  # type: ignore[attr-defined]
    for _ in range(100):
        if not [thread for thread in threading.enumerate() if thread.name.startswith("load")]:
            return
        await asyncio.sleep(0.05)
    raise AssertionError("threads are left")


async def test_the_event_loop_stays_free_while_files_are_converted(tmp_path: Path) -> None:
    tree(tmp_path, {"a.slow": "x"})
    started, answered = threading.Event(), threading.Event()

    def wait(path: Path) -> str:
        started.set()
        return "answered" if answered.wait(20) else "the loop was blocked"

    async def answer() -> None:
        while not started.is_set():
            await asyncio.sleep(0.001)
        answered.set()

    loaded, _ = await asyncio.gather(load(tmp_path, readers={".slow": wait}), answer())
    assert [document.content for document in loaded.documents.values()] == ["answered"]


async def test_an_error_of_known_is_raised(tmp_path: Path) -> None:
    tree(tmp_path, {"a.txt": "x"})

    async def known(uris: Sequence[str]) -> Mapping[str, KnownDocument]:
        raise ConnectionError("the graph is away")

    with pytest.raises(ConnectionError):
        [result async for result in DocumentLoader(tmp_path).load(known)]


async def test_loading_twice_gives_the_same(tmp_path: Path) -> None:
    tree(tmp_path, {"a.md": "# A\n", "b.csv": "x,y\n1,2\n", "c.json": '[{"a": 1}]', "d.html": "<p>words</p>"})
    loader = DocumentLoader(tmp_path)

    async def once() -> list[object]:
        return [
            (result.path, result.content, result.title, result.metadata, list(result.records), dict(result.locations))
            async for result in loader.load()
            if isinstance(result, Document)
        ]

    assert await once() == await once()
    assert not any(isinstance(result, Unchanged | LoadFailure) for result in (await load(tmp_path)).results)


# -- links between notes -------------------------------------------------------------------------------------------

VAULT: dict[str, str | bytes] = {
    "Index.md": (
        '---\nup: "[[Clay pits]]"\nalias: Start\n---\n# About [[Mill|the mill]]\n\n'
        "See [[people/Zoë Lund#Youth]], [[mill]], [[Mill#^block|the same]], ![[2024-01-05]], "
        "![[photo.png]], [[Nobody]].\n\n"
        "| a | b |\n|---|---|\n| [[Dam\\|the dam]] | x |\n\nNot `[[Gate]]`, not x[[1]], but [[report.pdf]].\n"
    ),
    "Clay-pits.md": "As wikis call a file: [[clay pits]] is this one. [[../people/Zoë Lund]] is not below it.",
    "works/Mill.md": "[[Dam]] is beside it.",
    "works/Dam.md": "The dam.",
    "old/former/Dam.md": "[[Mill]], [[Dam]], [[./Gate]], [[works/Dam]].",
    "old/former/Gate.md": "The gate.",
    "people/Zoe\u0308 Lund.md": "An engineer.",
    "daily/2024-01-05.md": "- met [[Firm/Board]]",
    "daily/Firm___Board.md": "Minutes.",
    "report.pdf": b"%PDF-1.4",
    "photo.png": b"\x89PNG\r\n\x1a\n",
}


def _linked(loaded: Loaded, root: Path) -> dict[str, list[str]]:
    return {
        path.removeprefix(f"{root}/"): [link.target.removeprefix(f"file://{root}/") for link in document.links]
        for path, document in loaded.documents.items()
        if document.links
    }


async def test_links_between_notes_lead_to_files_by_their_names(tmp_path: Path) -> None:
    loaded = await load(tree(tmp_path, VAULT))
    assert _linked(loaded, tmp_path) == {
        "Index.md": [
            "Clay-pits.md", "works/Mill.md", "people/Zoe\u0308 Lund.md", "daily/2024-01-05.md", "works/Dam.md",
            "report.pdf",
        ],
        "works/Mill.md": ["works/Dam.md"],
        "old/former/Dam.md": ["works/Mill.md", "old/former/Gate.md", "works/Dam.md"],
        "daily/2024-01-05.md": ["daily/Firm___Board.md"],
    }  # fmt: skip
    index = loaded.documents[f"{tmp_path}/Index.md"]
    assert [link.text for link in index.links] == [
        "Clay pits", "the mill", "people/Zoë Lund", "2024-01-05", "the dam", "report.pdf",
    ]  # fmt: skip
    assert index.title == "About the mill"
    assert index.metadata["aliases"] == "Start"


async def test_a_note_that_came_or_moved_is_linked_from_notes_that_did_not_change(tmp_path: Path) -> None:
    tree(tmp_path, {"a.md": "See [[Mill]] and [[Dam]].", "b.md": "See [[a]].", "Mill.md": "A mill."})
    memory = Memory()
    assert _linked(await load(tmp_path, memory), tmp_path) == {"a.md": ["Mill.md"], "b.md": ["a.md"]}
    assert len((await load(tmp_path, memory)).unchanged) == 3
    tree(tmp_path, {"Dam.md": "A dam.", "works/.keep": ""})
    (tmp_path / "Mill.md").rename(tmp_path / "works" / "Mill.md")
    again = await load(tmp_path, memory)
    assert _linked(again, tmp_path) == {"a.md": ["works/Mill.md", "Dam.md"]}
    assert again.unchanged == [f"{tmp_path}/b.md"]


async def test_a_single_note_is_linked_to_those_beside_it(tmp_path: Path) -> None:
    text = "See [[Mill]], [[Dam]], [[Gate]] and [[report.pdf]]."
    tree(tmp_path, {"a.md": text, "Mill.md": "A mill.", "works/Gate.md": "A gate.", "report.pdf": b"%PDF-1.4"})
    assert _linked(await load(tmp_path / "a.md"), tmp_path) == {"a.md": ["Mill.md", "report.pdf"]}


async def test_a_note_keeps_its_links_when_others_are_not_included(tmp_path: Path) -> None:
    tree(tmp_path, {"a.md": "See [[Mill]] and [[Dam]].", "works/Mill.md": "A mill.", "works/Dam.md": "A dam."})
    memory = Memory()
    await load(tmp_path, memory)
    for again in ({"include": ["a.md"]}, {}):
        assert f"{tmp_path}/a.md" in (await load(tmp_path, memory, **again)).unchanged
