"""Characters of fonts of symbols, rows that begin further right, and dots at the beginning of lines."""

from __future__ import annotations

import io

import docx
import pptx
import pytest
from docx.oxml import parse_xml

from tests.dataloader.filetools import convert

SPACE = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'


def saved(file: docx.document.Document | pptx.presentation.Presentation) -> bytes:
    stream = io.BytesIO()
    file.save(stream)
    return stream.getvalue()


@pytest.mark.parametrize(
    ("font", "code", "shown"),
    [
        ("Symbol", "F0B3", "≥"),
        ("Symbol", "F06D", "μ"),
        ("Symbol", "B1", "±"),
        ("Wingdings", "F0E0", "→"),
        ("Wingdings", "F0FE", "☑"),
        ("Segoe UI Symbol", "2713", "✓"),
        ("Some Logos", "F041", ""),
        ("Symbol", "none", ""),
    ],
)
def test_symbols_of_word(font: str, code: str, shown: str) -> None:
    document = docx.Document()
    paragraph = document.add_paragraph("Level ")
    run = paragraph.add_run()
    run._r.append(parse_xml(f'<w:sym {SPACE} w:font="{font}" w:char="{code}"/>'))  # type: ignore[arg-type]
    paragraph.add_run(" 5 m")
    assert convert("a.docx", saved(document)).content == " ".join(f"Level {shown} 5 m".split())


@pytest.mark.parametrize(
    ("text", "font", "shown"),
    [
        ("\uf0b7", "Symbol", "•"),
        ("\u00b7", "Symbol", "•"),
        ("x\uf0b3 ", "Symbol", "x≥"),
        ("§", "Wingdings", "▪"),
        ("§", "Arial", "§"),
        ("naïve", "Symbol", "naïve"),
        ("\uf0b7", "Some Logos", "\uf0b7"),
    ],
)
def test_text_of_word_in_a_font_of_symbols(text: str, font: str, shown: str) -> None:
    document = docx.Document()
    document.add_paragraph("At ").add_run(text).font.name = font
    assert convert("a.docx", saved(document)).content == f"At {shown}"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (r"{\f3 a}{\f3\b b\i0 g} {\f1 a}", "αβγ a"),
        (r"{\f3\'b3} 5", "≥ 5"),
        (r"{\f3\u-3999 ?}", "α"),
        (r"{\f3\u-3987\'6d}", "μ"),
        (r"{\f4\'e0} {\f4\'01x}", "→ x"),
        (r"\f3 D\f0 x, \plain D", "Δx, D"),
        (r"{\f3\u956 m}", "μ"),
    ],
)
def test_symbols_of_rtf(text: str, shown: str) -> None:
    fonts = (
        r"{\fonttbl{\f0\fcharset0 Arial;}{\f1\fnil Symbolic;}{\f3\froman\fcharset2{\*\panose 0505}Symbol;}"
        r"{\f4\fnil Wingdings;}}"
    )
    assert convert("a.rtf", rf"{{\rtf1\ansi\deff0{fonts}Level {text}.\par}}").content == f"Level {shown}."


@pytest.mark.parametrize(
    ("text", "font", "shown"),
    [
        ("à", "Wingdings", "→"),
        ("\uf0b3 ", "Symbol", "≥ "),
        ("\uf0e0 further on", "Wingdings", "→ further on"),
        ("à la carte", "Wingdings", "à la carte"),
        ("é", "Arial", "é"),
    ],
)
def test_symbols_of_powerpoint(text: str, font: str, shown: str) -> None:
    deck = pptx.Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[5])
    paragraph = slide.shapes.add_textbox(0, 0, 9, 9).text_frame.paragraphs[0]
    paragraph.add_run().text = "Levels "
    run = paragraph.add_run()
    run.text = text
    space = "http://schemas.openxmlformats.org/drawingml/2006/main"
    run._r.get_or_add_rPr().append(parse_xml(f'<a:sym xmlns:a="{space}" typeface="{font}"/>'))
    paragraph.add_run().text = "!"
    assert convert("a.pptx", saved(deck)).content == f"## Slide 1\n\nLevels {shown}!"


def test_a_row_of_a_word_table_that_begins_further_right() -> None:
    document = docx.Document()
    table = document.add_table(2, 3)
    for place, cell in enumerate(table._cells):
        cell.text = f"cell{place}"
    row = table.rows[1]._tr
    row.remove(row.tc_lst[0])
    row.get_or_add_trPr().append(parse_xml(f'<w:gridBefore {SPACE} w:val="1"/>'))
    assert convert("a.docx", saved(document)).content.split("\n")[-1] == "|  | cell4 | cell5 |"


def test_a_line_of_a_paragraph_of_asciidoc_may_begin_with_a_dot() -> None:
    text = "= Mill\n\nSettings are in\n.millrc and\n.NET is not needed.\n\n.Gates\n|===\n|A |B\n\n|1 |2\n|===\n"
    assert convert("a.adoc", text).content == (
        "# Mill\n\nSettings are in\n.millrc and\n.NET is not needed.\n\n"
        "**Gates**\n\n| A | B |\n| --- | --- |\n| 1 | 2 |\n"
    )


def test_a_tag_of_nothing_in_a_manual_does_not_take_the_next_heading() -> None:
    text = ".TH mill 1\n.SH OPTIONS\n.TP\n.B \\-a\nAll.\n.TP\n.SH FILES\nNone.\n"
    assert convert("mill.1", text).content == "# mill(1)\n\n## OPTIONS\n\n-a\n: All.\n\n## FILES\n\nNone.\n"
