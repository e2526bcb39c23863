"""Notebooks, books and mail."""

from __future__ import annotations

import base64
import json
from email.message import EmailMessage
from email.mime.multipart import MIMEMultipart
from email.mime.text import MIMEText
from typing import Any

import pytest

from tests.dataloader.filetools import convert, places, reason, records, targets, zipped

# -- notebooks -----------------------------------------------------------------------------------------------------


def notebook(*cells: dict[str, Any], **metadata: Any) -> str:
    return json.dumps({"cells": list(cells), "metadata": metadata, "nbformat": 4, "nbformat_minor": 5})


def test_notebook() -> None:
    outputs = [
        {"output_type": "stream", "name": "stdout", "text": ["\x1b[31mprinted\x1b[0m\n"]},
        {"output_type": "display_data", "data": {"image/png": "iVBORw0KGgo=", "text/plain": ["<Figure>"]}},
        {"output_type": "error", "ename": "ValueError", "evalue": "bad", "traceback": ["long"]},
    ]
    document = convert(
        "sub/a.ipynb",
        notebook(
            {"cell_type": "markdown", "source": ["# Analysis\n", "See [data](data.md)."]},
            {"cell_type": "code", "source": "x = 1\nprint(x)", "outputs": outputs},
            {"cell_type": "code", "source": "", "outputs": []},
            {"cell_type": "raw", "source": "raw words"},
            kernelspec={"language": "python", "name": "python3"},
            language_info={"name": "Python"},
        ),
    )
    assert document.content == (
        "# Analysis\nSee [data](data.md).\n\n```python\nx = 1\nprint(x)\n```\n\n```\nprinted\n```\n\n"
        "```\nValueError: bad\n```\n\nraw words"
    )
    assert document.format == "markdown"
    assert places(document, "cell") == [(1, "# Analysis"), (2, "```python"), (4, "raw words")]
    assert document.title == "Analysis"
    assert document.metadata["language"] == "python"
    assert targets(document) == ["file:///home/me/docs/sub/data.md"]


def test_what_a_notebook_shows_as_an_image() -> None:
    figure = {"image/png": "iVBO", "text/plain": ["<Figure size 432x288 with 1 Axes>"]}
    formula = {"image/png": "iVBO", "text/plain": ["x**2 + 1"]}
    matrix = {"text/plain": ["<4x5 sparse matrix of type 'int'>"]}
    cells = [
        {"cell_type": "code", "source": ["show()"], "outputs": [{"output_type": "display_data", "data": data}]}
        for data in (figure, formula, matrix)
    ]
    shown = convert("a.ipynb", notebook(*cells)).content
    assert shown.replace("```python\nshow()\n```\n\n", "") == (
        "```\nx**2 + 1\n```\n\n```\n<4x5 sparse matrix of type 'int'>\n```"
    )


@pytest.mark.parametrize(
    ("metadata", "language"),
    [
        ({"kernelspec": {"name": "ir", "language": "R"}}, "r"),
        ({"kernelspec": {"name": "ir", "language": "R"}, "language_info": {"name": "Julia"}}, "julia"),
        ({"kernelspec": {"name": "ir"}, "language_info": {"name": 5}}, "python"),
    ],
)
def test_the_language_of_a_notebook(metadata: dict[str, object], language: str) -> None:
    data = {"metadata": metadata, "cells": [{"cell_type": "code", "source": "1"}]}
    assert convert("a.ipynb", json.dumps(data)).content == f"```{language}\n1\n```"


def test_older_and_odd_notebooks() -> None:
    old: dict[str, Any] = {
        "worksheets": [
            {"cells": [{"cell_type": "heading", "level": 2, "source": "Old"}, {"cell_type": "code", "input": "1"}]}
        ]
    }
    assert convert("a.ipynb", json.dumps(old)).content == "## Old\n\n```python\n1\n```"
    old["worksheets"] += [7, {"cells": None}]
    assert convert("a.ipynb", json.dumps(old)).content == "## Old\n\n```python\n1\n```"
    assert "not a notebook" in reason("a.ipynb", "[1, 2]")
    assert "damaged" in reason("a.ipynb", '{"cells": [')
    assert "no text" in reason("a.ipynb", notebook())
    odd = notebook({"cell_type": "code", "source": 5, "outputs": "?"}, {"cell_type": "markdown", "source": "kept"})
    assert convert("a.ipynb", odd.replace('"cells": [', '"cells": [null, 7, ')).content == "kept"
    long = notebook({"cell_type": "code", "source": "x", "outputs": [{"output_type": "stream", "text": "y" * 100_000}]})
    assert len(convert("a.ipynb", long).content) < 3000


# -- books ---------------------------------------------------------------------------------------------------------


