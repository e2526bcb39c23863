"""What all OpenDocument files have in common: the container (or the flat file without one), and the properties."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from libs.dataloader.formats.archive import Archive, attribute, child, children, local, parse_xml
from libs.dataloader.formats.base import FileData, UnreadableError, sensible_author, sensible_title
from libs.dataloader.text import clean_text

if TYPE_CHECKING:
    from lxml.etree import _Element

_META = {
    "creator": "author",
    "initial-creator": "author",
    "subject": "subject",
    "keyword": "keywords",
    "description": "description",
    "creation-date": "created",
    "date": "modified",
    "language": "language",
}
_MANIFEST = "META-INF/manifest.xml"


class Package:
    """An OpenDocument file: a container, or one XML file that holds everything.

    Args:
        file: The file.
        kind: What it should be, for messages.

    Attributes:
        archive: The container; ``None`` for a flat file.
        data: The XML that has the content.

    Raises:
        UnreadableError: if it is damaged or encrypted.
    """

    def __init__(self, file: FileData, kind: str) -> None:
        self.archive: Archive | None = None
        self.kind = kind
        if file.data.lstrip()[:1] == b"<":
            self.data = file.data
            return
        self.archive = Archive(file, kind)
        if self.archive.has(_MANIFEST) and b"encryption-data" in self.archive.read(_MANIFEST):
            raise UnreadableError("it is encrypted (a password is needed)")
        self.data = self.archive.read("content.xml")

    def content(self, body: str) -> tuple[_Element, _Element]:
        """Return the root of the content, and the element of this name in its body.

        Raises:
            UnreadableError: if it is damaged, or of another kind.
        """
        root = parse_xml(self.data, "content.xml" if self.archive is not None else "the XML")
        found = child(root, "body", body)
        if found is None:
            raise UnreadableError(f"it is not {self.kind}, despite its name")
        return root, found

    def styles(self) -> Iterator[_Element]:
        """Yield the element that holds the styles with names; a flat file has it beside its content."""
        if self.archive is not None and self.archive.has("styles.xml"):
            try:
                # Beside them are those of headers and footers, under the same names as those of the content.
                yield from children(self.archive.xml("styles.xml"), "styles")
            except UnreadableError:
                return  # damaged styles are no reason to do without the text

    def properties(self, content: _Element | None = None) -> tuple[str | None, dict[str, Any]]:
        """Return the title and the metadata.

        Args:
            content: Where they are in a flat file, and in a container that has no part for them: the root of the
                content, or the element that holds them.
        """
        if self.archive is not None and self.archive.has("meta.xml"):
            try:
                content = self.archive.xml("meta.xml")
            except UnreadableError:
                return None, {}  # damaged metadata is no reason to do without the text
        meta = content if local(content) == "meta" else child(content, "meta")
        title: str | None = None
        found: dict[str, Any] = {}
        for node in meta if meta is not None else ():
            value = clean_text(" ".join("".join(node.itertext()).split()))
            if local(node) == "title":
                title = sensible_title(value)
            elif value and (name := _META.get(local(node))):
                if name == "author" and not sensible_author(value):
                    continue
                found[name] = f"{found[name]}, {value}" if name == "keywords" and name in found else value
        return title, found


class Repeats:
    """Counts how often cells are repeated, which a few bytes can demand a billion times.

    Args:
        each: How often a cell or a row is repeated at most.
        cells: How many cells of a file may come from repetition.
    """

    def __init__(self, each: int, cells: int) -> None:
        self._each = each
        self._left = cells

    def of(self, node: _Element, name: str, cells: int = 1) -> int:
        """Return how often to repeat a cell, or a row of several cells.

        Args:
            node: The cell or row.
            name: Name of the attribute that tells.
            cells: How many cells are repeated.
        """
        wanted = min(number(attribute(node, name)), self._each)
        if wanted < 2:
            return 1
        granted = max(min(wanted, 1 + self._left // max(cells, 1)), 1)
        self._left -= (granted - 1) * cells
        return granted


def number(text: str | None) -> int:
    """Return the number in an attribute, at least 1; 1 where there is none."""
    return max(int(text), 1) if text is not None and text.isdecimal() and len(text) < 9 else 1
