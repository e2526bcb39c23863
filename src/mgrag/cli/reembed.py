"""``mgrag reembed``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from mgrag.cli.options import Common, ModelOption, with_common
from mgrag.cli.output import counted, line, print_json, progress
from mgrag.cli.runtime import EXIT_INTERRUPTED, open_kb, run, stop_on_interrupt

if TYPE_CHECKING:
    from core.rag.maintenance.reembed import ReembedReport


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(reembed)


@with_common
def reembed(
    chosen: Common,
    model: ModelOption = None,
    drop_old: Annotated[
        bool, typer.Option("--drop-old", help="Delete the vectors of other models afterwards.")
    ] = False,
) -> None:
    """Switch to another embedding model.

    New vectors are made for all chunks and messages, and replace the old ones once they are complete.
    """
    report = run(lambda: _reembed(chosen, model, drop_old=drop_old))
    if chosen.json:
        print_json(report.to_dict())
    else:
        line(
            f"Model: {report.model} ({report.dimension} dimensions). Embedded: {counted(report.chunks, 'chunk')} and"
            f" {counted(report.messages, 'message')} ({counted(report.vectors, 'new vector')})."
        )
        if report.dropped:
            line(f"Removed: vectors of {', '.join(report.dropped)}.")
        if report.kept:
            line(f"Kept: vectors of {', '.join(report.kept)}.")
        if report.interrupted:
            line("Interrupted: the old vectors are still in use; run the same command again to continue.")
    if report.interrupted:
        raise typer.Exit(EXIT_INTERRUPTED)


async def _reembed(chosen: Common, model: str | None, *, drop_old: bool) -> ReembedReport:
    async with open_kb(chosen, model=model, create=False, check_model=False) as kb:
        stop = stop_on_interrupt()
        with progress("Embedding …", quiet=chosen.json) as say:
            return await kb.reembed(
                drop_old=drop_old, stop=stop, progress=lambda report: say(f"{report.chunks} chunks embedded")
            )