def book(**extra: str) -> dict[str, bytes | str]:
    chapter = "<html xmlns='http://www.w3.org/1999/xhtml'><head><title>x</title></head><body>{}</body></html>"
    return {
        "mimetype": "application/epub+zip",
        "META-INF/container.xml": "<container><rootfile full-path='OEBPS/book.opf'/></container>",
        "OEBPS/book.opf": (
            "<package xmlns='http://www.idpf.org/2007/opf' xmlns:dc='http://purl.org/dc/elements/1.1/'><metadata>"
            "<dc:title>The Book</dc:title><dc:creator>Ann</dc:creator><dc:language>en</dc:language></metadata>"
            "<manifest>"
            "<item id='n' href='nav.xhtml' media-type='application/xhtml+xml' properties='nav'/>"
            "<item id='b' href='text/b%20two.xhtml' media-type='application/xhtml+xml'/>"
            "<item id='a' href='text/a.xhtml' media-type='application/xhtml+xml'/></manifest>"
            "<spine><itemref idref='n'/><itemref idref='b'/><itemref idref='a'/>"
            "<itemref idref='missing'/></spine></package>"
        ),
        "OEBPS/nav.xhtml": chapter.format("<nav>Contents</nav>"),
        "OEBPS/text/a.xhtml": chapter.format("<h1>Last</h1><p>The end, <a href='https://example.org/'>more</a>.</p>"),
        "OEBPS/text/b two.xhtml": chapter.format("<h1>First</h1><p>Words &amp; <a href='a.xhtml'>a chapter</a>.</p>"),
        **extra,
    }


def test_book_in_reading_order() -> None:
    document = convert("a.epub", zipped(book(), stored=["mimetype"]))
    assert document.content == "# First\n\nWords & a chapter.\n\n# Last\n\nThe end, more."
    assert document.title == "The Book"
    assert document.metadata == {"author": "Ann", "language": "en"}
    assert targets(document) == ["https://example.org/"]


def test_broken_and_locked_books() -> None:
    parts = book()
    del parts["META-INF/container.xml"]
    assert convert("a.epub", zipped(parts)).title == "The Book"
    del parts["OEBPS/book.opf"]
    assert convert("a.epub", zipped(parts)).content.startswith("Contents")
    lock = "<encryption><EncryptedData><EncryptionMethod Algorithm='{}'/></EncryptedData></encryption>"
    fonts = book(**{"META-INF/encryption.xml": lock.format("http://www.idpf.org/2008/embedding")})
    assert convert("a.epub", zipped(fonts)).title == "The Book"
    locked = book(**{"META-INF/encryption.xml": lock.format("http://www.w3.org/2001/04/xmlenc#aes128-cbc")})
    assert "encrypted" in reason("a.epub", zipped(locked))


# -- mail ----------------------------------------------------------------------------------------------------------


def message(subject: str = "The subject") -> EmailMessage:
    mail = EmailMessage()
    mail["From"] = "Ann Müller <ann@example.org>"
    mail["To"] = "bob@example.org"
    mail["Date"] = "Fri, 16 Dec 2022 17:04:16 -0500"
    mail["Subject"] = subject
    return mail


def test_mail_with_both_kinds_of_text_and_attachments() -> None:
    mail = message("Grüße aus Köln")
    mail.set_content("Hello,\n\nsee https://example.org/page.\n")
    mail.add_alternative("<p>Hello, <a href='https://example.org/html'>see</a></p>", subtype="html")
    mail.add_attachment(b"%PDF-1.4", maintype="application", subtype="pdf", filename="Übersicht.pdf")
    document = convert("a.eml", mail.as_bytes())
    assert document.content == (
        "# Ann Müller, 2022-12-16\n\n"
        "From: Ann Müller <ann@example.org>\nTo: bob@example.org\nDate: Fri, 16 Dec 2022 17:04:16 -0500\n"
        "Subject: Grüße aus Köln\n\nHello,\n\nsee https://example.org/page.\n\n"
        "Attachments:\n- Übersicht.pdf (application/pdf)"
    )
    assert document.title == "Grüße aus Köln"
    assert document.metadata["created"] == "2022-12-16T17:04:16-05:00"
    assert document.metadata["attachments"] == ["Übersicht.pdf"]
    assert set(targets(document)) == {"https://example.org/page", "https://example.org/html"}


@pytest.mark.parametrize(
    ("header", "shown"),
    [
        ('"Okafor, Tunde" <t@example.org>', "Tunde Okafor <t@example.org>"),
        ("=?utf-8?q?M=C3=BCller=2C_Ann?= <ann@example.org>", "Ann Müller <ann@example.org>"),
        ('Bo <bo@example.org>, "Lane, Dr. Ada" <a@example.org>', "Bo <bo@example.org>, Dr. Ada Lane <a@example.org>"),
        ('"Acme, Inc." <acme@example.org>', '"Acme, Inc." <acme@example.org>'),
        ("bo@example.org, Ann Hale <ann@example.org>", "bo@example.org, Ann Hale <ann@example.org>"),
        ("Ada Lane, Ann Hale <ann@example.org>", "Ada Lane, Ann Hale <ann@example.org>"),
        ('"Sales, Acme (EU)" <eu@example.org>', '"Sales, Acme (EU)" <eu@example.org>'),
    ],
)
def test_names_of_people_in_mail_begin_with_the_given_name(header: str, shown: str) -> None:
    document = convert("a.eml", f"From: {header}\nSubject: Lane, Ada <x@example.org>\n\nHello.\n")
    assert document.content.endswith(f"\n\nFrom: {shown}\nSubject: Lane, Ada <x@example.org>\n\nHello.")
    assert document.metadata["author"] == shown


