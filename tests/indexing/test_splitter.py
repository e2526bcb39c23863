"""What the splitter does with documents of each format."""

from __future__ import annotations

import itertools
import re
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest

from core.rag.errors import InvalidInputError
from core.rag.identity import document_id
from core.rag.indexing import TextSplitter
from libs.dataloader.types import Document, DocumentChunk
from tests.growth import check_growth

SENTENCES = [
    f"Sentence number {number} says something about subject {number % 7} and little else. " for number in range(400)
]


def split(content: str, size: int = 64, overlap: int = 0, **fields: Any) -> list[DocumentChunk]:
    return TextSplitter(size, overlap).split(Document(path="note", content=content, **fields), "id")


def headings(chunks: list[DocumentChunk]) -> list[tuple[str, str]]:
    return [(chunk.heading, chunk.content) for chunk in chunks]


# Arguments


def test_defaults_are_those_of_the_architecture_decision() -> None:
    splitter = TextSplitter()
    assert (splitter.chunk_size, splitter.chunk_overlap, splitter.separator) == (1024, 200, "\n")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"chunk_size": 0}, "chunk_size"),
        ({"chunk_size": -5}, "chunk_size"),
        ({"chunk_size": 1.5}, "chunk_size"),
        ({"chunk_size": True}, "chunk_size"),
        ({"chunk_overlap": -1}, "chunk_overlap"),
        ({"chunk_size": 100, "chunk_overlap": 100}, "must be less than chunk_size"),
        ({"chunk_size": 100}, "must be less than chunk_size"),
        ({"whole_size": 0}, "whole_size"),
        ({"whole_size": 1023}, "must not be less than chunk_size"),
        ({"separator": None}, "separator"),
        ({"count_tokens": 3}, "count_tokens"),
    ],
)
def test_arguments_that_make_no_sense_are_refused(arguments: dict[str, Any], said: str) -> None:
    with pytest.raises(InvalidInputError, match=said):
        TextSplitter(**arguments)
    with pytest.raises(ValueError, match=said):
        TextSplitter(**arguments)


def test_what_is_no_document_is_not_split() -> None:
    with pytest.raises(InvalidInputError, match=r"A Document is split, not a str: make one .*, or use split_text"):
        TextSplitter().split("a text")  # type: ignore[arg-type]
    with pytest.raises(InvalidInputError, match="The text to split must be text, not NoneType"):
        TextSplitter().split_text(None)  # type: ignore[arg-type]


