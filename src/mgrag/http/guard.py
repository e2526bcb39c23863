"""Looks at a request before its body is read: who sends it, from where, and how large it is."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from anyio import BrokenResourceError
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse

from core.rag.errors import ConfigurationError
from libs.regexes import regex
from mgrag.http.access import RefusedError
from mgrag.http.metrics import METRICS

if TYPE_CHECKING:
    from collections.abc import Collection

    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from mgrag.http.access import Access

#: Answers to those who have no key: whether the server is there, for load balancers.
HEALTH = "/health"

_ENDING = "The server is ending, and did not finish this request; what it had finished is stored. Repeat it."

FAILED = "The server failed; its log says why."

_EVENTS = "text/event-stream"

_ORIGIN = regex(r"[a-z][a-z0-9+.-]*://[^/?#@\s*]+")

_LOCAL = frozenset(["localhost", "127.0.0.1", "::1"])


def origin_of(text: str) -> str:
    """The origin that is meant, as browsers send it; ``*`` is all.

    Raises:
        ConfigurationError: if it is none: no browser would ever send it.
    """
    origin = text.strip().lower().removesuffix("/")
    if origin != "*" and not _ORIGIN.fullmatch(origin):
        raise ConfigurationError(
            f"{text[:200]!r} is not the origin of web pages: write scheme, host and port only, as in"
            " https://app.example.org or http://localhost:3000."
        )
    return origin


class Guard:
    """ASGI middleware that refuses requests.

    Args:
        app: What answers those that are not refused.
        access: Keys and tokens.
        max_bytes: Limit for the body of a request.
        origins: Origins of web pages that may use the API from a browser.
        open_paths: Paths that need no key.
    """

    def __init__(
        self,
        app: ASGIApp,
        access: Access,
        *,
        max_bytes: int,
        origins: Collection[str] = (),
        open_paths: Collection[str] = (HEALTH,),
    ) -> None:
        self._app = app
        self._access = access
        self._max_bytes = max_bytes
        self._origins = frozenset(origins)
        self._open_paths = frozenset(open_paths)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or pass it on."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        try:
            self._check_origin(headers)
            path = scope["path"].removeprefix(scope.get("root_path", ""))
            if path not in self._open_paths:
                caller = self._access.caller(headers.get("authorization", ""), headers.get("x-api-key", ""))
                if path == METRICS:
                    self._access.check_whole(caller)
                scope.setdefault("state", {})["caller"] = caller
            self._check_size(int(headers.get("content-length", "0")))
        except RefusedError as error:
            await refusal(error)(scope, receive, send)
            return
        received = 0

        async def limited() -> Message:
            nonlocal received
            message = await receive()
            received += len(message.get("body", b""))
            if received > self._max_bytes:  # one that did not say how large it is
                raise HTTPException(413, self._too_large())
            return message

        begun = streams = False

        async def noting(message: Message) -> None:
            nonlocal begun, streams
            if message["type"] == "http.response.start":
                begun, streams = True, Headers(raw=message["headers"]).get("content-type", "").startswith(_EVENTS)
            await send(message)

        try:
            await self._app(scope, limited, noting)
        except asyncio.CancelledError:
            # The server ends, and has waited for this request for long enough. Raised, it would fill the log with its
            # traceback; the task ends here anyway.
            if not begun:
                await JSONResponse({"error": _ENDING}, 503)(scope, receive, send)
            elif streams:
                await send(_last_event(_ENDING))
        except Exception as error:  # a bug, which is logged behind this
            if streams and _left(error):
                return
            told = {"error": FAILED, "request_id": scope["state"]["request_id"]}
            if not begun:  # Starlette would answer outside of what adds the headers for web pages
                await JSONResponse(told, 500)(scope, receive, send)
            elif streams:
                await send(_last_event(**told))
            raise

    def _check_origin(self, headers: Headers) -> None:
        """Where no key is needed, keep web pages out: a browser on this machine sends what any page tells it to.

        Raises:
            RefusedError: when the request came to another name of this machine (DNS rebinding), or from a page.
        """
        if not self._access.open:
            return
        try:
            host = urlsplit(f"//{headers.get('host', '')}").hostname or ""
        except ValueError:  # half an IPv6 address
            host = ""
        if host not in _LOCAL:
            raise RefusedError(
                403, f"This server needs no key, and therefore only answers at localhost, not at {host[:200]!r}."
            )
        origin = headers.get("origin")
        if origin is not None and origin not in self._origins:
            raise RefusedError(
                403, f"Pages of {origin[:200]} may not use this server; start it with --cors to allow them."
            )

    def _check_size(self, length: int) -> None:
        if length > self._max_bytes:
            raise RefusedError(413, self._too_large())

    def _too_large(self) -> str:
        return f"The request is larger than {self._max_bytes:,} bytes; MGRAG_MAX_FILE_BYTES sets the limit."


def _left(error: Exception) -> bool:
    """Whether only the caller went away: FastAPI then closes a stream, though the next events wait to be sent."""
    return isinstance(error, ExceptionGroup) and error.split(BrokenResourceError)[1] is None


def _last_event(error: str, **more: str) -> Message:
    """The end of a stream of events that fails: without it, it would look as if all had been told."""
    event = f"event: error\ndata: {json.dumps({'error': error, **more})}\n\n"
    return {"type": "http.response.body", "body": event.encode()}


def refusal(error: RefusedError) -> JSONResponse:
    """The response to a refused request."""
    headers = {"WWW-Authenticate": "Bearer"} if error.status == 401 else None
    return JSONResponse({"error": error.message}, error.status, headers)