def test_mail_in_html_only_and_in_an_old_charset() -> None:
    mail = message()
    mail.set_content("<h1>Angebot</h1><ul><li>Käse</li></ul>", subtype="html", charset="iso-8859-1")
    assert convert("a.eml", mail.as_bytes()).content.endswith("# Angebot\n\n- Käse")
    raw = b"From: a@b.c\nSubject: x\nContent-Type: text/plain; charset=no-such-thing\n\ncaf\xe9 time\n"
    assert convert("a.eml", raw).content.endswith("café time")
    bare = "From: a@b.c\nSubject: =?utf-8?q?broken\nDate: not a date\n\n日本語です\n".encode("cp932")
    assert convert("a.eml", bare).content.endswith("日本語です")


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-be"])
def test_mail_saved_as_unicode(encoding: str) -> None:
    raw = "From: a@b.c\nSubject: Grüße\n\nwords für alle\n".encode(encoding)
    document = convert("a.eml", raw)
    assert document.title == "Grüße"
    assert document.content.endswith("words für alle")


def test_a_message_whose_parts_are_not_told_apart_keeps_its_text() -> None:
    head = "From: a@example.org\nSubject: Tides\nContent-Type: multipart/mixed; boundary=zz\n"
    assert convert("a.eml", f"{head}\nThe mill turns.\n").content.endswith("Subject: Tides\n\nThe mill turns.")
    coded = f"{head}Content-Transfer-Encoding: quoted-printable\n\nDie M=C3=BChle.\n"
    assert convert("a.eml", coded).content.endswith("Die Mühle.")
    prologue = f"{head}\nThis is a message in parts.\n--zz\n\nThe mill turns.\n"
    assert convert("a.eml", prologue).content.endswith("Subject: Tides\n\nThe mill turns.")


@pytest.mark.parametrize(("kind", "shown"), [("text/plain", "graph \non"), ("text/plain; format=flowed", "graph on")])
def test_mail_whose_lines_flow(kind: str, shown: str) -> None:
    body = "A paragraph \non two lines.\n> quoted \n> words\n-- \nAnn\n"
    content = convert("a.eml", f"Subject: Hello\nContent-Type: {kind}\n\n{body}").content
    assert shown in content and content.endswith("\n> quoted \n> words\n\n-- \nAnn")


def test_mail_whose_lines_flow_within_words() -> None:
    head = "Subject: Hello\nContent-Type: text/plain; format=flowed; delsp=yes; charset=utf-8\n\n"
    assert convert("a.eml", f"{head}We meet on Thurs \nday at  \nnine.\n").content.endswith(
        "We meet on Thursday at nine."
    )


def test_mail_in_mail() -> None:
    inner = message("Inner")
    inner.set_content("inner words")
    outer = message("Outer")
    outer.set_content("outer words")
    outer.add_attachment(inner)
    content = convert("a.eml", outer.as_bytes()).content
    assert content.index("outer words") < content.index("Subject: Inner") < content.index("inner words")


def test_mail_in_mail_that_is_encoded() -> None:
    inner = "Subject: Inner\nFrom: a@example.org\n\nWe meet at the caf\u00e9.\n".encode()
    text = (
        'Subject: Outer\nFrom: b@example.org\nContent-Type: multipart/mixed; boundary="x"\n\n--x\n\nSee below.\n'
        "--x\nContent-Type: message/rfc822\nContent-Transfer-Encoding: base64\n"
        f"Content-Disposition: attachment\n\n{base64.encodebytes(inner).decode()}\n--x--\n"
    )
    assert convert("a.eml", text).content == (
        "# b@example.org\n\nFrom: b@example.org\nSubject: Outer\n\nSee below.\n\n"
        "From: a@example.org\nSubject: Inner\n\nWe meet at the caf\u00e9.\n\nAttachments:\n- Inner (message/rfc822)"
    )


def test_attachments_without_a_file_name() -> None:
    mail = message("Outer")
    mail.set_content("outer words")
    inner, nameless = message("Grüße"), EmailMessage()
    for attached in (inner, nameless):
        attached.set_content("inner words")
        mail.add_attachment(attached)
    mail.add_attachment(inner, filename="kept.eml")
    mail.add_attachment(b"%PDF-1.4", maintype="application", subtype="pdf")
    document = convert("a.eml", mail.as_bytes())
    assert document.metadata["attachments"] == ["Grüße", "message", "kept.eml", "attachment"]
    assert document.content.endswith(
        "Attachments:\n- Grüße (message/rfc822)\n- message (message/rfc822)\n- kept.eml (message/rfc822)\n"
        "- attachment (application/pdf)"
    )


def saved_page(**headers: str) -> bytes:
    """A page as a browser saves it in one file."""
    saved = MIMEMultipart("related", type="text/html")
    for name, value in {"From": "<Saved by Blink>", "Subject": "The mill", **headers}.items():
        saved[name] = value
    html = (
        "<title>The mill</title><nav><ul><li><a href='/'>Home</a></ul></nav>"
        "<main><h1>The mill</h1><p>It turns with <a href='dam'>the ebb</a>.</p></main>"
    )
    for part, place in ((MIMEText(html, "html", "utf-8"), "guide/mill"), (MIMEText("p {}", "css"), "a.css")):
        part["Content-Location"] = f"https://example.org/{place}"
        saved.attach(part)
    return saved.as_bytes()


@pytest.mark.parametrize("name", ["mill.mhtml", "mill.mht"])
def test_a_page_saved_with_its_images_is_a_page(name: str) -> None:
    document = convert(name, saved_page())
    assert (document.title, document.mime_type) == ("The mill", "text/html")
    assert document.content == "# The mill\n\nIt turns with the ebb."
    assert document.metadata == {"url": "https://example.org/guide/mill"}
    assert [link.target for link in document.links] == ["https://example.org/guide/dam"]


