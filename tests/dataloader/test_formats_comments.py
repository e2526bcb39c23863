"""Comments on presentations and texts, which others than their authors wrote."""

from __future__ import annotations

import io

import pytest

from tests.dataloader.filetools import convert, unzipped, zipped

OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"


def presentation(title: str) -> bytes:
    """A presentation with one slide."""
    pptx = pytest.importorskip("pptx")
    made = pptx.Presentation()
    made.slides.add_slide(made.slide_layouts[5]).shapes.title.text = title
    stream = io.BytesIO()
    made.save(stream)
    return stream.getvalue()


def with_comments(data: bytes, kinds: tuple[str, str], comments: str, authors: str) -> bytes:
    """A presentation with a part of comments on its first slide; ``kinds`` are those of comments and of authors."""
    parts = unzipped(data)
    for owner, kind, target in (
        ("ppt/slides/_rels/slide1.xml.rels", kinds[0], "../comments/comment1.xml"),
        ("ppt/_rels/presentation.xml.rels", kinds[1], "who.xml"),
    ):
        relation = f'<Relationship Id="rId99" Type="{kind}" Target="{target}"/></Relationships>'
        parts[owner] = parts[owner].decode().replace("</Relationships>", relation).encode()
    return zipped({**parts, "ppt/comments/comment1.xml": comments, "ppt/who.xml": authors})


def test_powerpoint_comments() -> None:
    data = presentation("Gate")
    space = "xmlns='http://schemas.microsoft.com/office/powerpoint/2018/8/main'"
    body = "<txBody><a:p><a:r><a:t>{}</a:t></a:r></a:p><a:p><a:r><a:t>{}</a:t></a:r></a:p></txBody>"
    reply = f"<replyLst><reply authorId='{{B}}'>{body.format('By', 'May.')}</reply></replyLst>"
    comments = (
        f"<cmLst {space} xmlns:a='http://schemas.openxmlformats.org/drawingml/2006/main'>"
        f"<cm authorId='{{A}}'>{reply}{body.format('When is', 'it done?')}</cm></cmLst>"
    )
    authors = f"<authorLst {space}><author id='{{A}}' name='Ann  B'/><author id='{{B}}' name='Cy'/></authorLst>"
    microsoft = "http://schemas.microsoft.com/office/2018/10/relationships"
    kinds = (f"{microsoft}/comments", f"{microsoft}/authors")
    assert convert("a.pptx", with_comments(data, kinds, comments, authors)).content == (
        "## Gate\n\nComment by Ann B: When is it done?\n\nComment by Cy: By May."
    )
    assert convert("a.pptx", with_comments(data, kinds, "<broken", "<broken")).content == "## Gate"


def test_powerpoint_comments_of_older_versions() -> None:
    space = "xmlns:p='http://schemas.openxmlformats.org/presentationml/2006/main'"
    comments = (
        f"<p:cmLst {space}><p:cm authorId='1'><p:pos x='1' y='2'/><p:text>Is it\nso?</p:text></p:cm>"
        "<p:cm authorId='7'><p:text>Nobody's.</p:text></p:cm></p:cmLst>"
    )
    authors = f"<p:cmAuthorLst {space}><p:cmAuthor id='1' name='Ann' initials='A'/></p:cmAuthorLst>"
    data = with_comments(presentation("Gate"), (f"{OFFICE}/comments", f"{OFFICE}/commentAuthors"), comments, authors)
    assert convert("a.pptx", data).content == "## Gate\n\nComment by Ann: Is it so?\n\nComment: Nobody's."


@pytest.mark.parametrize(
    ("text", "content"),
    [
        (
            # Word
            r"The {\*\atrfstart 0}gate{\*\atrfend 0}{\cs15\fs16 {\*\atnid AB}{\*\atnauthor Ann B}\chatn {\*\annotation"
            r"{\*\atnref 0}{\*\atndate 18}\pard\plain \s16 {\cs15\fs16 \chatn }{Is it \u8364? so?}\par Why?}} opens."
            r"\par Next{\footnote \chftn A note.}.\par",
            "The gate[1] opens.\n\nNext[2].\n\n[1] Ann B: Is it € so? Why?\n\n[2] A note.",
        ),
        (
            # LibreOffice
            r"The {\*\atrfstart 0}gate{\*\atrfend 0}{\*\atnauthor M\'fcller}{\chatn}{\*\annotation{\*\atnref 0}"
            r"{\*\atndate 123}\pard\plain Is it so?} opens.\par",
            "The gate[1] opens.\n\n[1] Müller: Is it so?",
        ),
        (r"The gate{\*\annotation Is it so?} opens{\*\atnauthor Ann}.\par", "The gate[1] opens.\n\n[1] Is it so?"),
    ],
)
def test_rtf_comments(text: str, content: str) -> None:
    assert convert("a.rtf", rf"{{\rtf1\ansi\ansicpg1252\pard {text}}}").content == content


def test_opendocument_comments() -> None:
    comment = "<annotation><creator>Ann B</creator><date>2024-05-01</date>{}</annotation>"
    asked = comment.format("<p>Is it so?</p><list><list-item><p>Why?</p></list-item></list>")
    note = "<note><note-citation>1</note-citation><note-body><p>A note.</p></note-body></note>"
    nobody = "<annotation><p>Hm.</p></annotation>"
    cells = (f"A{asked}", f"B{note}", "1", f"2{nobody}")
    row = "<table-row>" + "<table-cell><p>{}</p></table-cell>" * 2 + "</table-row>"
    body = f"<p>The gate{asked} opens{comment.format('')}{note}.</p><table>{(row * 2).format(*cells)}</table>"
    assert convert("a.fodt", f"<office><body><text>{body}</text></body></office>").content == (
        "The gate[1] opens[2].\n\n| A[3] | B[4] |\n| --- | --- |\n| 1 | 2[5] |\n\n"
        "[1] Ann B: Is it so? Why?\n\n[2] A note.\n\n[3] Ann B: Is it so? Why?\n\n[4] A note.\n\n[5] Hm."
    )
