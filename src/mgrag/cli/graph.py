"""``mgrag graph``: explores and draws the entity graph; what edits it is in :mod:`mgrag.cli.graph_editing`."""

from __future__ import annotations

import shlex
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mgrag.cli import graph_editing, graph_extract
from mgrag.cli.options import AfterOption, AtOption, Common, target_file, with_common, write_file
from mgrag.cli.output import counted, line, note, print_json, table
from mgrag.cli.runtime import EXIT_FAILED, EXIT_NOT_FOUND, EXIT_USAGE, fail, with_kb

if TYPE_CHECKING:
    from core.rag.graph.parts import GraphEdge, GraphNode, NeighbourPage, Piece
    from core.rag.knowledge_base import KnowledgeBase


class Sorting(StrEnum):
    """The order of a list of entities."""

    MENTIONS = "mentions"
    NAME = "name"


class Direction(StrEnum):
    """Which edges are followed."""

    BOTH = "both"
    OUT = "out"
    IN = "in"


commands = typer.Typer(help="Explore and edit entities and their connections.", no_args_is_help=True)

NodeArgument = Annotated[
    str,
    typer.Argument(
        metavar="NAME", help="Name or id of an entity, concept, topic or symbol, or the path of a document."
    ),
]
LimitOption = Annotated[int, typer.Option("-k", "--limit", metavar="N", help="Maximum number to list.")]
EdgeOption = Annotated[
    list[str] | None,
    typer.Option(
        "--edge-type", metavar="TYPE", help="Follow only these edges, such as RELATED or MENTIONS; repeatable."
    ),
]
RelationOption = Annotated[
    list[str] | None,
    typer.Option(
        "--relation", metavar="TYPE", help="Follow only edges of this relation, such as works_at; repeatable."
    ),
]
DepthOption = Annotated[int, typer.Option(metavar="STEPS", help="Maximum distance from the node, in edges.")]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    graph_editing.register(commands)
    graph_extract.register(commands)
    app.add_typer(commands, name="graph")


@commands.command()
@with_common
def stats(chosen: Common) -> None:
    """Count entities and their edges, by type."""
    found = with_kb(chosen, lambda kb: kb.graph_stats()).to_dict()
    if chosen.json:
        print_json(found)
        return
    of_type = (("nodes", "entity", "entities", "type"), ("edges", "edge", "edges", "relation"))
    for key, one, several, by in of_type:
        line(f"{counted(found[key], one, several)} by {by}:")
        for kind, count in sorted(found[f"{key}_by_type"].items(), key=lambda item: (-item[1], item[0])):
            line(f"  {count:>8,}  {kind}")
    if found["past"]:
        line(f"{counted(found['past'], 'fact')} of other times: mgrag graph edges --at ever")
    rest = ("mentions", "records", "concepts", "concept_edges", "topics")
    line(", ".join(counted(found[key], key.removesuffix("s").replace("_", " ")) for key in rest))


@commands.command()
@with_common
def entities(
    chosen: Common,
    query: Annotated[str | None, typer.Argument(help="Words in the name. Default: list all entities.")] = None,
    kind: Annotated[str | None, typer.Option("--type", metavar="TYPE", help="Only entities of this type.")] = None,
    sort: Annotated[Sorting, typer.Option(help="The order of a list of all entities.")] = Sorting.MENTIONS,
    limit: LimitOption = 20,
    after: AfterOption = "",
) -> None:
    """List entities, the most mentioned first.

    Or find them by words in their names.
    """

    async def work(kb: KnowledgeBase) -> tuple[list[GraphNode], str]:
        if query is None:
            return await kb.entities(type=kind, limit=limit, after=after, order=sort.value)
        return await kb.search_nodes(query, limit, type=kind), ""

    nodes, following = with_kb(chosen, work)
    if chosen.json:
        print_json({"nodes": [node.to_dict() for node in nodes], "next": following})
    elif nodes:
        table(["MENTIONS", "TYPE", "NAME"], [[str(n.mentions or 0), n.type or n.label, n.name] for n in nodes])
        _more(following)
    else:
        line("Nothing found.")


@commands.command()
@with_common
def neighbors(
    chosen: Common,
    name: NodeArgument,
    edge_type: EdgeOption = None,
    relation: RelationOption = None,
    limit: LimitOption = 20,
    after: AfterOption = "",
    at: AtOption = None,
) -> None:
    """List the neighbours of a node by name, in pages."""

    async def work(kb: KnowledgeBase) -> list[NeighbourPage]:
        page = await kb.neighbors(name, edge_types=edge_type, relations=relation, limit=limit, after=after, at=at)
        if chosen.json or after or edge_type or relation or at:
            return [page]
        # What code defines comes before the texts that mention a word.
        return [*[await kb.neighbors(node.id, limit=limit) for node in page.symbols], page]

    pages = with_kb(chosen, work)
    if chosen.json:
        print_json(pages[0].to_dict())
        return
    for page in pages:
        names = {page.node.id: page.node.name, **{node.id: node.name for node in page.nodes}}
        line((page.node.name, "bold"), f"  {page.node.type or page.node.label}, {counted(page.degree, 'edge')}")
        for edge in page.edges:
            _say(edge, names)
        if page is pages[-1]:
            _more(page.next)
        elif page.next:
            note(f"mgrag: There is more: mgrag graph neighbors {page.node.id}")


