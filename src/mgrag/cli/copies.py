"""``mgrag backup``, ``restore``, ``export`` and ``import``."""

from __future__ import annotations

from contextlib import AsyncExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mgrag.cli.options import Common, with_common
from mgrag.cli.output import counts, line, print_either, print_json, progress
from mgrag.cli.runtime import open_kb, run, with_kb

if TYPE_CHECKING:
    from core.rag.dbhandler.transfer.file import TransferReport
    from core.rag.knowledge_base import KnowledgeBase
    from core.rag.maintenance.backup import BackupReport

AllNamespaces = Annotated[bool, typer.Option("--all-namespaces", help="All namespaces instead of one.")]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command()(backup)
    app.command()(restore)
    app.command(name="export")(export)
    app.command(name="import")(import_)


@with_common
def backup(
    chosen: Common,
    file: Annotated[str, typer.Argument(metavar="FILE", help="File to create; it must not exist.")],
) -> None:
    """Write a verified copy of the whole graph.

    It holds all namespaces. The copy of a server is an export.
    """
    from core.rag.sizes import size

    _check_named(file)
    report = with_kb(chosen, lambda kb: kb.backup(file), doing="Copying …")
    _show(chosen, report, f"Written and verified: {report.file} ({size(report.bytes)}).")


@with_common
def restore(
    chosen: Common,
    file: Annotated[str, typer.Argument(metavar="FILE", help="A file written by backup or export.")],
    force: Annotated[
        bool, typer.Option("--force", help="Replace a graph that is not empty; the old one is kept under a dated name.")
    ] = False,
) -> None:
    """Replace the graph with a backup, in one verified step."""
    _check_named(file)
    if chosen.namespace is not None:
        raise typer.BadParameter(
            "a restore replaces the graph with all its namespaces. Leave this option out; to bring single namespaces"
            " into a graph, use mgrag import",
            param_hint="--namespace",
        )
    report = run(lambda: _restore(chosen, file, force=force))
    _show(chosen, report, f"Restored and verified from {report.file}.")
    if report.set_aside is not None and not chosen.json:
        line(f"Previous graph: {report.set_aside}")


async def _restore(chosen: Common, file: str, *, force: bool) -> BackupReport:
    from core.rag.maintenance.restore import restore as put_back

    with progress("Restoring …", quiet=chosen.json):
        return await put_back(chosen.db, file, force=force)


@with_common
def export(
    chosen: Common,
    file: Annotated[
        str,
        typer.Argument(metavar="FILE", help="File to create; it must not exist. Compressed if its name ends in .gz."),
    ],
    all_namespaces: AllNamespaces = False,
) -> None:
    """Write a namespace to a JSON Lines file for any engine."""
    _check_named(file)

    async def work(kb: KnowledgeBase) -> dict[str, TransferReport]:
        # One that is named has to be there: an empty export would pass for a copy of it.
        named = None if chosen.namespace is None else [chosen.namespace]
        return await kb.export(file, namespaces=list(await kb.namespaces()) if all_namespaces else named)

    found = with_kb(chosen, work, doing="Exporting …")
    _show_transfer(chosen, file, found, "Exported")


@with_common
def import_(
    chosen: Common,
    file: Annotated[str, typer.Argument(metavar="FILE", help="A file written by export.")],
    all_namespaces: AllNamespaces = False,
) -> None:
    """Load an export into the graph, updating what exists."""
    _check_named(file)
    found = run(lambda: _import(chosen, file, everything=all_namespaces))
    _show_transfer(chosen, file, found, "Imported")


async def _import(chosen: Common, file: str, *, everything: bool) -> dict[str, TransferReport]:
    with progress("Importing …", quiet=chosen.json):
        async with AsyncExitStack() as closing:
            # Not opened before: what is refused shall leave no empty graph behind.
            kb = open_kb(chosen, embedding=False)
            closing.push_async_exit(kb)
            return await kb.import_(file, everything=everything)


def _check_named(file: str) -> None:
    """Refuse what is not a name of a file: a copy is read a second time, so it goes through no pipe."""
    if file.strip() in ("", "-"):
        raise typer.BadParameter("name a file; the copy is read again, so it cannot be a pipe", param_hint="FILE")


def _show(chosen: Common, report: BackupReport, text: str) -> None:
    inside = f"Nodes: {counts(report.nodes)}.", f"Edges: {counts(report.edges)}."
    print_either(chosen.json, report.to_dict(), text, *inside)


def _show_transfer(chosen: Common, file: str, found: dict[str, TransferReport], done: str) -> None:
    if chosen.json:
        namespaces = {name: report.to_dict() for name, report in found.items()}
        print_json({"file": str(Path(file).absolute()), "namespaces": namespaces})
        return
    for name, report in found.items():
        parts = report.to_dict()
        line(f"{done}: namespace {name}. Nodes: {counts(parts['nodes'])}. Edges: {counts(parts['edges'])}.")
