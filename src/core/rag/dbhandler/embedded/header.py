"""Notices that the header of a graph file is damaged, where the engine would open an older state without a word.

The engine keeps two headers and writes them in turns, so that one is whole when a crash cuts the other short. It opens
the newer one that is whole; the log then has what was committed since. But a flipped bit in the newer one of a graph
that was closed, and so has no log, shows the state of the checkpoint before: for a graph made in one run, nothing.

Here, too, it is noticed that a graph ends before what was committed to it (:mod:`.endmark`).

The layout is that of Grafeo 0.6 (version 3 of its file): pages of 4,096 bytes; the headers are on the second and third.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from core.rag.dbhandler.embedded.commitlog import log_folder
from core.rag.dbhandler.embedded.endmark import HEADER_START, HEADERS, PAGE, noted_end
from core.rag.dbhandler.embedded.log import log_end
from core.rag.errors import StoreDamagedError

_FILE = struct.Struct("<4sII")  # magic, version, size of a page
_FILE_START = (b"GRAF", 3, PAGE)
_HEADER = struct.Struct("<4sIQQ56xI")  # magic, version, number, position in the log, CRC-32 of all before it
_STATE = struct.Struct("<QI")  # where the state is that a header leads to, and its length
_STATE_AT = 40  # in a header


@dataclass(frozen=True, slots=True)
class _Header:
    number: int  # -1 where it does not look like a header at all
    position: int
    whole: bool


def check_header(file: Path) -> None:
    """Refuse a graph that would open with less than was committed to it.

    Its newer header is damaged, unless its log has all that was committed since the older one; or it ends too early.

    Args:
        file: A graph that nobody writes to meanwhile.

    Raises:
        StoreDamagedError: saying where it is damaged, and what to do.
        OSError: if it cannot be read.
    """
    if not (start := _start(file)):
        return  # no graph, or one of another version: the engine tells
    headers = _headers(start)
    if place := _damaged_header(file, start, headers):
        raise StoreDamagedError(
            f"{file} is damaged at byte {place}: one of its two headers cannot be read, and the other one may be that"
            " of an earlier state, without what was stored last. It is left as it is. Restore a backup (mgrag restore"
            " FILE --force), which keeps it aside, or ingest again into another graph (--db)."
        )
    if message := _missing_end(file, start, headers):
        raise StoreDamagedError(
            f"{message} It is left as it is. Copy the graph again from where it was used, after it was closed there, or"
            f" with the log beside it ({log_folder(file).name}); or restore a backup (mgrag restore FILE --force),"
            " which keeps this one aside. To go on with what is left: mgrag doctor --repair."
        )


def _damaged_header(file: Path, start: bytes, headers: Sequence[_Header]) -> int:
    """Return where a header is damaged that may have been the newer one; 0 if none is."""
    good = [header for header in headers if header.whole]
    if len(good) != 1:
        return 0  # both are whole, or the engine tells that none is
    place = HEADERS[headers[0].whole]
    bad = headers[headers[0].whole]
    if bad.number >= 0 and bad.number == good[0].number - 1:
        return 0  # the older one, which is written next
    if good[0].position in {int(log.stem[4:]) for log in log_folder(file).glob("wal_*.log") if log.stem[4:].isdigit()}:
        return 0  # a crash has torn it
    if good[0].number == 0 and not any(start[place : place + PAGE]) and _is_new(file, start):
        return 0  # made a moment before a crash, or on a full disk: nothing was ever stored in it
    return place


def missing_end(file: Path) -> str:
    """Return what a graph lacks that was committed to it, as a sentence; empty if nothing is known to be missing.

    Args:
        file: A graph that nobody writes to meanwhile.

    Raises:
        OSError: if it cannot be read.
    """
    start = _start(file)
    return _missing_end(file, start, _headers(start)) if start else ""


def _missing_end(file: Path, start: bytes, headers: Sequence[_Header]) -> str:
    note = noted_end(start)
    reached = max((header.position for header in headers if header.whole), default=note.position)
    if note.position > reached:
        reached = max(reached, log_end(log_folder(file)))
    if note.position <= reached:
        return ""
    last = datetime.fromtimestamp(note.seconds, UTC)
    return (
        f"{file} ends before what had been written to it: the last {note.position - reached:,} bytes of its log are"
        f" missing, up to what was committed at {last:%Y-%m-%d %H:%M:%S} UTC."
    )


def _start(file: Path) -> bytes:
    """Return the first pages of a graph; nothing where there is none, or one of another version."""
    with file.open("rb") as raw:
        start = raw.read(3 * PAGE)
    return start if len(start) == 3 * PAGE and _FILE.unpack_from(start) == _FILE_START else b""


def _headers(start: bytes) -> list[_Header]:
    return [_header(start, place) for place in HEADERS]


def _header(start: bytes, place: int) -> _Header:
    *kind, number, position, checksum = _HEADER.unpack_from(start, place)
    if tuple(kind) != HEADER_START:
        return _Header(-1, 0, whole=False)
    return _Header(number, position, checksum == zlib.crc32(start[place : place + _HEADER.size - 4]))


def _is_new(file: Path, start: bytes) -> bool:
    """Return whether a graph has nothing behind the empty state that it was made with, to which its header 0 leads."""
    where, length = _STATE.unpack_from(start, PAGE + _STATE_AT)
    with file.open("rb") as raw:
        raw.seek(where + length)
        return not any(raw.read())
