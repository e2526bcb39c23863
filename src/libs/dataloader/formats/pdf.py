"""PDF files, read with PDFium."""

from __future__ import annotations

import math
import re
import threading
from collections import Counter
from datetime import UTC, datetime, timedelta, timezone
from itertools import islice
from typing import Any, NamedTuple

from libs.dataloader.formats.base import (
    Content,
    FileData,
    TextBuilder,
    UnreadableError,
    check_length,
    sensible_author,
    sensible_title,
)
from libs.dataloader.formats.markdown import first_heading
from libs.dataloader.formats.pdf_accents import with_accents, with_symbols
from libs.dataloader.formats.pdf_annotations import read_annotations
from libs.dataloader.formats.pdf_layout import Bookmark, Line, to_markdown
from libs.dataloader.formats.pdf_lines import HYPHEN, read_lines
from libs.dataloader.formats.pdf_tables import find_tables
from libs.dataloader.formats.registry import Format
from libs.dataloader.links import LinkCollector
from libs.dataloader.text import clean_text
from libs.regexes import regex

_LOCK = threading.Lock()  # PDFium is not thread-safe
_MOST_BOOKMARKS = 20_000
_MOST_ATTACHMENTS = 1_000
_FORMS_IN_FORMS = 5  # how deep an image is looked for
_LAST_WORD = regex(r"\w{1,60}$")
_FIRST_WORD = regex(r"\w{1,60}")
# Lam after what it has a ligature with when it stands before it: alef, jeem, hah, khah, meem, heh, alef maksura, yeh.
_BEFORE_LAM = regex("[\u0622\u0623\u0625\u0627\u062c\u062d\u062e\u0645\u0647\u0649\u064a]\u0644")
_SAMPLED = 32  # characters of a page that tell which way up its text is
# Before an item: the code of a bullet in a font of symbols (Word's are for private use), which stands for no letter.
_BULLET = regex("^(?:[\ue000-\uf8ff]|[\x81-\x84\x86-\x94\x98-\x9f])(?=[ \t])", re.MULTILINE)
_LEADERS = regex(r" ?(?:[.·…] ?){6,}")  # from the words of a table of contents to the number of the page
_NO_TITLE = regex(
    r"(?:table of )?contents|abstract|inhalt(?:sverzeichnis)?|table des matières|sommaire|índice|目\s*[录次錄]", re.I
)
_DATE = regex(r"D:(\d{4})(\d\d)?(\d\d)?(\d\d)?(\d\d)?(\d\d)?(?:([+\-Z])(\d\d)?'?(\d\d)?)?")


class _Page(NamedTuple):
    """The content of a page as PDFium finds it.

    Attributes:
        lines: Its text.
        links: The target and the words of each link.
        is_image: Whether there are images on it, but no text.
    """

    lines: list[Line]
    links: list[tuple[str, str]]
    is_image: bool = False


