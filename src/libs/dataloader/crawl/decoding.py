"""Decodes Content-Encoding incrementally and within a limit, so that a small download cannot fill the memory."""

from __future__ import annotations

import zlib
from typing import Protocol

ACCEPT_ENCODING = "gzip, deflate"
# What says that a body is not compressed; some servers write its charset there.
_NONE = frozenset(("", "identity", "none", "utf-8", "utf8", "iso-8859-1", "us-ascii", "8bit", "binary"))
_GZIP_MAGIC = b"\x1f\x8b"
_STEP = 1 << 20
# Each member of a gzip file costs a decompressor and a copy of the remaining input; a member can be 20 bytes small.
_MOST_MEMBERS = 10_000
_SLICE = 1 << 16


class TooMuchError(Exception):
    """The decoded body is larger than the limit."""


class BadEncodingError(Exception):
    """The body is not in the encoding that its header names, or is truncated."""


class _Decompressor(Protocol):
    @property
    def unconsumed_tail(self) -> bytes: ...
    @property
    def unused_data(self) -> bytes: ...
    @property
    def eof(self) -> bool: ...
    def decompress(self, data: bytes, max_length: int = 0, /) -> bytes: ...


class BodyDecoder:
    """Decodes and collects a response body.

    Args:
        encoding: Value of the Content-Encoding header.
        limit: Maximum size of the decoded body in bytes.

    Raises:
        BadEncodingError: if the encoding is not one of those in :data:`ACCEPT_ENCODING`.
    """

    def __init__(self, encoding: str, limit: int) -> None:
        names = [name for part in encoding.split(",") if (name := part.strip().lower()) not in _NONE]
        if len(names) > 1 or (names and names[0] not in ("gzip", "x-gzip", "deflate")):
            # Several layers are never requested, and would let a few bytes expand to a terabyte.
            raise BadEncodingError(f"it came in a Content-Encoding that was not asked for: {encoding[:100]}")
        self._name = names[0] if names else ""
        self._limit = limit
        self._body = bytearray()
        self._head = b""
        self._decompressor: _Decompressor | None = None
        self._members = 1
        self._ended = False

    def feed(self, data: bytes) -> None:
        """Decode the next part of the body, as received.

        Raises:
            TooMuchError: if the decoded body exceeds the limit.
            BadEncodingError: if it cannot be decompressed.
        """
        if self._name and self._decompressor is None:
            self._head += data
            if len(self._head) < 2:
                return
            data, self._head = self._head, b""
            self._decompressor = _decompressor(self._name, data)
            if self._decompressor is None:  # not compressed, although the header says so
                self._name = ""
        if self._decompressor is None:
            self._add(data)
            return
        try:
            for start in range(0, len(data), _SLICE):
                self._inflate(data[start : start + _SLICE])
        except zlib.error as error:
            raise BadEncodingError(f"it cannot be decompressed ({self._name}): {error}") from None

    def finish(self) -> bytes:
        """Return the whole body.

        Raises:
            BadEncodingError: if its end is missing.
        """
        if self._decompressor is not None and not self._decompressor.eof:
            raise BadEncodingError("the compressed body breaks off before its end")
        self._body += self._head
        return bytes(self._body)

    def head(self, size: int) -> bytes:
        """Return the beginning of what is decoded so far."""
        return bytes(self._body[:size])

    def _inflate(self, data: bytes) -> None:
        assert self._decompressor is not None
        while not self._ended:
            room = min(_STEP, self._limit - len(self._body) + 1)
            piece = self._decompressor.decompress(data, room)
            self._add(piece)
            if self._decompressor.eof:
                data = self._decompressor.unused_data
                if not data.startswith(_GZIP_MAGIC):
                    self._ended = not _GZIP_MAGIC.startswith(data)  # anything but another gzip member is padding
                    return
                self._members += 1
                if self._members > _MOST_MEMBERS:
                    raise BadEncodingError(f"it is gzip in more than {_MOST_MEMBERS:,} pieces")
                self._decompressor = zlib.decompressobj(16 + zlib.MAX_WBITS)
            else:
                data = self._decompressor.unconsumed_tail
                if not data and len(piece) < room:
                    return

    def _add(self, data: bytes) -> None:
        self._body += data
        if len(self._body) > self._limit:
            raise TooMuchError


def _decompressor(name: str, head: bytes) -> _Decompressor | None:
    if head.startswith(_GZIP_MAGIC):
        return zlib.decompressobj(16 + zlib.MAX_WBITS)
    if name == "deflate":  # some servers leave out the zlib header that belongs there
        has_header = head[0] & 0x0F == 8 and (head[0] << 8 | head[1]) % 31 == 0
        return zlib.decompressobj(zlib.MAX_WBITS if has_header else -zlib.MAX_WBITS)
    return None


def gunzip(data: bytes, limit: int) -> bytes:
    """Decompress a gzip file.

    Raises:
        TooMuchError: if the result exceeds the limit.
        BadEncodingError: if it is damaged.
    """
    decoder = BodyDecoder("gzip", limit)
    decoder.feed(data)
    return decoder.finish()