def test_mail_with_images_and_styles_is_mail_without_the_styles() -> None:
    document = convert("a.eml", saved_page(To="bo@example.org"))
    assert document.mime_type == "message/rfc822"
    assert document.content.startswith(
        "# Saved by Blink\n\nFrom: <Saved by Blink>\nTo: bo@example.org\nSubject: The mill\n\n"
    )
    assert document.content.endswith("# The mill\n\nIt turns with the ebb.")


def test_mail_that_is_none() -> None:
    assert "not an e-mail message" in reason("a.eml", "just words")
    assert "in an unknown binary format" in reason("a.eml", bytes(range(256)) * 20)
    deep = b"From: a@b.c\n" + b"Content-Type: multipart/mixed; boundary=x\n\n--x\n" * 300 + b"\nwords\n"
    assert convert("a.eml", deep).content.startswith("# a@b.c\n\nFrom: a@b.c")


def test_a_mail_as_a_server_keeps_it_is_told_without_an_ending() -> None:
    mail = "Return-Path: <ann@example.org>\nReceived: from a by b\nFrom: Ann\nSubject: Herons\n\nThey are back.\n"
    document = convert("1471875781.M1P2.host:2,S", mail)
    assert (document.title, document.mime_type) == ("Herons", "message/rfc822")
    assert convert("memo", "From: Ann\nSubject: Herons\n\nThey are back.\n").mime_type == "text/plain"


# -- calendars and address books -----------------------------------------------------------------------------------


def test_calendar_entries_are_records_with_whole_words() -> None:
    head = "BEGIN:VCALENDAR\r\nX-WR-CALNAME:Bird\\, watching\r\n"
    first = (
        "BEGIN:VEVENT\r\nUID:1\r\nDESCRIPTION:Bring\\n\\nbinocu\r\n\tlars\\; a hat\r\n"
        "SUMMARY:Kestrels at the br\r\n idge\r\n"
        "BEGIN:VALARM\r\nDESCRIPTION:Go\r\nEND:VALARM\r\nEND:VEVENT\r\n"
    )
    second = "BEGIN:VEVENT\r\nSUMMARY:Möwen\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n".encode().replace(b"\xc3", b"\xc3\r\n ")
    document = convert("a.ics", (head + first).encode() + second)
    assert document.content == ("Title: Kestrels at the bridge\nDescription: Bring\nbinoculars; a hat\n\nTitle: Möwen")
    assert (document.title, document.format, document.mime_type) == ("Bird, watching", "records", "text/calendar")
    assert [document.content[start:].split("\n")[0] for start, _ in document.records] == [
        "Title: Kestrels at the bridge",
        "Title: Möwen",
    ]


def test_times_people_and_rules_of_a_calendar_are_readable() -> None:
    lines = (
        *("BEGIN:VCALENDAR", "BEGIN:VEVENT", "DTEND;TZID=Europe/Berlin:20250414T110000"),
        *("DTSTART;TZID=Europe/Berlin:20250414T093000", "SUMMARY:Count", "RRULE:FREQ=MONTHLY;BYDAY=2MO"),
        'ORGANIZER;CN="Klein, Petra":mailto:petra@example.org',
        *("ATTENDEE;CN=Ali;PARTSTAT=ACCEPTED:MAILTO:ali@example.org", "ATTENDEE:mailto:jo@example.org", "END:VEVENT"),
        *("BEGIN:VEVENT", "DTSTART;VALUE=DATE:20250509", "DTEND;VALUE=DATE:20250511", "STATUS:TENTATIVE", "END:VEVENT"),
        *("BEGIN:VTODO", "SUMMARY:Insure", "DUE:20250630T100000Z", "STATUS:NEEDS-ACTION", "END:VTODO", "END:VCALENDAR"),
    )
    document = convert("a.ics", "\r\n".join(lines))
    assert document.content == (
        "Title: Count\nStart: 2025-04-14 09:30 (Europe/Berlin)\nEnd: 2025-04-14 11:00 (Europe/Berlin)\n"
        "Repeats: monthly (byday 2MO)\nOrganizer: Klein, Petra <petra@example.org>\n"
        "Attendees: Ali <ali@example.org> (accepted), jo@example.org\n\n"
        "Start: 2025-05-09\nEnd: 2025-05-10\nStatus: tentative\n\n"
        "Title: Insure\nDue: 2025-06-30 10:00 (UTC)\nStatus: needs action"
    )
    assert (document.records[0][1]["Organizer"], document.records[0][1]["Attendees"]) == (["Klein, Petra"], ["Ali"])


def test_cards_of_an_address_book_are_readable_without_pictures() -> None:
    card = (
        "BEGIN:VCARD\nVERSION:3.0\nN:Heron;Ann;;;\nPHOTO;ENCODING=b;TYPE=JPEG:/9j/4AAQSkZJRg\n ABAQAAAQABAAD\n"
        "TEL;TYPE=WORK,VOICE:+49 30 1\nitem1.TEL;CELL:+49 171 2\nFN:Ann Heron\nORG:Mill Trust;Repairs\nTITLE:Miller\n"
        "ADR;TYPE=HOME:;;Dam 1;Ash;;123;\nBDAY:19750823\nNOTE:Likes\\, above all\\, herons\nEND:VCARD\n"
    )
    assert convert("a.vcf", card * 2).content == "\n\n".join(
        [
            "Name: Ann Heron\nOrganization: Mill Trust, Repairs\nJob title: Miller\nPhone (work): +49 30 1\n"
            "Phone (cell): +49 171 2\nAddress (home): Dam 1, Ash, 123\nBirthday: 1975-08-23\n"
            "Note: Likes, above all, herons"
        ]
        * 2
    )


