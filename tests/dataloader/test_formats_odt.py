"""OpenDocument texts, by odfpy and by hand."""

from __future__ import annotations

import io
from typing import Any

import pytest

from tests.dataloader.filetools import convert, reason, targets, zipped


def opendocument() -> Any:
    from odf.dc import Title
    from odf.opendocument import OpenDocumentText
    from odf.style import Style
    from odf.table import Table, TableCell, TableRow
    from odf.text import A, H, LineBreak, List, ListItem, ListLevelStyleNumber, ListStyle, Note, NoteBody, P, S, Tab

    document = OpenDocumentText()
    document.meta.addElement(Title(text="From the properties"))
    style = ListStyle(name="Numbers")
    style.addElement(ListLevelStyleNumber(level="1", numformat="1"))
    document.automaticstyles.addElement(style)
    document.styles.addElement(Style(name="Title", family="paragraph"))
    document.text.addElement(H(outlinelevel=1, text="Heading"))
    paragraph = P(text="Text")
    paragraph.addElement(S(c=2))
    paragraph.addText("more")
    paragraph.addElement(Tab())
    paragraph.addElement(A(href="https://example.org/x", text="link"))
    paragraph.addElement(LineBreak())
    paragraph.addText("next line")
    note = Note(noteclass="footnote")
    body = NoteBody()
    body.addElement(P(text="A note."))
    note.addElement(body)
    paragraph.addElement(note)
    document.text.addElement(paragraph)
    for name in (None, "Numbers"):
        items = List(stylename=name) if name else List()
        for text in ("a", "b"):
            item = ListItem()
            item.addElement(P(text=text))
            items.addElement(item)
        document.text.addElement(items)
    table = Table()
    for texts in (("A", "B"), ("1", "2")):
        row = TableRow()
        for text in texts:
            cell = TableCell()
            cell.addElement(P(text=text))
            row.addElement(cell)
        table.addElement(row)
    document.text.addElement(table)
    return document


def test_opendocument_text() -> None:
    pytest.importorskip("odf")
    document = opendocument()
    stream = io.BytesIO()
    document.write(stream)
    read = convert("a.odt", stream.getvalue())
    assert read.content == (
        "# Heading\n\nText more link\nnext line[1]\n\n- a\n- b\n\n1. a\n2. b\n\n"
        "| A | B |\n| --- | --- |\n| 1 | 2 |\n\n[1] A note."
    )
    assert read.title == "From the properties"
    assert targets(read) == ["https://example.org/x"]
    flat = convert("a.fodt", document.xml())
    assert flat.content == read.content


def opendocument_of(body: str, styles: str = "") -> str:
    """The parts of a text written by hand."""
    space = "urn:oasis:names:tc:opendocument:xmlns:"
    return (
        f'<o:document xmlns:o="{space}office:1.0" xmlns:t="{space}text:1.0" xmlns:s="{space}style:1.0">'
        f'<o:automatic-styles><t:list-style s:name="N"><t:list-level-style-number t:level="1"/></t:list-style>{styles}'
        f"</o:automatic-styles><o:body><o:text>{body}</o:text></o:body></o:document>"
    )


def test_opendocument_lists_that_go_on() -> None:
    def listed(attributes: str, *items: str) -> str:
        return f'<t:list t:style-name="N" {attributes}>' + "".join(items) + "</t:list><t:p>Text</t:p>"

    item = "<t:list-item><t:p>x</t:p></t:list-item>"
    body = (
        listed('xml:id="one"', item, item)
        + listed('t:continue-numbering="true"', item)
        + listed("", "<t:list-header><t:p>head</t:p></t:list-header>", item)
        + listed('t:continue-list="one"', item, item.replace("<t:list-item", '<t:list-item t:start-value="7"'), item)
    )
    assert convert("a.fodt", opendocument_of(body)).content.replace("\n\nText", "").split("\n\n") == [
        "1. x\n2. x",
        "3. x",
        "- head\n1. x",
        "3. x\n7. x\n8. x",
    ]


