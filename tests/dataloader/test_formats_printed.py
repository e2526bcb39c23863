"""Plain text that was laid out in pages."""

from __future__ import annotations

import pytest

from tests.dataloader.filetools import convert, places

TITLE = "                           The Weir Handbook"
PARAGRAPH = "   The weir has {} gates, which the keeper opens one after the other,"


def page(number: int, *lines: str, foot: bool = True) -> str:
    head = f"Weirs                         Handbook                     May {2000}"
    body = "\n".join(lines)
    return f"{head}\n\n\n{body}\n\n\n" + (
        f"I. Brandt                                                  [Page {number}]\n" if foot else ""
    )


WORDS = "gates sluices boats keepers locks tolls dredgers".split()


def printed(count: int) -> str:
    first = f"Canal Board                                                    May 2000\n\n{TITLE}\n\n   About weirs."
    pages = [
        page(number, f"   All about {word}.", *(f"   {letter}) {word}" for letter in "abcdef"))
        for number, word in enumerate(WORDS[: count - 1], 2)
    ]
    return "\f\n".join([f"{first}\n\n\nI. Brandt{'[Page 1]':>61}\n", *pages]) + "\f\n"


def test_pages_are_places_and_what_runs_along_them_is_left_out() -> None:
    document = convert("weir.txt", printed(8))
    assert places(document, "page")[1:] == [
        (2, "Weirs                         Handbook                     May 2000"),
        *((number, f"   All about {word}.") for number, word in enumerate(WORDS[1:], 3)),
    ]
    assert "[Page" not in document.content
    assert document.title == "The Weir Handbook"
    assert "\f" not in document.content


@pytest.mark.parametrize(
    ("before", "after", "joined"),
    [
        (PARAGRAPH.format(7), "   and closes at dusk.", True),
        (PARAGRAPH.format(7), "   Each of them has a number.", True),
        ("   It is closed at dusk, as all of the others on the canal are.", "   In winter it stays open.", False),
        (PARAGRAPH.format(7), "2.  Gates", False),
        ("   Seven gates", "   and a lock", False),
        (PARAGRAPH.format(7), "   1. the upper one", False),
    ],
)
def test_a_paragraph_goes_on_behind_the_end_of_its_page(before: str, after: str, joined: bool) -> None:
    text = "\f".join([printed(7).rstrip("\f\n"), page(8, before), page(9, after)])
    assert (f"{before}\n{after}" in convert("weir.txt", text).content) == joined


def test_form_feeds_between_chapters_are_no_pages() -> None:
    text = "\f\n".join("\n".join(f"Line {line} of {chapter}." for line in range(200)) for chapter in "abc")
    document = convert("a.txt", text)
    assert not document.locations
    assert "Line 199 of a.\n\nLine 0 of b." in document.content.replace("\n\n\n", "\n\n")


def test_of_few_pages_all_is_kept() -> None:
    document = convert("a.txt", "One\n\nPage 1\f\nTwo\n\nPage 2\n\f")
    assert document.content == "One\n\nPage 1\n\nTwo\n\nPage 2"
    assert places(document, "page") == [(1, "One"), (2, "Two")]


@pytest.mark.parametrize(
    ("foot", "kept"),
    [
        ("Invoice {}", True),
        ("Invoice No.:      {}", True),
        ("Weirs                     {}", False),
        ("{}      Weirs", False),
        ("- Page {} -", False),
        ("{}", False),
    ],
)
def test_numbers_of_letters_and_bills_are_kept(foot: str, kept: bool) -> None:
    bills = [f"Canal Board\n\nPlease pay for {word}.\n\n{foot.format(at)}\n" for at, word in enumerate(WORDS, 412)]
    content = convert("bills.txt", "\f".join(bills)).content
    assert content.count("Canal Board") == 1
    assert all((str(number) in content) == kept for number in range(413, 412 + len(WORDS)))
