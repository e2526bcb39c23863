"""Blocks of code that Quarto and R Markdown run: their options are left out, and what they say of a figure is text."""

from __future__ import annotations

import re
from bisect import bisect_left

from libs.dataloader.formats.base import fences
from libs.dataloader.formats.yaml_data import parse_yaml
from libs.regexes import regex

#: The endings of such files.
ENDINGS = (".qmd", ".rmd")
#: The line that opens such a block: ```` ```{r setup, echo=FALSE} ````.
_OPENS = regex(
    r"^(?P<indent>[ \t]*)(?P<fence>`{3,}|~{3,})[ \t]*\{(?P<language>[A-Za-z]\w*)(?P<options>(?:[ ,][^\n]*)?)\}[^\n]*\n",
    re.MULTILINE,
)
_OPTION = regex(r"[ \t]*(?:#|//|--|%)\|[ \t]?(?P<option>[^\n]*)\n")
#: What says what a figure or table shows.
_TELLS = ("fig-cap", "fig-alt", "tbl-cap", "fig.cap", "fig.alt", "tbl.cap")
_TOLD = regex(r"\b(?:fig|tbl)[.-](?:cap|alt)[ ]*=[ ]*(?:\"((?:[^\"\\\n]|\\.)*)\"|'((?:[^'\\\n]|\\.)*)')")
_MOST_LINES = 100
_DEEPEST = 10


def without_options(text: str) -> str:
    """Return the text of such a file with plain blocks of code, and the captions of what they draw below them."""
    parts: list[str] = []
    position = 0
    blocks = [(start, end) for start, end, _ in fences(text)]
    for opening in _OPENS.finditer(text):
        around = bisect_left(blocks, opening.start(), key=lambda block: block[0]) - 1
        if opening.start() < position or (around >= 0 and opening.start() < blocks[around][1]):
            continue  # a block about such blocks
        options: list[str] = []
        body = opening.end()
        while (option := _OPTION.match(text, body)) is not None and len(options) < _MOST_LINES:
            options.append(option["option"])
            body = option.end()
        opens = f"{opening['indent']}{opening['fence']}{opening['language'].lower()}\n"
        parts += [text[position : opening.start()], opens]
        position = body
        told = [one or other for one, other in _TOLD.findall(opening["options"])] + _told("\n".join(options))
        closes = re.compile(rf"^[ \t]*{opening['fence']}[ \t]*$", re.MULTILINE).search(text, body) if told else None
        if closes is not None:
            parts.append(text[position : closes.end()])
            parts += [f"\n\n{opening['indent']}{caption}" for caption in dict.fromkeys(told)]
            position = closes.end()
    return "".join([*parts, text[position:]])


def _told(options: str) -> list[str]:
    """Return what the options of a block (YAML) say that its figures show, each in one line."""
    found = parse_yaml(options, deepest=_DEEPEST, most=_MOST_LINES * 10) if options else None
    values = [found.get(name) for name in _TELLS] if isinstance(found, dict) else []
    told = [one for value in values for one in (value if isinstance(value, list) else [value]) if isinstance(one, str)]
    return [" ".join(one.split()) for one in told if one.strip()]
