"""Handles content that a page shows on a click: panels of tabs, and headings that are buttons."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

from libs.regexes import regex

if TYPE_CHECKING:
    from lxml.html import HtmlElement

_HIDDEN = regex(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
# What Bootstrap hides (d-none) may be shown on larger screens: "d-none d-md-block".
_SHOWN = regex(r"\bd-(?:sm|md|lg|xl|xxl)-(?!none)")
_HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
#: Attributes of a button that opens and closes something, by accessibility and by Bootstrap.
_OPENING = ("aria-expanded", "aria-controls", "data-bs-target", "data-target")
_FEWEST = 2
#: What has buttons of its own: menus, and headings that are read as such already.
_NO_BOXES = frozenset(("nav", "header", "form", "pre", *_HEADINGS))
_TITLES = (*_HEADINGS, "summary", "dt", "legend")


def is_panel(node: HtmlElement) -> bool:
    """Return whether an element is shown when its tab or its heading is clicked."""
    role = node.get("role")
    return role == "tabpanel" or (role == "region" and node.get("aria-labelledby") is not None)


def is_hidden(node: HtmlElement) -> bool:
    """Return whether an element is not shown, by its attribute, style or class; panels count as shown."""
    if is_panel(node):
        return False
    if node.get("hidden") is not None and node.get("hidden") != "until-found":
        return True
    if "d-none" in (name := node.get("class", "")) and _SHOWN.search(name) is None and "d-none" in name.split():
        return True
    if "sortkey" in name and "sortkey" in name.split():  # MediaWiki's, in cells: "Lyons, Joseph" before "Joseph Lyons"
        return True
    style = node.get("style")
    return style is not None and _HIDDEN.search(style) is not None


def unwrap_titles(root: HtmlElement) -> None:
    """Move the text of a button that is all of a heading (``<h2><button>…``) into the heading."""
    for title in list(root.iter(*_TITLES)):
        buttons = list(title.iter("button"))
        if buttons and _size(title) == sum(_size(button) for button in buttons):
            for button in buttons:
                button.drop_tag()


def head_panels(root: HtmlElement) -> None:
    """Turn the labels of an accordion (``<button aria-expanded>``, ``<summary>``) into headings of what they open.

    On many pages these are the questions. As controls, buttons would be left out, and what they hide, too. A single
    one ("Show more"), or several of the same name, name nothing.
    """
    opened = {label: panel for label in root.iter("button", "summary") if (panel := _opened(label)) is not None}
    if len({" ".join(label.text_content().split()) for label in opened}) < max(len(opened), _FEWEST):
        return
    within = {heading for panel in opened.values() for heading in panel.iter(*_HEADINGS)}
    level = 1
    for node in list(root.iter(*_HEADINGS, "button", "summary")):
        if node in opened:
            node.tag = f"h{min(level + 1, 6)}"
            for name in ("hidden", "style"):
                opened[node].attrib.pop(name, None)
        elif node.tag in _HEADINGS and node not in within:
            level = int(node.tag[1])


def _opened(label: HtmlElement) -> HtmlElement | None:
    """Return what a label opens: what stands beside it; ``None`` for other buttons, and if it is a menu or the page."""
    size = _size(label)
    if not size or label.get("role") == "tab" or any(node.tag in _NO_BOXES for node in label.iterancestors()):
        return None
    if label.tag == "summary":
        panel, own = label.getparent(), size
    else:
        panel, own = _beside(label, size) if any(label.get(name) for name in _OPENING) else None, 0
    if panel is None or panel.tag in ("button", "main") or panel.find(".//main") is not None:
        return None
    return panel if _size(panel) - own > 2 * sum(map(_size, panel.iter("a"))) else None


def _beside(label: HtmlElement, size: int) -> HtmlElement | None:
    """Return the element behind a label, or behind the box that holds nothing else."""
    box: HtmlElement | None = label
    while box is not None and _size(box) == size:
        if (following := box.getnext()) is not None:
            return following
        box = box.getparent()
    return None


def label_panels(root: HtmlElement) -> None:
    """Write the name of its tab before each panel, because the tabs themselves are controls and left out."""
    from lxml.html import Element

    for panel, label in list(_labels(root)):
        line = Element("p")
        line.text = label
        line.tail, panel.text = panel.text, None
        panel.insert(0, line)


def _labels(root: HtmlElement) -> Iterator[tuple[HtmlElement, str]]:
    named = {panel: tab for panel, tab in _pairs(root) if not panel.xpath("ancestor::*[@role='tablist']")}
    for panel, tab in named.items():
        if label := " ".join(tab.text_content().split()):
            yield panel, label
    found: dict[HtmlElement, list[HtmlElement]] = {}  # panels below each parent of a list of tabs
    for tablist in root.xpath(".//*[@role='tablist']"):
        tabs = tablist.xpath(".//*[@role='tab']")
        around = tablist.getparent()
        if around not in found:
            found[around] = [panel for panel in around.xpath(".//*[@role='tabpanel']") if panel not in named]
        panels = found[around]
        if tabs and len(tabs) == len(panels) and not tablist.xpath(".//*[@role='tabpanel']"):
            for tab, panel in zip(tabs, panels, strict=True):
                if label := " ".join(tab.text_content().split()):
                    yield panel, label
    radios = set(root.xpath(".//input[@type='radio']/@id"))
    for tabs in root.xpath(".//div[label][not(*[not(self::input or self::label)])]") if radios else ():
        labels, panels = tabs.findall("label"), tabs.getnext()  # tabs that need no script: PyMdown, VitePress
        if panels is not None and len(labels) == len(panels) and all(label.get("for") in radios for label in labels):
            for label, panel in zip(labels, panels, strict=True):
                yield panel, " ".join(label.text_content().split())
            tabs.drop_tree()


def _pairs(root: HtmlElement) -> Iterator[tuple[HtmlElement, HtmlElement]]:
    """Yield the panels that name their tabs, or that tabs name; ids that occur twice name nothing."""
    tabs = root.xpath(".//*[@role='tab']")
    panels = root.xpath(".//*[@role='tabpanel']") if tabs else []
    tab_of, panel_of = _by_id(tabs), _by_id(panels)
    for tab in tabs:
        if (panel := panel_of.get(tab.get("aria-controls"))) is not None:
            yield panel, tab
    for panel in panels:
        if (tab := tab_of.get(panel.get("aria-labelledby"))) is not None:
            yield panel, tab


def _by_id(nodes: list[HtmlElement]) -> dict[str | None, HtmlElement]:
    counts = Counter(node.get("id") for node in nodes)
    return {name: node for node in nodes if (name := node.get("id")) is not None and counts[name] == 1}


def _size(node: HtmlElement) -> int:
    return len("".join(node.text_content().split()))
