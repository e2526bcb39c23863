"""Tables of PDFs are read as tables where rules or tags tell their cells, and what only looks like one stays text."""

from __future__ import annotations

import io
import re
from collections import Counter
from collections.abc import Sequence
from itertools import chain
from typing import Any

import pytest

from core.rag import TextSplitter
from tests.dataloader.filetools import convert
from tests.dataloader.pdftables import tables

pytest.importorskip("reportlab")

ROWS = [
    ["Town", "Founded", "People"],
    ["Oxford", "912", "162,100"],
    ["Rome", "-753", "2,748,000"],
    ["Ulm", "854", "128,900"],
]
WIDTHS = [90, 80, 90]


class Sheet:
    """Draws tables and lines from the top of a page to its foot."""

    def __init__(self) -> None:
        from reportlab.pdfgen.canvas import Canvas

        self.stream = io.BytesIO()
        self.canvas = Canvas(self.stream, pagesize=(600, 800), pageCompression=0)
        self.y = 760.0

    def write(self, *lines: str, size: float = 10, x: float = 72) -> None:
        self.canvas.setFont("Helvetica", size)
        for line in lines:
            self.y -= 1.4 * size
            self.canvas.drawString(x, self.y, line)
        self.y -= size

    def words(self, x: float, top: float, text: str) -> None:
        """The words of a cell, one line each."""
        self.canvas.setFont("Helvetica", 10)
        for number, line in enumerate(text.split("\n")):
            self.canvas.drawString(x + 4, top - 12 - 12 * number, line)

    def table(self, rows: Sequence[Sequence[str | None]], widths: Sequence[float], *, height: float = 18) -> None:
        """A ruled table; ``None`` continues the cell on its left, a cell ``"^"`` the one above."""
        xs = [72 + sum(widths[:column]) for column in range(len(widths) + 1)]
        for number, row in enumerate(rows):
            lines = max(text.count("\n") + 1 for text in row if text is not None)
            low = self.y - height - 12 * (lines - 1)
            for column, text in enumerate(row):
                if text != "^":
                    self.canvas.line(xs[column], self.y, xs[column + 1], self.y)
                if text is not None:
                    self.canvas.line(xs[column], self.y, xs[column], low)
                    self.words(xs[column], self.y, "" if text == "^" else text)
            self.canvas.line(xs[-1], self.y, xs[-1], low)
            self.y = low
            if number == len(rows) - 1:
                self.canvas.line(xs[0], self.y, xs[-1], self.y)
        self.y -= 10

    def turn(self) -> None:
        self.canvas.showPage()
        self.y = 760.0

    def file(self) -> bytes:
        self.canvas.showPage()
        self.canvas.save()
        return self.stream.getvalue()


def test_a_ruled_table_is_a_table_between_the_paragraphs_around_it() -> None:
    sheet = Sheet()
    sheet.write("Some towns are old, and some are large.")
    sheet.table(ROWS, WIDTHS)
    sheet.write("The numbers are of 2021.")
    document = convert("a.pdf", sheet.file())
    assert document.content == (
        "Some towns are old, and some are large.\n\n"
        "| Town | Founded | People |\n| --- | --- | --- |\n| Oxford | 912 | 162,100 |\n| Rome | -753 | 2,748,000 |\n"
        "| Ulm | 854 | 128,900 |\n\nThe numbers are of 2021."
    )
    assert document.format == "markdown"


def test_every_chunk_of_a_long_table_knows_its_header() -> None:
    sheet = Sheet()
    sheet.table([ROWS[0], *([f"Town {number}", "1200", f"{number},000"] for number in range(35))], WIDTHS)
    chunks = TextSplitter(80, 0).split(convert("a.pdf", sheet.file()))
    assert len(chunks) > 3
    assert {chunk.metadata.get("table_header") for chunk in chunks[1:]} == {"| Town | Founded | People |"}


