"""What is a heading and what a paragraph in a PDF is seen from its letters, or said by its outline."""

from __future__ import annotations

import io
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from libs.dataloader.formats.pdf_layout import Bookmark, Line, to_markdown
from tests.dataloader.filetools import convert

pytest.importorskip("reportlab")

SENTENCES = [
    "The dam is 212 metres long and stands above the high water of springs.",
    "Its core is puddled clay behind piles of oak, with a crest of another",
    "clay that was raised by half a metre when the pond was made deeper.",
]


class Page:
    """Draws lines from the top of a page to its foot."""

    def __init__(self) -> None:
        from reportlab.pdfgen.canvas import Canvas

        self.stream = io.BytesIO()
        self.canvas = Canvas(self.stream, pageCompression=0)
        self.y = 780.0

    def write(self, *lines: str, size: float = 11, bold: bool = False, above: float = 0, indent: float = 0) -> None:
        self.y -= above
        self.canvas.setFont("Helvetica-Bold" if bold else "Helvetica", size)
        for number, line in enumerate(lines):
            self.y -= 1.2 * size
            self.canvas.drawString(72 + (indent if number == 0 else 0), self.y, line)

    def turn(self) -> None:
        self.canvas.showPage()
        self.y = 780.0

    def file(self) -> bytes:
        self.canvas.showPage()
        self.canvas.save()
        return self.stream.getvalue()


def headings(content: str) -> list[str]:
    return re.findall(r"^#+ .*$", content, re.MULTILINE)


def test_headings_are_larger_or_bolder_than_the_text() -> None:
    page = Page()
    page.write("Survey of the dam", size=20)
    page.write(*SENTENCES, above=10)
    page.write("1 The clay", size=14, bold=True, above=12)
    page.write(*SENTENCES, above=6)
    page.write(
        "1.1 What it holds and what it does not hold, by the", "measurements of two years", size=12, bold=True, above=9
    )
    page.write(*SENTENCES, above=4)
    page.turn()
    page.write("2 The gates", size=14, bold=True)
    page.write(*SENTENCES, above=6)
    page.write("A word before", bold=True, above=9)
    page.write(*SENTENCES)
    document = convert("a.pdf", page.file())
    assert document.format == "markdown"
    assert document.mime_type == "application/pdf"
    assert document.title == "Survey of the dam"
    assert headings(document.content) == [
        "# Survey of the dam",
        "## 1 The clay",
        "### 1.1 What it holds and what it does not hold, by the measurements of two years",
        "## 2 The gates",
        "### A word before",
    ]
    assert "\n".join(SENTENCES) in document.content
    assert document.locations["page"][1] == (document.content.index("## 2 The gates"), 2)


@pytest.mark.parametrize(
    ("look", "is_heading"),
    [
        ({"bold": True}, True),
        ({"bold": True, "size": 12}, True),
        ({"size": 14}, True),
        ({"size": 12}, False),
        ({}, False),
        ({"bold": True, "size": 9}, False),
    ],
    ids=str,
)
def test_a_short_line_above_text_is_a_heading_by_its_look(look: dict[str, Any], is_heading: bool) -> None:
    page = Page()
    page.write(*SENTENCES, *SENTENCES)
    page.write("The gates", above=14, **look)
    page.write(*SENTENCES, above=4)
    assert headings(convert("a.pdf", page.file()).content) == ["# The gates"] * is_heading


@pytest.mark.parametrize(
    ("line", "above", "following", "is_heading"),
    [
        ("The gates", 14, {}, True),
        ("The gates", 0, {}, False),
        ("1.2 The gates", 0, {}, True),
        ("The gates", 14, {"bold": True}, False),
        ("Work   Estimate   Paid", 14, {"lines": ["Wheel   31,000   12,000", "Gate   7,000   7,000"]}, False),
    ],
)
def test_a_bold_line_is_a_heading_by_what_is_around_it(
    line: str, above: int, following: dict[str, Any], is_heading: bool
) -> None:
    page = Page()
    page.write(*SENTENCES, *SENTENCES)
    page.write(line, bold=True, above=above)
    page.write(*following.get("lines", SENTENCES[:1]), bold=following.get("bold", False))
    page.write(*SENTENCES)
    assert headings(convert("a.pdf", page.file()).content) == [f"# {line}"] * is_heading


def test_where_the_text_is_bold_a_bold_line_is_none() -> None:
    page = Page()
    page.write(*SENTENCES, *SENTENCES, bold=True)
    page.write("The gates", above=14, bold=True)
    page.write(*SENTENCES[:1], above=4)
    page.write(*SENTENCES, above=4, bold=True)
    assert headings(convert("a.pdf", page.file()).content) == []


