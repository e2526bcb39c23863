"""The notes and comments on the cells of an Excel workbook."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from libs.dataloader.formats.archive import Archive, child, children, local
from libs.dataloader.formats.base import UnreadableError
from libs.dataloader.formats.ooxml import relationships
from libs.dataloader.formats.sheet_cells import cell_note
from libs.dataloader.text import clean_text

if TYPE_CHECKING:
    from lxml.etree import _Element

_PERSONS = "xl/persons/person.xml"
_STAND_IN = "tc="  # what Excel writes as the author of a comment for versions that know only notes


def cell_notes(archive: Archive, part: str) -> str:
    """Return the notes and comments on the cells of a sheet, one per line, each with its cell and author."""
    found = {kind: target for kind, target, _ in relationships(archive, part).values() if archive.has(target)}
    lines: list[str] = []
    for kind, read in (("comments", _notes), ("threadedComment", _comments)):
        if kind in found:
            try:
                lines += read(archive, found[kind])
            except UnreadableError:
                continue  # damaged notes are no reason to do without the cells
    return "\n".join(lines)


def _notes(archive: Archive, part: str) -> Iterator[str]:
    root = archive.xml(part)
    authors = [node.text or "" for node in children(child(root, "authors"), "author")]
    for node in children(child(root, "commentList"), "comment"):
        number = node.get("authorId", "")
        author = authors[int(number)] if number.isdecimal() and int(number) < len(authors) else ""
        if not author.startswith(_STAND_IN):
            yield from _line(node, author)


def _comments(archive: Archive, part: str) -> Iterator[str]:
    persons: dict[str, str] = {}
    if archive.has(_PERSONS):
        persons = {
            node.get("id", ""): node.get("displayName", "") for node in children(archive.xml(_PERSONS), "person")
        }
    for node in children(archive.xml(part), "threadedComment"):
        yield from _line(node, persons.get(node.get("personId", ""), ""))


def _line(node: _Element, author: str) -> Iterator[str]:
    words = "".join(text.text or "" for text in node.iter() if local(text) in ("t", "text"))
    if line := cell_note(node.get("ref", ""), author, words):
        yield clean_text(line)
