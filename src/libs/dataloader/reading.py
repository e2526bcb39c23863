"""Reads, hashes and converts the files of a load, each by itself; runs in threads."""

from __future__ import annotations

import copy
import hashlib
import json
import os
import re
import stat
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, Self

from libs.dataloader.formats import FORMATS, MARKDOWN, WIKI, FileData, UnreadableError, read_document
from libs.dataloader.formats.archive import size_text
from libs.dataloader.notes import Notes, find_note_links
from libs.dataloader.types import LoadFailure, LoadResult, Unchanged
from libs.dataloader.walk import describe_os_error
from libs.regexes import regex

#: Part of every fingerprint: raised when a reader changes, so that files and pages are converted again.
READERS_VERSION = "48"
# The rows of a table that one of its views in Notion shows; all of them are in another file.
_NOTION_VIEW = regex(r"(.*[0-9a-f]{32})\.csv", re.DOTALL)
#: What was written on a day in a channel of Slack.
_SLACK_DAY = regex(r"\d{4}-\d{2}-\d{2}\.json")


@dataclass(slots=True)
class File:
    """A file being processed: it is read, then found unchanged, converted, or reported."""

    path: str
    uri: str
    place: str
    trouble: str | None = None
    data: bytes | None = None
    gone: bool = False
    modified: float = 0.0
    fingerprint: Mapping[str, str] | None = None
    unchanged: bool = False
    notes: Notes | None = None
    in_vault: bool = False
    persons: Mapping[str, str] | None = None

    def settled(self) -> LoadResult:
        """Return the result for a file that is not converted."""
        if self.trouble is not None:
            return LoadFailure(self.path, self.trouble, gone=self.gone)
        return Unchanged(self.path, self.uri)


