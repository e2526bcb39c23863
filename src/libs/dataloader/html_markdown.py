"""Converts an HTML tree to Markdown, without recursion, because real pages nest thousands of levels deep."""

from __future__ import annotations

from textwrap import dedent
from typing import TYPE_CHECKING

from libs.dataloader.formats.base import fenced
from libs.dataloader.html_tables import written_table
from libs.dataloader.html_text import BLOCKS, HEADINGS, INVISIBLE, SKIPPED, inline_text, texts_of
from libs.regexes import regex

if TYPE_CHECKING:
    from lxml.html import HtmlElement

_LISTS = frozenset(("ul", "ol", "menu", "dir"))
_LINES = frozenset(("div", "li", "p", "tr"))  # in code, each of these is a line
_CODE = frozenset(("code", "kbd", "samp", "tt"))
# The space of East Asia goes beside the end of a line only. What is before it is looked at once, from where it begins.
_SPACES = regex(
    r"(?<![ \t\r\f\xa0\u2000-\u200a\u202f\u3000])[ \t\r\f\xa0\u2000-\u200a\u202f\u3000]*\n[\s\xa0]*"
    r"|[ \t\r\f\xa0\u2000-\u200a\u202f]+"
)
_LIKE_MARKUP = regex(r"(#{1,6}\s|```|~~~)")
_PERMALINKS = frozenset(("#", "¶", "§", "🔗", "◆", "", "link", "permalink"))
# Of highlight.js and Prism, GitHub, SyntaxHighlighter; of Pandoc and Quarto (class="sourceCode bash").
_LANGUAGE = regex(
    r"(?:^|\s)(?:language-|lang-|highlight-(?:source-)?|brush:\s*|sourceCode\s+(?!number))([A-Za-z0-9+#_.-]+)"
)
_NO_LANGUAGES = frozenset("default none plaintext text txt notranslate undefined code-with-copy".split())
_LAYOUT_ROW_CHARS = 240
_HEADING_CHARS = 300
# Each line says of all of them. Nobody nests so many, but where "</ul>" or "</blockquote>" is forgotten all of the page
# lies deeper from there on; what is between the first ones and the innermost is left out.
_MOST_LEVELS = 50


def html_to_markdown(root: HtmlElement) -> str:
    """Write the tree below ``root`` as Markdown.

    Headings become ``#`` lines, lists and data tables their Markdown forms, ``pre`` fenced code. Emphasis is not marked
    and of links only the words are kept, because both would only dilute the text that is searched.

    Args:
        root: An element as ``lxml.html`` gives it; it is not changed.

    Returns:
        Markdown whose blocks are separated by one empty line, without one at the end.
    """
    return _Writer().write(root)


