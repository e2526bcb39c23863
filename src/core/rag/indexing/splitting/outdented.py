"""Headings of plain text whose paragraphs are indented: RFCs, printed manual pages, reports."""

from __future__ import annotations

import re

from core.rag.indexing.splitting.sections import Heading, shortened

_SAMPLE = 200_000  # characters
_MOSTLY = 0.5
_FEW = 10  # indented lines
_INDENTED = re.compile(r"^(?:[ ]{2}|\t)[ \t]*+\S", re.MULTILINE)
_AT_MARGIN = re.compile(r"^\S", re.MULTILINE)
_NUMBER = r"(?:\d{1,3}|[A-Z])(?:\.\d{1,3})*\.?[ \t]+"
#: A short line behind a blank one that is no sentence, above an indented line (with or without blank ones between), or
#: above another one with a number.
_HEADING = re.compile(
    rf"(?:\A|(?<=\n\n))(?=[^\n]{{0,100}}[^\W\d_])(?P<number>{_NUMBER})?[^\s|+>*#-][^\n]{{0,100}}(?<![\s.,;:!?])"
    rf"[ \t]{{0,3}}\n(?P<blank>(?:[ \t]*+\n)*+)(?=[ \t]++\S|(?<=\n\n){_NUMBER}\S)"
)


def outdented_headings(text: str) -> list[Heading]:
    """Return the lines that stand out at the margin of a text; none of a text whose paragraphs begin there, too."""
    sample = text[:_SAMPLE]
    indented = sum(1 for _ in _INDENTED.finditer(sample))
    if indented < _FEW or indented < _MOSTLY * (indented + sum(1 for _ in _AT_MARGIN.finditer(sample))):
        return []
    headings: list[Heading] = []
    for match in _HEADING.finditer(text):
        title = text[match.start() : match.start("blank")].strip()
        if match["blank"] or title == title.upper():  # "NAME", as in a printed manual page
            level = (match["number"] or "").strip(" \t.").count(".") + 1
            headings.append(Heading(match.start(), match.start("blank"), level, shortened(title)))
    return headings
