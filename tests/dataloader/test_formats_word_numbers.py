"""The numbers of paragraphs in Word documents, where lists share a definition, begin anew, or are told by styles."""

from __future__ import annotations

import io

import docx

from tests.dataloader.filetools import convert, unzipped, zipped

SPACE = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
LEVELS = "".join(
    f"<w:lvl w:ilvl='{level}'><w:start w:val='1'/><w:numFmt w:val='decimal'/><w:lvlText w:val='{text}'/></w:lvl>"
    for level, text in enumerate(("%1.", "%1.%2."))
)
DEFINITION = f"<w:abstractNum w:abstractNumId='7'>{LEVELS}</w:abstractNum>"


def paragraph(words: str, number: str = "", style: str = "") -> str:
    style = f"<w:pStyle w:val='{style}'/>" if style else ""
    number = f"<w:numPr>{number}</w:numPr>" if number else ""
    return f"<w:p><w:pPr>{style}{number}</w:pPr><w:r><w:t>{words}</w:t></w:r></w:p>"


def item(words: str, key: int, level: int = 0) -> str:
    return paragraph(words, f"<w:ilvl w:val='{level}'/><w:numId w:val='{key}'/>")


def made(body: str, numbering: str, styles: str = "") -> list[str]:
    stream = io.BytesIO()
    docx.Document().save(stream)
    parts = unzipped(stream.getvalue())
    parts["word/document.xml"] = f"<w:document xmlns:w='{SPACE}'><w:body>{body}</w:body></w:document>".encode()
    parts["word/numbering.xml"] = f"<w:numbering xmlns:w='{SPACE}'>{numbering}</w:numbering>".encode()
    parts["word/styles.xml"] = f"<w:styles xmlns:w='{SPACE}'>{styles}</w:styles>".encode()
    return [line for line in convert("lease.docx", zipped(parts)).content.split("\n") if line]


def test_lists_of_one_definition_go_on_and_begin_anew_only_where_they_say_so() -> None:
    numbering = (
        f"{DEFINITION}<w:num w:numId='1'><w:abstractNumId w:val='7'/></w:num>"
        "<w:num w:numId='2'><w:abstractNumId w:val='7'/></w:num>"
        "<w:num w:numId='3'><w:abstractNumId w:val='7'/>"
        "<w:lvlOverride w:ilvl='0'><w:startOverride w:val='5'/></w:lvlOverride></w:num>"
        "<w:num w:numId='4'><w:abstractNumId w:val='7'/><w:lvlOverride w:ilvl='1'><w:lvl w:ilvl='1'>"
        "<w:start w:val='1'/><w:numFmt w:val='lowerLetter'/><w:lvlText w:val='%2)'/></w:lvl></w:lvlOverride></w:num>"
    )
    body = item("Rent", 1) + item("Costs", 2) + item("Heating", 2, 1) + item("Annex", 3) + item("Keys", 3)
    assert made(f"{body}{item('Bell', 4, 1)}{item('End', 1)}", numbering) == [
        *("1. Rent", "2. Costs", "  2.1. Heating", "5. Annex", "6. Keys", "  a) Bell", "7. End")
    ]


def test_numbers_of_a_style_of_lists_and_levels_that_styles_tell_without_the_list() -> None:
    numbering = (
        f"{DEFINITION}<w:abstractNum w:abstractNumId='8'><w:numStyleLink w:val='Articles'/></w:abstractNum>"
        "<w:num w:numId='1'><w:abstractNumId w:val='7'/></w:num><w:num w:numId='2'><w:abstractNumId w:val='8'/></w:num>"
    )
    styles = (
        "<w:style w:type='numbering' w:styleId='Articles'><w:name w:val='Articles'/>"
        "<w:pPr><w:numPr><w:numId w:val='1'/></w:numPr></w:pPr></w:style>"
        "<w:style w:styleId='H1'><w:name w:val='heading 1'/>"
        "<w:pPr><w:numPr><w:numId w:val='2'/></w:numPr></w:pPr></w:style>"
        "<w:style w:styleId='H2'><w:name w:val='heading 2'/><w:basedOn w:val='H1'/>"
        "<w:pPr><w:numPr><w:ilvl w:val='1'/></w:numPr></w:pPr></w:style>"
    )
    body = "".join(paragraph(words, style=style) for words, style in (("Rent", "H1"), ("Due", "H2"), ("Costs", "H1")))
    assert made(body, numbering, styles) == ["# 1. Rent", "## 1.1. Due", "# 2. Costs"]
