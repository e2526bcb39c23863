"""``mgrag memory``: remembers, recalls and forgets what was said in sessions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from mgrag.cli.options import Common, MetadataOption, YesOption, metadata_of, with_common
from mgrag.cli.output import counted, print_either
from mgrag.cli.runtime import EXIT_NOT_FOUND, confirm, objects_in, telling_errors, text_or_input, with_kb

if TYPE_CHECKING:
    from core.rag.memory.records import Forgotten, Memory

commands = typer.Typer(help="Remember, recall and forget what was said.", no_args_is_help=True)

SessionArgument = Annotated[str, typer.Argument(metavar="SESSION", help="A session, or the id of a conversation.")]
UserOption = Annotated[str | None, typer.Option("--user", metavar="ID", help="The user.")]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.add_typer(commands, name="memory")


@commands.command()
@with_common
def remember(
    chosen: Common,
    session: SessionArgument,
    content: Annotated[str, typer.Argument(help="What was said; - reads it from standard input.")],
    role: Annotated[str, typer.Option(help="Who said it.")] = "user",
    tag: Annotated[list[str] | None, typer.Option(metavar="TAG", help="Keyword to find it by; repeatable.")] = None,
    user: UserOption = None,
    at: Annotated[
        str | None,
        typer.Option("--timestamp", "--at", metavar="TIME", help="When it was said (ISO 8601).", show_default="now"),
    ] = None,
    metadata: MetadataOption = None,
) -> None:
    """Store something that was said; exact repeats are counted."""
    values = metadata_of(metadata)
    said = text_or_input(content)
    identifier = with_kb(
        chosen,
        lambda kb: kb.remember(session, role, said, tag or (), user_id=user, timestamp=at, metadata=values),
        embedding=True,
        create=True,
    )
    print_either(chosen.json, {"memoryId": identifier}, identifier)


@commands.command("remember-all")
@with_common
def remember_all(
    chosen: Common,
    session: SessionArgument,
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE",
            help="Messages as a JSON array or JSON lines: objects with role, content and optionally tags, metadata,"
            " user_id, timestamp; - reads standard input.",
        ),
    ],
    user: UserOption = None,
) -> None:
    """Store all messages of a session, in order.

    Exact repeats are counted.
    """
    messages = objects_in(file)
    ids = with_kb(
        chosen,
        lambda kb: kb.remember_all(session, messages, user_id=user),
        embedding=True,
        create=True,
        doing="Remembering …",
    )
    print_either(chosen.json, {"memoryIds": ids}, f"Remembered: {counted(len(ids), 'message')}.")


@commands.command("list")
@with_common
def list_memories(
    chosen: Common,
    session: SessionArgument,
    limit: Annotated[int | None, typer.Option("-k", "--limit", metavar="N", help="Only the last N.")] = None,
    before: Annotated[
        str | None, typer.Option(metavar="ID", help="Only memories before this one: the first of the page before.")
    ] = None,
    compacted: Annotated[
        bool, typer.Option("--compacted", help="Also list memories that a summary has replaced.")
    ] = False,
) -> None:
    """List the memories of a session, in order."""
    found = with_kb(chosen, lambda kb: kb.memories(session, limit=limit, before=before, compacted=compacted))
    print_either(chosen.json, {"memories": [memory.to_dict() for memory in found]}, *_lines(found))


@commands.command()
@with_common
def recall(
    chosen: Common,
    query: Annotated[str, typer.Argument(help="What to search for; without it, the latest come first.")] = "",
    session: Annotated[str | None, typer.Option(metavar="SESSION", help="Only in this session.")] = None,
    user: UserOption = None,
    tag: Annotated[list[str] | None, typer.Option(metavar="TAG", help="Only what has this tag; repeatable.")] = None,
    since: Annotated[
        str | None, typer.Option(metavar="TIME", help="Only what was said at this time or later (ISO 8601).")
    ] = None,
    before: Annotated[str | None, typer.Option(metavar="TIME", help="Only what was said before this time.")] = None,
    filters: Annotated[
        str | None,
        typer.Option(
            "--filter", metavar="FILTER", help="Only what has such metadata, for example 'metadata.project=mill'."
        ),
    ] = None,
    limit: Annotated[int, typer.Option("-k", "--limit", metavar="N", help="Maximum number of memories.")] = 5,
) -> None:
    """Find what was said.

    In one session, of one user, or anywhere; at some time, or ever.
    """
    found = with_kb(
        chosen,
        lambda kb: kb.recall(
            session, query, limit, user_id=user, tags=tag, since=since, before=before, filters=filters
        ),
        embedding=True,
    )
    print_either(chosen.json, {"memories": [memory.to_dict() for memory in found]}, *_lines(found))


@commands.command()
@with_common
def revise(
    chosen: Common,
    memory: Annotated[str, typer.Argument(metavar="ID", help="The memory; list and recall print the id after each.")],
    content: Annotated[
        str | None, typer.Argument(help="What it says from now on; - reads it from standard input.")
    ] = None,
    tag: Annotated[
        list[str] | None, typer.Option(metavar="TAG", help="Instead of the tags that it has; repeatable.")
    ] = None,
    metadata: Annotated[
        list[str] | None,
        typer.Option(
            "--metadata", metavar="NAME=VALUE", help="Instead of the metadata that it has; JSON or text; repeatable."
        ),
    ] = None,
) -> None:
    """Correct a memory in place.

    It keeps its id, its time and its place in the session.
    """
    values = metadata_of(metadata)
    said = None if content is None else text_or_input(content)
    revised = with_kb(chosen, lambda kb: kb.revise(memory, said, tags=tag or None, metadata=values), embedding=True)
    print_either(chosen.json, revised.to_dict(), *_lines([revised]))


@commands.command()
@with_common
def forget(
    chosen: Common,
    session: Annotated[str | None, typer.Option(metavar="SESSION", help="Everything in this session.")] = None,
    memory: Annotated[str | None, typer.Option(metavar="ID", help="This memory.")] = None,
    user: UserOption = None,
    before: Annotated[
        str | None, typer.Option(metavar="TIME", help="Everything said before this time (ISO 8601).")
    ] = None,
    yes: YesOption = False,
) -> None:
    """Delete memories without a trace.

    Name a session, a memory, a user, or a time before which everything goes.
    """
    what = [
        *([f"of the session {session!r}"] if session is not None else []),
        *([f"of the user {user!r}"] if user is not None else []),
        *([f"said before {before}"] if before is not None else []),
    ]
    if before is not None:
        from core.rag.times import first_day, moment

        with telling_errors():  # before anybody is asked
            moment(first_day(before))
    if what and memory is None:
        confirm(f"Forget everything {' '.join(what)}?", yes=yes)
    gone = with_kb(chosen, lambda kb: kb.forget(session_id=session, memory_id=memory, user_id=user, before=before))
    # That nothing is older than a time is as it should be.
    print_forgotten(chosen, gone, named=before is None)


@commands.command()
@with_common
def compact(
    chosen: Common,
    session: SessionArgument,
    keep: Annotated[int, typer.Option(help="Leave the last N memories as they are.")] = 20,
) -> None:
    """Replace older memories with a summary."""
    summary = with_kb(chosen, lambda kb: kb.compact(session, keep), embedding=True)
    print_either(chosen.json, {"memoryId": summary}, summary or "There was nothing to compact.")


def print_forgotten(chosen: Common, gone: Forgotten, *, named: bool = True) -> None:
    """What was removed; ends the command where nothing was, though something was named."""
    counts = (
        counted(gone.memories, "memory", "memories"),
        counted(gone.sessions, "session"),
        counted(gone.users, "user"),
    )
    print_either(chosen.json, gone.to_dict(), f"Forgotten: {', '.join(counts)}.")
    if named and not any(gone.to_dict().values()):
        raise typer.Exit(EXIT_NOT_FOUND)


def _lines(memories: list[Memory]) -> list[str]:
    if not memories:
        return ["Nothing found."]
    lines = []
    for memory in memories:
        head = memory.session_id if memory.relevance is None else f"{memory.relevance:.2f}  {memory.session_id}"
        said = memory.last_said_at[:16].replace("T", " ")
        times = f"  x{memory.count}" if memory.count > 1 else ""
        role = f"{memory.role} ({memory.user_id})" if memory.user_id else memory.role
        why = memory.because
        near = f", {why.reason} {why.memory_id}" if why and why.memory_id else ""
        # Its id is what forget --memory takes.
        lines.append(f"{head}  {said}  {role}{times}  {' '.join(memory.content.split())}  ({memory.id}{near})")
    return "\n".join(lines).split("\n")  # the id of a session may have several