class FileReader:
    """Reads and converts the files of one load."""

    def __init__(
        self, place: str, uri: str, *, max_bytes: int, encoding: str | None, readers: Mapping[str, Any]
    ) -> None:
        """Prepare for a load.

        Args:
            place: The path of the file or folder that is loaded.
            uri: Its URI.
            max_bytes: See :class:`libs.dataloader.DocumentLoader`, as for the others.
            encoding: The encoding of all text files.
            readers: Custom readers, by the ending of a file's name, such as ``.hwp``.
        """
        self._place = place
        self._uri = uri
        self._max_bytes = max_bytes
        self._encoding = encoding
        self._readers = readers
        self._names: dict[int, str] = {}
        self._vaults: dict[str, bool] = {}  # whether a folder is in one
        self._persons: dict[str, dict[str, str]] = {}  # of an export, by its folder
        if readers:
            from libs.dataloader.llama import name_of

            self._names = {id(reader): name_of(reader) for reader in readers.values()}

    def of(self, place: str, uri: str) -> Self:
        """Return a copy of this reader for files of another folder."""
        other = copy.copy(self)
        other._place, other._uri = place, uri
        return other

    def read(self, file: File, notes: Notes | None) -> None:
        """Read the bytes of a file and make its fingerprint, or note what is wrong with it."""
        try:
            # Non-blocking, because something that is not a file after all (a pipe) would block the thread forever.
            handle = os.open(file.place, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0))
            try:
                status = os.fstat(handle)
                if not stat.S_ISREG(status.st_mode):
                    file.trouble = "it is not a regular file"
                    return
                file.modified = status.st_mtime
                if status.st_size <= self._max_bytes:
                    file.data = _read_all(handle, status.st_size, self._max_bytes)
            finally:
                os.close(handle)
        except FileNotFoundError:
            file.trouble, file.gone = "it was removed before it could be read", True
            return
        except OSError as error:
            file.trouble = describe_os_error(error)
            return
        if file.data is None:
            limit = size_text(self._max_bytes)
            file.trouble = f"it is too large: {size_text(status.st_size)}; the limit is {limit}"
        elif not file.data:
            file.trouble = "it is empty"
        else:
            self._identify(file, file.data, notes)

    def _identify(self, file: File, data: bytes, notes: Notes | None) -> None:
        """Make the fingerprint of a file that was read: of its bytes, and of what else decides on what is read."""
        if (table := _NOTION_VIEW.fullmatch(file.place)) and os.path.isfile(f"{table[1]}_all.csv"):
            file.trouble, file.gone = "it is a part of the table beside it, as Notion exports it (_all.csv)", True
            return
        fingerprint = {"sha256": hashlib.sha256(data).hexdigest(), "reader": READERS_VERSION}
        if self._encoding is not None:
            fingerprint["encoding"] = self._encoding
        if (reader := self._own_reader(file.path)) is not None:
            fingerprint["reader"] = self._names[id(reader)]
        elif (kind := FORMATS.get(os.path.splitext(file.path)[1].lower())) in (MARKDOWN, WIKI):
            if b"[[" in data:
                self._link(file, notes, fingerprint)
            if kind == MARKDOWN and self._is_in_vault(os.path.dirname(file.place)):
                file.in_vault, fingerprint["vault"] = True, "obsidian"
        elif _SLACK_DAY.fullmatch(os.path.basename(file.place)) and (known := self._persons_of(file.place)):
            told = json.dumps(known, sort_keys=True).encode("utf-8", "surrogatepass")
            file.persons, fingerprint["persons"] = known, hashlib.sha256(told).hexdigest()[:16]
        file.fingerprint = fingerprint

    def _link(self, file: File, notes: Notes | None, fingerprint: dict[str, str]) -> None:
        """Resolve links like ``[[Name]]`` to files; the result also depends on which other files exist."""
        names = {name for name, _ in find_note_links((file.data or b"").decode("utf-8", "replace"))}
        if notes is None:  # of a single file, the notes beside it
            folder = os.path.dirname(self._place)
            inside = (name for name in names if ".." not in name and not name.startswith("/"))
            beside = [file for name in inside for file in (name, f"{name}.md")]
            notes = Notes(
                os.path.dirname(self._uri),
                lambda: [name for name in beside if os.path.isfile(os.path.join(folder, name))],
            )
        if targets := sorted(filter(None, (notes.find(name, file.uri) for name in names))):
            file.notes = notes
            fingerprint["notes"] = hashlib.sha256("\n".join(targets).encode("utf-8", "replace")).hexdigest()[:16]

    def _is_in_vault(self, folder: str) -> bool:
        """Return whether a folder, or one above it, is a vault of Obsidian, which keeps its settings there."""
        if folder not in self._vaults:
            above = os.path.dirname(folder)
            is_vault = os.path.isdir(os.path.join(folder, ".obsidian"))
            self._vaults[folder] = is_vault or (above != folder and self._is_in_vault(above))
        return self._vaults[folder]

    def _persons_of(self, place: str) -> dict[str, str]:
        """Return the names of the persons in an export of Slack: ``users.json`` beside the folders of its channels."""
        folder = os.path.dirname(os.path.dirname(place))
        if folder not in self._persons:
            users = os.path.join(folder, "users.json")
            names: dict[str, str] = {}
            if os.path.commonpath((folder, self._place)) == self._place and not os.path.islink(users):
                listed = File(users, "", users)
                self.read(listed, None)

                from libs.dataloader.formats.chats import names_of_users

                names = names_of_users(listed.data or b"")
            self._persons[folder] = names
        return self._persons[folder]

    def _own_reader(self, path: str) -> Any:
        if not self._readers:
            return None
        name = path.rpartition("/")[2].lower()
        return next((reader for ending, reader in self._readers.items() if name.endswith(ending)), None)

    def result(self, file: File) -> LoadResult:
        """Return the result for a file that was read; it is converted, unless it is unchanged or cannot be loaded."""
        if file.unchanged or file.trouble:
            return file.settled()
        data, file.data = file.data or b"", None
        try:
            if (reader := self._own_reader(file.path)) is not None:
                from libs.dataloader.llama import read_with

                document = read_with(reader, file.place, file.path, file.uri)
            else:
                document = read_document(
                    FileData(
                        path=file.path,
                        data=data,
                        uri=file.uri,
                        root_uri=self._uri if self._uri != file.uri else None,
                        encoding=self._encoding,
                        notes=file.notes,
                        in_vault=file.in_vault,
                        persons=file.persons or {},
                        max_bytes=self._max_bytes,
                    )
                )
        except UnreadableError as error:
            return LoadFailure(file.path, error.reason, gone=error.gone)
        metadata = {"size": len(data), **document.metadata}
        if "modified" not in metadata and (moment := _iso(file.modified)):
            metadata["modified"] = moment
        return replace(document, metadata=metadata, fingerprint=file.fingerprint or {})


def _read_all(handle: int, expected: int, limit: int) -> bytes | None:
    """Read the whole file; return ``None`` if it turns out to be larger than the limit."""
    pieces: list[bytes] = []
    size = 0
    while piece := os.read(handle, max(expected - size, 0) + 1):
        pieces.append(piece)
        size += len(piece)
        if size > limit:
            return None
    return pieces[0] if len(pieces) == 1 else b"".join(pieces)


def _iso(moment: float) -> str | None:
    try:
        return datetime.fromtimestamp(int(moment), UTC).isoformat() if moment > 0 else None
    except (OverflowError, OSError, ValueError):
        return None