def test_cards_of_telephones_are_readable() -> None:
    cards = (
        "BEGIN:VCARD\r\nVERSION:2.1\r\nN;CHARSET=UTF-8;ENCODING=QUOTED-PRINTABLE:H=C3=A4fner;Ann;;Dr.;\r\n"
        "ADR;HOME;QUOTED-PRINTABLE;CHARSET=nonsense:;;M=C3=BChle 1;A=\r\nsh;;;\r\nEND:VCARD\r\n"
        "BEGIN:VCARD\r\nN:Reed;Bob;;;\r\nFN:\r\nEND:VCARD\r\nBEGIN:VCARD\r\nNOTE;QUOTED-PRINTABLE:a="
    )
    assert convert("a.vcf", cards).content == (
        "Name: Dr. Ann Häfner\nAddress (home): Mühle 1, Ash\n\nName: Bob Reed\n\nNote: a"
    )


def test_entries_without_an_end_are_kept() -> None:
    cards = "BEGIN:VCARD\nFN:Ann\nBEGIN:VCARD\nFN:Bob\nEND:VCARD\nNOTE:of nobody\nBEGIN:VCARD\nFN:Cy\nTEL:030"
    document = convert("a.vcf", cards)
    assert document.content == "Name: Ann\n\nName: Bob\n\nNote: of nobody\n\nName: Cy\nPhone: 030"
    assert [entry["Name"] for _, entry in document.records if "Name" in entry] == ["Ann", "Bob", "Cy"]
    event = "BEGIN:VCALENDAR\nBEGIN:VEVENT\nSUMMARY:Weir\nBEGIN:VALARM\nDESCRIPTION:Go"
    assert convert("a.ics", event).content == "Title: Weir"


def test_a_day_of_a_calendar_that_ends_on_itself_ends_on_itself() -> None:
    entry = "BEGIN:VEVENT\nDTSTART;VALUE=DATE:20250509\nDTEND;VALUE=DATE:20250509\nEND:VEVENT\n"
    assert convert("a.ics", entry).content == "Start: 2025-05-09\nEnd: 2025-05-09"


@pytest.mark.parametrize(
    "text", ["BEGIN:VCALENDAR\nEND:VCALENDAR\n", "END:VEVENT\nno calendar\n", "DTSTART:99999999\n"]
)
def test_a_calendar_without_entries_stays_as_it_is(text: str) -> None:
    assert convert("a.ics", text).content == text


@pytest.mark.parametrize("name", ["list.mbox", "2024-January.txt", "Inbox"])
def test_an_archive_of_mail_has_all_of_its_messages(name: str) -> None:
    document = convert(
        name,
        "From ann@example.org Mon Jan  1 10:00:00 2024\n"
        "From: Ann <ann@example.org>\nSubject: =?utf-8?q?Die_M=C3=BChle?=\nMIME-Version: 1.0\n"
        "Content-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: base64\n\n"
        "RGllIE3DvGhsZSBzdGVodCBzdGlsbC4=\n\n"
        "From bo@example.org Mon Jan  1 11:00:00 2024\n"
        "From: Bo <bo@example.org>\nSubject: Wheel\n\nSee https://example.org/wheel.\n\n>From the dam it is near.\n\n"
        "From here it is far.\n\n# A note\n\n"
        "From cy@example.org Mon Jan  1 12:00:00 2024\nFrom: Cy <cy@example.org>\n\nNothing to say.\n",
    )
    assert document.content == (
        "# Die Mühle\n\n## Ann\n\nFrom: Ann <ann@example.org>\n\nDie Mühle steht still.\n\n"
        "# Wheel\n\n## Bo\n\nFrom: Bo <bo@example.org>\n\nSee https://example.org/wheel.\n\n"
        "From the dam it is near.\n\nFrom here it is far.\n\n### A note\n\n"
        "# (no subject)\n\n## Cy\n\nFrom: Cy <cy@example.org>\n\nNothing to say.\n"
    )
    assert (document.title, document.format) == (None, "markdown")
    assert targets(document) == ["https://example.org/wheel"]
    assert document.mime_type == "application/mbox"
    assert document.metadata == {"message_count": 3}


def test_text_that_begins_like_an_archive_of_mail_is_text() -> None:
    text = "From 8 to 10:30 we met\nand talked.\n"
    assert convert("a.txt", text).content == text


# -- conversations -------------------------------------------------------------------------------------------------


def node(parent: str | None, role: str, *parts: Any, time: float | None = 1709283600.0, **about: Any) -> dict[str, Any]:
    content = {"content_type": "text", "parts": list(parts)}
    message = {"author": {"role": role}, "create_time": time, "content": content, "metadata": about}
    return {"parent": parent, "message": message if parts else None}


