"""The excerpt of a hit that shows why it was found."""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import dataclass

from core.rag.analysis import analyze, query_terms
from core.rag.analysis.language import detect_language
from core.rag.indexing.splitting.sentences import without_quotation_marks
from libs.regexes import regex

#: Maximum number of characters of a text that are searched.
_LOOKED_AT = 50_000
_LEAD = 60
_REPEATED = 0.1

#: Letters of scripts that put no spaces between words: Thai, Lao, Burmese, Khmer, Japanese, Chinese, Korean.
_UNSPACED = regex(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\U00020000-\U0003ffff]"
)
_WORD = regex(r"\w+(?:['’]\w+)*")


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A part of a text in one line.

    Attributes:
        text: The part, with ``…`` where something was left out.
        marks: Start and end of the words of the query in it, in order.
    """

    text: str
    marks: tuple[tuple[int, int], ...]


def excerpt(text: str, query: str, width: int = 300) -> Excerpt:
    """Return the part of a text that has most words of a query, else its beginning.

    Words match as in a keyword search: in any form, with and without accents.

    Args:
        text: The text that was found.
        query: The query that found it.
        width: Approximate number of characters.

    Returns:
        The part, with white space collapsed.

    Example:
        >>> excerpt("It rains. The mills turn at night.", "milling", 100).marks
        ((14, 19),)
    """
    line = " ".join(without_quotation_marks(text[:_LOOKED_AT]).split())
    marks = _marks(line, query)
    start, end = _window(line, [(begin, term) for begin, _, term in marks], width)
    before, after = ("…" if start else ""), ("…" if end < len(line) or len(text) > _LOOKED_AT else "")
    shift = len(before) - start
    inside = tuple((begin + shift, stop + shift) for begin, stop, _ in marks if begin >= start and stop <= end)
    return Excerpt(before + line[start:end] + after, inside)


def _marks(line: str, query: str) -> list[tuple[int, int, str]]:
    """Return the positions of words of the query in a line, and the word at each."""
    wanted = set(query_terms(query))
    if not wanted:
        return []
    language = detect_language(line.split())
    marks = []
    known: dict[str, list[str]] = {}  # texts say most words again
    for word in _WORD.finditer(line):
        found = known.get(word[0])
        if found is None:
            found = [term for term in dict.fromkeys(analyze(word[0], language)) if term in wanted]
            known[word[0]] = found
        if not found:
            continue
        places = _inside(word[0], found) if _UNSPACED.search(word[0]) else []
        marks += [(word.start() + begin, word.start() + end, term) for begin, end, term in places] or [
            (word.start(), word.end(), found[0])
        ]
    return marks


def _inside(run: str, terms: list[str]) -> list[tuple[int, int, str]]:
    """Return the positions of terms in a run of words without spaces."""
    lower = run.lower()
    if len(lower) != len(run):
        return []
    places = sorted((found.start(), found.end(), t) for t in terms for found in re.finditer(re.escape(t), lower))
    merged: list[tuple[int, int, str]] = []
    for begin, end, term in places:
        if merged and begin <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]), merged[-1][2])
        else:
            merged.append((begin, end, term))
    return merged


def _window(line: str, marks: list[tuple[int, str]], width: int) -> tuple[int, int]:
    if len(line) <= width:
        return 0, len(line)
    begins = [begin for begin, _ in marks]
    best, start = 0.0, 0
    for begin in begins:
        low = max(min(begin - _LEAD, len(line) - width), 0)
        inside = [term for _, term in marks[bisect_left(begins, low) : bisect_left(begins, low + width)]]
        score = len(set(inside)) + _REPEATED * len(inside)
        if score > best + 1e-9:
            best, start = score, low
    if start:
        space = line.find(" ", start)
        start = space + 1 if 0 <= space - start < _LEAD else start
    end = min(start + width, len(line))
    if end < len(line):
        space = line.rfind(" ", start, end)
        end = space if end - space < _LEAD and space > start else end
    return start, end
