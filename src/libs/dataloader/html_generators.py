"""Rewrites what generators of documentation and wikis express with other elements than those that HTML has for it."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lxml.html import HtmlElement

_LINE_NUMBERS = re.compile(
    r"(?:.+-)?line-?n(?:o|os|um|ums|umber|umbers)(?:-.+)?|linenodiv|sourceLineNo|lnt?|lntd|(?:.+-)?gutter|"
    r"blob-num|hljs-ln-.+"
)
_DIGITS = re.compile(r"[\d\s]*")
# What says that it is a part of the text, such as ``role="doc-tip"``.
_OF_BOOKS = "@data-type or @*[name()='epub:type'] or @role='note' or starts-with(@role, 'doc-')"
_CONFLUENCE_DATE = re.compile(r" on (\S.{5,30})$")
_COLUMNS = {"two-column-": 2, "three-column-": 3, "four-column-": 4}
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
    for link in tree.xpath(".//a[contains(@class, 'headerlink')]"):
        if "#" in link.get("href", ""):
            link.drop_tree()
    for link in tree.xpath(".//a[@class='viewcode-back' or span[@class='viewcode-link']]"):  # Sphinx
        link.drop_tree()
    for name in tree.xpath(".//div[starts-with(@class, 'language-')]/span[@class='lang']"):  # VitePress
        name.drop_tree()
    for link in tree.xpath(".//a[@class='srclink'][.='[src]' or .='source']"):  # gi-docgen, rustdoc
        link.drop_tree()
    for arrow in tree.xpath(".//h1/span[@class='sep'][not(node())]"):  # gi-docgen: a style sheet shows it
        if not (arrow.tail or "").startswith(":"):
            arrow.text = "."
    for box in tree.xpath(".//aside[contains(@class, 'sidebar')][p[contains(@class, 'sidebar-title')]]"):  # Docutils
        box.tag, box.attrib["class"] = "div", "topic"  # a box of the text, not what is beside the page
    for part in tree.xpath(f".//aside[{_OF_BOOKS}]"):  # O'Reilly's HTMLBook, EPUB
        part.tag = "div"
    for note in tree.xpath(".//span[@data-type='footnote']"):  # HTMLBook has the note where its mark would be
        note.text, note.tail = f" ({note.text or ''}", f"){note.tail or ''}"
    _haddock(tree)  # these two do not name themselves
    _confluence(tree)
    for name, rewrite in _GENERATORS.items():
        if generator.startswith(name):
            rewrite(tree)
    _drop_line_numbers(tree)
    _tables_of_roles(tree)


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


def _doxygen(tree: HtmlElement) -> None:
    for part in tree.xpath(
        ".//div[@id='titlearea'] | .//div[@class='header']/div[@class='summary'] | .//div[@class='ingroups']"
        " | .//a[.='More...'] | .//div[@class='fragment']/div[@class='ttc']"  # the last: shown at a name in code
    ):
        part.drop_tree()
    for title in tree.xpath(".//div[@class='headertitle']/div[@class='title']"):
        title.tag = "h1"
    for title in tree.xpath(".//h2[@class='memtitle']"):
        title.tag = "h3"  # it is below the heading of all members of its kind
    for code in tree.xpath(".//div[@class='fragment']"):
        code.tag = "pre"


def _javadoc(tree: HtmlElement) -> None:
    from lxml.html import Element

    for table in tree.xpath(".//div[contains(@class, '-column-')]"):
        width = next((width for name, width in _COLUMNS.items() if name in table.get("class")), 0)
        cells = list(table)
        if not width or len(cells) % width or any(cell.tag != "div" for cell in cells):
            continue
        table.tag = "table"
        for start in range(0, len(cells), width):
            row = Element("tr")
            for cell in cells[start : start + width]:
                cell.tag = "th" if "table-header" in cell.get("class", "").split() else "td"
                row.append(cell)
            table.append(row)


def _rustdoc(tree: HtmlElement) -> None:
    for part in tree.xpath(
        ".//summary[@class='hideme'] | .//a[@class='anchor' or @class='doc-anchor' or @id='toggle-all-docs']"
        " | .//img[@class='rust-logo']"
    ):
        part.drop_tree()
    for beside in tree.xpath(".//span[@class='out-of-band']"):  # what is left: the version, and dots between
        version = beside.text_content().strip(" ·")
        beside.clear(keep_tail=True)
        beside.text = version
    for source in tree.xpath(".//a[@class='src' or @class='src rightside']"):
        before = source.getprevious()
        if before is not None and (before.tail or "").strip() == "·":
            before.tail = ""
        source.drop_tree()
    for since in tree.xpath(".//span[contains(@class, 'rightside')][following-sibling::*[1][self::h3 or self::h4]]"):
        since.getnext().addnext(since)  # the version that introduced a function, which preceded its heading


def _texinfo(tree: HtmlElement) -> None:
    for part in tree.xpath(
        ".//div[@class='header' or @class='nav-panel'][.//a[@accesskey or @rel]][not(.//h1 or .//h2)]"
        " | .//a[@class='copiable-anchor' or @class='copiable-link']"
    ):
        part.drop_tree()


def _haddock(tree: HtmlElement) -> None:
    for name in tree.xpath(".//div[@id='module-header']/p[@class='caption']"):
        name.tag = "h1"
    for definition in tree.xpath(".//div[@id='interface']//div[@class='top']/p[@class='src']"):
        for link in definition.xpath("a[@class='link' or @class='selflink']"):
            link.drop_tree()
        definition.tag = "h4"
    for kind in tree.xpath(".//span[@class='annottext'][parent::span[@class='annot']][ancestor::pre]"):
        kind.drop_tree()  # shown at a name in code


def _confluence(tree: HtmlElement) -> None:
    for task in tree.xpath(".//ul[contains(@class, 'inline-task-list')]/li"):
        task.text = ("[x] " if "checked" in task.get("class", "").split() else "[ ] ") + (task.text or "")
    for line in tree.xpath(".//div[@class='page-metadata'][.//span[@class='author']]"):
        told = " ".join(line.text_content().split())
        _add_meta(tree, "author", line.xpath("string(.//span[@class='author'])"))
        if date := _CONFLUENCE_DATE.search(told):
            _add_meta(tree, "datemodified" if "last modified" in told else "datepublished", date[1])
        line.drop_tree()
    space = tree.xpath("string(.//ol[@id='breadcrumbs']/li)").strip()
    if space and tree.xpath(".//h1[@id='title-heading']"):  # both say "Space : Page"
        for text in tree.xpath(".//title | .//span[@id='title-text']"):
            text.text = (text.text or "").strip().removeprefix(f"{space} : ")
        _add_meta(tree, "og:site_name", space)


def _add_meta(tree: HtmlElement, name: str, content: str) -> None:
    from lxml.html import Element

    tree.append(Element("meta", name=name, content=content))


_GENERATORS: dict[str, Callable[[HtmlElement], None]] = {
    "doxygen": _doxygen,
    "javadoc": _javadoc,
    "rustdoc": _rustdoc,
    "makeinfo": _texinfo,
    "texi2any": _texinfo,
}
