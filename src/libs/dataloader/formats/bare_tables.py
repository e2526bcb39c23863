"""Tables of Markdown whose rows have no bars at their ends: they get them, so that all tables look alike."""

from __future__ import annotations

import re

from libs.dataloader.tables import BAR, row_cells
from libs.regexes import regex

_RULE = regex(r"^ {0,3}\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*+:?-+:?[ \t]*+)++(?:\|[ \t]*+)?$", re.MULTILINE)


def with_outer_bars(text: str, prose: str) -> str:
    """Return a text in which every row of such a table begins and ends with a bar.

    A table is a line of names, a rule with as many cells, and the lines below that have a bar.

    Args:
        text: Markdown.
        prose: The same with blanks for code and comments, in which nothing is a table.
    """
    if not _RULE.search(prose):
        return text
    lines, seen = text.split("\n"), prose.split("\n")
    place = 1
    while place < len(lines):
        if not (_RULE.match(seen[place]) and _is_head(seen[place - 1], seen[place])):
            place += 1
            continue
        end = place + 1
        while end < len(lines) and BAR.search(seen[end]):
            end += 1
        if not all(line.lstrip().startswith("|") for line in lines[place - 1 : end]):
            lines[place - 1 : end] = map(_row, lines[place - 1 : end])
        place = end
    return "\n".join(lines)


def _is_head(line: str, rule: str) -> bool:
    return BAR.search(line) is not None and len(row_cells(line)) == len(row_cells(rule))


def _row(line: str) -> str:
    body = line.strip()
    first = "" if body.startswith("|") else "| "
    last = "" if len(body) > 1 and body.endswith("|") and not body.endswith("\\|") else " |"
    return f"{line[: len(line) - len(line.lstrip())]}{first}{body}{last}"
