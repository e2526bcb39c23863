"""Finds the main content of a page: removes navigation, banners and the like, but never the text itself."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from libs.dataloader.html_names import Naming, naming
from libs.dataloader.html_panels import is_hidden, label_panels
from libs.regexes import regex

if TYPE_CHECKING:
    from lxml.html import HtmlElement

_NEVER_TEXT = tuple(
    (
        "script style template noscript svg canvas iframe object embed audio video button select input textarea "
        "datalist"
    ).split()
)
_CHROME_TAGS = frozenset(("nav", "aside", "dialog"))
_CHROME_ROLES = frozenset(
    "navigation banner complementary search contentinfo dialog alertdialog menu menubar toolbar tablist".split()
)
_RUNNING_TEXT = {"p": 25, "pre": 25, "blockquote": 25, "dd": 25, "td": 80, "li": 80}  # minimum characters to count
_LINK_BLOCKS = frozenset(("ul", "ol", "div", "section", "table", "form"))
_LINK_LISTS = frozenset(("ul", "ol"))
_SECTIONING = frozenset(("article", "main", "section"))

_NAMED = frozenset("div section aside header footer ul ol li dl form table tr figure fieldset center details".split())
_NAMED_INLINE = frozenset(("span", "a"))  # only of names that are always left out

_MAIN_PATHS = (
    "descendant-or-self::main",
    "descendant-or-self::*[@role='main']",
    "descendant-or-self::article",
    "descendant-or-self::*"
    "[@id='content' or @id='main-content' or @id='mw-content-text' or @id='bodyContent' or @id='readme']",
)
# ... and of these, with some more, what holds nothing but the text and what belongs to it:
_TEXT_PATHS = (
    *_MAIN_PATHS[:3],
    "descendant-or-self::*"
    "[@itemprop='articleBody' or @id='mw-content-text' or @id='bodyContent' or @id='readme' or @class='body']",
)
_NOTES = (
    ".//*[@id='footnotes' or @role='doc-endnotes' or contains(@class, 'footnotes')]"
    "[self::div or self::section or self::ol]"
)
_MAIN_SHARE = 0.5  # a main element must hold at least this much of what is left
_CORE_CHARS = 500  # with a smaller core the page may be an index, whose text is lists of links
_OWN_TEXT_CHARS = 150  # this much running text outweighs a weak name
_LINK_SHARE = 0.6  # a list or block with more of its text in links than this is navigation
_NAMED_LINK_SHARE = 0.5  # ... and one that is named as a menu with more than this
_LABEL_CHARS = 40  # ... or no more than a heading beside links into the page itself
_HIDDEN_SHARE = 0.5
_FRAME_SHARE = 0.5  # what holds more of the page than this is not its frame, whatever its name
_LEAD_CHARS = 100  # a page header with a heading and this much running text belongs to the text
_NOTICE_CHARS = 2000
_COOKIES = regex(r"\bcookies?\b|クッキー", re.IGNORECASE)
_ACCEPT = regex(
    r"\b(?:accept|agree|consent|allow|got it|akzept|zustimm|einverstanden|accepte|acept|accett|aceit|同意)",
    re.IGNORECASE,
)
_SKIP_TARGET = regex(r"#(?:main|content|main[-_]?content|skip[-_\w]*)", re.IGNORECASE)
_SKIP_CHARS = 60
_LEAST_CHARS = 200
_LEAST_SHARE = 0.1


def main_content(body: HtmlElement) -> HtmlElement:
    """Return the part of a page that is its text.

    Left out are scripts, form controls, ``nav``, ``aside``, dialogs, hidden parts, headers and footers of the whole
    page, and elements whose id or class names a cookie banner, menu, sidebar, share bar, related links, advertisement
    or comments. Panels of tabs and accordions count as shown. Within a main element an id is taken for a topic, an
    element named as a menu is left out only if it consists of links, and of other elements that consist of links only
    lists are left out. If hardly anything would remain, only certain parts of the frame are left out: cookie banners,
    navigation, footers, ``aside`` and hidden parts. If only headings remain then, the whole body is returned.

    Args:
        body: The ``body`` element; it is changed.

    Returns:
        An element of the same tree, or of a copy of it.
    """
    from copy import deepcopy

    label_panels(body)
    _drop(list(body.iter(*_NEVER_TEXT)))
    whole = deepcopy(body)
    sizes = _Sizes(body)
    if _drop_hidden(body, sizes):
        sizes = _Sizes(body)
    total = sizes.text[body]
    _drop_chrome(body, sizes, _is_chrome)
    best = _main_element(body)
    left = _length(best)
    if left == 0 or (left < _LEAST_CHARS and left < _LEAST_SHARE * total):
        unframed = deepcopy(whole)
        _drop_hidden(unframed, _Sizes(unframed))
        _drop_chrome(unframed, _Sizes(unframed), _is_frame)
        headings = sum(_length(node) for node in unframed.iter("h1", "h2", "h3", "h4", "h5", "h6"))
        return _main_element(unframed) if _length(unframed) > headings else whole
    _add_notes(body, best)
    return best


def _add_notes(body: HtmlElement, main: HtmlElement) -> None:
    """Move footnotes that stand below the main element into it, as Asciidoctor and some themes write them."""
    around = {main, *main.iterancestors()}
    for notes in body.xpath(_NOTES):
        if notes not in around and main not in notes.iterancestors():
            notes.tail = None
            main.append(notes)


def _drop_hidden(body: HtmlElement, sizes: _Sizes) -> bool:
    """Drop hidden parts, and return whether any were dropped. If most of the page is hidden, a script shows it."""
    hidden = [node for node in body.iter() if isinstance(node.tag, str) and is_hidden(node)]
    if not hidden or sum(sizes.text[node] for node in hidden) >= _HIDDEN_SHARE * sizes.text[body]:
        return False
    _drop(hidden)
    return True


def _drop_chrome(body: HtmlElement, sizes: _Sizes, is_chrome: Callable[[HtmlElement, _Sizes], bool]) -> None:
    kept = [sizes.core] if sizes.core is not None else []
    kept += [node for node in body.iter("main") if sizes.plain(node) >= _OWN_TEXT_CHARS]  # in a menu left unclosed
    protected = {above for node in kept for above in node.iterancestors()}
    _drop(
        [
            node
            for node in body.iterdescendants()
            if isinstance(node.tag, str) and node not in protected and is_chrome(node, sizes)
        ]
    )
    _drop(list(_cookie_notices(body, protected, sizes)))


def _cookie_notices(body: HtmlElement, protected: set[HtmlElement], sizes: _Sizes) -> Iterator[HtmlElement]:
    """Return short blocks at the edges of the page that ask for consent, whatever their names are."""
    from lxml.html import HtmlElement

    candidates = [*body, *(grandchild for child in body for grandchild in child)]
    for node in candidates:
        if (
            not isinstance(node, HtmlElement)
            or node in protected
            or sizes.is_inside(node)
            or node.tag in _SECTIONING
            or node.find(".//h1") is not None
        ):
            continue
        text = node.text_content()
        if len(text) < _NOTICE_CHARS and _COOKIES.search(text) and _ACCEPT.search(text):
            yield node


def _main_element(body: HtmlElement) -> HtmlElement:
    available = _length(body)
    for path in _MAIN_PATHS:
        found: list[HtmlElement] = [node for node in body.xpath(path) if _length(node) >= _MAIN_SHARE * available]
        if found:
            return _with_siblings(max(found, key=_length))
    return body


def _with_siblings(main: HtmlElement) -> HtmlElement:
    """Return the element around articles that stand side by side, as the posts of a thread or a blog do."""
    around = main.getparent()
    if main.tag != "article" or around is None:
        return main
    others = (node for node in around.iterchildren("article") if node is not main)
    return around if any(_length(node) >= _OWN_TEXT_CHARS for node in others) else main


def _drop(nodes: list[HtmlElement]) -> None:
    for node in nodes:
        if node.getparent() is not None:
            node.drop_tree()


def _length(node: HtmlElement) -> int:
    return sum(len(text.strip()) for text in node.itertext())  # with_tail=False would leave out tails of children, too


class _Sizes:
    """Sizes of the text and of the text in links of each element, and the element with the most running text."""

    def __init__(self, root: HtmlElement) -> None:
        self.text: dict[HtmlElement, int] = {}
        self.linked: dict[HtmlElement, int] = {}
        self.links: dict[HtmlElement, int] = {}
        nodes = list(root.iter())
        for node in reversed(nodes):  # children come before their parents
            text = len((node.text or "").strip()) if isinstance(node.tag, str) else 0
            linked = links = 0
            for child in node:
                text += self.text[child] + len((child.tail or "").strip())
                linked += self.linked[child]
                links += self.links[child]
            if node.tag == "a":
                linked, links = text, 1
            self.text[node], self.linked[node], self.links[node] = text, linked, links
        self._find_core(nodes)
        main = self._find_main(nodes[0])
        self._inside = set(main.iterdescendants()) if main is not None else set()

    def _find_core(self, nodes: list[HtmlElement]) -> None:
        """Find the element with the most running text directly in it or one level below."""
        frame: set[HtmlElement | None] = set()
        scores: dict[HtmlElement, float] = {}
        largest = _FRAME_SHARE * self.text[nodes[0]]
        mains = any(True for _ in nodes[0].iter("main"))
        for node in nodes:
            if not isinstance(node.tag, str):
                continue
            parent = node.getparent()
            smaller = self.text[node] < largest or (mains and node.get("role") == "contentinfo")
            if parent in frame or (smaller and (node.tag in ("nav", "footer") or naming(node).frame)):
                frame.add(node)
            elif parent is not None and node.tag in _RUNNING_TEXT and self.plain(node) >= _RUNNING_TEXT[node.tag]:
                scores[parent] = scores.get(parent, 0) + self.plain(node)
                if (above := parent.getparent()) is not None:
                    scores[above] = scores.get(above, 0) + self.plain(node) / 2
        self.core = max(scores, key=lambda node: scores[node], default=None)
        self.core_score = scores[self.core] if self.core is not None else 0.0
        self._around_core = set(self.core.iterancestors()) if self.core is not None else set()

    def _find_main(self, root: HtmlElement) -> HtmlElement | None:
        """Return the innermost main element that has most of the running text of those around it."""
        found: list[HtmlElement] = [
            node
            for path in _TEXT_PATHS
            for node in root.xpath(path)
            if self.core is None or node is self.core or node in self._around_core
        ]
        most = _MAIN_SHARE * max((self.plain(node) for node in found), default=0)
        return min((node for node in found if self.plain(node) >= most), key=lambda node: self.text[node], default=None)

    def naming(self, node: HtmlElement) -> Naming:
        """Return the kinds of names of an element; within the main element an id names its topic and not its role."""
        return naming(node, in_text=node in self._inside)

    def is_inside(self, node: HtmlElement) -> bool:
        """Return whether a node is inside the main element."""
        return node in self._inside

    def plain(self, node: HtmlElement) -> int:
        """Return the number of characters outside of links."""
        return self.text[node] - self.linked[node]

    def is_made_of_links(self, node: HtmlElement) -> bool:
        """Return whether so much of the text is in links that an element named as a menu is one."""
        if self.linked[node] > _NAMED_LINK_SHARE * self.text[node]:
            return True
        return self.links[node] > 0 and self.plain(node) <= _LABEL_CHARS and _leads_into_page(node)

    def is_link_list(self, node: HtmlElement) -> bool:
        """Return whether most of the text is in links and there are several of them."""
        return self.links[node] >= 3 and self.linked[node] > _LINK_SHARE * self.text[node]


def _leads_into_page(node: HtmlElement) -> bool:
    return all(link.get("href", "").startswith("#") for link in node.iter("a"))


def _is_chrome(node: HtmlElement, sizes: _Sizes) -> bool:
    """Return whether an element that does not contain the core belongs to the frame of the page."""
    core = sizes.core
    if node.tag == "aside" and sizes.naming(node).note and (sizes.is_inside(node) or _is_of_section(node)):
        return False
    if node.tag in _CHROME_TAGS or node.get("role") in _CHROME_ROLES:
        return (node is not core or node.tag == "nav") and not _holds_panels(node)
    if node is core:
        return False
    if node.tag in ("header", "footer"):
        if node.tag == "header" and node.find(".//h1") is not None and sizes.plain(node) >= _LEAD_CHARS:
            return False
        return _is_of_page(node) or _is_beside_article(node, sizes)
    if _is_called_chrome(node, sizes):
        return True
    around = node.getparent()
    if sizes.is_inside(node) and around is not None and sizes.naming(around).note:
        return False  # what a box of the text says to see also
    blocks = _LINK_LISTS if sizes.is_inside(node) else _LINK_BLOCKS
    if sizes.core_score < _CORE_CHARS or node.tag not in blocks or not sizes.is_link_list(node):
        return False
    return core not in list(node.iterancestors()) and not _names_code(node)


def _names_code(node: HtmlElement) -> bool:
    """Return whether most of the links of an element are names in code: those of an interface, not of other pages."""
    return 2 * len(node.xpath(".//a[.//code or parent::code]")) > len(node.xpath(".//a"))


def _holds_panels(node: HtmlElement) -> bool:
    """Return whether an accordion calls itself a list of tabs."""
    return node.get("role") == "tablist" and node.find(".//*[@role='tabpanel']") is not None


def _is_called_chrome(node: HtmlElement, sizes: _Sizes) -> bool:
    if _is_skip_link(node, sizes):
        return True
    if node.tag in _NAMED_INLINE:
        return sizes.naming(node).strong and not any(above.tag in ("pre", "code") for above in node.iterancestors())
    if node.tag not in _NAMED:
        return False
    name = sizes.naming(node)
    if name.strong or _is_footer(node, sizes):
        return True
    if sizes.is_inside(node):
        if name.navigation or name.links:
            return sizes.is_made_of_links(node)
    elif name.navigation:
        return True
    return (name.links or name.weak) and sizes.plain(node) < _OWN_TEXT_CHARS and node.find(".//pre") is None


def _is_footer(node: HtmlElement, sizes: _Sizes) -> bool:
    """Return whether an element is called just what HTML 5 calls the footer of a page, with nothing below it."""
    if "footer" not in (node.get("class"), node.get("id")) or sizes.is_inside(node) or not _is_of_page(node):
        return False
    return all(sizes.text[below] == 0 for below in node.itersiblings())


def _is_skip_link(node: HtmlElement, sizes: _Sizes) -> bool:
    """Return whether an element is a link that skips the frame, and not the text that it leads to."""
    named = (node.tag in _NAMED or node.tag in _NAMED_INLINE) and sizes.naming(node).skip
    if node.tag == "a" and not sizes.is_inside(node) and _SKIP_TARGET.fullmatch(node.get("href", "")) is not None:
        named = True
    return named and sizes.text[node] <= _SKIP_CHARS and next(node.iter("h1", "h2", "main"), None) is None


def _is_frame(node: HtmlElement, sizes: _Sizes) -> bool:
    """Return whether an element belongs to the frame of the page even if little else is on the page."""
    if node is sizes.core and node.tag != "nav":
        return False
    if node.tag in _CHROME_TAGS or node.get("role") in _CHROME_ROLES:
        return True
    if node.tag in ("header", "footer"):
        return _is_of_page(node) and (node.tag == "footer" or node.find(".//h1") is None)
    if _is_skip_link(node, sizes):
        return True
    if node.tag not in _NAMED:
        return False
    name = sizes.naming(node)
    if _is_footer(node, sizes) or (name.edge and sizes.plain(node) < _OWN_TEXT_CHARS):
        return True
    called = name.strong or name.navigation or name.links or name.weak
    return name.frame or (called and sizes.is_link_list(node))


def _is_of_section(node: HtmlElement) -> bool:
    """Return whether an element stands in a section with a heading, as in specifications, which have no ``main``."""
    around = node.getparent()
    return (
        around is not None
        and around.tag == "section"
        and next(around.iter("h2", "h3", "h4", "h5", "h6"), None) is not None
    )


def _is_beside_article(node: HtmlElement, sizes: _Sizes) -> bool:
    """Return whether a header or footer belongs to a ``main`` that has an article, too, which is the text."""
    around = next((above for above in node.iterancestors() if above.tag in _SECTIONING), None)
    if around is None or around.tag != "main" or sizes.plain(node) >= _OWN_TEXT_CHARS:
        return False
    article = sizes.core
    while article is not None and article.tag != "article":
        article = article.getparent()
    if article is None or around not in article.iterancestors():
        return False
    return node.tag == "footer" or (node.find(".//h1") is None and article.find(".//h1") is not None)


def _is_of_page(node: HtmlElement) -> bool:
    """Return whether a header or footer belongs to the page and not to an article."""
    return not any(ancestor.tag in _SECTIONING for ancestor in node.iterancestors())
