"""Converts file paths to text that can be stored, and back."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from urllib.parse import unquote_to_bytes

from libs.regexes import regex

_NOT_UTF8 = regex("[\udc80-\udcff]")  # how Python writes such bytes of a name
# How they are written here, and with them ``%``:
_BYTE = regex(rb"%[89A-F][0-9A-F]")
_ESCAPED = regex(rb"%(25|[89A-F][0-9A-F])")


def printable(path: str) -> str:
    """Return a path that can be stored: bytes that are not UTF-8 become ``%E9``, and ``%`` beside them ``%25``."""
    if path.isascii():
        return path
    return "/".join(
        "".join(f"%{ord(char) & 0xFF:02X}" if char == "%" or _NOT_UTF8.match(char) else char for char in part)
        if _NOT_UTF8.search(part)
        else part
        for part in path.split("/")
    )


def uri_of_path(path: str) -> str:
    """Return the URI of an absolute path."""
    return "file://" + printable(path).replace("\\", "/")


def path_given(given: str) -> str:
    """Return the given path; it may be a ``file`` URI, as in the graph, or percent-encoded, as in browsers."""
    if not given.lower().startswith("file://"):
        return given
    path = given[7:]
    decoded = os.fsdecode(unquote_to_bytes(path.removeprefix("localhost")))  # which means this machine: RFC 8089
    return decoded if not os.path.lexists(path) and os.path.lexists(decoded) else path


def namesake(place: str) -> str | None:
    """Why a file cannot be stored whose name, written so that it can be, is that of another one."""
    shown = printable(place)
    if shown == place or not os.path.isfile(shown):
        return None
    return "its name is not UTF-8, and written with % it is that of another file here; rename one of them"


def is_file(uri: str) -> bool:
    """Return whether the file with a URI of :func:`uri_of_path` is there; also where nobody can tell."""
    return any(_is_there(path) for path in _paths(uri))


def folder_identity(uri: str) -> tuple[int, int] | None:
    """Return what tells the folder with a URI of :func:`uri_of_path` from all others; ``None``: there is none."""
    for path in _paths(uri):
        with contextlib.suppress(OSError, ValueError):
            status = os.stat(path)  # a path of bytes
            if stat.S_ISDIR(status.st_mode):
                return status.st_dev, status.st_ino
    return None


def emptied_folder(uri: str) -> str | None:
    """Return the URI of the nearest folder around a missing file that is there, if nothing at all is in it."""
    for path in _paths(uri):
        with contextlib.suppress(OSError, ValueError):
            folder = os.path.dirname(path)  # a path of bytes
            while not os.path.lexists(folder):
                folder = os.path.dirname(folder)
            with os.scandir(folder) as entries:
                if next(entries, None) is None:
                    return uri.rsplit("/", path.count(b"/") - folder.count(b"/"))[0]
    return None


def _paths(uri: str) -> list[bytes]:
    """Return what the path with a URI may be: as it is written, and with its escaped bytes."""
    if not uri.startswith("file://"):
        return []
    path = uri.removeprefix("file://").encode("utf-8", "surrogatepass")
    raw = b"/".join(
        _ESCAPED.sub(lambda match: bytes.fromhex(match[1].decode()), part) if _BYTE.search(part) else part
        for part in path.split(b"/")
    )
    return [path] if raw == path else [path, raw]


def _is_there(path: bytes) -> bool:
    try:
        return stat.S_ISREG(os.stat(path).st_mode)  # a path of bytes
    except (FileNotFoundError, NotADirectoryError):
        return _leads_nowhere(path)
    except ValueError:
        return False
    except OSError as error:
        return error.errno != errno.ENAMETOOLONG


def _leads_nowhere(path: bytes) -> bool:
    """Return whether a path ends at a link to what is not there now: a drive may not be mounted."""
    while not os.path.lexists(path):
        path, last = os.path.dirname(path), path
        if path == last:
            return False
    return os.path.islink(path) and not os.path.exists(path)
