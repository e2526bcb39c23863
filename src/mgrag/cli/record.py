"""``mgrag record``: inserts, shows and deletes single records; what asks all of them is in :mod:`mgrag.cli.records`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from mgrag.cli.options import Common, with_common
from mgrag.cli.output import as_text, counted, line, note, print_either, print_json
from mgrag.cli.runtime import EXIT_NOT_FOUND, EXIT_USAGE, fail, objects_in, with_kb

if TYPE_CHECKING:
    from core.rag.knowledge_base import KnowledgeBase

commands = typer.Typer(help="Insert, show or delete single records.", no_args_is_help=True)


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.add_typer(commands, name="record")


@commands.command()
@with_common
def insert(
    chosen: Common,
    collection: Annotated[str, typer.Argument(metavar="COLLECTION", help="The collection that they belong to.")],
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE", help="One JSON object, a JSON array or JSON lines of them; - reads standard input."
        ),
    ],
) -> None:
    """Insert records; one with the same _id or id is replaced."""
    records = objects_in(file)
    if not records:
        fail("There are no records to insert.", EXIT_USAGE)
    done = with_kb(chosen, lambda kb: kb.insert_many(collection, records), create=True, doing="Inserting …")
    told = done[0].id if len(done) == 1 else f"Inserted: {counted(len(done), 'record')}."
    print_either(chosen.json, [one.to_dict() for one in done], told)


@commands.command()
@with_common
def show(
    chosen: Common,
    record: Annotated[str, typer.Argument(metavar="ID", help="The id of the record.")],
) -> None:
    """Show a record, one field a line."""
    found = with_kb(chosen, lambda kb: kb.record(record))
    if found is None:
        fail(_missing(record), EXIT_NOT_FOUND)
    if chosen.json:
        print_json(found)
        return
    line((found["collection"], "bold"))
    for name, value in found["data"].items():
        line((f"  {name:<10} ", "cyan"), as_text(value))


@commands.command()
@with_common
def delete(
    chosen: Common,
    records: Annotated[list[str], typer.Argument(metavar="ID", help="The ids of the records.")],
) -> None:
    """Delete records, with the entities that nothing else supports.

    One that was read from a file comes back when the file changes.
    """

    async def work(kb: KnowledgeBase) -> dict[str, list[str]]:
        result: dict[str, list[str]] = {"deleted": [], "missing": []}
        for record in dict.fromkeys(records):
            result["deleted" if await kb.delete_record(record) else "missing"].append(record)
        return result

    result = with_kb(chosen, work)
    for record in result["missing"]:
        note(f"mgrag: {_missing(record)}")
    print_either(chosen.json, result, f"Deleted: {counted(len(result['deleted']), 'record')}.")
    if result["missing"]:
        raise typer.Exit(EXIT_NOT_FOUND)


def _missing(record: str) -> str:
    return f"There is no record with the id {record!r}. With --json, mgrag records has the ids."
