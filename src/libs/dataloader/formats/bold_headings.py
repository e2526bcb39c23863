"""Headings of documents whose writers made them with bold letters instead of styles: contracts, minutes, forms."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from libs.regexes import regex

_LONGEST = 120  # characters
_SENTENCE_ENDS = (".", ",", ";", "!", "…")
_FEWEST = 2
#: An amount or a date: it begins with a number that is not that of a section.
_VALUE = regex(r"[^\w§]*\d(?!\d{0,2}(?:[.)]\d{0,2})*\s+[^\W\d].*\D\Z)")


class Block(NamedTuple):
    """A block of a document: a paragraph, an item of a list, a table.

    Attributes:
        text: It in Markdown.
        kind: ``item`` for one of a list, ``code`` for a line of code.
        bold: What it says, if it is a paragraph in bold letters; with the number before it.
        depth: How deep its number is.
    """

    text: str
    kind: str = ""
    bold: str = ""
    depth: int = 0


def with_bold_headings(blocks: Sequence[Block]) -> list[Block]:
    """Return the blocks of a document without headings with its short bold paragraphs as such.

    They are headings if at least two have text below them, and they are not most of the document. The first one is the
    title if nothing stands before it and it has no number.
    """
    marked = are_headings([block.bold for block in blocks])
    if not any(marked):
        return list(blocks)
    made: list[Block] = []
    for index, (block, is_heading) in enumerate(zip(blocks, marked, strict=True)):
        if not is_heading:
            made.append(block)
        elif index == 0 and not block.kind:
            made.append(Block(f"# {block.bold}"))
        else:
            made.append(Block(f"{'#' * min(block.depth + 2, 6)} {block.bold}"))
    return made


def are_headings(bold: Sequence[str]) -> list[bool]:
    """Return which blocks are headings, by what each says in bold letters; empty for other blocks."""
    marked = [_may_head(text) for text in bold]
    above_text = sum(now and not following for now, following in zip(marked, [*marked, True][1:], strict=True))
    if above_text < _FEWEST or 2 * sum(marked) > len(bold) + 1:
        return [False] * len(bold)
    return marked


def _may_head(bold: str) -> bool:
    return (
        0 < len(bold) <= _LONGEST
        and "\n" not in bold
        and not bold.endswith(_SENTENCE_ENDS)
        and _VALUE.match(bold) is None
    )
