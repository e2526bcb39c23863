"""A piece of the graph as a Mermaid flowchart (https://mermaid.js.org/syntax/flowchart.html), and labels for any."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping

from core.rag.dbhandler.knowledge.periods import Period
from core.rag.graph.drawing.texts import printable
from core.rag.graph.parts import GraphEdge, Piece
from libs.regexes import regex

MAX_LABEL_CHARS = 100
#: Mermaid draws nothing of a larger diagram, unless the page sets other limits; a diagram cannot set them itself.
MAX_EDGES = 499
MAX_TEXT_CHARS = 50_000
#: The grammar looks for this statement anywhere in a line, between quotes, too.
_DIRECTION = regex(r"direction(?=\s)", re.IGNORECASE)


def to_mermaid(piece: Piece) -> str:
    """Return a flowchart that is valid whatever names contain, and not too large for Mermaid.

    Returns:
        Lines, the last one ended, too. If Mermaid does not draw all nodes, those behind the first that is too many are
        left out.
    """
    edges_of: dict[str, list[GraphEdge]] = defaultdict(list)
    for edge in piece.edges:
        edges_of[edge.source].append(edge)
        if edge.target != edge.source:
            edges_of[edge.target].append(edge)
    short: dict[str, str] = {}
    style = "    style n0 stroke-width:3px"
    boxes = ["flowchart LR"]
    arrows: list[str] = []
    room = MAX_TEXT_CHARS - len(boxes[0]) - len(style) - 2
    for node in (piece.start, *piece.nodes):
        short[node.id] = f"n{len(short)}"
        box = f'    {short[node.id]}["{mermaid_label(node.name)}"]'
        more = [_arrow(edge, short) for edge in edges_of[node.id] if edge.source in short and edge.target in short]
        room -= sum(len(line) + 1 for line in (box, *more))
        if room < 0 or len(arrows) + len(more) > MAX_EDGES:
            break
        boxes.append(box)
        arrows += more
    return "\n".join([*boxes, *arrows, style]) + "\n"


def _arrow(edge: GraphEdge, short: Mapping[str, str]) -> str:
    arrow, said = ("---", "") if edge.type == "RELATED_TO" else ("-->", f'|"{mermaid_label(_said(edge))}"|')
    return f"    {short[edge.source]} {arrow}{said} {short[edge.target]}"


def _said(edge: GraphEdge) -> str:
    period = str(Period(edge.valid_from, edge.valid_to))
    return f"{edge.type} ({period})" if period else edge.type


def mermaid_label(text: str, max_chars: int = MAX_LABEL_CHARS) -> str:
    """Return a text that can stand between double quotes in a diagram.

    Letters and digits of any script stay; every other character becomes an entity code such as ``#34;``, which is
    shown as the character. What cannot be shown (control characters, half characters) is left out.

    Args:
        text: Any text.
        max_chars: Longer ones are cut.

    Returns:
        The label; ``?`` where nothing can be shown.
    """
    shown = printable(text)
    if len(shown) > max_chars:
        shown = shown[: max_chars - 1].rstrip() + "…"
    coded = "".join(map(_encoded, shown)) or "?"
    return _DIRECTION.sub(lambda found: f"#{ord(found[0][0])};{found[0][1:]}", coded)


def _encoded(character: str) -> str:
    # Mermaid itself writes codes as place holders with ﬂ and ß in them.
    if character in " _" or (character.isalnum() and character not in "ﬂß"):
        return character
    return f"#{ord(character)};"
