"""Headings of plain text whose paragraphs are indented: RFCs, printed manual pages, reports."""

from __future__ import annotations

import re
from operator import attrgetter

from core.rag.indexing.splitting.sections import Heading, shortened
from core.rag.indexing.splitting.underlined import underlined_headings
from libs.regexes import regex

_SAMPLE = 200_000  # characters
_MOSTLY = 0.5
_FEW = 10  # indented lines
_FEWEST = 2  # a single one would name all that follows it
_INDENTED = regex(r"^(?:[ ]{2}|\t)[ \t]*+\S", re.MULTILINE)
_AT_MARGIN = regex(r"^\S", re.MULTILINE)
_NUMBER = r"(?:\d{1,3}|[A-Z])(?:\.\d{1,3})*\.?[ \t]+"
#: What ends the first part of a sentence, or of code.
_GOES_ON = regex(
    r"[\\={(\[]\Z|\b(?:a|an|and|are|as|at|by|for|from|in|is|of|on|or|the|to|with|auf|bei|für|mit|und|von|zu|à|au|de|en|et)\Z"
)
#: A short line behind a blank one that is no sentence, above an indented line (with or without blank ones between), or
#: above another one with a number.
_HEADING = regex(
    rf"(?:\A|(?<=\n\n))(?=[^\n]{{0,100}}[^\W\d_])(?P<number>{_NUMBER})?[^\s|+>*#.$<-][^\n]{{0,100}}(?:(?<![\s.,;:!?])|(?<=\betc\.))"
    rf"[ \t]{{0,3}}\n(?P<blank>(?:[ \t]*+\n)*+)(?=[ \t]++\S|(?<=\n\n){_NUMBER}\S)"
)


def outdented_headings(text: str) -> list[Heading]:
    """Return the lines that stand out at the margin of a text, with or without a line below them.

    There are none in a text whose paragraphs begin at the margin, too.
    """
    sample = text[:_SAMPLE]
    indented = sum(1 for _ in _INDENTED.finditer(sample))
    if indented < _FEW or indented < _MOSTLY * (indented + sum(1 for _ in _AT_MARGIN.finditer(sample))):
        return []
    headings = underlined_headings(text)
    above = max((heading.level for heading in headings), default=0)
    for match in _HEADING.finditer(text):
        title = text[match.start() : match.start("blank")].strip()
        # "NAME", as in a printed manual page
        if (match["blank"] or title == title.upper()) and _GOES_ON.search(title) is None:
            level = above + (match["number"] or "").strip(" \t.").count(".") + 1
            headings.append(Heading(match.start(), match.start("blank"), level, shortened(title)))
    return sorted(headings, key=attrgetter("start")) if len(headings) >= _FEWEST else []
