"""Loads files and folders."""

from __future__ import annotations

import asyncio
import codecs
import copy
import os
import re
import stat
from collections import deque
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any, Self

from libs.dataloader.batches import in_batches
from libs.dataloader.errors import InvalidSourceError, LoadError, NothingMatchedError, SourceNotFoundError
from libs.dataloader.formats import FORMATS
from libs.dataloader.notes import Notes
from libs.dataloader.paths import namesake, path_given, printable, uri_of_path
from libs.dataloader.reading import File, FileReader
from libs.dataloader.types import Known, LoadResult, SourceInfo
from libs.dataloader.walk import Found, Selection, Walker, describe_os_error
from libs.regexes import regex

_BATCH_FILES = 256
_BATCH_BYTES = 32_000_000
_GROUP_FILES = 32
_GROUP_BYTES = 1_000_000
_WORKERS = max(2, min(4, os.cpu_count() or 1))
_AHEAD = 2 * _WORKERS
_ADDRESS = regex(r"https?:|www\.|(?:localhost|[\w-]+(?:\.[\w-]+)+)(?::[0-9]+|/|$)", re.IGNORECASE)
#: A path with so many blanks, and a line break, a full stop or more letters than a name has, is a text.
_BLANKS_OF_TEXT = 4
_LONGEST_NAME = 255
_SHOWN_OF_TEXT = 40
_SCHEME = regex(r"[A-Za-z][A-Za-z0-9+.\-]+")


