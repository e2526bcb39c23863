"""Tells the role of an HTML element from the words of its id and class."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from libs.regexes import regex

if TYPE_CHECKING:
    from lxml.html import HtmlElement

# Whole words, lower case, after splitting at "-", "_", blanks and camelCase. An element with such a name is left out
# unless it holds the core of the page:
_STRONG = regex(
    r"""\b(?:
      cookies?|cookie\s?(?:bar|banner|notice|consent|law)|consent|gdpr|ccpa|onetrust|cookiebot|
      addtoany|sharedaddy|
      newsletter|outbrain|taboola|disqus|respond|comments|kommentare|
      related(?:\s?(?:posts?|articles?|content|links|stories))|(?:popular|recent|recommended)\sposts|
      author\s(?:bio|box|info|description|about)|about\sauthor|comment\s(?:list|area|form|section)|
      visually\shidden|screen\sreader(?:\stext)?|sr\sonly|edit\ssection|editsection|jump\slink|onlyprint
    )\b""",
    re.VERBOSE,
)
# ... as is a short one with such a name; the target of such a link often has the same name:
_SKIP = regex(r"\bskip\s?(?:links?|navs?|navigation|to\s(?:main\s)?content)\b")
# ... and of these not even a large one can be the core:
_FRAME = regex(r"\b(?:cookies?|consent|gdpr|onetrust|disqus|respond|comments|kommentare|comment\s(?:list|area))\b")
# ... and likewise one that leads elsewhere, in the main element only if it consists of links:
_NAVIGATION = regex(
    r"""\b(?:
      navs?|navi|navbar|navigation\s?bar|navigation|topnav|subnav|sitenav|sidenav|navbox|navheader|navfooter|offcanvas|hamburger|
      prev(?:ious)?\snext|next\sprev(?:ious)?|contents\s(?:local\s)?topic|
      breadcrumbs?|pagination|pager|paging|side\s?bars?
    )\b""",
    re.VERBOSE,
)
# ... and one with little running text of its own, in the main element only if it consists of links:
_LINKS = regex(
    r"""\b(?:
      menu|submenu|topbar|rail|toc|table\sof\scontents|widgets?|(?<!tsd\s)tags?|tag\s(?:list|cloud)|
      shar(?:e|es|ing)|addthis|social|socials|follow\sus|related|recommended|recommendations?|teasers?|
      more\sstories|most\sread|you\smay|print\shidden|d\sprint\snone|no\s?print
    )\b""",
    re.VERBOSE,
)
_WEAK = regex(
    r"""\b(?:
      paywall|subscribe|subscription|sign\s?up|promo|promotion|
      ads?|adverts?|advertisement|advertising|sponsor|sponsored|popup|modal|overlay|lightbox|tooltip|toast|
      footer|colophon|copyright|masthead|(?:site|page)\sheader|print\sonly|meta|byline
    )\b""",
    re.VERBOSE,
)
# ... and of these what is at the edges of a page, even if it is a large part of a short one:
_EDGE = regex(r"\b(?:footer|colophon|masthead|(?:site|page)\s?header)\b")
# ... while an ``aside`` with such a name is a part of the text, as Docutils, ReSpec and others write it:
_NOTE = regex(
    r"\b(?:admonition|callout|notes?|tip|hint|warning|caution|danger|important|info|alert|topic|footnotes?|docutils|"
    r"examples?)\b"
)
_SPLIT = regex(r"(?<=[a-z])(?=[A-Z])|[-_:\s]+")
_WORD = regex(r"[^\W_]+")
_LONGEST = 500


class Naming(NamedTuple):
    """The kinds of names, of those above, that an element has."""

    strong: bool
    navigation: bool
    links: bool
    weak: bool
    frame: bool
    edge: bool
    note: bool
    skip: bool


_UNNAMED = Naming(*[False] * 8)


def naming(node: HtmlElement, *, in_text: bool = False) -> Naming:
    """Return the kinds of names of an element.

    Args:
        node: The element.
        in_text: Whether it is a part of the text; then its id names its topic and not its role.

    Returns:
        The kinds of names that its class, and its id, hold.
    """
    name = node.get("class", "")
    if not in_text and not _is_section(node):
        name += " " + node.get("id", "")
    return _classify(name[:_LONGEST]) if len(name) > 2 else _UNNAMED


def _is_section(node: HtmlElement) -> bool:
    """Return whether the id of an element is derived from the heading of its text, as generators do."""
    if node.tag != "section" and "section" not in node.get("class", "").split():
        return False
    words = _WORD.findall(node.get("id", "").lower())
    heading = next(node.iterchildren("h1", "h2", "h3", "h4", "h5", "h6"), None)
    return bool(words) and heading is not None and _WORD.findall(heading.text_content().lower())[-len(words) :] == words


@lru_cache(maxsize=4096)  # pages of one site use the same names
def _classify(name: str) -> Naming:
    words = _SPLIT.sub(" ", name).lower()
    return Naming(
        *(
            pattern.search(words) is not None
            for pattern in (_STRONG, _NAVIGATION, _LINKS, _WEAK, _FRAME, _EDGE, _NOTE, _SKIP)
        )
    )
