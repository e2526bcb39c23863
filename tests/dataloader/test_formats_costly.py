"""Small files that cost much time or memory if every part of them is looked at for every other: each is read soon."""

from __future__ import annotations

import io
import time
import tracemalloc

import docx
import openpyxl
import pptx
import pytest
from pptx.chart.data import CategoryChartData
from pptx.enum.chart import XL_CHART_TYPE

from core.rag.indexing.splitting.splitter import TextSplitter
from tests.dataloader.filetools import convert, unzipped, zipped

SHEET = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
BLANKS = " " * 40_000

TEXTS = {
    "a.adoc": ("= T\n\n=" + BLANKS + "x" * 400 + "\n", "= T\n\n[," + "a" * 40_000 + "\n"),
    "a.md": (
        f"# T\n\na|b\n-|-{BLANKS}x\n",
        f"# T\n\n-{BLANKS}x|y\n",
        f"[a]:{BLANKS}\n\nx\n",
        f"a::{BLANKS}\nx\n",
        "http://a" + ")" * 60_000 + "\n",
    ),
    "a.tex": (f"\\section{{A}}\n\\newcommand{BLANKS}x\n",),
    "a.1": (".TH A 1\n.SH N\n" + "\\f[" * 40_000 + "\n", ".TH A 1\n.SH N\n" + "\\*[a" * 20_000 + "\n"),
    "a.html": ("<html><body><p>" + "<h1>a" * 10_000,),
    "a.rtf": (f"{{\\rtf1 {{\\title{BLANKS}{{ x}}}} words}}",),
    "a.rst": ("T\n===\n\n" + "+---+\n" * 6_000, "T\n===\n\n+" + "-+" * 6_000 + "\n" + "+---\n" * 6_000),
    "a.xml": (
        f"<article article-type='x'><sec><title>a</title><x>{'<label/>' * 30_000}</x></sec></article>",
        f"<article article-type='x'><sec><p>a</p><tex-math>\\begin{{document}}{BLANKS}x</tex-math></sec></article>",
    ),
}


def soon(name: str, data: bytes | str) -> str:
    begun = time.process_time()
    document = convert(name, data)
    TextSplitter(256, 32).split(document)
    assert time.process_time() - begun < 5
    return document.content


@pytest.mark.parametrize(("name", "text"), [(name, text) for name, texts in TEXTS.items() for text in texts])
def test_texts(name: str, text: str) -> None:
    assert soon(name, text)


def test_a_table_of_a_billion_columns() -> None:
    tracemalloc.start()
    soon("a.adoc", '= T\n\n[cols="900000000*"]\n|===\n|a |b\n|===\n')
    assert tracemalloc.get_traced_memory()[1] < 50_000_000
    tracemalloc.stop()


def workbook(rows: str, behind: str = "", styles: str = "") -> dict[str, bytes]:
    stream = io.BytesIO()
    book = openpyxl.Workbook()
    book.active["A1"] = "x"
    book.save(stream)
    parts = unzipped(stream.getvalue())
    sheet = f"<worksheet xmlns='{SHEET}'><sheetData>{rows}</sheetData>{behind}</worksheet>"
    parts["xl/worksheets/sheet1.xml"] = sheet.encode()
    if styles:
        parts["xl/styles.xml"] = f"<styleSheet xmlns='{SHEET}'>{styles}</styleSheet>".encode()
    return parts


def cell(column: int, row: int, text: str) -> str:
    letters = ""
    while column:
        column, rest = divmod(column - 1, 26)
        letters = chr(65 + rest) + letters
    return f"<c r='{letters}{row}' t='inlineStr'><is><t>{text}</t></is></c>"


def test_many_tables_side_by_side() -> None:
    def row(number: int) -> str:
        left = number % 3000 * 3 + 1
        return f"<row r='{number}'>{cell(left, number, 'a')}{cell(left + 1, number, 'b')}</row>"

    soon("a.xlsx", zipped(workbook("".join(map(row, range(1, 6001))))))


def test_cells_that_are_merged_again_and_again() -> None:
    rows = "".join(f"<row r='{row}'>{''.join(cell(c, row, 'n') for c in range(1, 2001))}</row>" for row in (1, 2, 3))
    merged = f"<mergeCells>{'<mergeCell ref="A1:BXX1"/>' * 3000}</mergeCells>"
    soon("a.xlsx", zipped(workbook(rows, merged)))


def test_a_sheet_that_is_named_thousands_of_times() -> None:
    parts = workbook("<row/>" * 2000 + f"<row r='3000'>{cell(1, 3000, 'end')}</row>")
    book = parts["xl/workbook.xml"].decode()
    start = book.index("<sheet ")
    one = book[start : book.index("/>", start) + 2]
    parts["xl/workbook.xml"] = book.replace(one, one * 3000).encode()
    assert soon("a.xlsx", zipped(parts)) == "end"


def test_the_format_of_a_number_may_be_long() -> None:
    code = "[$a-" * 30_000
    styles = f"<numFmts><numFmt numFmtId='200' formatCode='{code}'/></numFmts><cellXfs><xf numFmtId='200'/></cellXfs>"
    assert soon("a.xlsx", zipped(workbook("<row r='1'><c r='A1'><v>7</v></c></row>", styles=styles))) == "7"


def test_charts_that_are_shown_thousands_of_times() -> None:
    data = CategoryChartData()
    data.categories = [f"c{number}" for number in range(100)]
    data.add_series("s", [1] * 100)
    deck = pptx.Presentation()
    deck.slides.add_slide(deck.slide_layouts[5]).shapes.add_chart(XL_CHART_TYPE.LINE, 0, 0, 9, 9, data)
    stream = io.BytesIO()
    deck.save(stream)
    parts = unzipped(stream.getvalue())
    slide = parts["ppt/slides/slide1.xml"].decode()
    frame = slide[slide.index("<p:graphicFrame>") : slide.index("</p:graphicFrame>") + len("</p:graphicFrame>")]
    parts["ppt/slides/slide1.xml"] = slide.replace(frame, frame * 3000).encode()
    assert soon("a.pptx", zipped(parts)).count("| c99 |") == 10

    written = docx.Document()
    written.add_paragraph("HERE")
    stream = io.BytesIO()
    written.save(stream)
    page = unzipped(stream.getvalue())
    office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    chart = f"<c:chart xmlns:c='urn:c' xmlns:r='{office}' r:id='chart'/>"
    body = page["word/document.xml"].decode().replace("<w:t>HERE</w:t>", f"<w:t>Charts</w:t>{chart * 3000}")
    relation = f"<Relationship Id='chart' Type='{office}/chart' Target='chart.xml'/></Relationships>"
    relations = page["word/_rels/document.xml.rels"].decode().replace("</Relationships>", relation)
    found = next(part for name, part in parts.items() if name.startswith("ppt/charts/chart"))
    page |= {"word/document.xml": body.encode(), "word/_rels/document.xml.rels": relations.encode()}
    assert soon("a.docx", zipped({**page, "word/chart.xml": found})).count("| c99 |") == 10
