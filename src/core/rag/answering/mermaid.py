"""A Mermaid diagram of entities and relations, whatever their names contain."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Protocol

MAX_LABEL_CHARS = 60
MAX_NODES = 40

#: The grammar looks for this statement anywhere in a line, between quotes, too.
_DIRECTION = re.compile(r"direction(?=\s)", re.IGNORECASE)


class Node(Protocol):
    """What a node of the diagram is made of."""

    @property
    def id(self) -> str: ...
    @property
    def name(self) -> str: ...


class Edge(Protocol):
    """What an edge of the diagram is made of."""

    @property
    def source_id(self) -> str: ...
    @property
    def source(self) -> str: ...
    @property
    def target_id(self) -> str: ...
    @property
    def target(self) -> str: ...
    @property
    def type(self) -> str: ...


def mermaid_diagram(nodes: Sequence[Node], edges: Sequence[Edge], max_nodes: int = MAX_NODES) -> str:
    """Draw a flowchart.

    Args:
        nodes: Entities, the most important first; those at the ends of edges need not be among them.
        edges: Relations, the most important first.
        max_nodes: At most so many nodes; edges to others are left out.

    Returns:
        Mermaid source; empty without nodes and edges. Names are in ``mermaid_label`` form, ids are ``n0``, ``n1`` …

    Example:
        >>> from core.rag.answering.types import FoundFact
        >>> print(mermaid_diagram([], [FoundFact("1", "Alice", "2", "Google", "WORKS_FOR", "")]))
        graph LR
            n0["Alice"]
            n1["Google"]
            n0 -->|"WORKS_FOR"| n1
    """
    names: dict[str, str] = {}
    for edge in edges:
        names.setdefault(edge.source_id, edge.source)
        names.setdefault(edge.target_id, edge.target)
    for node in nodes:
        names.setdefault(node.id, node.name)
    keys = {identifier: f"n{index}" for index, identifier in enumerate(list(names)[:max_nodes])}
    if not keys:
        return ""
    lines = ["graph LR"]
    lines += [f'    {key}["{mermaid_label(names[identifier])}"]' for identifier, key in keys.items()]
    drawn = {
        (edge.source_id, edge.type, edge.target_id): None
        for edge in edges
        if edge.source_id in keys and edge.target_id in keys
    }
    lines += [f'    {keys[a]} -->|"{mermaid_label(kind)}"| {keys[b]}' for a, kind, b in drawn]
    return "\n".join(lines)


def mermaid_label(text: str) -> str:
    """A text that can stand between double quotes in a diagram.

    Letters and digits of any script stay; every other character becomes an entity code such as ``#34;``, which is
    shown as the character. What cannot be shown (control characters, half characters) is left out, long texts are cut.

    Args:
        text: Any text.
    """
    words = " ".join("".join(character if _is_shown(character) else " " for character in text).split())
    if len(words) > MAX_LABEL_CHARS:
        words = words[: MAX_LABEL_CHARS - 1].rstrip() + "…"
    label = "".join(_encoded(character) for character in words) or "(no name)"
    return _DIRECTION.sub(lambda found: f"#{ord(found[0][0])};{found[0][1:]}", label)


def _is_shown(character: str) -> bool:
    return character.isprintable() and not 0xD800 <= ord(character) <= 0xDFFF


def _encoded(character: str) -> str:
    # Mermaid itself writes codes as place holders with ﬂ and ß in them.
    if character == " " or character == "_" or (character.isalnum() and character not in "ﬂß"):
        return character
    return f"#{ord(character)};"
