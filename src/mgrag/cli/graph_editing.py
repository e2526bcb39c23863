"""The commands of ``mgrag graph`` that add, remove, merge and split entities and links."""

from __future__ import annotations

from typing import Annotated

import typer

from mgrag.cli.options import Common, with_common
from mgrag.cli.output import counted, line, print_either, print_json
from mgrag.cli.runtime import EXIT_NOT_FOUND, fail, with_kb
from mgrag.messages import not_added_by_hand


def register(commands: typer.Typer) -> None:
    """Add the commands."""
    for command in (link, unlink, remove, resolve, merge, split):
        commands.command()(command)


@with_common
def link(
    chosen: Common,
    source: Annotated[str, typer.Argument(help="Name or id of the node that the link starts at.")],
    target: Annotated[str, typer.Argument(help="Name or id of the node that the link leads to.")],
    relation: Annotated[str, typer.Option(metavar="TYPE", help="Type of the relation, such as works_at.")] = "related",
    fact: Annotated[str, typer.Option(metavar="TEXT", help="The relation as a sentence.")] = "",
    weight: Annotated[float, typer.Option(metavar="NUMBER", help="Weight of the link, above 0.")] = 1.0,
    create: Annotated[
        bool, typer.Option("--create", help="Create the entities, and the graph, if they do not exist.")
    ] = False,
    valid_from: Annotated[
        str | None, typer.Option(metavar="DATE", help="Since when it holds, such as 2026-01-31; UTC.")
    ] = None,
    valid_to: Annotated[
        str | None, typer.Option(metavar="DATE", help="Since when it does not hold any more; UTC.")
    ] = None,
) -> None:
    """Add a link between two entities or two concepts."""
    edge = with_kb(
        chosen,
        lambda kb: kb.link(
            source,
            target,
            relation,
            fact=fact,
            weight=weight,
            create=create,
            valid_from=valid_from,
            valid_to=valid_to,
        ),
        create=create,
    )
    print_either(chosen.json, edge.to_dict(), f"Linked: {edge.id}")


@with_common
def unlink(
    chosen: Common,
    source: Annotated[str, typer.Argument(help="Name or id of one end, or the id of the link.")],
    target: Annotated[str | None, typer.Argument(help="Name or id of the other end.")] = None,
    relation: Annotated[str | None, typer.Option(metavar="TYPE", help="Only links with this relation.")] = None,
    ended: Annotated[
        str | None,
        typer.Option(metavar="DATE", help="Keep them as history: they held until then. Default: remove them."),
    ] = None,
) -> None:
    """Remove links that were added by hand, or end them."""
    count = with_kb(chosen, lambda kb: kb.unlink(source, target, relation, ended=ended))
    done = "removed" if ended is None else "ended"
    if chosen.json:
        print_json({done: count})
    elif count:
        line(f"{done.capitalize()}: {counted(count, 'link')}.")
    if not count:
        held = "" if ended is None else " and held then"
        fail(
            f"There is no such link that was added by hand{held}; other links disappear with the documents they come"
            " from.",
            EXIT_NOT_FOUND,
        )


@with_common
def remove(
    chosen: Common,
    name: Annotated[str, typer.Argument(help="Name or id of an entity.")],
) -> None:
    """Remove an entity that was added by hand, and its links.

    It stays if documents or records mention it.
    """
    removed = with_kb(chosen, lambda kb: kb.remove_entity(name))
    if chosen.json:
        print_json({"removed": removed})
    elif removed:
        line(f"Removed: {name}.")
    if not removed:
        fail(not_added_by_hand(name), EXIT_NOT_FOUND)


@with_common
def resolve(
    chosen: Common,
    vectors: Annotated[
        bool, typer.Option("--vectors/--no-vectors", help="Whether to compare the meaning of names, too.")
    ] = True,
) -> None:
    """Find and link different names of the same entity.

    mgrag graph split undoes a wrong match.
    """

    report = with_kb(
        chosen, lambda kb: kb.resolve_entities(vectors=vectors), embedding=vectors, doing="Comparing names …"
    )
    if chosen.json:
        print_json(report.to_dict())
        return
    for same in report.same:
        line(f"  {same.alias} is ", (same.entity, "bold"), f"  ({same.method}, {same.score:.2f})")
    line(f"{counted(len(report.same), 'alias', 'aliases')}: {report.added:,} new, {report.removed:,} removed.")


@with_common
def merge(
    chosen: Common,
    alias: Annotated[str, typer.Argument(help="Name or id of the alias.")],
    entity: Annotated[str, typer.Argument(help="Name or id of the main entity.")],
) -> None:
    """Declare two entities to be the same; split undoes it."""
    with_kb(chosen, lambda kb: kb.merge_entities(alias, entity))
    print_either(chosen.json, {"alias": alias, "entity": entity}, f"Merged: {alias} is {entity}.")


@with_common
def split(
    chosen: Common,
    entity: Annotated[str, typer.Argument(help="Name or id of an entity.")],
    other: Annotated[
        str | None,
        typer.Argument(help="The entity that it is not, merged or not. Default: all that it was merged with."),
    ] = None,
) -> None:
    """Undo a merge, and keep it from being made (again)."""
    count = with_kb(chosen, lambda kb: kb.split_entity(entity, other))
    if chosen.json:
        print_json({"split": count})
    elif count:
        line(f"Undone: {counted(count, 'merge')}.")
    elif other is not None:
        line(f"Stored: {entity} is not {other}. They were not merged.")
    if not count and other is None:
        fail(f"{entity} was not merged with anything.", EXIT_NOT_FOUND)
