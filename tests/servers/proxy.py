"""A TCP proxy in front of a Bolt server that breaks the line when a test says so.

    async with BoltProxy(server.uri) as proxy:
        client = connect(proxy.uri)
        broken = proxy.cut_on_commit("answered")     # the server has committed, the client will never know
        …
        await broken.wait()

Everything it is told holds for all connections, those that exist and those to come, until it is told otherwise;
what cuts, cuts one connection once. It reads plain Bolt only: `cut_on_commit` does nothing on a TLS connection.
"""

import asyncio
import contextlib
import socket
import struct
from types import TracebackType
from typing import Literal, Self
from urllib.parse import urlsplit

from tests.servers.frames import COMMIT, GOODBYE, SUMMARIES, Direction, Frames, Handshake
from tests.servers.ports import HOST, free_port

type CommitMoment = Literal["before", "during", "answered", "after"]

_BOTH: tuple[Direction, Direction] = ("to_server", "to_client")
_LINGER_ZERO = struct.pack("ii", 1, 0)
_BUFFER = 1 << 16


class Trigger:
    """A cut that waits for its moment; `fired` once it has come."""

    def __init__(self) -> None:
        self._event = asyncio.Event()

    @property
    def fired(self) -> bool:
        """Whether the connection was cut."""
        return self._event.is_set()

    async def wait(self, seconds: float = 30.0) -> None:
        """Wait until the connection is cut; raises TimeoutError after `seconds`."""
        async with asyncio.timeout(seconds):
            await self._event.wait()

    def fire(self) -> None:
        """Note that the connection was cut."""
        self._event.set()

    def cut_at(self, line: "_Line", direction: Direction, piece: bytes, signature: int | None) -> int | None:
        """Return how many bytes of `piece` are still passed on before the cut; None: no cut yet."""
        raise NotImplementedError


class _AfterBytes(Trigger):
    def __init__(self, count: int, direction: Direction) -> None:
        super().__init__()
        self._left, self._direction = count, direction

    def cut_at(self, line: "_Line", direction: Direction, piece: bytes, signature: int | None) -> int | None:
        if direction != self._direction:
            return None
        if len(piece) >= self._left:
            return self._left
        self._left -= len(piece)
        return None


class _OnPattern(Trigger):
    def __init__(self, pattern: bytes, direction: Direction, nth: int, *, forward: bool) -> None:
        super().__init__()
        self._pattern, self._direction, self._left, self._forward = pattern, direction, nth, forward
        self._tails: dict[_Line, bytes] = {}

    def cut_at(self, line: "_Line", direction: Direction, piece: bytes, signature: int | None) -> int | None:
        if direction != self._direction:
            return None
        # What came before may hold the beginning of the pattern.
        tail = self._tails.get(line, b"")
        seen, begin = tail + piece, 0
        while (begin := seen.find(self._pattern, begin)) >= 0:
            end = begin + len(self._pattern)
            self._left -= 1
            if self._left == 0:
                return end - len(tail) if self._forward else max(0, begin - len(tail))
            begin = end
        self._tails[line] = seen[-(len(self._pattern) - 1) :] if len(self._pattern) > 1 else b""
        return None


class _OnCommit(Trigger):
    def __init__(self, moment: CommitMoment, nth: int) -> None:
        super().__init__()
        self._moment, self._left = moment, nth
        self._awaited: tuple[_Line, int] | None = None

    def cut_at(self, line: "_Line", direction: Direction, piece: bytes, signature: int | None) -> int | None:
        if direction == "to_server" and signature == COMMIT and self._left:
            self._left -= 1
            if self._left:
                return None
            if self._moment in ("before", "during"):
                return 0 if self._moment == "before" else len(piece)
            self._awaited = (line, line.requests)
        elif direction == "to_client" and signature in SUMMARIES and self._awaited == (line, line.answers):
            return 0 if self._moment == "answered" else len(piece)
        return None


class _Line:
    """One connection: the client's half, the server's half, and what has passed between them."""

    def __init__(self, client: asyncio.StreamWriter, server: asyncio.StreamWriter) -> None:
        self.client, self.server = client, server
        handshake = Handshake()
        self.frames = {direction: Frames(direction, handshake) for direction in _BOTH}
        self.requests = self.answers = 0
        self.pumps: list[asyncio.Task[None]] = []

    def count(self, direction: Direction, signature: int | None) -> None:
        if direction == "to_server" and signature not in (None, GOODBYE):
            self.requests += 1
        elif direction == "to_client" and signature in SUMMARIES:
            self.answers += 1

    def cut(self, *, reset: bool) -> None:
        if reset:
            connection: socket.socket = self.client.get_extra_info("socket")
            with contextlib.suppress(OSError):
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _LINGER_ZERO)
            self.client.transport.abort()
        else:
            self.client.close()
        # In order, so that what was passed on before the cut does arrive.
        self.server.close()
        for pump in self.pumps:
            if pump is not asyncio.current_task():
                pump.cancel()


