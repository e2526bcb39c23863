"""The command tree."""

from __future__ import annotations

from typing import Annotated

import typer

from mgrag.cli.commands import Commands
from mgrag.cli.options import Common, DbOption, JsonOption, NamespaceOption, graph_uri
from mgrag.cli.runtime import EXIT_CODES

app = typer.Typer(
    name="mgrag",
    cls=Commands,
    help="Turn files and web pages into a searchable knowledge graph, in Memgraph, Neo4j or a local file.",
    epilog=EXIT_CODES,
    invoke_without_command=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback()
def options(
    context: typer.Context,
    db: DbOption = None,
    namespace: NamespaceOption = None,
    as_json: JsonOption = False,
    version: Annotated[bool, typer.Option("--version", help="Print the version and exit.", is_eager=True)] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an unexpected error.")] = False,  # noqa: ARG001
) -> None:
    """Options for every command."""
    if version:
        from mgrag import __version__

        typer.echo(f"mgrag {__version__}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())
        raise typer.Exit
    context.obj = Common(None if db is None else graph_uri(db), namespace, as_json)