def test_conversations_with_an_assistant() -> None:
    first = {
        "b": node("a", "user", "How?"),
        "a": node(None, "system"),
        "old": node("b", "assistant", "The first answer"),
        "new": node("b", "assistant", {"asset_pointer": "file"}, "## Steps\n```sh\n# a\n```", time=None),
        "s": node("new", "system", "You are an assistant"),
        "h": node("s", "user", "Hidden", is_visually_hidden_from_conversation=True),
        "d": node("h", "user", "Thanks"),
    }
    data: list[dict[str, Any]] = [
        {"title": "Bread", "mapping": first, "current_node": "d"},
        {"title": None, "mapping": {"x": node("x", "user", "A circle")}, "current_node": "x"},
        {"title": "Empty", "mapping": {}, "current_node": None},
    ]
    document = convert("conversations.json", json.dumps(data))
    assert document.content == (
        "# Bread\n\n## March 2024\n\nUser (2024-03-01 09:00): How?\n\nAssistant:\n\n#### Steps\n```sh\n# a\n```\n\n"
        "User (2024-03-01 09:00): Thanks\n\n## March 2024\n\nUser (2024-03-01 09:00): A circle\n"
    )
    assert document.format == "markdown" and document.title is None
    assert document.metadata["message_count"] == 4 and document.metadata["created"] == "2024-03-01"
    messages = [
        {"sender": "human", "text": "Hello", "created_at": "2024-03-01T09:00:00.5Z"},
        {"sender": "assistant", "text": "Hi"},
    ]
    document = convert("c.json", json.dumps([{"name": "Greeting", "chat_messages": messages}]))
    assert document.content == "# Greeting\n\n## March 2024\n\nUser (2024-03-01 09:00): Hello\n\nAssistant: Hi\n"
    assert document.title == "Greeting"


def test_conversations_of_people() -> None:
    ada = {"real_name": "Ada Lovelace", "display_name": "ada"}
    slack: list[dict[str, Any]] = [
        {
            "type": "message",
            "user": "U1",
            "user_profile": ada,
            "ts": "1709283600.0001",
            "text": "<@U1> &amp; <@U2>: done",
        },
        {"type": "message", "user": "U2", "ts": "1709283660.0", "text": "See <https://example.org/x|the list> <!here>"},
    ]
    document = convert("export/general/2024-03-01.json", json.dumps(slack))
    assert document.content == (
        "# general 2024-03-01\n\n## March 2024\n\nAda Lovelace (2024-03-01 09:00): @Ada Lovelace & @U2: done\n\n"
        "U2 (2024-03-01 09:01): See the list @here\n"
    )
    assert targets(document) == ["https://example.org/x"]
    telegram = [
        {"type": "service", "date": "2024-03-01T09:00:00", "actor": "Ada", "text": ""},
        {
            "type": "message",
            "date": "2024-03-01T09:01:00",
            "from": "Ada",
            "text": ["On ", {"type": "bold", "text": "Friday"}],
        },
    ]
    document = convert("result.json", json.dumps({"name": "Team", "type": "private_group", "messages": telegram}))
    assert document.content == "# Team\n\n## March 2024\n\nAda (2024-03-01 09:01): On Friday\n"
    discord = [
        {"timestamp": "2024-03-01T09:00:00+00:00", "content": "On Friday", "author": {"name": "ada", "nickname": "Ada"}}
    ]
    data = {"guild": {"name": "Boats"}, "channel": {"name": "general"}, "messages": discord}
    assert convert("d.json", json.dumps(data)).content == (
        "# Boats general\n\n## March 2024\n\nAda (2024-03-01 09:00): On Friday\n"
    )


def test_an_account_of_telegram_is_read_as_its_conversations() -> None:
    def said(date: str, words: str) -> dict[str, Any]:
        return {"type": "message", "date": date, "from": "Ada", "text": words}

    chats = [
        {"name": "Ole", "messages": [said("2024-02-29T23:01:00", "No flat."), said("2024-03-04T09:01:00", "A flat!")]},
        {"name": "Una", "messages": [{"id": 7, "type": "unsupported"}, said("2024-03-05T09:01:00", "Come.")]},
        {"name": "Nobody", "messages": []},
    ]
    data = {"contacts": {"list": [{"first_name": "Una", "phone_number": "+49 221 5550100"}]}, "chats": {"list": chats}}
    document = convert("result.json", json.dumps(data))
    assert document.content == (
        "contacts.list[1].first_name: Una\ncontacts.list[1].phone_number: +49 221 5550100\n\n"
        "# Ole\n\n## February 2024\n\nAda (2024-02-29 23:01): No flat.\n\n"
        "## March 2024\n\nAda (2024-03-04 09:01): A flat!\n\n"
        "# Una\n\n## March 2024\n\nAda (2024-03-05 09:01): Come.\n"
    )
    assert document.metadata["message_count"] == 3


def test_what_was_pasted_into_a_conversation_or_posted_by_programs_is_read() -> None:
    pasted = [{"file_name": "notes.txt", "extracted_content": "The sluice sticks.\n```\nopen"}, {"file_name": "a.png"}]
    messages = [
        {"sender": "human", "text": "", "attachments": pasted},
        {"sender": "assistant", "text": "", "content": [{"type": "text", "text": "Oil it."}]},
    ]
    document = convert("c.json", json.dumps([{"name": "Gates", "chat_messages": messages}]))
    assert (
        document.content == "# Gates\n\nUser: notes.txt:\n\nThe sluice sticks.\n```\nopen\n```\n\nAssistant: Oil it.\n"
    )
    alarm = {"pretext": "Level <!here>", "title": "Gate 2", "text": "Too high.", "fallback": "not this"}
    slack = [
        {"type": "message", "username": "sensor", "ts": "1709283600.0", "text": "", "attachments": [alarm]},
        {
            "type": "message",
            "username": "sensor",
            "ts": "1709283660.0",
            "text": "",
            "attachments": [{"fallback": "Fine."}],
        },
    ]
    assert convert("export/general/2024-03-01.json", json.dumps(slack)).content == (
        "# general 2024-03-01\n\n## March 2024\n\nsensor (2024-03-01 09:00): Level @here\nGate 2: Too high.\n\n"
        "sensor (2024-03-01 09:01): Fine.\n"
    )


