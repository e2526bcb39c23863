"""The styles of an OpenDocument text: which lists are numbered, what is raised, what is hidden."""

from __future__ import annotations

from typing import TYPE_CHECKING

from libs.dataloader.formats.archive import attribute, child, local

if TYPE_CHECKING:
    from lxml.etree import _Element

_LONGEST_CHAIN = 100  # of styles, each made from the next one


def ordered_lists(root: _Element) -> set[str]:
    """Return the styles of lists whose items are numbered."""
    styles: set[str] = set()
    for node in root.iter():
        if local(node) == "list-style" and next((local(level) for level in node), "") == "list-level-style-number":
            styles.add(attribute(node, "name") or "")
    return styles


def style_parents(root: _Element) -> dict[str, str]:
    """Return the parent of each style: automatic styles of single paragraphs derive from named ones."""
    styles = (node for node in root.iter() if local(node) == "style")
    return {
        attribute(node, "name") or "": parent for node in styles if (parent := attribute(node, "parent-style-name"))
    }


def raising_styles(root: _Element) -> frozenset[str]:
    """Return the styles of superscripts: ``super 58%``, or by how much they are higher."""
    found = set()
    for node in root.iter():
        if local(node) == "style" and (text := child(node, "text-properties")) is not None:
            place = (attribute(text, "text-position") or "").split()
            if place[:1] == ["super"] or (place and place[0][:1].isdigit() and place[0].strip("0.%")):
                found.add(attribute(node, "name") or "")
    return frozenset(found)


def hiding_styles(root: _Element) -> frozenset[str]:
    """Return the styles whose text is not shown, and those made from them that do not say otherwise."""
    display: dict[str, str] = {}
    for node in root.iter():
        if local(node) == "style" and (name := attribute(node, "name")):
            text = child(node, "text-properties")
            display[name] = (attribute(text, "display") or "") if text is not None else ""
    parents = style_parents(root)

    def hides(name: str) -> bool:
        for _ in range(_LONGEST_CHAIN):
            if display.get(name) or name not in parents:
                break
            name = parents[name]
        return display.get(name) == "none"

    return frozenset(filter(hides, display))
