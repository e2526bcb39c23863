"""A piece of the graph as a Mermaid flowchart (https://mermaid.js.org/syntax/flowchart.html), and labels for any."""

from __future__ import annotations

import re

from core.rag.graph.drawing.texts import printable
from core.rag.graph.parts import Piece

MAX_LABEL_CHARS = 100
#: The grammar looks for this statement anywhere in a line, between quotes, too.
_DIRECTION = re.compile(r"direction(?=\s)", re.IGNORECASE)


def to_mermaid(piece: Piece) -> str:
    """A flowchart, valid whatever names contain.

    Returns:
        Lines, the last one ended, too.
    """
    nodes = (piece.start, *piece.nodes)
    short = {node.id: f"n{number}" for number, node in enumerate(nodes)}
    lines = ["flowchart LR", *(f'    {short[node.id]}["{mermaid_label(node.name)}"]' for node in nodes)]
    for edge in piece.edges:
        if edge.source in short and edge.target in short:
            arrow = "---" if edge.type == "RELATED_TO" else "-->"
            said = "" if edge.type == "RELATED_TO" else f'|"{mermaid_label(edge.type)}"|'
            lines.append(f"    {short[edge.source]} {arrow}{said} {short[edge.target]}")
    lines.append(f"    style {short[piece.start.id]} stroke-width:3px")
    return "\n".join(lines) + "\n"


def mermaid_label(text: str, max_chars: int = MAX_LABEL_CHARS) -> str:
    """A text that can stand between double quotes in a diagram.

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
