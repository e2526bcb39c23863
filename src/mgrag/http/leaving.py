"""Gives up what a caller asked for and does not wait for any more."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from starlette.datastructures import Headers
from starlette.responses import Response

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

#: What is counted for such a request, as proxies do; nobody reads it.
_LEFT = 499


class Leaving:
    """ASGI middleware that cancels a request when its caller goes away before the response has begun.

    A caller whose time is up asks again. Without this, each attempt goes on beside the next one: a model writes answers
    for nobody, and a message that waits for its turn is stored once for each attempt. Starlette takes care of streams
    that have begun.

    Args:
        app: What answers.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on."""
        task = asyncio.current_task()
        if scope["type"] != "http" or task is None:
            await self._app(scope, receive, send)
            return
        listener: asyncio.Task[None] | None = None
        begun = left = False

        async def listen() -> None:
            nonlocal left
            while (await receive())["type"] != "http.disconnect":
                pass
            if not begun:
                left = True
                task.cancel()

        # Only behind the body, which is for the routes; those that have none do not even ask for its end.
        read = [] if _has_body(scope) else [await receive()]
        if read:
            listener = asyncio.create_task(listen())

        async def receiving() -> Message:
            nonlocal listener
            message = read.pop() if read else await receive()
            if listener is None and message["type"] == "http.request" and not message.get("more_body", False):
                listener = asyncio.create_task(listen())
            return message

        async def sending(message: Message) -> None:
            nonlocal begun
            begun = True
            await send(message)

        try:
            await self._app(scope, receiving, sending)
        except asyncio.CancelledError:
            if not left:
                raise
            await Response(status_code=_LEFT)(scope, receive, send)
        finally:
            if listener is not None:
                listener.cancel()
            if left:
                task.uncancel()


def _has_body(scope: Scope) -> bool:
    headers = Headers(scope=scope)
    return "transfer-encoding" in headers or headers.get("content-length", "0") != "0"