class _Writer:
    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._inline: list[str] = []
        self._containers: list[tuple[HtmlElement, str]] = []  # items and quotes around the node, line prefixes
        self._markers: dict[int, str] = {}  # depth of a container whose first line is still to be written
        self._numbers: dict[HtmlElement, int] = {}  # next number of each ordered list
        self._lists: list[HtmlElement] = []  # lists around the node
        self._last_list: HtmlElement | None = None  # outermost list of the previous block
        self._last_quote = ""  # prefix of the previous block, if it was quoted
        self._row: HtmlElement | None = None  # a layout row that is being written as one line
        self._heading = 0
        self._line: HtmlElement | None = None  # a heading that is written as one line, though blocks are in it

    def write(self, root: HtmlElement) -> str:
        from lxml import etree

        walk = etree.iterwalk(root, events=("start", "end"))
        for event, node in walk:
            if event == "start":
                if not self._start(node):
                    walk.skip_subtree()
                continue
            self._end(node)
            if node.tail and node is not root:
                self._inline.append(node.tail)
        self._flush()
        return "".join(self._pieces)

    # -- events ------------------------------------------------------------------------------------------------

    def _start(self, node: HtmlElement) -> bool:
        """Handle an opening tag. Return false if its content needs no visit; the closing tag is still visited."""
        tag = node.tag
        if tag in SKIPPED:
            return False
        if self._line is not None and tag in BLOCKS:
            self._inline.append(" ")
        elif tag in BLOCKS and self._row is None:
            self._flush()
        if tag == "pre":
            self._code_block(node)
            return False
        if tag == "table":
            written = written_table(node)
            if written is not None:
                caption = node.find("caption")
                if caption is not None and (text := inline_text(caption)):
                    self._emit(text)
                self._emit(written)
                return False
        elif tag == "tr" and self._row is None and _is_short_row(node):
            self._row = node
        elif tag in BLOCKS and self._row is not None:
            self._inline.append(" ")
        elif tag in HEADINGS:
            self._heading = HEADINGS[tag]
            self._line = node if _is_line(node) else None
        elif tag == "li":
            if not any(True for _ in node.iter(*HEADINGS)):  # an item with headings is a section, not an item
                self._open_item(node)
        elif tag in _LISTS or tag == "dl":
            self._lists.append(node)
        elif tag == "blockquote":
            self._containers.append((node, "> "))
        elif tag == "dd":
            self._open(node, ": ")
        elif tag == "br":
            self._inline.append("\x01")
        elif tag == "img":
            if (alt := node.get("alt", "").strip()) and len(alt) > 2:
                self._inline.append(f" {alt} " if self._row is None else alt)
            return False
        elif tag in _CODE:
            raw = "".join(texts_of(node))
            if text := " ".join(INVISIBLE.sub("", raw).split()):
                before, after = " " * raw[0].isspace(), " " * raw[-1].isspace()
                self._inline.append(f"{before}`{text}`{after}" if "`" not in text else raw)
            return False
        elif tag == "a" and self._is_permalink(node):
            return False
        elif tag == "q":
            self._inline.append('"')
        if node.text:
            self._inline.append(node.text)
        return True

    def _end(self, node: HtmlElement) -> None:
        tag = node.tag
        if self._row is not None:
            if node is self._row:
                self._flush()
                self._row = None
            elif tag in BLOCKS:
                self._inline.append(" ")
            return
        if tag == "q":
            self._inline.append('"')
        if self._line is not None and tag in BLOCKS and node is not self._line:
            self._inline.append(" ")
        elif tag in BLOCKS:
            self._flush()
            self._heading = 0
            self._line = None
        if self._containers and self._containers[-1][0] is node:
            self._containers.pop()
            self._markers.pop(len(self._containers), None)
        elif self._lists and self._lists[-1] is node:
            self._lists.pop()

    def _open_item(self, node: HtmlElement) -> None:
        parent = node.getparent()
        marker = "- "
        if parent is not None and parent.tag == "ol":
            start = parent.get("start", "1")
            number = self._numbers.get(parent, int(start) if start.isdecimal() and len(start) < 9 else 1)
            value = node.get("value", "")
            if value.isdecimal() and len(value) < 9:
                number = int(value)
            self._numbers[parent] = number + 1
            marker = f"{number}. "
        self._open(node, marker)

    def _open(self, node: HtmlElement, marker: str) -> None:
        self._markers[len(self._containers)] = marker
        self._containers.append((node, " " * len(marker)))

    def _is_permalink(self, node: HtmlElement) -> bool:
        href = node.get("href", "")
        if not href.startswith("#") and "#" not in href:
            return False
        return "headerlink" in node.get("class", "") or (
            bool(self._heading) and inline_text(node).lower() in _PERMALINKS
        )

    # -- writing -----------------------------------------------------------------------------------------------

    def _code_block(self, node: HtmlElement) -> None:
        from lxml import etree

        parts: list[str] = []
        walk = etree.iterwalk(node, events=("start", "end"))
        for event, part in walk:
            if event == "start":
                if part.tag == "br" or (part.tag in _LINES and parts and not parts[-1].endswith("\n")):
                    parts.append("\n")
                if part.tag in SKIPPED:
                    walk.skip_subtree()
                elif part.text:
                    parts.append(part.text)
            elif part is not node and part.tail:
                parts.append(part.tail)
        text = "".join(parts).replace("\r\n", "\n").replace("\r", "\n").replace("\xa0", " ")
        text = dedent(text.strip("\n").rstrip())
        if not text.strip():
            return
        self._emit(fenced(text, _code_language(node)))

    def _flush(self) -> None:
        if not self._inline:
            return
        text = INVISIBLE.sub("", "".join(self._inline))
        self._inline.clear()
        text = _SPACES.sub(" ", text)
        lines = [line for part in text.split("\x01") if (line := " ".join(part.split()))]
        if not lines:
            return
        if self._heading:
            self._emit("#" * self._heading + " " + " ".join(lines))
            return
        lines = ["\\" + line if _LIKE_MARKUP.match(line) else line for line in lines]
        self._emit("\n".join(lines))

    def _emit(self, block: str) -> None:
        """Write a block with the indentation and markers of its containers."""
        depth = len(self._containers)
        levels = range(depth) if depth <= _MOST_LEVELS else (*range(_MOST_LEVELS - 1), depth - 1)
        later = "".join(self._containers[level][1] for level in levels)
        first = "".join(self._markers.get(level, self._containers[level][1]) for level in levels)
        lines = block.split("\n")
        lines = [first + lines[0], *((later + line).rstrip() for line in lines[1:])]
        around = self._lists[0] if self._lists else None
        quote = later.rstrip() if later.startswith(">") else ""
        if self._pieces:
            tight = self._markers and around is not None and around is self._last_list
            self._pieces.append("\n" if tight else f"\n{quote}\n" if quote and quote == self._last_quote else "\n\n")
        self._last_quote = quote
        self._pieces.append("\n".join(lines))
        self._last_list = around
        self._markers.clear()


def _code_language(node: HtmlElement) -> str:
    candidates = [*node.iter("code"), node]
    parent = node.getparent()
    for _ in range(2):
        if parent is not None:
            candidates.append(parent)
            parent = parent.getparent()
    for candidate in candidates:
        match = _LANGUAGE.search(candidate.get("class", ""))
        # Shiki and Expressive Code (Starlight, Nextra), Rouge (Jekyll) and Chroma (Hugo) have an attribute for it.
        name = match[1] if match else candidate.get("data-language") or candidate.get("data-lang") or ""
        if name:
            return "" if name.lower() in _NO_LANGUAGES else name.lower()
    return ""


def _is_line(heading: HtmlElement) -> bool:
    """Return whether blocks in a heading are parts of its line, not of a page on which the heading was not closed."""
    blocks = (node.tag for node in heading.iterdescendants() if node.tag in BLOCKS)
    # The first other block ends the search: headings that are not closed nest, and each of them asks.
    return (
        next(blocks, "") == "div"
        and all(tag == "div" for tag in blocks)
        and (len(inline_text(heading)) <= _HEADING_CHARS)
    )


def _is_short_row(row: HtmlElement) -> bool:
    """Return whether a row of a layout table reads best as one line."""
    if any(True for _ in row.iter("table", "ul", "ol", "dl", "pre", "blockquote", *HEADINGS)):
        return False
    return len(inline_text(row)) <= _LAYOUT_ROW_CHARS