def test_lines_of_a_cell_are_joined_and_spans_are_those_of_other_formats() -> None:
    sheet = Sheet()
    sheet.table(
        [
            ["Region", "Income", None],
            ["^", "2019", "2020"],
            ["North\nand west", "1.5", "1.7"],
            ["^", "2.5", "2.7"],
            ["South", "3.5", "3.7"],
        ],
        [120, 70, 70],
    )
    assert tables(convert("a.pdf", sheet.file()).content) == [
        [
            ["Region", "Income 2019", "Income 2020"],
            ["North and west", "1.5", "1.7"],
            ["North and west", "2.5", "2.7"],
            ["South", "3.5", "3.7"],
        ]
    ]


def test_a_title_above_all_columns_is_a_line_of_its_own() -> None:
    sheet = Sheet()
    sheet.table([["Towns of Europe", None, None], *ROWS], WIDTHS)
    content = convert("a.pdf", sheet.file()).content
    assert content.startswith("Towns of Europe\n\n| Town |")
    assert tables(content) == [ROWS]


def test_a_line_above_the_same_names_again_begins_a_table() -> None:
    sheet = Sheet()
    sheet.table([*ROWS[:2], ["In Germany", None, None], ROWS[0], ROWS[3]], WIDTHS)
    content = convert("a.pdf", sheet.file()).content
    assert tables(content) == [ROWS[:2], [ROWS[0], ROWS[3]]]
    assert "\n\nIn Germany\n\n| Town |" in content


def test_rows_without_rules_between_them_are_rows() -> None:
    sheet = Sheet()
    sheet.table([ROWS[0], ["\n".join(column) for column in zip(*ROWS[1:], strict=True)]], WIDTHS)
    assert tables(convert("a.pdf", sheet.file()).content) == [ROWS]


@pytest.mark.parametrize("drawn", ["boxes", "bars", "one path", "form"])
def test_however_the_rules_are_drawn(drawn: str) -> None:
    sheet = Sheet()
    canvas = sheet.canvas
    places = [(72 + 100 * column, 700 - 20 * row) for row in range(4) for column in range(3)]
    if drawn == "form":
        canvas.beginForm("rules")
    path = canvas.beginPath()
    for x, y in places:
        if drawn == "bars":
            for box in ((x, y, 100, 0.7), (x, y - 20, 100, 0.7), (x, y - 20, 0.7, 20), (x + 100, y - 20, 0.7, 20)):
                canvas.rect(*box, stroke=0, fill=1)
        elif drawn == "one path":
            path.rect(x, y - 20, 100, 20)
        else:
            canvas.rect(x, y - 20, 100, 20)
    canvas.drawPath(path)
    if drawn == "form":
        canvas.endForm()
        canvas.doForm("rules")
    for (x, y), cell in zip(places, chain.from_iterable(ROWS), strict=True):
        sheet.words(x, y, cell)
    assert tables(convert("a.pdf", sheet.file()).content) == [ROWS]


def test_coloured_cells_are_cells() -> None:
    sheet = Sheet()
    for row, cells in enumerate(ROWS):
        for column, cell in enumerate(cells):
            sheet.canvas.setFillGray(0.9 if row % 2 else 0.8)
            sheet.canvas.rect(72 + 101 * column, 680 - 21 * row, 100, 20, stroke=0, fill=1)
            sheet.canvas.setFillGray(0)
            sheet.words(72 + 101 * column, 700 - 21 * row, cell)
    assert tables(convert("a.pdf", sheet.file()).content) == [ROWS]


@pytest.mark.parametrize("gap", [0, 1])
def test_a_table_without_a_frame_at_its_sides(gap: int) -> None:
    sheet = Sheet()
    for row in range(5):
        sheet.canvas.line(72, 700 - 20 * row, 372, 700 - 20 * row)
    for x in (172, 272):
        sheet.canvas.line(x, 700 - gap, x, 620 + gap)
    for row, cells in enumerate(ROWS):
        for column, cell in enumerate(cells):
            sheet.words(72 + 100 * column, 700 - 20 * row, cell)
    assert tables(convert("a.pdf", sheet.file()).content) == [ROWS]


