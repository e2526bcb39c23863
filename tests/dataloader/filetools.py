"""Helpers of the tests for files: converting bytes, and loading folders."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from libs.dataloader import Document, DocumentLoader, KnownDocument, LoadFailure, LoadResult, Unchanged
from libs.dataloader.formats import FileData, UnreadableError, read_document

URI = "file:///home/me/docs/"


def convert(name: str, data: bytes | str, **options: Any) -> Document:
    """A file in memory as a document."""
    data = data.encode() if isinstance(data, str) else data
    return read_document(FileData(name, data, f"{URI}{name}", URI.rstrip("/"), **options))


def reason(name: str, data: bytes | str, **options: Any) -> str:
    """Why a file in memory cannot be read."""
    try:
        document = convert(name, data, **options)
    except UnreadableError as error:
        return error.reason
    raise AssertionError(f"it was read: {document.content[:200]!r}")


def targets(document: Document) -> list[str]:
    return [link.target for link in document.links]


def places(document: Document, kind: str) -> list[tuple[int | str, str]]:
    """Each place of a kind with the first line that stands there."""
    return [(value, document.content[start:].split("\n")[0]) for start, value in document.locations.get(kind, ())]


def records(document: Document) -> list[dict[str, Any]]:
    """The records, after checking that each begins where it says."""
    for start, _ in document.records:
        assert start == 0 or document.content[start - 1] == "\n"
    rows = [start for start, _ in document.locations.get("row", ())]
    assert [start for start, _ in document.records] == rows
    return [dict(record) for _, record in document.records]


def zipped(parts: Mapping[str, bytes | str], *, stored: Sequence[str] = ()) -> bytes:
    """A ZIP container."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in parts.items():
            archive.writestr(name, data, zipfile.ZIP_STORED if name in stored else zipfile.ZIP_DEFLATED)
    return stream.getvalue()


def unzipped(data: bytes) -> dict[str, bytes]:
    """The parts of a ZIP container."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


@dataclass
class Loaded:
    """What a loader gave."""

    results: list[LoadResult] = field(default_factory=list)

    @property
    def paths(self) -> list[str]:
        return [result.path for result in self.results]

    @property
    def documents(self) -> dict[str, Document]:
        return {result.path: result for result in self.results if isinstance(result, Document)}

    @property
    def failures(self) -> dict[str, str]:
        return {result.path: result.reason for result in self.results if isinstance(result, LoadFailure)}

    @property
    def unchanged(self) -> list[str]:
        return [result.path for result in self.results if isinstance(result, Unchanged)]


class Memory:
    """What is stored, as a loader asks for it."""

    def __init__(self) -> None:
        self.stored: dict[str, KnownDocument] = {}
        self.asked: list[int] = []

    async def __call__(self, uris: Sequence[str]) -> Mapping[str, KnownDocument]:
        self.asked.append(len(uris))
        return {uri: self.stored[uri] for uri in uris if uri in self.stored}

    def keep(self, loaded: Loaded) -> None:
        for document in loaded.documents.values():
            assert document.uri is not None
            self.stored[document.uri] = KnownDocument(document.fingerprint)


async def load(path: str | Path, memory: Memory | None = None, **options: Any) -> Loaded:
    """Everything below a path; with a memory, what is given is also remembered."""
    loaded = Loaded([result async for result in DocumentLoader(path, **options).load(memory)])
    if memory is not None:
        memory.keep(loaded)
    return loaded


def tree(root: Path, files: Mapping[str, str | bytes]) -> Path:
    """Write files below a folder."""
    for name, data in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data.encode() if isinstance(data, str) else data)
    return root
