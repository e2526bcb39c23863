"""Uses LlamaIndex readers as loaders. LlamaIndex itself is not imported: any object with the right methods will do."""

from __future__ import annotations

import asyncio
import functools
import hashlib
import inspect
import json
import os
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from libs.dataloader.errors import InvalidSourceError, LoadError
from libs.dataloader.formats.base import TextBuilder, UnreadableError
from libs.dataloader.text import clean_text
from libs.dataloader.types import Document, Known, LoadFailure, LoadResult, SourceInfo, Unchanged
from libs.regexes import regex

_RANDOM_ID = regex(r"[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")
_PATH_KEYS = ("file_path", "path", "url", "source", "URL", "filename", "file_name")
_PAGE_KEYS = ("page_label", "page", "page_number")
_BATCH = 64
_BASES = ("BaseReader.", "BasePydanticReader.", "ResourcesReaderMixin.")


class LlamaIndexLoader:
    """Loads documents with any LlamaIndex reader.

    Args:
        reader: A LlamaIndex ``BaseReader``, or any object with ``load_data``, ``lazy_load_data`` or ``aload_data``.
        *args: Passed to that method.
        **kwargs: Passed to that method.

    Raises:
        InvalidSourceError: if it has none of these methods.

    Example:
        >>> LlamaIndexLoader(WikipediaReader(), pages=["Graph database"])
    """

    def __init__(self, reader: Any, *args: Any, **kwargs: Any) -> None:
        self._name = type(reader).__name__
        if not is_reader(reader):
            raise InvalidSourceError(self._name, "a LlamaIndex reader has load_data, lazy_load_data or aload_data")
        self._reader = reader
        self._args = args
        self._kwargs = kwargs
        # Computed now, because reading may change the reader.
        given = [*map(str, args), *(f"{key}={value}" for key, value in kwargs.items()), *_settings_of(reader)]
        self._source = SourceInfo(name=self._name, type="llama-index", uri=f"llama-index:{self._name}/{_digest(given)}")

    @property
    def source(self) -> SourceInfo:
        """The source, named after the reader, its settings and its arguments."""
        return self._source

    async def load(self, known: Known | None = None) -> AsyncIterator[LoadResult]:
        """Yield the documents of the reader; those without a name are numbered.

        Args:
            known: Returns what is stored already; a document with the same text, title and metadata is reported as
                unchanged.

        Raises:
            LoadError: if the reader fails, after the documents that it returned before.
        """
        batch: list[Document] = []
        number = 0
        failure: LoadError | None = None
        try:
            async for item in self._items():
                number += 1
                path = _path_of(item) or f"{self._name}/{number}"
                try:
                    document = _document([item], path, None)
                except UnreadableError as error:
                    yield LoadFailure(path, error.reason)
                    continue
                batch.append(document)
                if len(batch) >= _BATCH:
                    for result in await _compared(batch, known):
                        yield result
                    batch = []
        except LoadError as error:
            failure = error
        for result in await _compared(batch, known):  # what came before it failed, too
            yield result
        if failure is not None:
            raise failure

    async def _items(self) -> AsyncIterator[Any]:
        try:
            if _overrides(self._reader, "aload_data"):
                for item in await self._reader.aload_data(*self._args, **self._kwargs):
                    yield item
                return
            items = await asyncio.to_thread(_load, self._reader, *self._args, **self._kwargs)
            end = object()
            while (item := await asyncio.to_thread(next, items, end)) is not end:
                yield item
        except Exception as error:
            raise LoadError(self._name, f"it failed: {type(error).__name__}: {error}") from error


def is_reader(reader: Any) -> bool:
    """Return whether an object can be used as a LlamaIndex reader."""
    return any(callable(getattr(reader, name, None)) for name in ("load_data", "lazy_load_data", "aload_data"))


def checked_readers(readers: Mapping[str, Any], path: str) -> dict[str, Any]:
    """Return custom readers by the ending of a file's name, such as ``.hwp``.

    Args:
        readers: By file extension, with or without its dot.
        path: The source, for the error.

    Raises:
        InvalidSourceError: on what cannot read a file.
    """
    if not isinstance(readers, Mapping):
        raise InvalidSourceError(path, f"readers must be a mapping such as {{'.hwp': reader}}, not {readers!r:.100}")
    for name, reader in readers.items():
        if not isinstance(name, str):
            raise InvalidSourceError(path, f"readers are given by file extension, such as '.hwp', not {name!r:.100}")
        if not is_reader(reader) and (not callable(reader) or inspect.iscoroutinefunction(reader)):
            kind = "an asynchronous function" if callable(reader) else type(reader).__name__
            raise InvalidSourceError(
                path, f"the reader of {name!r} must be a LlamaIndex reader or a plain function of a path, not {kind}"
            )
    return {f".{name.lower().lstrip('.')}": reader for name, reader in readers.items()}


def name_of(reader: Any) -> str:
    """Return what tells a custom reader from others: its name, its settings, and what a function does.

    To be asked before it reads, which may change it.
    """
    if isinstance(reader, functools.partial):
        given = [*reader.args, *sorted(reader.keywords.items())]
        return f"{name_of(reader.func)}/{_digest(str(value) for value in given if _is_plain(value))}"
    named = reader if hasattr(reader, "__qualname__") else type(reader)
    name = f"{named.__module__}.{named.__qualname__}"
    if (code := getattr(reader, "__code__", None)) is not None:
        return f"{name}/{_digest([code.co_code.hex(), *code.co_names, *map(str, filter(_is_plain, code.co_consts))])}"
    settings = [*_settings_of(reader)] if named is not reader else []
    return f"{name}/{_digest(settings)}" if settings else name


