"""Word, PowerPoint and RTF, written by the libraries that people write them with."""

from __future__ import annotations

import io
from datetime import UTC, datetime
from typing import Any

import pytest

from tests.dataloader.filetools import convert, places, reason, targets, unzipped, zipped

docx = pytest.importorskip("docx")
pptx = pytest.importorskip("pptx")


def saved(document: Any) -> bytes:
    stream = io.BytesIO()
    document.save(stream)
    return stream.getvalue()


def rewritten(data: bytes, part: str, old: str, new: str) -> bytes:
    parts = unzipped(data)
    assert old in parts[part].decode()
    parts[part] = parts[part].decode().replace(old, new, 1).encode()
    return zipped(parts)


# -- Word ----------------------------------------------------------------------------------------------------------


def test_word_headings_lists_and_tables() -> None:
    document = docx.Document()
    document.add_heading("The title", 0)
    document.add_heading("First", 1)
    document.add_paragraph("Some text\nwith a line break and a\ttab.")
    document.add_paragraph("one", style="List Bullet")
    document.add_paragraph("two", style="List Bullet")
    document.add_paragraph("first step", style="List Number")
    document.add_paragraph("second step", style="List Number")
    document.add_heading("Second level", 2)
    table = document.add_table(rows=2, cols=2)
    for index, text in enumerate(["Name", "Value | unit", "a\nb", "1"]):
        table.cell(index // 2, index % 2).text = text
    document.add_paragraph("# no heading")
    document.core_properties.author = "Ann"
    document.core_properties.created = datetime(2024, 1, 2, tzinfo=UTC)
    document.core_properties.title = "Title in the properties"
    read = convert("a.docx", saved(document))
    assert read.content == (
        "# The title\n\n# First\n\nSome text\nwith a line break and a tab.\n\n- one\n- two\n"
        "1. first step\n2. second step\n\n## Second level\n\n"
        "| Name | Value \\| unit |\n| --- | --- |\n| a b | 1 |\n\n\\# no heading"
    )
    assert read.title == "The title"
    assert read.format == "markdown"
    assert read.metadata["author"] == "Ann"
    assert read.metadata["created"].startswith("2024-01-02")
    assert read.mime_type is not None
    assert read.mime_type.endswith("wordprocessingml.document")


@pytest.mark.parametrize("paragraphs", [[], [""], [" ", ""]])
def test_word_documents_without_text_are_whole(paragraphs: list[str]) -> None:
    document = docx.Document()
    for text in paragraphs:
        document.add_paragraph(text)
    assert reason("a.docx", saved(document)) == "it has no text"


def test_word_titles() -> None:
    document = docx.Document()
    document.add_heading("A heading", 1)
    document.core_properties.title = "From the properties"
    assert convert("a.docx", saved(document)).title == "From the properties"
    document.core_properties.title = "Microsoft Word - draft.doc"
    assert convert("a.docx", saved(document)).title == "A heading"
    plain = docx.Document()
    plain.add_paragraph("text")
    assert convert("a.docx", saved(plain)).title is None


@pytest.mark.parametrize(
    ("name", "author"),
    [
        ("python-docx", None),
        ("openpyxl", None),
        ("Apache POI", None),
        ("Microsoft Office User", None),
        ("(anonymous)", None),
        ("Unknown", None),
        ("Ann Bold", "Ann Bold"),
        ("User Group Berlin", "User Group Berlin"),
    ],
)
def test_authors_that_programs_make_up_are_none(name: str, author: str | None) -> None:
    document = docx.Document()
    document.add_paragraph("text")
    document.core_properties.author = name
    assert convert("a.docx", saved(document)).metadata.get("author") == author
    properties = (
        f"<office><meta><initial-creator>{name}</initial-creator></meta><body><text><p>x</p></text></body></office>"
    )
    assert convert("a.fodt", properties).metadata.get("author") == author


def test_word_merged_cells_and_tables_around_text() -> None:
    document = docx.Document()
    table = document.add_table(rows=3, cols=2)
    table.cell(0, 0).text, table.cell(0, 1).text = "A", "B"
    table.cell(1, 0).merge(table.cell(2, 0)).text = "down"
    table.cell(1, 1).text, table.cell(2, 1).text = "1", "2"
    frame = document.add_table(rows=1, cols=1)
    frame.cell(0, 0).add_paragraph("inside a frame", style="Heading 1")
    assert convert("a.docx", saved(document)).content == (
        "| A | B |\n| --- | --- |\n| down | 1 |\n| down | 2 |\n\n# inside a frame"
    )


def test_word_text_that_python_docx_does_not_show() -> None:
    document = docx.Document()
    document.add_paragraph("MARK")
    inside = (
        "</w:t></w:r><w:ins w:id='1'><w:r><w:t xml:space='preserve'> inserted</w:t></w:r></w:ins>"
        "<w:del w:id='2'><w:r><w:delText>deleted</w:delText></w:r></w:del>"
        "<w:sdt><w:sdtContent><w:r><w:t xml:space='preserve'> controlled</w:t></w:r></w:sdtContent></w:sdt>"
        "<w:r><w:noBreakHyphen/><w:t>end</w:t></w:r><w:r><w:pict><w:txbxContent><w:p><w:r><w:t>boxed</w:t></w:r></w:p>"
        "</w:txbxContent></w:pict></w:r><w:r><w:t>"
    )
    data = rewritten(saved(document), "word/document.xml", "MARK", "MARK" + inside)
    block = "<w:sdt><w:sdtContent><w:p><w:r><w:t>a block</w:t></w:r></w:p></w:sdtContent></w:sdt><w:sectPr"
    data = rewritten(data, "word/document.xml", "<w:sectPr", block)
    assert convert("a.docx", data).content == "MARK inserted controlled-end\n\nboxed\n\na block"
    # The reason for a reader of our own:
    assert [paragraph.text for paragraph in docx.Document(io.BytesIO(data)).paragraphs] == ["MARK-end"]


def test_a_superscript_in_word_is_a_power() -> None:
    document = docx.Document()
    paragraph = document.add_paragraph("10")
    for text, is_raised in (
        ("6", True),
        (" and 21", False),
        ("st", True),
        (" of *", False),
        ("3", True),
        (" H", False),
    ):
        paragraph.add_run(text).font.superscript = is_raised or None
    paragraph.add_run("2").font.subscript = True
    assert convert("a.docx", saved(document)).content == "10^6 and 21st of *3 H2"


def test_hidden_text_in_word() -> None:
    document = docx.Document()
    paragraph = document.add_paragraph("Shown")
    for text, is_hidden in ((" never said", True), (" again", False)):
        paragraph.add_run(text).font.hidden = is_hidden
    document.add_paragraph().add_run("All of it is hidden").font.hidden = True
    assert convert("a.docx", saved(document)).content == "Shown again"


def test_word_forms_show_what_was_chosen() -> None:
    def answer(inside: str) -> str:
        begin = f"<w:r><w:fldChar w:fldCharType='begin'><w:ffData>{inside}</w:ffData></w:fldChar></w:r>"
        return f"{begin}<w:r><w:fldChar w:fldCharType='end'/></w:r>"

    towns = "<w:listEntry w:val='Oxford'/><w:listEntry w:val='Rome'/>"
    answers = (
        ("checked ", "<w:checkBox><w:default w:val='0'/><w:checked/></w:checkBox>"),
        (" and not ", "<w:checkBox><w:default w:val='1'/><w:checked w:val='0'/></w:checkBox>"),
        (" from the start ", "<w:checkBox><w:default w:val='true'/></w:checkBox>"),
        (" the second ", f"<w:ddList><w:result w:val='1'/>{towns}</w:ddList>"),
        (" the first ", f"<w:ddList>{towns}</w:ddList>"),
        (" none", "<w:ddList><w:result w:val='7'/></w:ddList>"),
    )
    document = docx.Document()
    document.add_paragraph("MARK")
    runs = "".join(f"<w:r><w:t xml:space='preserve'>{words}</w:t></w:r>{answer(inside)}" for words, inside in answers)
    data = rewritten(saved(document), "word/document.xml", "MARK", f"</w:t></w:r>{runs}<w:r><w:t>")
    shown = "checked \u2612 and not \u2610 from the start \u2612 the second Rome the first Oxford none"
    assert convert("a.docx", data).content == shown


def test_word_links_and_footnotes() -> None:
    document = docx.Document()
    document.add_paragraph("MARK")
    document.part.relate_to(
        "https://example.org/page#part",
        "http://schemas.openxmlformats.org/officeDocument/2006/relationships/hyperlink",
        is_external=True,
    )
    relation = next(key for key, found in document.part.rels.items() if found.is_external)
    inside = (
        f"</w:t></w:r><w:hyperlink r:id='{relation}'><w:r><w:t>a link</w:t></w:r></w:hyperlink>"
        "<w:r><w:footnoteReference w:id='7'/></w:r><w:r><w:t>"
    )
    data = rewritten(saved(document), "word/document.xml", "MARK", "MARK " + inside)
    space = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
    note = "<w:footnote w:id='7'><w:p><w:r><w:t>The note.</w:t></w:r></w:p></w:footnote>"
    notes = f"<w:footnotes xmlns:w='{space}'>{note}</w:footnotes>"
    read = convert("a.docx", zipped({**unzipped(data), "word/footnotes.xml": notes}))
    assert read.content == "MARK a link[1]\n\n[1] The note."
    assert targets(read) == ["https://example.org/page"]
    assert read.links[0].text == "a link"


def test_word_comments() -> None:
    document = docx.Document()
    document.add_paragraph("MARK")
    inside = (
        "<w:commentRangeStart w:id='0'/><w:r><w:t>doubtful</w:t></w:r><w:commentRangeEnd w:id='0'/>"
        "<w:r><w:commentReference w:id='0'/></w:r><w:r><w:t> claim</w:t></w:r>"
        "<w:r><w:footnoteReference w:id='7'/></w:r><w:r><w:commentReference w:id='3'/></w:r>"
    )
    data = rewritten(saved(document), "word/document.xml", "MARK", f"A </w:t></w:r>{inside}<w:r><w:t>.")
    space = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
    notes = f"<w:footnotes xmlns:w='{space}'><w:footnote w:id='7'><w:p><w:r><w:t>A note.</w:t></w:r></w:p></w:footnote>"
    comments = (
        f"<w:comments xmlns:w='{space}'><w:comment w:id='0' w:author='Ann B'><w:p><w:r><w:annotationRef/></w:r><w:r>"
        "<w:t>Is it so?</w:t></w:r></w:p><w:p><w:r><w:t>Why?</w:t></w:r></w:p></w:comment>"
        "<w:comment w:id='3'><w:p><w:r><w:t>Nobody's.</w:t></w:r></w:p></w:comment></w:comments>"
    )
    parts = {"word/footnotes.xml": notes + "</w:footnotes>", "word/comments.xml": comments}
    read = convert("a.docx", zipped({**unzipped(data), **parts}))
    assert read.content == ("A doubtful[1] claim[2][3].\n\n[2] A note.\n\n[1] Ann B: Is it so? Why?\n\n[3] Nobody's.")


def test_word_numbered_headings() -> None:
    document = docx.Document()
    for text, level in (("One", 1), ("Sub", 2), ("Sub again", 2), ("Two", 1), ("Sub", 2)):
        document.add_heading(text, level)
    data = unzipped(saved(document))
    space = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
    levels = "".join(
        f"<w:lvl w:ilvl='{level}'><w:start w:val='1'/><w:numFmt w:val='{kind}'/><w:lvlText w:val='{label}'/></w:lvl>"
        for level, (kind, label) in enumerate([("upperRoman", "%1."), ("decimal", "%1.%2")])
    )
    data["word/numbering.xml"] = (
        f"<w:numbering xmlns:w='{space}'><w:abstractNum w:abstractNumId='1'>{levels}</w:abstractNum>"
        "<w:num w:numId='5'><w:abstractNumId w:val='1'/></w:num></w:numbering>"
    ).encode()
    xml = data["word/document.xml"].decode()
    for level in (1, 2):
        number = f"<w:numPr><w:ilvl w:val='{level - 1}'/><w:numId w:val='5'/></w:numPr>"
        xml = xml.replace(f'<w:pStyle w:val="Heading{level}"/>', f'<w:pStyle w:val="Heading{level}"/>{number}')
    data["word/document.xml"] = xml.encode()
    assert convert("a.docx", zipped(data)).content.split("\n\n") == [
        "# I. One",
        "## I.1 Sub",
        "## I.2 Sub again",
        "# II. Two",
        "## II.1 Sub",
    ]


def bold(document: Any, text: str, *, numbered: bool = False) -> None:
    document.add_paragraph(style="List Number" if numbered else None).add_run(text).bold = True


def test_bold_paragraphs_of_a_word_document_without_headings_are_headings() -> None:
    document = docx.Document()
    bold(document, "Mooring contract")
    document.add_paragraph("between the harbour and the owner of the boat")
    bold(document, "Berth", numbered=True)
    document.add_paragraph("The berth is at pier 4.")
    bold(document, "This sentence is important.")
    bold(document, "Rent: when is it due?", numbered=True)
    document.add_paragraph("The rent is due in May.").add_run(" Always.").bold = True
    bold(document, "Signatures")
    document.add_paragraph("Ida Brandt")
    read = convert("a.docx", saved(document))
    assert read.content == (
        "# Mooring contract\n\nbetween the harbour and the owner of the boat\n\n## 1. Berth\n\n"
        "The berth is at pier 4.\n\nThis sentence is important.\n\n## 2. Rent: when is it due?\n\n"
        "The rent is due in May. Always.\n\n## Signatures\n\nIda Brandt"
    )
    assert read.title == "Mooring contract"
    document.add_heading("Annex", 1)
    assert "# " not in convert("a.docx", saved(document)).content.replace("# Annex", "")


def test_bold_letters_all_over_a_word_document_are_no_headings() -> None:
    document = docx.Document()
    for name in ("Ann", "Bo", "Cy", "Di"):
        bold(document, name)
    document.add_paragraph("came by boat.")
    assert "#" not in convert("a.docx", saved(document)).content
    document = docx.Document()
    bold(document, "Please note")
    document.add_paragraph("The pier is closed.")
    assert convert("a.docx", saved(document)).content == "Please note\n\nThe pier is closed."


def test_bold_amounts_and_dates_are_no_headings() -> None:
    document = docx.Document()
    for text, value in (("The price is", "1,450 euros"), ("and it is due on", "5 May 2025"), ("Or pay", "450 €")):
        document.add_paragraph(text)
        bold(document, value)
    document.add_paragraph("at once.")
    assert "#" not in convert("a.docx", saved(document)).content
    for title in ("§ 5 Deposit", "2. Rent", "Schedule for 2025"):
        bold(document, title)
        document.add_paragraph("As before.")
    content = convert("a.docx", saved(document)).content
    assert [line for line in content.split("\n") if line.startswith("#")] == [
        "## § 5 Deposit",
        "## 2. Rent",
        "## Schedule for 2025",
    ]


def test_word_equations_and_code() -> None:
    document = docx.Document()
    document.add_paragraph("MARK")
    document.styles.add_style("Source Code", 1)
    for line in ("def f():", "    return 1"):
        document.add_paragraph(line, style="Source Code")
    space = "xmlns:m='http://schemas.openxmlformats.org/officeDocument/2006/math'"
    run = "<m:r><m:t>{}</m:t></m:r>"
    power = f"<m:sSup><m:e>{run.format('x')}</m:e><m:sup>{run.format('n+1')}</m:sup></m:sSup>"
    root = f"<m:rad><m:deg/><m:e>{run.format('y')}</m:e></m:rad>"
    fraction = f"<m:f><m:num>{power}</m:num><m:den>{root}</m:den></m:f>"
    inside = f"</w:t></w:r><m:oMath {space}>{fraction}</m:oMath><w:r><w:t>"
    data = rewritten(saved(document), "word/document.xml", "MARK", "Let z = " + inside + ", then")
    assert convert("a.docx", data).content == "Let z = (x^(n+1))/(√(y)), then\n\n```\ndef f():\n    return 1\n```"


def run(text: str) -> str:
    return f"<m:r><m:t>{text}</m:t></m:r>"


@pytest.mark.parametrize(
    ("equation", "shown"),
    [
        (
            f"<m:nary><m:naryPr><m:chr m:val='∑'/></m:naryPr><m:sub>{run('i=1')}</m:sub><m:sup>{run('n')}</m:sup>"
            f"<m:e>{run('i')}</m:e></m:nary>",
            "∑_(i=1)^n i",
        ),
        (f"<m:nary><m:naryPr/><m:e>{run('f')}</m:e></m:nary>", "∫ f"),
        (f"<m:d><m:e>{run('a')}</m:e><m:e>{run('b')}</m:e></m:d>", "(a, b)"),
        (
            f"<m:d><m:dPr><m:begChr m:val='|'/><m:endChr m:val='|'/></m:dPr><m:e>{run('x')}</m:e></m:d>",
            "|x|",
        ),
        (f"<m:func><m:fName>{run('sin')}</m:fName><m:e>{run('x')}</m:e></m:func>", "sin(x)"),
        (f"<m:limLow><m:e>{run('lim')}</m:e><m:lim>{run('x→0')}</m:lim></m:limLow>", "lim_(x→0)"),
        (f"<m:limUpp><m:e>{run('x')}</m:e><m:lim>{run('n')}</m:lim></m:limUpp>", "x^n"),
        (
            f"<m:m><m:mr><m:e>{run('1')}</m:e><m:e>{run('0')}</m:e></m:mr>"
            f"<m:mr><m:e>{run('0')}</m:e><m:e>{run('1')}</m:e></m:mr></m:m>",
            "1 0; 0 1",
        ),
        (f"<m:eqArr><m:e>{run('x=1')}</m:e><m:e>{run('y=2')}</m:e></m:eqArr>", "x=1; y=2"),
        ("<m:box><m:e>" * 90 + run("x") + "</m:e></m:box>" * 90, "x"),
    ],
)
def test_word_equations(equation: str, shown: str) -> None:
    document = docx.Document()
    document.add_paragraph("MARK")
    space = "xmlns:m='http://schemas.openxmlformats.org/officeDocument/2006/math'"
    inside = f"</w:t></w:r><m:oMath {space}>{equation}</m:oMath><w:r><w:t>"
    assert convert("a.docx", rewritten(saved(document), "word/document.xml", "MARK", inside)).content == shown


def test_word_lists_with_letters() -> None:
    document = docx.Document()
    for number in range(1, 29):
        document.add_paragraph(f"item {number}", style="List Number")
    data = unzipped(saved(document))
    xml = data["word/numbering.xml"].decode()
    data["word/numbering.xml"] = xml.replace('w:val="decimal"', 'w:val="lowerLetter"').encode()
    lines = convert("a.docx", zipped(data)).content.split("\n")
    assert [line.partition(" ")[0] for line in (*lines[:2], *lines[25:])] == ["a.", "b.", "z.", "aa.", "bb."]


def test_word_links_made_by_fields() -> None:
    document = docx.Document()
    document.add_paragraph("see MARK")
    field = '<w:fldChar w:fldCharType="{}"/>'.format
    inside = (
        f"</w:t>{field('begin')}<w:instrText> HYPERLINK &quot;https://example.org/mill&quot; </w:instrText>"
        f"{field('separate')}<w:t>the mill</w:t>{field('end')}<w:t>"
    )
    read = convert("a.docx", rewritten(saved(document), "word/document.xml", "MARK", inside))
    assert (read.content, targets(read)) == ("see the mill", ["https://example.org/mill"])


def test_word_charts_and_diagrams_stand_where_they_are_shown() -> None:
    space = "http://schemas.openxmlformats.org/drawingml/2006"
    kind = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    document = docx.Document()
    for text in ("Before.", "CHART", "Between.", "DIAGRAM", "LOST", "After."):
        document.add_paragraph(text)
    document.add_table(2, 2).cell(1, 1).text = "CHART"
    parts = unzipped(saved(document))
    main = parts["word/document.xml"].decode()
    ids = {
        "CHART": f'<c:chart xmlns:c="{space}/chart" xmlns:r="{kind}" r:id="rId91"/>',
        "DIAGRAM": f'<d:relIds xmlns:d="{space}/diagram" xmlns:r="{kind}" r:dm="rId92"/>',
        "LOST": f'<c:chart xmlns:c="{space}/chart" xmlns:r="{kind}" r:id="rId93"/>',
    }
    for name, node in ids.items():
        main = main.replace(f"<w:t>{name}</w:t>", f"<w:drawing>{node}</w:drawing>")
    parts["word/document.xml"] = main.encode()
    relations = parts["word/_rels/document.xml.rels"].decode()
    for number, target in ((91, "charts/chart1.xml"), (92, "diagrams/data1.xml"), (93, "charts/broken.xml")):
        relation = f'<Relationship Id="rId{number}" Type="{kind}/x" Target="{target}"/>'
        relations = relations.replace("</Relationships>", f"{relation}</Relationships>")
    parts["word/_rels/document.xml.rels"] = relations.encode()
    point = '<c:ptCount val="1"/><c:pt idx="0"><c:v>{}</c:v></c:pt>'
    parts["word/charts/chart1.xml"] = (
        f'<c:chartSpace xmlns:c="{space}/chart" xmlns:a="{space}/main"><c:chart><c:title><c:tx><c:rich>'
        "<a:p><a:r><a:t>Sal</a:t></a:r><a:r><a:t>es</a:t></a:r></a:p></c:rich></c:tx></c:title>"
        f"<c:ser><c:tx><c:strCache>{point.format('2024')}</c:strCache></c:tx>"
        f"<c:cat><c:strCache>{point.format('East')}</c:strCache></c:cat>"
        f"<c:val><c:numCache>{point.format('4.4000000000000004')}</c:numCache></c:val></c:ser></c:chart></c:chartSpace>"
    ).encode()
    parts["word/charts/broken.xml"] = b"<broken"
    points = "".join(f"<d:pt><d:t><a:p><a:r><a:t>{text}</a:t></a:r></a:p></d:t></d:pt>" for text in ("Ebb", "Flood"))
    parts["word/diagrams/data1.xml"] = (
        f'<d:dataModel xmlns:d="{space}/diagram" xmlns:a="{space}/main"><d:ptLst>{points}</d:ptLst></d:dataModel>'
    ).encode()
    chart = "Sales\n\n|  | 2024 |\n| --- | --- |\n| East | 4.4 |"
    assert convert("a.docx", zipped(parts)).content == (
        f"Before.\n\n{chart}\n\nBetween.\n\n- Ebb\n- Flood\n\nAfter.\n\n{chart}"
    )


# -- PowerPoint ----------------------------------------------------------------------------------------------------


def test_powerpoint_slides_notes_and_tables() -> None:
    from pptx.util import Inches

    presentation = pptx.Presentation()
    slide = presentation.slides.add_slide(presentation.slide_layouts[1])
    slide.shapes.title.text = "First slide"
    frame = slide.placeholders[1].text_frame
    frame.text = "point"
    paragraph = frame.add_paragraph()
    paragraph.text, paragraph.level = "detail", 1
    slide.notes_slide.notes_text_frame.text = "What to say"
    second = presentation.slides.add_slide(presentation.slide_layouts[6])
    table = second.shapes.add_table(2, 2, Inches(1), Inches(1), Inches(4), Inches(1)).table
    for index, text in enumerate(["Name", "Value", "a", "1"]):
        table.cell(index // 2, index % 2).text = text
    box = second.shapes.add_textbox(Inches(1), Inches(3), Inches(4), Inches(1)).text_frame
    box.text = "free text "
    run = box.paragraphs[0].add_run()
    run.text, run.hyperlink.address = "with a link", "https://example.org/"
    presentation.slides.add_slide(presentation.slide_layouts[6])
    presentation.core_properties.title = "PowerPoint Presentation"
    read = convert("a.pptx", saved(presentation))
    assert read.content == (
        "## First slide\n\n- point\n  - detail\n\nNotes: What to say\n\n"
        "## Slide 2\n\n| Name | Value |\n| --- | --- |\n| a | 1 |\n\nfree text with a link"
    )
    assert places(read, "slide") == [(1, "## First slide"), (2, "## Slide 2")]
    assert read.title == "First slide"
    assert read.metadata == {"modified": read.metadata["modified"], "slide_count": 3}  # nothing of the template
    assert targets(read) == ["https://example.org/"]


def test_powerpoint_numbered_lists() -> None:
    presentation = pptx.Presentation()
    slide = presentation.slides.add_slide(presentation.slide_layouts[1])
    slide.shapes.title.text = "Steps"
    frame = slide.placeholders[1].text_frame
    steps = [("Open", 0, 1), ("the gate", 1, 1), ("", 0, 0), ("slowly", 1, 1), ("Wait", 0, 1), ("Note", 0, 0)]
    steps += [("Close", 0, 4), ("lettered", 0, -1), ("again", 0, -1)]
    name = "{http://schemas.openxmlformats.org/drawingml/2006/main}buAutoNum"
    for number, (words, level, start) in enumerate(steps):
        paragraph = frame.paragraphs[0] if number == 0 else frame.add_paragraph()
        paragraph.text, paragraph.level = words, level
        if start:
            numbered = paragraph._p.get_or_add_pPr().makeelement(
                name, {"type": "alphaLcParenBoth" if start < 0 else "arabicPeriod"}
            )
            numbered.attrib.update({"startAt": str(start)} if start > 1 else {})
            paragraph._p.get_or_add_pPr().append(numbered)
    assert convert("a.pptx", saved(presentation)).content == (
        "## Steps\n\n1. Open\n  1. the gate\n  2. slowly\n2. Wait\n- Note\n4. Close\n1. lettered\n2. again"
    )


def test_powerpoint_groups_breaks_and_merged_cells() -> None:
    from pptx.util import Inches

    presentation = pptx.Presentation()
    slide = presentation.slides.add_slide(presentation.slide_layouts[6])
    place = Inches(1), Inches(3), Inches(4), Inches(1)
    box = slide.shapes.add_group_shape().shapes.add_textbox(*place).text_frame
    box.text = "in a\vgroup"
    box.paragraphs[0].add_line_break()
    box.paragraphs[0].add_run().text = "next"
    slide.shapes.add_textbox(*place)  # empty
    table = slide.shapes.add_table(3, 2, *place).table
    for index, text in enumerate(["Name", "Value", "a", "1", "", "2"]):
        table.cell(index // 2, index % 2).text = text
    table.cell(1, 0).merge(table.cell(2, 0))
    assert convert("a.pptx", saved(presentation)).content == (
        "## Slide 1\n\nin a\ngroup\nnext\n\n| Name | Value |\n| --- | --- |\n| a | 1 |\n| a | 2 |"
    )


def test_powerpoint_groups_in_groups() -> None:
    from pptx.util import Inches

    presentation = pptx.Presentation()
    slide = presentation.slides.add_slide(presentation.slide_layouts[6])
    for text in ("Grouped", "Beside"):
        slide.shapes.add_textbox(Inches(1), Inches(1), Inches(4), Inches(1)).text_frame.text = text
    parts = unzipped(saved(presentation))
    xml = parts["ppt/slides/slide1.xml"].decode()
    begin, end = xml.index("<p:sp>"), xml.index("</p:sp>") + len("</p:sp>")

    def grouped(times: int, more: str = "") -> str:
        inside = "<p:grpSp>" * times + xml[begin:end] + "</p:grpSp>" * times
        slide = (xml[:begin] + inside + xml[end:]).replace("Beside", "Beside" + more)
        return convert("a.pptx", zipped({**parts, "ppt/slides/slide1.xml": slide})).content

    assert grouped(20) == "## Slide 1\n\nGrouped\n\nBeside"
    # In a slide this large nothing limits how deep it nests.
    assert grouped(2000, more="!" * 5_000_000).startswith("## Slide 1\n\nGrouped\n\nBeside!")


def test_powerpoint_lists_and_links_within_the_show() -> None:
    presentation = pptx.Presentation()
    slide = presentation.slides.add_slide(presentation.slide_layouts[1])
    slide.shapes.title.text = "Parts"
    slide.placeholders[1].text_frame.text = "Wheel\nGate"
    second = presentation.slides.add_slide(presentation.slide_layouts[1])
    second.placeholders[1].text_frame.text = "Only one"
    data = unzipped(saved(presentation))
    xml = data["ppt/slides/slide1.xml"].decode()
    space = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    link = f'<a:r><a:rPr><a:hlinkClick xmlns:r="{space}" r:id="rId1"/></a:rPr><a:t>Gate</a:t></a:r>'
    data["ppt/slides/slide1.xml"] = xml.replace("<a:r><a:t>Gate</a:t></a:r>", link).encode()
    assert b"hlinkClick" in data["ppt/slides/slide1.xml"]
    read = convert("a.pptx", zipped(data))
    assert read.content == "## Parts\n\n- Wheel\n- Gate\n\n## Slide 2\n\nOnly one"
    assert read.links == ()


def test_powerpoint_smart_art() -> None:
    from pptx.util import Inches

    presentation = pptx.Presentation()
    slide = presentation.slides.add_slide(presentation.slide_layouts[6])
    slide.shapes.add_table(1, 1, Inches(1), Inches(1), Inches(4), Inches(1))
    data = unzipped(saved(presentation))
    space = "http://schemas.openxmlformats.org/drawingml/2006"
    kind = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    xml = data["ppt/slides/slide1.xml"].decode()
    begin, end = xml.index("<a:tbl>"), xml.index("</a:tbl>") + len("</a:tbl>")
    ids = f'<dgm:relIds xmlns:dgm="{space}/diagram" xmlns:r="{kind}" r:dm="rId9"/>'
    data["ppt/slides/slide1.xml"] = (xml[:begin] + ids + xml[end:]).encode()
    relation = f'<Relationship Id="rId9" Type="{kind}/diagramData" Target="../diagrams/data1.xml"/></Relationships>'
    relations = data["ppt/slides/_rels/slide1.xml.rels"].decode().replace("</Relationships>", relation)
    data["ppt/slides/_rels/slide1.xml.rels"] = relations.encode()
    points = "".join(f"<d:pt><d:t><a:p><a:r><a:t>{text}</a:t></a:r></a:p></d:t></d:pt>" for text in ("Ebb", "Flood"))
    data["ppt/diagrams/data1.xml"] = (
        f'<d:dataModel xmlns:d="{space}/diagram" xmlns:a="{space}/main"><d:ptLst>{points}</d:ptLst></d:dataModel>'
    ).encode()
    assert convert("a.pptx", zipped(data)).content == "## Slide 1\n\n- Ebb\n- Flood"


def test_powerpoint_order_is_that_of_the_show() -> None:
    presentation = pptx.Presentation()
    for text in ("one", "two"):
        slide = presentation.slides.add_slide(presentation.slide_layouts[5])
        slide.shapes.title.text = text
    order = presentation.slides._sldIdLst
    order.insert(0, order[1])
    read = convert("a.pptx", saved(presentation))
    assert read.content == "## two\n\n## one"


def test_a_second_title_on_a_slide_is_kept_as_text() -> None:
    presentation = pptx.Presentation()
    slide = presentation.slides.add_slide(presentation.slide_layouts[1])
    slide.shapes.title.text = "Before and after"
    slide.placeholders[1].text_frame.text = "After the move"
    slide.placeholders[1].element.nvSpPr.nvPr.ph.set("type", "title")
    assert convert("a.pptx", saved(presentation)).content == "## Before and after\n\nAfter the move"


def test_powerpoint_charts() -> None:
    from pptx.chart.data import CategoryChartData
    from pptx.enum.chart import XL_CHART_TYPE
    from pptx.util import Inches

    presentation = pptx.Presentation()
    slide = presentation.slides.add_slide(presentation.slide_layouts[5])
    slide.shapes.title.text = "Numbers"
    data = CategoryChartData()
    data.categories = ["East", "West"]
    data.add_series("2024", (1.5, 2))
    data.add_series("2025", (3, 4))
    chart = slide.shapes.add_chart(XL_CHART_TYPE.BAR_CLUSTERED, Inches(1), Inches(2), Inches(4), Inches(3), data).chart
    chart.has_title = True
    chart.chart_title.text_frame.text = "Sales"
    assert convert("a.pptx", saved(presentation)).content == (
        "## Numbers\n\nSales\n\n|  | 2024 | 2025 |\n| --- | --- | --- |\n| East | 1.5 | 3 |\n| West | 2 | 4 |"
    )


def test_numbers_in_charts_are_written_as_they_are_shown() -> None:
    from datetime import date

    from pptx.chart.data import CategoryChartData
    from pptx.enum.chart import XL_CHART_TYPE
    from pptx.util import Inches

    presentation = pptx.Presentation()
    slide = presentation.slides.add_slide(presentation.slide_layouts[6])
    data = CategoryChartData()
    data.categories = [date(2024, 5, 1), date(2024, 6, 1)]
    data.add_series("Height", (4.4000000000000004, 0.1))
    data.add_series("Share", (0.125, 1), number_format="0.0%")
    slide.shapes.add_chart(XL_CHART_TYPE.LINE, Inches(1), Inches(2), Inches(4), Inches(3), data)
    assert convert("a.pptx", saved(presentation)).content.splitlines()[2:] == [
        "|  | Height | Share |",
        "| --- | --- | --- |",
        "| 2024-05-01 | 4.4 | 12.5% |",
        "| 2024-06-01 | 0.1 | 100% |",
    ]


def test_one_damaged_slide_costs_only_itself() -> None:
    presentation = pptx.Presentation()
    for text in ("one", "two"):
        presentation.slides.add_slide(presentation.slide_layouts[5]).shapes.title.text = text
    parts = unzipped(saved(presentation))
    parts["ppt/slides/slide1.xml"] = b"<broken"
    read = convert("a.pptx", zipped(parts))
    assert read.content == "## two"
    assert places(read, "slide") == [(2, "## two")]
    parts["ppt/slides/slide2.xml"] = b"<broken"
    assert "none of its slides" in reason("a.pptx", zipped(parts))


# -- RTF -----------------------------------------------------------------------------------------------------------


def test_rtf_of_old_openoffice_marks_text_by_styles() -> None:
    styles = r"{\stylesheet{\s1 Default;}{\*\cs7 Teletype;}}"
    text = r"{\rtf1\ansi" + styles + r"\pard\plain {\loch\f2\b0\*\cs7\loch The quick fox}{\*\cs7 hidden} \\*\par}"
    assert convert("a.rtf", text).content == r"The quick fox \*"


def test_rtf() -> None:
    text = (
        r"{\rtf1\ansi\ansicpg1252{\info{\title My title}{\author Ann}}{\fonttbl{\f0 Arial;}}"
        r"{\pard\outlinelevel0\b Heading\par}{\pard Caf\'e9 \u8364? and \u26085?\line next line\par}"
        r"{\trowd\cellx3000\cellx6000\intbl A\cell B\cell\row\intbl 1\cell 2\cell\row}\pard The end.\par}"
    )
    read = convert("a.rtf", text)
    assert read.content == ("# Heading\n\nCafé € and 日\nnext line\n\n| A | B |\n| --- | --- |\n| 1 | 2 |\n\nThe end.")
    assert read.title == "My title"
    assert read.metadata == {"author": "Ann"}
    assert "not RTF" in reason("a.rtf", "just text")


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (r"Report \f1\'c4\'e0\f0  caf\'e9", "Report Да café"),
        (r"{\f2 za\'bf\'f3\'b3\'e6}\'bf", "zażółć¿"),
        (r"{\f3 {\b \'93\'fa\'96\'7b}} {\f3\plain \'e4}", "日本 ä"),
        (r"\f3\uc2\u26085\'93\'fa\uc1\u26412?\'8c\'ea \u26085\'3f\'96\'7b", "日本語 日本"),
        (r"\f1\\'c4 \{\'c4\}", r"\'c4 {Д}"),
    ],
)
def test_rtf_in_the_code_pages_of_its_fonts(body: str, text: str) -> None:
    fonts = (
        r"{\fonttbl{\f0\fnil\fcharset0 Calibri;}{\f1\fnil\fcharset204{\*\fname Arial;}Arial Cyr;}"
        r"{\f2\fbidi \fswiss\fcharset238\fprq2 Arial CE;}{\f3\fcharset128 \'82\'6c\'82\'72;}}"
    )
    assert convert("a.rtf", r"{\rtf1\ansi\ansicpg1252\deff0" + fonts + body + r"\par}").content == text


def test_rtf_tables_with_paragraphs_in_their_cells() -> None:
    row = (
        r"{\trowd\cellx1\cellx2\intbl{{{\pard\intbl %s\par}\cell}{{\pard\intbl\b %s\b0\par more\par}\cell}}\intbl\row}"
    )
    table = row % ("Code", "Error") + row % ("3", "Failed")
    content = convert("a.rtf", r"{\rtf1\ansi{\pard Before\par}" + table + r"{\pard After\par\pard Then\par}}").content
    assert content == ("Before\n\n| Code | Error more |\n| --- | --- |\n| 3 | Failed more |\n\nAfter\n\nThen")


def nested_row(*cells: str) -> str:
    """A row of a table inside of a cell, as Word writes it."""
    texts = "".join(rf"\pard\intbl\itap2 {cell}\nestcell " for cell in cells)
    return texts + r"{\*\nesttableprops\trowd\cellx1000\cellx2000\nestrow}{\nonesttables\par}"


def test_rtf_tables_inside_of_cells() -> None:
    inner = r"\pard\intbl Prices:\par " + nested_row("Size", "Price") + nested_row("10 mm", r"5 EUR\par each")
    inner += r"\pard\intbl As of May\cell"
    first = r"{\rtf1\ansi\trowd\cellx3000\cellx8000 \pard\intbl Nut\cell "
    assert convert("a.rtf", first + inner + r"\row \pard\intbl Bolt\cell \pard\intbl none\cell\row}").content == (
        "| Nut | Prices: Size Price 10 mm 5 EUR each As of May |\n| --- | --- |\n| Bolt | none |"
    )
    framed = convert("a.rtf", r"{\rtf1\ansi\trowd\cellx8000 " + inner + r"\row \pard after\par}").content
    assert framed == "Prices:\n\n| Size | Price |\n| --- | --- |\n| 10 mm | 5 EUR each |\n\nAs of May\n\nafter"


def test_what_rtf_hides_is_no_text() -> None:
    hiding = (
        r"{\rtf1\ansi Seen{\v  secret {\b words}\u8364?\'e9\{}\v0  again.\par "
        r"\v1 run {\v0 but} run\plain , this too. {\deleted Gone}{\v\b0 x\par}\viewkind4\par}"
    )
    assert convert("a.rtf", hiding).content == "Seen again.\n\nbut, this too."


def test_rtf_table_around_text() -> None:
    rows = r"\trowd\cellx1\pard\intbl Dear Sir,\par we write.\cell\row\trowd\cellx1\pard\intbl\cell\row"
    text = r"{\rtf1" + rows + r"\pard End\par}"
    assert convert("a.rtf", text).content == "Dear Sir,\n\nwe write.\n\nEnd"


@pytest.mark.parametrize(
    ("label", "shown"),
    [
        (r"{\listtext\pard\plain 1.2\tab}", "1.2 Scope"),
        (r"{\listtext (a)\tab}", "(a) Scope"),
        (r"{\pntext\f1\'b7\tab}", "- Scope"),
        (r"{\listtext\f3 o\tab}", "- Scope"),  # Word's bullet of the second level
        (r"{\listtext\tab \bullet \tab}", "- Scope"),
        (r"{\listtext\tab}", "Scope"),
        (r"{\listtext 1.2\tab}\outlinelevel1", "## 1.2 Scope"),
        (r"\outlinelevel1{\listtext 1.2\tab}", "## 1.2 Scope"),
    ],
)
def test_rtf_numbers_and_bullets(label: str, shown: str) -> None:
    assert convert("a.rtf", r"{\rtf1\ansi\pard " + label + r"{Scope\par}\pard Text\par}").content == f"{shown}\n\nText"


def test_the_title_of_rtf_is_in_its_code_page() -> None:
    document = convert("a.rtf", r"{\rtf1\ansi\ansicpg1251{\info{\title \'cc\'e5\'f2\'ee\'e4}{\author \'df}}words\par}")
    assert (document.title, document.metadata["author"]) == ("Метод", "Я")


@pytest.mark.parametrize("start", [r"{\footnote", r"{\*\footnote", "{\\*\n\\footnote\\ftnalt"])
def test_rtf_footnotes(start: str) -> None:
    text = (
        r"{\rtf1\ansi\ansicpg1252{\pard\outlinelevel0 Heading\par}\pard First\chftn "
        + start
        + r"\pard\plain{\super\chftn} The \{note\} costs 3 \u8364?.\par And\line more \uc1\u8364} goes on"
        + r"{\super\chftn"
        + start
        + r" \chftn}}.\par{\trowd\intbl A\cell B"
        + start
        + r" In a table.}\cell\row\intbl 1\cell 2\cell\row}\pard The end.\par}"
    )
    document = convert("a.rtf", text)
    assert document.content == (
        "# Heading\n\nFirst[1] goes on.\n\n| A | B[2] |\n| --- | --- |\n| 1 | 2 |\n\nThe end.\n\n"
        "[1] The {note} costs 3 €. And more €\n\n[2] In a table."
    )
    assert document.title == "Heading"


# -- what can be wrong with a container ----------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["a.docx", "a.pptx", "a.xlsx", "a.odt", "a.epub"])
def test_containers_that_are_none(name: str) -> None:
    assert "despite its name" in reason(name, "these are only words")
    whole = zipped({"[Content_Types].xml": "<Types/>", "word/document.xml": "x" * 5000})
    assert "damaged" in reason(name, whole[: len(whole) // 2])
    assert "damaged" in reason(name, zipped({"unrelated.txt": "words"})) or name == "a.epub"


def test_old_and_encrypted_office_files() -> None:
    ole = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(1000)
    assert "old binary Office file" in reason("a.doc", ole)
    assert "old binary Office file" in reason("a.docx", ole)
    assert "an Outlook message; save it as .eml" in reason("a.msg", ole + "__substg1.0_".encode("utf-16-le"))
    assert "encrypted" in reason("a.docx", ole + "EncryptedPackage".encode("utf-16-le") + bytes(100))
    locked = bytearray(zipped({"content.xml": "<a/>"}))
    for position in (locked.find(b"PK\x03\x04") + 6, locked.find(b"PK\x01\x02") + 8):
        locked[position] |= 1
    assert "encrypted" in reason("a.odt", bytes(locked))
    manifest = "<manifest><file-entry><encryption-data/></file-entry></manifest>"
    assert "encrypted" in reason("a.odt", zipped({"META-INF/manifest.xml": manifest, "content.xml": "x"}))


def test_a_file_under_the_wrong_name_is_read_as_what_it_is() -> None:
    document = docx.Document()
    document.add_paragraph("Word text")
    assert convert("a.txt", saved(document)).content == "Word text"
    assert convert("noextension", saved(document)).content == "Word text"
    assert convert("a.xlsx", saved(document)).content == "Word text"
    assert convert("a.docx", "<html><body><p>web text</p></body></html>").content == "web text"
    assert convert("a.docx", r"{\rtf1 rich text}").content == "rich text"
