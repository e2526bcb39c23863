"""``mgrag namespaces``."""

from __future__ import annotations

from typing import Annotated

import typer

from mgrag.cli.options import Common, DbOption, JsonOption, NamespaceOption, YesOption, common, with_common
from mgrag.cli.output import line, print_either, print_json, table
from mgrag.cli.runtime import confirm, with_kb

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
    found = with_kb(chosen, lambda kb: kb.namespaces())
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


@group.command(name="delete")
@with_common
def delete_namespace(
    chosen: Common,
    name: Annotated[str, typer.Argument(help="Name of the namespace.")],
    yes: YesOption = False,
) -> None:
    """Delete a namespace with everything in it."""
    there = with_kb(chosen, lambda kb: kb.namespaces())
    if name in there:
        nodes = sum(there[name].values())
        confirm(f"Delete namespace {name!r} with {nodes} nodes?", yes=yes)
    count = with_kb(chosen, lambda kb: kb.delete_namespace(name), doing="Deleting …")
    said = f"Deleted: namespace {name} with {count} nodes."
    print_either(chosen.json, {"namespace": name, "nodes": count}, said)
