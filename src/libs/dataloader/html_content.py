"""Finds what a page is about: takes out navigation, banners and the like, and never the text itself."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lxml.html import HtmlElement

_NEVER_TEXT = (
    "script",
    "style",
    "template",
    "noscript",
    "svg",
    "canvas",
    "iframe",
    "object",
    "embed",
    "audio",
    "video",
    "button",
    "select",
    "input",
    "textarea",
    "datalist",
)
_CHROME_TAGS = frozenset(("nav", "aside", "dialog"))
_CHROME_ROLES = frozenset(
    "navigation banner complementary search contentinfo dialog alertdialog menu menubar toolbar tablist".split()  # noqa: SIM905
)
_SECTIONING = frozenset(("article", "main", "section"))

# Whole words of ids and classes, a word being a run of letters after splitting at "-", "_", "__" and camelCase.
_CHROME_NAMES = re.compile(
    r"""(?:^|\b)(?:
      cookies?|cookie\s?(?:bar|banner|notice|consent|law)|consent|gdpr|ccpa|onetrust|cookiebot|privacy\sbanner|
      nav|navs|navi|navbar|navigation|topnav|subnav|sitenav|navbox|menu|submenu|topbar|offcanvas|hamburger|
      breadcrumbs?|pagination|pager|paging|skip\s?(?:link|nav|to\scontent)s?|
      side\s?bars?|sidenav|rail|widget|widgets|
      share|shares|sharing|sharedaddy|addtoany|addthis|social|socials|follow\sus|
      related|recommended|recommendations?|teasers?|read\smore|more\sstories|you\smay\s(?:also\s)?like|
      newsletter|subscribe|subscription|signup|sign\sup|paywall|promo|promotion|outbrain|taboola|
      ad|ads|advert|adverts|advertisement|advertising|sponsored|sponsor|banner\sad|
      popup|modal|overlay|lightbox|tooltip|toast|
      comments?|respond|disqus|
      footer|colophon|copyright|masthead|site\sheader|page\sheader|print\sonly|screen\sreader(?:\stext)?|sr\sonly|
      visually\shidden|edit\ssection|mw\seditsection|mw\sjump\slink|toc|table\sof\scontents
    )(?:\b|$)""",
    re.VERBOSE,
)
_SPLIT = re.compile(r"(?<=[a-z])(?=[A-Z])|[-_:\s]+")
_HIDDEN = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)

_MAIN_PATHS = (
    "//main",
    "//*[@role='main']",
    "//*[@itemprop='articleBody']",
    "//article",
    "//*[@id='content' or @id='main-content' or @id='mw-content-text' or @id='bodyContent' or @id='readme']",
)
_TOO_LARGE_SHARE = 0.5  # an element that holds more of the page than this is not taken out by its name
_MAIN_SHARE = 0.4  # a main element must hold at least this much of what is left
_LEAST_CHARS = 200
_LEAST_SHARE = 0.1


def main_content(body: HtmlElement) -> HtmlElement:
    """The part of a page that is its text.

    What is left out: scripts, forms' controls, ``nav``, ``aside``, dialogs, hidden parts, headers and footers of the
    whole page, and what calls itself cookie banner, menu, sidebar, share bar, related links, advertisement or comments.
    Where hardly anything would be left, the whole body is returned instead.

    Args:
        body: The ``body`` element; it is changed.

    Returns:
        An element of the same tree, or of a copy of it.
    """
    from copy import deepcopy

    _drop(list(body.iter(*_NEVER_TEXT)))
    total = _length(body)
    whole = deepcopy(body)
    _drop([node for node in body.iter() if isinstance(node.tag, str) and _is_hidden(node)])
    lengths = _lengths(body)
    visible = lengths[body]
    doomed = [
        node
        for node in body.iterdescendants()
        if isinstance(node.tag, str) and _is_chrome(node) and lengths[node] <= _TOO_LARGE_SHARE * visible
    ]
    _drop(doomed)
    best = _main_element(body)
    left = _length(best)
    if left == 0 or (left < _LEAST_CHARS and left < _LEAST_SHARE * total):
        return whole
    return best


def _main_element(body: HtmlElement) -> HtmlElement:
    available = _length(body)
    for path in _MAIN_PATHS:
        found: list[HtmlElement] = [node for node in body.xpath(path) if _length(node) >= _MAIN_SHARE * available]
        if found:
            return max(found, key=_length)
    return body


def _drop(nodes: list[HtmlElement]) -> None:
    for node in nodes:
        if node.getparent() is not None:
            node.drop_tree()


def _length(node: HtmlElement) -> int:
    return sum(len(text.strip()) for text in node.itertext(with_tail=False))


def _lengths(root: HtmlElement) -> dict[HtmlElement, int]:
    """Characters of text in every element, in one pass."""
    lengths: dict[HtmlElement, int] = {}
    for node in reversed(list(root.iter())):  # children come before their parents
        own = len((node.text or "").strip()) if isinstance(node.tag, str) else 0
        lengths[node] = own + sum(lengths[child] + len((child.tail or "").strip()) for child in node)
    return lengths


def _is_hidden(node: HtmlElement) -> bool:
    if node.get("hidden") is not None and node.get("hidden") != "until-found":
        return True
    style = node.get("style")
    return style is not None and _HIDDEN.search(style) is not None


def _is_chrome(node: HtmlElement) -> bool:
    if node.tag in _CHROME_TAGS or node.get("role") in _CHROME_ROLES:
        return True
    if node.tag in ("header", "footer"):
        return not any(ancestor.tag in _SECTIONING for ancestor in node.iterancestors())
    if node.tag in (
        "html",
        "body",
        "main",
        "article",
        "h1",
        "h2",
        "h3",
        "h4",
        "h5",
        "h6",
        "p",
        "pre",
        "code",
        "td",
        "th",
    ):
        return False
    name = f"{node.get('id', '')} {node.get('class', '')}"
    if len(name) < 3:
        return False
    return _CHROME_NAMES.search(_SPLIT.sub(" ", name).lower()) is not None
