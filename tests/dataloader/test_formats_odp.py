"""OpenDocument presentations, and what else than text stands in OpenDocument files."""

from __future__ import annotations

import pytest

from tests.dataloader.filetools import URI, convert, places, reason, targets
from tests.dataloader.odftools import META, flat, packed, row, sheet


def frame(kind: str, inside: str, attributes: str = "") -> str:
    """A text box, in the place for titles, outlines, notes and the like."""
    return f'<d:frame p:class="{kind}" {attributes}><d:text-box>{inside}</d:text-box></d:frame>'


def page(*inside: str) -> str:
    return f'<d:page d:name="page1">{"".join(inside)}</d:page>'


def lines(*texts: str) -> str:
    return "".join(f"<t:p>{text}</t:p>" for text in texts)


def listed(*items: str, style: str = "L1") -> str:
    return (
        f'<t:list t:style-name="{style}">'
        + "".join(f"<t:list-item>{item}</t:list-item>" for item in items)
        + "</t:list>"
    )


NUMBERS = '<t:list-style s:name="N"><t:list-level-style-number t:level="1"/></t:list-style>'


def content(*inside: str) -> str:
    return convert("a.fodp", flat("presentation", page(*inside), NUMBERS)).content


def test_slides() -> None:
    note = "<p:notes><d:page-thumbnail/>" + frame("notes", lines("Say hello.", "Smile.")) + "</p:notes>"
    comment = "<o:annotation><c:creator>Ann B</c:creator><c:date>2024-05-01</c:date>" + lines("Is it", "so?")
    first = page(
        frame("outline", listed(lines("One") + listed(lines("deeper")), lines("Two"))),
        f"{comment}</o:annotation>",
        frame("title", lines("The", "Gate")),
        "<d:g><d:g><d:custom-shape><t:p>In a shape</t:p></d:custom-shape></d:g></d:g>",
        note,
    )
    third = page(
        frame("subtitle", lines("No title here")),
        f"<d:frame>{sheet('T', row('name', 'price'), row('nut', '5'))}<d:image><t:p/></d:image></d:frame>",
    )
    body = f"<p:footer-decl>always there</p:footer-decl>{first}{page()}{third}"
    read = convert("a.odp", packed("presentation", body, meta=META))
    assert read.content == (
        "## The Gate\n\n- One\n  - deeper\n- Two\n\nIn a shape\n\nNotes: Say hello.\n\nSmile.\n\n"
        "Comment by Ann B: Is it so?\n\n## Slide 3\n\nNo title here\n\n| name | price |\n| --- | --- |\n| nut | 5 |"
    )
    assert places(read, "slide") == [(1, "## The Gate"), (3, "## Slide 3")]
    assert (read.title, read.metadata["author"], read.metadata["slide_count"]) == ("On Mills", "Ann", 3)
    assert (read.format, read.mime_type) == ("markdown", "application/vnd.oasis.opendocument.presentation")
    for name in ("a.otp", "a.pptx", "a"):
        assert convert(name, packed("presentation", body)).content == read.content
    assert convert("a.fodp", flat("presentation", body)).title == "The Gate"


def test_what_is_not_part_of_a_slide() -> None:
    assert (
        content(
            frame("title", lines("Gate")),
            frame("page-number", lines("7")),
            frame("date-time", lines("today")),
            frame("outline", lines("Click to add text"), 'p:placeholder="true"'),
            "<svg:desc xmlns:svg='s'>A picture</svg:desc>",
            "<p:notes>"
            + frame("page-number", lines("7"))
            + "<d:custom-shape><t:p><t:page-number>&lt;n&gt;</t:page-number>"
            "</t:p></d:custom-shape></p:notes>",
        )
        == "## Gate"
    )


@pytest.mark.parametrize(
    ("inside", "shown"),
    [
        (listed(lines("a")) + listed(lines("b")), "- a\n- b"),
        (listed(lines("a"), style="N") + listed(lines("b"), lines("c"), style="N"), "1. a\n2. b\n3. c"),
        (listed(lines("a"), lines(""), lines("b"), style="N"), "1. a\n2. b"),
        (listed(lines("a"), style="N") + lines("text") + listed(lines("b"), style="N"), "1. a\n\ntext\n\n1. b"),
        (listed(lines("a")) + listed(listed(listed(lines("far to the right")))), "- a\n  - far to the right"),
        ("<t:h t:outline-level='1'>no heading</t:h><t:p># 1</t:p>", "no heading\n\n\\# 1"),
    ],
    ids=["one list", "numbers", "empty items", "text between", "levels left out", "headings"],
)
def test_lists_on_slides(inside: str, shown: str) -> None:
    assert content(frame("outline", inside)) == f"## Slide 1\n\n{shown}"


