"""``mgrag mcp``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mgrag.cli.options import DbOption, ModelOption, NamespaceOption, common
from mgrag.cli.output import note
from mgrag.cli.runtime import open_kb, run

if TYPE_CHECKING:
    from core.rag.knowledge_base import KnowledgeBase


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(mcp)


def mcp(
    context: typer.Context,
    read_only: Annotated[
        bool, typer.Option("--read-only", help="Agents can search, but not store or delete anything.")
    ] = False,
    root: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="FOLDER",
            exists=True,
            file_okay=False,
            help="Agents may ingest files below this folder; repeatable.",
        ),
    ] = None,
    allow_private: Annotated[
        bool, typer.Option("--allow-private", help="Agents may fetch pages from this machine and its network.")
    ] = False,
    hold: Annotated[
        float, typer.Option(metavar="SECONDS", min=0, help="Close an embedded graph after this long without a call.")
    ] = 2.0,
    model: ModelOption = None,
    db: DbOption = None,
    namespace: NamespaceOption = None,
) -> None:
    """Serve the knowledge base to agents, as an MCP server.

    It speaks the Model Context Protocol on standard input and output; agents start it themselves.
    """
    chosen = common(context, db, namespace, as_json=False)

    def opener(create: bool) -> KnowledgeBase:
        from core.rag.settings import settings_for

        settings = settings_for(None)
        if read_only:
            settings = settings.model_copy(update={"read_only": True})
        return open_kb(chosen, model=model, create=create, settings=settings)

    async def serve() -> None:
        await opener(create=False).close()  # a setting that is invalid is told now, not to an agent later

        from mgrag.mcp.lease import Lease
        from mgrag.mcp.server import build_server
        from mgrag.sources import Allowed

        if sys.stdin.isatty():
            note("mgrag: Waiting for an MCP client on standard input; clients start this command themselves.")
        lease = Lease(opener, hold)
        allowed = Allowed(root or (), allow_private=allow_private)
        server = build_server(lease, writing=not read_only, allowed=allowed)
        await server.run_stdio_async()

    run(serve)
