"""The text in the drawings of an Office file: text boxes, shapes, diagrams."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from libs.dataloader.formats.archive import Archive, attribute, children, local
from libs.dataloader.formats.ooxml import relationships
from libs.dataloader.text import clean_text

if TYPE_CHECKING:
    from lxml.etree import _Element


def drawing_texts(archive: Archive, part: str) -> Iterator[str]:
    """Yield the text of each shape of a drawing, and the entries of each diagram as a list.

    Raises:
        UnreadableError: if a part is damaged.
    """
    relations = relationships(archive, part)
    for node in archive.xml(part).iter("{*}txBody", "{*}relIds"):
        if any(local(above) == "Fallback" for above in node.iterancestors()):
            continue  # the same in an older form
        lines: list[str] = []
        if local(node) == "txBody":
            lines += filter(None, map(_line, children(node, "p")))
        else:
            _, target, _ = relations.get(attribute(node, "dm") or "", ("", "", False))
            if archive.has(target):
                lines += (f"- {text}" for text in diagram_texts(archive.xml(target)))
        if lines:
            yield clean_text("\n".join(lines))


def diagram_texts(root: _Element) -> Iterator[str]:
    """Yield the text of each point of a diagram."""
    for node in root.iter("{*}t"):
        if local(node.getparent()) == "pt" and (text := " ".join("".join(node.itertext()).split())):
            yield text


def _line(paragraph: _Element) -> str:
    parts = (" " if local(node) == "br" else node.text or "" for node in paragraph.iter("{*}t", "{*}br"))
    return " ".join("".join(parts).split())
