"""``mgrag cypher``."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from mgrag.cli.options import Common, named_value, with_common
from mgrag.cli.output import as_text, line, print_json, table
from mgrag.cli.runtime import text_or_input, with_kb


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(cypher)


@with_common
def cypher(
    chosen: Common,
    statement: Annotated[
        str, typer.Argument(metavar="STATEMENT", help="A statement that reads; - reads it from input.")
    ],
    param: Annotated[
        list[str] | None,
        typer.Option("--param", "-p", metavar="NAME=VALUE", help="Value of $NAME, as JSON or text; repeatable."),
    ] = None,
) -> None:
    """Run a Cypher statement that reads, on any engine."""
    parameters = dict(map(_parameter, param or []))
    text = text_or_input(statement)
    rows = with_kb(chosen, lambda kb: kb.client.query(text, parameters))
    if chosen.json:
        print_json(rows)
    elif not rows:
        line("No rows.")
    elif len(rows) == len(rows[0]) == 1:
        ((name, value),) = rows[0].items()
        line((name, "bold"))
        for part in as_text(value).splitlines():  # of one text, such as a plan, its lines are shown
            line(part.expandtabs(4))
    else:
        table(list(rows[0]), [[as_text(value) for value in row.values()] for row in rows])


def _parameter(given: str) -> tuple[str, Any]:
    name, value = named_value(given, "--param")
    if not name.isidentifier():
        raise typer.BadParameter(f"{name[:50]!r} is not the name of a parameter", param_hint="'--param'")
    # An embedding; see ``check_parameters``.
    return name, tuple(value) if isinstance(value, list) and all(isinstance(i, float) for i in value) else value
