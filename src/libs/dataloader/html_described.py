"""Makes sections of what Sphinx describes in a page: functions, classes, settings, options."""

from __future__ import annotations

from copy import deepcopy
from itertools import takewhile
from typing import TYPE_CHECKING, NamedTuple

from libs.dataloader.formats.described import JOINTS, own_name
from libs.dataloader.html_text import HEADINGS, inline_text, texts_of

if TYPE_CHECKING:
    from lxml.html import HtmlElement

_TERMS = ".//dl/dt[*[contains(concat(' ', @class, ' '), ' descname ')]]"
_NAMES = frozenset(("descname", "descclassname"))
_CONTAINERS = frozenset(("div", "section", "article", "main"))
_DEEPEST = 6  # heading
# Pages of Sphinx before 3 only tell the kind.
_JOINTS = JOINTS | dict.fromkeys(("method", "classmethod", "staticmethod", "attribute"), ".")


class _Section(NamedTuple):
    heading: HtmlElement
    level: int
    name: str = ""  # of the class, without what it is in


def describe(content: HtmlElement) -> None:
    """Give each description a heading: its name, one level below that of the section or class in which it stands.

    Text behind it belongs to this section again, whose heading is repeated for that. Descriptions without a text, and
    those in lists, tables, notes and the like, remain terms of a list.

    Args:
        content: The text of a page; it is changed.
    """
    from lxml import etree

    terms: set[HtmlElement] = set(content.xpath(_TERMS))
    if not terms:
        return
    sections = _Sections(terms)
    for event, node in list(etree.iterwalk(content, events=("start", "end"))):
        if event == "start":
            sections.begin(node)
        else:
            sections.end(node)


class _Sections:
    def __init__(self, terms: set[HtmlElement]) -> None:
        from lxml.html import Element

        self._terms = terms
        self._around = [_Section(Element("h1"), 0)]  # there is none so far
        self._bodies: dict[HtmlElement, _Section] = {}  # what descriptions say
        self._inside: HtmlElement | None = None  # a block that is no container of others
        self._is_behind = False  # the last block was a description

    def begin(self, node: HtmlElement) -> None:
        if self._inside is not None:
            return
        if node.tag in HEADINGS and len(self._around) == 1:
            self._around[0] = _Section(node, HEADINGS[node.tag])
            self._is_behind = False
        elif (section := self._bodies.get(node)) is not None:
            self._around.append(section)
            self._is_behind = False
        elif node.tag in _CONTAINERS and "admonition" not in node.get("class", ""):
            if self._is_behind and (node.text or "").strip():
                heading = self._repeated()
                heading.tail, node.text = node.text, None
                node.insert(0, heading)
        elif node.tag != "dl" or not self._describe(node):
            self._inside = node
            if self._is_behind and node not in self._terms and _has_text(node):
                node.addprevious(self._repeated())

    def end(self, node: HtmlElement) -> None:
        if node is self._inside:
            self._inside = None
        elif node in self._bodies:
            self._is_behind |= self._around.pop().heading is not self._around[-1].heading
        elif node is self._around[0].heading.getparent():
            self._is_behind = False

    def _repeated(self) -> HtmlElement:
        """Return the heading of the section once more, for the text that goes on behind a description."""
        heading = deepcopy(self._around[-1].heading)
        heading.tail = None
        self._is_behind = False
        return heading

    def _describe(self, listed: HtmlElement) -> bool:
        """Turn a list of terms into sections; return false if it has no descriptions, or none with a text."""
        if not 0 < self._around[-1].level < _DEEPEST or listed.find("dt") not in self._terms:
            return False
        if not any(map(_has_text, listed.findall("dd"))):
            return False
        joint = next((_JOINTS[word] for word in listed.get("class", "").split() if word in _JOINTS), "")
        terms: list[HtmlElement] = []
        for node in list(listed):
            if node.tag == "dt":
                terms.append(node)
            elif node.tag == "dd":
                self._bodies[node] = self._section(terms, joint) if terms else self._around[-1]
                node.tag = "div"
                terms = []
        listed.tag = "div"
        return True

    def _section(self, terms: list[HtmlElement], joint: str) -> _Section:
        """Write the name of a description above its terms, unless the section around it has that name."""
        above = self._around[-1]
        name = ", ".join(dict.fromkeys(filter(None, map(_name, terms))))
        own = own_name(name)
        section = _Section(above.heading, above.level, own)
        if name and own != own_name(inline_text(above.heading)):
            whole = f"{above.name}{joint}{name}" if above.name and joint and own == name else name
            section = _Section(_heading(whole, above.level + 1), above.level + 1, own)
            terms[0].addprevious(section.heading)
        elif self._is_behind:
            terms[0].addprevious(self._repeated())
        self._is_behind = False
        for term in terms:
            if section.heading is not above.heading and inline_text(term) == name:
                term.drop_tree()
            else:
                _become_code(term)
        return section


def _name(term: HtmlElement) -> str:
    """Return what a term is called, with its class or namespace, without the rest of its signature."""
    parts = list(term)
    while parts and "descname" not in parts[-1].get("class", "").split():
        parts.pop()  # what is behind the name
    named = takewhile(lambda part: not _NAMES.isdisjoint(part.get("class", "").split()), reversed(parts))
    return " ".join("".join(text for part in [*named][::-1] for text in texts_of(part)).split())


def _heading(name: str, level: int) -> HtmlElement:
    from lxml.html import Element

    heading, code = Element(f"h{level}"), Element("code")
    code.text = name
    heading.append(code)
    return heading


def _become_code(term: HtmlElement) -> None:
    from lxml.html import Element

    code = Element("code")
    code.text, term.text = term.text, None
    code.extend(list(term))
    term.append(code)
    term.tag = "p"


def _has_text(node: HtmlElement) -> bool:
    return any(text.strip() for text in node.itertext())