def test_numbers_close_together_are_in_their_cells() -> None:
    sheet = Sheet()
    sheet.table([["A", "B"], ["1", "2"]], [40, 40])
    sheet.canvas.drawRightString(111.8, sheet.y + 4, "")
    top = sheet.y
    for x in (72, 112, 152):
        sheet.canvas.line(x, top, x, top - 40)
    for y in (top, top - 20, top - 40):
        sheet.canvas.line(72, y, 152, y)
    for y, left, right in ((top, "Sold", "Left"), (top - 20, "123", "456")):
        sheet.canvas.drawRightString(111.5, y - 12, left)
        sheet.canvas.drawString(112.5, y - 12, right)
    assert tables(convert("a.pdf", sheet.file()).content)[1] == [["Sold", "Left"], ["123", "456"]]


@pytest.mark.parametrize("angle", [90, 270])
def test_a_table_whose_words_run_up_or_down(angle: int) -> None:
    sheet = Sheet()
    sheet.canvas.translate(*((800, 0) if angle == 90 else (-150, 800)))
    sheet.canvas.rotate(angle)
    sheet.table(ROWS, WIDTHS)
    assert tables(convert("a.pdf", sheet.file()).content) == [ROWS]


def test_a_table_that_goes_on_has_its_header_again() -> None:
    sheet = Sheet()
    sheet.write("The towns")
    sheet.table(ROWS[:3], WIDTHS)
    sheet.canvas.drawString(300, 30, "Page 1")
    sheet.turn()
    sheet.table([ROWS[3], ["Bath", "60", "94,000"]], WIDTHS)
    sheet.canvas.drawString(300, 30, "Page 2")
    sheet.turn()
    sheet.table([["Sea", "Area", "Depth"], ["Black", "436", "1,253"]], WIDTHS)
    document = convert("a.pdf", sheet.file())
    assert tables(document.content) == [
        ROWS[:3],
        [ROWS[0], ROWS[3], ["Bath", "60", "94,000"]],
        [["Sea", "Area", "Depth"], ["Black", "436", "1,253"]],
    ]


def test_a_title_that_is_drawn_last_is_not_below_the_table() -> None:
    sheet = Sheet()
    sheet.table(ROWS[:3], WIDTHS)
    sheet.canvas.drawString(72, 780, "The towns")
    sheet.turn()
    sheet.table([ROWS[3]] * 2, WIDTHS)
    assert tables(convert("a.pdf", sheet.file()).content)[1] == [ROWS[0], ROWS[3], ROWS[3]]


def test_a_table_below_other_words_does_not_go_on() -> None:
    sheet = Sheet()
    sheet.table(ROWS[:3], WIDTHS)
    sheet.turn()
    sheet.write("Other towns have no names.")
    sheet.table([["1", "2", "3"], ["4", "5", "6"]], WIDTHS)
    assert tables(convert("a.pdf", sheet.file()).content)[1] == [["1", "2", "3"], ["4", "5", "6"]]


def test_headings_stay_headings() -> None:
    sheet = Sheet()
    sheet.write("The towns", size=20)
    sheet.write("Their people are counted every ten years, and their names are as old as they are.", "That is so.")
    sheet.canvas.setFont("Helvetica", 16)
    sheet.table(ROWS, WIDTHS)
    document = convert("a.pdf", sheet.file())
    assert document.content.startswith("# The towns\n\n")
    assert document.title == "The towns"


def frame(sheet: Sheet) -> None:
    """A box around two columns of text, each as long as a page."""
    text = "\n".join(["All of this is text in a box, which is no cell, and it goes on and on"] * 16)
    sheet.table([["Left", "Right"], [text, text]], [340, 340])


def form(sheet: Sheet) -> None:
    """Boxes of all sizes, to be filled in."""
    sheet.table([["First name", None, None, "Last name", None], ["Street", None, "Town", None, "Code"]], [80] * 5)


def letter_over_a_rule(sheet: Sheet) -> None:
    sheet.table([["One", "Two"], ["a very long text over the rule", ""], ["x", "y"]], [60, 60])


def chart(sheet: Sheet) -> None:
    """Bars beside each other, with their heights in them."""
    for column in range(4):
        for part, height in enumerate((40 + 7 * column, 60 - 9 * column, 20 + 5 * column)):
            below = sum((40 + 7 * column, 60 - 9 * column, 20 + 5 * column)[:part])
            sheet.canvas.rect(72 + 40 * column, 500 + below, 40, height)
            sheet.words(72 + 40 * column, 500 + below + height, str(height))