def test_opendocument_lists_are_read_however_deep() -> None:
    for depth in (30, 110):
        start, end = "<t:list><t:list-item><t:p>x</t:p>" * depth, "</t:list-item></t:list>" * depth
        read = convert("a.fodt", opendocument_of(f"{start}<t:p>deepest</t:p>{end}")).content
        assert read.count("x") == depth and "deepest" in read


def test_opendocument_code() -> None:
    style = '<s:style s:name="P1" s:family="paragraph" s:parent-style-name="Preformatted_20_Text"/>'
    body = (
        '<t:p>Run:</t:p><t:p t:style-name="Preformatted_20_Text">def f():</t:p><t:p t:style-name="P1"/>'
        '<t:p t:style-name="P1"><t:s t:c="4"/>return 1</t:p><t:p>Done.</t:p>'
    )
    content = convert("a.fodt", opendocument_of(body, style)).content
    assert content == "Run:\n\n```\ndef f():\n\n    return 1\n```\n\nDone."


def test_opendocument_that_repeats_cells_a_million_times() -> None:
    space = "urn:oasis:names:tc:opendocument:xmlns:"
    xml = (
        f"<o:document-content xmlns:o='{space}office:1.0' xmlns:t='{space}text:1.0' xmlns:b='{space}table:1.0'>"
        "<o:body><o:text><b:table><b:table-row b:number-rows-repeated='1048576'>"
        "<b:table-cell b:number-columns-repeated='16384'><t:p>x</t:p></b:table-cell>"
        "</b:table-row></b:table></o:text></o:body></o:document-content>"
    )
    read = convert("a.odt", zipped({"mimetype": "application/vnd.oasis.opendocument.text", "content.xml": xml}))
    assert len(read.content) < 100_000


def body_of(body: str, meta: str = "") -> str:
    """A flat text with tables, drawings and metadata."""
    space = "urn:oasis:names:tc:opendocument:xmlns:"
    return (
        f'<o:document xmlns:o="{space}office:1.0" xmlns:t="{space}text:1.0" xmlns:b="{space}table:1.0"'
        f' xmlns:d="{space}drawing:1.0" xmlns:m="{space}meta:1.0" xmlns:s="{space}style:1.0"'
        ' xmlns:c="http://purl.org/dc/elements/1.1/">'
        f"{meta}<o:body><o:text>{body}</o:text></o:body></o:document>"
    )


def table(*rows: str) -> str:
    cells = ("".join(f"<b:table-cell><t:p>{text}</t:p></b:table-cell>" for text in row.split()) for row in rows)
    return "".join(f"<b:table-row>{row}</b:table-row>" for row in cells)


@pytest.mark.parametrize(
    ("body", "content"),
    [
        (
            '<t:p t:style-name="Title">The<t:line-break/>Mill</t:p><t:section><t:p>x</t:p></t:section>',
            "# The Mill\n\nx",
        ),
        (
            "<t:list><t:list-item><t:p>a</t:p><t:list><t:list-item><t:p>b</t:p></t:list-item></t:list></t:list-item>"
            "<t:soft-page-break/><t:list-item><t:p>c</t:p></t:list-item></t:list>",
            "- a\n  - b\n- c",
        ),
        (
            f"<b:table><b:table-header-rows>{table('A B')}</b:table-header-rows>"
            f"<b:table-rows>{table('1 2')}</b:table-rows></b:table>",
            "| A | B |\n| --- | --- |\n| 1 | 2 |",
        ),
        (f"<b:table>{table('around')}</b:table>", "around"),
        ("<t:section>" * 150 + "<t:p>deep</t:p>" + "</t:section>" * 150, "deep"),
        ("<t:p>so " + "<t:span>" * 150 + "deep" + "</t:span>" * 150 + " down</t:p>", "so deep down"),
    ],
    ids=["title", "list", "table", "frame", "depth", "spans"],
)
def test_opendocument_blocks(body: str, content: str) -> None:
    assert convert("a.fodt", body_of(body)).content == content


