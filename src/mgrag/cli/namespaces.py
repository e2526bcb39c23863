"""``mgrag namespaces``."""

from __future__ import annotations

from typing import Annotated

import typer

from mgrag.cli.options import Common, DbOption, JsonOption, NamespaceOption, YesOption, common
from mgrag.cli.output import line, print_json, table
from mgrag.cli.runtime import confirm, existing_graph, run

group = typer.Typer(
    name="namespaces",
    help="List the namespaces of the graph, or delete one.",
    invoke_without_command=True,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.add_typer(group)


@group.callback()
def list_namespaces(
    context: typer.Context, db: DbOption = None, namespace: NamespaceOption = None, as_json: JsonOption = False
) -> None:
    """List the namespaces of the graph, or delete one."""
    chosen = common(context, db, namespace, as_json)
    if context.invoked_subcommand is not None:
        context.obj = chosen
        return
    found = run(lambda: _list(chosen))
    rows = [
        {
            "namespace": name,
            "documents": nodes.get("Document", 0),
            "chunks": nodes.get("DocumentChunk", 0),
            "nodes": sum(nodes.values()),
        }
        for name, nodes in found.items()
    ]
    if chosen.json:
        print_json(rows)
    elif rows:
        table(
            ["DOCUMENTS", "CHUNKS", "NODES", "NAMESPACE"],
            [[str(row["documents"]), str(row["chunks"]), str(row["nodes"]), str(row["namespace"])] for row in rows],
        )
    else:
        line("No namespaces.")


async def _list(chosen: Common) -> dict[str, dict[str, int]]:
    async with existing_graph(chosen) as kb:
        return await kb.namespaces()


@group.command(name="delete")
def delete_namespace(
    context: typer.Context,
    name: Annotated[str, typer.Argument(help="Its name.")],
    yes: YesOption = False,
    db: DbOption = None,
    namespace: NamespaceOption = None,
    as_json: JsonOption = False,
) -> None:
    """Remove a namespace with everything in it."""
    chosen = common(context, db, namespace, as_json)
    there = run(lambda: _list(chosen))
    if name in there:
        nodes = sum(there[name].values())
        confirm(f"Delete namespace {name!r} with {nodes} nodes?", yes=yes)
    count = run(lambda: _delete(chosen, name))
    if chosen.json:
        print_json({"namespace": name, "nodes": count})
    else:
        line(f"Deleted: namespace {name} with {count} nodes.")


async def _delete(chosen: Common, name: str) -> int:
    async with existing_graph(chosen) as kb:
        return await kb.delete_namespace(name)
