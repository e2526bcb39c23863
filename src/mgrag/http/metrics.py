"""What the server did, in numbers that Prometheus collects: requests by route, how long they take, how many run."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

from starlette.responses import Response

from core.rag.errors import MissingDependencyError
from mgrag import __version__

try:
    from prometheus_client import CollectorRegistry, Gauge, Histogram, Info, ProcessCollector
    from prometheus_client.exposition import choose_encoder
except ImportError as error:
    raise MissingDependencyError("prometheus-client", "http", "The HTTP API") from error

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from contextlib import AbstractContextManager

    from starlette.types import ASGIApp, Message, Receive, Scope, Send

#: Where they are.
METRICS: Final = "/metrics"

_SECONDS: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300)
# What callers can choose freely must not become labels: each value is a time series, and a namespace is a secret.
_METHODS: Final = frozenset({"DELETE", "GET", "OPTIONS", "PATCH", "POST", "PUT"})
_OTHER: Final = "other"


class Metrics:
    """The numbers of one server.

    Args:
        routes: The path of each route by the function that answers it; ``/db/{namespace}/search``, never a real path.
    """

    def __init__(self, routes: Mapping[Callable[..., object], str]) -> None:
        self._routes = routes
        self._registry = CollectorRegistry()
        ProcessCollector(registry=self._registry)
        Info("mgrag", "The version that runs.", registry=self._registry).info({"version": __version__})
        self._running = Gauge("mgrag_http_requests_in_progress", "Requests being answered.", registry=self._registry)
        self._seconds = Histogram(
            "mgrag_http_request_seconds",
            "Seconds until the end of a response; those of streams until their last event.",
            ["method", "route", "status"],
            buckets=_SECONDS,
            registry=self._registry,
        )

    def response(self, accept: str) -> Response:
        """Return all numbers, in the format of Prometheus, or of OpenMetrics, that a client accepts."""
        encode, content_type = choose_encoder(accept)
        return Response(encode(self._registry), headers={"Content-Type": content_type})

    def running(self) -> AbstractContextManager[None]:
        """Count a request as one that is being answered, within the context."""
        return self._running.track_inprogress()

    def note(self, scope: Scope, status: int, seconds: float) -> None:
        """Count a request that was answered."""
        method = scope["method"] if scope["method"] in _METHODS else _OTHER
        route = self._routes.get(scope.get("endpoint"), _OTHER)  # type: ignore[arg-type]
        self._seconds.labels(method, route, str(status)).observe(seconds)


class Measured:
    """ASGI middleware that counts requests.

    Args:
        app: What answers.
        metrics: Where they are counted.
    """

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self._app = app
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        status = 500  # unless the response says otherwise
        started = time.perf_counter()

        async def noting(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        with self._metrics.running():
            try:
                await self._app(scope, receive, noting)
            finally:
                self._metrics.note(scope, status, time.perf_counter() - started)
