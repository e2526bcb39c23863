"""``mgrag status`` and ``mgrag doctor``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from mgrag.cli.options import Common, ModelOption, with_common
from mgrag.cli.output import counted, counts, line, print_json, progress
from mgrag.cli.runtime import EXIT_FAILED, run, with_kb

if TYPE_CHECKING:
    from core.rag.maintenance.findings import DoctorReport

_STYLES = {"ok": "green", "note": "cyan", "problem": "bold red", "mended": "bold yellow"}


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command()(status)
    app.command()(doctor)


@with_common
def status(chosen: Common) -> None:
    """Show what is in the graph: counts, vector stores, size."""
    from core.rag.sizes import size

    found = with_kb(chosen, lambda kb: kb.status())
    if chosen.json:
        print_json(found)
        return
    engine, model = found["engine"], found["embedding_model"]
    stores = [
        f"{store['model']} ({store['dimension']} dimensions, {store['vectors']:,} vectors, {store['status']})"
        for store in found["vector_stores"]
    ]
    dimension = f" ({model['dimension']} dimensions)" if model["dimension"] else ""
    room = "" if found["bytes"] is None else f", {size(found['bytes'])}"  # of a server, only it knows
    facts = {
        "graph": f"{found['location']} ({engine['engine']} {engine['version']}{room})",
        "namespace": found["namespace"],
        "model": f"{model['model']}{dimension}",
        "vectors": "; ".join(stores) or "none",
        "nodes": counts(found["nodes"]),
        "edges": counts(found["edges"]),
    }
    said = found["facts"]
    if said["done"] or said["failed"]:
        facts["facts"] = (
            f"{said['done']:,} chunks read by a language model, {said['failed']} failed, {said['waiting']} not read"
        )
    for name, value in facts.items():
        line((f"{name:<10} ", "cyan"), value)
    for failure in said["failures"]:
        line((f"{'failed':<10} ", "yellow"), f"{failure['path']}: {failure['reason']}")
    for text in engine["notes"]:
        line((f"{'note':<10} ", "yellow"), text)


@with_common
def doctor(
    chosen: Common,
    repair: Annotated[bool, typer.Option("--repair", help="Repair what can be repaired.")] = False,
    model: ModelOption = None,
) -> None:
    """Check the environment and the graph, and say what to do.

    All namespaces are checked, or the one that --namespace names.
    """
    report = run(lambda: _examine(chosen, model, repair=repair))
    if chosen.json:
        print_json(report.to_dict())
    else:
        for check in report.checks:
            line((f"{check.level:<8} ", _STYLES[check.level]), f"{check.name}: {check.message}")
            if check.advice:
                line(f"{'':<8}   -> {check.advice}")
        problems = sum(check.level == "problem" for check in report.checks)
        line(f"{counted(problems, 'problem')}." if problems else "Healthy.")
    if not report.healthy:
        raise typer.Exit(EXIT_FAILED)


async def _examine(chosen: Common, model: str | None, *, repair: bool) -> DoctorReport:
    from core.rag.maintenance.doctor import examine

    with progress("Checking …", quiet=chosen.json):
        return await examine(chosen.db, namespace=chosen.namespace, model=model, repair=repair)
