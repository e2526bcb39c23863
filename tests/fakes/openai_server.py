"""A real HTTP server on the loopback that speaks the OpenAI and the Azure OpenAI protocol, faults included.

It lives in the test's own event loop::

    async with OpenAIServer(dimension=8) as server:
        server.then(fail(429, headers={"Retry-After": "7"}))     # the next request only
        ...                                                      # talk to server.url or server.azure_endpoint
        assert len(server.requests) == 2

or in a thread of its own (``with in_thread(OpenAIServer()) as server``) for a program that is run from outside.

Another part of the API is one more entry in ``routes``: a method that takes a ``Request`` and returns a ``Reply``. The
body of a reply may be bytes or an async iterator of bytes (server-sent events).
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import hashlib
import json
import re
import struct
import threading
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Self
from urllib.parse import parse_qs, urlsplit

REASONS = {200: "OK", 400: "Bad Request", 401: "Unauthorized", 404: "Not Found", 413: "Content Too Large", 429: "Slow"}


@dataclass(frozen=True)
class Request:
    """One request, as it arrived. ``route`` is the part of the path behind ``/v1/`` or the Azure deployment."""

    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    body: bytes
    route: str
    deployment: str | None

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass
class Reply:
    """One answer. ``cut`` sends only so many bytes of the body and then drops the connection."""

    status: int = 200
    body: bytes | AsyncIterator[bytes] = b""
    headers: dict[str, str] = field(default_factory=dict)
    cut: int | None = None


Handler = Callable[[Request], Awaitable[Reply]]
# What is done instead of, or with, the ordinary answer to one request.
Fault = Callable[["OpenAIServer", Request, Handler], Awaitable[Reply]]


class Dropped(Exception):  # noqa: N818 - no error
    """The connection is to be dropped without an answer."""


def as_json(payload: Any, status: int = 200, headers: dict[str, str] | None = None) -> Reply:
    return Reply(status, json.dumps(payload).encode(), {"Content-Type": "application/json"} | (headers or {}))


def error(status: int, message: str, code: str | None = None, headers: dict[str, str] | None = None) -> Reply:
    """An error in OpenAI's form."""
    payload = {"error": {"message": message, "type": "error", "param": None, "code": code}}
    return as_json(payload, status, headers)


def fail(
    status: int, message: str = "a fault", code: str | None = None, headers: dict[str, str] | None = None
) -> Fault:
    async def fault(server: OpenAIServer, request: Request, handler: Handler) -> Reply:
        return error(status, message, code, headers)

    return fault


def raw(body: bytes, content_type: str = "application/json", cut: int | None = None) -> Fault:
    """Answer 200 with these bytes, only the first ``cut`` of them if given."""

    async def fault(server: OpenAIServer, request: Request, handler: Handler) -> Reply:
        return Reply(200, body, {"Content-Type": content_type}, cut=cut)

    return fault


def drop() -> Fault:
    """Close the connection without an answer."""

    async def fault(server: OpenAIServer, request: Request, handler: Handler) -> Reply:
        raise Dropped

    return fault


def hang() -> Fault:
    """Never answer; ends when the client goes away or the server closes."""

    async def fault(server: OpenAIServer, request: Request, handler: Handler) -> Reply:
        await asyncio.Event().wait()
        raise Dropped

    return fault


def drip(parts: int, pause: float) -> Fault:
    """Answer as usual, but first send spaces, which JSON allows, one now and then."""

    async def fault(server: OpenAIServer, request: Request, handler: Handler) -> Reply:
        reply = await handler(request)

        async def body() -> AsyncIterator[bytes]:
            for _ in range(parts):
                yield b" "
                await asyncio.sleep(pause)
            assert isinstance(reply.body, bytes)
            yield reply.body

        return Reply(reply.status, body(), reply.headers)

    return fault


def change(edit: Callable[[Any], Any]) -> Fault:
    """Answer as usual, with the JSON edited: in place, or by returning another."""

    async def fault(server: OpenAIServer, request: Request, handler: Handler) -> Reply:
        reply = await handler(request)
        assert isinstance(reply.body, bytes)
        payload = json.loads(reply.body)
        edited = edit(payload)
        return as_json(payload if edited is None else edited, reply.status)

    return fault


