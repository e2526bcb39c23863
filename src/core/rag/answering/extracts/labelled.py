"""Lines that say one thing of what stands above them: ``Default: 5`` below "timeout", ``Owner: Ada`` below "Mill"."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence, Set
from typing import NamedTuple

from core.rag.analysis import analyze
from core.rag.answering.extracts.called import Source
from core.rag.answering.extracts.code_spans import Span
from core.rag.answering.markers import is_in_block
from libs.regexes import regex

#: A name, perhaps in bold letters, and what it is; and what may be before it in its line.
_LABELLED = regex(r"[*_]{0,3}(?P<label>[^\W\d_][^:：\n|.!?*_]{0,50})[*_]{0,3}(?::[*_]{0,3}[ \t]+|：[*_]{0,3})\S")
_MARK = regex(r"[ \t>]*(?:[-*+•][ \t]+)?")


class _Line(NamedTuple):
    """The words of a label, and of the heading above its line."""

    label: frozenset[str]
    above: frozenset[str]


def named_lines(places: Sequence[tuple[Source, Span]], wanted: Set[str]) -> list[frozenset[str]]:
    """Return what a question names of each line that has a label: the words of this and of the heading above it.

    Nothing, unless it names both in full: "What is the default of timeout?" asks for "Default: 5" below "timeout". Of
    nested names it is the longest: who asks for the default of "pool size" does not ask for that of "pool".

    Args:
        places: The sentences, each with its passage.
        wanted: The words of the question, analysed.
    """
    lines = [_named(source, place, wanted) for source, place in places]
    headings: dict[frozenset[str], set[frozenset[str]]] = defaultdict(set)
    for line in filter(None, lines):
        headings[line.label].add(line.above)
    return [
        line.label | line.above
        if line is not None and not any(line.above < other for other in headings[line.label])
        else frozenset()
        for line in lines
    ]


def _named(source: Source, place: Span, wanted: Set[str]) -> _Line | None:
    """Return the words of a line with a label, and those above it; ``None`` if the question lacks some of them.

    Likewise if the label repeats the heading, as that of a definition does.
    """
    label = frozenset(analyze(_label(source, place), source.language))
    if not label or not label <= wanted:
        return None
    above = frozenset(analyze(source.headings.over(place.start), source.language))
    return _Line(label, above) if above and above <= wanted and above != label else None


def _label(source: Source, place: Span) -> str:
    """Return the label of a line; empty if it has none, or is code."""
    text = source.text
    if not place.said or source.passage.hit.is_code:
        return ""
    found = _LABELLED.match(text, place.start)
    if found is None or _MARK.fullmatch(text, text.rfind("\n", 0, place.start) + 1, place.start) is None:
        return ""
    return "" if is_in_block(text, place.start) else found["label"]
