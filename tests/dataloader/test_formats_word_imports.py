"""Word documents that have other documents inside of them, as programs write them that leave converting to Word."""

from __future__ import annotations

import io

import pytest

from tests.dataloader.filetools import convert, targets, unzipped, zipped

docx = pytest.importorskip("docx")

OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PAGE = "<html><body><h1>The mill</h1><p>It turns <a href='https://example.org/'>slowly</a>.</p></body></html>"


def with_import(name: str, data: bytes | str, *, around: bool = True) -> bytes:
    """A Word document with two paragraphs, or none, and another document between them."""
    document = docx.Document()
    if around:
        document.add_paragraph("Before.")
    document.add_paragraph("HERE")
    if around:
        document.add_paragraph("After.")
    stream = io.BytesIO()
    document.save(stream)
    parts = unzipped(stream.getvalue())
    here = f"<w:altChunk xmlns:r='{OFFICE}' r:id='chunk'/>"
    main = parts["word/document.xml"].decode()
    parts["word/document.xml"] = main.replace("<w:p><w:r><w:t>HERE</w:t></w:r></w:p>", here).encode()
    assert here.encode() in parts["word/document.xml"]
    relation = f"<Relationship Id='chunk' Type='{OFFICE}/aFChunk' Target='/word/{name}'/></Relationships>"
    relations = parts["word/_rels/document.xml.rels"].decode().replace("</Relationships>", relation)
    return zipped({**parts, "word/_rels/document.xml.rels": relations.encode(), f"word/{name}": data})


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("afchunk.htm", PAGE),
        (
            "afchunk.mht",  # by html-docx-js
            'MIME-Version: 1.0\nContent-Type: multipart/related;\n    type="text/html";\n    boundary="--part"\n\n'
            '----part\nContent-Type: text/html;\n    charset="utf-8"\nContent-Transfer-Encoding: quoted-printable\n'
            f"Content-Location: file:///C:/fake/document.html\n\n{PAGE.replace('=', '=3D')}\n\n----part--\n",
        ),
        ("afchunk.docx", with_import("inner.html", PAGE, around=False)),
    ],
)
def test_what_word_would_convert_is_read(name: str, data: bytes | str) -> None:
    read = convert("a.docx", with_import(name, data))
    assert read.content == "Before.\n\n# The mill\n\nIt turns slowly.\n\nAfter."
    assert (read.title, targets(read)) == ("The mill", ["https://example.org/"])


def test_text_and_rtf_in_a_word_document() -> None:
    assert convert("a.docx", with_import("a.txt", "# words")).content == "Before.\n\n\\# words\n\nAfter."
    assert convert("a.docx", with_import("a.rtf", r"{\rtf1 words}")).content == "Before.\n\nwords\n\nAfter."


def test_what_cannot_be_read_costs_only_itself() -> None:
    assert convert("a.docx", with_import("a.docx", b"\x00\x01\x02")).content == "Before.\n\nAfter."


def test_documents_inside_of_one_another_come_to_an_end() -> None:
    data = with_import("a.txt", "innermost")
    for _ in range(20):
        data = with_import("a.docx", data)
    read = convert("a.docx", data)
    assert read.content.startswith("Before.\n\nBefore.")
    assert "innermost" not in read.content