class BoltProxy:
    """A proxy on 127.0.0.1 in front of `target`.

    Args:
        target: the URI of the server (`bolt://host:port`, or any scheme); port 7687 where it names none.
        reset: whether a client whose connection is cut sees a reset (RST) or an end (FIN). The server sees an end.
    """

    def __init__(self, target: str, *, reset: bool = True) -> None:
        parts = urlsplit(target)
        self._scheme, self._host, self._port = parts.scheme, parts.hostname or HOST, parts.port or 7687
        self._reset = reset
        self.port = free_port()
        self.accepted = 0
        self.commits = 0
        self._listener: asyncio.Server | None = None
        self._lines: set[_Line] = set()
        self._serving: set[asyncio.Task[None]] = set()
        self._triggers: list[Trigger] = []
        self._open = {direction: asyncio.Event() for direction in _BOTH}
        self._delay = dict.fromkeys(_BOTH, 0.0)
        self.resume()

    @property
    def uri(self) -> str:
        """The URI to give to the client: the target's scheme, this proxy's address."""
        return f"{self._scheme}://{HOST}:{self.port}"

    @property
    def connections(self) -> int:
        """How many connections are open now (`accepted`: all that ever were; `commits`: COMMITs that arrived here)."""
        return len(self._lines)

    def cut_all(self) -> int:
        """Cut all connections now; return how many there were."""
        lines = list(self._lines)
        for line in lines:
            line.cut(reset=self._reset)
        return len(lines)

    def cut_after(self, count: int, direction: Direction) -> Trigger:
        """Cut the connection on which the `count`-th byte from now on, over all connections, has been passed on."""
        return self._arm(_AfterBytes(count, direction))

    def cut_on(
        self, pattern: bytes, *, direction: Direction = "to_server", nth: int = 1, forward: bool = False
    ) -> Trigger:
        """Cut when `pattern` passes for the `nth` time from now on: before (most of) it is passed on, or after it."""
        return self._arm(_OnPattern(pattern, direction, nth, forward=forward))

    def cut_on_commit(self, moment: CommitMoment, nth: int = 1) -> Trigger:
        """Cut around the `nth` COMMIT from now on, over all connections.

        - "before": the server never sees the COMMIT: it rolls back;
        - "during": passed on and cut at once: nobody can say what the server does;
        - "answered": the server has answered, the client does not hear it: done, unless the answer was a failure;
        - "after": the client has heard it: the connection dies between two transactions.
        """
        return self._arm(_OnCommit(moment, nth))

    def delay(self, seconds: float, direction: Direction | None = None) -> None:
        """Hold back every piece of data for `seconds` (0: no longer), in one direction or both."""
        for one in _BOTH if direction is None else (direction,):
            self._delay[one] = seconds

    def stall(self, direction: Direction | None = None) -> None:
        """Accept connections and data and pass nothing on, in one direction or both, until `resume`.

        "to_client" makes a server that does everything and never answers.
        """
        for one in _BOTH if direction is None else (direction,):
            self._open[one].clear()

    def resume(self) -> None:
        """End `stall`; what was held back flows."""
        for gate in self._open.values():
            gate.set()

    async def refuse(self) -> None:
        """Refuse new connections (those that exist live on) until `accept`."""
        if self._listener is not None:
            self._listener.close()
            self._listener = None

    async def accept(self) -> None:
        """Listen, again after `refuse`, on the same port."""
        if self._listener is None:
            self._listener = await asyncio.start_server(self._serve, HOST, self.port)

    def clear(self) -> None:
        """Forget all cuts that wait for their moment, all delays and stalls."""
        self._triggers.clear()
        self.delay(0)
        self.resume()

    async def stop(self) -> None:
        """Refuse, cut everything, and wait until nothing of it is left."""
        await self.refuse()
        self.cut_all()
        if self._serving:
            await asyncio.wait(self._serving)

    async def __aenter__(self) -> Self:
        await self.accept()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.stop()

    def _arm(self, trigger: Trigger) -> Trigger:
        self._triggers.append(trigger)
        return trigger

    async def _serve(self, from_client: asyncio.StreamReader, to_client: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._serving.add(task)
        self.accepted += 1
        writers = [to_client]
        try:
            from_server, to_server = await asyncio.open_connection(self._host, self._port)
            writers.append(to_server)
            for writer in writers:
                # drain() then means: all of it is with the system, and a cut right after loses none of it.
                writer.transport.set_write_buffer_limits(high=0)
            await self._join(_Line(to_client, to_server), from_client, from_server)
        except ConnectionError:
            pass  # the client sees its connection end, as with a server that dies while it accepts
        finally:
            for writer in writers:
                writer.close()
            for writer in writers:
                try:
                    async with asyncio.timeout(1):
                        await writer.wait_closed()
                except OSError:  # TimeoutError too: a peer that does not read
                    writer.transport.abort()
            self._serving.discard(task)

    async def _join(self, line: _Line, from_client: asyncio.StreamReader, from_server: asyncio.StreamReader) -> None:
        self._lines.add(line)
        line.pumps = [
            asyncio.create_task(self._pump(line, "to_server", from_client, line.server)),
            asyncio.create_task(self._pump(line, "to_client", from_server, line.client)),
        ]
        try:
            await asyncio.wait(line.pumps, return_when=asyncio.FIRST_COMPLETED)
        finally:
            self._lines.discard(line)
            for pump in line.pumps:
                pump.cancel()
            ends = await asyncio.gather(*line.pumps, return_exceptions=True)
        for end in ends:
            if isinstance(end, Exception):
                raise end

    async def _pump(
        self, line: _Line, direction: Direction, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        with contextlib.suppress(ConnectionError):
            while data := await reader.read(_BUFFER):
                if self._delay[direction]:
                    await asyncio.sleep(self._delay[direction])
                await self._open[direction].wait()
                for piece, signature in line.frames[direction].split(data):
                    line.count(direction, signature)
                    self.commits += direction == "to_server" and signature == COMMIT
                    if await self._cut_here(line, direction, piece, signature, writer):
                        return
                    writer.write(piece)
                await writer.drain()

    async def _cut_here(
        self, line: _Line, direction: Direction, piece: bytes, signature: int | None, writer: asyncio.StreamWriter
    ) -> bool:
        for trigger in self._triggers:
            passed = trigger.cut_at(line, direction, piece, signature)
            if passed is not None:
                self._triggers.remove(trigger)
                writer.write(piece[:passed])
                await writer.drain()
                line.cut(reset=self._reset)
                trigger.fire()
                return True
        return False