def embed(text: str, dimension: int) -> list[float]:
    """The server's embedding of a text: a unit vector that depends on nothing but the text."""
    stream = hashlib.shake_256(text.encode()).digest(2 * dimension)
    values = [(number - 32_767.5) / 32_768 for number in struct.unpack(f"<{dimension}H", stream)]
    length = sum(value * value for value in values) ** 0.5
    return [value / length for value in values]


class OpenAIServer:
    """The server.

    Args:
        dimension: The length of its vectors, unless a request asks for another with ``dimensions``.
        keys: Keys that it takes, or None for any.
        deployments: Azure deployments that it has, or None for any.
        max_inputs: Texts per request.
        max_input_tokens: Tokens (words, here) per text.
        max_request_tokens: Tokens per request.
        names_input: Whether it says which text is too long, as some versions of the API do.
        refuses: Parameters that it does not know and refuses.
        base64: Whether it honours ``encoding_format="base64"``.
    """

    def __init__(
        self,
        dimension: int = 8,
        *,
        keys: set[str] | None = None,
        deployments: set[str] | None = None,
        max_inputs: int = 2_048,
        max_input_tokens: int = 8_191,
        max_request_tokens: int = 300_000,
        names_input: bool = False,
        refuses: tuple[str, ...] = (),
        base64: bool = True,
    ) -> None:
        self.dimension = dimension
        self.keys = keys
        self.deployments = deployments
        self.max_inputs = max_inputs
        self.max_input_tokens = max_input_tokens
        self.max_request_tokens = max_request_tokens
        self.names_input = names_input
        self.refuses = refuses
        self.base64 = base64
        self.routes: dict[str, Handler] = {"embeddings": self.embeddings}
        self.requests: list[Request] = []
        self.always: Fault | None = None
        self.arrived = asyncio.Event()
        self.gone = asyncio.Event()
        self.at_once = 0
        self.most_at_once = 0
        self._faults: deque[Fault | None] = deque()
        self._connections: set[asyncio.Task[None]] = set()
        self._server: asyncio.Server | None = None
        self.port = 0

    @property
    def url(self) -> str:
        """For OPENAI_BASE_URL."""
        return f"http://127.0.0.1:{self.port}/v1"

    @property
    def azure_endpoint(self) -> str:
        """For AZURE_OPENAI_ENDPOINT."""
        return f"http://127.0.0.1:{self.port}"

    def then(self, *faults: Fault | None) -> None:
        """Queue a fault for each of the next requests; None lets one through."""
        self._faults.extend(faults)

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0, limit=1 << 26)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *exc: object) -> None:
        assert self._server is not None
        self._server.close()
        for task in self._connections:
            task.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)
        await self._server.wait_closed()

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._connections.add(task)
        try:
            with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError, Dropped):
                while True:
                    await self._serve(await _read_request(reader), reader, writer)
        except asyncio.CancelledError:
            pass
        finally:
            self._connections.discard(task)
            writer.transport.abort()

    async def _serve(self, request: Request, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.requests.append(request)
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        self.arrived.set()
        answering = asyncio.ensure_future(self._answer_to(request, writer))
        leaving = asyncio.ensure_future(reader.read(1))
        try:
            await asyncio.wait({answering, leaving}, return_when=asyncio.FIRST_COMPLETED)
            if not answering.done():
                self.gone.set()
                raise Dropped
            answering.result()
        finally:
            self.at_once -= 1
            answering.cancel()
            leaving.cancel()
            await asyncio.gather(answering, leaving, return_exceptions=True)

    async def _answer_to(self, request: Request, writer: asyncio.StreamWriter) -> None:
        await _send(writer, await self._answer(request))

    async def _answer(self, request: Request) -> Reply:
        handler = self.routes.get(request.route)
        if handler is None:
            return error(404, f"Invalid URL ({request.method} {request.path})")
        refusal = self._refuse(request)
        if refusal is not None:
            return refusal
        fault = self._faults.popleft() if self._faults else self.always
        return await handler(request) if fault is None else await fault(self, request, handler)

    def _refuse(self, request: Request) -> Reply | None:
        key = request.headers.get("api-key") if request.deployment else None
        if key is None:
            key = request.headers.get("authorization", "").removeprefix("Bearer ")
        if self.keys is not None and key not in self.keys:
            # Some servers repeat the whole key in their message.
            return error(401, f"Incorrect API key provided: {key}.", "invalid_api_key")
        if request.deployment and self.deployments is not None and request.deployment not in self.deployments:
            return error(404, "The API deployment for this resource does not exist.", "DeploymentNotFound")
        if request.deployment and "api-version" not in request.query:
            return error(404, "Resource not found", "404")
        return None

    async def embeddings(self, request: Request) -> Reply:
        """POST /embeddings."""
        body = request.json
        texts = [body["input"]] if isinstance(body["input"], str) else body["input"]
        for name in self.refuses:
            if name in body and body[name] != "float":
                return error(400, f"Unknown parameter: {name}={body[name]}")
        if not texts or any(text == "" for text in texts):
            return error(400, "'$.input' is invalid: an empty string")
        if len(texts) > self.max_inputs:
            return error(400, f"batch size {len(texts)} > maximum allowed batch size {self.max_inputs}")
        tokens = [len(text.split()) for text in texts]
        for index, count in enumerate(tokens):
            if count > self.max_input_tokens:
                which = f"Invalid 'input[{index}]': " if self.names_input else ""
                return error(400, f"{which}maximum context length is {self.max_input_tokens} tokens, not {count}")
        if sum(tokens) > self.max_request_tokens:
            return error(400, f"Requested {sum(tokens)} tokens, max {self.max_request_tokens} tokens per request")
        dimension = body.get("dimensions", self.dimension)
        packed = self.base64 and body.get("encoding_format") == "base64"
        data = []
        for index, text in enumerate(texts):
            vector: Any = embed(text, dimension)
            if packed:
                vector = base64.b64encode(struct.pack(f"<{dimension}f", *vector)).decode()
            data.append({"object": "embedding", "index": index, "embedding": vector})
        usage = {"prompt_tokens": sum(tokens), "total_tokens": sum(tokens)}
        return as_json({"object": "list", "data": data, "model": body["model"], "usage": usage})


@contextlib.contextmanager
def in_thread(server: OpenAIServer) -> Iterator[OpenAIServer]:
    """Run a server in a thread, for tests that start other processes."""
    started, stop = threading.Event(), asyncio.Event()
    loop = asyncio.new_event_loop()

    async def serve() -> None:
        async with server:
            started.set()
            await stop.wait()

    thread = threading.Thread(target=loop.run_until_complete, args=(serve(),))
    thread.start()
    started.wait()
    try:
        yield server
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join()
        loop.close()


async def _read_request(reader: asyncio.StreamReader) -> Request:
    head = await reader.readuntil(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").strip().split("\r\n")
    method, target, _ = first.split(" ")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    url = urlsplit(target)
    query = {name: values[0] for name, values in parse_qs(url.query).items()}
    azure = re.fullmatch(r"/openai/deployments/([^/]+)/(.+)", url.path)
    deployment, route = (azure[1], azure[2]) if azure else (None, url.path.removeprefix("/v1/"))
    return Request(method, url.path, query, headers, body, route, deployment)


async def _send(writer: asyncio.StreamWriter, reply: Reply) -> None:
    headers = dict(reply.headers)
    if isinstance(reply.body, bytes):
        headers["Content-Length"] = str(len(reply.body))
    else:
        headers["Transfer-Encoding"] = "chunked"
    lines = [f"HTTP/1.1 {reply.status} {REASONS.get(reply.status, 'Status')}"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    writer.write("\r\n".join([*lines, "", ""]).encode("latin-1"))
    if isinstance(reply.body, bytes):
        writer.write(reply.body[: reply.cut])
    else:
        async for part in reply.body:
            writer.write(f"{len(part):x}\r\n".encode() + part + b"\r\n")
            await writer.drain()
        writer.write(b"0\r\n\r\n")
    await writer.drain()
    if isinstance(reply.body, bytes) and reply.cut is not None:
        writer.close()
        await writer.wait_closed()
        raise Dropped
