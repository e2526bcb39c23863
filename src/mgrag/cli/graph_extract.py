"""``mgrag graph extract``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from mgrag.cli.options import Common, with_common
from mgrag.cli.output import counted, line, print_json, progress
from mgrag.cli.runtime import EXIT_FAILED, EXIT_INTERRUPTED, open_kb, run, stop_on_interrupt

if TYPE_CHECKING:
    from core.rag.indexing.factfinding import FactReport

_TOLD = 3  # chunks that failed, shown with their reasons


def register(commands: typer.Typer) -> None:
    """Add the command."""
    commands.command()(extract)


@with_common
def extract(
    chosen: Common,
    entity_type: Annotated[
        list[str] | None,
        typer.Option(
            "--type",
            metavar="TYPE",
            help="Only entities of this type, such as person; repeatable. Default: MGRAG_LLM_ENTITY_TYPES.",
        ),
    ] = None,
    relation: Annotated[
        list[str] | None,
        typer.Option(
            metavar="RELATION",
            help="Only these facts, such as owns or 'person > owns > building'; repeatable."
            " Default: MGRAG_LLM_RELATIONS.",
        ),
    ] = None,
    again: Annotated[bool, typer.Option("--again", help="Also read the chunks that were read before.")] = False,
    limit: Annotated[
        int | None, typer.Option("-k", "--limit", min=1, metavar="N", help="Read at most N chunks.")
    ] = None,
) -> None:
    """Extract entities and facts with a language model.

    The model (MGRAG_LLM_MODEL) reads the chunks that it has not read yet, and what they state is added.
    """
    report = run(lambda: _extract(chosen, entity_type, relation, again=again, limit=limit))
    if chosen.json:
        print_json(report.to_dict())
    else:
        _show(report)
    if report.interrupted:
        raise typer.Exit(EXIT_INTERRUPTED)
    if report.failed and not report.chunks:
        raise typer.Exit(EXIT_FAILED)


async def _extract(
    chosen: Common, types: list[str] | None, relations: list[str] | None, *, again: bool, limit: int | None
) -> FactReport:
    async with open_kb(chosen, create=False) as kb:
        stop = stop_on_interrupt()
        with progress("Reading …", quiet=chosen.json) as say:
            return await kb.extract_facts(
                entity_types=types,
                relations=relations,
                again=again,
                limit=limit,
                stop=stop,
                progress=lambda so_far: say(f"{so_far.chunks} chunks read, {so_far.facts} facts found"),
            )


def _show(report: FactReport) -> None:
    failed = list(report.failed.items())
    for chunk, reason in failed[:_TOLD]:
        line((f"failed  {report.paths[chunk]}: {reason}", "yellow"))
    if len(failed) > _TOLD:
        line((f"failed  {len(failed) - _TOLD} more (mgrag status lists some, --json all)", "yellow"))
    line(
        f"{counted(report.chunks, 'chunk')} read: {counted(report.entities, 'entity', 'entities')},"
        f" {counted(report.facts, 'fact')}; {len(report.failed)} failed."
    )
    if report.unwanted:
        line(f"Left out, as other types and relations were asked for: {report.unwanted}.")
    if report.unnamed:
        line(f"Left out, as the text does not name what they are about: {report.unnamed}.")
    if report.interrupted:
        line(("note    Interrupted before the end; the same command without --again does the rest.", "yellow"))
    elif report.stopped:
        line((f"note    {report.stopped}", "yellow"))
