"""Texts that JSON has as trees of an editor: those of Jira and Confluence, and of ProseMirror and Tiptap."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

#: What of the attributes of a node without a text is one: a person, an emoji, the address of a page.
_SHOWN: Final = ("text", "shortName", "label", "url")


def texts_for_trees(node: dict[str, Any]) -> Any:
    """Return an object of JSON as it is, or the text of such a tree, whose root is called ``doc``.

    As a tree, a text has its words between names of fields and kinds of nodes, each on a line of its own.
    """
    content = node.get("content")
    if node.get("type") != "doc" or not isinstance(content, list) or not all(map(_is_node, content)):
        return node
    return "\n".join(line for block in content for line in _lines(block))


def _is_node(value: Any) -> bool:
    return isinstance(value, dict) and isinstance(value.get("type"), str)


def _inner(node: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    content = node.get("content")
    return [item for item in content if _is_node(item)] if isinstance(content, list) else []


def _lines(node: Mapping[str, Any]) -> Iterator[str]:
    """Yield the lines of a block: items of lists begin with a dash, and the cells of a row are one line."""
    inner = _inner(node)
    if node["type"] == "tableRow":
        yield " | ".join(" ".join(line for block in _inner(cell) for line in _lines(block)) for cell in inner)
    elif any(item["type"] == "text" for item in inner) or not any(map(_inner, inner)):
        yield from "".join(map(_shown, inner or [node])).splitlines()
    else:
        mark = "- " if node["type"] == "listItem" else ""
        for line in (line for block in inner for line in _lines(block)):
            yield f"{mark}{line}"
            mark = mark and "  "


def _shown(node: Mapping[str, Any]) -> str:
    if isinstance(node.get("text"), str):
        return str(node["text"])
    if node["type"] == "hardBreak":
        return "\n"
    attributes = node.get("attrs")
    found = (attributes.get(name) for name in _SHOWN) if isinstance(attributes, dict) else ()
    return next((value for value in found if isinstance(value, str)), "".join(map(_shown, _inner(node))))
