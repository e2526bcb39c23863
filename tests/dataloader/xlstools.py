"""Helpers of the tests for binary Excel workbooks: their records and their container, written by hand."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

FORMATS = ("General", "0.0%", "yyyy-mm-dd", "dd.mm.yyyy hh:mm", '#,##0.00 "€"', "[h]:mm:ss", "[$$-409]#,##0.00")
_FREE, _END, _TABLE = 0xFFFFFFFF, 0xFFFFFFFE, 0xFFFFFFFD


def record(kind: int, data: bytes = b"") -> bytes:
    return struct.pack("<HH", kind, len(data)) + data


def wide(text: str) -> bytes:
    """A text with its length in two bytes, in UTF-16."""
    return struct.pack("<HB", len(text), 1) + text.encode("utf-16-le")


def bof(kind: int) -> bytes:
    return record(0x0809, struct.pack("<HHHHII", 0x0600, kind, 0x0DBB, 1996, 0, 0))


EOF = record(0x000A)


def label(row: int, column: int, number: int) -> bytes:
    """A cell that shows one of the texts that all cells share."""
    return record(0x00FD, struct.pack("<HHHI", row, column, 0, number))


def number(row: int, column: int, value: float, style: int = 0) -> bytes:
    return record(0x0203, struct.pack("<HHHd", row, column, style, value))


def boolean(row: int, column: int, value: int, *, error: bool = False) -> bytes:
    return record(0x0205, struct.pack("<HHHBB", row, column, 0, value, error))


def formula(row: int, column: int, shown: str) -> bytes:
    """A formula whose value is a text."""
    head = struct.pack("<HHH8sHIH", row, column, 0, b"\x00\x00\x00\x00\x00\x00\xff\xff", 0, 0, 0)
    return record(0x0006, head) + record(0x0207, wide(shown))


def merged(*areas: tuple[int, int, int, int]) -> bytes:
    """Merged cells: first and last row, first and last column."""
    return record(0x00E5, struct.pack("<H", len(areas)) + b"".join(struct.pack("<HHHH", *area) for area in areas))


def shape(identity: int, text: str, kind: int = 6) -> bytes:
    """A shape with text."""
    head = record(0x005D, struct.pack("<HHHHHIII", 0x15, 0x12, kind, identity, 0, 0, 0, 0))
    size = record(0x01B6, struct.pack("<HHHHHHI", 0, 0, 0, 0, 0, len(text), 0))
    return head + size + record(0x003C, b"\x01" + text.encode("utf-16-le"))


def note(row: int, column: int, identity: int, author: str) -> bytes:
    return record(0x001C, struct.pack("<HHHH", row, column, 0, identity) + wide(author) + b"\x00")


def texts(*shared: str, told: int | None = None) -> bytes:
    """The texts that cells share."""
    count = len(shared) if told is None else told
    return record(0x00FC, struct.pack("<II", len(shared), count) + b"".join(map(wide, shared)))


def stream(
    sheets: Mapping[str, bytes], shared: bytes = b"", more: bytes = b"", *, kinds: Sequence[int] = (), mac: bool = False
) -> bytes:
    """The stream of a workbook.

    Args:
        sheets: The records of each sheet.
        shared: See :func:`texts`.
        more: Further records about the whole workbook.
        kinds: What the sheets are: 0 for cells (as all are by default), 2 for a chart.
        mac: Dates are counted from 1904.
    """
    head = bof(5) + record(0x0042, struct.pack("<H", 1200)) + record(0x0022, struct.pack("<H", mac))
    head += b"".join(record(0x041E, struct.pack("<H", 164 + place) + wide(code)) for place, code in enumerate(FORMATS))
    head += b"".join(record(0x00E0, struct.pack("<HHH14x", 0, 164 + place, 0)) for place in range(len(FORMATS)))
    bodies = [bof(0x10) + body + EOF for body in sheets.values()]
    entries = [struct.pack("<BB", len(name), 1) + name.encode("utf-16-le") for name in sheets]
    start = len(head) + len(more) + len(shared) + sum(len(entry) + 10 for entry in entries) + len(EOF)
    for place, entry in enumerate(entries):
        kind = kinds[place] if kinds else 0
        head += record(0x0085, struct.pack("<IBB", start + sum(map(len, bodies[:place])), 0, kind) + entry)
    return head + more + shared + EOF + b"".join(bodies)


def properties(**values: str | datetime) -> bytes:
    """The stream with the properties of a file: ``title``, ``author``, ``created``."""
    ids = {"title": 2, "author": 4, "created": 12}
    parts: list[tuple[int, bytes]] = [(1, struct.pack("<IHxx", 2, 1252))]
    for name, value in values.items():
        if isinstance(value, datetime):
            ticks = int((value - datetime(1601, 1, 1, tzinfo=UTC)).total_seconds()) * 10_000_000
            parts.append((ids[name], struct.pack("<IQ", 64, ticks)))
        else:
            data = value.encode("cp1252") + b"\x00"
            parts.append((ids[name], struct.pack("<II", 30, len(data)) + data + bytes(-len(data) % 4)))
    place, table, body = 8 + 8 * len(parts), b"", b""
    for identity, data in parts:
        table += struct.pack("<II", identity, place + len(body))
        body += data
    head = struct.pack("<HHI16sI16sI", 0xFFFE, 0, 0, bytes(16), 1, bytes(16), 48)
    return head + struct.pack("<II", place + len(body), len(parts)) + table + body


def container(streams: Mapping[str, bytes]) -> bytes:
    """A compound file, whose streams are all in sectors of 512 bytes."""
    sectors: list[bytes] = []
    chains: list[int] = []

    def store(data: bytes) -> int:
        first = len(sectors)
        pieces = [data[at : at + 512].ljust(512, b"\x00") for at in range(0, len(data), 512)] or [bytes(512)]
        sectors.extend(pieces)
        chains.extend([*range(first + 1, first + len(pieces)), _END])
        return first

    entries = [_entry("Root Entry", 5, 1, _END, 0)]
    for place, (name, data) in enumerate(streams.items(), 1):
        following = place + 1 if place < len(streams) else _FREE
        entries.append(_entry(name, 2, _FREE, store(data), max(len(data), 4096), following))
    directory = store(b"".join(entries))
    tables = -(-(len(sectors) + 1) // 127)
    starts = range(len(sectors), len(sectors) + tables)
    places = chains + [_TABLE] * tables
    data = b"".join(struct.pack("<I", place) for place in places).ljust(512 * tables, b"\xff")
    header = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(16) + struct.pack("<HHHHH", 0x3E, 3, 0xFFFE, 9, 6)
    header += bytes(6) + struct.pack("<IIIIIIIII", 0, tables, directory, 0, 4096, _END, 0, _END, 0)
    header += b"".join(struct.pack("<I", place) for place in starts).ljust(4 * 109, b"\xff")
    return header + b"".join(sectors) + data


def _entry(name: str, kind: int, below: int, start: int, size: int, following: int = _FREE) -> bytes:
    text = name.encode("utf-16-le") + b"\x00\x00"
    head = text.ljust(64, b"\x00") + struct.pack(
        "<HBBIII", len(text), kind, 1, _FREE, following, below if kind == 5 else _FREE
    )
    return head.ljust(116, b"\x00") + struct.pack("<III", start, size, 0)
