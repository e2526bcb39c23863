"""The proxy breaks lines exactly where it is told to, on a plain echo server and on one that frames as Bolt does."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.servers.frames import COMMIT, Direction, Frames, Handshake
from tests.servers.ports import HOST, free_port
from tests.servers.proxy import BoltProxy, CommitMoment

type Peer = tuple[asyncio.StreamReader, asyncio.StreamWriter]
type Handler = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]

SECONDS = 10.0
RUN, SUCCESS, RECORD = 0x10, 0x70, 0x71
CLIENT_HELLO = bytes.fromhex("6060B017 00080805 00000000 00000000 00000000")
SERVER_HELLO = bytes.fromhex("00000805")


def message(signature: int, body: bytes = b"", chunk: int = 0xFFFF) -> bytes:
    whole = bytes([0xB0 + (1 if body else 0), signature]) + body
    chunks = (whole[i : i + chunk] for i in range(0, len(whole), chunk))
    return b"".join(len(one).to_bytes(2) + one for one in chunks) + b"\0\0"


@asynccontextmanager
async def serving(handler: Handler) -> AsyncIterator[str]:
    port = free_port()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await handler(reader, writer)
        except ConnectionError:
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(serve, HOST, port)
    async with server:
        yield f"bolt://{HOST}:{port}"


async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(1 << 16):
        writer.write(data)
        await writer.drain()


@pytest.fixture
async def proxy() -> AsyncIterator[BoltProxy]:
    async with serving(echo) as uri, BoltProxy(uri) as proxy:
        yield proxy


@asynccontextmanager
async def connected(proxy: BoltProxy) -> AsyncIterator[Peer]:
    async with asyncio.timeout(SECONDS):
        reader, writer = await asyncio.open_connection(HOST, proxy.port)
        try:
            yield reader, writer
        finally:
            writer.transport.abort()
            await asyncio.sleep(0)


async def said(peer: Peer, data: bytes) -> bytes:
    reader, writer = peer
    writer.write(data)
    return await reader.readexactly(len(data))


async def until_cut(reader: asyncio.StreamReader) -> bytes:
    """Read to the end, whichever way it ends."""
    got = b""
    try:
        while data := await reader.read(1 << 16):
            got += data
    except ConnectionResetError:
        pass
    return got


async def test_it_passes_everything_on_in_both_directions(proxy: BoltProxy) -> None:
    data = bytes(range(256)) * 4096
    async with connected(proxy) as one, connected(proxy) as two:
        assert tuple(await asyncio.gather(said(one, data), said(two, data[::-1]))) == (data, data[::-1])
        assert (proxy.accepted, proxy.connections) == (2, 2)


async def test_cut_all_cuts_every_connection_and_new_ones_work(proxy: BoltProxy) -> None:
    async with connected(proxy) as one, connected(proxy) as two:
        await asyncio.gather(said(one, b"a"), said(two, b"b"))
        assert proxy.cut_all() == 2
        with pytest.raises(ConnectionResetError):
            await one[0].readexactly(1)
        assert await until_cut(two[0]) == b""
        async with connected(proxy) as three:
            assert await said(three, b"again") == b"again"


async def test_without_reset_the_client_sees_an_end() -> None:
    async with serving(echo) as uri, BoltProxy(uri, reset=False) as proxy, connected(proxy) as one:
        await said(one, b"a")
        proxy.cut_all()
        assert await one[0].read() == b""


async def test_the_server_sees_the_end_of_a_cut_connection() -> None:
    ended = asyncio.Event()

    async def until_end(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(await reader.readexactly(1))
        await reader.read()
        ended.set()

    async with serving(until_end) as uri, BoltProxy(uri) as proxy, connected(proxy) as one:
        await said(one, b"a")
        proxy.cut_all()
        await ended.wait()


@pytest.mark.parametrize("count", [0, 1, 5, 9])
async def test_cut_after_bytes_to_the_client_passes_exactly_those(proxy: BoltProxy, count: int) -> None:
    async with connected(proxy) as one:
        await said(one, b"before")
        cut = proxy.cut_after(count, "to_client")
        one[1].write(b"123456789")
        assert await until_cut(one[0]) == b"123456789"[:count]
        assert cut.fired


async def test_cut_after_bytes_to_the_server_passes_exactly_those() -> None:
    got = bytearray()
    ended = asyncio.Event()

    async def listen(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        got.extend(await reader.read())
        ended.set()

    async with serving(listen) as uri, BoltProxy(uri) as proxy, connected(proxy) as one:
        cut = proxy.cut_after(70_000, "to_server")
        one[1].write(bytes(100_000))
        await cut.wait(SECONDS)
        await ended.wait()
        assert len(got) == 70_000


@pytest.mark.parametrize("forward", [False, True])
async def test_cut_on_the_nth_pattern_even_in_two_pieces(proxy: BoltProxy, forward: bool) -> None:
    async with connected(proxy) as one:
        cut = proxy.cut_on(b"STOP", direction="to_client", nth=2, forward=forward)
        assert await said(one, b"STOP1 ST") == b"STOP1 ST"
        with pytest.raises(TimeoutError):
            await cut.wait(0)
        one[1].write(b"OP2")
        assert await until_cut(one[0]) == (b"OP" if forward else b"")
        await cut.wait(SECONDS)
        async with connected(proxy) as two:
            assert await said(two, b"STOP STOP STOP") == b"STOP STOP STOP"


@pytest.mark.parametrize("direction", [None, "to_server", "to_client"])
async def test_stall_takes_connections_and_passes_nothing_on_until_resume(
    proxy: BoltProxy, direction: Direction | None
) -> None:
    async with connected(proxy) as old:
        await said(old, b"a")
        proxy.stall(direction)
        async with connected(proxy) as new:
            answers = [asyncio.create_task(said(peer, b"held")) for peer in (old, new)]
            _, waiting = await asyncio.wait(answers, timeout=0.2)
            assert len(waiting) == 2
            proxy.resume()
            assert await asyncio.gather(*answers) == [b"held", b"held"]


async def test_refuse_and_accept_on_the_same_port(proxy: BoltProxy) -> None:
    async with connected(proxy) as old:
        await said(old, b"a")
        await proxy.refuse()
        with pytest.raises(ConnectionRefusedError):
            await asyncio.open_connection(HOST, proxy.port)
        assert await said(old, b"lives on") == b"lives on"
        await proxy.accept()
        async with connected(proxy) as new:
            assert await said(new, b"b") == b"b"


async def test_delay_holds_data_back(proxy: BoltProxy) -> None:
    loop = asyncio.get_running_loop()
    async with connected(proxy) as one:
        proxy.delay(0.1)
        begin = loop.time()
        assert await said(one, b"slow") == b"slow"
        assert loop.time() - begin >= 0.19
        proxy.clear()
        assert await said(one, b"fast") == b"fast"


async def test_a_server_that_is_down_ends_the_connection() -> None:
    async with BoltProxy(f"bolt://{HOST}:{free_port()}") as proxy, connected(proxy) as one:
        assert await until_cut(one[0]) == b""


class FakeBolt:
    """Shakes hands, answers every message with a record and a success, and remembers what it was asked."""

    def __init__(self) -> None:
        self.asked: list[int] = []

    async def __call__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        frames = Frames("to_server", Handshake())
        writer.write(SERVER_HELLO)
        while data := await reader.read(1 << 16):
            for _, signature in frames.split(data):
                if signature is not None:
                    self.asked.append(signature)
                    writer.write(message(RECORD, b"\x90") + message(SUCCESS, b"\xa0"))
            await writer.drain()


ANSWER = message(RECORD, b"\x90") + message(SUCCESS, b"\xa0")


@pytest.mark.parametrize(
    ("moment", "server_sees_commit", "heard"),
    [
        ("before", False, b""),
        ("during", None, b""),
        ("answered", True, message(RECORD, b"\x90")),
        ("after", True, ANSWER),
    ],
)
async def test_cut_on_commit(moment: CommitMoment, server_sees_commit: bool | None, heard: bytes) -> None:
    server = FakeBolt()
    async with serving(server) as uri, BoltProxy(uri) as proxy, connected(proxy) as one:
        cut = proxy.cut_on_commit(moment, nth=2)
        reader, writer = one
        writer.write(CLIENT_HELLO)
        assert await reader.readexactly(4) == SERVER_HELLO
        # A first commit that is left alone, and text that only looks like one.
        lookalike = message(RUN, message(COMMIT))
        writer.write(lookalike + message(COMMIT))
        assert await reader.readexactly(2 * len(ANSWER)) == 2 * ANSWER
        writer.write(lookalike)
        assert await reader.readexactly(len(ANSWER)) == ANSWER
        with pytest.raises(TimeoutError):
            await cut.wait(0)
        writer.write(message(COMMIT))
        assert await until_cut(reader) == heard
        await cut.wait(SECONDS)
        assert proxy.commits == 2
        if server_sees_commit is not None:
            assert server.asked == [RUN, COMMIT, RUN] + [COMMIT] * server_sees_commit


BODIES = st.lists(st.tuples(st.integers(0, 255), st.binary(max_size=40), st.integers(1, 9)), max_size=8)


@given(BODIES, st.booleans(), st.lists(st.integers(1, 30), min_size=1))
def test_frames_are_found_in_whatever_pieces_they_arrive(
    bodies: list[tuple[int, bytes, int]], manifest: bool, sizes: list[int]
) -> None:
    handshake = Handshake()
    from_server, from_client = SERVER_HELLO, CLIENT_HELLO
    if manifest:
        from_server = bytes.fromhex("000001FF 02 00080805 00000404 8101")
        from_client += bytes.fromhex("00000805 8001")
    messages = b"\0\0".join([b"", *(message(*one) for one in bodies)])  # with empty messages (keep-alive) between
    for direction, head in (("to_server", from_client), ("to_client", from_server)):
        # The client writes after its 20 bytes only when the server has answered.
        handshake.manifest = manifest
        frames = Frames("to_server" if direction == "to_server" else "to_client", handshake)
        stream, here, turn = head + messages, 0, 0
        passed, seen = b"", []
        while here < len(stream):
            size = sizes[turn % len(sizes)]
            for piece, signature in frames.split(stream[here : here + size]):
                passed += piece
                if signature is not None:
                    seen.append(signature)
            here, turn = here + size, turn + 1
        assert passed == stream
        assert seen == [signature for signature, _, _ in bodies]
        assert handshake.manifest == manifest
