"""Where the sentences of a passage are that can be shown as an answer."""

from __future__ import annotations

import re
from collections.abc import Set

from core.rag.answering.extracts.announced import announces
from core.rag.answering.extracts.code_spans import Span, code_spans
from core.rag.answering.extracts.record_rows import record_spans
from core.rag.answering.extracts.showing import INCLUDES, has_words
from core.rag.answering.extracts.speaking import words_begin
from core.rag.answering.extracts.table_rows import is_head
from core.rag.answering.markers import is_in_block
from core.rag.answering.types import Passage
from core.rag.extraction.source_code import configuration_language
from core.rag.extraction.words import normalize_name
from core.rag.headings import headings_of
from core.rag.indexing.splitting.sentences import is_heading, is_title_line, sentence_spans
from libs.regexes import regex

#: The line before and behind a block of code, where a sentence begins with it, or with a tag around it.
_FENCE = regex(r"(?:<[^<>\n]{1,200}>[ \t]*\n\s*){0,5}`{3,}[^\n`]*(?:\n\s*|$)")
#: What is shown of something that is folded in: a heading, which text may follow without an empty line.
_SUMMARY = regex(r"(?:<details\b[^<>]*>\s*)?<summary\b[^<>]*>.{0,2000}?</summary\s*>\s*", re.DOTALL | re.IGNORECASE)
#: All of a sentence in bold letters, without its end: a heading in all but its markup, if text stands below it.
_EMPHASIZED = regex(r"(\*\*|__)(?:(?!\1)[^\n])+(?<![.!?。])\1")
#: What stands above no text of its own: the end, another such line, a heading, a rule.
_NO_TEXT = regex(r"\s*(?:\Z|#{1,6}[ \t]|(?:[-*_][ \t]*){3,}$|(\*\*|__)(?:(?!\1)[^\n])+\1[ \t]*$)", re.MULTILINE)
#: A label and what it says: "**Important: the office is closed on Fridays**".
_LABELLED = regex(r"(?:\*\*|__)[^\W\d_][^:\n]{1,30}: +\S+ +\S+ ")
#: Headings above headings are shorter than this, in words.
_TELLS = 5
#: What HTML shows to nobody; within a line it may be what a text writes about. The text of an image may have sentences.
_HIDDEN = regex(
    r"(?m:^)[ \t]*(?:<!--.*?-->|<(script|style)\b[^>]*>.*?(?:</\1\s*>|\Z))"
    r"|<img\b(?:\s+[\w:-]+=(?:\"[^\"]*\"|'[^']*'|[^\s\"'>]+))+\s*/?>",
    re.DOTALL | re.IGNORECASE,
)
#: A heading that states a figure, as the line in large letters below an invoice does: "Total: 48", "Total 211,522",
#: "Revenue $12.5 million"; not one that is numbered, or has a year or a version: "4.2 Tests 2024".
_AMOUNT = r"(?<![\d.,])-?\d+(?:[.,' \u2019\u00a0\u202f]\d+)*(?![.,]?\d)"
_FIGURE = regex(
    rf"[^\W\d_][^\n]*?(?::[ \t*_]+[^\w\s]?[ \t]?{_AMOUNT}|(?:[$€£¥₹]|\b(?:USD|EUR|CHF|GBP))[ \t]?{_AMOUNT}"
    rf"|[ \t]-?\d{{1,3}}(?:[.,'’]\d{{3}})+(?:[.,]\d\d)?|{_AMOUNT}[ \t]?(?:[%$€£¥₹]|\b(?:USD|EUR|CHF|GBP)\b))"
    r"(?:[ \t]+[^\W\d_]+)?[*_ \t#]*"
)
#: Where links lead, in lines of their own: ``[guide]: https://…``.
_DEFINITIONS = regex(r"(?:\[[^\]\n]{1,200}\]:\s*\S+(?:\s+|\Z)(?:\"[^\"]*\"\s*)?)+")


def readable_spans(passage: Passage, *, heads: bool = False) -> list[Span]:
    """Return the spans of readable sentences; headings without a figure only if nothing else is.

    Args:
        passage: The passage.
        heads: Whether the heads of tables are such, too.
    """
    text = passage.hit.content
    if passage.hit.is_code:
        return code_spans(text, nested=bool(configuration_language(passage.hit.path)))
    if records := record_spans(passage.hit):
        return records
    # Without the empty name, which a text without headings has, and every long sentence.
    headings = {normalize_name(part) for part in (passage.hit.title, *headings_of(passage.hit.heading))} - {""}
    hidden = [found.span() for found in _HIDDEN.finditer(text) if not is_in_block(text, found.start())]
    spans = [(_behind_markup(text, start, end), end) for start, end in sentence_spans(text, titles=True)]
    spans = [(words_begin(passage.hit, start, end), end) for start, end in spans]
    read = [
        (start, end)
        for start, end in spans
        if start < end
        and not _is_markup(text, start, end)
        and not any(begin <= start and end <= stop for begin, stop in hidden)
    ]
    said = [place for place in read if _says_something(text, *place, headings) or (heads and is_head(text, place[0]))]
    return [Span(*place, said=True) for place in said or read]


def _says_something(text: str, start: int, end: int, headings: Set[str]) -> bool:
    """Return whether a sentence is neither the head of a table nor a heading, unless one that states a figure."""
    if is_heading(text, start):
        return _FIGURE.fullmatch(text, start, end) is not None
    return (
        not is_title_line(text, start, end)
        and not is_head(text, start)
        and not _is_bold_heading(text, start, end)
        and normalize_name(text[start:end]) not in headings
    )


def _is_bold_heading(text: str, start: int, end: int) -> bool:
    """Return whether a sentence is a line in bold letters that heads what stands below it."""
    if _EMPHASIZED.fullmatch(text, start, end) is None or announces(text, end) or _LABELLED.match(text, start, end):
        return False
    return _NO_TEXT.match(text, end) is None or len(text[start:end].split()) < _TELLS


def _is_markup(text: str, start: int, end: int) -> bool:
    """Return whether a sentence is only markup: tags, images, the target of a link, or what stands for a file."""
    sentence = text[start:end]
    if INCLUDES.fullmatch(sentence):
        return True
    if is_in_block(text, start):
        return False
    return _DEFINITIONS.fullmatch(sentence) is not None or not has_words(sentence, begins=start == 0)


def _behind_markup(text: str, start: int, end: int) -> int:
    """Return the start of a sentence after a line that opens or closes a block of code, or a heading in HTML."""
    if (fence := _FENCE.match(text, start, end)) is not None:
        return fence.end()
    heading = _SUMMARY.match(text, start, end)
    return start if heading is None or is_in_block(text, start) else heading.end()
