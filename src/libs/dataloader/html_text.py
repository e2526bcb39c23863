"""The text of an element of HTML, without its structure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from libs.regexes import regex

if TYPE_CHECKING:
    from lxml.html import HtmlElement

#: Elements that stand in lines of their own.
BLOCKS = frozenset(
    "address article aside blockquote body caption center dd details dialog dir div dl dt fieldset figcaption "
    "figure footer form h1 h2 h3 h4 h5 h6 header hgroup hr legend li main menu nav ol option p pre section summary "
    "table tbody td tfoot th thead tr ul".split()
)
#: Headings, with their levels.
HEADINGS = {f"h{level}": level for level in range(1, 7)}
#: Elements whose text is not shown, or not for readers.
SKIPPED = frozenset(
    "script style template noscript svg canvas iframe object embed audio video map select button input textarea "
    "rp rt head title meta link base source track area datalist progress meter".split()
)
INVISIBLE = regex("[\u00ad\u200b\u2060\ufeff]")


def inline_text(element: HtmlElement) -> str:
    """Return the text of an element as one line."""
    return " ".join(INVISIBLE.sub("", "".join(texts_of(element))).split())


def texts_of(element: HtmlElement) -> Iterator[str]:
    """Yield the text below an element, with a blank wherever a block begins or ends."""
    from lxml import etree

    if element.text:
        yield element.text
    skipped: HtmlElement | None = None
    for event, node in etree.iterwalk(element, events=("start", "end")):
        if node is element:
            continue
        if event == "start":
            if skipped is not None:
                continue
            if node.tag in SKIPPED:
                skipped = node
                continue
            if node.tag in BLOCKS or node.tag == "br":
                yield " "
            if node.tag == "img" and node.get("alt"):
                yield node.get("alt", "")
            if node.text:
                yield node.text
        else:
            if skipped is not None and node is not skipped:
                continue
            skipped = None
            if node.tag in BLOCKS:
                yield " "
            if node.tail:
                yield node.tail
