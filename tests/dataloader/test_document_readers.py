"""Readers of one's own, and those of LlamaIndex."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from libs.dataloader import Document, InvalidSourceError, LlamaIndexLoader, Loader, LoadError, LoadResult
from tests.dataloader.filetools import Loaded, Memory, load, tree


@dataclass
class Page:
    """What a LlamaIndex document looks like from outside."""

    text: str
    metadata: dict[str, Any] = field(default_factory=dict)
    id_: str = "6d3c4b0e-1111-4222-8333-944455556666"


class BaseReader:
    """The base class of LlamaIndex readers, as far as it matters here: its methods only call one another."""

    def lazy_load_data(self, *args: Any, **kwargs: Any) -> Iterable[Page]:
        raise NotImplementedError

    async def aload_data(self, *args: Any, **kwargs: Any) -> list[Page]:
        return self.load_data(*args, **kwargs)

    def load_data(self, *args: Any, **kwargs: Any) -> list[Page]:
        return list(self.lazy_load_data(*args, **kwargs))


class PageReader(BaseReader):
    def load_data(self, file: Path, extra_info: object = None) -> list[Page]:
        assert isinstance(file, Path)
        pages = file.read_text().split("\f")
        return [Page(text, {"page_label": str(number), "file_name": file.name}) for number, text in enumerate(pages, 1)]


class LazyReader(BaseReader):
    def lazy_load_data(self, count: int, prefix: str = "n") -> Iterable[Page]:
        for number in range(count):
            yield Page(f"{prefix} {number}\r\n", {"url": f"https://example.org/{number}"} if number else {})


class AsyncReader(BaseReader):
    async def aload_data(self) -> list[Page]:
        return [Page("from far away", {"source": "remote/1", "title": "Far"}), Page("   ", id_="blank")]


class FailingReader(BaseReader):
    def load_data(self, file: Path) -> list[Page]:
        raise KeyError("nothing here")


async def collect(loader: LlamaIndexLoader, memory: Memory | None = None) -> Loaded:
    loaded = Loaded([result async for result in loader.load(memory)])
    if memory is not None:
        memory.keep(loaded)
    return loaded


# -- readers for files ---------------------------------------------------------------------------------------------


async def test_a_llama_index_reader_for_an_ending(tmp_path: Path) -> None:
    tree(tmp_path, {"a.HWP": "page one\fpage two", "b.md": "b"})
    loaded = await load(tmp_path, readers={".hwp": PageReader()})
    document = loaded.documents[f"{tmp_path}/a.HWP"]
    assert document.content == "page one\n\npage two"
    assert document.locations == {"page": [(0, 1), (10, 2)]}
    assert document.metadata["file_name"] == "a.HWP"
    assert "page_label" not in document.metadata
    assert document.uri == f"file://{tmp_path}/a.HWP"
    assert loaded.documents[f"{tmp_path}/b.md"].content == "b"


async def test_functions_as_readers(tmp_path: Path) -> None:
    tree(tmp_path, {"a.x": "a", "b.y": "b", "c.z": "c", "d.tar.x": "d"})
    readers = {
        "x": lambda path: path.read_text() * 2,
        ".y": lambda path: Document(path="ignored", content="from a document", title="T", format="markdown"),
        ".z": lambda path: ["one", Document(path="", content="two")],
    }
    documents = {Path(path).name: found for path, found in (await load(tmp_path, readers=readers)).documents.items()}
    assert documents["a.x"].content == "aa"
    assert documents["d.tar.x"].content == "dd"
    assert (documents["b.y"].title, documents["b.y"].format) == ("T", "markdown")
    assert documents["b.y"].path == f"{tmp_path}/b.y"
    assert documents["c.z"].content == "one\n\ntwo"


async def test_a_reader_that_fails_is_reported(tmp_path: Path) -> None:
    tree(tmp_path, {"a.x": "a", "b.md": "b", "c.y": "c"})
    loaded = await load(tmp_path, readers={".x": FailingReader(), ".y": lambda path: "  "})
    assert loaded.failures == {
        f"{tmp_path}/a.x": "FailingReader failed: KeyError: 'nothing here'",
        f"{tmp_path}/c.y": "it has no text",
    }
    assert len(loaded.documents) == 1


# -- readers as loaders --------------------------------------------------------------------------------------------


async def test_any_reader_is_a_loader() -> None:
    loader = LlamaIndexLoader(LazyReader(), 3, prefix="number")
    assert isinstance(loader, Loader)
    assert (loader.source.name, loader.source.type) == ("LazyReader", "llama-index")
    assert loader.source.uri != LlamaIndexLoader(LazyReader(), 4).source.uri
    memory = Memory()
    loaded = await collect(loader, memory)
    assert {path: found.content for path, found in loaded.documents.items()} == {
        "LazyReader/1": "number 0",
        "https://example.org/1": "number 1",
        "https://example.org/2": "number 2",
    }
    again = await collect(loader, memory)
    assert again.unchanged == loaded.paths
    changed = await collect(LlamaIndexLoader(LazyReader(), 3, prefix="other"), memory)
    assert len(changed.documents) == 3


@pytest.mark.parametrize("changed", [{"team": "b"}, {"title": "Another"}])
async def test_a_document_whose_text_stayed_is_read_again_with_its_new_metadata(changed: dict[str, str]) -> None:
    class Reader:
        def load_data(self, extra: dict[str, str]) -> list[Page]:
            return [Page("The heron stands.", {"url": "https://example.org/1", "team": "a", "title": "One", **extra})]

    memory = Memory()
    await collect(LlamaIndexLoader(Reader(), {}), memory)
    assert (await collect(LlamaIndexLoader(Reader(), {}), memory)).unchanged == ["https://example.org/1"]
    again = await collect(LlamaIndexLoader(Reader(), changed), memory)
    (found,) = again.documents.values()
    assert found.metadata.items() >= changed.items()


async def test_readers_of_one_class_are_one_source_where_they_read_the_same() -> None:
    class Repository(BaseReader):
        def __init__(self, name: str) -> None:
            self.name, self.folder, self.session, self.client = name, Path(name), str(uuid4()), object()
            self.read = 0

        def load_data(self, branch: str) -> list[Page]:
            self.read += 1
            return [Page(f"{self.name} {branch}")]

    mill, ferry = (LlamaIndexLoader(Repository(name), branch="main") for name in ("mill", "ferry"))
    before = mill.source
    assert before.uri != ferry.source.uri  # else pruning one would remove what the other one gave
    await collect(mill)
    assert mill.source == before == LlamaIndexLoader(Repository("mill"), branch="main").source


async def test_asynchronous_readers() -> None:
    loaded = await collect(LlamaIndexLoader(AsyncReader()))
    assert loaded.documents["remote/1"].title == "Far"
    assert loaded.failures == {"blank": "it has no text"}


async def test_a_reader_that_fails_is_a_source_that_cannot_be_loaded_and_what_it_gave_before_is_kept() -> None:
    class Interrupted(BaseReader):
        def lazy_load_data(self) -> Iterable[Page]:
            yield Page("the first page")
            raise ConnectionError("the line is dead")

    found: list[LoadResult] = []
    with pytest.raises(LoadError, match=r"^Interrupted: it failed: ConnectionError: the line is dead$"):
        async for result in LlamaIndexLoader(Interrupted()).load():
            found.append(result)  # noqa: PERF401 - a comprehension would lose what came before the error
    assert [result.path for result in found] == ["Interrupted/1"]
    with pytest.raises(LoadError, match="KeyError: 'nothing here'"):
        await collect(LlamaIndexLoader(FailingReader(), Path("x")))


async def test_files_get_their_uri(tmp_path: Path) -> None:
    tree(tmp_path, {"a.txt": "words"})

    class Files(BaseReader):
        def load_data(self) -> list[Page]:
            return [Page("words", {"file_path": str(tmp_path / "a.txt")})]

    (document,) = (await collect(LlamaIndexLoader(Files()))).documents.values()
    assert document.uri == f"file://{tmp_path}/a.txt"


def test_what_is_no_reader() -> None:
    with pytest.raises(InvalidSourceError, match="load_data"):
        LlamaIndexLoader(object())


async def test_real_readers_of_llama_index(tmp_path: Path) -> None:
    file = pytest.importorskip("llama_index.readers.file")
    tree(
        tmp_path,
        {"a.rtf": r"{\rtf1 rich text\par}", "b.md": "# One\n\nfirst\n\n# Two\n\nsecond\n", "c.csv": "a,b\n1,2\n"},
    )
    loaded = await load(
        tmp_path, readers={".rtf": file.RTFReader(), ".md": file.MarkdownReader(), ".csv": file.CSVReader()}
    )
    contents = {Path(path).name: found.content for path, found in loaded.documents.items()}
    assert "rich text" in contents["a.rtf"]
    assert "first" in contents["b.md"]
    assert "second" in contents["b.md"]
    assert "1, 2" in contents["c.csv"]
    direct = await collect(LlamaIndexLoader(file.FlatReader(), tmp_path / "b.md"))
    assert [found.content for found in direct.documents.values()] == ["# One\n\nfirst\n\n# Two\n\nsecond"]