def _digest(parts: Iterable[str]) -> str:
    return hashlib.sha256("\x1f".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def read_with(reader: Any, place: str, path: str, uri: str) -> Document:
    """Convert one file with a custom reader.

    Args:
        reader: A LlamaIndex reader, or a function of the path.
        place: The location of the file.
        path: The path of the document.
        uri: Its URI.

    Raises:
        UnreadableError: if the reader fails or finds no text.
    """
    try:
        if is_reader(reader):
            items = list(_load(reader, Path(place)))
        else:
            made = reader(Path(place))
            items = list(made) if isinstance(made, Iterable) and not isinstance(made, str | Document) else [made]
    except UnreadableError:
        raise
    except Exception as error:
        raise UnreadableError(f"{type(reader).__name__} failed: {type(error).__name__}: {error}") from error
    if len(items) == 1 and isinstance(items[0], Document):
        document: Document = items[0]
        document.path, document.uri = path, uri
        document.content = clean_text(document.content)
        return document
    return _document(items, path, uri)


def _load(reader: Any, *args: Any, **kwargs: Any) -> Iterator[Any]:
    """Yield the results of a reader, one by one if it can."""
    for name in ("lazy_load_data", "load_data"):
        if _overrides(reader, name):
            return iter(getattr(reader, name)(*args, **kwargs))
    return iter(asyncio.run(reader.aload_data(*args, **kwargs)))


def _overrides(reader: Any, name: str) -> bool:
    """Return whether a reader implements this method, rather than inheriting it from LlamaIndex's base classes."""
    method = getattr(reader, name, None)
    return callable(method) and not getattr(method, "__qualname__", "").startswith(_BASES)


def _settings_of(reader: Any) -> Iterator[str]:
    """Yield the settings that distinguish a reader from others of its class: a repository, a folder, addresses."""
    for name, value in sorted(getattr(reader, "__dict__", {}).items()):
        if isinstance(value, os.PathLike) or (_is_plain(value) and not _RANDOM_ID.fullmatch(str(value))):
            yield f"{name}={value}"


def _path_of(item: Any) -> str | None:
    if isinstance(item, Document):
        return item.path
    metadata = _metadata(item)
    for key in _PATH_KEYS:
        if isinstance(value := metadata.get(key), str) and value:
            return value
    name = getattr(item, "id_", None) or getattr(item, "doc_id", None)
    return name if isinstance(name, str) and name and not _RANDOM_ID.fullmatch(name) else None


def _metadata(item: Any) -> dict[str, Any]:
    found = getattr(item, "metadata", None)
    return dict(found) if isinstance(found, Mapping) else {}


def _text(item: Any) -> str:
    if isinstance(item, str):
        return item
    if isinstance(item, Document):
        return item.content
    text = getattr(item, "text", None)
    if isinstance(text, str):
        return text
    content = getattr(item, "get_content", None)
    return str(content()) if callable(content) else ""


def _document(items: list[Any], path: str, uri: str | None) -> Document:
    """Make one document of what a reader returned for one file, usually its pages."""
    builder = TextBuilder()
    shared: dict[str, Any] | None = None
    for item in items:
        metadata = {str(key): value for key, value in _metadata(item).items() if _is_plain(value)}
        shared = (
            metadata if shared is None else {key: value for key, value in shared.items() if metadata.get(key) == value}
        )
        text = clean_text(_text(item)).strip()
        if not text:
            continue
        builder.separate()
        page = next((metadata[key] for key in _PAGE_KEYS if key in metadata), None)
        if isinstance(page, int | str) and not isinstance(page, bool):
            builder.mark("page", int(page) if isinstance(page, str) and page.isdecimal() else page)
        builder.add(text)
    if not builder.position:
        raise UnreadableError("it has no text")
    shared = shared or {}
    title = shared.get("title")
    return Document(
        path=path,
        content=builder.text(),
        title=title if isinstance(title, str) and title else None,
        metadata=shared,
        uri=uri,
        locations=builder.locations,
    )


def _uri(path: str) -> str:
    """Return the URI of a file, or the name itself."""
    if "://" in path or "\x00" in path or len(path) > 4096 or not os.path.exists(path):
        return path
    return "file://" + os.path.abspath(path).replace("\\", "/")  # links are not resolved in URIs


def _is_plain(value: Any) -> bool:
    """Return whether a value can be kept as JSON."""
    if isinstance(value, list | tuple):
        return all(_is_plain(item) for item in value)
    return value is None or isinstance(value, str | int | float | bool)


async def _compared(batch: list[Document], known: Known | None) -> list[LoadResult]:
    """Return the documents, or that they did not change."""
    for document in batch:
        rest = json.dumps([document.title, document.metadata, document.locations], sort_keys=True, default=str)
        digest = hashlib.sha256(f"{document.content}\x1f{rest}".encode("utf-8", "surrogatepass")).hexdigest()
        document.fingerprint = {"sha256": digest, "reader": "llama-index"}
        document.uri = document.uri or _uri(document.path)
    stored = await known([document.uri or "" for document in batch]) if known is not None and batch else {}
    results: list[LoadResult] = []
    for document in batch:
        uri = document.uri or document.path
        before = stored.get(uri)
        same = before is not None and dict(before.fingerprint) == document.fingerprint
        results.append(Unchanged(document.path, uri) if same else document)
    return results
