"""``mgrag list``, ``show`` and ``delete``."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mgrag.cli.options import Common, FilterOption, YesOption, with_common
from mgrag.cli.output import as_text, counted, line, minute, note, print_either, print_json, table
from mgrag.cli.runtime import EXIT_NOT_FOUND, EXIT_USAGE, confirm, fail, tell_filter, with_kb
from mgrag.cli.search import place

if TYPE_CHECKING:
    from core.rag.knowledge_base import KnowledgeBase

_EXAMPLES = 3


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command(name="list")(list_documents)
    app.command()(show)
    app.command()(delete)


@with_common
def list_documents(
    chosen: Common,
    prefix: Annotated[str, typer.Option(metavar="PATH", help="Only documents whose path starts with this.")] = "",
    limit: Annotated[
        int | None, typer.Option("-k", "--limit", metavar="N", help="Maximum number of documents. Default: all.")
    ] = None,
    after: Annotated[
        str, typer.Option(metavar="PATH", help="Start after this path (the last one of the previous page).")
    ] = "",
) -> None:
    """List the documents, sorted by path."""
    found = with_kb(chosen, lambda kb: kb.documents(prefix=prefix, limit=limit, after=after))
    if chosen.json:
        print_json(found)
        return
    if not found:
        line("No documents.")
        return
    rows = [
        [
            str(document["chunk_count"]),
            minute(document["updated_at"]),
            document["path"],
            ", ".join(source["name"] for source in document["sources"]),
        ]
        for document in found
    ]
    table(["CHUNKS", "UPDATED (UTC)", "PATH", "SOURCE"], rows)
    if limit is not None and len(found) >= limit:
        note(f"There may be more: --after {shlex.quote(found[-1]['path'])}")


@with_common
def show(
    chosen: Common,
    path: Annotated[str, typer.Argument(help="Path, URL or id of a document, or its file name or title.")],
    chunks: Annotated[bool, typer.Option("--chunks", help="Also print the text of every chunk.")] = False,
) -> None:
    """Show a document with its metadata, links and chunks."""
    found = with_kb(chosen, lambda kb: kb.show(path))
    if not chosen.json:
        _print(found, with_text=chunks)
        return
    if not chunks:
        for chunk in found["chunks"]:
            del chunk["content"]
    print_json(found)


def _print(document: dict[str, Any], *, with_text: bool) -> None:
    line((document["title"], "bold"))
    facts = {
        "path": document["path"],
        "id": document["id"],
        "type": document["mime_type"],
        "source": ", ".join(source["uri"] for source in document["sources"]),
        "created": document["created_at"],
        "updated": document["updated_at"],
        "text": f"{len(document['content']):,} characters",
        **{f"metadata.{key}": as_text(value) for key, value in document["metadata"].items()},
    }
    for name, value in facts.items():
        if value:
            line((f"  {name:<10} ", "cyan"), value)
    for link in document["references"]:
        line(("  refers to  ", "cyan"), link["target"])
    line()
    if not document["chunks"]:
        line("No chunks.")
    for chunk in document["chunks"]:
        parts = [chunk["heading"], place(chunk["metadata"]), f"characters {chunk['start_char']}-{chunk['end_char']}"]
        line((f"{chunk['chunk_index']:>4}  ", "bold"), "  ".join(part for part in parts if part))
        if with_text:
            for text in chunk["content"].splitlines():
                line("      ", text.expandtabs(4))


@with_common
def delete(
    chosen: Common,
    paths: Annotated[
        list[str] | None,
        typer.Argument(metavar="PATH", help="Full paths or URLs of documents, as printed by mgrag list, or ids."),
    ] = None,
    prefix: Annotated[str, typer.Option(metavar="PATH", help="All documents whose path starts with this.")] = "",
    source: Annotated[str, typer.Option(metavar="NAME", help="All documents from this source (name or URI).")] = "",
    filters: FilterOption = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only list what would be deleted, with --prefix, --source or --filter.")
    ] = False,
    yes: YesOption = False,
) -> None:
    """Delete documents with their chunks and vectors.

    Whatever nothing else refers to goes with them.
    """
    if sum(map(bool, (paths, prefix, source, filters))) != 1 or (paths and dry_run):
        fail("Give documents, --prefix, --source or --filter: exactly one of these.", EXIT_USAGE)
    if paths:
        result = with_kb(chosen, lambda kb: _delete_each(kb, list(dict.fromkeys(paths))))
    else:
        found = with_kb(chosen, lambda kb: _matching(kb, prefix, source, filters))
        if not found:
            which = (
                "whose path starts with this" if prefix else "of this source" if source else "that passes this filter"
            )
            fail(f"There is no document {which}.", EXIT_NOT_FOUND)
        if dry_run:
            _print_matching(chosen, [row["path"] for row in found])
            return
        examples = ", ".join(row["path"] for row in found[:_EXAMPLES]) + (" …" if len(found) > _EXAMPLES else "")
        confirm(f"Delete {counted(len(found), 'document')} ({examples})?", yes=yes)
        with_kb(chosen, lambda kb: kb.delete_all([row["id"] for row in found]), doing="Deleting …")
        result = {"deleted": [row["path"] for row in found], "missing": []}
    print_either(chosen.json, result, f"Deleted: {counted(len(result['deleted']), 'document')}.")
    if result["missing"]:
        raise typer.Exit(EXIT_NOT_FOUND)


async def _matching(kb: KnowledgeBase, prefix: str, source: str, filters: str | None) -> list[dict[str, Any]]:
    found = await kb.matching(prefix=prefix, source=source, filters=filters)
    if not found:
        await tell_filter(kb, filters)
    return found


def _print_matching(chosen: Common, paths: list[str]) -> None:
    if chosen.json:
        print_json({"matching": paths})
        return
    for path in paths:
        line(path)
    note(f"{counted(len(paths), 'document')} would be deleted.")


async def _delete_each(kb: KnowledgeBase, paths: list[str]) -> dict[str, list[str]]:
    from core.rag.errors import NotFoundError

    result: dict[str, list[str]] = {"deleted": [], "missing": []}
    for path in paths:
        try:
            why = "" if await kb.delete(path) else await kb.explain_missing(path)
        except NotFoundError as error:  # several have it; the others of the command are deleted nevertheless
            why = str(error)
        result["missing" if why else "deleted"].append(path)
        if why:
            note(f"mgrag: {why}")
    return result
