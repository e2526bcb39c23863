"""Tables of PDFs with rules above, below and under the names of their columns only, as articles have them."""

from __future__ import annotations

import io
import re
from collections import Counter
from collections.abc import Sequence

import pytest

from tests.dataloader.filetools import convert
from tests.dataloader.pdftables import tables
from tests.growth import check_growth

pytest.importorskip("reportlab")

XS = (76, 150, 210, 260)
ROWS = (("Model", "Size", "dev", "test"), ("small one", "12", "0.71", "0.70"), ("middle", "40", "0.80", "0.79"))


class Page:
    """Draws lines of words and rules from the top of a page to its foot."""

    def __init__(self) -> None:
        from reportlab.pdfgen.canvas import Canvas

        self.stream = io.BytesIO()
        self.canvas = Canvas(self.stream, pagesize=(600, 800), pageCompression=0)
        self.canvas.setFont("Times-Roman", 10)
        self.y = 760.0

    def line(self, *cells: str, xs: Sequence[float] = XS) -> None:
        self.y -= 12
        for x, cell in zip(xs, cells, strict=False):
            self.canvas.drawString(x, self.y, cell)

    def rule(self, left: float = 72, right: float = 300) -> None:
        self.canvas.line(left, self.y - 4, right, self.y - 4)
        self.y -= 4

    def table(self, rows: Sequence[Sequence[str]], *, names: int = 1, xs: Sequence[float] = XS) -> None:
        self.rule()
        for number, row in enumerate(rows, 1):
            self.line(*row, xs=xs)
            if number in (names, len(rows)):
                self.rule()
        self.y -= 10

    def text(self) -> str:
        self.canvas.save()
        return convert("a.pdf", self.stream.getvalue()).content


def test_a_table_of_an_article_has_the_names_of_its_columns() -> None:
    page = Page()
    page.line("Table 1: What the models reach on both sets of questions, in parts of one.")
    page.table(ROWS)
    page.line("As the table says, the middle one is better, at more than three times the size.")
    content = page.text()
    assert tables(content) == [list(map(list, ROWS))]
    assert content.startswith("Table 1: What") and content.rstrip().endswith("at more than three times the size.")


@pytest.mark.parametrize("is_ruled", [True, False])
def test_names_of_groups_of_columns_are_part_of_their_names(is_ruled: bool) -> None:
    page = Page()
    page.rule()
    page.line("Part answered", xs=(212,))
    if is_ruled:
        page.rule(210, 290)
    page.line(*ROWS[0])
    page.rule()
    for row in ROWS[1:]:
        page.line(*row)
    page.rule()
    assert tables(page.text())[0][0] == ["Model", "Size", "Part answered dev", "Part answered test"]


def test_two_tables_of_one_width_are_two_and_rules_between_rows_end_none() -> None:
    page = Page()
    page.table(ROWS)
    page.line("Between the tables is a paragraph that runs over the width of both.")
    page.line("It goes on in a second line, which has no columns either.")
    page.table([*ROWS[:2], ROWS[2]], names=2)
    page.rule()
    first, *others = tables(page.text())
    assert first == list(map(list, ROWS))
    assert all("paragraph" not in " ".join(chain) for table in others for chain in table)


def test_a_line_that_goes_on_is_part_of_its_row() -> None:
    page = Page()
    rows = [
        ("Town", "Known for", "People"),
        ("Ulm", "a minster of", "128,900"),
        ("", "the highest"),
        ("Oxford", "books", "162,100"),
    ]
    page.table(rows, xs=(76, 130, 230))
    assert tables(page.text()) == [
        [
            ["Town", "Known for", "People"],
            ["Ulm", "a minster of the highest", "128,900"],
            ["Oxford", "books", "162,100"],
        ]
    ]


def test_names_wider_than_what_they_name_do_not_run_together() -> None:
    page = Page()
    page.table([("Data", "NaturalQ", "TriviaQA"), ("one", "26.5", "47.1"), ("two", "33.3", "45.0")], xs=(76, 120, 162))
    assert tables(page.text())[0][0] == ["Data", "NaturalQ", "TriviaQA"]


@pytest.mark.parametrize(
    "rows",
    [
        # text in columns
        [
            ("The mill was built", "and all of its wheels"),
            ("when the race was dug", "turned with the tide."),
            ("by the monks, whose", "Nobody knows who had"),
            ("abbey lay upstream of", "drawn it, or why there"),
        ],
        # values without names
        [("Revenue", "275.5", "295.6"), ("Income", "4.4", "5.6"), ("Shares", "0.43", "0.63")],
        # an index
        [("Heron", "Honor ... 126"), ("Kestrel", "... 127"), ("Owl", "... 128")],
    ],
)
def test_what_only_stands_between_rules_is_text(rows: list[tuple[str, ...]]) -> None:
    page = Page()
    page.table(rows, xs=(76, 190, 250))
    content = page.text()
    assert tables(content) == []
    assert Counter(re.findall(r"\w+", content)) == Counter(
        word for row in rows for word in re.findall(r"\w+", " ".join(row))
    )


def test_rules_around_very_many_lines_take_no_time() -> None:
    def read(size: int) -> str:
        page = Page()
        for number in range(size):
            page.y = 790 - 780 * number / size
            page.canvas.drawString(76, page.y, "a")
            page.canvas.drawString(200, page.y, str(number))
            page.rule()
        return page.text()

    check_growth(read, 400)
