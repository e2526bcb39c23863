"""Gives every request an id, so that what a caller is told can be found in the log of the server."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING

from starlette.datastructures import Headers, MutableHeaders

from libs.regexes import regex

if TYPE_CHECKING:
    from fastapi import Request
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

#: The header of requests and responses with it.
HEADER = "X-Request-ID"

#: What a caller, or the proxy before the server, may call a request; all else could be lines of the log of its own.
_OWN = regex(r"[A-Za-z0-9._:/+=-]{1,128}")


class RequestIds:
    """ASGI middleware that takes over the id that a request has, or gives it one, and adds it to the response.

    Args:
        app: What answers.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        given = Headers(scope=scope).get(HEADER, "")
        identifier = given if _OWN.fullmatch(given) else uuid.uuid4().hex
        scope.setdefault("state", {})["request_id"] = identifier

        async def naming(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(raw=message["headers"])[HEADER] = identifier
            await send(message)

        await self._app(scope, receive, naming)


def request_id(request: Request) -> str:
    """The id of a request."""
    identifier: str = request.state.request_id
    return identifier