@commands.command()
@with_common
def edges(
    chosen: Common,
    relation: Annotated[str | None, typer.Option(metavar="TYPE", help="Only edges with this relation.")] = None,
    limit: LimitOption = 20,
    after: AfterOption = "",
    at: AtOption = None,
) -> None:
    """List the edges between entities, in pages."""
    page = with_kb(chosen, lambda kb: kb.edges(relation=relation, limit=limit, after=after, at=at))
    if chosen.json:
        print_json(page.to_dict())
        return
    for edge in page.edges:
        _say(edge, page.names)
    if not page.edges:
        line("Nothing found.")
    _more(page.next)


@commands.command()
@with_common
def path(
    chosen: Common,
    start: Annotated[str, typer.Argument(help="Name or id of the first node.")],
    end: Annotated[str, typer.Argument(help="Name or id of the second node.")],
    weighted: Annotated[
        bool, typer.Option("--weighted", help="Let each edge count 1 / weight, so that heavy edges are short.")
    ] = False,
    depth: Annotated[int, typer.Option(metavar="STEPS", help="Maximum number of edges in the path.")] = 6,
    edge_type: EdgeOption = None,
    relation: RelationOption = None,
    at: AtOption = None,
) -> None:
    """Find a shortest path between two nodes."""
    found = with_kb(
        chosen,
        lambda kb: kb.shortest_path(
            start, end, weighted=weighted, max_depth=depth, edge_types=edge_type, relations=relation, at=at
        ),
    )
    if chosen.json:
        print_json(None if found is None else found.to_dict())
    elif found is not None:
        line(" - ".join(node.name for node in found.nodes))
        for edge in found.edges:
            _say(edge, {node.id: node.name for node in found.nodes})
    if found is None:
        fail(f"There is no path of at most {counted(depth, 'edge')} from {start!r} to {end!r}.", EXIT_NOT_FOUND)


@commands.command()
@with_common
def show(
    chosen: Common,
    name: NodeArgument,
    html: Annotated[
        Path | None,
        typer.Option(metavar="FILE", parser=target_file, help="Write a self-contained web page."),
    ] = None,
    mermaid: Annotated[
        Path | None,
        typer.Option(metavar="FILE", parser=target_file, help="Write a Mermaid flowchart; - is standard output."),
    ] = None,
    graphml: Annotated[
        Path | None, typer.Option(metavar="FILE", parser=target_file, help="Write GraphML; - is standard output.")
    ] = None,
    depth: DepthOption = 2,
    edge_type: EdgeOption = None,
    relation: RelationOption = None,
    direction: Annotated[
        Direction, typer.Option(help="Follow edges that lead away from a node (out), to it (in), or both.")
    ] = Direction.BOTH,
    at: AtOption = None,
    limit: LimitOption = 100,
) -> None:
    """Show the graph around a node, as text or as a picture."""
    targets = {"html": html, "mermaid": mermaid, "graphml": graphml}
    wanted = {kind: target for kind, target in targets.items() if target is not None}
    to_output = [target for target in wanted.values() if str(target) == "-"]
    if str(html) == "-" or len(to_output) > 1 or (to_output and chosen.json):
        fail("Standard output takes one of Mermaid, GraphML and JSON; give files for the others.", EXIT_USAGE)

    async def work(kb: KnowledgeBase) -> tuple[Piece, list[GraphNode]]:
        piece = await kb.traverse(
            name,
            depth,
            edge_types=edge_type,
            relations=relation,
            direction=direction.value,
            limit=limit,
            induced=True,
            at=at,
        )
        return piece, (await kb.neighbors(name, limit=1)).symbols

    piece, symbols = with_kb(chosen, work)
    for kind, target in wanted.items():
        _write(kind, target, piece)
    if chosen.json:
        print_json({**piece.to_dict(), "files": {kind: str(target) for kind, target in wanted.items()}})
    elif not wanted:
        line((piece.start.name, "bold"), f"  {piece.start.type or piece.start.label}")
        for edge in piece.edges:
            _say(edge, piece.names)
    if piece.truncated:
        note("mgrag: There is more than this: raise --limit, or see mgrag graph neighbors.")
    for symbol in symbols:  # what texts mention under a name comes first
        note(f"mgrag: {symbol.name} is also a {symbol.type} in source code: mgrag graph show {symbol.id}")


def _write(kind: str, target: Path, piece: Piece) -> None:
    from core.rag.graph.drawing.graphml import to_graphml
    from core.rag.graph.drawing.html import to_html
    from core.rag.graph.drawing.mermaid import to_mermaid

    text = {"html": to_html, "mermaid": to_mermaid, "graphml": to_graphml}[kind](piece)
    if kind == "mermaid" and (left_out := len(piece.nodes) + 1 - text.count('["')):
        note(f"mgrag: The diagram leaves out {counted(left_out, 'node')}: Mermaid would draw nothing of a larger one.")
    if str(target) == "-":
        for part in text.splitlines():
            line(part)
        return
    try:
        write_file(target, text)
    except OSError as error:
        fail(f"{target} cannot be written: {error.strerror or error}.", EXIT_FAILED)
    note(f"mgrag: {target} written.")


def _say(edge: GraphEdge, names: dict[str, str]) -> None:
    ends = names.get(edge.source, edge.source), names.get(edge.target, edge.target)
    by_hand = "  (by hand)" if edge.origin == "caller" else ""
    line(f"  {ends[0]} -> ", (edge.said, "green"), f" -> {ends[1]}{by_hand}")


def _more(following: str) -> None:
    if following:
        note(f"mgrag: There are more: --after {shlex.quote(following)}")