def read(file: FileData, _kind: Format) -> Content:
    """Convert the text of each page, in reading order as far as the file tells it.

    Headings are recognised by their looks. What was filled into forms is part of the text; text boxes, notes and
    comments follow at the end of their page. Pages are separated by an empty line; the names of attached files follow
    at the end. The metadata ``pages_without_text`` are the numbers of the pages that are images.
    """
    with _LOCK:
        found, fields, outline, attached = _pages(file)
    pages, has_headings = to_markdown([page.lines for page in found], outline)
    builder = TextBuilder()
    words = Counter(word for page in pages for word in re.findall(r"[\w-]{4,}", page))
    for number, written in enumerate(pages, 1):
        text = _tidy(written, words)
        if text:
            builder.separate()
            builder.mark("page", number)
            builder.add(text)
    if not builder.position:
        also = f"; the files attached to it are not read: {', '.join(attached[:10])}" if attached else ""
        hold = f"{len(pages)} pages hold" if len(pages) > 1 else "only page holds"
        raise UnreadableError(f"its {hold} no text (scanned pages need OCR){also}")
    metadata: dict[str, Any] = {"page_count": len(pages)}
    if images := [number for number, page in enumerate(found, 1) if page.is_image]:
        metadata["pages_without_text"] = images
    for name, field in (("author", "Author"), ("subject", "Subject"), ("keywords", "Keywords")):
        value = clean_text(fields.get(field, "")).strip()
        if value and value.strip("()") != "unspecified" and (name != "author" or sensible_author(value)):
            metadata[name] = value
    for name, field in (("created", "CreationDate"), ("modified", "ModDate")):
        if moment := _date(fields.get(field, "")):
            metadata[name] = moment
    if attached:
        metadata["attachments"] = attached
        builder.block("\n".join(("Attachments:", *(f"- {name}" for name in attached))))
    collector = LinkCollector(file.uri, file.root_uri)
    for page in found:
        collector.extend(page.links)
    content = builder.text()
    title = sensible_title(clean_text(fields.get("Title", "")))
    return Content(
        content,
        "markdown" if has_headings else "text",
        title or (_title(content) if has_headings else None),
        metadata,
        collector.links(),
        locations=builder.locations,
    )


def _pages(file: FileData) -> tuple[list[_Page], dict[str, str], list[Bookmark], list[str]]:
    import pypdfium2
    from pypdfium2 import raw

    try:
        document = pypdfium2.PdfDocument(file.data)
    except pypdfium2.PdfiumError as error:
        code = getattr(error, "err_code", None)
        if code in (raw.FPDF_ERR_PASSWORD, raw.FPDF_ERR_SECURITY) and b"/Encrypt" in file.data:
            raise UnreadableError("it is encrypted (a password is needed)") from error
        if code != raw.FPDF_ERR_FORMAT:  # PDFium gives no reason then: the one it tells is that of an earlier file
            raise UnreadableError("it is damaged or has no pages") from error
        raise UnreadableError(f"it is damaged or no PDF: {error}") from error
    try:
        if document.get_formtype() == raw.FORMTYPE_ACRO_FORM:
            document.init_forms()  # PDFium then draws the values that the file has without their looks
        is_tagged = bool(raw.FPDFCatalog_IsTagged(document))
        pages: list[_Page] = []
        length = 0
        for index in range(len(document)):
            page = _page(document, index, is_tagged=is_tagged)
            length += sum(len(line.text) for line in page.lines)
            check_length(length)
            pages.append(page)
        return pages, document.get_metadata_dict(), _outline(document), _attached(document)
    finally:
        document.close()


def _outline(document: Any) -> list[Bookmark]:
    import pypdfium2

    found: list[Bookmark] = []
    try:
        for entry in islice(document.get_toc(), _MOST_BOOKMARKS):
            target = entry.get_dest()
            page = None if target is None else target.get_index()
            if page is not None:
                found.append(Bookmark(clean_text(entry.get_title()), page, entry.level))
    except pypdfium2.PdfiumError:
        return found  # a damaged outline
    return found


def _attached(document: Any) -> list[str]:
    """Return the names of the files that are attached to the whole document."""
    import pypdfium2

    names: list[str] = []
    for index in range(min(document.count_attachments(), _MOST_ATTACHMENTS)):
        try:
            name = " ".join(clean_text(document.get_attachment(index).get_name()).split())
        except pypdfium2.PdfiumError:
            continue  # a damaged one
        names.append(name or "attachment")
    return names


