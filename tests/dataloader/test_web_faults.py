"""Servers that fail, stall, lie and send too much."""

from __future__ import annotations

import asyncio
import gzip
import logging
import socket
import warnings
import zlib
from email.utils import formatdate

import httpx
import pytest

from libs.dataloader import Document, InvalidSourceError, LoadFailure, SourceNotFoundError, WebLoader
from libs.dataloader.crawl.decoding import BadEncodingError, BodyDecoder, TooMuchError
from tests.dataloader.webserver import Answer, Crawled, FakeClock, Reply, Request, WebServer, crawl, page

NO_EXTRAS = {"/robots.txt": Reply(status=404), "/sitemap.xml": Reply(status=404)}


def fails_first(times: int, failure: Reply, then: str | Reply) -> object:
    """An answer that fails so many times before it succeeds."""
    left = [times]

    def answer(request: Request) -> str | Reply:
        left[0] -= 1
        return failure if left[0] >= 0 else then

    return answer


async def load(server: WebServer, **arguments: object) -> tuple[Crawled, WebLoader, FakeClock]:
    loader = WebLoader(server.url(), **arguments)  # type: ignore[arg-type]
    loader._clock = clock = FakeClock()
    return await crawl(loader), loader, clock


# -- retries -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("status", [408, 425, 429, 500, 502, 503, 504, 599])
async def test_passing_failures_are_retried_with_growing_pauses(status: int) -> None:
    async with WebServer(NO_EXTRAS) as server:
        server.pages["/"] = fails_first(4, Reply(status=status), page())  # type: ignore[assignment]
        found, loader, clock = await load(server)
    assert list(found.documents) == ["/"] and loader.complete
    assert clock.sleeps == [0.5, 1.0, 2.0, 4.0]
    assert server.statuses("/") == [status] * 4 + [200]


@pytest.mark.parametrize("status", [400, 401, 403, 404, 405, 410, 418, 451, 501])
async def test_lasting_failures_are_not(status: int) -> None:
    async with WebServer({"/": page("/a", "/b"), "/a": Reply(status=status), "/b": page()}) as server:
        found, loader, clock = await load(server)
    assert list(found.documents) == ["/", "/b"]
    assert found.failures["/a"].startswith(f"HTTP {status}")
    assert server.statuses("/a") == [status] and clock.sleeps == []
    assert loader.complete


async def test_a_page_that_keeps_failing_is_reported_and_the_crawl_goes_on() -> None:
    async with WebServer({"/": page("/a", "/b"), "/a": Reply(status=503), "/b": page()}) as server:
        found, loader, _ = await load(server, retries=2)
    assert list(found.documents) == ["/", "/b"]
    assert found.failures == {"/a": "HTTP 503 Service Unavailable (3 attempts)"}
    assert server.statuses("/a") == [503] * 3
    assert not loader.complete


async def test_retry_after_in_seconds_is_honoured() -> None:
    async with WebServer(NO_EXTRAS) as server:
        server.pages["/"] = fails_first(1, Reply(status=429, headers={"Retry-After": "17"}), page())  # type: ignore[assignment]
        found, _, clock = await load(server)
    assert clock.sleeps == [17.0] and list(found.documents) == ["/"]


async def test_retry_after_as_a_date_is_honoured() -> None:
    start = FakeClock().now()
    async with WebServer(NO_EXTRAS) as server:
        date = formatdate(start + 42, usegmt=True)
        server.pages["/"] = fails_first(1, Reply(status=503, headers={"Retry-After": date}), page())  # type: ignore[assignment]
        _, _, clock = await load(server)
    assert clock.sleeps == [42.0]


@pytest.mark.parametrize(
    ("value", "slept"),
    [("120", [120.0]), ("0", []), (formatdate(0, usegmt=True), []), ("soon", [0.5]), ("-5", [0.5]), ("", [0.5])],
)
async def test_retry_after_that_makes_no_sense_does_no_harm(value: str, slept: list[float]) -> None:
    async with WebServer(NO_EXTRAS) as server:
        server.pages["/"] = fails_first(1, Reply(status=429, headers={"Retry-After": value}), page())  # type: ignore[assignment]
        found, _, clock = await load(server)
    assert clock.sleeps == slept and list(found.documents) == ["/"]


