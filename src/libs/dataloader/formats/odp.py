"""OpenDocument presentations (odp), also flat ones (fodp)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from libs.dataloader.formats.archive import attribute, child, children, local
from libs.dataloader.formats.base import Content, FileData
from libs.dataloader.formats.odf import Package
from libs.dataloader.formats.odf_styles import Styles
from libs.dataloader.formats.odf_text import TextWriter, paragraphs
from libs.dataloader.formats.registry import Format
from libs.dataloader.formats.slide_text import Slides, comment_text
from libs.dataloader.links import LinkCollector

if TYPE_CHECKING:
    from lxml.etree import _Element

_DECORATION = frozenset(("header", "footer", "date-time", "page-number", "page", "handout"))


def read(file: FileData, _kind: Format) -> Content:
    """Convert each slide: its title as a heading, text, lists, tables and charts, then its notes and comments."""
    package = Package(file, "an OpenDocument presentation")
    root, body = package.content("presentation")
    collector = LinkCollector(file.uri, file.root_uri)
    writer = TextWriter(collector, Styles((*package.styles(), root)), package.archive, of_shapes=True)
    slides = Slides()
    count = 0
    for count, page in enumerate(children(body, "page"), 1):
        slides.add(count, _Slide(page, writer))
    title, metadata = package.properties(root)
    return slides.content(title, metadata, count, collector)


class _Slide:
    def __init__(self, page: _Element, writer: TextWriter) -> None:
        self._writer = writer
        self.title: str | None = None
        self.blocks: list[str] = []
        self.notes: list[str] = []
        self.comments: list[str] = []
        waiting = [*reversed(page)]  # no recursion: in a large slide nothing limits how deep groups nest
        while waiting:
            node = waiting.pop()
            name = local(node)
            if name == "notes":
                self.notes += [text for part in node if (text := self._shape(part))]
            elif name == "annotation":
                self._comment(node)
            elif name in ("g", "a"):
                if name == "a":
                    writer.add_link(node)
                waiting += reversed(node)
            elif attribute(node, "class") == "title" and self.title is None:
                self.title = " ".join(self._shape(node).split()) or None
            elif text := self._shape(node):
                self.blocks.append(text)

    def _shape(self, node: _Element) -> str:
        if attribute(node, "class") in _DECORATION or attribute(node, "placeholder") == "true":
            return ""
        self._writer.shape(node)
        return self._writer.taken()

    def _comment(self, node: _Element) -> None:
        author = child(node, "creator")
        who = " ".join("".join(map(str, author.itertext())).split()) if author is not None else ""
        if words := " ".join(" ".join(map(self._writer.inline, paragraphs(node))).split()):
            self.comments.append(comment_text(who, words))
