"""OpenDocument presentations (odp), also flat ones (fodp)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from libs.dataloader.formats.archive import attribute, child, children, local
from libs.dataloader.formats.base import Content, FileData, TextBuilder
from libs.dataloader.formats.odf import Package
from libs.dataloader.formats.odf_styles import Styles
from libs.dataloader.formats.odf_text import TextWriter, paragraphs
from libs.dataloader.formats.registry import Format
from libs.dataloader.formats.slide_text import comment_text, slide_text
from libs.dataloader.links import LinkCollector
from libs.dataloader.text import clean_text

if TYPE_CHECKING:
    from lxml.etree import _Element

_DECORATION = frozenset(("header", "footer", "date-time", "page-number", "page", "handout"))


def read(file: FileData, _kind: Format) -> Content:
    """Convert each slide: its title as a heading, text, lists, tables and charts, then its notes and comments."""
    package = Package(file, "an OpenDocument presentation")
    root, body = package.content("presentation")
    collector = LinkCollector(file.uri, file.root_uri)
    writer = TextWriter(collector, Styles((*package.styles(), root)), package.archive, of_shapes=True)
    builder = TextBuilder()
    first_title: str | None = None
    count = 0
    for count, page in enumerate(children(body, "page"), 1):
        slide = _Slide(page, writer)
        first_title = first_title or slide.title
        if text := clean_text(slide.text(count)):
            builder.separate()
            builder.mark("slide", count)
            builder.add(text)
    title, metadata = package.properties(root)
    return Content(
        builder.text(),
        "markdown",
        title or first_title,
        {**metadata, "slide_count": count},
        collector.links(),
        builder.locations,
    )


class _Slide:
    def __init__(self, page: _Element, writer: TextWriter) -> None:
        self._writer = writer
        self.title: str | None = None
        self._blocks: list[str] = []
        self._notes: list[str] = []
        self._comments: list[str] = []
        waiting = [*reversed(page)]  # no recursion: in a large slide nothing limits how deep groups nest
        while waiting:
            node = waiting.pop()
            name = local(node)
            if name == "notes":
                self._notes += [text for part in node if (text := self._shape(part))]
            elif name == "annotation":
                self._comment(node)
            elif name in ("g", "a"):
                if name == "a":
                    writer.add_link(node)
                waiting += reversed(node)
            elif attribute(node, "class") == "title" and self.title is None:
                self.title = " ".join(self._shape(node).split()) or None
            elif text := self._shape(node):
                self._blocks.append(text)

    def text(self, number: int) -> str:
        """Return the slide as Markdown; empty if it has no text."""
        return slide_text(number, self.title, self._blocks, self._notes, self._comments)

    def _shape(self, node: _Element) -> str:
        if attribute(node, "class") in _DECORATION or attribute(node, "placeholder") == "true":
            return ""
        self._writer.shape(node)
        return self._writer.taken()

    def _comment(self, node: _Element) -> None:
        author = child(node, "creator")
        who = " ".join("".join(map(str, author.itertext())).split()) if author is not None else ""
        if words := " ".join(" ".join(map(self._writer.inline, paragraphs(node))).split()):
            self._comments.append(comment_text(who, words))
