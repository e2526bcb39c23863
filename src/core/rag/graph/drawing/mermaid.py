"""A piece of the graph as a Mermaid flowchart (https://mermaid.js.org/syntax/flowchart.html)."""

from __future__ import annotations

import re

from core.rag.graph.drawing.texts import printable
from core.rag.graph.parts import Piece

_MAX_CHARS = 100
#: The grammar looks for this statement anywhere in a line, between quotes, too.
_DIRECTION = re.compile(r"direction(?=\s)", re.IGNORECASE)


def to_mermaid(piece: Piece) -> str:
    """A flowchart, valid whatever names contain.

    Returns:
        Lines, the last one ended, too.
    """
    nodes = (piece.start, *piece.nodes)
    short = {node.id: f"n{number}" for number, node in enumerate(nodes)}
    lines = ["flowchart LR", *(f'    {short[node.id]}["{_text(node.name)}"]' for node in nodes)]
    for edge in piece.edges:
        if edge.source in short and edge.target in short:
            arrow = "---" if edge.type == "RELATED_TO" else "-->"
            said = "" if edge.type == "RELATED_TO" else f'|"{_text(edge.type)}"|'
            lines.append(f"    {short[edge.source]} {arrow}{said} {short[edge.target]}")
    lines.append(f"    style {short[piece.start.id]} stroke-width:3px")
    return "\n".join(lines) + "\n"


def _text(text: str) -> str:
    """Text inside of quotes, not empty: everything but letters, digits and spaces as a character code."""
    flat = printable(text)
    shown = flat if len(flat) <= _MAX_CHARS else flat[: _MAX_CHARS - 1] + "…"
    coded = "".join(c if c.isalnum() or c == " " else f"#{ord(c)};" for c in shown) or "?"
    return _DIRECTION.sub(lambda found: f"#{ord(found[0][0])};{found[0][1:]}", coded)
