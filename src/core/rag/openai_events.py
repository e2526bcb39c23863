"""Server-sent events, as far as streamed responses of the OpenAI protocol use them."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator

_LONGEST_EVENT = 1 << 24


class MalformedAnswerError(ValueError):
    """An answer is not what the protocol promises. Raised by the reader of an answer."""


async def server_sent_events(parts: AsyncIterator[bytes]) -> AsyncGenerator[str, None]:
    """Yield the data of server-sent events, in whatever pieces their bytes arrive (HTML standard, section 9.2.6).

    Args:
        parts: The body of an answer.

    Yields:
        The data of each event that is complete; what is left over at the end is dropped.

    Raises:
        MalformedAnswerError: An event is longer than 16 MB, or no UTF-8.
    """
    buffer = bytearray()
    data: list[bytes] = []
    held = 0  # bytes of the lines in it
    async for part in parts:
        searched = len(buffer)
        buffer += part
        while True:
            end = buffer.find(b"\n", searched)
            if held + (len(buffer) if end < 0 else end) > _LONGEST_EVENT:
                raise MalformedAnswerError("an event of the stream is longer than 16 MB")
            if end < 0:
                break
            line = bytes(buffer[:end]).removesuffix(b"\r")
            del buffer[: end + 1]
            searched = 0
            if line.startswith(b"data:"):
                data.append(line[5:].removeprefix(b" "))
                held += len(line)
            elif not line and data:
                yield b"\n".join(data).decode()
                data, held = [], 0