def _page(document: Any, index: int, *, is_tagged: bool) -> _Page:
    import pypdfium2
    from pypdfium2 import raw

    try:
        page = document[index]
        notes, links, has_fields = read_annotations(document, page)
        if has_fields:
            raw.FPDFPage_Flatten(page, raw.FLAT_NORMALDISPLAY)
            page.close()
            page = document[index]  # what was flattened is seen only when it is loaded again
    except pypdfium2.PdfiumError:
        return _Page([], [])  # a damaged page costs only itself
    try:
        textpage = page.get_textpage()
        try:
            # What is shown as it is turned is where the links are.
            worded = [(target, clean_text(textpage.get_text_bounded(*place))) for target, place in links]
            if (turn := _turn(textpage)) is not None:
                raw.FPDFPage_TransFormWithClip(page, turn, None)
                textpage.close()
                page.close()
                page = document[index]
                textpage = page.get_textpage()
            # A soft hyphen within a line is one that is seen: fonts often have one character for both.
            text = with_accents(_with_ligatures(textpage.get_text_range(), textpage), textpage).replace("\xad", "-")
            text = with_symbols(_BULLET.sub("•", text), textpage)
            lines = read_lines(textpage, text, find_tables(page, textpage, text, is_tagged=is_tagged))
        finally:
            textpage.close()
        shown = " ".join(text.split())
        lines += [Line(note) for note in notes if " ".join(note.split()) not in shown]
        is_image = not any(line.text for line in lines) and _has_image(page)
        return _Page(lines, worded, is_image)
    except pypdfium2.PdfiumError:
        return _Page([], [])
    finally:
        page.close()


def _has_image(page: Any) -> bool:
    from pypdfium2 import raw

    return next(page.get_objects((raw.FPDF_PAGEOBJ_IMAGE,), _FORMS_IN_FORMS), None) is not None


def _turn(textpage: Any) -> Any:
    """Return how to turn a page whose text runs up or down, such as one with a wide table; ``None`` for others.

    PDFium finds the lines of such text only if all text of the page runs the same way, so not below a running head.
    """
    from pypdfium2 import raw

    count = textpage.count_chars()
    angles = [
        round(raw.FPDFText_GetCharAngle(textpage, index) * 2 / math.pi)
        for index in range(0, count, max(1, count // _SAMPLED))
        if raw.FPDFText_GetUnicode(textpage, index) > ord(" ")
    ]
    for angle, matrix in ((1, (0, 1, -1, 0, 0, 0)), (3, (0, -1, 1, 0, 0, 0))):
        if angles.count(angle) * 2 > len(angles):
            return raw.FS_MATRIX(*matrix)
    return None


def _with_ligatures(text: str, textpage: Any) -> str:
    """Return Arabic text with the letters of its ligatures in reading order.

    PDFium reverses right-to-left text character by character, including the two letters of one glyph. These are
    recognised by their place: both have that of the glyph, while separate letters never share one.
    """
    if _BEFORE_LAM.search(text) is None or len(text) != textpage.count_chars():
        return text

    def swapped(match: re.Match[str]) -> str:
        box = textpage.get_charbox(match.start())
        is_ligature = box[0] < box[2] and box == textpage.get_charbox(match.start() + 1)
        return match[0][::-1] if is_ligature else match[0]

    return _BEFORE_LAM.sub(swapped, text)


def _tidy(page: str, words: Counter[str]) -> str:
    page = _join_words(page.replace("\r\n", "\n").replace("\r", "\n"), words)
    lines = (_LEADERS.sub(" … ", " ".join(line.split())) for line in clean_text(page).split("\n"))
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()


def _join_words(page: str, words: Counter[str]) -> str:
    """Join words that were hyphenated at the end of a line."""
    first, *rest = page.split(HYPHEN)
    parts = [first]
    for part in rest:
        part = part.lstrip()
        before, after = _LAST_WORD.search(parts[-1][-80:]), _FIRST_WORD.match(part)
        left, right = before[0] if before else "", after[0] if after else ""
        # Whether the hyphen belongs to the word is seen from its ends, or from the rest of the document.
        keep = not left[-1:].isalpha() or not right[:1].islower() or words[f"{left}-{right}"] > words[left + right]
        parts += ["-" if keep else "", part]
    return "".join(parts)


def _title(content: str) -> str | None:
    """Return the first heading, unless it only says what follows."""
    heading = first_heading(content)
    return None if heading is None or _NO_TITLE.fullmatch(heading) else heading


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
