"""Writes out what a page shows by other means than text: formulas, boxes that are ticked, and marks of footnotes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from libs.dataloader.mathml import formula
from libs.dataloader.text import raised

if TYPE_CHECKING:
    from lxml.html import HtmlElement

_BACK = frozenset("↩↵⤴⮐⏎↑^")  # what leads from a footnote back to the text
_KINDS = ("role", "epub:type", "data-type")
_NOTED = frozenset(("doc-noteref", "noteref"))


def write_notation(tree: HtmlElement) -> None:
    """Replace formulas and powers by their text, and ticked boxes of lists by ``[x]``; drop what is there twice.

    Args:
        tree: The page; it is changed.
    """
    _formulas(tree)
    for above in tree.xpath(".//sup"):
        words = above.text_content()
        around = (link for link in above.iterancestors("a") if _same(link.text_content(), words))
        if any("#" in link.get("href", "") for link in (*above.iter("a"), *around)):
            above.drop_tree()  # the mark of a footnote
        elif (power := raised(words.strip(), _before(above))) != words.strip():
            _become_text(above, power)
    # Not ".//li//input", which takes the square of the number of items.
    for box in tree.xpath(".//input[@type='checkbox'][ancestor::li]"):
        if _begins(next(box.iterancestors("li")), box):
            _become_text(box, "[x] " if box.get("checked") is not None else "[ ] ")
    for link in tree.xpath(".//a[contains(@href, '#')]"):
        words = link.text_content().strip(" \n\t\xa0\ufe0e\ufe0f")
        if words in _BACK or (words.isdecimal() and _NOTED & {link.get(name) for name in _KINDS}):
            link.drop_tree()
    for image in tree.xpath(".//img[@alt][@src]"):
        name = image.get("alt").rpartition("/")[2]
        if "." in name and image.get("src").endswith(name):
            image.set("alt", "")  # the name of its file, which Sphinx and editors write for want of words
    _repeated_descriptions(tree)


def _repeated_descriptions(tree: HtmlElement) -> None:
    """Drop the description of an image that is its caption, or the text behind it: a name beside a portrait."""
    from lxml import etree

    captions: dict[HtmlElement, set[str]] = {}
    for image in tree.xpath(".//img[@alt][ancestor::figure]"):
        figure = next(image.iterancestors("figure"))
        if figure not in captions:
            captions[figure] = {_one_line(caption.text_content()) for caption in figure.iter("figcaption")}
        if _one_line(image.get("alt", "")) in captions[figure]:
            image.set("alt", "")
    last: HtmlElement | None = None  # with no text behind it so far
    for event, node in etree.iterwalk(tree, events=("start", "end")):
        if event == "start" and node.tag == "img":
            last = node if node.get("alt") else None
            continue
        text = node.text if event == "start" else node.tail
        if last is not None and text and (text := _one_line(text)):
            if text == _one_line(last.get("alt", "")):
                last.set("alt", "")
            last = None


def _formulas(tree: HtmlElement) -> None:
    for script in tree.xpath(".//script[starts-with(@type, 'math/tex')]"):  # MathJax 2, which shows it beside
        before = script.getprevious()
        while before is not None and before.get("class", "").startswith("MathJax") and not (before.tail or "").strip():
            shown, before = before, before.getprevious()
            shown.drop_tree()
        _become_text(script, f"${' '.join((script.text or '').split())}$")
    for math in tree.xpath(".//math"):
        _become_text(math, formula(math))
    # The same once more: for the eye (KaTeX), and as an image, which is what is shown (Wikipedia).
    for shown in tree.xpath(".//span[@aria-hidden='true'][contains(@class, 'katex-html')][preceding-sibling::*]"):
        shown.drop_tree()
    for hidden in tree.xpath(".//span[contains(@class, 'mwe-math-mathml')][following-sibling::img]"):
        hidden.attrib.pop("style", None)
        hidden.getnext().set("alt", "")


def _before(node: HtmlElement) -> str:
    """Return the end of the text before an element; empty where the element begins its parent."""
    previous, parent = node.getprevious(), node.getparent()
    if previous is not None:
        return (previous.tail or previous.text_content())[-1:]
    return (parent.text or "")[-1:] if parent is not None else ""


def _begins(item: HtmlElement, box: HtmlElement) -> bool:
    """Return whether an item of a list begins with a box."""
    around = set(box.iterancestors())
    for node in item.iter():
        if node is box:
            return True
        if (node.text or "").strip() or (node not in around and (node.tail or "").strip()):
            return False
    return False


def _become_text(node: HtmlElement, text: str) -> None:
    tail = node.tail
    node.clear(keep_tail=True)
    node.tag, node.text, node.tail = "span", text, tail


def _same(one: str, other: str) -> bool:
    return _one_line(one) == _one_line(other)


def _one_line(text: str) -> str:
    return " ".join(text.split())
