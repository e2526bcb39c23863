"""A real HTTP/1.1 server on the loopback interface that misbehaves on request."""

from __future__ import annotations

import asyncio
import gzip
import zlib
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from email.utils import formatdate
from http import HTTPStatus
from typing import Self

from libs.dataloader import Document, Known, KnownDocument, LoadFailure, LoadResult, Unchanged, WebLoader
from libs.dataloader.crawl.clock import Clock


@dataclass
class Request:
    target: str
    headers: dict[str, str]
    status: int = 0
    body_bytes: int = 0

    @property
    def path(self) -> str:
        return self.target.partition("?")[0]


@dataclass
class Reply:
    """What to answer.

    cut_after: promise the whole body, send so many bytes, close.
    drip: after the headers send a byte now and then, for ever.
    hang: read the request and never answer.
    drop: read the request and close the connection.
    encoding: compress with gzip, deflate or raw-deflate (deflate without its zlib header) and say so.
    """

    body: str | bytes = b""
    content_type: str | None = "text/html; charset=utf-8"
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    etag: str | None = None
    last_modified: str | None = None
    cut_after: int | None = None
    drip: bool = False
    hang: bool = False
    drop: bool = False
    encoding: str | None = None
    chunked: bool = False


Answer = Reply | str | Callable[[Request], "Reply | str | Awaitable[Reply | str]"]


def redirect(location: str, status: int = 302, **headers: str) -> Reply:
    return Reply(status=status, headers={"Location": location, **headers})


def page(*links: str, title: str = "", text: str = "", head: str = "") -> str:
    """An HTML page with a main text and links in it."""
    anchors = "".join(f'<p><a href="{link}">link to {link}</a></p>' for link in links)
    title = title or "A page"
    return (
        f"<!doctype html><html><head><title>{title}</title>{head}</head>"
        f"<body><main><h1>{title}</h1><p>{text}</p>{anchors}</main></body></html>"
    )


class WebServer:
    """Serves ``pages``: by target (path with query), else by path, else ``fallback``, else 404.

    The fallback is not for robots.txt and sitemap.xml.

    ``requests`` has every request in order of arrival; ``most_at_once`` how many were being answered at a time.
    """

    def __init__(self, pages: Mapping[str, Answer] | None = None, fallback: Answer | None = None) -> None:
        self.pages: dict[str, Answer] = dict(pages or {})
        self.fallback = fallback
        self.requests: list[Request] = []
        self.most_at_once = 0
        self._at_once = 0
        self._server: asyncio.Server | None = None
        self._connections: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port: int = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *error: object) -> None:
        assert self._server is not None
        self._server.close()
        for task in self._connections:
            task.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)

    def url(self, target: str = "/", host: str = "127.0.0.1") -> str:
        return f"http://{host}:{self.port}{target}"

    @property
    def targets(self) -> list[str]:
        """Targets of all requests but those for robots.txt and the sitemap."""
        return [r.target for r in self.requests if r.path not in ("/robots.txt", "/sitemap.xml")]

    def statuses(self, path: str) -> list[int]:
        return [request.status for request in self.requests if request.path == path]

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._connections.add(task)
        try:
            while await self._exchange(reader, writer):
                pass
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass  # asyncio would log a cancelled handler as an error
        finally:
            self._connections.discard(task)
            writer.close()

    async def _exchange(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        head = await reader.readuntil(b"\r\n\r\n")
        first, *lines = head.decode("latin-1").split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines) if name}
        request = Request(first.split(" ")[1], headers)
        self.requests.append(request)
        self._at_once += 1
        self.most_at_once = max(self.most_at_once, self._at_once)
        try:
            await asyncio.sleep(0)
            return await self._answer(request, writer)
        finally:
            self._at_once -= 1

    async def _answer(self, request: Request, writer: asyncio.StreamWriter) -> bool:
        fallback = None if request.path in ("/robots.txt", "/sitemap.xml") else self.fallback
        answer = self.pages.get(request.target, self.pages.get(request.path, fallback))
        if answer is None:
            answer = Reply("<h1>Not here</h1>", status=404)
        reply = answer if isinstance(answer, Reply | str) else answer(request)
        if isinstance(reply, Awaitable):
            reply = await reply
        if isinstance(reply, str):
            reply = Reply(reply)
        if reply.hang:
            await asyncio.Event().wait()
        if reply.drop:
            return False
        body = reply.body.encode() if isinstance(reply.body, str) else reply.body
        headers = {"Date": formatdate(usegmt=True), **reply.headers}
        if reply.content_type is not None:
            headers.setdefault("Content-Type", reply.content_type)
        status = reply.status
        if reply.etag is not None:
            headers["ETag"] = reply.etag
        if reply.last_modified is not None:
            headers["Last-Modified"] = reply.last_modified
        asked = request.headers.get("if-none-match")
        since = request.headers.get("if-modified-since")
        if (asked is not None and asked == reply.etag) or (
            asked is None and since is not None and since == reply.last_modified
        ):
            status, body = 304, b""
        if reply.encoding and status != 304:
            body = _compress(body, reply.encoding)
            headers["Content-Encoding"] = reply.encoding.removeprefix("raw-")
        request.status, request.body_bytes = status, len(body)
        if reply.chunked:
            headers["Transfer-Encoding"] = "chunked"
            body = b"%x\r\n%s\r\n0\r\n\r\n" % (len(body), body) if body else b"0\r\n\r\n"
        elif status != 304 and not reply.drip:
            headers.setdefault("Content-Length", str(len(body)))
        phrase = HTTPStatus(status).phrase if status in HTTPStatus._value2member_map_ else "Unknown"
        lines = [f"HTTP/1.1 {status} {phrase}", *(f"{name}: {value}" for name, value in headers.items())]
        writer.write("\r\n".join(lines).encode("latin-1", "replace") + b"\r\n\r\n")
        if reply.drip:
            while True:
                writer.write(b"<p>")
                await writer.drain()
                await asyncio.sleep(0.01)
        writer.write(body if reply.cut_after is None else body[: reply.cut_after])
        await writer.drain()
        return reply.cut_after is None


