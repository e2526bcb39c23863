"""Cancelled calls of clients of the protocol before 2026, over HTTP without sessions of the SDK.

Such a client does not close the connection of a call, but sends a message with its id, on another one. Ids are only
different for one client, so what tells clients apart is a name that each gets in its first response, as that of a
session. Nothing is kept for it but the calls that are running, and one that the server does not know is as good.
"""

from __future__ import annotations

import contextlib
import uuid
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import anyio
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import JSONRPCNotification
from pydantic import ValidationError
from starlette.datastructures import Headers, MutableHeaders

if TYPE_CHECKING:
    from starlette.types import Message, Scope, Send

_SESSION = "mcp-session-id"
_VERSION = "mcp-protocol-version"
_METHOD = "notifications/cancelled"

#: The largest message that is looked at: it has an id and a reason.
_MAX_BYTES = 10_000


class Running:
    """The calls that can be cancelled by a message."""

    def __init__(self) -> None:
        self._calls: dict[tuple[str, str], anyio.CancelScope] = {}

    @contextlib.contextmanager
    def call(self, context: Context[None, Any]) -> Iterator[None]:
        """Let a call be cancelled within the block.

        Raises:
            ToolError: at its end, if it was.
        """
        session = (context.headers or {}).get(_SESSION)
        if session is None:
            yield
            return
        key = session, context.request_id
        with anyio.CancelScope() as scope:
            self._calls[key] = scope
            try:
                yield
            finally:
                if self._calls.get(key) is scope:
                    del self._calls[key]
        if scope.cancelled_caught:
            raise ToolError("The call was cancelled; what it had finished is stored.")

    def heed(self, body: bytes, scope: Scope) -> None:
        """Cancel a call, if this is what a request is about."""
        session = Headers(scope=scope).get(_SESSION)
        if session is None or len(body) > _MAX_BYTES or _METHOD.encode() not in body:
            return
        with contextlib.suppress(ValidationError):  # the SDK says what is wrong with it
            message = JSONRPCNotification.model_validate_json(body)
            call = self._calls.get((session, str((message.params or {}).get("requestId"))))
            if call is not None and message.method == _METHOD:
                call.cancel()


def naming(scope: Scope, send: Send) -> Send:
    """What sends the response to a request, with a name for the client if this can be its first one."""
    headers = Headers(scope=scope)
    if _SESSION in headers or _VERSION in headers:
        return send

    async def named(message: Message) -> None:
        if message["type"] == "http.response.start":
            MutableHeaders(raw=message["headers"])[_SESSION] = uuid.uuid4().hex
        await send(message)

    return named
