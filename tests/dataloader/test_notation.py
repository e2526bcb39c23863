"""What texts express by more than letters: powers, formulas, notes below the text, boxes that are ticked."""

from __future__ import annotations

import io
import json
import time
from typing import Any

import docx
import pptx
import pytest

from libs.dataloader.html import html_to_document
from tests.dataloader.filetools import convert, targets, unzipped, zipped

SPACE = "urn:oasis:names:tc:opendocument:xmlns:"
KATEX = (
    '<span class="katex"><span class="katex-mathml"><math xmlns="http://www.w3.org/1998/Math/MathML"><semantics><mrow>'
    "<mi>E</mi><mo>=</mo><mi>m</mi><msup><mi>c</mi><mn>2</mn></msup></mrow>"
    '<annotation encoding="application/x-tex">E = mc^2</annotation></semantics></math></span>'
    '<span class="katex-html" aria-hidden="true"><span class="mord">E</span><span class="mrel">=</span>'
    '<span class="mord">mc</span><span class="msupsub">2</span></span></span>'
)
MATHML = (
    "<mfrac><mn>2</mn><mn>3</mn></mfrac><mo>&#8290;</mo><msqrt><mn>2</mn><mi>g</mi></msqrt>"
    "<msup><mi>h</mi><mrow><mn>3</mn><mo>/</mo><mn>2</mn></mrow></msup>"
)


def opendocument(body: str) -> str:
    return (
        f'<o:document xmlns:o="{SPACE}office:1.0" xmlns:t="{SPACE}text:1.0" xmlns:s="{SPACE}style:1.0"'
        f' xmlns:d="{SPACE}drawing:1.0" xmlns:x="http://www.w3.org/1999/xlink"><o:automatic-styles>'
        '<s:style s:name="T1" s:family="text"><s:text-properties s:text-position="super 58%"/></s:style>'
        '<s:style s:name="T2" s:family="text"><s:text-properties s:text-position="-25% 58%"/></s:style>'
        f"</o:automatic-styles><o:body><o:text>{body}</o:text></o:body></o:document>"
    )


def presentation() -> bytes:
    slides = pptx.Presentation()
    slide = slides.slides.add_slide(slides.slide_layouts[5])
    slide.shapes.title.text = "Weights"
    paragraph = slide.shapes.add_textbox(0, 0, 100, 100).text_frame.paragraphs[0]
    for words, place in (("It weighs 10", None), ("6", "30000"), (" g of H", None), ("2", "-25000"), ("O.", None)):
        run = paragraph.add_run()
        run.text = words
        if place:
            run.font._element.set("baseline", place)
    stream = io.BytesIO()
    slides.save(stream)
    return stream.getvalue()


@pytest.mark.parametrize(
    ("name", "data"),
    [
        (
            "a.fodt",
            opendocument(
                '<t:p>It weighs 10<t:span t:style-name="T1">6</t:span>'
                ' g of H<t:span t:style-name="T2">2</t:span>O.</t:p>'
            ),
        ),
        ("a.rtf", r"{\rtf1\ansi It weighs 10{\super 6} g of H{\sub 2}O.\par}"),
        ("a.rtf", r"{\rtf1\ansi {It weighs 10}{\rtlch\fcs1 \af0 \super\insrsid7 6}{ g of H}{\sub 2}{O.}\par}"),
        ("a.tex", "\\section{Weights}\nIt weighs 10\\textsuperscript{6} g of H\\textsubscript{2}O.\n"),
        ("a.rst", "Weights\n=======\n\nIt weighs 10\\ :sup:`6` g of H\\ :sub:`2`\\ O.\n"),
        ("a.html", "<h1>Weights</h1><p>It weighs 10<sup>6</sup> g of H<sub>2</sub>O.</p>"),
        ("a.html", "<h1>Weights</h1><p>It weighs <b>10</b><sup>6</sup>\xa0g of H<sub>2</sub>O.</p>"),
        ("a.pptx", presentation()),
    ],
)
def test_a_raised_number_is_a_power(name: str, data: bytes | str) -> None:
    assert convert(name, data).content.strip().split("\n")[-1] == "It weighs 10^6 g of H2O."


def test_powers_in_cells_and_headings_of_a_page() -> None:
    page = html_to_document(
        "<h1>Area in m<sup>2</sup></h1><table><tr><th>Pond<sup><a href='#n'>1</a></sup><th>m<sup>2</sup></tr>"
        "<tr><td>upper<td>10<sup>4</sup></tr></table><p>The 1<sup>st</sup> of x<sup>n+1</sup>,"
        " <a href='big#m'>10<sup>6</sup></a>."
    )
    assert page.markdown == (
        "# Area in m^2\n\n| Pond | m^2 |\n| --- | --- |\n| upper | 10^4 |\n\nThe 1st of xn+1, 10^6."
    )


