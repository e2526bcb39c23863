"""Chapters, acts and other numbered parts of texts without markup are headings."""

from __future__ import annotations

import pytest

from core.rag import KnowledgeBase, TextSplitter
from libs.dataloader import Document

TEXT = "The keeper opened the lock at dawn, and the boats went up the river one by one.\nNobody spoke of the night.\n\n"
LONG = TEXT * 3


def headings(text: str) -> list[str]:
    chunks = TextSplitter(64, 0).split(Document(path="book.txt", content=text))
    assert "".join(chunk.content for chunk in chunks) == text
    return list(dict.fromkeys(chunk.heading for chunk in chunks))


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (["CHAPTER I", "CHAPTER II"], ["CHAPTER I", "CHAPTER II"]),
        (["Chapter 1. The Lock", "Chapter 2. The Mill"], ["Chapter 1. The Lock", "Chapter 2. The Mill"]),
        (["Chapter 1\nThe Lock", "Chapter 2\nThe Mill"], ["Chapter 1 The Lock", "Chapter 2 The Mill"]),
        (["CHAPTER I\n\nTHE LOCK.", "CHAPTER II\n\nThe Mill"], ["CHAPTER I: THE LOCK.", "CHAPTER II: The Mill"]),
        (
            ["CHAPTER ONE", "CHAPTER TWENTY-TWO", "CHAPTER TWENTY-THREE"],
            ["CHAPTER ONE", "CHAPTER TWENTY-TWO", "CHAPTER TWENTY-THREE"],
        ),
        (["        IV.", "        V."], ["IV.", "V."]),
        (["I. THE LOCK", "II. THE MILL"], ["I. THE LOCK", "II. THE MILL"]),
        (["Kapitel 3: Im Moor", "Kapitel 4: Am Wehr"], ["Kapitel 3: Im Moor", "Kapitel 4: Am Wehr"]),
        (["Глава 1", "Глава 2"], ["Глава 1", "Глава 2"]),
        (
            ["PART I", "CHAPTER 1", "CHAPTER 2", "PART II", "CHAPTER 1"],
            ["PART I", "PART I > CHAPTER 1", "PART I > CHAPTER 2", "PART II", "PART II > CHAPTER 1"],
        ),
        (["Letter 1", "Letter 2", "Chapter 1", "Chapter 2"], ["Letter 1", "Letter 2", "Chapter 1", "Chapter 2"]),
        (
            ["STORY I. THE LOCK", "I.", "II.", "STORY II. THE MILL"],
            ["STORY I. THE LOCK", "STORY I. THE LOCK > I.", "STORY I. THE LOCK > II.", "STORY II. THE MILL"],
        ),
    ],
)
def test_numbered_parts_are_headings(lines: list[str], expected: list[str]) -> None:
    assert headings("".join(f"{line}\n\n{LONG}" for line in lines)) == expected


def test_acts_have_scenes() -> None:
    text = f"ACT I\n\nSCENE I. A lock.\n\n{LONG}SCENE II. A mill.\n\n{LONG}ACT II\n\nSCENE I. The same.\n\n{LONG}"
    assert headings(text) == ["ACT I > SCENE I. A lock.", "ACT I > SCENE II. A mill.", "ACT II > SCENE I. The same."]


def test_a_list_of_contents_has_no_headings() -> None:
    chapters = ["CHAPTER I", "CHAPTER II", "CHAPTER III"]
    contents = "".join(f"{line}\n\nIda's Diary        {page}\n\n" for page, line in enumerate(chapters))
    book = "".join(f"{line}\n\n{LONG}" for line in chapters)
    assert headings(f"THE LOCK\n\n{contents}{book}") == ["", *chapters]


@pytest.mark.parametrize(
    "text",
    [
        f"CHAPTER I\n\n{LONG}",  # all that follows would be called by it
        f"{LONG}See\nChapter 1\n\n{LONG}and\nChapter 2\n\n{LONG}",
        f"Chapter 1 is short.\n\n{LONG}Chapter 2 is long.\n\n{LONG}",
        f"Page 1\n\n{LONG}Page 2\n\n{LONG}Figure 1. A lock\n\n{LONG}Figure 2. A mill\n\n{LONG}",
        f"In 20\n\n{LONG}In 21\n\n{LONG}",
        f"Route 7\n\n{LONG}Route 66\n\n{LONG}Route 12\n\n{LONG}",
        f"1\n\n{LONG}2\n\n{LONG}",
    ],
)
def test_other_lines_with_numbers_are_no_headings(text: str) -> None:
    assert headings(text) == [""]


async def test_a_chapter_is_found_by_its_number() -> None:
    numbers = ("ONE", "TWO", "THREE", "FOUR", "FIVE", "SIX")
    text = "".join(f"CHAPTER {number}\n\n{LONG}" for number in numbers)
    async with KnowledgeBase.open("embedded::memory:") as kb:
        await kb.ingest([Document(path="lock.txt", title="The Lock", content=text)])
        hits = await kb.search("What happens in chapter 5 of The Lock?", k=1)
        assert [hit.heading for hit in hits] == ["CHAPTER FIVE"]
