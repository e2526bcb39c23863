"""HTML: what generators of documentation and wikis write in a way of their own."""

from __future__ import annotations

import re

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
    said = re.sub(r"<.*?>", "", line).replace("  ", " ")
    assert page.markdown == f"# Release plan\n\n{said}.\n\n{LONG.strip()}\n\n- [x] Write the notes\n- [ ] Ask Ida"
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


def test_a_page_of_scaladoc() -> None:
    member = (
        "<li name='{0}' data-isabs='false'><span class='permalink'><a href='#m'><i class='material-icons'>link</i></a>"
        "</span> <span class='symbol'>def <span class='name'>{1}</span></span><p class='shortcomment cmt'>{2}</p>"
        "<div class='fullcomment'><div class='comment cmt'><p>{2}</p></div></div></li>"
    )
    page = html_to_document(
        f"""<html><head><title></title></head><body><div id="search">Search</div>
        <div id="subpackage-spacer"><div id="packages"><h1>Packages</h1><ul><li>package root</li></ul></div></div>
        <div id="content"><div class="body"><div id="definition"><p id="owner">cats</p>
        <h1>Eval<span class="permalink"><a href="Eval.html"><i class="material-icons"></i></a></span></h1></div>
        <div id="comment" class="fullcommenttop"><div class="comment cmt"><p>{LONG}</p></div></div>
        <div id="mbrsel"><div>Ordering</div><ol><li>Alphabetic</li><li>By Inheritance</li></ol></div>
        <div id="template"><div id="allMembers"><div class="values members"><h3>Value Members</h3><ol>
        {member.format("cats.Eval#map", "map", "Transforms it.")}
        {member.format("scala.AnyRef#wait", "wait", "Waits.")}</ol></div></div>
        <div id="inheritedMembers"><div class="parent"><h3>Inherited from AnyRef</h3></div></div>
        <div id="groupedMembers"><div class="group"><h3>Ungrouped</h3></div></div></div></div></div></body></html>""",
        BASE,
    )
    assert page.title == "Eval"
    assert page.markdown == (
        f"cats\n\n# Eval\n\n{LONG.strip()}\n\n### Value Members\n\n1. def map\n\n   Transforms it."
    )


def test_what_frames_the_pages_of_old_javadoc_is_left_out() -> None:
    bar = (
        "<table><tr><td class='NavBarCell1'><table><tr><td class='NavBarCell1'><b>Class</b></td></tr></table></td></tr>"
        "<tr><td class='NavBarCell2'>PREV CLASS</td></tr><tr><td class='NavBarCell3'>SUMMARY: FIELD</td></tr></table>"
    )
    page = f"<html><body>{bar}<h2>Class Logger</h2><p>{LONG}</p>{bar}</body></html>"
    assert html_to_document(page, BASE).markdown == f"## Class Logger\n\n{LONG.strip()}"
    page = f"""<html><head><meta name="generator" content="javadoc/8"></head><body><h2>Class A</h2><p>{LONG}</p>
    <table><caption><span class="activeTableTab"><span>All Methods</span></span><span class="tableTab">Static Methods
    </span></caption><tr><th>Type</th><th>Method</th></tr><tr><td>int</td><td>size()</td></tr></table>
    <p class="legalCopy"><small>Copyright 2001 Somebody. All rights reserved.</small></p></body></html>"""
    text = html_to_document(page, BASE).markdown
    assert "All Methods" not in text and "Copyright" not in text and "| int | size() |" in text


ADMONITION = """<div class="warning"><table border="0" summary="Warning"><tr><td rowspan="2">
<img alt="[Warning]" src="w.png"></td><th align="left">Warning</th></tr>
<tr><td><p>Do not do it.</p></td></tr></table></div>"""


