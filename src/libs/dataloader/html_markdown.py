"""Converts an HTML tree to Markdown, without recursion, because real pages nest thousands of levels deep."""

from __future__ import annotations

import re
from collections.abc import Iterator
from textwrap import dedent
from typing import TYPE_CHECKING

from libs.dataloader.tables import join_symbols, joined_header, markdown_table

if TYPE_CHECKING:
    from lxml.html import HtmlElement

_BLOCKS = frozenset(
    "address article aside blockquote body caption center dd details dialog dir div dl dt fieldset figcaption "  # noqa: SIM905
    "figure footer form h1 h2 h3 h4 h5 h6 header hgroup hr legend li main menu nav ol option p pre section summary "
    "table tbody td tfoot th thead tr ul".split()
)
_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_LISTS = frozenset(("ul", "ol", "menu", "dir"))
_SKIPPED = frozenset(
    "script style template noscript svg canvas iframe object embed audio video map select button input textarea "  # noqa: SIM905
    "rp rt head title meta link base source track area datalist progress meter".split()
)
_LINES = frozenset(("div", "li", "p", "tr"))  # in code, each of these is a line
_CODE = frozenset(("code", "kbd", "samp", "tt"))
# The space of East Asia goes beside the end of a line only. What is before it is looked at once, from where it begins.
_SPACES = re.compile(
    r"(?<![ \t\r\f\xa0\u2000-\u200a\u202f\u3000])[ \t\r\f\xa0\u2000-\u200a\u202f\u3000]*\n[\s\xa0]*"
    r"|[ \t\r\f\xa0\u2000-\u200a\u202f]+"
)
_INVISIBLE = re.compile("[\u00ad\u200b\u2060\ufeff]")
_LIKE_MARKUP = re.compile(r"(#{1,6}\s|```|~~~)")
_PERMALINKS = frozenset(("#", "¶", "§", "🔗", "◆", "", "link", "permalink"))
_LANGUAGE = re.compile(r"(?:^|\s)(?:language-|lang-|highlight-(?:source-)?|brush:\s*)([A-Za-z0-9+#_.-]+)")
_LAYOUT_ROW_CHARS = 240
_HEADING_CHARS = 300
_MAX_CELL_CHARS = 1000
_MAX_SPAN = 100
_MOST_HEADERS = 3
# Each line says of all of them. Nobody nests so many, but where "</ul>" or "</blockquote>" is forgotten all of the page
# lies deeper from there on; what is between the first ones and the innermost is left out.
_MOST_LEVELS = 50


def inline_text(element: HtmlElement) -> str:
    """Return the text of an element as one line."""
    return " ".join(_INVISIBLE.sub("", "".join(_walk_text(element))).split())


def _walk_text(element: HtmlElement) -> Iterator[str]:
    """Yield the text below an element, with a blank wherever a block begins or ends."""
    from lxml import etree

    if element.text:
        yield element.text
    skipped: HtmlElement | None = None
    for event, node in etree.iterwalk(element, events=("start", "end")):
        if node is element:
            continue
        if event == "start":
            if skipped is not None:
                continue
            if node.tag in _SKIPPED:
                skipped = node
                continue
            if node.tag in _BLOCKS or node.tag == "br":
                yield " "
            if node.tag == "img" and node.get("alt"):
                yield node.get("alt", "")
            if node.text:
                yield node.text
        else:
            if skipped is not None and node is not skipped:
                continue
            skipped = None
            if node.tag in _BLOCKS:
                yield " "
            if node.tail:
                yield node.tail


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
        if tag in _SKIPPED:
            return False
        if self._line is not None and tag in _BLOCKS:
            self._inline.append(" ")
        elif tag in _BLOCKS and self._row is None:
            self._flush()
        if tag == "pre":
            self._code_block(node)
            return False
        if tag == "table":
            rows = _data_rows(node)
            if rows is not None:
                caption = node.find("caption")
                if caption is not None and (text := inline_text(caption)):
                    self._emit(text)
                self._emit(markdown_table(rows))
                return False
        elif tag == "tr" and self._row is None and _is_short_row(node):
            self._row = node
        elif tag in _BLOCKS and self._row is not None:
            self._inline.append(" ")
        elif tag in _HEADINGS:
            self._heading = _HEADINGS[tag]
            self._line = node if _is_line(node) else None
        elif tag == "li":
            if not any(True for _ in node.iter(*_HEADINGS)):  # an item with headings is a section, not an item
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
            raw = "".join(_walk_text(node))
            if text := " ".join(_INVISIBLE.sub("", raw).split()):
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
            elif tag in _BLOCKS:
                self._inline.append(" ")
            return
        if tag == "q":
            self._inline.append('"')
        if self._line is not None and tag in _BLOCKS and node is not self._line:
            self._inline.append(" ")
        elif tag in _BLOCKS:
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
                if part.tag in _SKIPPED:
                    walk.skip_subtree()
                elif part.text:
                    parts.append(part.text)
            elif part is not node and part.tail:
                parts.append(part.tail)
        text = "".join(parts).replace("\r\n", "\n").replace("\r", "\n").replace("\xa0", " ")
        text = dedent(text.strip("\n").rstrip())
        if not text.strip():
            return
        fence = "```"
        while fence in text:
            fence += "`"
        self._emit(f"{fence}{_code_language(node)}\n{text}\n{fence}")

    def _flush(self) -> None:
        if not self._inline:
            return
        text = _INVISIBLE.sub("", "".join(self._inline))
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
        if match := _LANGUAGE.search(candidate.get("class", "")):
            name = match[1].lower()
            return "" if name in ("default", "none", "plaintext", "text", "notranslate") else name
    return ""


