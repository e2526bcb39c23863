"""Finds the title of a page from its head and its heading, without the name of the site."""

from __future__ import annotations

from copy import deepcopy
from typing import TYPE_CHECKING

from libs.dataloader.html_text import inline_text
from libs.regexes import regex

if TYPE_CHECKING:
    from lxml.html import HtmlElement

_WORD = regex(r"\w+")
_SITE = regex(r"\s+[-–—|·•»«:/~]+\s+|\s*[|»·•]+\s*|:\s+")
_FRAME = frozenset(("nav", "aside", "footer", "dialog"))
_NO_PLACE = frozenset(("table", "ul", "ol", "dl", "pre"))
_LOWER_HEADINGS = ("h2", "h3", "h4", "h5", "h6")
#: A longer group has a text below its heading.
_LONGEST_GROUP = 200


def join_subtitles(tree: HtmlElement) -> None:
    """Make one heading of what a page groups as one (``hgroup``): "III: The Problem"."""
    for group in list(tree.iter("hgroup")):
        parts = [(node, text) for node in group.iter("h1", *_LOWER_HEADINGS, "p") if (text := inline_text(node))]
        heading = next((node for node, _ in parts if node.tag != "p"), None)
        whole = ": ".join(text.rstrip(" :") for _, text in parts)
        if heading is None or len(parts) == 1 or len(whole) > _LONGEST_GROUP:
            continue
        for node, _ in parts:
            if node is not heading:
                node.drop_tree()
        del heading[:]
        heading.text = whole


def heading_of_title(tree: HtmlElement, title: str | None) -> list[HtmlElement]:
    """Return the heading of a page that matches its title, wherever it is.

    Args:
        tree: The page.
        title: What its head says.

    Returns:
        A copy of the heading, and of the section after it if that is a heading too, as above the text of manual
        pages; empty if there is none.
    """
    for heading in tree.iter("h1") if title else ():
        if not _tells_of(inline_text(heading), title) or any(node.tag in _FRAME for node in heading.iterancestors()):
            continue
        following = (
            list(heading.itersiblings()) if (after := heading.getnext()) is not None and after.tag == "h2" else []
        )
        return [deepcopy(node) for node in (heading, *following)]
    return []


def put_heading(content: HtmlElement, heading: list[HtmlElement], title: str | None) -> None:
    """Put the heading of the page before its text, if that was extracted without it and has none of its own.

    Args:
        content: The text of the page; it is changed.
        heading: As returned by :func:`heading_of_title`.
        title: What the head of the page says.
    """
    if not heading or content.tag in _NO_PLACE or content.find(".//h1") is not None:
        return
    first = next(content.iter(*_LOWER_HEADINGS), None)
    if first is not None and _tells_of(inline_text(first), title):
        return
    heading[-1].tail, content.text = content.text, None
    content[:0] = heading


def without_site(title: str, content: HtmlElement) -> tuple[str, str | None]:
    """Remove the name of the site from a title that begins with the heading of the page.

    Args:
        title: What the head of the page says.
        content: The text of the page.

    Returns:
        The title, and what was removed from it.
    """
    heading = next((text for node in content.iter("h1") if (text := inline_text(node).rstrip(" ¶#"))), "")
    if not heading or not title.casefold().startswith(heading.casefold()):
        return title, None
    rest = title[len(heading) :]
    separator = _SITE.match(rest)
    site = rest[separator.end() :] if separator else ""
    # If another heading has that name, the site comes first: its h1 is on every page, the page has an h2.
    if not site or any(_tells_of(inline_text(node), site) for node in content.iter("h2")):
        return title, None
    return title[: len(heading)], site


def _tells_of(heading: str, title: str | None) -> bool:
    """Return whether a heading is the name of the page in a title, and not the name of the site at its end."""
    words, told = _words(heading), _words(title or "")
    if not words or not told:
        return False
    if len(words) > len(told):
        return words[: len(told)] == told
    starts = range(len(told) - len(words) + 1)
    return any(told[start : start + len(words)] == words for start in (starts if words == told else starts[:-1]))


def _words(text: str) -> list[str]:
    return _WORD.findall(text.casefold())[:100]
