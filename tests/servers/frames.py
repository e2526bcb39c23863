"""Just enough of Bolt to see where messages begin and end in a stream that is only passed on.

Handshake and framing: https://neo4j.com/docs/bolt/current/bolt/handshake/ and https://neo4j.com/docs/bolt/current/bolt/message/.
"""

from collections.abc import Generator, Iterator
from typing import Literal

type Direction = Literal["to_server", "to_client"]

COMMIT = 0x12
GOODBYE = 0x02
SUMMARIES = frozenset({0x70, 0x7E, 0x7F})  # SUCCESS, IGNORED, FAILURE: one of them answers each request

_MANIFEST = bytes.fromhex("000001FF")

# Says how many bytes it wants next and is given exactly those.
type _Parser = Generator[int, bytes, None]


class Handshake:
    """What one direction of a connection must know of the other: whether the server sent a manifest of versions."""

    manifest = False


class Frames:
    """Cuts one direction of one Bolt connection into messages, in whatever pieces its bytes arrive."""

    def __init__(self, direction: Direction, handshake: Handshake) -> None:
        self._handshake = handshake
        self._ended: int | None = None
        self._parser = self._from_client() if direction == "to_server" else self._from_server()
        self._wanted = next(self._parser)
        self._held = bytearray()

    def split(self, data: bytes) -> Iterator[tuple[bytes, int | None]]:
        """Yield all of `data` in order, in pieces that end where a message ends (the last piece may end anywhere).

        With each piece comes the signature of the message that ends with it, None where none does.
        """
        begin = here = 0
        while here < len(data):
            part = data[here : here + self._wanted - len(self._held)]
            self._held += part
            here += len(part)
            if len(self._held) < self._wanted:
                break
            got = bytes(self._held)
            self._held.clear()
            self._wanted = self._parser.send(got)
            if self._ended is not None:
                yield data[begin:here], self._ended
                begin, self._ended = here, None
        if begin < len(data):
            yield data[begin:], None

    def _from_client(self) -> _Parser:
        yield 20
        # More comes only after the server's answer, so by the first byte of it the kind of handshake is known.
        first = yield 1
        if self._handshake.manifest:
            yield 3
            yield from self._varint()
            first = b""
        yield from self._messages(first)

    def _from_server(self) -> _Parser:
        self._handshake.manifest = (yield 4) == _MANIFEST
        if self._handshake.manifest:
            versions = yield from self._varint()
            if versions:
                yield 4 * versions
            yield from self._varint()
        yield from self._messages(b"")

    def _varint(self) -> Generator[int, bytes, int]:
        value = shift = 0
        while True:
            (byte,) = yield 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    def _messages(self, first: bytes) -> _Parser:
        message = b""
        while True:
            size = int.from_bytes(first + (yield 2 - len(first)))
            first = b""
            if size:
                # The signature is the second byte; the rest need not be kept.
                message = (message + (yield size))[:2]
            elif message:
                self._ended = message[-1]
                message = b""
