"""PDF."""

from __future__ import annotations

import io
import re
from typing import Any

import pytest

from libs.dataloader import Link
from tests.dataloader.filetools import URI, convert, places, reason

pytest.importorskip("reportlab")


def pdf(*pages: list[str], password: str | None = None, **properties: str) -> bytes:
    """Each page with its lines."""
    from reportlab.lib.pdfencrypt import StandardEncryption
    from reportlab.pdfgen.canvas import Canvas

    stream = io.BytesIO()
    lock: Any = StandardEncryption(password, canPrint=0) if password is not None else None
    canvas = Canvas(stream, encrypt=lock)
    for name, value in properties.items():
        getattr(canvas, f"set{name.capitalize()}")(value)
    for lines in pages:
        for number, line in enumerate(lines):
            canvas.drawString(72, 770 - 14 * number, line)
        canvas.showPage()
    canvas.save()
    return stream.getvalue()


def test_what_was_filled_in_and_written_on_top() -> None:
    from reportlab.pdfgen.canvas import Canvas

    stream = io.BytesIO()
    canvas = Canvas(stream)
    canvas.drawString(72, 700, "First name")
    canvas.acroForm.textfield(name="first", value="Alice", x=150, y=695, width=100, height=20)
    canvas.acroForm.choice(name="town", value="Oxford", options=["Oxford", "Rome"], x=150, y=595, width=100, height=20)
    canvas.showPage()
    canvas.drawString(72, 700, "Second page")
    canvas.freeTextAnnotation("Written for all", DA="/Helv 12 Tf", Rect=[72, 100, 200, 120])
    canvas.textAnnotation("A small note", Rect=[72, 200, 90, 220])
    canvas.highlightAnnotation("Is this so?", Rect=[72, 695, 200, 715])
    canvas.highlightAnnotation("Second page", Rect=[72, 695, 200, 715])  # as some programs do: what is marked
    canvas.showPage()
    canvas.textAnnotation("Only a note", Rect=[72, 200, 90, 220])
    canvas.showPage()
    canvas.save()
    document = convert("a.pdf", stream.getvalue())
    assert document.content == (
        "First name\nAlice Oxford\n\nSecond page\nWritten for all\nA small note\nIs this so?\n\nOnly a note"
    )


@pytest.mark.parametrize("angle", [90, 270])
def test_a_wide_table_below_a_running_head(angle: int) -> None:
    from reportlab.pdfgen.canvas import Canvas

    rows = [f"Row {row} of the table" for row in range(12)]
    stream = io.BytesIO()
    canvas = Canvas(stream, pagesize=(612, 792))
    canvas.drawString(72, 700, "Running head")
    canvas.translate(*((100, 100) if angle == 90 else (500, 600)))
    canvas.rotate(angle)
    for number, row in enumerate(rows):
        canvas.drawString(0, -14 * number, row)
    canvas.save()
    assert convert("a.pdf", stream.getvalue()).content.split("\n")[-11:] == rows[1:]


def glyphs_of(*glyphs: str, font: str = "Helvetica") -> bytes:
    """A page with one line, given from left to right, by what its font says each glyph stands for."""
    codes = "".join(f"<{code:02x}> <{glyph.encode('utf-16-be').hex()}>\n" for code, glyph in enumerate(glyphs, 65))
    words = f"1 begincodespacerange <00> <ff> endcodespacerange\n{len(glyphs)} beginbfchar\n{codes}endbfchar\n"
    shown = f"BT /F 20 Tf 100 700 Td ({''.join(chr(code) for code in range(65, 65 + len(glyphs)))}) Tj ET"
    objects = [
        "<</Type/Catalog/Pages 2 0 R>>",
        "<</Type/Pages/Kids[3 0 R]/Count 1>>",
        "<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Contents 4 0 R/Resources<</Font<</F 5 0 R>>>>>>",
        f"<</Length {len(shown)}>>\nstream\n{shown}\nendstream",
        f"<</Type/Font/Subtype/Type1/BaseFont/{font}/ToUnicode 6 0 R>>",
        f"<</Length {len(words)}>>\nstream\n{words}\nendstream",
    ]
    body = "".join(f"{number} 0 obj\n{text}\nendobj\n" for number, text in enumerate(objects, 1))
    return f"%PDF-1.4\n{body}trailer\n<</Root 1 0 R>>\nstartxref\n0\n%%EOF\n".encode()


