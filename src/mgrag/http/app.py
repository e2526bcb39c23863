"""The HTTP API as an ASGI application."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, cast

from core.rag.errors import ConfigurationError, MissingDependencyError, NotFoundError, StoreUnavailableError

try:
    from fastapi import APIRouter, Depends, FastAPI, Request, Response, Security
    from fastapi.middleware.cors import CORSMiddleware
    from fastapi.security import APIKeyHeader, HTTPBearer
    from starlette.routing import BaseRoute, Route
except ImportError as error:
    raise MissingDependencyError("fastapi", "http", "The HTTP API") from error

from mgrag import __version__
from mgrag.http import agents, copies, documents, graph, memory, records, tables
from mgrag.http.bases import Bases, Reading, Writing, bases_of, caller_of, check_parameters
from mgrag.http.details import Status
from mgrag.http.errors import DESCRIBED, Problem, add_handlers, no_namespace
from mgrag.http.guard import HEALTH, Guard, origin_of
from mgrag.http.heads import Heads
from mgrag.http.leaving import Leaving
from mgrag.http.metrics import METRICS, Measured, Metrics
from mgrag.http.request_ids import HEADER, RequestIds
from mgrag.http.results import Databases, Health
from mgrag.places import without_place
from mgrag.sources import Allowed

if TYPE_CHECKING:
    from core.rag.knowledge_base import KnowledgeBase
    from mgrag.http.access import Access

_DESCRIPTION = """\
Documents, a graph of the entities in them, and a memory of what was said: search, cited answers, and context for
language models. A namespace is a database; `/db/{namespace}/…` reads and writes inside of it only."""

#: What a form adds to the bytes of its files.
_FORM_BYTES = 1_000_000

#: How long the graph may take to show that it is there. Other requests wait for one that comes back, half a minute; who
#: asks for health has given up by then.
_HEALTH_SECONDS = 5.0

_open = APIRouter(tags=["server"])
_own = APIRouter(tags=["server"])
_database = APIRouter(tags=["server"])


def build_app(
    kb: KnowledgeBase,
    access: Access,
    *,
    roots: Sequence[Path] = (),
    allow_private: bool = False,
    max_bytes: int = 50_000_000,
    origins: Sequence[str] = (),
    open_metrics: bool = False,
) -> FastAPI:
    """An application that serves a graph.

    Args:
        kb: A connected knowledge base on it, of any namespace; stays open until the caller closes it.
        access: Who may do what.
        roots: The folders that callers may ingest files from.
        allow_private: Whether callers may have pages fetched from addresses that are not public.
        max_bytes: Limit for the size of a file, and, with what a form adds, of a request.
        origins: Origins of web pages that may use it from a browser, such as ``https://example.org``; ``*``: all,
            if callers need a key.
        open_metrics: Whether everybody who reaches the server may read ``/metrics``, without a key.

    Raises:
        ConfigurationError: on what is no origin, and on ``*`` where no key keeps web pages out.
    """
    origins = [origin_of(origin) for origin in origins]
    if "*" in origins and access.open:
        raise ConfigurationError(
            "Without keys, every web page could use the server through a browser: name the origins that may, or set"
            " MGRAG_API_KEYS."
        )
    routes, paths = _routes(access.open)
    app = _Application(
        title="memgraph-rag",
        version=__version__,
        description=_DESCRIPTION,
        docs_url=None,  # both load their scripts from somebody else's server
        redoc_url=None,
        redirect_slashes=False,
    )
    app.routes.extend(routes)  # those of records have to be the last
    app.state.bases = Bases(kb, Allowed(roots, allow_private=allow_private), max_bytes)
    app.state.agents = agents.Agents(app.state.bases.allowed)
    own = {route.endpoint: route.path_format for route in app.routes if isinstance(route, Route)}
    app.state.metrics = Metrics({**paths, **own})
    add_handlers(app)
    open_paths = {HEALTH, METRICS} if open_metrics else {HEALTH}
    app.add_middleware(Leaving)
    app.add_middleware(Guard, access=access, max_bytes=max_bytes + _FORM_BYTES, origins=origins, open_paths=open_paths)
    if origins:
        app.add_middleware(
            CORSMiddleware,
            allow_origins=origins,
            allow_methods=["*"],
            allow_headers=["*"],
            expose_headers=[HEADER],
            max_age=3600,
        )
    app.add_middleware(RequestIds)
    app.add_middleware(Measured, metrics=app.state.metrics)
    app.add_middleware(Heads)
    return app


class _Application(FastAPI):
    """An application whose description is of the version of OpenAPI that it names."""

    def openapi(self) -> dict[str, Any]:
        """Describe the events of a stream as text: FastAPI uses a word of OpenAPI 3.2, which 3.1 does not allow."""
        described = super().openapi()
        for methods in described["paths"].values():
            for operation in methods.values():
                for response in operation["responses"].values():
                    if (stream := response.get("content", {}).get("text/event-stream")) is not None:
                        stream.pop("itemSchema", None)
                        stream["schema"] = {"type": "string"}
        return described


@cache
def _routes(is_open: bool) -> tuple[Sequence[BaseRoute], Mapping[Callable[..., object], str]]:
    """Return all routes, and the path of each by its function.

    They are the same for every application: the first request to each that is made anew takes a fifth of a second.

    Args:
        is_open: Whether callers need no key.
    """
    every = APIRouter(
        generate_unique_id_function=lambda route: f"{route.tags[0]}_{route.name}",  # functions of generated clients
        responses={500: DESCRIBED[500]},
    )
    # Where the model is given, too, it gets into the description.
    every.include_router(_open, responses={500: {**DESCRIBED[500], "model": Problem}})
    paths = {route.endpoint: route.path_format for route in _open.routes if isinstance(route, Route)}
    checks = [Depends(check_parameters)]
    if not is_open:  # the guard has checked them; this describes them
        checks += [Security(APIKeyHeader(name="X-API-Key", auto_error=False)), Security(HTTPBearer(auto_error=False))]
    parts = (documents, graph, memory, copies, tables)
    for router in (_own, agents.own, *(part.router for part in parts), agents.router, _database, records.router):
        prefix = "" if router in (_own, agents.own) else "/db/{namespace}"
        every.include_router(router, prefix=prefix, dependencies=checks, responses=DESCRIBED)
        paths |= {route.endpoint: prefix + route.path_format for route in router.routes if isinstance(route, Route)}
    return every.routes, MappingProxyType(paths)


@_open.get(HEALTH)
async def health(request: Request) -> Health:
    """Whether the server can reach its graph, and need not open it again to store something; needs no key."""
    try:
        async with asyncio.timeout(_HEALTH_SECONDS):
            await bases_of(request).kb.client.check()
    except TimeoutError as error:
        raise StoreUnavailableError(f"The graph did not answer within {_HEALTH_SECONDS:g} seconds.") from error
    return {"status": "ok"}


@_open.get(METRICS, include_in_schema=False)  # for Prometheus; no client of the API reads it
async def metrics(request: Request) -> Response:
    """Requests by route, how long they take, and what the process uses."""
    found: Metrics = request.app.state.metrics
    return found.response(request.headers.get("accept", ""))


@_own.get("/db")
async def databases(request: Request) -> Databases:
    """List the namespaces that the caller may use, with the number of their nodes by label."""
    found = await bases_of(request).kb.namespaces()
    caller = caller_of(request)
    return {"databases": [{"name": name, "nodes": nodes} for name, nodes in found.items() if caller.may_use(name)]}


@_database.get("/status")
async def status(kb: Reading, request: Request) -> Status:
    """What the namespace contains, how much of it, and which engine stores it."""
    found = await kb.status()
    if caller_of(request).namespaces is not None:  # where the graph is, and how large, is not for all who share it
        found = without_place(found)
    return cast("Status", found)


@_database.delete("")
async def delete_database(kb: Writing) -> dict[str, int]:
    """Remove the namespace with everything in it. This cannot be undone."""
    try:
        return {"nodes": await kb.delete_namespace(kb.namespace)}
    except NotFoundError as error:
        raise no_namespace(kb.namespace) from error
