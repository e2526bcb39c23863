"""The text in the drawings of an Office file: text boxes, shapes, diagrams, charts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from libs.dataloader.formats.archive import Archive, attribute, child, children, local
from libs.dataloader.formats.ooxml import relationships
from libs.dataloader.formats.workbook_cells import chart_number
from libs.dataloader.tables import markdown_table
from libs.dataloader.text import clean_text

if TYPE_CHECKING:
    from lxml.etree import _Element


def drawing_texts(archive: Archive, part: str) -> Iterator[str]:
    """Yield the text of each shape of a drawing, the entries of each diagram as a list, and the title of each chart.

    Raises:
        UnreadableError: if a part is damaged.
    """
    relations = relationships(archive, part)
    drawing = archive.take(part)
    for node in drawing.iter("{*}txBody", "{*}relIds", "{*}chart") if drawing is not None else ():
        if any(local(above) == "Fallback" for above in node.iterancestors()):
            continue  # the same in an older form
        lines: list[str] = []
        if local(node) == "txBody":
            lines += filter(None, map(paragraph_line, children(node, "p")))
        else:
            is_chart = local(node) == "chart"
            _, target, _ = relations.get(attribute(node, "id" if is_chart else "dm") or "", ("", "", False))
            if (root := archive.take(target)) is not None:
                lines += [chart_title(root)] if is_chart else (f"- {text}" for text in diagram_texts(root))
        if any(lines):
            yield clean_text("\n".join(lines))


def diagram_texts(root: _Element) -> Iterator[str]:
    """Yield the text of each point of a diagram."""
    for node in root.iter("{*}t"):
        if local(node.getparent()) == "pt" and (text := " ".join("".join(node.itertext()).split())):
            yield text


def chart_title(root: _Element) -> str:
    """Return the title of a chart, which may be that of a cell; empty if it has none."""
    text = child(root, "chart", "title", "tx")
    if text is None:
        return ""
    lines = list(map(paragraph_line, text.iter("{*}p"))) or [value.text or "" for value in text.iter("{*}v")]
    return " ".join(" ".join(lines).split())


def chart_blocks(root: _Element) -> Iterator[str]:
    """Yield the title of a chart, and its numbers as a table."""
    if title := chart_title(root):
        yield title
    columns: list[tuple[str, dict[str, str]]] = []
    labels: dict[str, str] = {}
    for series in (node for node in root.iter() if local(node) == "ser"):
        name = " ".join(_cached(child(series, "tx")).values()) or f"Series {len(columns) + 1}"
        labels |= _cached(child(series, "cat")) or _cached(child(series, "xVal"))
        columns.append((name, _cached(child(series, "val")) or _cached(child(series, "yVal"))))
    places = sorted({place for _, values in columns for place in values}, key=lambda place: (len(place), place))
    if columns and places:
        header = ["", *(name for name, _ in columns)]
        rows = ([labels.get(place, place), *(values.get(place, "") for _, values in columns)] for place in places)
        yield markdown_table([header, *rows])


def _cached(node: _Element | None) -> dict[str, str]:
    """Return the values that a chart has stored, by their index."""
    if node is None:
        return {}
    found: dict[str, str] = {}
    for point in node.iter("{*}pt"):
        value = point.findtext("{*}v", "").strip()
        cache = point.getparent()
        if cache is not None and local(cache) in ("numCache", "numLit"):
            code = point.get("formatCode") or cache.findtext("{*}formatCode") or ""
            value = chart_number(value, code)
        found[point.get("idx", "0")] = value
    return found


def paragraph_line(paragraph: _Element) -> str:
    """Return the text of a paragraph of DrawingML as one line."""
    parts = (" " if local(node) == "br" else node.text or "" for node in paragraph.iter("{*}t", "{*}br"))
    return " ".join("".join(parts).split())