def test_what_is_large_or_bold_is_not_always_a_heading() -> None:
    page = Page()
    for number in range(4):
        page.write(f"Reports of the harbour, page {number + 1}", size=14, bold=True)  # the head of each page
        page.write(*SENTENCES, *SENTENCES, above=10)
        page.write("The mill was stopped for good in 1936, and nobody", "knew why.", size=15, above=10)
        page.write("Work   Estimate   Paid", bold=True, above=10)
        page.write("Wheel   31,000   12,000", "Gate   7,000   7,000")
        page.write("x + y = 2", size=15, above=10)
        page.turn()
    document = convert("a.pdf", page.file())
    assert headings(document.content) == []
    assert document.format == "text"
    assert document.title is None


def test_names_of_authors_that_look_like_headings_do_not_speak_against_these() -> None:
    page = Page()
    page.write("Tides and their mills", size=18, bold=True)
    page.write("Ada Lane, Bo Ferris, Cy Marsh,", "Di Moor, Ed Quay, Fay Weir,", size=13, bold=True, above=10)
    for heading in ("Abstract", "1 Introduction", "2 Method"):
        page.write(heading, size=13, bold=True, above=20)
        page.write(*SENTENCES, above=4)
    assert headings(convert("a.pdf", page.file()).content) == [
        "# Tides and their mills",
        "## Abstract",
        "## 1 Introduction",
        "## 2 Method",
    ]


def test_headings_of_the_same_words_may_be_at_the_same_place_on_some_pages() -> None:
    page = Page()
    for number in range(8):
        if number:
            page.turn()
        page.write(f"{number}.1 Context", size=14, bold=True)
        page.write(*SENTENCES[: 1 + number % 3], above=4)
        page.write(f"{number}.2 Decision", size=14, bold=True, above=20)
        page.write(*SENTENCES, above=4)
    # They are at three places: three, three and two of them.
    found = headings(convert("a.pdf", page.file()).content)
    assert [heading for heading in found if "Decision" in heading] == [f"# {number}.2 Decision" for number in range(8)]


def test_a_title_whose_words_run_along_the_heads_is_a_title() -> None:
    page = Page()
    page.write("Tides and their mills", size=22, bold=True, above=100)
    page.write("The Harbour Laboratory", size=13, bold=True, above=20)
    for number in range(6):
        page.turn()
        page.write("Tides and their mills", size=9)
        page.write(f"{number + 1} Chapter", size=16, bold=True, above=20)
        page.write(*SENTENCES, above=4)
    document = convert("a.pdf", page.file())
    assert document.title == "Tides and their mills"
    assert headings(document.content)[:2] == ["# Tides and their mills", "## The Harbour Laboratory"]
    assert document.content.count("Tides and their mills") == 2  # the first of the heads stays


def test_a_table_of_contents_is_no_title_and_has_no_rows_of_dots() -> None:
    page = Page()
    page.write("Contents", size=18, bold=True)
    page.write("1 The mill " + ". " * 60 + "4", "1.1 The wheel" + "." * 80 + " 12", "Wait ... and see.", above=4)
    page.turn()
    page.write("1 The mill", size=14, bold=True)
    page.write(*SENTENCES, above=4)
    document = convert("tides.pdf", page.file())
    assert document.title is None
    assert document.content.startswith("# Contents\n\n1 The mill … 4\n1.1 The wheel … 12\nWait ... and see.\n")


def test_where_most_of_it_is_large_nothing_is_a_heading() -> None:
    page = Page()
    page.write("name", "town", "at the sea side of the old harbour", size=8)
    page.write("Ada", "Bo", "Cy", "Di", "Eve", "Flo", size=16)
    assert convert("a.pdf", page.file()).format == "text"


def test_the_outline_names_headings_that_look_like_text() -> None:
    page = Page()
    canvas = page.canvas
    outline = [("The clay", 0), ("2. What the gates of the  north let through", 1), ("Nowhere in the text", 1)]
    for title, level in outline:
        canvas.bookmarkPage(title)
        canvas.addOutlineEntry(title, title, level)
    page.write("Contents")
    page.write("1 The clay", *SENTENCES)
    page.write("What the gates of the", "north let through", *SENTENCES)
    document = convert("a.pdf", page.file())
    assert headings(document.content) == ["# 1 The clay", "## What the gates of the north let through"]


def test_paragraphs_have_room_above_or_begin_further_in() -> None:
    page = Page()
    page.write(*SENTENCES)
    page.write(*SENTENCES, above=8)
    page.write(*SENTENCES, indent=15)
    page.write("First", "Second", "Third", above=8)
    block = "\n".join(SENTENCES)
    assert convert("a.pdf", page.file()).content == f"{block}\n\n{block}\n\n{block}\n\nFirst\nSecond\nThird"