def _compress(body: bytes, encoding: str) -> bytes:
    if encoding == "gzip":
        return gzip.compress(body)
    if encoding == "deflate":
        return zlib.compress(body)
    if encoding == "raw-deflate":
        return zlib.compress(body)[2:-4]
    return body


class FakeClock(Clock):
    """Time that passes only by sleeping; remembers how long that was."""

    def __init__(self) -> None:
        self.time = 1_000.0
        self.epoch = 1_800_000_000.0
        self.sleeps: list[float] = []

    def monotonic(self) -> float:
        return self.time

    def now(self) -> float:
        return self.epoch + self.time

    def chance(self) -> float:
        return 1.0

    async def sleep(self, seconds: float) -> None:
        self.sleeps.append(seconds)
        self.time += seconds
        await asyncio.sleep(0)


@dataclass
class Crawled:
    results: list[LoadResult] = field(default_factory=list)

    @property
    def documents(self) -> dict[str, Document]:
        """Documents by what follows the server's address in their path."""
        return {tail(r.path): r for r in self.results if isinstance(r, Document)}

    @property
    def unchanged(self) -> list[str]:
        return [tail(r.path) for r in self.results if isinstance(r, Unchanged)]

    @property
    def failures(self) -> dict[str, str]:
        return {tail(r.path): r.reason for r in self.results if isinstance(r, LoadFailure)}

    def known(self) -> Known:
        """What a graph would know after this crawl."""
        stored = {
            r.uri: KnownDocument(dict(r.fingerprint), tuple(link.target for link in r.links))
            for r in self.results
            if isinstance(r, Document) and r.uri is not None
        }

        async def known(uris: Sequence[str]) -> Mapping[str, KnownDocument]:
            return {uri: stored[uri] for uri in uris if uri in stored}

        return known


def tail(url: str) -> str:
    return "/" + url.split("/", 3)[3]


async def crawl(loader: WebLoader, known: Known | None = None) -> Crawled:
    """Load everything without waiting: the loader's clock is replaced unless a test did so before."""
    if not isinstance(loader._clock, FakeClock):
        loader._clock = FakeClock()
    crawled = Crawled()
    async with asyncio.timeout(60):
        async for result in loader.load(known):
            crawled.results.append(result)
    return crawled