@pytest.mark.parametrize(
    ("part", "text"),
    [
        ("<p>Press <i class='material-icons'>menu</i> now</p>", "Press now"),
        ("<p>It is <span class='material-symbols-outlined'>home</span>here</p>", "It is here"),
        (ADMONITION, "Warning\n\nDo not do it."),
        ("<p><a href='https://github.com/a/b/edit/main/docs/c.md'>Edit this page</a></p>", ""),
        (
            "<div><a href='https://g.example/-/edit/c.md'><img alt='Edit'>Change</a> | <a href='/x'>Old</a></div>",
            "| Old",
        ),
        (
            "<p>You may <a href='https://github.com/a/b/edit/main/c.md'>edit it</a> at once.</p>",
            "You may edit it at once.",
        ),
        ("<ul><li><a href='/docs/edit/images'>Edit images</a></li></ul>", "- Edit images"),
        ("<p><img alt='../_images/a.svg' src='../../_images/a.svg'><img alt='A plot' src='plot'></p>", "A plot"),
        ("<div><span>1.0.0</span> · <a class='srclink' href='/src'>source</a></div>", "1.0.0"),
        ("<div class='jp-InputPrompt'>In&nbsp;[1]:</div><div class='a'><pre>a = 1</pre></div>", "```\na = 1\n```"),
        ("<div class='prompt'><pre>[12]:</pre></div><pre>a = 1</pre>", "```\na = 1\n```"),
        ("<div class='prompt'>Ask it: [1]:</div>", "Ask it: [1]:"),
    ],
)
def test_what_is_shown_beside_the_text(part: str, text: str) -> None:
    page = f"<body><main><h1>Title</h1><p>{LONG}</p>{part}</main></body>"
    assert html_to_document(page, BASE).markdown == f"# Title\n\n{LONG.strip()}\n\n{text}".strip()


def test_footnotes_of_texinfo_have_no_headings() -> None:
    page = f"""<html><head><meta name="Generator" content="texi2any"></head><body><h2>Loading</h2><p>{LONG}</p>
    <div class="footnote"><hr><h4>Footnotes</h4>
    <h5><a id="FOOT1" href="#DOCF1">(1)</a></h5><p>On Unix only.</p></div>"""
    text = html_to_document(page, BASE).markdown
    assert text.endswith("#### Footnotes\n\nOn Unix only.")


def test_what_is_printed_only_is_there_already() -> None:
    page = (
        f"<body><div class='onlyprint'><h1>Title</h1></div><main><h1>Title<a href='#t'>¶</a></h1><p>{LONG}</p></main>"
    )
    assert html_to_document(page, BASE).markdown == f"# Title\n\n{LONG.strip()}"


def test_a_list_of_methods_has_no_names_of_columns() -> None:
    rows = "".join(f"<tr><td>Method</td><td><code>{name}</code></td><td>Does it.</td></tr>" for name in ("go", "stop"))
    text = html_to_document(f"<main><h1>Title</h1><p>{LONG}</p><table>{rows}</table></main>", BASE).markdown
    assert text.endswith("|  |  |  |\n| --- | --- | --- |\n| Method | go | Does it. |\n| Method | stop | Does it. |")


@pytest.mark.parametrize(
    "notes",
    [
        "<div id='footnotes'><hr><div class='footnote'><a href='#_footnoteref_1'>1</a>. It takes a minute.</div></div>",
        "<div class='page'><div class='Post__footnotes'><ol><li>It takes a minute.</li></ol></div></div>",
        "<section role='doc-endnotes'><ol><li>It takes a minute.</li></ol></section>",
    ],
)
def test_footnotes_below_the_main_element_are_text(notes: str) -> None:
    page = f"<body><div id='content'><h1>Start</h1><p>{LONG}</p></div>{notes}<div id='footer'>Gone</div></body>"
    text = html_to_document(page, BASE).markdown
    assert text.endswith(" It takes a minute.") and text.count("takes a minute") == 1 and "Gone" not in text


def test_a_page_of_honkit() -> None:
    page = f"""<body><div class="book-body"><div class="page-inner"><div id="book-search-results">
    <div class="search-noresults"><section class="normal markdown-section"><h1>Usage</h1><p>{LONG}</p></section></div>
    <div class="search-results"><div class="has-results"><h1>results matching "<span></span>"</h1></div></div>
    </div></div></div></body>"""
    assert html_to_document(page, BASE).markdown == f"# Usage\n\n{LONG.strip()}"


