"""``mgrag feedback``, ``mgrag user`` and ``mgrag conversation``: users, their ratings, and what they said."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mgrag.cli.memory import print_forgotten
from mgrag.cli.options import AfterOption, Common, YesOption, with_common
from mgrag.cli.output import counted, line, minute, note, print_either, print_json, table
from mgrag.cli.runtime import EXIT_NOT_FOUND, confirm, fail, with_kb

if TYPE_CHECKING:
    from core.rag.knowledge_base import KnowledgeBase

users = typer.Typer(help="List users; see, export, anonymize or delete data about one.", no_args_is_help=True)
conversations = typer.Typer(help="List, show, rename, anonymize or delete conversations.", no_args_is_help=True)

UserArgument = Annotated[str, typer.Argument(metavar="USER", help="The id of the user.")]
ConversationArgument = Annotated[str, typer.Argument(metavar="ID", help="The id of the conversation or session.")]
RegionOption = Annotated[
    str | None,
    typer.Option(metavar="CODE", help="Country of phone numbers without a country code, such as DE."),
]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command(context_settings={"ignore_unknown_options": True})(feedback)  # -0.5 is a rating
    app.add_typer(users, name="user")
    app.add_typer(conversations, name="conversation")


@with_common
def feedback(
    chosen: Common,
    target: Annotated[str, typer.Argument(help="Id of a chunk, or path, URL or id of a document.")],
    value: Annotated[
        float, typer.Argument(min=-1, max=1, help="From -1 (wrong) to 1 (exactly right); 0 withdraws a rating.")
    ],
    query: Annotated[str | None, typer.Option(metavar="TEXT", help="The question that it was found for.")] = None,
    user: Annotated[str | None, typer.Option("--user", metavar="ID", help="User who gives the rating.")] = None,
) -> None:
    """Rate how helpful a passage was.

    Ratings influence later rankings gently, and never hide a perfect match.
    """
    chunks = with_kb(chosen, lambda kb: kb.feedback(target, value, query, user))
    print_either(chosen.json, {"chunk_ids": chunks}, f"Rated: {counted(len(chunks), 'chunk')}.")


@users.command("list")
@with_common
def list_users(
    chosen: Common,
    limit: Annotated[int, typer.Option("-k", "--limit", metavar="N", help="Maximum number of users.")] = 50,
    after: AfterOption = "",
) -> None:
    """List the users of whom anything is stored, by id."""
    found = with_kb(chosen, lambda kb: kb.users(limit, after=after))
    if chosen.json:
        print_json(found)
    elif not found:
        line("No users.")
    else:
        rows = [[str(row["conversations"]), minute(row["updated_at"]), row["id"], row["name"] or ""] for row in found]
        table(["CONVERSATIONS", "CHANGED (UTC)", "ID", "NAME"], rows)
        if len(found) >= limit:
            note(f"There may be more: --after {shlex.quote(found[-1]['id'])}")


@users.command()
@with_common
def history(chosen: Common, user: UserArgument) -> None:
    """List the documents that a user viewed, latest first."""

    async def history_of(kb: KnowledgeBase) -> list[dict[str, Any]]:
        found = await kb.history(user)
        if not found:
            await kb.export_user(user)  # an error, if nothing is known of them
        return found

    viewed = with_kb(chosen, history_of)
    if chosen.json:
        print_json(viewed)
    elif not viewed:
        line("No viewed documents.")
    else:
        table(
            ["VIEWS", "LAST (UTC)", "PATH"],
            [[str(row["count"]), minute(row["last_at"]), row["path"]] for row in viewed],
        )


@users.command()
@with_common
def export(chosen: Common, user: UserArgument) -> None:
    """Print everything stored about a user, as JSON."""
    print_json(with_kb(chosen, lambda kb: kb.export_user(user)))


@users.command("forget")
@with_common
def forget_user(chosen: Common, user: UserArgument, yes: YesOption = False) -> None:
    """Delete every trace of a user.

    This covers sessions, what they said elsewhere, views, ratings and the user itself.
    """
    confirm(f"Forget everything of the user {user!r}?", yes=yes)
    print_forgotten(chosen, with_kb(chosen, lambda kb: kb.forget(user_id=user)))


@users.command("anonymize")
@with_common
def anonymize_user(chosen: Common, user: UserArgument, region: RegionOption = None, yes: YesOption = False) -> None:
    """Anonymize what a user said.

    Names, addresses and numbers are replaced, and the link to the user is removed.
    """
    confirm(f"Anonymize everything that the user {user!r} said? It cannot be undone.", yes=yes)
    _print_anonymized(chosen, with_kb(chosen, lambda kb: kb.anonymize(user_id=user, region=region), embedding=True))


@conversations.command("list")
@with_common
def list_conversations(
    chosen: Common,
    user: Annotated[str | None, typer.Option("--user", metavar="ID", help="Only conversations of this user.")] = None,
    limit: Annotated[int, typer.Option("-k", "--limit", metavar="N", help="Maximum number of conversations.")] = 50,
    after: AfterOption = "",
) -> None:
    """List conversations, most recently changed first."""
    found = with_kb(chosen, lambda kb: kb.client.list_conversations(user, limit, after=after))
    if chosen.json:
        print_json(found)
    elif not found:
        line("No conversations.")
    else:
        rows = [
            [
                str(row["message_count"]),
                minute(row["updated_at"]),
                row["id"],
                row["user_id"] or "-",
                row["title"] or row["beginning"],
            ]
            for row in found
        ]
        table(["MESSAGES", "CHANGED (UTC)", "ID", "USER", "TITLE"], rows)
        if len(found) >= limit:
            from core.rag.dbhandler.messages.rows import mark_of

            note(f"There may be more: --after {shlex.quote(mark_of(found[-1]))}")


@conversations.command("show")
@with_common
def show_conversation(
    chosen: Common,
    conversation: ConversationArgument,
    limit: Annotated[int | None, typer.Option("-k", "--limit", metavar="N", help="Only the last N messages.")] = None,
) -> None:
    """Print the messages of a conversation, in order.

    What they refer to is listed with them.
    """
    found, messages = with_kb(chosen, lambda kb: _conversation(kb, conversation, limit))
    if chosen.json:
        print_json({**found, "messages": messages})
        return
    line((found["title"] or found["id"], "bold"))
    for message in messages:
        said_by = f" ({message['user_id']})" if message["user_id"] else ""
        cut = "  (cut off)" if message["role"] == "assistant" and message["metadata"].get("cut") else ""
        line((f"{minute(message['timestamp'])}  {message['role']}{said_by}{cut}", "cyan"))
        for text in message["content"].splitlines():
            line("  ", text.expandtabs(4))
        for reference in message["references"]:
            line("  -> ", reference)


@conversations.command("rename")
@with_common
def rename_conversation(
    chosen: Common,
    conversation: ConversationArgument,
    title: Annotated[str, typer.Argument(metavar="TITLE", help="What it is called from now on.")],
) -> None:
    """Give a conversation a title."""

    async def work(kb: KnowledgeBase) -> dict[str, Any]:
        await kb.client.rename_conversation(conversation, title)
        return (await _conversation(kb, conversation, 1))[0]

    found = with_kb(chosen, work)
    print_either(chosen.json, found, f"Renamed: {found['title']}")


@conversations.command("delete")
@with_common
def delete_conversation(chosen: Common, conversation: ConversationArgument, yes: YesOption = False) -> None:
    """Delete a conversation with everything in it."""
    found, _ = with_kb(chosen, lambda kb: _conversation(kb, conversation, 1))
    messages = counted(found["message_count"], "message")
    confirm(f"Delete the conversation {found['title'] or conversation!r} ({messages})?", yes=yes)
    gone = with_kb(chosen, lambda kb: kb.forget(session_id=conversation))
    print_either(chosen.json, gone.to_dict(), f"Deleted: {counted(gone.memories, 'message')}.")


@conversations.command("anonymize")
@with_common
def anonymize_conversation(
    chosen: Common,
    conversation: ConversationArgument,
    region: RegionOption = None,
    yes: YesOption = False,
) -> None:
    """Anonymize a conversation.

    Names, addresses and numbers are replaced, and the link to its user is removed.
    """
    confirm(f"Anonymize the conversation {conversation!r}? It cannot be undone.", yes=yes)
    _print_anonymized(
        chosen,
        with_kb(chosen, lambda kb: kb.anonymize(conversation_id=conversation, region=region), embedding=True),
    )


async def _conversation(kb: KnowledgeBase, conversation: str, limit: int | None) -> tuple[dict[str, Any], list[Any]]:
    found = await kb.client.find_conversation(conversation)
    if found is None:
        fail(f"There is no conversation {conversation!r} in namespace {kb.namespace!r}.", EXIT_NOT_FOUND)
    return found, await kb.client.get_conversation_messages(conversation, limit)


def _print_anonymized(chosen: Common, report: dict[str, Any]) -> None:
    kinds = ", ".join(f"{count} x {kind}" for kind, count in report["replaced"].items()) or "nothing"
    done = f"Anonymized: {counted(len(report['conversations']), 'conversation')}; replaced: {kinds}."
    print_either(chosen.json, report, done, *report["conversations"])
