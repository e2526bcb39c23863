"""Boards of cards in the open format JSON Canvas, which Obsidian writes (``.canvas``)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import quote

from libs.dataloader.formats.base import Content, FileData, closed
from libs.dataloader.formats.markdown import find_links, first_heading
from libs.dataloader.links import LinkCollector
from libs.dataloader.text import clean_text

_WORDS = {"text": "text", "file": "file", "link": "url", "group": "label"}  # where each kind of card has its words


def read_canvas(data: Any, file: FileData) -> Content | None:
    """Convert a board: the text of each card as it is, then the connections between cards.

    Cards for files and pages become links; paths start from the folder that is loaded, as Obsidian's do from its vault.

    Returns:
        Markdown; ``None`` if the data is not a board.
    """
    if not isinstance(data, dict) or not isinstance(data.get("nodes"), list) or set(data) - {"nodes", "edges"}:
        return None
    cards: dict[str, str] = {}
    collector = LinkCollector(file.uri, file.root_uri)
    for node in data["nodes"]:
        kind = node.get("type") if isinstance(node, dict) else None
        if kind not in _WORDS or "x" not in node or not isinstance(node.get("id"), str):
            return None
        words = node.get(_WORDS[kind])
        if not isinstance(words, str) or not words.strip():
            continue
        cards[node["id"]] = closed(clean_text(words).strip())
        if kind == "text":
            collector.extend(find_links(words))
        elif kind != "group":
            collector.add(words if kind == "link" else quote(f"/{words}" if file.root_uri else words))
    if not cards:
        return None
    edges = data.get("edges")
    lines = list(_edges(edges if isinstance(edges, list) else [], cards))
    text = "\n\n".join([*cards.values(), *(["\n".join(lines)] if lines else [])])
    return Content(text, "markdown", first_heading(text), {"card_count": len(cards)}, collector.links())


def _edges(edges: list[Any], cards: Mapping[str, str]) -> Iterator[str]:
    for edge in edges:
        if not isinstance(edge, dict):
            continue
        ends = [cards.get(str(edge.get(end))) for end in ("fromNode", "toNode")]
        if all(ends):
            label = " ".join(str(edge.get("label") or "").split())
            names = " → ".join(_name(words) for words in ends if words)
            yield f"- {names}: {clean_text(label)}" if label else f"- {names}"


def _name(words: str) -> str:
    """Return the name of a card: its first line, shortened."""
    name = words.split("\n", 1)[0].strip("# ")
    return name if len(name) <= 100 else f"{name[:99].rstrip()}…"
