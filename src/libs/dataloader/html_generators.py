"""Rewrites what generators of documentation and wikis express with other elements than those that HTML has for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from libs.dataloader.html_interfaces import rewrite_interfaces
from libs.dataloader.html_text import BLOCKS
from libs.regexes import regex

if TYPE_CHECKING:
    from lxml.html import HtmlElement

_LINE_NUMBERS = regex(
    r"(?:.+-)?line-?n(?:o|os|um|ums|umber|umbers)(?:-.+)?|linenodiv|sourceLineNo|lnt?|lntd|(?:.+-)?gutter|"
    r"blob-num|hljs-ln-.+"
)
_MARKS = 3  # characters between links, such as "|"
_MOST_NODES = 100  # in a line of links
_DIGITS = regex(r"[\d\s]*")
# What says that it is a part of the text, such as ``role="doc-tip"``.
_OF_BOOKS = "@data-type or @*[name()='epub:type'] or @role='note' or starts-with(@role, 'doc-')"
_PROMPT = regex(r"\s*(?:In|Out)?\s*\[[\d\s*]*\]:\s*")  # "In [1]:"
_PROMPT_CHARS = 100
_ICON_FONTS = frozenset(("material-icons", "material-symbols-outlined", "material-symbols-rounded"))
# Where forges and wikis let their readers change a page.
_EDITOR = regex(
    r"^https?://git(?:hub|ea)\.[^/]+/[^/]+/[^/]+/(?:edit|new|_edit|_new)/|/-/(?:edit|new)/|[?&](?:mode|action)=edit\b"
)
_CONFLUENCE_DATE = regex(r" on (\S.{5,30})$")
_ROLES = {
    "table": "table",
    "grid": "table",
    "rowgroup": "tbody",
    "row": "tr",
    "columnheader": "th",
    "rowheader": "th",
    "cell": "td",
    "gridcell": "td",
}


def as_plain_html(tree: HtmlElement) -> None:
    """Turn what only looks like code, tables or headings into the elements for it, and drop what accompanies it.

    Line numbers, permalinks and names of languages beside code are dropped, elements with the role of a table become
    tables, and the special forms of Doxygen, Javadoc, rustdoc, Texinfo, Haddock, gi-docgen and Confluence become the
    usual ones.

    Args:
        tree: The page; it is changed.
    """
    generators = (tag.get("content", "") for tag in tree.iter("meta") if tag.get("name", "").lower() == "generator")
    generator = next(generators, "").lower()
    for link in tree.xpath(".//a[contains(@class, 'headerlink') or .='¶']"):
        if "#" in link.get("href", ""):
            link.drop_tree()
    for link in tree.xpath(".//a[@class='viewcode-back' or span[@class='viewcode-link']]"):  # Sphinx
        link.drop_tree()
    for name in tree.xpath(".//div[starts-with(@class, 'language-')]/span[@class='lang']"):  # VitePress
        name.drop_tree()
    for link in tree.xpath(
        ".//a[@class='srclink' or starts-with(@style, 'float:right')][.='[src]' or .='source']"
    ):  # gi-docgen, rustdoc, nbdev
        if (before := link.getprevious()) is not None and (before.tail or "").strip() == "·":
            before.tail = ""
        link.drop_tree()
    for arrow in tree.xpath(".//h1/span[@class='sep'][not(node())]"):  # gi-docgen: a style sheet shows it
        if not (arrow.tail or "").startswith(":"):
            arrow.text = "."
    for name in tree.xpath(".//div[contains(@class, 'VPHero')]//h1/span[following-sibling::span]"):  # VitePress
        name.tail = " "  # each of them is a line
    for pages in tree.xpath(".//div[contains(@class, 'breadcrumb')][following-sibling::*[1][self::h1]]"):  # Nextra
        pages.drop_tree()
    for box in tree.xpath(".//aside[contains(@class, 'sidebar')][p[contains(@class, 'sidebar-title')]]"):  # Docutils
        box.tag, box.attrib["class"] = "div", "topic"  # a box of the text, not what is beside the page
    for icon in tree.xpath(".//i[contains(@class, 'material-')] | .//span[contains(@class, 'material-')]"):
        if _ICON_FONTS & set(icon.get("class").split()):
            icon.drop_tree()  # its text, such as "menu", is the name of a picture
    for icon in tree.xpath(
        ".//div/table[tr[th or td/img] or tbody/tr/td/img]//td/img[starts-with(@alt, '[')]"
    ):  # DocBook
        next(icon.iterancestors("table")).set("role", "presentation")  # a note, which is no data
        icon.drop_tree()
    _drop_editors(tree)
    for part in tree.xpath(f".//aside[{_OF_BOOKS}]"):  # O'Reilly's HTMLBook, EPUB
        part.tag = "div"
    for note in tree.xpath(".//span[@data-type='footnote']"):  # HTMLBook has the note where its mark would be
        note.text, note.tail = f" ({note.text or ''}", f"){note.tail or ''}"
    for prompt in tree.xpath(".//div[contains(@class, 'prompt') or contains(@class, 'Prompt')]"):  # notebooks
        if _PROMPT.fullmatch(prompt.text_content()[:_PROMPT_CHARS]) is not None:
            prompt.drop_tree()
    for post in tree.xpath(".//script[@type='text/template']/following-sibling::*[1][self::noscript]"):
        post.tag = "div"  # posts of Blogger, which a script shows
    for results in tree.xpath(".//div[@id='book-search-results']/div[@class='search-results']"):  # HonKit, GitBook
        results.drop_tree()
    _confluence(tree)
    rewrite_interfaces(tree, generator)
    _drop_line_numbers(tree)
    _tables_of_roles(tree)


def _drop_editors(tree: HtmlElement) -> None:
    lines: dict[HtmlElement, bool] = {}
    for link in tree.xpath(".//a[contains(@href, 'edit') or contains(@href, '/new/')]"):
        block = next((node for node in link.iterancestors() if node.tag in BLOCKS), None)
        if block is None or _EDITOR.search(link.get("href")) is None:
            continue
        if block not in lines:
            lines[block] = _is_line_of_links(block)
        if lines[block]:
            link.drop_tree()


def _is_line_of_links(block: HtmlElement) -> bool:
    """Return whether there is nothing but links in a block: they are no words of a sentence."""
    linked: set[HtmlElement] = set()
    beside = 0
    for count, node in enumerate(block.iter()):
        if count > _MOST_NODES:
            return False
        above = node.getparent()
        if node.tag == "a" or above in linked:
            linked.add(node)
        else:
            beside += len((node.text or "").strip())
        if node is not block and above not in linked:
            beside += len((node.tail or "").strip())
    return beside <= _MARKS


def _drop_line_numbers(tree: HtmlElement) -> None:
    for node in tree.xpath(".//*[@class][self::td or self::th or self::div or self::span or self::a]"):
        if not any(map(_LINE_NUMBERS.fullmatch, node.get("class").split())):
            continue
        parent = node.getparent()
        if parent is None or not _DIGITS.fullmatch(node.text_content()) or not _is_beside_code(node, parent):
            continue
        if node.tag in ("td", "th") and (table := next(node.iterancestors("table"), None)) is not None:
            table.set("role", "presentation")  # the table only holds the line numbers
        node.drop_tree()


def _is_beside_code(node: HtmlElement, parent: HtmlElement) -> bool:
    if node.find(".//code") is not None:
        return False
    if parent.find("pre") is not None or next(node.iterancestors("pre"), None) is not None:
        return True
    return node.tag in ("td", "th") and any(cell.find(".//pre") is not None for cell in parent if cell is not node)


def _tables_of_roles(tree: HtmlElement) -> None:
    for table in tree.xpath(".//div[@role='table' or @role='grid']"):
        for node in table.xpath("descendant-or-self::*[self::div or self::span or self::ul or self::li]"):
            node.tag = _ROLES.get(node.get("role"), node.tag)


def _confluence(tree: HtmlElement) -> None:
    from lxml.html import Element

    for task in tree.xpath(".//ul[contains(@class, 'inline-task-list')]/li"):
        task.text = ("[x] " if "checked" in task.get("class", "").split() else "[ ] ") + (task.text or "")
    for line in tree.xpath(".//div[@class='page-metadata'][.//span[@class='author']]"):
        told = " ".join(line.text_content().split())
        _add_meta(tree, "author", line.xpath("string(.//span[@class='author'])"))
        if date := _CONFLUENCE_DATE.search(told):
            _add_meta(tree, "datemodified" if "last modified" in told else "datepublished", date[1])
        for content in tree.xpath(".//*[@id='main-content']")[:1]:  # who changed it is said nowhere else
            said = Element("p")
            said.text, said.tail, content.text = f"{told}.", content.text, None
            content.insert(0, said)
        line.drop_tree()
    space = tree.xpath("string(.//ol[@id='breadcrumbs']/li)").strip()
    if space and tree.xpath(".//h1[@id='title-heading']"):  # both say "Space : Page"
        for text in tree.xpath(".//title | .//span[@id='title-text']"):
            text.text = (text.text or "").strip().removeprefix(f"{space} : ")
        _add_meta(tree, "og:site_name", space)


def _add_meta(tree: HtmlElement, name: str, content: str) -> None:
    from lxml.html import Element

    tree.append(Element("meta", name=name, content=content))
