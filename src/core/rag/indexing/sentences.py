"""Sentences of a text, with where they stand."""

from __future__ import annotations

import re

from core.rag.indexing.breaks import SENTENCE_END

#: A line that does not go on in the next one: an item, a heading, a row, a fence.
_ITEM = r"[ \t]*(?:[-*+•·‣▪#>|]|\d{1,4}[.)]\s|`{3})"
#: A heading is one line, whatever stands below it.
_HEADING_LINE = r"^[ \t]*#{1,6}[ \t][^\n]*\n"
_END = re.compile(rf"(?m:{_HEADING_LINE})|{SENTENCE_END}|\s*\n\s*\n\s*|[ \t]*\n(?={_ITEM})")
_MARKUP = re.compile(r"(?:[-*+•·‣▪>]\s+|#{1,6}\s+|\d{1,4}[.)]\s+)")
_HEADING = re.compile(r"[ \t]*#{1,6}\s")
_ABBREVIATION = re.compile(
    r"(?:\b(?:Mr|Mrs|Ms|Dr|Prof|St|Sr|Jr|Gen|Col|Capt|Lt|Rev|Hon|vs|etc|No|Nr|Fig|Vol|Co|Inc|Ltd|ca|approx|z\.B|d\.h|e\.g"
    r"|i\.e|[A-ZÄÖÜ]|(?:[A-Z]\.)+[A-Z]))\.[\"'”’)\]]*\s*$"
)


def sentence_spans(text: str) -> list[tuple[int, int]]:
    """Where the sentences of a text begin and end, without markup before and space around them.

    Blank lines, list items, headings and rows of tables end a sentence, too. Together they cover all words.

    Args:
        text: Prose or Markdown, in any language.

    Returns:
        Start and end (exclusive) of each, in order.
    """
    spans: list[tuple[int, int]] = []
    start = 0
    for match in _END.finditer(text):
        paragraph = "\n" in match[0] and match[0].strip()[:1] in {"", "#"}
        if not paragraph and _ABBREVIATION.search(text[start : match.end()][-24:]):
            continue
        _add(spans, text, start, match.end())
        start = match.end()
    _add(spans, text, start, len(text))
    return spans


def sentences(text: str) -> list[str]:
    """The sentences of a text; see :func:`sentence_spans`."""
    return [text[start:end] for start, end in sentence_spans(text)]


def is_heading(text: str, start: int) -> bool:
    """Whether the sentence that begins at a place is a Markdown heading."""
    line = text.rfind("\n", 0, start) + 1
    return _HEADING.match(text, line) is not None


def _add(spans: list[tuple[int, int]], text: str, start: int, end: int) -> None:
    while start < end and text[start].isspace():
        start += 1
    if markup := _MARKUP.match(text, start, end):
        start = markup.end()
    while end > start and text[end - 1].isspace():
        end -= 1
    if any(character.isalnum() for character in text[start:end]):
        spans.append((start, end))
