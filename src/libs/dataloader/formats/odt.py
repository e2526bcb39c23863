"""OpenDocument texts (odt), also flat ones (fodt)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from libs.dataloader.formats.archive import attribute, local
from libs.dataloader.formats.base import Content, FileData
from libs.dataloader.formats.odf import Package
from libs.dataloader.formats.odf_styles import Styles
from libs.dataloader.formats.odf_text import TextWriter
from libs.dataloader.formats.registry import Format
from libs.dataloader.links import LinkCollector
from libs.dataloader.text import clean_text

if TYPE_CHECKING:
    from lxml.etree import _Element


def read(file: FileData, _kind: Format) -> Content:
    """Convert to Markdown, with headings, lists and tables; footnotes and comments follow at the end."""
    package = Package(file, "an OpenDocument text")
    root, body = package.content("text")
    styles = Styles((*package.styles(), root))
    _drop_hidden(body, styles)
    writer = TextWriter(LinkCollector(file.uri, file.root_uri), styles, package.archive)
    writer.blocks(body)
    title, metadata = package.properties(root)
    return Content(
        clean_text(writer.text()),
        "markdown",
        writer.title or title or writer.first_heading,
        metadata,
        writer.collector.links(),
    )


def _drop_hidden(body: _Element, styles: Styles) -> None:
    """Take out what the program does not show: text, paragraphs and sections that are hidden."""
    hidden: list[_Element] = []
    for node in body.iter():
        name = local(node)
        if name in ("p", "h", "span"):
            if styles.hides(attribute(node, "style-name")):
                hidden.append(node)
        elif name in ("section", "hidden-text", "hidden-paragraph") and (
            # Of a condition, the program writes what came of it.
            attribute(node, "is-hidden") == "true" or attribute(node, "display") == "none"
        ):
            paragraph = node.getparent() if name == "hidden-paragraph" else None
            hidden.append(node if paragraph is None else paragraph)
    for node in hidden:
        parent = node.getparent()
        if parent is None:
            continue  # a field said it before
        before = node.getprevious()
        if before is None:
            parent.text = (parent.text or "") + (node.tail or "")
        else:
            before.tail = (before.tail or "") + (node.tail or "")
        parent.remove(node)
