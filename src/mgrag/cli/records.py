"""``mgrag records``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from mgrag.cli.options import Common, with_common
from mgrag.cli.output import as_text, counted, line, note, print_json, table
from mgrag.cli.runtime import with_kb

if TYPE_CHECKING:
    from core.rag.retrieval.tables.table import RecordField, RecordTable


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(records)


@with_common
def records(
    chosen: Common,
    collection: Annotated[
        str | None, typer.Argument(metavar="COLLECTION", help="Its name. Default: list the collections.")
    ] = None,
    filters: Annotated[
        str | None,
        typer.Option("--filter", metavar="FILTER", help="Only records that match, such as 'team=Sales salary>60000'."),
    ] = None,
    group_by: Annotated[
        list[str] | None,
        typer.Option(
            "--group-by",
            "-g",
            metavar="FIELD",
            help="One row for each value of this field, or for each month of dates: created:month; repeatable.",
        ),
    ] = None,
    measure: Annotated[
        list[str] | None,
        typer.Option(
            "--measure",
            "-m",
            metavar="MEASURE",
            help="count, or count, distinct, sum, avg, median, min or max with a field: avg:salary; repeatable.",
        ),
    ] = None,
    field: Annotated[
        list[str] | None,
        typer.Option("--field", "-f", metavar="FIELD", help="Only this column; repeatable. Default: all."),
    ] = None,
    order_by: Annotated[
        list[str] | None,
        typer.Option("--order-by", "-o", metavar="COLUMN", help="Sort by it; -COLUMN: the largest first. Repeatable."),
    ] = None,
    limit: Annotated[int, typer.Option("-k", "-n", "--limit", metavar="N", help="Maximum number of rows.")] = 20,
    fields: Annotated[bool, typer.Option("--fields", help="Describe the fields instead.")] = False,
) -> None:
    """Filter, count and sum the rows of tables and other records.

    Without a collection, it lists the collections.
    """
    asked = filters is not None or any((group_by, measure, field, order_by))
    if collection is None:
        if asked or fields:
            raise typer.BadParameter("name a collection; mgrag records lists them", param_hint="'COLLECTION'")
        there = with_kb(chosen, lambda kb: kb.collections())
        if chosen.json:
            print_json([{"name": name, "records": number} for name, number in there.items()])
        elif there:
            table(["RECORDS", "COLLECTION"], [[str(number), name] for name, number in there.items()])
        else:
            line("No records.")
        return
    name = collection
    if fields:
        if asked:
            raise typer.BadParameter("it describes all records; leave out what is asked of them", param_hint="--fields")
        described = with_kb(chosen, lambda kb: kb.record_fields(name))
        _print_fields(described, as_json=chosen.json)
        return
    found = with_kb(
        chosen,
        lambda kb: kb.tabulate(
            name,
            filters=filters,
            group_by=group_by,
            measures=measure,
            fields=field,
            order_by=order_by,
            limit=limit,
        ),
    )
    _print_table(found, as_json=chosen.json)


def _print_fields(fields: list[RecordField], *, as_json: bool) -> None:
    if as_json:
        print_json([field.to_dict() for field in fields])
        return
    rows = [[str(field.records), field.kind, field.name, ", ".join(map(as_text, field.examples))] for field in fields]
    table(["RECORDS", "KIND", "FIELD", "EXAMPLES"], rows)


def _print_table(found: RecordTable, *, as_json: bool) -> None:
    if as_json:
        print_json(found.to_dict())
        return
    if not found.rows:
        line("No records match.")
        return
    cells = [["" if row[name] is None else as_text(row[name]) for name in found.columns] for row in found.rows]
    table(found.columns, cells)
    if found.total > len(found.rows):
        note(f"{len(found.rows)} of {counted(found.total, 'row')}; --limit shows more.")
    for name, number in found.left_out.items():
        note(f"{name}: {counted(number, 'value')} left out that cannot be compared with the others.")
