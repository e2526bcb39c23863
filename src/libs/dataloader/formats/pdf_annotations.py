"""What lies on top of a page of a PDF file: notes, links and the fields of forms."""

from __future__ import annotations

import ctypes
from typing import Any

_MOST_LINKS = 1_000  # of a page: for the words of each, PDFium goes through all its letters
#: Left, bottom, right, top.
Place = tuple[float, float, float, float]


def read_annotations(document: Any, page: Any) -> tuple[list[str], list[tuple[str, Place]], bool]:
    """Read what is on a page besides its text.

    Returns:
        The texts of its text boxes, notes and comments; the targets and places of its links; and whether it has form
        fields.
    """
    from pypdfium2 import raw

    written = (
        raw.FPDF_ANNOT_FREETEXT,
        raw.FPDF_ANNOT_TEXT,
        raw.FPDF_ANNOT_HIGHLIGHT,
        raw.FPDF_ANNOT_UNDERLINE,
        raw.FPDF_ANNOT_SQUIGGLY,
        raw.FPDF_ANNOT_STRIKEOUT,
        raw.FPDF_ANNOT_CARET,
        raw.FPDF_ANNOT_SQUARE,
        raw.FPDF_ANNOT_CIRCLE,
        raw.FPDF_ANNOT_INK,
    )
    notes: list[str] = []
    links: list[tuple[str, Place]] = []
    has_fields = False
    for index in range(raw.FPDFPage_GetAnnotCount(page)):
        annotation = raw.FPDFPage_GetAnnot(page, index)
        if not annotation:
            continue
        kind = raw.FPDFAnnot_GetSubtype(annotation)
        has_fields = has_fields or kind == raw.FPDF_ANNOT_WIDGET
        is_hidden = raw.FPDFAnnot_GetFlags(annotation) & raw.FPDF_ANNOT_FLAG_HIDDEN
        if kind in written and not is_hidden:
            size = raw.FPDFAnnot_GetStringValue(annotation, b"Contents", None, 0)
            buffer = ctypes.create_string_buffer(size)
            raw.FPDFAnnot_GetStringValue(
                annotation, b"Contents", ctypes.cast(buffer, ctypes.POINTER(raw.FPDF_WCHAR)), size
            )
            notes.append(buffer.raw.decode("utf-16-le", "replace").rstrip("\0"))
        elif kind == raw.FPDF_ANNOT_LINK and len(links) < _MOST_LINKS and (target := _target(document, annotation)):
            rect = raw.FS_RECTF()
            raw.FPDFAnnot_GetRect(annotation, rect)
            links.append((target, (rect.left, rect.bottom, rect.right, rect.top)))
        raw.FPDFPage_CloseAnnot(annotation)
    return notes, links, has_fields


def _target(document: Any, annotation: Any) -> str:
    """Return the address or file that a link leads to; empty for a place in the document itself."""
    from pypdfium2 import raw

    action = raw.FPDFLink_GetAction(raw.FPDFAnnot_GetLink(annotation))
    kind = raw.FPDFAction_GetType(action)
    if kind == raw.PDFACTION_URI:
        size = raw.FPDFAction_GetURIPath(document, action, None, 0)
        buffer = ctypes.create_string_buffer(size)
        raw.FPDFAction_GetURIPath(document, action, buffer, size)
    elif kind in (raw.PDFACTION_REMOTEGOTO, raw.PDFACTION_LAUNCH):
        size = raw.FPDFAction_GetFilePath(action, None, 0)
        buffer = ctypes.create_string_buffer(size)
        raw.FPDFAction_GetFilePath(action, buffer, size)
    else:
        return ""
    return buffer.value.decode(errors="replace")