class DocumentLoader:
    """Loads documents from a file or a folder.

    Files are read, hashed and converted in threads, a few ahead of the consumer; a file whose bytes did not change is
    not converted again. A file that cannot be read is reported, and loading continues.

    Args:
        path: A file or folder; a file given here is loaded even if it is hidden or ignored.
        include: Patterns, as in ``.gitignore``, of which a file must match one: ``*.md`` (at any depth),
            ``docs/**/*.md``, ``*.{md,txt}``; or the path of one as a shell completes it. Empty for all files.
        exclude: Patterns of files and folders that are left out.
        recursive: Whether to go into folders.
        gitignore: Whether to leave out what ``.gitignore`` files exclude (those of folders above within the same
            repository too), and the folders of version control.
        hidden: Whether to load all files and folders whose names begin with a dot, not only files that are there to be
            copied (``.env.example``).
        within: Folders that symbolic links must not lead out of, for services that load for others; empty: links are
            followed anywhere.
        max_bytes: A larger file is reported, not loaded.
        encoding: Encoding of all text files; ``None``: detected for each file.
        readers: Custom readers by file extension, such as ``{".hwp": reader}``: any LlamaIndex reader, or a
            function that takes the path and returns text, a :class:`Document`, or several of either.

    Attributes:
        notes: After loading: why there was nothing to load in a folder.

    Raises:
        InvalidSourceError: if an argument is invalid.

    Example:
        >>> async for result in DocumentLoader("docs", include=["*.md"]).load():
        ...     print(result.path)
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        include: Iterable[str] = (),
        exclude: Iterable[str] = (),
        recursive: bool = True,
        gitignore: bool = True,
        hidden: bool = False,
        within: Iterable[str | os.PathLike[str]] = (),
        max_bytes: int = 50_000_000,
        encoding: str | None = None,
        readers: Mapping[str, Any] | None = None,
    ) -> None:
        if not isinstance(path, str | os.PathLike):
            raise InvalidSourceError(repr(path)[:100], f"a path must be text or a Path, not {type(path).__name__}")
        self._given = path_given(os.fspath(path))
        if not self._given:
            raise InvalidSourceError('""', "the path is empty: give that of a file or folder, or . for this folder")
        if "\x00" in self._given:
            raise InvalidSourceError(self._given, "a path cannot contain a NUL character")
        try:
            os.fsencode(self._given)
        except UnicodeEncodeError as error:
            raise InvalidSourceError(
                ascii(self._given), "a path cannot contain half characters (surrogates)"
            ) from error
        if not isinstance(max_bytes, int) or max_bytes < 1:
            raise InvalidSourceError(self._given, f"max_bytes must be a whole number from 1 up, not {max_bytes!r}")
        if encoding is not None:
            try:
                codecs.lookup(encoding)
            except (LookupError, TypeError) as error:
                raise InvalidSourceError(self._given, f"there is no encoding called {encoding!r}") from error
        for name, flag in (("recursive", recursive), ("gitignore", gitignore), ("hidden", hidden)):
            if not isinstance(flag, bool):  # the text "false" would count as true
                raise InvalidSourceError(self._given, f"{name} must be True or False, not {flag!r:.100}")
        self._selection = Selection(
            _patterns("include", include, self._given),
            _patterns("exclude", exclude, self._given),
            recursive,
            gitignore,
            hidden,
            within=frozenset(map(os.path.realpath, within)),
        )
        self.notes: tuple[str, ...] = ()
        if readers:
            from libs.dataloader.llama import checked_readers

            readers = checked_readers(readers, self._given)
        self._place = os.path.abspath(self._given)  # resolves ".." but not links, like the URIs
        self._uri = uri_of_path(self._place)
        self._root = self._place  # what links are below
        self._notes: Notes | None = None  # those of a folder above
        self._reader = FileReader(self._place, self._uri, max_bytes=max_bytes, encoding=encoding, readers=readers or {})
        shown = printable(self._given).replace("\\", "/") if os.sep == "\\" else printable(self._given)
        self._shown = shown.rstrip("/") or "/"
        while self._shown.startswith("./") and len(self._shown) > 2:
            self._shown = self._shown[2:].lstrip("/")

    @property
    def uri(self) -> str:
        """The ``file://`` URI of the file or folder, which may not exist."""
        return self._uri

    @property
    def source(self) -> SourceInfo:
        """The file or folder.

        Raises:
            SourceNotFoundError: if it does not exist.
        """
        folder = self._is_folder()
        name = printable(os.path.basename(self._place)) or self._place
        return SourceInfo(name=name, type="folder" if folder else "file", uri=self._uri)

    def without(self, places: Iterable[str | os.PathLike[str]]) -> Self:
        """Return a copy of this loader that skips these files and folders within its own folder."""
        never = self._selection.never.union(os.path.realpath(place) for place in places)
        other = copy.copy(self)
        other._selection = replace(self._selection, never=never)
        return other

    def below(self, folder: str, like: Self | None = None) -> Self:
        """Return a copy of this loader that takes links as a load of a folder above does.

        Args:
            folder: The ``file://`` URI of the folder: ``[[Name]]`` may mean any file in it, and ``/…`` begins there.
            like: Another such copy for this folder: if both select alike, its files are listed once for both.
        """
        folder = folder.rstrip("/")
        if not self._uri.startswith(f"{folder}/"):
            raise InvalidSourceError(self._shown, f"{folder} is not a folder above it")
        other = copy.copy(self)
        other._root = self._place
        for _ in range(self._uri.removeprefix(folder).count("/")):
            other._root = os.path.dirname(other._root)
        other._reader = self._reader.of(other._root, folder)
        if like is not None and (like._root, like._selection) == (other._root, other._selection):
            other._notes = like._notes
        else:
            other._notes = Notes(folder, other._names)
        return other

    async def load(self, known: Known | None = None) -> AsyncIterator[LoadResult]:
        """Yield the documents in the order of their paths.

        Args:
            known: Returns what is stored already; it is called with up to 256 URIs.

        Raises:
            SourceNotFoundError: if the path does not exist.
            NothingMatchedError: if no file of the folder matches ``include``.
            LoadError: if the folder cannot be read.
        """
        loop = asyncio.get_running_loop()
        # One more worker, because the next batch is read while others convert.
        pool = ThreadPoolExecutor(_WORKERS + 1, thread_name_prefix="load")
        try:
            batches = self._batches()
            reading = loop.run_in_executor(pool, next, batches, None)
            converting: deque[asyncio.Future[list[LoadResult]]] = deque()
            while (batch := await reading) is not None:
                reading = loop.run_in_executor(pool, next, batches, None)
                await _mark_unchanged(batch, known)
                for group in _groups(batch):
                    converting.append(self._results(group, pool))
                    while len(converting) > _AHEAD:
                        for result in await converting.popleft():
                            yield result
            while converting:
                for result in await converting.popleft():
                    yield result
        finally:
            pool.shutdown(wait=False, cancel_futures=True)

    def _results(self, group: Sequence[File], pool: ThreadPoolExecutor) -> asyncio.Future[list[LoadResult]]:
        """Return the results for files: immediately if none has to be converted, else from a thread."""
        loop = asyncio.get_running_loop()
        if not all(file.unchanged or file.trouble for file in group):
            return loop.run_in_executor(pool, self._convert, group)
        settled: asyncio.Future[list[LoadResult]] = loop.create_future()
        settled.set_result([file.settled() for file in group])
        return settled

    # -- in threads ------------------------------------------------------------------------------------------------

    def _is_folder(self) -> bool:
        try:
            mode = os.stat(self._place).st_mode
        except OSError as error:
            if isinstance(error, FileNotFoundError | NotADirectoryError) or _looks_like_text(self._given):
                raise self._not_found() from error
            raise LoadError(self._shown, describe_os_error(error)) from error
        return stat.S_ISDIR(mode)

    def _not_found(self) -> SourceNotFoundError:
        # Only after testing that there is no such folder, as file systems allow names like "ftp:".
        scheme, separator, _ = self._given.partition("://")
        if not separator or not _SCHEME.fullmatch(scheme):
            hint = " (a web address starts with http:// or https://)" if _looks_like_address(self._given) else ""
            if _looks_like_text(self._given):
                start = " ".join(self._shown[:_SHOWN_OF_TEXT].split())
                return SourceNotFoundError(
                    f"{start} …", "there is no such file or folder; a text is loaded as Document(path=…, content=…)"
                )
            return SourceNotFoundError(self._shown, f"there is no such file or folder{hint}")
        from libs.dataloader.crawl.urls import split_credentials

        address, _ = split_credentials(printable(self._given))
        if scheme.lower() in ("http", "https"):
            return SourceNotFoundError(address, "this is a web address, which WebLoader loads, not a file or folder")
        return SourceNotFoundError(
            address,
            f"{scheme}:// is not supported; give a web address (http://, https://), or a file or folder, also as file://"
            " (download anything else first)",
        )

    def _batches(self) -> Iterator[list[File]]:
        """Yield files with their bytes and hashes, in batches that fit a fixed amount of memory."""
        batch: list[File] = []
        size = 0
        notes = self._notes or (Notes(self._uri, self._names) if self._is_folder() else None)
        for file in self._files():
            if file.trouble is None:
                self._reader.read(file, notes)
            size += len(file.data or b"")
            batch.append(file)
            if len(batch) >= _BATCH_FILES or size >= _BATCH_BYTES:
                yield batch
                batch, size = [], 0
        if batch:
            yield batch

    def _names(self) -> Iterator[str]:
        every = replace(self._selection, include=())  # a link to what is not loaded this time is one, too
        return (printable(found.relative) for found in Walker(self._root, every).walk() if not found.trouble)

    def _files(self) -> Iterator[File]:
        if not self._is_folder():
            yield File(self._shown, self._uri, self._place, namesake(self._place))
            return
        walker = Walker(self._place, self._selection)
        is_bare = True
        self.notes = ()
        try:
            for found in walker.walk():
                is_bare = False
                yield self._file(found)
        except OSError as error:
            raise LoadError(self._shown, describe_os_error(error)) from error
        if walker.files_seen and not walker.files_matched:
            patterns = ", ".join(self._selection.include)
            raise NothingMatchedError(self._shown, f"none of its {walker.files_seen} files matches {patterns}")
        if is_bare:
            self.notes = (f"{self._shown} has no files to load: {walker.passed_over or 'it is an empty folder'}.",)

    def _file(self, found: Found) -> File:
        relative = printable(found.relative)
        path = relative if self._shown == "." else f"{self._shown.rstrip('/')}/{relative}"
        place = f"{self._place}/{found.relative}"
        return File(
            path,
            f"{self._uri.rstrip('/')}/{relative}".replace("\\", "/"),
            place,
            found.trouble or namesake(place),
        )

    def _convert(self, group: Sequence[File]) -> list[LoadResult]:
        return [self._reader.result(file) for file in group]


