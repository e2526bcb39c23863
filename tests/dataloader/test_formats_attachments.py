"""What is in the files that are attached to messages."""

from __future__ import annotations

import gzip
import io
from email.message import EmailMessage

import openpyxl
import pytest

from libs.dataloader.formats import base
from tests.dataloader.filetools import convert, targets

EVENT = "\r\n".join(
    (
        *("BEGIN:VCALENDAR", "BEGIN:VEVENT", "SUMMARY:Launch of the ferry", "LOCATION:Slip 2"),
        *("END:VEVENT", "END:VCALENDAR", ""),
    )
)


def message(subject: str, body: str) -> EmailMessage:
    mail = EmailMessage()
    mail["From"] = "Rolf <rolf@example.org>"
    mail["Subject"] = subject
    mail.set_content(body)
    return mail


def workbook() -> bytes:
    book = openpyxl.Workbook()
    book.active.append(["Part", "Price"])
    book.active.append(["Anchor", 240])
    stream = io.BytesIO()
    book.save(stream)
    return stream.getvalue()


def test_attachments_are_read_below_their_names() -> None:
    mail = message("Offer", "Dear Ida,\n\nthe offer is attached.\n")
    mail.add_attachment("# Terms\n\nSee [us](https://example.org/).\n\n## Delivery\n\nIn May.\n", filename="terms.md")
    mail.add_attachment(workbook(), maintype="application", subtype="octet-stream", filename="parts.xlsx")
    mail.add_attachment("print(1)\n", filename="count.py")
    document = convert("a.eml", mail.as_bytes())
    head, _, attached = document.content.partition("\n\n# terms.md\n\n")
    assert head.endswith("- count.py (text/plain)")
    assert attached == (
        "## Terms\n\nSee [us](https://example.org/).\n\n### Delivery\n\nIn May.\n\n"
        "# parts.xlsx\n\n| Part | Price |\n| --- | --- |\n| Anchor | 240 |\n\n"
        "# count.py\n\n```python\nprint(1)\n```"
    )
    assert (document.title, document.format) == ("Offer", "markdown")
    assert targets(document) == ["https://example.org/"]


@pytest.mark.parametrize("archive", [False, True])
def test_attachments_have_no_more_text_together_than_a_file(monkeypatch: pytest.MonkeyPatch, archive: bool) -> None:
    """Small ones, compressed, may have any amount of it."""
    monkeypatch.setattr(base, "_MAX_CHARS", 10_000)
    mail = message("Words", "Look.\n")
    for name in "abc":
        data = gzip.compress(name.encode() * 4000)
        mail.add_attachment(data, maintype="application", subtype="gzip", filename=f"{name}.txt.gz")
    data = b"From ben@example.org Fri Dec 16 17:04:16 2022\n" * archive + mail.as_bytes()
    content = convert("a.mbox" if archive else "a.eml", data).content
    assert ["a" * 4000 in content, "b" * 4000 in content, "c" * 4000 in content] == [True, True, False]
    assert "- c.txt.gz" in content


@pytest.mark.parametrize("archive", [False, True])
def test_the_line_above_a_signature_is_no_heading(archive: bool) -> None:
    mail = message("Offer", "It is attached.\nYours, Ben\n-- \nBen Hale\n")
    mail.add_attachment("In May.\n", filename="terms.txt")
    data = b"From ben@example.org Fri Dec 16 17:04:16 2022\n" * archive + mail.as_bytes()
    assert "Yours, Ben\n\n-- \nBen Hale\n" in convert("a.mbox" if archive else "a.eml", data).content


def test_attachments_that_cannot_be_read_are_named() -> None:
    mail = message("Photos", "Look.\n")
    mail.add_attachment(b"\x89PNG\r\n\x1a\n" + bytes(40), maintype="image", subtype="png", filename="slip.png")
    mail.add_attachment(b"%PDF-1.4 broken", maintype="application", subtype="pdf", filename="plan.pdf")
    document = convert("a.eml", mail.as_bytes())
    assert document.content.endswith("Look.\n\nAttachments:\n- slip.png (image/png)\n- plan.pdf (application/pdf)")


@pytest.mark.parametrize("form", ["attachment", "alternative"])
def test_an_invitation_is_an_attachment_also_where_programs_send_it_as_another_form_of_the_text(form: str) -> None:
    mail = message("Launch", "Please come.\n")
    if form == "attachment":
        mail.add_attachment(EVENT.encode(), maintype="text", subtype="calendar", filename="invite.ics")
    else:
        mail.add_alternative(EVENT, subtype="calendar")
    content = convert("a.eml", mail.as_bytes()).content
    assert content.count("Launch of the ferry") == 1
    assert content.index("Please come.") < content.index("(text/calendar)") < content.index("Title: Launch")


def test_attachments_of_messages_inside_messages_and_archives_are_read() -> None:
    inner = message("Inner", "inner words\n")
    inner.add_attachment("Keel laid in March.\n", filename="log.txt")
    outer = message("Outer", "outer words\n")
    outer.add_attachment(inner)
    mail = outer.as_bytes()
    assert convert("a.eml", mail).content.endswith("- Inner (message/rfc822)\n\n# log.txt\n\nKeel laid in March.")
    archive = b"From rolf@example.org Mon Jan  1 10:00:00 2024\n" + mail + b"\n"
    content = convert("a.mbox", archive + archive).content
    assert content.count("\n\n## log.txt\n\nKeel laid in March.\n") == content.count("# Outer\n") == 2


def test_messages_attached_as_files_are_read_some_levels_deep() -> None:
    mail = "From: rolf@example.org\nSubject: 0\n\nwords 0.\n"
    for depth in range(1, 200):
        mail = (
            f"From: rolf@example.org\nSubject: {depth}\nContent-Type: multipart/mixed; boundary=part{depth}\n\n"
            f"--part{depth}\n\nwords {depth}.\n--part{depth}\nContent-Type: application/octet-stream\n"
            f"Content-Disposition: attachment; filename=mail.eml\n\n{mail}\n--part{depth}--\n"
        )
    content = convert("a.eml", mail, max_bytes=50_000_000).content
    assert "words 199." in content and "words 195." in content
    assert "words 0." not in content


def test_files_in_files_in_files_do_not_multiply(monkeypatch: pytest.MonkeyPatch) -> None:
    """A few kilobytes of messages that hold compressed messages that hold others are as many as anybody wants."""
    monkeypatch.setattr(base, "_MOST_NESTED", 50)
    inner = message("Innermost", "Here.").as_bytes()
    for _ in range(4):
        mail = message("Around", "There.")
        for _ in range(6):
            mail.add_attachment(gzip.compress(inner), maintype="application", subtype="gzip", filename="a.eml.gz")
        inner = mail.as_bytes()
    assert convert("a.eml", inner).content.count("Subject: ") <= 51


def test_files_in_a_file_expand_to_no_more_than_ten_such_files() -> None:
    def chunk(mark: str) -> bytes:
        return gzip.compress(mark.encode() + b" " * 190_000)

    mail = message("Chunks", "They follow.")
    for number in range(20):
        mail.add_attachment(chunk(f"number{number}"), maintype="application", subtype="gzip", filename="a.txt.gz")
    read = convert("a.eml", mail.as_bytes(), max_bytes=100_000).content
    assert read.count("number") == 10  # each expands to nearly as much as it may
