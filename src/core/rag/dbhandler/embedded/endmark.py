"""Notes in a graph file how far its log reaches, so that one that was cut short or left behind is noticed.

The engine takes a log that somebody else has cut short (a copy that broke off, a tool that synchronizes folders) for
one that a crash has torn, and a graph without its log for one that was closed. So the position in the log is noted
after each commit that has been synchronized. Positions only grow, and checkpoints have one, too: a graph is whole if it
has a checkpoint from behind the noted position, or a log that reaches it. Nothing is noted before it is on the disk, so
that no crash leaves a note without its commit; where a note itself is lost, no harm is done.

The note is on the page of the older one of the two headers (see :mod:`.header`), of which the engine uses 84 bytes: the
next checkpoint, which makes all notes before it obsolete, overwrites it, and a power cut that tears it costs nothing.
"""

from __future__ import annotations

import os
import struct
import time
import zlib
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

PAGE = 4096
HEADERS = (PAGE, 2 * PAGE)
HEADER_START = (b"GDBH", 1)

_HEADER = struct.Struct("<4sIQ")  # magic, version, number
_NOTE = struct.Struct("<8sQQ")  # magic, position, seconds; then the CRC-32 of these
_CHECKSUM = struct.Struct("<I")
_MAGIC = b"MGRAGEND"
_AT = 2048  # in the page: in another sector than the header


@dataclass(frozen=True, slots=True)
class EndNote:
    """How far the log of a graph reached.

    Attributes:
        position: Where the last commit that is noted ends; 0 if there is none.
        seconds: When it was noted, as Unix time.
    """

    position: int
    seconds: int


def note_end(file: Path, identity: tuple[int, int] | None, position: int) -> None:
    """Note how far the log of an open graph reaches.

    Args:
        file: The graph file.
        identity: Device and number of the file that was opened: another one of its name is left alone.
        position: Where a commit ends that is on the disk, as all before it are.
    """
    note = _NOTE.pack(_MAGIC, position, int(time.time()))
    with suppress(OSError):  # a safeguard, without which commits are as good (Windows locks the file against it)
        descriptor = os.open(file, os.O_RDWR | getattr(os, "O_BINARY", 0))
        try:
            status = os.fstat(descriptor)
            if (status.st_dev, status.st_ino) == identity and (page := _older_header(descriptor)):
                os.lseek(descriptor, page + _AT, os.SEEK_SET)
                os.write(descriptor, note + _CHECKSUM.pack(zlib.crc32(note)))
        finally:
            os.close(descriptor)


def noted_end(start: bytes) -> EndNote:
    """Return what is noted on the first three pages of a graph file."""
    found = [EndNote(0, 0)]
    for page in HEADERS:
        magic, position, seconds = _NOTE.unpack_from(start, page + _AT)
        (checksum,) = _CHECKSUM.unpack_from(start, page + _AT + _NOTE.size)
        if magic == _MAGIC and checksum == zlib.crc32(start[page + _AT : page + _AT + _NOTE.size]):
            found.append(EndNote(position, seconds))
    return max(found, key=lambda note: note.position)


def forget_end(file: Path) -> None:
    """Remove what is noted in a graph that is not open.

    Raises:
        OSError: if it cannot be written.
    """
    with file.open("r+b") as raw:
        for page in HEADERS:
            raw.seek(page + _AT)
            raw.write(bytes(_NOTE.size + _CHECKSUM.size))
        raw.flush()
        os.fsync(raw.fileno())


def _older_header(descriptor: int) -> int:
    """Return the place of the header that the engine writes next; 0 if it is not known."""
    start = os.read(descriptor, HEADERS[-1] + _HEADER.size)
    if len(start) < HEADERS[-1] + _HEADER.size:
        return 0
    (*first, one), (*second, other) = (_HEADER.unpack_from(start, page) for page in HEADERS)
    return HEADERS[one > other] if tuple(first) == tuple(second) == HEADER_START else 0