def test_arabic_ligatures() -> None:
    opening = "\u0627\u0644\u0627\u0646\u0641\u062a\u0627\u062d"  # alef, lam-alef, noon, feh, teh, alef, hah
    assert convert("a.pdf", glyphs_of(*opening[:2:-1], opening[1:3], opening[0])).content == opening
    glory = "\u0627\u0644\u0645\u062c\u062f"  # alef, lam-meem, jeem, dal
    assert convert("a.pdf", glyphs_of(*glory[:2:-1], glory[1:3], glory[0])).content == glory
    article = "\u0627\u0644\u0628\u062d\u0631"  # alef and lam that are two glyphs
    assert convert("a.pdf", glyphs_of(*article[::-1])).content == article


@pytest.mark.parametrize("bullet", ["\uf0b7", "\uf0a7", "\x84", "•"])
def test_bullets_of_symbol_fonts_are_bullets(bullet: str) -> None:
    assert convert("a.pdf", glyphs_of(bullet, *" Item")).content == "• Item"


@pytest.mark.parametrize(
    ("font", "shown"), [("Symbol", "x ≤±"), ("ABCDEF+SymbolMT", "x ≤±"), ("Wingdings-Regular", "x \uf0a3\uf0b1")]
)
def test_symbols_of_a_font_of_symbols(font: str, shown: str) -> None:
    assert convert("a.pdf", glyphs_of(*"x \uf0a3\uf0b1", font=font)).content == shown


def test_signs_before_words_that_are_no_bullets_stay() -> None:
    assert convert("a.pdf", glyphs_of("\x80", *" 5")).content == "€ 5"
    assert convert("a.pdf", glyphs_of("\x84", *"Item")).content == "„Item"


def test_pages_and_properties() -> None:
    data = pdf(["Page one.", "Second line."], [], ["Page three."], title="The title", author="Ann", subject="Things")
    document = convert("a.pdf", data)
    assert document.content == "Page one.\nSecond line.\n\nPage three."
    assert places(document, "page") == [(1, "Page one."), (3, "Page three.")]
    assert document.title == "The title"
    assert document.format == "text"
    assert document.mime_type == "application/pdf"
    assert document.metadata["page_count"] == 3
    assert document.metadata["author"] == "Ann"
    filled_in = pdf(["Page one."], title="untitled", author="(anonymous)", subject="(unspecified)")
    assert {"title", "author", "subject"}.isdisjoint(convert("a.pdf", filled_in).metadata)
    assert document.metadata["created"][:2] == "20"


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("D:20240102030405+02'30'", "2024-01-02T03:04:05+02:30"),
        ("D:20240102030405-08'00'", "2024-01-02T03:04:05-08:00"),
        ("D:20240102030405Z00'00'", "2024-01-02T03:04:05+00:00"),
        ("D:20240102030405+99'00'", "2024-01-02T03:04:05+00:00"),
        ("D:202401               ", "2024-01-01T00:00:00+00:00"),
        ("D:20241302030405+00'00'", None),
    ],
)
def test_dates(written: str, read: str | None) -> None:
    data = re.sub(rb"/CreationDate \(.{23}\)", f"/CreationDate ({written})".encode(), pdf(["text"]))
    assert written.encode() in data
    assert convert("a.pdf", data).metadata.get("created") == read


@pytest.mark.parametrize(
    "title",
    [
        "untitled",
        "(anonymous)",
        "[no title]",
        "Microsoft Word - draft.doc",
        "report_final.docx",
        "talk.odp",
        "123",
        "",
        "Slide 1",
    ],
)
def test_titles_that_programs_make_up_are_none(title: str) -> None:
    assert convert("a.pdf", pdf(["text"], title=title)).title is None


