"""The text of an OpenDocument file as Markdown: headings, lists, tables, and what stands in drawn shapes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from libs.dataloader.form_tables import guessed_table
from libs.dataloader.formats.archive import Archive, attribute, child, local
from libs.dataloader.formats.base import UnreadableError, check_length, escaped, fenced, squeezed
from libs.dataloader.formats.odf import Repeats, number
from libs.dataloader.formats.odf_styles import Styles
from libs.dataloader.links import LinkCollector
from libs.dataloader.mathml import formula
from libs.dataloader.tables import join_symbols, rectangular
from libs.dataloader.text import raised

if TYPE_CHECKING:
    from lxml.etree import _Element

_SKIPPED = frozenset(
    (
        "tracked-changes",
        "annotation-end",
        "sequence-decls",
        "forms",
        "table-of-content-source",
        "title",
        "desc",
        "ruby-text",
        "index-title-template",
    )
)
#: Drawn shapes that can hold text themselves; a frame has a text box, a table, a picture or an object in it.
SHAPES = frozenset(
    """
    custom-shape rect line polyline polygon regular-polygon path circle ellipse connector caption measure
    """.split()
)
_MAX_REPEAT = 100
_MOST_REPEATED = 100_000  # cells
_MAX_DEPTH = 100


class TextWriter:
    """Writes the text of a document, or of the shapes of a slide.

    Args:
        collector: Gets the links.
        styles: The styles of the file.
        archive: The container, which has formulas and charts as parts; ``None`` for a flat file.
        of_shapes: The text is that of shapes: headings are paragraphs, and lists that follow one another are one.
        chart_data: Charts are read with their numbers, and not only with their titles.

    Attributes:
        title: The first paragraph in the style for titles.
        first_heading: The first heading.
    """

    def __init__(
        self,
        collector: LinkCollector,
        styles: Styles,
        archive: Archive | None,
        *,
        of_shapes: bool = False,
        chart_data: bool = True,
    ) -> None:
        self.collector = collector
        self.title: str | None = None
        self.first_heading: str | None = None
        self._styles = styles
        self._of_shapes = of_shapes
        self._chart_data = chart_data
        self._objects = _Objects(archive)
        self._is_packed = archive is not None
        self._repeats = Repeats(_MAX_REPEAT, _MOST_REPEATED)
        self._numbers: dict[str | tuple[str, int], int] = {}  # where lists ended: by their id, by style and level
        self._latest: dict[int, tuple[str, int]] = {}  # of a shape: style and number of the latest item, by level
        self._parts: list[str] = []
        self._chars = 0
        self._notes: list[str] = []
        self._in_list = False
        self._code: list[str] = []

    def text(self) -> str:
        """Return everything that was written, with the footnotes and comments at the end."""
        self._end_code()
        notes = [f"[{number}] {note}" for number, note in enumerate(self._notes, 1)]
        return "".join(self._parts) + "".join(f"\n\n{note}" for note in notes)

    def taken(self) -> str:
        """Return what was written since the last call, and begin again."""
        text = self.text()
        self._parts.clear()
        self._notes.clear()
        self._latest.clear()
        self._in_list = False
        return text

    def add_link(self, node: _Element, text: str = "") -> None:
        """Collect a link; a relative one starts in the container (ODF 1.2, part 3): ``../a.md`` is beside it."""
        target = attribute(node, "href") or ""
        self.collector.add(target.removeprefix("../") if self._is_packed else target, text)

    def shape(self, node: _Element) -> None:
        """Write the text of a shape, or of what a frame or a group holds."""
        if local(node) not in _SKIPPED:
            self.blocks(node)

    def blocks(self, parent: _Element, depth: int = 0) -> None:
        """Write the blocks below an element."""
        if depth > _MAX_DEPTH:
            self._add(squeezed("".join(parent.itertext())))
            return
        for node in parent:
            name = local(node)
            if name in _SKIPPED or name == "annotation":
                continue
            if name == "h" and not self._of_shapes:
                heading = squeezed(self.inline(node)).replace("\n", " ")
                level = attribute(node, "outline-level") or "1"
                if heading:
                    self.first_heading = self.first_heading or heading
                    self._add(f"{'#' * min(max(int(level), 1), 6) if level.isdecimal() else '#'} {heading}")
                self._drawn(node, depth)
            elif name in ("p", "h"):
                self._paragraph(node)
                self._drawn(node, depth)
            elif name == "list":
                self._list(node, 0, attribute(node, "style-name") or "")
                self._in_list = self._in_list and self._of_shapes
            elif name == "table":
                self._table(node, depth)
            elif name == "object":
                self._object(node, depth)
            else:
                self.blocks(node, depth + 1)

    def _add(self, block: str, *, item: bool = False) -> None:
        if block:
            self._end_code()
            self._chars += len(block)
            check_length(self._chars)
            if self._parts:
                self._parts.append("\n" if item and self._in_list else "\n\n")
            self._parts.append(block)
            self._in_list = item
            if not item:
                self._latest.clear()

    def _end_code(self) -> None:
        """Write the consecutive lines of code collected so far as one block."""
        code, self._code = "\n".join(self._code).strip("\n"), []
        if code.strip():
            self._add(fenced(code, ""))

    def _paragraph(self, node: _Element) -> None:
        style = attribute(node, "style-name") or ""
        if self._styles.is_code(style):
            self._code.append(self.inline(node).rstrip())
            return
        text = squeezed(self.inline(node))
        if self.title is None and text and "Title" in self._styles.chain(style):
            self.title = text.replace("\n", " ")
            self._add(f"# {self.title}")
        else:
            self._add(escaped(text))

    def _drawn(self, node: _Element, depth: int) -> None:
        """Write what is drawn at a paragraph: text boxes, shapes with text, charts."""
        waiting = [*reversed(node)]
        while waiting:
            item = waiting.pop()
            name = local(item)
            if name == "text-box" or name in SHAPES:
                self.blocks(item, depth + 1)  # with the boxes inside of it
            elif name == "object":
                self._object(item, depth)
            elif name not in ("note", "annotation"):
                waiting += reversed(item)

    def _object(self, node: _Element, depth: int) -> None:
        """Write a formula, a chart or another document that is embedded."""
        root = self._objects.take(node)
        if local(root) == "math" and root is not None:
            self._add(formula(root))
            return
        body = child(root, "body")
        shown = next(iter(body), None) if body is not None else None
        if shown is None:
            return
        if local(shown) != "chart":
            self.blocks(shown, depth + 1)
            return
        for part in shown.iterfind("{*}chart/*"):
            if local(part) in ("title", "subtitle"):
                self._add(escaped(squeezed(" ".join(map(self.inline, part))).replace("\n", " ")))
            elif local(part) == "table" and self._chart_data:
                self._table(part, depth)

    def _list(self, node: _Element, level: int, style: str) -> None:
        if level > _MAX_DEPTH:
            self._add(squeezed("".join(node.itertext())))
            return
        style = attribute(node, "style-name") or style
        number = 0
        if self._of_shapes:
            form, latest = self._latest.get(level, ("", 0))
            number = latest if form == style else 0
        elif attribute(node, "continue-numbering") == "true":
            number = self._numbers.get((style, level), 0)
        elif (before := attribute(node, "continue-list")) is not None:
            number = self._numbers.get(before, 0)
        for item in node:
            if local(item) not in ("list-item", "list-header"):
                continue
            start = attribute(item, "start-value") or ""
            following = int(start) if start.isdecimal() and len(start) < 9 else number + 1
            if local(item) == "list-item" and not self._of_shapes:
                number = following
            # On slides, an item may be far to the right of all others.
            indent = "  " * (sum(other < level for other in self._latest) if self._of_shapes else level)
            first = True
            for block in item:
                name = local(block)
                if name == "list":
                    self._list(block, level + 1, style)
                elif name in ("p", "h"):
                    text = squeezed(self.inline(block)).replace("\n", f"\n{indent}  ")
                    if text and first:
                        if self._of_shapes:  # an item without text has no number there
                            number = following
                            self._latest = {other: at for other, at in self._latest.items() if other < level}
                            self._latest[level] = style, number
                        is_numbered = style in self._styles.ordered and local(item) == "list-item"
                        text = f"{f'{number}.' if is_numbered else '-'} {text}"
                        self._add(f"{indent}{text}", item=True)
                        first = False
                    elif text:
                        self._add(f"{indent}  {text}", item=True)
                    self._drawn(block, level)
                elif name == "table":  # by pandoc
                    self._table(block, level)
        self._numbers[style, level] = number
        if (own := attribute(node, "id")) is not None:
            self._numbers[own] = number

    def _table(self, node: _Element, depth: int) -> None:
        rows: list[list[str]] = []
        cells: list[_Element] = []
        for row in _table_rows(node):
            texts: list[str] = []
            for cell in row:
                if local(cell) not in ("table-cell", "covered-table-cell"):
                    continue
                text = " ".join(squeezed(self.inline(block)) for block in paragraphs(cell))
                if attribute(cell, "value") == "NaN":
                    text = ""  # what a chart has for an empty cell
                cells.append(cell)
                texts += [" ".join(text.split())] * (self._repeats.of(cell, "number-columns-repeated") if text else 1)
            rows += [texts] * (self._repeats.of(row, "number-rows-repeated", len(texts)) if any(texts) else 1)
        rows = join_symbols(rectangular(rows))
        if len(rows) > 1 and len(rows[0]) > 1:
            self._add(guessed_table(rows))
            return
        for cell in cells:  # a table around text: a frame, not data
            self.blocks(cell, depth + 1)

    def inline(self, node: _Element) -> str:
        parts: list[str] = []
        self._collect(node, parts, 0)
        return "".join(parts)

    def _collect(self, node: _Element, parts: list[str], depth: int) -> None:
        parts.append(_blanks(node.text))
        for item in node:
            name = local(item)
            if name == "s":
                parts.append(" " * min(number(attribute(item, "c")), _MAX_REPEAT))
            elif name == "tab":
                parts.append("\t")
            elif name == "line-break":
                parts.append("\n")
            elif name == "note":
                body = child(item, "note-body")
                if body is not None:
                    parts.append(self._note(self._said(body) or self.inline(body)))
            elif name == "annotation":
                author = child(item, "creator")
                name = " ".join("".join(author.itertext()).split()) if author is not None else ""
                if said := self._said(item):
                    parts.append(self._note(f"{name}: {said}" if name else said))
            elif name == "a":
                start = len(parts)
                self._collect(item, parts, depth + 1)
                self.add_link(item, "".join(parts[start:]))
            elif name == "span" and attribute(item, "style-name") in self._styles.raising and depth < _MAX_DEPTH:
                run: list[str] = []
                self._collect(item, run, depth + 1)
                parts.append(raised("".join(run), "".join(parts[-1:])))
            elif name == "frame":
                parts.append(self._formula(item))
            elif name == "page-number" and self._of_shapes:
                pass  # of the slide, or only the name of the field
            elif name not in _SKIPPED and name not in SHAPES and name != "g":
                if depth < _MAX_DEPTH:
                    self._collect(item, parts, depth + 1)
                else:
                    parts.append(_blanks("".join(item.itertext())))
            parts.append(_blanks(item.tail))

    def _said(self, note: _Element) -> str:
        return " ".join(self.inline(block) for block in paragraphs(note))

    def _note(self, text: str) -> str:
        """Keep a footnote or a comment for the end of the text, and return its number as it stands in the text."""
        self._notes.append(" ".join(text.split()))
        return f"[{len(self._notes)}]"

    def _formula(self, frame: _Element) -> str:
        """Return the formula that a frame shows; empty if it shows something else."""
        shown = child(frame, "object")
        root = self._objects.take(shown, "math") if shown is not None else None
        return formula(root) if root is not None else ""


class _Objects:
    """The documents that are embedded in a file; each is given out once, however often the file shows it."""

    def __init__(self, archive: Archive | None) -> None:
        self._archive = archive
        self._parsed: dict[str, _Element | None] = {}

    def take(self, node: _Element, kind: str | None = None) -> _Element | None:
        """Return the root of an embedded document.

        Args:
            node: What shows it.
            kind: Name that the root must have; another one stays for later.
        """
        part = f"{(attribute(node, 'href') or '').removeprefix('./').rstrip('/')}/content.xml"
        root = next((inner for inner in node if local(inner) in ("document", "math")), None)  # of a flat file
        if root is None and part not in self._parsed and self._archive is not None and self._archive.has(part):
            try:
                self._parsed[part] = self._archive.xml(part)
            except UnreadableError:
                self._parsed[part] = None  # damaged, which is no reason to do without the text
        root = self._parsed.get(part) if root is None else root
        if kind is not None and local(root) != kind:
            return None
        if root is not None and root.getparent() is node:
            node.remove(root)
        elif part in self._parsed:
            self._parsed[part] = None
        return root


def _table_rows(node: _Element) -> list[_Element]:
    rows: list[_Element] = []
    for item in node:
        if local(item) == "table-row":
            rows.append(item)
        elif local(item) in ("table-rows", "table-header-rows", "table-row-group"):
            rows += _table_rows(item)
    return rows


def paragraphs(cell: _Element) -> list[_Element]:
    """Return the paragraphs of a cell or a note, but for those of notes in it."""
    found: list[_Element] = []
    waiting = [*reversed(cell)]
    while waiting:
        node = waiting.pop()
        name = local(node)
        if name in ("p", "h"):
            found.append(node)
        if name not in ("note", "annotation"):
            waiting += reversed(node)
    return found


def _blanks(text: str | None) -> str:
    """Return a text of the XML, where a line end means a blank."""
    return text.replace("\n", " ") if text else ""
