"""``mgrag search``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from mgrag.cli.runtime import DbOption, JsonOption, NamespaceOption, console, graph, open_kb, print_json, run

if TYPE_CHECKING:
    from core.rag.retrieval.hits import Hit
    from mgrag.cli.runtime import Graph

_SHOWN_CHARS = 300


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(search)


def search(
    context: typer.Context,
    query: Annotated[str, typer.Argument(help="What to look for.")],
    k: Annotated[int, typer.Option("-k", "--limit", help="At most this many hits.")] = 5,
    mode: Annotated[str, typer.Option(help="hybrid, vector, keyword or fuzzy.")] = "hybrid",
    filters: Annotated[
        str | None, typer.Option("--filter", metavar="FILTER", help="Such as 'path:docs/ mime:text/html'.")
    ] = None,
    expand: Annotated[int, typer.Option(metavar="N", help="Add N neighbouring chunks on either side.")] = 0,
    model: Annotated[str | None, typer.Option(metavar="NAME", help="Embedding model.")] = None,
    db: DbOption = None,
    namespace: NamespaceOption = None,
    as_json: JsonOption = False,
) -> None:
    """Find passages by words, by meaning, or by both."""
    where = graph(context, db, namespace)
    hits = run(lambda: _search(where, model, query, k, mode, filters, expand))
    if as_json:
        print_json([hit.to_dict() for hit in hits])
    else:
        show_hits(hits)


async def _search(
    where: Graph, model: str | None, query: str, k: int, mode: str, filters: str | None, expand: int
) -> list[Hit]:
    async with open_kb(where, model=model) as kb:
        return await kb.search(query, k, mode, filters=filters, expand=expand)  # type: ignore[arg-type]


def show_hits(hits: list[Hit]) -> None:
    """Print hits for people."""
    from rich.text import Text

    out = console()
    if not hits:
        out.print("Nothing found.")
    for number, hit in enumerate(hits, 1):
        head = Text(f"{number}. ", style="bold")
        head.append(hit.path, style="bold cyan")
        if hit.heading:
            head.append(f"  {hit.heading}", style="green")
        head.append(f"  {hit.score:.3f}", style="magenta")
        out.print(head)
        text = " ".join(hit.content.split())
        out.print(Text("   " + (text if len(text) <= _SHOWN_CHARS else text[: _SHOWN_CHARS - 1] + "…")))
