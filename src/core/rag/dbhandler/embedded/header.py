"""Notices that the header of a graph file is damaged, where the engine would open an older state without a word.

The engine keeps two headers and writes them in turns, so that one is whole when a crash cuts the other short. It opens
the newer one that is whole; the log then has what was committed since. But a flipped bit in the newer one of a graph
that was closed, and so has no log, shows the state of the checkpoint before: for a graph made in one run, nothing.

The layout is that of Grafeo 0.6 (version 3 of its file): pages of 4,096 bytes; the headers are on the second and third.
"""

from __future__ import annotations

import struct
import zlib
from dataclasses import dataclass
from pathlib import Path

from core.rag.dbhandler.embedded.commitlog import log_folder
from core.rag.errors import StoreDamagedError

_PAGE = 4096
_FILE = struct.Struct("<4sII")  # magic, version, size of a page
_FILE_START = (b"GRAF", 3, _PAGE)
_HEADER = struct.Struct("<4sIQQ56xI")  # magic, version, number, position in the log, CRC-32 of all before it
_START = (b"GDBH", 1)
_STATE = struct.Struct("<QI")  # where the state is that a header leads to, and its length
_STATE_AT = 40  # in a header


@dataclass(frozen=True, slots=True)
class _Header:
    number: int  # -1 where it does not look like a header at all
    position: int
    whole: bool


def check_header(file: Path) -> None:
    """Refuse a graph whose newer header is damaged, unless its log has all that was committed since the older one.

    Args:
        file: A graph that nobody writes to meanwhile.

    Raises:
        StoreDamagedError: saying where it is damaged, and what to do.
        OSError: if it cannot be read.
    """
    with file.open("rb") as raw:
        start = raw.read(3 * _PAGE)
    if len(start) < 3 * _PAGE or _FILE.unpack_from(start) != _FILE_START:
        return  # no graph, or one of another version: the engine tells
    headers = [_header(start, place) for place in (_PAGE, 2 * _PAGE)]
    good = [header for header in headers if header.whole]
    if len(good) != 1:
        return  # both are whole, or the engine tells that none is
    place = _PAGE if headers[1].whole else 2 * _PAGE
    bad = headers[place // _PAGE - 1]
    if bad.number >= 0 and bad.number == good[0].number - 1:
        return  # the older one, which is written next
    if good[0].position in {int(log.stem[4:]) for log in log_folder(file).glob("wal_*.log") if log.stem[4:].isdigit()}:
        return  # a crash has torn it
    if good[0].number == 0 and not any(start[place : place + _PAGE]) and _is_new(file, start):
        return  # made a moment before a crash, or on a full disk: nothing was ever stored in it
    raise StoreDamagedError(
        f"{file} is damaged at byte {place}: one of its two headers cannot be read, and the other one may be that of an"
        " earlier state, without what was stored last. It is left as it is. Restore a backup (mgrag restore FILE"
        " --force), which keeps it aside, or ingest again into another graph (--db)."
    )


def _header(start: bytes, place: int) -> _Header:
    *kind, number, position, checksum = _HEADER.unpack_from(start, place)
    if tuple(kind) != _START:
        return _Header(-1, 0, whole=False)
    return _Header(number, position, checksum == zlib.crc32(start[place : place + _HEADER.size - 4]))


def _is_new(file: Path, start: bytes) -> bool:
    """Return whether a graph has nothing behind the empty state that it was made with, to which its header 0 leads."""
    where, length = _STATE.unpack_from(start, _PAGE + _STATE_AT)
    with file.open("rb") as raw:
        raw.seek(where + length)
        return not any(raw.read())