@pytest.mark.parametrize("text", [r"word{\super\chftn}.", r"1{\super st}.", r"\f0{\super 6} g"])
def test_other_raised_text_of_rtf_is_no_power(text: str) -> None:
    assert "^" not in convert("a.rtf", rf"{{\rtf1\ansi {text}\par}}").content


# -- formulas --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("formula", "shown"),
    [
        (KATEX, "$E = mc^2$"),
        (f"<math>{MATHML}</math>", "2/3√(2g)h^(3/2)"),
        ("<math alttext='{\\displaystyle x^{2}}'><mi>x</mi></math>", "$x^{2}$"),
        ("<math><msubsup><mi>a</mi><mi>n</mi><mn>2</mn></msubsup><mo>,</mo><mroot><mi>x</mi><mn>3</mn></mroot></math>",
         "a_n^2,3√(x)"),
        ("<math><mfenced separators='' open='['><mi>a</mi><mo>+</mo><mi>b</mi></mfenced></math>", "[a+b)"),
        ("<math><mfenced separators='|'><mi>a</mi><mi>b</mi></mfenced></math>", "(a|b)"),
        ("<math><mfenced><mi>a</mi><mi>b</mi></mfenced><mtable><mtr><mtd><mn>1</mn></mtd></mtr></mtable></math>",
         "(a, b)1"),
        ("<span class='MathJax_Preview'>…</span><span class='MathJax'>a2</span>"
         "<script type='math/tex'>a^2</script>", "$a^2$"),
        ("<span class='mwe-math-element'><span class='mwe-math-mathml-inline' style='display: none;'>"
         "<math alttext='x'><mi>x</mi></math></span>"
         "<img class='mwe-math-fallback-image-inline' alt='x'></span>", "$x$"),
    ],
)  # fmt: skip
def test_formulas_of_a_page_are_there_once(formula: str, shown: str) -> None:
    page = html_to_document(f"<h1>Flow</h1><p>We have {formula} here.</p>")
    assert page.markdown == f"# Flow\n\nWe have {shown} here."


def test_formulas_of_opendocument() -> None:
    frame = '<d:frame><d:object x:href="./Object 1" x:type="simple"/></d:frame>'
    parts = {
        "mimetype": "application/vnd.oasis.opendocument.text",
        "content.xml": opendocument(f"<t:p>The flow is {frame}, always.</t:p>"),
        "Object 1/content.xml": f'<math xmlns="http://www.w3.org/1998/Math/MathML">{MATHML}</math>',
    }
    assert convert("a.odt", zipped(parts)).content == "The flow is 2/3√(2g)h^(3/2), always."
    inside = f'<d:frame><d:object><m:math xmlns:m="http://www.w3.org/1998/Math/MathML"/></d:object></d:frame>{frame}'
    assert convert("a.fodt", opendocument(f"<t:p>None{inside}.</t:p>")).content == "None."


# -- notes -----------------------------------------------------------------------------------------------------------


def test_a_footnote_of_markdown_is_no_link() -> None:
    text = "It turns at the ebb.[^1] See [the dam][1].\n\n[^1]: Not at the flood.\n[1]: dam.md\n"
    assert targets(convert("a.md", text)) == ["file:///home/me/docs/dam.md"]
    notebook = {"cells": [{"cell_type": "markdown", "source": text}], "metadata": {}, "nbformat": 4}
    assert targets(convert("a.ipynb", json.dumps(notebook))) == ["file:///home/me/docs/dam.md"]


def test_a_footnote_of_restructured_text_may_begin_in_the_next_line() -> None:
    text = "Mill\n====\n\nIt turns. [1]_\n\n.. [1]\n   Not at the flood.\n\n   As Lane says.\n\nThe end.\n"
    assert (
        convert("a.rst", text).content == "# Mill\n\nIt turns. [1]\n\n[1] Not at the flood.\n\nAs Lane says.\nThe end."
    )


def test_paragraphs_of_a_footnote_of_opendocument_are_apart() -> None:
    note = "<t:note><t:note-body><t:p>At the ebb.</t:p><t:p>As Lane says.</t:p></t:note-body></t:note>"
    content = convert("a.fodt", opendocument(f"<t:p>It turns.{note}</t:p>")).content
    assert content == "It turns.[1]\n\n[1] At the ebb. As Lane says."


@pytest.mark.parametrize(
    ("mark", "back"),
    [
        ('<a href="#fn1" class="footnote-ref" role="doc-noteref"><sup>1</sup></a>',
         '<a href="#fnref1" role="doc-backlink">↩︎</a>'),
        ('<a href="ch1.xhtml#fn1" epub:type="noteref">1</a>', '<a href="#r">^</a>'),
        ('<sup><a href="#user-content-fn-1">1</a></sup>',
         '<a href="#user-content-fnref-1" data-footnote-backref>↩</a>'),
    ],
)  # fmt: skip
def test_marks_of_footnotes_are_no_text(mark: str, back: str) -> None:
    page = html_to_document(
        f"<h1>Mill</h1><p>It turns at the ebb{mark}.</p><ol><li><p>Not always. {back}</p></li></ol>"
    )
    assert page.markdown == "# Mill\n\nIt turns at the ebb.\n\n1. Not always."