def _looks_like_text(given: str) -> bool:
    if given.count(" ") < _BLANKS_OF_TEXT:
        return False
    return "\n" in given or len(given) > _LONGEST_NAME or given.rstrip().endswith((".", "!", "?"))


def _looks_like_address(given: str) -> bool:
    if _ADDRESS.match(given) is None:
        return False
    ending = os.path.splitext(given)[1].lower()
    return "/" in given or ending == ".org" or ending not in FORMATS


async def _mark_unchanged(batch: Sequence[File], known: Known | None) -> None:
    if known is None:
        return
    stored = await known([file.uri for file in batch if file.trouble is None])
    for file in batch:
        before = stored.get(file.uri)
        if before is not None and file.trouble is None and file.fingerprint == dict(before.fingerprint):
            file.unchanged, file.data = True, None


def _groups(batch: Sequence[File]) -> Iterator[list[File]]:
    """Group neighbouring files for one call each, as a call per small file would cost more than the file."""
    return in_batches(batch, (len(file.data or b"") for file in batch), _GROUP_FILES, _GROUP_BYTES)


def _patterns(name: str, given: Iterable[str], path: str) -> tuple[str, ...]:
    patterns = (given,) if isinstance(given, str) else tuple(given) if isinstance(given, Iterable) else (given,)
    if wrong := [pattern for pattern in patterns if not isinstance(pattern, str)]:
        raise InvalidSourceError(path, f"{name} takes patterns such as '*.md', not {type(wrong[0]).__name__}")
    return patterns