def test_the_fingerprint_changes_with_whatever_changes_the_chunks() -> None:
    splitters = [
        TextSplitter(),
        TextSplitter(512),
        TextSplitter(chunk_overlap=100),
        TextSplitter(separator="\n\n"),
        TextSplitter(whole_size=1025),
        TextSplitter(count_tokens=len),
        TextSplitter(count_tokens=lambda text: len(text.split())),
        TextSplitter(count_tokens=lambda text: len(text) // 4),
    ]
    assert len({splitter.fingerprint for splitter in splitters}) == len(splitters)
    assert TextSplitter().fingerprint == TextSplitter().fingerprint == TextSplitter(whole_size=1024).fingerprint


def test_another_counter_is_used() -> None:
    text = "one two three " * 100
    chunks = TextSplitter(10, 0, count_tokens=lambda text: len(text.split())).split_text(text)
    assert "".join(chunks) == text
    assert max(len(chunk.split()) for chunk in chunks) <= 10
    assert len(chunks) < 50


# Chunks


def test_a_chunk_says_where_it_comes_from() -> None:
    document = Document(
        path="note.txt", content="".join(SENTENCES[:20]), title="Note", uri="file:///note.txt", mime_type="text/plain"
    )
    chunks = TextSplitter(64, 0).split(document)
    assert len(chunks) > 2
    for index, chunk in enumerate(chunks):
        assert (chunk.path, chunk.title, chunk.uri) == ("note.txt", "Note", "file:///note.txt")
        assert (chunk.mime_type, chunk.format) == ("text/plain", "text")
        assert chunk.metadata == {
            "chunk_index": index,
            "chunk_count": len(chunks),
            "parent_id": document_id("default", "file:///note.txt"),
            "parent_document_path": "note.txt",
            "is_chunk": True,
        }


def test_the_parent_can_be_given() -> None:
    (chunk,) = TextSplitter().split(Document(path="a", content="text"), parent_id="mine")
    assert chunk.metadata.parent_id == "mine"


def test_a_text_that_fits_is_one_chunk() -> None:
    text = "".join(SENTENCES[:10])
    assert TextSplitter(TextSplitter().count_tokens(text), 0).split_text(text) == [text]
    assert len(TextSplitter(TextSplitter().count_tokens(text) - 1, 0).split_text(text)) == 2


def test_running_text_can_be_kept_whole() -> None:
    """What follows a heading, a row or a definition stands for itself; a text without any is about one thing."""
    splitter = TextSplitter(64, 0, whole_size=200)

    def number(content: str, kind: str = "text") -> int:
        return len(splitter.split(Document(path="note", content=content, format=kind)))

    prose = "".join(SENTENCES[:10])
    assert 64 < splitter.count_tokens(prose) < 200
    assert number(prose) == number(f"# Only heading\n\n{prose}", "markdown") == number(prose, "rst") == 1
    assert max(chunk.count(" ") for chunk in splitter.split_text("".join(SENTENCES[:20]))) < 64
    assert number(f"# One\n\n{prose}\n\n# Two\n\nMore.\n", "markdown") > 2
    assert number("name,age\n" + "Ada Lovelace,36\n" * 20, "table") > 1
    assert number("name: Ada\nage: 36\n\n" * 20, "records") > 1
    assert number("def f(x):\n    return x + 1\n\n\n" * 12, "code:python") > 1
    assert number("a > b: 1 and some more\n" * 20, "markdown:lines") > 1


# Text


def test_text_is_cut_between_sentences() -> None:
    chunks = split("".join(SENTENCES), 100)
    assert len(chunks) > 50
    assert all(chunk.content.endswith("else. ") for chunk in chunks)


def test_the_dot_of_a_german_date_ends_no_sentence() -> None:
    text = "".join(f"Der Vertrag mit Firma {number} endet am 30. Juni des nächsten Jahres. " for number in range(60))
    chunks = split(text, 60, 30)
    assert len(chunks) > 10
    assert all(chunk.content.startswith("Der ") and chunk.content.endswith("Jahres. ") for chunk in chunks)


def test_neighbours_share_whole_sentences() -> None:
    chunks = split("".join(SENTENCES), 200, 50)
    for chunk, following in itertools.pairwise(chunks):
        shared = chunk.content[following.start_char - chunk.start_char :]
        assert shared.startswith("Sentence number")
        assert shared.endswith("else. ")


def test_neighbours_share_whole_lines_where_no_sentence_fits() -> None:
    lines = "".join(f"key_{number}: a value with number {number} of the settings\n" for number in range(100))
    chunks = split(f"# Settings\n\n```yaml\n{lines}```\n", 128, 32, format="markdown")
    assert len(chunks) > 5
    for chunk, following in itertools.pairwise(chunks):
        assert following.start_char < chunk.end_char
        assert following.content.startswith("key_")


def test_paragraphs_are_preferred_to_lines_and_these_to_sentences() -> None:
    paragraph = "".join(SENTENCES[:4])
    chunks = split(f"{paragraph}\n\n{paragraph}{paragraph}", 150)
    assert chunks[0].content == f"{paragraph}\n\n"
    chunks = split(f"{paragraph}\n{paragraph}{paragraph}", 150)
    assert chunks[0].content == f"{paragraph}\n"


def test_a_separator_of_ones_own_is_preferred_to_all() -> None:
    text = "<|>".join(f"First line of entry {number}.\n\nSecond line of entry {number}." for number in range(40))
    chunks = TextSplitter(64, 0, "<|>").split_text(text)
    assert all(chunk.endswith("<|>") for chunk in chunks[:-1])
    assert len(chunks) > 5


def test_lines_that_were_only_wrapped_are_not_ends_of_sentences() -> None:
    words = " ".join(SENTENCES).split()
    lines = [" ".join(words[start : start + 12]) for start in range(0, len(words), 12)]
    chunks = split("\n".join(lines), 100)
    assert all(chunk.content.rstrip().endswith(".") for chunk in chunks)


@pytest.mark.parametrize(
    "start",
    [
        "2024-01-01T00:00:{:02}.003Z INFO ",
        "[2024-01-01 00:00:{:02},003] INFO ",
        "192.0.2.{} - - ",
        "Jan  1 00:00:{:02} host ",
        "[Mon Jan 01 00:00:{:02}.1 2024] [core:error] ",
        "[   {}.003456] ",
    ],
    ids=["iso", "brackets", "address", "syslog", "apache", "kernel"],
)
def test_lines_of_a_log_were_not_wrapped(start: str) -> None:
    lines = [f"{start.format(second)}request of a reader for {second} took {second * 7} ms" for second in range(60)]
    chunks = split("\n".join(lines), 100)
    assert len(chunks) > 10
    assert all(chunk.content.rstrip().endswith(" ms") for chunk in chunks)


def test_what_is_left_is_shared_between_the_last_two_chunks() -> None:
    text = "".join(SENTENCES[:12])
    splitter = TextSplitter(TextSplitter().count_tokens(text) - 5, 0)
    first, second = splitter.split_text(text)
    assert 0.5 < len(first) / len(second) < 2


def test_an_edit_changes_only_the_chunks_around_it() -> None:
    before = TextSplitter(128, 16).split_text("".join(SENTENCES))
    for place in (0, 200, 399):
        edited = [
            *SENTENCES[:place],
            "Something entirely different was put in here, rather a lot of it. ",
            *SENTENCES[place:],
        ]
        after = TextSplitter(128, 16).split_text("".join(edited))
        assert len(set(after) - set(before)) <= 12
        assert len(after) > 50


def test_a_row_more_changes_only_the_chunks_around_it() -> None:
    rows = [f"| {number * 37 % 1000} | name of {number} |" for number in range(500)]
    head = ["| id | name |", "| --- | --- |"]
    before = split("\n".join([*head, *rows]), 128, format="table")
    after = split("\n".join([*head, *rows[:3], "| 7 | new |", *rows[3:]]), 128, format="table")
    assert len({chunk.content for chunk in after} - {chunk.content for chunk in before}) <= 8
    assert len(after) > 40


# Markdown

GUIDE = """Before any heading.

# Guide

Introduction.

## Install

### Linux

Run `apt`.

### *mac*OS ###

Run `brew`.

Use
---

```sh
# this is no heading
run
```

Then [read `on`](https://example.org/a_b "title").
"""


def test_markdown_is_cut_along_headings() -> None:
    assert headings(split(GUIDE, 1000, format="markdown")) == [
        ("", "Before any heading.\n\n"),
        ("Guide", "# Guide\n\nIntroduction.\n\n"),
        ("Guide > Install > Linux", "## Install\n\n### Linux\n\nRun `apt`.\n\n"),
        ("Guide > Install > macOS", "### *mac*OS ###\n\nRun `brew`.\n\n"),
        ("Guide > Use", GUIDE[GUIDE.index("Use\n---") :]),
    ]


def test_headings_in_items_of_a_list_count() -> None:
    text = "## Gates\n\n1. ### How do I open one?\n\n    Turn it.\n\n2. ### And close?\n\n    Push.\n\n- # 12\n- #13\n"
    assert headings(split(text, 1000, format="markdown"))[:2] == [
        ("Gates > How do I open one?", "## Gates\n\n1. ### How do I open one?\n\n    Turn it.\n\n"),
        ("Gates > And close?", "2. ### And close?\n\n    Push.\n\n"),
    ]


def test_what_is_folded_in_has_what_is_shown_of_it_as_its_heading() -> None:
    text = (
        "# Help\n\nWelcome.\n\n<details>\n\n<summary>Is it **open**?</summary>\n\nYes.\n\n</details>\n\n"
        "<DETAILS open><summary>\n<b>Is it far?</b>\n</summary>No.</details>\n\n</details>\n\nGoodbye.\n\n"
        "## More\n\n```html\n<summary>Code</summary>\n```\n\n<summary>Never closed\n"
    )
    chunks = split(text, format="markdown")
    assert [chunk.heading for chunk in chunks] == [
        "Help",
        "Help > Is it open?",
        "Help > Is it far?",
        "Help",
        "Help > More",
    ]
    assert "".join(chunk.content for chunk in chunks) == text


def test_the_title_of_the_document_is_not_repeated() -> None:
    paths = [chunk.heading for chunk in split(GUIDE, 1000, format="markdown", title="Guide")]
    assert paths == ["", "Guide", "Install > Linux", "Install > macOS", "Use"]


@pytest.mark.parametrize(
    ("line", "title"),
    [
        ("## Plain", "Plain"),
        ("##\tTab", "Tab"),
        ("   ## Three spaces ##  ", "Three spaces"),
        ("## C# and F#", "C# and F#"),
        ("## **Bold** and _slanted_ and `code_here`", "Bold and slanted and code_here"),
        ("## snake_case_name and 2 * 3 * 4", "snake_case_name and 2 * 3 * 4"),
        ("## [Link](https://example.org) ![image](x.png)", "Link image"),
        ("## [Wheel](https://example.org/Wheel_(mill)) and [dam](<a b.md> 'The dam')", "Wheel and dam"),
        (f"## See [the form](https://example.org/{'x' * 300}) first", "See the form first"),
        ("## Mills &amp; Dams", "Mills & Dams"),
        ("## About [[Mill#Wheel|the mill]] and [[Dam]], x[[1]]", "About the mill and Dam, x[[1]]"),
        ("## Anchored {#anchor .class}", "Anchored"),
        ('## 4.4.0 December 10, 2021 { id="4.4.0" }', "4.4.0 December 10, 2021"),
        ("## Optional { #flag .wide }", "Optional"),
        ("## The set {1, 2}", "The set {1, 2}"),
        ("## A <b>tag</b>", "A tag"),
        ('## New <Badge kind="beta" /> and <Sup>2</Sup><!-- x -->', "New and 2"),
        ("#### fn zip<T>(list: List<Option<T>>) -> Map<K, V>", "fn zip<T>(list: List<Option<T>>) -> Map<K, V>"),
        ("## v-for on `<template>`, ``a ` b`` and `**kw`", "v-for on <template>, a ` b and **kw"),
        (r"## Not \*bold\*", "Not *bold*"),
        ("## " + "long " * 100, ("long " * 40)[:199].rstrip() + "…"),
    ],
)
def test_headings_are_plain_words(line: str, title: str) -> None:
    (chunk,) = split(f"{line}\n\nText.\n", 1000, format="markdown")
    assert chunk.heading == title


@pytest.mark.parametrize(
    "text",
    [
        "#hashtag\n\ntext\n",
        "    # indented code\n",
        "```\n# comment\n```\n",
        "~~~~\n# comment\n~~~\n# comment\n~~~~\n",
        "<pre>\n# comment\n</pre>\n",
        "<!--\n# comment\n-->\n",
        "---\ntitle: x\nnumber: 1\n---\n\ntext\n",
        "- item\n---\n",
        "> quote\n---\n",
        "text\n\n---\n\ntext\n",
        "####### seven\n",
        "| a | b |\n|---|---|\n| # | 1 |\n",
        "one\ntwo\nthree\nfour\nfive\n---\n",
    ],
)
def test_what_only_looks_like_a_heading_is_none(text: str) -> None:
    (chunk,) = split(text, 1000, format="markdown")
    assert chunk.heading == ""
    assert chunk.content == text


def test_headings_below_a_closed_block_count() -> None:
    text = "<!-- not closed\n\n# One\n\n```\n# no\n```\n\n# Two\n\n<style>\n# no\n</style>\n# Three\ntext\n"
    assert [chunk.heading for chunk in split(text, 1000, format="markdown")] == ["", "One", "Two", "Three"]


def test_deeper_headings_than_the_one_before_and_levels_left_out() -> None:
    text = "### Deep\n\na\n\n# Top\n\nb\n\n### Below\n\nc\n\n## Middle\n\nd\n"
    assert [chunk.heading for chunk in split(text, 1000, format="markdown")] == [
        "Deep", "Top", "Top > Below", "Top > Middle",
    ]  # fmt: skip


def test_a_heading_without_text_is_no_chunk() -> None:
    content = "# Tool\n\n## Inputs\n\nNone.\n\n## Outputs\n\n## Notes\n\nMind the gap.\n\n## See also\n\n# Appendix\n"
    assert headings(split(content, format="markdown")) == [
        ("Tool > Inputs", "# Tool\n\n## Inputs\n\nNone.\n\n"),
        ("Tool > Notes", "## Outputs\n\n## Notes\n\nMind the gap.\n\n## See also\n\n# Appendix\n"),
    ]
    assert headings(split("## One\n\n## Two\n", format="markdown")) == [("Two", "## One\n\n## Two\n")]


def test_the_title_of_a_slide_goes_with_no_other_slide() -> None:
    slides = ["## Welcome\n\n", "## Agenda\n\nWho speaks when.\n\n", "## Thanks"]
    places = [(sum(map(len, slides[:number])), number + 1) for number in range(3)]
    chunks = split("".join(slides), format="markdown", locations={"slide": places})
    assert headings(chunks) == list(zip(("Welcome", "Agenda", "Thanks"), slides, strict=True))


def test_a_long_section_is_cut_and_keeps_its_heading() -> None:
    text = f"# One\n\n{''.join(SENTENCES[:30])}\n\n# Two\n\n{''.join(SENTENCES[30:60])}\n"
    chunks = split(text, 128, 16, format="markdown")
    assert [heading for heading, _ in itertools.groupby(chunk.heading for chunk in chunks)] == ["One", "Two"]
    assert len(chunks) > 8
    second = next(chunk for chunk in chunks if chunk.heading == "Two")
    assert second.content.startswith("# Two")


def test_code_and_tables_that_fit_are_not_cut() -> None:
    fence = "```python\n" + "".join(f"value_{number} = {number}\n" for number in range(8)) + "```\n"
    table = "| name | value |\n| --- | --- |\n" + "".join(f"| row {number} | {number} |\n" for number in range(8))
    prose = "".join(SENTENCES[:5])
    chunks = split(f"# H\n\n{prose}\n\n{fence}\n{prose}\n\n{table}\n{prose}\n", 150, 20, format="markdown")
    assert len(chunks) > 3
    assert sum(fence in chunk.content for chunk in chunks) == 1
    assert sum(table in chunk.content for chunk in chunks) == 1


@pytest.mark.parametrize("mark", ["```", "~~~~"])
@pytest.mark.parametrize("indent", ["    ", "\t", "        "])
def test_a_fence_within_an_item_of_a_list_is_kept_whole(mark: str, indent: str) -> None:
    prose = "".join(SENTENCES[:5])
    lines = [f"{mark}bash", *(f"# step {number} of all" for number in range(8)), "", mark]
    fence = "".join(f"{indent}{line}\n" if line else "\n" for line in lines)
    text = f"# H\n\n- {prose}\n\n{fence}\n{indent}{prose}\n\n{prose}\n"
    chunks = split(text, 150, 20, format="markdown")
    assert len(chunks) > 2
    assert sum(fence in chunk.content for chunk in chunks) == 1
    assert {chunk.heading for chunk in chunks} == {"H"}


def test_an_indented_fence_that_nothing_closes_is_text() -> None:
    open_ended = f"# H\n\n- An item\n\n      ```\n      code\n\n# Next\n\n{SENTENCES[0]}\n"
    assert [chunk.heading for chunk in split(open_ended, 150, 0, format="markdown")] == ["H", "Next"]


def test_a_long_table_in_markdown_is_cut_by_rows_and_keeps_its_header() -> None:
    rows = [f"| row {number} | {number * number} |\n" for number in range(100)]
    text = f"# H\n\nIntroduction.\n\n| name | value |\n| --- | ---: |\n{''.join(rows)}\nAfter the table.\n"
    chunks = split(text, 128, 32, format="markdown")
    assert "table_header" not in chunks[0].metadata
    assert chunks[0].content.startswith("# H\n\nIntroduction.\n\n| name | value |\n| --- | ---: |\n| row 0 |")
    for chunk in chunks[1:]:
        if chunk.content.startswith("| row"):
            assert chunk.metadata["table_header"] == "| name | value |"
            first = int(chunk.content.split()[2])
            assert chunk.metadata["row"] == first + 1
    assert sum(chunk.content.count("| row") for chunk in chunks) == 100
    assert len(chunks) > 5


@pytest.mark.parametrize("size", [40, 64, 100, 150])
@pytest.mark.parametrize("overlap", [0, 16])
def test_a_chunk_within_a_long_row_has_the_header_from_its_column_on(size: int, overlap: int) -> None:
    def cell(column: int) -> str:
        return " ".join(f"Word{number} of c{column}." for number in range(25)) + (" a \\| b" if column == 2 else "")

    row = "| " + " | ".join(map(cell, range(5))) + " |"
    header = "| name of c0 | name of c1 | name of c2 | c3 \\| c3 | name of c4 |"
    chunks = split(f"{header}\n|---|---|---|---|---|\n{row}\n{row}\n", size, overlap, format="markdown")
    within = [chunk for chunk in chunks if "table_header" in chunk.metadata and "name of" not in chunk.content]
    assert len(within) > 8
    for chunk in within:
        column = re.search(r"c(\d)\.", chunk.content)
        assert column is not None
        assert chunk.metadata["table_header"].startswith(
            f"| name of c{column[1]} |" if column[1] != "3" else "| c3 \\| c3 |"
        )
        assert chunk.metadata["table_header"].endswith(" c4 |")


def test_rows_leave_room_for_their_header() -> None:
    header = "| " + " | ".join(f"column number {number}" for number in range(6)) + " |"
    rows = "".join("| 1 | 2 | 3 | 4 | 5 | 6 |\n" for _ in range(100))
    splitter = TextSplitter(128, 0)
    chunks = splitter.split(Document(path="t", content=f"{header}\n{rows}", format="table"), "id")
    for chunk in chunks[1:]:
        assert splitter.count_tokens(f"{chunk.metadata['table_header']}\n{chunk.content}") <= 128


# Tables, records, reStructuredText


def test_a_table_is_cut_by_rows() -> None:
    rows = [f"| {number} | name of {number} |" for number in range(60)]
    text = "\n".join(["| id | name |", "| --- | --- |", *rows])
    chunks = split(text, 100, 20, format="table")
    assert len(chunks) > 4
    assert "table_header" not in chunks[0].metadata
    assert [chunk.metadata.get("table_header") for chunk in chunks[1:]] == ["| id | name |"] * (len(chunks) - 1)
    seen = 0
    for chunk in chunks:
        assert chunk.metadata["row"] == seen + 1
        lines = [line for line in chunk.content.splitlines() if line in rows]
        assert lines == rows[seen : seen + len(lines)]
        seen += len(lines)
    assert seen == 60


def test_chunks_of_a_log_are_as_long_as_a_short_document() -> None:
    rows = "".join(f"| 2025-10-09 04:{n // 60:02}:{n % 60:02} | INFO | turn {n} |\n" for n in range(400))
    of_log = Document(path="a.log", content=f"| time | level | message |\n| --- | --- | --- |\n{rows}", format="table")
    other = replace(of_log, content=of_log.content.replace("| level |", "| place |"))
    splitter = TextSplitter(256, 32, whole_size=512)
    logged, others = splitter.split(of_log), splitter.split(other)
    assert all(256 < splitter.count_tokens(chunk.content) <= 512 for chunk in logged[:-1])
    assert all(splitter.count_tokens(chunk.content) <= 256 for chunk in others)
    assert "".join(chunk.content for chunk in logged) == of_log.content
    assert splitter.exceeds_size([chunk.content for chunk in logged])


def test_a_small_table_is_one_chunk_that_begins_with_its_first_row() -> None:
    (chunk,) = split("| a |\n| --- |\n| 1 |\n", format="table")
    assert "table_header" not in chunk.metadata
    assert chunk.metadata["row"] == 1


def test_row_numbers_of_the_loader_come_first() -> None:
    text = "| a |\n| --- |\n" + "".join(f"| value {number} |\n" for number in range(60))
    starts = [(text.index(f"| value {number} |"), number + 100) for number in range(60)]
    chunks = split(text, 64, format="table", locations={"row": starts, "sheet": [(0, "First")]})
    assert len(chunks) > 3
    for chunk in chunks[1:]:
        assert chunk.content.startswith(f"| value {chunk.metadata['row'] - 100} |")
        assert chunk.metadata["sheet"] == "First"
    assert chunks[0].metadata["row"] == 99, "the header, wherever on the sheet it is"


def test_a_row_of_one_sheet_says_nothing_of_the_next() -> None:
    text = "## A\n\n| a |\n| --- |\n| 1 |\n\n## B\n\n| b |\n| --- |\n| 2 |"
    places = {"sheet": [(0, "A"), (text.index("## B"), "B")], "row": [(text.index("| 1"), 2), (text.index("| 2"), 2)]}
    a, b = split(text, 1024, format="markdown", locations=places)
    assert (a.metadata["sheet"], b.metadata["sheet"]) == ("A", "B")
    assert "row" not in b.metadata, "the row above it is one of the other sheet"


def test_records_are_not_cut_where_they_fit() -> None:
    records = [f"name: record {number}\ntext: {SENTENCES[number]}\nmore: {number}" for number in range(40)]
    chunks = split("\n\n".join(records), 128, 32, format="records")
    found = [record for chunk in chunks for record in chunk.content.rstrip().split("\n\n")]
    assert found == records
    assert len(chunks) > 10


def test_a_record_that_does_not_fit_is_cut_between_its_fields() -> None:
    fields = [f"translations.{number:02}.official: The {number}. Isles" for number in range(60)]
    chunks = split("\n".join(fields) + "\n\nname: small", 128, 0, format="records")
    assert len(chunks) > 5
    assert {line for chunk in chunks for line in chunk.content.split("\n")} <= {*fields, "name: small", ""}


LONG = " ".join(SENTENCES[:40])


@pytest.mark.parametrize(
    ("header", "row", "name"),
    [
        ("id | title | body", f"7 | The *mill* | {LONG}", "The mill"),
        ("id | body | product_name", f"7 | {LONG} | Oil lamp", "Oil lamp"),
        ("number | body", f"7 | {LONG}", "number: 7"),
        ("key | body", f"OPS-7 | {LONG}", "OPS-7"),
        ("title | body", f"A \\| B | {LONG}", "A | B"),
        ("body | author", f"{LONG} | Ada", ""),
    ],
)
def test_a_row_longer_than_a_chunk_names_all_its_parts(header: str, row: str, name: str) -> None:
    columns = header.count("|") + 1
    lines = [f"| {header} |", "|" + " --- |" * columns, "| x |" + " y |" * (columns - 1), f"| {row} |", "| after |"]
    chunks = split("\n".join(lines), 64, 8, format="table")
    first, *parts, last = chunks
    assert (first.heading, last.heading) == ("", "")
    assert (first.content.splitlines(), last.content.splitlines()) == (lines[:3], lines[4:])
    assert len(parts) > 3
    assert {part.heading for part in parts} == {name}
    assert {part.metadata["row"] for part in parts} == {2}


def test_a_long_row_of_a_sheet_is_named_below_its_sheet() -> None:
    text = (
        f"## Stories\n\n| id | title | body |\n| --- | --- | --- |\n| 7 | The mill | {LONG} |\n| 8 | Lamps | {LONG} |"
    )
    chunks = split(text, 64, 8, format="markdown")
    assert chunks[0].content.startswith("## Stories\n\n| id | title | body |")
    assert list(dict.fromkeys(chunk.heading for chunk in chunks)) == ["Stories > The mill", "Stories > Lamps"]


@pytest.mark.parametrize(
    ("record", "name"),
    [
        (f"id: 7\ntitle: Salt roads\ntext: {LONG}", "Salt roads"),
        (f"author.name: Ada\nname.common: Peru\ntext: {LONG}", "Peru"),
        (f"text: {LONG}\nfullName: Ada Brown", "Ada Brown"),
        (f"id: 7\ntext: {LONG}", "id: 7"),
        (f"Meeting about salt\nwhere: {LONG}", "Meeting about salt"),
        (
            f"Summary: Gate stuck\nIssue key: WEB-12\nIssue id: 10265\nProject name: Web\nDescription: {LONG}",
            "WEB-12: Gate stuck",
        ),
        (f"key: WEB-12\nfields.status.name: Open\nfields.summary: Gate stuck\nfields.x: {LONG}", "WEB-12: Gate stuck"),
        (f"number: 7\ntitle: Gate stuck\nlabels[1].name: bug\nbody: {LONG}", "7: Gate stuck"),
    ],
)
def test_a_record_longer_than_a_chunk_names_all_its_parts(record: str, name: str) -> None:
    chunks = split(f"title: Before\n\n{record}\n\ntitle: After", 64, 8, format="records")
    assert [chunk.content.strip() for chunk in (chunks[0], chunks[-1])] == ["title: Before", "title: After"]
    assert [chunk.heading for chunk in chunks] == ["", *[name] * (len(chunks) - 2), ""]
    assert len(chunks) > 5


def test_underlined_headings_of_restructured_text() -> None:
    parts = ["=====\nTitle\n=====", "Part one\n--------", "Detail\n~~~~~~", "Part two\n--------"]
    text = "".join(f"{part}\n\nText.\n\n" for part in parts)
    assert [chunk.heading for chunk in split(text, 1000, format="rst")] == [
        "Title", "Title > Part one", "Title > Part one > Detail", "Title > Part two",
    ]  # fmt: skip


# Places


SPECIFICATION = """\
Canal Working Group                                             I. Brandt
Category: Standard                                           October 2019


                         The Lock Protocol

Abstract

   This memo says how boats and lock keepers talk to each other.

1.  Introduction

1.1.  Background

   Boats used to wait in line.  With this protocol, they announce
   themselves, and the keeper answers:

     a  the boat may enter
     b  the boat waits

   Nothing else is answered.

1.2.  Terms

   A boat is whatever floats.

2.  Messages

   Each message has a length.

Authors' Addresses

   Ida Brandt, Canal Street 4
"""


def test_lines_at_the_margin_of_an_indented_text_are_headings() -> None:
    chunks = TextSplitter(64, 0).split(Document(path="lock.txt", content=SPECIFICATION))
    assert list(dict.fromkeys(chunk.heading for chunk in chunks)) == [
        *("", "Abstract", "1. Introduction > 1.1. Background", "1. Introduction > 1.2. Terms", "2. Messages"),
        "Authors' Addresses",
    ]
    assert "".join(chunk.content for chunk in chunks) == SPECIFICATION


def test_headings_in_capitals_are_directly_above_the_text_of_a_printed_manual_page() -> None:
    text = "".join(
        f"{name}\n       {words}\n       It goes on here.\n\n       And below.\n\n"
        for name, words in (("NAME", "lock - opens a lock"), ("SEE ALSO", "weir"), ("Not a name", "More words"))
    )
    chunks = TextSplitter(24, 0).split(Document(path="lock.1.txt", content=text + "       The end.\n"))
    assert list(dict.fromkeys(chunk.heading for chunk in chunks)) == ["NAME", "SEE ALSO"]


def test_underlined_headings_are_above_those_at_the_margin() -> None:
    point = " * A keeper was tired of opening locks, and so they open themselves.\n   They close themselves, too.\n"
    text = (
        f"Lock 2.1\n========\n\nGates\n\n{point * 6}\nWeirs, sluices etc.\n\n{point * 6}\n"
        f"Mended since 2.0\n----------------\n\n{point * 6}"
    )
    chunks = TextSplitter(128, 0).split(Document(path="notes.txt", content=text))
    assert list(dict.fromkeys(chunk.heading for chunk in chunks)) == [
        *("Lock 2.1 > Gates", "Lock 2.1 > Weirs, sluices etc.", "Lock 2.1 > Mended since 2.0"),
    ]


@pytest.mark.parametrize(
    "text",
    [
        SPECIFICATION.replace("\n   ", "\n"),
        "Dear Ida,\n\n  the lock is open.\n\nYours\n\n  Ole\n",
        "  The lock is open.\n" * 20
        + "\nSend questions to\n\n  ida@example.org\n\nor ask the keeper, who is\n\n  Ole\n",
        "".join(f".. lock:: {number}\n\n  It is open.\n\n" for number in range(20)),
        "Locks\n\n" + "  The lock is open.\n" * 20,
        "".join(f"The keeper opens lock {number} at dawn.\n\n   It closes at dusk.\n\n" for number in range(20)),
    ],
)
def test_lines_at_the_margin_of_other_texts_are_none(text: str) -> None:
    chunks = TextSplitter(16, 0).split(Document(path="a.txt", content=text))
    assert {chunk.heading for chunk in chunks} == {""}


def test_pages_are_those_where_the_text_of_the_chunk_stands() -> None:
    pages = ["".join(SENTENCES[start : start + 10]) + "\n\n" for start in range(0, 50, 10)]
    starts = list(itertools.accumulate(map(len, pages), initial=0))
    locations = {"page": [(start, number + 1) for number, start in enumerate(starts[:-1])]}
    chunks = split("".join(pages), 100, 0, locations=locations)
    assert {chunk.metadata["page"] for chunk in chunks} == {1, 2, 3, 4, 5}
    for chunk in chunks:
        inside = [
            number + 1 for number, page in enumerate(pages) if any(
                line.strip() in page for line in chunk.content.strip().split(". ") if line
            )
        ]  # fmt: skip
        assert chunk.metadata["page"] == inside[0]
        assert chunk.metadata.get("page_end", inside[0]) == inside[-1]


def test_nothing_runs_on_from_one_slide_into_the_next() -> None:
    text = "First slide.\n\nSecond slide.\n\nThird slide.\n"
    locations = {"slide": [(0, 1), (text.index("Second"), 2), (text.index("Third"), 3)]}
    chunks = split(text, 1000, 0, format="markdown", locations=locations)
    assert [(chunk.metadata["slide"], chunk.content.strip()) for chunk in chunks] == [
        (1, "First slide."), (2, "Second slide."), (3, "Third slide."),
    ]  # fmt: skip


def test_text_before_the_first_place_has_none() -> None:
    (chunk,) = split("Cover. Page one.", locations={"page": [(7, 1)], "cell": []})
    assert not {"page", "page_end", "cell"} & chunk.metadata.keys()


# Size


@pytest.mark.parametrize("text", ["x" * 1_000_000, " " * 300_000, "漢字" * 100_000, "\n" * 300_000, "👩‍👩‍👧" * 30_000])
@pytest.mark.parametrize("kind", ["text", "markdown"])
def test_a_megabyte_without_a_place_to_cut(text: str, kind: str) -> None:
    splitter = TextSplitter(256, 32)
    chunks = splitter.split(Document(path="x", content=text, format=kind), "id")
    assert chunks[-1].end_char == len(text)
    assert max(splitter.count_tokens(chunk.content) for chunk in chunks) <= 256


@pytest.mark.parametrize(("size", "overlap"), [(128, 12), (64, 10)])
def test_where_no_sentence_fits_an_overlap_is_of_words(size: int, overlap: int) -> None:
    text = " ".join(f"The miller says of tide {n} that it {'rose and fell ' * 5} and is over." for n in range(40))
    chunks = split(text, size, overlap)
    assert len(chunks) > 5
    for chunk, following in pairwise(chunks):
        shared = text[following.start_char : chunk.end_char]
        assert shared.strip()
        assert not text[following.start_char - 1].strip()
        assert TextSplitter(size, 0).count_tokens(shared) <= overlap


def test_the_rows_of_a_long_table_are_counted_once() -> None:
    splitter = TextSplitter(chunk_size=16, chunk_overlap=0)

    def split(rows: int) -> None:
        table = "| a | b |\n|---|---|\n" + "".join(f"| {row} | the mill of number {row} |\n" for row in range(rows))
        spans = splitter.spans(Document(path="t.md", content=table, format="markdown"))
        assert spans[-1][3]["row"] == rows

    check_growth(split, 5_000)


# Code and what it printed


def test_what_code_printed_stays_with_it() -> None:
    cells = "".join(f"```python\nx = run({at})\nx + {at}\n```\n\n```\n{at}\n```\n\n" for at in range(40))
    chunks = split(cells, format="markdown")
    assert len(chunks) > 5
    assert all(chunk.content.startswith("```python\n") for chunk in chunks)


def test_no_chunk_begins_or_ends_with_the_fence_of_another_one() -> None:
    lines = "".join(f"value_{number} = run({number})\n" for number in range(200))
    chunks = split(f"Words.\n\n```python\n{lines}```\n\nMore words.\n", format="markdown")
    assert len(chunks) > 5
    assert not any(
        chunk.content.startswith("```\n") or chunk.content.rstrip().endswith("```python") for chunk in chunks
    )
