"""Rewrites what generators of documentation of programming interfaces express in a way of their own."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lxml.html import HtmlElement

_COLUMNS = {"two-column-": 2, "three-column-": 3, "four-column-": 4}


def rewrite_interfaces(tree: HtmlElement, generator: str) -> None:
    """Turn the special forms of Doxygen, Javadoc, Scaladoc, rustdoc, Texinfo and Haddock into the usual elements.

    Args:
        tree: The page; it is changed.
        generator: The content of ``<meta name=generator>`` in lower case, or an empty string.
    """
    _haddock(tree)  # these do not name themselves
    _scaladoc(tree)
    _old_javadoc(tree)
    for name, rewrite in _GENERATORS.items():
        if generator.startswith(name):
            rewrite(tree)


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

    for part in tree.xpath(".//p[@class='legalCopy'] | .//caption/span[contains(@class, 'TableTab')]"):
        part.drop_tree()
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
        " | .//*[self::h4 or self::h5][a[starts-with(@id, 'FOOT') or starts-with(@name, 'FOOT')]]"  # only its number
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


def _scaladoc(tree: HtmlElement) -> None:
    if not tree.xpath(".//div[@id='definition']/*[@class='permalink' or self::h1] and .//div[@id='template']"):
        return
    for part in tree.xpath(
        ".//*[@id='search' or @id='subpackage-spacer' or @id='mbrsel'] | .//span[@class='permalink']"
        " | .//p[contains(@class, 'shortcomment')][following-sibling::div[@class='fullcomment']/div]"  # its beginning
        " | .//li[starts-with(@name, 'scala.Any#') or starts-with(@name, 'scala.AnyRef#')]"  # the same in all classes
        " | .//div[@id='inheritedMembers'][not(.//li)] | .//div[@id='groupedMembers'][not(.//li)]"
    ):
        part.drop_tree()


def _old_javadoc(tree: HtmlElement) -> None:
    for cell in tree.xpath(".//td[@class='NavBarCell2' or @class='NavBarCell3']"):  # until Java 6
        table = next(cell.iterancestors("table"), None)
        if table is not None and table.getparent() is not None:
            table.drop_tree()


_GENERATORS: dict[str, Callable[[HtmlElement], None]] = {
    "doxygen": _doxygen,
    "javadoc": _javadoc,
    "rustdoc": _rustdoc,
    "makeinfo": _texinfo,
    "texi2any": _texinfo,
}