# -- boxes -----------------------------------------------------------------------------------------------------------


def test_boxes_of_lists_of_tasks() -> None:
    page = html_to_document(
        "<h1>Tasks</h1><ul><li><input type=checkbox checked disabled> Oil the gate</li>"
        "<li><p><label><input type=checkbox> Check the wheel</label></p></li>"
        "<li>Say <input type=checkbox> yes</li></ul><p><input type=checkbox checked> Accept</p>"
    )
    assert page.markdown == "# Tasks\n\n- [x] Oil the gate\n- [ ] Check the wheel\n- Say yes\n\nAccept"


def test_boxes_and_blanks_as_bullets_of_word() -> None:
    document = docx.Document()
    for words in ("done", "open", "more of it", "plain"):
        document.add_paragraph(words)
    stream = io.BytesIO()
    document.save(stream)
    data: dict[str, Any] = unzipped(stream.getvalue())
    space = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
    bullets = {"done": "☒", "open": "☐", "more of it": " ", "plain": "•"}
    lists = numbers = ""
    xml = data["word/document.xml"].decode()
    for number, (words, bullet) in enumerate(bullets.items(), 1):
        lists += (
            f"<w:abstractNum w:abstractNumId='{number}'><w:lvl w:ilvl='0'><w:numFmt w:val='bullet'/>"
            f"<w:lvlText w:val='{bullet}'/></w:lvl></w:abstractNum>"
        )
        numbers += f"<w:num w:numId='{number}'><w:abstractNumId w:val='{number}'/></w:num>"
        properties = f"<w:pPr><w:numPr><w:ilvl w:val='0'/><w:numId w:val='{number}'/></w:numPr></w:pPr>"
        xml = xml.replace(f"<w:p><w:r><w:t>{words}<", f"<w:p>{properties}<w:r><w:t>{words}<")
    data["word/document.xml"] = xml.encode()
    data["word/numbering.xml"] = f"<w:numbering xmlns:w='{space}'>{lists}{numbers}</w:numbering>".encode()
    assert convert("a.docx", zipped(data)).content == "- ☒ done\n- ☐ open\n\nmore of it\n\n- plain"


# -- pictures and authors --------------------------------------------------------------------------------------------


def test_what_a_picture_shows_is_said_once() -> None:
    figure = '<figure><img src="m.png" alt="The mill in 1890"><figcaption>The mill in 1890</figcaption></figure>'
    assert html_to_document(f"<h1>Mill</h1>{figure}<p>It turns.</p>").markdown == (
        "# Mill\n\nThe mill in 1890\n\nIt turns."
    )
    text = "Mill\n====\n\n.. figure:: m.png\n   :alt: The mill in 1890\n\n   The mill in 1890\n\nIt turns.\n"
    assert convert("a.rst", text).content == "# Mill\n\nThe mill in 1890\n\nIt turns."


def test_several_authors() -> None:
    page = html_to_document("<meta name=author content='Ada Lane'><meta name=author content='Bo Ferris'><p>Text")
    assert page.metadata["author"] == ["Ada Lane", "Bo Ferris"]
    assert convert("a.rst", "Mill\n====\n\n:Author: Ada Lane\n:Author: Bo Ferris\n\nText\n").metadata == {
        "author": "Ada Lane; Bo Ferris"
    }
    text = "= Mill\nAda Lane <ada@example.org>; Bo Ferris\nv1.2, 2024-03-05: first\n\nText\n"
    document = convert("a.adoc", text)
    assert document.metadata == {"author": "Ada Lane; Bo Ferris", "created": "2024-03-05"}
    assert "author" not in convert("a.adoc", "= Mill\nIt turns at the ebb, and that is all.\n").metadata


def test_figures_of_thousands_of_images_and_captions_are_read_at_once() -> None:
    begun = time.process_time()
    images, captions = "<img alt='A map of Ulm'>" * 3000, "<figcaption>A map of Bonn</figcaption>" * 3000
    html_to_document(f"<main><p>Text.</p><figure>{images}{captions}</figure></main>")
    assert time.process_time() - begun < 5


def test_a_formula_that_is_there_for_the_eye_only_is_text() -> None:
    page = (
        "<p>So <span class='katex'><span class='katex-html' aria-hidden='true'><b>E</b>=<b>m</b></span></span> holds."
    )
    assert html_to_document(page).markdown == "So E=m holds."
