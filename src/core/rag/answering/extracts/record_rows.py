"""Records of files as passages have them, a paragraph of ``name: value`` lines each: one row, and its long texts.

Sentences cut a record where a value ends with a full stop: what is asked for would stand in another piece than the
fields that tell which record it is.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from core.rag.answering.extracts.code_spans import Span
from core.rag.indexing.splitting.sentences import sentence_spans
from core.rag.retrieval.hits import Hit
from libs.regexes import regex

#: A longer value, or one of several lines, is a text, and no cell.
_LONGEST_CELL: Final = 300
_FEWEST: Final = 2
_FIELD = regex(r"^[^\s|#>`][^|\n]{0,300}?:[ \t]+(?=\S)", re.MULTILINE)
#: Who wrote a message, and when, at its beginning: in conversations, and in comments on a record.
MESSAGE = regex(r"^[^\s#>|`*-][^\n:]{0,80} \(\d{4}-\d\d-\d\d(?: \d\d:\d\d)?\):(?=\s)", re.MULTILINE)
_BETWEEN = regex(r"\n[ \t]*\n\s*")


class _Field(NamedTuple):
    """Where a field, and its value, begins, and where it ends."""

    start: int
    value: int
    end: int


def record_spans(hit: Hit) -> list[Span]:
    """Return the spans of a passage of records: each record, and the sentences of its long texts; else none."""
    text = hit.content
    if not _has_records(hit):
        return []
    spans: list[Span] = []
    found = False
    for start, end in _paragraphs(text):
        fields = _fields(text, start, end)
        texts = [(_begin(text, one), one.end) for one in fields if not _is_cell(text, one)]
        if len(fields) - len(texts) >= _FEWEST:
            found = True
            spans.append(Span(start, end, said=True))
            texts.insert(0, (start, fields[0].start))  # a passage may begin within a text
        else:
            texts = [(start, end)]
        for begin, stop in texts:
            inner = sentence_spans(text[begin:stop], titles=True)
            spans += (Span(begin + first, begin + last, said=True) for first, last in inner)
    return spans if found else []


def record_cells(hit: Hit, place: Span) -> list[str]:
    """Return the cells of the record at a place, ``name: value``; none if there is no record, or a part of one."""
    text = hit.content
    if not _has_records(hit) or (place.start, place.end) not in _paragraphs(text):
        return []
    fields = _fields(text, place.start, place.end)
    cells = [" ".join(text[one.start : one.end].split()) for one in fields if _is_cell(text, one)]
    return cells if len(cells) >= _FEWEST else []


def begins_record(text: str) -> bool:
    """Return whether a text begins with a field of a record."""
    return _FIELD.match(text.lstrip()) is not None


def _has_records(hit: Hit) -> bool:
    return "row" in hit.metadata and not hit.table_header and not hit.content.lstrip().startswith("|")


def _paragraphs(text: str) -> list[tuple[int, int]]:
    bounds = [0, *(place for gap in _BETWEEN.finditer(text) for place in gap.span()), len(text)]
    found = []
    for start, end in zip(bounds[::2], bounds[1::2], strict=True):
        begin = start + len(text[start:end]) - len(text[start:end].lstrip())
        stop = start + len(text[start:end].rstrip())
        if begin < stop:
            found.append((begin, stop))
    return found


def _fields(text: str, start: int, end: int) -> list[_Field]:
    """Return the fields of a paragraph; lines without a name belong to the field above."""
    found = [match.span() for match in _FIELD.finditer(text, start, end)]
    ends = [*(begin for begin, _ in found[1:]), end][: len(found)]
    return [_Field(begin, value, stop) for (begin, value), stop in zip(found, ends, strict=True)]


def _begin(text: str, field: _Field) -> int:
    """Return where a text begins: that of a comment with who wrote it."""
    return field.start if MESSAGE.match(text, field.start) else field.value


def _is_cell(text: str, field: _Field) -> bool:
    if MESSAGE.match(text, field.start):
        return False
    return field.end - field.value <= _LONGEST_CELL and "\n" not in text[field.value : field.end].strip()
