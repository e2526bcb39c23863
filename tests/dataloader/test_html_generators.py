"""HTML: what generators of documentation and wikis write in a way of their own."""

from __future__ import annotations

import pytest

from libs.dataloader.html import html_to_document

BASE = "https://example.org/docs/page.html"
LONG = "This is a sentence of the main text that nobody would want to lose. " * 10


@pytest.mark.parametrize(
    ("line", "metadata"),
    [
        (
            "Created by <span class='author'> Ida Holm</span>, last modified by <span class='editor'> Tunde</span> on"
            " Jan 14, 2025",
            {"author": "Ida Holm", "modified": "Jan 14, 2025"},
        ),
        (
            "Created by <span class='author'> Ida Holm</span> on Jan 02, 2025",
            {"author": "Ida Holm", "created": "Jan 02, 2025"},
        ),
        ("Created by <span class='author'> Ida Holm</span>", {"author": "Ida Holm"}),
    ],
)
def test_a_page_of_confluence(line: str, metadata: dict[str, str]) -> None:
    page = html_to_document(
        f"""<html><head><title>Team : Release plan</title></head><body><div id="page"><div id="main">
        <div id="main-header"><div id="breadcrumb-section"><ol id="breadcrumbs">
          <li class="first"><span><a href="index.html">Team</a></span></li>
          <li><span><a href="Plans_12.html">Plans</a></span></li></ol></div>
          <h1 id="title-heading" class="pagetitle"> <span id="title-text"> Team : Release plan </span> </h1></div>
        <div id="content" class="view"><div class="page-metadata"> {line} </div>
        <div id="main-content" class="wiki-content group"><p>{LONG}</p>
          <ul class="inline-task-list" data-inline-tasks-content-id="7"><li class="checked" data-inline-task-id="1">
          <span>Write the notes</span></li><li data-inline-task-id="2">Ask <a href="/x">Ida</a></li></ul></div></div>
        </div></div></body></html>""",
        BASE,
    )
    assert page.title == "Release plan"
    assert page.markdown == f"# Release plan\n\n{LONG.strip()}\n\n- [x] Write the notes\n- [ ] Ask Ida"
    assert page.metadata == {**metadata, "site_name": "Team"}


@pytest.mark.parametrize(
    ("part", "text"),
    [
        (
            "<aside data-type='sidebar'><h5>Whales</h5><p>They are mammals.</p></aside>",
            "##### Whales\n\nThey are mammals.",
        ),
        ("<aside epub:type='sidebar'><p>They are mammals.</p></aside>", "They are mammals."),
        ("<aside role='doc-tip'><p>They are mammals.</p></aside>", "They are mammals."),
        ("<aside role='note'><p>They are mammals.</p></aside>", "They are mammals."),
        ("<p>Whales<a data-type='noteref' href='#f1'>1</a> swim.</p>", "Whales swim."),
        ("<p>Whales<span data-type='footnote'>Mammals.</span> swim.</p>", "Whales (Mammals.) swim."),
    ],
)
def test_boxes_and_notes_of_books_are_text(part: str, text: str) -> None:
    page = f"<body data-type='book'><section data-type='chapter'><h1>Loomings</h1><p>{LONG}</p>{part}</section></body>"
    assert html_to_document(page, BASE).markdown == f"# Loomings\n\n{LONG.strip()}\n\n{text}"