@pytest.mark.parametrize(
    "title",
    [
        *("Présentation PowerPoint", "Presentación de PowerPoint", "Presentazione standard di PowerPoint", "Folie 1"),
        *("Apresentação do PowerPoint", "Презентация PowerPoint", "PowerPoint-Präsentation", "PowerPoint 演示文稿"),
        *(
            "Dokument1",
            "Документ1",
            "Unbenanntes Dokument",
            "Document sans titre",
            "Documento sin título",
            "無題のドキュメント",
        ),
    ],
)
def test_titles_that_programs_make_up_in_other_languages_are_none(title: str) -> None:
    assert convert("a.pdf", pdf(["text"], title=title)).title is None


@pytest.mark.parametrize("title", ["Presenting with PowerPoint in class", "Documents of 1848", "Slide 12", "Folien"])
def test_titles_like_those_are_kept(title: str) -> None:
    assert convert("a.pdf", pdf(["text"], title=title)).title == title


def test_words_divided_at_the_end_of_a_line() -> None:
    lines = [
        "A retrieval method that uses dual-encoder net-",
        "works and dual-",
        "encoder training with pre-",
        "trained weights.",
    ]
    assert convert("a.pdf", pdf(lines)).content == (
        "A retrieval method that uses dual-encoder networks and dual-encoder training with pretrained weights."
    )


def test_raised_and_lowered_letters_divide_no_line() -> None:
    from reportlab.pdfgen.canvas import Canvas

    lines: list[list[tuple[str, int]]] = [
        [("The sphere S", 0), ("2", 5), (" has 750", 0), ("1", 5), (" inhabitants, and H", 0), ("2", -4), ("O.", 0)],
        [("Ann Lee", 0), ("*", 5), (", Bob Ray", 0), ("†", 5), (" and others met 10", 0), ("-12", 5)],
        [("Lime gives off CO", 0), ("2", -4)],
    ]
    stream = io.BytesIO()
    canvas = Canvas(stream)
    for number, parts in enumerate(lines):
        left = 72.0
        for words, rise in parts:
            size = 8 if rise else 12
            canvas.setFont("Helvetica", size)
            canvas.drawString(left, 700 - 16 * number + rise, words)
            left += canvas.stringWidth(words, "Helvetica", size)
    canvas.save()
    assert convert("a.pdf", stream.getvalue()).content == (
        "The sphere S^2 has 750^1 inhabitants, and H2O.\nAnn Lee*, Bob Ray† and others met 10^-12\nLime gives off CO2"
    )


def with_attachments(data: bytes, *names: str) -> bytes:
    import pypdfium2

    document = pypdfium2.PdfDocument(data)
    for name in names:
        document.new_attachment(name).set_data(b"more")
    stream = io.BytesIO()
    document.save(stream)
    return stream.getvalue()


def test_accents_drawn_over_letters_are_parts_of_them() -> None:
    from reportlab.pdfgen.canvas import Canvas

    stream = io.BytesIO()
    canvas = Canvas(stream)
    width = canvas.stringWidth
    # As TeX does: the accent in the middle of the place of the letter, then the letter.
    lines = [("Schr", "¨o", "dinger and M", "¨u", "ller in Poincar", "´e", "'s Fran", "¸c", "e"), ("A hat: ", "ˆP", "")]
    lines.append(("Code: `x` and a ^ b, ~/y, ´e",))
    for row, parts in enumerate(lines):
        text = canvas.beginText()
        text.setFont("Times-Roman", 11)
        place = 72.0
        for number, part in enumerate(parts):
            if number % 2:
                text.setTextOrigin(
                    place + (width(part[1], "Times-Roman", 11) - width(part[0], "Times-Roman", 11)) / 2, 700
                )
                text.moveCursor(0, 20 * row)
                text.textOut(part[0])
                part = part[1]
            text.setTextOrigin(place, 700 - 20 * row)
            text.textOut(part)
            place += width(part, "Times-Roman", 11)
        canvas.drawText(text)
    canvas.save()
    assert convert("a.pdf", stream.getvalue()).content.split("\n") == [
        "Schrödinger and Müller in Poincaré's Françe",
        "A hat: Pˆ",
        "Code: `x` and a ^ b, ~/y, ´e",
    ]


