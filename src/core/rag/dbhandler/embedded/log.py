"""Distinguishes a damaged log of the embedded engine from one that was cut off by a crash.

The engine takes in its log up to the first record that is not whole, and drops what is behind it without a word. That
is right where a crash cut the last write short; a flipped byte would cost every commit after it. All segments but the
last it looks at itself.

The layout is that of Grafeo 0.6 (version 2 of its log): a header of 128 bytes, then records. A record has its length, a
CRC-32 over all but itself, its position in the log (which goes on from segment to segment), a number and a kind.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from pathlib import Path

from core.rag.errors import StoreDamagedError

#: Before the first record of a segment.
HEADER_BYTES = 128
_HEADER = struct.Struct("<8sHH4x16xQ")  # magic, version, size, an id that is not needed, position of the first record
_MAGIC = (b"GRAFWAL\0", 2, HEADER_BYTES)
_RECORD = struct.Struct("<IIQQB")
_CHECKED = 8  # behind the length and the checksum
_PAGE = 4096
_WINDOW = 1 << 18


def check_log(folder: Path) -> None:
    """Refuse a log from which the engine would drop commits that are not just the torn end of it.

    Args:
        folder: What lies beside the graph; nobody has that open.

    Raises:
        StoreDamagedError: saying where it is damaged, and what to do.
    """
    if not (logs := sorted(folder.glob("wal_*.log"))):
        return
    place = damage_in(logs[-1].read_bytes())
    if place is None:
        return
    raise StoreDamagedError(
        f"The log {logs[-1]} is damaged at byte {place}: what was committed there and behind it would be lost, so the"
        " graph is left as it is. Restore a backup (mgrag restore FILE --force), which keeps it aside; or copy"
        f" {folder} elsewhere, cut that off (truncate -s {place} {logs[-1]}), go on with what is left (mgrag doctor"
        " --repair), and put in again what is missing."
    )


def log_end(folder: Path) -> int:
    """Return the position at which the last whole record of a log ends; 0 if there is no log.

    Args:
        folder: What lies beside the graph; nobody has that open.

    Raises:
        OSError: if it cannot be read.
    """
    if not (logs := sorted(folder.glob("wal_*.log"))):
        return 0
    log = logs[-1].read_bytes()
    first = _first(log)
    if first is None:  # its beginning is torn: it is named after where that is
        return int(logs[-1].stem[4:]) if logs[-1].stem[4:].isdigit() else 0
    return _records_end(log, first - HEADER_BYTES) + first - HEADER_BYTES


def damage_in(log: bytes) -> int | None:
    """Return where the last segment of a log is damaged; ``None``: nowhere, apart from an end that a crash has torn.

    A write that was cut short ends the file. One that did not reach the disk in a power cut, though the file had grown
    already, leaves a page of zeros, or ends in zeros; others behind it were not acknowledged either.
    """
    if (first := _first(log)) is None:
        return None  # of another version: the engine knows it, or says that it does not
    shift = first - HEADER_BYTES  # from places in the file to positions in the log
    place = _records_end(log, shift)
    left = len(log) - place
    if log.count(0, place) == left or _has_empty_page(log, place):
        return None
    if any(_whole(log, at, shift) for at in _candidates(log, place, shift)):
        return place
    complete = left >= _RECORD.size and _RECORD.size + _RECORD.unpack_from(log, place)[0] == left
    return place if complete and log[-1] else None


def _first(log: bytes) -> int | None:
    """Return the position of the first record of a segment; ``None`` if it is of another version, or too short."""
    if len(log) < HEADER_BYTES:
        return None
    *kind, first = _HEADER.unpack_from(log)
    return int(first) if tuple(kind) == _MAGIC else None


def _records_end(log: bytes, shift: int) -> int:
    """Return the place behind the records that are whole."""
    place = HEADER_BYTES
    while end := _whole(log, place, shift):
        place = end
    return place


def _whole(log: bytes, place: int, shift: int) -> int:
    """Return where the record at a place ends; 0 if there is none that is whole."""
    if place + _RECORD.size > len(log):
        return 0
    length, checksum, position, _, _ = _RECORD.unpack_from(log, place)
    end = place + _RECORD.size + length
    if position != place + shift or end > len(log):
        return 0
    view = memoryview(log)
    found = zlib.crc32(view[place + _CHECKED : end], zlib.crc32(view[place : place + 4]))
    return int(end) if found == checksum else 0


def _candidates(log: bytes, place: int, shift: int) -> Iterator[int]:
    """Places behind one at which a record says its own position; those near it first, since most often one is."""
    import numpy as np

    for near in range(place + 1, len(log), _WINDOW):
        for start in range(near, near + 8):
            count = min(_WINDOW, len(log) - start - _CHECKED) // 8
            if count > 0:
                positions = np.frombuffer(log, "<u8", count, start + _CHECKED)
                expected = np.arange(count, dtype=np.uint64) * np.uint64(8) + np.uint64(start + shift)
                yield from (start + 8 * int(i) for i in np.flatnonzero(positions == expected))


def _has_empty_page(log: bytes, place: int) -> bool:
    """Return whether a page of the file from a place on holds nothing but zeros."""
    import numpy as np

    first = -(-place // _PAGE) * _PAGE
    pages = (len(log) - first) // _PAGE
    if pages <= 0:
        return False
    words = np.frombuffer(log, np.uint64, pages * _PAGE // 8, first)
    return not words.reshape(pages, -1).any(axis=1).all()
