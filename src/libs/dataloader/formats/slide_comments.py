"""The comments on the slides of a PowerPoint presentation, as they are written since 2021 and as they were before."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from libs.dataloader.formats.archive import Archive, child, children
from libs.dataloader.formats.base import UnreadableError
from libs.dataloader.formats.drawings import paragraph_line
from libs.dataloader.formats.slide_text import comment_text

if TYPE_CHECKING:
    from lxml.etree import _Element

    from libs.dataloader.formats.ooxml import Relations


def comment_authors(archive: Archive, relations: Relations) -> dict[str, str]:
    """Return the names of those who comment, by the id that comments have.

    Args:
        archive: The file.
        relations: Those of the presentation.
    """
    roots = _parts(archive, relations, ("commentAuthors", "authors"))
    return {node.get("id", ""): " ".join(node.get("name", "").split()) for root in roots for node in root}


def slide_comments(archive: Archive, relations: Relations, authors: Mapping[str, str]) -> Iterator[str]:
    """Yield the comments on a slide, and the replies to each, with who wrote it.

    Args:
        archive: The file.
        relations: Those of the slide.
        authors: See :func:`comment_authors`.
    """
    for root in _parts(archive, relations, ("comments",)):
        for comment in children(root, "cm"):
            for node in (comment, *children(child(comment, "replyLst"), "reply")):
                if words := _words(node):
                    yield comment_text(authors.get(node.get("authorId", ""), ""), words)


def _parts(archive: Archive, relations: Relations, kinds: Iterable[str]) -> Iterator[_Element]:
    for kind, target, _ in relations.values():
        try:
            root = archive.take(target) if kind in kinds else None
        except UnreadableError:
            continue  # damaged comments are no reason to do without the slides
        if root is not None:
            yield root


def _words(node: _Element) -> str:
    """Return the text of a comment, without those of the replies to it."""
    plain = child(node, "text")
    lines = [plain.text or ""] if plain is not None else map(paragraph_line, children(child(node, "txBody"), "p"))
    return " ".join(" ".join(lines).split())