@pytest.mark.parametrize(("value", "span"), [("3600", "60 minutes"), ("86400", "24 hours"), ("1209600", "14 days")])
async def test_a_site_that_wants_to_be_left_alone_for_long_is_not_waited_for(value: str, span: str) -> None:
    async with WebServer(NO_EXTRAS) as server:
        server.pages["/"] = Reply(status=503, headers={"Retry-After": value})
        loader = WebLoader(server.url())
        loader._clock = clock = FakeClock()
        with pytest.raises(SourceNotFoundError, match=f"503 .* asks to come back in {span}"):
            await crawl(loader)
    assert not clock.sleeps and len(server.targets) == 1


async def test_a_site_that_wants_to_be_left_alone_in_the_middle_is() -> None:
    busy = Reply(status=429, headers={"Retry-After": "3600"})
    async with WebServer({"/": page(*(f"/p{n}" for n in range(50))), **NO_EXTRAS}, busy) as server:
        found = await crawl(loader := WebLoader(server.url(), concurrency=1))
    assert len(found.failures) == 50 and not loader.complete
    assert len(server.targets) == 1 + 3 and "left alone" in found.failures["/p49"]


async def test_one_page_that_is_away_for_long_does_not_end_the_crawl() -> None:
    away = Reply(status=503, headers={"Retry-After": "3600"})
    async with WebServer({"/": page("/a", "/b"), "/a": away, "/b": page(), **NO_EXTRAS}) as server:
        found = await crawl(WebLoader(server.url()))
    assert list(found.documents) == ["/", "/b"] and list(found.failures) == ["/a"]


async def test_retry_after_keeps_all_other_requests_to_the_host_waiting() -> None:
    times: dict[str, list[float]] = {}
    loader = WebLoader("http://127.0.0.1:1/", concurrency=2)
    loader._clock = clock = FakeClock()

    def answer(request: Request) -> Reply | str:
        times.setdefault(request.path, []).append(clock.time)
        if request.path == "/0" and len(times["/0"]) == 1:
            return Reply(status=429, headers={"Retry-After": "60"})
        return page(text=request.path)

    async with WebServer({"/": page(*(f"/{n}" for n in range(12))), **NO_EXTRAS}, fallback=answer) as server:
        loader.url = server.url()
        found = await crawl(loader)
    assert len(found.documents) == 13
    assert times["/0"][1] - times["/0"][0] >= 60
    # Whatever was not under way already waited.
    assert sum(times[f"/{n}"][0] >= times["/0"][0] + 60 for n in range(1, 12)) >= 9


async def test_broken_connections_are_retried() -> None:
    async with WebServer(NO_EXTRAS) as server:
        server.pages["/"] = fails_first(2, Reply(page(), cut_after=20), page(text="whole"))  # type: ignore[assignment]
        found, _, clock = await load(server)
    assert "whole" in found.documents["/"].content
    assert clock.sleeps == [0.5, 1.0]


async def test_a_body_that_is_always_cut_off_is_a_failure_not_a_document() -> None:
    async with WebServer({"/": page("/a"), "/a": Reply(page(text="x" * 1000), cut_after=300)}) as server:
        found, loader, _ = await load(server, retries=1)
    assert list(found.documents) == ["/"]
    assert "broke off" in found.failures["/a"] and not loader.complete


async def test_a_cut_off_compressed_body_is_a_failure() -> None:
    body = gzip.compress(page(text="some words " * 500).encode())[:-50]
    async with WebServer({"/": page("/a"), "/a": Reply(body, headers={"Content-Encoding": "gzip"})}) as server:
        found, _, _ = await load(server, retries=1)
        assert "breaks off" in found.failures["/a"]
        assert len(server.statuses("/a")) == 2


@pytest.mark.parametrize("reply", [Reply(hang=True), Reply(drip=True)])
async def test_time_is_limited_for_the_whole_page(reply: Reply) -> None:
    async with WebServer({"/": page("/a", "/b"), "/a": reply, "/b": page()}) as server:
        found, loader, _ = await load(server, timeout=0.3, retries=1)
    assert list(found.documents) == ["/", "/b"]
    assert found.failures == {"/a": "no complete answer within 0.3 s (2 attempts)"}
    assert not loader.complete


@pytest.mark.parametrize("reply, attempts", [(Reply(hang=True), 4), (Reply(drip=True), 2)])
async def test_a_page_that_drips_is_asked_for_twice(reply: Reply, attempts: int) -> None:
    async with WebServer({"/": page("/a"), "/a": reply}) as server:
        found, _, _ = await load(server, timeout=0.2, retries=3)
    assert found.failures == {"/a": f"no complete answer within 0.2 s ({attempts} attempts)"}