def test_a_table_and_a_box_within_an_item_of_a_list() -> None:
    box = "<t:p>Two<d:frame><d:text-box><t:p>Beside it</t:p></d:text-box></d:frame></t:p>"
    rows = table("a b", "1 2")
    item = f"<t:list-item><t:p>One</t:p><b:table>{rows}</b:table></t:list-item>"
    body = f"<t:list>{item}<t:list-item>{box}</t:list-item></t:list>"
    assert convert("a.fodt", body_of(body)).content == (
        "- One\n\n| a | b |\n| --- | --- |\n| 1 | 2 |\n\n- Two\n\nBeside it"
    )


def test_boxes_inside_of_boxes_are_read_once() -> None:
    begin, end = "<d:frame><d:text-box><t:p>", "</t:p></d:text-box></d:frame>"
    body = f"<t:p>before <t:span>{begin}first{end}</t:span>{begin}second{begin}third{end}{end}</t:p>"
    assert convert("a.fodt", body_of(body)).content == "before\n\nfirst\n\nsecond\n\nthird"
    nested = begin * 40 + "deep" + end * 40  # read twice at each depth, it would be read 10^12 times
    assert convert("a.fodt", body_of(f"<t:p>{nested}</t:p>")).content == "deep"


@pytest.mark.parametrize(
    ("body", "content"),
    [
        ('<t:p>a <t:span t:style-name="Off">gone</t:span>b</t:p>', "a b"),
        ('<t:p t:style-name="FromOff">gone</t:p><t:p t:style-name="BackOn">there</t:p>', "there"),
        ('<t:section t:display="none"><t:p>gone</t:p></t:section><t:p>there</t:p>', "there"),
        ('<t:section t:display="condition"><t:p>there</t:p></t:section>', "there"),
        ('<t:section t:display="condition" t:is-hidden="true"><t:p>gone</t:p></t:section><t:p>there</t:p>', "there"),
        ('<t:p><t:hidden-paragraph t:is-hidden="true"/>gone</t:p><t:p><t:hidden-paragraph/>there</t:p>', "there"),
        ('<t:p>a <t:hidden-text t:is-hidden="true">gone</t:hidden-text>b</t:p>', "a b"),
        ('<t:p>a <t:hidden-text t:is-hidden="false">b</t:hidden-text></t:p>', "a b"),
    ],
    ids=["span", "paragraph", "section", "shown", "condition", "field", "text", "shown text"],
)
def test_hidden_text_of_opendocument(body: str, content: str) -> None:
    styles = (
        '<o:automatic-styles><s:style s:name="Off"><s:text-properties t:display="none"/></s:style>'
        '<s:style s:name="FromOff" s:parent-style-name="Off"/>'
        '<s:style s:name="BackOn" s:parent-style-name="Off"><s:text-properties t:display="true"/></s:style>'
        "</o:automatic-styles>"
    )
    assert convert("a.fodt", body_of(body, styles)).content == content


def test_properties_of_opendocument() -> None:
    meta = (
        "<o:meta><m:keyword>tide</m:keyword><m:keyword>mill</m:keyword>"
        "<c:title>On Mills</c:title><c:creator>Ann</c:creator></o:meta>"
    )
    document = convert("a.fodt", body_of("<t:p>x</t:p>", meta))
    assert (document.title, document.metadata) == ("On Mills", {"keywords": "tide, mill", "author": "Ann"})


def test_a_spreadsheet_under_the_name_of_a_text() -> None:
    space = "urn:oasis:names:tc:opendocument:xmlns:office:1.0"
    data = f'<o:document xmlns:o="{space}"><o:body><o:spreadsheet/></o:body></o:document>'
    assert reason("a.fodt", data) == "it is not an OpenDocument text, despite its name"
