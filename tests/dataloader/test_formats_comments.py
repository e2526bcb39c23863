"""Comments on presentations and texts, which others than their authors wrote."""

from __future__ import annotations

import io

import pytest
from filetools import convert, unzipped, zipped

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
