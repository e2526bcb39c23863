"""PDF, by PDFium."""

from __future__ import annotations

import ctypes
import re
import threading
from collections import Counter
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

from libs.dataloader.formats.base import Content, FileData, TextBuilder, UnreadableError, check_length, sensible_title
from libs.dataloader.formats.registry import Format
from libs.dataloader.text import clean_text

_LOCK = threading.Lock()  # PDFium is not thread-safe
_HYPHEN = "\ufffe"  # how PDFium marks the hyphen at the end of a line whose word goes on
_LAST_WORD = re.compile(r"\w{1,60}$")
_FIRST_WORD = re.compile(r"\w{1,60}")
_DATE = re.compile(r"D:(\d{4})(\d\d)?(\d\d)?(\d\d)?(\d\d)?(\d\d)?(?:([+\-Z])(\d\d)?'?(\d\d)?)?")


def read(file: FileData, _kind: Format) -> Content:
    """The text of each page in reading order, as far as the file tells it, with what was filled in; text boxes and
    notes follow at the end of their page, and pages are separated by an empty line.
    """
    with _LOCK:
        pages, fields = _pages(file)
    builder = TextBuilder()
    words = Counter(word for page in pages for word in re.findall(r"[\w-]{4,}", page))
    for number, page in enumerate(pages, 1):
        text = _tidy(page, words)
        if text:
            builder.separate()
            builder.mark("page", number)
            builder.add(text)
    if not builder.position:
        raise UnreadableError(f"its {len(pages)} pages hold no text (scanned pages need OCR)")
    metadata: dict[str, Any] = {"page_count": len(pages)}
    for name, field in (("author", "Author"), ("subject", "Subject"), ("keywords", "Keywords")):
        if value := clean_text(fields.get(field, "")).strip():
            metadata[name] = value
    for name, field in (("created", "CreationDate"), ("modified", "ModDate")):
        if moment := _date(fields.get(field, "")):
            metadata[name] = moment
    return Content(
        builder.text(),
        "text",
        sensible_title(clean_text(fields.get("Title", ""))),
        metadata,
        locations=builder.locations,
    )


def _pages(file: FileData) -> tuple[list[str], dict[str, str]]:
    import pypdfium2
    from pypdfium2 import raw

    try:
        document = pypdfium2.PdfDocument(file.data)
    except pypdfium2.PdfiumError as error:
        code = getattr(error, "err_code", None)
        if code in (raw.FPDF_ERR_PASSWORD, raw.FPDF_ERR_SECURITY):
            raise UnreadableError("it is encrypted (a password is needed)") from error
        raise UnreadableError(f"it is damaged or no PDF: {error}") from error
    try:
        if document.get_formtype() == raw.FORMTYPE_ACRO_FORM:
            document.init_forms()  # PDFium then draws the values that the file has without their looks
        pages: list[str] = []
        length = 0
        for index in range(len(document)):
            text = _page_text(document, index)
            length += len(text)
            check_length(length)
            pages.append(text)
        return pages, document.get_metadata_dict()
    finally:
        document.close()


def _page_text(document: Any, index: int) -> str:
    import pypdfium2
    from pypdfium2 import raw

    try:
        page = document[index]
        notes, has_fields = _annotations(page)
        if has_fields:
            raw.FPDFPage_Flatten(page, raw.FLAT_NORMALDISPLAY)
            page.close()
            page = document[index]  # what was flattened is seen only when it is loaded again
    except pypdfium2.PdfiumError:
        return ""  # a damaged page costs only itself
    try:
        textpage = page.get_textpage()
        try:
            text: str = textpage.get_text_range()
        finally:
            textpage.close()
    except pypdfium2.PdfiumError:
        return ""
    finally:
        page.close()
    shown = " ".join(text.split())
    return "\n".join([text, *(note for note in notes if " ".join(note.split()) not in shown)])


def _annotations(page: Any) -> tuple[list[str], bool]:
    """The texts of the text boxes and notes that are shown on a page, and whether there are fields of a form."""
    from pypdfium2 import raw

    notes: list[str] = []
    has_fields = False
    for index in range(raw.FPDFPage_GetAnnotCount(page)):
        annotation = raw.FPDFPage_GetAnnot(page, index)
        if not annotation:
            continue
        kind = raw.FPDFAnnot_GetSubtype(annotation)
        has_fields = has_fields or kind == raw.FPDF_ANNOT_WIDGET
        is_hidden = raw.FPDFAnnot_GetFlags(annotation) & raw.FPDF_ANNOT_FLAG_HIDDEN
        if kind in (raw.FPDF_ANNOT_FREETEXT, raw.FPDF_ANNOT_TEXT) and not is_hidden:
            size = raw.FPDFAnnot_GetStringValue(annotation, b"Contents", None, 0)
            buffer = ctypes.create_string_buffer(size)
            raw.FPDFAnnot_GetStringValue(
                annotation, b"Contents", ctypes.cast(buffer, ctypes.POINTER(raw.FPDF_WCHAR)), size
            )
            notes.append(buffer.raw.decode("utf-16-le", "replace").rstrip("\0"))
        raw.FPDFPage_CloseAnnot(annotation)
    return notes, has_fields


def _tidy(page: str, words: Counter[str]) -> str:
    page = _join_words(page.replace("\r\n", "\n").replace("\r", "\n"), words)
    lines = (" ".join(line.split()) for line in clean_text(page).split("\n"))
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()


def _join_words(page: str, words: Counter[str]) -> str:
    """Put words together that were divided at the end of a line."""
    first, *rest = page.split(_HYPHEN)
    parts = [first]
    for part in rest:
        part = part.lstrip()
        before, after = _LAST_WORD.search(parts[-1][-80:]), _FIRST_WORD.match(part)
        left, right = before[0] if before else "", after[0] if after else ""
        # Whether the hyphen belongs to the word is seen from its ends, or from the rest of the document.
        keep = not left[-1:].isalpha() or not right[:1].islower() or words[f"{left}-{right}"] > words[left + right]
        parts += ["-" if keep else "", part]
    return "".join(parts)


def _date(value: str) -> str | None:
    match = _DATE.match(value)
    if match is None:
        return None
    year, month, day, hour, minute, second = (
        int(part) if part else least for part, least in zip(match.groups()[:6], (1, 1, 1, 0, 0, 0), strict=True)
    )
    zone: timezone = UTC
    if match[7] in ("+", "-"):
        offset = timedelta(hours=int(match[8] or 0), minutes=int(match[9] or 0))
        zone = timezone(offset if match[7] == "+" else -offset) if offset < timedelta(hours=24) else UTC
    try:
        return datetime(year, month, day, hour, minute, second, tzinfo=zone).isoformat()
    except ValueError:
        return None