def test_links_charts_and_embedded_documents() -> None:
    table = sheet(
        "local-table",
        row("", "Sales"),
        row("East", "3"),
        row("West", '<b:table-cell o:value="NaN"><t:p>NaN</t:p></b:table-cell>'),
    )
    chart = f"<o:chart><chart><title><t:p>By</t:p><t:p>region</t:p></title>{table}</chart></o:chart>"
    embedded = flat("x", "").replace("<o:x></o:x>", chart)
    shown = '<d:frame><d:object x:href="./Object {}"><x:p/></d:object><d:image/></d:frame>'
    link = '<d:a x:href="https://example.org/y"><d:frame><d:text-box><t:p><t:a x:href="https://example.org/x">see</t:a></t:p></d:text-box></d:frame></d:a>'
    parts = {"Object 1__content": embedded, "Object 2__content": "<broken"}
    body = page(link, shown.format(1), shown.format(1), shown.format(2), shown.format(3))
    table_shown = "By region\n\n|  | Sales |\n| --- | --- |\n| East | 3 |\n| West |  |"
    read = convert("a.odp", packed("presentation", body, **parts))
    assert read.content == f"## Slide 1\n\nsee\n\n{table_shown}"
    assert sorted(targets(read)) == ["https://example.org/x", "https://example.org/y"]
    files = page(link.replace("https://example.org/", "../"))  # out of the container, into the folder that it lies in
    assert sorted(targets(convert("a.odp", packed("presentation", files)))) == [f"{URI}x", f"{URI}y"]
    assert sorted(targets(convert("b/a.fodp", flat("presentation", files)))) == [f"{URI}x", f"{URI}y"]
    inline = page(f"<d:frame><d:object>{embedded}</d:object></d:frame>")
    assert convert("a.fodp", flat("presentation", inline)).content == f"## Slide 1\n\n{table_shown}"
    text = f"<t:p>Look:{shown.format(1)}</t:p><t:p>and at<d:custom-shape><t:p>a shape</t:p></d:custom-shape></t:p>"
    assert convert("a.odt", packed("text", text, **parts)).content == f"Look:\n\n{table_shown}\n\nand at\n\na shape"


def test_styles_with_names_count_in_texts() -> None:
    styles = (
        f"<o:document-styles xmlns:o='o' xmlns:s='s' xmlns:t='t'><o:styles>{NUMBERS}<s:style s:name='Off'>"
        "<s:text-properties t:display='none'/></s:style></o:styles><o:automatic-styles>"
        "<t:list-style s:name='L'><t:list-level-style-number/></t:list-style></o:automatic-styles></o:document-styles>"
    )
    body = listed(lines("a"), style="N") + listed(lines("b"), style="L") + '<t:p t:style-name="Off">gone</t:p>'
    assert convert("a.odt", packed("text", body, styles=styles)).content == "1. a\n\n- b"
    title = '<s:style s:name="P1" s:parent-style-name="Title"/><s:style s:name="P2" s:parent-style-name="Code"/>'
    body = '<t:p t:style-name="P1">The Mill</t:p><t:p t:style-name="P2">f()</t:p>'
    assert convert("a.odt", packed("text", body, title)).content == "# The Mill\n\n```\nf()\n```"


def test_names_of_elements_that_occur_twice() -> None:
    body = '<t:p xml:id="a">one</t:p><t:p xml:id="a">two</t:p>'
    assert convert("a.odt", packed("text", body)).content == "one\n\ntwo"
    assert content(frame("outline", body)) == "## Slide 1\n\none\n\ntwo"


# -- made to break it ----------------------------------------------------------------------------------------------


def test_slides_that_nest_deeply() -> None:
    assert content("<d:g>" * 200 + "<d:rect><t:p>deep</t:p></d:rect>" + "</d:g>" * 200) == "## Slide 1\n\ndeep"
    boxes = "<d:frame><d:text-box>" * 90 + lines("deep") + "</d:text-box></d:frame>" * 90
    assert content(boxes) == "## Slide 1\n\ndeep"


def test_a_chart_that_is_shown_on_many_slides_is_read_once() -> None:
    words = flat("text", "<t:p>" + "kestrel " * 1000 + "</t:p>")
    body = page('<d:frame><d:object x:href="./Object 1"/></d:frame>') * 5_000
    assert (
        convert("a.odp", packed("presentation", body, **{"Object 1__content": words})).content.count("kestrel") == 1000
    )


def test_other_files_under_the_name_of_a_presentation() -> None:
    assert reason("a.fodp", flat("text", "<t:p>x</t:p>")) == "it is not an OpenDocument presentation, despite its name"
    assert reason("a.odp", packed("presentation", page())) == "it has no text"
    assert reason("a.fodp", '<!DOCTYPE x [<!ENTITY a "b">]>' + flat("presentation", "&a;")).count("entities") == 1
    encrypted = packed("presentation", page(), **{"META-INF__manifest": "<x><encryption-data/></x>"})
    assert reason("a.odp", encrypted) == "it is encrypted (a password is needed)"
    assert "an OpenDocument drawing; save it as .pdf" in reason("a.bin", packed("graphics", page()))