def test_attached_files_are_named() -> None:
    document = convert("a.pdf", with_attachments(pdf(["Two files come with it"]), "prices 2024.xlsx", "Grüße.txt"))
    assert document.content == "Two files come with it\n\nAttachments:\n- Grüße.txt\n- prices 2024.xlsx"
    assert document.metadata["attachments"] == ["Grüße.txt", "prices 2024.xlsx"]
    assert reason("a.pdf", with_attachments(pdf([]), "b.docx")) == (
        "its only page holds no text (scanned pages need OCR); the files attached to it are not read: b.docx"
    )


@pytest.mark.parametrize("turned", [False, True])
def test_links_are_kept_with_the_words_that_they_are_on(turned: bool) -> None:
    from reportlab.pdfgen.canvas import Canvas

    stream = io.BytesIO()
    canvas = Canvas(stream)
    if turned:
        canvas.rotate(90)
        canvas.translate(0, -800)
    for left, words, target in (
        (72, "See the manual", "https://example.org/manual#top"),
        (172, "for more", ""),
        (272, "or the other file", "more/other.pdf"),
    ):
        canvas.drawString(left, 700, words)
        if target:
            canvas.linkURL(target, (left - 2, 697, left + canvas.stringWidth(words) + 2, 712), relative=1)
    canvas.linkURL("mailto:me@example.org", (72, 600, 90, 620), relative=1)
    canvas.acroForm.textfield(name="first", value="Alice", x=150, y=495, width=100, height=20)
    canvas.showPage()
    canvas.save()
    assert convert("a.pdf", stream.getvalue()).links == (
        Link("https://example.org/manual", "See the manual"),
        Link(f"{URI}more/other.pdf", "or the other file"),
    )


def test_pages_that_are_images_are_told() -> None:
    from reportlab.lib.utils import ImageReader
    from reportlab.pdfgen.canvas import Canvas

    stream = io.BytesIO()
    canvas = Canvas(stream)
    scan = ImageReader(io.BytesIO(b"P6 2 2 255\n" + bytes(12)))
    for kind in ("text", "scan", "blank", "scan", "text and image"):
        if "text" in kind:
            canvas.drawString(72, 700, "Some words")
        if kind != "text" and kind != "blank":
            canvas.drawImage(scan, 0, 0, 500, 600)
        canvas.showPage()
    canvas.save()
    assert convert("a.pdf", stream.getvalue()).metadata["pages_without_text"] == [2, 4]
    assert "pages_without_text" not in convert("a.pdf", pdf(["words"], [])).metadata


def test_a_soft_hyphen_that_is_seen_is_a_hyphen() -> None:
    assert convert("a.pdf", glyphs_of(*"Form W\u00ad4")).content == "Form W-4"


def test_encrypted() -> None:
    assert reason("a.pdf", pdf(["secret"], password="secret")) == "it is encrypted (a password is needed)"


@pytest.mark.parametrize("before", [pdf(["secret"], password="secret"), b"%PDF-1.7\n"])
def test_a_document_without_pages_is_not_taken_for_the_one_before(before: bytes) -> None:
    objects = b"%PDF-1.3\n1 0 obj<</Type/Pages/Count 0/Kids[]>>endobj\n2 0 obj<</Type/Catalog/Pages 1 0 R>>endobj\n"
    places = b"".join(b"%010d 00000 n \n" % objects.index(b"%d 0 obj" % number) for number in (1, 2))
    table = b"xref\n0 3\n0000000000 65535 f \n" + places
    data = objects + table + b"trailer<</Size 3/Root 2 0 R>>\nstartxref\n%d\n%%%%EOF\n" % len(objects)
    assert reason("before.pdf", before)
    assert reason("a.pdf", data).startswith("it is damaged or ")


def test_damaged() -> None:
    whole = pdf(["some text"] * 50)
    assert "damaged or no PDF" in reason("a.pdf", b"%PDF-1.4\n" + b"garbage " * 100)
    assert "damaged or no PDF" in reason("a.pdf", "only words")
    assert "damaged or no PDF" in reason("a.pdf", whole[: len(whole) // 2])
    lost = whole.replace(b"startxref", b"startxxxx")  # the table of contents of the file is rebuilt
    assert convert("a.pdf", lost).content.startswith("some text")
    assert convert("a.txt", whole).content.startswith("some text")


def test_without_text() -> None:
    assert reason("a.pdf", pdf([], [])) == "its 2 pages hold no text (scanned pages need OCR)"
