"""The command tree."""

from __future__ import annotations

from typing import Annotated

import typer

from mgrag.cli import ingest, search
from mgrag.cli.runtime import EXIT_CODES, DbOption, Graph, NamespaceOption

app = typer.Typer(
    name="mgrag",
    help="Files and web pages in, searchable knowledge graph out: on Memgraph, Neo4j, or an embedded graph.",
    epilog=EXIT_CODES,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback()
def options(
    context: typer.Context,
    db: DbOption = None,
    namespace: NamespaceOption = None,
    version: Annotated[bool, typer.Option("--version", help="Print the version and exit.", is_eager=True)] = False,
) -> None:
    """Options for every command."""
    if version:
        from mgrag import __version__

        typer.echo(__version__)
        raise typer.Exit
    context.obj = Graph(db, namespace)


ingest.register(app)
search.register(app)