def _is_line(heading: HtmlElement) -> bool:
    """Return whether blocks in a heading are parts of its line, not of a page on which the heading was not closed."""
    blocks = {node.tag for node in heading.iterdescendants() if node.tag in _BLOCKS}
    return blocks == {"div"} and len(inline_text(heading)) <= _HEADING_CHARS


# -- tables ----------------------------------------------------------------------------------------------------------


def _is_short_row(row: HtmlElement) -> bool:
    """Return whether a row of a layout table reads best as one line."""
    if any(True for _ in row.iter("table", "ul", "ol", "dl", "pre", "blockquote", *_HEADINGS)):
        return False
    return len(inline_text(row)) <= _LAYOUT_ROW_CHARS


def _data_rows(table: HtmlElement) -> list[list[str]] | None:
    """Return the cells of a table that holds data; ``None`` if the table only arranges the page."""
    if table.get("role") in ("presentation", "none"):
        return None
    own = _own_rows(table)
    labelled = any(child.tag == "th" for row in own for child in row)
    if not labelled and any(node is not table for node in table.iter("table", "pre", *_HEADINGS)):
        return None
    rows = join_symbols(_with_one_header(own, _grid(own)))
    if len(rows) < 2 or len(rows[0]) < 2:
        return None
    if any(len(cell) > _MAX_CELL_CHARS for row in rows for cell in row) and not (
        labelled and all(node is table for node in table.iter("table"))
    ):
        return None
    return rows


def _own_rows(table: HtmlElement) -> list[HtmlElement]:
    """Return the rows of a table without those of tables in its cells."""
    rows: list[HtmlElement] = []
    for part in table:
        if part.tag == "tr":
            rows.append(part)
        elif part.tag in ("thead", "tbody", "tfoot"):
            rows += part.findall("tr")
    return rows


def _grid(table_rows: list[HtmlElement]) -> list[list[str]]:
    """Return cells by row and column; a cell that spans rows is repeated in each, one that spans columns is not."""
    rows: list[list[str]] = []
    waiting: dict[int, tuple[int, str]] = {}  # column: rows left, text
    for tr in table_rows:
        row: list[str] = []

        def fill(row: list[str] = row) -> None:
            while (spanned := waiting.get(len(row))) is not None:
                left, text = spanned
                if left == 1:
                    del waiting[len(row)]
                else:
                    waiting[len(row)] = (left - 1, text)
                row.append(text)

        for cell in tr.iterchildren("td", "th"):
            fill()
            text = inline_text(cell)
            down = _span(cell, "rowspan")
            for offset in range(_span(cell, "colspan")):
                if down > 1:
                    waiting[len(row)] = (down - 1, text if offset == 0 else "")
                row.append(text if offset == 0 else "")
        fill()
        rows.append(row)
    width = max(map(len, rows), default=0)
    return [[*row, *[""] * (width - len(row))] for row in rows]


def _with_one_header(table_rows: list[HtmlElement], rows: list[list[str]]) -> list[list[str]]:
    """Return rows with those of the header joined where the first ones name groups of columns."""
    count = next((n for n, tr in enumerate(table_rows) if any(cell.tag == "td" for cell in tr)), len(table_rows))
    if not 2 <= count <= _MOST_HEADERS or len(rows) <= count:
        return rows
    header = [list(row) for row in rows[:count]]
    for tr, row in zip(table_rows[:count], header, strict=True):
        place = 0
        for cell in tr.iterchildren("td", "th"):
            text, width = inline_text(cell), _span(cell, "colspan")
            if 1 < len(row) <= width:
                return rows  # a title of the table, or of the rows below
            while place < len(row) and row[place] != text:
                place += 1  # what a cell above takes
            row[place : place + width] = [text] * len(row[place : place + width])
            place += width
    return [joined_header(header), *rows[count:]]


def _span(cell: HtmlElement, name: str) -> int:
    value = cell.get(name, "1").strip()
    return max(1, min(int(value), _MAX_SPAN)) if value.isdecimal() and len(value) < 6 else 1
