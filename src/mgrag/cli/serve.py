"""``mgrag serve``."""

from __future__ import annotations

import contextlib
import ipaddress
import os
import socket
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mgrag.cli.options import DbOption, ModelOption, NamespaceOption, common
from mgrag.cli.output import note
from mgrag.cli.runtime import ANSWERING, ending_at_once, importing, open_kb, run

if TYPE_CHECKING:
    from types import FrameType

#: How long requests in progress may take when the server is to end.
_GRACE_SECONDS = 10

#: How many connections may wait to be accepted. Where no more files can be opened, asyncio tries that often in a row,
#: and logs each time: with the 2,048 of uvicorn, it did nothing else.
_WAITING = 128


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(serve)


def serve(
    context: typer.Context,
    host: Annotated[str, typer.Option(metavar="ADDRESS", help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(metavar="N", min=0, max=65535, help="Port to listen on; 0 chooses a free one.")
    ] = 8000,
    read_only: Annotated[
        bool, typer.Option("--read-only", help="Callers can search, but not store or delete anything.")
    ] = False,
    root: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="FOLDER",
            exists=True,
            file_okay=False,
            help="Callers may ingest files below this folder; repeatable.",
        ),
    ] = None,
    allow_private: Annotated[
        bool, typer.Option("--allow-private", help="Callers may fetch pages from this machine and its network.")
    ] = False,
    cors: Annotated[
        list[str] | None,
        typer.Option(metavar="ORIGIN", help="Web pages of this origin may use the API from a browser; repeatable."),
    ] = None,
    open_metrics: Annotated[
        bool, typer.Option("--open-metrics", help="Anybody who reaches the server may read /metrics, without a key.")
    ] = False,
    base_path: Annotated[
        str,
        typer.Option(metavar="PATH", help="Where a proxy offers the server (/kb), if it removes that from requests."),
    ] = "",
    model: ModelOption = None,
    db: DbOption = None,
    namespace: NamespaceOption = None,
) -> None:
    """Serve the knowledge base to other services, over HTTP.

    Every namespace is a database: /db/NAME/search. With --namespace, only that one is served.
    """
    chosen = common(context, db, namespace, as_json=False)

    async def call() -> None:
        with ending_at_once():
            from core.rag.errors import ConfigurationError
            from core.rag.settings import settings_for
            from mgrag.http.access import Access

            settings = settings_for(None)
            access = Access(settings, only=chosen.namespace, writing=not read_only)
            if access.open and not _is_local(host):
                raise ConfigurationError(
                    f"Without keys, the server only listens on this machine, not on {host}. Set MGRAG_API_KEYS"
                    " (openssl rand -hex 16 makes a key) or MGRAG_JWT_KEY."
                )
        with listening_socket(host, port) as listening:  # a port that is taken is told before all that takes seconds
            with ending_at_once():
                from mgrag.http.app import build_app

            if read_only:
                settings = settings.model_copy(update={"read_only": True})
            with importing(*ANSWERING):  # which would hold up everybody when somebody asks for the first time
                async with open_kb(chosen, model=model, create=not read_only, settings=settings) as kb:
                    _ = kb.language_model, kb.reranker  # what makes no sense is told now, not to a caller later
                    app = build_app(
                        kb,
                        access,
                        roots=root or (),
                        allow_private=allow_private,
                        max_bytes=settings.max_file_bytes,
                        origins=cors or (),
                        open_metrics=open_metrics,
                    )
                    _allow_files()
                    for text in () if read_only else (await kb.client.connect()).capabilities.notes:
                        note(f"mgrag: {text}")
                    await _answer(app, listening, host, base_path=base_path, open_to_all=access.open)

    run(call)
    sys.stderr.flush()
    os._exit(0)  # at once: threads may still read or cut what came with requests that were given up


async def _answer(app: object, listening: socket.socket, host: str, *, base_path: str, open_to_all: bool) -> None:
    """Answer requests until a signal comes."""
    import asyncio

    from core.rag.errors import MissingDependencyError

    try:
        import uvicorn
    except ImportError as error:
        raise MissingDependencyError("uvicorn", "http", "The HTTP API") from error

    class Server(uvicorn.Server):
        def handle_exit(self, sig: int, frame: FrameType | None) -> None:  # noqa: ARG002
            """End; at the second signal without waiting for requests. The command goes on, and closes the graph."""
            if self.should_exit:
                self.force_exit = True
                asyncio.get_running_loop().call_soon_threadsafe(self.give_up)
            self.should_exit = True

        def give_up(self) -> None:
            """Cancel all requests: uvicorn waits for their connections to close, whatever ``force_exit`` says."""
            for task in self.server_state.tasks:
                task.cancel()

    config = uvicorn.Config(
        app,  # type: ignore[arg-type]
        log_config=None,
        lifespan="off",
        access_log=False,
        server_header=False,
        root_path=f"/{path}" if (path := base_path.strip("/")) else "",
        timeout_graceful_shutdown=_GRACE_SECONDS,
        backlog=_WAITING,
    )
    with contextlib.suppress(ImportError):  # the SDK of MCP brings it
        from sse_starlette.sse import AppStatus

        AppStatus.enable_automatic_graceful_drain = False  # streams would end at once, amid calls of tools
    address = f"[{host}]" if ":" in host else host
    note(f"mgrag: Listening on http://{address}:{listening.getsockname()[1]} (Ctrl-C ends it).")
    if open_to_all:
        note("mgrag: No keys are set: every program on this machine may read and change the graph.")
    await Server(config).serve([listening])


def _allow_files() -> None:
    """Have as many files and connections open as the system allows, which by itself lets a process have 1,024 only."""
    with contextlib.suppress(ImportError, OSError, ValueError):  # Windows; a limit that cannot be reached
        import resource

        _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


def listening_socket(host: str, port: int) -> socket.socket:
    """A socket for a server.

    Raises:
        ConfigurationError: if the address is taken, or none of this machine.
    """
    from core.rag.errors import ConfigurationError

    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # Without the protocol, asyncio does not know it for TCP and leaves out TCP_NODELAY: each response would take 40 ms
    # longer, waiting for an acknowledgement.
    listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((host, port))
        listening.listen()
    except OSError as error:
        listening.close()
        raise ConfigurationError(f"Cannot listen on {host}, port {port}: {error.strerror or error}.") from error
    return listening


def _is_local(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
