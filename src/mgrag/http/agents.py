"""The Model Context Protocol as routes: agents have the tools of ``mgrag mcp`` on the graph that the server holds."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from contextvars import ContextVar
from importlib import import_module
from typing import TYPE_CHECKING, Any

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, Response

from core.rag.errors import MGRagError, MissingDependencyError
from core.rag.knowledge_base import KnowledgeBase
from mgrag.http.bases import Reading, bases_of, caller_of
from mgrag.http.errors import body_of, may_be_told

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

    from mgrag.mcp.server import Server
    from mgrag.sources import Allowed

router = APIRouter(tags=["server"])
own = APIRouter(tags=["server"])

#: The request that a tool is called by, and the knowledge base that its caller may use.
_current: ContextVar[tuple[Request, KnowledgeBase]] = ContextVar("current")


class Agents:
    """The servers of the protocol: one for callers that may change a namespace, one for those that may only read.

    They are built when the first of these comes.

    Args:
        allowed: What may be loaded for callers.
    """

    def __init__(self, allowed: Allowed) -> None:
        self._allowed = allowed
        self._servers: dict[bool, Server] = {}

    async def server(self, *, writing: bool) -> Server:
        """The one with the tools that a caller may use.

        Raises:
            MissingDependencyError: without the SDK of the protocol.
        """
        if writing not in self._servers:
            await asyncio.to_thread(import_module, "mgrag.mcp.server")  # a second, in which others are answered
            from mgrag.mcp.server import build_server

            self._servers[writing] = build_server(_Kept(), writing=writing, allowed=self._allowed, tell=_told)
        return self._servers[writing]


@router.post("/mcp", include_in_schema=False)  # which has a description of its own, for other clients
async def speak(kb: Reading, request: Request) -> Response:
    """Answer an agent that uses this namespace."""
    agents: Agents = request.app.state.agents
    try:
        server = await agents.server(writing=caller_of(request).writes)
    except MissingDependencyError as error:
        told = MissingDependencyError(error.package, "http,mcp", "The Model Context Protocol")
        return JSONResponse({"error": str(told), "type": type(told).__name__}, 501)
    return _Exchange(server, kb, request, await request.body())


@own.post("/mcp", include_in_schema=False)
async def speak_of_default(request: Request) -> Response:
    """Answer an agent that uses the namespace that the server was started with."""
    kb = bases_of(request).kb
    caller_of(request).check(kb.namespace, writing=False)
    return await speak(kb, request)


class _Kept:
    """What tools use: the knowledge base of the request that calls them. The server keeps it open."""

    @contextlib.asynccontextmanager
    async def use(self, *, create: bool = False) -> AsyncIterator[KnowledgeBase]:  # noqa: ARG002 - it is there
        yield _current.get()[1]

    async def close(self) -> None: ...


class _Exchange(Response):
    """What the SDK answers to a request."""

    def __init__(self, server: Server, kb: KnowledgeBase, request: Request, body: bytes) -> None:
        super().__init__()
        self._server = server
        self._about = request, kb
        self._given = body

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        # The tasks that the SDK starts for a request have its context.
        token = _current.set(self._about)
        try:
            await self._server.run_exchange(self._given, scope, receive, send)
        finally:
            _current.reset(token)


def _told(error: MGRagError) -> str:
    """What an agent may know of an error: why the server failed is for its log, as on all routes."""
    if may_be_told(error):
        return str(error)
    body: dict[str, Any] = body_of(error, _current.get()[0])
    return f"{body['error']} (request {body['request_id']})"