def test_text_that_would_be_markdown_is_none() -> None:
    page = Page()
    page.write("A manual of the shell", size=20)
    page.write("# a comment of the listing, and not a heading of the manual", "Options", "-----", "```", above=10)
    page.write(*SENTENCES, above=10)
    document = convert("a.pdf", page.file())
    assert headings(document.content) == ["# A manual of the shell"]
    assert "\\# a comment" in document.content
    assert "Options\n\\-----\n\\```" in document.content


lines = st.builds(
    Line,
    st.text("ab1# -.", max_size=12).map(str.strip),
    st.sampled_from([0.0, 9.0, 11.0, 14.0, 20.0]),
    st.booleans(),
    st.sampled_from([50.0, 65.0, 300.0]),
    st.floats(0, 800),
    st.floats(0, 800),
)


@given(
    st.lists(st.lists(lines, max_size=8), max_size=4),
    st.lists(st.builds(Bookmark, st.text("ab1 "), st.integers(-1, 4), st.integers(0, 9))),
)
def test_nothing_is_lost_or_moved(pages: list[list[Line]], outline: list[Bookmark]) -> None:
    texts, has_headings = to_markdown(pages, outline)
    assert len(texts) == len(pages)
    for text, page in zip(texts, pages, strict=True):
        if not has_headings:
            assert [line for line in text.split("\n") if line] == [line.text for line in page if line.text]
        marks = re.sub(r"^(?:#{1,6} (?=.)|\\)", "", text, flags=re.MULTILINE) if has_headings else text
        left = iter(re.sub(r"\s", "", marks))
        assert all(letter in left for line in page for letter in line.text if letter in "ab1")


def book(pages: int, head: str = "Report {0} of the harbour", foot: str = "{1}", size: float = 9) -> str:
    """The content of a file whose pages have a head ({0}: which side) and a foot ({1}: the number from 8 on)."""
    page = Page()
    for number in range(pages):
        names = ("on the left" if number % 2 else "on the right", number + 8)
        page.write(head.format(*names), size=size)
        page.write(f"Here begins the chapter that is called {'abcdefghijkl'[number]}.", *SENTENCES * 3, above=14)
        page.write(f"Table {number + 1}", *SENTENCES[: number % 3 + 1], f"Sum of all: {number * 7}", above=14)
        page.y = 50
        page.write(foot.format(*names), size=9)
        page.turn()
    return convert("a.pdf", page.file()).content


def test_what_runs_along_the_pages_is_said_once() -> None:
    content = book(6)
    assert content.count("Report on the left of the harbour") == 1
    assert content.count("Report on the right of the harbour") == 1
    assert re.search(r"^\d+$", content, re.MULTILINE) is None
    assert [f"Table {number}" in content for number in range(1, 7)] == [True] * 6
    assert content.count(SENTENCES[0]) == 24
    assert book(6, foot="Page {1} of 13, printed in 2020").count("printed in 2020") == 1


def test_what_only_looks_like_a_running_head_stays() -> None:
    assert book(4).count("Report on the") == 4
    assert re.findall(r"^\d+$", book(4), re.MULTILINE) == ["8", "9", "10", "11"]
    assert book(6, head="Question {1}", size=18).count("Question ") == 6
    page = Page()
    for number in (3, 1, 12, 7, 30, 2):
        page.write(f"Article {number}", *SENTENCES)
        page.turn()
    assert convert("a.pdf", page.file()).content.count("Article ") == 6


def test_a_running_head_that_names_the_chapter_is_said_once_for_each() -> None:
    page = Page()
    for number in range(12):
        chapter = ("Tides", "Wrecks", "Pilots")[number // 4]
        page.write(f"Chapter {number // 4 + 1}: {chapter} {number + 20}", size=9)
        page.write(f"Here begins part {'abcdefghijkl'[number]}.", *SENTENCES * 3, above=14)
        page.write(*SENTENCES[: number % 3 + 1], f"Sum of all: {number * 7}", above=14)
        page.turn()
    content = convert("a.pdf", page.file()).content
    assert re.findall(r"^Chapter .*", content, re.MULTILINE) == [
        "Chapter 1: Tides 20", "Chapter 2: Wrecks 24", "Chapter 3: Pilots 28",
    ]  # fmt: skip
    assert content.count(SENTENCES[0]) == 48


def test_a_foot_may_be_larger_than_the_text() -> None:
    page = Page()
    for number in range(8):
        page.write(f"Here begins part {'abcdefgh'[number]}.", *SENTENCES * 3, above=14)
        page.y = 50
        page.write(f"The Harbour Trust | {number + 3}", size=15)
        page.turn()
    assert convert("a.pdf", page.file()).content.count("The Harbour Trust") == 1
