"""The styles of an OpenDocument file: which lists are numbered, what is raised, what is hidden."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from libs.dataloader.formats.archive import attribute, child, local
from libs.dataloader.formats.base import is_code_style

if TYPE_CHECKING:
    from lxml.etree import _Element

_LONGEST_CHAIN = 100  # of styles, each made from the next one


class Styles:
    """The styles of a file.

    Args:
        roots: The elements that hold them, at any depth.

    Attributes:
        ordered: The styles of lists whose items are numbered.
        raising: The styles of superscripts: ``super 58%``, or by how much they are higher.
    """

    def __init__(self, roots: Iterable[_Element] = ()) -> None:
        self.ordered: set[str] = set()
        self._parents: dict[str, str] = {}
        self.raising: set[str] = set()
        self._display: dict[str, str] = {}
        for root in roots:
            for node in root.iter("{*}style", "{*}list-style"):
                self.add(node)

    def add(self, node: _Element) -> None:
        """Take a style into account; that of a list, or of anything else."""
        name = attribute(node, "name") or ""
        if local(node) == "list-style":
            if next((local(level) for level in node), "") == "list-level-style-number":
                self.ordered.add(name)
            return
        if parent := attribute(node, "parent-style-name"):
            self._parents[name] = parent
        text = child(node, "text-properties")
        if text is None:
            return
        place = (attribute(text, "text-position") or "").split()
        if place[:1] == ["super"] or (place and place[0][:1].isdigit() and place[0].strip("0.%")):
            self.raising.add(name)
        if display := attribute(text, "display"):
            self._display[name] = display

    def chain(self, name: str | None) -> Iterator[str]:
        """Yield a style and those that it is made from."""
        for _ in range(_LONGEST_CHAIN):
            if name is None:
                return
            yield name
            name = self._parents.get(name)

    def hides(self, name: str | None) -> bool:
        """Return whether text of this style is not shown."""
        return next((self._display[style] for style in self.chain(name) if style in self._display), "") == "none"

    def is_code(self, name: str | None) -> bool:
        """Return whether this style is one for code; automatic styles of single paragraphs derive from named ones."""
        return any(is_code_style(style.replace("_20_", " ")) for style in self.chain(name))