def test_a_line_of_very_many_links_to_editors_is_read_at_once() -> None:
    links = "<a href='https://github.com/a/b/edit/x'>e</a>" * 20_000
    assert html_to_document(f"<main><h1>Title</h1><p>{LONG}</p><div>{links}</div>", BASE).markdown.startswith("# Title")


@pytest.mark.parametrize(
    ("block", "language"),
    [
        ("<div class='sourceCode'><pre class='sourceCode bash code-with-copy'><code class='sourceCode bash'>", "bash"),
        ("<pre class='sourceCode numberSource python number-lines'><code class='sourceCode python'>", "python"),
        ("<figure><pre data-language='sh'><code>", "sh"),  # Expressive Code (Starlight), Nextra
        ("<figure class='highlight'><pre><code data-lang='ruby'>", "ruby"),  # Jekyll
        ("<pre class='prism-code language-undefined'><code>", ""),  # Docusaurus
        ("<pre data-language='plaintext'><code>", ""),
    ],
)
def test_the_language_of_code_by_the_generator(block: str, language: str) -> None:
    page = html_to_document(f"<main><p>{LONG}</p>{block}make all</code></pre></main>", BASE)
    assert page.markdown.endswith(f"\n\n```{language}\nmake all\n```")


def test_a_page_of_nextra_has_neither_its_path_nor_the_next_page() -> None:
    page = html_to_document(
        f"""<article><main><div class="nextra-breadcrumb _flex"><span title="Guide">Guide</span></div>
        <h1>Guide</h1><p>{LONG}</p><div class="_flex _border-t print:_hidden"><a href="/ref">Reference</a></div>
        </main></article>""",
        BASE,
    )
    assert page.markdown == f"# Guide\n\n{LONG.strip()}"


def test_the_home_page_of_vitepress() -> None:
    page = html_to_document(
        '<main><div class="VPHero VPHomeHero"><h1 class="heading"><span class="name clip">Acme</span>'
        '<span class="text">Fast things</span></h1></div></main>',
        BASE,
    )
    assert page.markdown == "# Acme Fast things"


@pytest.mark.parametrize(
    ("part", "text"),
    [
        (
            "<hr><p><a href='/x.py' style='float:right; font-size:smaller'>source</a></p><h3>run</h3>",
            "### run",
        ),  # nbdev
        ("<div class='listing-no-matching d-none'>No matching items</div>", ""),  # Quarto
        ("<div class='d-none d-md-block'>For larger screens</div>", "For larger screens"),
        ("<div class='noprint'><a href='/edit'>Change</a></div>", ""),
        ("<div class='d-print-none'>A sentence that says something.</div>", "A sentence that says something."),
    ],
)
def test_what_is_not_shown_or_leads_elsewhere_is_no_text(part: str, text: str) -> None:
    page = html_to_document(f"<main><h1>Title</h1><p>{LONG}</p>{part}</main>", BASE)
    assert page.markdown == f"# Title\n\n{LONG.strip()}\n\n{text}".strip()


@pytest.mark.parametrize(
    ("part", "text"),
    [
        ("<figure><img alt='The old bridge'><figcaption>The old\n bridge</figcaption></figure>", "The old bridge"),
        ("<a href='/ida'><img alt='Ida Holm'></a><div><a href='/ida'>Ida Holm</a></div>", "Ida Holm"),
        ("<img alt='Typed code'><h3>Typed code</h3>", "### Typed code"),
        ("<figure><img alt='A bridge'><figcaption>Built 1890</figcaption></figure>", "A bridge\n\nBuilt 1890"),
        ("<p><img alt='A bridge'></p><p>Text.</p><p>A bridge</p>", "A bridge\n\nText.\n\nA bridge"),
    ],
)
def test_the_description_of_an_image_that_the_text_repeats_is_said_once(part: str, text: str) -> None:
    page = html_to_document(f"<main><h1>Title</h1><p>{LONG}</p>{part}</main>", BASE)
    assert page.markdown == f"# Title\n\n{LONG.strip()}\n\n{text}"