async def test_a_site_that_sets_a_cookie_for_each_page_gets_no_endless_header() -> None:
    sent: list[str] = []

    def answer(request: Request) -> Reply:
        sent.append(request.headers.get("cookie", ""))
        name = f"seen{len(sent)}={'x' * 60}; Path=/"
        return Reply(page(title=request.path), headers={"Set-Cookie": name})

    async with WebServer(
        {"/": page(*(f"/p/{'a' * n}" for n in range(1, 150))), **NO_EXTRAS}, fallback=answer
    ) as server:
        found, _, _ = await load(server)
    assert not found.failures and len(found.documents) == 150
    assert max(map(len, sent)) < 8192 and "seen1=" in sent[1] + sent[20]


async def test_a_host_that_stops_answering_is_given_up() -> None:
    async with WebServer({"/": page(*(f"/{n}" for n in range(200))), **NO_EXTRAS}, fallback=Reply(drop=True)) as server:
        found, loader, _ = await load(server, concurrency=1, retries=4)
    assert len(found.failures) == 200
    assert len(server.targets) < 200  # of 1 + 200 * 5 that it would have been
    assert "not tried" in found.failures["/199"]
    assert not loader.complete


# -- servers that cannot be reached ------------------------------------------------------------------------------------


async def test_a_refused_connection_is_an_error_with_its_reason() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}/"
        loader = WebLoader(url)
        loader._clock = clock = FakeClock()
        with pytest.raises(SourceNotFoundError, match="refused the connection") as error:
            await crawl(loader)
    assert error.value.path == url
    assert len(clock.sleeps) == 1  # one more try, no more: the server is most likely not there


async def test_a_name_that_does_not_exist_is_an_error_with_its_reason() -> None:
    loader = WebLoader("http://no-such-host.invalid/")
    with pytest.raises(SourceNotFoundError, match=r"no-such-host\.invalid cannot be resolved"):
        await crawl(loader)