@pytest.mark.parametrize(
    ("text", "content"),
    [
        (
            "[12.03.25, 18:04:11] Ida: Who opens the lock?\n[12.03.25, 18:05:02] Ole: I do.\nAt dawn.\n"
            "\u200e[12.03.25, 18:06:40] Ole added Una\n[13.03.25, 09:01:45] Una: Thanks: both of you\n",
            "## March 2025\n\nIda (2025-03-12 18:04): Who opens the lock?\n\n"
            "Ole (2025-03-12 18:05): I do.\nAt dawn.\n\n"
            "(2025-03-12 18:06): Ole added Una\n\nUna (2025-03-13 09:01): Thanks: both of you\n",
        ),
        (
            "3/12/25, 12:04\u202fAM - Ida: Who opens it?\n3/12/25, 6:05 PM - Ole: I do.\n"
            "4/13/25, 6:06 PM - Una: Fine.\n",
            "## March 2025\n\nIda (2025-03-12 00:04): Who opens it?\n\nOle (2025-03-12 18:05): I do.\n\n"
            "## April 2025\n\nUna (2025-04-13 18:06): Fine.\n",
        ),
        (
            "12/3/25, 6:04\u202fp.\u00a0m. - Ida: ¿Abres?\n13/3/25, 6:05\u202fp.\u00a0m. - Ole: Sí.\n"
            "31/3/25, 6:06\u202fa.\u00a0m. - Ida: Bien.\n",
            "## March 2025\n\nIda (2025-03-12 18:04): ¿Abres?\n\nOle (2025-03-13 18:05): Sí.\n\n"
            "Ida (2025-03-31 06:06): Bien.\n",
        ),
        (
            "3/12/25, 6:04\u202fPM - Ida: Who opens it?\n3/12/25, 6:05 PM - Ole: I do.\n"
            "3/12/25, 6:06 PM - Una: Fine.\n",
            "Ida (3/12/25, 6:04\u202fPM): Who opens it?\n\nOle (3/12/25, 6:05 PM): I do.\n\n"
            "Una (3/12/25, 6:06 PM): Fine.\n",
        ),
        (
            "10:01 <@ida> who opens it?\n10:02 -!- ole [~ole@host] has joined #lock\n10:03 <ole> I do\n"
            "10:04 <ida> fine\n",
            "ida (10:01): who opens it?\n\nole (10:03): I do\n\nida (10:04): fine\n",
        ),
        (
            "The lock\n\n10:01 <ida> who opens it?\n10:03 <ole> I do\n10:04 <ida> fine\n\nWhat came\n\nNone.\n",
            "The lock\n\nida (10:01): who opens it?\n\nole (10:03): I do\n\nida (10:04): fine\n\nWhat came\n\nNone.\n",
        ),
    ],
)
def test_conversations_in_plain_text(text: str, content: str) -> None:
    document = convert("chat.txt", text)
    assert (document.content, document.format) == (content, "markdown")
    assert document.metadata["message_count"] == content.count("):")


@pytest.mark.parametrize(
    "text",
    [
        "10:00: Opening\n10:30: Talks\n12:00: Lunch\n",
        "[12.03.25, 18:04:11] Ida: Who opens the lock?\nThe rest\nof this\nis no\nconversation\n",
    ],
)
def test_what_has_times_is_no_conversation(text: str) -> None:
    assert convert("a.txt", text).content == text


@pytest.mark.parametrize(
    "data",
    [
        [{"mapping": {"a": {"type": "keyword"}}, "title": "An index"}],
        [{"mapping": {"a": {"parent": "a"}}, "current_node": "a"}],
        [{"mapping": {"a": 1}, "current_node": ["a"]}],
        [{"chat_messages": [1, {"text": 3}]}],
        [{"type": "message", "ts": "1e999", "text": " "}],
        {"messages": [{"role": "user", "content": "x"}], "model": "m"},
        {"messages": []},
    ],
)
def test_what_is_no_conversation_stays_data(data: Any) -> None:
    document = convert("data.json", json.dumps(data))
    assert "message_count" not in document.metadata and document.content


# -- boards --------------------------------------------------------------------------------------------------------


