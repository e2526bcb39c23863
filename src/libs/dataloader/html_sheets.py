"""Documents in HTML that were set in pages, as annual reports are filed: running lines, and bold lines for headings."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING

from libs.dataloader.formats.bold_headings import are_headings
from libs.dataloader.html_text import BLOCKS, HEADINGS, inline_text
from libs.regexes import regex

if TYPE_CHECKING:
    from lxml.html import HtmlElement

_BREAK = regex(r"\b(?:page-)?break-(?:after|before)\s*:\s*(?:always|page)\b", re.IGNORECASE)
_BOLD = regex(r"\bfont-weight\s*:\s*(?:bold|[6-9]00)\b", re.IGNORECASE)
_FEWEST = 3  # page breaks
_LONGEST = 120  # characters of a running line
_MOST_ROWS = 2
_NUMBER = regex(r"\d+")
_LETTER = regex(r"[^\W\d_]")
_OF_PAGE = regex(r"\A\d+\W+|[\W_]*(?:\b(?:page|seite)\s*)?\d+\W*\Z", re.IGNORECASE)
#: What is above what has only a name.
_NUMBERED = regex(r"(?:part|item|article|section|chapter|note|schedule|annex)\b|§|\d{1,3}[.)\s]", re.IGNORECASE)


def join_sheets(body: HtmlElement) -> str:
    """Make one text of a document in pages: without the lines that run along them, and with headings.

    A line is one of these if it is the first or the last of most pages, but for its number. If the document has no
    headings, short bold lines are.

    Args:
        body: The body of the page; it is changed if it has page breaks.

    Returns:
        What the running lines call the document ("Mill Ltd. | 2025 Report"); empty if they do not.
    """
    breaks = [node for node in body.iter() if isinstance(node.tag, str) and _BREAK.search(node.get("style", ""))]
    if len(breaks) < _FEWEST:
        return ""
    name = _drop_running(list(_sheets(body, set(breaks))))
    for node in breaks:
        if node.tag == "hr":
            node.drop_tree()
    if next(body.iter(*HEADINGS), None) is None:
        _make_headings(body)
    return name


def _sheets(body: HtmlElement, breaks: set[HtmlElement]) -> Iterator[list[HtmlElement]]:
    """Yield the lines of each page: elements with text and without blocks in them."""
    lines: list[HtmlElement] = []
    for node in body.iter():
        if node in breaks:
            yield lines
            lines = []
        if _is_line(node):
            lines.append(node)
    yield lines


def _is_line(node: HtmlElement) -> bool:
    return (
        node.tag in ("div", "p", "center")
        and all(child.tag not in BLOCKS for child in node.iterdescendants())
        and inline_text(node) != ""
    )


def _drop_running(sheets: list[list[HtmlElement]]) -> str:
    """Drop the lines that run along; return what one that leads nowhere says, without the number of the page."""
    name = ""
    for end in (0, -1):
        at_end = [(sheet[end], inline_text(sheet[end])[: _LONGEST + 1]) for sheet in sheets if sheet]
        times = Counter(_NUMBER.sub("#", text) for _, text in at_end)
        for node, text in at_end:
            if len(text) <= _LONGEST and 2 * times[_NUMBER.sub("#", text)] > len(sheets):
                name = name or ("" if next(node.iter("a"), None) is not None else _OF_PAGE.sub("", text))
                node.drop_tree()
    return name if _LETTER.search(name) else ""


def _make_headings(body: HtmlElement) -> None:
    lines = [node for node in body.iter() if _is_line(node) or node.tag == "table"]
    lines = [node for node in lines if next(node.iterancestors("table", "li"), None) is None]
    bold = [inline_text(node) if _is_bold(node) else "" for node in lines]
    for node, text, is_heading in zip(lines, bold, are_headings(bold), strict=True):
        if is_heading:
            node.tag = "h2" if _NUMBERED.match(text) else "h3"
            if node.find(".//tr") is not None:  # "ITEM 1." and its name in the cells of a row
                node[:] = []
                node.text = text


def _is_bold(line: HtmlElement) -> bool:
    """Return whether all letters of a line, or of a table of one row, are bold; not without any."""
    if line.tag == "table" and not _is_one_row(line):
        return False
    owners: list[HtmlElement | None] = [line] if _LETTER.search(line.text or "") else []
    for node in line.iterdescendants():
        if isinstance(node.tag, str) and _LETTER.search(node.text or ""):
            owners.append(node)
        if _LETTER.search(node.tail or ""):
            owners.append(node.getparent())
    return bool(owners) and all(_makes_bold(line) or any(map(_makes_bold, _up_to(node, line))) for node in owners)


def _is_one_row(table: HtmlElement) -> bool:
    rows = list(islice(table.iter("tr"), _MOST_ROWS + 1))  # one may only set the widths
    return len(rows) <= _MOST_ROWS and sum(1 for row in rows if inline_text(row)) == 1


def _up_to(node: HtmlElement | None, line: HtmlElement) -> Iterator[HtmlElement]:
    while node is not None and node is not line:
        yield node
        node = node.getparent()


def _makes_bold(node: HtmlElement) -> bool:
    return node.tag in ("b", "strong") or _BOLD.search(node.get("style", "")) is not None
