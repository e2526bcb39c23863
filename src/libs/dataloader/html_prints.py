"""Recognises pages that hold what others of the same site hold: all chapters in one, for printing, and indexes."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from libs.regexes import regex

if TYPE_CHECKING:
    from collections.abc import Set

    from lxml.html import HtmlElement

_HEAD = 4096
#: Hugo's themes, for a section or a page; the name alone may be that of a page about printing.
_FOR_PRINTING = regex(r"/(?:[^/]+\.)?print\.html$|/_print(?:/|$)", re.IGNORECASE)
_MDBOOK = (
    ("/print.html", "<!-- Book generated using mdBook -->"),
    ("/toc.html", "<!-- sidebar iframe generated using mdBook"),
)
#: A plugin of MkDocs; Sphinx's lists of names and of modules.
_ALSO = ".//div[@id='print-site-page' or @class='genindex-jumpbox' or @class='modindex-jumpbox']"


def repeats_others(url: str, html: str, tree: HtmlElement, robots: Set[str]) -> bool:
    """Return whether a page only holds what others hold, too.

    Args:
        url: URL or ``file://`` URI of the page.
        html: The page.
        tree: The same, parsed.
        robots: Words of its robots meta tag.
    """
    path = url.partition("?")[0]
    if any(path.endswith(name) and mark in html[:_HEAD] for name, mark in _MDBOOK):
        return True
    if "noindex" in robots and _FOR_PRINTING.search(path) is not None:
        return True
    return bool(tree.xpath(_ALSO))