def upside_down(sheet: Sheet) -> None:
    sheet.canvas.translate(600, 800)
    sheet.canvas.rotate(180)
    sheet.table(ROWS, WIDTHS)


def boxes_apart(sheet: Sheet) -> None:
    for x, y, words in ((72, 700, "Read"), (272, 700, "Split"), (72, 600, "Embed"), (272, 600, "Store")):
        sheet.canvas.rect(x, y, 100, 40)
        sheet.words(x, y + 40, words)


def half_filled(sheet: Sheet) -> None:
    sheet.table([["", "House"], ["City", ""]], [100, 100])


def table_in_a_cell(sheet: Sheet) -> None:
    sheet.table([["Note", "\n".join(f"Kind {n} {n}.50" for n in range(9))], ["", "Sum 99.50"]], [80, 120])


@pytest.mark.parametrize(
    "draw",
    [frame, form, letter_over_a_rule, chart, upside_down, boxes_apart, half_filled, table_in_a_cell],
)
def test_what_only_looks_like_a_table_is_text(draw: Any) -> None:
    sheet = Sheet()
    sheet.write("Some words before.")
    draw(sheet)
    document = convert("a.pdf", sheet.file())
    assert "|" not in document.content
    assert document.content.startswith("Some words before.") or draw is upside_down


def lines_and_cells(content: str) -> Counter[str]:
    return Counter(re.findall(r"[^\s|]+", re.sub(r"^\|(?: --- \|)+$", "", content, flags=re.MULTILINE)))


def test_no_word_is_lost_or_invented() -> None:
    sheet = Sheet()
    sheet.write("Before the table | with a bar.")
    sheet.table([*ROWS, ["a|b", "", "exam-\nple"]], WIDTHS)
    sheet.canvas.drawString(400, 700, "Beside the table")
    sheet.write("After it.")
    words = [
        "Before",
        "the",
        "table",
        "with",
        "a",
        "bar.",
        "Beside",
        "the",
        "table",
        "After",
        "it.",
        "a\\",
        "b",
        "example",
    ]
    assert lines_and_cells(convert("a.pdf", sheet.file()).content) == Counter([*words, *chain.from_iterable(ROWS)])


@pytest.mark.parametrize("kind", ["lines", "steps", "forms"])
def test_on_a_page_with_very_many_paths_no_table_is_looked_for(kind: str) -> None:
    sheet = Sheet()
    sheet.table(ROWS, WIDTHS)
    if kind == "lines":
        for number in range(31_000):
            sheet.canvas.line(60 + number % 400, 60, 90 + number % 400, 70)
    elif kind == "steps":
        path = sheet.canvas.beginPath()
        path.moveTo(60, 60)
        for number in range(21_000):
            path.lineTo(60 + (number + 1) // 2 % 400, 60 + number // 2 % 400)
        sheet.canvas.drawPath(path)
    else:
        for depth in range(4):
            sheet.canvas.beginForm(f"f{depth}")
            for _ in range(35 if depth else 0):
                sheet.canvas.doForm(f"f{depth - 1}")
            sheet.canvas.rect(10, 10, 50, 50)
            sheet.canvas.endForm()
        sheet.canvas.doForm("f3")
    content = convert("a.pdf", sheet.file()).content
    assert "|" not in content
    assert "Oxford 912 162,100" in content


def test_a_form_is_lines_also_where_it_goes_on() -> None:
    rows = [["Supplier", "Molen B.V."], ["Contact person", "Pieter"], ["Phone", "+31 10 555 01 01"]]
    more = [["Sails", "six weeks"], ["Gears", "two years"]]
    sheet = Sheet()
    sheet.write("The suppliers")
    sheet.table(rows, [120, 200])
    sheet.turn()
    sheet.table(more, [120, 200])
    content = convert("a.pdf", sheet.file()).content
    assert tables(content) == []
    assert "Supplier: Molen B.V.\nContact person: Pieter\nPhone: +31 10 555 01 01" in content
    assert "Sails: six weeks\nGears: two years" in content
    sheet = Sheet()
    sheet.table(more, [120, 200])
    assert tables(convert("a.pdf", sheet.file()).content) == [more]
