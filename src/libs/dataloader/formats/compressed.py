"""Files that are compressed as a whole, such as ``mill.1.gz``."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import zlib
from collections.abc import Callable
from dataclasses import replace

from libs.dataloader.formats.archive import size_text
from libs.dataloader.formats.base import EXPANSION, FileData, UnreadableError

#: By the ending of the name: the first bytes of such a file, and what opens it.
_KINDS: dict[str, tuple[bytes, Callable[[io.BytesIO], io.BufferedIOBase]]] = {
    ".gz": (b"\x1f\x8b", lambda stream: gzip.GzipFile(fileobj=stream)),
    ".bz2": (b"BZh", bz2.BZ2File),
    ".xz": (b"\xfd7zXZ\x00", lzma.LZMAFile),
}


def expanded(file: FileData) -> FileData:
    """Return the file that a compressed one holds, under its name without the last ending; any other file as it is.

    Raises:
        UnreadableError: if it is damaged or empty, or expands to too much.
    """
    signature, opened = _KINDS[file.extension]
    if not file.data.startswith(signature):
        return file
    limit = EXPANSION * file.max_bytes
    try:
        with opened(io.BytesIO(file.data)) as stream:
            data = stream.read(limit + 1)
    except (OSError, EOFError, ValueError, zlib.error, lzma.LZMAError) as error:
        raise UnreadableError(f"it is damaged: {error}") from error
    if len(data) > limit or not file.nested.expand(len(data), limit):
        raise UnreadableError(f"it would expand to more than {size_text(limit)}")
    if not data:
        raise UnreadableError("it is empty")
    return replace(file, path=file.path[: -len(file.extension)], data=data)