async def raw_server(answer: bytes) -> asyncio.Server:
    """A server that reads something, sends something, and closes."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(100)
        writer.write(answer)
        writer.close()

    return await asyncio.start_server(serve, "127.0.0.1", 0)


async def test_a_server_without_tls_is_an_error_with_its_reason() -> None:
    server = await raw_server(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")
    async with server:
        with pytest.raises(SourceNotFoundError, match="no TLS connection to 127"):
            await crawl(WebLoader(f"https://127.0.0.1:{server.sockets[0].getsockname()[1]}/"))


@pytest.mark.parametrize(
    "junk",
    [
        b"",
        b"\r\n\r\n",
        b"SSH-2.0-OpenSSH_9.6\r\n",
        b"HTTP/1.1 999999 x\r\n\r\n",
        b"HTTP/1.1 200 OK\r\n" + b"X: " + b"y" * 200_000,
    ],
)
async def test_a_server_that_does_not_speak_http(junk: bytes) -> None:
    server = await raw_server(junk)
    async with server:
        url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/"
        with pytest.raises(SourceNotFoundError, match="broke off"):
            await crawl(WebLoader(url, retries=1, respect_robots=False))


async def test_any_transport_can_be_used() -> None:
    def answer(request: httpx.Request) -> httpx.Response:
        return httpx.Response(200, html=page()) if request.url.path == "/" else httpx.Response(404)

    loader = WebLoader("https://example.org/", transport=httpx.MockTransport(answer))
    assert list((await crawl(loader)).documents) == ["/"]


# -- sizes -------------------------------------------------------------------------------------------------------------


async def test_size_is_limited_while_it_comes() -> None:
    large = page(text="x" * 20_000)
    pages: dict[str, Answer] = {
        "/": page("/declared", "/chunked", "/bomb", "/nested", "/fine"),
        "/declared": large,
        "/chunked": Reply(large, chunked=True),
        "/bomb": Reply(page(text="x" * 5_000_000), encoding="gzip"),
        "/nested": Reply(gzip.compress(gzip.compress(b"x" * 10_000_000)), headers={"Content-Encoding": "gzip, gzip"}),
        "/fine": page(text="y" * 9_000),
    }
    async with WebServer(pages) as server:
        found, _, clock = await load(server, max_bytes=10_000)
        assert list(found.documents) == ["/", "/fine"]
        assert "the limit is 10,000" in found.failures["/declared"]
        assert "the limit of 10,000" in found.failures["/chunked"]
        assert "the limit of 10,000" in found.failures["/bomb"]
        assert "Content-Encoding" in found.failures["/nested"]
        assert clock.sleeps == []
        assert all(len(server.statuses(path)) == 1 for path in pages)


async def test_an_endless_body_ends() -> None:
    async with WebServer({"/": page("/a"), "/a": Reply(drip=True)}) as server:
        found, _, _ = await load(server, max_bytes=1_000)
    assert "the limit of 1,000" in found.failures["/a"]


@pytest.mark.parametrize("encoding", ["gzip", "deflate", "raw-deflate"])
@pytest.mark.parametrize("chunked", [False, True])
async def test_compressed_pages_are_read(encoding: str, chunked: bool) -> None:
    reply = Reply(page(text="words " * 3000), encoding=encoding, chunked=chunked)
    async with WebServer({"/": reply}) as server:
        found, _, _ = await load(server)
        assert server.requests[1].headers["accept-encoding"] == "gzip, deflate"
    assert found.documents["/"].content.count("words") == 3000


@pytest.mark.parametrize("encoding", ["gzip", "UTF-8", "none"])
async def test_a_page_that_is_not_compressed_though_it_says_so_is_read(encoding: str) -> None:
    async with WebServer({"/": Reply(page(text="plain"), headers={"Content-Encoding": encoding})}) as server:
        found, _, _ = await load(server)
    assert "plain" in found.documents["/"].content


async def test_an_encoding_that_was_not_asked_for_is_a_failure() -> None:
    async with WebServer({"/": page("/a"), "/a": Reply(b"...", headers={"Content-Encoding": "br"})}) as server:
        found, _, _ = await load(server)
    assert "Content-Encoding that was not asked for: br" in found.failures["/a"]


def test_decoding_takes_no_more_memory_than_allowed() -> None:
    for bomb in (gzip.compress(b"x" * 50_000_000), zlib.compress(b"x" * 50_000_000)):
        decoder = BodyDecoder("deflate" if bomb[0] == 0x78 else "gzip", 100_000)
        with pytest.raises(TooMuchError):
            decoder.feed(bomb)
        assert len(decoder.head(1 << 30)) <= 100_001


def test_decoding_byte_by_byte_and_in_members() -> None:
    text = bytes(range(256)) * 50
    for data in (
        gzip.compress(text),
        gzip.compress(text[:100]) + gzip.compress(text[100:]),
        gzip.compress(text) + b"\0" * 9,
    ):
        decoder = BodyDecoder("gzip", len(text))
        for byte in data:
            decoder.feed(bytes([byte]))
        assert decoder.finish() == text
    damaged = bytearray(gzip.compress(text))
    damaged[30] ^= 0xFF
    decoder = BodyDecoder("gzip", len(text))
    with pytest.raises(BadEncodingError):
        decoder.feed(bytes(damaged))
        decoder.finish()
    empty = BodyDecoder("gzip", 10)
    assert empty.finish() == b""


def test_a_body_in_very_many_pieces_is_refused() -> None:
    piece = gzip.compress(b"")
    decoder = BodyDecoder("gzip", 10)
    decoder.feed(piece * 10_000)
    assert decoder.finish() == b""
    with pytest.raises(BadEncodingError, match="more than 10,000 pieces"):
        decoder.feed(piece)


# -- odd answers -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "reply",
    [
        Reply(status=204),
        Reply(status=304),
        Reply(status=300),
        Reply(status=302),
    ],
)
async def test_answers_without_a_page_are_failures(reply: Reply) -> None:
    async with WebServer({"/": page("/a"), "/a": reply}) as server:
        found, _, _ = await load(server)
    assert list(found.failures) == ["/a"] and found.failures["/a"].startswith("HTTP ")


@pytest.mark.parametrize(
    "body", ["", "<html><body><div id=app></div><a href='/b'></a><script>run()</script></body></html>"]
)
async def test_a_page_without_text_is_reported_and_followed(body: str) -> None:
    async with WebServer({"/": page("/a"), "/a": body, "/b": page()}) as server:
        found, loader, _ = await load(server)
    assert list(found.documents) == (["/", "/b"] if body else ["/"])
    assert "has no text" in found.failures["/a"] and loader.complete


async def test_what_a_converter_cannot_take_is_reported_and_the_crawl_goes_on(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    from libs.dataloader import html

    convert = html.html_to_document

    def broken(data: bytes, *rest: object, **more: object) -> object:
        if b"poison" in data:
            raise RecursionError("too deep")
        return convert(data, *rest, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(html, "html_to_document", broken)
    async with WebServer({"/": page("/a", "/b"), "/a": page(text="poison"), "/b": page()}) as server:
        with caplog.at_level(logging.WARNING):
            found, _, _ = await load(server)
    assert list(found.documents) == ["/", "/b"]
    assert "RecursionError" in found.failures["/a"]
    assert "Converting" in caplog.text


async def test_hostile_html_does_no_harm() -> None:
    deep = "<div>" * 1_000 + "deep" + "</div>" * 1_000
    wide = "<html><body>" + '<a href="/x?y=1#z">w</a>' * 20_000
    odd = b"<html><body>\x00\xff\xfe<p>t\xed\xa0\x80ext</p><a href='http://[bad'>x</a><a href='\x00'>y</a>"
    async with WebServer(
        {"/": page("/deep", "/wide", "/odd"), "/deep": deep, "/wide": wide, "/odd": Reply(odd)}
    ) as server:
        found, _, _ = await load(server, max_depth=1)
    assert list(found.documents) == ["/", "/deep", "/wide", "/odd"]
    assert "deep" in found.documents["/deep"].content
    found.documents["/odd"].content.encode("utf-8")


# -- stopping ----------------------------------------------------------------------------------------------------------


async def test_stopping_early_leaves_nothing_behind() -> None:
    pages = {f"/{n}": Reply(hang=True) for n in range(20)}
    async with WebServer({"/": page(*pages), **pages}) as server:
        before = asyncio.all_tasks()
        loader = WebLoader(server.url())
        results = loader.load()
        first = await anext(results)
        assert isinstance(first, Document)
        waiting = asyncio.ensure_future(anext(results))
        while len(server.targets) < 9:
            await asyncio.sleep(0.001)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        await results.aclose()
        assert not loader.complete
        left = {task for task in asyncio.all_tasks() - before if "_serve" not in repr(task)}
        assert left == set()


async def test_leaving_the_loop_closes_the_crawl() -> None:
    async with WebServer(fallback=lambda r: page(f"{r.target}0", f"{r.target}1", text=r.target)) as server:
        before = asyncio.all_tasks()
        loader = WebLoader(server.url())
        results = loader.load()
        async for _ in results:
            break
        await results.aclose()
        assert {task for task in asyncio.all_tasks() - before if "_serve" not in repr(task)} == set()


def test_ctrl_c_in_the_middle_gives_no_warnings(caplog: pytest.LogCaptureFixture) -> None:
    async def main() -> None:
        async with WebServer({"/": page("/a", "/b"), "/a": Reply(hang=True), "/b": Reply(hang=True)}) as server:
            task = asyncio.current_task()
            assert task is not None
            async for result in WebLoader(server.url()).load():
                assert isinstance(result, Document)
                asyncio.get_running_loop().call_later(0.05, task.cancel)

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(asyncio.CancelledError):
            asyncio.run(main(), debug=True)
    assert not [record for record in caplog.records if record.levelno >= logging.ERROR]


def test_a_crawl_that_is_dropped_gives_no_warnings(caplog: pytest.LogCaptureFixture) -> None:
    async def main() -> None:
        async with WebServer(fallback=lambda r: page(f"{r.target}0", f"{r.target}1", text=r.target)) as server:
            async for _ in WebLoader(server.url()).load():
                break

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        asyncio.run(main(), debug=True)
    assert not [record for record in caplog.records if record.levelno >= logging.ERROR]


async def test_a_consumer_that_fails_is_not_swallowed() -> None:
    async with WebServer({"/": page("/a"), "/a": page()}) as server:
        with pytest.raises(ZeroDivisionError):
            async for result in WebLoader(server.url()).load():
                assert not isinstance(result, LoadFailure)
                raise ZeroDivisionError


def test_a_transport_of_ones_own_cannot_be_guarded() -> None:
    with pytest.raises(InvalidSourceError, match="transport"):
        WebLoader(
            "http://example.org/", allow_private=False, transport=httpx.MockTransport(lambda r: httpx.Response(200))
        )
