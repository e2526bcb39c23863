"""Helpers of the tests for OpenDocument files: flat ones, written by hand."""

from __future__ import annotations

from tests.dataloader.filetools import zipped

SPACE = "urn:oasis:names:tc:opendocument:xmlns:"
NAMES = {"o": "office", "t": "text", "b": "table", "s": "style", "d": "drawing", "p": "presentation", "m": "meta"}
NAMESPACES = " ".join(f'xmlns:{short}="{SPACE}{name}:1.0"' for short, name in NAMES.items()) + (
    ' xmlns:c="http://purl.org/dc/elements/1.1/" xmlns:x="http://www.w3.org/1999/xlink"'
)
META = (
    "<o:meta><m:keyword>tide</m:keyword><m:keyword>mill</m:keyword><m:creation-date>2024-05-01T10:00:00"
    "</m:creation-date><c:title>On Mills</c:title><c:creator>Ann</c:creator></o:meta>"
)


def flat(kind: str, body: str, styles: str = "", meta: str = "") -> str:
    """A flat file; ``kind`` is the element in its body: text, spreadsheet, presentation."""
    return (
        f"<o:document {NAMESPACES}>{meta}<o:automatic-styles>{styles}</o:automatic-styles>"
        f"<o:body><o:{kind}>{body}</o:{kind}></o:body></o:document>"
    )


def packed(kind: str, body: str, automatic: str = "", meta: str = "", **parts: str) -> bytes:
    """The same in a container; more parts by their names, with ``__`` for the slash."""
    return zipped(
        {
            "mimetype": f"application/vnd.oasis.opendocument.{kind}",
            "content.xml": flat(kind, body, automatic),
            "meta.xml": f"<o:document-meta {NAMESPACES}>{meta}</o:document-meta>",
            **{name.replace("__", "/") + ".xml": part for name, part in parts.items()},
        },
        stored=["mimetype"],
    )


def sheet(name: str, *rows: str, before: str = "") -> str:
    return f'<b:table b:name="{name}">{before}{"".join(rows)}</b:table>'


def row(*cells: str, attributes: str = "") -> str:
    """A row; a cell is its text, or its XML."""
    made = (cell if cell.startswith("<") else text(cell) for cell in cells)
    return f"<b:table-row {attributes}>{''.join(made)}</b:table-row>"


def text(shown: str, attributes: str = "") -> str:
    inside = f"<t:p>{shown}</t:p>" if shown else ""
    return f'<b:table-cell o:value-type="string" {attributes}>{inside}</b:table-cell>'


def value(kind: str, stored: str, shown: str, more: str = "") -> str:
    """A cell with a value of a type."""
    name = {"date": "date-value", "time": "time-value", "boolean": "boolean-value"}.get(kind, "value")
    return f'<b:table-cell o:value-type="{kind}" o:{name}="{stored}" {more}><t:p>{shown}</t:p></b:table-cell>'
