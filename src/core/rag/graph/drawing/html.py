"""Writes a part of the graph as one HTML page, readable without JavaScript and interactive with it.

Nothing is loaded from anywhere. The page carries a policy under which only its own script runs, told by its hash, so
that a name from a document never could.
"""

from __future__ import annotations

import base64
import hashlib
import json
import math
from collections.abc import Mapping
from html import escape
from importlib.resources import files
from string import Template

from core.rag.graph.drawing.layout import Point, places
from core.rag.graph.drawing.texts import printable
from core.rag.graph.parts import GraphNode, Piece

_SHOWN_CHARS = 40

#: Room for a node, in pixels squared, and the least width and height of the drawing.
_AREA = 16_000
_LEAST = 480
_MARGIN = 70

#: Paul Tol's "muted" colours: told apart by colour-blind people, too.
_COLOURS = (
    "#332288",
    "#117733",
    "#882255",
    "#88ccee",
    "#ddcc77",
    "#cc6677",
    "#44aa99",
    "#aa4499",
    "#999933",
    "#777777",
)


def to_html(piece: Piece) -> str:
    """Return a whole page, in UTF-8."""
    here = files(__package__)
    script = here.joinpath("page.js").read_text(encoding="utf-8")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    nodes = (piece.start, *piece.nodes)
    width = height = max(_LEAST, round(math.sqrt(_AREA * len(nodes)))) + 2 * _MARGIN
    size = width - 2 * _MARGIN
    at = {key: (size * x + _MARGIN, size * y + _MARGIN) for key, (x, y) in places(piece).items()}
    points = {key: (round(x, 1), round(y, 1)) for key, (x, y) in at.items()}
    colours = _colours(nodes)
    return Template(here.joinpath("page.html").read_text(encoding="utf-8")).substitute(
        digest=digest,
        style=here.joinpath("page.css").read_text(encoding="utf-8"),
        script=script,
        title=escape(printable(piece.start.name)),
        summary=escape(_summary(piece)),
        width=width,
        height=height,
        edges=_edges(piece, points),
        nodes="\n".join(_node(node, points[node.id], colours[_kind(node)], node is piece.start) for node in nodes),
        legend="\n".join(
            f'<li><span style="background:{colour}"></span>{escape(kind)}</li>' for kind, colour in colours.items()
        ),
        data=_data(piece),
    )


def _summary(piece: Piece) -> str:
    shown = f"{len(piece.nodes) + 1} nodes, {len(piece.edges)} edges"
    return f"{shown}; there is more in the graph than is drawn here" if piece.truncated else shown


def _kind(node: GraphNode) -> str:
    return printable(node.type) or node.label


def _colours(nodes: tuple[GraphNode, ...]) -> dict[str, str]:
    """Return a colour for each kind, the most frequent first; those beyond the palette share the last one."""
    count: dict[str, int] = {}
    for node in nodes:
        count[_kind(node)] = count.get(_kind(node), 0) + 1
    ranked = sorted(count, key=lambda kind: (-count[kind], kind))
    return {kind: _COLOURS[min(number, len(_COLOURS) - 1)] for number, kind in enumerate(ranked)}


def _node(node: GraphNode, point: Point, colour: str, is_start: bool) -> str:
    name = printable(node.name)
    shown = name if len(name) <= _SHOWN_CHARS else name[: _SHOWN_CHARS - 1] + "…"
    return (
        f'<g class="node{" start" if is_start else ""}" data-id="{escape(node.id)}" tabindex="0" role="button" '
        f'transform="translate({point[0]} {point[1]})"><title>{escape(name)} ({escape(_kind(node))})</title>'
        f'<circle r="{11 if is_start else 7}" fill="{colour}"/><text x="13" y="4">{escape(shown)}</text></g>'
    )


def _edges(piece: Piece, points: Mapping[str, Point]) -> str:
    lines = []
    for number, edge in enumerate(piece.edges):
        if edge.source in points and edge.target in points:
            (x1, y1), (x2, y2) = points[edge.source], points[edge.target]
            arrow = "" if edge.type == "RELATED_TO" else ' marker-end="url(#arrow)"'
            lines.append(
                f'<line data-edge="{number}" x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}"{arrow}>'
                f"<title>{escape(printable(edge.said))}</title></line>"
            )
    return "\n".join(lines)


def _data(piece: Piece) -> str:
    """Return what the script needs, as JSON that no HTML parser takes for anything else."""
    nodes = {node.id: {"name": printable(node.name), "kind": _kind(node)} for node in (piece.start, *piece.nodes)}
    edges = [{"source": edge.source, "target": edge.target, "says": printable(edge.said)} for edge in piece.edges]
    text = json.dumps({"start": piece.start.id, "nodes": nodes, "edges": edges}, ensure_ascii=True)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
