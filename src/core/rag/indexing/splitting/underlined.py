"""Underlined headings, as in reStructuredText."""

from __future__ import annotations

import re

from core.rag.indexing.splitting.sections import Heading, shortened
from libs.regexes import regex

_UNDERLINED = regex(
    r"^(?:(?P<over>(?P<mark>[=\-~^\"'`#*+:.<>_])(?P=mark){2,})[ \t]*\r?\n[ \t]*(?P<above>\S[^\n]*)\r?\n(?P=over)"
    r"|(?P<title>[^\s=\-~^\"'`#*+:.<>_][^\n]*)\r?\n(?P<under>([=\-~^\"'`#*+:.<>_])\6{2,}))[ \t]*\r?$",
    re.MULTILINE,
)


def underlined_headings(text: str) -> list[Heading]:
    """Headings of a reStructuredText document; the level of a style is the order in which the styles appear.

    Source: docutils, reStructuredText Markup Specification, "Sections".
    """
    styles: list[str] = []
    headings: list[Heading] = []
    for match in _UNDERLINED.finditer(text):
        title = match["above"] or match["title"]
        line = match["over"] or match["under"]
        if len(line) < len(title.strip()):
            continue
        style = line[0] * (2 if match["over"] else 1)
        if style not in styles:
            styles.append(style)
        end = text.find("\n", match.end())
        end = len(text) if end < 0 else end + 1
        headings.append(Heading(match.start(), end, styles.index(style) + 1, shortened(title)))
    return headings
