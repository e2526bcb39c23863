"""The lines of standard input, for which a server waits without a thread.

That of the SDK reads in a thread, which nothing can interrupt: a server that is told to end (SIGTERM, Ctrl-C) would
only do so after the next message, or be killed.
"""

from __future__ import annotations

import codecs
import contextlib
import os
from collections.abc import AsyncIterator

import anyio

_PIECE = 1 << 16


async def input_lines(descriptor: int = 0) -> AsyncIterator[str]:
    """Yield the lines of a pipe, terminal or file as they come; what is not UTF-8 is replaced.

    Args:
        descriptor: Of the pipe, terminal or file. It stays open.
    """
    decode = codecs.getincrementaldecoder("utf-8")("replace").decode
    begun: list[str] = []  # of a line, whose end has not come
    while True:
        with contextlib.suppress(PermissionError):  # a file, for which nobody has to wait
            await anyio.wait_readable(descriptor)
        piece = os.read(descriptor, _PIECE)
        first, *others = decode(piece, final=not piece).split("\n")
        begun.append(first)
        if others:
            yield "".join(begun)
            for line in others[:-1]:
                yield line
            begun = [others[-1]]
        if not piece:
            break
    if last := "".join(begun):
        yield last