def test_a_board_of_cards() -> None:
    place = {"x": 0, "y": 0, "width": 250, "height": 60}
    board = {
        "nodes": [
            {"id": "a", "type": "text", "text": "# Plan\nShip it, see [the list](list.md).", **place},
            {"id": "b", "type": "file", "file": "notes/The boats.md", **place},
            {"id": "c", "type": "link", "url": "https://example.org/spec", **place},
            {"id": "g", "type": "group", "label": "Ideas", **place},
            {"id": "e", "type": "text", "text": "", **place},
        ],
        "edges": [
            {"id": "1", "fromNode": "a", "toNode": "b", "label": "depends on"},
            {"id": "2", "fromNode": "c", "toNode": "g"},
            {"id": "3", "fromNode": "a", "toNode": "missing"},
        ],
    }
    document = convert("sub/a.canvas", json.dumps(board))
    assert document.content == (
        "# Plan\nShip it, see [the list](list.md).\n\nnotes/The boats.md\n\nhttps://example.org/spec\n\nIdeas\n\n"
        "- Plan → notes/The boats.md: depends on\n- https://example.org/spec → Ideas"
    )
    assert (document.title, document.format) == ("Plan", "markdown")
    assert targets(document) == [
        "file:///home/me/docs/sub/list.md",
        "file:///home/me/docs/notes/The boats.md",
        "https://example.org/spec",
    ]


@pytest.mark.parametrize("data", [{"nodes": [], "edges": []}, {"nodes": [{"id": "a", "type": "text", "text": "b"}]}])
def test_what_is_no_board_stays_data(data: Any) -> None:
    assert convert("a.canvas", json.dumps(data)).format != "markdown"


@pytest.mark.parametrize("name", ["a.json", "a.jsonl"])
@pytest.mark.parametrize("end", range(3, 75))
def test_data_that_is_cut_short_says_so(name: str, end: int) -> None:
    """In a JSON file at any place; in JSON Lines in the last one."""
    whole = json.dumps({"mill": [{"wheel": 'east "one"', "turns": -12.5e3}, {"leaks": False}], "x": "é"})
    before = "" if name == "a.json" else '{"a": 1}\n' * 9
    cut = convert(name, before + whole[:end])
    assert cut.metadata.get("cut_short_in_line") == (1 if name == "a.json" else 10), whole[:end]
    assert "mill" in cut.content or end < 7
    assert "cut_short_in_line" not in convert(name, before + whole).metadata


@pytest.mark.parametrize(
    "text",
    [
        '{"a": 1,}',
        '{"a": 1} // done',
        '/* settings */ {"a": "b"',
        "[1, 2, 3,]",
        '{"a": 1}\n[2]',
        "{'a': 'b'}",
        "mill",
        "{{ template }}",
        "[" * 100_000,
    ],
)
def test_what_is_no_json_for_another_reason_is_not_cut_short(text: str) -> None:
    assert "cut_short_in_line" not in convert("a.json", text).metadata


def test_numbers_that_are_none_in_json_are_as_they_are_written() -> None:
    """As Python and others write them; a record with such a float could not be stored, so the whole file failed."""
    text = '{"run": 1, "loss": NaN}\n{"run": 2, "loss": -Infinity, "rate": 1e999}\n{"run": 3, "loss": 0.5}\n'
    document = convert("runs.jsonl", text)
    assert records(document) == [
        {"run": 1, "loss": "NaN"},
        {"run": 2, "loss": "-Infinity", "rate": "1e999"},
        {"run": 3, "loss": 0.5},
    ]
    assert document.content == "run: 1\nloss: NaN\n\nrun: 2\nloss: -Infinity\nrate: 1e999\n\nrun: 3\nloss: 0.5"
    assert convert("run.json", f"[{text.splitlines()[0]}]").content == "run: 1\nloss: NaN"


OUTLOOK = "From: Bo Hill <bo@example.org>\nSent: Tuesday, 7 May 2024\nTo: Ada Lane\nSubject: Mill\n\nThe wheel turns."


@pytest.mark.parametrize(
    ("subject", "text", "end"),
    [
        (
            "Re: Mill",
            "Good.\n\nOn 7 May 2024 at 09:12, Bo Hill <\nbo@example.org> wrote:\nThe wheel turns.\n\nBo",
            "bo@example.org> wrote:\n\n> The wheel turns.\n>\n> Bo",
        ),
        ("Re: Mill", f"Good.\n\n-----Original Message-----\n{OUTLOOK}", "Subject: Mill\n>\n> The wheel turns."),
        ("RE: Mill", f"Good.\n\n{OUTLOOK}", "\n\n> From: Bo Hill <bo@example.org>\n> Sent:"),
        ("AW: Mühle", "Gut.\n\nAm 7. Mai 2024 um 09:12 schrieb Bo Hill:\nDas Rad dreht sich.", "> Das Rad dreht sich."),
        ("RE: Moulin", "Oui.\n\nLe 7 mai 2024 à 09:12, Bo Hill a écrit :\nLa roue tourne.", "> La roue tourne."),
        # What has marks, is forwarded or has no reply above it stays as it is.
        ("Re: Mill", "On 7 May 2024, Bo Hill wrote:\n> It turns.\n\nGood.", "wrote:\n> It turns.\n\nGood."),
        ("Fwd: Mill", f"See below.\n\n{OUTLOOK}", "Subject: Mill\n\nThe wheel turns."),
        ("Mill", OUTLOOK, "Subject: Mill\n\nThe wheel turns."),
        ("Mill", "Good.\n\nIn his book, Bo wrote:\nThe wheel turns.", "wrote:\nThe wheel turns."),
    ],
)
def test_what_a_reply_answers_becomes_a_quotation(subject: str, text: str, end: str) -> None:
    content = convert("a.eml", f"Subject: {subject}\n\n{text}\n").content
    assert content.endswith(end) or f"{end} Tuesday" in content, content
