"""Compound files (OLE2), the containers of old Office files: read with whatever is wrong with them, but bounded.

Each sector is looked at once for each stream, however the tables of the file lead through it. xlrd has a reader of its
own, which walks the tree of names as often as a file demands, and refuses many files that Excel opens.
"""

from __future__ import annotations

import struct
from array import array
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from libs.dataloader.formats.base import UnreadableError, sensible_author, sensible_title
from libs.dataloader.text import clean_text

SIGNATURE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_IN_HEADER = 109  # places for sectors of the table of sectors
_STREAM, _ROOT = 2, 5
_SUMMARY = "\x05summaryinformation"
_PROPERTIES = {2: "title", 3: "subject", 4: "author", 5: "keywords", 6: "description", 12: "created", 13: "modified"}
_EPOCH = datetime(1601, 1, 1, tzinfo=UTC)
_UTF_16, _UTF_8 = 1200, 65001


class _Entry(NamedTuple):
    """An entry of the directory: its kind, its neighbours, what is below it, where its data begins, and their size."""

    name: str
    kind: int
    left: int
    right: int
    below: int
    start: int
    size: int


class CompoundFile:
    """A compound file in memory.

    Args:
        data: Its bytes.

    Attributes:
        names: The names of the streams and storages at its top, in lower case.

    Raises:
        UnreadableError: if it is damaged.
    """

    def __init__(self, data: bytes) -> None:
        self._data = data
        try:
            shift, small = struct.unpack_from("<HH", data, 30)
            first, cutoff, small_first = struct.unpack_from("<I4xII", data, 48)
            further, _ = struct.unpack_from("<II", data, 68)
            places = list(struct.unpack_from(f"<{_IN_HEADER}I", data, 76))
        except struct.error as error:
            raise UnreadableError("it is damaged: it ends within its header") from error
        self._shift = shift if 7 <= shift <= 20 else 9
        self._small = 1 << (small if small <= self._shift else 6)
        self._cutoff = cutoff
        self._count = (len(data) >> self._shift) + 1
        seen: set[int] = set()
        while further < self._count and further not in seen:
            seen.add(further)
            more = self._numbers(further)
            further = more.pop() if more else self._count
            places += more
        self._table = array("I")
        for place in dict.fromkeys(places):
            if place < self._count:
                self._table.extend(self._numbers(place))
        directory = self._chain(first)
        entries = [_entry(directory[start : start + 128]) for start in range(0, len(directory) - 127, 128)]
        if not entries or entries[0].kind != _ROOT:
            raise UnreadableError("it is damaged: its directory is missing")
        self._root = entries[0]
        self._small_first = small_first
        self._entries = {entry.name.lower(): entry for entry in _siblings(entries, entries[0].below)}
        self.names = frozenset(self._entries)

    def stream(self, name: str) -> bytes:
        """Return a stream; what is missing at its end is left out, and it is empty if there is none.

        Args:
            name: Its name in lower case.
        """
        entry = self._entries.get(name)
        if entry is None or entry.kind != _STREAM:
            return b""
        if entry.size >= self._cutoff:
            return self._chain(entry.start)[: entry.size]
        table = array("I")
        table.frombytes(_whole(self._chain(self._small_first)))
        pieces = self._chain(self._root.start)
        places = _follow(table, entry.start, min(len(table), entry.size // self._small + 1))
        return b"".join(pieces[at * self._small : (at + 1) * self._small] for at in places)[: entry.size]

    def properties(self) -> tuple[str | None, dict[str, Any]]:
        """Return the title and the metadata."""
        try:
            values = dict(_property_set(self.stream(_SUMMARY)))
        except (struct.error, LookupError, OverflowError, ValueError):
            return None, {}  # damaged metadata is no reason to do without the text
        values["author"] = sensible_author(values.get("author", ""))
        return sensible_title(values.pop("title", "")), {name: value for name, value in values.items() if value}

    def _numbers(self, sector: int) -> list[int]:
        found = array("I")
        found.frombytes(_whole(self._sector(sector)))
        return found.tolist()

    def _sector(self, sector: int) -> bytes:
        return self._data[(sector + 1) << self._shift : (sector + 2) << self._shift]

    def _chain(self, start: int) -> bytes:
        return b"".join(map(self._sector, _follow(self._table, start, self._count)))


def _follow(table: array[int], start: int, most: int) -> Iterator[int]:
    for _ in range(most):
        if start >= len(table):
            return
        yield start
        start = table[start]


def _whole(data: bytes) -> bytes:
    return data[: len(data) & ~3]


def _entry(data: bytes) -> _Entry:
    size, kind, left, right, below = struct.unpack_from("<HBxIII", data, 64)
    start, length = struct.unpack_from("<II", data, 116)
    name = data[: max(min(size, 64) - 2, 0)].decode("utf-16-le", "replace")
    return _Entry(name, kind, left, right, below, start, length)


def _siblings(entries: list[_Entry], first: int) -> Iterator[_Entry]:
    waiting, seen = [first], set[int]()
    while waiting:
        number = waiting.pop()
        if number < len(entries) and number not in seen:
            seen.add(number)
            yield entries[number]
            waiting += (entries[number].left, entries[number].right)


def _property_set(data: bytes) -> Iterator[tuple[str, str]]:
    """Yield the properties of the first set in a stream that are of use here."""
    (start,) = struct.unpack_from("<I", data, 44)
    (count,) = struct.unpack_from("<I", data, start + 4)
    places = dict(struct.iter_unpack("<II", data[start + 8 : start + 8 + 8 * min(count, 1000)]))
    encoding = "cp1252"
    if 1 in places:
        (page,) = struct.unpack_from("<H", data, start + places[1] + 4)
        encoding = {_UTF_16: "utf-16-le", _UTF_8: "utf-8"}.get(page, f"cp{page}")
    for number, name in _PROPERTIES.items():
        if number not in places:
            continue
        kind, size = struct.unpack_from("<II", data, start + places[number])
        place = start + places[number] + 8
        if kind in (30, 31):
            text = data[place : place + (size if kind == 30 else 2 * size)]
            shown = text.decode("utf-16-le" if kind == 31 else encoding, "replace").partition("\x00")[0]
            yield name, " ".join(clean_text(shown).split())
        elif kind == 64:
            (ticks,) = struct.unpack_from("<Q", data, place - 4)
            if ticks:
                yield name, (_EPOCH + timedelta(microseconds=ticks // 10)).isoformat(timespec="seconds")
